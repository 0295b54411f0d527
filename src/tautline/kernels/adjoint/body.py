"""Adjoint of the body's part of a step (docs/theory.md, (B5) and (B6)); at h = 0 that of the Legendre transform."""

from __future__ import annotations

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.data import Array, Parameters, add_triple
from tautline.kernels.fixed import reduced_inertia
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.rotation import mean_swing, shrinking
from tautline.kernels.so3 import (
    Matrix,
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
    scale,
    sub,
    transpose,
)


@kernel
def twice_crossed(x: Vector, omega: Vector, y: Vector) -> Vector:
    """Derivative by omega of x.(omega x (omega x y))."""
    return add_scaled(add_scaled(scale(dot(omega, y), x), dot(x, omega), y), -2.0 * dot(x, y), omega)


@kernel
def swing_transposed(h: float, omega: Vector, rho: Vector, x: Vector) -> Vector:
    """(dphi_h/domega)^T x."""
    y = add_scaled(cross(rho, x), 0.5 * h, twice_crossed(x, omega, rho))
    y = add_scaled(y, -0.5 * h * h * dot(x, mean_swing(h, omega, rho)), omega)
    return scale(shrinking(h, omega), y)


@kernel
def body_before(
    par: Parameters, h: float, R: Matrix, v_N: Vector, omega: Vector, turned_bar: Vector, spin_bar: Vector
) -> tuple[Vector, Vector]:
    """Derivatives by v_N and omega through the attitude and the momentum Pi that a drift ends with (18, 22)."""
    c = scale(0.5 * h, omega)
    k = shrinking(h, omega)
    V = apply_transposed(R, v_N)
    z = cross(spin_bar, par.rho)
    J_omega = apply(par.J, omega)
    momentum = add(
        apply(par.J, spin_bar), scale(-0.5 * h, add(cross(J_omega, spin_bar), apply(par.J, cross(spin_bar, omega))))
    )
    lever = add_scaled(cross(z, V), 0.5 * h, twice_crossed(z, omega, V))
    value = dot(spin_bar, add_scaled(J_omega, -0.5 * h, cross(omega, J_omega)))
    value += par.M * h * dot(z, add_scaled(cross(V, omega), 0.5 * h, cross(omega, cross(omega, V))))
    omega_bar = add_scaled(add_scaled(momentum, par.M * h, lever), -0.5 * h * h * k * value, omega)
    omega_bar = add_scaled(omega_bar, h, add(turned_bar, cross(c, turned_bar)))
    V_bar = scale(par.M, add(z, cayley_increment(c, z)))
    return apply(R, V_bar), scale(k, omega_bar)


@kernel
def body_solve(
    par: Parameters, h: float, t: float, R: Matrix, omega: Vector, y_N: Vector, omega_bar: Vector
) -> tuple[Vector, Vector]:
    """Multipliers of the last node and of the body, from that of a body without rotation; t = (A^{-1})_NN."""
    K = reduced_inertia(par, t)
    k = shrinking(h, omega)
    K_omega = apply(K, omega)
    b = scale(k, add_scaled(K_omega, 0.5 * h, cross(omega, K_omega)))
    D = matrix_add_scaled(K, 0.5 * h, matmul(hat(omega), K))
    D = matrix_add_scaled(D, -0.5 * h, hat(K_omega))
    D = matrix_add_scaled(D, -0.5 * h * h, outer(b, omega))
    right = add_scaled(omega_bar, -par.M, swing_transposed(h, omega, par.rho, apply_transposed(R, y_N)))
    mu = scale(1.0 / k, apply(inverse3(transpose(D)), right))
    return add_scaled(y_N, -t * par.M, apply(R, cross(mu, par.rho))), mu


@kernel
def body_after(
    par: Parameters,
    h: float,
    R: Matrix,
    v_N: Vector,
    omega: Vector,
    lambda_N: Vector,
    mu: Vector,
    turned_bar: Vector,
    spin_bar: Vector,
    out: Array,
) -> tuple[Vector, float]:
    """Derivatives by the attitude at the start and by h, from the multipliers; adds those by parameters to `out`."""
    c = scale(0.5 * h, omega)
    k = shrinking(h, omega)
    V = apply_transposed(R, v_N)
    u = apply_transposed(R, lambda_N)
    z = cross(spin_bar, par.rho)
    swing = mean_swing(h, omega, par.rho)
    V_end = add(V, cayley_increment(scale(-1.0, c), V))
    V_bar = scale(par.M, sub(add(z, cayley_increment(c, z)), cross(mu, par.rho)))
    attitude_bar = add(turned_bar, cayley_increment(c, turned_bar))
    attitude_bar = add(attitude_bar, add_scaled(cross(V_bar, V), -par.M, cross(swing, u)))

    twice_u = cross(omega, cross(omega, u))
    by_rho = scale(-k, add_scaled(cross(u, omega), 0.5 * h, twice_u))
    by_rho = add(by_rho, sub(cross(V_end, spin_bar), cross(V, mu)))
    add_triple(out, adjoint.BY_RHO, scale(par.M, by_rho))
    out[adjoint.BY_M] -= dot(u, swing) + dot(mu, cross(par.rho, V)) - dot(spin_bar, cross(par.rho, V_end))
    both = add(spin_bar, mu)
    y = scale(k, add_scaled(sub(spin_bar, mu), -0.5 * h, cross(both, omega)))
    add_triple(out, adjoint.BY_J, scale(y[0], omega))
    add_triple(out, adjoint.BY_J + 3, scale(y[1], omega))
    add_triple(out, adjoint.BY_J + 6, scale(y[2], omega))

    J_omega = apply(par.J, omega)
    bent = dot(both, cross(omega, J_omega))
    twice_rho = dot(u, cross(omega, cross(omega, par.rho)))
    along, twice_V = dot(z, cross(V, omega)), dot(z, cross(omega, cross(omega, V)))
    value = dot(sub(spin_bar, mu), J_omega) - 0.5 * h * bent
    value -= par.M * (dot(u, cross(omega, par.rho)) + 0.5 * h * twice_rho)
    value += par.M * h * (along + 0.5 * h * twice_V)
    slope = -0.5 * bent - 0.5 * par.M * twice_rho + par.M * (along + h * twice_V)
    h_bar = k * (slope - 0.5 * h * k * dot(omega, omega) * value)
    h_bar += k * dot(omega, turned_bar)
    return attitude_bar, h_bar


@inlined
def moment_back(par: Parameters, c: float, R: Matrix, spin_bar: Vector, out: Array) -> tuple[Vector, float]:
    """Adjoint of an impulse c of the weight's moment: the derivatives by the attitude and by c."""
    add_triple(out, adjoint.BY_WEIGHT_RHO, scale(c, cross(R[2], spin_bar)))
    bar = scale(c, cross(cross(spin_bar, par.weight_rho), R[2]))
    return bar, dot(spin_bar, cross(par.weight_rho, R[2]))
