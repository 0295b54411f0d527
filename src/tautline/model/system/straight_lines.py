"""Starts with straight lines between bodies whose places are given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.checks import IDENTITY, SAME_LENGTH, ZERO
from tautline.model.description import changed
from tautline.model.stacking import stacked
from tautline.model.system.parts import Kinematic, Line, Orbit
from tautline.model.system.state import BodyState, LineStart, LineState, State, point_of
from tautline.model.system.system import System
from tautline.model.wording import no_such


def hang(
    system: System, bodies: Mapping[str, BodyState], lines: Mapping[str, LineStart], *, turning: bool = False
) -> State:
    """State with straight lines between bodies whose places are given.

    Bodies that are `Kinematic` need none; lines that are not named are as long as they are, or just taut if they have a
    reel. With `turning`, places and motions of free bodies are in the frame that turns with the system's orbit.
    """
    if turning and system.orbit is None:
        checks.refuse("initial.frame", "'inertial' in a system without an orbit", "orbital")
    places = {name: _body_state(system, name, bodies.get(name)) for name in system.bodies}
    if turning and system.orbit is not None:
        for name, body in system.free_bodies.items():
            x = turning_with(system.orbit, body, places[name])
            places[name] = BodyState(floats(x.position), floats(x.velocity), x.attitude, floats(x.angular_velocity))
    for kind, given, known in (("bodies", bodies, system.bodies), ("lines", lines, system.lines)):
        for name in given:
            if name not in known:
                raise InputError(f"{kind}.{name}: {no_such('name in the system', name, known)}")
    starts = {name: lines.get(name, LineStart()) for name in system.lines}
    return State(places, {name: LineState(**line_fields(system, places, name, x)) for name, x in starts.items()})


def turning_with(orbit: Orbit, body: RigidBody, at: BodyState) -> BodyState:
    """Place and motion in space of a body that is given in the frame that turns with an orbit, as arrays."""
    angle, rate = orbit.at_start()
    c, s, nothing = np.cos(angle), np.sin(angle), 0.0 * angle
    axes = stacked(((c, -s, nothing), (s, c, nothing), (nothing, nothing, 1.0 + nothing)))
    turning = stacked((nothing, nothing, rate))
    place, R = axes @ stacked(at.position), axes @ stacked(at.attitude)
    return changed(
        at,
        position=place,
        velocity=axes @ stacked(at.velocity) + np.cross(turning, place),
        attitude=R,
        angular_velocity=stacked(at.angular_velocity) + (0.0 if body.is_point else 1.0) * (R.T @ turning),
    )


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


def _body_state(system: System, name: str, given: BodyState | None) -> BodyState:
    body = system.bodies[name]
    if isinstance(body, Kinematic):
        if given is None:
            return kinematic_state(body, body.position)
        if any(given.velocity) or any(given.angular_velocity):
            raise InputError(
                f"bodies.{name}.velocity: expected none for a body that is held, whose path says how it moves"
            )
        return kinematic_state(body, given.position, None if given.attitude == IDENTITY else given.attitude)
    if given is None:
        raise InputError(f"bodies.{name}: expected its position, got none")
    if body.is_point and any(given.angular_velocity):
        checks.refuse(f"bodies.{name}.angular_velocity", "0 for a point mass", given.angular_velocity)
    return given


def line_fields(system: System, bodies: Mapping[str, BodyState], name: str, start: LineStart) -> dict[str, Any]:
    """Fields of the state of a line that starts straight; numbers may carry derivatives."""
    line = system.lines[name]
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
    own |= {"passing": passing, "wheel_speeds": passing}
    return own | {"end_reeled_length": end_reeled, "end_reel_speed": start.end_reel_speed}


def _lengths(system: System, name: str, line: Line, start: LineStart, distance: float) -> tuple[float, float, float]:
    """Unstretched lengths deployed, on the reel at the start and on that at the end of a line (m)."""
    head, free = f"lines.{name}", line.string.length - system.wraps(name)
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
    deployed = distance if start.deployed is None else start.deployed
    system.check_deployed(f"{head}.deployed", name, deployed)
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
