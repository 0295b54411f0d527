"""States of rest of a system."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, refusals
from tautline.model.piecewise import interpolated
from tautline.model.rest.network import Network, NetworkBody, NetworkLine, OnWheel, Places
from tautline.model.rest.search import find_rest
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, LineState, State
from tautline.model.system.system import System


class Frame(NamedTuple):
    """Motion of what holds a system.

    Attributes
    ----------
    displacements : dict
        Of bodies on a path, from where they start (m).
    velocities : dict
        Of bodies on a path (m/s).
    displacement : array (3,)
        Displacement that all fixed points and prescribed bodies have in common; 0 where they differ (m).
    velocity : array (3,)
        Velocity that all fixed points and prescribed bodies have in common; 0 where they move differently (m/s).
    acceleration : array (3,)
        Their common acceleration, where it is to be counted (m/s^2).
    """

    displacements: Mapping[str, Array]
    velocities: Mapping[str, Array]
    displacement: Array
    velocity: Array
    acceleration: Array


def rest(system: System, start: State, *, locked: Collection[str] = ()) -> State:
    """State of rest near a start: all forces on bodies and lines balance, and drums are locked.

    Rope passes sheaves until the tensions on both sides of each are the same, as without friction.

    Weight, buoyancy, also below a free surface, drag of a steady flow and applied forces are counted. Where all that
    holds the system moves with one velocity, as a ship that tows does, the system moves along and feels the flow
    past it; otherwise bodies that are `Kinematic` stand still.

    The largest force that is left is 1e-9 of the largest weight, load or tension. Rounding of the coordinates comes on
    top of it: about 2e-16 EA times their size over the length of an element.

    Parameters
    ----------
    system : System
        In uniform gravity.
    start : State
        Where to look from, as `hang` makes it; its deployed lengths stay.
    locked : collection of str
        Sheaves that no rope passes, by the names of their commands.

    Raises
    ------
    EquilibriumError
        When none is found; the message says which force is left, and on which body.
    """
    network, places = network_of(system, start, locked=locked)
    found = find_rest(network, places).places
    return state_of(system, start, network, found, frame_of(system))


def frame_of(system: System, time: float = 0.0, acceleration: bool = False) -> Frame:
    """Motion of all that holds a system, at a time."""
    now = checks.number("time", time)
    checks.instance("acceleration", acceleration, bool)
    displacements, velocities, rates = {}, {}, {}
    for name, body in system.bodies.items():
        if isinstance(body, Kinematic) and body.rotation is not None and (now != 0.0 or acceleration):
            where = "time" if now != 0.0 else "acceleration"
            raise refusals.TURNING_REST.error(f"{name!r}, which turns", at=where)
        if isinstance(body, Kinematic) and body.path is not None:
            (place,), (velocity,) = body.path.at(now)
            displacements[name] = place - body.path.at(0.0)[0][0]
            velocities[name] = velocity
            if acceleration:
                (rates[name],) = body.path.acceleration(now)
    holders, none = held_ends(system), np.zeros(3)
    place, velocity, rate = (common([x.get(end, none) for end in holders]) for x in (displacements, velocities, rates))
    if acceleration and rate is None:
        raise InputError("acceleration: expected bodies that are accelerated alike, got some that are not")
    return Frame(
        displacements,
        velocities,
        none if place is None else place,
        none if velocity is None else velocity,
        none if rate is None else rate,
    )


def held_ends(system: System) -> list[str]:
    """Names of what holds a system: bodies that do not move freely, and anchors."""
    return [end for name in system.lines for end in system.holders(name) if not system.is_free(end)]


def common(vectors: list[Array]) -> Array | None:
    """The vector that all are; None where they differ."""
    if not vectors:
        return np.zeros(3)
    return np.array(vectors[0]) if np.allclose(vectors, vectors[0], rtol=1e-12, atol=1e-15) else None


def network_of(
    system: System,
    state: State,
    time: float = 0.0,
    *,
    acceleration: bool = False,
    placed: bool = False,
    locked: Collection[str] = (),
) -> tuple[Network, Places]:
    """The system as a network with the deployed lengths of a state, and its places: a line for each span.

    Bodies on paths have moved on from the state until that time, unless they are `placed` already.
    """
    checks.instance("system", system, System)
    checks.instance("start", state, State)
    if system.orbit is not None:
        raise refusals.ORBIT_REST.error("one in an orbit")
    frame = frame_of(system, time, acceleration)
    if placed:
        frame = frame._replace(displacements={}, displacement=np.zeros(3))
    names = list(system.free_bodies)
    bodies = [_body(system, name, time) for name in names]
    lines: list[NetworkLine] = []
    nodes, passes = [], []
    for span in (span for name in system.lines for span in system.spans(name)):
        line, started = system.lines[span.line], state.lines[span.line]
        numbers = [names.index(end) if end in names else -1 for end in span.ends]
        points = [
            np.array(point) if b < 0 else bodies[b].seen_from_center(point)
            for b, point in zip(numbers, span.points, strict=True)
        ]
        own = np.array(started.nodes[started.span_rows(span.number)], dtype=float)
        last = span.number == line.spans - 1
        if not last and system.wheels(span.line)[span.number].command not in locked:
            passes.append(len(lines))
        lines.append(
            NetworkLine(
                line.string,
                float(state.lengths_of(system, span.line)[span.number]),
                len(own) - 1,
                (numbers[0], numbers[1]),
                (points[0], points[1]),
                started.reeled_length if line.reel is not None and span.number == 0 else 0.0,
                started.end_reeled_length if last else 0.0,
            )
        )
        shifts = np.tile(frame.displacement, (len(own), 1))
        for i, end in ((0, span.ends[0]), (-1, span.ends[1])):
            shifts[i] = shifts[i] if end in names else frame.displacements.get(end, 0.0)
        own += shifts
        nodes.append(own)
    places = Places(
        np.array([state.bodies[name].position for name in names], dtype=float).reshape(-1, 3) + frame.displacement,
        np.array([state.bodies[name].attitude for name in names], dtype=float).reshape(-1, 3, 3),
        np.concatenate(nodes),
        np.zeros(len(passes)),
    )
    fluid = None if system.fluid is None else system.fluid.frozen(time)
    if fluid is not None and frame.velocity.any():
        depths, flows = (np.array(part) for part in fluid.flow)
        fluid = replace(fluid, flow=(depths, flows - frame.velocity))
    network = Network(bodies, lines, float(system.gravity), fluid, frame.acceleration, passes)
    network.body_names = names
    return network, places


def _body(system: System, name: str, time: float) -> NetworkBody:
    own = NetworkBody(system.bodies[name], system.body_fluid.get(name))
    carried = tuple(
        OnWheel(
            system.lines[line].string.density * wheel.wrap,
            system.lines[line].string.area * wheel.wrap,
            own.seen_from_center(wheel.center),
            (own.seen_from_center(wheel.entrance), own.seen_from_center(wheel.exit)),
            wheel.height,
        )
        for line in system.lines
        for wheel in system.wheels(line)
        if wheel.on == name
    )
    own = own._replace(carried=carried)
    applied = system.applied_forces.get(name)
    if applied is None:
        return own
    force, moment = (interpolated(time, *table) for table in (applied.force, applied.moment))
    return own._replace(force=force, moment=moment, point=own.seen_from_center(applied.point))


def state_of(system: System, start: State, network: Network, places: Places, frame: Frame) -> State:
    """State of a system at these places, carried along with its frame."""
    along = tuple(frame.velocity.tolist())
    bodies = {}
    for name, x in start.bodies.items():
        place = np.array(x.position) + frame.displacements.get(name, 0.0)
        velocity = tuple(frame.velocities.get(name, np.zeros(3)).tolist())
        bodies[name] = BodyState(tuple(place.tolist()), velocity, attitude=x.attitude)
    for b, name in enumerate(system.free_bodies):
        bodies[name] = BodyState(tuple(places.centers[b].tolist()), along, attitude=places.attitudes[b])
    network.fit(places)
    parts = zip(np.split(places.nodes, network.first_node[1:]), network.deployed.tolist(), strict=True)
    lines = {}
    for name, line in system.lines.items():
        before, nodes, velocities, lengths = start.lines[name], [], [], []
        for span in system.spans(name):
            own, length = next(parts)
            moving = np.tile(frame.velocity, (len(own), 1))
            for i, end in ((0, span.ends[0]), (-1, span.ends[1])):
                moving[i] = frame.velocities.get(end, along if end in network.body_names else 0.0)
            nodes.append(own)
            velocities.append(moving)
            lengths.append(length)
        if not line.is_reeved:
            lines[name] = LineState(nodes[0], velocities[0], before.reeled_length, 0.0)
            continue
        lines[name] = LineState(
            np.concatenate(nodes),
            np.concatenate(velocities),
            before.reeled_length,
            0.0,
            np.array(lengths),
            end_reeled_length=before.end_reeled_length,
        )
    return State(bodies, lines)
