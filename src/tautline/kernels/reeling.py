"""The step with a moving reel: kicks, drift, and what the reel gives and takes (docs/theory.md, equations 18 to 22)."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_nodes
from tautline.kernels.data import Array, Command, Motion, Parameters, Scratch, node
from tautline.kernels.drive import torque_at
from tautline.kernels.drum import drum_after, drum_before, is_plain, plain_drum
from tautline.kernels.elastic import element_pulls
from tautline.kernels.energy import (
    body_moment,
    element_length,
    reel_force,
    reel_mass,
    strain_at_guide,
    weights_of_nodes,
)
from tautline.kernels.fixed import (
    bend_of,
    extrapolated,
    extrapolation,
    hold_first_node,
    keep_spin,
)
from tautline.kernels.guide import REMEMBERS, carnot_force, entrance, spool, spooled_force
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import zero_like
from tautline.kernels.newton import Rates
from tautline.kernels.reels import ReelStart
from tautline.kernels.rotation import add_spin, attitude, turn
from tautline.kernels.so3 import Matrix, add, add_scaled, apply_transposed, dot, scale, sub
from tautline.kernels.step_equations import weights_from


@kernel
def drift_with_reel(
    par: Parameters, h: float, l: float, sigma: float, q: Array, q_err: Array, v: Array, pull: Array, out: Array
) -> float:
    """q += h v; what the elements give to their nodes on the way into `out`, and G_s without the reel's part.

    An element gives (h/2) of its force at the start, and h G with G = (1 - theta) G(g_k, v) + theta G(g_{k+1}, v).
    """
    N = par.N
    theta = par.theta
    l_1 = l - h * sigma / N
    flow = h * par.mu * sigma
    start = flow * (1.0 - theta) * sigma / l
    end = flow * theta * sigma / l_1
    nothing = spread(q, zero_like(sigma))
    stretch, stretch_1, speeds = nothing, nothing, nothing
    for i in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, i)
        v0, v1 = nodes_from(v, i), nodes_from(v, i + 1)
        w = sub(nodes_from(q, i), nodes_from(q, i + 1))
        w_1 = add_scaled(w, h, sub(v0, v1))
        gamma_w, gamma_w_1 = scale(gamma, w), scale(gamma, w_1)
        x = scale(flow, add_scaled(scale(alpha, v0), beta, v1))
        x = add_scaled(add_scaled(x, start, gamma_w), end, gamma_w_1)
        put_nodes(out, i, add_scaled(x, -0.5 * h * load(pull, i), w))
        stretch += dot(gamma_w, w)
        stretch_1 += dot(gamma_w_1, w_1)
        speeds += is_element * (dot(v0, add(v0, v1)) + dot(v1, v1))
        accumulate_nodes(q, q_err, i, scale(h, v0), par.compensated)
    stretched = (1.0 - theta) / (l * l) * total(q, stretch) + theta / (l_1 * l_1) * total(q, stretch_1)
    return par.mu * (3.0 * sigma * sigma * stretched - total(q, speeds)) / (6.0 * N)  # type: ignore[no-any-return]


@kernel
def kick_with_reel(
    par: Parameters, h: float, l: float, l_1: float, q: Array, pull: Array, given: Array, p: Array, p_err: Array
) -> None:
    """p += what the elements gave on the way, (h/2) of their forces at the end, and the weight."""
    weight = 0.5 * h * par.mu_g * (l + l_1)
    nothing = spread(q, zero_like(l))
    before = (nothing, nothing, nothing)
    for i in range(0, par.N + 1, width(q)):
        w = sub(nodes_from(q, i + 1), nodes_from(q, i))
        x = add_scaled(nodes_from(given, i), 0.5 * h * load(pull, i), w)
        dp = sub(x, previous_nodes(q, before, x))
        before = x
        z = dp[2] + weights_of_nodes(q, par.N, i, weight, 0.5 * weight + h * par.weight)
        accumulate_nodes(p, p_err, i, (dp[0], dp[1], z), par.compensated)
    hold_first_node(p)
    hold_first_node(p_err)


@kernel
def reel_gradient(par: Parameters, h: float, s: float, sigma: float) -> float:
    """The reel's own part of G_s, over both ends of the step."""
    slope = (1.0 - par.theta) * reel_mass(par, s)[1] + par.theta * reel_mass(par, s + h * sigma)[1]
    return 0.5 * slope * sigma * sigma


@kernel
def evaluate_forces(par: Parameters, s: float, q: Array, out: Array) -> None:
    """Pulls of the elements, and -dV/ds in the last place of `out`, which no element needs."""
    element_pulls(par, element_length(par, s), q, out)
    out[len(out) - 1] = reel_force(par, s, q)


@kernel
def kept_reel_force(pull: Array) -> float:
    """-dV/ds, where evaluate_forces put it."""
    return pull[len(pull) - 1]  # type: ignore[no-any-return]


@kernel
def reel_before(
    par: Parameters, command: Command, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Start the reel's part of a step, from the strain at the guide and -dV/ds at its start."""
    h_start = (1.0 - par.theta) * h
    if is_plain(par, command, reel):
        drum = plain_drum(par, command, start, end, reel[data.S])
        sigma = 0.0
        p_s = h_start * drum.motor
    else:
        drum, sigma, p_s = drum_before(par, command, reel, h, start, end)
    ahead = extrapolation(h, reel[data.H_LAST], reel[data.H_BEFORE])
    bend = bend_of(h, reel[data.H_LAST], reel[data.H_BEFORE], reel[data.H_EARLIER])
    if not drum.held:
        sigma = extrapolated(ahead, bend, reel[data.SIGMA], reel[data.SIGMA_BEFORE], reel[data.SIGMA_EARLIER])
    at = entrance(par, reel, reel[data.S], strain)
    p_s += reel[data.P_S] + 0.5 * h * force + h_start * spooled_force(par, at)
    return ReelStart(p_s, ahead, bend, sigma, at, drum)


class ReelImpulses(NamedTuple):
    """Impulses of the string on the reel in a step."""

    s: float  # at the start
    force: float  # -dV/ds there
    gradient: float  # G_s of the string
    force_end: float
    strain_end: float  # at the guide


@kernel
def keep_speed(reel: Array, sigma: float, h: float) -> None:
    """Remember the mean speed of a step, and how long it was."""
    reel[data.SIGMA_EARLIER] = reel[data.SIGMA_BEFORE]
    reel[data.SIGMA_BEFORE] = reel[data.SIGMA]
    reel[data.SIGMA] = sigma
    keep_length(reel, h)


@kernel
def keep_length(reel: Array, h: float) -> None:
    """Remember how long a step was."""
    reel[data.H_EARLIER] = reel[data.H_BEFORE]
    reel[data.H_BEFORE] = reel[data.H_LAST]
    reel[data.H_LAST] = h


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
    at_end = entrance(par, reel, min(pushes.s, reel[data.S]), pushes.strain_end)
    loss_end = carnot_force(par, at_end, sigma)[0]
    dp_s += 0.5 * h * pushes.force_end + h_end * loss_end
    loss = -(h_start * loss_start + h_end * loss_end) * sigma
    if REMEMBERS[par.law]:
        mean = (1.0 - par.theta) * loss_start + par.theta * loss_end
        impulse, loss = spool(par, h, sigma, pushes.s, before.at.strain, at_end.strain, mean, reel)
        dp_s += impulse - h * mean
    book(par, reel, data.GUIDE_LOSS, loss)

    if before.drum.plain:
        push = h_start * before.drum.motor + h_end * plain_drum(par, command, end, end - h, reel[data.S]).motor
        book(par, reel, data.CONTROL_WORK, push * sigma)
        reel[data.TORQUE] = torque_at(command, end)
        reel[data.HELD] = data.NOT_HELD
    else:
        push = drum_after(par, command, reel, before.drum, h, end, sigma, rates.impulse)
    accumulate(reel, data.P_S, data.P_S_ERR, dp_s + push, par.compensated)
    keep_speed(reel, sigma, h)


@inlined
def move_string(
    par: Parameters, motion: Motion, scratch: Scratch, h: float, s: float, rates: Rates, R: Matrix
) -> float:
    """Nodes and body over a step from s; G_s of the string is returned."""
    body = motion.body
    v = scratch.nodes[data.MEAN_VELOCITY]
    gradient = drift_with_reel(
        par,
        h,
        element_length(par, s),
        rates.sigma,
        motion.nodes[data.POSITION],
        motion.nodes[data.POSITION_ERR],
        v,
        scratch.nodes[data.PULL],
        scratch.nodes[data.IMPULSE],
    )
    if par.rotates:
        add_spin(par, body, scale(0.5 * h, body_moment(par, R)))
        turn(par, body, h, apply_transposed(R, node(v, par.N)), rates.omega)
        add_spin(par, body, scale(0.5 * h, body_moment(par, attitude(body))))
        keep_spin(body, rates.omega)
    return gradient


@inlined
def last_kick(par: Parameters, motion: Motion, scratch: Scratch, h: float, s: float, s_1: float) -> tuple[float, float]:
    """Forces at the end of a step from s to s_1, and the momenta there; -dV/ds and the strain at the guide."""
    q = motion.nodes[data.POSITION]
    pull = scratch.nodes[data.PULL]
    l, l_1 = element_length(par, s), element_length(par, s_1)
    evaluate_forces(par, s_1, q, pull)
    p, p_err = motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR]
    kick_with_reel(par, h, l, l_1, q, pull, scratch.nodes[data.IMPULSE], p, p_err)
    return kept_reel_force(pull), strain_at_guide(par, q, l_1)
