"""Vectors and matrices as the kernels take them, and derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.kernels import so3

Array = NDArray[np.float64]


def hat(a: Array) -> Any:
    return np.cross(np.eye(3), a)


def jacobian(f: Callable[[Array], Array], x: Array, step: float) -> Array:
    """Central differences with two steps, extrapolated to fourth order."""

    def central(h: float) -> Array:
        return np.stack([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))], axis=-1)

    A: Array = (4.0 * central(step / 2.0) - central(step)) / 3.0
    return A


def as_vector(x: Any) -> so3.Vector:
    a, b, c = (float(y) for y in x)
    return (a, b, c)


def as_matrix(A: Any) -> so3.Matrix:
    a, b, c = (as_vector(row) for row in A)
    return (a, b, c)
