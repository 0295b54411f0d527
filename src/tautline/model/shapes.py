"""Points and polygons of the shape of a body, for exports and pictures."""

from __future__ import annotations

import itertools

import numpy as np

from tautline.arrays import Array
from tautline.model.body import RigidBody
from tautline.model.ships import ShipMotion
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.system import System

Mesh = tuple[Array, list[list[int]]]
# Of a hull, over half of its length: half of its beam, its draft, its freeboard, the width of its bottom over its beam.
BEAM, DRAFT, FREEBOARD, BOTTOM = 0.2, 0.12, 0.1, 0.5
# Half of the outline of a deck, over half of the length and of the beam, from the stern to the bow.
OUTLINE = ((-1.0, 0.0), (-1.0, 0.85), (-0.8, 1.0), (0.45, 1.0), (0.8, 0.6), (1.0, 0.0))
# Crane and house on the deck: width over half of the length; from where to where the house reaches, and how high.
POST, HOUSE, STOREYS = 0.04, (0.3, 0.62), 0.2
CUBE = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


# Of its size: a direction with less than this at right angles to an axis is along it.
PARALLEL = 1e-6


def center_of(body: RigidBody | Kinematic | None) -> Array:
    """Center of mass of a body in its frame; the origin of one whose motion is given, or of space."""
    return np.array(body.center_of_mass) if isinstance(body, RigidBody) else np.zeros(3)


def shape_of(system: System, name: str) -> Mesh:
    """Points in the frame of a body of a system, and polygons; no polygons for a kinematic one that is no ship.

    A point that displaces a fluid, such as a balloon, is a ball of its volume.
    """
    body = system.bodies[name]
    if isinstance(body, RigidBody):
        wet = system.body_fluid.get(name)
        if wet is not None and wet.volume > 0.0 and not np.any(body.inertia):
            points, faces = _ball(float(np.cbrt(0.75 * wet.volume / np.pi)))
            return points + center_of(body), faces
        return body_mesh(body)
    if not is_ship(body):
        return np.zeros((1, 3)), []
    ends = [end for line in system.lines.values() for end in zip(line.ends, line.points, strict=True)]
    return _ship(np.array([point for on, point in ends if on == name] or [np.zeros(3)], dtype=float))


def surface_of(system: System) -> float | None:
    """Depth of the fluid's surface; 0, from where waves count, with a ship and no fluid; None without either."""
    if system.fluid is not None:
        return None if system.fluid.surface is None else float(system.fluid.surface)
    return 0.0 if any(is_ship(body) for body in system.bodies.values()) else None


def is_ship(body: RigidBody | Kinematic) -> bool:
    """Whether waves move a body."""
    return isinstance(body, Kinematic) and isinstance(body.path, ShipMotion)


def mounting(system: System, line: Line, key: str) -> tuple[Array, Array]:
    """Directions of a drum's guide, to its entrance, and of its axis, in the frame of what carries the reel of a key.

    The axis is right-handed in retrieval. On a body the guide leads outwards, at right angles to the axis.
    """
    on, point = line.at(key)
    if line.drum_axis_of(key) is None:  # where the model does not say
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    axis = np.array(line.drum_axis_of(key))
    wishes = (np.array(point) - center_of(system.bodies.get(on)), *np.eye(3))
    across = [wish - (wish @ axis) * axis for wish in wishes]
    sizes = [(float(np.linalg.norm(x)), float(np.linalg.norm(wish))) for x, wish in zip(across, wishes, strict=True)]
    k = next(k for k, (size, whole) in enumerate(sizes) if size > PARALLEL * max(1.0, whole))
    return across[k] / sizes[k][0], axis


def boxes(points: Array, places: Array, attitudes: Array) -> Array:
    """Least and greatest coordinates over time of a box around points that moves with a body, (2, time, axis)."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = places + attitudes @ (0.5 * (low + high))
    half = np.abs(attitudes) @ (0.5 * (high - low))
    return np.stack([middle - half, middle + half])


def _ship(tips: Array) -> Mesh:
    """Hull, house and cranes of a ship; its size is a guess: ropes hang clear of it where their tips allow that."""
    clear = float(np.maximum(np.abs(tips[:, 0]), np.abs(tips[:, 1]) / BEAM).min())
    half = 0.98 * clear if clear > 0.5 * np.abs(tips).max() else max(1.5 * float(np.abs(tips).max()), 10.0)
    deck = -min(FREEBOARD * half, 0.8 * float(np.abs(tips[:, 2]).min()) or FREEBOARD * half)
    outline = np.array([*OUTLINE, *((x, -y) for x, y in OUTLINE[-2:0:-1])]) * (half, BEAM * half)
    count, levels = len(outline), ((deck, 1.0), (0.0, 1.0), (DRAFT * half, BOTTOM))
    hull = np.concatenate([np.column_stack([outline * (0.5 + 0.5 * k, k), np.full(count, z)]) for z, k in levels])
    sides = [
        [a + i, a + (i + 1) % count, a + count + (i + 1) % count, a + count + i]
        for a in (0, count)
        for i in range(count)
    ]
    parts: list[Mesh] = [(hull, [list(range(count)), *sides, list(range(2 * count, 3 * count))])]
    corners = [
        (x * half, y * 0.7 * BEAM * half, z) for x in HOUSE for y in (-1, 1) for z in (deck - STOREYS * half, deck)
    ]
    parts.append((np.array(corners), CUBE))
    for x, y, z in tips:
        top = np.array([x, 0.4 * y, 0.5 * (deck + z)])
        parts += [
            _beam(np.array([x, 0.4 * y, deck]), top, POST * half),
            _beam(top, np.array([x, y, z]), 0.5 * POST * half),
        ]
    return _joined(parts)


def _beam(start: Array, end: Array, width: float) -> Mesh:
    """A square bar between two points, upright in its narrow direction."""
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    across = np.array([1.0, 0.0, 0.0])
    other = np.cross(along, across)
    corners = [p + 0.5 * width * (a * across + b * other) for p in (start, end) for a in (-1, 1) for b in (-1, 1)]
    return np.array(corners), CUBE


def _joined(parts: list[Mesh]) -> Mesh:
    firsts = np.cumsum([0, *(len(points) for points, _ in parts)])
    faces = [[int(first) + i for i in face] for (_, own), first in zip(parts, firsts, strict=False) for face in own]
    return np.concatenate([points for points, _ in parts]), faces


def body_mesh(body: RigidBody) -> Mesh:
    """Points in the body frame and polygons of the body's shape; an octahedron where there is none."""
    kind, sizes, surface = body.shape or ("unknown", (), None)
    if surface is not None:
        points, triangles = surface.arrays()
        return points, triangles.tolist()
    center = np.array(body.center_of_mass)
    if kind == "elliptic_cylinder":
        points, faces = _cylinder(sizes[0], sizes[1], sizes[2])
    elif kind == "box":
        x, y, z = (0.5 * s for s in sizes)
        points = np.array(list(itertools.product((-x, x), (-y, y), (-z, z))))
        faces = CUBE
    elif kind == "sphere":
        points, faces = _ball(sizes[0])
    else:
        # as large as the body's radius of gyration about its center of mass
        gyration2 = np.trace(body.inertia) / (2.0 * body.mass) - center @ center
        radius = max(float(np.sqrt(max(gyration2, 0.0))), 0.05)
        points = radius * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
        faces = [[i, j, k] for i in (0, 1) for j in (2, 3) for k in (4, 5)]
    return points + center, faces


def _cylinder(a: float, b: float, height: float, sides: int = 24) -> Mesh:
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = np.stack([a * np.cos(angle), b * np.sin(angle)], axis=1)
    points = np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-0.5 * height, 0.5 * height)])
    around = [[i, (i + 1) % sides, sides + (i + 1) % sides, sides + i] for i in range(sides)]
    return points, [*around, list(range(sides)), list(range(sides, 2 * sides))]


def _ball(radius: float, rings: int = 8, sides: int = 16) -> Mesh:
    theta = np.linspace(0.0, np.pi, rings + 1)
    phi = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    grid = [[np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)] for t in theta for p in phi]
    faces = [
        [i * sides + j, i * sides + (j + 1) % sides, (i + 1) * sides + (j + 1) % sides, (i + 1) * sides + j]
        for i in range(rings)
        for j in range(sides)
    ]
    return radius * np.array(grid), faces
