"""A string at a joint of two steps, reduced to its ends and its reel.

The inner nodes are eliminated by 3x3 blocks from the start of the string to its end.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.data import (
    BORDER,
    BY_SIGMA,
    FLUID_VELOCITY,
    GUESS,
    MEAN_VELOCITY,
    PUSHED,
    RIGHT,
    SIGMA,
    SIGMA_BEFORE,
    TARGET,
    Motion,
    S,
    add_to_node,
    node,
    put_node,
    triple,
)
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, instant_at
from tautline.kernels.loads.pushing import act, pushes
from tautline.kernels.loads.resistance import DRAG, elements_at_joint, expect_velocities, resistances
from tautline.kernels.loads.resisting import drag_of_flow
from tautline.kernels.loads.velocities import block, blocks_of_nodes, border_of_reel, coupled, put_block
from tautline.kernels.network.data import OMEGA, OMEGA_BEFORE, Network, Strand, body_at, loads_at
from tautline.kernels.network.linear import IDENTITY, ZEROS
from tautline.kernels.network.step import ZERO
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add_scaled,
    apply,
    apply_transposed,
    dot,
    matmul,
    matrix_add_scaled,
    scale,
    sub,
    transpose,
)
from tautline.kernels.symmetric import Symmetric, adjugate, inverse_determinant, symmetric_apply, symmetric_scale

# Row of the scratch with impulses of elements, or velocities at a guess, which nothing needs at a joint.
KEPT_ROW = 6


class Reduced(NamedTuple):
    """A string reduced to its ends and its reel: symmetric blocks, and right-hand sides."""

    first: Matrix
    across: Matrix  # of the first end by the velocity of the last
    last: Matrix
    reel_first: Vector
    reel_last: Vector
    reel: float
    right_first: Vector
    right_last: Vector
    right_reel: float


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
    """What is known of a string at a joint before its velocities are."""

    reel: float  # coefficient of the reel's speed in its equation, without the drum
    right_reel: float  # what loads give to the reel
    right_first: Vector  # and to the first node; to the others in TARGET


@kernel
def strand_motion(network: Network, strand: Strand) -> Motion:
    """A string as a motion of the pendulum; the place of its body is taken by the strand's work."""
    return Motion(strand.nodes, strand.work, strand.reel, network.clock)


@kernel
def prepare(strand: Strand, network: Network, tau: float, at: Instant, ahead: float) -> Known:
    """Coefficients of the elements, blocks of the nodes, the border of the reel, and what loads give without motion."""
    par, scratch, reel, loads = strand.par, strand.scratch, strand.reel, loads_at(network.acting, strand.number)
    s = reel[S]
    l = element_length(par, s)
    motion = strand_motion(network, strand)
    turns = strand.row >= 0
    last, before = Rates(0.0, ZERO, 0.0), Rates(0.0, ZERO, 0.0)
    if turns:
        last, before = Rates(reel[SIGMA], ZERO, 0.0), Rates(reel[SIGMA_BEFORE], ZERO, 0.0)
    pushing = pushes(loads)
    right_reel, first = 0.0, ZERO
    if pushing:
        expect_velocities(par, ahead, motion, scratch.nodes[GUESS])
        body = body_at(network.bodies, strand.ends[1])
        turning = triple(body.state, OMEGA)
        turning = add_scaled(turning, ahead, sub(turning, triple(body.state, OMEGA_BEFORE)))
        expected = Rates(last.sigma + ahead * (last.sigma - before.sigma), turning, 0.0)
        here = instant_at(at, attitude(body.state), expected)
        right_reel = tau * act(par, loads, here, motion, scratch.nodes[GUESS], scratch).reel
    elements_at_joint(par, l, 0.0, motion, scratch)
    resistances(par, loads, at, turns, last, before, ahead, motion, scratch)
    if loads.own[DRAG].acts:
        flow = drag_of_flow(par, tau, ZERO, motion.nodes[FLUID_VELOCITY], scratch, scratch.nodes[TARGET])
        right_reel, first = right_reel + flow.reel, flow.first
    if pushing:
        pushed = scratch.nodes[PUSHED]
        first = add_scaled(first, tau, node(pushed, 0))
        for i in range(1, par.N + 1):
            add_to_node(scratch.nodes[TARGET], i, scale(tau, node(pushed, i)))
    blocks_of_nodes(par, l, tau, scratch)
    own = 0.0
    if turns:
        own = border_of_reel(par, l, s, tau, scratch) - reel_mass(par, s)[0]
    return Known(own, right_reel, first)


@kernel
def reduce_strand(strand: Strand, known: Known) -> Reduced:
    """Eliminate the inner nodes from the start of the string to its end; what back substitution needs is left."""
    par, scratch = strand.par, strand.scratch
    N = par.N
    target, border = scratch.nodes[TARGET], scratch.nodes[BORDER]
    out, out_reel = scratch.nodes[MEAN_VELOCITY], scratch.nodes[BY_SIGMA]
    moving = strand.row >= 0
    sixth = par.mu * element_length(par, strand.reel[S]) / 6.0
    # the first node has half of an inner one's mass, and what is wound there
    carried_there = par.mu * strand.reel[S] if strand.wound else 0.0
    first = matrix_add_scaled(full(block(scratch, 0)), carried_there - 2.0 * sixth, IDENTITY)
    across = between(strand, 0)
    right_first = known.right_first
    reel_first = node(border, 0) if moving else ZERO
    reel, right_reel = known.reel, known.right_reel
    here = full(block(scratch, 1))
    right = node(target, 1)
    b = node(border, 1) if moving else ZERO
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
        across = matrix_add_scaled(ZEROS, -1.0, matmul(kept, E))
        carried = matmul(E, full_inverse)
        here = matrix_add_scaled(full(block(scratch, i + 1)), -1.0, matmul(carried, E))
        reel -= dot(b, y)
        right_reel -= dot(b, z)
        right = sub(node(target, i + 1), apply(E, z))
        b = sub(node(border, i + 1), apply(E, y)) if moving else ZERO
    return Reduced(first, across, here, reel_first, b, reel, right_first, right, right_reel)


@kernel
def put_matrix_at(strand: Strand, i: int, A: Matrix) -> None:
    """Keep a matrix of node i, in three rows of the scratch that nothing else needs meanwhile."""
    put_node(strand.scratch.nodes[RIGHT], i, A[0])
    put_node(strand.scratch.nodes[GUESS], i, A[1])
    put_node(strand.scratch.nodes[KEPT_ROW], i, A[2])


@kernel
def matrix_at(strand: Strand, i: int) -> Matrix:
    nodes = strand.scratch.nodes
    return (node(nodes[RIGHT], i), node(nodes[GUESS], i), node(nodes[KEPT_ROW], i))


@kernel
def restore_inner(strand: Strand, v_first: Vector, v_last: Vector, sigma: float) -> None:
    """Velocities of all nodes into MEAN_VELOCITY, from those of the ends and of the reel."""
    N, scratch = strand.par.N, strand.scratch
    v, by_reel = scratch.nodes[MEAN_VELOCITY], scratch.nodes[BY_SIGMA]
    put_node(v, N, v_last)
    following = v_last
    for i in range(N - 1, 0, -1):
        x = sub(node(v, i), symmetric_apply(block(scratch, i), coupled(scratch, i, following)))
        x = sub(x, apply_transposed(matrix_at(strand, i), v_first))
        following = add_scaled(x, -sigma, node(by_reel, i))
        put_node(v, i, following)
    put_node(v, 0, v_first)
