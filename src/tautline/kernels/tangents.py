"""Numbers with tangents: a value, and its derivatives by TANGENTS parameters.

Kernels are the same for plain numbers and for numbers with tangents; Numba compiles them for either. A decision is made
by values. Where a kernel needs to know, it asks with the functions below, which are what they mean for plain numbers;
machine/numba_tangents.py and machine/numba_tangent_arrays.py tell Numba what they do with tangents.
Without machine code there are no tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from tautline.kernels.lanes import LANES

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# One vector of doubles, as lanes have it.
TANGENTS = LANES

# What `by_number` was asked for: the function that chooses, and its two choices.
BY_NUMBER: list[tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = []


def by_number(plain: F, with_tangents: Callable[..., Any]) -> F:
    """A kernel that is `plain`, and `with_tangents` where an argument is a number with tangents or has some in it.

    For equations that are solved by iteration: values are found by the plain kernel, and their tangents by one linear
    solution with the slopes there (implicit function theorem).
    """

    @wraps(plain, updated=())
    def chosen(*args: Any) -> Any:
        return plain(*args)

    BY_NUMBER.append((chosen, plain, with_tangents))
    return cast(F, chosen)


def has_tangents(x: Any) -> bool:
    """Whether a number has tangents."""
    return False


def values_of(x: T) -> T:
    """Values alone of a number, of an array or of all in a tuple; those of an array are not copied."""
    return x
