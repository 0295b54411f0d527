"""Passes along the string, several nodes at once.

A pass goes through the nodes in strides of `width` and works on vectors of that many neighbours: LANES nodes of one
pendulum, or one node of LANES pendulums in lanes. What the two have in common is written once; the array in the first
argument says which of them it is. As plain Python a vector is one number. Rows of node arrays are padded
(data.row_length), so that vectors may begin at any node and one node further on.
"""

from __future__ import annotations

from typing import Any

from tautline.kernels.data import Array, node_stride
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Vector


def width(x: Any) -> int:
    """Number of nodes in a vector."""
    return 1


def load(x: Any, i: int) -> Any:
    """Vector of the numbers of node i and its followers."""
    return x[i]


def store(x: Any, i: int, values: Any) -> None:
    """Put a vector back, from node i on."""
    x[i] = values


def store_values(x: Any, i: int, values: Any) -> None:
    """Put a vector back, where tangents that are there stay."""
    x[i] = values


def spread(x: Any, number: Any) -> Any:
    """Vector of one number."""
    return number


def ramp(x: Any) -> Any:
    """Vector of the places of its nodes: 0, 1, 2 and so on."""
    return 0.0


def previous(x: Any, before: Any, values: Any) -> Any:
    """Each node's predecessor's number; `before` is the vector before this one."""
    return before


def total(x: Any, values: Any) -> Any:
    """Sum over the nodes of a vector."""
    return values


def fused(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the processor can."""
    return a * b + c


@kernel
def nodes_from(x: Array, i: int) -> Vector:
    """Three vectors, one a component."""
    n = node_stride(x)
    return (load(x, i), load(x, n + i), load(x, 2 * n + i))


@kernel
def put_nodes(x: Array, i: int, values: Vector) -> None:
    n = node_stride(x)
    store(x, i, values[0])
    store(x, n + i, values[1])
    store(x, 2 * n + i, values[2])


@kernel
def previous_nodes(x: Array, before: Vector, values: Vector) -> Vector:
    return (
        previous(x, before[0], values[0]),
        previous(x, before[1], values[1]),
        previous(x, before[2], values[2]),
    )


@kernel
def places_from(x: Array, i: int) -> float:
    """Vector of i, i + 1, i + 2 and so on."""
    return spread(x, float(i)) + ramp(x)  # type: ignore[no-any-return]
