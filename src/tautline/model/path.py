"""Where the guide goes: a crane's trolley, a ship in waves, an aircraft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.piecewise import Row, evaluate, even_times, increasing, rows


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

    def pieces(self) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) of the time since each; at rest outside."""
        from scipy.interpolate import CubicSpline

        ends = ((1, np.array(self.velocities[0])), (1, np.array(self.velocities[1])))
        points = np.array(self.displacements)
        inner = CubicSpline(self.times, points, bc_type=ends).c[::-1]
        still = np.zeros((4, 2, 3))
        still[0] = points[0], points[-1]
        return np.array([self.times[0] - 1.0, *self.times]), np.concatenate([still[:, :1], inner, still[:, 1:]], axis=1)

    def at(self, times: Any) -> tuple[Array, Array]:
        """Displacements (m) and velocities (m/s) at times."""
        pieces, t = self.pieces(), np.atleast_1d(times)
        return evaluate(*pieces, t), evaluate(*pieces, t, 1)

    def acceleration(self, times: Any) -> Array:
        """Accelerations (m/s^2) at times."""
        return evaluate(*self.pieces(), np.atleast_1d(times), 2)
