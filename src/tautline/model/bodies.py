"""Shapes of bodies as files describe them; each makes a `RigidBody`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.bodies_of_files import MeshBody, MjcfBody, UrdfBody
from tautline.model.body import DIMENSIONS, MESH, RigidBody, Shape, Surface, sizes
from tautline.model.checks import ZERO, Matrix, positive, vector
from tautline.model.description import Matrix33, Number, Vector3, choice, declared, described, fields_of, quantity
from tautline.model.forms import MATRIX, PAIR, ROW, VECTOR, VECTORS
from tautline.model.mesh_files import Triangles

_MASS = "Mass M."
_CENTER = "rho_c, from the attachment point to the center of mass, in the body frame."
# Shapes of bodies that are not homogeneous.
DRAWN = tuple(name for name in DIMENSIONS if name != "point")
_POINT = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def _two(name: str, value: Any, unit: str) -> tuple[float, ...]:
    return sizes(name, value, 2)


def _three(name: str, value: Any, unit: str) -> tuple[float, ...]:
    return sizes(name, value, 3)


class Homogeneous:
    """A homogeneous body whose axes of inertia are those of the body frame."""

    mass: Number
    center_of_mass: Vector3

    def moments(self) -> tuple[Any, Shape]:
        """Moments of inertia about the center of mass, over the mass; what is drawn."""
        raise NotImplementedError

    def body(self) -> RigidBody:
        """The body."""
        moments, shape = self.moments()
        return RigidBody.about_center(self.mass, self.mass * np.diag(moments), self.center_of_mass, shape)


@described(name="")
class EllipticCylinder(Homogeneous):
    """A homogeneous elliptic cylinder."""

    mass: Number = quantity("kg", positive, _MASS)
    semi_axes: Any = quantity("m", _two, "Semi-axes along x and y of the body frame.", form=PAIR)
    height: Number = quantity("m", positive, "Height along z.")
    center_of_mass: Vector3 = quantity("m", vector, _CENTER, default=ZERO, form=VECTOR)

    def moments(self) -> tuple[Any, Shape]:
        """Moments of inertia about the center of mass, over the mass; what is drawn."""
        (a, b), H = self.semi_axes, self.height
        moments = (b * b / 4 + H * H / 12, a * a / 4 + H * H / 12, (a * a + b * b) / 4)
        return moments, Shape("elliptic_cylinder", (a, b, H))


@described(name="")
class Box(Homogeneous):
    """A homogeneous box."""

    mass: Number = quantity("kg", positive, _MASS)
    sides: Any = quantity("m", _three, "Sides along x, y, z of the body frame.", form=VECTOR)
    center_of_mass: Vector3 = quantity("m", vector, _CENTER, default=ZERO, form=VECTOR)

    def moments(self) -> tuple[Any, Shape]:
        """Moments of inertia about the center of mass, over the mass; what is drawn."""
        x, y, z = self.sides
        moments = ((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12)
        return moments, Shape("box", (x, y, z))


@described(name="")
class Sphere(Homogeneous):
    """A homogeneous ball."""

    mass: Number = quantity("kg", positive, _MASS)
    radius: Number = quantity("m", positive, "Radius.")
    center_of_mass: Vector3 = quantity("m", vector, _CENTER, default=ZERO, form=VECTOR)

    def moments(self) -> tuple[Any, Shape]:
        """Moments of inertia about the center of mass, over the mass; what is drawn."""
        return 3 * (0.4 * self.radius * self.radius,), Shape("sphere", (self.radius,))


@described(name="")
class Point:
    """A point mass: no inertia, no rotation."""

    mass: Number = quantity("kg", positive, _MASS)

    def body(self) -> RigidBody:
        """The body."""
        return RigidBody(self.mass, _POINT, ZERO, Shape("point", ()))


def _rows(name: str, value: Any, unit: str) -> Matrix:
    rows: Matrix = fields_of(RigidBody)["inertia"].check(name, value)
    return rows


def _places(name: str, value: Any, unit: str) -> Any:
    return tuple(map(tuple, checks.array(name, value, (None, 3), unit).tolist()))


def _dimensions(name: str, value: Any, unit: str) -> tuple[float, ...]:
    return sizes(name, value, len(value)) if len(value) else ()


@described(name="")
class Custom:
    """Any body, by its inertia about the attachment point."""

    mass: Number = quantity("kg", positive, _MASS)
    inertia: Matrix33 = quantity(
        "kg*m^2", _rows, "Inertia matrix J about the attachment point, in the body frame.", form=MATRIX
    )
    center_of_mass: Vector3 = quantity("m", vector, _CENTER, default=ZERO, form=VECTOR)
    drawn_as: str | None = choice(DRAWN, "The shape to draw, if one is known.", default=None)
    dimensions: Any = quantity("m", _dimensions, "Dimensions of that shape, in its order.", default=None, form=ROW)
    points: Any = quantity("m", _places, "Points of a mesh, in the body frame.", default=None, form=VECTORS)
    faces: Any = declared(Triangles("Triangles of a mesh: three numbers of points each."), default=None)

    def body(self) -> RigidBody:
        """The body."""
        if (self.points is None) != (self.faces is None) or (self.points is None) == (self.drawn_as == MESH):
            raise InputError('points: expected together with faces and drawn_as = "mesh", got not all of them')
        if (self.drawn_as in (None, MESH)) != (self.dimensions is None):
            raise InputError("dimensions: expected together with drawn_as, got one of them")
        shape = None if self.drawn_as is None else Shape(self.drawn_as, self.dimensions or ())
        if shape is not None and self.points is not None:
            shape = shape._replace(surface=Surface.of(self.points, self.faces))
        return RigidBody(self.mass, self.inertia, self.center_of_mass, shape)


Described = EllipticCylinder | Box | Sphere | Point | Custom | MeshBody | UrdfBody | MjcfBody
SHAPES: dict[str, type] = {
    "elliptic_cylinder": EllipticCylinder,
    "box": Box,
    "sphere": Sphere,
    "point": Point,
    "custom": Custom,
    MESH: MeshBody,
    "urdf": UrdfBody,
    "mjcf": MjcfBody,
}


def made(described: Described) -> RigidBody:
    """The body that a shape describes."""
    return described.body()


def unmade(body: RigidBody) -> Described:
    """A shape that describes a body, one that is homogeneous if it is."""
    shape = body.shape
    if shape is not None and shape.surface is not None:
        points, faces = shape.surface.arrays()
        return Custom(body.mass, body.inertia, body.center_of_mass, MESH, points=points, faces=faces)
    if shape is not None:
        described = _homogeneous_shape(shape, body)
        if described.body() == body:
            return described
    kind, dimensions = (None, None) if shape is None else shape[:2]
    return Custom(body.mass, body.inertia, body.center_of_mass, kind, dimensions)


def _homogeneous_shape(shape: Shape, body: RigidBody) -> Described:
    sizes, center = shape.dimensions, body.center_of_mass
    if shape.kind == "elliptic_cylinder":
        return EllipticCylinder(body.mass, sizes[:2], sizes[2], center)
    if shape.kind == "box":
        return Box(body.mass, sizes, center)
    return Sphere(body.mass, sizes[0], center) if shape.kind == "sphere" else Point(body.mass)
