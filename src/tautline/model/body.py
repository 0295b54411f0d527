"""The rigid body at the end of the string."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

# Flat bodies satisfy the triangle inequality with equality, so rounding may show a slight excess.
TRIANGLE_TOLERANCE = 1e-9
SYMMETRY_TOLERANCE = 1e-9
# Of the lightest and smallest body that the other checks let pass, with room for its shape.
LEAST_INERTIA = 0.01 * checks.SMALLEST**3


_DIMENSIONS = {"elliptic_cylinder": 3, "box": 3, "sphere": 1, "point": 0}


class Shape(NamedTuple):
    """What the body looks like, for pictures. Centred at the centre of mass, along the body's axes."""

    kind: str  # "elliptic_cylinder", "box", "sphere" or "point"
    dimensions: tuple[float, ...]  # (semi-axis x, semi-axis y, height), (x, y, z), (radius,), ()


def steiner(mass: float, offset: Any) -> NDArray[np.float64]:
    """Parallel-axis term: what shifting the reference point by `offset` adds to the inertia."""
    x = np.array(offset)
    term: NDArray[np.float64] = mass * (x @ x * np.eye(3) - np.outer(x, x))
    return term


def _as_tuple(A: NDArray[np.float64]) -> Matrix:
    a, b, c = (tuple(row) for row in A.tolist())
    return (a, b, c)


@dataclass(frozen=True)
class RigidBody:
    """A rigid body that hangs at a point which need not be its centre of mass.

    The body frame has its origin at the attachment point. See also the constructors
    `elliptic_cylinder`, `box`, `sphere` and `point`.

    Parameters
    ----------
    mass : float
        M (kg).
    inertia : 3 x 3 floats
        Inertia matrix J about the *attachment point*, in the body frame (kg m^2).
    center_of_mass : three floats
        rho_c, from the attachment point to the centre of mass, in the body frame (m).
    shape : Shape, optional
        What to draw; no influence on the motion.
    """

    mass: float
    inertia: Matrix
    center_of_mass: Vector
    shape: Shape | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "mass", checks.positive("RigidBody.mass", self.mass, "kg"))
        center = checks.vector("RigidBody.center_of_mass", self.center_of_mass, "m")
        set_(self, "center_of_mass", center)
        if self.shape is not None:
            set_(self, "shape", _checked_shape(self.shape))
        J = checks.array("RigidBody.inertia", self.inertia, (3, 3), "kg m^2")
        if self.is_point:
            if J.any() or any(center):
                raise InputError("RigidBody.inertia: expected zero for a point, use RigidBody.point(mass)")
        else:
            J = _checked_inertia(J, self.mass, center)
        set_(self, "inertia", _as_tuple(J))

    @property
    def is_point(self) -> bool:
        """Without extent, so that its rotation is left out."""
        return self.shape is not None and self.shape.kind == "point"

    @classmethod
    def about_center(
        cls, mass: float, central_inertia: Any, center_of_mass: Any, shape: Shape | None = None
    ) -> RigidBody:
        """From the inertia about the centre of mass, by the parallel-axis theorem.

        Parameters
        ----------
        mass : float
            M (kg).
        central_inertia : 3 x 3 floats
            About the centre of mass, in the body frame (kg m^2).
        center_of_mass, shape
            As in `RigidBody`.
        """
        mass = checks.positive("mass", mass, "kg")
        center = checks.vector("center_of_mass", center_of_mass, "m")
        J = checks.array("central_inertia", central_inertia, (3, 3), "kg m^2")
        return cls(mass, _as_tuple(J + steiner(mass, center)), center, shape)

    @classmethod
    def elliptic_cylinder(cls, mass: float, semi_axes: Any, height: float, center_of_mass: Any) -> RigidBody:
        """Homogeneous elliptic cylinder.

        Parameters
        ----------
        mass : float
            M (kg).
        semi_axes : two floats
            Along x and y of the body frame (m).
        height : float
            Along z (m).
        center_of_mass : three floats
            From the attachment point (m).
        """
        mass = checks.positive("mass", mass, "kg")
        a, b = _sizes("semi_axes", semi_axes, 2)
        H = checks.positive("height", height, "m")
        moments = (b * b / 4 + H * H / 12, a * a / 4 + H * H / 12, (a * a + b * b) / 4)
        shape = Shape("elliptic_cylinder", (a, b, H))
        return cls.about_center(mass, mass * np.diag(moments), center_of_mass, shape)

    @classmethod
    def box(cls, mass: float, sides: Any, center_of_mass: Any) -> RigidBody:
        """Homogeneous box.

        Parameters
        ----------
        mass : float
            M (kg).
        sides : three floats
            Along x, y, z of the body frame (m).
        center_of_mass : three floats
            From the attachment point (m).
        """
        mass = checks.positive("mass", mass, "kg")
        x, y, z = _sizes("sides", sides, 3)
        moments = ((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12)
        return cls.about_center(mass, mass * np.diag(moments), center_of_mass, Shape("box", (x, y, z)))

    @classmethod
    def sphere(cls, mass: float, radius: float, center_of_mass: Any = (0.0, 0.0, 0.0)) -> RigidBody:
        """Homogeneous ball.

        Parameters
        ----------
        mass : float
            M (kg).
        radius : float
            (m)
        center_of_mass : three floats
            From the attachment point (m); there by default.
        """
        mass = checks.positive("mass", mass, "kg")
        r = checks.positive("radius", radius, "m")
        J = 0.4 * mass * r * r * np.eye(3)
        return cls.about_center(mass, J, center_of_mass, Shape("sphere", (r,)))

    @classmethod
    def point(cls, mass: float) -> RigidBody:
        """A point mass: no inertia, no rotation."""
        return cls(mass, _as_tuple(np.zeros((3, 3))), (0.0, 0.0, 0.0), Shape("point", ()))

    def central_inertia(self) -> NDArray[np.float64]:
        """Inertia matrix about the centre of mass (kg m^2)."""
        return np.array(self.inertia) - steiner(self.mass, self.center_of_mass)

    def least_effective_mass(self) -> float:
        """The mass that a force at the attachment point feels where it feels least (kg).

        A pull off the centre of mass also turns the body, which makes it seem lighter.
        """
        if self.is_point or not any(self.center_of_mass):
            return self.mass
        return _least_effective_mass(self)

    def swing_frequency2(self, gravity: float) -> float:
        """Bound on the squared frequency of swinging about the attachment point under gravity (1/s^2)."""
        if self.is_point or gravity == 0.0:
            return 0.0
        return _swing_frequency2(self, gravity)


# Both are kept for the bodies of late: of thousands of runs, many have the same one.
@lru_cache(maxsize=16)
def _least_effective_mass(body: RigidBody) -> float:
    x, y, z = body.center_of_mass
    rho = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    mobility = np.eye(3) / body.mass - rho @ np.linalg.solve(body.central_inertia(), rho)
    return float(1.0 / np.linalg.eigvalsh(0.5 * (mobility + mobility.T))[-1])


@lru_cache(maxsize=16)
def _swing_frequency2(body: RigidBody, gravity: float) -> float:
    rho = np.array(body.center_of_mass)
    distance = float(np.linalg.norm(rho))
    if distance == 0.0:
        return 0.0
    across = np.eye(3) - np.outer(rho, rho) / distance**2
    stiffness = body.mass * gravity * distance * across
    return float(np.linalg.eigvals(np.linalg.solve(body.central_inertia(), stiffness)).real.max())


def _checked_shape(shape: Any) -> Shape:
    name = "RigidBody.shape"
    checks.instance(name, shape, Shape)
    checks.choice(f"{name}.kind", shape.kind, _DIMENSIONS)
    count = _DIMENSIONS[shape.kind]
    sizes = _sizes(f"{name}.dimensions", shape.dimensions, count) if count else []
    return Shape(shape.kind, tuple(sizes))


def _sizes(name: str, value: Any, count: int) -> list[float]:
    return [checks.positive(name, float(x), "m") for x in checks.array(name, value, (count,), "m")]


def _checked_inertia(J: NDArray[np.float64], mass: float, center: Vector) -> NDArray[np.float64]:
    name = "RigidBody.inertia"
    scale = float(np.abs(J).max())
    if scale == 0.0:
        raise InputError(f"{name}: expected a positive definite matrix, got zero; for a point mass use RigidBody.point")
    if scale < LEAST_INERTIA:
        raise InputError(f"{name}: expected moments of at least {LEAST_INERTIA:g} kg m^2, got {scale:g} at most")
    if np.abs(J - J.T).max() > SYMMETRY_TOLERANCE * scale:
        raise InputError(f"{name}: expected a symmetric matrix, got an asymmetry of {np.abs(J - J.T).max():.3g}")
    J = 0.5 * (J + J.T)
    central = J - steiner(mass, center)
    a, b, c = np.linalg.eigvalsh(central)
    if a <= np.finfo(float).eps * scale:
        raise InputError(
            f"{name}: expected an inertia about the attachment point that leaves a positive definite one "
            f"about the centre of mass, got principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2 there"
        )
    if a + b < c * (1.0 - TRIANGLE_TOLERANCE):
        raise InputError(
            f"{name}: expected principal moments about the centre of mass of which none exceeds the sum of "
            f"the other two, got {a:.6g}, {b:.6g}, {c:.6g} kg m^2; no distribution of mass has these"
        )
    return J
