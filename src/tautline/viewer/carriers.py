"""Trolleys, jibs and other bodies whose motion is given, as a live simulation moves them: to a place, within limits."""

from __future__ import annotations

import numpy as np

from tautline.arrays import Array
from tautline.engine.simulation import Simulation
from tautline.model.system.parts import Kinematic

FAR = 0.75  # of the longest deployed line that it carries, to each side
FASTEST = 0.1  # of the same, a second
GENTLE = 0.05  # of gravity; on a line of 20 m a load then swings by 3 degrees
ALOFT = 4.0  # s to the greatest speed, where there is no weight
APPROACH = 1.0  # 1/s, of the speed over the distance left


class Carrier:
    """A body whose motion is given, and where it is to go."""

    def __init__(self, simulation: Simulation, name: str, longest: float) -> None:
        self._simulation, self.name = simulation, name
        gravity = float(simulation.system.gravity)
        self._home: Array = simulation.bodies[name].position
        self._far = FAR * longest
        self.fastest = FASTEST * longest
        self._acceleration = GENTLE * gravity if gravity > 0.0 else self.fastest / ALOFT
        self._velocity: Array | None = None  # while it is driven
        self._to: Array | None = None

    @property
    def busy(self) -> bool:
        """Whether its velocity changes."""
        return self._velocity is not None

    def go(self, to: Array | None) -> None:
        """Go towards a place, as near as the limits allow; None: come to rest."""
        self._to = None if to is None else np.clip(to, self._home - self._far, self._home + self._far)
        if self._velocity is None and to is not None:
            self._velocity = self._simulation.bodies[self.name].velocity

    def act(self, duration: float) -> None:
        """Give it the velocity of the next piece of the motion."""
        if self._velocity is None:
            return
        wanted = np.zeros(3)
        if self._to is not None:
            left = self._to - self._simulation.bodies[self.name].position
            distance = float(np.linalg.norm(left))
            # as fast as it can still stop
            speed = min(self.fastest, APPROACH * distance, (self._acceleration * distance) ** 0.5)
            wanted = speed * left / max(distance, 1e-9)
        change = wanted - self._velocity
        most = self._acceleration * duration
        self._velocity = self._velocity + change * min(1.0, most / max(float(np.linalg.norm(change)), 1e-12))
        self._simulation.bodies[self.name].move(self._velocity)
        if self._to is None and not self._velocity.any():
            self._velocity = None


def carriers_of(simulation: Simulation) -> dict[str, Carrier]:
    """Bodies whose motion is given and that carry lines, by name."""
    found = {}
    for name, body in simulation.system.bodies.items():
        carried = [simulation.lines[x].deployed for x, line in simulation.system.lines.items() if name in line.ends]
        if isinstance(body, Kinematic) and carried:
            found[name] = Carrier(simulation, name, max(carried))
    return found
