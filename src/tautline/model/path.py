"""Where the guide goes: a crane's trolley, a ship in waves, an aircraft."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.description import declared, described, quantity
from tautline.model.kinds import ROW, VECTOR, VECTORS
from tautline.model.motions import MOTIONS, Motion
from tautline.model.piecewise import Row, end_rates, evaluate, even_times, increasing, rows
from tautline.model.table_files import TableFile, Values
from tautline.model.tables import Ends, spline_ends


def _times(name: str, value: Any, unit: str) -> Row:
    return tuple(increasing(name, value, unit, least=2).tolist())


def _points(name: str, value: Any, unit: str) -> tuple[Row, ...]:
    return rows(checks.array(name, value, (None, 3), unit))


def still_spline(times: Row, points: tuple[Row, ...], rates: Any) -> tuple[Array, Array]:
    """Knots and coefficients of a cubic spline with given rates at its ends, constant before and after."""
    from scipy.interpolate import CubicSpline

    values = np.array(points)
    inner = CubicSpline(times, values, bc_type=spline_ends(rates, values)).c[::-1]
    still = np.zeros((4, 2, 3))
    still[0] = values[0], values[-1]
    return np.array([times[0] - 1.0, *times]), np.concatenate([still[:, :1], inner, still[:, 1:]], axis=1)


@described
class GuidePath:
    """Displacement of the guide entrance from `Reel.guide_position` over time: a smooth curve through points.

    A cubic spline with continuous acceleration. Before its first and after its last point the guide stands still, and
    the curve begins and ends at rest unless velocities are given.
    """

    _file = TableFile(
        Values("displacements", ("x", "y", "z"), "m"), Values("displacements", ("surge", "sway", "heave"), "m")
    )

    times: Row = quantity("s", _times, "Times of the points, increasing.", form=ROW)
    displacements: tuple[Row, ...] = quantity("m", _points, "The points, one for each time.", form=VECTORS)
    velocities: tuple[Any, Any] = declared(
        Ends("m/s", checks.vector, "Velocities at the first and at the last point", form=VECTOR),
        default=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )

    def _check_together(self) -> None:
        checks.array("GuidePath.displacements", self.displacements, (len(self.times), 3), "m")

    @classmethod
    def of(cls, function: Callable[[float], Any], duration: float, interval: float) -> GuidePath:
        """Through a function of time, taken every `interval` seconds; end velocities by its differences."""
        checks.called("function", function)
        times = even_times(duration, interval)
        points = np.array([checks.vector("function", function(float(t)), "m") for t in times])
        return cls(tuple(times.tolist()), rows(points), end_rates(function, times))

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) of the time since each; at rest outside. All, at any times."""
        return self._spline

    @cached_property
    def _spline(self) -> tuple[Array, Array]:
        return still_spline(self.times, self.displacements, self.velocities)

    def covered(self, until: float) -> float:
        """Time up to which pieces that were asked for until then hold (s): for ever."""
        return math.inf

    def at(self, times: Any) -> tuple[Array, Array]:
        """Displacements (m) and velocities (m/s) at times."""
        pieces, t = self.pieces(), np.atleast_1d(times)
        return evaluate(*pieces, t), evaluate(*pieces, t, 1)

    def acceleration(self, times: Any) -> Array:
        """Accelerations (m/s^2) at times."""
        return evaluate(*self.pieces(), np.atleast_1d(times), 2)


# What may be given as the guide's path, by the word that tells them apart in files.
GuideMotion = GuidePath | Motion
GUIDE_MOTIONS: dict[str, type] = {"points": GuidePath, **MOTIONS}
