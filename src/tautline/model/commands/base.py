"""Base of the commands of a drum: what a command declares about itself, which is all that the engine asks."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.profile import Span


class Drum(NamedTuple):
    """Motion of a drum at the moment that a command is asked about."""

    time: float  # s
    deployed: float  # unstretched (m)
    payout: float  # m/s
    radius: float  # with the string that is spooled on it (m)


# Commands by the word that files have for them: that of the class. Whoever defines one adds it.
COMMANDS: dict[str, type] = {}


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
    stiffness, damping : float
        Spring and damper between the deployed length and `curve` (N/m, N s/m).
    motion : Motion or None
        Periodic or irregular motion that the length follows beyond the end of any table.
    """

    kernel: ClassVar[str] = "torque"
    holds: ClassVar[bool] = False
    prescribes: ClassVar[bool] = False
    sticks: ClassVar[bool] = False
    # fields of some subclasses
    stiffness: Any = 0.0
    damping: Any = 0.0
    motion: Any = None

    def __init_subclass__(cls, registered: bool = True) -> None:
        if registered:
            COMMANDS[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()] = cls

    @property
    def is_function(self) -> bool:
        """Whether the torque is a function of time, to be tabulated before every march."""
        return False

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

    def torques(self) -> tuple[Array, Array]:
        """Times and torques (s, N m) of motor or brake; a constant is a table with one entry."""
        return np.zeros(1), np.zeros(1)

    def curve(self, time: float, length: float, span: Span | None = None) -> Array:
        """Rows of the profile of the deployed length, for a command that is given at `time` at this length.

        Those of a continuing motion cover a span of times, by default its beginning.
        """
        raise TypeError(f"{type(self).__name__} follows no length")

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
        return 0.0
