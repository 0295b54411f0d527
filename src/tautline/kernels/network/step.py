"""One step of a network: from momenta to mean velocities, the drift, momenta at the end (docs/theory.md)."""

from __future__ import annotations

import math

from tautline.errors import NEWTON_FAILED, NON_FINITE, RUNNING
from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_triple
from tautline.kernels.data import Plan, add_triple, node, put_node, put_triple, triple
from tautline.kernels.energy import element_length, strain_at_guide
from tautline.kernels.fixed import bend_of, extrapolated_vector, extrapolation
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import keep_velocities
from tautline.kernels.network.data import Body, Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import (
    End,
    angular_velocity_about,
    end_of,
    matrix_in,
    place_ends,
    put_matrix,
    spin_direction,
    spooled_slope,
)
from tautline.kernels.network.equations import drum_mass, solve_rates
from tautline.kernels.network.gravity import give_weight, momenta_with_weight, weigh, weight_of
from tautline.kernels.network.guess import (
    beyond_parabola,
    count_alike,
    is_steady,
    keep_speeds,
    keep_vectors,
    reel_beyond_parabola,
)
from tautline.kernels.network.kinematic import mean_turning, mean_velocity, turn_to
from tautline.kernels.network.reeving import (
    begin_feeds,
    change_of_slope,
    drift_feeds,
    feed_speed,
    kick_feeds,
    wheel_end,
    wheel_momentum,
)
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
from tautline.kernels.rotation import attitude, quaternion
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply, cross, dot, quaternion_increment, scale, sub
from tautline.kernels.tables import mean_between


@separate
def push_on(body: Body, near: float, far: float) -> tuple[Vector, Vector]:
    """Mean force and moment of what is applied to a body, as it is at the near end of a step; inertial.

    Both ends give half of the impulse of the step: so its work, at the mean velocity, is what the energy changes by.
    """
    R = attitude(body.state)
    applied = mean_between(body.applied, 1, near, far)
    force = add(mean_between(body.push, 1, near, far), apply(R, mean_between(body.thrust, 1, near, far)))
    moment = add(mean_between(body.push, 4, near, far), apply(R, mean_between(body.thrust, 4, near, far)))
    turning = add(mean_between(body.applied, 4, near, far), cross(apply(R, body.point), applied))
    return add(force, applied), add(moment, turning)


@kernel
def book_push(network: Network, body: Body, impulse: Vector, moment: Vector) -> None:
    """Work of an impulse and a moment of impulse, at the mean velocities of the step."""
    omega = apply(attitude(body.state), triple(body.work, net.OMEGA_NOW))
    work = dot(impulse, triple(body.work, net.V_NOW)) + dot(moment, omega)
    book_whole(network, data.EXTERNAL_WORK, work)


@kernel
def begin_body(body: Body, h: float, ahead: float, bend: float, steady: bool, start: float, end: float) -> None:
    """Guess of a free body's velocities, or those that are given."""
    state, work = body.state, body.work
    put_matrix(work, net.TURNED, attitude(state))
    if body.free:
        latest = triple(state, net.V), triple(state, net.V_BEFORE), triple(state, net.V_EARLIER)
        velocity = extrapolated_vector(ahead, bend, latest[0], latest[1], latest[2])
        turns = triple(state, net.OMEGA), triple(state, net.OMEGA_BEFORE), triple(state, net.OMEGA_EARLIER)
        omega = extrapolated_vector(ahead, bend, turns[0], turns[1], turns[2])
        if steady:
            velocity = add(velocity, beyond_parabola(state, net.V, net.V_OLDER))
            omega = add(omega, beyond_parabola(state, net.OMEGA, net.OMEGA_OLDER))
        put_triple(work, net.V_NOW, velocity)
        put_triple(work, net.OMEGA_NOW, omega)
        if body.pushed:
            force, moment = push_on(body, start, end)
            put_triple(work, net.PUSHED, scale(0.5 * h, force))
            put_triple(work, net.PUSHED + 3, scale(0.5 * h, moment))
        return
    velocity = mean_velocity(body, start, end, h)
    put_triple(work, net.V_NOW, velocity)
    put_triple(work, net.OMEGA_NOW, mean_turning(body, start, end, h))
    put_triple(work, net.AT_START, add_scaled(scale(body.mass, velocity), -0.5 * h, triple(work, net.PULLED)))
    for place in (net.SPIN_AT_START, net.GAINED, net.SPIN_GAINED):
        put_triple(work, place, ZERO)


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
def give(body: Body, impulse: Vector, moment: Vector) -> None:
    """An impulse at the centre of mass and a moment of impulse about it, inertial, to a body."""
    if body.free:
        accumulate_triple(body.state, net.LINEAR, net.LINEAR_ERR, impulse, body.compensated)
        if body.turns:
            accumulate_triple(body.state, net.ANGULAR, net.ANGULAR_ERR, moment, body.compensated)
    else:
        add_triple(body.work, net.GAINED, impulse)
        add_triple(body.work, net.SPIN_GAINED, moment)


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


@kernel
def move_body(network: Network, body: Body, h: float, end: float) -> None:
    """Move and turn a body; pay gravity's impulse at the start."""
    state, work = body.state, body.work
    give(body, scale(0.5 * h, triple(work, net.PULLED)), scale(0.5 * h, triple(work, net.TWISTED)))
    if body.pushed and body.free:
        impulse, moment = triple(work, net.PUSHED), triple(work, net.PUSHED + 3)
        give(body, impulse, moment)
        book_push(network, body, impulse, moment)
    velocity = triple(work, net.V_NOW)
    accumulate_triple(state, net.PLACE, net.PLACE_ERR, scale(h, velocity), body.compensated)
    if body.free and body.turns:
        dQ = quaternion_increment(quaternion(state), scale(0.5 * h, triple(work, net.OMEGA_NOW)))
        for i in range(4):
            accumulate(state, data.ATTITUDE + i, data.ATTITUDE_ERR + i, dQ[i], body.compensated)
    if body.rotates:
        turn_to(body, end)


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


@kernel
def end_body(network: Network, body: Body, h: float, start: float, end: float) -> None:
    """Impulses of gravity and applied forces at the end of a step; work of a motion that is given; velocities."""
    state, work = body.state, body.work
    give(body, scale(0.5 * h, triple(work, net.PULLED)), scale(0.5 * h, triple(work, net.TWISTED)))
    if body.pushed and body.free:
        force, moment = push_on(body, end, start)
        give(body, scale(0.5 * h, force), scale(0.5 * h, moment))
        book_push(network, body, scale(0.5 * h, force), scale(0.5 * h, moment))
    if not body.free:
        impulse = sub(triple(work, net.AT_START), triple(state, net.LINEAR))
        moment = sub(triple(work, net.SPIN_AT_START), triple(state, net.ANGULAR))
        mean = scale(0.5, add(triple(state, net.V), triple(work, net.V_NOW)))
        turning = apply(
            matrix_in(work, net.TURNED), scale(0.5, add(triple(state, net.OMEGA), triple(work, net.OMEGA_NOW)))
        )
        book_given(network, body, impulse, moment, mean, turning)
        put_triple(state, net.LINEAR, add(triple(work, net.AT_START), triple(work, net.GAINED)))
        put_triple(state, net.ANGULAR, add(triple(work, net.SPIN_AT_START), triple(work, net.SPIN_GAINED)))
    keep_vectors(state, net.V, net.V_OLDER, triple(work, net.V_NOW))
    keep_vectors(state, net.OMEGA, net.OMEGA_OLDER, triple(work, net.OMEGA_NOW))


@kernel
def book_given(
    network: Network, body: Body, impulse: Vector, moment: Vector, velocity: Vector, turning: Vector
) -> None:
    """Count an impulse and a moment of impulse of what leads a body, and its work at a velocity (inertial)."""
    state = body.state
    book_whole(network, data.GUIDE_WORK, dot(impulse, velocity) + dot(moment, turning))
    add_triple(state, net.GIVEN, impulse)
    add_triple(state, net.GIVEN_MOMENT, moment)


@kernel
def book_whole(network: Network, account: int, amount: float) -> None:
    """Add an amount (J) to an account of the network as a whole."""
    book(strand_at(network.strands, 0).par, network.totals, account, amount)


@kernel
def size_of(body: Body) -> float:
    """A number that is finite where the momenta of a body are, and what leads it has given."""
    held = triple(body.state, net.GIVEN)
    return dot(triple(body.state, net.LINEAR), triple(body.state, net.ANGULAR)) + held[0] + held[1] + held[2]


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
