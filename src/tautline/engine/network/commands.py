"""What the reels of a network can follow."""

from __future__ import annotations

from tautline.engine import lowering
from tautline.errors import InputError
from tautline.model.command import Command, check_command
from tautline.model.system.parts import Line


def check_given(
    name: str, command: Command, line: Line, now: tuple[float, float, float], order: int, started: bool
) -> None:
    """Refuse a command that a reel cannot follow from now on: at this time, with this length out, at this speed."""
    time, deployed, speed = now
    try:
        if started and command.holds and speed != 0.0:
            raise InputError(
                f"command: expected a drum that stands for Locked, got one that moves with {speed:.3g} m/s; "
                "stop_reel holds it at once, and a Speed or Length slows it down"
            )
        check_command(command, speed)
        assert line.reel is not None
        lowering.check_command(command, order, "symmetric", speed, line.reel)
        command.check_start(time, deployed, speed)
    except InputError as error:
        raise InputError(f"lines.{name}: {error}") from None
