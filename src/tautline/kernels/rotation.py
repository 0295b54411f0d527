"""The rigid body's part of a step: momentum of the Cayley increment, and its derivatives.

The unknown is the mean angular velocity omega of the step, with c = h omega/2 and F = cay(c). At h = 0
every formula becomes the Legendre transform, so one solver serves the step and the initial state alike.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.compensated import accumulate, accumulate_triple
from tautline.kernels.data import Array, Parameters
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import some
from tautline.kernels.so3 import (
    Matrix,
    Quaternion,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cayley_increment,
    cross,
    dot,
    hat,
    inverse3,
    matmul,
    matrix_add_scaled,
    outer,
    quaternion_increment,
    quaternion_of,
    rotation_of,
    scale,
    select_vector,
    sub,
)
from tautline.kernels.tangents import has_tangents, values_of

MAX_ITERATIONS = 12
# Newton converges quadratically: a correction x of omega leaves an error of about (h/2) x^2.
# Stop when that is below a tenth of the rounding of omega.
ERROR_LEFT = 1e-17


@kernel
def attitude(body: Array) -> Matrix:
    """R."""
    return rotation_of(quaternion(body))


@kernel
def quaternion(body: Array) -> Quaternion:
    return (body[data.ATTITUDE], body[data.ATTITUDE + 1], body[data.ATTITUDE + 2], body[data.ATTITUDE + 3])


@kernel
def put_attitude(body: Array, R: Array) -> None:
    """Attitude from the nine numbers of a rotation matrix, row by row."""
    Q = quaternion_of(((R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])))
    for i in range(4):
        body[data.ATTITUDE + i] = Q[i]


@kernel
def shrinking(h: float, omega: Vector) -> float:
    """1/(1 + h^2 |omega|^2/4)."""
    return 1.0 / (1.0 + 0.25 * h * h * dot(omega, omega))


@kernel
def mean_swing(h: float, omega: Vector, rho: Vector) -> Vector:
    """phi = (F - I) rho/h, the mean velocity of the centre of mass about the attachment."""
    y = cross(omega, rho)
    return scale(shrinking(h, omega), add_scaled(y, 0.5 * h, cross(omega, y)))


@kernel
def mean_swing_along(h: float, omega: Vector, rho: Vector, phi: Vector, x: Vector) -> Vector:
    """(dphi/domega) x."""
    y = cross(x, rho)
    bent = add(cross(x, cross(omega, rho)), cross(omega, y))
    return scale(shrinking(h, omega), add_scaled(add_scaled(y, 0.5 * h, bent), -0.5 * h * h * dot(omega, x), phi))


@kernel
def rotation_residual(K: Matrix, h: float, b: Vector, omega: Vector) -> tuple[Vector, Vector, float]:
    """Residual K omega + (h/2) omega x K omega - k b; K omega, and k = 1 + h^2 |omega|^2/4."""
    K_omega = apply(K, omega)
    k = 1.0 + 0.25 * h * h * dot(omega, omega)
    return add_scaled(add_scaled(K_omega, 0.5 * h, cross(omega, K_omega)), -k, b), K_omega, k


@kernel
def rotation_slopes(K: Matrix, h: float, b: Vector, omega: Vector, K_omega: Vector) -> Matrix:
    """Inverse of the derivative of the residual by omega."""
    D = matrix_add_scaled(K, 0.5 * h, matmul(hat(omega), K))
    D = matrix_add_scaled(D, -0.5 * h, hat(K_omega))
    return inverse3(matrix_add_scaled(D, -0.5 * h * h, outer(b, omega)))


@kernel
def solve_values_of_rotation(K: Matrix, h: float, b: Vector, guess: Vector) -> tuple[Vector, Matrix, bool]:
    """`solve_rotation` for numbers without tangents."""
    omega = guess
    not_converged = dot(guess, guess) >= 0.0
    by_b = K
    for _ in range(MAX_ITERATIONS):
        residual, K_omega, k = rotation_residual(K, h, b, omega)
        inverse = rotation_slopes(K, h, b, omega, K_omega)
        correction = apply(inverse, residual)
        # a member of a batch that has settled waits for the others, as it is
        omega = select_vector(not_converged, sub(omega, correction), omega)
        by_b = (
            select_vector(not_converged, scale(k, inverse[0]), by_b[0]),
            select_vector(not_converged, scale(k, inverse[1]), by_b[1]),
            select_vector(not_converged, scale(k, inverse[2]), by_b[2]),
        )
        error = 0.5 * h * dot(correction, correction)
        not_converged = not_converged & (error * error > ERROR_LEFT * ERROR_LEFT * dot(omega, omega))
        if not some(not_converged):
            break
    return omega, by_b, not_converged


@kernel
def solve_rotation(K: Matrix, h: float, b: Vector, guess: Vector) -> tuple[Vector, Matrix, bool]:
    """omega from K omega + (h/2) omega x K omega = (1 + h^2 |omega|^2/4) b, and domega/db.

    By Newton's method; the last answer is whether it has not converged. K is the inertia with the string's motion
    eliminated (docs/theory.md, equation 24). The
    derivative is that of the latest iteration, which a step needs to no more than the size of its last correction.
    What is not a number counts as settled: the caller looks at omega. Tangents follow from one linear solution
    (implicit function theorem).
    """
    plain = values_of((K, h, b, guess))
    omega, by_b, not_converged = solve_values_of_rotation(plain[0], plain[1], plain[2], plain[3])
    if has_tangents(b[0]):
        residual, K_omega, _ = rotation_residual(K, h, b, omega)
        inverse = rotation_slopes(plain[0], plain[1], plain[2], omega, values_of(K_omega))
        found = sub(omega, apply(inverse, residual))
        _, K_found, k = rotation_residual(K, h, b, found)
        slopes = rotation_slopes(K, h, b, found, K_found)  # where nobody asks for them, the compiler leaves them out
        return found, (scale(k, slopes[0]), scale(k, slopes[1]), scale(k, slopes[2])), not_converged
    return omega, by_b, not_converged


@inlined
def add_spin(par: Parameters, body: Array, dPi: Vector) -> None:
    accumulate_triple(body, data.SPIN, data.SPIN_ERR, dPi, par.compensated)


@inlined
def turn(par: Parameters, body: Array, h: float, V_N: Vector, omega: Vector) -> None:
    """Turn the body by cay(h omega/2) and carry Pi along; V_N = R^T v_N before the turn.

    Pi' - Pi = -(2 f/h) c x J c + M rho x (F^T - I) V_N, the difference of the two Legendre
    transforms of docs/theory.md, equations 20 and 22, written as a small increment.
    """
    c = scale(0.5 * h, omega)
    f = 2.0 / (1.0 + dot(c, c))
    gyroscopic = scale(-f, cross(c, apply(par.J, omega)))
    lever = cross(par.rho, cayley_increment(scale(-1.0, c), V_N))
    add_spin(par, body, add_scaled(gyroscopic, par.M, lever))
    dQ = quaternion_increment(quaternion(body), c)
    for i in range(4):
        accumulate(body, data.ATTITUDE + i, data.ATTITUDE_ERR + i, dQ[i], par.compensated)


@inlined
def lever_arm(par: Parameters, R: Matrix, v: Vector) -> Vector:
    """M rho x R^T v."""
    return scale(par.M, cross(par.rho, apply_transposed(R, v)))
