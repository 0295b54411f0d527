"""Shape of the mesh at a sample: waves that are too short for it, arcs that elements cut off, slack and folds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from tautline.arrays import Array
from tautline.kernels.bends import BEND, COSINE, DRIFT, FOUND, TWIST, measure_bends
from tautline.model.fluid import Fluid
from tautline.model.piecewise import interpolated
from tautline.model.string import String
from tautline.results.values import lengths_of

# Nodes of samples that are looked at together.
NODES_AT_ONCE = 16_000
# A strain that is not below 0 by more than this is a string at its natural length.
NO_STRAIN = 1e-9
# Times N: strain that may be rounding, since lengths of elements are differences of places along the whole string.
ROUNDING = 1e-14
UNKNOWN_PHASE2 = 2.0  # squared phase where two elements cannot tell it
# Phase error of a linear element over the squared phase between two nodes, sag over the second difference, and what the
# arc is longer by over the squared second difference, all lengths over that of the element.
PHASE_ERROR, SAG, ARC = 1.0 / 24.0, 1.0 / 8.0, 1.0 / 24.0


class InField(Protocol):
    """A string, and what acts on it."""

    @property
    def string(self) -> String:
        """Its string."""
        ...

    @property
    def gravity(self) -> Any:
        """Along the third axis (m/s^2)."""
        ...

    @property
    def fluid(self) -> Fluid | None:
        """Fluid around it."""
        ...


class Shape(NamedTuple):
    """Shape of the mesh in samples; one number for each sample."""

    tension: Array  # largest in size (N)
    pull: Array  # mean along the string (N)
    push: Array  # largest compression (N)
    rough: Array  # largest part of an element's tension that a mean over its neighbors does not have (N)
    sag: Array  # rms depth of the arc that an element cuts off (m)
    drift: Array  # rms rate at which short waves lose their phase (m/s)
    bend: Array  # mean squared second difference of the nodes (m^2)
    arc: Array  # mean tension that elements miss by being shorter than their arcs, if the ends of the string stay (N)
    twist: Array  # and third one (m^2)
    guide_strain: Array  # of the first element
    guide_step: Array  # how far it is from the strain at the guide
    slack: Array  # part of the elements that is shorter than its natural length
    fold: Array  # largest angle between neighboring elements (degrees)


def rough_part(tension: Array) -> Array:
    """Short waves along the second axis: (2 T_e - T_{e-1} - T_{e+1})/4 for all elements but the first and the last.

    A wave whose phase grows by theta from one element to the next keeps sin(theta/2)^2 of its height: the shortest
    one all of it, a long one nothing; a tension that rises evenly leaves nothing at all.
    """
    if tension.shape[1] < 3:
        return np.zeros_like(tension[:, :1])
    rough = 2.0 * tension[:, 1:-1]
    rough -= tension[:, :-2]
    rough -= tension[:, 2:]
    rough *= 0.25
    return np.asarray(rough)


def shape_of(
    line: InField,
    nodes: Array,
    velocities: Array,
    reeled_length: Array,
    lengths: Array | None = None,
    mass: Any = None,
) -> Shape:
    """Figures of n samples: nodes and velocities (n, N + 1, 3[, members]) relative to the guide entrance.

    `lengths` are those of the elements, where they are known; `mass` is that at its end, where nothing else holds it.
    """
    N = nodes.shape[1] - 1
    l = (line.string.length - reeled_length) / N
    lengths = lengths_of(nodes) if lengths is None else lengths
    strain = lengths / l[:, None]
    strain -= 1.0
    rounding = np.abs(strain) < ROUNDING * N
    if rounding.any():
        strain[rounding] = 0.0
    tension = line.string.tension(strain)
    short = strain < -NO_STRAIN
    slack = np.add.reduce(short, axis=1, dtype=np.int32) / N if short.any() else np.zeros_like(l)
    largest, rough = _largest(tension), _largest(rough_part(tension))
    pull, push = tension.mean(axis=1), np.maximum(-tension.min(axis=1), 0.0)
    if N == 1:
        no = np.zeros_like(l)
        sag = no if mass is None else _single_sag(line, mass, nodes[:, 1] - nodes[:, 0], l)
        step = 0.5 * line.gravity * line.string.density * l / line.string.stiffness
        return Shape(largest, pull, push, rough, sag, no, no, no, no, strain[:, 0], step, slack, no)
    bends = np.empty((FOUND, l.size))
    measure_bends(_by_node(nodes), _by_node(velocities), _by_node(lengths[:, :, None]), bends)
    bends = bends.reshape(FOUND, *l.shape)
    bend = bends[BEND] / (N - 1)
    return Shape(
        largest,
        pull,
        push,
        rough,
        SAG * np.sqrt(bend),
        PHASE_ERROR * np.sqrt(bends[DRIFT] / (N - 1)),
        bend,
        ARC * line.string.stiffness * bend / l**2,
        bends[TWIST] / (N - 2) if N > 2 else UNKNOWN_PHASE2 * bend,
        strain[:, 0],
        0.5 * (strain[:, 0] - strain[:, 1]),
        slack,
        np.degrees(np.arccos(np.clip(bends[COSINE], -1.0, 1.0))),
    )


def _by_node(x: Array) -> Array:
    """Samples (n, nodes, components[, members]) as rows of a component of a node each, in order of the components."""
    rows = np.moveaxis(x, (2, 1), (0, 1))
    return np.ascontiguousarray(rows.reshape(x.shape[1] * x.shape[2], -1))


def shape_in_parts(line: InField, nodes: Array, velocities: Array, reeled_length: Array, mass: Any = None) -> Shape:
    """Figures of samples (`shape_of`), of so many at a time that what is made on the way stays in the cache."""
    rows = max(1, NODES_AT_ONCE * 3 // math.prod(nodes.shape[1:]))
    parts = [slice(first, first + rows) for first in range(0, max(1, len(nodes)), rows)]
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        shapes = [shape_of(line, nodes[part], velocities[part], reeled_length[part], None, mass) for part in parts]
    return shapes[0] if len(shapes) == 1 else Shape(*map(np.concatenate, zip(*shapes, strict=True)))


def front_tension(line: InField, nodes: Array, velocities: Array, reeled_length: Any) -> Any:
    """Largest tension (N) beyond that of the start which jumps of its velocities between nodes cause at once.

    Nodes and velocities are (N + 1, 3[, members]). A jump along the string sends out a wave of that times the impedance
    sqrt(EA mu), and a viscous string first resists with its viscosity over an element. One across it bends the string
    at a point: behind the wave that it sends ahead the strain rises from eps_0 to eps, with
    v^2 = 2 c^2 sqrt(eps) (eps - eps_0) for small strains (von Karman's transverse impact).
    """
    string, N = line.string, nodes.shape[0] - 1
    if N < 2:
        return 0.0 * reeled_length
    along, apart = np.diff(nodes, axis=0), np.diff(velocities, axis=0)
    length = np.maximum(np.sqrt(np.sum(along * along, axis=1)), 1e-290)
    l = (string.length - reeled_length) / N
    strain = np.maximum(length / l - 1.0, 0.0)
    # beyond the neighbor that is more alike: velocities that rise evenly along the string are no jump
    bent = np.diff(apart, axis=0)
    left, right = np.concatenate([-bent[:1], bent]), np.concatenate([-bent, bent[-1:]])
    nearer = np.sum(left * left, axis=1) <= np.sum(right * right, axis=1)
    jump = np.where(nearer[:, None], left, right)
    stretching = np.sum(jump * along, axis=1) / length
    across2 = np.maximum(np.sum(jump * jump, axis=1) - stretching**2, 0.0)
    by_bend = string.stiffness * (_impact_strain(strain, across2 * string.density / string.stiffness) - strain)
    by_wave = (np.sqrt(string.stiffness * string.density) + string.viscosity / l) * np.maximum(stretching, 0.0)
    return np.max(by_bend + by_wave, axis=0)


def _impact_strain(strain: Array, v2: Array) -> Array:
    """Strain eps behind the bend that a transverse impact makes: v^2/c^2 = 2 sqrt(eps) (eps - eps_0) is v2."""
    half = 0.5 * v2
    root = np.sqrt(strain) + np.cbrt(half)
    for _ in range(10):  # Newton's method from above
        root = root - (root**3 - strain * root - half) / np.maximum(3.0 * root**2 - strain, 1e-290)
    return np.where(half > 0.0, root**2, strain)


def current_tension(line: InField, nodes: Array, velocities: Array, reeled_length: Any) -> Any:
    """Largest tension (N) beyond that of the start which a current causes where it takes hold of the string at once.

    Nodes and velocities are (N + 1, 3[, members]). A fluid that flows across the string with v takes it along within
    tau = m/(k v), by a drag of k v^2 on a unit of length and the mass m of that with what moves along. The ends stay,
    so that the string is bent there as if it had been thrown with v: the transverse impact of `front_tension`. The mesh
    follows if waves of the bend, sqrt(T/m), run through many elements meanwhile; what it does not follow is taken to be
    1/(1 + x)^2 of it with x = sqrt(T/m) tau/l. Drag that weight and tension balance takes nothing along: v counts by
    the part of the drag that they leave.
    """
    string, fluid, N = line.string, line.fluid, nodes.shape[0] - 1
    if fluid is None or N < 2:
        return 0.0 * reeled_length
    l = (string.length - reeled_length) / N
    spans = np.diff(nodes, axis=0)
    lengths = np.maximum(np.sqrt(np.sum(spans * spans, axis=1)), 1e-290)
    strains = lengths / l - 1.0
    pulls = (string.tension(strains) / lengths)[:, None] * spans
    # the rest at the nodes between the ends
    along = spans[1:] + spans[:-1]
    along = along / np.maximum(np.sqrt(np.sum(along * along, axis=1)), 1e-290)[:, None]
    depth, strain = nodes[1:-1, 2], np.maximum(np.minimum(strains[1:], strains[:-1]), 0.0)
    flow = np.moveaxis(interpolated(depth, *fluid.frozen(0.0).flow), -1, 1)
    past = flow - velocities[1:-1]
    past, speed = _across(past, along)
    wet = 1.0 if fluid.surface is None else np.where(depth > fluid.surface, 1.0, fluid.density_above / fluid.density)
    k = 0.5 * fluid.density * wet * string.normal_drag * string.diameter
    mass = string.density + fluid.density * wet * string.normal_added_mass * string.area
    net = (k * speed)[:, None] * past + np.diff(pulls, axis=0) / l
    net[:, 2] += line.gravity * (string.density - fluid.density * wet * string.area)
    left = np.minimum(_across(net, along)[1] / np.maximum(k * speed**2, 1e-290), 1.0)
    bent = _impact_strain(strain, (left * speed) ** 2 * mass / string.stiffness)
    run = np.sqrt(string.stiffness * bent * mass) / np.maximum(k * speed, 1e-140)  # a long way without a current
    return np.max(string.stiffness * (bent - strain) / (1.0 + run / l) ** 2, axis=0)


def _across(x: Array, along: Array) -> tuple[Array, Array]:
    """Parts of vectors (nodes, 3[, members]) across unit vectors, and their sizes."""
    across = x - np.sum(x * along, axis=1)[:, None] * along
    return across, np.sqrt(np.sum(across * across, axis=1))


def _single_sag(line: InField, end: Any, along: Array, l: Array) -> Array:
    """Depth of the arc that a single element cuts off (m): the string's weight across it over the pull of all.

    It has no neighbors to compare with. Along the string the same ratio is the unevenness of its strain.
    """
    mass = line.string.density * l
    length = np.sqrt(along[:, 0] ** 2 + along[:, 1] ** 2 + along[:, 2] ** 2)
    tilt = np.sqrt(along[:, 0] ** 2 + along[:, 1] ** 2) / np.maximum(length, 1e-290)
    across = np.where(np.asarray(line.gravity) > 0.0, tilt, 1.0)
    return np.asarray(SAG * l * mass / (end + 0.5 * mass) * (across + np.abs(length / l - 1.0)))


def _largest(x: Array) -> Array:
    return np.asarray(np.maximum.reduce(np.abs(x), axis=1))
