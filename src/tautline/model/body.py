"""The rigid body at the end of the string."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import UPWARD, ZERO, Matrix, Vector, positive, vector
from tautline.model.description import Matrix33, Number, Vector3, declared, described, quantity
from tautline.model.forms import MATRIX, VECTOR, in_si
from tautline.model.kinds import Kind
from tautline.model.rotations import hat
from tautline.model.stacking import stacked

# Flat bodies satisfy the triangle inequality with equality, so rounding may show a slight excess.
TRIANGLE_TOLERANCE = 1e-9
# Of the lightest and smallest body that the other checks let pass, with room for its shape.
LEAST_INERTIA = 0.01 * checks.SMALLEST**3


class Surface(NamedTuple):
    """Triangles in the body frame (m), as bytes: these are compared, hashed and pickled at once."""

    points: bytes  # float64 (points, 3)
    faces: bytes  # int32 (triangles, 3)

    @classmethod
    def of(cls, points: Any, faces: Any) -> Surface:
        """The surface of points and of triangles, which number them from 0."""
        places = checks.array("points", points, (None, 3), "m")
        corners = checks.array("faces", faces, (None, 3), "1")
        if not len(corners) or (corners % 1.0).any() or corners.min() < 0 or corners.max() >= len(places):
            raise InputError(f"faces: expected numbers from 0 to {len(places) - 1} of three points each, got others")
        return cls(places.tobytes(), corners.astype(np.int32).tobytes())

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Points (n, 3) and faces (m, 3)."""
        return np.frombuffer(self.points).reshape(-1, 3), np.frombuffer(self.faces, np.int32).reshape(-1, 3)


class Shape(NamedTuple):
    """Shape of the body, for pictures. All but a mesh are centered at the center of mass, along its axes."""

    kind: str  # "elliptic_cylinder", "box", "sphere", "mesh" or "point"
    dimensions: tuple[float, ...]  # (semi-axis x, semi-axis y, height), (x, y, z), (radius,), (), ()
    surface: Surface | None = None  # of a mesh


MESH = "mesh"
DIMENSIONS = {"elliptic_cylinder": 3, "box": 3, "sphere": 1, MESH: 0, "point": 0}


def steiner(mass: float, offset: Any) -> NDArray[np.float64]:
    """Parallel-axis term: what shifting the reference point by `offset` adds to the inertia."""
    x = stacked(offset)
    term: NDArray[np.float64] = mass * (x @ x * np.eye(3) - x[:, None] * x)
    return term


def _as_tuple(A: NDArray[np.float64]) -> Matrix:
    a, b, c = (tuple(row) for row in A.tolist())
    return (a, b, c)


def _matrix(name: str, value: Any, unit: str) -> Matrix:
    return _as_tuple(checks.array(name, value, (3, 3), unit))


class Drawn(Kind):
    """A Shape or None."""

    def check(self, name: str, value: Any) -> Any:
        return None if value is None else _checked_shape(name, value)

    def words(self) -> str:
        return "Shape"


@described
class RigidBody:
    """A rigid body that hangs at a point which need not be its center of mass.

    The body frame has its origin at the attachment point. See also the constructors
    `elliptic_cylinder`, `box`, `sphere` and `point`, and `from_mesh`, `from_urdf` and `from_mjcf` for bodies of files.
    """

    mass: Number = quantity("kg", positive, "Mass M.")
    inertia: Matrix33 = quantity(
        "kg*m^2", _matrix, "Inertia matrix J about the *attachment point*, in the body frame.", form=MATRIX
    )
    center_of_mass: Vector3 = quantity(
        "m", vector, "rho_c, from the attachment point to the center of mass, in the body frame.", form=VECTOR
    )
    shape: Shape | None = declared(Drawn("What to draw; no influence on the motion."), default=None)

    def _check_together(self) -> None:
        J = np.array(self.inertia)
        if self.is_point:
            if J.any() or any(self.center_of_mass):
                raise InputError("RigidBody.inertia: expected zero for a point, use RigidBody.point(mass)")
        else:
            J = _checked_inertia(J, self.mass, self.center_of_mass)
        object.__setattr__(self, "inertia", _as_tuple(J))

    @property
    def is_point(self) -> bool:
        """Without extent, so that its rotation is left out."""
        return self.shape is not None and self.shape.kind == "point"

    @classmethod
    def about_center(
        cls, mass: float, central_inertia: Any, center_of_mass: Any, shape: Shape | None = None
    ) -> RigidBody:
        """A body by its inertia about the center of mass (kg m^2, in the body frame), by the parallel-axis theorem."""
        mass = positive("mass", in_si("mass", mass, "kg"), "kg")
        center = vector("center_of_mass", in_si("center_of_mass", center_of_mass, "m"), "m")
        inertia = in_si("central_inertia", central_inertia, "kg*m^2")
        J = checks.array("central_inertia", inertia, (3, 3), "kg m^2")
        return cls(mass, J + steiner(mass, center), center, shape)

    @staticmethod
    def elliptic_cylinder(mass: float | str, semi_axes: Any, height: float | str, center_of_mass: Any) -> RigidBody:
        """A homogeneous elliptic cylinder; arguments as in `tautline.model.bodies.EllipticCylinder`."""
        from tautline.model.bodies import EllipticCylinder

        return EllipticCylinder(mass, semi_axes, height, center_of_mass).body()

    @staticmethod
    def box(mass: float | str, sides: Any, center_of_mass: Any) -> RigidBody:
        """A homogeneous box; arguments as in `tautline.model.bodies.Box`."""
        from tautline.model.bodies import Box

        return Box(mass, sides, center_of_mass).body()

    @staticmethod
    def sphere(mass: float | str, radius: float | str, center_of_mass: Any = ZERO) -> RigidBody:
        """A homogeneous ball; arguments as in `tautline.model.bodies.Sphere`."""
        from tautline.model.bodies import Sphere

        return Sphere(mass, radius, center_of_mass).body()

    @staticmethod
    def point(mass: float | str) -> RigidBody:
        """A point mass: no inertia, no rotation."""
        from tautline.model.bodies import Point

        return Point(mass).body()

    @staticmethod
    def from_mesh(
        file: str | os.PathLike[str],
        density: float | str | None = None,
        mass: float | str | None = None,
        unit: float | str = 1.0,
        up: Any = UPWARD,
        attachment: Any = ZERO,
    ) -> RigidBody:
        """A homogeneous body with the closed surface of an STL or OBJ file; needs the extra `mesh`.

        Parameters
        ----------
        file : str or path
        density, mass : float or str
            One of these (kg/m^3, kg).
        unit : float or str
            Length of a unit of the file's coordinates, such as "1 mm"; the file does not say it (m).
        up : three floats
            Direction that points up in the axes of the file; the third axis of the body points down. (0, 0, -1) takes
            the file's axes as they are.
        attachment : three floats
            Where the line is attached, in the file's axes (m).
        """
        from tautline.model.bodies_of_files import MeshBody

        return MeshBody(file, density, mass, unit, up, attachment).body()

    @staticmethod
    def from_urdf(
        file: str | os.PathLike[str], link: str | None = None, up: Any = UPWARD, attachment: Any = ZERO
    ) -> RigidBody:
        """A body with the <inertial> of a link of a URDF file, by default the only one; else as `from_mesh`."""
        from tautline.model.bodies_of_files import UrdfBody

        return UrdfBody(file, link, up, attachment).body()

    @staticmethod
    def from_mjcf(
        file: str | os.PathLike[str], body: str | None = None, up: Any = UPWARD, attachment: Any = ZERO
    ) -> RigidBody:
        """A body with the <inertial> of a body of an MJCF file, by default the only one; else as `from_mesh`."""
        from tautline.model.bodies_of_files import MjcfBody

        return MjcfBody(file, body, up, attachment).body()

    def central_inertia(self) -> NDArray[np.float64]:
        """Inertia matrix about the center of mass (kg m^2)."""
        found: NDArray[np.float64] = stacked(self.inertia) - steiner(self.mass, self.center_of_mass)
        return found

    def least_effective_mass(self) -> float:
        """The mass that a force at the attachment point feels where it feels least (kg).

        A pull off the center of mass also turns the body, which makes it seem lighter.
        """
        if self.is_point or not any(self.center_of_mass):
            return self.mass
        return _least_effective_mass(self)

    def least_inertia(self) -> float:
        """Least moment of inertia about an axis through the center of mass (kg m^2)."""
        return _least_inertia(self)

    def swing_frequency2(self, gravity: float) -> float:
        """Bound on the squared frequency of swinging about the attachment point under gravity (1/s^2)."""
        return 0.0 if self.is_point else gravity * _swing_frequency2(self)


# These are kept for the bodies of late: of thousands of runs, many have the same one.
@lru_cache(maxsize=64)
def _least_inertia(body: RigidBody) -> float:
    return float(np.linalg.eigvalsh(body.central_inertia())[0])


@lru_cache(maxsize=16)
def _least_effective_mass(body: RigidBody) -> float:
    rho = hat(body.center_of_mass)
    mobility = np.eye(3) / body.mass - rho @ np.linalg.solve(body.central_inertia(), rho)
    return float(1.0 / np.linalg.eigvalsh(0.5 * (mobility + mobility.T))[-1])


@lru_cache(maxsize=16)
def _swing_frequency2(body: RigidBody) -> float:
    """Squared frequency over gravity (1/m)."""
    rho = np.array(body.center_of_mass)
    distance = float(np.linalg.norm(rho))
    if distance == 0.0:
        return 0.0
    across = np.eye(3) - np.outer(rho, rho) / distance**2
    stiffness = body.mass * distance * across
    return float(np.linalg.eigvals(np.linalg.solve(body.central_inertia(), stiffness)).real.max())


def _checked_shape(name: str, shape: Any) -> Shape:
    checks.instance(name, shape, Shape)
    checks.choice(f"{name}.kind", shape.kind, DIMENSIONS)
    count = DIMENSIONS[shape.kind]
    if shape.kind == MESH:
        checks.instance(f"{name}.surface", shape.surface, Surface)
        return Shape(MESH, (), shape.surface)
    return Shape(shape.kind, sizes(f"{name}.dimensions", shape.dimensions, count) if count else ())


def sizes(name: str, value: Any, count: int) -> tuple[float, ...]:
    """So many positive lengths (m)."""
    return tuple(positive(name, float(x), "m") for x in checks.array(name, value, (count,), "m"))


def _checked_inertia(J: NDArray[np.float64], mass: float, center: Vector) -> NDArray[np.float64]:
    name = "RigidBody.inertia"
    scale = float(np.abs(J).max())
    if scale == 0.0:
        raise InputError(f"{name}: expected a positive definite matrix, got zero; for a point mass use RigidBody.point")
    if scale < LEAST_INERTIA:
        raise InputError(f"{name}: expected moments of at least {LEAST_INERTIA:g} kg m^2, got {scale:g} at most")
    J = checks.symmetric(name, J)
    central = J - steiner(mass, center)
    a, b, c = np.linalg.eigvalsh(central)
    if a <= np.finfo(float).eps * scale:
        raise InputError(
            f"{name}: expected an inertia about the attachment point that leaves a positive definite one "
            f"about the center of mass, got principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2 there"
        )
    if a + b < c * (1.0 - TRIANGLE_TOLERANCE):
        raise InputError(
            f"{name}: expected principal moments about the center of mass of which none exceeds the sum of "
            f"the other two, got {a:.6g}, {b:.6g}, {c:.6g} kg m^2; no distribution of mass has these"
        )
    return J
