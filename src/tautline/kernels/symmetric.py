"""Symmetric 3x3 matrices as tuples of six numbers: xx, yy, zz, yz, xz, xy."""

from __future__ import annotations

from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Matrix, Vector

Symmetric = tuple[float, float, float, float, float, float]


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
def congruent(m: float, x: float, t: Vector, K: Symmetric) -> Symmetric:
    """O K O with O = m I + x t t^T."""
    u = symmetric_apply(K, t)
    tau = 0.5 * x * (u[0] * t[0] + u[1] * t[1] + u[2] * t[2])
    # m x (u t^T + t u^T) + x^2 (t.u) t t^T = a t^T + t a^T
    a = (x * (m * u[0] + tau * t[0]), x * (m * u[1] + tau * t[1]), x * (m * u[2] + tau * t[2]))
    mm = m * m
    return (
        mm * K[0] + 2.0 * a[0] * t[0],
        mm * K[1] + 2.0 * a[1] * t[1],
        mm * K[2] + 2.0 * a[2] * t[2],
        mm * K[3] + (a[1] * t[2] + a[2] * t[1]),
        mm * K[4] + (a[0] * t[2] + a[2] * t[0]),
        mm * K[5] + (a[0] * t[1] + a[1] * t[0]),
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
