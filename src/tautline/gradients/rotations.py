"""Attitudes as rotation vectors relative to a reference, with derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.attitudes import quaternion_of
from tautline.gradients.arrays import Dual, value_of

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

    def attitude(self, x: Any) -> Any:
        """Rotation matrix of an attitude; the vector may carry derivatives."""
        R = np.asarray(self._reference @ rotation_by(value_of(x)))
        if not isinstance(x, Dual):
            return R
        turns = cross_matrix((turning_rate(x.value) @ x.tangent).T)
        return Dual(R, np.moveaxis(R @ turns, 0, -1))

    def of(self, R: Array, near: Array) -> Array:
        """Rotation vector of an attitude; that of several which is nearest to another one."""
        q = quaternion_of(self._reference.T @ R)
        sine = float(np.linalg.norm(q[1:]))
        angle = 2.0 * math.atan2(sine, float(q[0]))
        axis = q[1:] / sine if sine > 0.0 else np.array([0.0, 0.0, 1.0])
        if angle < SMALL and np.linalg.norm(near) > math.pi:
            axis = near / np.linalg.norm(near)
        turns = round((float(near @ axis) - angle) / (2.0 * math.pi))
        return np.asarray((angle + 2.0 * math.pi * turns) * axis)

    def dual(self, R: Dual, near: Array) -> Dual:
        """Rotation vector of an attitude that carries derivatives."""
        vector = self.of(R.value, near)
        return Dual(vector, vector_rate(vector) @ turns_of(R))

    def followed(self, attitudes: Array, vector: Array) -> Array:
        """Rotation vector of the last attitude, unwrapped along the sequence from `vector`."""
        for R in attitudes:
            vector = self.of(R.reshape(3, 3), vector)
        return vector


def turns_of(R: Dual) -> Array:
    """Derivatives of attitudes (..., 3, 3) as turns in the rotated frame, (..., 3, directions)."""
    turned = np.einsum("...ji,...jlk->...ilk", R.value, R.tangent)
    parts = [turned[..., a, b, :] - turned[..., b, a, :] for a, b in ((2, 1), (0, 2), (1, 0))]
    return np.asarray(0.5 * np.stack(parts, axis=-2))


def cross_matrix(x: Array) -> Array:
    """Matrices of the vector product with vectors (..., 3)."""
    a, b, c = np.moveaxis(x, -1, 0)
    zero = np.zeros_like(a)
    rows = [np.stack(row, axis=-1) for row in ((zero, -c, b), (c, zero, -a), (-b, a, zero))]
    return np.stack(rows, axis=-2)


def rotation_by(x: Array) -> Array:
    """Rotation matrices of rotation vectors (..., 3) (Rodrigues' formula)."""
    turns, K = np.linalg.norm(x, axis=-1)[..., None, None] / math.pi, cross_matrix(x)
    return np.asarray(np.eye(3) + np.sinc(turns) * K + 0.5 * np.sinc(0.5 * turns) ** 2 * (K @ K))


def vector_rate(x: Array) -> Array:
    """Rate of a rotation vector by the angular velocity in the rotated frame."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    if angle < SMALL:
        factor = 1.0 / 12.0 + angle**2 / 720.0
    else:
        factor = 1.0 / angle**2 - 0.5 / (angle * math.tan(0.5 * angle))
    return np.asarray(np.eye(3) + 0.5 * K + factor * K @ K)


def turning_rate(x: Array) -> Array:
    """Angular velocity in the rotated frame by the rate of a rotation vector: the inverse of `vector_rate`."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    factor = 1.0 / 6.0 - angle**2 / 120.0 if angle < SMALL else (1.0 - math.sin(angle) / angle) / angle**2
    return np.asarray(np.eye(3) - 0.5 * np.sinc(0.5 * angle / math.pi) ** 2 * K + factor * K @ K)
