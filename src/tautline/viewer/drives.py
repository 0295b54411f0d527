"""Drums and driven sheaves of a live simulation: what they are told, and soft stops at the ends of the rope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.engine.simulation import Simulation
from tautline.model.command import Command, Locked, Speed
from tautline.model.sequence import Sequence
from tautline.model.system.case import Case
from tautline.model.system.commands import END_REEL, REEL, SHEAVE, drives, place_of
from tautline.quantities import value
from tautline.viewer.journeys import Table, braking_distance, journey_in_room, ramp

# Of gravity, for the ramps: a load on a rope without damping then pulls by no more than twice this beside its weight.
GENTLE = 0.08
FIRM = 2.0  # times as hard: brakes, and the stop of a drum that is not driven by speed
ALOFT = 4.0  # s to the greatest speed, where there is no weight
TURNS_LEFT = 3.0  # on a drum that is empty for us, as on cranes
SHORTEST = 0.1  # of the deployed length at the start, where no least length is given
GIVEN = 1.05  # times a least length that is given
NEAR = 1e-3  # of the deployed length, from its end
MARGIN = 0.1  # s, for what a span does while it is stopped
AHEAD = 2.0  # pieces of the motion that a stop is begun ahead of time


def driven_parts(case: Case, simulation: Simulation) -> dict[str, Command]:
    """Commands at the start, by name, of all that can be driven: reels, and sheaves that the case drives."""
    found: dict[str, Command] = {}
    for name, kind in drives(simulation.system).items():
        command = case.commands.get(name)
        if kind == SHEAVE and (command is None or command.turns_freely):
            continue  # it turns with the rope
        found[name] = Locked() if command is None else command
    return found


class Drive:
    """One drum or driven sheave.

    Parameters
    ----------
    simulation : Simulation
        At its start.
    name : str
        Of the command.
    command : Command
        That of the case.
    fastest : float
        Greatest speed (m/s).
    least : float, optional
        Least length of the case (m).
    """

    def __init__(
        self, simulation: Simulation, name: str, command: Command, fastest: float, least: float | None
    ) -> None:
        self._simulation, self.name, self.command = simulation, name, command
        place = place_of(name)
        self.line, self.part = place.line, place.part
        gravity = float(simulation.system.gravity)
        self.acceleration = GENTLE * gravity if gravity > 0.0 else fastest / ALOFT
        self.fastest = fastest
        self._shortest = GIVEN * least if least is not None else SHORTEST * self.deployed
        shortest = command.shortest(self.deployed, simulation.time)
        if shortest is not None:
            self._shortest = min(self._shortest, 0.5 * shortest)
        self._left = self._dead_turns() if self.is_drum else 0.0
        self.stopped_at = ""  # the end of the rope where it stands: "in" or "out"
        self._stopping: Command | None = None  # on the way to being locked
        self._blocked: dict[float, float] = {}  # deployed lengths at which another span is too short, by direction
        self._planned: Command | None = None  # which ends at rest, and before the end of the rope
        self.target = 0.0  # m/s, last asked for
        self.length: float | None = None  # m, to be reached

    @property
    def is_drum(self) -> bool:
        """Whether rope is spooled on it, and does not only run over it."""
        return self.part in (REEL, END_REEL)

    def _dead_turns(self) -> float:
        """Length that stays on the drum (m): some turns, or half of what is there at the start if that is less."""
        reel = self._simulation.system.lines[self.line].reels[self.part]
        self._guide = reel.guide_length
        return min(TURNS_LEFT * 2.0 * math.pi * reel.drum_radius, 0.5 * max(0.0, self._reeled - reel.guide_length))

    # -- what it does now ----------------------------------------------------------------------------------

    @property
    def _backend(self) -> Any:
        return self._simulation.backend

    @property
    def speed(self) -> float:
        """Rate at which rope is taken in (m/s)."""
        return float(self._backend.speed(self.name))

    @property
    def deployed(self) -> float:
        """Unstretched length that it feeds (m)."""
        return float(self._backend.deployed(self.name))

    @property
    def _reeled(self) -> float:
        return float(self._backend.reeled(self.name))

    def room(self, way: float) -> float:
        """Length until the end of the rope, taken in (1) or paid out (-1) (m)."""
        if way > 0.0:
            room = self.deployed - self._shortest
        else:
            room = self._reeled - self._guide - self._left if self.is_drum else math.inf
        return min(room, way * (self.deployed - self._blocked[way])) if way in self._blocked else room

    def nears(self, span: float, rate: float) -> bool:
        """Brake it, if it drives a span to nothing that has so much left and changes at a rate; whether it did."""
        speed = self.speed
        way, firm = math.copysign(1.0, speed), FIRM * self.acceleration
        if (
            rate >= 0.0
            or speed == 0.0
            or way in self._blocked
            or span > braking_distance(rate, firm) + MARGIN * abs(rate)
        ):
            return False
        self._blocked[way] = self.deployed - way * braking_distance(speed, firm)
        self.brake()
        return True

    @property
    def _present(self) -> Command:
        """The command that it follows, of a sequence that of its stage."""
        if not isinstance(self.command, Sequence):
            return self.command
        found: Command = self._backend.commands.get(self.name, self.command.stages[0].command)
        return found

    @property
    def mode(self) -> str:
        """Word for what it does; one that is being stopped counts as locked."""
        if self.command is self._stopping:
            return "locked"
        return "length" if self.length is not None else type(self._present).__name__.lower()

    @property
    def torque(self) -> float:
        """Torque that it is given; 0 where it is not driven by one (N m)."""
        time, command = self._simulation.time, self._present
        return float(np.interp(time, *command.torques())) if command.kernel == "torque" else 0.0

    # -- what it is told -----------------------------------------------------------------------------------

    def give(self, command: Command) -> None:
        """Follow a command as it is."""
        self.command, self._stopping, self.length, self.target, self.stopped_at = command, None, None, 0.0, ""

    def _follow(self, table: Table) -> None:
        self.give(Speed(retrieval=table))
        self._planned = self.command

    def wind(self, speed: float) -> None:
        """Take rope in at a speed, and stop softly at its end; 0 stops."""
        if self.command is self._planned and self.mode == "speed" and speed == self.target:
            return  # under way, or at the end
        if speed == 0.0:
            self._stop(self.acceleration)
        else:
            way = math.copysign(1.0, speed)
            self._travel(way * max(self.room(way), 0.0), abs(speed))
        self.target = speed

    def go_to(self, length: float, speed: float) -> None:
        """Go to a deployed length, and rest there."""
        self._travel(self.deployed - length, speed)
        self.length, self.target = length, 0.0

    def lock(self) -> None:
        """Brake it and hold it."""
        if self.speed == 0.0:
            self.give(Locked())
            return
        self.brake()
        self._stopping = self.command

    def brake(self) -> None:
        """Stop it firmly, before the end of the rope."""
        self._stop(FIRM * self.acceleration)

    def _travel(self, distance: float, cruise: float) -> None:
        """Go a distance, or on and on where it is infinite, and rest there."""
        now, before = self._simulation.time, self.speed
        ahead = self.room(math.copysign(1.0, before))
        self._follow(journey_in_room(now, before, ahead, distance, cruise, self.acceleration))

    def _stop(self, acceleration: float) -> None:
        """Come to rest by a ramp, before the end of the rope."""
        now, before = self._simulation.time, self.speed
        ahead = self.room(math.copysign(1.0, before))
        if braking_distance(before, acceleration) <= ahead:
            self._follow(ramp(now, before, 0.0, acceleration))
        else:
            self._follow(journey_in_room(now, before, ahead, math.copysign(ahead, before), abs(before), acceleration))

    # -- while it goes on ----------------------------------------------------------------------------------

    def rest(self) -> str:
        """Look after it behind a piece of the motion: hold it where it has come to rest; a sentence."""
        speed = self.speed
        if speed:
            self._blocked.pop(-math.copysign(1.0, speed), None)
            return ""
        if self.command is self._stopping:
            self.give(Locked())
        if self.length is not None and abs(self.deployed - self.length) < 1e-6:
            self.length = None
        return self._noted(math.copysign(1.0, self.target)) if self.command is self._planned and self.target else ""

    def watch(self, duration: float) -> str:
        """Look after it before a piece of the motion: stop it before the end of the rope; a sentence."""
        speed = self.speed
        if self.command is self._planned or speed == 0.0 or self._present.holds:
            return ""
        way = math.copysign(1.0, speed)
        if braking_distance(speed, FIRM * self.acceleration) + AHEAD * abs(speed) * duration < self.room(way):
            return ""
        self.brake()
        return self._noted(way)

    def _noted(self, way: float) -> str:
        """Note once at which end of the rope it stands, or will; a sentence."""
        if self.stopped_at or (self.target and self.room(way) > NEAR * max(1.0, self.deployed)):
            return ""
        self.stopped_at = "in" if way > 0.0 else "out"
        if way > 0.0:
            return f"{self.name}: stops at the upper end, with {value(self._shortest, 'm', 3)} of rope out"
        return f"{self.name}: stops at the lower end, with {value(self._left, 'm', 3)} of rope left on the drum"
