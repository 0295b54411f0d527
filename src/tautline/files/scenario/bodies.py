"""Shapes of the body in a scenario file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tautline.files.scenario.quantities import ZERO, Inertia, Length, Mass, Matrix, Pair, Section, Vector
from tautline.model.body import RigidBody


class _Body(Section):
    mass: Mass
    center_of_mass: Vector[Length] = ZERO


class EllipticCylinder(_Body):
    shape: Literal["elliptic_cylinder"]
    semi_axes: Pair[Length]
    height: Length

    def build(self) -> RigidBody:
        return RigidBody.elliptic_cylinder(self.mass, self.semi_axes, self.height, self.center_of_mass)


class Box(_Body):
    shape: Literal["box"]
    sides: Vector[Length]

    def build(self) -> RigidBody:
        return RigidBody.box(self.mass, self.sides, self.center_of_mass)


class Sphere(_Body):
    shape: Literal["sphere"]
    radius: Length

    def build(self) -> RigidBody:
        return RigidBody.sphere(self.mass, self.radius, self.center_of_mass)


class Point(Section):
    shape: Literal["point"]
    mass: Mass

    def build(self) -> RigidBody:
        return RigidBody.point(self.mass)


class Custom(_Body):
    """Inertia about the attachment point."""

    shape: Literal["custom"]
    inertia: Matrix[Inertia]

    def build(self) -> RigidBody:
        inertia: Any = self.inertia
        center: Any = self.center_of_mass
        return RigidBody(self.mass, inertia, center)


Body = Annotated[EllipticCylinder | Box | Sphere | Point | Custom, Field(discriminator="shape")]
