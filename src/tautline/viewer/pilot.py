"""A controller in a live simulation: a function that is called at fixed times and drives reels and bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline.engine.simulate import Controller
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.system.commands import commands_by_name
from tautline.viewer.driven import Driven


class Control(NamedTuple):
    """A controller as `simulate` takes it, and its period (s)."""

    function: Controller
    period: float


def checked_control(control: Any, period: Any) -> Control | None:
    """A controller with its period, or None where there is neither."""
    if control is None and period is None:
        return None
    if not callable(control):
        checks.refuse("control", "something that can be called", control)
    if period is None:
        raise InputError("period: expected together with control, got none")
    return Control(control, checks.positive("period", period, "s"))


class Pilot:
    """Asks the controller when its period has passed. A reel that someone has driven from a page is left alone.

    Parameters
    ----------
    driven : Driven
    control : Control
    unit : float
        Simulated time that all pieces of the motion are multiples of (s).
    """

    def __init__(self, driven: Driven, control: Control, unit: float) -> None:
        self._driven, self._function = driven, control.function
        self._every = checks.whole_ratio("period", control.period, "the step", unit)
        self._left = 0  # units until it is asked

    def act(self, most: int, reels: set[str]) -> int:
        """Ask the controller if it is time, for reels that are still its own; units to go, at most so many."""
        if self._left == 0:
            with self._driven.simulation.turns:
                answer = self._function(self._driven.simulation)
            self._obey(answer, reels)
            self._left = self._every
        count = min(most, self._left)
        self._left -= count
        return count

    def _obey(self, answer: Any, reels: set[str]) -> None:
        """Let reels follow what the controller gave them; names may be left out where there is one reel."""
        try:
            given = commands_by_name(self._driven.simulation.system, answer)
        except InputError as error:
            raise InputError(f"control: {error}") from None
        for name, command in given.items():
            if name in reels:
                self._driven.drives[name].give(command)
