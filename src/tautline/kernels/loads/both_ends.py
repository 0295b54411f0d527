"""Equations of the nodes that loads resist, solved from both ends of the string (docs/theory.md, equation 71).

Neighbouring nodes are coupled by blocks m I + x t t^T with the unit vector t of the element between them, and an
element adds a I + y t t^T to the blocks of both of its nodes. The elimination begins at both ends of the string and
meets in the middle: what is done at one end is done at the other at the same time, with pairs of numbers (pairs.py).
The k-th pair is that of nodes k and N + 1 - k, with element k behind the one and element N - k before the other.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Array, Scratch, node, put_node
from tautline.kernels.jit import kernel
from tautline.kernels.pairs import (
    first,
    first_of,
    load_pair,
    pair,
    pair_of_vectors,
    put_three_pairs,
    second,
    second_of,
    store_pair,
    three_pairs,
)
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, sub
from tautline.kernels.symmetric import (
    UNIT,
    Symmetric,
    adjugate,
    congruent,
    inverse_determinant,
    symmetric_add,
    symmetric_apply,
    symmetric_scale,
)


class Equation(NamedTuple):
    """Equation of a node, with the nodes beyond it eliminated."""

    block: Symmetric
    right: Vector


class Link(NamedTuple):
    """An element in the equations of its nodes."""

    t: Vector
    m: float  # of the block between them
    x: float
    y: float  # of the block that it adds to either


@kernel
def link(scratch: Scratch, e: int) -> Link:
    rows = scratch.factor
    return Link(
        node(scratch.nodes[data.DIRECTION], e),
        rows[data.COUPLING][e],
        rows[data.COUPLING_ALONG][e],
        rows[data.OWN_ALONG][e],
    )


@kernel
def links(scratch: Scratch, e: int, f: int) -> Link:
    """Elements e and f, as pairs."""
    a, b = link(scratch, e), link(scratch, f)
    return Link(pair_of_vectors(a.t, b.t), pair(a.m, b.m), pair(a.x, b.x), pair(a.y, b.y))


@kernel
def part_of(off: float, e: Link) -> Symmetric:
    """Part that an element adds to the blocks of its nodes, where `off` is m of one that nothing resists."""
    a = e.m - off
    u = scale(e.y, e.t)
    t = e.t
    return (a + u[0] * t[0], a + u[1] * t[1], a + u[2] * t[2], u[1] * t[2], u[0] * t[2], u[0] * t[1])


@kernel
def with_mass(mass: float, A: Symmetric, B: Symmetric) -> Symmetric:
    return (mass + (A[0] + B[0]), mass + (A[1] + B[1]), mass + (A[2] + B[2]), A[3] + B[3], A[4] + B[4], A[5] + B[5])


class Eliminated(NamedTuple):
    """A node that is eliminated: v = z - m K u - x (t.u) w, with u the velocity of its neighbour and w = K t."""

    K: Symmetric  # inverse of its block
    w: Vector
    z: Vector
    t: Vector
    m: float
    x: float


@kernel
def keep(scratch: Scratch, k: int, x: Eliminated) -> None:
    nodes, K = scratch.nodes, x.K
    put_three_pairs(nodes[data.BLOCK], k, (K[0], K[1], K[2]))
    put_three_pairs(nodes[data.BLOCK_OFF], k, (K[3], K[4], K[5]))
    put_three_pairs(nodes[data.BESIDE], k, x.w)
    put_three_pairs(nodes[data.ELIMINATED], k, x.z)
    put_three_pairs(nodes[data.DIRECTIONS], k, x.t)
    store_pair(nodes[data.COUPLINGS], 6 * k, x.m)
    store_pair(nodes[data.COUPLINGS], 6 * k + 2, x.x)


@kernel
def kept_inverse(scratch: Scratch, k: int) -> Symmetric:
    a, b = three_pairs(scratch.nodes[data.BLOCK], k), three_pairs(scratch.nodes[data.BLOCK_OFF], k)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def kept(scratch: Scratch, eliminated: Array, k: int) -> Eliminated:
    """Node k as it was eliminated, where `eliminated` has z."""
    nodes = scratch.nodes
    w, z, t = three_pairs(nodes[data.BESIDE], k), three_pairs(eliminated, k), three_pairs(nodes[data.DIRECTIONS], k)
    m, x = load_pair(nodes[data.COUPLINGS], 6 * k), load_pair(nodes[data.COUPLINGS], 6 * k + 2)
    return Eliminated(kept_inverse(scratch, k), w, z, t, m, x)


@kernel
def eliminate_node(x: Equation, e: Link, to: Equation) -> tuple[Equation, Eliminated]:
    """The equation of a node with that of its neighbour x eliminated, and what is left of that.

    One node waits for the other, so what counts is how many operations follow one another: as much as can be is done
    beside the inverse of the determinant, and with the element alone.
    """
    t = e.t
    adj = adjugate(x.block)
    k = inverse_determinant(x.block, adj)
    u = symmetric_apply(adj, t)
    y = symmetric_apply(adj, x.right)
    S = symmetric_add(to.block, -k, congruent(e.m, e.x, t, adj, u))
    right = add_scaled(to.right, -k, add_scaled(scale(e.m, y), e.x * dot(u, x.right), t))
    return Equation(S, right), Eliminated(symmetric_scale(k, adj), scale(k, u), scale(k, y), t, e.m, e.x)


@kernel
def substituted(x: Eliminated, u: Vector) -> Vector:
    """Velocity of a node that was eliminated, from that of its neighbour."""
    along = dot(scale(x.x, x.t), u)
    return add_scaled(sub(x.z, symmetric_apply(symmetric_scale(x.m, x.K), u)), -along, x.w)


@kernel
def meeting_node(N: int) -> int:
    """Node where the eliminations from both ends meet."""
    return (N + 1) // 2


@kernel
def substitute_from_middle(N: int, v: Vector, scratch: Scratch, eliminated: Array, out: Array) -> None:
    """Solutions of all nodes, from that of the meeting node."""
    meeting = meeting_node(N)
    put_node(out, meeting, v)
    u = pair_of_vectors(v, v)
    if 2 * meeting == N:
        beyond = second_of(substituted(kept(scratch, eliminated, 0), u))
        put_node(out, meeting + 1, beyond)
        u = pair_of_vectors(v, beyond)
    for k in range(meeting - 1, 0, -1):
        u = substituted(kept(scratch, eliminated, k), u)
        put_node(out, k, first_of(u))
        put_node(out, N + 1 - k, second_of(u))
    put_node(out, 0, scale(0.0, v))


@kernel
def first_half(x: Equation) -> Equation:
    K = x.block
    return Equation((first(K[0]), first(K[1]), first(K[2]), first(K[3]), first(K[4]), first(K[5])), first_of(x.right))


@kernel
def second_half(x: Equation) -> Equation:
    K = x.block
    return Equation(
        (second(K[0]), second(K[1]), second(K[2]), second(K[3]), second(K[4]), second(K[5])), second_of(x.right)
    )


@kernel
def both_blocks(A: Symmetric, B: Symmetric) -> Symmetric:
    return (pair(A[0], B[0]), pair(A[1], B[1]), pair(A[2], B[2]), pair(A[3], B[3]), pair(A[4], B[4]), pair(A[5], B[5]))


@kernel
def twice(x: Equation) -> Equation:
    """One equation at both ends."""
    return Equation(both_blocks(x.block, x.block), pair_of_vectors(x.right, x.right))


@kernel
def solve_middle(N: int, x: Equation, scratch: Scratch, out: Array) -> None:
    """Solve the equation that is left of the meeting node, and from there all others."""
    adj = adjugate(x.block)
    K = symmetric_scale(inverse_determinant(x.block, adj), adj)
    K_twice = both_blocks(K, K)
    put_three_pairs(scratch.nodes[data.BLOCK], meeting_node(N), (K_twice[0], K_twice[1], K_twice[2]))
    put_three_pairs(scratch.nodes[data.BLOCK_OFF], meeting_node(N), (K_twice[3], K_twice[4], K_twice[5]))
    substitute_from_middle(N, symmetric_apply(K, x.right), scratch, scratch.nodes[data.ELIMINATED], out)


@kernel
def solve_from_ends(
    N: int, off: float, body: float, last: Equation, right_side: Array, scratch: Scratch, out: Array
) -> None:
    """Solve the equations of all nodes and keep what is eliminated, for other right-hand sides.

    `off` is the mass between neighbours, `body` that of the body, and `last` is added to the equation of the last node.
    """
    meeting = meeting_node(N)
    # of the element behind the last node nothing resists: its part is zero
    own = part_of(off, links(scratch, 0, N - 1))
    e = links(scratch, 1, N - 1)
    of_first = part_of(off, link(scratch, 1))
    of_last = symmetric_add(last.block, 2.0 * off + body - 4.0 * off, UNIT)
    block = with_mass(4.0 * off, own, both_blocks(of_first, of_last))
    x = Equation(block, pair_of_vectors(node(right_side, 1), add(node(right_side, N), last.right)))
    own = part_of(off, e)
    middle = first_half(x).block
    for k in range(1, meeting):
        j = N - k
        following = links(scratch, k + 1, j - 1)
        own_following = part_of(off, following)
        block = with_mass(4.0 * off, own, own_following)
        right = pair_of_vectors(node(right_side, k + 1), node(right_side, j))
        x, gone = eliminate_node(x, e, Equation(block, right))
        keep(scratch, k, gone)
        middle = first_half(Equation(block, right)).block
        e, own = following, own_following
    near, far = first_half(x), second_half(x)
    at_middle = node(right_side, meeting)
    if 2 * meeting == N:
        to = Equation(middle, at_middle)
        found, gone = eliminate_node(twice(far), links(scratch, meeting, meeting), twice(to))
        keep(scratch, 0, gone)
        far = first_half(found)
    if N > 1:
        # both have begun with what the node has itself
        both = symmetric_add(symmetric_add(near.block, 1.0, far.block), -1.0, middle)
        far = Equation(both, sub(add(near.right, far.right), at_middle))
    solve_middle(N, far, scratch, out)


@kernel
def carry(x: Eliminated, y: Vector, to: Vector) -> tuple[Vector, Vector]:
    """The right-hand side of a node with that of its neighbour eliminated, and what that leaves."""
    z = symmetric_apply(x.K, y)
    return sub(to, add_scaled(scale(x.m, z), x.x * dot(x.t, z), x.t)), z


@kernel
def solve_again(N: int, right_side: Array, scratch: Scratch, eliminated: Array, out: Array) -> None:
    """Solve for another right-hand side, with what is kept of the elimination; `eliminated` is a row to work in."""
    meeting = meeting_node(N)
    y = pair_of_vectors(node(right_side, 1), node(right_side, N))
    for k in range(1, meeting):
        j = N - k
        to = pair_of_vectors(node(right_side, k + 1), node(right_side, j))
        y, z = carry(kept(scratch, eliminated, k), y, to)
        put_three_pairs(eliminated, k, z)
    near, far, at_middle = first_of(y), second_of(y), node(right_side, meeting)
    if 2 * meeting == N:
        both, z = carry(kept(scratch, eliminated, 0), pair_of_vectors(far, far), pair_of_vectors(at_middle, at_middle))
        put_three_pairs(eliminated, 0, z)
        far = first_of(both)
    if N > 1:
        far = sub(add(near, far), at_middle)
    found = symmetric_apply(kept_inverse(scratch, meeting), pair_of_vectors(far, far))
    substitute_from_middle(N, first_of(found), scratch, eliminated, out)
