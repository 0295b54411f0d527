"""Attitudes as the kernels keep them: unit quaternions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tautline.arrays import Array


def quaternion_of(R: Array) -> Array:
    """Unit quaternion of the rotation nearest to R; kept, since starts that differ otherwise often have the same."""
    return _quaternion_of(np.ascontiguousarray(R, dtype=np.float64).tobytes())


@lru_cache(maxsize=64)
def _quaternion_of(rows: bytes) -> Array:
    """The dominant eigenvector of Davenport's matrix."""
    R, K = np.frombuffer(rows).reshape(3, 3), np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    Q: Array = np.linalg.eigh(K)[1][:, -1]
    Q = Q if Q[0] >= 0.0 else -Q
    Q.flags.writeable = False
    return Q
