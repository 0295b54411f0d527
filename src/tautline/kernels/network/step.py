"""One step of a network: from momenta to mean velocities, the drift, momenta at the end (docs/theory.md)."""

from __future__ import annotations

import math

from tautline.errors import NEWTON_FAILED, NON_FINITE, RUNNING
from tautline.kernels import data
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Plan, add_triple, node, put_node, put_triple, triple
from tautline.kernels.energy import element_length, strain_at_guide
from tautline.kernels.fixed import bend_of, extrapolation
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.bodies import begin_body, book_whole, end_body, give, move_body, size_of
from tautline.kernels.network.condense import keep_velocities
from tautline.kernels.network.data import Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import (
    End,
    angular_velocity_about,
    end_of,
    place_ends,
    spin_direction,
    spooled_slope,
    wheel_end,
)
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.feeds import begin_feeds, change_of_slope, drift_feeds, feed_speed, kick_feeds
from tautline.kernels.network.gravity import give_weight, momenta_with_weight, weigh, weight_of
from tautline.kernels.network.guess import (
    count_alike,
    is_steady,
    keep_speeds,
    reel_beyond_parabola,
)
from tautline.kernels.network.reeving import wheel_momentum
from tautline.kernels.network.solving import solve_rates
from tautline.kernels.network.spans import evaluate_pulls, retracted
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import (
    ReelImpulses,
    drift_with_reel,
    keep_length,
    kept_reel_force,
    kick_with_reel,
    reel_after,
    reel_before,
)
from tautline.kernels.reels import pack_start, unpack_start
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply, cross, dot, scale, sub


@separate
def begin_strand(network: Network, k: int, h: float, start: float, end: float) -> None:
    """Momenta with half of gravity's impulse into TARGET, and the reel's part of the step."""
    strand = strand_at(network.strands, k)
    par, reel, work = strand.par, strand.reel, strand.work
    momenta_with_weight(strand, h)
    work[net.SIGMA_NOW] = 0.0
    if strand.row >= 0 and not strand.reeved:
        work[net.FORCE] = kept_reel_force(strand.scratch.nodes[data.PULL]) + work[net.WEIGHT_S]
        work[net.STRAIN] = strain_at_guide(par, strand.nodes[data.POSITION], element_length(par, reel[data.S]))
        before = reel_before(par, strand.command, reel, work[net.STRAIN], work[net.FORCE], h, start, end)
        pack_start(before, work[net.START_ROW :])
        work[net.SIGMA_NOW] = before.sigma
        if is_steady(network.totals, h) and not before.drum.held:
            work[net.SIGMA_NOW] += reel_beyond_parabola(reel)


@kernel
def ask_at(end: End, h: float, P: Vector) -> None:
    """Ask the body at an end of a string for a momentum in a step."""
    if not end.body.free:
        work = end.body.work
        add_triple(work, net.AT_START, P)
        add_triple(work, net.SPIN_AT_START, cross(apply(end.R, end.point), P))
    give(end.body, ZERO, cross(scale(h, apply(end.R, end.swing)), P))


@kernel
def ask_for_drum(network: Network, strand: Strand, h: float) -> None:
    """Momentum that a body whose motion is given bears of a drum or wheel beyond the mass at the end of the string.

    Angular momentum of one that turns along with it, momentum of what goes up or down around it.
    """
    end = end_of(network, strand, 0, h)
    if end.body.free:
        return
    sigma = feed_speed(network, strand, 0) if strand.reeved else strand.work[net.SIGMA_NOW]
    s = strand.reel[data.S]
    slopes = add(spooled_slope(strand, s), spooled_slope(strand, s + h * sigma))
    ask_at(end, h, scale(0.5 * sigma, slopes))
    if dot(strand.axis, strand.axis) == 0.0:
        return
    size = drum_mass(strand, h, sigma) * (sigma + angular_velocity_about(strand, end))
    spin = scale(size, apply(end.R, spin_direction(strand, end, h)))
    add_triple(end.body.work, net.SPIN_AT_START, spin)


@separate
def drift_strand(network: Network, k: int, h: float) -> None:
    """Move the nodes and the reel of a string; pay gravity's impulse at the start."""
    strand = strand_at(network.strands, k)
    par, work, scratch = strand.par, strand.work, strand.scratch
    keep_velocities(strand)
    sigma = work[net.SIGMA_NOW]
    for e in range(2):
        ask_at(end_of(network, strand, e, h), h, triple(work, net.END_MOMENTUM + 3 * e))
    if strand.reeving.sheave:
        center = wheel_end(network, strand, h)
        ask_at(center, h, wheel_momentum(strand, center, 0.5 * h))
        put_triple(work, net.WHEEL_WEIGHT, scale(0.5 * h, triple(work, net.WHEEL_WEIGHT + 3)))
    if strand.has_reel or strand.reeving.sheave:
        ask_for_drum(network, strand, h)
    give_weight(strand, h)
    if strand.reeved:
        drift_feeds(network, strand, h)
    else:
        work[net.GRADIENT] = drift_with_reel(
            par,
            h,
            element_length(par, strand.reel[data.S]),
            sigma,
            strand.nodes[data.POSITION],
            strand.nodes[data.POSITION_ERR],
            scratch.nodes[data.MEAN_VELOCITY],
            scratch.nodes[data.PULL],
            scratch.nodes[data.IMPULSE],
        )
    for e in range(2):
        # what gravity gave to the ends goes to their bodies, with the rest of their impulse
        at = e * par.N
        put_triple(work, net.END_WEIGHT + 3 * e, scale(0.5 * h, weight_of(strand, at)))
    if strand.reeved:
        return
    work[net.S_BEFORE] = strand.reel[data.S]
    if strand.row >= 0:
        accumulate(strand.reel, data.S, data.S_ERR, h * sigma, par.compensated)


@separate
def kick_strand(network: Network, k: int, h: float, end_time: float) -> None:
    """Momenta at the end of a step: of the nodes, of the bodies at both ends, and of the reel."""
    strand = strand_at(network.strands, k)
    par, reel, work, scratch = strand.par, strand.reel, strand.work, strand.scratch
    N = par.N
    q, pull, given = strand.nodes[data.POSITION], scratch.nodes[data.PULL], scratch.nodes[data.IMPULSE]
    p, p_err = strand.nodes[data.MOMENTUM], strand.nodes[data.MOMENTUM_ERR]
    s, s_1 = work[net.S_BEFORE], retracted(strand)
    evaluate_pulls(strand)
    kick_with_reel(par, h, element_length(par, s), element_length(par, s_1), q, pull, given, p, p_err)
    give_weight(strand, h)
    for e in range(2):
        at = e * N
        put_node(p, at, ZERO)
        put_node(p_err, at, ZERO)
        i = 0 if e == 0 else N - 1
        tension = add_scaled(node(given, i), 0.5 * h * pull[i], sub(node(q, i + 1), node(q, i)))
        impulse = scale(1.0 if e == 0 else -1.0, tension)
        impulse = add(impulse, add_scaled(triple(work, net.END_WEIGHT + 3 * e), 0.5 * h, weight_of(strand, at)))
        body = body_at(network.bodies, strand.ends[e])
        give(body, impulse, cross(apply(attitude(body.state), strand.points[e]), impulse))
    if strand.reeving.sheave:
        impulse = add_scaled(triple(work, net.WHEEL_WEIGHT), 0.5 * h, triple(work, net.WHEEL_WEIGHT + 3))
        body = body_at(network.bodies, strand.ends[0])
        give(body, impulse, cross(apply(attitude(body.state), strand.reeving.center), impulse))
    if strand.row < 0 or strand.reeved:
        return
    sigma = work[net.SIGMA_NOW]
    before = unpack_start(work[net.START_ROW :])
    first = end_of(network, strand, 0, h)
    speed = sigma + angular_velocity_about(strand, first)
    v = triple(work, net.END_VELOCITY)
    gradient = work[net.GRADIENT] + 0.5 * par.mu * (dot(v, v) + speed * speed - sigma * sigma)
    gradient += dot(change_of_slope(strand), v) / h
    force_end = kept_reel_force(pull) + work[net.WEIGHT_S]
    strain_end = strain_at_guide(par, q, element_length(par, s_1))
    rates = Rates(sigma, ZERO, work[net.IMPULSE_NOW])
    pushes = ReelImpulses(s, work[net.FORCE], gradient, force_end, strain_end)
    keep_speeds(reel)
    reel_after(par, strand.command, reel, before, h, end_time, rates, pushes)


@separate
def has_finite_momenta(network: Network) -> bool:
    """Whether loads and steps have left numbers from which Newton's method can begin."""
    size = 0.0
    for b in range(len(network.bodies)):
        size += size_of(body_at(network.bodies, b))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.row >= 0:
            size += strand.reel[data.P_S]
        for i in range(strand.par.N + 1):
            p = node(strand.nodes[data.MOMENTUM], i)
            size += p[0] + p[1] + p[2]
    return math.isfinite(size)


@separate
def stage(network: Network, h: float, start: float, end: float) -> int:
    """One step of length h; start and end are the times of its ends. Forces must be those of the present state."""
    totals = network.totals
    ahead = extrapolation(h, totals[data.H_LAST], totals[data.H_BEFORE])
    bend = bend_of(h, totals[data.H_LAST], totals[data.H_BEFORE], totals[data.H_EARLIER])
    steady = is_steady(totals, h)
    for b in range(len(network.bodies)):
        begin_body(body_at(network.bodies, b), h, ahead, bend, steady, start, end)
    for k in range(len(network.strands)):
        begin_strand(network, k, h, start, end)
    begin_feeds(network, h, start, end)
    found, iterations = solve_rates(network, h, 0.5 * h)
    network.clock[data.ITERATIONS] += iterations
    if not found:
        return NEWTON_FAILED if has_finite_momenta(network) else NON_FINITE
    for k in range(len(network.strands)):
        drift_strand(network, k, h)
    for b in range(len(network.bodies)):
        move_body(network, body_at(network.bodies, b), h, end)
    for k in range(len(network.strands)):
        place_ends(network, strand_at(network.strands, k))
    power = weigh(network, end, False)[1]
    book_whole(network, data.GUIDE_WORK, 0.5 * h * (totals[net.FRAME_POWER] + power))
    totals[net.FRAME_POWER] = power
    for k in range(len(network.strands)):
        kick_strand(network, k, h, end)
    kick_feeds(network, h, end)
    finite = True
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        end_body(network, body, h, start, end)
        finite = finite and math.isfinite(size_of(body))
    count_alike(totals, h)
    keep_length(totals, h)
    return RUNNING if finite else NON_FINITE


@inlined
def composed_step(network: Network, plan: Plan, t: float, h: float, end: float) -> int:
    """A step of length h from time t to `end`: the stages of the composition."""
    status = RUNNING
    done = 0.0
    i = 0
    while i < len(plan.stages) and status == RUNNING:
        part = plan.stages[i]
        start = t + done * h
        done += part
        i += 1
        status = stage(network, part * h, start, end if i == len(plan.stages) else t + done * h)
    return status
