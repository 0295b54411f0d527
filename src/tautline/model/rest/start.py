"""Starts of the search for rest, from the forces alone (docs/theory.md, "Statics and modes").

In a tree, where every body hangs by one line on a fixed point or on another body, the pulls in the lines are sums of
the loads beyond, whatever the stiffness, and places follow from the pulls. Where loads change with the place, this is
repeated a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array, Indices
from tautline.model.rest.forces import forces_of, loads_on_nodes, point_forces
from tautline.model.rest.network import Network, NetworkLine, Places
from tautline.model.rotations import E3
from tautline.model.system.straight_lines import between

# How often places are found anew from the loads there, by the part of the way that is gone: where loads change much
# with the place, as in a strong current, all of it is too much.
REPEATS = {1.0: 6, 0.5: 20, 0.25: 30, 0.1: 60}
# Of the largest force: an element with less pull has no direction.
LEAST_PULL = 1e-12
# Of the moments of the loads: keeps turns that no load resists from happening.
KEEP = 1e-9
# Of the deployed length: how far aside of what holds it a floating body starts, so that its line can sag.
ASIDE = 0.1
# How often loads are found anew on a line whose body floats aside, and halvings of the bounds on its pull.
CARRIED, HALVINGS = 5, 60
# Of the largest force: pulls that leave less are near rest.
NEAR = 1e-3


class Branch(NamedTuple):
    """A line of a tree: its number, the end nearer to the root (0 or 1), and the bodies there and at the other end."""

    line: int
    near: int
    parent: int  # -1 for a fixed point
    child: int


def _outward(network: Network, branch: Branch) -> Indices:
    """Nodes of a line of a tree, from the end nearer to the root."""
    nodes = network.first_node[branch.line] + np.arange(network.lines[branch.line].elements + 1)
    return nodes if branch.near == 0 else nodes[::-1]


def starts_of(network: Network, given: Places) -> Iterator[Places]:
    """Places to search from, the best first: by pulls where that leaves less force than the given start."""
    branches = None if network.passes else tree_of(network)
    if branches is None:
        yield given
        return
    best, least = given, _unbalanced(network, given)
    near = False
    for part, repeats in REPEATS.items():
        places = given
        for _ in range(repeats):
            try:
                found = by_pulls(network, places, branches)
            except np.linalg.LinAlgError:  # of numbers that are not finite
                break
            left = _unbalanced(network, found)
            if left < least:
                best, least = found, left
            places = network.on_bodies(_between(places, found, part))
        near = least <= NEAR * forces_of(network, best).scale
        if near:
            break
    floating = [x for aside in _asides(network) if (x := _afloat(network, given, branches, aside)) is not None]
    if not near:
        yield from floating
    yield best
    if best is not given:
        yield given
    if near:
        yield from floating


def _asides(network: Network) -> tuple[float, float]:
    """How far aside floating bodies start (of the deployed length): not at all where nothing pushes them."""
    pushed = network.has_steady or any(np.any(own.force) for own in network.bodies)
    return (ASIDE, 0.0) if pushed else (0.0, ASIDE)


def _between(before: Places, after: Places, part: float) -> Places:
    """Places on the way from some to others, with the attitudes of these."""
    centers = before.centers + part * (after.centers - before.centers)
    return Places(centers, after.attitudes, before.nodes + part * (after.nodes - before.nodes))


def tree_of(network: Network) -> list[Branch] | None:
    """Lines from the fixed points outward; None where a body hangs by several lines, or by none."""
    reached, found = {-1}, []
    left = list(range(len(network.lines)))
    while left:
        k = next((k for k in left if reached & set(network.lines[k].bodies)), None)
        if k is None:
            return None
        left.remove(k)
        ends = network.lines[k].bodies
        near = 0 if ends[0] in reached else 1
        if ends[1 - near] in reached:
            return None
        reached.add(ends[1 - near])
        found.append(Branch(k, near, ends[near], ends[1 - near]))
    return found if len(reached) == len(network.bodies) + 1 else None


def by_pulls(network: Network, places: Places, branches: list[Branch]) -> Places:
    """Places of a tree whose pulls carry the loads that act at the given places."""
    on_nodes = loads_on_nodes(network, places)
    pulls, arms = _sums(network, places, branches, on_nodes)
    scale = max([float(np.abs(x).max()) for x in pulls.values()], default=0.0)
    centers, attitudes, nodes = places.centers.copy(), places.attitudes.copy(), places.nodes.copy()
    for branch in branches:
        line = network.lines[branch.line]
        index = _outward(network, branch)
        if branch.parent >= 0:
            nodes[index[0]] = centers[branch.parent] + attitudes[branch.parent] @ line.points[branch.near]
        f, before = pulls[branch.line], np.diff(places.nodes[index], axis=0)
        size = np.linalg.norm(f, axis=1)
        pulled = size > LEAST_PULL * scale
        along = np.where(pulled[:, None], f, before)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-290)
        l = line.deployed / line.elements
        strain = line.string.strain(np.where(pulled, size, 0.0))
        nodes[index[1:]] = nodes[index[0]] + np.cumsum((l * (1.0 + strain))[:, None] * along, axis=0)
        b = branch.child
        if not network.bodies[b].body.is_point:
            attitudes[b] = _turned(attitudes[b], arms[b])
        centers[b] = nodes[index[-1]] - attitudes[b] @ line.points[1 - branch.near]
    return network.on_bodies(Places(centers, attitudes, nodes))


def _sums(
    network: Network, places: Places, branches: list[Branch], on_nodes: Array
) -> tuple[dict[int, Array], dict[int, list[tuple[Array, Array]]]]:
    """Pulls in the elements of lines, from the root outward, and the forces on bodies with their arms.

    Arms are seen from where the line toward the root holds the body, in the body frame.
    """
    holds = {x.child: np.array(network.lines[x.line].points[1 - x.near]) for x in branches}
    total: dict[int, Array] = {}
    arms: dict[int, list[tuple[Array, Array]]] = {}
    for b, own in enumerate(network.bodies):
        R = places.attitudes[b]
        acting = [(own.body.mass * network.gravity * E3, -holds[b])]
        for point in point_forces(network, own, places.centers[b], R):
            acting.append((point.force, R.T @ point.arm - holds[b]))
        total[b], arms[b] = np.sum([force for force, _ in acting], axis=0), acting
    pulls = {}
    for branch in reversed(branches):
        line, loads = network.lines[branch.line], on_nodes[_outward(network, branch)]
        beyond = np.cumsum(loads[::-1], axis=0)[::-1] + total[branch.child]
        pulls[branch.line] = beyond[1:]
        if branch.parent >= 0:
            total[branch.parent] = total[branch.parent] + beyond[0]
            arms[branch.parent].append((beyond[0], np.array(line.points[branch.near]) - holds[branch.parent]))
    return pulls, arms


def _turned(R: Array, acting: list[tuple[Array, Array]]) -> Array:
    """Attitude in which constant forces at these arms have the least energy (Wahba's problem); others stay as in R."""
    B = np.sum([np.outer(force, arm) for force, arm in acting], axis=0)
    size = float(np.linalg.norm(B))
    if size == 0.0:
        return R
    U, _, Vt = np.linalg.svd(B + KEEP * size * R)
    return np.asarray(U @ np.diag([1.0, 1.0, np.linalg.det(U) * np.linalg.det(Vt)]) @ Vt)


def _afloat(network: Network, given: Places, branches: list[Branch], aside: float) -> Places | None:
    """Bodies of a tree that float are at the surface, so far aside, with their lines and all they carry below.

    Straight above or below what holds it a body leaves its line to hang in a closed loop.
    """
    fluid = network.fluid
    if fluid is None or fluid.surface is None:
        return None
    weights = _hanging_masses(network, branches)
    centers, nodes = given.centers.copy(), given.nodes.copy()
    found: set[int] = set()
    for branch in branches:
        own, line = network.bodies[branch.child], network.lines[branch.line]
        R, index = given.attitudes, _outward(network, branch)
        root, to_end = nodes[index[0]], R[branch.child] @ line.points[1 - branch.near]
        if branch.parent in found:
            root = centers[branch.parent] + R[branch.parent] @ line.points[branch.near]
        rise = fluid.surface - root[2]
        least = 0.0 if own.fluid is None else fluid.least_density * own.fluid.volume
        lift = 0.0 if own.fluid is None else fluid.density * own.fluid.volume - least
        carried = own.body.mass - least + weights[branch.child]
        if own.fluid is not None and lift > carried and abs(rise) < line.deployed:
            carried += 0.5 * (line.deployed - abs(rise)) * _heaviness(network, line)
            share = min(max(carried / lift, 0.0), 1.0)
            depth = fluid.surface + fluid.around(own.fluid).wetted_height * (share - 0.5)
            depth -= float((R[branch.child] @ own.seen_from_center(own.fluid.buoyancy_center))[2])
            end = np.array([root[0] + aside * line.deployed, root[1], depth + to_end[2]])
            if aside:
                size = float(np.linalg.norm(end - root))
                nodes[index] = between(root, end, line.deployed, size, line.elements)
                nodes[index] = _carried_away(network, branch, Places(centers, R, nodes), index, end[2], to_end)
                end = nodes[index[-1]]
            else:
                nodes[index] = _folded(root, end, line.deployed, line.elements)
        elif branch.parent in found:
            nodes[index] = root + np.linspace(0.0, line.deployed, line.elements + 1)[:, None] * E3
            end = nodes[index[-1]]
        else:
            continue
        centers[branch.child] = end - to_end
        found.add(branch.child)
    return network.on_bodies(given._replace(centers=centers, nodes=nodes)) if found else None


def _carried_away(
    network: Network, branch: Branch, places: Places, index: Indices, depth: float, to_end: Array
) -> Array:
    """Nodes of a line whose body floats, from where it is held to the depth of its end, under the loads aside.

    The pull of the body is known but for its vertical part, with which the line ends at that depth.
    """
    own, line, nodes = network.bodies[branch.child], network.lines[branch.line], places.nodes.copy()
    l, R = line.deployed / line.elements, places.attitudes[branch.child]
    for _ in range(CARRIED):
        loads = loads_on_nodes(network, places._replace(nodes=nodes))[index]
        acting = [x.force for x in point_forces(network, own, nodes[index[-1]] - to_end, R)]
        beyond = np.cumsum(loads[::-1], axis=0)[::-1][1:] + np.sum(acting, axis=0) * (1.0, 1.0, 0.0)
        if not beyond[:, :2].any():
            break
        high = float(np.abs(beyond).sum(axis=0).max())
        low = -high
        for _ in range(HALVINGS):
            pulls = beyond + 0.5 * (low + high) * E3
            size = np.maximum(np.linalg.norm(pulls, axis=1, keepdims=True), 1e-290)
            steps = l * (1.0 + line.string.strain(size)) * pulls / size
            nodes[index[1:]] = nodes[index[0]] + np.cumsum(steps, axis=0)
            middle = 0.5 * (low + high)
            low, high = (middle, high) if nodes[index[-1], 2] < depth else (low, middle)
    return np.asarray(nodes[index])


def _heaviness(network: Network, line: NetworkLine) -> float:
    """Mass of a line below the surface less that of the fluid in its place (kg/m)."""
    fluid = network.fluid
    return float(line.string.density - (0.0 if fluid is None else fluid.density) * line.string.area)


def _hanging_masses(network: Network, branches: list[Branch]) -> list[float]:
    """Mass of all that hangs on each body of a tree, less that of the fluid in its place (kg)."""
    found, fluid = [0.0] * len(network.bodies), network.fluid
    for branch in reversed(branches):
        own, line = network.bodies[branch.child], network.lines[branch.line]
        volume = 0.0 if own.fluid is None or fluid is None else fluid.density * own.fluid.volume
        beyond = found[branch.child] + own.body.mass - volume + line.deployed * _heaviness(network, line)
        if branch.parent >= 0:
            found[branch.parent] += beyond
    return found


def _folded(root: Array, end: Array, length: float, elements: int) -> Array:
    """Nodes of a line that hangs straight down from both ends, of which one is above the other."""
    along = np.linspace(0.0, length, elements + 1)
    depths = np.minimum(root[2] + along, end[2] + length - along)
    return np.stack([np.full_like(depths, root[0]), np.full_like(depths, root[1]), depths], axis=1)


def _unbalanced(network: Network, places: Places) -> float:
    """Largest force that is left (N); infinite where one is not a number."""
    left = network.largest(forces_of(network, places).gradient)
    return left if np.isfinite(left) else np.inf
