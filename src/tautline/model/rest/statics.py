"""States of rest with their forces: tensions, holding torques, weights and balance, by line and body."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import EquilibriumError, InputError
from tautline.model import checks
from tautline.model.drum import pull_at_guide, spooled_lever
from tautline.model.forms import in_si
from tautline.model.read_only import ReadOnly
from tautline.model.rest.at_rest import BodyAtRest, LineAtRest, Statics
from tautline.model.rest.drums import holding_torque
from tautline.model.rest.forces import counted_forces, end_forces, point_forces, weight_of_line
from tautline.model.rest.network import Network, Places
from tautline.model.rest.search import Rest, find_rest
from tautline.model.rest.states import frame_of, network_of, state_of
from tautline.model.rotations import E3
from tautline.model.string import String
from tautline.model.system.parts import Line
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.model.wording import near, no_such
from tautline.quantities import value

# Of the torque: what may be left between it and the torque that holds a free drum.
TORQUE_LEFT = 1e-9
# Of the deployed length: step of its differences, and the part that a correction leaves at least.
LENGTH_STEP, LEAST_PART = 1e-5, 0.5
MOST_LENGTHS = 40


def statics(
    system: System,
    start: Any,
    *,
    torques: Mapping[str, float | str] | None = None,
    time: float = 0.0,
    acceleration: bool = False,
    locked: Collection[str] = (),
) -> Statics:
    """State of rest near a start, with tensions, holding torques and the balance of forces.

    Weight, buoyancy, also below a free surface, drag of a steady flow and applied forces are counted. Where all that
    holds the system moves with one velocity, the system moves along and feels the flow past it.

    Parameters
    ----------
    system : System
        In uniform gravity.
    start : Hanging, Placed, AtEquilibrium, Straight or State
        Where to look from.
    torques : dict, optional
        Torques on drums (N m), by the names of their lines: these drums are free, and the lengths of their lines are
        found at which the torques hold them. Other drums are locked.
    time : float
        When (s): applied forces have their values of then, and bodies on paths their places and velocities, as if
        these lasted.
    acceleration : bool
        Balance also the inertial force of the common acceleration of all that holds the system, as if it lasted.
    locked : collection of str
        Sheaves that are held, by names such as "hoist.lower"; rope passes the others until tensions are equal, as
        without friction.

    Raises
    ------
    EquilibriumError
        Where there is no rest, or none is found; the message says which force is left, or which torque cannot hold.
    """
    system, state = meshed_start(system, start)
    known = [wheel.command for name in system.lines for wheel in system.wheels(name)]
    for name in locked:
        if name not in known:
            raise InputError(f"locked: expected names of sheaves, got {name!r}{near(name, known)}")
    wanted = _wanted_torques(system, torques)
    at = _When(time, acceleration, locked)
    if wanted:
        state = _freed(system, state, wanted, at)
    return _at_rest(system, state, at)


def meshed_start(system: System, start: Any) -> tuple[System, State]:
    """A system with the elements of its start, and the state in which it starts."""
    from tautline.model.system.starts import near_rest  # it needs the statics

    checks.instance("system", system, System)
    state = near_rest(system, start)
    return system.with_elements(state.elements()), state


class _When(NamedTuple):
    """When a system is at rest, and what is held."""

    time: float
    acceleration: bool
    locked: Collection[str]


def _at_rest(system: System, state: State, at: _When) -> Statics:
    time, acceleration, locked = at
    network, places = network_of(system, state, time, acceleration=acceleration, locked=locked)
    found = find_rest(network, places)
    rested = state_of(system, state, network, found.places, frame_of(system, time, acceleration))
    bodies = {name: _body(network, found.places, b) for b, name in enumerate(system.free_bodies)}
    return Statics(
        system,
        rested,
        ReadOnly(_lines(system, network, found, rested)),
        ReadOnly(bodies),
        ReadOnly(counted_forces(network, found.places)),
        network.largest(found.forces.gradient),
        found.corrections,
        time,
        acceleration,
    )


def _lines(system: System, network: Network, found: Rest, state: State) -> dict[str, LineAtRest]:
    w, length, strain = network.strains(found.places)
    _, tension, _ = network.elastic(strain)
    pulls = end_forces(network, found.places)
    lines, k = {}, 0
    for number, (name, line) in enumerate(system.lines.items()):
        spans, k = range(k, k + line.spans), k + line.spans
        ends = np.array([_ends(network, n, pulls[n], w, length, tension) for n in spans])
        own = slice(network.slices[spans[0]].start, network.slices[spans[-1]].stop)
        at = state.lines[name]
        held = {key: holding_torque(system, network, found.places, number, key) for key in line.reels}
        breaking = line.string.breaking_load
        lines[name] = LineAtRest(
            deployed=float(network.deployed[spans.start : spans.stop].sum()),
            stretched_length=float(length[own].sum()),
            weight=sum(weight_of_line(network, found.places, n) for n in spans),
            start_tension=float(ends[0, 0]),
            end_tension=float(ends[-1, 1]),
            start_force=pulls[spans[0], 0],
            end_force=pulls[spans[-1], 1],
            tension=tension[own],
            strain=strain[own],
            holding_torque=held.get("reel"),
            drum_radius=None if line.reel is None else float(line.reel.radius(at.reeled_length)),
            utilization=None if breaking is None else max(float(tension[own].max()), float(ends.max())) / breaking,
            span_lengths=network.deployed[spans.start : spans.stop].copy(),
            span_tensions=ends,
            end_holding_torque=held.get("end_reel"),
        )
    return lines


def _ends(network: Network, k: int, pulls: Array, w: Array, length: Array, tension: Array) -> tuple[float, float]:
    """Tension at the start and at the end of a span."""
    own = network.slices[k]
    along = w[own] / length[own, None]
    first, last = (
        tension_at_end(network.lines[k].string, pull, toward, float(beside))
        for pull, toward, beside in (
            (pulls[0], along[0], tension[own][0]),
            (pulls[1], -along[-1], tension[own][-1]),
        )
    )
    return first, last


def tension_at_end(string: String, pull: Array, toward: Array, beside: float) -> float:
    """Tension at an end from the pull there, the direction into the line and the tension of the element beside it.

    As results have it at rest (`tautline.results.ends`): negative in compression, 0 where a string is slack.
    """
    along = float(pull @ toward)
    size = float(np.linalg.norm(pull))
    aside = float(np.linalg.norm(pull - along * toward))
    if along >= 0.0 or beside > 0.0:  # against a pull the load turns the string back within half an element: a fold
        return size if string.law == "linear" or beside > 0.0 else beside
    pressed = along + aside**2 / max(size + abs(along), 1e-290)
    return pressed if string.law == "linear" else beside


def torque_against(system: System, line: Line, reeled: float, tension: float, key: str = "reel") -> float:
    """Torque that holds a drum against a tension at its guide and the weight of what is spooled (N m).

    What `holding_torque` comes to with ever finer elements.
    """
    string, reel = line.string, line.reels[key]
    pull = float(pull_at_guide(string, reel, string.strain(tension))) + spooled_pull(system, line, reeled, key)
    return float(reel.radius(reeled)) * pull


def spooled_pull(system: System, line: Line, reeled: float, key: str = "reel") -> float:
    """Weight at the drum of what is spooled and in the guide (N); 0 on a free body."""
    if system.is_free(line.at(key)[0]):
        return 0.0
    return weight_per_length(system, line) * float(spooled_lever(line.reels[key], reeled))


def weight_per_length(system: System, line: Line) -> float:
    """Weight of a line per unstretched length, less buoyancy above a surface where there is one (N/m)."""
    return float(line.string.weight(system.gravity, system.fluid))


def _body(network: Network, places: Places, b: int) -> BodyAtRest:
    own = network.bodies[b]
    forces: dict[str, Array] = {"weight": own.body.mass * network.gravity * E3}
    for point in point_forces(network, own, places.centers[b], places.attitudes[b]):
        forces[point.name] = forces.get(point.name, np.zeros(3)) + point.force
    weight = float((forces["weight"] + forces.get("buoyancy", 0.0))[2])
    return BodyAtRest(places.centers[b], places.attitudes[b], weight, ReadOnly(forces))


def _wanted_torques(system: System, given: Mapping[str, float | str] | None) -> dict[str, float]:
    if given is None:
        return {}
    checks.mapping("torques", given, "torques (N m)")
    for name in given:
        if name not in system.lines:
            raise InputError(f"torques.{name}: {no_such('line in the system', name, system.lines)}")
        if system.lines[name].reel is None:
            raise InputError(f"torques.{name}: expected a line with a reel, got one without")
    return {name: checks.number(f"torques.{name}", in_si(f"torques.{name}", x, "N*m")) for name, x in given.items()}


def _freed(system: System, state: State, torques: Mapping[str, float], when: _When) -> State:
    """State of rest whose free drums are held by given torques: Newton's method for their deployed lengths."""
    names = list(torques)
    wanted = np.array([torques[name] for name in names])
    longest = np.array([system.longest(name) for name in names])

    def held(at: State) -> tuple[Array, State]:
        found = _at_rest(system, at, when)
        return np.array([found.lines[name].holding_torque for name in names]), found.state

    def lengths(at: State) -> Array:
        return np.array([at.lengths_of(system, name).sum() for name in names])

    torque, state = held(state)
    for _ in range(MOST_LENGTHS):
        size = np.maximum(np.abs(wanted), np.abs(torque))
        if (np.abs(torque - wanted) <= TORQUE_LEFT * np.maximum(size, 1e-300)).all():
            return state
        X = lengths(state)
        slopes = np.zeros((len(names), len(names)))
        for k, name in enumerate(names):
            step = -LENGTH_STEP * X[k]
            slopes[:, k] = (held(_with_lengths(system, state, {name: X[k] + step}))[0] - torque) / step
        scale = np.abs(slopes).max(axis=1) * X.max()
        if (scale <= 1e-6 * size).any():
            break  # the torque does not depend on the lengths
        try:
            change = np.linalg.solve(slopes, wanted - torque)
        except np.linalg.LinAlgError:
            break
        new = np.clip(X + change, LEAST_PART * X, X / LEAST_PART)
        bounded = np.minimum(new, longest)
        if np.array_equal(bounded, X):
            break  # at the end of a line already
        torque, state = held(_with_lengths(system, state, dict(zip(names, bounded.tolist(), strict=True))))
    k = int(np.argmax(np.abs(torque - wanted)))
    raise EquilibriumError(
        f"torques.{names[k]}: no length of the line was found at which {value(wanted[k], 'N m')} hold its drum; "
        f"with {value(lengths(state)[k], 'm')} out it takes {value(torque[k], 'N m')}"
    )


def _with_lengths(system: System, state: State, lengths: Mapping[str, float]) -> State:
    """The state with other deployed lengths, nodes as they are."""
    lines = dict(state.lines)
    for name, length in lengths.items():
        before = state.lengths_of(system, name)
        reeled = lines[name].reeled_length + float(before.sum()) - length
        spans = before * (length / before.sum()) if len(lines[name].span_lengths) else before[:0]
        lines[name] = replace(lines[name], reeled_length=reeled, span_lengths=spans)
    return State(state.bodies, lines)
