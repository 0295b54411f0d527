"""Base of the commands of a drum: what a command declares about itself, which is all that the engine asks."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.profile import Span


class Drum(NamedTuple):
    """Motion of a drum at the moment that a command is asked about."""

    time: float  # s
    deployed: float  # unstretched (m)
    payout: float  # m/s
    radius: float  # with the string that is spooled on it (m)


# Commands by the word that files have for them: that of the class. Whoever defines one adds it.
COMMANDS: dict[str, Any] = {}
# Kernels of commands of which `torques` and `curve` say all.
BY_TORQUE, BY_CURVE = ("torque", "brake"), ("prescribed_motion", "impedance")


class Command:
    """Command of a drum. Subclasses override what differs from a drum that turns freely.

    Attributes
    ----------
    kernel : str
        Name in `registry.COMMANDS` of the kernels that carry it out.
    holds : bool
        The drum stands still; the torque that this takes is found from the motion.
    prescribes : bool
        The deployed length is a given function of time (`curve`), and the torque is found from the motion.
    sticks : bool
        Dry friction acts, which may hold the drum: order 2 only.
    relative : bool
        What is given is a speed: `curve` goes on from any length that is deployed.
    turns_freely : bool
        Nothing is done to the drum.
    stiffness, damping : float
        Spring and damper between the deployed length and `curve` (N/m, N s/m).
    motion : Motion or None
        Periodic or irregular motion that the length follows beyond the end of any table.
    move : Length or None
        Move from rest to a target that the length follows.
    """

    kernel: ClassVar[str] = "torque"
    holds: ClassVar[bool] = False
    prescribes: ClassVar[bool] = False
    sticks: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    turns_freely: ClassVar[bool] = False
    # fields of some subclasses
    stiffness: Any = 0.0
    damping: Any = 0.0
    motion: Any = None
    move: Any = None

    def __init_subclass__(cls, registered: bool = True) -> None:
        if registered:
            COMMANDS[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()] = cls

    @property
    def is_function(self) -> bool:
        """Whether the torque is a function of time, to be tabulated before every march."""
        return False

    @property
    def moves(self) -> bool:
        """Whether the drum is let go or driven, at some time."""
        return not self.holds

    @property
    def finds_torque(self) -> bool:
        """Whether the motion of the drum is given, so that its torque follows from the motion."""
        return self.holds or self.prescribes

    @property
    def has_curve(self) -> bool:
        """Whether it follows a deployed length over time."""
        return type(self).curve is not Command.curve

    @property
    def is_tabulated(self) -> bool:
        """Whether knots of its curve are entries of a table of the user's."""
        return False

    @property
    def is_plain(self) -> bool:
        """Whether its kernel takes nothing that `torques` and `curve` do not say."""
        return self.kernel in (*BY_TORQUE, *BY_CURVE)

    @property
    def constant_torque(self) -> Any:
        """Torque of motor or brake that never changes (N m): a number, or a column of those of members; else None."""
        if self.kernel not in BY_TORQUE or self.is_function:
            return None
        times, torques = self.torques()
        return torques[0] if len(times) == 1 else None

    def torques(self) -> tuple[Array, Array]:
        """Times and torques (s, N m) of motor or brake; a constant is a table with one entry."""
        return np.zeros(1), np.zeros(1)

    def sampled(self, times: Array) -> tuple[Array, Array]:
        """Times and the torques at them."""
        return times, np.interp(times, *self.torques())

    def curve(self, time: float, length: float, span: Span | None = None) -> Array:
        """Rows of the profile of the deployed length, for a command that is given at `time` at this length.

        Those of a continuing motion cover a span of times, by default its beginning.
        """
        raise TypeError(f"{type(self).__name__} follows no length")

    def later(self, time: float, length: float) -> Command:
        """The command with its times counted from a time on, when a length is deployed: that of a stage of a sequence.

        One with a kernel of its own and times in its tables has to say itself what it is then.
        """
        if self.motion is not None:  # it begins whenever it is given
            return self
        if self.kernel in BY_CURVE:
            curve = self.curve(0.0, length).copy()
            curve[:, 0] += time
            return self.along(curve)
        times, torques = self.torques()
        if len(times) == 1:
            return self
        if not self.is_plain:
            name = type(self).__name__
            raise InputError(f"{name}: expected a command that says what it is `later`, in a stage, got one with times")
        found: Command = COMMANDS[self.kernel]((tuple((times + time).tolist()), tuple(torques.tolist())))
        return found

    def along(self, curve: Array) -> Command:
        """The command that follows rows of a profile as this one follows its own, or leads the drum along them.

        Pieces that take no time, of a move that is there already, are left out.
        """
        curve = curve[np.append(np.diff(curve[:, 0]) > 0.0, True)]
        knots = tuple(curve[:, 0].tolist())
        by_length: Command = COMMANDS["length"](pieces=(knots, tuple(map(tuple, curve[:, 1:].tolist()))))
        return (
            COMMANDS["impedance"](by_length, self.stiffness, self.damping) if self.kernel == "impedance" else by_length
        )

    def covered(self, until: float, origin: float) -> float:
        """Time up to which a curve that was asked for until then holds, of a command given at `origin` (s)."""
        return math.inf if self.motion is None else self.motion.covered(until, origin)

    def check_start(self, time: float, length: float, reel_speed: float) -> None:
        """Refuse a motion that does not begin where the string is."""

    def shortest(self, length: float, time: float = 0.0) -> float | None:
        """Least deployed length (m) that the command leads to; None if it names none.

        A retrieval must not be taken for complete before this length is reached.

        Parameters
        ----------
        length : float
            Length deployed when the command is given (m).
        time : float
            When that is (s).
        """
        return None

    def motor_torque(self, now: Drum, origin: tuple[float, float]) -> float:
        """Torque of the motor before its limits (N m), of a command given at `origin` (time, deployed length).

        0 where the torque is found from the motion.
        """
        return float(self.sampled(np.array([now.time]))[1][0]) if self.kernel == "torque" else 0.0
