"""Several members at once: a number type that holds one number of each of LANES members.

Kernels that only calculate are the same for floats and for lanes; Numba compiles them for either. Where a kernel
decides, it does so with the functions below. They are what they mean for plain numbers; machine/numba_lanes.py and
machine/numba_lane_arrays.py tell Numba what they do in lanes.
Each lane does exactly what it would do alone, so a member's numbers do not depend on its neighbours.
Without machine code there are no lanes, and members run one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from tautline.arrays import Array

F = TypeVar("F", bound=Callable[..., Any])

# One AVX-512 register of doubles, or two of AVX2.
LANES = 8

# What `either` was asked for: the function that chooses, and its two choices.
EITHER: list[tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = []


def select(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    return a if condition else b


def some(condition: Any) -> bool:
    """Whether the condition holds for any member."""
    return bool(condition)


def either(scalar: F, lanes: Callable[..., Any]) -> F:
    """A kernel that is `scalar` for plain numbers, and `lanes` where an argument is lanes or has some in it."""

    @wraps(scalar, updated=())
    def chosen(*args: Any) -> Any:
        return scalar(*args)

    EITHER.append((chosen, scalar, lanes))
    return cast(F, chosen)


def zero_like(x: float) -> float:
    """0, in as many lanes as x has."""
    return 0.0


def take(x: Any, lane: int) -> Any:
    """Numbers of one member, in a tuple if x is one; what is not in lanes is the same for all members."""
    return x


def put(x: float, lane: int, number: float) -> float:
    """Lanes with the number of one member replaced; a plain number has one member only."""
    return number


def vector_zeros(*shape: int) -> Array:
    """Zeros that begin at a multiple of a vector's size: one that does not lies in two lines of the cache.

    Steps in lanes take a tenth to a quarter longer with such vectors, single runs up to a twentieth.
    """
    size = math.prod(shape)
    room = np.zeros(size + LANES)
    first = -room.__array_interface__["data"][0] // room.itemsize % LANES
    return room[first : first + size].reshape(shape)


def lane_array(array: Any) -> Any:
    """View an array of shape (n, LANES) as n lanes."""
    raise NotImplementedError("members step in lanes as machine code only")


def lane_rows(array: Any) -> Any:
    """View an array of shape (LANES, n), one row a member, as n lanes."""
    raise NotImplementedError("members step in lanes as machine code only")
