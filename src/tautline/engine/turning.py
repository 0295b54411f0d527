"""Attitudes of bodies: what steps and meshes get wrong of them, and the limits on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.criteria import Criterion
from tautline.engine.mesh import over
from tautline.model.body import RigidBody

# Angle that the body's attitude is off by, as the error of a step adds up (rad).
TURNING = 0.05
# And as the mesh misses the waves that it sends along the string by swinging about its center of mass (rad): below the
# 0.1 rad that are wrong, because the estimate is low as often as high.
ATTITUDE = 0.07
# Of the geometric mean of two estimates of that; fitted to runs against finer meshes (docs/howto/elements.md).
BY_MESH = 0.5


def missed_by_steps(spin: Array, step: Array) -> Array:
    """Rate (rad/s) at which the angle of a body goes wrong that turns with a spin, by steps of order 2.

    A step turns a body of steady spin by x + x^3/6 instead of x (from equation 24).
    """
    return spin * (spin * step) ** 2 / 6.0


def missed_reaction(body: RigidBody, density: Any, l: Array, omega: Array) -> Any:
    """Rate (rad/s) at which a swinging body's angle goes wrong, by waves that are too short for elements of length l.

    A body that swings about its center of mass, at a distance a from the end of its string (the origin of its frame),
    shakes the string with the frequency sqrt(T a/J) under a tension T, and is slowed down by the waves that it sends
    out at the rate sqrt(T mu) a^2/(2 J). Times the angle, that is a sqrt(mu a/J)/2 times its angular velocity: the
    tension cancels. The mesh gets a part of that wrong which grows with the squared phase of those waves between two
    nodes, mu l^2 a/J, up to all of it.
    """
    center = np.array(body.center_of_mass)
    a = math.hypot(*center)  # squares of small components would be 0
    over_inertia = body.swing_frequency2(1.0) / body.mass  # a/J
    along = np.tensordot(omega, center / a, axes=(1, 0))
    across = np.sqrt(np.maximum(np.sum(omega**2, axis=1) - along**2, 0.0))
    phase2 = density * over_inertia * l**2
    return 0.5 * a * np.sqrt(density * over_inertia) * phase2 / (1.0 + phase2) * across


def swings(body: RigidBody) -> bool:
    """Whether a body is held off its center of mass, by the origin of its frame."""
    return not body.is_point and any(body.center_of_mass)


def attitude_error(body: RigidBody, swung: Any, lost: Any) -> Any:
    """Estimated error by the mesh of the attitude of a body that is held off its center of mass (rad).

    Two estimates of it, each of them right within a factor of ten, have errors of their own: the reaction of
    waves that are too short for the mesh (`swung`), and the error of the place of the string's end (`lost`) over the
    distance from the center of mass, which stays where it is while the body swings about it. Taken is their geometric
    mean.
    """
    arm = 0.0 if body.is_point else math.hypot(*body.center_of_mass)
    return np.minimum(np.sqrt(over(BY_MESH * swung * lost, arm)), np.pi)


def turning_criterion(error: Any) -> Criterion:
    """Limit on the error that steps leave in an attitude (rad)."""
    return Criterion.above(
        "turning",
        error,
        TURNING,
        lambda error: (
            f"the body's attitude is off by about {error:.2g} rad after all its turns; use a "
            "smaller step or order=4 if that matters"
        ),
    )


def attitude_criterion(error: Any, elements: int, advised: str) -> Criterion:
    """Limit on the error that a mesh of so many elements leaves in an attitude (rad); `advised` sets their number."""
    return Criterion.above(
        "attitude",
        error,
        ATTITUDE,
        lambda error: (
            f"the mesh of {elements} elements leaves the body's attitude uncertain by about {error:.2g} rad; "
            f"try {advised}{elements * (2 if error < 4.0 * ATTITUDE else 4)} if that matters"
        ),
    )
