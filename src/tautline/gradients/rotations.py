"""Attitudes as rotation vectors relative to a reference, with derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.lowering import quaternion_of
from tautline.gradients.arrays import Carried

# Rotation vectors shorter than this are taken by their series (rad).
SMALL = 1e-4


class RotationVectors:
    """Rotation vectors of attitudes relative to a reference; they may be longer than half a turn.

    Parameters
    ----------
    reference : array (3, 3)
        The attitude whose rotation vector is zero.
    """

    def __init__(self, reference: Any) -> None:
        self._reference = np.array(reference, dtype=np.float64)

    def attitude(self, x: Array) -> Array:
        """Rotation matrix of an attitude."""
        return np.asarray(self._reference @ rotation_by(x))

    def of(self, R: Array, near: Array) -> Array:
        """Of an attitude; that of several which is nearest to another one."""
        q = quaternion_of(self._reference.T @ R)
        sine = float(np.linalg.norm(q[1:]))
        angle = 2.0 * math.atan2(sine, float(q[0]))
        axis = q[1:] / sine if sine > 0.0 else np.array([0.0, 0.0, 1.0])
        if angle < SMALL and np.linalg.norm(near) > math.pi:
            axis = near / np.linalg.norm(near)
        turns = round((float(near @ axis) - angle) / (2.0 * math.pi))
        return np.asarray((angle + 2.0 * math.pi * turns) * axis)

    def carried(self, R: Carried, near: Array) -> Carried:
        """Of an attitude that carries derivatives."""
        vector = self.of(R.value, near)
        turned = np.einsum("ji,jlk->ilk", R.value, R.tangent)
        change = 0.5 * np.stack([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        return Carried(vector, vector_rate(vector) @ change)

    def followed(self, attitudes: Array, vector: Array) -> Array:
        """Of the last of many attitudes, followed from a vector through all of them."""
        for R in attitudes:
            vector = self.of(R.reshape(3, 3), vector)
        return vector


def cross_matrix(x: Array) -> Array:
    """Matrix of the vector product with a vector."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def rotation_by(x: Array) -> Array:
    """Rotation matrix of a rotation vector (Rodrigues' formula)."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    if angle < SMALL:
        return np.asarray(np.eye(3) + (1.0 - angle**2 / 6.0) * K + (0.5 - angle**2 / 24.0) * K @ K)
    return np.asarray(np.eye(3) + math.sin(angle) / angle * K + (1.0 - math.cos(angle)) / angle**2 * K @ K)


def vector_rate(x: Array) -> Array:
    """Rate of a rotation vector by the angular velocity in the rotated frame."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    if angle < SMALL:
        factor = 1.0 / 12.0 + angle**2 / 720.0
    else:
        factor = 1.0 / angle**2 - 0.5 / (angle * math.tan(0.5 * angle))
    return np.asarray(np.eye(3) + 0.5 * K + factor * K @ K)
