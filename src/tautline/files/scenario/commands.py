"""Kinds of the reel's command in a scenario file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tautline.files.scenario.quantities import (
    Acceleration,
    Damping,
    Jerk,
    Length,
    Moment,
    Section,
    Speed,
    Stiffness,
    Table,
    Time,
)
from tautline.model import command as model


class LockedCommand(Section):
    """The drum is held."""

    kind: Literal["locked"]

    def build(self) -> model.Command:
        return model.Locked()


class FreeCommand(Section):
    """The drum turns freely, but for its friction."""

    kind: Literal["free"]

    def build(self) -> model.Command:
        return model.Free()


class _Moment(Section):
    """A constant moment, or a table of times and moments."""

    moment: Moment | None = None
    times: Table[Time] | None = None
    moments: Table[Moment] | None = None

    @model_validator(mode="after")
    def _constant_or_table(self) -> _Moment:
        _one_of(self, ("moment",), ("times", "moments"))
        return self

    def _given(self) -> Any:
        return (self.times, self.moments) if self.moment is None else self.moment


class TorqueCommand(_Moment):
    """A motor: a constant moment, or a table of times and moments."""

    kind: Literal["torque"]

    def build(self) -> model.Command:
        return model.Torque(self._given())


class BrakeCommand(_Moment):
    """Dry friction and no motor: a constant moment, or a table of times and moments."""

    kind: Literal["brake"]

    def build(self) -> model.Command:
        return model.Brake(self._given())


# Ways to give a deployed length in time, and what else each of them takes.
_MOVE = ("target", "speed", "acceleration")
_TABLE = ("times", "lengths")
_WITH = {"target": ("jerk", "start"), "times": ("monotone", "start_velocity", "end_velocity")}


class _Curve(Section):
    """A deployed length in time: a move to a target, or a table of times and lengths."""

    target: Length | None = None
    speed: Speed | None = None
    acceleration: Acceleration | None = None
    jerk: Jerk | None = None
    start: Time | None = None
    times: Table[Time] | None = None
    lengths: Table[Length] | None = None
    monotone: bool = False
    start_velocity: Speed = 0.0
    end_velocity: Speed = 0.0

    def curve(self) -> model.Length:
        """The length as the model has it."""
        if self.times is not None:
            ends = (self.start_velocity, self.end_velocity)
            return model.Length((self.times, self.lengths), self.monotone, velocities=ends)
        return model.Length(
            target=self.target, speed=self.speed, acceleration=self.acceleration, jerk=self.jerk, start=self.start
        )

    def _check_ways(self, *ways: tuple[str, ...]) -> None:
        """Refuse a curve that is given in no way, in two, or with keys of another way."""
        _one_of(self, *ways)
        for key, others in _WITH.items():
            for name in others:
                if getattr(self, key) is None and getattr(self, name):
                    raise ValueError(f"expected {name} together with {key}, got it without")


class LengthCommand(_Curve):
    """A given deployed length as a function of time."""

    kind: Literal["length"]

    @model_validator(mode="after")
    def _move_or_table(self) -> LengthCommand:
        self._check_ways(_MOVE, _TABLE)
        return self

    def build(self) -> model.Command:
        return self.curve()


class SpeedCommand(Section):
    """A constant speed of payout or of retrieval, or a table of times and of one of them."""

    kind: Literal["speed"]
    payout: Speed | None = None
    retrieval: Speed | None = None
    times: Table[Time] | None = None
    payouts: Table[Speed] | None = None
    retrievals: Table[Speed] | None = None

    @model_validator(mode="after")
    def _one_speed(self) -> SpeedCommand:
        _one_of(self, ("payout",), ("retrieval",), ("times", "payouts"), ("times", "retrievals"))
        return self

    def build(self) -> model.Command:
        if self.payout is not None:
            return model.Speed(payout=self.payout)
        if self.retrieval is not None:
            return model.Speed(retrieval=self.retrieval)
        if self.payouts is not None:
            return model.Speed(payout=(self.times, self.payouts))
        return model.Speed(retrieval=(self.times, self.retrievals))


class ImpedanceCommand(_Curve):
    """A spring and a damper on the deployed length, which may move."""

    kind: Literal["impedance"]
    length: Length | None = None
    stiffness: Stiffness
    damping: Damping = 0.0

    @model_validator(mode="after")
    def _rest_or_move_or_table(self) -> ImpedanceCommand:
        self._check_ways(("length",), _MOVE, _TABLE)
        return self

    def build(self) -> model.Command:
        return model.Impedance(self.curve() if self.length is None else self.length, self.stiffness, self.damping)


def _one_of(section: Section, *ways: tuple[str, ...]) -> None:
    """Refuse a section that gives not exactly one of these sets of keys."""
    names = list(dict.fromkeys(name for way in ways for name in way))
    given = [name for name in names if getattr(section, name) is not None]
    if set(given) not in [set(way) for way in ways]:
        *before, last = (_and(way) for way in ways)
        expected = f"either {before[0]}, or {last}" if len(before) == 1 else f"{', '.join(before)} or {last}"
        raise ValueError(f"expected {expected}, got {' and '.join(given) or 'neither'}")


def _and(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


Command = Annotated[
    LockedCommand | FreeCommand | TorqueCommand | BrakeCommand | LengthCommand | SpeedCommand | ImpedanceCommand,
    Field(discriminator="kind"),
]
