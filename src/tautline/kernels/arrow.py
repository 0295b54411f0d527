"""The linear algebra of a step: a scalar tridiagonal matrix (times I3), bordered when the reel moves.

    [ T   a ] [dv    ]   [r  ]      T: one scalar a node and neighbour, acting on three components
    [ b^T m ] [dsigma] = [r_s]      a, b: three components a node;  m: one number

Everything is O(N) and in place. The elimination runs from the guide to the body, so that what is left
at the end is the last node, the reel and the body's rotation, a small dense system (reeling.py).
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.data import Array, Parameters, node, node_count, put_node
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, select_vector


class Row(NamedTuple):
    """The equation of one node, as far as it is assembled and eliminated."""

    diagonal: float
    residual: Vector
    column: Vector  # coefficients of dsigma
    border: Vector  # coefficients of this node in the reel's equation


class Corner(NamedTuple):
    """The reel's equation, without the nodes."""

    diagonal: float
    residual: float


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
def eliminate(N: int, p: Array, lower: Array, out_y: Array) -> None:
    y = (0.0, 0.0, 0.0)
    for i in range(1, N + 1):
        y = add_scaled(node(p, i), -lower[i], y)
        put_node(out_y, i, y)


@kernel
def substitute(N: int, y: Array, lower: Array, inverse: Array, v_N: Vector, out_v: Array) -> None:
    put_node(out_v, N, v_N)
    v = v_N
    for i in range(N - 1, 0, -1):
        v = add_scaled(scale(inverse[i], node(y, i)), -lower[i + 1], v)
        put_node(out_v, i, v)


@kernel
def eliminate_row(row: Row, lower: float, upper: float, following: Row, corner: Corner) -> tuple[Row, Corner]:
    """Eliminate a finished row from the following node's equation and from the reel's."""
    inverse = 1.0 / row.diagonal
    m = lower * inverse
    border = scale(inverse, row.border)
    return (
        Row(
            following.diagonal - m * upper,
            add_scaled(following.residual, -m, row.residual),
            add_scaled(following.column, -m, row.column),
            add_scaled(following.border, -upper, border),
        ),
        Corner(
            corner.diagonal - dot(border, row.column),
            corner.residual - dot(border, row.residual),
        ),
    )


@kernel
def store_row(row: Row, upper: float, i: int, out_ratio: Array, out_y: Array, out_a: Array) -> None:
    """Keep what the substitution needs: dv_i = y_i - a_i dsigma - ratio_i dv_{i+1}."""
    inverse = 1.0 / row.diagonal
    out_ratio[i] = upper * inverse
    put_node(out_y, i, scale(inverse, row.residual))
    put_node(out_a, i, scale(inverse, row.column))


@kernel
def substitute_bordered(
    dsigma: float, dv_N: Vector, ratio: Array, y: Array, a: Array, not_converged: bool, out_v: Array
) -> tuple[float, float]:
    """Add the corrections to out_v where it has not converged; largest square of a correction and of a velocity."""
    N = node_count(out_v) - 1
    dv = dv_N
    before = node(out_v, N)
    v = select_vector(not_converged, add(before, dv), before)
    put_node(out_v, N, v)
    correction2 = dot(dv, dv)
    speed2 = dot(v, v)
    for i in range(N - 1, 0, -1):
        dv = add_scaled(add_scaled(node(y, i), -dsigma, node(a, i)), -ratio[i], dv)
        before = node(out_v, i)
        v = select_vector(not_converged, add(before, dv), before)
        put_node(out_v, i, v)
        correction2 = max(correction2, dot(dv, dv))
        speed2 = max(speed2, dot(v, v))
    return correction2, speed2
