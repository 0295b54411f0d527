"""The step with a moving reel: Newton's method on the arrow matrix (docs/theory.md, equations 18 to 22).

One formula serves both schemes: with w_t = w + theta h (v_e - v_{e+1}) and l_t = l - theta h sigma/N the
two evaluations of the kinetic quadrature merge into one pass over the elements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.arrow import Corner, Row, eliminate_row, store_row, substitute_bordered
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    COLUMN,
    FORCE,
    H_BEFORE,
    H_LAST,
    HELD,
    LAW_STRETCHED,
    LOSS,
    LOSS_ERR,
    LOWER,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    NOT_HELD,
    OMEGA,
    OMEGA_BEFORE,
    P_S,
    P_S_ERR,
    POSITION,
    POSITION_ERR,
    RIGHT,
    SIGMA,
    SIGMA_BEFORE,
    SPIN,
    TARGET,
    TORQUE,
    VELOCITY,
    VELOCITY_BEFORE,
    WORK,
    WORK_ERR,
    Array,
    Command,
    Motion,
    Parameters,
    S,
    Scratch,
    copy_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.drum import PLAIN, Drum, drum_after, drum_before, is_plain, plain_drum
from tautline.kernels.energy import (
    body_moment,
    element_forces,
    element_length,
    end_force,
    node_force,
    reel_force,
    reel_mass,
    strain_at_guide,
    transport_force,
    transport_weights,
)
from tautline.kernels.fixed import drift, extrapolation, kick_nodes
from tautline.kernels.guide import Entrance, carnot_force, entrance, spooled_force, torque_at
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, some, zero_like
from tautline.kernels.reels import ReelStart, solve_reel_row
from tautline.kernels.rotation import (
    MAX_ITERATIONS,
    add_spin,
    attitude,
    cayley_momentum,
    lever_arm,
    mean_swing,
    mean_swing_by_omega,
    turn,
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
from tautline.kernels.spooled import wind

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
    alpha, beta, gamma = transport_weights(N, e)
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
    stretch_k = dot(w, w) * inverse_l
    stretch_1 = dot(w_1, w_1) * inverse_l_1
    stretch = (1.0 - theta) * stretch_k + theta * stretch_1

    D = add_scaled(scale(alpha, v0), beta, v1)
    x = scale(sigma, add_scaled(D, gamma * sigma * inverse_l, w))
    x_by_sigma = add_scaled(D, 2.0 * gamma * sigma * inverse_l, w)
    m0 = scale(1.0 / 6.0, add_scaled(v1, 2.0, v0))
    m1 = scale(1.0 / 6.0, add_scaled(v0, 2.0, v1))
    speeds = dot(v0, m0) + dot(v1, m1)  # (|v0|^2 + v0.v1 + |v1|^2)/3
    z = add_scaled(scale(h_end, D), 2.0 * h_end * gamma * sigma * inverse_l_1, w_1)

    return Block(
        scale(mu, add_scaled(add_scaled(scale(l_t, m0), alpha * sigma, w_t), -h_start, x)),
        scale(mu, add_scaled(add_scaled(scale(l_t, m1), beta * sigma, w_t), h_start, x)),
        mu
        * (
            dot(w_t, D)
            + gamma * sigma * stretch
            + 0.5 * h_start * inverse_N * (speeds - gamma * stretch_k * inverse_l * sigma * sigma)
        ),
        mu * (l_t / 3.0 + h * sigma * alpha * (2.0 * theta - 1.0)),
        mu * (l_t / 6.0 - sigma * (h_end * alpha + h_start * beta)),
        mu * (l_t / 6.0 + sigma * (h_end * beta + h_start * alpha)),
        mu * (l_t / 3.0 + h * sigma * beta * (1.0 - 2.0 * theta)),
        scale(mu, add_scaled(add_scaled(scale(alpha, w_t), -h_end * inverse_N, m0), -h_start, x_by_sigma)),
        scale(mu, add_scaled(add_scaled(scale(beta, w_t), -h_end * inverse_N, m1), h_start, x_by_sigma)),
        scale(mu, add_scaled(add_scaled(z, alpha, w_t), h_start * inverse_N, m0)),
        scale(mu, add_scaled(sub(scale(beta, w_t), z), h_start * inverse_N, m1)),
        mu
        * gamma
        * (stretch + sigma * inverse_N * (h_end * stretch_1 * inverse_l_1 - h_start * stretch_k * inverse_l)),
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


@kernel
def first_kick(
    par: Parameters, h: float, l: float, sigma: float, f: Array, q: Array, v: Array, p: Array, p_err: Array
) -> float:
    """p += (h/2) F(g_k) + h G for the nodes, G = (1 - theta) G(g_k, v) + theta G(g_{k+1}, v).

    g_{k+1} is reached along v, so both ends are known before the nodes move. Returns G_s without the reel's part.
    """
    N = par.N
    theta = par.theta
    compensated = par.compensated
    weight = par.mu_g * l
    l_1 = l - h * sigma / N
    sigma2 = 3.0 * sigma * sigma
    G_s = 0.0
    before = ZERO
    for e in range(N):
        alpha, beta, gamma = transport_weights(N, e)
        v0 = node(v, e)
        v1 = node(v, e + 1)
        w = sub(node(q, e), node(q, e + 1))
        w_1 = add_scaled(w, h, sub(v0, v1))
        D = add_scaled(scale(alpha, v0), beta, v1)
        x = scale(1.0 - theta, transport_force(gamma, l, sigma, w, D))
        x = add_scaled(x, theta, transport_force(gamma, l_1, sigma, w_1, D))
        x = add_scaled(scale(h * par.mu, x), 0.5 * h, node(f, e))
        stretch = (1.0 - theta) / (l * l) * dot(w, w) + theta / (l_1 * l_1) * dot(w_1, w_1)
        G_s += sigma2 * gamma * stretch - dot(v0, v0) - dot(v0, v1) - dot(v1, v1)
        if e > 0:
            dp = sub(x, before)
            dp = (dp[0], dp[1], dp[2] + 0.5 * h * weight)
            accumulate_node(p, p_err, e, dp, compensated)
        before = x
    dp = (-before[0], -before[1], 0.5 * h * (0.5 * weight + par.weight) - before[2])
    accumulate_node(p, p_err, N, dp, compensated)
    return par.mu * G_s / (6.0 * N)


@kernel
def reel_gradient(par: Parameters, h: float, s: float, sigma: float) -> float:
    """The reel's own part of G_s, over both ends of the step."""
    slope = (1.0 - par.theta) * reel_mass(par, s)[1] + par.theta * reel_mass(par, s + h * sigma)[1]
    return 0.5 * slope * sigma * sigma


@kernel
def evaluate_forces(par: Parameters, s: float, q: Array, out_f: Array) -> None:
    """Element forces, and -dV/ds in the last place of out_f, which no element needs."""
    element_forces(par, element_length(par, s), q, out_f)
    out_f[len(out_f) - 1] = reel_force(par, s, q)


@kernel
def kept_reel_force(f: Array) -> float:
    """-dV/ds, where evaluate_forces put it."""
    return f[len(f) - 1]  # type: ignore[no-any-return]


@kernel
def left_hand_sides(par: Parameters, h: float, l: float, f: Array, p: Array, out: Array) -> None:
    """p - (h/2) dV/dq."""
    for i in range(1, par.N):
        put_node(out, i, add_scaled(node(p, i), 0.5 * h, node_force(par, l, f, i)))
    put_node(out, par.N, add_scaled(node(p, par.N), 0.5 * h, end_force(par, l, f)))


@kernel
def extrapolate_nodes(x: float, v: Array, v_before: Array, out_v: Array) -> None:
    for k in range(len(v)):
        out_v[k] = v[k] + x * (v[k] - v_before[k])


@inlined
def extrapolated_rates(x: float, motion: Motion, sigma: float, out_v: Array) -> Rates:
    """Start of Newton's method."""
    extrapolate_nodes(x, motion.nodes[VELOCITY], motion.nodes[VELOCITY_BEFORE], out_v)
    omega = triple(motion.body, OMEGA)
    omega = add_scaled(omega, x, sub(omega, triple(motion.body, OMEGA_BEFORE)))
    return Rates(sigma, omega, zero_like(sigma))


@inlined
def step_target(
    par: Parameters,
    h: float,
    s: float,
    motion: Motion,
    R: Matrix,
    p_s: float,
    at: Entrance,
    drum: Drum,
    scratch: Scratch,
) -> Target:
    """Left-hand sides: those of the nodes into TARGET."""
    p = motion.nodes[MOMENTUM]
    left_hand_sides(par, h, element_length(par, s), scratch.nodes[FORCE], p, scratch.nodes[TARGET])
    return Target(p_s, add_scaled(triple(motion.body, SPIN), 0.5 * h, body_moment(par, R)), at, drum)


@kernel
def reel_before(
    par: Parameters, command: Command, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Start of a step from `start` to `end`, from the strain at the guide and -dV/ds there."""
    h_start = (1.0 - par.theta) * h
    if is_plain(par, command, reel):
        drum = plain_drum(par, command, start, end, reel[S])
        sigma = 0.0
        p_s = h_start * drum.motor
    else:
        drum, sigma, p_s = drum_before(par, command, reel, h, start, end)
    ahead = extrapolation(h, reel[H_LAST], reel[H_BEFORE])
    if not drum.held:
        sigma = reel[SIGMA] + ahead * (reel[SIGMA] - reel[SIGMA_BEFORE])
    at = entrance(par, reel, reel[S], strain)
    p_s += reel[P_S] + 0.5 * h * force + h_start * spooled_force(par, at)
    return ReelStart(p_s, ahead, sigma, at, drum)


class ReelImpulses(NamedTuple):
    """What the string does to the reel in a step."""

    s: float  # at the start
    force: float  # -dV/ds there
    gradient: float  # G_s of the string
    force_end: float
    strain_end: float  # at the guide


@kernel
def reel_after(
    par: Parameters,
    command: Command,
    reel: Array,
    before: ReelStart,
    h: float,
    end: float,
    rates: Rates,
    pushes: ReelImpulses,
) -> None:
    """Give the reel its impulses, and book work and loss; s is that of the end already."""
    sigma = rates.sigma
    h_start = (1.0 - par.theta) * h
    h_end = par.theta * h
    loss_start = carnot_force(par, before.at, sigma)[0]
    dp_s = 0.5 * h * pushes.force + h_start * loss_start
    dp_s += h * (pushes.gradient + reel_gradient(par, h, pushes.s, sigma))
    # what comes in meets the string that was spooled before it
    at_end = entrance(par, reel, min(pushes.s, reel[S]), pushes.strain_end)
    loss_end = carnot_force(par, at_end, sigma)[0]
    dp_s += 0.5 * h * pushes.force_end + h_end * loss_end
    loss = -(h_start * loss_start + h_end * loss_end) * sigma
    if par.law == LAW_STRETCHED:
        mean = (1.0 - par.theta) * loss_start + par.theta * loss_end
        impulse, loss = wind(par, h, sigma, pushes.s, before.at.strain, at_end.strain, mean, reel)
        dp_s += impulse - h * mean
    accumulate(reel, LOSS, LOSS_ERR, loss, par.compensated)

    if before.drum.plain:
        push = h_start * before.drum.motor + h_end * plain_drum(par, command, end, end - h, reel[S]).motor
        accumulate(reel, WORK, WORK_ERR, push * sigma, par.compensated)
        reel[TORQUE] = torque_at(command, end)
        reel[HELD] = NOT_HELD
    else:
        push = drum_after(par, command, reel, before.drum, h, end, sigma, rates.impulse)
    accumulate(reel, P_S, P_S_ERR, dp_s + push, par.compensated)
    reel[SIGMA_BEFORE] = reel[SIGMA]
    reel[SIGMA] = sigma
    reel[H_BEFORE] = reel[H_LAST]
    reel[H_LAST] = h


@inlined
def move_string(
    par: Parameters, motion: Motion, scratch: Scratch, h: float, s: float, rates: Rates, R: Matrix
) -> float:
    """Nodes and body over a step from s; G_s of the string is returned.

    The last two solutions are kept for the extrapolation that starts the next Newton iteration.
    """
    body = motion.body
    q = motion.nodes[POSITION]
    p = motion.nodes[MOMENTUM]
    p_err = motion.nodes[MOMENTUM_ERR]
    f = scratch.nodes[FORCE]
    v = scratch.nodes[MEAN_VELOCITY]
    gradient = first_kick(par, h, element_length(par, s), rates.sigma, f, q, v, p, p_err)
    drift(h, v, q, motion.nodes[POSITION_ERR], par.compensated)
    if par.rotates:
        add_spin(par, body, scale(0.5 * h, body_moment(par, R)))
        turn(par, body, h, apply_transposed(R, node(v, par.N)), rates.omega)
        add_spin(par, body, scale(0.5 * h, body_moment(par, attitude(body))))
        put_triple(body, OMEGA_BEFORE, triple(body, OMEGA))
        put_triple(body, OMEGA, rates.omega)
    copy_nodes(motion.nodes[VELOCITY], motion.nodes[VELOCITY_BEFORE])
    copy_nodes(v, motion.nodes[VELOCITY])
    return gradient


@inlined
def last_kick(par: Parameters, motion: Motion, scratch: Scratch, h: float, s: float) -> tuple[float, float]:
    """Forces at the end of a step, where s is known, and their half kick; -dV/ds and the strain at the guide."""
    q = motion.nodes[POSITION]
    f = scratch.nodes[FORCE]
    l = element_length(par, s)
    evaluate_forces(par, s, q, f)
    kick_nodes(par, l, f, 0.5 * h, motion.nodes[MOMENTUM], motion.nodes[MOMENTUM_ERR])
    return kept_reel_force(f), strain_at_guide(par, q, l)
