"""Symmetric 3x3 matrices as tuples of six numbers: xx, yy, zz, yz, xz, xy."""

from __future__ import annotations

from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Matrix, Vector

Symmetric = tuple[float, float, float, float, float, float]
UNIT = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


@kernel
def symmetric_add(A: Symmetric, x: float, B: Symmetric) -> Symmetric:
    """A + x B."""
    return (
        A[0] + x * B[0],
        A[1] + x * B[1],
        A[2] + x * B[2],
        A[3] + x * B[3],
        A[4] + x * B[4],
        A[5] + x * B[5],
    )


@kernel
def symmetric_apply(A: Symmetric, x: Vector) -> Vector:
    return (
        A[0] * x[0] + A[5] * x[1] + A[4] * x[2],
        A[5] * x[0] + A[1] * x[1] + A[3] * x[2],
        A[4] * x[0] + A[3] * x[1] + A[2] * x[2],
    )


@kernel
def adjugate(A: Symmetric) -> Symmetric:
    """det(A) A^{-1}."""
    return (
        A[1] * A[2] - A[3] * A[3],
        A[0] * A[2] - A[4] * A[4],
        A[0] * A[1] - A[5] * A[5],
        A[4] * A[5] - A[0] * A[3],
        A[5] * A[3] - A[1] * A[4],
        A[4] * A[3] - A[5] * A[2],
    )


@kernel
def inverse_determinant(A: Symmetric, adjugate: Symmetric) -> float:
    """1/det(A), of a positive definite A."""
    return 1.0 / (A[0] * adjugate[0] + A[5] * adjugate[5] + A[4] * adjugate[4])


@kernel
def symmetric_scale(x: float, A: Symmetric) -> Symmetric:
    return (x * A[0], x * A[1], x * A[2], x * A[3], x * A[4], x * A[5])


@kernel
def congruent(m: float, x: float, t: Vector, K: Symmetric, u: Vector) -> Symmetric:
    """O K O with O = m I + x t t^T and u = K t: m^2 K + m x (u t^T + t u^T) + x^2 (t.K t) t t^T."""
    a = (m * x * t[0], m * x * t[1], m * x * t[2])
    square = (t[0] * t[0], t[1] * t[1], t[2] * t[2], t[1] * t[2], t[0] * t[2], t[0] * t[1])
    # not from u: nothing waits for anything but K here
    on_diagonal = K[0] * square[0] + K[1] * square[1] + K[2] * square[2]
    beside = K[3] * (2.0 * square[3]) + K[4] * (2.0 * square[4]) + K[5] * (2.0 * square[5])
    tKt = on_diagonal + beside
    mm, xx = m * m, x * x
    return (
        (mm * K[0] + 2.0 * a[0] * u[0]) + tKt * (xx * square[0]),
        (mm * K[1] + 2.0 * a[1] * u[1]) + tKt * (xx * square[1]),
        (mm * K[2] + 2.0 * a[2] * u[2]) + tKt * (xx * square[2]),
        (mm * K[3] + a[1] * u[2] + a[2] * u[1]) + tKt * (xx * square[3]),
        (mm * K[4] + a[0] * u[2] + a[2] * u[0]) + tKt * (xx * square[4]),
        (mm * K[5] + a[0] * u[1] + a[1] * u[0]) + tKt * (xx * square[5]),
    )


@kernel
def product_with_transposed(A: Matrix, B: Matrix) -> Symmetric:
    """A B^T of matrices whose product is symmetric."""
    return (
        A[0][0] * B[0][0] + A[0][1] * B[0][1] + A[0][2] * B[0][2],
        A[1][0] * B[1][0] + A[1][1] * B[1][1] + A[1][2] * B[1][2],
        A[2][0] * B[2][0] + A[2][1] * B[2][1] + A[2][2] * B[2][2],
        A[1][0] * B[2][0] + A[1][1] * B[2][1] + A[1][2] * B[2][2],
        A[0][0] * B[2][0] + A[0][1] * B[2][1] + A[0][2] * B[2][2],
        A[0][0] * B[1][0] + A[0][1] * B[1][1] + A[0][2] * B[1][2],
    )
