"""Velocities at a joint of two steps, from momenta and from what resists them (docs/theory.md, equation 71).

With tau the time for which loads act, (L + tau D) v = p + tau F, where L is the matrix of the kinetic energy and D that
of the resistances. Both couple neighbouring nodes only, by blocks m I + x t t^T with the unit vector t of the element
between them. The elimination begins at both ends of the string and meets in the middle, so that two inverses of 3x3
blocks are under way at any time; that of the body begins with its rotation. The reel is a border of one row.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.along import load, nodes_from, previous_nodes, put_nodes, spread, store, total, width
from tautline.kernels.data import (
    ACROSS,
    ADDED,
    ALONG,
    BLOCK,
    BLOCK_OFF,
    BORDER,
    BY_REEL,
    BY_SIGMA,
    COUPLING,
    COUPLING_ALONG,
    DIRECTION,
    LENGTH,
    MEAN_VELOCITY,
    PASSING,
    TARGET,
    VISCOUS,
    Array,
    Parameters,
    Scratch,
    node,
    put_node,
)
from tautline.kernels.energy import element_length, reel_mass, weights_of_nodes
from tautline.kernels.fixed import IDENTITY
from tautline.kernels.jit import kernel
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.newton import ZERO, Rates
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    dot,
    hat,
    inverse3,
    matmul,
    matrix_add_scaled,
    outer,
    scale,
    sub,
)
from tautline.kernels.step_equations import weights_from
from tautline.kernels.symmetric import (
    Symmetric,
    adjugate,
    congruent,
    inverse_determinant,
    product_with_transposed,
    symmetric_add,
    symmetric_apply,
    symmetric_scale,
)


class Turning(NamedTuple):
    """The body at the end of the string, with its rotation eliminated: omega = free - by_node^T v_N."""

    free: Vector  # omega of an attachment that stands still
    by_node: Matrix
    block: Symmetric  # what it adds to that of the last node
    force: Vector  # and to its right-hand side


@kernel
def eliminate_rotation(par: Parameters, tau: float, body: BodyResistance, R: Matrix, Pi: Vector) -> Turning:
    """Take the body's rotation out of the equations of the last node.

    Its part there is R X omega, with X = -M hat(rho) - tau c hat(center), c the force over the speed there.
    """
    drag, inertia = tau * body.drag, tau * body.inertia
    own = drag + inertia
    block = (own, own, own, 0.0, 0.0, 0.0)
    if not par.rotates:
        return Turning(ZERO, (ZERO, ZERO, ZERO), block, ZERO)
    turning = tau * body.spin + drag * dot(body.center, body.center) + inertia * dot(body.place, body.place)
    J = matrix_add_scaled(par.J, turning, IDENTITY)
    J = matrix_add_scaled(J, -drag, outer(body.center, body.center))
    inverse = inverse3(matrix_add_scaled(J, -inertia, outer(body.place, body.place)))
    levers = add_scaled(add_scaled(scale(-par.M, par.rho), -drag, body.center), -inertia, body.place)
    RX = matmul(R, hat(levers))
    by_node = matmul(RX, inverse)
    block = symmetric_add(block, -1.0, product_with_transposed(by_node, RX))
    return Turning(apply(inverse, Pi), by_node, block, scale(-1.0, apply(by_node, Pi)))


@kernel
def blocks_of_nodes(par: Parameters, l: float, tau: float, scratch: Scratch) -> None:
    """Blocks m I + x t t^T between nodes, m into COUPLING and x into COUPLING_ALONG; of the nodes into BLOCK."""
    directions, rows = scratch.nodes[DIRECTION], scratch.factor
    out, out_off = scratch.nodes[BLOCK], scratch.nodes[BLOCK_OFF]
    off = par.mu * l / 6.0
    nothing = spread(out, 0.0)
    before, before_off = (nothing, nothing, nothing), (nothing, nothing, nothing)
    for e in range(0, par.N + 1, width(out)):
        t = nodes_from(directions, e)
        c = tau * load(rows[VISCOUS], e)
        a = 0.25 * tau * (load(rows[ACROSS], e) + load(rows[ADDED], e))
        b = 0.25 * tau * load(rows[ALONG], e) - a
        store(rows[COUPLING], e, off + a)
        store(rows[COUPLING_ALONG], e, b - c)
        x = scale(b + c, t)
        own = (a + x[0] * t[0], a + x[1] * t[1], a + x[2] * t[2])
        own_off = (x[1] * t[2], x[0] * t[2], x[0] * t[1])
        mass = weights_of_nodes(out, par.N, e, 4.0 * off, 2.0 * off + par.M)
        both = add(own, previous_nodes(out, before, own))
        put_nodes(out, e, (mass + both[0], mass + both[1], mass + both[2]))
        put_nodes(out_off, e, add(own_off, previous_nodes(out, before_off, own_off)))
        before, before_off = own, own_off


@kernel
def put_block(scratch: Scratch, i: int, K: Symmetric) -> None:
    put_node(scratch.nodes[BLOCK], i, (K[0], K[1], K[2]))
    put_node(scratch.nodes[BLOCK_OFF], i, (K[3], K[4], K[5]))


@kernel
def block(scratch: Scratch, i: int) -> Symmetric:
    a, b = node(scratch.nodes[BLOCK], i), node(scratch.nodes[BLOCK_OFF], i)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def coupled(scratch: Scratch, e: int, v: Vector) -> Vector:
    """(m I + x t t^T) v, with the block between the nodes of element e."""
    t = node(scratch.nodes[DIRECTION], e)
    return add_scaled(scale(scratch.factor[COUPLING][e], v), scratch.factor[COUPLING_ALONG][e] * dot(t, v), t)


class Equation(NamedTuple):
    """Equation of a node, with the nodes beyond it eliminated."""

    block: Symmetric
    right: Vector


@kernel
def eliminate_node(scratch: Scratch, right_side: Array, i: int, e: int, to: int, x: Equation, out: Array) -> Equation:
    """The equation of node `to` with that of node i eliminated, which element e joins to it.

    The inverse of i's block takes the place of its own, and what that makes of its right-hand side goes to `out`.
    """
    t = node(scratch.nodes[DIRECTION], e)
    m, along = scratch.factor[COUPLING][e], scratch.factor[COUPLING_ALONG][e]
    adj = adjugate(x.block)
    k = inverse_determinant(x.block, adj)
    # what does not wait for the division is done before it
    S = symmetric_add(block(scratch, to), -k, congruent(m, along, t, adj))
    z = scale(k, symmetric_apply(adj, x.right))
    put_block(scratch, i, symmetric_scale(k, adj))
    put_node(out, i, z)
    return Equation(S, sub(node(right_side, to), add_scaled(scale(m, z), along * dot(t, z), t)))


@kernel
def carry(scratch: Scratch, right_side: Array, i: int, e: int, to: int, y: Vector, out: Array) -> Vector:
    """The right-hand side of node `to` with node i eliminated, whose block is inverted already."""
    z = symmetric_apply(block(scratch, i), y)
    put_node(out, i, z)
    return sub(node(right_side, to), coupled(scratch, e, z))


@kernel
def substitute_node(scratch: Scratch, i: int, e: int, v: Vector, out: Array) -> Vector:
    """Solution of node i, from that of its neighbour across element e."""
    found = sub(node(out, i), symmetric_apply(block(scratch, i), coupled(scratch, e, v)))
    put_node(out, i, found)
    return found


@kernel
def meeting_node(N: int) -> int:
    """Node where the eliminations from both ends meet."""
    return (N + 1) // 2


@kernel
def substitute_from_middle(N: int, v: Vector, scratch: Scratch, out: Array) -> None:
    """Solutions of all nodes, from that of the meeting node."""
    meeting = meeting_node(N)
    put_node(out, meeting, v)
    u = v
    far = meeting + 1
    if 2 * meeting == N:
        u = substitute_node(scratch, far, meeting, u, out)
        far += 1
    for i in range(meeting - 1, 0, -1):
        v = substitute_node(scratch, i, i, v, out)
        u = substitute_node(scratch, far, far - 1, u, out)
        far += 1
    put_node(out, 0, scale(0.0, v))


@kernel
def solve_with_blocks(N: int, last: Equation, right_side: Array, scratch: Scratch, out: Array) -> None:
    """Solve the equations of all nodes and leave their inverse blocks; `last` is added to those of the last one."""
    meeting = meeting_node(N)
    x = Equation(block(scratch, 1), node(right_side, 1))
    y = Equation(symmetric_add(block(scratch, N), 1.0, last.block), add(node(right_side, N), last.right))
    middle, at_middle = block(scratch, meeting), node(right_side, meeting)
    for k in range(1, meeting):
        j = N - k
        if j < 1:  # never; it lets the compiler leave out what indices from the end of an array need
            break
        x = eliminate_node(scratch, right_side, k, k, k + 1, x, out)
        y = eliminate_node(scratch, right_side, j + 1, j, j, y, out)
    if 2 * meeting == N:
        y = eliminate_node(scratch, right_side, meeting + 1, meeting, meeting, y, out)
    if N > 1:
        # both have begun with what the node has itself
        both = symmetric_add(symmetric_add(x.block, 1.0, y.block), -1.0, middle)
        y = Equation(both, sub(add(x.right, y.right), at_middle))
    adj = adjugate(y.block)
    inverse = symmetric_scale(inverse_determinant(y.block, adj), adj)
    put_block(scratch, meeting, inverse)
    substitute_from_middle(N, symmetric_apply(inverse, y.right), scratch, out)


@kernel
def solve_again(N: int, right_side: Array, scratch: Scratch, out: Array) -> None:
    """Solve for another right-hand side, with the inverse blocks that are there."""
    meeting = meeting_node(N)
    x, y = node(right_side, 1), node(right_side, N)
    for k in range(1, meeting):
        j = N - k
        if j < 1:
            break
        x = carry(scratch, right_side, k, k, k + 1, x, out)
        y = carry(scratch, right_side, j + 1, j, j, y, out)
    if 2 * meeting == N:
        y = carry(scratch, right_side, meeting + 1, meeting, meeting, y, out)
    if N > 1:
        y = sub(add(x, y), node(right_side, meeting))
    substitute_from_middle(N, symmetric_apply(block(scratch, meeting), y), scratch, out)


class ReelTarget(NamedTuple):
    """The reel in the equations of velocities."""

    turns: bool  # or is locked
    held: bool  # its speed is given
    speed: float  # if it is
    momentum: float  # if it is not
    friction: float  # of the drum: impulse over speed, beside its mass


@kernel
def border_of_reel(par: Parameters, l: float, s: float, tau: float, scratch: Scratch) -> float:
    """Coefficients of the nodes in the reel's equation into BORDER, and its own one."""
    N = par.N
    out, directions = scratch.nodes[BORDER], scratch.nodes[DIRECTION]
    rows = scratch.factor
    nothing = spread(out, 0.0)
    before = (nothing, nothing, nothing)
    own = nothing
    for e in range(0, N + 1, width(out)):
        alpha, beta, gamma, _ = weights_from(out, N, e)
        t, length = nodes_from(directions, e), load(rows[LENGTH], e)
        c, by_reel = tau * load(rows[VISCOUS], e), load(rows[BY_REEL], e)
        a, passing = tau * load(rows[ALONG], e), load(rows[PASSING], e)
        carried = 0.5 * a * passing
        # the elements' vectors of theory.md point to the guide
        left = scale(carried - c * by_reel - par.mu * alpha * length, t)
        right = scale(carried + c * by_reel - par.mu * beta * length, t)
        put_nodes(out, e, add(left, previous_nodes(out, before, right)))
        before = right
        own += par.mu * gamma * length * length * (1.0 / l) + c * by_reel * by_reel + a * passing * passing
    return reel_mass(par, s)[0] + total(out, own)  # type: ignore[no-any-return]


@kernel
def product_of_nodes(N: int, x: Array, y: Array) -> float:
    """Sum over the nodes but the first of x.y."""
    products = 0.0
    for i in range(1, N + 1):
        products += dot(node(x, i), node(y, i))
    return products


@kernel
def solve_velocities(
    par: Parameters,
    s: float,
    tau: float,
    body: BodyResistance,
    R: Matrix,
    reel: ReelTarget,
    Pi: Vector,
    scratch: Scratch,
) -> Rates:
    """Velocities of the nodes from the momenta in TARGET into MEAN_VELOCITY, and the rates of reel and body."""
    l = element_length(par, s)
    turning = eliminate_rotation(par, tau, body, R, Pi)
    blocks_of_nodes(par, l, tau, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    solve_with_blocks(par.N, Equation(turning.block, turning.force), scratch.nodes[TARGET], scratch, v)
    sigma = reel.speed
    if reel.turns:
        mass = border_of_reel(par, l, s, tau, scratch)
        slope, border = scratch.nodes[BY_SIGMA], scratch.nodes[BORDER]
        solve_again(par.N, border, scratch, slope)
        if not reel.held:
            own = mass + reel.friction - product_of_nodes(par.N, border, slope)
            sigma = (reel.momentum - product_of_nodes(par.N, border, v)) / own
        for i in range(1, par.N + 1):
            put_node(v, i, add_scaled(node(v, i), -sigma, node(slope, i)))
    omega = ZERO
    if par.rotates:
        omega = sub(turning.free, apply_transposed(turning.by_node, node(v, par.N)))
    return Rates(sigma, omega, 0.0)
