"""Commands of reels and sheaves by the names of their lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.command import Command, Free, Locked, as_command
from tautline.model.stacking import number_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.sheaves import Pin, Sheave
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.model.wording import no_such

Commands = Mapping[str, Command | float] | Command | float


def check_known(name: str, known: Mapping[str, Any], kind: str) -> None:
    """Refuse a name that no body or string has."""
    if name not in known:
        raise InputError(f"{kind}.{name}: {no_such('name in the system', name, known)}")


def check_free(system: System, name: str) -> None:
    """Refuse a name that no free body has."""
    check_known(name, system.bodies, "bodies")
    if isinstance(system.bodies[name], Kinematic):
        raise InputError(f"bodies.{name}: expected a body that is free, got one whose motion is given")


def check_kinematic(system: System, name: str) -> None:
    """Refuse a name that no body whose motion is given has."""
    check_known(name, system.bodies, "bodies")
    if not isinstance(system.bodies[name], Kinematic):
        raise InputError(f"bodies.{name}: expected a body whose motion is given, got one that is free")


def check_moment(system: System, name: str, moment: Any) -> None:
    """Refuse a moment on a body that cannot turn."""
    body = system.bodies[name]
    if isinstance(body, RigidBody) and body.is_point and np.any(moment):
        checks.refuse("moment", "zero for a point mass", list(moment))


def commands_by_name(system: System, commands: Any) -> dict[str, Command]:
    """Commands of reels by the names of their lines, from a dict, or from that of the only reel."""
    if commands is None:
        return {}
    driven = drives(system)
    if not isinstance(commands, Mapping):
        reels = [name for name in driven if name in system.lines]
        reels = reels or [name for name, kind in driven.items() if kind != SHEAVE]
        if len(reels) != 1:
            if not driven:
                checks.refuse("command", "none, as there is no reel", commands)
            checks.refuse("command", f"a dict by the names of lines ({', '.join(system.lines)})", commands)
        commands = {reels[0]: commands}
    found: dict[str, Command] = {}
    for name, answer in commands.items():
        check_commanded(name, system)
        found[name] = as_command(answer)
        if name not in driven:
            _check_held(name, system, found[name])
    return found


# Kinds of what is commanded.
REEL, END_REEL, SHEAVE = "reel", "end_reel", "sheave"


class Place(NamedTuple):
    """Place of what a command drives: a reel or a sheave of a line."""

    line: str
    part: str  # "reel", "end_reel" or the name of a sheave

    @property
    def path(self) -> tuple[str, ...]:
        """Path of the section of its command in a tree of keys."""
        keys = {REEL: ("command",), END_REEL: ("end_command",)}
        return ("lines", self.line, *keys.get(self.part, ("over", self.part, "command")))


def place_of(name: str) -> Place:
    """Place that the name of a command stands for: a line, or a line and a sheave or "end_reel"."""
    line, dot, part = name.partition(".")
    return Place(line, part if dot else REEL)


class Feed(NamedTuple):
    """Length that a reel or sheave feeds, and how fast it takes rope in."""

    deployed: float  # m: all spans for a reel at the start, else the span behind a sheave, or the last one
    speed: float  # m/s, positive as rope moves to the drum, or to the start of the line


def feed_of(system: System, state: State, place: Place) -> Feed:
    """Deployed length and speed of a reel or sheave in a state."""
    own, lengths = state.lines[place.line], state.lengths_of(system, place.line)
    if place.part == REEL:
        return Feed(number_of(lengths.sum()), own.reel_speed)
    if place.part == END_REEL:
        return Feed(number_of(lengths[-1]), own.end_reel_speed)
    j = list(system.lines[place.line].over).index(place.part)
    return Feed(number_of(lengths[j + 1]), number_of(own.wheel_speeds[j]))


def drives(system: System) -> dict[str, str]:
    """Kinds of what can be commanded, by name; a shaft is commanded by the name of its first reel."""
    followers = {place for places in system.shafts().values() for place in places[1:]}
    found: dict[str, str] = {}
    for name, line in system.lines.items():
        if line.reel is not None and (name, REEL) not in followers:
            found[name] = REEL
        wheels = {f"{name}.{key}": SHEAVE for key, thing in line.over.items() if isinstance(thing, Sheave)}
        found |= wheels
        if line.end_reel is not None and (name, END_REEL) not in followers:
            found[f"{name}.{END_REEL}"] = END_REEL
    return found


def command_of(commands: Mapping[str, Command], name: str, kind: str) -> Command:
    """Command of a reel or sheave; those without one are locked, sheaves free."""
    return commands.get(name, Free() if kind == SHEAVE else Locked())


def check_commanded(name: str, system: System) -> None:
    """Refuse the name of a command that stands for no line and for nothing that a line runs over."""
    if not isinstance(name, str) or "." not in name:
        for key, own in system.lines.items() if isinstance(name, str) and name not in system.lines else ():
            if name in own.over:
                raise InputError(f"lines.{name}: no such name in the system; did you mean '{key}.{name}'?")
        check_known(name, system.lines, "lines")
        return
    place = place_of(name)
    check_known(place.line, system.lines, "lines")
    line = system.lines[place.line]
    known = {**line.over, **({END_REEL: None} if line.end_reel is not None else {})}
    if place.part not in known:
        raise InputError(f"lines.{place.line}.over.{place.part}: {no_such('name in the line', place.part, known)}")


def _check_held(name: str, system: System, command: Command) -> None:
    """Refuse a command for what cannot be driven; what is fastened may be told to stay so."""
    place, kind = place_of(name), type(command).__name__
    line = system.lines[place.line]
    if isinstance(line.over.get(place.part), Pin):
        raise InputError(f"commands.{name}: expected none for a pin, which does not turn, got {kind}")
    if command.holds:
        return
    for shaft, (lead, *others) in system.shafts().items():
        if (place.line, place.part) in others:
            first = lead[0] if lead[1] == REEL else f"{lead[0]}.{END_REEL}"
            raise InputError(
                f"commands.{name}: expected none beside that of {first!r}, the first on the shaft {shaft!r}, got {kind}"
            )
    raise InputError(f"commands.{name}: expected none for a string without a reel, got {kind}")
