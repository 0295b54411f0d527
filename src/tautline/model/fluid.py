"""What surrounds the string and the body: air or water, still or flowing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tautline.model.checks import ZERO, non_negative, positive, vector
from tautline.model.description import Number, OptionalVector3, Vector3, declared, described, quantity
from tautline.model.kinds import VECTOR
from tautline.model.piecewise import even_times
from tautline.model.tables import Over, Table


@described
class Fluid:
    """A fluid, and how the body feels it. The string's part is `String.diameter` and its drag coefficients."""

    density: Number = quantity("kg/m^3", positive, "Density rho_f: 1.2 for air, 1025 for sea water.")
    flow: Any = declared(
        Table(
            "m/s",
            vector,
            "Velocity of wind or current; over depth (the third axis) piecewise linear, held outside.",
            "flows",
            over=Over("depths", "m"),
            vectors=True,
        ),
        default=ZERO,
    )
    drag_area: Number = quantity(
        "m^2", non_negative, "Drag coefficient times area of the body, the same in all directions.", default=0.0
    )
    drag_center: OptionalVector3 = quantity(
        "m", vector, "Where the drag acts, body frame; the centre of mass if not given.", default=None, form=VECTOR
    )
    volume: Number = quantity("m^3", non_negative, "Volume of the body, for buoyancy.", default=0.0)
    buoyancy_center: OptionalVector3 = quantity(
        "m", vector, "Where buoyancy acts, body frame; the centre of mass if not given.", default=None, form=VECTOR
    )
    added_mass: Number = quantity(
        "kg",
        non_negative,
        "Fluid that the body moves along, the same in all directions, at the buoyancy centre.",
        default=0.0,
    )
    spin_damping: Number = quantity(
        "N*m*s", non_negative, "Moment against the body's rotation per angular velocity.", default=0.0
    )


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
