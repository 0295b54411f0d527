"""Velocities at a step boundary, from momenta and from what resists them (docs/theory.md, equation 71).

With tau the time for which loads act, (L + tau D) v = p + tau F, where L is the matrix of the kinetic energy and D that
of the resistances. Both couple neighbouring nodes only (both_ends.py). The elimination of the body begins with its
rotation. The reel is a border of one row.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.along import (
    load,
    nodes_from,
    places_from,
    previous_nodes,
    put_nodes,
    spread,
    store,
    total,
    width,
)
from tautline.kernels.data import Array, Parameters, Scratch, node, put_node
from tautline.kernels.energy import reel_mass, weights_of_nodes
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    dot,
    hat,
    inverse3,
    matmul,
    matrix_add_scaled,
    outer,
    scale,
)
from tautline.kernels.step_equations import weights_from
from tautline.kernels.symmetric import (
    Symmetric,
    product_with_transposed,
    symmetric_add,
)


class Turning(NamedTuple):
    """The body at the end of the string, with its rotation eliminated: omega = free - by_node^T v_N."""

    inverse: Matrix  # of its inertia with what resists its rotation
    free: Vector  # omega of an attachment that stands still
    by_node: Matrix
    block: Symmetric  # what it adds to that of the last node
    force: Vector  # and to its right-hand side


@kernel
def turning_inertia(par: Parameters, tau: float, body: BodyResistance) -> Matrix:
    """Inertia of the body about its attachment, with what resists its rotation."""
    drag, inertia = tau * body.drag, tau * body.inertia
    turning = tau * body.spin + drag * dot(body.center, body.center) + inertia * dot(body.place, body.place)
    J = matrix_add_scaled(par.J, turning, IDENTITY)
    J = matrix_add_scaled(J, -drag, outer(body.center, body.center))
    return matrix_add_scaled(J, -inertia, outer(body.place, body.place))


@kernel
def levers(par: Parameters, tau: float, body: BodyResistance) -> Vector:
    """x of the part R (x cross omega) that the body's rotation has in the equation of the last node.

    x = -M rho - tau c center, c being the force over the speed there.
    """
    x = add_scaled(scale(-par.M, par.rho), -(tau * body.drag), body.center)
    return add_scaled(x, -(tau * body.inertia), body.place)


@kernel
def eliminate_rotation(par: Parameters, tau: float, body: BodyResistance, R: Matrix, Pi: Vector) -> Turning:
    """Take the body's rotation out of the equations of the last node."""
    own = tau * body.drag + tau * body.inertia
    block = (own, own, own, 0.0, 0.0, 0.0)
    if not par.rotates:
        return Turning((ZERO, ZERO, ZERO), ZERO, (ZERO, ZERO, ZERO), block, ZERO)
    inverse = inverse3(turning_inertia(par, tau, body))
    RX = matmul(R, hat(levers(par, tau, body)))
    by_node = matmul(RX, inverse)
    block = symmetric_add(block, -1.0, product_with_transposed(by_node, RX))
    return Turning(inverse, apply(inverse, Pi), by_node, block, scale(-1.0, apply(by_node, Pi)))


class Coupling(NamedTuple):
    """An element in the equations of its nodes: a I + (b + c) t t^T of either, (off + a) I + (b - c) t t^T between."""

    a: float
    b: float
    c: float


@kernel
def coupling(rows: Array2, tau: float, e: int) -> Coupling:
    """Coupling of a vector of elements from e on."""
    a = 0.25 * tau * (load(rows[data.ACROSS], e) + load(rows[data.ADDED], e))
    return Coupling(a, 0.25 * tau * load(rows[data.ALONG], e) - a, tau * load(rows[data.VISCOUS], e))


@kernel
def couple_nodes(par: Parameters, off: float, tau: float, scratch: Scratch) -> None:
    """Numbers of all elements in the equations of their nodes, which both_ends.py solves."""
    rows = scratch.factor
    for e in range(0, par.N + 1, width(rows[data.COUPLING])):
        x = coupling(rows, tau, e)
        store(rows[data.COUPLING], e, off + x.a)
        store(rows[data.COUPLING_ALONG], e, x.b - x.c)
        store(rows[data.OWN_ALONG], e, x.b + x.c)


@kernel
def blocks_of_nodes(par: Parameters, l: float, tau: float, scratch: Scratch) -> None:
    """Blocks m I + x t t^T between nodes, m into COUPLING and x into COUPLING_ALONG; of the nodes into BLOCK."""
    directions, rows = scratch.nodes[data.DIRECTION], scratch.factor
    out, out_off = scratch.nodes[data.BLOCK], scratch.nodes[data.BLOCK_OFF]
    off = par.mu * l / 6.0
    nothing = spread(out, 0.0)
    before, before_off = (nothing, nothing, nothing), (nothing, nothing, nothing)
    for e in range(0, par.N + 1, width(out)):
        t = nodes_from(directions, e)
        a, b, c = coupling(rows, tau, e)
        store(rows[data.COUPLING], e, off + a)
        store(rows[data.COUPLING_ALONG], e, b - c)
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
    put_node(scratch.nodes[data.BLOCK], i, (K[0], K[1], K[2]))
    put_node(scratch.nodes[data.BLOCK_OFF], i, (K[3], K[4], K[5]))


@kernel
def block(scratch: Scratch, i: int) -> Symmetric:
    a, b = node(scratch.nodes[data.BLOCK], i), node(scratch.nodes[data.BLOCK_OFF], i)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def coupled(scratch: Scratch, e: int, v: Vector) -> Vector:
    """(m I + x t t^T) v, with the block between the nodes of element e."""
    t = node(scratch.nodes[data.DIRECTION], e)
    return add_scaled(scale(scratch.factor[data.COUPLING][e], v), scratch.factor[data.COUPLING_ALONG][e] * dot(t, v), t)


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
    out, directions = scratch.nodes[data.BORDER], scratch.nodes[data.DIRECTION]
    rows = scratch.factor
    nothing = spread(out, 0.0)
    before = (nothing, nothing, nothing)
    own = nothing
    for e in range(0, N + 1, width(out)):
        alpha, beta, gamma, _ = weights_from(out, N, e)
        t, length = nodes_from(directions, e), load(rows[data.LENGTH], e)
        c, by_reel = tau * load(rows[data.VISCOUS], e), load(rows[data.BY_REEL], e)
        a, passing = tau * load(rows[data.ALONG], e), load(rows[data.PASSING], e)
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
    nothing = spread(x, 0.0)
    products = nothing
    for i in range(0, N + 1, width(x)):
        place = places_from(x, i)
        counts = (place > 0.5) & (place < N + 0.5)
        products += select(counts, dot(nodes_from(x, i), nodes_from(y, i)), nothing)
    return total(x, products)  # type: ignore[no-any-return]
