"""Parts of a case that an FMU has, and the commands that its reels begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tautline.fmu.variables import named
from tautline.model.command import Command, Length, Torque
from tautline.model.system.commands import END_REEL, REEL, Feed, drives, feed_of, place_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State
from tautline.model.system.system import System


class Export(NamedTuple):
    """Parts of a case that are exported, and how."""

    system: System
    state: State
    method: Mapping[str, Any]
    commands: Mapping[str, Command]  # of reels and sheaves that go on as the case says
    modes: Mapping[str, str]  # of reels and sheaves, by the names of their commands
    moved: tuple[str, ...]  # bodies whose velocities are inputs
    until: float  # up to which motions of the case are tabulated (s)
    interval: float  # of samples (s)
    guides: Mapping[str, str]  # bodies that carry lines in place of points in space, by line

    def adapted(self, system: System) -> System:
        """Another system of the same case, with these bodies."""
        return with_guides(system, self.guides)

    def feed(self, name: str) -> Feed:
        """Length that a reel or sheave has deployed at the start, and how fast it takes rope in."""
        return feed_of(self.system, self.state, place_of(name))

    def start_commands(self) -> dict[str, Command]:
        """Commands of reels and sheaves at the start; those without one are left out."""
        found: dict[str, Command] = {}
        for name, mode in self.modes.items():
            feed = self.feed(name)
            payout = 0.0 - feed.speed
            if mode == "torque":
                found[name] = Torque(self.start_torque(name))
            elif mode in ("speed", "length"):
                rows = ((feed.deployed, payout), (feed.deployed + payout, payout))
                found[name] = Length(pieces=((0.0, 1.0), rows))
            elif name in self.commands:
                found[name] = self.commands[name]
        return {name: found[name] for name in drives(self.system) if name in found}

    def start_torque(self, name: str) -> float:
        """Torque at the start of a command of a torque; else 0."""
        command = self.commands.get(name)
        if type(command) is not Torque or command.is_function:
            return 0.0
        return float(command.torques()[1][0])


def with_guides(system: System, guides: Mapping[str, str]) -> System:
    """The system with kinematic bodies that carry lines whose guides were fixed in space."""
    if not guides:
        return system
    lines, bodies = dict(system.lines), {}
    for name, guide in guides.items():
        bodies[guide] = Kinematic(None, lines[name].start_point)
        lines[name] = replace(lines[name], start=guide, start_point=(0.0, 0.0, 0.0))
    return replace(system, bodies=bodies | dict(system.bodies), lines=lines)


def drive_head(name: str) -> str:
    """Name of a reel or sheave in variables, from that of its command."""
    place = place_of(name)
    parts = {REEL: (), END_REEL: (END_REEL,)}.get(place.part, ("over", place.part))
    return named("lines", place.line, *parts)
