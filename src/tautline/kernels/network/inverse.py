"""Inverse dynamics of reels: torques of locks and prescribed motions in a network (docs/theory.md, equation 106).

From a motion where it is sampled. The momentum of the reel half a short step later and half a step earlier, with all
else moving by its own equations, gives its rate.
"""

from __future__ import annotations

import math

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, width
from tautline.kernels.data import Array, clear_nodes, put_triple, triple
from tautline.kernels.drum import drive_at, holding, viscous_drag
from tautline.kernels.energy import element_length, kinetic_gradient_s, momenta, radius, strain_at_guide
from tautline.kernels.guide import entrance, guide_force, spooled_force
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.acting import Instant
from tautline.kernels.loads.damping import lengthening_by_reel
from tautline.kernels.network import data as net
from tautline.kernels.network.backup import copy_motion, put_motion
from tautline.kernels.network.bodies import begin_body
from tautline.kernels.network.boundary import velocities_at_boundary
from tautline.kernels.network.condense import keep_velocities
from tautline.kernels.network.data import Network, Strand, WholeSamples, body_at, strand_at
from tautline.kernels.network.ends import angular_velocity_about, end_of, spooled_slope
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.feeds import add_to_feeds, feed_speed, measure_span, push_on_feeds, strain_at_drum
from tautline.kernels.network.friction import NO_FRICTION, guides_on_shaft, put_rub, rub_force, rub_of
from tautline.kernels.network.gravity import momenta_with_weight
from tautline.kernels.network.grip import NO_RUB, keep_grip
from tautline.kernels.network.kinematic import turning_at
from tautline.kernels.network.loads import (
    act_at_boundary,
    ahead_of,
    instant_of,
    load_all,
    loads_of_strand,
    place_given,
)
from tautline.kernels.network.observe import refresh_network, velocities_now
from tautline.kernels.network.solving import solve_rates
from tautline.kernels.network.spans import retracted
from tautline.kernels.network.starting import begin_fluid
from tautline.kernels.network.step import stage
from tautline.kernels.reeling import kept_reel_force
from tautline.kernels.reels import NO_ENTRANCE, ReelStart, pack_start
from tautline.kernels.so3 import add_scaled, dot
from tautline.kernels.tables import curve_at, vector_at

# Of two steps behind each other, of inverse dynamics, over the time of a wave through an element: an error of 1e-7 in
# time, and of 1e-12 by rounding.
SHORT_STEP = 1e-3
# Angle that a body may turn by in such a step.
SHORT_TURN = 1e-3


@kernel
def finds_torque(strand: Strand) -> bool:
    """Whether the torque on a drum follows from its motion: of one that is locked, or whose motion is prescribed."""
    turns = strand.reeving.feeds[0] == strand.number if strand.reeved else strand.has_reel
    return bool(turns and (strand.command.locked or strand.command.kind == data.BY_PROFILE))


@kernel
def any_torque(network: Network) -> bool:
    """Whether there is such a reel."""
    found = False
    for k in range(len(network.strands)):
        found = found or finds_torque(strand_at(network.strands, k))
    return found


@kernel
def short_step(network: Network) -> float:
    """Step that is small against waves in all strings and the turning of all bodies."""
    step = math.inf
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        par = strand.par
        if strand.reeving.idle:
            continue
        step = min(step, SHORT_STEP * element_length(par, retracted(strand)) * math.sqrt(par.mu / par.EA))
    for b in range(len(network.bodies)):
        omega = triple(body_at(network.bodies, b).work, net.OMEGA_NOW)
        turn = math.sqrt(dot(omega, omega))
        if turn > 0.0:
            step = min(step, SHORT_TURN / turn)
    return step


@separate
def note_pushes(network: Network, k: int, out: Array) -> None:
    """Forces on s other than the motor's, and dT/ds, at the velocities of the sample, into REEL_PUSH."""
    strand = strand_at(network.strands, k)
    par, work = strand.par, strand.work
    work[net.REEL_CHANGE] = 0.0
    if strand.reeved:
        work[net.REEL_PUSH] = work[net.ON_FEED_END] + friction_on_feed(network, k, out[net.SPEED])
        return
    q, v = strand.nodes[data.POSITION], strand.scratch.nodes[data.MEAN_VELOCITY]
    s, sigma = strand.reel[data.S], out[net.SPEED]
    first = end_of(network, strand, 0, 0.0)
    speed = sigma + angular_velocity_about(strand, first)
    gradient = kinetic_gradient_s(par, s, sigma, q, v)
    gradient += 0.5 * par.mu * (dot(first.v, first.v) + speed * speed - sigma * sigma)
    push = gradient + kept_reel_force(strand.scratch.nodes[data.PULL]) + work[net.WEIGHT_S]
    still = zero_like(sigma) if strand.command.locked else sigma
    push += guide_force(par, strand.reel, s, strain_at_guide(par, q, element_length(par, s)), still)
    if not strand.command.locked:
        push -= viscous_drag(par, s) * sigma
        if sigma != 0.0:
            push -= math.copysign(par.coulomb, sigma) / radius(par, s)
    work[net.REEL_PUSH] = push


@kernel
def friction_on_feed(network: Network, k: int, sigma: float) -> float:
    """Friction and guides of a drum or sheave that is locked or moves as prescribed (N)."""
    strand = strand_at(network.strands, k)
    par, s = strand.reeving.par, strand.reel[data.S]
    push = zero_like(s)
    if strand.has_reel:
        speed = zero_like(s) if strand.command.locked else sigma
        push += guide_force(par, strand.reel, s, strain_at_drum(network, strand), speed)
        if strand.reeving.shared:
            push += guides_on_shaft(network, k, speed)[0]
    if strand.command.locked:
        return float(push)
    push -= viscous_drag(par, s) * sigma
    if sigma != 0.0:
        push -= math.copysign(par.coulomb, sigma) / radius(par, s)
    if strand.reeving.friction.law != NO_FRICTION:
        push += rub_force(rub_of(network, k), strand.reeving.friction.alpha_0, sigma)[0]
    return float(push)


@separate
def note_loads(network: Network, k: int, at: Instant) -> None:
    """Add forces of loads on s to REEL_PUSH, of spans on both feeds, at the velocities that were found."""
    strand = strand_at(network.strands, k)
    target, border = strand.scratch.nodes[data.TARGET], strand.scratch.nodes[data.BORDER]
    if strand.row < 0 and not strand.reeved:
        lengthening_by_reel(strand.par, element_length(strand.par, strand.reel[data.S]), strand.scratch)
    clear_nodes(target)
    clear_nodes(border)
    taken = loads_of_strand(network, strand, at, 1.0 + zero_like(at.t), target, border)
    if strand.reeved:
        add_to_feeds(network, strand, net.REEL_PUSH, taken.on_s, taken.on_far)
    else:
        strand.work[net.REEL_PUSH] += taken.on_s


@separate
def load_both_ways(network: Network, t: float, step: float, backups: Array2) -> None:
    """Let loads act on the momenta of a sample for half a step ahead; those with half a step back go to backups[1].

    Fluid that moves along resists accelerations: they are found on trial, as at the start of a motion.
    """
    half = 0.5 * step
    nothing = zero_like(t)
    ahead = ahead_of(network)
    if network.totals[data.LOADS_PENDING] > 0.0:
        act_at_boundary(network, t, nothing)
    at = instant_of(t, nothing, half)
    if network.carries_fluid:
        velocities_now(network, t)
        begin_fluid(network)
        copy_motion(network, backups[1])
        stage(network, half, t, t + half)
        at = instant_of(t + half, nothing, half)
        place_given(network, t + half)
        velocities_at_boundary(network, half, at, nothing)
        put_motion(network, backups[1])
        refresh_network(network, t)
    else:
        place_given(network, t)
        velocities_at_boundary(network, nothing, at, ahead)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if finds_torque(strand) or strand.reeved:
            note_loads(network, k, at)
    load_all(network, at, -half)
    copy_motion(network, backups[1])
    load_all(network, at, step)


@separate
def begin_reel(network: Network, k: int, t: float, h: float, out: Array) -> None:
    """Momenta of a string with half a step of gravity into TARGET, and what its reel does in the step.

    Prescribed motions go on as prescribed, drums that friction or stops hold stand still. Motor and friction of others
    act as they do now.
    """
    strand = strand_at(network.strands, k)
    par, reel, work, command = strand.par, strand.reel, strand.work, strand.command
    momenta_with_weight(strand, h)
    work[net.SIGMA_NOW] = 0.0
    if strand.row < 0:
        return
    s, sigma = reel[data.S], out[net.SPEED]
    if strand.reeved:
        par = strand.reeving.par
    if strand.reeving.wheel >= 0:
        wheel = strand_at(network.strands, strand.reeving.wheel)
        keep_grip(network, k, out[net.SPEED], feed_speed(network, wheel, 0), 0.5 * h)
    if finds_torque(strand):
        _, sigma, acceleration = curve_at(command.profile.T, t)
        sigma += 0.5 * h * acceleration
        start = ReelStart(zero_like(sigma), 0.0, 0.0, sigma, NO_ENTRANCE, holding(True))
    elif reel[data.HELD] != data.NOT_HELD:
        start = ReelStart(zero_like(sigma), 0.0, 0.0, sigma, NO_ENTRANCE, holding(True))
    else:
        d = radius(par, s)
        if strand.reeved:
            strain = strain_at_drum(network, strand)
        else:
            strain = strain_at_guide(strand.par, strand.nodes[data.POSITION], element_length(strand.par, s))
        at = entrance(par, reel, s, strain)
        pushed = kept_reel_force(strand.scratch.nodes[data.PULL]) + work[net.WEIGHT_S]
        if strand.reeved:
            pushed = work[net.ON_FEED]
            if strand.reeving.friction.law != NO_FRICTION:
                pushed += rub_force(rub_of(network, k), strand.reeving.friction.alpha_0, sigma)[0]
                put_rub(work, net.RUB, NO_RUB)  # stiff friction would have several solutions in the step back
        force = pushed + spooled_force(par, at)
        force += out[net.TORQUE_NOW] / d - viscous_drag(par, s) * sigma
        dry = par.coulomb + drive_at(par, command, t, t + h, s).brake
        if sigma != 0.0:
            force -= math.copysign(dry, sigma) / d
        start = ReelStart(reel[data.P_S] + 0.5 * h * force, 0.0, 0.0, sigma, at, holding(False))
    work[net.SIGMA_NOW] = start.sigma
    pack_start(start, work[net.START_ROW :])


@separate
def note_momentum(network: Network, k: int, h: float) -> None:
    """Add the momentum of a reel in the middle of the step that was solved for, with the sign of h, to REEL_CHANGE."""
    strand = strand_at(network.strands, k)
    par, work, scratch = strand.par, strand.work, strand.scratch
    keep_velocities(strand)
    sigma = work[net.SIGMA_NOW]
    q, v, middle = strand.nodes[data.POSITION], scratch.nodes[data.MEAN_VELOCITY], scratch.nodes[data.GUESS]
    for i in range(0, par.N + 1, width(q)):
        put_nodes(middle, i, add_scaled(nodes_from(q, i), 0.5 * h, nodes_from(v, i)))
    if strand.reeved:
        measure_span(network, strand, middle, h, scratch.nodes[data.BORDER])
        return
    P_s = momenta(par, strand.reel[data.S] + 0.5 * h * sigma, sigma, middle, v, scratch.nodes[data.BORDER])
    first = end_of(network, strand, 0, h)
    P_s += drum_mass(strand, h, sigma) * angular_velocity_about(strand, first)
    P_s += dot(spooled_slope(strand, strand.reel[data.S]), first.v)
    work[net.REEL_CHANGE] += P_s if h > 0.0 else -P_s


@separate
def find_torques(network: Network, t: float, backups: Array2, samples: WholeSamples, row: int) -> None:
    """Torques of locks and prescribed motions into row `row` of samples. The motion stays.

    Follows `observe_network`, whose velocities it takes. `backups` has two rows for copies of the motion.
    """
    step, out = short_step(network), samples.strands[row]
    push_on_feeds(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if finds_torque(strand) or strand.reeving.wheel >= 0:
            note_pushes(network, k, out[k])
    if network.loaded:
        copy_motion(network, backups[0])
        load_both_ways(network, t, step, backups)
    found = True
    for sign in (1.0, -1.0):
        h = sign * step
        if network.loaded and sign < 0.0:
            put_motion(network, backups[1])
        for b in range(len(network.bodies)):
            body = body_at(network.bodies, b)
            begin_body(body, h, 0.0, 0.0, False, t, t + h)
            if body.free:
                # so near that one iteration is exact: what Newton's method leaves would be divided by the short step
                put_triple(body.work, net.V_NOW, triple(samples.bodies[row, b], net.BODY_VELOCITY))
                put_triple(body.work, net.OMEGA_NOW, triple(samples.bodies[row, b], net.BODY_OMEGA))
            else:  # differences of places over so short a time would be all rounding
                if body.moves:
                    _, velocity, acceleration = vector_at(body.path, t)
                    put_triple(body.work, net.V_NOW, add_scaled(velocity, 0.5 * h, acceleration))
                if body.rotates:
                    turning = turning_at(body, t)
                    put_triple(body.work, net.OMEGA_NOW, add_scaled(turning.omega, 0.5 * h, turning.rate))
        for k in range(len(network.strands)):
            begin_reel(network, k, t, h, out[k])
        found = solve_rates(network, h, 0.5 * h)[0] and found
        for k in range(len(network.strands)):
            strand_at(network.strands, k).work[net.FEED_MOMENTUM] = 0.0
        for k in range(len(network.strands)):
            strand = strand_at(network.strands, k)
            if finds_torque(strand) or strand.reeved:
                note_momentum(network, k, h)
        for k in range(len(network.strands)):
            strand = strand_at(network.strands, k)
            if strand.reeved:
                P_s = strand.work[net.FEED_MOMENTUM]
                strand.work[net.REEL_CHANGE] += P_s if h > 0.0 else -P_s
    if network.loaded:
        put_motion(network, backups[0])
        refresh_network(network, t)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if finds_torque(strand):
            force = strand.work[net.REEL_CHANGE] / step - strand.work[net.REEL_PUSH]
            if strand.reeving.idle and strand.reeving.sheave:  # what the groove gives the rope it takes from the wheel
                rope = strand_at(network.strands, strand.reeving.span)
                force += rope.work[net.REEL_CHANGE] / step - rope.work[net.REEL_PUSH]
            torque = radius(strand.reeving.par, strand.reel[data.S]) * force
            if found and math.isfinite(torque):  # else what the latest step took stands there
                out[k, net.TORQUE_NOW] = torque
