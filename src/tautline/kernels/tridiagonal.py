"""Linear equations of the nodes: one scalar a node and neighbour, acting on three components. Everything is O(N).

At constant length the matrix is that of the masses, and its factor is kept. With a moving reel it changes from step to
step; there the leading minors take the place of a factor, since they follow from one another without a division:

    theta_i = d_i theta_{i-1} - (above below)_{i-1} theta_{i-2},   Y_i = theta_{i-1} r_i - below_{i-1} Y_{i-1},
    v_i = Y_i/theta_i - above_i (theta_{i-1}/theta_i) v_{i+1}.

Equations are scaled such that neighbouring minors are about equal (newton.node_equations).
The elimination runs from the guide to the body, so that what is left at the end is the last node and the body.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import fused, load, nodes_from, put_nodes, store, width
from tautline.kernels.data import Array, Parameters, Scratch, node, put_node
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import zero_like
from tautline.kernels.so3 import Vector, scale


@kernel
def factorise(par: Parameters, l: float, lower: Array, inverse: Array) -> None:
    """LU of the scalar mass matrix: y_i = p_i - lower_i y_{i-1}, v_i = inverse_i y_i - lower_{i+1} v_{i+1}."""
    off = par.mu * l / 6.0
    lower[1] = 0.0
    for i in range(1, par.N + 1):
        diagonal = 4.0 * off if i < par.N else 2.0 * off + par.M
        if i > 1:
            lower[i] = off * inverse[i - 1]
            diagonal -= off * lower[i]
        inverse[i] = 1.0 / diagonal


@kernel
def fused_vector(a: float, x: Vector, y: Vector) -> Vector:
    """a x + y, each component rounded once where the processor can."""
    return (fused(a, x[0], y[0]), fused(a, x[1], y[1]), fused(a, x[2], y[2]))


@kernel
def eliminate(N: int, p: Array, lower: Array, inverse: Array, out_y: Array) -> Vector:
    """Forward pass at constant length: inverse_i y_i, of the last node returned."""
    y = node(p, 0)
    for i in range(1, N):
        y = fused_vector(-lower[i], y, node(p, i))
        put_node(out_y, i, scale(inverse[i], y))
    return scale(inverse[N], fused_vector(-lower[N], y, node(p, N)))


@kernel
def substitute(N: int, y: Array, lower: Array, v_N: Vector, out_v: Array) -> None:
    """Backward pass at constant length."""
    put_node(out_v, N, v_N)
    v = v_N
    for i in range(N - 1, 0, -1):
        v = fused_vector(-lower[i + 1], v, node(y, i))
        put_node(out_v, i, v)


class LastNode(NamedTuple):
    """Equation of the last node after the forward pass."""

    v: Vector  # its velocity, without the body's rotation
    by_force: float  # and how much a force at it changes that
    inverse_minor: float


@kernel
def forward_with_minors(N: int, last: float, scratch: Scratch) -> LastNode:
    """Minors, and the forward pass of the right-hand sides in RIGHT; `last` is the last node's diagonal."""
    y = scratch.nodes[data.RIGHT]
    below = scratch.factor[data.BELOW]
    product = scratch.factor[data.PRODUCT]
    diagonal = scratch.factor[data.DIAGONAL]
    minor = scratch.factor[data.MINOR]
    nothing = zero_like(last)
    before = nothing
    theta = nothing + 1.0
    minor[1] = theta
    Y = (nothing, nothing, nothing)
    for i in range(1, N):
        Y = fused_vector(-below[i - 1], Y, scale(theta, node(y, i)))
        put_node(y, i, Y)
        following = fused(diagonal[i], theta, -(product[i - 1] * before))
        before = theta
        theta = following
        minor[i + 1] = theta
    Y = fused_vector(-below[N - 1], Y, scale(theta, node(y, N)))
    inverse = 1.0 / fused(last, theta, -(product[N - 1] * before))
    return LastNode(scale(inverse, Y), theta * inverse, inverse)


@kernel
def divide_by_minors(N: int, scratch: Scratch) -> None:
    """Fill in what both backward passes need: 1/theta_i, above_i theta_{i-1}/theta_i, and Y_i/theta_i."""
    y = scratch.nodes[data.RIGHT]
    above, minor = scratch.factor[data.ABOVE], scratch.factor[data.MINOR]
    inverse, ratio = scratch.factor[data.INVERSE_MINOR], scratch.factor[data.RATIO]
    for j in range(0, N, width(minor)):
        reciprocal = 1.0 / load(minor, j + 1)
        store(inverse, j, reciprocal)
        store(ratio, j, load(above, j) * load(minor, j) * reciprocal)
        put_nodes(y, j, scale(reciprocal, nodes_from(y, j)))


@kernel
def backward(N: int, v_N: Vector, scratch: Scratch, out_v: Array) -> None:
    """Velocities from what `divide_by_minors` left in RIGHT."""
    y = scratch.nodes[data.RIGHT]
    ratio = scratch.factor[data.RATIO]
    put_node(out_v, N, v_N)
    v = v_N
    for i in range(N - 1, 0, -1):
        v = fused_vector(-ratio[i], v, node(y, i))
        put_node(out_v, i, v)
    put_node(out_v, 0, scale(0.0, v_N))


@kernel
def forward(N: int, last: LastNode, scratch: Scratch) -> Vector:
    """Forward pass of right-hand sides that are multiplied by theta_{i-1} already; the last node's solution."""
    y = scratch.nodes[data.RIGHT]
    below, inverse = scratch.factor[data.BELOW], scratch.factor[data.INVERSE_MINOR]
    Y = scale(0.0, last.v)
    for i in range(1, N):
        Y = fused_vector(-below[i - 1], Y, node(y, i))
        put_node(y, i, scale(inverse[i], Y))
    return scale(last.inverse_minor, fused_vector(-below[N - 1], Y, node(y, N)))


@kernel
def backward_with_border(N: int, v_N: Vector, scratch: Scratch) -> float:
    """Solution into BY_SIGMA; its product with BORDER is returned."""
    y, border, out = scratch.nodes[data.RIGHT], scratch.nodes[data.BORDER], scratch.nodes[data.BY_SIGMA]
    ratio = scratch.factor[data.RATIO]
    put_node(out, N, v_N)
    v = v_N
    b = node(border, N)
    products = (v[0] * b[0], v[1] * b[1], v[2] * b[2])
    for i in range(N - 1, 0, -1):
        v = fused_vector(-ratio[i], v, node(y, i))
        put_node(out, i, v)
        b = node(border, i)
        products = (
            fused(v[0], b[0], products[0]),
            fused(v[1], b[1], products[1]),
            fused(v[2], b[2], products[2]),
        )
    return products[0] + products[1] + products[2]
