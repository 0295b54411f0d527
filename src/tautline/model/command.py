"""Commands of the drum as a whole: which there are, and when they may be given."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from numbers import Real
from typing import Any

from tautline.model import checks, commands
from tautline.model.commands.base import COMMANDS, Command, Drum
from tautline.model.commands.brake import Brake
from tautline.model.commands.held import Free, Locked
from tautline.model.commands.impedance import Impedance
from tautline.model.commands.length import Length
from tautline.model.commands.speed import Speed
from tautline.model.commands.torque import Torque
from tautline.model.description import fields_of
from tautline.model.wording import either

__all__ = [
    "COMMANDS",
    "Brake",
    "Command",
    "Drum",
    "Free",
    "Impedance",
    "Length",
    "Locked",
    "Speed",
    "Torque",
    "as_command",
    "check_command",
]

for _file in pkgutil.iter_modules(commands.__path__):  # each adds its commands to COMMANDS
    import_module(f"{commands.__name__}.{_file.name}")


def as_command(given: Any) -> Command:
    """A command as it is; a number is a torque (N m)."""
    return given if isinstance(given, Command) else Torque(given)


def check_kind(command: Any, *others: str) -> None:
    """Refuse what is neither a command nor a torque; others that are taken stand in the message."""
    if not isinstance(command, Command | Real) or isinstance(command, bool):
        names = [f"{kind.__name__}({'...' if fields_of(kind) else ''})" for kind in COMMANDS.values()]
        checks.refuse("command", either([*names, *others]), command)


def check_command(command: Command, reel_speed: float) -> None:
    """Refuse a lock on a reel that moves."""
    if command.holds and reel_speed != 0.0:
        checks.refuse("State.reel_speed", "0 with a locked reel", reel_speed)
