"""Requests of pages to drums and bodies of a live simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tautline.model import checks
from tautline.model.command import Free, Torque
from tautline.viewer.driven import Driven
from tautline.viewer.drives import Drive
from tautline.viewer.hands import Hands
from tautline.viewer.messages import check_size, chosen, switch, within

Message = Mapping[str, Any]


class Requests:
    """Actions by the type of a message; InputError says why one cannot be.

    Parameters
    ----------
    driven : Driven
    hands : Hands
    limits : dict
        `limits_of` the same.
    untouched : set of str
        Names of drives that nobody has driven; those that somebody drives leave it.
    """

    def __init__(self, driven: Driven, hands: Hands, limits: Mapping[str, Any], untouched: set[str]) -> None:
        self._driven, self._hands, self._limits, self._untouched = driven, hands, limits, untouched
        self.acts: dict[str, Callable[[Message], None]] = {
            "lock": lambda m: self._drive(m).lock(),
            "free": lambda m: self._drive(m).give(Free()),
            "torque": self._torque,
            "speed": self._speed,
            "length": self._length,
            "pull": self._pull,
            "steer": self._steer,
            "carry": self._carry,
            "impulse": self._impulse,
        }

    def _reel(self, message: Message) -> str:
        """The drive that a message is for, by the name of its line; the only one if it names none."""
        return chosen("line", message, self._limits["reels"])

    def _drive(self, message: Message) -> Drive:
        """Drive by a name, which is a hand's from now on."""
        name = self._reel(message)
        self._untouched.discard(name)
        return self._driven.drives[name]

    def _asked(self, message: Message, kind: str) -> float:
        return within("value", message.get("value"), *self._limits["reels"][self._reel(message)][kind])

    def _torque(self, message: Message) -> None:
        torque = self._asked(message, "torque")
        self._drive(message).give(Torque(torque))

    def _speed(self, message: Message) -> None:
        """Take rope in at a speed; for a while, if it is that of a button that is held."""
        speed, held = self._asked(message, "speed"), switch(message.get("held", False), "held")
        drive = self._drive(message)
        if held:
            self._hands.hold(drive.name, speed)
        else:
            drive.wind(speed)

    def _length(self, message: Message) -> None:
        """Go to a deployed length, at the speed that is given or a moderate one."""
        limits, length = self._limits["reels"][self._reel(message)], self._asked(message, "length")
        speed = within("speed", message.get("speed", limits["cruise"]), 1e-3 * limits["cruise"], limits["speed"][1])
        self._drive(message).go_to(length, speed)

    def _place(self, message: Message) -> Any:
        """A place in a message, or None."""
        to = message.get("to")
        return None if to is None else checks.array("to", to, (3,), "m")

    def _pull(self, message: Message) -> None:
        """Pull a body to a place, or let it go."""
        self._hands.pull(chosen("body", message, self._limits["impulses"]), self._place(message))

    def _carry(self, message: Message) -> None:
        """Let a body whose motion is given go to a place, or come to rest."""
        self._hands.carry(chosen("body", message, self._limits["carried"]), self._place(message))

    def _steer(self, message: Message) -> None:
        """Let the reels that hold a body move it."""
        name = chosen("body", message, self._limits["steered"])
        velocity = checks.array("velocity", message.get("velocity"), (3,), "m/s")
        check_size("velocity", velocity, self._limits["steered"][name], "m/s")
        self._untouched.clear()
        self._hands.steer(name, velocity)

    def _impulse(self, message: Message) -> None:
        size = checks.array("impulse", message.get("impulse"), (3,), "N s")
        name = chosen("body", message, self._limits["impulses"])
        check_size("impulse", size, self._limits["impulses"][name], "N s")
        self._driven.strike(name, size)
