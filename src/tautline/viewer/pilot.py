"""A controller in a live simulation: a function that is called at fixed times and drives reels and guide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tautline.engine.simulate import Controller, drum_and_guide
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.command import Command, as_command
from tautline.viewer.driven import Driven, DrivenChain


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
            self._obey(self._function(self._driven.simulation), reels)
            self._left = self._every
        count = min(most, self._left)
        self._left -= count
        return count

    def _obey(self, answer: Any, reels: set[str]) -> None:
        for name, command in self._commands(answer).items():
            if name in reels:
                self._driven.commands[name] = command

    def _commands(self, answer: Any) -> dict[str, Command]:
        """Commands by the names of lines; a guide that is to move does so at once."""
        if isinstance(self._driven, DrivenChain):
            command, velocity = drum_and_guide(answer)
            if velocity is not None:
                self._driven.simulation.set_guide_velocity(velocity)
            return {"": command}
        given = {} if answer is None else answer
        if not isinstance(given, Mapping) or not set(given) <= set(self._driven.commands):
            names = ", ".join(self._driven.commands)
            raise InputError(f"control: expected commands by the names of lines with reels ({names}), got {answer!r}")
        return {name: as_command(x) for name, x in given.items()}
