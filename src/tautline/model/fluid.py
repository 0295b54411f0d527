"""Fluids around the string and the body: air or water, still or flowing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.body import RigidBody, steiner
from tautline.model.checks import ZERO, direction, finite, non_negative, positive, vector
from tautline.model.description import (
    Number,
    OptionalNumber,
    OptionalVector3,
    Vector3,
    changed,
    declared,
    described,
    fields_of,
    quantity,
)
from tautline.model.directional import check_wing, checked_angles, one_or_more
from tautline.model.flows import UNSTEADY, Steered, UnsteadyFlow
from tautline.model.forms import VECTOR
from tautline.model.parts import Part
from tautline.model.piecewise import even_times, interpolated, rows
from tautline.model.stacking import stacked
from tautline.model.tables import Over, Table
from tautline.model.unsteady import Unsteady
from tautline.model.wave_flow import WaveFlow

ANGLES = Over("angles", "rad")
# Over which a body gets wet whose volume is not given (m).
LEAST_HEIGHT = 1e-3


@described
class BodyInFluid:
    """How a body feels a fluid around it. The string's part is `String.diameter` and its coefficients."""

    drag_area: Any = declared(
        one_or_more(
            "m^2",
            "Drag coefficient times area of the body: one in all directions, or three along the axes of the body.",
        ),
        default=0.0,
    )
    drag_center: OptionalVector3 = quantity(
        "m", vector, "Where the drag acts, body frame; the center of mass if not given.", default=None, form=VECTOR
    )
    volume: Number = quantity("m^3", non_negative, "Volume of the body, for buoyancy.", default=0.0)
    buoyancy_center: OptionalVector3 = quantity(
        "m", vector, "Where buoyancy acts, body frame; the center of mass if not given.", default=None, form=VECTOR
    )
    added_mass: Any = declared(
        one_or_more(
            "kg",
            "Fluid that the body moves along: one mass in all directions, three along the axes of the body, or a "
            "6 x 6 matrix for its velocity and angular velocity in SI units, symmetric.",
            matrix=True,
        ),
        default=0.0,
    )
    added_mass_center: OptionalVector3 = quantity(
        "m",
        vector,
        "Point that the added mass is about, body frame; the buoyancy center if not given.",
        default=None,
        form=VECTOR,
    )
    spin_damping: Number = quantity(
        "N*m*s", non_negative, "Moment against the body's rotation per angular velocity.", default=0.0
    )
    body_height: OptionalNumber = quantity(
        "m",
        positive,
        "Height over which the body gets wet as it sinks through the surface; the diameter of a sphere of its volume "
        "if not given.",
        default=None,
    )

    wing_area: Number = quantity("m^2", non_negative, "Area of a wing, which its coefficients are for.", default=0.0)
    wing_lift: Any = declared(
        Table("", finite, "Lift coefficient of the wing.", "lift_coefficients", over=ANGLES, rule=checked_angles),
        default=0.0,
    )
    wing_drag: Any = declared(
        Table(
            "",
            non_negative,
            "Drag coefficient of the wing.",
            "drag_coefficients",
            over=ANGLES,
            rule=checked_angles,
            elsewhere=(Over("drag_angles", "rad"),),
        ),
        default=0.0,
    )
    wing_center: OptionalVector3 = quantity(
        "m",
        vector,
        "Where lift and drag of the wing act, body frame; the center of mass if not given.",
        default=None,
        form=VECTOR,
    )
    wing_chord: Vector3 = quantity(
        "",
        direction,
        "Axis of the wing from its trailing to its leading edge, body frame.",
        default=(1.0, 0.0, 0.0),
        form=VECTOR,
    )
    wing_span: Vector3 = quantity(
        "",
        direction,
        "Axis of the wing across that. At a positive angle of attack the wing moves towards chord cross span, and lift "
        "is against that.",
        default=(0.0, 1.0, 0.0),
        form=VECTOR,
    )

    def _check_together(self) -> None:
        check_wing("BodyInFluid", self)

    def _tidy_keys(self, keys: dict[str, Any]) -> dict[str, Any]:
        return tidy_wing(self, keys)


_BODY = fields_of(BodyInFluid)


def tidy_wing(own: Any, keys: dict[str, Any]) -> dict[str, Any]:
    """With angles of their own for drag coefficients that are not of the angles of the lift."""
    if "lift_coefficients" in keys and "drag_coefficients" in keys and own.wing_lift[0] != own.wing_drag[0]:
        keys |= {"angles": list(own.wing_lift[0]), "drag_angles": list(own.wing_drag[0])}
    return keys


class Flow(Table):
    """A velocity, or velocities over depth; functions of time and depth are for another field."""

    def check(self, name: str, value: Any) -> Any:
        if callable(value):
            raise InputError(
                f"{name}: expected a velocity or a table over depth, got a function; give one of time and depth as "
                "unsteady=FlowTable.of(function, duration, interval, depths)"
            )
        return super().check(name, value)


@described
class Fluid:
    """A fluid, and how the body feels it. The string's part is `String.diameter` and its coefficients.

    With a `surface` the fluid ends there, and one of `density_above` lies on it. Drag, spin damping, added mass and
    buoyancy change with the density around each part.
    """

    density: Number = quantity("kg/m^3", positive, "Density rho_f: 1.2 for air, 1025 for sea water.")
    flow: Any = declared(
        Flow(
            "m/s",
            vector,
            "Velocity of wind or current; over depth (the third axis) piecewise linear, held outside.",
            "flows",
            over=Over("depths", "m"),
            vectors=True,
        ),
        default=ZERO,
    )
    drag_area: Any = declared(_BODY["drag_area"], default=0.0)
    drag_center: OptionalVector3 = declared(_BODY["drag_center"], default=None)
    volume: Number = declared(_BODY["volume"], default=0.0)
    buoyancy_center: OptionalVector3 = declared(_BODY["buoyancy_center"], default=None)
    added_mass: Any = declared(_BODY["added_mass"], default=0.0)
    added_mass_center: OptionalVector3 = declared(_BODY["added_mass_center"], default=None)
    spin_damping: Number = declared(_BODY["spin_damping"], default=0.0)
    surface: OptionalNumber = quantity(
        "m",
        finite,
        "Where the fluid ends, on the third axis, which points down; it is everywhere if not given.",
        default=None,
    )
    density_above: Number = quantity("kg/m^3", non_negative, "Density above the surface: 1.2 for air.", default=0.0)
    body_height: OptionalNumber = declared(_BODY["body_height"], default=None)
    wing_area: Number = declared(_BODY["wing_area"], default=0.0)
    wing_lift: Any = declared(_BODY["wing_lift"], default=0.0)
    wing_drag: Any = declared(_BODY["wing_drag"], default=0.0)
    wing_center: OptionalVector3 = declared(_BODY["wing_center"], default=None)
    wing_chord: Vector3 = declared(_BODY["wing_chord"], default=(1.0, 0.0, 0.0))
    wing_span: Vector3 = declared(_BODY["wing_span"], default=(0.0, 1.0, 0.0))
    unsteady: UnsteadyFlow | None = declared(
        Part(
            UNSTEADY,
            "Flow over time, added to the steady one: a table, a gust, turbulence or waves.",
            word="kind",
            wanted=UnsteadyFlow,
        ),
        default=None,
    )

    def _check_together(self) -> None:
        check_wing("Fluid", self)
        if self.surface is None:
            for name, given in (("density_above", self.density_above != 0.0), ("body_height", self.body_height)):
                if given:
                    raise InputError(f"Fluid.{name}: expected together with Fluid.surface, got it alone")
        if self.density_above > self.density:
            raise InputError(
                f"Fluid.density_above: expected at most Fluid.density = {self.density:g} kg/m^3, "
                f"got {self.density_above:g}"
            )
        if isinstance(self.unsteady, WaveFlow) and self.surface not in (None, self.unsteady.level):
            raise InputError(
                f"fluid.unsteady.level: expected Fluid.surface = {self.surface:g} m, got {self.unsteady.level:g} m"
            )
        if isinstance(self.unsteady, Steered):
            self.unsteady.mean_of(np.array(self.flow[1]))

    def _tidy_keys(self, keys: dict[str, Any]) -> dict[str, Any]:
        return tidy_wing(self, keys)

    def flow_between(self, start: float, until: float) -> Unsteady:
        """Velocities over time and depth, the steady flow included, between two times at least."""
        depths, steady = map(stacked, self.flow)
        if self.unsteady is None:
            return Unsteady(np.zeros(1), depths, steady[None])
        times, levels, more = self.unsteady.table(start, until, steady)
        places = levels if len(depths) == 1 else np.union1d(depths, levels)
        base, added = (_over_depth(places, *x) for x in ((depths, steady[None]), (levels, more)))
        return Unsteady(times, places, base + added)

    def frozen(self, time: float) -> Fluid:
        """The fluid with the flow that it has at a time, for ever."""
        if self.unsteady is None:
            return self
        times, depths, velocities = self.flow_between(time, time)
        now = interpolated(time, times, velocities.reshape(len(times), -1))
        flow = (tuple(depths.tolist()), rows(now.reshape(-1, 3)))
        return dataclasses.replace(self, flow=flow, unsteady=None)

    def around(self, body: BodyInFluid) -> Fluid:
        """The fluid as another body feels it."""
        return changed(self, **{name: getattr(body, name) for name in _BODY})

    @property
    def least_density(self) -> float:
        """Density that is around string and body wherever they are (kg/m^3)."""
        return self.density if self.surface is None else self.density_above

    @property
    def added_below(self) -> float:
        """Density below the surface, more than above (kg/m^3); 0 without a surface."""
        return self.density - self.least_density

    def density_at(self, wet: Any) -> Any:
        """Mean density around something of which a part is below the surface (kg/m^3)."""
        return self.least_density + self.added_below * wet

    def wet_part(self, depth: float) -> float:
        """Part of the body that is below the surface, from the depth of its center of buoyancy (m)."""
        return 1.0 if self.surface is None else min(max(0.5 + (depth - self.surface) / self.wetted_height, 0.0), 1.0)

    @property
    def wetted_height(self) -> float:
        """Height over which the body gets wet (m)."""
        return self.body_height or max(math.cbrt(6.0 * self.volume / math.pi), LEAST_HEIGHT)


def _over_depth(places: Array, depths: Array, velocities: Array) -> Array:
    """Velocities (time, depth, axis) at other depths: linear in between, held outside."""
    if len(depths) == 1:
        return np.repeat(velocities, len(places), axis=1)
    z = np.clip(places, depths[0], depths[-1])
    i = np.clip(np.searchsorted(depths, z, side="right") - 1, 0, len(depths) - 2)
    part = ((z - depths[i]) / (depths[i + 1] - depths[i]))[:, None]
    found: Array = (1.0 - part) * velocities[:, i] + part * velocities[:, i + 1]
    return found


@described
class AppliedForce:
    """A force and a moment on the body as functions of time, in the inertial frame."""

    force: Any = declared(
        Table("N", vector, "Force; a table is piecewise linear in time and held outside.", "forces", vectors=True),
        default=ZERO,
    )
    moment: Any = declared(
        Table(
            "N*m",
            vector,
            "Moment, likewise.",
            "moments",
            vectors=True,
            elsewhere=(Over("moment_times", "s"),),
        ),
        default=ZERO,
    )
    point: Vector3 = quantity("m", vector, "Where the force acts, body frame.", default=ZERO, form=VECTOR)

    def _tidy_keys(self, keys: dict[str, Any]) -> dict[str, Any]:
        """With times of their own for moments that are not of the times of the forces."""
        if "forces" in keys and "moments" in keys and self.force[0] != self.moment[0]:
            keys |= {"times": list(self.force[0]), "moment_times": list(self.moment[0])}
        return keys

    @classmethod
    def of(
        cls,
        function: Callable[[float], tuple[Any, Any]],
        duration: float,
        interval: float,
        point: Any = (0.0, 0.0, 0.0),
    ) -> AppliedForce:
        """Force and moment from a function of time, taken every `interval` seconds and linear in between."""
        times = even_times(duration, interval)
        values = [function(float(t)) for t in times]
        forces, moments = ([value[k] for value in values] for k in (0, 1))
        return cls((times, forces), (times, moments), point)


def moving_body(body: RigidBody, fluid: Fluid | None) -> RigidBody:
    """A body as it resists acceleration, with the fluid that it moves along everywhere."""
    if fluid is None or fluid.surface is not None or fluid.added_mass == 0.0:
        return body
    if body.is_point:
        return RigidBody.point(body.mass + fluid.added_mass)
    place = np.array(fluid.buoyancy_center or body.center_of_mass)
    mass = body.mass + fluid.added_mass
    center = (body.mass * np.array(body.center_of_mass) + fluid.added_mass * place) / mass
    inertia = np.array(body.inertia) + steiner(fluid.added_mass, place)
    return RigidBody(mass, inertia, center, body.shape)
