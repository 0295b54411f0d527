"""The body with the fluid around it, as it resists acceleration and as it weighs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.model.chain.chain import Chain
from tautline.reference.curves import Array


class Inertia(NamedTuple):
    """The body with the fluid that it moves along, and what gravity and buoyancy leave of the weights.

    With a free surface only what is there above it; the rest is a load.
    """

    mass: float
    moment: Array  # mass times center, from the attachment point, body frame
    J: Array
    string_weight: float  # per unstretched length
    body_weight: float
    weight_moment: Array  # body weight times its center


def hat(a: Array) -> Array:
    """Matrix of the cross product with a."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a: Array, b: Array) -> Array:
    """Cross product of two vectors; NumPy's spends ten times as long on finding out their shapes."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def inertia_of(pendulum: Chain) -> Inertia:
    """Sums over the body and, as a point, the fluid at its center of buoyancy."""
    body, fluid, g = pendulum.body, pendulum.fluid, pendulum.gravity
    rho, J = np.array(body.center_of_mass), np.array(body.inertia)
    if fluid is None:
        return Inertia(body.mass, body.mass * rho, J, g * pendulum.string.density, g * body.mass, g * body.mass * rho)
    place = rho if fluid.buoyancy_center is None else np.array(fluid.buoyancy_center)
    density, added = (fluid.density, fluid.added_mass) if fluid.surface is None else (fluid.density_above, 0.0)
    if not body.is_point:
        J = J - added * hat(place) @ hat(place)
    displaced = density * fluid.volume
    section = 0.25 * np.pi * pendulum.string.diameter**2
    carried = np.zeros(3) if body.is_point else added * place
    return Inertia(
        body.mass + added,
        body.mass * rho + carried,
        J,
        g * (pendulum.string.density - density * section),
        g * (body.mass - displaced),
        g * (body.mass * rho - displaced * place),
    )
