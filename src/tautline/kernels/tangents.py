"""Numbers with tangents: a value, and its derivatives by TANGENTS parameters.

Kernels are the same for plain numbers and for numbers with tangents; Numba compiles them for either. A decision is made
by values. Where a kernel needs to know, it asks with the functions below, which are what they mean for plain numbers;
machine/numba_tangents.py and machine/numba_tangent_arrays.py tell Numba what they do with tangents.
Without machine code there are no tangents.
"""

from __future__ import annotations

from typing import Any, TypeVar

from tautline.kernels.lanes import LANES

T = TypeVar("T")

# One vector of doubles, as lanes have it.
TANGENTS = LANES


def has_tangents(x: Any) -> bool:
    """Whether a number has tangents: an iteration whose values have settled is made once more for them."""
    return False


def may_act(x: float) -> bool:
    """Whether a number that is not negative is more than zero, or zero with tangents that are not."""
    return x > 0.0


def tangents_within(change: Any, x: Any, y: Any, part: float) -> bool:
    """Whether all tangents of a change are at most a part of those of x and y together; there are none here."""
    return True


def values_of(x: T) -> T:
    """Values alone of a number, of an array or of all in a tuple; those of an array are not copied."""
    return x


def put_value(x: Any, i: int, value: Any) -> None:
    """x[i] = value, where tangents that are there stay."""
    x[i] = value
