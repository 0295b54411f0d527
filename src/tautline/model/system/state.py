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
from tautline.model.kinds import MATRIX, ROW, VECTOR, VECTORS, in_si
from tautline.model.stacking import stacked
from tautline.model.system.parts import ANCHOR, Kinematic, Line
from tautline.model.system.system import System
from tautline.model.wording import no_such

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
        "just taut, if it has one. Of a line over sheaves that of all spans, which are evenly strained.",
        default=None,
    )
    reel_speed: Number = quantity("m/s", finite, "Rate of the reeled length; positive in retrieval.", default=0.0)
    end_reeled_length: OptionalNumber = quantity(
        "m",
        positive,
        "Unstretched length on the reel at the end of a line with two reels; half of what is spooled if not given.",
        default=None,
    )
    end_reel_speed: Number = quantity("m/s", finite, "Rate of that; positive in retrieval.", default=0.0)


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
    span_lengths: Array = quantity(
        "m",
        _as_given,
        "Unstretched lengths of the spans of a line that runs over sheaves.",
        default=None,
        form=ROW,
    )
    passed: Array = quantity(
        "m",
        _as_given,
        "Unstretched length that has passed each sheave towards the start of the line; 0 if not given.",
        default=None,
        form=ROW,
    )
    passing: Array = quantity("m/s", _as_given, "Its rates; 0 if not given.", default=None, form=ROW)
    wheel_speeds: Array = quantity(
        "m/s",
        _as_given,
        "Speeds of the rims of the sheaves, which differ from `passing` where a rope slips; the same if not given.",
        default=None,
        form=ROW,
    )
    end_reeled_length: Number = quantity(
        "m", checks.non_negative, "Unstretched length on the reel at the end of the line.", default=0.0
    )
    end_reel_speed: Number = quantity("m/s", finite, "Its rate; positive in retrieval by that reel.", default=0.0)

    def _check_together(self) -> None:
        set_ = object.__setattr__
        given: Any = self.node_velocities
        moving = np.zeros_like(self.nodes) if given is None else given
        moving = checks.array("LineState.node_velocities", moving, self.nodes.shape, "m/s")
        set_(self, "node_velocities", moving)
        spans: Any = self.span_lengths
        lengths = checks.array("LineState.span_lengths", () if spans is None else spans, (None,), "m")
        if not (lengths > 0.0).all():
            checks.refuse("LineState.span_lengths", "numbers above 0", lengths.tolist())
        set_(self, "span_lengths", lengths)
        wheels = max(len(lengths) - 1, 0)
        for name, otherwise, unit in (("passed", None, "m"), ("passing", None, "m/s"), ("wheel_speeds", "passing", "")):
            value: Any = getattr(self, name)
            if value is None:
                value = np.zeros(wheels) if otherwise is None else getattr(self, otherwise)
            set_(self, name, checks.array(f"LineState.{name}", value, (wheels,), unit or "m/s"))

    def _tidy_keys(self, found: dict[str, Any]) -> dict[str, Any]:
        """Keys without those of sheaves where there are none."""
        return {key: x for key, x in found.items() if not (isinstance(x, list) and not x)}

    @property
    def spans(self) -> int:
        """Number of spans."""
        return max(len(self.span_lengths), 1)

    def feed(self, number: int) -> tuple[float, float]:
        """Length that has come in at the start of a span, and its rate.

        Of span -1 at the end of the line; beyond, length and speed of the rim of a wheel on which its rope may slip.
        """
        if number < -1:
            return float(self.passed[-2 - number]), float(self.wheel_speeds[-2 - number])
        if number > 0:
            return float(self.passed[number - 1]), float(self.passing[number - 1])
        if number < 0:
            return self.end_reeled_length, self.end_reel_speed
        return self.reeled_length, self.reel_speed

    def span_rows(self, number: int) -> slice:
        """Rows of the nodes of a span."""
        count = len(self.nodes) // self.spans
        return slice(number * count, (number + 1) * count)

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
        """Number of elements of every line, of each span if it has several."""
        return {name: len(line.nodes) // line.spans - 1 for name, line in self.lines.items()}

    def lengths_of(self, system: System, name: str) -> Array:
        """Unstretched lengths of the spans of a line (m)."""
        own = self.lines[name]
        if len(own.span_lengths):
            return own.span_lengths
        return np.array([system.lines[name].string.length - own.reeled_length])

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
        if line.is_reeved:
            self._check_spans(system, name, line)
        elif own.spans > 1:
            raise InputError(f"{head}.span_lengths: expected none for a line without sheaves, got {own.spans}")
        if not isinstance(line.elements, str) and rows != line.spans * (line.count + 1):
            each = "" if line.spans == 1 else f" for each of {line.spans} spans"
            raise InputError(f"{head}.nodes: expected elements + 1 = {line.count + 1} nodes{each}, got {rows}")
        for prefix, reel in (("", line.reel), ("end_", line.end_reel)):
            reeled, speed = getattr(own, f"{prefix}reeled_length"), getattr(own, f"{prefix}reel_speed")
            if reel is None:
                if reeled != 0.0 or speed != 0.0:
                    raise InputError(f"{head}: expected no reeled length and no reel speed without a reel")
            elif not reel.guide_length <= reeled < length:
                expected = f"at least guide_length ({reel.guide_length:g} m) and less than the length ({length:g} m)"
                checks.refuse(f"{head}.{prefix}reeled_length", expected, reeled)
        for span in system.spans(name):
            for key, row in (("start", 0), ("end", -1)):
                for what, given, wanted, size in ends_of(system, self, name, row, span.number):
                    if not np.abs(given - wanted).max() <= SAME_END * max(size, length):
                        of = "the line" if line.spans == 1 else f"span {span.number}"
                        raise InputError(
                            f"{head}.{what}: expected {_shown(wanted)} at the {key} of {of}, as {span.ends[row]!r} has "
                            f"it, got {_shown(given)}"
                        )

    def _check_spans(self, system: System, name: str, line: Line) -> None:
        """Refuse spans that are not those of a line, or do not make up its length."""
        own, head = self.lines[name], f"state.lines.{name}"
        if len(own.span_lengths) != line.spans:
            raise InputError(f"{head}.span_lengths: expected {line.spans} lengths, got {len(own.span_lengths)}")
        if len(own.nodes) % line.spans or len(own.nodes) < 2 * line.spans:
            raise InputError(f"{head}.nodes: expected as many for each of {line.spans} spans, got {len(own.nodes)}")
        whole = float(own.span_lengths.sum()) + system.wraps(name) + own.reeled_length + own.end_reeled_length
        if not math.isclose(whole, line.string.length, rel_tol=SAME_LENGTH):
            raise InputError(
                f"{head}.span_lengths: expected spans, wraps and reeled lengths that make up the string "
                f"({line.string.length:.9g} m), got {whole:.9g} m"
            )


def ends_of(
    system: System, state: State, name: str, row: int, number: int = 0
) -> list[tuple[str, Array, Array, float]]:
    """Place and velocity of the first (0) or last (-1) node of a span, as it has them and as they are at what holds it.

    Each with the largest number that it follows from, by which its rounding is judged.
    """
    span, own = system.spans(name)[number], state.lines[name]
    end, point = span.ends[row], span.points[row]
    place, moving = point_of(system, state.bodies, end, point)
    sizes = [1.0, 1.0]
    if end in state.bodies:
        body = state.bodies[end]
        arm = np.linalg.norm(np.array(body.position) - place)
        spin = float(arm * np.linalg.norm(body.angular_velocity))
        sizes = [max(1.0, *np.abs(body.position)), max(1.0, spin, *np.abs(body.velocity))]
    rows = own.span_rows(number)
    nodes, velocities = own.nodes[rows][row], own.node_velocities[rows][row]
    return [("nodes", nodes, place, sizes[0]), ("node_velocities", velocities, moving, sizes[1])]


def _shown(vector: Array) -> str:
    return f"({', '.join(f'{x:g}' for x in vector)})"


def point_of(system: System, bodies: Mapping[str, BodyState], end: str, point: Any) -> tuple[Array, Array]:
    """Place and velocity of an end of a string."""
    if end == ANCHOR:
        return stacked(point), np.zeros(3)
    body, state = system.bodies[end], bodies[end]
    R, arm = stacked(state.attitude), stacked(point)
    if isinstance(body, RigidBody):
        arm = arm - stacked(body.center_of_mass)
    swing = R @ np.cross(stacked(state.angular_velocity), arm)
    return stacked(state.position) + R @ arm, stacked(state.velocity) + swing


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
                raise InputError(f"{kind}.{name}: {no_such('name in the system', name, known)}")
    lines = {name: _line_state(system, places, name, line, starts.get(name)) for name, line in system.lines.items()}
    return State(places, lines)


def floats(values: Any) -> tuple[float, ...]:
    """Plain numbers of an array."""
    return tuple(np.asarray(values, dtype=float).tolist())


def kinematic_state(body: Kinematic, position: Any, attitude: Any = None) -> BodyState:
    """Motion at time 0 of a kinematic body whose path counts from a position (m), its turning from an attitude."""
    R, omega = body.attitude if attitude is None else np.array(attitude), floats(ZERO)
    if body.rotation is not None:
        R, omega = R @ body.rotation.rotation(0.0), floats(body.rotation.angular_velocity(0.0))
    if body.path is None:
        return BodyState(floats(position), attitude=R, angular_velocity=omega)
    displacement, velocity = (x[0] for x in body.path.at(0.0))
    return BodyState(floats(np.array(position) + displacement), floats(velocity), R, omega)


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
    if isinstance(body, Kinematic):
        return kinematic_state(body, state.position, None if state.attitude == IDENTITY else state.attitude)
    if isinstance(body, RigidBody) and body.is_point and any(state.angular_velocity):
        checks.refuse(f"bodies.{name}.angular_velocity", "0 for a point mass", state.angular_velocity)
    return state


def _line_state(system: System, bodies: Mapping[str, BodyState], name: str, line: Line, given: Any) -> LineState:
    start = given if isinstance(given, LineStart) else LineStart(given)
    return LineState(**line_fields(system, bodies, name, line, start))


def line_fields(
    system: System, bodies: Mapping[str, BodyState], name: str, line: Line, start: LineStart
) -> dict[str, Any]:
    """Fields of the state of a line that starts straight; numbers may carry derivatives."""
    spans = [
        [point_of(system, bodies, end, point) for end, point in zip(span.ends, span.points, strict=True)]
        for span in system.spans(name)
    ]
    chords = np.stack([ends[1][0] - ends[0][0] for ends in spans])
    distances = np.linalg.norm(chords, axis=1)
    if not np.all(distances):
        where = f"lines.{name}"
        if line.spans > 1:
            k = int(np.argmin(distances))
            where += f".over.{list(line.over)[min(k, len(line.over) - 1)]}"
        raise InputError(f"{where}: expected ends apart from each other, got both at one place")
    distance, string = distances.sum(), line.string
    deployed, reeled, end_reeled = _lengths(system, name, line, start, distance)
    if deployed > distance * (1.0 + SAME_LENGTH) and string.tension(distance / deployed - 1.0) < 0.0:
        raise InputError(
            f"lines.{name}: expected a string no longer than the distance of its ends ({distance:.6g} m), got "
            f'{deployed:.6g} m, which would be pressed together; bring its ends apart, or use law = "tension_only"'
        )
    lengths = distances * (deployed / distance)  # evenly strained
    elements = system.elements_of(name, lengths.max())
    part = np.linspace(0.0, 1.0, elements + 1)[:, None]
    nodes = [
        between(a, b, max(x, d), d, elements) for ((a, _), (b, _)), x, d in zip(spans, lengths, distances, strict=True)
    ]
    velocities = [u + part * (v - u) for (_, u), (_, v) in spans]
    own: dict[str, Any] = {"reeled_length": reeled, "reel_speed": start.reel_speed}
    if not line.is_reeved:
        return {"nodes": nodes[0], "node_velocities": velocities[0], **own}
    # rope passes sheaves so that strains change evenly
    moving = np.stack([c @ (ends[1][1] - ends[0][1]) for c, ends in zip(chords, spans, strict=True)]) / distances
    rates = moving * (deployed / distance)
    rates = rates + (-start.end_reel_speed - start.reel_speed - rates.sum()) * distances / distance
    passing = start.reel_speed + np.cumsum(rates)[:-1]
    own |= {"nodes": np.concatenate(nodes), "node_velocities": np.concatenate(velocities), "span_lengths": lengths}
    return own | {"passing": passing, "end_reeled_length": end_reeled, "end_reel_speed": start.end_reel_speed}


def _lengths(system: System, name: str, line: Line, start: LineStart, distance: float) -> tuple[float, float, float]:
    """Unstretched lengths deployed, on the reel at the start and on that at the end of a line (m)."""
    string, head, wraps = line.string, f"lines.{name}", system.wraps(name)
    free = string.length - wraps
    for prefix, reel in (("", line.reel), ("end_", line.end_reel)):
        speed = getattr(start, f"{prefix}reel_speed")
        if reel is None and speed != 0.0:
            checks.refuse(f"{head}.{prefix}reel_speed", "0 for a string without a reel", speed)
    if start.end_reeled_length is not None and len(line.reels) < 2:
        checks.refuse(f"{head}.end_reeled_length", "none for a line without two reels", start.end_reeled_length)
    if not line.reels:
        if start.deployed is not None and not math.isclose(start.deployed, free, rel_tol=SAME_LENGTH):
            checks.refuse(f"{head}.deployed", f"{free:g} m, all of a string without a reel", start.deployed)
        return free, 0.0, 0.0
    guides = {key: reel.guide_length for key, reel in line.reels.items()}
    longest = free - sum(guides.values())
    deployed = distance if start.deployed is None else start.deployed
    if deployed > longest:
        words = "length less reel.guide_length" + (" and wraps on sheaves" if wraps else "")
        checks.refuse(f"{head}.deployed", f"at most {longest:g} m ({words})", deployed)
    spooled = free - deployed
    if len(guides) == 1:
        return (deployed, spooled, 0.0) if line.reel is not None else (deployed, 0.0, spooled)
    at_end = 0.5 * spooled if start.end_reeled_length is None else start.end_reeled_length
    least, most = guides["end_reel"], spooled - guides["reel"]
    if start.end_reeled_length is None:
        at_end = min(max(at_end, least), most)
    if not least <= at_end <= most:
        checks.refuse(f"{head}.end_reeled_length", f"{least:g} to {most:g} m", at_end)
    return deployed, spooled - at_end, at_end


def straight_nodes(deployed: Any, elements: int, direction: Array) -> Array:
    """Nodes of a straight, unstretched string: (N + 1, 3), or (N + 1, 3, members) if a length or direction is a row."""
    unit = direction / np.abs(direction).max(axis=0)  # so that no square of a component is too large or too small
    nodes: Array = np.linspace(0.0, deployed, elements + 1)[:, None] * (unit / np.sqrt(np.sum(unit * unit, axis=0)))
    return nodes


def between(first: Array, last: Array, length: Any, distance: Any, elements: int) -> Array:
    """Nodes on a straight line between two points; of a longer string on two lines that meet below."""
    part = np.linspace(0.0, 1.0, elements + 1)[:, None]
    nodes: Array = first + part * (last - first)
    sag = 0.5 * np.sqrt(max(length * length - distance * distance, 0.0))
    if sag > 0.0:
        along = (last - first) / distance
        down = np.array([0.0, 0.0, 1.0]) - along[2] * along
        size = np.linalg.norm(down)
        down = down / size if size > 1e-6 else np.cross(along, [0.0, 1.0, 0.0])
        nodes = nodes + sag * (1.0 - np.abs(2.0 * part - 1.0)) * down
    return nodes
