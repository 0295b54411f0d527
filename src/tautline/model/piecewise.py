"""Curves given by tables, and functions that are polynomials in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks

Row = tuple[float, ...]
# Times at which peaks of a motion are looked for.
PEAK_PLACES = 4000
# Times at which a function is taken for a table.
MOST_TIMES = 1_000_000


def increasing(name: str, value: Any, unit: str, least: int = 1) -> Array:
    """A row of increasing numbers."""
    x = checks.array(name, value, (None,), unit)
    if len(x) < least:
        raise InputError(f"{name}: expected at least {least} number{'s' if least > 1 else ''}, got {len(x)}")
    if (np.diff(x) <= 0.0).any():
        raise InputError(f"{name}: expected increasing numbers ({unit}), got a step back or none")
    return x


def even_times(duration: Any, interval: Any) -> Array:
    """From 0 to a duration (s), evenly, no more than an interval apart."""
    duration = checks.positive("duration", duration, "s")
    interval = checks.positive("interval", interval, "s")
    if not duration / interval < MOST_TIMES:
        checks.refuse("interval", f"at least a millionth of the duration ({duration:g} s)", interval)
    return np.linspace(0.0, duration, max(2, int(np.ceil(duration / interval - 1e-9)) + 1))


def end_rates(function: Callable[[float], Any], times: Array) -> tuple[Any, Any]:
    """Rates of a function at the first and the last of some times, by its differences."""
    step = 1e-4 * float(times[1] - times[0])
    first, last = (
        ((np.array(function(t + step)) - np.array(function(t - step))) / (2.0 * step)).tolist()
        for t in (float(times[0]), float(times[-1]))
    )
    return first, last


def rows(x: Array) -> tuple[Row, ...]:
    """Rows as plain tuples, which compare and print."""
    return tuple(tuple(row) for row in x.tolist())


def as_floats(x: Any) -> Any:
    """An array of floats; one that is such already stays, derivatives that it carries included."""
    return x if getattr(x, "dtype", None) == np.float64 else np.asarray(x, dtype=np.float64)


def interpolated(x: Any, knots: Any, values: Any) -> Array:
    """Vectors of a table (knot, component) at places: linear in between, held outside."""
    return np.stack([np.interp(x, knots, column) for column in np.asarray(values).T], axis=-1)


def evaluate(knots: Array, coefficients: Array, x: Any, derivative: int = 0) -> Array:
    """Piecewise polynomials, or a derivative of them.

    Parameters
    ----------
    knots : array (pieces,)
        Where each piece begins; the first also holds before its knot, the last for ever.
    coefficients : array (powers, pieces, ...)
        Of powers of the distance to the knot, the lowest first.
    x : float or array
        Where to evaluate.
    derivative : int
        How often to differentiate.
    """
    places = as_floats(x)
    i = np.maximum(np.searchsorted(knots, places, side="right") - 1, 0)
    distance = (places - knots[i]).reshape(places.shape + (1,) * (coefficients.ndim - 2))
    total: Array = np.zeros_like(coefficients[0][i])
    for power in range(len(coefficients) - 1, derivative - 1, -1):
        total = total * distance + math.perm(power, derivative) * coefficients[power][i]
    return total


def peaks(knots: Array, coefficients: Array, start: float, end: float) -> tuple[float, float]:
    """Largest speed and acceleration of piecewise polynomials between two times, looked for at some places a piece."""
    inside = np.concatenate([[start], knots[(knots > start) & (knots < end)], [end]])
    parts = np.linspace(0.0, 1.0, max(2, math.ceil(PEAK_PLACES / len(inside))), endpoint=False)
    times = (inside[:-1] + np.multiply.outer(parts, np.diff(inside))).ravel()
    before = np.nextafter(inside[1:], -np.inf)  # what is reached at the end of a piece
    found = (evaluate(knots, coefficients, np.concatenate([times, before]), order) for order in (1, 2))
    speed, acceleration = (float(np.linalg.norm(x.reshape(len(x), -1), axis=1).max()) for x in found)
    return speed, acceleration
