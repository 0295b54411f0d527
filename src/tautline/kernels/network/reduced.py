"""A string at a step boundary, reduced to its ends and to its reel, or to what feeds both ends.

The inner nodes are eliminated by 3x3 blocks from the start of the string to its end.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Motion, add_to_node, node, put_node, triple
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import NO_PUSH, Instant, Push, Speeds, Trend, instant_at
from tautline.kernels.loads.pushing import act, pushes
from tautline.kernels.loads.resistance import DRAG, elements_at_boundary, expect_velocities, resistances
from tautline.kernels.loads.resisting import drag_of_flow
from tautline.kernels.loads.velocities import block, blocks_of_nodes, border_of_reel, coupled, put_block
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Network, Strand, body_at, loads_at
from tautline.kernels.network.span_loads import (
    BORDER_FAR,
    beyond_latest,
    borders_of_feeds,
    flow_on_far,
    latest_speeds,
    lengthening_by_far,
    lift_spooled,
    rows_of,
    span_motion,
)
from tautline.kernels.network.spans import Square, retracted
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add_scaled,
    apply,
    apply_transposed,
    dot,
    matmul,
    matrix_add_scaled,
    matrix_scale,
    scale,
    sub,
    transpose,
)
from tautline.kernels.symmetric import Symmetric, adjugate, inverse_determinant, symmetric_apply, symmetric_scale

# Row of the scratch with impulses of elements, or velocities at a guess, which nothing needs at a step boundary.
KEPT_ROW = 6
# And one for what BY_SIGMA is of the feed at the stop.
BY_FAR_FEED = data.ELIMINATED


class Reduced(NamedTuple):
    """A string reduced to its ends and its reel: symmetric blocks, and right-hand sides.

    `far` is what the reel is at the start, for the feed at the stop of a span.
    """

    first: Matrix
    across: Matrix  # of the first end by the velocity of the last
    last: Matrix
    reel_first: Vector
    reel_last: Vector
    reel: float
    right_first: Vector
    right_last: Vector
    right_reel: float
    far_first: Vector
    far_last: Vector
    far: float
    across_feeds: float
    right_far: float


@kernel
def full(K: Symmetric) -> Matrix:
    return ((K[0], K[5], K[4]), (K[5], K[1], K[3]), (K[4], K[3], K[2]))


@kernel
def between(strand: Strand, e: int) -> Matrix:
    """Block between the nodes of element e."""
    return (  # symmetric: columns are rows
        coupled(strand.scratch, e, (1.0, 0.0, 0.0)),
        coupled(strand.scratch, e, (0.0, 1.0, 0.0)),
        coupled(strand.scratch, e, (0.0, 0.0, 1.0)),
    )


class Known(NamedTuple):
    """Knowns of a string at a step boundary before its velocities are."""

    feeds: Square  # coefficients of the speeds of the reel, or of both feeds, in their equations, without the drum
    right_reel: float  # what loads give to the reel
    right_far: float  # and to the feed at the stop of a span
    right_first: Vector  # and to the first node; to the others in TARGET


@kernel
def strand_motion(network: Network, strand: Strand) -> Motion:
    """A string as a motion of the pendulum; the place of its body is taken by the strand's work."""
    if strand.reeved:
        return span_motion(network, strand)
    return Motion(strand.nodes, strand.work, strand.reel, network.clock)


@kernel
def expected_at(network: Network, strand: Strand, ahead: float) -> tuple[Matrix, Rates]:
    """Attitude of the body at the end of a string, and its rates and those of the reel that are expected."""
    body, reel = body_at(network.bodies, strand.ends[1]), strand.reel
    turning = triple(body.state, net.OMEGA)
    turning = add_scaled(turning, ahead, sub(turning, triple(body.state, net.OMEGA_BEFORE)))
    sigma = reel[data.SIGMA] + ahead * (reel[data.SIGMA] - reel[data.SIGMA_BEFORE]) if strand.row >= 0 else 0.0
    return attitude(body.state), Rates(sigma, turning, 0.0)


@separate
def push_strand(network: Network, strand: Strand, at: Instant, ahead: float) -> Push:
    """Let loads act that do not resist, at the velocities that are expected."""
    par, scratch, loads = strand.par, strand.scratch, loads_at(network.acting, strand.number)
    if not pushes(loads):
        return NO_PUSH
    R, expected = expected_at(network, strand, ahead)
    motion, guess = strand_motion(network, strand), scratch.nodes[data.GUESS]
    if not strand.reeved:
        expect_velocities(par, ahead, motion, guess)
        return act(par, loads, instant_at(at, R, expected, (expected.sigma,)), motion, guess, scratch)
    push = NO_PUSH
    if not strand.reeving.idle:
        last, before = latest_speeds(network, strand)
        expect_velocities(par, ahead, motion, guess)
        here = instant_at(at, R, expected, beyond_latest(last, before, ahead))
        push = act(par, loads, here, motion, guess, scratch)
    return lift_spooled(network, strand, loads.own[DRAG], push)


@kernel
def prepare(strand: Strand, network: Network, tau: float, at: Instant, ahead: float) -> Known:
    """Coefficients of the elements, blocks of the nodes, borders of the feeds, and what loads give without motion."""
    par, scratch, reel, loads = strand.par, strand.scratch, strand.reel, loads_at(network.acting, strand.number)
    s = retracted(strand)
    l = element_length(par, s)
    motion = strand_motion(network, strand)
    push = push_strand(network, strand, at, ahead)
    right_reel, right_far, first = tau * push.reel, tau * push.far, ZERO
    elements_at_boundary(par, l, 0.0, motion, scratch)
    if strand.reeved:
        last, before = latest_speeds(network, strand)
        lengthening_by_far(par, l, scratch)
        resistances(par, loads, at, True, Trend(last, before, ahead), (ZERO, ZERO), motion, scratch)
    else:
        turns = strand.row >= 0
        latest, preceding = (reel[data.SIGMA] if turns else 0.0,), (reel[data.SIGMA_BEFORE] if turns else 0.0,)
        resistances(par, loads, at, turns, Trend(latest, preceding, ahead), (ZERO, ZERO), motion, scratch)
    if loads.own[DRAG].acts:
        flow = drag_of_flow(par, tau, ZERO, motion.nodes[data.FLUID_VELOCITY], scratch, scratch.nodes[data.TARGET])
        right_reel, first = right_reel + flow.reel, flow.first
        if strand.reeved:
            right_far += flow_on_far(par, tau, scratch)
    if pushes(loads):
        pushed = scratch.nodes[data.PUSHED]
        first = add_scaled(first, tau, node(pushed, 0))
        for i in range(1, par.N + 1):
            add_to_node(scratch.nodes[data.TARGET], i, scale(tau, node(pushed, i)))
    blocks_of_nodes(par, l, tau, scratch)
    own = Square(0.0 * l, 0.0 * l, 0.0 * l)
    if strand.reeved:
        own = borders_of_feeds(par, l, tau, scratch)
    elif strand.row >= 0:
        own = Square(border_of_reel(par, l, s, tau, scratch) - reel_mass(par, s)[0], 0.0 * l, 0.0 * l)
    return Known(own, right_reel, right_far, first)


@kernel
def reduce_strand(network: Network, strand: Strand, known: Known) -> Reduced:
    """Eliminate the inner nodes from the start of the string to its end; what back substitution needs is left."""
    par, scratch = strand.par, strand.scratch
    N = par.N
    target, border, border_far = scratch.nodes[data.TARGET], scratch.nodes[data.BORDER], scratch.nodes[BORDER_FAR]
    out, out_reel, out_far = scratch.nodes[data.MEAN_VELOCITY], scratch.nodes[data.BY_SIGMA], scratch.nodes[BY_FAR_FEED]
    rows = rows_of(network, strand)
    moving, far_moves = rows[0] >= 0, rows[1] >= 0
    sixth = par.mu * element_length(par, retracted(strand)) / 6.0
    # the first node has half of an inner one's mass, and what is spooled there
    carried_there = par.mu * strand.reel[data.S] if strand.has_reel else 0.0
    first = matrix_add_scaled(full(block(scratch, 0)), carried_there - 2.0 * sixth, IDENTITY)
    across = between(strand, 0)
    right_first = known.right_first
    reel_first = node(border, 0) if moving else ZERO
    far_first = node(border_far, 0) if far_moves else ZERO
    reel, right_reel = known.feeds.start, known.right_reel
    far, across_feeds, right_far = known.feeds.stop, known.feeds.across, known.right_far
    here = full(block(scratch, 1))
    right = node(target, 1)
    b = node(border, 1) if moving else ZERO
    c = node(border_far, 1) if far_moves else ZERO
    for i in range(1, N):
        K = (here[0][0], here[1][1], here[2][2], here[1][2], here[0][2], here[0][1])
        adj = adjugate(K)
        inverse = symmetric_scale(inverse_determinant(K, adj), adj)
        put_block(scratch, i, inverse)
        z, y = symmetric_apply(inverse, right), symmetric_apply(inverse, b)
        put_node(out, i, z)
        put_node(out_reel, i, y)
        full_inverse = full(inverse)
        kept = matmul(across, full_inverse)  # C B^-1
        E = between(strand, i)
        put_matrix_at(strand, i, kept)
        first = matrix_add_scaled(first, -1.0, matmul(kept, transpose(across)))
        right_first = sub(right_first, apply(kept, right))
        reel_first = sub(reel_first, apply(kept, b))
        across = matrix_scale(-1.0, matmul(kept, E))
        carried = matmul(E, full_inverse)
        here = matrix_add_scaled(full(block(scratch, i + 1)), -1.0, matmul(carried, E))
        reel -= dot(b, y)
        right_reel -= dot(b, z)
        right = sub(node(target, i + 1), apply(E, z))
        if far_moves:
            x = symmetric_apply(inverse, c)
            put_node(out_far, i, x)
            far_first = sub(far_first, apply(kept, c))
            far -= dot(c, x)
            across_feeds -= dot(b, x)
            right_far -= dot(c, z)
            c = sub(node(border_far, i + 1), apply(E, x))
        b = sub(node(border, i + 1), apply(E, y)) if moving else ZERO
    return Reduced(
        first,
        across,
        here,
        reel_first,
        b,
        reel,
        right_first,
        right,
        right_reel,
        far_first,
        c,
        far,
        across_feeds,
        right_far,
    )


@kernel
def put_matrix_at(strand: Strand, i: int, A: Matrix) -> None:
    """Keep a matrix of node i, in three rows of the scratch that nothing else needs meanwhile."""
    put_node(strand.scratch.nodes[data.RIGHT], i, A[0])
    put_node(strand.scratch.nodes[data.GUESS], i, A[1])
    put_node(strand.scratch.nodes[KEPT_ROW], i, A[2])


@kernel
def matrix_at(strand: Strand, i: int) -> Matrix:
    nodes = strand.scratch.nodes
    return (node(nodes[data.RIGHT], i), node(nodes[data.GUESS], i), node(nodes[KEPT_ROW], i))


@kernel
def restore_inner(network: Network, strand: Strand, v_first: Vector, v_last: Vector, speeds: Speeds) -> None:
    """Velocities of all nodes into MEAN_VELOCITY, from those of the ends, of the reel and of the feed at the stop."""
    N, scratch = strand.par.N, strand.scratch
    v, by_reel, by_far = scratch.nodes[data.MEAN_VELOCITY], scratch.nodes[data.BY_SIGMA], scratch.nodes[BY_FAR_FEED]
    put_node(v, N, v_last)
    far_moves = rows_of(network, strand)[1] >= 0
    following = v_last
    for i in range(N - 1, 0, -1):
        x = sub(node(v, i), symmetric_apply(block(scratch, i), coupled(scratch, i, following)))
        x = sub(x, apply_transposed(matrix_at(strand, i), v_first))
        following = add_scaled(x, -speeds[0], node(by_reel, i))
        if far_moves:
            following = add_scaled(following, -speeds[1], node(by_far, i))
        put_node(v, i, following)
    put_node(v, 0, v_first)
