"""The equations of a step with a moving reel, by Newton's method on the arrow matrix (docs/theory.md, (18) to (22)).

One formula serves both schemes: with w_t = w + theta h (v_e - v_{e+1}) and l_t = l - theta h sigma/N the
two evaluations of the kinetic quadrature merge into one pass over the elements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.arrow import Corner, Row, eliminate_row, store_row, substitute_bordered
from tautline.kernels.data import (
    COLUMN,
    LOWER,
    MEAN_VELOCITY,
    RIGHT,
    TARGET,
    Array,
    Parameters,
    Scratch,
    node,
)
from tautline.kernels.drum import PLAIN, Drum
from tautline.kernels.energy import element_length, reel_mass, transport_weights
from tautline.kernels.entrance import Entrance
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, some, zero_like
from tautline.kernels.reels import solve_reel_row
from tautline.kernels.rotation import (
    MAX_ITERATIONS,
    cayley_momentum,
    lever_arm,
    mean_swing,
    mean_swing_by_omega,
)
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    matmul,
    matrix_add_scaled,
    scale,
    select_vector,
    solve3,
    sub,
)

# Quadratic convergence: the error left after a correction x is about (h/l) x^2, and h v/l < 0.1.
LAST_CORRECTION = 1e-7
# Corrections below this part of the wave speed are rounding.
ROUNDING_FLOOR = 1e-14

ZERO = (0.0, 0.0, 0.0)


class Block(NamedTuple):
    """Element e's part of the step equations: values, and derivatives by v_e, v_{e+1} and sigma."""

    left: Vector  # in the row of node e
    right: Vector  # in the row of node e + 1
    reel: float  # in the reel's row
    left_by_left: float
    left_by_right: float
    right_by_left: float
    right_by_right: float
    left_by_sigma: Vector
    right_by_sigma: Vector
    reel_by_left: Vector
    reel_by_right: Vector
    reel_by_sigma: float


class Target(NamedTuple):
    """Left-hand sides of the step equations that are not nodes."""

    p_s: float  # without the guide law and what `drum` holds
    Pi: Vector
    at: Entrance
    drum: Drum = PLAIN


class Rates(NamedTuple):
    """Unknowns of the step that are not nodes."""

    sigma: float
    omega: Vector
    impulse: float = 0.0  # on s, of what leads, holds or rubs the drum


@kernel
def element_block(
    par: Parameters, h: float, e: int, l: float, sigma: float, w: Vector, v0: Vector, v1: Vector
) -> Block:
    """(1 - theta)[P(g_k, v) - h G(g_k, v)] + theta P(g_{k+1}, v) of one element, with derivatives."""
    mu = par.mu
    theta = par.theta
    N = par.N
    weights = transport_weights(N, e)
    alpha, beta, gamma = mu * weights[0], mu * weights[1], mu * weights[2]
    h_start = (1.0 - theta) * h
    h_end = theta * h

    dv = sub(v0, v1)
    l_t = l - h_end * (sigma / N)
    l_1 = l - h * (sigma / N)
    w_t = add_scaled(w, h_end, dv)
    w_1 = add_scaled(w, h, dv)
    inverse_l = 1.0 / l  # the same in all elements: divisions leave the loop
    inverse_l_1 = 1.0 / l_1
    inverse_N = 1.0 / N
    third = mu * l_t / 3.0
    sixth = mu * l_t / 6.0
    stretch_k = dot(w, w) * inverse_l
    stretch_1 = dot(w_1, w_1) * inverse_l_1
    stretch = (1.0 - theta) * stretch_k + theta * stretch_1

    # with the mass per length in all of them, so that it is multiplied once
    D = add_scaled(scale(alpha, v0), beta, v1)
    x = scale(sigma, add_scaled(D, gamma * sigma * inverse_l, w))
    x_by_sigma = add_scaled(D, 2.0 * gamma * sigma * inverse_l, w)
    m0 = scale(mu / 6.0, add_scaled(v1, 2.0, v0))
    m1 = scale(mu / 6.0, add_scaled(v0, 2.0, v1))
    speeds = dot(v0, m0) + dot(v1, m1)  # mu (|v0|^2 + v0.v1 + |v1|^2)/3
    z = add_scaled(scale(h_end, D), 2.0 * h_end * gamma * sigma * inverse_l_1, w_1)

    return Block(
        add_scaled(add_scaled(scale(l_t, m0), alpha * sigma, w_t), -h_start, x),
        add_scaled(add_scaled(scale(l_t, m1), beta * sigma, w_t), h_start, x),
        dot(w_t, D)
        + gamma * sigma * stretch
        + 0.5 * h_start * inverse_N * (speeds - gamma * stretch_k * inverse_l * sigma * sigma),
        third + h * sigma * alpha * (2.0 * theta - 1.0),
        sixth - sigma * (h_end * alpha + h_start * beta),
        sixth + sigma * (h_end * beta + h_start * alpha),
        third + h * sigma * beta * (1.0 - 2.0 * theta),
        add_scaled(add_scaled(scale(alpha, w_t), -h_end * inverse_N, m0), -h_start, x_by_sigma),
        add_scaled(add_scaled(scale(beta, w_t), -h_end * inverse_N, m1), h_start, x_by_sigma),
        add_scaled(add_scaled(z, alpha, w_t), h_start * inverse_N, m0),
        add_scaled(sub(scale(beta, w_t), z), h_start * inverse_N, m1),
        gamma * (stretch + sigma * inverse_N * (h_end * stretch_1 * inverse_l_1 - h_start * stretch_k * inverse_l)),
    )


@kernel
def solve_end(
    par: Parameters,
    h: float,
    R: Matrix,
    target: Target,
    rates: Rates,
    v_N: Vector,
    row: Row,
    corner: Corner,
) -> tuple[float, Vector, Vector, float]:
    """dsigma, dv_N, domega from the last node's row, the reel's and the body's.

    The last number is the impulse of what leads, holds or rubs the drum.
    """
    t = 1.0 / row.diagonal
    h_start = (1.0 - par.theta) * h
    k = t * par.M
    # in the body frame, so that R appears three times instead of in every matrix; a point mass needs no frame
    residual = row.residual
    column = row.column
    border = row.border
    by_residual = ZERO
    by_sigma = ZERO
    swing = ZERO
    phi_by_omega = (ZERO, ZERO, ZERO)
    if par.rotates:
        phi = mean_swing(h, rates.omega, par.rho)
        phi_by_omega = mean_swing_by_omega(h, rates.omega, par.rho, phi)
        psi, psi_by_omega = cayley_momentum(par.J, h, rates.omega)
        residual = add_scaled(apply_transposed(R, residual), -par.M, phi)
        column = apply_transposed(R, column)
        border = apply_transposed(R, border)
        spin_residual = sub(sub(target.Pi, psi), lever_arm(par, R, v_N))
        W = matrix_add_scaled(psi_by_omega, -k * par.M, matmul(hat(par.rho), phi_by_omega))
        by_residual = solve3(W, add_scaled(spin_residual, -k, cross(par.rho, residual)))
        by_sigma = solve3(W, scale(k, cross(par.rho, column)))
        swing = apply_transposed(phi_by_omega, border)
    pivot = corner.diagonal - t * dot(border, column) - k * dot(swing, by_sigma)
    left = corner.residual - t * dot(border, residual) + k * dot(swing, by_residual)
    dsigma, impulse = solve_reel_row(par, target.drum, target.at, rates.sigma, h_start, pivot, left)
    dv_N = add_scaled(residual, -dsigma, column)
    if not par.rotates:
        return dsigma, scale(t, dv_N), ZERO, impulse
    domega = add_scaled(by_residual, dsigma, by_sigma)
    dv_N = add_scaled(dv_N, -par.M, apply(phi_by_omega, domega))
    return dsigma, scale(t, apply(R, dv_N)), domega, impulse


@kernel
def newton_correction(
    par: Parameters,
    h: float,
    s: float,
    q: Array,
    R: Matrix,
    target: Target,
    rates: Rates,
    not_converged: bool,
    scratch: Scratch,
) -> tuple[Rates, float, float]:
    """One correction of (MEAN_VELOCITY, sigma, omega); TARGET holds the nodes' left-hand sides.

    A member of a batch that has settled waits for the others, as it is.
    Returns the new rates and the largest squares of a correction and of a speed.
    """
    N = par.N
    p = scratch.nodes[TARGET]
    v = scratch.nodes[MEAN_VELOCITY]
    y = scratch.nodes[RIGHT]
    a = scratch.nodes[COLUMN]
    ratio = scratch.factor[LOWER]
    l = element_length(par, s)
    sigma = rates.sigma

    mass, slope = reel_mass(par, s)
    mass_1, slope_1 = reel_mass(par, s + h * sigma)
    theta = par.theta
    corner = Corner(
        (1.0 - theta) * (mass - h * slope * sigma) + theta * (mass_1 + h * slope_1 * sigma),
        target.p_s - ((1.0 - theta) * (mass - 0.5 * h * slope * sigma) + theta * mass_1) * sigma,
    )
    nothing = zero_like(sigma)
    none = (nothing, nothing, nothing)
    row = Row(nothing, none, none, none)
    for e in range(N):
        w = sub(node(q, e), node(q, e + 1))
        block = element_block(par, h, e, l, sigma, w, node(v, e), node(v, e + 1))
        corner = Corner(corner.diagonal + block.reel_by_sigma, corner.residual - block.reel)
        following = Row(
            block.right_by_right,
            sub(node(p, e + 1), block.right),
            block.right_by_sigma,
            block.reel_by_right,
        )
        if e > 0:  # node 0 stands still and has no equation
            row = Row(
                row.diagonal + block.left_by_left,
                sub(row.residual, block.left),
                add(row.column, block.left_by_sigma),
                add(row.border, block.reel_by_left),
            )
            store_row(row, block.left_by_right, e, ratio, y, a)
            following, corner = eliminate_row(row, block.right_by_left, block.left_by_right, following, corner)
        row = following

    v_N = node(v, N)
    row = Row(row.diagonal + par.M, add_scaled(row.residual, -par.M, v_N), row.column, row.border)
    dsigma, dv_N, domega, impulse = solve_end(par, h, R, target, rates, v_N, row, corner)
    correction2, speed2 = substitute_bordered(dsigma, dv_N, ratio, y, a, not_converged, v)
    rates = Rates(
        select(not_converged, sigma + dsigma, sigma),
        select_vector(not_converged, add(rates.omega, domega), rates.omega),
        select(not_converged, impulse, rates.impulse),
    )
    lever2 = dot(par.rho, par.rho)
    correction2 = max(max(correction2, dsigma * dsigma), lever2 * dot(domega, domega))
    speed2 = max(max(speed2, rates.sigma * rates.sigma), lever2 * dot(rates.omega, rates.omega))
    return rates, correction2, speed2


@inlined
def solve_rates(
    par: Parameters, h: float, s: float, q: Array, R: Matrix, target: Target, rates: Rates, scratch: Scratch
) -> tuple[Rates, bool, float]:
    """Newton's method; returns whether it failed, and the number of iterations.

    At h = 0 the equations are linear and this inverts the Legendre transform.
    """
    floor = ROUNDING_FLOOR * math.sqrt(par.EA / par.mu)
    spin_floor = floor / element_length(par, s)
    not_converged = zero_like(rates.sigma) == 0.0
    failed = not_converged
    iterations = zero_like(rates.sigma)
    for _ in range(MAX_ITERATIONS):
        before = rates.omega
        rates, correction2, speed2 = newton_correction(par, h, s, q, R, target, rates, not_converged, scratch)
        tolerance = LAST_CORRECTION * math.sqrt(speed2) + floor
        spin2 = dot(rates.omega, rates.omega)
        turned = sub(rates.omega, before)
        turns = dot(turned, turned) > LAST_CORRECTION * LAST_CORRECTION * spin2 + spin_floor * spin_floor
        iterations += select(not_converged, 1.0, 0.0)
        # what is not a number settles at once, and has failed
        not_converged = not_converged & ((correction2 > tolerance * tolerance) | turns)
        failed = not_converged | (correction2 != correction2) | (correction2 == math.inf)
        if not some(not_converged):
            break
    return rates, failed, iterations
