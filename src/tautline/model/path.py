"""Where the guide goes: a crane's trolley, a ship in waves, an aircraft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.kernels.data import Array
from tautline.model import checks
from tautline.model.piecewise import Row, even_times, increasing, rows


@dataclass(frozen=True)
class GuidePath:
    """Displacement of the guide entrance from `Reel.guide_position` over time: a smooth curve through points.

    A cubic spline with continuous acceleration. Before its first and after its last point the guide stands still, and
    the curve begins and ends at rest unless velocities are given.

    Parameters
    ----------
    times : increasing floats
        (s).
    displacements : one vector a time
        (m).
    velocities : two vectors, optional
        At the first and the last point (m/s); zero by default.
    """

    times: Row
    displacements: tuple[Row, ...]
    velocities: tuple[Row, Row] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        times = increasing("GuidePath.times", self.times, "s", least=2)
        points = checks.array("GuidePath.displacements", self.displacements, (len(times), 3), "m")
        if not isinstance(self.velocities, (tuple, list, np.ndarray)) or len(self.velocities) != 2:
            checks.refuse(
                "GuidePath.velocities", "two vectors (m/s), at the first and at the last point", self.velocities
            )
        ends = [checks.vector(f"GuidePath.velocities[{k}]", v, "m/s") for k, v in enumerate(self.velocities)]
        object.__setattr__(self, "times", tuple(times.tolist()))
        object.__setattr__(self, "displacements", rows(points))
        object.__setattr__(self, "velocities", tuple(ends))

    @classmethod
    def of(cls, function: Callable[[float], Any], duration: float, interval: float) -> GuidePath:
        """Through a function of time, taken every `interval` seconds; end velocities by its differences."""
        times = even_times(duration, interval)
        points = np.array([checks.vector("function", function(float(t)), "m") for t in times])
        step = 1e-4 * (times[1] - times[0])
        ends = [
            (np.array(function(float(t + step))) - np.array(function(float(t - step)))) / (2.0 * step)
            for t in (times[0], times[-1])
        ]
        return cls(tuple(times.tolist()), rows(points), (tuple(ends[0].tolist()), tuple(ends[1].tolist())))

    def coefficients(self) -> Array:
        """Knots, and four coefficients of each component beyond each knot, constant first."""
        from scipy.interpolate import CubicSpline

        ends = ((1, np.array(self.velocities[0])), (1, np.array(self.velocities[1])))
        curve = CubicSpline(self.times, np.array(self.displacements), bc_type=ends)
        out = np.zeros((13, len(self.times)))
        out[0] = self.times
        for k in range(3):
            out[1 + 4 * k : 5 + 4 * k, :-1] = curve.c[::-1, :, k]
            out[1 + 4 * k, -1] = self.displacements[-1][k]
        return out

    def at(self, times: Any) -> tuple[Array, Array]:
        """Displacements (m) and velocities (m/s) at times."""
        still, x, a = self._pieces(times)
        where = a[:, 0] + x * (a[:, 1] + x * (a[:, 2] + x * a[:, 3]))
        velocity = np.where(still, 0.0, a[:, 1] + x * (2.0 * a[:, 2] + x * 3.0 * a[:, 3]))
        return where.T, velocity.T

    def acceleration(self, times: Any) -> Array:
        """Accelerations (m/s^2) at times."""
        still, x, a = self._pieces(times)
        return np.where(still, 0.0, 2.0 * a[:, 2] + x * 6.0 * a[:, 3]).T

    def _pieces(self, times: Any) -> tuple[NDArray[np.bool_], Array, Array]:
        """Where the guide stands still, times since the latest knot, and coefficients (axis, power, time)."""
        c = self.coefficients()
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        i = np.clip(np.searchsorted(c[0], t, side="right") - 1, 0, len(self.times) - 1)
        still = (t < self.times[0]) | (i == len(self.times) - 1)
        return still, np.where(still, 0.0, t - c[0, i]), c[1:].reshape(3, 4, -1)[:, :, i]
