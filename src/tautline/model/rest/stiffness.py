"""Sparse stiffness of a network (docs/theory.md, "Statics and modes")."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import wetting
from tautline.model.rest.flow import drag, drag_stiffness
from tautline.model.rest.forces import add_to_ends, along, loads_on_nodes, point_forces
from tautline.model.rest.network import Network, Places, turning
from tautline.model.rotations import E3, hat


class Stiffness(NamedTuple):
    """Minus the derivatives of all forces by the unknowns, sparse.

    Attributes
    ----------
    energy : sparse matrix
        Second derivatives of the energy, with drag as it is; symmetric.
    steady : sparse matrix or None
        What loads without energy add: the change of drag, and of the moments in the frame of a rotation.
    """

    energy: Any
    steady: Any

    @property
    def whole(self) -> Any:
        """Both together."""
        return self.energy if self.steady is None else self.energy + self.steady


def stiffness_of(network: Network, places: Places, *, convex: bool = False) -> Stiffness:
    """Stiffness of a network at places.

    A convex one resists every motion, for steps that lower the energy far from rest: slack elements resist as if they
    were taut, elements under compression do not give way sideways, and bodies resist turns that they would go on with.
    The change of drag is left out of it.
    """
    network.fit(places)
    w, length, strain = network.strains(places)
    _, tension, slope = network.elastic(strain)
    pull = (tension / length)[:, None] * w
    if convex:
        slope = np.where((tension <= 0.0) & (slope <= 0.0), network.hardness * network.stiffness, slope)
        tension = np.maximum(tension, 0.0)
    t = w / length[:, None]
    outer = t[:, :, None] * t[:, None, :]
    S = (slope / network.l)[:, None, None] * outer + (tension / length)[:, None, None] * (np.eye(3) - outer)
    blocks = np.concatenate([np.concatenate([S, -S], axis=2), np.concatenate([-S, S], axis=2)], axis=1)
    if network.has_surface:
        blocks += _lift_stiffness(network, places)
    B = network.node_map(places)
    energy = B.T @ of_elements(network, blocks) @ B
    if network.passes:
        energy = energy + _passing_stiffness(network, places, B, slope, strain, t)
    pushed = None
    on_nodes = loads_on_nodes(network, places)
    add_to_ends(on_nodes, network.start, pull, -pull)
    if network.flows and not convex:
        first, second = places.nodes[network.start], places.nodes[network.start + 1]
        blocks = drag_stiffness(network, first, second)
        pushed = B.T @ of_elements(network, blocks) @ B
        if network.passes:
            pushed = pushed - _passing_in_flow(network, drag(network, first, second), blocks, w, B)
    rows: list[list[Array]] = [[], []]
    at_ends, arms = on_nodes[network.end_nodes], network.arms(places)
    for b, (own, first_unknown) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        K, D = np.zeros((2, 6, 6))
        for e in np.flatnonzero(network.end_bodies == b):
            K[3:, 3:] += turning(-at_ends[e], arms[e])
            D[3:, 3:] += 0.5 * hat(hat(arms[e]) @ at_ends[e])  # rotations do not commute
        for point in point_forces(network, own, places.centers[b], places.attitudes[b]):
            K[3:, 3:] += turning(-point.force, point.arm)
            if point.stiffness is not None:
                D += point.stiffness
                D[3:, 3:] -= turning(-point.force, point.arm)
                continue
            D[3:, 3:] += 0.5 * hat(hat(point.arm) @ point.force)
            J = np.hstack([np.eye(3), -hat(point.arm)])
            for rate, gauge in point.slopes:
                part = -J.T @ np.outer(rate, np.hstack([np.eye(3), -hat(gauge)])[2])
                (D if point.energy is None else K)[:] += part
        if convex and np.isfinite(K).all():  # steps that are not finite are refused
            values, axes = np.linalg.eigh(K[3:, 3:])
            K[3:, 3:] = (axes * np.abs(values)) @ axes.T
        wide = 3 if own.body.is_point else 6
        index = first_unknown + np.arange(wide)
        for M, where in ((K, rows[0]), (D, rows[1])):
            block = np.stack([np.repeat(index, wide), np.tile(index, wide), M[:wide, :wide].ravel()])
            where.append(block)
    energy = energy + _sparse(network, rows[0])
    if convex or not network.has_steady:
        return Stiffness(energy.tocsc(), None)
    steady = _sparse(network, rows[1])
    return Stiffness(energy.tocsc(), (steady if pushed is None else pushed + steady).tocsc())


def _passing_stiffness(network: Network, places: Places, B: Any, slope: Array, strain: Array, t: Array) -> Any:
    """Second derivatives of the energy by rope that passes sheaves, and by that and the nodes."""
    from scipy.sparse import coo_matrix, diags

    D = network.length_map()
    stretched = (slope / network.l * (1.0 + strain))[:, None] * t  # pull of an element by its unstretched length
    half = 0.5 * (network.density[:, None] * network.acceleration - network.heaviness[:, None] * E3)
    first, second = stretched + half, half - stretched
    if network.has_surface:
        below = network.below(places.nodes[:, 2])
        to_first, to_second = wetting.shares(below[network.start], below[network.start + 1])
        first, second = (
            first + (network.lifts * to_first)[:, None] * E3,
            second + (network.lifts * to_second)[:, None] * E3,
        )
    elements = np.arange(len(network.l))
    rows = (3 * network.start[:, None] + np.arange(6)).ravel()
    values = np.hstack([first, second]).ravel()
    C = coo_matrix((values, (rows, np.repeat(elements, 6))), shape=(3 * network.node_count, len(elements))).tocsr()
    cross = B.T @ C @ D
    own = D.T @ diags(slope / network.l * (1.0 + strain) ** 2) @ D
    return cross + cross.T + own


def _passing_in_flow(network: Network, pushed: Array, blocks: Array, w: Array, B: Any) -> Any:
    """Derivatives of the forces of drag on rope that passes sheaves, from those on nodes (`drag_stiffness`)."""
    from scipy.sparse import coo_matrix, diags, vstack

    slopes = 2.0 * np.einsum("ei,eij->ej", w, blocks[:, :3]) - np.hstack([-pushed, pushed])
    elements = np.arange(len(w))
    columns = (3 * network.start[:, None] + np.arange(6)).ravel()
    entries = (slopes / network.l[:, None]).ravel(), (np.repeat(elements, 6), columns)
    by_nodes = coo_matrix(entries, shape=(len(w), 3 * network.node_count)).tocsr() @ B
    by_lengths = diags(-along(network, w, pushed) / network.l) @ network.length_map()
    rows = network.material_shares() @ (by_nodes + by_lengths)
    return vstack([coo_matrix((network.first_passing, network.count)), coo_matrix(rows)]).tocsr()


def _sparse(network: Network, blocks: list[Array]) -> Any:
    from scipy.sparse import coo_matrix

    rows, columns, values = np.concatenate(blocks, axis=1) if blocks else np.zeros((3, 0))
    entries = values, (rows.astype(np.intp), columns.astype(np.intp))
    return coo_matrix(entries, shape=(network.count, network.count)).tocsr()


def of_elements(network: Network, blocks: Array) -> Any:
    """Sparse matrix by the nodes from matrices (elements, 6, 6) by both nodes of each element."""
    from scipy.sparse import coo_matrix

    index = 3 * network.start[:, None] + np.arange(6)  # nodes of an element are neighbors
    rows, columns = np.repeat(index, 6, axis=1), np.tile(index, (1, 6))
    size = 3 * network.node_count
    return coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()


def _lift_stiffness(network: Network, places: Places) -> Array:
    """Second derivatives of the energy of lift of elements that cross the surface, (elements, 6, 6)."""
    below = network.below(places.nodes[:, 2])
    a, b = below[network.start], below[network.start + 1]
    crosses = a * b < 0.0
    factor = np.divide(network.lifts * network.l, np.abs(a - b) ** 3, out=np.zeros_like(a), where=crosses)
    blocks = np.zeros((len(a), 6, 6))
    blocks[:, 2, 2], blocks[:, 5, 5] = factor * b * b, factor * a * a
    blocks[:, 2, 5] = blocks[:, 5, 2] = -factor * a * b
    return blocks
