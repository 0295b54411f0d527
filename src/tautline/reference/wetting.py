"""One line and one body in a fluid that ends at a free surface: density around them, buoyancy, fluid that moves along.

Depths are coordinates along the third axis; that of the guide entrance comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.chain.chain import Chain
from tautline.model.fluid import Fluid
from tautline.model.wetting import mean_density, shares


class Buoyancy(NamedTuple):
    """Buoyancy of what is below the surface, more than it would be above."""

    nodes: Array  # forces (N + 1, 3)
    moment: Array  # on the body about the attachment point, body frame
    reel: float  # on s
    spooled: float  # of what is spooled, on the guide (N, third axis)


def density_around_string(fluid: Fluid, depth: float, q: Array) -> Array:
    """Mean density of the fluid along every element (kg/m^3)."""
    depths = depth + q[:, 2]
    return mean_density(fluid, depths[:-1], depths[1:])


def buoyancy_center(pendulum: Chain, fluid: Fluid) -> Array:
    """Where buoyancy acts, body frame."""
    return np.array(pendulum.body.center_of_mass if fluid.buoyancy_center is None else fluid.buoyancy_center)


def wet_part(pendulum: Chain, fluid: Fluid, depth: float, q: Array, R: Array) -> float:
    """Part of the body that is below the surface."""
    return fluid.wet_part(depth + q[-1, 2] + float((R @ buoyancy_center(pendulum, fluid))[2]))


def density_around_body(pendulum: Chain, fluid: Fluid, depth: float, q: Array, R: Array) -> float:
    """Mean density of the fluid around the body (kg/m^3)."""
    return float(fluid.density_at(wet_part(pendulum, fluid, depth, q, R)))


def buoyancy(pendulum: Chain, fluid: Fluid, depth: float, l: float, q: Array, R: Array) -> Buoyancy:
    """Equation (96): the slopes of its energy by the configuration; elements have an unstretched length l."""
    nodes = np.zeros_like(q)
    if fluid.surface is None:
        return Buoyancy(nodes, np.zeros(3), 0.0, 0.0)
    specific = pendulum.gravity * (fluid.density - fluid.density_above)
    line = specific * pendulum.string.area
    guide = depth - fluid.surface
    below = guide + q[:, 2]
    to_first, to_second = shares(below[:-1], below[1:])
    nodes[:-1, 2] -= line * l * to_first
    nodes[1:, 2] -= line * l * to_second
    up = np.array([0.0, 0.0, -specific * fluid.volume * wet_part(pendulum, fluid, depth, q, R)])
    nodes[-1] += up
    mean = float((to_first * below[:-1] + to_second * below[1:]).mean())
    moment = np.cross(buoyancy_center(pendulum, fluid), R.T @ up)
    drum = 2.0 * pendulum.reel.drum_radius
    wet = float(np.clip(0.5 + guide / drum, 0.0, 1.0))
    sunk = 0.5 * drum * wet**2 + max(guide - 0.5 * drum, 0.0)
    spooled = pendulum.string.length - l * len(to_first)
    return Buoyancy(nodes, moment, line * (mean - sunk), -line * spooled * wet)


def moved_by_string(pendulum: Chain, fluid: Fluid, depth: float, q: Array) -> Array:
    """Fluid that moves along with the elements, at their middles and across them: mass as a matrix, (N, 3, 3) (kg)."""
    string = pendulum.string
    w = np.diff(q, axis=0)
    length = np.linalg.norm(w, axis=1)
    t = w / np.maximum(length, 1e-290)[:, None]
    mass = string.normal_added_mass * string.area * length * density_around_string(fluid, depth, q)
    across = np.eye(3) - t[:, :, None] * t[:, None, :]
    matrices: Array = mass[:, None, None] * across
    return matrices


def moved_by_body(pendulum: Chain, fluid: Fluid, depth: float, q: Array, R: Array) -> float:
    """Fluid that moves along with the body and is not in `Chain.moving_body`: that where a surface is (kg)."""
    if fluid.surface is None:
        return 0.0
    mass: float = fluid.added_mass * density_around_body(pendulum, fluid, depth, q, R) / fluid.density
    return mass
