"""Motions of the reel as piecewise polynomials in time.

A profile is an array of rows, one a piece: the time from which it holds, and coefficients of powers of the time since
then, the lowest first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.harmonics import Harmonics
from tautline.model.piecewise import evaluate
from tautline.model.tables import NATURAL, spline_ends

DEGREE = 7
# Times between which a profile is wanted.
Span = tuple[float, float]


def row(start: float, *coefficients: float) -> Array:
    """One piece: from `start` on, a polynomial in the time since then, lowest power first."""
    piece = np.zeros(DEGREE + 2)
    piece[0] = start
    piece[1 : 1 + len(coefficients)] = coefficients
    return piece


def constant(length: float) -> Array:
    return np.array([row(0.0, length)])


def pieces_of(profile: Array) -> tuple[Array, Array]:
    """Knots, and coefficients (power, piece)."""
    return profile[:, 0], profile[:, 1:].T


def values_at(profile: Array, t: float) -> tuple[float, float, float]:
    """Value, rate and second rate."""
    value, rate, second = (float(evaluate(*pieces_of(profile), t, order)) for order in range(3))
    return value, rate, second


def places_at(profile: Array, times: Array) -> Array:
    """Values at many times."""
    return evaluate(*pieces_of(profile), times)


def least(profile: Array, start: float) -> float:
    """Least value from a time on; minus infinity if the last piece falls for ever."""
    lowest = values_at(profile, start)[0]
    ends = np.append(profile[1:, 0], np.inf)
    for piece, end in zip(profile, ends, strict=True):
        if end <= start:
            continue
        p = np.polynomial.Polynomial(piece[1:]).trim()
        turns = p.deriv().roots() if p.degree() > 1 else np.zeros(0)
        places = np.append(turns[np.isreal(turns)].real, [start - piece[0], 0.0])
        inside = places[(places >= start - piece[0]) & (places >= 0.0) & (places < end - piece[0])]
        lowest = min(lowest, *p(inside).tolist(), *([float(p(end - piece[0]))] if np.isfinite(end) else []))
        if not np.isfinite(end) and p.degree() > 0 and p.coef[-1] < 0.0:
            return -np.inf
    return float(lowest)


def least_positive(profile: Array, start: float) -> float | None:
    """Least value from a time on, None where that is not positive."""
    found = least(profile, start)
    return found if found > 0.0 else None


def through(times: Array, values: Array, monotone: bool, velocities: tuple[Any, Any] = (0.0, 0.0)) -> Array:
    """A curve through a table that stands still outside it: a cubic spline (twice differentiable), or a monotone cubic.

    `velocities` are those just after the first and just before the last entry; natural ones follow from the curve.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline, PchipInterpolator

    if len(times) == 1:
        return np.array([row(times[0], values[0])])
    if monotone:
        slopes = PchipInterpolator(times, values).derivative()(times) if len(times) > 2 else np.zeros(2)
        for end, velocity in zip((0, -1), velocities, strict=True):
            slopes[end] = slopes[end] if velocity == NATURAL else velocity
        curve = CubicHermiteSpline(times, values, slopes)
    else:
        curve = CubicSpline(times, values, bc_type=spline_ends(velocities, values))
    pieces = [row(t, *c[::-1]) for t, c in zip(times[:-1], curve.c.T, strict=True)]
    # a row before the first knot and one after the last stand still
    return np.array([row(times[0] - 1.0, values[0]), *pieces, row(times[-1], values[-1])])


def endless(
    motion: Harmonics, origin: float, span: Span | None, mean: float, rate: float = 0.0, relative: bool = False
) -> Array:
    """A motion without end along the vertical, about a mean that has a rate from the origin on.

    `relative` is counted from where the motion is at the origin, so that the mean is what is there.
    """
    knots, coefficients = motion.pieces(origin, *(span or (origin, origin)), degree=5)
    found = np.zeros((len(knots), DEGREE + 2))
    found[:, 0], found[:, 1 : 1 + len(coefficients)] = knots, coefficients[:, :, 2].T
    found[:, 1] += mean + rate * (knots - origin)
    found[:, 2] += rate
    if relative:
        found[:, 1] -= motion.values(np.array([origin]), origin)[0, 0, 2]
    return found


def integral(times: Array, rates: Array, start: float, value: float) -> Array:
    """Integral of a piecewise linear rate that is held outside its table; `value` at `start`. Exact."""
    if len(times) == 1:
        return np.array([row(start, value, rates[0])])
    slopes = np.diff(rates) / np.diff(times)
    gained = np.concatenate([[0.0], np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(times))])
    first = min(start, float(times[0])) - 1.0
    pieces = [row(first, (first - times[0]) * rates[0], rates[0])]
    for t, total, rate, slope in zip(times[:-1], gained, rates, slopes, strict=False):
        pieces.append(row(t, total, rate, 0.5 * slope))
    pieces.append(row(times[-1], gained[-1], rates[-1]))
    profile = np.array(pieces)
    profile[:, 1] += value - values_at(profile, start)[0]
    return profile


def move(start: float, here: float, there: float, speed: float, acceleration: float, jerk: float | None) -> Array:
    """From rest to rest in the least time within the limits: three pieces, or seven where the jerk is limited."""
    distance = abs(there - here)
    if distance == 0.0:
        return np.array([row(start, here)])
    # durations: of changing the acceleration, of the acceleration in all, of the way in all without its end
    if jerk is None:
        ramp = 0.0
        rise = min(speed / acceleration, float(np.sqrt(distance / acceleration)))
        cruise = distance / (acceleration * rise) - rise
        peak = acceleration
    else:
        # limits that the way is too short for are lowered to what it allows
        ramp = min(acceleration / jerk, float(np.sqrt(speed / jerk)), float(np.cbrt(distance / (2.0 * jerk))))
        peak = jerk * ramp
        rise = min(speed / peak, 0.5 * (float(np.sqrt(ramp * ramp + 4.0 * distance / peak)) - ramp))
        cruise = distance / (peak * rise) - rise - ramp
    sign = float(np.sign(there - here))
    durations = [ramp, rise - ramp, ramp, cruise, ramp, rise - ramp, ramp]
    changes = [peak / ramp, 0.0, -peak / ramp, 0.0, -peak / ramp, 0.0, peak / ramp] if ramp > 0.0 else [0.0] * 7
    levels = [0.0, peak, peak, 0.0, 0.0, -peak, -peak]  # of the acceleration, at the beginning of each piece
    t, x, v = start, 0.0, 0.0
    pieces = [row(start - 1.0, here)]
    for duration, change, a in zip(durations, changes, levels, strict=True):
        if duration > 0.0:
            pieces.append(row(t, here + sign * x, sign * v, sign * a / 2.0, sign * change / 6.0))
        x += duration * (v + duration * (a / 2.0 + duration * change / 6.0))
        v += duration * (a + duration * change / 2.0)
        t += duration
    pieces.append(row(t, there))
    return np.array(pieces)


def polynomials(name: str, knots: Array, coefficients: Any) -> Array:
    """Given pieces, lowest power first; the first also before its knot, the last for ever."""
    rows = np.asarray(coefficients, dtype=float)
    if rows.shape[1] > DEGREE + 1:
        raise InputError(f"{name}: expected powers up to {DEGREE}, got {rows.shape[1] - 1}")
    return np.array([row(t, *c) for t, c in zip(knots, rows, strict=True)])
