"""Sequences: commands of a reel or sheave one after the other, each until something happens."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.commands.base import Command
from tautline.model.description import Number, OptionalNumber, card_in_notebook, declared, described, quantity
from tautline.model.expressions import read
from tautline.model.forms import WrongValueError
from tautline.model.kinds import Kind
from tautline.model.stop import StopWhen
from tautline.units import shown, to_si

# The word for the end of a move or of a table.
DONE = "done"


class Until(Kind):
    """A time, a condition, or the word that stands for the end of a move or table."""

    def read(self, value: Any) -> Any:
        try:
            return self._found(value)
        except ValueError as error:
            raise WrongValueError(str(error)) from None

    def check(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self._found(value)
        except ValueError as error:
            raise InputError(f"{name}: {error}") from None

    def _found(self, value: Any) -> Any:
        """A time (s), or text that is a condition or the word."""
        if value == DONE:
            return value
        expected = f"expected a time such as '4 s', a condition such as \"end_tension > '5 kN'\" or {DONE!r}"
        try:
            time = checks.number("until", to_si(value, "s"))
        except ValueError as error:
            if not isinstance(value, str) or not re.search("[<>]", value):
                raise ValueError(f"{expected}, got {shown(value)}") from error
        else:
            if time < 0.0:
                raise ValueError(f"expected a time of at least 0, got {shown(value)}")
            return time
        try:
            read("until", value)
        except InputError as error:
            raise ValueError(str(error).removeprefix("until: ")) from None
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": ["number", "string"]}

    def words(self) -> str:
        return "float or str"


@described(name="")
class StageKeys:
    """Keys of a stage besides those of its command."""

    until: Any = declared(
        Until(
            "What ends the stage: a time of the simulation, a condition on variables of the results such as "
            '"unstretched_length < \'8 m\'", or "done", the end of its move or table.',
            default=None,
        )
    )
    duration: OptionalNumber = quantity(
        "s", checks.positive, "Longest time that the stage takes, whatever ends it otherwise.", default=None
    )
    transition: Number = quantity(
        "s",
        checks.non_negative,
        "Time in which the torque or speed of the stage before goes over smoothly to that of this one.",
        default=0.0,
    )


@dataclass(frozen=True)
class Stage:
    """A command of a sequence, and what ends it.

    Parameters
    ----------
    command : Command or float
        Times of its tables and the `start` of a move count from the beginning of the stage; a number is a torque.
    until : float or str, optional
        What ends the stage: a time of the simulation (s), a condition such as "end_tension > '5 kN'", or "done", the
        end of its move or table.
    duration : float, optional
        Longest time that the stage takes (s).
    transition : float
        Time in which torque or speed go over smoothly from the stage before (s).
    name : str
        For keys and messages; its number, counted from 0, by default.
    """

    command: Any
    until: Any = None
    duration: Any = None
    transition: Any = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        from tautline.model.command import as_command, check_kind

        check_kind(self.command)
        if isinstance(self.command, Sequence):
            checks.refuse("Stage.command", "a command that is no sequence", self.command)
        object.__setattr__(self, "command", as_command(self.command))
        keys = StageKeys(self.until, self.duration, self.transition)
        for key in ("until", "duration", "transition"):
            object.__setattr__(self, key, getattr(keys, key))
        checks.text("Stage.name", self.name)
        if self.until == DONE and done_at(self.command, 0.0, 1.0) is None:
            raise InputError(
                f"Stage.until: expected a time or a condition, got {DONE!r}; {type(self.command).__name__} as it is "
                "given has neither a move nor a table that ends"
            )
        if not self.command.is_plain:
            self.command.later(0.0, 1.0)
            if self.transition:
                raise InputError(
                    f"Stage.transition: expected none with a kernel of its own, got {self.transition:g} s with "
                    f"{type(self.command).__name__}"
                )
        if self.transition and self.command.motion is not None:
            raise InputError(
                f"Stage.transition: expected none with a motion without end, got {self.transition:g} s; give the "
                "motion a ramp"
            )

    @property
    def ends(self) -> bool:
        """Whether anything ends it."""
        return self.until is not None or self.duration is not None

    @property
    def condition(self) -> StopWhen | None:
        """Condition that ends it, if it is one."""
        return StopWhen(self.until) if isinstance(self.until, str) and self.until != DONE else None


def done_at(command: Command, time: float, length: float) -> float | None:
    """Time at which the move or table of a command that is given at a time, at a length, is over; None without."""
    if command.motion is not None or command.is_function:
        return None
    if command.has_curve:
        knots = command.curve(time, length)[:, 0]
        return float(knots[-1]) if len(knots) > 1 else None
    times = command.torques()[0]
    return float(times[-1]) if len(times) > 1 else None


def _of_first(name: str) -> Any:
    """Property of a sequence that is that of the command of its first stage."""
    return property(lambda self: getattr(self.stages[0].command, name))


class Sequence(Command, registered=False):
    """Commands of a reel or sheave one after the other.

    Each stage lasts until a time, a condition, the end of its move, or for a duration; the last one goes on. All kinds
    of commands may follow each other.

    Parameters
    ----------
    *stages : Stage or Command
        The last one may be a command by itself.
    """

    kernel, holds, prescribes = _of_first("kernel"), _of_first("holds"), _of_first("prescribes")
    stiffness, damping, motion = _of_first("stiffness"), _of_first("damping"), _of_first("motion")
    is_tabulated = _of_first("is_tabulated")
    has_curve, constant_torque = False, None  # those of a stage are known when it begins

    def __init__(self, *stages: Stage | Command | float) -> None:
        found = tuple(x if isinstance(x, Stage) else Stage(x) for x in stages)
        if not found:
            raise InputError("Sequence: expected at least one stage, got none")
        names = [x.name or str(k) for k, x in enumerate(found)]
        if len(set(names)) < len(names):
            raise InputError(f"Sequence: expected stages of different names, got {', '.join(names)}")
        for name, stage in zip(names[:-1], found[:-1], strict=True):
            if not stage.ends:
                raise InputError(
                    f"Sequence.{name}: expected what ends it (until or duration), as other stages follow, got neither"
                )
        if found[-1].ends:
            raise InputError(
                f"Sequence.{names[-1]}.{'until' if found[-1].duration is None else 'duration'}: expected none for the "
                "last stage, which goes on to the end of the run; a condition of `stop` ends that"
            )
        self.names: tuple[str, ...] = tuple(names)
        self.stages: tuple[Stage, ...] = tuple(replace(x, name=y) for x, y in zip(found, names, strict=True))

    def __eq__(self, other: object) -> bool:
        return self.stages == other.stages if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Sequence({', '.join(map(repr, self.stages))})"

    _repr_html_ = card_in_notebook

    @property
    def is_function(self) -> bool:
        """Whether the torque of a stage is a function, so that it cannot be saved."""
        return any(stage.command.is_function for stage in self.stages)

    @property
    def moves(self) -> bool:
        """Whether the drum is let go or driven in some stage."""
        return any(stage.command.moves for stage in self.stages)

    @property
    def sticks(self) -> bool:  # type: ignore[override]
        """Whether dry friction acts in some stage."""
        return any(stage.command.sticks for stage in self.stages)

    def torques(self) -> tuple[Array, Array]:
        """Times and torques of the first stage."""
        found: tuple[Array, Array] = self.stages[0].command.torques()
        return found

    def check_start(self, time: float, length: float, reel_speed: float) -> None:
        """Refuse a first stage that the reel cannot follow from the start, unless it takes a transition to it."""
        if self.stages[0].transition == 0.0:
            self.stages[0].command.check_start(time, length, reel_speed)


def stages_of(command: Command) -> tuple[Command, ...]:
    """Commands of the stages of a sequence; of another command itself."""
    return tuple(stage.command for stage in command.stages) if isinstance(command, Sequence) else (command,)
