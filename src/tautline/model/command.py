"""Commands of the drum as a whole: which there are, and when they may be given."""

from __future__ import annotations

from typing import Any

from tautline.errors import InputError
from tautline.model import checks, profile
from tautline.model.commands.brake import Brake
from tautline.model.commands.held import Free, Locked
from tautline.model.commands.impedance import Impedance
from tautline.model.commands.length import Length
from tautline.model.commands.speed import Speed
from tautline.model.commands.torque import Torque

__all__ = [
    "COMMANDS",
    "Brake",
    "Command",
    "Free",
    "Impedance",
    "Length",
    "Locked",
    "PrescribedMotion",
    "Speed",
    "Torque",
    "check_command",
    "check_start",
    "shortest_commanded",
]

# A length to lead from counts as the present one within this part of the string.
SAME_LENGTH = 1e-9

Command = Locked | Free | Torque | Brake | Length | Speed | Impedance
# Commands with a curve in time.
PrescribedMotion = Length | Speed
COMMANDS: dict[str, type] = {
    "locked": Locked,
    "free": Free,
    "torque": Torque,
    "brake": Brake,
    "length": Length,
    "speed": Speed,
    "impedance": Impedance,
}


def check_command(command: Any, reel_speed: float) -> None:
    """Refuse what is no command, and a lock on a reel that moves."""
    if not isinstance(command, Command):
        checks.refuse(
            "command", "Locked(), Free(), Torque(...), Brake(...), Length(...), Speed(...) or Impedance(...)", command
        )
    if isinstance(command, Locked) and reel_speed != 0.0:
        checks.refuse("State.reel_speed", "0 with a locked reel", reel_speed)


def check_start(command: Command, time: float, length: float, reel_speed: float) -> None:
    """Refuse a motion that does not begin where the string is."""
    follower = command.length if isinstance(command, Impedance) else command
    if isinstance(follower, Length) and follower.target is not None and abs(reel_speed) > SAME_LENGTH:
        checks.refuse("State.reel_speed", "0 at the start of Length.to(...)", reel_speed)
    if isinstance(command, Length) and command.target is None:
        given = profile.values_at(command.curve(time, length), time)[0]
        if abs(given - length) > SAME_LENGTH * max(1.0, length):
            raise InputError(
                f"Length: expected the present deployed length of {length:.9g} m at t = {time:g} s, got {given:.9g} m"
            )


def shortest_commanded(command: Command, length: float, time: float = 0.0) -> float | None:
    """Least deployed length (m) that a command leads to by its target or table; None if it names none.

    A retrieval must not be taken for complete before this length is reached. `Speed` leads to a shortest length only
    if its table ends without retrieval, and never with a motion; commands that leave the length to the forces never do.

    Parameters
    ----------
    command : Command
    length : float
        What is deployed when the command is given (m).
    time : float
        When that is (s).
    """
    if not isinstance(command, Length | Speed | Impedance):
        return None
    follower = command.length if isinstance(command, Impedance) else command
    if isinstance(follower, Length) and follower.motion is not None:
        least = (length if follower.mean is None else follower.mean) - follower.motion.harmonics().reach
    elif isinstance(follower, Speed) and follower.motion is not None:
        return None
    else:
        least = profile.least(command.curve(time, length), time)
    return least if least > 0.0 else None
