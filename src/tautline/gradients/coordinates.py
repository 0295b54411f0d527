"""A state as a row of numbers, each free to change by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.network.strands import NO_SPAN, StrandOf, shaft_leader, strands_of
from tautline.errors import InputError
from tautline.gradients.arrays import Dual, UnknownTangentsError
from tautline.gradients.rotations import RotationVectors
from tautline.kernels.network import data as kernels
from tautline.model.description import changed
from tautline.model.stacking import stacked
from tautline.model.system.case import Case
from tautline.model.system.commands import command_of, drives
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, LineState, State, point_of
from tautline.model.system.system import System
from tautline.results.network import spans

AXES = "xyz"
NOTHING = (0.0, 0.0, 0.0)


class Coordinates:
    """Coordinates of the states of one system.

    Of each body that is free: position and velocity of its center of mass; where it is no point mass, the rotation
    vector of its attitude relative to that of a start, and its angular velocity. Of each line: positions and
    velocities of the nodes between the ends of its spans, and of reels that are not locked the reeled length and its
    rate; of sheaves and pins that are not locked the length that has passed and its rate. Bodies that are held have
    none: where they are follows from the time. Lengths of spans follow from what came and went at their ends.

    Parameters
    ----------
    system : System
    start : State
        Its attitudes are the references, and its lengths those of locked reels and sheaves.
    locked : collection of str
        Reels and sheaves that do not move, by the names of their commands.
    """

    def __init__(self, system: System, start: State, locked: Collection[str]) -> None:
        self._system, self._start = system, start
        self.free = list(system.free_bodies)
        self._rotations = {
            name: RotationVectors(start.bodies[name].attitude) for name in self.free if not system.bodies[name].is_point
        }
        self._strands = strands_of(system)
        self._leaders = [shaft_leader(system, self._strands, k) for k in range(len(self._strands))]
        self._moving = [k for k, x in enumerate(self._strands) if self._leaders[k][0] == k and x.drive not in locked]
        self.names: list[str] = []
        self._places: dict[str, slice] = {}
        for name in self.free:
            turning = ("rotation", "angular velocity") if name in self._rotations else ()
            self._add(name, [f"{what} of {name} {a}" for what in ("position", "velocity", *turning) for a in AXES])
        for name, line in system.lines.items():
            inner = [n * (line.count + 1) + i for n in range(line.spans) for i in range(1, line.count)]
            nodes = [f"node {i} of {name} {axis}" for i in inner for axis in AXES]
            self._add(f"nodes of {name}", [f"{what} of {node}" for what in ("position", "velocity") for node in nodes])
            for strand in self._moved(name):
                kinds = ("reeled_length", "reel_speed") if strand.wheel is None else ("passed", "passing")
                self._add(f"feed of {strand.drive}", [f"{what} of {strand.drive}" for what in kinds])

    def _add(self, part: str, names: list[str]) -> None:
        self._places[part] = slice(len(self.names), len(self.names) + len(names))
        self.names += names

    def _moved(self, name: str) -> list[StrandOf]:
        """Strings of a line at whose start a reel or sheave moves."""
        return [x for k, x in enumerate(self._strands) if x.line == name and k in self._moving]

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
            parts += [np.ravel(self._pieces(name, x)[:, 1:-1]) for x in (line.nodes, line.node_velocities)]
            parts += [line.feed(strand.span) for strand in self._moved(name)]
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def _pieces(self, name: str, nodes: Any) -> Any:
        """Rows of the nodes of a line by its spans."""
        return nodes.reshape(self._system.lines[name].spans, self._system.lines[name].count + 1, -1)

    def state(
        self,
        x: Any,
        time: float = 0.0,
        lines: Mapping[str, LineState] | None = None,
        held: Mapping[str, BodyState] | None = None,
    ) -> State:
        """The state of coordinates at a time (s).

        `lines` have the lengths of locked reels and sheaves, and those from which spans are counted; by default they
        are the start's. `held` are bodies whose motion is given; by default they are where their paths lead from the
        start. Coordinates that carry derivatives give a state that does.
        """
        x = x if isinstance(x, Dual) else np.asarray(x, dtype=np.float64)
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
            if isinstance(x, Dual):
                moving = {"position": own[0], "velocity": own[1], "attitude": attitude, "angular_velocity": omega}
                bodies[name] = changed(start, **moving)
            else:
                bodies[name] = BodyState(own[0], own[1], attitude, omega)
        before = self._start.lines if lines is None else lines
        fed = self._fed(x, before)
        return State(bodies, {name: self._line(name, x, bodies, before[name], fed) for name in self._system.lines})

    def _fed(self, x: Array, before: Mapping[str, LineState]) -> list[tuple[float, float, float]]:
        """Length that has come in at the start of every string, its rate, and by how much more that is than before."""
        own = [before[strand.line].feed(strand.span) for strand in self._strands]
        now = [(s, 0.0 * speed) for s, speed in own]
        for k in self._moving:
            s, speed = x[self._places[f"feed of {self._strands[k].drive}"]]
            now[k] = (s, speed) if isinstance(x, Dual) else (float(s), float(speed))
        for k, (lead, factor) in enumerate(self._leaders):
            if lead not in (-1, k):  # another drum on the shaft
                now[k] = own[k][0] + factor * (now[lead][0] - own[lead][0]), factor * now[lead][1]
        return [(*here, here[0] - there[0]) for here, there in zip(now, own, strict=True)]

    def _line(
        self,
        name: str,
        x: Array,
        bodies: Mapping[str, BodyState],
        before: LineState,
        fed: list[tuple[float, float, float]],
    ) -> LineState:
        """The state of a line, whose ends are on bodies."""
        spans = self._system.spans(name)
        inner = x[self._places[f"nodes of {name}"]].reshape(2, len(spans), -1, 3)
        held = [[point_of(self._system, bodies, end, at) for end, at in zip(*span[2:], strict=True)] for span in spans]
        nodes, velocities = (
            np.concatenate(
                [np.concatenate([a[i][None], rows, b[i][None]]) for (a, b), rows in zip(held, inner[i], strict=True)]
            )
            for i in range(2)
        )
        own = {strand.span: fed[k] for k, strand in enumerate(self._strands) if strand.line == name}
        fields: dict[str, Any] = {"nodes": nodes, "node_velocities": velocities}
        fields["reeled_length"], fields["reel_speed"], _ = own[0]
        if self._system.lines[name].is_reeved:
            fields["end_reeled_length"], fields["end_reel_speed"], more = own.get(NO_SPAN, NOTHING)
            came = [own[k][2] for k in range(len(spans))]
            fields["span_lengths"] = before.span_lengths - stacked(came) + stacked([*came[1:], -more])
            passed = [own[k][:2] for k in range(1, len(spans))]
            fields["passed"], fields["passing"] = stacked(passed).T if passed else np.zeros((2, 0))
            fields["wheel_speeds"] = fields["passing"]
        return changed(before, **fields) if isinstance(x, Dual) else LineState(**fields)

    def sizes(self, x: Array) -> Array:
        """How large a change of each coordinate is small, for differences."""
        found = np.ones(self.size)
        lines = self.state(x).lines
        for name, line in lines.items():
            apart = np.linalg.norm(np.diff(self._pieces(name, line.nodes), axis=1), axis=2)
            length = float(apart.sum()) or 1.0
            inner = found[self._places[f"nodes of {name}"]].reshape(2, -1)
            inner[0], inner[1] = length / apart.size, max(1.0, float(np.abs(line.node_velocities).max()))
            for strand in self._moved(name):
                found[self._places[f"feed of {strand.drive}"]] = length, max(1.0, abs(line.feed(strand.span)[1]))
        for name in self.free:
            ends = [self._pieces(key, line.nodes) for key, line in lines.items() if name in self._system.holders(key)]
            reach = min((float(np.linalg.norm(np.diff(nodes, axis=1), axis=2).min()) for nodes in ends), default=1.0)
            own, values = found[self._places[name]].reshape(-1, 3), x[self._places[name]].reshape(-1, 3)
            own[0], own[1] = reach or 1.0, max(1.0, float(np.abs(values[1]).max()))
            own[3:] = max(1.0, float(np.abs(values[3:]).max(initial=0.0)))
        return found

    def of_sample(self, samples: kernels.WholeSamples, row: int, near: Array) -> Dual:
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
                parts.append(self._rotations[name].dual(R, self._rotation(name, near)))
                parts.append(own[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3])
        for name, (span, _) in spans(self._system).items():
            inner = self._pieces(name, nodes[span])[:, 1:-1]
            parts += [inner[..., :3].reshape(-1), inner[..., 3:].reshape(-1)]
            fed = [k for k in self._moving if self._strands[k].line == name]
            parts += [strands[k][[kernels.REELED, kernels.SPEED]] for k in fed]
        found: Any = np.concatenate(parts)
        assert isinstance(found, Dual)
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


def held_at(body: Kinematic, start: BodyState, time: Any) -> BodyState:
    """A kinematic body, where its path has taken it from its start at a time (s).

    The place and the time may carry derivatives.
    """
    place, velocity, R, omega = stacked(start.position), np.zeros(3), np.array(start.attitude), np.zeros(3)
    if body.path is not None:
        places, velocities, *_ = body.path.at(np.stack([0.0, time]))
        place, velocity = place + places[1] - places[0], velocities[1]
    if any(isinstance(x, Dual) for x in (place, velocity, time)):
        if body.rotation is not None:
            raise UnknownTangentsError("a body that is turned")
        return changed(start, position=place, velocity=velocity, attitude=R, angular_velocity=omega)
    if body.rotation is not None:
        R = R @ body.rotation.rotation(0.0).T @ body.rotation.rotation(time)
        omega = body.rotation.angular_velocity(time)
    return BodyState(place, velocity, R, omega)


def coordinates_of(case: Case) -> Coordinates:
    """Coordinates of the states of a case, about its start."""
    system = case.meshed().system
    locked = [name for name, kind in drives(system).items() if command_of(case.commands, name, kind).holds]
    return Coordinates(system, case.state(), locked)
