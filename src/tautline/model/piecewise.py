"""Curves given by tables, and functions that are polynomials in pieces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks

Row = tuple[float, ...]


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
    return np.linspace(0.0, duration, max(2, int(np.ceil(duration / interval - 1e-9)) + 1))


def rows(x: Array) -> tuple[Row, ...]:
    """As plain tuples, which compare and print."""
    return tuple(tuple(row) for row in x.tolist())


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
    places = np.asarray(x, dtype=np.float64)
    i = np.maximum(np.searchsorted(knots, places, side="right") - 1, 0)
    distance = (places - knots[i]).reshape(places.shape + (1,) * (coefficients.ndim - 2))
    total: Array = np.zeros_like(coefficients[0][i])
    for power in range(len(coefficients) - 1, derivative - 1, -1):
        total = total * distance + math.perm(power, derivative) * coefficients[power][i]
    return total
