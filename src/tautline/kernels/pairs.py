"""Two numbers that are calculated with at once: the same for both ends of a string.

As machine code a pair of numbers is one register, and what is done with it is one instruction
(machine/numba_pairs.py). In a row of an array three pairs follow one another, as the components of a vector do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.kernels.data import Array
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Vector


def pair(a: Any, b: Any) -> Any:
    """Two numbers as one."""
    return np.array([a, b])


def first(x: Any) -> Any:
    """The first of a pair."""
    return x[0]


def second(x: Any) -> Any:
    """The second of a pair."""
    return x[1]


def load_pair(row: Array, i: int) -> Any:
    """The pair of the numbers i and i + 1."""
    return np.array([row[i], row[i + 1]])


def store_pair(row: Array, i: int, x: Any) -> None:
    row[i], row[i + 1] = x[0], x[1]


@kernel
def pair_of_vectors(a: Vector, b: Vector) -> Vector:
    return (pair(a[0], b[0]), pair(a[1], b[1]), pair(a[2], b[2]))


@kernel
def first_of(x: Vector) -> Vector:
    return (first(x[0]), first(x[1]), first(x[2]))


@kernel
def second_of(x: Vector) -> Vector:
    return (second(x[0]), second(x[1]), second(x[2]))


@kernel
def three_pairs(row: Array, k: int) -> Vector:
    """Three pairs, the k-th of a row."""
    return (load_pair(row, 6 * k), load_pair(row, 6 * k + 2), load_pair(row, 6 * k + 4))


@kernel
def put_three_pairs(row: Array, k: int, x: Vector) -> None:
    store_pair(row, 6 * k, x[0])
    store_pair(row, 6 * k + 2, x[1])
    store_pair(row, 6 * k + 4, x[2])
