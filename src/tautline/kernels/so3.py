"""Vectors, 3x3 matrices and rotations as tuples of floats.

Numba keeps such tuples in registers, so `cross(a, b)` costs what the unrolled scalars would.
A vector is a 3-tuple, a matrix a 3-tuple of row 3-tuples, a quaternion a 4-tuple, scalar part first.
"""

from __future__ import annotations

import math

from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
Quaternion = tuple[float, float, float, float]

ZERO = (0.0, 0.0, 0.0)
ZEROS = (ZERO, ZERO, ZERO)
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(x: float, a: Vector) -> Vector:
    return (x * a[0], x * a[1], x * a[2])


@kernel
def add_scaled(a: Vector, x: float, b: Vector) -> Vector:
    """a + x b."""
    return (a[0] + x * b[0], a[1] + x * b[1], a[2] + x * b[2])


@kernel
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def select_vector(condition: bool, a: Vector, b: Vector) -> Vector:
    """a where the condition holds, else b."""
    return (select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2]))


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def hat(a: Vector) -> Matrix:
    """The skew matrix with hat(a) b = a x b."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


@kernel
def outer(a: Vector, b: Vector) -> Matrix:
    return (scale(a[0], b), scale(a[1], b), scale(a[2], b))


@kernel
def apply(A: Matrix, x: Vector) -> Vector:
    return (dot(A[0], x), dot(A[1], x), dot(A[2], x))


@kernel
def apply_transposed(A: Matrix, x: Vector) -> Vector:
    return (
        A[0][0] * x[0] + A[1][0] * x[1] + A[2][0] * x[2],
        A[0][1] * x[0] + A[1][1] * x[1] + A[2][1] * x[2],
        A[0][2] * x[0] + A[1][2] * x[1] + A[2][2] * x[2],
    )


@kernel
def transpose(A: Matrix) -> Matrix:
    return (
        (A[0][0], A[1][0], A[2][0]),
        (A[0][1], A[1][1], A[2][1]),
        (A[0][2], A[1][2], A[2][2]),
    )


@kernel
def matmul(A: Matrix, B: Matrix) -> Matrix:
    T = transpose(B)
    return (apply(T, A[0]), apply(T, A[1]), apply(T, A[2]))


@kernel
def matrix_add_scaled(A: Matrix, x: float, B: Matrix) -> Matrix:
    """A + x B."""
    return (add_scaled(A[0], x, B[0]), add_scaled(A[1], x, B[1]), add_scaled(A[2], x, B[2]))


@kernel
def matrix_scale(x: float, A: Matrix) -> Matrix:
    """x A, without negative zeros."""
    return matrix_add_scaled(ZEROS, x, A)


@kernel
def inverse3(A: Matrix) -> Matrix:
    """A^{-1} by cofactors (a singular A gives inf or NaN, which the caller's checks catch)."""
    T = transpose(A)
    bc = cross(T[1], T[2])
    determinant = dot(T[0], bc)
    inverse = 1.0 / select(determinant != 0.0, determinant, math.nan)
    return (scale(inverse, bc), scale(inverse, cross(T[2], T[0])), scale(inverse, cross(T[0], T[1])))


@kernel
def solve3(A: Matrix, b: Vector) -> Vector:
    """A^{-1} b by cofactors (a singular A gives inf or NaN, which the caller's checks catch)."""
    T = transpose(A)
    bc = cross(T[1], T[2])
    determinant = dot(T[0], bc)
    ca = cross(T[2], T[0])
    ab = cross(T[0], T[1])
    inverse = 1.0 / select(determinant != 0.0, determinant, math.nan)
    return (inverse * dot(bc, b), inverse * dot(ca, b), inverse * dot(ab, b))


@kernel
def cayley(c: Vector) -> Matrix:
    """F = (I + hat(c)) (I - hat(c))^{-1}, a rotation for every c."""
    f = 2.0 / (1.0 + dot(c, c))
    C = hat(c)
    F = matrix_add_scaled(IDENTITY, f, C)
    return matrix_add_scaled(F, f, matmul(C, C))


@kernel
def cayley_increment(c: Vector, x: Vector) -> Vector:
    """(F - I) x with F = cay(c), free of the cancellation that subtracting x would bring."""
    y = cross(c, x)
    return scale(2.0 / (1.0 + dot(c, c)), add(y, cross(c, y)))


@kernel
def quaternion_increment(Q: Quaternion, c: Vector) -> Quaternion:
    """Q * Q_c - Q, where Q_c = (1, c)/sqrt(1 + |c|^2) is the unit quaternion of cay(c).

    Small when c is small, so that a compensated sum of increments keeps Q to rounding.
    """
    norm = math.sqrt(1.0 + dot(c, c))
    a = 1.0 / norm
    # 1/norm - 1 without cancellation
    a_minus_1 = -dot(c, c) / (norm * (1.0 + norm))
    x = (Q[1], Q[2], Q[3])
    y = add(scale(Q[0], c), cross(x, c))
    return (
        a_minus_1 * Q[0] - a * dot(x, c),
        a_minus_1 * Q[1] + a * y[0],
        a_minus_1 * Q[2] + a * y[1],
        a_minus_1 * Q[3] + a * y[2],
    )


@kernel
def quaternion_product(P: Quaternion, Q: Quaternion) -> Quaternion:
    """P Q: first the rotation Q, then P."""
    x, y = (P[1], P[2], P[3]), (Q[1], Q[2], Q[3])
    z = add(add_scaled(scale(P[0], y), Q[0], x), cross(x, y))
    return (P[0] * Q[0] - dot(x, y), z[0], z[1], z[2])


@kernel
def rotation_of(Q: Quaternion) -> Matrix:
    """Rotation matrix of Q. Dividing by |Q|^2 makes it orthogonal whatever the length of Q."""
    w, x, y, z = Q
    k = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)),
        (k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x)),
        (k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y)),
    )


@kernel
def quaternion_of(R: Matrix) -> Quaternion:
    """Unit quaternion of a rotation matrix, from the largest of the four squares."""
    a, b, c = R[0][0], R[1][1], R[2][2]
    x = R[2][1] - R[1][2]
    y = R[0][2] - R[2][0]
    z = R[1][0] - R[0][1]
    u = R[0][1] + R[1][0]
    v = R[0][2] + R[2][0]
    w = R[1][2] + R[2][1]
    first, second, third, fourth = 1.0 + a + b + c, 1.0 + a - b - c, 1.0 - a + b - c, 1.0 - a - b + c
    largest = max(max(first, second), max(third, fourth))
    k = 0.5 / math.sqrt(largest)
    if largest == first:
        return (k * first, k * x, k * y, k * z)
    if largest == second:
        return (k * x, k * second, k * u, k * v)
    if largest == third:
        return (k * y, k * u, k * third, k * w)
    return (k * z, k * v, k * w, k * fourth)


@kernel
def orthogonality_error(R: Matrix) -> float:
    """|I - R^T R| (Frobenius)."""
    D = matrix_add_scaled(matmul(transpose(R), R), -1.0, IDENTITY)
    return math.sqrt(dot(D[0], D[0]) + dot(D[1], D[1]) + dot(D[2], D[2]))
