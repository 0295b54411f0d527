"""Energy and forces of a network (docs/theory.md, "Statics and modes")."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import wetting
from tautline.model.description import changed
from tautline.model.directional import is_directional, without_directions
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.rest.by_direction import InFlow, stiffness
from tautline.model.rest.flow import added_inertia, drag, flow_at, flow_drag
from tautline.model.rest.network import EPS, ROUNDINGS, Forces, Network, NetworkBody, Places
from tautline.model.rotations import E3, hat

# Step of central differences of drag on a body, of the height over which it gets wet.
DIFFERENCE = 1e-5


class PointForce(NamedTuple):
    """A force on a body at the end of an arm from its center of mass, in space.

    Attributes
    ----------
    force, arm : array (3,)
        In space.
    energy : float or None
        Its potential energy (J); None for drag.
    slopes : tuple
        Rates of the force by depths: each with the arm of the point whose depth it is.
    name : str
        Its cause: "weight", "applied_force", "buoyancy", "drag", "wing", "added_mass" or "acceleration".
    moment : array (3,)
        A moment besides, in space.
    stiffness : array (6, 6) or None
        Of a force that turns with the body: minus the derivatives of it and of its moment about the center of mass by
        displacements and rotations; of others None.
    """

    force: Array
    arm: Array
    energy: float | None
    slopes: tuple[tuple[Array, Array], ...] = ()
    name: str = ""
    moment: Array = np.zeros(3)  # never changed in place
    stiffness: Array | None = None


def forces_of(network: Network, places: Places) -> Forces:
    """Energy and forces of a network at places."""
    network.fit(places)
    w, length, strain = network.strains(places)
    density, tension, slope = network.elastic(strain)
    energies = [network.l * density, -network.weights * places.nodes[:, 2]]
    pull = (tension / length)[:, None] * w
    on_nodes = network.inertial.copy()  # forces
    on_nodes[:, 2] += network.weights
    if network.acceleration.any():
        energies.append(-(network.inertial * places.nodes).sum(axis=1))
    steady_on_nodes = np.zeros_like(on_nodes)
    add_to_ends(on_nodes, network.start, pull, -pull)
    if network.has_surface:
        energies += _lift_strings(network, places, on_nodes)
    pushed = drag(network, places.nodes[network.start], places.nodes[network.start + 1]) if network.flows else None
    if pushed is not None:
        add_to_ends(steady_on_nodes, network.start, 0.5 * pushed, 0.5 * pushed)
    arms = network.arms(places)
    spread = np.abs(places.nodes).max(axis=1)
    for node, b, arm in zip(network.end_nodes, network.end_bodies, arms, strict=True):
        spread[node] = max(spread[node], np.abs(places.centers[b]).max(), np.abs(arm).max())
    noise = np.zeros(network.node_count)
    rounded = ROUNDINGS * EPS * slope / network.l * np.maximum(spread[network.start], spread[network.start + 1])
    np.add.at(noise, network.start, rounded)
    np.add.at(noise, network.start + 1, rounded)
    gradient, steady = -_generalized(network, arms, on_nodes), _generalized(network, arms, steady_on_nodes)
    rounding = _generalized(network, arms, np.repeat(noise[:, None], 3, axis=1), sizes=True)
    scale = max(float(np.abs(tension).max()), float(np.abs(network.weights).max()))
    if network.passes:
        D = network.length_map()
        gradient += D.T @ _by_length(network, places, density - tension * (1.0 + strain))
        rounding += np.abs(D.T) @ rounded
        if pushed is not None:
            steady[network.first_passing :] = network.material_shares() @ along(network, w, pushed)
    for b, (own, first) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        turns = not own.body.is_point
        weight = own.body.mass * network.gravity
        gradient[first + 2] -= weight
        energies.append(np.array([-weight * places.centers[b, 2]]))
        scale = max(scale, weight)
        for point in point_forces(network, own, places.centers[b], places.attitudes[b]):
            target, sign = (steady, 1.0) if point.energy is None else (gradient, -1.0)
            target[first : first + 3] += sign * point.force
            if turns:
                target[first + 3 : first + 6] += sign * (np.cross(point.arm, point.force) + point.moment)
            energies.append(np.array([point.energy or 0.0]))
            scale = max(scale, float(np.abs(point.force).max()))
        if turns:
            moment = network.steady_part * np.array(own.moment)
            steady[first + 3 : first + 6] += moment
            scale = max(scale, float(np.abs(moment).max() / network.lengths[first + 3]))
    scale = max(scale, float(np.abs(steady_on_nodes).max()))
    size = float(sum(np.abs(x).sum() for x in energies))
    return Forces(float(sum(x.sum() for x in energies)), size, gradient - steady, steady, rounding, scale)


def along(network: Network, w: Array, pushed: Array) -> Array:
    """Work of drag on the material of elements, by what passes their middles towards the start of their line (N)."""
    return np.asarray(-(pushed * w).sum(axis=1) / network.l)


def _by_length(network: Network, places: Places, elastic: Array) -> Array:
    """Change of the energy of elements with their unstretched lengths (N): what a sheave feels (docs/theory.md)."""
    first, second = places.nodes[network.start], places.nodes[network.start + 1]
    found = elastic - 0.5 * network.heaviness * (first[:, 2] + second[:, 2])
    if network.acceleration.any():
        found = found + 0.5 * network.density * ((first + second) @ network.acceleration)
    if network.has_surface:
        below = network.below(places.nodes[:, 2])
        a, b = below[network.start], below[network.start + 1]
        to_first, to_second = wetting.shares(a, b)
        found = found + network.lifts * (to_first * a + to_second * b)
    return np.asarray(found)


def loads_on_nodes(network: Network, places: Places) -> Array:
    """Weight, buoyancy, drag and inertial forces on the nodes (nodes, 3)."""
    network.fit(places)
    on_nodes: Array = network.inertial.copy()
    on_nodes[:, 2] += network.weights
    if network.has_surface:
        _lift_strings(network, places, on_nodes)
    if network.flows:
        half = 0.5 * drag(network, places.nodes[network.start], places.nodes[network.start + 1])
        add_to_ends(on_nodes, network.start, half, half)
    return on_nodes


def end_forces(network: Network, places: Places) -> Array:
    """Forces with which lines pull at what holds their starts and ends (lines, 2, 3); what is spooled not included."""
    network.fit(places)
    w, length, strain = network.strains(places)
    _, tension, _ = network.elastic(strain)
    pull = (tension / length)[:, None] * w
    on_nodes = loads_on_nodes(network, places)
    add_to_ends(on_nodes, network.start, pull, -pull)
    found = np.zeros((len(network.lines), 2, 3))
    for k, (line, first) in enumerate(zip(network.lines, network.first_node, strict=True)):
        found[k] = on_nodes[first], on_nodes[first + line.elements]
        found[k, 0] -= _spooled_forces(network, places, k, 0)
        found[k, 1] -= _spooled_forces(network, places, k, 1)
    return found


def _spooled_forces(network: Network, places: Places, k: int, end: int) -> Array:
    """Weight less buoyancy, and inertial force, of what is spooled at the start (0) or end (1) of a line."""
    line, element = network.lines[k], network.slices[k].start
    node, spooled = network.first_node[k] + end * line.elements, (line.spooled, line.end_spooled)[end]
    down = float(network.heaviness[element])
    if network.has_surface and network.below(places.nodes[node, 2]) > 0.0:
        down -= float(network.lifts[element])
    return spooled * (down * E3 - line.string.density * network.acceleration)


def weight_of_line(network: Network, places: Places, k: int) -> float:
    """Weight of the deployed string of a line, less buoyancy where it lies (N)."""
    part = network.slices[k]
    weight = network.deployed[k] * network.heaviness[part.start]
    if network.has_surface:
        start = network.start[part]
        below = network.below(places.nodes[:, 2])
        weight -= float((network.lifts * network.l)[part] @ sum(wetting.shares(below[start], below[start + 1])))
    return float(weight)


def counted_forces(network: Network, places: Places) -> dict[str, Array]:
    """Sums of the forces on bodies and deployed lines (N): "weight", and the others as far as they are there."""
    weight = sum(own.body.mass for own in network.bodies)
    weight += sum(line.string.density * x for line, x in zip(network.lines, network.deployed.tolist(), strict=True))
    found: dict[str, Array] = {"weight": network.gravity * weight * E3}

    def add(name: str, force: Any) -> None:
        found[name] = found.get(name, np.zeros(3)) + force

    fluid = network.fluid
    first, second = places.nodes[network.start], places.nodes[network.start + 1]
    if fluid is not None:
        lines = range(len(network.lines))
        densities = (line.string.density for line in network.lines)
        heavy = sum(x * y for x, y in zip(densities, network.deployed.tolist(), strict=True)) * network.gravity
        add("buoyancy", (sum(weight_of_line(network, places, k) for k in lines) - heavy) * E3)
        if network.flows:
            add("drag", flow_drag(network, first, second).sum(axis=0))
    if network.acceleration.any():
        add("acceleration", -sum(x.string.density * x.deployed for x in network.lines) * network.acceleration)
        if fluid is not None:
            add("acceleration", added_inertia(network, first, second).sum(axis=0))
    for b, own in enumerate(network.bodies):
        for point in point_forces(network, own, places.centers[b], places.attitudes[b]):
            add(point.name, point.force)
    return found


def _generalized(network: Network, arms: Array, at_nodes: Array, *, sizes: bool = False) -> Array:
    """Forces on the unknowns from forces at the nodes; of sizes of forces: the largest that they may add up to."""
    x = np.zeros(network.count)
    x[network.first_of_line[0] : network.first_passing] = at_nodes[network.inner].ravel()
    for node, b, arm in zip(network.end_nodes, network.end_bodies, arms, strict=True):
        first, force = network.first_of_body[b], at_nodes[node]
        x[first : first + 3] += force
        if not network.bodies[b].body.is_point:
            x[first + 3 : first + 6] += 2.0 * force * np.abs(arm).max() if sizes else hat(arm) @ force
    return x


def add_to_ends(at_nodes: Array, start: Any, first: Array, second: Array) -> None:
    np.add.at(at_nodes, start, first)
    np.add.at(at_nodes, start + 1, second)


def _lift_strings(network: Network, places: Places, on_nodes: Array) -> list[Array]:
    """Add the lift of strings below the surface, as far as it is more than above; its energies (equation 96)."""
    below = network.below(places.nodes[:, 2])
    first, second = below[network.start], below[network.start + 1]
    to_first, to_second = wetting.shares(first, second)
    lift = network.lifts * network.l
    np.add.at(on_nodes[:, 2], network.start, -lift * to_first)
    np.add.at(on_nodes[:, 2], network.start + 1, -lift * to_second)
    energies = [lift * (to_first * first + to_second * second)]
    for first_node, line, part in zip(network.first_node, network.lines, network.slices, strict=True):
        for node, length in ((first_node, line.spooled), (first_node + line.elements, line.end_spooled)):
            spooled = float(network.lifts[part][0]) * length
            on_nodes[node, 2] -= spooled * (below[node] > 0.0)
            energies.append(np.array([spooled * max(below[node], 0.0)]))
    return energies


def _lift(lift: float, arm: Array, depth: float, height: float) -> PointForce:
    """Buoyancy of something of a height, from the depth of its middle below the surface, more than above that."""
    share = 0.5 + depth / height  # beyond 0 and 1: all dry, all wet
    wet = min(max(share, 0.0), 1.0)
    slope = -lift / height * (0.0 < share < 1.0) * E3
    energy = lift * height * (0.5 * wet * wet + max(share - 1.0, 0.0))
    return PointForce(-lift * wet * E3, arm, energy, ((slope, arm),), "buoyancy")


def point_forces(network: Network, own: NetworkBody, center: Array, R: Array) -> list[PointForce]:
    """Forces on a body besides its weight: applied, of the frame's acceleration, buoyancy and drag."""
    found = []
    force = np.array(own.force, dtype=float)
    if force.any():
        arm = R @ np.array(own.point)
        found.append(PointForce(force, arm, -float(force @ (center + arm)), name="applied_force"))
    if network.acceleration.any():
        force = -own.body.mass * network.acceleration
        found.append(PointForce(force, np.zeros(3), -float(force @ center), name="acceleration"))
    fluid, feels = network.fluid, own.fluid
    for x in own.carried:
        lost = 0.0 if fluid is None else fluid.least_density * x.volume
        force = (x.mass - lost) * network.gravity * E3 - x.mass * network.acceleration
        arm = R @ np.array(x.center)
        found.append(PointForce(force, arm, -float(force @ (center + arm)), name="weight"))
        if fluid is not None and fluid.surface is not None:
            lift = 0.5 * network.gravity * fluid.added_below * x.volume
            arms = [R @ np.array(point) for point in x.points]
            found += [_lift(lift, arm, float(center[2] + arm[2]) - fluid.surface, x.height) for arm in arms]
    if fluid is None or feels is None:
        return found
    if network.flows and is_directional(feels):
        found += _by_direction(network, own, fluid, feels, center, R)
    feels = changed(feels, **without_directions(feels))
    arm = R @ own.seen_from_center(feels.buoyancy_center)
    z = float(center[2] + arm[2])
    everywhere = network.gravity * fluid.least_density * feels.volume
    if everywhere:
        found.append(PointForce(-everywhere * E3, arm, everywhere * z, name="buoyancy"))
    around = fluid.around(feels)
    height, wet = around.wetted_height, around.wet_part(z)
    density, rate = fluid.density_at(wet), fluid.added_below / height * (0.0 < wet < 1.0)  # and how it grows with depth
    if fluid.surface is not None:
        found.append(_lift(network.gravity * fluid.added_below * feels.volume, arm, z - fluid.surface, height))
    if network.acceleration.any() and feels.added_mass:
        force = -network.steady_part * feels.added_mass / fluid.density * network.acceleration
        found.append(PointForce(density * force, arm, None, ((rate * force, arm),), "acceleration"))
    if network.flows and feels.drag_area:
        place = R @ own.seen_from_center(feels.drag_center)
        d, depth = DIFFERENCE * height, float(center[2] + place[2])
        u, below, above = (flow_at(fluid, depth + x) for x in (0.0, d, -d))
        half = network.steady_part * 0.5 * feels.drag_area
        force, before, after = (half * np.linalg.norm(x) * x for x in (u, above, below))
        slopes = ((density * (after - before) / (2.0 * d), place), (rate * force, arm))
        found.append(PointForce(density * force, place, None, slopes, "drag"))
    return found


def _by_direction(
    network: Network, own: NetworkBody, fluid: Fluid, feels: BodyInFluid, center: Array, R: Array
) -> list[PointForce]:
    """Forces of a flow that turn with a body."""
    body = InFlow(fluid, feels, own, network.acceleration)
    height, part, found = fluid.around(feels).wetted_height, network.steady_part, []
    for of in (body.drag, body.wing, body.added_mass):
        x = of(center, R)
        K = part * stiffness(of, center, R, height)
        if K.any() or x.force.any():
            found.append(PointForce(part * x.force, x.arm, None, (), of.__name__, part * x.moment, K))
    return found


def body_density(network: Network, own: NetworkBody, center: Array, R: Array) -> float:
    """Mean density of the fluid around a body (kg/m^3)."""
    assert network.fluid is not None
    assert own.fluid is not None
    return InFlow(network.fluid, own.fluid, own, network.acceleration).density(center, R)
