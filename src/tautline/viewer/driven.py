"""A simulation in real time as the viewer drives it: reels by the names of their lines, bodies by theirs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.simulation import Simulation
from tautline.model.rest.statics import torque_against
from tautline.model.system.case import Case
from tautline.model.system.commands import END_REEL, REEL
from tautline.model.system.system import System
from tautline.quantities import value
from tautline.results.values import Values
from tautline.viewer.carriers import carriers_of
from tautline.viewer.carrying import pull_at_rest
from tautline.viewer.drives import GIVEN, SHORTEST, Drive, driven_parts
from tautline.viewer.subject import DrawnLine, of_system

FASTEST = 0.2  # of the deployed length a second
SMOOTHED = 2.0  # s over which the pull at a reel is averaged where no formula gives it at rest


class Sight(NamedTuple):
    """Sizes by which the scene is laid out before anything has moved."""

    nodes: Array  # (nodes, 3), at the start
    box: Array  # around what will move, as far as can be told
    pulls: Mapping[str, float]  # at the reels, for scales (N)
    weight: float  # of all there is, as if there were some gravity (N)


class Driven:
    """A simulation at the start of a case, marched from sample to sample while its commands change."""

    def __init__(self, case: Case) -> None:
        self.simulation = Simulation.from_case(case)
        self.subject = of_system(self.simulation.system)
        least = None if case.run.minimum_length is None else float(case.run.minimum_length)
        self.drives = {
            name: Drive(self.simulation, name, command, self._fastest(name), least)
            for name, command in driven_parts(case, self.simulation).items()
        }
        self._spans = list(enumerate_spans(self.simulation.system))
        self._moments = 2 * [(self.simulation.time, self._span_lengths(self.values()))]
        start = self._moments[0][1]
        self._shortest = np.full_like(start, GIVEN * least) if least is not None else SHORTEST * start
        self.carriers = carriers_of(self.simulation)
        self._begun: Any = None  # the runner whose first sample was seen
        self._tensions = self._end_tensions(self.values())
        self._seen = self.simulation.time

    def _fastest(self, name: str) -> float:
        """Greatest speed that a drum or sheave is given (m/s)."""
        return round_up(FASTEST * self.simulation.backend.deployed(name))

    def values(self) -> Values:
        """Variables of the present state."""
        return self.simulation.runner.present_values()

    def march(self, duration: float, interval: float, record: bool) -> Values:
        """Move on under the commands; variables of a sample each interval, fewer where an event ends the motion."""
        runner = self.simulation.runner
        rows = runner.begin({name: drive.command for name, drive in self.drives.items()}, duration, interval)
        if runner is not self._begun:
            runner.first_sample()
            self._begun = runner
        samples = runner.march(rows, runner.sampling(interval), record)
        found: Values = runner.values(samples) if len(samples[0]) else self.values()
        kept = math.exp((self._seen - self.simulation.time) / SMOOTHED)
        self._seen = self.simulation.time
        self._moments = [self._moments[-1], (self._seen, self._span_lengths(found))]
        self._tensions = kept * self._tensions + (1.0 - kept) * self._end_tensions(found)
        return found

    @staticmethod
    def _span_lengths(values: Values) -> Array:
        """Unstretched lengths of the spans of all lines over sheaves."""
        found: Array = values["span_length"][-1] if "span_length" in values else np.zeros(0)
        return found

    @staticmethod
    def _end_tensions(values: Values) -> Array:
        """Tensions at the starts of all lines, and at their ends."""
        return np.stack([values["start_tension"][-1], values["end_tension"][-1]])

    def watch(self, duration: float) -> list[str]:
        """Look after the drives before a piece of the motion; sentences on those that were stopped."""
        said = [drive.watch(duration) for drive in self.drives.values()]
        return [text for text in (*said, *self._watch_spans()) if text]

    def rest(self) -> list[str]:
        """Look after the drives behind a piece of the motion; sentences on those that have come to the end."""
        return [text for drive in self.drives.values() if (text := drive.rest())]

    def _watch_spans(self) -> Iterator[str]:
        """Stop what drives a line over sheaves before one of its spans is too short."""
        time, lengths = self._moments[-1]
        if len(lengths) == 0 or time == self._moments[0][0]:
            return
        rates = (lengths - self._moments[0][1]) / (time - self._moments[0][0])
        for name, k in self._spans:
            for drive in self.drives.values():
                if drive.line == name and drive.nears(lengths[k] - self._shortest[k], float(rates[k])):
                    yield f"{drive.name}: stopped before the blocks meet, with a span of {value(lengths[k], 'm', 3)}"

    def deployed(self) -> dict[str, float]:
        """Unstretched lengths of the lines that are out (m)."""
        return {name: line.deployed for name, line in self.simulation.lines.items()}

    def hold(self, name: str) -> float:
        """Torque that holds the drum against what hangs on it, or against the tension of late (N m)."""
        system, drive = self.simulation.system, self.drives[name]
        if not drive.is_drum:
            return 0.0
        pull = pull_at_rest(system, name, self.deployed()) if drive.part == REEL else None
        line, reeled = system.lines[drive.line], self.simulation.backend.reeled(name)
        tensions = self._tensions[int(drive.part == END_REEL)]
        tension = max(0.0, float(tensions[list(system.lines).index(drive.line)])) if pull is None else abs(pull)
        return torque_against(system, line, reeled, tension, drive.part)

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
            self.drives[reel].wind(speed)

    def reels_that_hold(self, name: str) -> dict[str, DrawnLine]:
        """Lines with a reel between a body and something whose place is given, by their names."""
        body = list(self.subject.bodies).index(name)
        return {
            x.name: x
            for x in self.subject.lines
            if x.name in self.drives and body in x.ends and not self._held.isdisjoint(x.ends)
        }

    # -- the scene -----------------------------------------------------------------------------------------

    def sight(self) -> Sight:
        """Sizes by which the scene is laid out, at the start."""
        values, system, out = self.values(), self.simulation.system, self.deployed()
        box = self.subject.box(values)
        assert box is not None
        spare = 0.1 * float(np.linalg.norm(box[1] - box[0]))
        boxes = [box + spare * np.array([[-1.0], [1.0]])]
        free = sum(body.mass for body in system.free_bodies.values())
        mass = free + sum(line.string.density * out[name] for name, line in system.lines.items())
        pulls = {}
        for line in self.subject.lines:
            if line.name not in system.lines:  # a span behind a sheave
                continue
            pull = pull_at_rest(system, line.name, out)
            # no reel holds more than all there is, at rest; with little gravity as if it were 1 m/s^2
            scale = mass * max(self.subject.gravity, 1.0) if pull is None else max(abs(pull), mass)
            if line.name in self.drives:
                pulls[line.name] = scale
            if pull is not None and line.ends[0] in self._held:
                start = values["position"][0, line.nodes][0]
                boxes.append(start + self._swing(out[line.name] * (1.0 + 0.4 * float(line.string.strain(2.5 * scale)))))
        low, high = np.array([x[0] for x in boxes]).min(axis=0), np.array([x[1] for x in boxes]).max(axis=0)
        return Sight(values["position"][0], np.stack([low, high]), pulls, mass * max(self.subject.gravity, 1.0))

    @property
    def _held(self) -> set[int | None]:
        """Numbers of the bodies whose place is given, and None for a point."""
        return {None, *(k for k, x in enumerate(self.subject.bodies.values()) if x is None)}

    def _swing(self, length: float) -> Array:
        """Box in which a line of a length swings, from its start: as deep as it hangs, and wide."""
        free = [
            points for body, (points, _) in zip(self.subject.bodies.values(), self.subject.shapes, strict=True) if body
        ]
        depth = 1.1 * length + 2.0 * max((float(np.linalg.norm(x, axis=1).max()) for x in free), default=0.0)
        return np.array([[-0.35 * depth, -0.35 * depth, -0.1 * depth], [0.35 * depth, 0.35 * depth, depth]])


def enumerate_spans(system: System) -> Iterator[tuple[str, int]]:
    """Lines over sheaves, a time for each of their spans, with the number of the span among all."""
    names = (name for name, line in system.lines.items() if line.is_reeved for _ in range(line.spans))
    return ((name, k) for k, name in enumerate(names))


def round_up(x: float) -> float:
    """To one of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= x))
