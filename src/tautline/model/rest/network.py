"""Networks at rest: lines between fixed points and free bodies, their forces and stiffness (docs/theory.md).

Unknown are the inner nodes of all lines, and position and attitude of every body; drums are locked. A small rotation
of a body is a vector in space, so that a point of the body moves by the cross product with its arm. All elements of all
lines are evaluated together, and the stiffness is a sparse matrix.

Weight, buoyancy, tension and applied forces have a potential energy. Drag and applied moments have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import TINY_LENGTH, Array
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.rotations import hat
from tautline.model.string import String

EPS = float(np.finfo(float).eps)
# Roundings of a node's coordinates and of an element's length that may add up in the force of an element.
ROUNDINGS = 2.0


class OnWheel(NamedTuple):
    """Rope on a sheave or pin of a body; points are seen from the center of mass, in the body frame (m)."""

    mass: float
    volume: float
    center: Any
    points: tuple[Any, Any]  # where it meets the rope that is out, which half of its buoyancy acts on
    height: float  # over which it gets wet (m)


class NetworkBody(NamedTuple):
    """A free body and the loads on it; points are seen from the center of mass, in the body frame (m)."""

    body: RigidBody
    fluid: BodyInFluid | None = None  # as the body feels it; None: not at all
    force: Any = ZERO  # applied force, inertial frame (N)
    point: Any = ZERO  # where it acts
    moment: Any = ZERO  # applied moment, inertial frame (N m)
    carried: tuple[OnWheel, ...] = ()

    def seen_from_center(self, point: Any) -> Array:
        """Point of the body frame, seen from the center of mass; the center of mass itself for None (m)."""
        center = np.array(self.body.center_of_mass)
        return np.zeros(3) if point is None else np.array(point) - center


class NetworkLine(NamedTuple):
    """A line and what holds its ends."""

    string: String
    deployed: float  # unstretched length between the ends (m)
    elements: int
    bodies: tuple[int, int]  # number of the body at each end; -1 for a fixed point
    points: tuple[Array, Array]  # from the center of mass, body frame; not used for fixed points
    spooled: float = 0.0  # length of string on the drum, whose weight the start bears (m)
    end_spooled: float = 0.0  # length on a drum at its end (m)


class Places(NamedTuple):
    """Positions of centers of mass (bodies, 3), attitudes (bodies, 3, 3) and nodes of all lines in a row (nodes, 3).

    Beside them the lengths of rope that have passed free sheaves towards the start of their lines (sheaves,).
    """

    centers: Array
    attitudes: Array
    nodes: Array
    passed: Array = np.zeros(0)  # never changed in place


class Forces(NamedTuple):
    """Potential energy, and what is left of all forces.

    Attributes
    ----------
    energy : float
        Of weight, buoyancy, tension and applied forces (J).
    size : float
        Sum of the sizes of its terms, for rounding (J).
    gradient : array (unknowns,)
        Minus the generalized forces, all of them: zero at rest.
    steady : array (unknowns,)
        Generalized forces that have no energy: drag and applied moments.
    rounding : array (unknowns,)
        What rounding of the coordinates leaves of the gradient at least.
    scale : float
        Largest weight, load or tension (N).
    """

    energy: float
    size: float
    gradient: Array
    steady: Array
    rounding: Array
    scale: float


def rotated(R: Array, turn: Array) -> Array:
    """Attitude turned by a rotation vector in space."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(turn).as_matrix() @ R)


def turning(force: Array, arm: Array) -> Array:
    """Second derivatives by a rotation of the work of a force at the end of an arm."""
    turned = hat(force) @ hat(arm)
    return np.asarray(0.5 * (turned + turned.T))


class Network:
    """Lines and bodies, and the places of their unknowns.

    Attributes
    ----------
    first_of_body, first_of_line : list of int
        First unknown of each body (three of its position, then three of its rotation, none of a point mass), and of
        the inner nodes of each line.
    first_node : list of int
        First node of each line among all nodes.
    count : int
        Number of unknowns.
    lengths : array (unknowns,)
        Size of the body for rotations (m), 1 for positions: a rotation times it is a displacement.
    turning : array (unknowns,)
        Whether an unknown is a rotation.
    has_steady : bool
        Whether a load has no energy.
    hardness : array (elements,)
        Factor of all tensions and slopes; below 1 for softened strings.
    steady_part : float
        Factor of loads without energy: drag and applied moments.
    acceleration : array (3,)
        Acceleration of the frame in which the network is at rest (m/s^2).
    passes : list of int
        Lines behind which a free sheave stands, which the next line begins at: rope passes between the two.
    """

    def __init__(
        self,
        bodies: Sequence[NetworkBody],
        lines: Sequence[NetworkLine],
        gravity: float,
        fluid: Fluid | None = None,
        acceleration: Any = ZERO,
        passes: Sequence[int] = (),
    ) -> None:
        self.passes = list(passes)
        self.bodies, self.lines, self.gravity, self.fluid = list(bodies), list(lines), gravity, fluid
        self.acceleration = np.array(acceleration, dtype=float)
        self.body_names = [str(b) for b in range(len(self.bodies))]  # for messages
        self.first_of_body: list[int] = []
        self.count = 0
        for own in self.bodies:
            self.first_of_body.append(self.count)
            self.count += 3 if own.body.is_point else 6
        self.first_of_line, self.first_node, nodes = [], [], 0
        for line in self.lines:
            self.first_of_line.append(self.count)
            self.first_node.append(nodes)
            self.count += 3 * (line.elements - 1)
            nodes += line.elements + 1
        self.first_passing = self.count
        self.count += len(self.passes)
        self.node_count = nodes
        counts = [line.elements for line in self.lines]
        self.start = np.concatenate([f + np.arange(n) for f, n in zip(self.first_node, counts, strict=True)])
        self.slices = [slice(stop - n, stop) for stop, n in zip(np.cumsum(counts).tolist(), counts, strict=True)]
        self.deployed = np.array([line.deployed for line in self.lines])
        self.shift = np.zeros((len(self.lines), len(self.passes)))  # of the lengths of lines by what passes
        for j, k in enumerate(self.passes):
            self.shift[k, j], self.shift[k + 1, j] = 1.0, -1.0
        self.l = self.each(lambda line: line.deployed / line.elements)
        self.stiffness = self.each(lambda line: line.string.stiffness)
        self.density = self.each(lambda line: line.string.density)
        self.heaviness = self.each(lambda line: line.string.weight(gravity, fluid))
        self.lifts = self.each(lambda line: gravity * line.string.area * (0.0 if fluid is None else fluid.added_below))
        self.added = self.each(lambda line: line.string.normal_added_mass * line.string.area)
        self.diameter = self.each(lambda line: line.string.diameter)
        self.normal_drag = self.each(lambda line: line.string.normal_drag)
        self.tangential_drag = self.each(lambda line: line.string.tangential_drag)
        self.hardness = np.ones(len(self.l))
        self.steady_part = 1.0
        self.flows = fluid is not None and (bool(np.any(fluid.flow[1])) or bool(self.acceleration.any()))
        self.has_steady = self.flows or any(np.any(own.moment) for own in self.bodies)
        self._place_ends()
        self._place_weights()
        self.lengths = self._sizes()

    def each(self, of: Any) -> Array:
        """Number of a line for each of its elements."""
        return np.repeat([float(of(line)) for line in self.lines], [line.elements for line in self.lines])

    def fit(self, places: Places) -> None:
        """Take the lengths of lines that places have, by the rope that has passed sheaves."""
        if not self.passes:
            return
        self.deployed = np.array([line.deployed for line in self.lines]) + self.shift @ places.passed
        counts = [line.elements for line in self.lines]
        self.l = np.repeat(np.maximum(self.deployed / counts, TINY_LENGTH), counts)
        self._place_weights()

    def _place_ends(self) -> None:
        """Ends of lines that bodies hold: node, body and point; and the inner nodes."""
        ends = [
            (first + i * line.elements, line.bodies[i], line.points[i])
            for first, line in zip(self.first_node, self.lines, strict=True)
            for i in (0, 1)
            if line.bodies[i] >= 0
        ]
        self.end_nodes = np.array([end[0] for end in ends], dtype=np.intp)
        self.end_bodies = np.array([end[1] for end in ends], dtype=np.intp)
        self.end_points = np.array([end[2] for end in ends], dtype=float).reshape(-1, 3)
        inner = [first + np.arange(1, line.elements) for first, line in zip(self.first_node, self.lines, strict=True)]
        self.inner = np.concatenate(inner).astype(np.intp)

    def _place_weights(self) -> None:
        """Weights at nodes, the lift of the fluid that is everywhere taken off, and inertial forces."""
        self.weights, masses = np.zeros((2, self.node_count))
        for at_nodes, per_length in ((self.weights, self.heaviness), (masses, self.density)):
            np.add.at(at_nodes, self.start, 0.5 * per_length * self.l)
            np.add.at(at_nodes, self.start + 1, 0.5 * per_length * self.l)
        for first, line, part in zip(self.first_node, self.lines, self.slices, strict=True):
            for node, spooled in ((first, line.spooled), (first + line.elements, line.end_spooled)):
                self.weights[node] += self.heaviness[part][0] * spooled
                masses[node] += line.string.density * spooled
        self.inertial = -masses[:, None] * self.acceleration  # forces of the frame's acceleration on the nodes

    def _sizes(self) -> Array:
        """Radius of gyration or longest arm of each body, at its rotations."""
        sizes, self.turning = np.ones(self.count), np.zeros(self.count, dtype=bool)
        for b, (own, first) in enumerate(zip(self.bodies, self.first_of_body, strict=True)):
            if not own.body.is_point:
                gyration = np.sqrt(np.trace(own.body.central_inertia()) / own.body.mass)
                arms = np.linalg.norm(self.end_points[self.end_bodies == b], axis=1)
                self.turning[first + 3 : first + 6] = True
                sizes[first + 3 : first + 6] = max(float(gyration), float(arms.max(initial=0.0)))
        return sizes

    def arms(self, places: Places) -> Array:
        """From the center of mass of the body that holds an end to that end, in space."""
        return np.asarray(np.einsum("eij,ej->ei", places.attitudes[self.end_bodies], self.end_points))

    def on_bodies(self, places: Places) -> Places:
        """Places with the ends of the lines on their bodies."""
        nodes = places.nodes.copy()
        nodes[self.end_nodes] = places.centers[self.end_bodies] + self.arms(places)
        return places._replace(nodes=nodes)

    def moved(self, places: Places, x: Array) -> Places:
        """Places after a motion."""
        centers, attitudes, nodes = places.centers.copy(), places.attitudes.copy(), places.nodes.copy()
        for b, (own, first) in enumerate(zip(self.bodies, self.first_of_body, strict=True)):
            centers[b] += x[first : first + 3]
            if not own.body.is_point:
                attitudes[b] = rotated(attitudes[b], x[first + 3 : first + 6])
        nodes[self.inner] += x[self.first_of_line[0] : self.first_passing].reshape(-1, 3)
        return self.on_bodies(Places(centers, attitudes, nodes, places.passed + x[self.first_passing :]))

    def node_map(self, places: Places) -> Any:
        """Sparse matrix (3 nodes, unknowns): displacements of all nodes by the unknowns."""
        from scipy.sparse import coo_matrix

        inner = (3 * self.inner[:, None] + np.arange(3)).ravel()
        rows, columns = [inner], [self.first_of_line[0] + np.arange(len(inner))]
        values = [np.ones(len(inner))]
        for node, b, arm in zip(self.end_nodes, self.end_bodies, self.arms(places), strict=True):
            wide = 3 if self.bodies[b].body.is_point else 6
            block = np.hstack([np.eye(3), -hat(arm)])[:, :wide]
            rows.append(np.repeat(3 * node + np.arange(3), wide))
            columns.append(np.tile(self.first_of_body[b] + np.arange(wide), 3))
            values.append(block.ravel())
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return coo_matrix(entries, shape=(3 * self.node_count, self.count)).tocsr()

    def length_map(self) -> Any:
        """Sparse matrix (elements, unknowns): unstretched lengths of elements by the rope that passes sheaves."""
        from scipy.sparse import csr_matrix

        counts = [line.elements for line in self.lines]
        by_line = self.shift / np.array(counts)[:, None]
        whole = np.zeros((len(self.l), self.count))
        whole[:, self.first_passing :] = np.repeat(by_line, counts, axis=0)
        return csr_matrix(whole)

    def material_shares(self) -> Array:
        """Parts of the rope that passes each free sheave which pass the middles of elements (sheaves, elements)."""
        found = np.zeros((len(self.passes), len(self.l)))
        for j, k in enumerate(self.passes):
            for line, part in ((k, self.slices[k]), (k + 1, self.slices[k + 1])):
                middles = (np.arange(self.lines[line].elements) + 0.5) / self.lines[line].elements
                found[j, part] = middles if line == k else 1.0 - middles
        return found

    def elastic(self, strain: Array) -> tuple[Array, Array, Array]:
        """Energy per unstretched length, tension and its slope, of all elements."""
        parts = [
            (string.energy_density(x), string.tension(x), string.slope(x))
            for string, x in ((line.string, strain[part]) for line, part in zip(self.lines, self.slices, strict=True))
        ]
        energy, tension, slope = (self.hardness * np.concatenate(x) for x in zip(*parts, strict=True))
        return energy, tension, slope

    def strains(self, places: Places) -> tuple[Array, Array, Array]:
        """Vectors along the elements, their lengths, and strains."""
        self.fit(places)
        w = places.nodes[self.start + 1] - places.nodes[self.start]
        length = np.maximum(np.linalg.norm(w, axis=1), TINY_LENGTH)
        return w, length, length / self.l - 1.0

    def largest(self, forces: Array) -> float:
        """Largest of generalized forces (N); moments count as forces at the size of their body."""
        return float(np.abs(forces / self.lengths).max(initial=0.0))

    def has_slack(self, places: Places) -> bool:
        """Whether an element is slack: its tension does not change with its length."""
        _, _, slope = self.elastic(self.strains(places)[2])
        return bool((slope <= 0.0).any())

    def below(self, z: Array) -> Array:
        """Depths below the surface."""
        assert self.fluid is not None
        assert self.fluid.surface is not None
        return np.asarray(z - self.fluid.surface)

    @property
    def has_surface(self) -> bool:
        """Whether the fluid ends at a free surface."""
        return self.fluid is not None and self.fluid.surface is not None
