"""Loads on a network, where two steps join (docs/theory.md, equation 71).

As for the pendulum, (L + tau D) v = p with tau the time for which they act: momenta jump, positions stand still, and no
step is limited by what resists. The inner nodes of each string are eliminated by 3x3 blocks from its start to its end;
what is left of it is a block for both ends and the reel, which goes into the equations of the bodies.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.balance import SIGNS, book
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Array, Loads, add_triple, copy_nodes, node, put_node, triple
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import extrapolation
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import Instant
from tautline.kernels.loads.boundary import StepBoundary, amount, given_at
from tautline.kernels.loads.carried import beyond
from tautline.kernels.loads.pushing import ACCOUNTS, ON_REEL, acts, pushes
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.network import data as net
from tautline.kernels.network.bodies import book_whole, give
from tautline.kernels.network.boundary import boundary_of, push_of, velocities_at_boundary
from tautline.kernels.network.data import Body, Network, Strand, body_at, loads_at, strand_at
from tautline.kernels.network.ends import matrix_in
from tautline.kernels.network.feeds import feed_speed
from tautline.kernels.network.kinematic import set_kinematic_velocities
from tautline.kernels.network.reduced import strand_motion
from tautline.kernels.network.span_loads import speeds_of
from tautline.kernels.network.spans import retracted
from tautline.kernels.network.wet import expect_fluid_at_bodies, given_to, move_fluid_at_bodies
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import IDENTITY, ZERO, Vector, add, add_scaled, apply, cross, dot, scale, sub

# Part of the momentum of the mesh's fastest motion that damping may take at once.
STIFF = 0.5


@kernel
def instant_of(t: float, back: float, ahead: float) -> Instant:
    """A step boundary, in space."""
    return Instant(t, back, ahead, ZERO, ZERO, IDENTITY, Rates(0.0, ZERO, 0.0), (0.0,))


class Taken(NamedTuple):
    """Impulses of loads on what a string is fastened to, and on its reel."""

    first: Vector
    last: Vector
    moment: Vector  # on the body at its end, body frame
    on_s: float
    on_far: float  # on the feed at the stop of a span


@kernel
def loads_of_drum(network: Network, strand: Strand, loads: Loads, time: float) -> Taken:
    """Impulses of loads in a time on rope on a drum at the end of a line, and their power to POWER."""
    scratch, sigma, v = strand.scratch, feed_speed(network, strand, 0), triple(strand.work, net.END_VELOCITY)
    push = push_of(strand, loads)
    for k in range(len(ACCOUNTS)):
        power = 0.0 * time
        if acts(k, loads.own) and pushes(loads):
            row, rest = scratch.nodes[data.LOAD_ROWS + 2 * k], scratch.nodes[data.LOAD_ROWS + 2 * k + 1]
            power = -SIGNS[ACCOUNTS[k]] * (dot(node(row, 0), v) + rest[ON_REEL] * sigma)
        strand.work[net.POWER + k] = power
    if not pushes(loads):
        return Taken(ZERO, ZERO, ZERO, 0.0, 0.0)
    return Taken(scale(time, node(scratch.nodes[data.PUSHED], 0)), ZERO, ZERO, time * push.reel, 0.0)


@separate
def loads_of_strand(network: Network, strand: Strand, at: Instant, time: float, p: Array, err: Array) -> Taken:
    """Add to momenta p what loads give to inner nodes in a time, at the velocities that were found; to ends and reel.

    Their power, as accounts take it, goes to POWER.
    """
    loads = loads_at(network.acting, strand.number)
    if strand.reeving.idle:
        return loads_of_drum(network, strand, loads, time)
    if strand.reeved:
        feeds = boundary_of(network, strand, loads, at, speeds_of(network, strand))
        return loads_along(network, strand, feeds, time, p, err)
    reel = boundary_of(network, strand, loads, at, (strand.work[net.SIGMA_NOW],))
    return loads_along(network, strand, reel, time, p, err)


@kernel
def loads_along(network: Network, strand: Strand, boundary: StepBoundary, time: float, p: Array, err: Array) -> Taken:
    """Impulses of loads on a string that is out, at a step boundary."""
    par, loads, scratch = strand.par, loads_at(network.acting, strand.number), strand.scratch
    given = given_at(par, loads, time, boundary, strand_motion(network, strand), scratch, p, err)
    first, last = given.first, sub(node(p, par.N), node(err, par.N))
    put_node(p, par.N, ZERO)
    put_node(err, par.N, ZERO)
    pushing = pushes(loads)
    if pushing:
        first = add_scaled(first, time, node(scratch.nodes[data.PUSHED], 0))
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            power = amount(par, loads, k, boundary, given, scratch)
            if pushing:
                at_first = dot(
                    node(scratch.nodes[data.LOAD_ROWS + 2 * k], 0), node(scratch.nodes[data.MEAN_VELOCITY], 0)
                )
                power -= SIGNS[ACCOUNTS[k]] * at_first
            strand.work[net.POWER + k] = power
    return Taken(first, last, scale(time, given.moment), time * given.reel, time * given.far)


@kernel
def give_at_boundary(body: Body, impulse: Vector, point: Vector, moment: Vector) -> None:
    """An impulse at a point of a body, and a moment of impulse in its frame; a held one passes it on."""
    if body.free:
        R = matrix_in(body.work, net.TURNED)
        give(body, impulse, add(cross(apply(R, point), impulse), apply(R, moment)))
    else:
        R = attitude(body.state)
        turned = add(cross(apply(R, point), impulse), apply(R, moment))
        add_triple(body.state, net.LINEAR, impulse)
        add_triple(body.state, net.ANGULAR, turned)


@kernel
def give_to_feed(network: Network, strand: Strand, f: int, impulse: float) -> None:
    """An impulse to what feeds an end of a span; what does not move takes it."""
    m = strand.reeving.feeds[f]
    if m >= 0:
        lead = strand_at(network.strands, m)
        if lead.row >= 0:
            accumulate(lead.reel, data.P_S, data.P_S_ERR, strand.reeving.factors[f] * impulse, strand.par.compensated)


@separate
def load_strand(network: Network, k: int, at: Instant, time: float) -> None:
    """Give the impulses of loads to nodes, bodies and reel of a string, and book their work and losses."""
    strand, loads = strand_at(network.strands, k), loads_at(network.acting, k)
    if not loads.acts:
        return
    taken = loads_of_strand(network, strand, at, time, strand.nodes[data.MOMENTUM], strand.nodes[data.MOMENTUM_ERR])
    give_at_boundary(body_at(network.bodies, strand.ends[0]), taken.first, strand.points[0], ZERO)
    give_at_boundary(body_at(network.bodies, strand.ends[1]), taken.last, strand.points[1], taken.moment)
    if strand.reeved:
        give_to_feed(network, strand, 0, taken.on_s)
        give_to_feed(network, strand, 1, taken.on_far)
    elif strand.row >= 0:
        accumulate(strand.reel, data.P_S, data.P_S_ERR, taken.on_s, strand.par.compensated)
    for load in range(len(ACCOUNTS)):
        if acts(load, loads.own):
            book(strand.par, strand.reel, ACCOUNTS[load], time * strand.work[net.POWER + load])


@kernel
def load_bodies(network: Network, at: Instant, time: float) -> None:
    """Give what the fluid gives to bodies, and book it."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free and network.in_fluid:
            given = given_to(network, body, at)
            give_at_boundary(body, scale(time, given.force), ZERO, scale(time, given.moment))
            book_whole(network, ACCOUNTS[DRAG], -SIGNS[ACCOUNTS[DRAG]] * time * given.power)


@kernel
def load_all(network: Network, at: Instant, time: float) -> None:
    """Let loads act for a time at the velocities that were found."""
    for k in range(len(network.strands)):
        load_strand(network, k, at, time)
    load_bodies(network, at, time)


@kernel
def ahead_of(network: Network) -> float:
    """How far the end of the latest step is ahead of its mean velocities, over their change from the step before."""
    totals = network.totals
    return extrapolation(0.0, totals[data.H_LAST], totals[data.H_BEFORE]) if totals[data.H_BEFORE] != 0.0 else 0.0


@kernel
def is_stiff(network: Network, time: float) -> bool:
    """Whether damping would stop the fastest motion of a string's elements in less than this time."""
    stiff = False
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        par = strand.par
        l = element_length(par, retracted(strand))
        stiff = stiff or time * 12.0 * par.viscosity > STIFF * par.mu * l * l
    return stiff


@separate
def act_at_boundary(network: Network, t: float, ahead_time: float) -> None:
    """Let loads act at time t for what is pending of the step before, and for some time of the next one.

    Their velocity is the one with what is pending: in the middle of the jump, so that the energy changes by exactly the
    impulse times that. At the start, where nothing is pending, damping that is stiff takes the one that it leads to.
    """
    pending = network.totals[data.LOADS_PENDING]
    place_given(network, t)
    at = instant_of(t, pending, ahead_time)
    stiff_start = pending == 0.0 and is_stiff(network, ahead_time)
    velocities_at_boundary(network, ahead_time if stiff_start else pending, at, ahead_of(network))
    load_all(network, at, pending + ahead_time)
    if network.carries_fluid and pending > 0.0:
        expect_fluid(network, at)
    network.totals[data.LOADS_PENDING] = 0.0


@kernel
def expect_fluid(network: Network, at: Instant) -> None:
    """Velocities of the step behind a step boundary if they changed there alone: of nodes into GUESS (equation 82)."""
    part = (at.back + at.ahead) / at.back
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        v, scratch = strand.nodes[data.VELOCITY], strand.scratch
        beyond(strand.par, part, v, scratch.nodes[data.MEAN_VELOCITY], ZERO, scratch.nodes[data.GUESS])
    expect_fluid_at_bodies(network, at.back, part)


@kernel
def place_given(network: Network, t: float) -> None:
    """Velocities of bodies whose motion is given, at time t."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if not body.free:
            set_kinematic_velocities(body, t)


@kernel
def keep_for_loads(network: Network, back: float) -> None:
    """Remember the mean velocities of a step that was made, and what loads still owe for it.

    `back` is for how long they acted at its start for the step before.
    """
    h = network.totals[data.H_LAST]
    network.totals[data.LOADS_PENDING] = 0.5 * h
    part = h / (h + 2.0 * back) if back > 0.0 else 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        v = strand.nodes[data.VELOCITY]
        copy_nodes(v, strand.nodes[data.VELOCITY_BEFORE])
        copy_nodes(strand.scratch.nodes[data.MEAN_VELOCITY], v)
        if network.carries_fluid:
            beyond(strand.par, part, v, strand.scratch.nodes[data.GUESS], ZERO, strand.nodes[data.FLUID_VELOCITY])
    if network.carries_fluid:
        move_fluid_at_bodies(network, h, part)
