"""A fluid that ends at a free surface: density around string and body, buoyancy below it, fluid that moves along.

Depths are coordinates along the third axis; that of the guide entrance comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.chain.chain import Chain
from tautline.model.fluid import Fluid


class Buoyancy(NamedTuple):
    """Buoyancy of what is below the surface, more than it would be above."""

    nodes: Array  # forces (N + 1, 3)
    moment: Array  # on the body about the attachment point, body frame
    reel: float  # on s
    spooled: float  # of what is spooled, on the guide (N, third axis)


def spans(first: Array, second: Array) -> tuple[Array, Array]:
    """Where elements begin and end to be wet, 0 to 1 along each, from the depths of both ends below the surface."""
    change = second - first
    crossing = np.clip(-first / np.where(change == 0.0, 1.0, change), 0.0, 1.0)
    return np.where(first >= 0.0, 0.0, crossing), np.where(second >= 0.0, 1.0, crossing)


def shares(first: Array, second: Array) -> tuple[Array, Array]:
    """Shares of the first and second nodes of elements in an even force on the wet part; halves if all is wet."""
    begin, end = spans(first, second)
    to_second = 0.5 * (end**2 - begin**2)
    return end - begin - to_second, to_second


def density_around_string(fluid: Fluid, depth: float, q: Array) -> Array:
    """Mean density of the fluid along every element (kg/m^3)."""
    if fluid.surface is None:
        return np.full(len(q) - 1, fluid.density)
    below = depth - fluid.surface + q[:, 2]
    begin, end = spans(below[:-1], below[1:])
    return np.asarray(fluid.density_above + (fluid.density - fluid.density_above) * (end - begin))


def buoyancy_center(pendulum: Chain, fluid: Fluid) -> Array:
    """Where buoyancy acts, body frame."""
    return np.array(pendulum.body.center_of_mass if fluid.buoyancy_center is None else fluid.buoyancy_center)


def wet_part(pendulum: Chain, fluid: Fluid, depth: float, q: Array, R: Array) -> float:
    """Part of the body that is below the surface."""
    if fluid.surface is None:
        return 1.0
    below = depth - fluid.surface + q[-1, 2] + float((R @ buoyancy_center(pendulum, fluid))[2])
    return float(np.clip(0.5 + below / fluid.wetted_height, 0.0, 1.0))


def density_around_body(pendulum: Chain, fluid: Fluid, depth: float, q: Array, R: Array) -> float:
    """Mean density of the fluid around the body (kg/m^3)."""
    more = fluid.density - fluid.least_density
    return fluid.least_density + more * wet_part(pendulum, fluid, depth, q, R)


def lift_of_string(pendulum: Chain, fluid: Fluid) -> float:
    """Buoyancy below the surface, more than above, per unstretched length (N/m)."""
    return pendulum.gravity * (fluid.density - fluid.least_density) * pendulum.string.area


def buoyancy(pendulum: Chain, fluid: Fluid, depth: float, l: float, q: Array, R: Array) -> Buoyancy:
    """Equation (96): the slopes of its energy by the configuration; elements have an unstretched length l."""
    nodes = np.zeros_like(q)
    if fluid.surface is None:
        return Buoyancy(nodes, np.zeros(3), 0.0, 0.0)
    specific = pendulum.gravity * (fluid.density - fluid.density_above)
    line = lift_of_string(pendulum, fluid)
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
