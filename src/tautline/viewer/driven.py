"""Simulations in real time as the viewer drives them: reels by the names of their lines, bodies by theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.chain import ChainSimulation
from tautline.engine.network import NetworkSimulation
from tautline.engine.samples import record_of_samples
from tautline.model.assembly.case import Case
from tautline.model.body import RigidBody
from tautline.model.case import ChainCase
from tautline.model.command import Command, Locked, Speed, Torque
from tautline.model.statics import guide_pull, holding_torque
from tautline.results.values import Values, values_of
from tautline.viewer.subject import Strand, Subject, of_assembly, of_chain

RAMP = 0.25  # s, to another speed of a reel, at least
BRAKING = 8.0  # m/s^2, of a drum that is locked while it turns fast
SMOOTHED = 2.0  # s over which the pull at a reel is averaged where no formula gives it at rest


class Sight(NamedTuple):
    """What the scene is laid out by before anything has moved."""

    nodes: Array  # (nodes, 3), at the start
    box: Array  # around what will move, as far as can be told
    pulls: Mapping[str, float]  # at the reels, for scales (N)


def ramp_to(speed: float, since: float, before: float) -> Speed:
    """A speed that is reached within a short time: a reel that jumped would jerk at the string."""
    within = max(RAMP, abs(speed - before) / BRAKING)
    return Speed(retrieval=((since, since + within), (before, speed)))


class Driven:
    """A simulation that is marched from sample to sample while its commands change."""

    simulation: ChainSimulation | NetworkSimulation
    subject: Subject
    commands: dict[str, Command]

    def __init__(self) -> None:
        self._stopping: dict[str, Command] = {}

    def _begin(self, duration: float, interval: float) -> int:
        """Take the commands; the number of samples."""
        raise NotImplementedError

    def values(self) -> Values:
        """Variables of the present state."""
        raise NotImplementedError

    def reel_speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        raise NotImplementedError

    def hold(self, name: str) -> float:
        """Torque that holds the drum against what hangs on it (N m)."""
        raise NotImplementedError

    def strike(self, name: str, impulse: Array, duration: float) -> None:
        """Apply an impulse to a body, at the latest within a duration of moving on."""
        raise NotImplementedError

    def march(self, duration: float, interval: float, record: bool) -> Values:
        """Move on under the commands; variables of a sample each interval, fewer where an event ends the motion."""
        rows = self._begin(duration, interval)
        samples: Any = self.simulation.march(rows, self.simulation.sampling(interval))  # of its own kind
        if record and len(samples[0]):
            self.simulation.keep(samples)
        found = self.simulation.values(samples) if len(samples[0]) else self.values()
        self._after(found)
        return found

    def _after(self, values: Values) -> None:
        """Hold the drums that have come to rest."""
        for name, ramp in list(self._stopping.items()):
            if self.commands[name] is not ramp:
                del self._stopping[name]
            elif self.reel_speed(name) == 0.0:
                self.commands[name] = Locked()

    def mode(self, name: str) -> str:
        """What a drum does, as a word; one that is being stopped counts as locked."""
        command = self.commands[name]
        return "locked" if command is self._stopping.get(name) else type(command).__name__.lower()

    def torque(self, name: str) -> float:
        """Torque that a drum is given; 0 where it is not driven by one (N m)."""
        command = self.commands[name]
        return float(np.interp(self.simulation.time, *command.torques())) if isinstance(command, Torque) else 0.0

    def lock(self, name: str) -> str:
        """Brake a drum and hold it; a remark, if it turned."""
        speed = self.reel_speed(name)
        if speed == 0.0:
            self.commands[name] = Locked()
            return ""
        self.commands[name] = self._stopping[name] = ramp_to(0.0, self.simulation.time, speed)
        within = max(RAMP, abs(speed) / BRAKING)
        return f"the drum {f'of {name} ' if name else ''}is stopped from {abs(speed):.2g} m/s within {within:.2g} s"

    def center(self, name: str, values: Values) -> Array:
        """Centre of mass of a body, in the last of some samples."""
        found: Array = self.subject.centers(values)[-1, list(self.subject.bodies).index(name)]
        return found

    def mass(self, name: str) -> float:
        """Mass of a body that is free (kg)."""
        body = self.subject.bodies[name]
        assert body is not None
        return body.mass

    def steer(self, name: str, velocity: Array, values: Values) -> None:
        """Let the reels whose lines hold a body move it with a velocity, as if the lines were straight."""
        body = list(self.subject.bodies).index(name)
        for reel, strand in self.reels_that_hold(name).items():
            nodes = values["position"][-1, strand.nodes]
            chord = nodes[-1] - nodes[0] if strand.ends[1] == body else nodes[0] - nodes[-1]
            speed = -float(chord @ velocity) / max(float(np.linalg.norm(chord)), 1e-9)
            self.commands[reel] = ramp_to(speed, self.simulation.time, self.reel_speed(reel))

    def reels_that_hold(self, name: str) -> dict[str, Strand]:
        """Lines with a reel between a body and something whose place is given, by their names."""
        body = list(self.subject.bodies).index(name)
        given = {None, *(k for k, x in enumerate(self.subject.bodies.values()) if x is None)}
        return {
            x.name: x
            for x in self.subject.strands
            if x.mount is not None and body in x.ends and not given.isdisjoint(x.ends)
        }


class DrivenChain(Driven):
    """A pendulum: one reel and one body, without names."""

    simulation: ChainSimulation

    def __init__(self, case: ChainCase) -> None:
        super().__init__()
        self.case = case
        self.simulation = ChainSimulation.from_case(case)
        self.subject = of_chain(self.simulation.pendulum)
        self.commands: dict[str, Command] = {"": case.command}

    def _begin(self, duration: float, interval: float) -> int:
        return self.simulation.begin(self.commands[""], duration, interval)

    def reel_speed(self, name: str) -> float:
        return self.simulation.reel_speed

    def hold(self, name: str) -> float:
        p, s = self.simulation.pendulum, self.simulation.reeled_length
        pull = abs(guide_pull(p, p.string.length - s))
        return float(holding_torque(p, s, float(p.string.strain(pull))))

    def strike(self, name: str, impulse: Array, duration: float) -> None:
        self.simulation.apply_impulse(impulse)

    def values(self) -> Values:
        sim = self.simulation
        return values_of(sim.pendulum, record_of_samples(np.array([sim.time]), sim.present_sample()))

    def sight(self) -> Sight:
        """What the scene is laid out by, at the start."""
        p, start = self.case.pendulum, self.case.state()
        X = p.string.length - start.reeled_length
        # at rest, or with little gravity that of 1 m/s^2
        pull = max(abs(guide_pull(p, X)), p.body.mass + p.string.density * X)
        reach = self.subject.reach()[0]
        # as deep as the string hangs, as wide as it swings from here; the page makes room where that was too little
        depth = 1.1 * X * (1.0 + 0.4 * float(p.string.strain(2.5 * pull))) + 2.0 * reach
        nodes = start.nodes  # from the guide
        wide = max(0.35 * depth, float(np.hypot(nodes[:, 0], nodes[:, 1]).max()) + reach)
        high = min(-0.1 * depth, float(nodes[:, 2].min()) - reach)
        guide = np.array(p.reel.guide_position)
        box = guide + np.array([[-wide, -wide, high], [wide, wide, depth]])
        return Sight(guide + nodes, box, {"": pull})


class DrivenNetwork(Driven):
    """An assembly: reels by the names of their lines, bodies by theirs."""

    simulation: NetworkSimulation

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.simulation = NetworkSimulation.from_case(case)
        self.subject = of_assembly(self.simulation.assembly)
        reels = [strand.name for strand in self.subject.strands if strand.mount is not None]
        self.commands: dict[str, Command] = {name: case.commands.get(name, Locked()) for name in reels}
        self._struck: set[str] = set()
        self._pulls = self._tensions(self.values())
        self._seen = self.simulation.time

    def _begin(self, duration: float, interval: float) -> int:
        rows = self.simulation.begin(self.commands, duration, interval)
        if not self.simulation.health.begun:
            self.simulation.first_sample()
        return rows

    def _after(self, values: Values) -> None:
        for name in self._struck:
            self.simulation.push(name)
        self._struck.clear()
        kept = math.exp((self._seen - self.simulation.time) / SMOOTHED)
        self._seen = self.simulation.time
        self._pulls = kept * self._pulls + (1.0 - kept) * self._tensions(values)
        super()._after(values)

    @staticmethod
    def _tensions(values: Values) -> Array:
        """At the starts of the lines (N)."""
        found: Array = values["start_tension"][-1]
        return found

    def reel_speed(self, name: str) -> float:
        return float(self.simulation.string(name)["reel_speed"])

    def hold(self, name: str) -> float:
        k, strand = self._strand(name)
        assert strand.mount is not None
        reeled = strand.string.length - float(self.simulation.string(name)["deployed"])
        return float(self._pulls[k] * strand.mount.reel.radius(reeled))

    def _strand(self, name: str) -> tuple[int, Strand]:
        return next((k, strand) for k, strand in enumerate(self.subject.strands) if strand.name == name)

    def strike(self, name: str, impulse: Array, duration: float) -> None:
        self.simulation.push(name, impulse / duration)
        self._struck.add(name)

    def values(self) -> Values:
        return self.simulation.values(self.simulation.present_sample(), np.array([self.simulation.time]))

    def sight(self) -> Sight:
        """What the scene is laid out by, at the start."""
        values, assembly = self.values(), self.simulation.assembly
        origins, reach = self.subject.origins(values)[0], np.array(self.subject.reach())[:, None]
        nodes = values["position"][0]
        place = np.concatenate([nodes, origins - reach, origins + reach])
        low, high = place.min(axis=0), place.max(axis=0)
        spare = 0.1 * float(np.linalg.norm(high - low))
        # no reel holds more than all there is, at rest; with little gravity as if it were 1 m/s^2
        free = sum(body.mass for body in assembly.bodies.values() if isinstance(body, RigidBody))
        lengths = values["unstretched_length"][0]
        lines = sum(line.string.density * x for line, x in zip(assembly.lines.values(), lengths, strict=True))
        pull = max(self.subject.gravity, 1.0) * float(free + lines)
        return Sight(nodes, np.stack([low - spare, high + spare]), dict.fromkeys(self.commands, pull))


def driven(case: ChainCase | Case) -> DrivenChain | DrivenNetwork:
    """A simulation of a case, at its start."""
    return DrivenNetwork(case) if isinstance(case, Case) else DrivenChain(case)


def deployed(values: Mapping[str, Any], subject: Subject) -> dict[str, float]:
    """Unstretched lengths of the lines that are out (m)."""
    return dict(zip([strand.name for strand in subject.strands], np.ravel(values["unstretched_length"]), strict=True))
