"""A string between two moving ends, reduced to its ends and its reel (docs/theory.md, equation 103).

At given velocities of the ends and of the reel the equations of the inner nodes are linear with scalar coefficients,
as the pendulum's are. They are solved, and what is left is how the momenta at the ends and the reel's equation change
with those velocities: a block that belongs into the equations of bodies and reels.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, put_nodes, width
from tautline.kernels.data import Array, add_to_node, node, put_node, put_triple, triple
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Strand
from tautline.kernels.network.spans import BY_STOP
from tautline.kernels.reels import unpack_start
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, scale, sub
from tautline.kernels.step_equations import GROWTH, derivatives_by_sigma, ends_of, node_equations, reel_row
from tautline.kernels.tridiagonal import (
    LastNode,
    backward,
    backward_with_border,
    divide_by_minors,
    forward,
    forward_with_minors,
)


@kernel
def follow_ends(strand: Strand, free: tuple[bool, bool]) -> None:
    """How inner nodes follow the first and the last one: the decaying vectors BY_FIRST and BY_LAST.

    Zero of an end that a body leads whose motion is given: the end has its velocity already.
    """
    N = strand.par.N
    factor = strand.scratch.factor
    first, last = factor[net.BY_FIRST], factor[net.BY_LAST]
    below, inverse, ratio = factor[data.BELOW], factor[data.INVERSE_MINOR], factor[data.RATIO]
    near, far = min(N - 1, net.FOLLOWING) if free[0] else 0, min(N - 1, net.FOLLOWING) if free[1] else 0
    Y = 1.0
    for i in range(1, near + 1):
        Y *= -below[i - 1]
        first[i] = inverse[i] * Y
    for i in range(near - 1, 0, -1):
        first[i] -= ratio[i] * first[i + 1]
    for i in range(near + 1, N + 1):
        first[i] = 0.0
    for i in range(N - far):
        last[i] = 0.0
    first[0] = 1.0
    last[N] = 1.0
    for i in range(N - 1, N - 1 - far, -1):
        last[i] = -ratio[i] * last[i + 1]


# Mass of an end node, in the unit of the node equations.
OWN = 2.0 / GROWTH


@kernel
def reduce_to_ends(
    strand: Strand, unit: float, own_first: float, v_first: Vector, v_last: Vector, free: tuple[bool, bool]
) -> None:
    """Solve the node equations between given ends: velocities into AT_SIGMA, momenta of ends, their slopes.

    `free` are the ends whose velocities are unknown; slopes by others are left out.
    """
    N, scratch, work = strand.par.N, strand.scratch, strand.work
    above, below = scratch.factor[data.ABOVE], scratch.factor[data.BELOW]
    right, v = scratch.nodes[data.RIGHT], scratch.nodes[data.AT_SIGMA]
    mass = 1.0 / unit
    r_first, r_last = node(right, 0), node(right, N)
    add_to_node(right, 1, scale(-below[0], v_first))
    forward_with_minors(N, OWN, scratch)
    divide_by_minors(N, scratch)
    backward(N, v_last, scratch, v)
    put_node(v, 0, v_first)
    follow_ends(strand, free)

    first, last = scratch.factor[net.BY_FIRST], scratch.factor[net.BY_LAST]
    P_first = sub(add_scaled(scale(own_first, v_first), above[0], node(v, 1)), r_first)
    P_last = sub(add_scaled(scale(OWN, v_last), below[N - 1], node(v, N - 1)), r_last)
    put_triple(work, net.END_MOMENTUM, scale(mass, P_first))
    put_triple(work, net.END_MOMENTUM + 3, scale(mass, P_last))
    work[net.SCHUR] = mass * (own_first + above[0] * (first[1] if N > 1 else 0.0))
    work[net.SCHUR + 1] = mass * above[0] * last[1]
    work[net.SCHUR + 2] = mass * below[N - 1] * first[N - 1]
    work[net.SCHUR + 3] = mass * (OWN + below[N - 1] * (last[N - 1] if N > 1 else 0.0))
    work[net.SCALE] = strand.par.mu * unit


@kernel
def slopes_at_ends(
    strand: Strand,
    r: tuple[Vector, Vector],
    slope: Array,
    border: Array,
    carried: Vector,
    places: tuple[int, int],
    free: tuple[bool, bool],
) -> None:
    """Derivatives of the momenta of both ends by a feed, and of its equation by their velocities, at `places` of work.

    `r` are those of the momenta at given nodes, negative; `slope` and `border` how nodes follow the feed and act on it;
    `carried` is half of a step of what a drum at the first end winds up.
    """
    N, work, mu = strand.par.N, strand.work, strand.par.mu
    factor = strand.scratch.factor
    above, below, first, last = factor[data.ABOVE], factor[data.BELOW], factor[net.BY_FIRST], factor[net.BY_LAST]
    put_triple(work, places[0], scale(mu, add(sub(scale(above[0], node(slope, 1)), r[0]), carried)))
    put_triple(work, places[0] + 3, scale(mu, sub(scale(below[N - 1], node(slope, N - 1)), r[1])))
    if free[0]:
        by_first = sub(add(node(border, 0), followed(border, first, 1, min(N - 1, net.FOLLOWING))), carried)
        put_triple(work, places[1], scale(mu, by_first))
    if free[1]:
        by_last = add(node(border, N), followed(border, last, max(N - net.FOLLOWING, 1), N - 1))
        put_triple(work, places[1] + 3, scale(mu, by_last))


@kernel
def condense(
    strand: Strand, h: float, kick: float, v_first: Vector, v_last: Vector, sigma: float, free: tuple[bool, bool]
) -> None:
    """Inner velocities into AT_SIGMA; momenta of the ends and their derivatives into the strand's work.

    TARGET holds the momenta of the nodes with gravity's impulse; PULL those of the elements for the time `kick`.
    """
    par = strand.par
    N = par.N
    scratch, work = strand.scratch, strand.work
    s = strand.reel[data.S]
    q = strand.nodes[data.POSITION]
    minor, right = scratch.factor[data.MINOR], scratch.nodes[data.RIGHT]
    ends = ends_of(par, h, element_length(par, s), sigma)
    unit, _ = node_equations(par, h, ends, q, scratch.nodes[data.TARGET], kick, scratch)
    own_first = OWN + (unit * par.mu * (s + 0.5 * h * sigma) if strand.has_reel else 0.0)
    reduce_to_ends(strand, unit, own_first, v_first, v_last, free)
    if strand.row < 0:
        return

    minor[0] = 1.0
    sums = derivatives_by_sigma(par, h, ends, q, scratch)
    r_first, r_last = node(right, 0), scale(1.0 / minor[N], node(right, N))
    forward(N, LastNode(ZERO, 0.0, 0.0), scratch)
    by_nodes = work[net.SCALE] * backward_with_border(N, ZERO, scratch)
    slope = scratch.nodes[data.BY_SIGMA]
    put_node(slope, 0, ZERO)
    carried = scale(0.5 * h if strand.has_reel else 0.0, v_first)
    slopes_at_ends(
        strand, (r_first, r_last), slope, scratch.nodes[data.BORDER], carried, (net.END_BY_SIGMA, net.REEL_BY_END), free
    )
    work[net.PIVOT], work[net.LEFT] = reel_row(par, h, s, ends, sums, unpack_start(work[net.START_ROW :]).p_s, by_nodes)


@kernel
def followed(border: Array, weights: Array, begin: int, end: int) -> Vector:
    """Sum over inner nodes of what follows an end."""
    total = ZERO
    for i in range(begin, end + 1):
        total = add_scaled(total, weights[i], node(border, i))
    return total


class Fed(NamedTuple):
    """Whether slopes by the feeds at the start and at the stop of a string are known."""

    start: bool
    stop: bool


@kernel
def change_ends(strand: Strand, dv_first: Vector, dv_last: Vector, feeds: tuple[float, float], fed: Fed) -> None:
    """Let inner velocities and the momenta of the ends follow a small change of the ends and of what `fed` says."""
    work, factor, nodes = strand.work, strand.scratch.factor, strand.scratch.nodes
    v, slope, slope_stop = nodes[data.AT_SIGMA], nodes[data.BY_SIGMA], nodes[BY_STOP]
    first, last = factor[net.BY_FIRST], factor[net.BY_LAST]
    along, along_stop = work[net.SCALE] * feeds[0], work[net.SCALE] * feeds[1]
    for j in range(0, strand.par.N + 1, width(v)):
        x = nodes_from(v, j)
        if fed.start:
            x = add_scaled(x, along, nodes_from(slope, j))
        if fed.stop:
            x = add_scaled(x, along_stop, nodes_from(slope_stop, j))
        a, b = load(first, j), load(last, j)
        x = (
            x[0] + a * dv_first[0] + b * dv_last[0],
            x[1] + a * dv_first[1] + b * dv_last[1],
            x[2] + a * dv_first[2] + b * dv_last[2],
        )
        put_nodes(v, j, x)
    for e in range(2):
        P = add_scaled(triple(work, net.END_MOMENTUM + 3 * e), work[net.SCHUR + 2 * e], dv_first)
        P = add_scaled(P, work[net.SCHUR + 2 * e + 1], dv_last)
        if fed.start:
            P = add_scaled(P, feeds[0], triple(work, net.END_BY_SIGMA + 3 * e))
        if fed.stop:
            P = add_scaled(P, feeds[1], triple(work, net.END_BY_STOP + 3 * e))
        put_triple(work, net.END_MOMENTUM + 3 * e, P)


@kernel
def keep_velocities(strand: Strand) -> None:
    """Velocities that were found into MEAN_VELOCITY."""
    v, out = strand.scratch.nodes[data.AT_SIGMA], strand.scratch.nodes[data.MEAN_VELOCITY]
    for j in range(0, strand.par.N + 1, width(v)):
        put_nodes(out, j, nodes_from(v, j))
