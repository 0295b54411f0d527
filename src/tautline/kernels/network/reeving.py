"""Spans in the equations of a network: what feeds their ends (feeds.py), and the wheels and drums there."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.data import add_triple, node, put_triple, triple
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import OWN, reduce_to_ends, slopes_at_ends
from tautline.kernels.network.data import Network, Strand
from tautline.kernels.network.ends import End, moment_of, spooled_slope, swing_by_omega, wheel_end
from tautline.kernels.network.feeds import feed_row, feed_rows_of, feed_speed, is_fed
from tautline.kernels.network.linear import add_block, add_column, add_row
from tautline.kernels.network.spans import (
    BORDER_STOP,
    BY_STOP,
    RIGHT_STOP,
    feed_rows,
    feeds_of,
    follow_feeds,
    retracted,
    span_derivatives,
    span_equations,
)
from tautline.kernels.reels import unpack_start
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add_scaled,
    apply_transposed,
    dot,
    hat,
    matmul,
    matrix_scale,
    scale,
    transpose,
)
from tautline.kernels.step_equations import Ends, Sums, reel_row

NO_SUMS = Sums(0.0, 0.0, 0.0, 0.0)


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
    straight = matrix_scale(wrap, IDENTITY)
    add_triple(right, i, scale(-1.0, P))
    add_block(matrix, i, i, straight)
    if body.turns:
        turned = matrix_scale(wrap, swing_by_omega(center, h))
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
