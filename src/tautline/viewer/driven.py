"""A simulation in real time as the viewer drives it: reels by the names of their lines, bodies by theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.simulation import Simulation
from tautline.model.body import RigidBody
from tautline.model.command import Command, Locked, Speed, Torque
from tautline.model.rest.statics import holding_torque
from tautline.model.system.case import Case
from tautline.results.values import Values
from tautline.viewer.carrying import pull_at_rest
from tautline.viewer.subject import DrawnLine, of_system

RAMP = 0.25  # s, to another speed of a reel, at least
BRAKING = 8.0  # m/s^2, of a drum that is locked while it turns fast
SMOOTHED = 2.0  # s over which the pull at a reel is averaged where no formula gives it at rest


class Sight(NamedTuple):
    """What the scene is laid out by before anything has moved."""

    nodes: Array  # (nodes, 3), at the start
    box: Array  # around what will move, as far as can be told
    pulls: Mapping[str, float]  # at the reels, for scales (N)


def ramp_to(speed: float, since: float, before: float) -> Speed:
    """A speed that is reached within a short time: a reel that jumped would jerk at its line."""
    within = max(RAMP, abs(speed - before) / BRAKING)
    return Speed(retrieval=((since, since + within), (before, speed)))


class Driven:
    """A simulation at the start of a case, marched from sample to sample while its commands change."""

    def __init__(self, case: Case) -> None:
        self.simulation = Simulation.from_case(case)
        self.subject = of_system(self.simulation.system)
        reels = [line.name for line in self.subject.lines if line.mount is not None]
        self.commands: dict[str, Command] = {name: case.commands.get(name, Locked()) for name in reels}
        self._stopping: dict[str, Command] = {}
        self._begun: Any = None  # the backend whose first sample was seen
        self._tensions = self._start_tensions(self.values())
        self._seen = self.simulation.time

    def values(self) -> Values:
        """Variables of the present state."""
        return self.simulation.backend.present_values()

    def march(self, duration: float, interval: float, record: bool) -> Values:
        """Move on under the commands; variables of a sample each interval, fewer where an event ends the motion."""
        backend: Any = self.simulation.backend  # its samples are of its own kind
        rows = backend.begin(self.commands, duration, interval)
        if backend is not self._begun:
            backend.first_sample()
            self._begun = backend
        samples = backend.march(rows, backend.sampling(interval), record)
        found: Values = backend.values(samples) if len(samples[0]) else self.values()
        kept = math.exp((self._seen - self.simulation.time) / SMOOTHED)
        self._seen = self.simulation.time
        self._tensions = kept * self._tensions + (1.0 - kept) * self._start_tensions(found)
        self._hold_stopped()
        return found

    @staticmethod
    def _start_tensions(values: Values) -> Array:
        found: Array = values["start_tension"][-1]
        return found

    def _hold_stopped(self) -> None:
        """Hold the drums that have come to rest."""
        for name, ramp in list(self._stopping.items()):
            if self.commands[name] is not ramp:
                del self._stopping[name]
            elif self.reel_speed(name) == 0.0:
                self.commands[name] = Locked()

    # -- reels ---------------------------------------------------------------------------------------------

    def reel_speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        return self.simulation.lines[name].speed

    def mode(self, name: str) -> str:
        """What a drum does, as a word; one that is being stopped counts as locked."""
        command = self.commands[name]
        return "locked" if command is self._stopping.get(name) else type(command).__name__.lower()

    def torque(self, name: str) -> float:
        """Torque that a drum is given; 0 where it is not driven by one (N m)."""
        command = self.commands[name]
        return float(np.interp(self.simulation.time, *command.torques())) if isinstance(command, Torque) else 0.0

    def lock(self, name: str) -> str:
        """Brake a drum and hold it; a sentence, if it turned."""
        speed = self.reel_speed(name)
        if speed == 0.0:
            self.commands[name] = Locked()
            return ""
        self.commands[name] = self._stopping[name] = ramp_to(0.0, self.simulation.time, speed)
        within = max(RAMP, abs(speed) / BRAKING)
        which = f"of {name} " if len(self.commands) > 1 else ""
        return f"the drum {which}is stopped from {abs(speed):.2g} m/s within {within:.2g} s"

    def deployed(self) -> dict[str, float]:
        """Unstretched lengths of the lines that are out (m)."""
        return {name: line.deployed for name, line in self.simulation.lines.items()}

    def hold(self, name: str) -> float:
        """Torque that holds the drum against what hangs on it, or against the tension of late (N m)."""
        system = self.simulation.system
        pull = pull_at_rest(system, name, self.deployed())
        line, reeled = system.lines[name], self.simulation.lines[name].reeled_length
        tension = max(0.0, float(self._tensions[list(system.lines).index(name)])) if pull is None else abs(pull)
        return holding_torque(system, line, reeled, tension, float(line.string.strain(tension)))

    # -- bodies --------------------------------------------------------------------------------------------

    def strike(self, name: str, impulse: Array) -> None:
        """Apply an impulse to a body at its center of mass (N s)."""
        self.simulation.bodies[name].strike(impulse)

    def center(self, name: str, values: Values) -> Array:
        """Center of mass of a body, in the last of some samples."""
        found: Array = values["body_position"][-1, list(self.subject.bodies).index(name)]
        return found

    def mass(self, name: str) -> float:
        """Mass of a body that is free (kg)."""
        body = self.subject.bodies[name]
        assert body is not None
        return body.mass

    def steer(self, name: str, velocity: Array, values: Values) -> None:
        """Let the reels whose lines hold a body move it with a velocity, as if the lines were straight."""
        body = list(self.subject.bodies).index(name)
        for reel, line in self.reels_that_hold(name).items():
            nodes = values["position"][-1, line.nodes]
            chord = nodes[-1] - nodes[0] if line.ends[1] == body else nodes[0] - nodes[-1]
            speed = -float(chord @ velocity) / max(float(np.linalg.norm(chord)), 1e-9)
            self.commands[reel] = ramp_to(speed, self.simulation.time, self.reel_speed(reel))

    def reels_that_hold(self, name: str) -> dict[str, DrawnLine]:
        """Lines with a reel between a body and something whose place is given, by their names."""
        body = list(self.subject.bodies).index(name)
        return {
            x.name: x
            for x in self.subject.lines
            if x.mount is not None and body in x.ends and not self._held.isdisjoint(x.ends)
        }

    # -- the scene -----------------------------------------------------------------------------------------

    def sight(self) -> Sight:
        """What the scene is laid out by, at the start."""
        values, system, out = self.values(), self.simulation.system, self.deployed()
        box = self.subject.box(values)
        assert box is not None
        spare = 0.1 * float(np.linalg.norm(box[1] - box[0]))
        boxes = [box + spare * np.array([[-1.0], [1.0]])]
        free = sum(body.mass for body in system.bodies.values() if isinstance(body, RigidBody))
        mass = free + sum(line.string.density * out[name] for name, line in system.lines.items())
        pulls = {}
        for line in self.subject.lines:
            if line.name not in system.lines:  # a span behind a sheave
                continue
            pull = pull_at_rest(system, line.name, out)
            # no reel holds more than all there is, at rest; with little gravity as if it were 1 m/s^2
            scale = mass * max(self.subject.gravity, 1.0) if pull is None else max(abs(pull), mass)
            if line.name in self.commands:
                pulls[line.name] = scale
            if pull is not None and line.ends[0] in self._held:
                start = values["position"][0, line.nodes][0]
                boxes.append(start + self._swing(out[line.name] * (1.0 + 0.4 * float(line.string.strain(2.5 * scale)))))
        low, high = np.array([x[0] for x in boxes]).min(axis=0), np.array([x[1] for x in boxes]).max(axis=0)
        return Sight(values["position"][0], np.stack([low, high]), pulls)

    @property
    def _held(self) -> set[int | None]:
        """Numbers of the bodies whose place is given, and None for a point."""
        return {None, *(k for k, x in enumerate(self.subject.bodies.values()) if x is None)}

    def _swing(self, length: float) -> Array:
        """Box in which a line of a length swings, from its start: as deep as it hangs, and wide."""
        depth = 1.1 * length + 2.0 * max(self.subject.reach(), default=0.0)
        return np.array([[-0.35 * depth, -0.35 * depth, -0.1 * depth], [0.35 * depth, 0.35 * depth, depth]])
