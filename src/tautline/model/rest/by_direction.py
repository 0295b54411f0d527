"""Forces of a flow on bodies at rest whose drag, added mass or wing has a direction (docs/theory.md, 135 to 138)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.directional import added_matrix, drag_areas, wing_of
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.rest.flow import flow_at
from tautline.model.rest.network import NetworkBody, rotated

# Steps of central differences: of rotations (rad), and of depths over the height in which a body gets wet.
TURN, DEPTH = 1e-6, 1e-5


class Wrench(NamedTuple):
    """A force at the end of an arm from the center of mass, and a moment besides, in space."""

    force: Array
    arm: Array
    moment: Array


class InFlow(NamedTuple):
    """A body in a flow, in a frame with an acceleration."""

    fluid: Fluid
    feels: BodyInFluid
    own: NetworkBody
    acceleration: Array

    def density(self, center: Array, R: Array) -> float:
        """Mean density of the fluid around the body (kg/m^3)."""
        z = float(center[2] + (R @ self.own.seen_from_center(self.feels.buoyancy_center))[2])
        return float(self.fluid.density_at(self.fluid.around(self.feels).wet_part(z)))

    def drag(self, center: Array, R: Array) -> Wrench:
        """Drag along the axes of the body."""
        arm = R @ self.own.seen_from_center(self.feels.drag_center)
        u = R.T @ flow_at(self.fluid, center[2] + arm[2])
        areas = drag_areas(self.feels) if isinstance(self.feels.drag_area, tuple) else np.zeros(3)
        force = 0.5 * self.density(center, R) * np.linalg.norm(u) * areas * u
        return Wrench(R @ force, arm, np.zeros(3))

    def wing(self, center: Array, R: Array) -> Wrench:
        """Lift and drag of the wing."""
        arm = R @ self.own.seen_from_center(self.feels.wing_center)
        u = -R.T @ flow_at(self.fluid, center[2] + arm[2])
        wing = wing_of(self.feels)
        a, n = u @ wing.chord, u @ wing.normal
        lift, drag = (float(np.interp(np.arctan2(n, a), wing.polar[0], row)) for row in wing.polar[1:])
        k = 0.5 * self.density(center, R) * self.feels.wing_area * np.hypot(a, n)
        force = (lift * n - drag * a) * wing.chord - (lift * a + drag * n) * wing.normal
        return Wrench(R @ (k * force), arm, np.zeros(3))

    def added_mass(self, center: Array, R: Array) -> Wrench:
        """Moment on a body that stands askew in a flow, and what holds back in a frame that is accelerated."""
        mass, across, _ = added_matrix(self.feels, self.own.body.center_of_mass)
        part = self.density(center, R) / self.fluid.density
        arm = R @ self.own.seen_from_center(self.feels.buoyancy_center)
        u, a = R.T @ flow_at(self.fluid, center[2] + arm[2]), R.T @ self.acceleration
        moment = -np.cross(u, mass @ u) - across.T @ a
        return Wrench(-part * R @ mass @ a, np.zeros(3), part * R @ moment)


def stiffness(of: Callable[[Array, Array], Wrench], center: Array, R: Array, height: float) -> Array:
    """Minus the derivatives of a force and of its moment by displacements and rotations of the body (6, 6)."""

    def whole(center: Array, R: Array) -> Array:
        x = of(center, R)
        return np.concatenate([x.force, np.cross(x.arm, x.force) + x.moment])

    found, down = np.zeros((6, 6)), DEPTH * height * np.array([0.0, 0.0, 1.0])
    found[:, 2] = (whole(center - down, R) - whole(center + down, R)) / (2.0 * down[2])
    for k, turn in enumerate(TURN * np.eye(3)):
        found[:, 3 + k] = (whole(center, rotated(R, -turn)) - whole(center, rotated(R, turn))) / (2.0 * TURN)
    return found
