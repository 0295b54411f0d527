"""Mass and stiffness of a system about a state of rest (docs/theory.md, equations A9 and A10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import drum, wetting
from tautline.model.directional import added_matrix, moves_fluid
from tautline.model.rest.drums import drag_on_reel, span_at, weight_and_inertia
from tautline.model.rest.flow import DIFFERENCE, density_along
from tautline.model.rest.forces import body_density
from tautline.model.rest.network import Network, Places
from tautline.model.rest.stiffness import of_elements, stiffness_of
from tautline.model.rotations import hat
from tautline.model.system.parts import Line
from tautline.model.system.system import System

# Gauss's two points on [0, 1]: exact for the kinetic energy, which is quadratic along an element.
XI = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)


class Linearized(NamedTuple):
    """M x'' + K x = 0 for the unknowns of a network, and then the reeled lengths of free drums.

    Attributes
    ----------
    M, K : array (unknowns, unknowns)
        Mass and stiffness; loads without energy with the symmetric part of their derivatives.
    drums : list of int
        Numbers of the lines whose drums are free.
    """

    M: Array
    K: Array
    drums: list[int]


def linearized(system: System, network: Network, places: Places, free: Sequence[str] = ()) -> Linearized:
    """Mass and stiffness at a state of rest."""
    drums = [k for k, name in enumerate(system.lines) if name in free]
    n, size = network.count, network.count + len(drums)
    M, K = np.zeros((2, size, size))
    M[:n, :n] = mass_matrix(system, network, places)
    stiffness = stiffness_of(network, places)
    K[:n, :n] = stiffness.energy.toarray()
    if stiffness.steady is not None:
        K[:n, :n] += 0.5 * (stiffness.steady + stiffness.steady.T).toarray()
    B = network.node_map(places)
    for row, number in enumerate(drums, start=n):
        line, k = list(system.lines.values())[number], span_at(system, number)
        border, M[row, row] = _drum_mass(system, network, places, number)
        by_nodes, K[row, row] = _drum_stiffness(system, network, places, number)
        M[row, :n] = B.T @ border.ravel()
        K[row, :n] = B.T @ by_nodes.ravel()
        if k in network.passes:  # both feed the first span
            passing = network.first_passing + network.passes.index(k)
            M[row, passing] += across_feeds(network, places, k)
            K[row, passing] -= _by_length(network, places, k)
        b = network.lines[k].bodies[0]
        if b >= 0 and line.drum_axis is not None:
            axis = spin_axis(line, places.attitudes[b])
            place = network.first_of_body[b] + 3
            M[row, place : place + 3] += drum_inertia(line, network, k) * axis
        M[:n, row], K[:n, row] = M[row, :n], K[row, :n]
    return Linearized(M, K, drums)


def mass_matrix(system: System, network: Network, places: Places) -> Array:
    """Matrix of the kinetic energy by the rates of the unknowns; drums turn with the bodies that they are on."""
    M = np.zeros((network.count, network.count))
    for b, (own, first, R) in enumerate(zip(network.bodies, network.first_of_body, places.attitudes, strict=True)):
        wide = 3 if own.body.is_point else 6
        inertia = np.zeros((6, 6))
        inertia[:3, :3] = own.body.mass * np.eye(3)
        inertia[3:, 3:] = R @ own.body.central_inertia() @ R.T
        if network.fluid is not None and own.fluid is not None and moves_fluid(own.fluid):
            share = body_density(network, own, places.centers[b], R) / network.fluid.density
            mass, across, added = added_matrix(own.fluid, own.body.center_of_mass)
            whole, turned = np.block([[mass, across], [across.T, added]]), np.kron(np.eye(2), R)
            inertia += share * turned @ whole @ turned.T
        M[first : first + wide, first : first + wide] += inertia[:wide, :wide]
    sixth = network.density * network.l / 6.0
    blocks = sixth[:, None, None] * np.kron([[2.0, 1.0], [1.0, 2.0]], np.eye(3))
    if network.fluid is not None and network.added.any():
        blocks += np.kron(np.full((2, 2), 0.25), added_to_elements(network, places))
    B = network.node_map(places)
    M += (B.T @ of_elements(network, blocks) @ B).toarray()
    for placed, node in zip(network.lines, network.first_node, strict=True):
        for at, spooled in ((node, placed.spooled), (node + placed.elements, placed.end_spooled)):
            ends = B[3 * at : 3 * at + 3].toarray()
            M += placed.string.density * spooled * ends.T @ ends
    for number, line in enumerate(system.lines.values()):
        k = span_at(system, number)
        for key, span, end in (("reel", k, 0), ("end_reel", k + line.spans - 1, 1)):
            b, reel = network.lines[span].bodies[end], line.reels.get(key)
            if reel is not None and line.drum_axis_of(key) is not None and b >= 0:
                place = network.first_of_body[b] + 3
                axis = spin_axis(line, places.attitudes[b], key)
                turning = drum_inertia(line, network, span, key)
                M[place : place + 3, place : place + 3] += turning * np.outer(axis, axis)
    if network.passes or any(line.over for line in system.lines.values()):
        _add_wheels(M, system, network, places, B)
    return M


def _add_wheels(M: Array, system: System, network: Network, places: Places, B: Any) -> None:
    """Add rope that passes sheaves and pins, the wheels, and the rope on them (theory, equation 113)."""
    k = 0
    for name, line in system.lines.items():
        for wheel in system.wheels(name):
            wrapped = line.string.density * wheel.wrap
            row = network.first_passing + network.passes.index(k) if k in network.passes else None
            if row is not None:
                for span, stop in ((k, True), (k + 1, False)):
                    border, mass = _feed_mass(network, places, span, stop)
                    by_nodes = B.T @ border.ravel()
                    M[row] += by_nodes
                    M[:, row] += by_nodes
                    M[row, row] += mass
                M[row, row] += wrapped + wheel.inertia_mass
                if k + 1 in network.passes:
                    M[row, row + 1] += across_feeds(network, places, k + 1)
                    M[row + 1, row] = M[row, row + 1]
            b = network.lines[k].bodies[1]
            if b >= 0:
                own, R, first = network.bodies[b], places.attitudes[b], network.first_of_body[b]
                wide = 3 if own.body.is_point else 6
                J = np.hstack([np.eye(3), -hat(R @ own.seen_from_center(wheel.center))])[:, :wide]
                M[first : first + wide, first : first + wide] += wrapped * J.T @ J
                if wide == 6:
                    axis, turning = wheel.radius * R @ np.array(wheel.axis), wrapped + wheel.inertia_mass
                    M[first + 3 : first + 6, first + 3 : first + 6] += turning * np.outer(axis, axis)
                    if row is not None:
                        M[row, first + 3 : first + 6] += turning * axis
                        M[first + 3 : first + 6, row] += turning * axis
            k += 1
        k += 1


def _feed_mass(network: Network, places: Places, k: int, stop: bool) -> tuple[Array, float]:
    """Mass between the feed at the start or stop of a span and the nodes (nodes, 3), and of the feed itself (kg)."""
    placed, N = network.lines[k], network.lines[k].elements
    l, first = network.deployed[k] / N, network.first_node[k]
    q = places.nodes[first : first + N + 1]
    a = (q[:-1] - q[1:]) / l
    far = XI[:, None, None]
    phi = (np.arange(N)[:, None] + far) / N
    phi = phi if stop else 1.0 - phi
    weight = 0.5 * placed.string.density * l
    border = np.zeros_like(places.nodes)
    border[first : first + N] += weight * ((1.0 - far) * phi * a).sum(axis=0)
    border[first + 1 : first + N + 1] += weight * (far * phi * a).sum(axis=0)
    return border, weight * float(((phi * a) ** 2).sum())


def across_feeds(network: Network, places: Places, k: int) -> float:
    """Mass between both feeds of a span (kg)."""
    placed, N = network.lines[k], network.lines[k].elements
    l, first = network.deployed[k] / N, network.first_node[k]
    a = np.diff(places.nodes[first : first + N + 1], axis=0) / l
    phi = (np.arange(N)[:, None] + XI[:, None, None]) / N
    return float(0.5 * placed.string.density * l * (phi * (1.0 - phi) * a * a).sum())


def _by_length(network: Network, places: Places, k: int) -> float:
    """Second derivative of the elastic energy of a span by its unstretched length (N/m)."""
    placed, part = network.lines[k], network.slices[k]
    _, length, strain = (x[part] for x in network.strains(places))
    l = network.deployed[k] / placed.elements
    return float((placed.string.slope(strain) * length**2).sum() / (placed.elements**2 * l**3))


def added_to_elements(network: Network, places: Places) -> Array:
    """Fluid that moves along with the middles of elements, across them: masses as matrices (elements, 3, 3)."""
    w, length, _ = network.strains(places)
    t = w / length[:, None]
    first, second = places.nodes[network.start], places.nodes[network.start + 1]
    mass = network.added * density_along(network, first, second) * length
    return np.asarray(mass[:, None, None] * (np.eye(3) - t[:, :, None] * t[:, None, :]))


def spin_axis(line: Line, R: Array, key: str = "reel") -> Array:
    """Axis of a drum on a body, in space, as long as its radius (m)."""
    return np.asarray(line.reels[key].drum_radius * R @ np.array(line.drum_axis_of(key)))


def drum_inertia(line: Line, network: Network, k: int, key: str = "reel") -> float:
    """Inertia of a drum on a free body with what is spooled, as a mass at the string (kg); k is that of its span."""
    spooled = network.lines[k].spooled if key == "reel" else network.lines[k].end_spooled
    found: float = line.reels[key].turning_mass + line.string.density * spooled
    return found


def _drum_mass(system: System, network: Network, places: Places, k: int) -> tuple[Array, float]:
    """Mass between the reeled length and the nodes (nodes, 3), and of the reeled length itself (kg)."""
    line, k = list(system.lines.values())[k], span_at(system, k)
    placed = network.lines[k]
    assert line.reel is not None
    border, own = _feed_mass(network, places, k, stop=False)
    if system.is_free(line.start):
        return border, own + drum_inertia(line, network, k)
    return border, own + float(drum.mass(line.reel, line.string.density, placed.spooled))


def _drum_stiffness(system: System, network: Network, places: Places, k: int) -> tuple[Array, float]:
    """Stiffness between the reeled length and the nodes (nodes, 3), and of the reeled length itself (N/m)."""
    line, k = list(system.lines.values())[k], span_at(system, k)
    placed, part = network.lines[k], network.slices[k]
    assert line.reel is not None
    N, l = placed.elements, network.deployed[k] / placed.elements
    start = network.start[part]
    w, _, strain = (x[part] for x in network.strains(places))
    slope = line.string.slope(strain)
    weight = weight_and_inertia(network, k)
    found = np.zeros_like(places.nodes)
    pull = -(slope / (N * l * l))[:, None] * w  # of the first node; w points to the second
    share = 0.5 / N * weight
    found[start] += pull + share
    found[start + 1] += -pull + share
    found[start[0]] -= weight
    if network.has_surface:
        below = network.below(places.nodes[:, 2])
        for nodes, shares in zip((start, start + 1), wetting.shares(below[start], below[start + 1]), strict=True):
            found[nodes, 2] -= network.lifts[part] / N * shares
        found[start[0], 2] += float(network.lifts[part][0]) * (below[start[0]] > 0.0)
    own = _by_length(network, places, k)
    if not system.is_free(line.start):
        own += weight[2] * float(drum.spooled(line.reel, placed.spooled).slope)
    if network.flows:
        by_nodes, force = _drag_on_reel(network, places, k)
        found -= 0.5 * by_nodes
        own -= force / (N * l)
    return found, own


def _drag_on_reel(network: Network, places: Places, k: int) -> tuple[Array, float]:
    """Derivatives by the nodes of the force of drag on the reeled length, and that force (N): string that moves."""
    part = network.slices[k]
    start = network.start[part]
    found = np.zeros_like(places.nodes)
    h = DIFFERENCE * float(network.l[part][0])
    for axis in range(3):
        for end in (0, 1):  # every other node at once
            for parity in (0, 1):
                moved = start[parity::2] + end
                d = np.zeros_like(places.nodes)
                d[moved, axis] = h
                ahead, behind = (drag_on_reel(network, places.nodes + x, k) for x in (d, -d))
                change = (ahead - behind) / (2.0 * h)
                found[moved, axis] += change[parity::2]
    return found, float(drag_on_reel(network, places.nodes, k).sum())
