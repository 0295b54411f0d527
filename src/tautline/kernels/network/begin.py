"""Momenta of a network from its velocities: at the start of a run, and where commands of reels change."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.data import add_triple, copy_nodes, node, put_node, put_triple, triple
from tautline.kernels.energy import momenta
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.bodies import book_given
from tautline.kernels.network.data import Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import (
    End,
    angular_velocity_about,
    end_of,
    place_ends,
    put_matrix,
    spooled_slope,
    wheel_end,
)
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.feeds import feed_speed, measure_span
from tautline.kernels.network.gravity import weigh
from tautline.kernels.network.kinematic import set_kinematic_velocities, turn_to
from tautline.kernels.network.loads import act_at_boundary
from tautline.kernels.network.observe import (
    first_momentum,
    measure_spans,
    measure_strand,
    owed_to_held,
    velocities_now,
)
from tautline.kernels.network.spans import evaluate_pulls
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import ZERO, Vector, add_scaled, apply, cross, dot, scale


@kernel
def begin_strand(network: Network, strand: Strand) -> None:
    """Momenta of a string from its velocities; those of its ends go to the bodies."""
    par, reel = strand.par, strand.reel
    v, p = strand.nodes[data.VELOCITY], strand.nodes[data.MOMENTUM]
    place_ends(network, strand)
    for e in range(2):
        put_node(v, e * par.N, end_of(network, strand, e, 0.0).v)
    if strand.reeved:
        begin_span(network, strand)
        return
    sigma = reel[data.SIGMA] if strand.row >= 0 else 0.0
    reel[data.P_S] = momenta(par, reel[data.S], sigma, strand.nodes[data.POSITION], v, p)
    ends = (end_of(network, strand, 0, 0.0), end_of(network, strand, 1, 0.0))
    given = (first_momentum(strand, sigma, v), node(p, par.N))
    for e in range(2):
        give_at(ends[e], given[e])
        put_node(p, e * par.N, ZERO)
    if strand.has_reel:
        carried = angular_velocity_about(strand, ends[0])
        mass = drum_mass(strand, 0.0, sigma)
        reel[data.P_S] += mass * carried + dot(spooled_slope(strand, reel[data.S]), ends[0].v)
        state = ends[0].body.state
        spin = scale(mass * (sigma + carried), apply(ends[0].R, strand.axis))
        add_triple(state, net.ANGULAR, spin)
    copy_nodes(v, strand.nodes[data.VELOCITY_BEFORE])
    evaluate_forces(par, reel[data.S], strand.nodes[data.POSITION], strand.scratch.nodes[data.PULL])


@kernel
def begin_span(network: Network, strand: Strand) -> None:
    """Momenta of a span from its velocities; those of its ends and of its wheel go to the bodies."""
    par, work, p = strand.par, strand.work, strand.nodes[data.MOMENTUM]
    copy_nodes(strand.nodes[data.VELOCITY], strand.scratch.nodes[data.MEAN_VELOCITY])
    ends = (end_of(network, strand, 0, 0.0), end_of(network, strand, 1, 0.0))
    for e in range(2):
        put_triple(work, net.END_VELOCITY + 3 * e, ends[e].v)
    measure_span(network, strand, strand.nodes[data.POSITION], 0.0, p)
    for e in range(2):
        give_at(ends[e], triple(work, net.END_MOMENTUM + 3 * e))
        put_node(p, e * par.N, ZERO)
    if strand.has_reel or strand.reeving.sheave:
        state = ends[0].body.state
        speed = feed_speed(network, strand, 0) + angular_velocity_about(strand, ends[0])
        spin = scale(drum_mass(strand, 0.0, 0.0) * speed, apply(ends[0].R, strand.axis))
        add_triple(state, net.ANGULAR, spin)
    if strand.reeving.sheave:
        center = wheel_end(network, strand, 0.0)
        give_at(center, scale(strand.reeving.wrap, center.v))
    copy_nodes(strand.nodes[data.VELOCITY], strand.nodes[data.VELOCITY_BEFORE])
    evaluate_pulls(strand)


@kernel
def give_at(end: End, momentum: Vector) -> None:
    """Momentum of what is at an end to its body."""
    state = end.body.state
    add_triple(state, net.LINEAR, momentum)
    arm = apply(end.R, end.point)
    add_triple(state, net.ANGULAR, cross(arm, momentum))


@separate
def begin_network(network: Network, t: float) -> None:
    """Momenta of a network from the velocities in its states."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        state, work = body.state, body.work
        if not body.free:
            turn_to(body, t)
            set_kinematic_velocities(body, t)
            put_triple(state, net.V, triple(work, net.V_NOW))
            put_triple(state, net.OMEGA, triple(work, net.OMEGA_NOW))
        for place in (net.V_BEFORE, net.V_EARLIER):
            put_triple(state, place, triple(state, net.V))
        for place in (net.OMEGA_BEFORE, net.OMEGA_EARLIER):
            put_triple(state, place, triple(state, net.OMEGA))
        R = attitude(state)
        put_matrix(work, net.TURNED, R)
        put_triple(work, net.V_NOW, triple(state, net.V))
        put_triple(work, net.OMEGA_NOW, triple(state, net.OMEGA))
        put_triple(state, net.LINEAR, scale(body.mass, triple(state, net.V)))
        put_triple(state, net.ANGULAR, apply(R, apply(body.J, triple(state, net.OMEGA))))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        strand.work[net.SIGMA_NOW] = strand.reel[data.SIGMA] if strand.row >= 0 else 0.0
        strand.work[net.FEED_MOMENTUM] = 0.0
    for k in range(len(network.strands)):
        begin_strand(network, strand_at(network.strands, k))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved:
            strand.reel[data.P_S] = strand.work[net.FEED_MOMENTUM]
    network.totals[net.FRAME_POWER] = weigh(network, t, False)[1]


@separate
def release_reels(network: Network, t: float) -> None:
    """Give every reel that moves the momentum of its present speed, however it was held; forget earlier steps."""
    if network.loaded:
        act_at_boundary(network, t, 0.0)
    velocities_now(network, t)
    measure_spans(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        reel = strand.reel
        P_s = measure_strand(network, strand)[1]
        if strand.row >= 0 and reel[data.HELD] == data.PRESCRIBED and reel[data.H_LAST] != 0.0:
            # the half impulse that the latest step was still to be given
            book(strand.par, reel, data.CONTROL_WORK, (P_s - reel[data.P_S]) * reel[data.SIGMA])
        reel[data.P_S], reel[data.P_S_ERR] = P_s, 0.0
        reel[data.HELD] = data.NOT_HELD
        reel[data.STICTION] = 0.0
        if strand.reeving.wheel >= 0:
            reel[net.GRIPS], reel[net.GRIP_LOW], reel[net.GRIP_HIGH] = 0.0, 0.0, 0.0
    forget_steps(network)


@kernel
def forget_steps(network: Network) -> None:
    """Let the next Newton iteration start from the present velocities of bodies and reels alone."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        for place in (net.V, net.V_BEFORE, net.V_EARLIER):
            put_triple(body.state, place, triple(body.work, net.V_NOW))
        for place in (net.OMEGA, net.OMEGA_BEFORE, net.OMEGA_EARLIER):
            put_triple(body.state, place, triple(body.work, net.OMEGA_NOW))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for place in (data.SIGMA, data.SIGMA_BEFORE, data.SIGMA_EARLIER):
            strand.reel[place] = strand.work[net.SIGMA_NOW]
        for place in (data.H_LAST, data.H_BEFORE, data.H_EARLIER):
            strand.reel[place] = 0.0
    for place in (data.H_LAST, data.H_BEFORE, data.H_EARLIER):
        network.totals[place] = 0.0


@kernel
def give_momenta(network: Network, stopped: int) -> None:
    """Give reels, and bodies whose motion is given, the momenta of the velocities found now; book what that takes.

    If a reel is `stopped`, its impulse is one of friction, and impulses act at the mean of the speeds before and after
    (equation 48). Else, with -1, they are what the latest step still owes, at its speed. Impulses of prescribed motions
    are work of their motors; reels that move by their own equations have these momenta already.
    """
    part = 0.5 if stopped >= 0 else 1.0
    measure_spans(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        reel = strand.reel
        P_s = measure_strand(network, strand)[1]
        if strand.row >= 0:
            speed = part * reel[data.SIGMA] + (1.0 - part) * strand.work[net.SIGMA_NOW]
            if k == stopped:
                book(strand.par, reel, data.FRICTION_LOSS, (reel[data.P_S] - P_s) * speed)
            elif reel[data.HELD] == data.PRESCRIBED:
                book(strand.par, reel, data.CONTROL_WORK, (P_s - reel[data.P_S]) * speed)
        reel[data.P_S], reel[data.P_S_ERR] = P_s, 0.0
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if not body.free:
            impulse, moment = owed_to_held(network, b)
            velocity = add_scaled(scale(part, triple(body.state, net.V)), 1.0 - part, triple(body.work, net.V_NOW))
            omega = add_scaled(scale(part, triple(body.state, net.OMEGA)), 1.0 - part, triple(body.work, net.OMEGA_NOW))
            book_given(network, body, impulse, moment, velocity, apply(attitude(body.state), omega))
            add_triple(body.state, net.LINEAR, impulse)
            add_triple(body.state, net.ANGULAR, moment)


@separate
def stop_at_end(network: Network, k: int, side: float, t: float) -> None:
    """Put the reel of string k on the stop at an end of its string: an impulse on it alone, a plastic impact.

    Reels with prescribed motions go on as prescribed. Others that friction or stops hold are free for the impact; what
    holds them acts again in the next step.
    """
    if network.loaded:
        act_at_boundary(network, t, 0.0)
    velocities_now(network, t)
    give_momenta(network, -1)
    for j in range(len(network.strands)):
        reel = strand_at(network.strands, j).reel
        if strand_at(network.strands, j).reeving.wheel >= 0:  # what a groove had still to give is in these momenta
            reel[net.GRIP_LOW], reel[net.GRIP_HIGH] = 0.0, 0.0
        if reel[data.HELD] != data.PRESCRIBED:
            reel[data.HELD] = data.NOT_HELD
            reel[data.STICTION] = 0.0
    forget_steps(network)
    reel = strand_at(network.strands, k).reel
    reel[data.STOP], reel[data.STOP_TIME] = side, t
    reel[data.HELD], reel[data.HELD_SPEED], reel[data.HELD_ACCELERATION] = data.STUCK, 0.0, 0.0
    velocities_now(network, t)
    give_momenta(network, k)
    forget_steps(network)
