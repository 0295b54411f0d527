"""Actions of viewers while they hold a button: pull a body with a spring, steer or carry one, wind a drum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.results.values import Values
from tautline.viewer.driven import Driven

FREQUENCY = 4.0  # rad/s, of a body alone on the spring that pulls it
DAMPING = 0.7  # ratio to the critical one
HARDEST = 15.0  # m/s^2, of the pull
RENEWED = 60  # pieces after which what is not asked for again ends: its page may be gone


class Pull(NamedTuple):
    """A spring from a body's center of mass to a place in space."""

    body: str
    to: Array
    left: int  # pieces


class Steering(NamedTuple):
    """A velocity that reels are to give a body."""

    body: str
    velocity: Array
    left: int  # pieces


class Hands:
    """One pull and one steering at a time."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven
        self._pull: Pull | None = None
        self._steering: Steering | None = None
        self._left: dict[tuple[str, str], int] = {}  # pieces, of what is held
        self._before: tuple[float, Array] | None = None  # where the pulled body was, and when

    @property
    def busy(self) -> bool:
        carried = any(carrier.busy for carrier in self._driven.carriers.values())
        return carried or bool(self._left) or self._pull is not None or self._steering is not None

    def carry(self, body: str, to: Array | None) -> None:
        """Let a body whose motion is given go to a place for a while, or come to rest."""
        self._driven.carriers[body].go(to)
        self._renew(("carry", body), to is not None)

    def hold(self, drive: str, speed: float) -> None:
        """Let a drum take rope in at a speed for a while."""
        self._driven.drives[drive].wind(speed)
        self._renew(("hold", drive), speed != 0.0)

    def _renew(self, what: tuple[str, str], on: bool) -> None:
        """Let something go on for some pieces, or no longer."""
        self._left.pop(what, None)
        if on:
            self._left[what] = RENEWED

    def pull(self, body: str, to: Array | None) -> None:
        """Pull a body to a place for a while, or let it go."""
        if self._pull is None or self._pull.body != body:
            self._before = None
        self._pull = None if to is None else Pull(body, to, RENEWED)

    def steer(self, body: str, velocity: Array) -> None:
        """Give a body a velocity for a while, by the reels that hold it."""
        self._steering = Steering(body, velocity, RENEWED)

    def act(self, duration: float, values: Values) -> None:
        """Act on a piece of the motion that comes next; `values` are of the present."""
        if self._pull is not None:
            body, to, left = self._pull
            self._driven.strike(body, self._force(body, to, values) * duration)
            self._pull = Pull(body, to, left - 1) if left > 1 else None
        if self._steering is not None:
            body, velocity, left = self._steering
            self._driven.steer(body, velocity if left > 1 else np.zeros(3), values)
            self._steering = Steering(body, velocity, left - 1) if left > 1 else None
        for (what, name), pieces in list(self._left.items()):
            self._left[what, name] = pieces - 1
            if pieces <= 1:
                self._left.pop((what, name))
                self.hold(name, 0.0) if what == "hold" else self.carry(name, None)
        for carrier in self._driven.carriers.values():
            carrier.act(duration)

    def _force(self, body: str, to: Array, values: Values) -> Array:
        """Force of a spring with a damper, up to the hardest pull (N)."""
        place, time = self._driven.center(body, values), float(values["time"][-1])
        before, self._before = self._before, (time, place)
        velocity = (place - before[1]) / (time - before[0]) if before and before[0] < time else np.zeros(3)
        wanted = FREQUENCY**2 * (to - place) - 2.0 * DAMPING * FREQUENCY * velocity
        hard = float(np.linalg.norm(wanted)) / HARDEST
        force: Array = self._driven.mass(body) * wanted / max(1.0, hard)
        return force
