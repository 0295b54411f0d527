"""What a body looks like: points and polygons of its shape, for exports and pictures."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from tautline.model.body import RigidBody

Array = NDArray[np.float64]


def body_mesh(body: RigidBody) -> tuple[Array, list[list[int]]]:
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
        faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    elif kind == "sphere":
        points, faces = _ball(sizes[0])
    else:
        # as large as the body's radius of gyration about its center of mass
        gyration2 = np.trace(body.inertia) / (2.0 * body.mass) - center @ center
        radius = max(float(np.sqrt(max(gyration2, 0.0))), 0.05)
        points = radius * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
        faces = [[i, j, k] for i in (0, 1) for j in (2, 3) for k in (4, 5)]
    return points + center, faces


def _cylinder(a: float, b: float, height: float, sides: int = 24) -> tuple[Array, list[list[int]]]:
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = np.stack([a * np.cos(angle), b * np.sin(angle)], axis=1)
    points = np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-0.5 * height, 0.5 * height)])
    around = [[i, (i + 1) % sides, sides + (i + 1) % sides, sides + i] for i in range(sides)]
    return points, [*around, list(range(sides)), list(range(sides, 2 * sides))]


def _ball(radius: float, rings: int = 8, sides: int = 16) -> tuple[Array, list[list[int]]]:
    theta = np.linspace(0.0, np.pi, rings + 1)
    phi = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    grid = [[np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)] for t in theta for p in phi]
    faces = [
        [i * sides + j, i * sides + (j + 1) % sides, (i + 1) * sides + (j + 1) % sides, (i + 1) * sides + j]
        for i in range(rings)
        for j in range(sides)
    ]
    return radius * np.array(grid), faces
