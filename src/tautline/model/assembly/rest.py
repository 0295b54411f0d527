"""States of rest of an assembly: its potential energy, forces and stiffness, and Newton's method on them.

Unknown are the inner nodes of all strings, and position and attitude of every free body; reels are held. A small
rotation of a body is a vector in space, so that a point of it moves by the cross product with its arm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.arrays import TINY_LENGTH, Array
from tautline.errors import EquilibriumError, InputError
from tautline.model import checks
from tautline.model.assembly.assembly import Assembly
from tautline.model.assembly.parts import ANCHOR, Line
from tautline.model.assembly.state import AssemblyState, BodyState, LineState
from tautline.model.body import RigidBody

# Largest force that is left (over the weights and pulls there are), corrections at most, and halvings of one.
REST = 1e-9
MOST_CORRECTIONS = 500
MOST_HALVINGS = 40
# Part of the energy that is rounding, and of the largest stiffness that counts as none.
ROUNDING, LEAST_SOFTNESS = 1e-12, 1e-13
Indices = NDArray[np.intp]
DOWN = np.array([0.0, 0.0, 1.0])


def hat(a: Array) -> Array:
    """The matrix of the cross product with a."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotated(R: Array, turn: Array) -> Array:
    """An attitude turned by a small rotation in space, exactly a rotation."""
    C = hat(0.5 * turn)
    return np.asarray(np.linalg.solve(np.eye(3) - C, (np.eye(3) + C) @ R))


class Places(NamedTuple):
    """Where everything is."""

    bodies: dict[str, tuple[Array, Array]]  # centre of mass and attitude of every body
    nodes: dict[str, Array]  # of the strings, with both ends


class Unknowns:
    """Places of the unknowns of an assembly among all.

    Attributes
    ----------
    bodies : dict
        First place of the six of each free body: position, then rotation.
    nodes : dict
        First place of the inner nodes of each string.
    count : int
        Of all.
    """

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.bodies: dict[str, int] = {}
        self.nodes: dict[str, int] = {}
        self.count = 0
        for name, body in assembly.bodies.items():
            if isinstance(body, RigidBody):
                self.bodies[name] = self.count
                self.count += 6
        for name, line in assembly.strings.items():
            self.nodes[name] = self.count
            self.count += 3 * (line.elements - 1)

    def arm(self, end: str, point: object, places: Places) -> Array:
        """From the centre of mass of what holds an end to the end, in space."""
        body = self.assembly.bodies.get(end)
        center = np.array(body.center_of_mass) if isinstance(body, RigidBody) else np.zeros(3)
        return np.asarray(places.bodies[end][1] @ (np.array(point) - center))

    def node_map(self, name: str, places: Places) -> list[tuple[Indices, Array]]:
        """For every node of a string: places of the unknowns that move it, and how (3 x their number)."""
        line = self.assembly.strings[name]
        maps: list[tuple[Indices, Array]] = []
        for i in range(line.elements + 1):
            if 0 < i < line.elements:
                first = self.nodes[name] + 3 * (i - 1)
                maps.append((np.arange(first, first + 3), np.eye(3)))
                continue
            end, point = (line.start, line.start_point) if i == 0 else (line.end, line.end_point)
            if end not in self.bodies:
                maps.append((np.arange(0), np.zeros((3, 0))))
                continue
            first = self.bodies[end]
            arm = self.arm(end, point, places)
            maps.append((np.arange(first, first + 6), np.hstack([np.eye(3), -hat(arm)])))
        return maps

    def moved(self, places: Places, x: Array) -> Places:
        """Places after a small motion."""
        bodies = dict(places.bodies)
        for name, first in self.bodies.items():
            place, R = places.bodies[name]
            bodies[name] = place + x[first : first + 3], rotated(R, x[first + 3 : first + 6])
        moved = Places(bodies, {})
        for name, line in self.assembly.strings.items():
            nodes = places.nodes[name].copy()
            first = self.nodes[name]
            nodes[1:-1] += x[first : first + 3 * (line.elements - 1)].reshape(-1, 3)
            for i, (end, point) in ((0, (line.start, line.start_point)), (-1, (line.end, line.end_point))):
                if end != ANCHOR:
                    nodes[i] = bodies[end][0] + self.arm(end, point, moved)
            moved.nodes[name] = nodes
        return moved


def places_of(state: AssemblyState) -> Places:
    bodies = {name: (np.array(x.position), np.array(x.attitude)) for name, x in state.bodies.items()}
    return Places(bodies, {name: x.nodes for name, x in state.strings.items()})


class Balance(NamedTuple):
    """Potential energy, its gradient and its second derivatives by the unknowns, and the largest single force."""

    energy: float
    gradient: Array
    stiffness: Array
    scale: float


def _tangent(line: Line, strain: Array) -> Array:
    """Slope of the tension by the strain."""
    if line.string.law != "table":
        slope = np.full(len(strain), line.string.stiffness)
        return slope if line.string.law == "linear" else np.where(strain > 0.0, slope, 0.0)
    step = 1e-6
    rise = line.string.tension(strain + step) - line.string.tension(strain - step)
    return np.asarray(0.5 * rise / step)


def _turning(force: Array, arm: Array) -> Array:
    """Second derivatives by a rotation of the work of a force at the end of an arm."""
    turned = hat(force) @ hat(arm)
    return np.asarray(0.5 * (turned + turned.T))


def refuse_moving_fluid(assembly: Assembly, what: str) -> None:
    """Refuse a fluid in which states of rest are not looked for."""
    fluid = assembly.fluid
    if fluid is not None and (fluid.surface is not None or np.any(fluid.flow[1])):
        raise InputError(
            f"assembly: expected no fluid or one that is still and everywhere for {what}, got one with a surface or a "
            "flow; simulate with damping until it is at rest"
        )


def balance(unknowns: Unknowns, state: AssemblyState, places: Places) -> Balance:
    """Energy and its derivatives at places; strings keep the deployed lengths of the state."""
    assembly, n = unknowns.assembly, unknowns.count
    g = float(assembly.gravity or 0.0)
    density = 0.0 if assembly.fluid is None else assembly.fluid.density
    energy, gradient, K, scale = 0.0, np.zeros(n), np.zeros((n, n)), 0.0
    for name, first in unknowns.bodies.items():
        body = assembly.bodies[name]
        assert isinstance(body, RigidBody)
        energy -= body.mass * g * places.bodies[name][0][2]
        gradient[first + 2] -= body.mass * g
        scale = max(scale, body.mass * g)
        if name in assembly.in_fluid:
            own = assembly.in_fluid[name]
            lift = g * density * own.volume * DOWN
            arm = unknowns.arm(name, own.buoyancy_center or body.center_of_mass, places)
            energy += float(lift @ (places.bodies[name][0] + arm))
            gradient[first : first + 3] += lift
            gradient[first + 3 : first + 6] += np.cross(arm, lift)
            K[first + 3 : first + 6, first + 3 : first + 6] += _turning(lift, arm)
    for name, line in assembly.strings.items():
        nodes, maps = places.nodes[name], unknowns.node_map(name, places)
        l = (line.string.length - state.strings[name].reeled_length) / line.elements
        w = np.diff(nodes, axis=0)
        lengths = np.maximum(np.linalg.norm(w, axis=1), TINY_LENGTH)
        strain = lengths / l - 1.0
        tension, slope = line.string.tension(strain), _tangent(line, strain)
        energy += l * float(np.sum(line.string.energy_density(strain)))
        heaviness = g * (line.string.density - density * line.string.area)
        weight = heaviness * l * np.ones(line.elements + 1)
        weight[[0, -1]] *= 0.5
        if line.reel is not None:
            weight[0] += heaviness * state.strings[name].reeled_length
        energy -= float(weight @ nodes[:, 2])
        forces = -weight[:, None] * DOWN
        for e in range(line.elements):
            t = w[e] / lengths[e]
            forces[e] -= tension[e] * t
            forces[e + 1] += tension[e] * t
            across = tension[e] / lengths[e] * (np.eye(3) - np.outer(t, t)) + slope[e] / l * np.outer(t, t)
            for a, (rows, A) in ((0, maps[e]), (1, maps[e + 1])):
                for b, (columns, B) in ((0, maps[e]), (1, maps[e + 1])):
                    K[np.ix_(rows, columns)] += (1.0 if a == b else -1.0) * A.T @ across @ B
        for (rows, A), force in zip(maps, forces, strict=True):
            gradient[rows] += A.T @ force
        for i, (end, point) in ((0, (line.start, line.start_point)), (-1, (line.end, line.end_point))):
            if end in unknowns.bodies:  # a rotation turns the arm of the force too
                place = unknowns.bodies[end] + 3
                K[place : place + 3, place : place + 3] += _turning(forces[i], unknowns.arm(end, point, places))
        scale = max(scale, float(np.abs(tension).max()))
    for name, first in unknowns.bodies.items():
        body = assembly.bodies[name]
        if isinstance(body, RigidBody) and body.is_point:
            gradient[first + 3 : first + 6] = 0.0
            K[first + 3 : first + 6] = K[:, first + 3 : first + 6] = 0.0
            K[first + 3 : first + 6, first + 3 : first + 6] = np.eye(3) * max(scale, 1.0)
    return Balance(energy, gradient, K, scale)


def rest(assembly: Assembly, start: AssemblyState) -> AssemblyState:
    """A state of rest near a start: bodies and strings hang where all forces balance, and reels are held.

    Parameters
    ----------
    assembly : Assembly
        In uniform gravity; in a fluid that is still and everywhere, or in none.
    start : AssemblyState
        Where to look from, as `hang` makes it; its deployed lengths stay.
    """
    checks.instance("assembly", assembly, Assembly)
    checks.instance("start", start, AssemblyState)
    if assembly.orbit is not None:
        raise InputError("assembly: expected one in uniform gravity, got one in an orbit, where rest is a motion")
    refuse_moving_fluid(assembly, "a state of rest")
    unknowns, places = Unknowns(assembly), places_of(start)
    here = balance(unknowns, start, places)
    softness = 1e-3
    for _ in range(MOST_CORRECTIONS):
        if float(np.abs(here.gradient).max(initial=0.0)) <= REST * max(here.scale, 1e-300):
            return _state(assembly, start, places)
        size = max(float(np.abs(np.diag(here.stiffness)).max()), 1e-300)
        for _ in range(MOST_HALVINGS):
            x = _downhill(here, softness * size)
            there_places = unknowns.moved(places, x)
            there = balance(unknowns, start, there_places)
            rounding = ROUNDING * abs(here.energy)
            balanced = np.abs(there.gradient).max() < np.abs(here.gradient).max()
            if there.energy < here.energy - rounding or (balanced and there.energy < here.energy + rounding):
                softness = max(0.1 * softness, LEAST_SOFTNESS)
                break
            softness = min(10.0 * softness, 1e3)
        places, here = there_places, there
    left = float(np.abs(here.gradient).max())
    raise EquilibriumError(
        f"assembly: no state of rest was found in {MOST_CORRECTIONS} corrections; {left:.3g} N are left of "
        f"{here.scale:.3g} N. Give a start that is nearer to it, or simulate with damping until it is at rest"
    )


def _downhill(here: Balance, shift: float) -> Array:
    """A correction that lowers the energy: Newton's, with directions that would raise it taken the other way."""
    shifted = here.stiffness + shift * np.eye(len(here.stiffness))
    try:
        np.linalg.cholesky(shifted)
        return np.asarray(-np.linalg.solve(shifted, here.gradient))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(here.stiffness)
    along = vectors.T @ here.gradient
    return np.asarray(-vectors @ (along / (np.abs(values) + shift)))


def _state(assembly: Assembly, start: AssemblyState, places: Places) -> AssemblyState:
    bodies = {
        name: BodyState(tuple(place.tolist()), attitude=R) if name in assembly.bodies else start.bodies[name]
        for name, (place, R) in places.bodies.items()
    }
    strings = {
        name: LineState(nodes, np.zeros_like(nodes), start.strings[name].reeled_length, 0.0)
        for name, nodes in places.nodes.items()
    }
    return AssemblyState(bodies, strings)
