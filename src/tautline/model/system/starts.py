"""Starts of a system: bodies at given places, one straight line, everything hanging or in equilibrium, or a state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.chain.hanging import hanging
from tautline.model.chain.hanging import near_rest as chain_near_rest
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of, system_state, why_no_chain
from tautline.model.checks import IDENTITY, ZERO, checked_rotation, direction, finite, positive, vector
from tautline.model.description import (
    Lengths,
    Number,
    OptionalNumber,
    OptionalVector3,
    Vector3,
    changed,
    declared,
    described,
    quantity,
)
from tautline.model.fluid import Fluid
from tautline.model.forms import MATRIX, VECTOR
from tautline.model.kinds import OrByName, Quantity
from tautline.model.read_only import ReadOnly
from tautline.model.rest.states import rest
from tautline.model.system.hung import carriers, hung
from tautline.model.system.state import ANGULAR_VELOCITY, ATTITUDE, BodyState, LineStart, LineState, State, point_of
from tautline.model.system.straight_lines import floats, hang, straight_nodes
from tautline.model.system.system import System
from tautline.model.wording import no_such

_DEPLOYED = "Unstretched length outside the guide."
_BY_NAME = f"{_DEPLOYED} Of the only reel, or of each by the name of its line; without reels lines are fully deployed."
_REEL_SPEED = (
    "Rate of the reeled length; positive in retrieval. Lines and bodies then move as from one state of rest to the "
    "next. With several reels, of each by the name of its line."
)
_END_VELOCITY = "Velocity of the last node."
# Frames that places of bodies may be in.
FRAMES = INERTIAL, ORBITAL = "inertial", "orbital"


@described(name="")
class Straight:
    """Straight and unstretched, at rest but for its end; straight down if no direction is given."""

    deployed: Number = quantity("m", positive, _DEPLOYED)
    direction: OptionalVector3 = quantity(
        "", direction, "Direction from the guide entrance; need not be of unit length.", default=None, form=VECTOR
    )
    inclination: OptionalNumber = quantity(
        "rad", finite, "Angle from the vertical, in place of `direction`.", default=None
    )
    azimuth: Number = quantity(
        "rad", finite, "Angle in the horizontal plane towards which the string is inclined; 0 is x.", default=0.0
    )
    end_velocity: Vector3 = quantity("m/s", vector, _END_VELOCITY, default=ZERO, form=VECTOR)
    reel_speed: Number = quantity("m/s", finite, "Rate of the reeled length; positive in retrieval.", default=0.0)
    attitude: Any = quantity("", checked_rotation, ATTITUDE, default=IDENTITY, form=MATRIX)
    angular_velocity: Vector3 = quantity("rad/s", vector, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)

    def _check_together(self) -> None:
        object.__setattr__(self, "attitude", tuple(map(tuple, self.attitude.tolist())))  # compares as a whole
        if self.direction is not None and self.inclination is not None:
            raise InputError("initial: expected either direction or inclination (with azimuth), got both")
        if self.inclination is None and self.azimuth != 0.0:
            raise InputError("initial: expected azimuth together with inclination, got it alone")

    def along(self) -> Any:
        """Direction from the guide entrance, of any length."""
        if self.direction is not None:
            return self.direction
        tilt, turn = 0.0 if self.inclination is None else self.inclination, self.azimuth
        return (np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt))


@described(name="")
class Hanging:
    """At rest under gravity and buoyancy, every body below what carries it, lines stretched by the weights."""

    deployed: Lengths = declared(OrByName(Quantity("m", positive, _BY_NAME)), default=ReadOnly({}))
    end_velocity: Vector3 = quantity("m/s", vector, _END_VELOCITY, default=ZERO, form=VECTOR)
    angular_velocity: Vector3 = quantity("rad/s", vector, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)
    reel_speed: Lengths = declared(OrByName(Quantity("m/s", finite, _REEL_SPEED)), default=0.0)


@described(name="")
class AtEquilibrium:
    """At rest under all loads at time 0: weight, buoyancy, flow and applied force."""

    deployed: Lengths = declared(OrByName(Quantity("m", positive, _BY_NAME)), default=ReadOnly({}))
    reel_speed: Lengths = declared(OrByName(Quantity("m/s", finite, _REEL_SPEED)), default=0.0)


@dataclass(frozen=True)
class Placed:
    """Bodies at given places, with straight lines between them.

    Parameters
    ----------
    bodies : dict
        `BodyState` by name, or a position of the center of mass (m). A `Kinematic` body that is not listed is at its
        own position.
    lines : dict
        `LineStart` by name, or a deployed length (m). Lines not listed are fully deployed (no reel) or deployed to the
        distance between their ends (reel).
    settle : bool
        Start at rest near these places.
    frame : {"inertial", "orbital"}
        In an orbit, whether places and motions of free bodies are in the frame that turns with it: its first axis
        points from the center of attraction through the origin, its second is ahead in the plane of the orbit, its
        third as ever. Bodies without a velocity then turn with the orbit, and stay along the local vertical.
    """

    bodies: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, Any] = field(default_factory=dict)
    settle: bool = False
    frame: str = INERTIAL

    def __post_init__(self) -> None:
        checks.choice("Placed.frame", self.frame, FRAMES)
        bodies = checks.mapping("Placed.bodies", self.bodies, "BodyState or positions")
        lines = checks.mapping("Placed.lines", self.lines, "LineStart or deployed lengths")
        placed = {name: x if isinstance(x, BodyState) else BodyState(x) for name, x in bodies.items()}
        started = {name: x if isinstance(x, LineStart) else LineStart(x) for name, x in lines.items()}
        object.__setattr__(self, "bodies", ReadOnly(placed))
        object.__setattr__(self, "lines", ReadOnly(started))


# Of the deployed length: how far the states of rest are between which velocities are found, by central differences.
# Their error is the square of it; the search for rest is known to 1e-9.
BESIDE = 1e-4

Start = Placed | Straight | Hanging | AtEquilibrium | State


def state_of(start: Any, system: System, locked: Collection[str] = ()) -> State:
    """The state in which a system starts; `locked` are names of sheaves that no rope passes on the way to rest."""
    at_rest = _at_rest(start, system, locked)
    speeds = reel_speeds(start, system)
    return at_rest if not speeds else _moving(start, system, at_rest, speeds, locked)


def _at_rest(start: Any, system: System, locked: Collection[str]) -> State:
    found = searched(start, system)
    if found is not None:
        return rest(*found, locked=locked)
    if isinstance(start, Hanging):
        made = partial(hanging, end_velocity=start.end_velocity, angular_velocity=start.angular_velocity)
        return _of_chain(system, start, made)
    return near_rest(system, start)


def reel_speeds(start: Any, system: System) -> dict[str, float]:
    """Speeds of the reels that turn at a start at rest, by the names of their lines."""
    given = getattr(start, "reel_speed", 0.0) if isinstance(start, Hanging | AtEquilibrium) else 0.0
    if isinstance(start, Placed) and start.settle:
        given = {name: x.reel_speed for name, x in start.lines.items()}
    if not isinstance(given, Mapping):
        given = {} if given == 0.0 else {only_reel(system, "reel_speed", given): given}
    for name, speed in given.items():
        if name not in system.lines:
            raise InputError(f"reel_speed.{name}: {no_such('line', name, system.lines)}")
        if speed != 0.0 and (system.lines[name].reel is None or system.is_reeved):
            expected = "0 without a reel" if system.lines[name].reel is None else "0 beside sheaves and pins"
            checks.refuse(f"reel_speed.{name}", expected, speed)
    return {name: speed for name, speed in given.items() if speed != 0.0}


def only_reel(system: System, what: str, given: Any) -> str:
    """Name of the only line with a reel."""
    reels = [name for name, line in system.lines.items() if line.reels]
    if not reels and len(system.lines) == 1:
        reels = list(system.lines)
    if len(reels) != 1:
        checks.refuse(what, f"values by the names of lines with a reel ({', '.join(reels)})", given)
    return reels[0]


def _moving(start: Any, system: System, at_rest: State, speeds: Mapping[str, float], locked: Collection[str]) -> State:
    """A state of rest that passes through those with other lengths deployed, as reels turn."""
    meshed = system.with_elements(at_rest.elements())
    lengths = {name: float(x.sum()) for name in system.lines for x in (at_rest.lengths_of(system, name),)}
    time = min(BESIDE * lengths[name] / abs(speed) for name, speed in speeds.items())
    after, before = (
        _at_rest(_deploying(start, lengths, {name: -way * time * x for name, x in speeds.items()}), meshed, locked)
        for way in (1.0, -1.0)
    )
    lines, bodies = dict(at_rest.lines), dict(at_rest.bodies)
    for name, own in list(lines.items()):
        moved = (np.array(after.lines[name].nodes) - np.array(before.lines[name].nodes)) / (2.0 * time)
        velocities = np.array(own.node_velocities) + moved
        lines[name] = changed(own, node_velocities=velocities, reel_speed=speeds.get(name, 0.0))
    for name in system.free_bodies:
        body, one, two = bodies[name], after.bodies[name], before.bodies[name]
        way = (np.array(one.position) - np.array(two.position)) / (2.0 * time)
        R = np.array(two.attitude).T @ np.array(one.attitude)  # a small rotation
        turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * time)
        bodies[name] = changed(
            body,
            velocity=floats(np.array(body.velocity) + way),
            angular_velocity=floats(np.array(body.angular_velocity) + turn),
        )
    return State(bodies, lines)


def _deploying(start: Any, lengths: Mapping[str, float], more: Mapping[str, float]) -> Any:
    """A start at rest with more deployed."""
    if isinstance(start, Placed):
        lines = dict(start.lines)
        for name, x in more.items():
            lines[name] = changed(lines[name], deployed=lengths[name] + x, reel_speed=0.0)
        return replace(start, lines=lines)
    given = start.deployed
    if not isinstance(given, Mapping):
        return changed(start, deployed=given + sum(more.values()), reel_speed=0.0)
    return changed(start, deployed={name: x + more.get(name, 0.0) for name, x in given.items()}, reel_speed=0.0)


def searched(start: Any, system: System) -> tuple[System, State] | None:
    """The system whose rest a start is, and where the search begins; None for a start that is not searched for."""
    if not is_searched(start, system):
        return None
    if not isinstance(start, Hanging):
        return system, near_rest(system, start)
    if any(start.end_velocity) or any(start.angular_velocity):
        raise InputError("Hanging.end_velocity: only for a system with one line and one body; start from a state")
    return _in_still_fluid(system), near_rest(system, start)


def is_searched(start: Any, system: System) -> bool:
    """Whether a start is found by a search for rest."""
    if isinstance(start, Hanging):
        return bool(why_no_chain(system))
    return isinstance(start, AtEquilibrium) or (isinstance(start, Placed) and start.settle)


def near_rest(system: System, start: Any) -> State:
    """Where the search for rest begins; of starts that do not search, the state in which a system starts."""
    if isinstance(start, State):
        start.check_against(system)
        return start
    if isinstance(start, Placed):
        return hang(system, start.bodies, start.lines, turning=start.frame == ORBITAL)
    if isinstance(start, Straight):
        return _straight(system, start)
    if not isinstance(start, Hanging | AtEquilibrium):
        checks.refuse("start", "Straight, Hanging, AtEquilibrium, Placed or a state", start)
    if not why_no_chain(system):
        return _of_chain(system, start, chain_near_rest)
    return hung(system, deployed_lengths(system, start.deployed))


def _of_chain(system: System, start: Hanging | AtEquilibrium, made: Callable[..., ChainState]) -> State:
    """State of a system that is a chain, from a function that makes the chain's."""
    name, deployed = next(iter(deployed_lengths(system, start.deployed).items()))
    return system_state(system, made(chain_of(system), deployed, system.elements_of(name, deployed)))


def _straight(system: System, start: Straight) -> State:
    """One line, straight and unstretched, and its body at its end."""
    (name, line), free = next(iter(system.lines.items())), system.free_bodies
    if len(system.lines) != 1 or list(free) != [line.end]:
        raise InputError("Straight: only for a system with one line that ends at its one free body; use Placed")
    if system.is_reeved:
        raise InputError("Straight: only for a line that runs over no sheaves and has no reel at its end; use Placed")
    held = carriers(system)
    place, velocity = point_of(system, held, line.start, line.start_point)
    length = line.string.length
    deployed = checked_length(system, name, start.deployed)
    N = system.elements_of(name, deployed)
    nodes = place + straight_nodes(deployed, N, np.array(start.along()))
    velocities = np.zeros((N + 1, 3)) + velocity
    velocities[N] += start.end_velocity
    R, arm = np.array(start.attitude), np.array(free[line.end].center_of_mass) - np.array(line.end_point)
    center, moving = nodes[N] + R @ arm, velocities[N] + R @ np.cross(start.angular_velocity, arm)
    at = BodyState(floats(center), floats(moving), start.attitude, start.angular_velocity)
    reeled = 0.0 if line.reel is None else max(length - deployed, line.reel.guide_length)
    own = LineState(nodes, velocities, reeled, start.reel_speed)
    return State({key: held.get(key, at) for key in system.bodies}, {name: own})


def checked_length(system: System, name: str, deployed: float) -> float:
    """A deployed length that a line on a reel has (m)."""
    longest = system.longest(name)
    if not system.lines[name].reels and deployed != longest:
        checks.refuse("deployed", f"all of the line ({longest:g} m), which has no reel", deployed)
    system.check_deployed("deployed", name, deployed)
    return deployed


def deployed_lengths(system: System, given: Any) -> dict[str, float]:
    """Deployed length of every line, from those that are given by name or that of the only reel."""
    reels = [name for name, line in system.lines.items() if line.reels]
    if not isinstance(given, Mapping):
        given = {only_reel(system, "deployed", given): given}
    for name in given:
        if name not in system.lines:
            raise InputError(f"deployed.{name}: {no_such('line', name, system.lines)}")
    for name in reels:
        if name not in given:
            key = "deployed" if len(system.lines) == 1 else f"deployed.{name}"
            raise InputError(f"{key}: missing; expected the length outside the guide of a line with a reel")
    lengths = {name: line.string.length - system.wraps(name) for name, line in system.lines.items()} | dict(given)
    return {name: checked_length(system, name, x) for name, x in lengths.items()}


def _in_still_fluid(system: System) -> System:
    """The system without flow and applied forces."""
    fluid: Fluid | None = None if system.fluid is None else replace(system.fluid, flow=ZERO, unsteady=None)
    return replace(system, fluid=fluid, applied_forces={})
