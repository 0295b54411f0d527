"""The step with a moving reel: kicks, drift, and what the reel gives and takes (docs/theory.md, equations 18 to 22)."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    CONTROL_WORK,
    FORCE,
    GUIDE_LOSS,
    H_BEFORE,
    H_LAST,
    HELD,
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
    SIGMA,
    SIGMA_BEFORE,
    SPIN,
    TARGET,
    TORQUE,
    VELOCITY,
    VELOCITY_BEFORE,
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
from tautline.kernels.drive import torque_at
from tautline.kernels.drum import Drum, drum_after, drum_before, is_plain, plain_drum
from tautline.kernels.elastic import element_forces
from tautline.kernels.energy import (
    body_moment,
    element_length,
    end_force,
    node_force,
    reel_force,
    reel_mass,
    strain_at_guide,
    transport_force,
    transport_weights,
)
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import drift, extrapolation, kick_nodes
from tautline.kernels.guide import REMEMBERS, carnot_force, entrance, spool, spooled_force
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import zero_like
from tautline.kernels.newton import ZERO, Rates, Target
from tautline.kernels.reels import ReelStart
from tautline.kernels.rotation import add_spin, attitude, turn
from tautline.kernels.so3 import Matrix, add_scaled, apply_transposed, dot, scale, sub


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
    """Start the reel's part of a step, from the strain at the guide and -dV/ds at its start."""
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
    if REMEMBERS[par.law]:
        mean = (1.0 - par.theta) * loss_start + par.theta * loss_end
        impulse, loss = spool(par, h, sigma, pushes.s, before.at.strain, at_end.strain, mean, reel)
        dp_s += impulse - h * mean
    book(par, reel, GUIDE_LOSS, loss)

    if before.drum.plain:
        push = h_start * before.drum.motor + h_end * plain_drum(par, command, end, end - h, reel[S]).motor
        book(par, reel, CONTROL_WORK, push * sigma)
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
