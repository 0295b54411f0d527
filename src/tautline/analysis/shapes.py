"""Shapes of small oscillations: turned, scaled and named, and places at rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.analysis.linearized import Linearized
from tautline.arrays import TINY_LENGTH, Array
from tautline.model.rest.drums import holding_torque
from tautline.model.rest.network import Network, Places
from tautline.model.rotations import hat
from tautline.model.system.state import State
from tautline.model.system.system import System

# Squared frequencies that differ by less, relatively, belong to one frequency, whose shapes may be mixed at will.
SAME = 1e-8
# Of its largest: displacements below this do not count as a change of side.
SIDE = 1e-3
# Meters per radian: with less displacement than this, only bodies turn.
STILL = 1e-6


class AtRest(NamedTuple):
    """A system at rest, as a network."""

    system: System
    state: State
    network: Network
    places: Places


def carried(network: Network, field: Array, size: int) -> Array:
    """Motions (modes, size) from displacements of nodes (modes, nodes, 3): bodies go with the mean of their ends.

    They do not turn, and drums stand still.
    """
    x = np.zeros((len(field), size))
    first = network.first_of_line[0]
    x[:, first : first + 3 * len(network.inner)] = field[:, network.inner].reshape(len(field), -1)
    for b, place in enumerate(network.first_of_body):
        ends = network.end_nodes[network.end_bodies == b]
        if len(ends):
            x[:, place : place + 3] = field[:, ends].mean(axis=1)
    return x


def turned_towards_x(network: Network, places: Places, squares: Array, shapes: Array, M: Array) -> Array:
    """Within one frequency, shapes in the order of how much of their motion is along x."""
    along_x = carried(network, _displacements(network, places, shapes) * np.array([1.0, 0.0, 0.0]), len(M))
    inertia, inertia_x = shapes @ M, along_x @ M
    result = shapes.copy()
    first = 0
    for last in range(1, len(squares) + 1):
        if last < len(squares) and squares[last] - squares[first] <= SAME * abs(squares[last]):
            continue
        if last - first > 1:
            same = slice(first, last)
            # the shapes themselves are orthonormal in M only up to their lengths
            unit = np.linalg.inv(np.linalg.cholesky(inertia[same] @ shapes[same].T))
            part = unit @ inertia_x[same] @ along_x[same].T @ unit.T
            result[same] = np.linalg.eigh(part)[1].T[::-1] @ unit @ shapes[same]
        first = last
    return result


def _displacements(network: Network, places: Places, shapes: Array) -> Array:
    """Displacements of all nodes (modes, nodes, 3)."""
    return np.asarray((network.node_map(places) @ shapes[:, : network.count].T).T.reshape(len(shapes), -1, 3))


def shapes_of(at_rest: AtRest, matrices: Linearized, squares: Array, shapes: Array) -> dict[str, Any]:
    """Scaled shapes, where their kinetic energy is, and what they are called."""
    system, network, places = at_rest.system, at_rest.network, at_rest.places
    y = shapes / _scales(network, places, shapes)[:, None]
    M = matrices.M
    shape = _displacements(network, places, y)
    t = _tangents(network, places.nodes)
    along = np.einsum("mna,na->mn", shape, t)[:, :, None] * t
    lengthwise = carried(network, along, len(M))
    lengthwise[:, network.first_passing :] = y[:, network.first_passing :]
    modal_mass = ((y @ M) * y).sum(axis=1)
    longitudinal = ((lengthwise @ M) * lengthwise).sum(axis=1) / modal_mass
    moved, turns = np.zeros((2, len(y), len(system.bodies), 3))
    turning = np.zeros(len(y))
    names = list(system.bodies)
    for b, (name, own, first) in enumerate(zip(network.body_names, network.bodies, network.first_of_body, strict=True)):
        moved[:, names.index(name)] = y[:, first : first + 3]
        if not own.body.is_point:
            turn = y[:, first + 3 : first + 6] @ places.attitudes[b]
            turns[:, names.index(name)] = turn
            turning += ((turn @ own.body.central_inertia()) * turn).sum(axis=1)
    turning /= modal_mass
    reel = np.zeros((len(y), len(system.lines)))
    reel[:, matrices.drums] = y[:, network.count :]
    kinds = zip(squares, longitudinal, turning, shape - along, strict=True)
    return {
        "kind": [_kind(network, *row) for row in kinds],
        "shape": shape,
        "body_shape": moved,
        "rotation": turns,
        "reel": reel,
        "passed": _passed(system, network, y),
        "modal_mass": modal_mass,
        "longitudinal_share": longitudinal,
        "rotation_share": turning,
    }


def _passed(system: System, network: Network, y: Array) -> Array:
    """Rope that passes each sheave and pin, (modes, sheaves); none where it is locked."""
    spans = [(name, k) for name, line in system.lines.items() for k in range(line.spans)]
    before = [i for i, (name, k) in enumerate(spans) if k < system.lines[name].spans - 1]
    found = np.zeros((len(y), len(before)))
    for j, k in enumerate(network.passes):
        found[:, before.index(k)] = y[:, network.first_passing + j]
    return found


def places_of(at_rest: AtRest) -> dict[str, Any]:
    """Places at rest, and the torques that hold free drums there."""
    system, network, places = at_rest.system, at_rest.network, at_rest.places
    torques = [
        np.nan if line.reel is None else holding_torque(system, network, places, k)
        for k, line in enumerate(system.lines.values())
    ]
    bodies, lines = at_rest.state.bodies, at_rest.state.lines
    return {
        "position": places.nodes,
        "body_position": np.array([bodies[name].position for name in system.bodies]).reshape(-1, 3),
        "attitude": np.array([bodies[name].attitude for name in system.bodies]).reshape(-1, 3, 3),
        "reeled_length": np.array([lines[name].reeled_length for name in system.lines]),
        "end_reeled_length": np.array([lines[name].end_reeled_length for name in system.lines]),
        "span_length": np.concatenate([at_rest.state.lengths_of(system, name) for name in system.lines]),
        "balancing_torque": np.array(torques),
    }


def _scales(network: Network, places: Places, shapes: Array) -> Array:
    """Largest displacement of a node, of a center of mass about a line's end or of a reel; or the rotation.

    With the sign that moves the first line forwards next to its start, along the axis in which it moves most there.
    """
    nodes = _displacements(network, places, shapes)
    sizes = np.linalg.norm(nodes, axis=2)
    moved = np.maximum(sizes.max(axis=1), np.abs(shapes[:, network.first_passing :]).max(axis=1, initial=0.0))
    rotations = np.zeros((len(shapes), max(len(network.bodies), 1), 3))
    for b, (own, first) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        if not own.body.is_point:
            rotations[:, b] = shapes[:, first + 3 : first + 6]
    for b, arm in zip(network.end_bodies, network.arms(places), strict=True):
        moved = np.maximum(moved, np.linalg.norm(rotations[:, b] @ hat(arm), axis=1))
    turned = np.linalg.norm(rotations, axis=2)
    most = turned.max(axis=1)
    scales = np.zeros(len(shapes))
    for m in range(len(shapes)):
        if moved[m] > STILL * most[m]:
            node = 1 if sizes[m, 1] > STILL * moved[m] else int(np.argmax(sizes[m]))
            forwards, size = nodes[m, node], moved[m]
        else:
            b = int(np.argmax(turned[m]))
            forwards, size = rotations[m, b] @ places.attitudes[b], most[m]
        scales[m] = np.copysign(size if size > 0.0 else 1.0, forwards[np.argmax(np.abs(forwards))])
    return scales


def _tangents(network: Network, q: Array) -> Array:
    """Unit vectors along the lines at the nodes."""
    found = np.zeros_like(q)
    for line, first in zip(network.lines, network.first_node, strict=True):
        t = np.diff(q[first : first + line.elements + 1], axis=0)
        t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), TINY_LENGTH)
        at_nodes = np.vstack([t[:1], t[:-1] + t[1:], t[-1:]])
        size = np.maximum(np.linalg.norm(at_nodes, axis=1, keepdims=True), TINY_LENGTH)
        found[first : first + line.elements + 1] = at_nodes / size
    return found


def _kind(network: Network, square: float, longitudinal: float, turning: float, across: Array) -> str:
    if square == 0.0:
        return "rigid"
    if turning > 0.5:
        return "body"
    if longitudinal > 0.5:
        return "longitudinal"
    largest = float(np.linalg.norm(across, axis=1).max())
    swings = all(
        _swings(across[first : first + line.elements + 1], line.bodies, SIDE * largest)
        for line, first in zip(network.lines, network.first_node, strict=True)
    )
    return "swing" if swings else "transverse"


def _swings(across: Array, bodies: tuple[int, int], least: float) -> bool:
    """Whether a line goes to one side, farthest at a free body; or hardly moves."""
    side = across @ np.linalg.svd(across, full_matrices=False)[2][0]
    if float(np.abs(side).max()) <= least:
        return True
    ends = [x for x, b in zip((side[0], side[-1]), bodies, strict=True) if b >= 0]
    if not ends:
        return False
    far = max(ends, key=abs)
    side = side * np.copysign(1.0, far)
    largest = float(np.abs(side).max())
    return bool(side.min() >= -SIDE * largest and abs(far) >= (1.0 - SIDE) * largest)
