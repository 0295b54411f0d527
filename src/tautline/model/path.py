"""Where the guide goes: a crane's trolley, a ship in waves, an aircraft."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.description import declared, described, fields_of, quantity
from tautline.model.forms import ROW, VECTOR, VECTORS
from tautline.model.motions import MOTIONS, Motion
from tautline.model.piecewise import Row, end_rates, evaluate, even_times, increasing, rows
from tautline.model.table_files import TableFile, Values
from tautline.model.tables import Ends, spline_ends


def times_of_rows(name: str, value: Any, unit: str) -> Row:
    """Times of at least two rows, increasing."""
    return tuple(increasing(name, value, unit, least=2).tolist())


def vectors(name: str, value: Any, unit: str) -> tuple[Row, ...]:
    """Rows of three, or none."""
    if isinstance(value, (list, tuple)) and not value:
        return ()
    return rows(checks.array(name, value, (None, 3), unit))


def still_spline(times: Row, points: tuple[Row, ...], rates: Any) -> tuple[Array, Array]:
    """Knots and coefficients of a cubic spline with given rates at its ends, constant before and after."""
    from scipy.interpolate import CubicSpline

    values = np.array(points)
    inner = CubicSpline(times, values, bc_type=spline_ends(rates, values)).c[::-1]
    still = np.zeros((4, 2, 3))
    still[0] = values[0], values[-1]
    return np.array([times[0] - 1.0, *times]), np.concatenate([still[:, :1], inner, still[:, 1:]], axis=1)


class InPieces:
    """A motion that is given by pieces, polynomials of the time."""

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) of the time since each, between two times at least."""
        raise NotImplementedError

    def covered(self, until: float) -> float:
        """Time up to which pieces that were asked for until then hold (s): for ever."""
        return math.inf

    def at(self, times: Any) -> tuple[Array, Array]:
        """Values (m, or rad) and their rates at times."""
        pieces, t = self.pieces(), np.atleast_1d(times)
        return evaluate(*pieces, t), evaluate(*pieces, t, 1)


class Curve(InPieces):
    """A smooth curve through the rows of a table: fields for times, values and rates at its ends, in this order."""

    def _table(self) -> tuple[Any, Any, Any]:
        times, values, rates = (getattr(self, name) for name in fields_of(type(self)))
        return times, values, rates

    def _check_together(self) -> None:
        times, values, _ = self._table()
        name, unit = _values_of(type(self))
        checks.array(f"{type(self).__name__}.{name}", values, (len(times), 3), unit)

    @classmethod
    def of(cls, function: Callable[[float], Any], duration: float, interval: float) -> Self:
        """Through a function of time, taken every `interval` seconds; rates at the ends by its differences."""
        checks.called("function", function)
        times, (_, unit) = even_times(duration, interval), _values_of(cls)
        values = np.array([checks.vector("function", function(float(t)), unit) for t in times])
        return cls(tuple(times.tolist()), rows(values), end_rates(function, times))  # type: ignore[call-arg]

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) of the time since each; at rest outside. All, at any times."""
        return self._spline

    @cached_property
    def _spline(self) -> tuple[Array, Array]:
        return still_spline(*self._table())


def _values_of(cls: type) -> tuple[str, str]:
    """Name of the field that has the values of a curve, and its unit."""
    _, (name, kind), _ = fields_of(cls).items()
    return name, kind.unit


@described
class GuidePath(Curve):
    """Displacement of the guide entrance from `Reel.guide_position` over time: a smooth curve through points.

    A cubic spline with continuous acceleration. Before its first and after its last point the guide stands still, and
    the curve begins and ends at rest unless velocities are given.
    """

    _file = TableFile(
        Values("displacements", ("x", "y", "z"), "m"), Values("displacements", ("surge", "sway", "heave"), "m")
    )

    times: Row = quantity("s", times_of_rows, "Times of the points, increasing.", form=ROW)
    displacements: tuple[Row, ...] = quantity("m", vectors, "The points, one for each time.", form=VECTORS)
    velocities: tuple[Any, Any] = declared(
        Ends("m/s", checks.vector, "Velocities at the first and at the last point", form=VECTOR),
        default=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )

    def acceleration(self, times: Any) -> Array:
        """Accelerations (m/s^2) at times."""
        return evaluate(*self.pieces(), np.atleast_1d(times), 2)


# What may be given as the guide's path, by the word that tells them apart in files.
GuideMotion = GuidePath | Motion
GUIDE_MOTIONS: dict[str, type] = {"points": GuidePath, **MOTIONS}
