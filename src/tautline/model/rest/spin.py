"""Spins at rest about axes that nothing holds, of bodies and of all that hangs on them: (A12) of docs/theory.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import TINY_LENGTH, Array
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places, rotated
from tautline.model.rest.stiffness import stiffness_of

# Of the largest stiffness against a turn: what resists less leaves a spin free.
FREE = 1e-10
# Part of a half turn's quaternion beside which the spin in a turn is lost.
UPSIDE_DOWN = 1e-6


class Spin(NamedTuple):
    """Turn of a body about an axis that nothing holds, beyond its closest attitude to that in which it was placed.

    Attributes
    ----------
    bodies : tuple of int
        The body, and others that turn along with it.
    turns : slice
        Of the body's rotation among the unknowns.
    axis, point : array (3,)
        In space; the axis of either sign.
    motion : array (unknowns,)
        Of everything that turns along, for a turn by 1 rad.
    angle : float
        About the axis (rad).
    """

    bodies: tuple[int, ...]
    turns: slice
    axis: Array
    point: Array
    motion: Array
    angle: float


def free_spins(network: Network, given: Array, places: Places) -> list[Spin]:
    """Spins at places of bodies that were placed in given attitudes, from what holds the system outward."""
    from scipy.spatial.transform import Rotation

    if not network.turning.any():
        return []
    matrix, left = stiffness_of(network, places).whole, float(np.linalg.norm(forces_of(network, places).gradient))
    sizes, found = abs(matrix), list[Spin]()
    for b, first in enumerate(network.first_of_body):
        turns = slice(first + 3, first + 6)
        for bodies, axis, point in _ways(network, places, b, matrix):
            motion = _motion(network, places, bodies, axis, point)
            firm = FREE * float((sizes @ np.abs(motion)).max())
            if np.linalg.norm(matrix @ motion) <= firm + left:  # beside rest, forces that are left turn along
                break
        else:
            continue
        *turn, real = Rotation.from_matrix(places.attitudes[b] @ given[b].T).as_quat()
        about = axis @ turn
        if np.hypot(about, real) > UPSIDE_DOWN:
            found.append(Spin(bodies, turns, axis, point, motion, 2.0 * float(np.arctan(about / real))))
    return sorted(found, key=lambda spin: -len(spin.bodies))


def without_spins(network: Network, given: Array, places: Places) -> Places:
    """Places with bodies turned back by what they have spun, and all that hangs on these."""
    spins = free_spins(network, given, places)
    for k in range(len(spins)):
        if k and len(spins[k - 1].bodies) > 1:  # what is farther out has turned along
            spins = free_spins(network, given, places)
        places = _turned(network, places, spins[k]) if k < len(spins) and spins[k].angle else places
    return places


def _ways(network: Network, places: Places, b: int, matrix: Any) -> Iterator[tuple[tuple[int, ...], Array, Array]]:
    """Bodies, axes and points about which a body may spin: by itself, or with all that hangs on it about its line."""
    if network.bodies[b].body.is_point:
        return
    first = network.first_of_body[b] + 3
    _, sizes, axes = np.linalg.svd(matrix[:, first : first + 3].toarray())
    if sizes[1] <= FREE * sizes[0]:  # no force turns it
        return
    yield (b,), axes[2], places.centers[b]
    for k, (line, node) in enumerate(zip(network.lines, network.first_node, strict=True)):
        for end, at, inner in ((0, node, node + 1), (1, node + line.elements, node + line.elements - 1)):
            beyond = _beyond(network, k, b) if line.bodies[end] == b else {-1}
            if not beyond & {-1, line.bodies[1 - end]}:
                along = places.nodes[at] - places.nodes[inner]
                yield (
                    (b, *sorted(beyond - {b})),
                    along / max(float(np.linalg.norm(along)), TINY_LENGTH),
                    places.nodes[at],
                )


def _beyond(network: Network, k: int, body: int) -> set[int]:
    """Bodies that hang together with one without a line."""
    found = {body}
    while True:
        others = (line.bodies for j, line in enumerate(network.lines) if j != k and found & set(line.bodies))
        more = {b for ends in others for b in ends} - found
        if not more or -1 in found:
            return found
        found |= more


def _moves_along(network: Network, bodies: tuple[int, ...]) -> Any:
    """Inner nodes of lines between bodies."""
    both = network.each(lambda line: set(line.bodies) <= set(bodies)).astype(bool) if len(bodies) > 1 else None
    return network.inner[:0] if both is None else np.intersect1d(network.start[both], network.inner)


def _motion(network: Network, places: Places, bodies: tuple[int, ...], axis: Array, point: Array) -> Array:
    """Motion of all unknowns of bodies, and of lines between them, that turn about an axis through a point."""
    found, nodes = np.zeros(network.count), np.zeros_like(places.nodes)
    for b in bodies:
        first = network.first_of_body[b]
        found[first : first + 3] = np.cross(axis, places.centers[b] - point)
        if not network.bodies[b].body.is_point:
            found[first + 3 : first + 6] = axis
    moving = _moves_along(network, bodies)
    nodes[moving] = np.cross(axis, places.nodes[moving] - point)
    found[network.first_of_line[0] : network.first_passing] = nodes[network.inner].ravel()
    return found


def _turned(network: Network, places: Places, spin: Spin) -> Places:
    """Places with a spin turned back."""
    R = rotated(np.eye(3), -spin.angle * spin.axis)
    centers, attitudes, nodes = places.centers.copy(), places.attitudes.copy(), places.nodes.copy()
    for b in spin.bodies:
        centers[b] = spin.point + R @ (centers[b] - spin.point)
        attitudes[b] = R @ attitudes[b]
    moving = _moves_along(network, spin.bodies)
    nodes[moving] = spin.point + (nodes[moving] - spin.point) @ R.T
    return network.on_bodies(places._replace(centers=centers, attitudes=attitudes, nodes=nodes))
