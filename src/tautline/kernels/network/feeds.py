"""Feeds of spans in a step: their speeds, forces and momenta (docs/theory.md, "Sheaves and pins").

A feed is the reel of a string: a drum, or the sheave before a span. Its speed is that reel's; strings whose ends it
feeds add to its equation, momentum and forces.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Array, clear_nodes, node, put_node, put_triple, triple
from tautline.kernels.drum import STIFF_FRICTION
from tautline.kernels.energy import element_length, reel_mass, strain_at_guide, strain_at_stop
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import spooled_slope, wheel_end
from tautline.kernels.network.friction import NO_FRICTION, guides_on_shaft, put_rub, rub_force, rub_in, rub_of
from tautline.kernels.network.grip import begin_grip, end_grip
from tautline.kernels.network.guess import is_steady, keep_speeds, reel_beyond_parabola
from tautline.kernels.network.spans import Feeds, by_length_of, drift_span, feeds_of, retracted, span_momenta
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import ReelImpulses, kept_reel_force, reel_after, reel_before
from tautline.kernels.reels import pack_start, unpack_start
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, dot, scale, sub


@kernel
def feed_row(network: Network, strand: Strand, f: int) -> int:
    """Row of the speed of the feed at the start (0) or stop (1) of a string; -1 where nothing moves there."""
    m = strand.reeving.feeds[f]
    return -1 if m < 0 else strand_at(network.strands, m).row


@kernel
def feed_rows_of(network: Network, strand: Strand) -> tuple[int, int]:
    """Rows of the speeds of both feeds."""
    return feed_row(network, strand, 0), feed_row(network, strand, 1)


@kernel
def is_fed(network: Network, strand: Strand) -> bool:
    """Whether rope can come or go at an end of a span."""
    rows = feed_rows_of(network, strand)
    return bool(rows[0] >= 0 or rows[1] >= 0)


@kernel
def feed_speed(network: Network, strand: Strand, f: int) -> float:
    """Speed of that feed at the present guess."""
    m = strand.reeving.feeds[f]
    if m < 0:
        return 0.0
    return strand.reeving.factors[f] * strand_at(network.strands, m).work[net.SIGMA_NOW]  # type: ignore[no-any-return]


@kernel
def add_to_feeds(network: Network, strand: Strand, place: int, on_start: float, on_stop: float) -> None:
    """Add what a string gives to the feeds at its start and stop at a place of the work of their strings."""
    feeds, factors = strand.reeving.feeds, strand.reeving.factors
    if feeds[0] >= 0:
        strand_at(network.strands, feeds[0]).work[place] += factors[0] * on_start
    if feeds[1] >= 0:
        strand_at(network.strands, feeds[1]).work[place] += factors[1] * on_stop


@kernel
def gather_forces(network: Network, place: int) -> None:
    """Forces on all feeds of spans, -dV/dc, into a place of their work."""
    for k in range(len(network.strands)):
        strand_at(network.strands, k).work[place] = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved:
            force = 0.0
            if not strand.reeving.idle:
                force = kept_reel_force(strand.scratch.nodes[data.PULL]) + strand.work[net.WEIGHT_S]
            add_to_feeds(network, strand, place, force + strand.work[net.SPOOLED_WEIGHT_S], -force)


@separate
def strain_at_drum(network: Network, strand: Strand) -> float:
    """Strain of the rope at the guide of a drum, at the start or at the end of its line; 0 beside wheels."""
    nothing: float = 0.0 * strand.reel[data.S]
    if not strand.has_reel:
        return nothing
    if not strand.reeving.idle:
        return strain_at_guide(strand.par, strand.nodes[data.POSITION], element_length(strand.par, retracted(strand)))
    last = strand_at(network.strands, strand.reeving.span)
    return strain_at_stop(last.par, last.nodes[data.POSITION], element_length(last.par, retracted(last)), strand.par)


@separate
def note_guides(network: Network) -> None:
    """Strains at the guides of drums that others on their shafts turn, at the present configuration, into STRAIN."""
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved and strand.has_reel and strand.reeving.feeds[0] != k:
            strand.work[net.STRAIN] = strain_at_drum(network, strand)


@separate
def begin_feeds(network: Network, h: float, start: float, end: float) -> None:
    """The feeds' part of a step, as far as its start knows it."""
    gather_forces(network, net.ON_FEED)
    note_guides(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved and strand.row >= 0:
            par, reel, work = strand.reeving.par, strand.reel, strand.work
            work[net.STRAIN] = strain_at_drum(network, strand)
            before = reel_before(par, strand.command, reel, work[net.STRAIN], work[net.ON_FEED], h, start, end)
            pack_start(before, work[net.START_ROW :])
            work[net.SIGMA_NOW] = before.sigma
            if is_steady(network.totals, h) and not before.drum.held:
                work[net.SIGMA_NOW] += reel_beyond_parabola(reel)
            if strand.reeving.friction.law != NO_FRICTION:
                put_rub(work, net.RUB, rub_of(network, k))
            if strand.reeving.wheel >= 0:
                begin_grip(network, k)


@kernel
def drift_feeds(network: Network, strand: Strand, h: float) -> None:
    """Move the nodes of a span, and note how much rope came and went at its ends."""
    par, work, scratch = strand.par, strand.work, strand.scratch
    start, stop = feed_speed(network, strand, 0), feed_speed(network, strand, 1)
    work[net.S_BEFORE] = strand.reel[data.S]
    work[net.GRADIENT] = 0.0
    if strand.reeving.idle:
        clear_nodes(scratch.nodes[data.IMPULSE])
    else:
        feeds = feeds_of(par, h, element_length(par, retracted(strand)), start, stop)
        work[net.GRADIENT] = drift_span(
            par,
            h,
            feeds,
            strand.nodes[data.POSITION],
            strand.nodes[data.POSITION_ERR],
            scratch.nodes[data.MEAN_VELOCITY],
            scratch.nodes[data.PULL],
            scratch.nodes[data.IMPULSE],
        )
    accumulate(strand.reel, data.S, data.S_ERR, h * start, par.compensated)
    accumulate(strand.reel, net.FED, net.FED_ERR, h * stop, par.compensated)


@kernel
def change_of_slope(strand: Strand) -> Vector:
    """Change of `spooled_slope` in the step that was made."""
    return sub(spooled_slope(strand, strand.reel[data.S]), spooled_slope(strand, strand.work[net.S_BEFORE]))


@kernel
def gather_gradients(network: Network, h: float) -> None:
    """dT/dc of all feeds of spans, mean over a step; the reel's own part, without which reel_after is, left out.

    At h = 0 without that of the motion of spooled string that a body lifts.
    """
    for k in range(len(network.strands)):
        strand_at(network.strands, k).work[net.FEED_GRADIENT] = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved:
            own = 0.0
            if strand.has_reel:
                sigma, v = feed_speed(network, strand, 0), triple(strand.work, net.END_VELOCITY)
                body = body_at(network.bodies, strand.ends[0])
                speed = sigma + dot(strand.axis, triple(body.work, net.OMEGA_NOW))
                own = 0.5 * strand.par.mu * (dot(v, v) + speed * speed)
                if strand.row >= 0:
                    own -= 0.5 * strand.par.mu * sigma * sigma
                if h != 0.0:
                    own += dot(change_of_slope(strand), v) / h
            add_to_feeds(
                network, strand, net.FEED_GRADIENT, strand.work[net.GRADIENT] + own, -strand.work[net.GRADIENT]
            )


@kernel
def lose_at_guides(network: Network, k: int, h: float) -> None:
    """Impulse of the guides of other drums on the shaft of string k over one end of a step, and their loss."""
    strand = strand_at(network.strands, k)
    sigma = strand.work[net.SIGMA_NOW]
    impulse = 0.5 * h * guides_on_shaft(network, k, sigma)[0]
    accumulate(strand.reel, data.P_S, data.P_S_ERR, impulse, strand.reeving.par.compensated)
    book(strand.reeving.par, strand.reel, data.GUIDE_LOSS, -impulse * sigma)


@separate
def kick_feeds(network: Network, h: float, end_time: float) -> None:
    """Momenta of all feeds of spans at the end of a step, and what motors and friction did there."""
    gather_forces(network, net.ON_FEED_END)
    gather_gradients(network, h)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeving.shared and strand.row >= 0:
            lose_at_guides(network, k, h)
    note_guides(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeving.shared and strand.row >= 0:
            lose_at_guides(network, k, h)
        if strand.reeved and strand.row >= 0:
            par, reel, work = strand.reeving.par, strand.reel, strand.work
            sigma = work[net.SIGMA_NOW]
            strain = strain_at_drum(network, strand)
            pushes = ReelImpulses(
                work[net.S_BEFORE], work[net.ON_FEED], work[net.FEED_GRADIENT], work[net.ON_FEED_END], strain
            )
            before = unpack_start(work[net.START_ROW :])
            keep_speeds(reel)
            reel_after(
                par, strand.command, reel, before, h, end_time, Rates(sigma, ZERO, work[net.IMPULSE_NOW]), pushes
            )
            if strand.reeving.friction.law != NO_FRICTION:
                alpha_0 = strand.reeving.friction.alpha_0
                rub = (
                    rub_force(rub_in(work, net.RUB), alpha_0, sigma)[0]
                    + rub_force(rub_of(network, k), alpha_0, sigma)[0]
                )
                accumulate(reel, data.P_S, data.P_S_ERR, 0.5 * h * rub, par.compensated)
                book(par, reel, data.FRICTION_LOSS, -0.5 * h * rub * sigma)
                stiffness = -0.5 * h * rub_force(rub_in(work, net.RUB), alpha_0, sigma)[1]
                if reel[data.HELD] == data.NOT_HELD and stiffness > STIFF_FRICTION * par.kappa:
                    # half of the friction is still to come, and the momentum says nothing of the speed
                    reel[data.HELD], reel[data.HELD_SPEED], reel[data.HELD_ACCELERATION] = data.GLIDING, sigma, 0.0
    for k in range(len(network.strands)):
        if strand_at(network.strands, k).reeving.wheel >= 0:
            end_grip(network, k, h, end_time)


@separate
def push_on_feeds(network: Network) -> None:
    """Forces on all feeds of spans but motors and friction, with dT/dc, at present velocities, into ON_FEED_END."""
    gather_forces(network, net.ON_FEED_END)
    gather_forces(network, net.ON_FEED)
    note_guides(network)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        strand.work[net.GRADIENT] = 0.0
        if strand.reeved and not strand.reeving.idle:
            par = strand.par
            start, stop = feed_speed(network, strand, 0), feed_speed(network, strand, 1)
            feeds = Feeds(start, stop, element_length(par, retracted(strand)), 0.0)
            strand.work[net.GRADIENT] = by_length_of(
                par, feeds, strand.nodes[data.POSITION], strand.scratch.nodes[data.MEAN_VELOCITY]
            )
    gather_gradients(network, 0.0)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved:
            sigma = feed_speed(network, strand, 0) if strand.row >= 0 else 0.0
            own = 0.5 * reel_mass(strand.reeving.par, strand.reel[data.S])[1] * sigma * sigma
            strand.work[net.ON_FEED_END] += strand.work[net.FEED_GRADIENT] + own


@kernel
def measure_span(network: Network, strand: Strand, q: Array, h: float, momentum: Array) -> float:
    """Kinetic energy of a span with its drum or wheel; momenta of nodes and feeds are added where they belong.

    At nodes q, and lengths half of a step h ahead. Momenta of the nodes go into `momentum`, those of the ends into
    END_MOMENTUM, those of the feeds into FEED_MOMENTUM of their strings.
    """
    par, work = strand.par, strand.work
    start, stop = feed_speed(network, strand, 0), feed_speed(network, strand, 1)
    v = strand.scratch.nodes[data.MEAN_VELOCITY]
    kinetic, own, at_stop = 0.0, 0.0, 0.0
    s = strand.reel[data.S] + 0.5 * h * start
    body = body_at(network.bodies, strand.ends[0])
    if not strand.reeving.idle:
        feeds = Feeds(start, stop, element_length(par, retracted(strand) + 0.5 * h * (start - stop)), 0.0)
        found = span_momenta(par, feeds, q, v, momentum)
        kinetic, own, at_stop = found.kinetic, found.start, found.stop
    v_first = triple(work, net.END_VELOCITY)
    if strand.has_reel or strand.reeving.sheave:
        wheel = strand.reeving.par
        mass = reel_mass(wheel, s)[0]
        speed = start + dot(strand.axis, triple(body.work, net.OMEGA_NOW))
        kinetic += 0.5 * mass * speed * speed
        own += mass * speed
    if strand.has_reel:
        slope = spooled_slope(strand, strand.reel[data.S])
        kinetic += 0.5 * par.mu * s * dot(v_first, v_first) + dot(slope, v_first) * start
        own += dot(slope, v_first)
        carried = add_scaled(scale(par.mu * s, v_first), start, slope)
        put_node(momentum, 0, add(node(momentum, 0), carried))
    if strand.reeving.sheave:
        center = wheel_end(network, strand, 0.0)
        kinetic += 0.5 * strand.reeving.wrap * dot(center.v, center.v)
    add_to_feeds(network, strand, net.FEED_MOMENTUM, own, at_stop)
    put_triple(work, net.END_MOMENTUM, node(momentum, 0))
    put_triple(work, net.END_MOMENTUM + 3, node(momentum, par.N))
    return kinetic
