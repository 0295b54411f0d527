"""The vertical, cross products as matrices, and rotations about an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array

# Down.
E3 = np.array([0.0, 0.0, 1.0])


def hat(a: Any) -> Array:
    """Matrix of the cross product with a vector."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_about(axis: Array, sine: float, cosine: float) -> Array:
    """Rotation about a unit vector by the angle with this sine and cosine (Rodrigues' formula)."""
    K = hat(axis)
    return np.asarray(np.eye(3) + sine * K + (1.0 - cosine) * K @ K)


def least_rotation(before: Array, after: Array) -> Array:
    """Rotation by the least angle that turns the direction of a vector into that of another; none where one is 0."""
    length, size = math.hypot(*before), math.hypot(*after)
    if length == 0.0 or size == 0.0:
        return np.eye(3)
    a, b = before / length, after / size
    axis = np.cross(a, b)
    sine, cosine = math.hypot(*axis), float(a @ b)
    if sine > 0.0:
        return rotation_about(axis / sine, sine, cosine)
    if cosine > 0.0:
        return np.eye(3)
    axis = np.cross(a, [0.0, 1.0, 0.0] if abs(a[1]) < 0.9 else [1.0, 0.0, 0.0])  # half a turn about any axis across
    unit = axis / math.hypot(*axis)
    return np.asarray(2.0 * np.outer(unit, unit) - np.eye(3))
