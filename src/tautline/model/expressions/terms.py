"""Parts of bound expressions, and what is made of them number by number, component by component or over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.model.expressions.reading import TIME


class Values(NamedTuple):
    """Variables of a run, and elements of the lines."""

    variables: Mapping[str, Any]
    elements: Mapping[str, int]


# A number of an expression: from values to an array (time, *dims, ...) or a float.
Evaluate = Callable[[Values], Any]


class Term(NamedTuple):
    """A part of an expression."""

    dims: tuple[str, ...]  # behind the time; "node of hoist" where those of one line were chosen
    value: Evaluate
    constant: float | None = None  # of a plain number


def differences(x: Any, values: Values) -> Any:
    """Differences of neighboring samples over the time between them; those of differences are half a sample apart."""
    time = values.variables[TIME]
    while len(time) > len(x):
        time = 0.5 * (time[1:] + time[:-1])
    lasts = np.diff(time)
    return np.diff(x, axis=0) / lasts.reshape(len(lasts), *(1,) * (np.ndim(x) - 1))


def from_vertical(x: Any) -> Any:
    """Angles between vectors (time, k, 3) and the vertical, which is down; beside 0, slopes are those of 0."""
    across = x[:, :, 0] ** 2 + x[:, :, 1] ** 2
    aside = across > 0.0
    return np.arctan2(np.where(aside, np.sqrt(np.where(aside, across, 1.0)), 0.0), x[:, :, 2])


def plain_number(number: float) -> Term:
    return Term((), lambda values: number, number)


def taken(term: Term, place: int, index: int) -> Term:
    """One component along a dimension."""
    where = (slice(None),) * (place + 1) + (index,)
    return Term(term.dims[:place] + term.dims[place + 1 :], lambda values: term.value(values)[where])


def spread(x: Any, missing: int) -> Any:
    """Single numbers at each time, as wide as vectors; members, where there are some, stay last."""
    return x.reshape(len(x), *(1,) * missing, *x.shape[1:]) if missing else x


def over(term: Term, function: Callable[..., Any]) -> Term:
    """All components at each time taken together."""

    def value(values: Values) -> Any:
        x = term.value(values)
        for _ in term.dims:
            x = function(x, axis=1)
        return x

    return Term((), value)


def norm(term: Term) -> Term:
    """Length along the axes, or along the last dimension where there are none; of single numbers their size."""
    if not term.dims:
        return Term((), lambda values: np.abs(term.value(values)))
    place = term.dims.index("axis") if "axis" in term.dims else len(term.dims) - 1

    def value(values: Values) -> Any:
        x = term.value(values)
        return np.sqrt(np.sum(x * x, axis=place + 1))

    return Term(term.dims[:place] + term.dims[place + 1 :], value)
