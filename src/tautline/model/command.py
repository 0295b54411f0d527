"""What the drum is told to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, profile

# A length to lead from counts as the present one within this part of the string.
SAME_LENGTH = 1e-9


def _table(name: str, value: Any, unit: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A checked pair (times, values), as tuples."""
    if len(value) != 2:
        checks.refuse(name, "a number or a pair (times, values)", value)
    times = checks.array(f"{name}[0] (times)", value[0], (None,), "s")
    if len(times) == 0:
        raise InputError(f"{name}[0] (times): expected at least one time, got none")
    if (np.diff(times) <= 0.0).any():
        raise InputError(f"{name}[0] (times): expected increasing times, got a step back or none")
    values = checks.array(f"{name}[1] (values)", value[1], times.shape, unit)
    return tuple(times.tolist()), tuple(values.tolist())


def _arrays(value: Any) -> tuple[Array, Array]:
    """A checked number or table as arrays; a constant is a table with one entry."""
    if isinstance(value, tuple):
        return np.array(value[0]), np.array(value[1])
    return np.zeros(1), np.array([value])


@dataclass(frozen=True)
class Locked:
    """The drum is held: the deployed length stays constant."""


@dataclass(frozen=True)
class Free:
    """The drum turns freely, but for its friction."""


@dataclass(frozen=True)
class Torque:
    """A moment on the drum; positive retrieves.

    Parameters
    ----------
    moment : float, (times, values) or callable
        Constant (N m); or a table: piecewise linear in time (s), held before its first and after its last entry; or
        a function of time, which is called for the ends of the steps and taken as linear in between. Such a run
        can be neither saved nor resumed; a table can.
    """

    moment: Any

    def __post_init__(self) -> None:
        if isinstance(self.moment, (tuple, list)):
            object.__setattr__(self, "moment", _table("Torque.moment", self.moment, "N m"))
        elif not self.is_function:
            object.__setattr__(self, "moment", checks.number("Torque.moment", self.moment))

    @property
    def is_function(self) -> bool:
        """Whether the moment is given by a function."""
        return callable(self.moment)

    def table(self) -> tuple[Array, Array]:
        """Times and values; a constant is a table with one entry, and so is a function, at time 0."""
        return self.sampled(np.zeros(1)) if self.is_function else _arrays(self.moment)

    def sampled(self, times: Array) -> tuple[Array, Array]:
        """A function's values at these times."""
        return times, np.array([checks.number(f"Torque.moment({t:g})", self.moment(float(t))) for t in times])


@dataclass(frozen=True)
class Brake:
    """Dry friction on the drum, and no motor: it holds the drum up to this moment, and rubs with it beyond.

    Parameters
    ----------
    moment : float or (times, values)
        Of the brake (N m), at least 0; constant or a table as for `Torque`. The drum's own friction comes on top.
    """

    moment: Any

    def __post_init__(self) -> None:
        if isinstance(self.moment, (tuple, list)):
            table = _table("Brake.moment", self.moment, "N m")
            if min(table[1]) < 0.0:
                checks.refuse("Brake.moment[1] (values)", "moments of at least 0 (N m)", min(table[1]))
            object.__setattr__(self, "moment", table)
        else:
            object.__setattr__(self, "moment", checks.non_negative("Brake.moment", self.moment, "N m"))

    def table(self) -> tuple[Array, Array]:
        """Times and values; a constant is a table with one entry."""
        return _arrays(self.moment)


@dataclass(frozen=True)
class Length:
    """A given deployed length as a function of time; the torque that it takes is reported in `torque`.

    `Length.to` makes a move to another length. Times are those of the simulation.

    Parameters
    ----------
    table : (times, lengths), optional
        Deployed, unstretched (m), joined by a smooth curve. Before the first and after the last entry the reel stands
        still, and the curve begins and ends at rest unless velocities are given.
    monotone : bool
        Of a table. False: a cubic spline, whose acceleration is continuous; between unevenly spaced entries it may
        swing beyond them. True: a curve that rises and falls only where the entries do; its acceleration jumps at them.
    velocities : two floats, optional
        Of a table: rates of the length at its first and its last entry (m/s; positive pays out); zero by default. With
        others the reel is jerked into motion at the first entry, unless it moves so already, and stopped at the last:
        let a table go on beyond the end of the run if it should not stop within.
    target, speed, acceleration, jerk, start
        Of a move; see `Length.to`.
    pieces : (knots, coefficients), optional
        Polynomials given as they are: the times (s) from which they hold, and a row of coefficients for each, of the
        powers 0 to 7 at most of the time since its knot.
    """

    table: Any = None
    monotone: bool = False
    target: float | None = None
    speed: float | None = None
    acceleration: float | None = None
    jerk: float | None = None
    start: float | None = None
    pieces: Any = None
    velocities: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        given = [name for name in ("table", "target", "pieces") if getattr(self, name) is not None]
        if len(given) != 1:
            raise InputError(f"Length: expected one of table, target or pieces, got {' and '.join(given) or 'none'}")
        checks.instance("Length.monotone", self.monotone, bool)
        self._check_velocities()
        if self.target is None:
            for name in ("speed", "acceleration", "jerk", "start"):
                if getattr(self, name) is not None:
                    checks.refuse(f"Length.{name}", "it together with target", getattr(self, name))
        if self.table is not None:
            if not isinstance(self.table, (tuple, list)):
                checks.refuse("Length.table", "a pair (times, lengths)", self.table)
            table = _table("Length.table", self.table, "m")
            if min(table[1]) <= 0.0:
                checks.refuse("Length.table[1] (values)", "positive lengths (m)", min(table[1]))
            set_(self, "table", table)
            self._check_monotone()
        elif self.target is not None:
            set_(self, "target", checks.positive("Length.target", self.target, "m"))
            set_(self, "speed", checks.positive("Length.speed", self.speed, "m/s"))
            set_(self, "acceleration", checks.positive("Length.acceleration", self.acceleration, "m/s^2"))
            if self.jerk is not None:
                set_(self, "jerk", checks.positive("Length.jerk", self.jerk, "m/s^3"))
            if self.start is not None:
                set_(self, "start", checks.number("Length.start", self.start))
        else:
            if not isinstance(self.pieces, (tuple, list)) or len(self.pieces) != 2:
                checks.refuse("Length.pieces", "a pair (knots, coefficients)", self.pieces)
            knots = checks.array("Length.pieces[0] (knots)", self.pieces[0], (None,), "s")
            if len(knots) == 0 or (np.diff(knots) <= 0.0).any():
                checks.refuse("Length.pieces[0] (knots)", "increasing times (s)", self.pieces[0])
            rows = checks.array("Length.pieces[1] (coefficients)", self.pieces[1], (len(knots), None), "m/s^k")
            profile.polynomials("Length.pieces[1] (coefficients)", knots, rows)
            set_(self, "pieces", (tuple(knots.tolist()), tuple(map(tuple, rows.tolist()))))

    def _check_velocities(self) -> None:
        """Two numbers, which only a table of two entries or more has."""
        if not isinstance(self.velocities, (tuple, list)) or len(self.velocities) != 2:
            checks.refuse("Length.velocities", "two numbers (m/s), at the first and at the last entry", self.velocities)
        names = ("Length.velocities[0]", "Length.velocities[1]")
        ends = [checks.number(name, v, "a speed (m/s)") for name, v in zip(names, self.velocities, strict=True)]
        object.__setattr__(self, "velocities", tuple(ends))
        for name, velocity in zip(names, ends, strict=True):
            if velocity != 0.0 and self.table is None:
                checks.refuse(name, "it together with a table", velocity)

    def _check_monotone(self) -> None:
        """Refuse velocities that the curve through a table cannot have."""
        times, lengths = _arrays(self.table)
        for k, velocity in enumerate(self.velocities):
            name = f"Length.velocities[{k}]"
            if velocity != 0.0 and len(times) == 1:
                checks.refuse(name, "0 with a table of a single entry", velocity)
            if velocity != 0.0 and self.monotone:
                # a cubic stays monotone if its slopes are within three times that of the chord (Fritsch and Carlson)
                steepest = 3.0 * float((np.diff(lengths) / np.diff(times))[-k])
                low, high = min(steepest, 0.0), max(steepest, 0.0)
                if not low <= velocity <= high:
                    checks.refuse(name, f"{low:.6g} to {high:.6g} m/s, so that the curve stays monotone", velocity)

    @classmethod
    def to(
        cls, target: float, *, speed: float, acceleration: float, jerk: float | None = None, start: float | None = None
    ) -> Length:
        """A move from the present length, at rest, to another one, in the least time within the limits.

        Parameters
        ----------
        target : float
            Deployed, unstretched length (m).
        speed, acceleration : float
            Greatest ones (m/s, m/s^2): a trapezoid of the speed.
        jerk : float, optional
            Greatest rate of the acceleration (m/s^3): an S-curve, whose torque has no jumps.
        start : float, optional
            Time at which to begin (s); at once by default.
        """
        return cls(target=target, speed=speed, acceleration=acceleration, jerk=jerk, start=start)

    def curve(self, time: float, length: float) -> Array:
        """Rows of the profile of the deployed length, for a command that is given at `time` at this length."""
        if self.table is not None:
            return profile.through(*_arrays(self.table), self.monotone, self.velocities)
        if self.pieces is not None:
            return profile.polynomials("Length.pieces", np.array(self.pieces[0]), self.pieces[1])
        assert self.target is not None and self.speed is not None and self.acceleration is not None
        start = time if self.start is None else max(time, self.start)
        return profile.move(start, length, self.target, self.speed, self.acceleration, self.jerk)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A given speed of the string at the reel, from the present length on; the torque that it takes is reported.

    One of the two is given, by name, so that the sign cannot be mistaken.

    Parameters
    ----------
    payout : float or (times, speeds)
        Rate at which the deployed length grows (m/s); a table is piecewise linear and held outside.
    retrieval : float or (times, speeds)
        Rate at which it shrinks, which is `reel_speed` in results (m/s).
    """

    payout: Any = None
    retrieval: Any = None

    def __post_init__(self) -> None:
        if (self.payout is None) == (self.retrieval is None):
            raise InputError(
                f"Speed: expected either payout or retrieval (m/s), got {'neither' if self.payout is None else 'both'}"
            )
        name = "payout" if self.retrieval is None else "retrieval"
        value = getattr(self, name)
        if isinstance(value, (tuple, list)):
            object.__setattr__(self, name, _table(f"Speed.{name}", value, "m/s"))
        else:
            object.__setattr__(self, name, checks.number(f"Speed.{name}", value))

    def curve(self, time: float, length: float) -> Array:
        """As of `Length`."""
        times, speeds = _arrays(self.payout if self.retrieval is None else self.retrieval)
        return profile.integral(times, speeds if self.retrieval is None else -speeds, time, length)


@dataclass(frozen=True)
class Impedance:
    """A spring and a damper on the deployed length: proportional-derivative control without sampling.

    The pull on the string is stiffness (X - length) + damping (dX/dt - dlength/dt), X being what is deployed; the
    motor's limits of `Reel` hold.

    Parameters
    ----------
    length : float, (times, lengths), Length or Speed
        Where the spring is at rest: deployed, unstretched (m).
    stiffness : float
        Pull per length (N/m).
    damping : float
        Pull per speed (N s/m).
    """

    length: Any
    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if isinstance(self.length, (tuple, list)):
            set_(self, "length", Length(self.length))
        elif not isinstance(self.length, (Length, Speed)):
            set_(self, "length", checks.positive("Impedance.length", self.length, "m"))
        set_(self, "stiffness", checks.non_negative("Impedance.stiffness", self.stiffness, "N/m"))
        set_(self, "damping", checks.non_negative("Impedance.damping", self.damping, "N s/m"))

    def curve(self, time: float, length: float) -> Array:
        """Of the length at rest."""
        if isinstance(self.length, (Length, Speed)):
            return self.length.curve(time, length)
        return profile.constant(self.length)


Command = Locked | Free | Torque | Brake | Length | Speed | Impedance
# Commands with a curve in time.
PrescribedMotion = Length | Speed
KINDS: dict[str, Callable[..., Command]] = {
    kind.__name__: kind for kind in (Locked, Free, Torque, Brake, Length, Speed, Impedance)
}


def check_command(command: Any, reel_speed: float) -> None:
    """Refuse what is no command, and a lock on a reel that moves."""
    if not isinstance(command, Command):
        checks.refuse(
            "command", "Locked(), Free(), Torque(...), Brake(...), Length(...), Speed(...) or Impedance(...)", command
        )
    if isinstance(command, Locked) and reel_speed != 0.0:
        checks.refuse("State.reel_speed", "0 with Locked()", reel_speed)


def check_start(command: Command, time: float, length: float, reel_speed: float) -> None:
    """Refuse a motion that does not begin where the string is."""
    follower = command.length if isinstance(command, Impedance) else command
    if isinstance(follower, Length) and follower.target is not None and abs(reel_speed) > SAME_LENGTH:
        checks.refuse("State.reel_speed", "0 at the start of Length.to(...)", reel_speed)
    if isinstance(command, Length) and command.target is None:
        given = profile.values_at(command.curve(time, length), time)[0]
        if abs(given - length) > SAME_LENGTH * max(1.0, length):
            raise InputError(
                f"Length: expected the present deployed length of {length:.9g} m at t = {time:g} s, got {given:.9g} m"
            )


def shortest_commanded(command: Command, length: float, time: float = 0.0) -> float | None:
    """Least deployed length (m) that a command leads to by its target or table; None if it names none.

    A retrieval must not be taken for complete before this length is reached. `Speed` leads to a shortest length only
    if its table ends without retrieval; commands that leave the length to the forces never do.

    Parameters
    ----------
    command : Command
    length : float
        What is deployed when the command is given (m).
    time : float
        When that is (s).
    """
    if not isinstance(command, Length | Speed | Impedance):
        return None
    least = profile.least(command.curve(time, length), time)
    return least if least > 0.0 else None
