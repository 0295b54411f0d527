"""A given deployed length as a function of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, profile
from tautline.model.checks import SAME_LENGTH, finite, positive
from tautline.model.commands.base import Command
from tautline.model.description import OptionalNumber, declared, described, flag, quantity
from tautline.model.forms import ROW, ROWS
from tautline.model.kinds import Kind, Quantity, Way
from tautline.model.motions import Motion, MotionOfALength
from tautline.model.piecewise import end_rates, even_times, increasing, rows
from tautline.model.table_files import TableFile, Values
from tautline.model.tables import Ends, Table, arrays

LENGTHS = Values("lengths", ("length",), "m")


class Pieces(Kind):
    """Polynomials of time: knots, and a row of coefficients for each."""

    def __init__(self, sentence: str) -> None:
        keys: dict[str, Kind] = {
            "knots": Quantity("s", finite, "Times from which given polynomials hold, increasing.", ROW),
            "coefficients": Quantity("", finite, "Coefficients in SI of each, the lowest power first.", ROWS),
        }

        def split(value: Any) -> dict[str, Any]:
            return dict(zip(keys, value, strict=True))

        way = Way(keys, lambda given: tuple(given[key] for key in keys), split)
        super().__init__(sentence, ways=(way,), own_key=False)

    def check(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            checks.refuse(name, "a pair (knots, coefficients)", value)
        knots = increasing(f"{name}[0] (knots)", value[0], "s")
        coefficients = checks.array(f"{name}[1] (coefficients)", value[1], (len(knots), None), "m/s^k")
        profile.polynomials(f"{name}[1] (coefficients)", knots, coefficients)
        return tuple(knots.tolist()), rows(coefficients)

    def words(self) -> str:
        return "(knots, coefficients)"


@described
class Length(Command):
    """A given deployed length as a function of time; the torque that it takes is reported in `torque`.

    It is given by a table, by a move to a target (`Length.to`), by polynomials, or by a motion about a mean. Times are
    those of the simulation.

    Before the first and after the last entry of a table the reel stands still. With velocities other than zero at its
    ends the reel is jerked into motion at the first entry, unless it moves so already, and stopped at the last: let a
    table go on beyond the end of the run if it should not stop within. The ramp of a motion begins when the command is
    given.
    """

    _file = TableFile(LENGTHS)
    kernel, prescribes = "prescribed_motion", True

    table: Any = declared(
        Table(
            "m",
            positive,
            "Deployed, unstretched lengths, joined by a smooth curve that begins and ends at rest unless velocities "
            "are given.",
            "lengths",
            constant=False,
        ),
        default=None,
    )
    monotone: bool = flag(
        "How a table is joined. False: by a cubic spline, whose acceleration is continuous; between unevenly spaced "
        "entries it may swing beyond them. True: by a curve that rises and falls only where the entries do; its "
        "acceleration jumps at them.",
        default=False,
    )
    target: OptionalNumber = quantity("m", positive, "Length to move to, from rest to rest.", default=None)
    speed: OptionalNumber = quantity("m/s", positive, "Greatest speed of a move.", default=None)
    acceleration: OptionalNumber = quantity("m/s^2", positive, "Greatest acceleration of a move.", default=None)
    jerk: OptionalNumber = quantity(
        "m/s^3",
        positive,
        "Greatest rate of the acceleration: an S-curve, whose torque has no jumps.",
        default=None,
    )
    start: OptionalNumber = quantity("s", finite, "Time at which a move begins; at once if not given.", default=None)
    pieces: Any = declared(
        Pieces(
            "Polynomials given as they are: the times (s) from which they hold, and a row of coefficients for each, of "
            "the powers 0 to 7 at most of the time since its knot."
        ),
        default=None,
    )
    velocities: tuple[float | str, float | str] = declared(
        Ends("m/s", finite, "Rates of the length at the first and at the last entry of a table; positive pays out"),
        default=(0.0, 0.0),
    )
    motion: Motion | None = declared(
        MotionOfALength("Motion of the length about its mean, positive where more is deployed."), default=None
    )
    mean: OptionalNumber = quantity(
        "m",
        positive,
        "Length about which a motion goes; if not given, so that the motion begins at the length that is deployed.",
        default=None,
    )

    def _check_together(self) -> None:
        given = [name for name in ("table", "target", "pieces", "motion") if getattr(self, name) is not None]
        if len(given) != 1:
            raise InputError(
                "Length: expected one of target (with speed and acceleration), table (times and lengths), pieces "
                "(knots and coefficients) or motion (such as amplitude and period), "
                f"got {' and '.join(given) or 'none'}"
            )
        for name in ("speed", "acceleration", "jerk", "start"):
            if self.target is None and getattr(self, name) is not None:
                checks.refuse(f"Length.{name}", "it together with target", getattr(self, name))
        if self.motion is None and self.mean is not None:
            checks.refuse("Length.mean", "it together with a motion", self.mean)
        for name in ("speed", "acceleration"):
            if self.target is not None and getattr(self, name) is None:
                raise InputError(f"Length.{name}: missing; a move to a target needs it")
        if self.table is None and self.monotone:
            raise InputError("Length.monotone: expected it together with a table")
        self._check_velocities()

    def _check_velocities(self) -> None:
        """Refuse velocities that the curve through a table cannot have."""
        for k, velocity in enumerate(self.velocities):
            name = f"Length.velocities[{k}] ({('start', 'end')[k]}_velocity)"
            if velocity == 0.0:
                continue
            if self.table is None:
                checks.refuse(name, "it together with a table", velocity)
            times, lengths = arrays(self.table)
            if len(times) == 1:
                checks.refuse(name, "0 with a table of a single entry", velocity)
            if self.monotone and not isinstance(velocity, str):
                # a cubic stays monotone if its slopes are within three times that of the chord (Fritsch and Carlson)
                steepest = 3.0 * float((np.diff(lengths) / np.diff(times))[-k])
                low, high = min(steepest, 0.0), max(steepest, 0.0)
                if not low <= velocity <= high:
                    checks.refuse(name, f"{low:.6g} to {high:.6g} m/s, so that the curve stays monotone", velocity)

    @classmethod
    def to(
        cls,
        target: float | str,
        *,
        speed: float | str,
        acceleration: float | str,
        jerk: float | str | None = None,
        start: float | str | None = None,
    ) -> Length:
        """A move from the present length, at rest, to another one, in the least time within the limits.

        Without a jerk the speed is a trapezoid over time.
        """
        return cls(target=target, speed=speed, acceleration=acceleration, jerk=jerk, start=start)

    @classmethod
    def of(cls, function: Callable[[float], float], duration: float, interval: float) -> Length:
        """Through a function of time, taken every `interval` seconds; end velocities by its differences."""
        times = even_times(duration, interval)
        lengths = [positive(f"function({t:g})", function(float(t)), "m") for t in times]
        return cls((times, lengths), velocities=end_rates(function, times))

    @property
    def move(self) -> Length | None:
        """Itself, where it is a move to a target."""
        return None if self.target is None else self

    @property
    def is_tabulated(self) -> bool:
        """True of tables and polynomials."""
        return self.table is not None or self.pieces is not None

    def curve(self, time: float, length: float, span: profile.Span | None = None) -> Array:
        """Profile of the deployed length: the table, move, polynomials or motion."""
        if self.motion is not None:
            mean = length if self.mean is None else self.mean
            return profile.endless(self.motion.harmonics(), time, span, mean, relative=self.mean is None)
        if self.table is not None:
            return profile.through(*arrays(self.table), self.monotone, self.velocities)
        if self.pieces is not None:
            return profile.polynomials("Length.pieces", np.array(self.pieces[0]), self.pieces[1])
        assert self.target is not None and self.speed is not None and self.acceleration is not None
        start = time if self.start is None else max(time, self.start)
        return profile.move(start, length, self.target, self.speed, self.acceleration, self.jerk)

    def check_start(self, time: float, length: float, reel_speed: float) -> None:
        """Refuse a move that does not begin at rest, and a curve that does not begin at the present length."""
        if self.target is not None:
            if abs(reel_speed) > SAME_LENGTH:
                checks.refuse("State.reel_speed", "0 at the start of Length.to(...)", reel_speed)
            return
        given = profile.values_at(self.curve(time, length), time)[0]
        if abs(given - length) > SAME_LENGTH * max(1.0, length):
            raise InputError(
                f"Length: expected the present deployed length of {length:.9g} m at t = {time:g} s, got {given:.9g} m"
            )

    def shortest(self, length: float, time: float = 0.0) -> float | None:
        """Least length of the curve from a time on."""
        if self.motion is not None:
            least = (length if self.mean is None else self.mean) - self.motion.harmonics().reach
            return least if least > 0.0 else None
        return profile.least_positive(self.curve(time, length), time)
