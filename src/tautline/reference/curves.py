"""Curves in time and over depth that the user has given: polynomials between knots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.model.path import GuidePath

Array = NDArray[np.float64]


class Curve:
    """Vectors over time: polynomials of the time since their knots; the first one holds also before its knot.

    Parameters
    ----------
    knots : increasing floats
    pieces : one matrix a knot
        Coefficients, lowest power first, a row for each power and a column for each component.
    """

    def __init__(self, knots: Sequence[float], pieces: Sequence[Array]) -> None:
        self.knots = [float(t) for t in knots]
        self.pieces = [np.atleast_2d(piece) for piece in pieces]

    def at(self, t: float, inside: float | None = None, derivative: int = 0) -> Array:
        """Value or derivative at a time; of the piece that holds at the time `inside`, where that is given."""
        i = max(0, int(np.searchsorted(self.knots, t if inside is None else inside, side="right")) - 1)
        powers = self.pieces[i]
        x = t - self.knots[i]
        value = np.zeros(powers.shape[1])
        for k in range(derivative, len(powers)):
            value += math.perm(k, derivative) * x ** (k - derivative) * powers[k]
        return value


def through_table(times: Any, values: Any) -> Curve:
    """Straight lines through the entries of a table, which is held before its first and after its last one."""
    t = np.asarray(times, dtype=np.float64)
    x = np.asarray(values, dtype=np.float64).reshape(len(t), -1)
    pieces = [x[:1]]
    for i in range(len(t) - 1):
        pieces.append(np.array([x[i], (x[i + 1] - x[i]) / (t[i + 1] - t[i])]))
    if len(t) == 1:
        return Curve(t.tolist(), pieces)
    return Curve([t[0] - 1.0, *t], [*pieces, x[-1:]])


def of_polynomials(rows: Array) -> Curve:
    """Rows (knot, coefficients) of a scalar, as commands give them."""
    return Curve(rows[:, 0].tolist(), [row[1:, None] for row in rows])


def of_path(path: GuidePath) -> Curve:
    """The clamped cubic spline of a path, at rest before and after."""
    from scipy.interpolate import CubicSpline

    ends = tuple((1, np.array(velocity)) for velocity in path.velocities)
    spline = CubicSpline(path.times, np.array(path.displacements), bc_type=ends)
    inner = [spline.c[::-1, i] for i in range(len(path.times) - 1)]
    first, last = (np.array([path.displacements[i]]) for i in (0, -1))
    return Curve([path.times[0] - 1.0, *path.times], [first, *inner, last])


def flow_at(flow: Any, depth: Array) -> Array:
    """Velocity of the fluid at depths: straight lines through a table, held outside; a row for each depth."""
    depths, velocities = flow
    columns = [np.interp(depth, depths, column) for column in zip(*velocities, strict=True)]
    return np.stack(columns, axis=-1)
