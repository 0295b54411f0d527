"""A system in motion that is put into other states, for those who march it otherwise."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from tautline import errors
from tautline.engine.network.health import NetworkHealth
from tautline.engine.network.motion import NetworkInMotion
from tautline.engine.turns import Turns
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import BEGIN
from tautline.model.command import Command
from tautline.model.system.state import State


class PlacedNetwork(NetworkInMotion):
    """A system whose motion can be copied, and go on from another state."""

    status: str
    _event: str

    @property
    def halvings(self) -> int:
        """How often the latest base step was halved."""
        return int(self.arrays.clock[data.LEVEL])

    @property
    def network(self) -> kernels.Network:
        """The system as the kernels have it."""
        return self._network

    def task(self, until: float) -> kernels.Network:
        """The system as the kernels have it, for those who march otherwise; motions are there up to a time (s)."""
        self._lower(0.0, until)
        return self._network

    def go_on_from(self, state: State, time: float) -> None:
        """Go on from another state at another time (s), under the commands that were given at the start of the run.

        Bodies that are held are where the state says, and their paths are those of the run.
        """
        self.turns.check()
        self.status, self._event = errors.STATUS_NAMES[errors.RUNNING], ""
        self.arrays.place(self.system, state)
        self.arrays.totals[data.T_START] = time
        if self._changed:
            self._lower(time, time)
        self.call(BEGIN, time)
        for name in self._commands:
            self._lead(name, time)

    def follow(self, name: str, command: Command, origin: tuple[float, float], shortest: float) -> None:
        """Have a command that was given at a time, with a length out, to a reel that retrieves to a length."""
        self._commands[name], self._origins[name], self._shortest[name] = command, origin, shortest
        self._started, self._changed = True, True

    def lead(self, name: str, time: float, place: Any, velocity: Any) -> None:
        """Have a held body move from a place (m) with a velocity (m/s) since a time (s)."""
        table = np.zeros((13, 1))
        table[0], table[1::4, 0], table[2::4, 0] = time, place, velocity
        self._moves[name], self._changed = table, True

    def twin(self, until: float) -> Self:
        """An independent one in the same state, with nothing recorded; motions are there up to a time (s)."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.turns = Turns()
        other.arrays, other.health = copy.deepcopy(self.arrays), NetworkHealth()
        other.forget_records()
        other._changed = True
        other._lower(0.0, until)
        return other

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._times: list[data.Array] = []
        self._pieces: list[kernels.WholeSamples] = []
