"""Dense linear equations of bodies and reels."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.kernels.data import Array
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import (
    Matrix,
    Vector,
)

ZEROS = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def add_block(out: Array2, i: int, j: int, A: Matrix) -> None:
    for a in range(3):
        for b in range(3):
            out[i + a, j + b] += A[a][b]


@kernel
def add_vector(out: Array, i: int, x: Vector) -> None:
    for a in range(3):
        out[i + a] += x[a]


@kernel
def eliminate(matrix: Array2, right: Array, last: int) -> None:
    """Eliminate the first `last` unknowns. No pivoting: the matrix is one of masses but for terms in h."""
    n = len(right)
    for i in range(last):
        inverse = 1.0 / matrix[i, i]
        for j in range(i + 1, n):
            factor = matrix[j, i] * inverse
            if factor != 0.0:
                for k in range(i + 1, n):
                    matrix[j, k] -= factor * matrix[i, k]
                right[j] -= factor * right[i]


@kernel
def substitute(matrix: Array2, right: Array, last: int, x: Array) -> None:
    """Unknowns before `last`, from those behind."""
    n = len(right)
    for i in range(last - 1, -1, -1):
        left = right[i]
        for k in range(i + 1, n):
            left -= matrix[i, k] * x[k]
        x[i] = left / matrix[i, i]
