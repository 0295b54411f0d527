"""Where the parts of a system are and how they move, and starts with straight lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.checks import IDENTITY, SAME_LENGTH, ZERO, checked_rotation, finite, positive, vector
from tautline.model.description import Number, OptionalNumber, Vector3, described, quantity
from tautline.model.kinds import MATRIX, VECTOR, VECTORS, in_si
from tautline.model.system.parts import ANCHOR, Kinematic, Line
from tautline.model.system.system import System
from tautline.model.wording import near

# Ends of lines may be so far from their points (of the length of the line): what somebody typed is rounded, and
# differences move bodies by a little.
SAME_END = 1e-3
ATTITUDE = "Rotation matrix from the body frame to the inertial frame."
ANGULAR_VELOCITY = "Angular velocity of the body, in the body frame."


@described
class BodyState:
    """Place and motion of a body."""

    position: Vector3 = quantity(
        "m", vector, "Position of the center of mass; the third axis points down.", form=VECTOR
    )
    velocity: Vector3 = quantity("m/s", vector, "Velocity of the center of mass.", default=ZERO, form=VECTOR)
    attitude: Any = quantity("", checked_rotation, ATTITUDE, default=IDENTITY, form=MATRIX)
    angular_velocity: Vector3 = quantity("rad/s", vector, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)

    def _check_together(self) -> None:
        object.__setattr__(self, "attitude", tuple(map(tuple, np.asarray(self.attitude).tolist())))


@described
class LineStart:
    """Where a string starts: straight between its ends, which may stretch it."""

    deployed: OptionalNumber = quantity(
        "m",
        positive,
        "Unstretched length outside the guide; all of the string if it has no reel, and the distance of its ends, "
        "just taut, if it has one.",
        default=None,
    )
    reel_speed: Number = quantity("m/s", finite, "Rate of the reeled length; positive in retrieval.", default=0.0)


def _rows(name: str, value: Any, unit: str) -> Array:
    nodes = checks.array(name, value, (None, 3), unit)
    if len(nodes) < 2:
        raise InputError(f"{name}: expected at least 2 nodes (one element), got {len(nodes)}")
    return nodes


def _as_given(name: str, value: Any, unit: str) -> Any:
    return value  # how many there must be is known with the nodes


@described(eq=False)
class LineState:
    """Place and motion of a line: nodes with both ends, in space, and its reel."""

    nodes: Array = quantity("m", _rows, "Positions of the nodes; third axis down.", form=VECTORS)
    node_velocities: Array = quantity(
        "m/s", _as_given, "Velocities of the nodes of the mesh, 0 if not given.", default=None, form=VECTORS
    )
    reeled_length: Number = quantity(
        "m", checks.non_negative, "Unstretched length on the reel side of the guide entrance.", default=0.0
    )
    reel_speed: Number = quantity("m/s", finite, "Its rate; positive in retrieval.", default=0.0)

    def _check_together(self) -> None:
        given: Any = self.node_velocities
        moving = np.zeros_like(self.nodes) if given is None else given
        moving = checks.array("LineState.node_velocities", moving, self.nodes.shape, "m/s")
        object.__setattr__(self, "node_velocities", moving)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LineState):
            return NotImplemented
        return all(np.array_equal(x, y) for x, y in zip(vars(self).values(), vars(other).values(), strict=True))

    def __hash__(self) -> int:
        return hash((self.reeled_length, self.reel_speed, len(self.nodes)))


class State(NamedTuple):
    """Place and motion of a system, by name."""

    bodies: Mapping[str, BodyState]
    lines: Mapping[str, LineState]

    def elements(self) -> dict[str, int]:
        """Number of elements of every line."""
        return {name: len(line.nodes) - 1 for name, line in self.lines.items()}

    def check_against(self, system: System) -> None:
        """Refuse a state that a system cannot be in."""
        for kind, names, given in (("bodies", system.bodies, self.bodies), ("lines", system.lines, self.lines)):
            if set(names) != set(given):
                expected = ", ".join(map(repr, names)) or "none"
                raise InputError(
                    f"state.{kind}: expected {expected}, as the system has, got {', '.join(map(repr, given)) or 'none'}"
                )
        for name, body in system.bodies.items():
            turning = self.bodies[name].angular_velocity
            if isinstance(body, RigidBody) and body.is_point and any(turning):
                checks.refuse(f"state.bodies.{name}.angular_velocity", "(0, 0, 0) for a point mass", turning)
        for name, line in system.lines.items():
            self._check_line(system, name, line)

    def _check_line(self, system: System, name: str, line: Line) -> None:
        own, head = self.lines[name], f"state.lines.{name}"
        rows, length = len(own.nodes), line.string.length
        if not isinstance(line.elements, str) and rows != line.count + 1:
            raise InputError(f"{head}.nodes: expected elements + 1 = {line.count + 1} nodes, got {rows}")
        if line.reel is None:
            if own.reeled_length != 0.0 or own.reel_speed != 0.0:
                raise InputError(f"{head}: expected no reeled length and no reel speed without a reel")
        elif not line.reel.guide_length <= own.reeled_length < length:
            expected = f"at least guide_length ({line.reel.guide_length:g} m) and less than the length ({length:g} m)"
            checks.refuse(f"{head}.reeled_length", expected, own.reeled_length)
        for key, row in (("start", 0), ("end", -1)):
            for what, given, wanted, size in ends_of(system, self, name, row):
                if not np.abs(given - wanted).max() <= SAME_END * max(size, length):
                    raise InputError(
                        f"{head}.{what}: expected {_shown(wanted)} at the {key} of the line, as {line.ends[row]!r} has "
                        f"it, got {_shown(given)}"
                    )


def ends_of(system: System, state: State, name: str, row: int) -> list[tuple[str, Array, Array, float]]:
    """Place and velocity of the first (0) or last (-1) node of a line, as it has them and as they are at what holds it.

    Each with the largest number that it follows from, by which its rounding is judged.
    """
    line, own = system.lines[name], state.lines[name]
    end, point = line.ends[row], line.points[row]
    place, moving = point_of(system, state.bodies, end, point)
    sizes = [1.0, 1.0]
    if end in state.bodies:
        body = state.bodies[end]
        arm = np.linalg.norm(np.array(body.position) - place)
        spin = float(arm * np.linalg.norm(body.angular_velocity))
        sizes = [max(1.0, *np.abs(body.position)), max(1.0, spin, *np.abs(body.velocity))]
    nodes, velocities = own.nodes[row], own.node_velocities[row]
    return [("nodes", nodes, place, sizes[0]), ("node_velocities", velocities, moving, sizes[1])]


def _shown(vector: Array) -> str:
    return f"({', '.join(f'{x:g}' for x in vector)})"


def point_of(system: System, bodies: Mapping[str, BodyState], end: str, point: Any) -> tuple[Array, Array]:
    """Place and velocity of an end of a string."""
    if end == ANCHOR:
        return np.array(point, dtype=float), np.zeros(3)
    body, state = system.bodies[end], bodies[end]
    center = np.array(body.center_of_mass) if isinstance(body, RigidBody) else np.zeros(3)
    R = np.array(state.attitude)
    arm = np.array(point) - center
    swing = R @ np.cross(state.angular_velocity, arm)
    return np.array(state.position) + R @ arm, np.array(state.velocity) + swing


def hang(
    system: System,
    bodies: Mapping[str, Any],
    lines: Mapping[str, Any] | None = None,
) -> State:
    """A start with straight lines between bodies whose places are given.

    Parameters
    ----------
    system : System
    bodies : dict
        `BodyState` by name, or a position (m); every body but those that are `Kinematic` where nothing else is said.
    lines : dict, optional
        `LineStart` by name, or a deployed length (m); lines that are not named are as long as they are, or just
        taut if they have a reel.
    """
    checks.instance("system", system, System)
    checks.mapping("bodies", bodies, "BodyState or positions")
    if lines is not None:
        checks.mapping("lines", lines, "LineStart or deployed lengths")
    places = {name: _body_state(system, name, bodies.get(name)) for name in system.bodies}
    starts = lines or {}
    for kind, given, known in (("bodies", bodies, system.bodies), ("lines", starts, system.lines)):
        for name in given:
            if name not in known:
                raise InputError(f"{kind}.{name}: no such name in the system{near(name, known)}")
    lines = {name: _line_state(system, places, name, line, starts.get(name)) for name, line in system.lines.items()}
    return State(places, lines)


def floats(values: Any) -> tuple[float, ...]:
    """Plain numbers of an array."""
    return tuple(np.asarray(values, dtype=float).tolist())


def kinematic_state(body: Kinematic, position: Any, attitude: Any = IDENTITY) -> BodyState:
    """Place and velocity at time 0 of a kinematic body whose path counts from a position (m)."""
    if body.path is None:
        return BodyState(floats(position), attitude=attitude)
    displacement, velocity = (x[0] for x in body.path.at(0.0))
    return BodyState(floats(np.array(position) + displacement), floats(velocity), attitude)


def _body_state(system: System, name: str, given: Any) -> BodyState:
    body = system.bodies[name]
    if given is None:
        if isinstance(body, Kinematic):
            given = body.position
        else:
            raise InputError(f"bodies.{name}: expected its position, got none")
    state = given if isinstance(given, BodyState) else BodyState(in_si(f"bodies.{name}", given, "m"))
    if isinstance(body, Kinematic) and (any(state.velocity) or any(state.angular_velocity)):
        raise InputError(f"bodies.{name}.velocity: expected none for a body that is held, whose path says how it moves")
    if isinstance(body, Kinematic) and body.path is not None:
        return kinematic_state(body, state.position, state.attitude)
    if isinstance(body, RigidBody) and body.is_point and any(state.angular_velocity):
        checks.refuse(f"bodies.{name}.angular_velocity", "0 for a point mass", state.angular_velocity)
    return state


def _line_state(system: System, bodies: Mapping[str, BodyState], name: str, line: Line, given: Any) -> LineState:
    start = given if isinstance(given, LineStart) else LineStart(given)
    ends = [point_of(system, bodies, end, point) for end, point in zip(line.ends, line.points, strict=True)]
    distance = float(np.linalg.norm(ends[1][0] - ends[0][0]))
    string, head = line.string, f"lines.{name}.deployed"
    if distance == 0.0:
        raise InputError(f"lines.{name}: expected ends apart from each other, got both at one place")
    if line.reel is None:
        if start.deployed is not None and not math.isclose(start.deployed, string.length, rel_tol=SAME_LENGTH):
            checks.refuse(head, f"{string.length:g} m, all of a string without a reel", start.deployed)
        if start.reel_speed != 0.0:
            checks.refuse(f"lines.{name}.reel_speed", "0 for a string without a reel", start.reel_speed)
        deployed = string.length
    else:
        longest = string.length - line.reel.guide_length
        deployed = distance if start.deployed is None else start.deployed
        if deployed > longest:
            checks.refuse(head, f"at most {longest:g} m (length less reel.guide_length)", deployed)
    if deployed > distance * (1.0 + SAME_LENGTH) and string.tension(distance / deployed - 1.0) < 0.0:
        raise InputError(
            f"lines.{name}: expected a string no longer than the distance of its ends ({distance:.6g} m), got "
            f'{deployed:.6g} m, which would be pressed together; bring its ends apart, or use law = "tension_only"'
        )
    elements = system.elements_of(name, deployed)
    nodes = between(ends[0][0], ends[1][0], max(deployed, distance), distance, elements)
    part = np.linspace(0.0, 1.0, elements + 1)[:, None]
    velocities = ends[0][1] + part * (ends[1][1] - ends[0][1])
    return LineState(nodes, velocities, string.length - deployed, start.reel_speed)


def straight_nodes(deployed: Any, elements: int, direction: Array) -> Array:
    """Nodes of a straight, unstretched string: (N + 1, 3), or (N + 1, 3, members) if a length or direction is a row."""
    unit = direction / np.abs(direction).max(axis=0)  # so that no square of a component is too large or too small
    nodes: Array = np.linspace(0.0, deployed, elements + 1)[:, None] * (unit / np.sqrt(np.sum(unit * unit, axis=0)))
    return nodes


def between(first: Array, last: Array, length: float, distance: float, elements: int) -> Array:
    """Nodes on a straight line between two points; of a longer string on two lines that meet below."""
    part = np.linspace(0.0, 1.0, elements + 1)[:, None]
    nodes: Array = first + part * (last - first)
    sag = 0.5 * math.sqrt(max(length * length - distance * distance, 0.0))
    if sag > 0.0:
        along = (last - first) / distance
        down = np.array([0.0, 0.0, 1.0]) - along[2] * along
        size = float(np.linalg.norm(down))
        down = down / size if size > 1e-6 else np.cross(along, [0.0, 1.0, 0.0])
        nodes += sag * (1.0 - np.abs(2.0 * part - 1.0)) * down
    return nodes
