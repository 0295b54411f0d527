"""A torque on the drum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.commands.base import Command
from tautline.model.description import declared, described
from tautline.model.tables import Table, arrays


class Torques(Table):
    """A table of torques, or a function of time."""

    def check(self, name: str, value: Any) -> Any:
        return value if callable(value) else super().check(name, value)

    def plain(self, value: Any) -> Any:
        if callable(value):
            return f"function {getattr(value, '__qualname__', type(value).__name__)}"
        return super().plain(value)

    def words(self) -> str:
        return f"{super().words()} or callable"


@described
class Torque(Command):
    """A torque on the drum; positive retrieves.

    A torque that is a function of time is called for the ends of the steps and taken as linear in between. Such a run
    can be neither saved nor resumed; a table can.
    """

    torque: Any = declared(
        Torques(
            "N*m",
            checks.finite,
            "Torque; a table is piecewise linear in time, held before its first and after its last entry.",
            "torques",
        )
    )

    @property
    def is_function(self) -> bool:
        """Whether the torque is given by a function."""
        return callable(self.torque)

    def torques(self) -> tuple[Array, Array]:
        """Times and values; a constant is a table with one entry, and so is a function, at time 0."""
        return self.sampled(np.zeros(1)) if self.is_function else arrays(self.torque)

    def sampled(self, times: Array) -> tuple[Array, Array]:
        """Times and the torques at them."""
        if not self.is_function:
            return super().sampled(times)
        return times, np.array([checks.number(f"Torque.torque({t:g})", self.torque(float(t))) for t in times])

    def later(self, time: float, length: float) -> Command:
        """Command from a time on; a function is called with the time since then."""
        return Torque(Later(self.torque, time)) if self.is_function else super().later(time, length)


class Later:
    """A function of the time since another."""

    def __init__(self, function: Callable[[float], Any], since: float) -> None:
        self.function, self.since = function, since

    def __call__(self, time: float) -> Any:
        return self.function(time - self.since)
