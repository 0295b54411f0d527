"""Moves that begin while the drum turns: the speed goes over to theirs in the transition of a stage."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tautline.arrays import Array
from tautline.model import profile
from tautline.model.commands.length import Length

if TYPE_CHECKING:
    from tautline.engine.sequencing import Now

# 3 x^2 - 2 x^3, and what is left of the speed before: powers of x, the lowest first.
RISE = np.polynomial.Polynomial([0.0, 0.0, 3.0, -2.0])
REST = 1.0 - RISE
# Accuracy of roots: rounding of a float.
ROUNDING = 4.0 * np.finfo(float).eps


def gone_over(move: Length, duration: float, now: Now) -> Array:
    """Curve of the length whose speed goes over smoothly from the present one to that of a move, to its target.

    The speed is v0 (1 - s) + s v, where s = 3 x^2 - 2 x^3 and v is that of a move from rest. If the drum turns towards
    the target, this move began earlier, so that it has the speed of the drum now. It comes from the length from which
    the way in the transition leads onto it: the mean of its length, weighted with ds/dt, is the length at which the
    drum would come to rest by itself.

    Parameters
    ----------
    move : Length
        With a target; its start counts from now.
    duration : float
        Time of the transition (s).
    now : Now
    """
    from scipy.optimize import brentq

    assert move.target is not None
    v0 = -now.speed
    middle = now.deployed + 0.5 * v0 * duration
    earlier = 0.0
    if v0 * (move.target - middle) > 0.0 and not move.start:
        earlier = _time_to(abs(v0), move)
    moved = partial(_moved, move, now.time - earlier)

    def short(beginning: float) -> float:
        return _mean(moved(beginning), now.time, duration) - middle

    reach = abs(move.target - middle) + 1.0
    while short(middle - reach) > 0.0 or short(middle + reach) < 0.0:
        reach *= 2.0
    curve = moved(float(brentq(short, middle - reach, middle + reach, xtol=ROUNDING, rtol=ROUNDING)))
    knots = _knots(curve, now.time, now.time + duration)
    rows, length = [], now.deployed
    for t, after in pairwise(knots):
        x = np.polynomial.Polynomial([(t - now.time) / duration, 1.0 / duration])
        way = (v0 * REST(x) + RISE(x) * piece_at(curve, t).deriv()).integ()
        rows.append(profile.row(t, length, *way.coef[1:]))
        length += float(way(after - t))
    rows.append(profile.row(knots[-1], *piece_at(curve, knots[-1]).coef))
    return np.concatenate([rows, curve[curve[:, 0] > knots[-1]]])


def _moved(move: Length, time: float, beginning: float) -> Array:
    """Curve of a move that is given at a time, when a length is deployed."""
    curve = move.curve(0.0, beginning)
    curve[:, 0] += time
    return curve


def _time_to(speed: float, move: Length) -> float:
    """Time that a long move takes from rest to a speed, at most to its own."""
    from scipy.optimize import brentq

    assert move.speed is not None and move.acceleration is not None
    rise = move.speed / move.acceleration + (0.0 if move.jerk is None else move.acceleration / move.jerk)
    long = profile.move(0.0, 0.0, 3.0 * move.speed * rise, move.speed, move.acceleration, move.jerk)
    if speed >= move.speed * (1.0 - ROUNDING):
        return rise
    return float(brentq(lambda t: profile.values_at(long, t)[1] - speed, 0.0, rise, xtol=ROUNDING, rtol=ROUNDING))


def _mean(curve: Array, time: float, duration: float) -> float:
    """Mean of a curve over a transition, weighted with the rate of 3 x^2 - 2 x^3."""
    knots, found = _knots(curve, time, time + duration), 0.0
    for t, after in pairwise(knots):
        x = np.polynomial.Polynomial([(t - time) / duration, 1.0 / duration])
        found += float((piece_at(curve, t) * RISE(x).deriv()).integ()(after - t))
    return found


def _knots(curve: Array, time: float, end: float) -> list[float]:
    """Times from one to another, and those between them at which a curve has another piece."""
    inside = curve[(curve[:, 0] > time) & (curve[:, 0] < end), 0]
    return [time, *inside.tolist(), end]


def piece_at(curve: Array, time: float) -> np.polynomial.Polynomial:
    """Polynomial of the time since a moment that a curve has just after it."""
    row = curve[max(0, int(np.searchsorted(curve[:, 0], time, side="right")) - 1)]
    return np.polynomial.Polynomial(row[1:]).trim()(np.polynomial.Polynomial([time - row[0], 1.0]))
