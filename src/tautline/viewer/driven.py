"""Simulations in real time as the viewer drives them: a pendulum, or an assembly with its reels and bodies by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.assembly.simulation import AssemblySimulation
from tautline.engine.samples import record_of_samples
from tautline.engine.simulation import Simulation
from tautline.model.assembly.case import AssemblyCase
from tautline.model.body import RigidBody
from tautline.model.case import Case
from tautline.model.command import Command, Locked, Speed
from tautline.model.statics import guide_pull
from tautline.results.values import Values, values_of
from tautline.viewer.subject import Subject, of_assembly, of_pendulum

RAMP = 0.25  # s, to a new speed of a reel


class Sight(NamedTuple):
    """What the scene is laid out by before anything has moved."""

    nodes: Array  # (nodes, 3), at the start
    box: Array  # around what will move, as far as can be told
    pulls: Mapping[str, float]  # at the reels, for scales (N)
    tension: float  # greatest that the colours show (N)


def ramp_to(speed: float, since: float, before: float) -> Speed:
    """A speed that is reached within a short time: a reel that jumped would jerk at the string."""
    return Speed(retrieval=((since, since + RAMP), (before, speed)))


def mode_of(command: Command) -> str:
    """What a drum does under a command, as a word."""
    return type(command).__name__.lower()


class DrivenPendulum:
    """A pendulum: one reel and one body, without names."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.simulation = Simulation.from_case(case)
        self.subject = of_pendulum(self.simulation.pendulum)
        self.commands: dict[str, Command] = {"": case.command}

    def advance(self, duration: float, record: bool) -> str:
        """Move on under the commands; the status."""
        return self.simulation.advance(duration, self.commands[""], record=record)

    def reel_speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        return self.simulation.reel_speed

    def mode(self, name: str) -> str:
        """What the drum does."""
        return mode_of(self.commands[name])

    def lock(self, name: str) -> str:
        """Stop the drum at once and hold it; a remark, if it turned."""
        speed = self.simulation.reel_speed
        if speed != 0.0:
            self.simulation.stop_reel()
        self.commands[name] = Locked()
        return f"the drum was stopped at once at {abs(speed):.2g} m/s" if speed != 0.0 else ""

    def strike(self, name: str, impulse: Array, duration: float) -> None:
        """Apply an impulse to the body, at once."""
        self.simulation.apply_impulse(impulse)

    def values(self) -> Values:
        """Variables of the present state."""
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
        return Sight(guide + nodes, box, {"": pull}, 2.5 * pull)


class DrivenAssembly:
    """An assembly: reels by the names of their strings, bodies by theirs."""

    def __init__(self, case: AssemblyCase) -> None:
        self.simulation = AssemblySimulation.from_case(case)
        self.subject = of_assembly(self.simulation.assembly)
        reels = [strand.name for strand in self.subject.strands if strand.mount is not None]
        self.commands: dict[str, Command] = {name: case.commands.get(name, Locked()) for name in reels}
        self._struck: set[str] = set()
        self._stopping: dict[str, Command] = {}

    def advance(self, duration: float, record: bool) -> str:
        """Move on under the commands; the status."""
        status = self.simulation.advance(duration, self.commands, record=record)
        for name in self._struck:
            self.simulation.push(name)
        self._struck.clear()
        for name, ramp in list(self._stopping.items()):
            if self.commands[name] is not ramp:
                del self._stopping[name]
            elif self.reel_speed(name) == 0.0:
                self.commands[name] = Locked()
        return status

    def mode(self, name: str) -> str:
        """What a drum does; one that is being stopped counts as locked."""
        command = self.commands[name]
        return mode_of(Locked() if command is self._stopping.get(name) else command)

    def reel_speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        return float(self.simulation.string(name)["reel_speed"])

    def lock(self, name: str) -> str:
        """Stop a drum within a short time and hold it; a remark, if it turned."""
        speed = self.reel_speed(name)
        if speed == 0.0:
            self.commands[name] = Locked()
            return ""
        self.commands[name] = self._stopping[name] = ramp_to(0.0, self.simulation.time, speed)
        return f"the drum of {name} is stopped from {abs(speed):.2g} m/s within {RAMP:g} s"

    def strike(self, name: str, impulse: Array, duration: float) -> None:
        """Apply an impulse to a body, as a force that acts while it moves on by a duration."""
        self.simulation.push(name, impulse / duration)
        self._struck.add(name)

    def values(self) -> Values:
        """Variables of the present state."""
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
        strings = sum(line.string.density * x for line, x in zip(assembly.strings.values(), lengths, strict=True))
        pull = max(self.subject.gravity, 1.0) * float(free + strings)
        return Sight(nodes, np.stack([low - spare, high + spare]), dict.fromkeys(self.commands, pull), 2.5 * pull)


def driven(case: Case | AssemblyCase) -> DrivenPendulum | DrivenAssembly:
    """A simulation of a case, at its start."""
    return DrivenAssembly(case) if isinstance(case, AssemblyCase) else DrivenPendulum(case)


def deployed(values: Mapping[str, Any], subject: Subject) -> dict[str, float]:
    """Unstretched lengths of the strings that are out (m)."""
    return dict(zip([strand.name for strand in subject.strands], np.ravel(values["unstretched_length"]), strict=True))
