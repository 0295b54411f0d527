"""Where the parts of a system are, and how they move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import IDENTITY, SAME_LENGTH, ZERO, checked_rotation, finite, positive, vector
from tautline.model.description import Number, OptionalNumber, Vector3, described, quantity
from tautline.model.forms import MATRIX, ROW, VECTOR, VECTORS
from tautline.model.stacking import number_of, stacked
from tautline.model.system.parts import ANCHOR, Line
from tautline.model.system.system import System

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
            return number_of(self.passed[-2 - number]), number_of(self.wheel_speeds[-2 - number])
        if number > 0:
            return number_of(self.passed[number - 1]), number_of(self.passing[number - 1])
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
        return np.stack([system.lines[name].string.length - own.reeled_length])

    def check_against(self, system: System) -> None:
        """Refuse a state that a system cannot be in."""
        for kind, names, given in (("bodies", system.bodies, self.bodies), ("lines", system.lines, self.lines)):
            if set(names) != set(given):
                expected = ", ".join(map(repr, names)) or "none"
                raise InputError(
                    f"state.{kind}: expected {expected}, as the system has, got {', '.join(map(repr, given)) or 'none'}"
                )
        for name, body in system.free_bodies.items():
            turning = self.bodies[name].angular_velocity
            if body.is_point and any(turning):
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
    state = bodies[end]
    R, arm = stacked(state.attitude), stacked(point)
    if system.is_free(end):
        arm = arm - stacked(system.bodies[end].center_of_mass)
    swing = R @ np.cross(stacked(state.angular_velocity), arm)
    return stacked(state.position) + R @ arm, stacked(state.velocity) + swing
