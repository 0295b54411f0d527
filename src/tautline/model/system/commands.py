"""Commands of reels by the names of their lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.command import Command, as_command
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.system import System
from tautline.model.wording import near

Commands = Mapping[str, Command | float] | Command | float


def check_known(name: str, known: Mapping[str, Any], kind: str) -> None:
    """Refuse a name that no body or string has."""
    if name not in known:
        raise InputError(f"{kind}.{name}: no such name in the system{near(name, known)}")


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


def commands_by_name(system: System, commands: Any) -> dict[str, Command]:
    """Commands of reels by the names of their lines, from a dict, or from that of the only reel."""
    if commands is None:
        return {}
    if not isinstance(commands, Mapping):
        reels = [name for name, line in system.lines.items() if line.reel is not None]
        if len(reels) != 1:
            checks.refuse("command", f"a dict by the names of lines ({', '.join(system.lines)})", commands)
        commands = {reels[0]: commands}
    found: dict[str, Command] = {}
    for name, answer in commands.items():
        check_known(name, system.lines, "lines")
        found[name] = as_command(answer)
        needs_reel(name, system.lines[name], found[name])
    return found


def needs_reel(name: str, line: Line, command: Command) -> None:
    """Refuse a command for a string that has no reel."""
    if line.reel is None and not command.holds:
        raise InputError(f"commands.{name}: expected none for a string without a reel, got {type(command).__name__}")
