"""How a kinematic body turns: roll, pitch and yaw over time (docs/theory.md, "Kinematic bodies")."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model.checks import finite, non_negative, vector
from tautline.model.description import Number, Vector3, declared, described, quantity
from tautline.model.forms import ROW, VECTOR, VECTORS
from tautline.model.motions import RAMP, Endless, check_counts, positives
from tautline.model.path import Curve, InPieces, times_of_rows, vectors
from tautline.model.piecewise import Row
from tautline.model.table_files import TableFile, Values
from tautline.model.tables import Ends


def rotation_of(angles: Any) -> Array:
    """Rotation matrix of roll, pitch and yaw (rad): first roll, then pitch, then yaw about fixed axes."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def angular_velocity_of(angles: Any, rates: Any) -> Array:
    """Angular velocity in the body's frame (rad/s) of angles that change."""
    (cr, cp, _), (sr, sp, _) = np.cos(angles), np.sin(angles)
    roll, pitch, yaw = rates
    return np.array([roll - yaw * sp, pitch * cr + yaw * cp * sr, yaw * cp * cr - pitch * sr])


class Turning(InPieces):
    """Roll, pitch and yaw over time, about axes of the body."""

    @property
    def axes(self) -> Array:
        """Rotation matrix whose columns are the axes of roll, pitch and yaw, in the body's frame."""
        return np.eye(3)

    def rotation(self, time: float) -> Array:
        """Rotation matrix at a time."""
        found: Array = self.axes @ rotation_of(self.at(time)[0][0]) @ self.axes.T
        return found

    def angular_velocity(self, time: float) -> Array:
        """Angular velocity at a time (rad/s), body frame."""
        angles, rates = (x[0] for x in self.at(time))
        found: Array = self.axes @ angular_velocity_of(angles, rates)
        return found


@described
class AttitudePath(Curve, Turning):
    """Roll, pitch and yaw of a kinematic body over time: smooth curves through the rows of a table.

    The attitude is the rotation about the third axis by yaw, times that about the second by pitch, times that about
    the first by roll. Cubic splines; before its first and after its last row the body does not turn.
    """

    _file = TableFile(Values("angles", ("roll", "pitch", "yaw"), "rad"))

    times: Row = quantity("s", times_of_rows, "Times of the rows, increasing.", form=ROW)
    angles: tuple[Row, ...] = quantity("rad", vectors, "Roll, pitch and yaw, for each time.", form=VECTORS)
    rates: tuple[Any, Any] = declared(
        Ends("rad/s", vector, "Rates of the angles at the first and at the last row", form=VECTOR),
        default=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )


@described
class Rocking(Endless, Turning):
    """Roll, pitch and yaw that are sums of sines: a deck that rocks, a pedestal that swings."""

    amplitudes: tuple[Row, ...] = quantity(
        "rad", vectors, "Amplitudes of roll, pitch and yaw, a row for each period.", form=VECTORS
    )
    periods: Any = quantity("s", positives, "Periods.", form=ROW)
    phases: tuple[Row, ...] = quantity(
        "rad", vectors, "Phases at time 0, a row for each period; 0 if not given.", default=(), form=VECTORS
    )
    ramp: Number = quantity("s", non_negative, RAMP, default=0.0)

    def _check_together(self) -> None:
        check_counts(self, self.periods, "amplitudes", "phases")

    def _terms(self) -> tuple[Any, Any, Any, float]:
        phases = self.phases or ((0.0, 0.0, 0.0),) * len(self.periods)
        return 2.0 * np.pi / np.array(self.periods), np.array(self.amplitudes), np.array(phases), self.ramp


@described
class Spin(Turning):
    """A constant angular velocity, since time 0: a crane that slews, an arm that whirls."""

    rate: Vector3 = quantity("rad/s", vector, "Angular velocity, in the body's frame.", form=VECTOR)
    phase: Number = quantity("rad", finite, "Angle already turned at time 0.", default=0.0)

    @cached_property
    def _speed(self) -> float:
        return float(np.linalg.norm(self.rate))

    @property
    def axes(self) -> Array:
        """Rotation matrix whose third column is the axis that the body turns about."""
        return axes_about(self.rate)

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Array, Array]:
        """A single piece, for all times."""
        found = np.zeros((4, 1, 3))
        found[:2, 0, 2] = self.phase, self._speed
        return np.zeros(1), found


def axes_about(rate: Any) -> Array:
    """Rotation matrix whose third column is the direction of a vector."""
    size = float(np.linalg.norm(rate))
    third = np.array(rate) / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    across = np.eye(3)[int(np.argmin(np.abs(third)))]
    second = np.cross(third, across)
    second /= np.linalg.norm(second)
    return np.stack([np.cross(second, third), second, third], axis=1)


# What may be given as the turning of a kinematic body, by the word that tells them apart in files.
TURNINGS: dict[str, type] = {"points": AttitudePath, "sines": Rocking, "rate": Spin}
