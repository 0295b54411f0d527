"""Compensated (Kahan) sums: what a sum loses to rounding is remembered and paid back in the next one.

The steps add small increments to q, p, Pi and the quaternion millions of times, and each plain addition
drops up to half a unit in the last place. Over 10^8 steps of the paper's example 1 pi_3 drifts by 6e-14 of its
value with these sums and by 7e-13 without. The sums change no equation: they only make the additions of the
scheme itself exact to rounding of the increment. Tangents are summed without: their rounding does not add up to much.
"""

from __future__ import annotations

from tautline.kernels.along import load, store, store_values
from tautline.kernels.data import Array, node_stride
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Vector
from tautline.kernels.tangents import put_value, values_of


@kernel
def compensated_sum(x: float, err: float, dx: float) -> tuple[float, float]:
    """(x + dx, what is still owed)."""
    y = dx - err
    total = x + y
    return total, (values_of(total) - values_of(x)) - values_of(y)


@kernel
def accumulate(x: Array, i: int, owed: int, dx: float, compensated: bool) -> None:
    """x[i] += dx, where x[owed] holds what that sum owes."""
    if compensated:
        x[i], still_owed = compensated_sum(x[i], values_of(x[owed]), dx)
        put_value(x, owed, still_owed)
    else:
        x[i] += dx


@kernel
def accumulate_triple(x: Array, i: int, owed: int, dx: Vector, compensated: bool) -> None:
    accumulate(x, i, owed, dx[0], compensated)
    accumulate(x, i + 1, owed + 1, dx[1], compensated)
    accumulate(x, i + 2, owed + 2, dx[2], compensated)


@kernel
def accumulate_place(x: Array, err: Array, k: int, dx: float, compensated: bool) -> None:
    """x[k] += dx."""
    if compensated:
        x[k], still_owed = compensated_sum(x[k], values_of(err[k]), dx)
        put_value(err, k, still_owed)
    else:
        x[k] += dx


@kernel
def accumulate_node(x: Array, err: Array, i: int, dx: Vector, compensated: bool) -> None:
    n = node_stride(x)
    accumulate_place(x, err, i, dx[0], compensated)
    accumulate_place(x, err, n + i, dx[1], compensated)
    accumulate_place(x, err, 2 * n + i, dx[2], compensated)


@kernel
def accumulate_vector(x: Array, err: Array, k: int, dx: float, compensated: bool) -> None:
    """x += dx, for a vector from place k on."""
    at = load(x, k)
    if compensated:
        at, owed = compensated_sum(at, values_of(load(err, k)), dx)
        store(x, k, at)
        store_values(err, k, owed)
    else:
        store(x, k, at + dx)


@kernel
def accumulate_nodes(x: Array, err: Array, i: int, dx: Vector, compensated: bool) -> None:
    """x += dx, for a vector of nodes from i on."""
    n = node_stride(x)
    accumulate_vector(x, err, i, dx[0], compensated)
    accumulate_vector(x, err, n + i, dx[1], compensated)
    accumulate_vector(x, err, 2 * n + i, dx[2], compensated)
