"""States at the start of a run with derivatives by keys, from cases whose numbers carry them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine import lowering
from tautline.gradients.arrays import Dual, UnknownTangentsError, value_of
from tautline.gradients.coordinates import Coordinates
from tautline.gradients.dual_cases import carries
from tautline.gradients.rotations import turns_of
from tautline.kernels import data
from tautline.model.body import RigidBody
from tautline.model.command import Command, Drum
from tautline.model.description import changed
from tautline.model.reel import Reel
from tautline.model.rest.network import Network, Places
from tautline.model.rest.states import common, held_ends
from tautline.model.rotations import hat
from tautline.model.stacking import stacked
from tautline.model.system.case import Case
from tautline.model.system.parts import Kinematic
from tautline.model.system.sheaves import Span
from tautline.model.system.starts import ORBITAL, Placed, Straight, is_searched
from tautline.model.system.state import BodyState, LineStart, LineState, State, point_of
from tautline.model.system.straight_lines import line_fields, straight_nodes, turning_with
from tautline.model.system.system import System

# Of the length of a line: one that is no longer than the distance of its ends by more begins to sag there.
JUST_TAUT = 1e-9
# Derivatives of lengths that are as good as equal, over the largest.
EQUAL = 1e-9

# A search for rest: the network, its places, and derivatives by keys of its unknowns and of lengths of its lines.
Searched = Callable[[], tuple[Network, Places, Array]]


class Midway(NamedTuple):
    """A segment of a run: its setting from a state, which is given by coordinates, and steps that were before.

    Its directions are the coordinates, and then keys.
    """

    setting: Any  # Setting or NetworkSetting
    coordinates: Coordinates
    x: Array
    steps: int

    def dual(self, count: int) -> Dual:
        """The coordinates, the first of so many directions."""
        return Dual(self.x, np.eye(len(self.x), count))


def started(case: Case, plain: Case, rest: Searched) -> tuple[System, State]:
    """System and state at the start of a case with dual numbers; UnknownTangentsError where they are not known.

    Parameters
    ----------
    case, plain : Case
        With dual numbers, and without.
    rest : callable
        The search for rest, if the start is found by one.
    """
    known = plain.state()
    elements = known.elements()
    lines = {name: changed(line, elements=elements[name]) for name, line in case.system.lines.items()}
    system = changed(case.system, lines=lines)
    start = case.start
    if not carries((start, case.system)):
        state = State({name: with_arrays(x) for name, x in known.bodies.items()}, known.lines)
    elif is_searched(plain.start, plain.system):
        state = _at_rest(system, start, known, *rest())
    elif isinstance(start, State):
        own = {name: with_arrays(x) for name, x in start.bodies.items()}
        state = State(own, start.lines)
    elif isinstance(start, Placed):
        bodies = {name: _body(system, name, start.bodies.get(name), known) for name in system.bodies}
        if start.frame == ORBITAL and system.orbit is not None:
            free = {name: body for name, body in system.bodies.items() if isinstance(body, RigidBody)}
            bodies |= {name: turning_with(system.orbit, body, bodies[name]) for name, body in free.items()}
        state = State(bodies, {name: _line(system, bodies, name, start, known) for name in system.lines})
    elif isinstance(start, Straight):
        state = _straight(system, start, known)
    else:
        raise UnknownTangentsError(f"a start of kind {type(start).__name__}")
    return _on_mesh(system, state), state


def _on_mesh(system: System, state: State) -> System:
    """The system with damping ratios made viscosities."""
    lines = {}
    for name, line in system.lines.items():
        own = state.lines[name]
        deployed = own.span_lengths.sum() if len(own.span_lengths) else line.string.length - own.reeled_length
        string = line.string.on_mesh(deployed / (line.count * line.spans))
        lines[name] = changed(line, string=string)
    return changed(system, lines=lines)


def with_arrays(own: BodyState) -> BodyState:
    """A state of a body whose vectors are arrays."""
    return changed(own, **{name: stacked(x) for name, x in vars(own).items()})


def _body(system: System, name: str, given: Any, known: State) -> BodyState:
    """A body that is placed, or that is kinematic and follows its path."""
    body = system.bodies[name]
    if isinstance(body, Kinematic):
        own = changed(with_arrays(known.bodies[name]), position=stacked((given or body).position))
        if body.path is None:
            return own
        place, velocity = (x[0] for x in body.path.at(0.0)[:2])
        return changed(own, position=own.position + place, velocity=velocity)
    return with_arrays(given)


def _line(system: System, bodies: Mapping[str, BodyState], name: str, start: Placed, known: State) -> LineState:
    """A line that starts straight between its ends; UnknownTangentsError where it begins to sag."""
    line = system.lines[name]
    fields = line_fields(system, bodies, name, start.lines.get(name, LineStart()))
    found = changed(known.lines[name], **fields)
    ends = [_held(system, bodies, span) for span in system.spans(name)]
    distance: Any = sum(np.linalg.norm(b - a) for (a, _), (b, _) in ends)
    more = sum(State(bodies, {name: found}).lengths_of(system, name)) - distance
    if isinstance(more, Dual) and abs(float(more.value)) <= JUST_TAUT * line_length(line):
        slopes = [abs(x.tangent).max(initial=0.0) for x in (distance, line.string.length) if isinstance(x, Dual)]
        if np.abs(more.tangent).max(initial=0.0) > EQUAL * max(slopes, default=0.0):
            raise UnknownTangentsError(f"{name} begins to sag")
    return found


def _held(system: System, bodies: Mapping[str, BodyState], span: Span) -> list[tuple[Any, Any]]:
    """Places and velocities of both ends of a span."""
    return [point_of(system, bodies, end, point) for end, point in zip(span.ends, span.points, strict=True)]


def line_length(line: Any) -> float:
    """Length of a line without derivatives (m)."""
    return float(value_of(line.string.length))


def _straight(system: System, start: Straight, known: State) -> State:
    """One line, straight and unstretched, and its body at its end."""
    (name, line), free = next(iter(system.lines.items())), next(iter(known.lines))
    carriers = {key: _body(system, key, None, known) for key, x in system.bodies.items() if isinstance(x, Kinematic)}
    place, velocity = point_of(system, carriers, line.start, line.start_point)
    own, body = known.lines[free], system.bodies[line.end]
    assert isinstance(body, RigidBody)
    nodes = place + straight_nodes(1.0, line.count, stacked(start.along())) * start.deployed
    moving = [velocity] * line.count + [velocity + stacked(start.end_velocity)]
    R, arm = stacked(start.attitude), stacked(body.center_of_mass) - stacked(line.end_point)
    spin = stacked(start.angular_velocity)
    reeled = own.reeled_length
    if line.reel is not None:
        reeled = max(line.string.length - start.deployed, line.reel.guide_length)
    at = changed(
        known.bodies[line.end],
        position=nodes[line.count] + R @ arm,
        velocity=moving[-1] + R @ np.cross(spin, arm),
        attitude=R,
        angular_velocity=spin,
    )
    found = changed(
        own, nodes=nodes, node_velocities=np.stack(moving), reeled_length=reeled, reel_speed=start.reel_speed
    )
    return State({key: carriers.get(key, at) for key in system.bodies}, {name: found})


def _at_rest(system: System, start: Any, known: State, network: Network, places: Places, slopes: Array) -> State:
    """A state of rest, from derivatives of the unknowns of the search."""
    given = start.bodies if isinstance(start, Placed) else {}
    bodies = {
        name: _body(system, name, given.get(name) if isinstance(body, Kinematic) else known.bodies[name], known)
        for name, body in system.bodies.items()
    }
    along = _carried_along(system, bodies, slopes.shape[1])
    for b, name in enumerate(network.body_names):
        first, R = network.first_of_body[b], places.attitudes[b]
        position = Dual(places.centers[b], slopes[first : first + 3])
        attitude: Any = R
        if not network.bodies[b].body.is_point:
            turns = np.stack([hat(turn) @ R for turn in slopes[first + 3 : first + 6].T], axis=-1)
            attitude = Dual(R, turns)
        bodies[name] = changed(bodies[name], position=position, velocity=along, attitude=attitude)
    lengths = slopes[network.count :].reshape(len(network.lines), 3, -1)
    deployed = lengths[:, 0] + network.shift @ slopes[network.first_passing : network.count]
    lines, k = {}, 0
    for name, line in system.lines.items():
        own, nodes, moving = known.lines[name], list[Any](), list[Any]()
        for span in system.spans(name):
            row = network.first_of_line[k + span.number]
            inner = slopes[row : row + 3 * (line.count - 1)].reshape(-1, 3, slopes.shape[1])
            ends, rates = zip(*_held(system, bodies, span), strict=True)
            tangents = [x.tangent if isinstance(x, Dual) else np.zeros((3, slopes.shape[1])) for x in ends]
            around = np.concatenate([tangents[0][None], inner, tangents[1][None]])
            nodes.append(Dual(own.nodes[own.span_rows(span.number)], around))
            moving.append(np.stack([rates[0], *[along] * (line.count - 1), rates[1]]))
        last = k + line.spans
        lines[name] = changed(
            own,
            nodes=np.concatenate(nodes),
            node_velocities=np.concatenate(moving),
            span_lengths=Dual(own.span_lengths, deployed[k:last]) if line.is_reeved else own.span_lengths,
            reeled_length=Dual(own.reeled_length, lengths[k, 1]),
            end_reeled_length=Dual(own.end_reeled_length, lengths[last - 1, 2]),
        )
        k = last
    return State(bodies, lines)


def _carried_along(system: System, bodies: Mapping[str, BodyState], k: int) -> Any:
    """Velocity with which all that holds a system carries along what is at rest (m/s)."""
    rates = [bodies[end].velocity if end in bodies else np.zeros(3) for end in held_ends(system)]
    found = common([value_of(x) for x in rates])
    if found is None or not any(isinstance(x, Dual) for x in rates):
        return np.zeros(3) if found is None else found
    tangents = [x.tangent if isinstance(x, Dual) else np.zeros((3, k)) for x in rates]
    alike = np.array([common([x[:, j] for x in tangents]) is not None for j in range(k)])
    if found.any() and not alike.all():  # what is at rest stops where some move otherwise than others
        raise UnknownTangentsError("velocities that are no longer the same")
    return Dual(found, np.where(alike, tangents[0], 0.0))


def dual_quaternion(Q: Array, R: Any) -> Any:
    """The quaternion of an attitude with its derivatives."""
    if not isinstance(R, Dual):
        return Q
    w, x, y, z = Q
    rates = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    return Dual(Q, rates @ turns_of(R))


def start_torque(reel: Reel, deployed: Any, command: Command, given: data.Command, reeled: Any, speed: Any) -> Any:
    """Torque of the motor within its limit at the start, where it does not follow from the motion.

    Parameters
    ----------
    reel : Reel
    deployed : float
        Length that the reel feeds (m).
    command, given : Command
        As the model and as the kernels have it.
    reeled, speed : float
        Of the string on the reel (m), and its rate (m/s).
    """
    if command.kernel != "torque":
        drum = Drum(0.0, deployed, -speed, reel.radius(reeled))
        return lowering.within_limit(reel, command.motor_torque(drum, (0.0, deployed)))
    times, torques = given.times, given.torques
    i = int(np.searchsorted(value_of(times), 0.0, side="right")) - 1
    if i < 0 or i + 1 == len(times):
        return lowering.within_limit(reel, torques[max(i, 0)])
    found = torques[i] - times[i] * (torques[i + 1] - torques[i]) / (times[i + 1] - times[i])
    return lowering.within_limit(reel, found)


def plain_state(state: State) -> State:
    """State with attitudes that carry no derivatives."""
    bodies = {name: changed(x, attitude=value_of(x.attitude)) for name, x in state.bodies.items()}
    return State(bodies, state.lines)
