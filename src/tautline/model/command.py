"""What the drum is told to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.kernels.data import Array
from tautline.model import checks


@dataclass(frozen=True)
class Locked:
    """The drum is held: the deployed length stays constant."""


@dataclass(frozen=True)
class Free:
    """The drum turns freely."""


@dataclass(frozen=True)
class Torque:
    """A moment on the drum; positive retrieves.

    Parameters
    ----------
    moment : float or (times, values)
        Constant (N m), or a table: piecewise linear in time (s), held before its first and after its last entry.
    """

    moment: Any

    def __post_init__(self) -> None:
        if isinstance(self.moment, (tuple, list)):
            if len(self.moment) != 2:
                checks.refuse("Torque.moment", "a number or a pair (times, values)", self.moment)
            times = checks.array("Torque.moment[0] (times)", self.moment[0], (None,), "s")
            if len(times) == 0:
                raise InputError("Torque.moment[0] (times): expected at least one time, got none")
            if (np.diff(times) <= 0.0).any():
                raise InputError("Torque.moment[0] (times): expected increasing times, got a step back or none")
            values = checks.array("Torque.moment[1] (values)", self.moment[1], times.shape, "N m")
            table = (tuple(times.tolist()), tuple(values.tolist()))
            object.__setattr__(self, "moment", table)
        else:
            object.__setattr__(self, "moment", checks.number("Torque.moment", self.moment))

    def table(self) -> tuple[Array, Array]:
        """Times and values; a constant is a table with one entry."""
        if isinstance(self.moment, tuple):
            return np.array(self.moment[0]), np.array(self.moment[1])
        return np.zeros(1), np.array([self.moment])


Command = Locked | Free | Torque


def check_command(command: Any, reel_speed: float) -> None:
    """Refuse what is no command, and a lock on a reel that moves."""
    if not isinstance(command, Command):
        checks.refuse("command", "Locked(), Free() or Torque(...)", command)
    if isinstance(command, Locked) and reel_speed != 0.0:
        checks.refuse("State.reel_speed", "0 with Locked()", reel_speed)
