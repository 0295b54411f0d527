"""Spans where loads act: what rope that comes and goes at both ends does (docs/theory.md, "Sheaves and pins")."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.along import (
    load,
    nodes_from,
    places_from,
    previous,
    previous_nodes,
    put_nodes,
    spread,
    store,
    total,
    width,
)
from tautline.kernels.data import Motion, Parameters, Scratch, add_to_node, clear_nodes, node
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Push, Speeds
from tautline.kernels.loads.drag import Drag, wet_depth, wet_part
from tautline.kernels.loads.pushing import ON_REEL
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Network, Strand, strand_at
from tautline.kernels.network.feeds import feed_row, feed_speed
from tautline.kernels.network.spans import Square, elements_from, integrals, retracted, shares
from tautline.kernels.so3 import add, dot, scale

# Row of the scratch for what BORDER is of the feed at the stop.
BORDER_FAR = data.BESIDE


@kernel
def span_motion(network: Network, strand: Strand) -> Motion:
    """A span as a motion of the pendulum: what is not between its ends is its s."""
    reel = strand.work[net.SPAN_REEL :]
    reel[data.S] = retracted(strand)
    return Motion(strand.nodes, strand.work, reel, network.clock)


@kernel
def rows_of(network: Network, strand: Strand) -> tuple[int, int]:
    """Rows of the speeds of both feeds of a string, or -1."""
    if not strand.reeved:
        return strand.row, -1
    return feed_row(network, strand, 0), feed_row(network, strand, 1)


@kernel
def speeds_of(network: Network, strand: Strand) -> Speeds:
    """Speeds of both feeds of a string that were found."""
    if not strand.reeved:
        return strand.work[net.SIGMA_NOW], 0.0 * strand.work[net.SIGMA_NOW]
    return feed_speed(network, strand, 0), feed_speed(network, strand, 1)


@kernel
def speed_in(network: Network, strand: Strand, f: int, place: int) -> float:
    """Speed of a feed in the latest step or in the one before it; 0 where nothing moves."""
    m = strand.reeving.feeds[f]
    if m < 0:
        return 0.0
    lead = strand_at(network.strands, m)
    if lead.row < 0:
        return 0.0
    return strand.reeving.factors[f] * lead.reel[place]  # type: ignore[no-any-return]


@kernel
def latest_speeds(network: Network, strand: Strand) -> tuple[Speeds, Speeds]:
    """Speeds of both feeds in the latest step and in the one before."""
    last = (speed_in(network, strand, 0, data.SIGMA), speed_in(network, strand, 1, data.SIGMA))
    return last, (speed_in(network, strand, 0, data.SIGMA_BEFORE), speed_in(network, strand, 1, data.SIGMA_BEFORE))


@kernel
def beyond_latest(last: Speeds, before: Speeds, ahead: float) -> Speeds:
    """Speeds extrapolated along their change."""
    return last[0] + ahead * (last[0] - before[0]), last[1] + ahead * (last[1] - before[1])


@kernel
def lengthening_by_far(par: Parameters, l: float, scratch: Scratch) -> None:
    """Lengthening, as lengthening_by_reel, by the feed at the stop; and the speed at which it lets material pass.

    Elements get longer, and material of another strain flows through them. At the stop the gradient of the strain is
    taken on.
    """
    lengths, out, passing = scratch.factor[data.LENGTH], scratch.factor[data.BY_FAR], scratch.factor[data.PASSING_FAR]
    N = par.N
    only, flow = 1.0 / N, 1.0 / (N * l)
    last = 2.0 * lengths[N - 1] - lengths[N - 2] if N > 1 else lengths[0]
    before = spread(lengths, lengths[0])
    nothing = spread(lengths, 0.0)
    lengths[N] = last
    for e in range(0, N + 1, width(lengths)):
        x = load(lengths, e)
        is_element, _, _ = elements_from(lengths, N, e)
        place = places_from(lengths, e)
        ahead = (place + 1.0) * (load(lengths, e + 1) - x)
        behind = place * (x - previous(lengths, before, x))
        store(out, e, is_element * (nothing - only / l * x - 0.5 * flow * (ahead + behind)))
        store(passing, e, is_element * (nothing - (place + 0.5) * flow * x))
        before = x
    lengths[N] = 0.0 * last


@kernel
def borders_of_feeds(par: Parameters, l: float, tau: float, scratch: Scratch) -> Square:
    """Coefficients of the nodes in the equations of both feeds into BORDER and BORDER_FAR; those of the feeds."""
    N, rows = par.N, scratch.factor
    out, far, directions = scratch.nodes[data.BORDER], scratch.nodes[BORDER_FAR], scratch.nodes[data.DIRECTION]
    nothing = spread(out, 0.0)
    zeros = (nothing, nothing, nothing)
    carried_0, carried_1 = zeros, zeros
    start, across, stop = nothing, nothing, nothing
    for e in range(0, N + 1, width(out)):
        is_element, near, end = elements_from(out, N, e)
        a0, b0, _ = integrals(is_element - near, is_element - end)
        a1, b1, _ = integrals(near, end)
        g00, g01, g11 = shares(near, end, is_element)
        t, length = nodes_from(directions, e), load(rows[data.LENGTH], e)
        c, a = tau * load(rows[data.VISCOUS], e), tau * load(rows[data.ALONG], e)
        by_0, by_1 = load(rows[data.BY_REEL], e), load(rows[data.BY_FAR], e)
        passing_0, passing_1 = load(rows[data.PASSING], e), load(rows[data.PASSING_FAR], e)
        # the elements' vectors of theory.md point to the start
        left_0 = scale(0.5 * a * passing_0 - c * by_0 - par.mu * a0 * length, t)
        right_0 = scale(0.5 * a * passing_0 + c * by_0 - par.mu * b0 * length, t)
        left_1 = scale(0.5 * a * passing_1 - c * by_1 - par.mu * a1 * length, t)
        right_1 = scale(0.5 * a * passing_1 + c * by_1 - par.mu * b1 * length, t)
        put_nodes(out, e, add(left_0, previous_nodes(out, carried_0, right_0)))
        put_nodes(far, e, add(left_1, previous_nodes(far, carried_1, right_1)))
        carried_0, carried_1 = right_0, right_1
        m = par.mu * length * length * (1.0 / l)
        start += m * g00 + c * by_0 * by_0 + a * passing_0 * passing_0
        across += m * g01 + c * by_0 * by_1 + a * passing_0 * passing_1
        stop += m * g11 + c * by_1 * by_1 + a * passing_1 * passing_1
    return Square(total(out, start), total(out, across), total(out, stop))


@kernel
def flow_on_far(par: Parameters, tau: float, scratch: Scratch) -> float:
    """Impulse of a fluid on the feed at the stop while all stands still."""
    rows, total_force = scratch.factor, 0.0
    for e in range(par.N):
        t, flow = node(scratch.nodes[data.DIRECTION], e), node(scratch.nodes[data.FLOW], e)
        total_force += rows[data.ALONG][e] * dot(t, flow) * rows[data.PASSING_FAR][e]
    return tau * total_force


@kernel
def lift_spooled(network: Network, strand: Strand, own: Drag, push: Push) -> Push:
    """Add the buoyancy of rope on drums and wheels at the ends of a span, below a surface more than above it.

    It gets wet over the height of drum or wheel. That on a wheel is lifted at its two points, half at each.
    """
    if not own.has_surface:
        return push
    scratch, N = strand.scratch, strand.par.N
    pushed, row = scratch.nodes[data.PUSHED], scratch.nodes[data.LOAD_ROWS + 2 * DRAG]
    rest = scratch.nodes[data.LOAD_ROWS + 2 * DRAG + 1]
    if strand.reeving.idle:
        clear_nodes(pushed)
        clear_nodes(row)
        clear_nodes(rest)
    q, reel = strand.nodes[data.POSITION], push.reel
    depth, height = node(q, 0)[2] - own.surface, 2.0 * strand.reeving.par.d
    carried = 0.0
    if strand.has_reel:
        carried = strand.reel[data.S]
        on_reel = -own.lift * wet_depth(depth, height)
        rest[ON_REEL] += on_reel
        reel += on_reel
    if strand.reeving.sheave:
        carried = 0.5 * strand.reeving.wrap / strand.par.mu
    lift = (0.0, 0.0, -own.lift * carried * wet_part(depth, height))
    add_to_node(pushed, 0, lift)
    add_to_node(row, 0, lift)
    stop = strand.reeving.feeds[1]
    if stop >= 0:
        wheel = strand_at(network.strands, stop).reeving
        if wheel.sheave:
            wet = wet_part(node(q, N)[2] - own.surface, 2.0 * wheel.par.d)
            lift = (0.0, 0.0, -0.5 * own.lift * wheel.wrap / strand.par.mu * wet)
            add_to_node(pushed, N, lift)
            add_to_node(row, N, lift)
    return Push(reel, push.far, push.moment)
