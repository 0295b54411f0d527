"""Spans in the equations of a network: what feeds their ends, and the wheels and drums there (docs/theory.md).

A feed is the reel of a string: a drum, or the sheave before a span. Its speed is that reel's; strings whose ends it
feeds add to its equation, momentum and forces.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Array, add_triple, clear_nodes, node, put_node, put_triple, triple
from tautline.kernels.drum import STIFF_FRICTION
from tautline.kernels.energy import element_length, reel_mass, strain_at_guide, strain_at_stop
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import OWN, reduce_to_ends, slopes_at_ends
from tautline.kernels.network.data import Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import End, end_at, moment_of, spooled_slope, swing_by_omega
from tautline.kernels.network.friction import NO_FRICTION, put_rub, rub_force, rub_in, rub_of
from tautline.kernels.network.grip import begin_grip, end_grip
from tautline.kernels.network.guess import is_steady, keep_speeds, reel_beyond_parabola
from tautline.kernels.network.linear import add_block, add_column, add_row
from tautline.kernels.network.spans import (
    BORDER_STOP,
    BY_STOP,
    RIGHT_STOP,
    Feeds,
    by_length_of,
    drift_span,
    feed_rows,
    feeds_of,
    follow_feeds,
    retracted,
    span_derivatives,
    span_equations,
    span_momenta,
)
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import ReelImpulses, kept_reel_force, reel_after, reel_before
from tautline.kernels.reels import pack_start, unpack_start
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    ZEROS,
    Matrix,
    Vector,
    add,
    add_scaled,
    apply_transposed,
    dot,
    hat,
    matmul,
    matrix_add_scaled,
    scale,
    sub,
    transpose,
)
from tautline.kernels.step_equations import Ends, Sums, reel_row

NO_SUMS = Sums(0.0, 0.0, 0.0, 0.0)


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
def condense_span(
    network: Network,
    strand: Strand,
    h: float,
    kick: float,
    v_first: Vector,
    v_last: Vector,
    free: tuple[bool, bool],
) -> None:
    """A span reduced to its ends and feeds, as `condense` does with a string and its reel."""
    par, scratch, work = strand.par, strand.scratch, strand.work
    N, q = par.N, strand.nodes[data.POSITION]
    start = feed_speed(network, strand, 0)
    feeds = feeds_of(par, h, element_length(par, retracted(strand)), start, feed_speed(network, strand, 1))
    unit = span_equations(par, h, feeds, q, scratch.nodes[data.TARGET], kick, scratch)
    own_first = OWN + (unit * par.mu * (strand.reel[data.S] + 0.5 * h * start) if strand.has_reel else 0.0)
    reduce_to_ends(strand, unit, own_first, v_first, v_last, free)
    if not is_fed(network, strand):
        return
    minor, right, right_stop = scratch.factor[data.MINOR], scratch.nodes[data.RIGHT], scratch.nodes[RIGHT_STOP]
    minor[0] = 1.0
    sums = span_derivatives(par, h, feeds, q, scratch)
    last = 1.0 / minor[N]
    ends = (node(right, 0), scale(last, node(right, N)))
    ends_stop = (node(right_stop, 0), scale(last, node(right_stop, N)))
    rows = feed_rows(par, h, feeds, sums, follow_feeds(N, scratch), work[net.SCALE])
    carried = scale(0.5 * h if strand.has_reel else 0.0, v_first)
    nodes, places, places_stop = scratch.nodes, (net.END_BY_SIGMA, net.REEL_BY_END), (net.END_BY_STOP, net.STOP_BY_END)
    slopes_at_ends(strand, ends, nodes[data.BY_SIGMA], nodes[data.BORDER], carried, places, free)
    slopes_at_ends(strand, ends_stop, nodes[BY_STOP], nodes[BORDER_STOP], ZERO, places_stop, free)
    for i in range(4):
        work[net.FEED_BLOCK + i] = rows[i]
    work[net.FEED_LEFT], work[net.FEED_LEFT + 1] = rows[4], rows[5]


@kernel
def condense_drum(network: Network, strand: Strand, h: float, v_first: Vector) -> None:
    """A drum at the end of a line, whose rope is the string before: what is spooled there is a mass of its own.

    A wheel alone has none.
    """
    work, mu = strand.work, strand.par.mu if strand.has_reel else 0.0
    mass = mu * (strand.reel[data.S] + 0.5 * h * feed_speed(network, strand, 0))
    put_triple(
        work, net.END_MOMENTUM, add_scaled(scale(mass, v_first), -1.0, node(strand.scratch.nodes[data.TARGET], 0))
    )
    put_triple(work, net.END_BY_SIGMA, scale(0.5 * h * mu, v_first))
    put_triple(work, net.REEL_BY_END, scale(-0.5 * h * mu, v_first))
    for i in range(4):
        work[net.SCHUR + i] = mass if i == 0 else 0.0 * mass


@kernel
def add_feeds(network: Network, strand: Strand, ends: tuple[End, End], by_omega: tuple[Matrix, Matrix]) -> None:
    """A span's part of the equations of its feeds, and theirs of those of the bodies at its ends."""
    matrix, right, work = network.matrix, network.right[0], strand.work
    rows = feed_rows_of(network, strand)
    factors = strand.reeving.factors
    for f in range(2):
        row, factor = rows[f], factors[f]
        if row >= 0:
            by_end, end_by = (net.REEL_BY_END, net.END_BY_SIGMA) if f == 0 else (net.STOP_BY_END, net.END_BY_STOP)
            right[row] += factor * work[net.FEED_LEFT + f]
            for g in range(2):
                if rows[g] >= 0:
                    matrix[row, rows[g]] += factor * factors[g] * work[net.FEED_BLOCK + 2 * f + g]
            for e in range(2):
                body = ends[e].body
                if body.free:
                    by_v = scale(factor, triple(work, by_end + 3 * e))
                    slope = scale(factor, triple(work, end_by + 3 * e))
                    add_row(matrix, row, body.row, by_v)
                    add_column(matrix, body.row, row, slope)
                    if body.turns:
                        add_row(matrix, row, body.row + 3, apply_transposed(by_omega[e], by_v))
                        add_column(matrix, body.row + 3, row, moment_of(ends[e], slope))


@kernel
def wheel_end(network: Network, strand: Strand, h: float) -> End:
    """The center of the wheel at the start of a span, as an end."""
    return end_at(body_at(network.bodies, strand.ends[0]), strand.reeving.center, h)


@kernel
def wheel_momentum(strand: Strand, center: End, kick: float) -> Vector:
    """Momentum of the rope on a wheel at the start of a step, less gravity's impulse."""
    return add_scaled(scale(strand.reeving.wrap, center.v), -kick, triple(strand.work, net.WHEEL_WEIGHT + 3))


@kernel
def add_wheel(network: Network, strand: Strand, h: float, kick: float) -> None:
    """Mass of the rope on a sheave, which its body carries."""
    center = wheel_end(network, strand, h)
    body, wrap = center.body, strand.reeving.wrap
    if not body.free:
        return
    matrix, right, i = network.matrix, network.right[0], body.row
    P = wheel_momentum(strand, center, kick)
    straight = matrix_add_scaled(ZEROS, wrap, IDENTITY)
    add_triple(right, i, scale(-1.0, P))
    add_block(matrix, i, i, straight)
    if body.turns:
        turned = matrix_add_scaled(ZEROS, wrap, swing_by_omega(center, h))
        lever = matmul(hat(center.point), transpose(center.R))
        add_triple(right, i + 3, scale(-1.0, moment_of(center, P)))
        add_block(matrix, i, i + 3, turned)
        add_block(matrix, i + 3, i, matmul(lever, straight))
        add_block(matrix, i + 3, i + 3, matmul(lever, turned))


@kernel
def add_drum(network: Network, strand: Strand, h: float, v_first: Vector) -> None:
    """The drum or wheel at the start of a string in the equation of its feed."""
    row = feed_row(network, strand, 0)
    if row < 0:
        return
    par, factor = strand.reeving.par, strand.reeving.factors[0]
    sigma = feed_speed(network, strand, 0)
    p_s = unpack_start(strand.work[net.START_ROW :]).p_s if strand.row >= 0 else 0.0
    ends = Ends(0.5 * h, 0.5 * h, 1.0, 1.0, sigma)
    pivot, left = reel_row(par, h, strand.reel[data.S], ends, NO_SUMS, 0.0, 0.0)
    network.matrix[row, row] += factor * factor * pivot
    carried = 0.25 * h * par.mu * dot(v_first, v_first) - dot(spooled_slope(strand, strand.reel[data.S]), v_first)
    network.right[0][row] += p_s + factor * (left + (carried if strand.has_reel else 0.0))


@kernel
def corrections_of_feeds(network: Network, strand: Strand) -> tuple[float, float]:
    """How much the speeds of both feeds of a span were corrected."""
    x, rows, factors = network.right[1], feed_rows_of(network, strand), strand.reeving.factors
    start = factors[0] * x[rows[0]] if rows[0] >= 0 else 0.0
    stop = factors[1] * x[rows[1]] if rows[1] >= 0 else 0.0
    return start, stop


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
def begin_feeds(network: Network, h: float, start: float, end: float) -> None:
    """The feeds' part of a step, as far as its start knows it."""
    gather_forces(network, net.ON_FEED)
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


@separate
def kick_feeds(network: Network, h: float, end_time: float) -> None:
    """Momenta of all feeds of spans at the end of a step, and what motors and friction did there."""
    gather_forces(network, net.ON_FEED_END)
    gather_gradients(network, h)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
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
