"""A state as a row of numbers, each free to change by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.rotations import RotationVectors
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.command import Locked
from tautline.model.system.case import Case
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, LineState, State, point_of
from tautline.model.system.system import System
from tautline.results.network import spans

AXES = "xyz"


class Coordinates:
    """Coordinates of the states of one system.

    Of each body that is free: position and velocity of its center of mass; where it is no point mass, the rotation
    vector of its attitude relative to that of a start, and its angular velocity. Of each line: positions and
    velocities of the nodes between its ends, and reeled length and its rate where the reel is not locked. Bodies that
    are held have none: where they are follows from the time.

    Parameters
    ----------
    system : System
    start : State
        Its attitudes are the references, and its reeled lengths those of locked reels.
    locked : collection of str
        Lines without a reel that moves.
    """

    def __init__(self, system: System, start: State, locked: Collection[str]) -> None:
        self._system, self._start = system, start
        self.free = [name for name, body in system.bodies.items() if isinstance(body, RigidBody)]
        self._rotations = {
            name: RotationVectors(start.bodies[name].attitude) for name in self.free if not system.bodies[name].is_point
        }
        self._moving = [name for name in system.lines if name not in locked]
        self.names: list[str] = []
        self._places: dict[str, slice] = {}
        for name in self.free:
            turning = ("rotation", "angular velocity") if name in self._rotations else ()
            self._add(name, [f"{what} of {name} {a}" for what in ("position", "velocity", *turning) for a in AXES])
        for name, line in system.lines.items():
            nodes = [f"node {i} of {name} {axis}" for i in range(1, line.count) for axis in AXES]
            self._add(f"nodes of {name}", [f"{what} of {node}" for what in ("position", "velocity") for node in nodes])
            if name in self._moving:
                self._add(f"reel of {name}", [f"{what} of {name}" for what in ("reeled_length", "reel_speed")])

    def _add(self, part: str, names: list[str]) -> None:
        self._places[part] = slice(len(self.names), len(self.names) + len(names))
        self.names += names

    @property
    def size(self) -> int:
        """n."""
        return len(self.names)

    def of(self, state: State, near: Array | None = None) -> Array:
        """Coordinates of a state; among equal rotation vectors those nearest to the ones of other coordinates."""
        parts: list[Any] = []
        for name in self.free:
            own = state.bodies[name]
            parts += [own.position, own.velocity]
            if name in self._rotations:
                parts += [self._rotations[name].of(np.array(own.attitude), self._rotation(name, near))]
                parts += [own.angular_velocity]
        for name in self._system.lines:
            line = state.lines[name]
            parts += [np.ravel(line.nodes[1:-1]), np.ravel(line.node_velocities[1:-1])]
            if name in self._moving:
                parts.append([line.reeled_length, line.reel_speed])
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def state(
        self, x: Any, time: float = 0.0, reeled_lengths: Any = None, held: Mapping[str, BodyState] | None = None
    ) -> State:
        """The state of coordinates at a time (s).

        `reeled_lengths` (m) of all lines are for those of locked reels, by default the start's. `held` are bodies
        whose motion is given; by default they are where their paths lead from the start.
        """
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.size,):
            raise InputError(f"x: expected {self.size} coordinates, got an array of shape {x.shape}")
        bodies = {}
        for name, body in self._system.bodies.items():
            if isinstance(body, Kinematic):
                bodies[name] = held_at(body, self._start.bodies[name], time) if held is None else held[name]
                continue
            own, start = x[self._places[name]].reshape(-1, 3), self._start.bodies[name]
            attitude, omega = start.attitude, np.zeros(3)
            if name in self._rotations:
                attitude, omega = self._rotations[name].attitude(own[2]), own[3]
            bodies[name] = BodyState(own[0], own[1], attitude, omega)
        lines = {}
        for k, (name, line) in enumerate(self._system.lines.items()):
            ends = [point_of(self._system, bodies, end, at) for end, at in zip(line.ends, line.points, strict=True)]
            inner = x[self._places[f"nodes of {name}"]].reshape(2, -1, 3)
            nodes, velocities = (np.concatenate([[ends[0][i]], inner[i], [ends[1][i]]]) for i in range(2))
            reeled = self._start.lines[name].reeled_length if reeled_lengths is None else reeled_lengths[k]
            speed = 0.0
            if name in self._moving:
                reeled, speed = x[self._places[f"reel of {name}"]]
            lines[name] = LineState(nodes, velocities, float(reeled), float(speed))
        return State(bodies, lines)

    def sizes(self, x: Array) -> Array:
        """How large a change of each coordinate is small, for differences."""
        found = np.ones(self.size)
        lines = self.state(x).lines
        for name, line in lines.items():
            length = float(np.linalg.norm(np.diff(line.nodes, axis=0), axis=1).sum()) or 1.0
            inner = found[self._places[f"nodes of {name}"]].reshape(2, -1)
            inner[0], inner[1] = length / (len(line.nodes) - 1), max(1.0, float(np.abs(line.node_velocities).max()))
            if name in self._moving:
                found[self._places[f"reel of {name}"]] = length, max(1.0, abs(line.reel_speed))
        for name in self.free:
            ends = [line.nodes for key, line in lines.items() if name in self._system.lines[key].ends]
            reach = min((float(np.linalg.norm(np.diff(nodes, axis=0), axis=1).min()) for nodes in ends), default=1.0)
            own, values = found[self._places[name]].reshape(-1, 3), x[self._places[name]].reshape(-1, 3)
            own[0], own[1] = reach or 1.0, max(1.0, float(np.abs(values[1]).max()))
            own[3:] = max(1.0, float(np.abs(values[3:]).max(initial=0.0)))
        return found

    def of_sample(self, samples: kernels.WholeSamples, row: int, near: Array) -> Carried:
        """Coordinates of one of the samples, which carry derivatives; `near` as of `of`."""
        bodies: Any = samples.bodies[row]
        nodes: Any = samples.nodes[row]
        strands: Any = samples.strands[row]
        order, parts = list(self._system.bodies), []
        for name in self.free:
            own = bodies[order.index(name)]
            parts.append(own[kernels.BODY_PLACE : kernels.BODY_PLACE + 6])
            if name in self._rotations:
                R = own[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3)
                parts.append(self._rotations[name].carried(R, self._rotation(name, near)))
                parts.append(own[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3])
        for k, (name, (span, _)) in enumerate(spans(self._system).items()):
            inner = nodes[span][1:-1]
            parts += [inner[:, :3].reshape(-1), inner[:, 3:].reshape(-1)]
            if name in self._moving:
                parts.append(strands[k][[kernels.REELED, kernels.SPEED]])
        found: Any = np.concatenate(parts)
        assert isinstance(found, Carried)
        return found

    def follow(self, samples: kernels.WholeSamples, rows: int, x: Array) -> Array:
        """Coordinates whose rotation vectors are those of the last of so many samples, followed from those at x."""
        x, order = x.copy(), list(self._system.bodies)
        for name, rotations in self._rotations.items():
            columns = slice(kernels.BODY_ATTITUDE, kernels.BODY_ATTITUDE + 9)
            attitudes = samples.bodies[:rows, order.index(name), columns]
            place = self._places[name].start + 6
            x[place : place + 3] = rotations.followed(attitudes, x[place : place + 3])
        return x

    def _rotation(self, name: str, x: Array | None) -> Array:
        place = self._places[name].start + 6
        return np.zeros(3) if x is None else x[place : place + 3]


def held_at(body: Kinematic, start: BodyState, time: float) -> BodyState:
    """A body whose motion is given, where its path has led it to from its start at a time (s)."""
    if body.path is None:
        return start
    places, velocities, *_ = body.path.at(np.array([0.0, time]))
    return BodyState(np.array(start.position) + places[1] - places[0], velocities[1], start.attitude)


def coordinates_of(case: Case) -> Coordinates:
    """Coordinates of the states of a case, about its start."""
    system = case.meshed().system
    commands = {name: case.commands.get(name, Locked()) for name in system.lines}
    locked = [name for name, line in system.lines.items() if line.reel is None or commands[name].holds]
    return Coordinates(system, case.state(), locked)
