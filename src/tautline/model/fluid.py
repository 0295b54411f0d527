"""What surrounds the string and the body: air or water, still or flowing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tautline.model import checks
from tautline.model.piecewise import even_times, table_of_vectors

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Fluid:
    """A fluid, and how the body feels it. The string's part is `String.diameter` and its drag coefficients.

    Parameters
    ----------
    density : float
        rho_f (kg/m^3): 1.2 for air, 1025 for sea water.
    flow : three floats, or (depths, velocities)
        Velocity of wind or current (m/s); over depth (m, the third axis) piecewise linear, held outside.
    drag_area : float
        Drag coefficient times area of the body (m^2), the same in all directions.
    drag_center : three floats, optional
        Where the drag acts, body frame (m); the centre of mass by default.
    volume : float
        Of the body, for buoyancy (m^3).
    buoyancy_center : three floats, optional
        Where buoyancy acts, body frame (m); the centre of mass by default.
    added_mass : float
        Fluid that the body moves along, the same in all directions, at the buoyancy centre (kg).
    spin_damping : float
        Moment against the body's rotation per angular velocity (N m s).
    """

    density: float
    flow: Any = (0.0, 0.0, 0.0)
    drag_area: float = 0.0
    drag_center: Vector | None = None
    volume: float = 0.0
    buoyancy_center: Vector | None = None
    added_mass: float = 0.0
    spin_damping: float = 0.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "density", checks.positive("Fluid.density", self.density, "kg/m^3"))
        set_(self, "flow", table_of_vectors("Fluid.flow", self.flow, "depths", ("m", "m/s")))
        for name, unit in (("drag_area", "m^2"), ("volume", "m^3"), ("added_mass", "kg"), ("spin_damping", "N m s")):
            set_(self, name, checks.non_negative(f"Fluid.{name}", getattr(self, name), unit))
        for name in ("drag_center", "buoyancy_center"):
            if getattr(self, name) is not None:
                set_(self, name, checks.vector(f"Fluid.{name}", getattr(self, name), "m"))


@dataclass(frozen=True)
class AppliedForce:
    """A force and a moment on the body as functions of time, in the inertial frame.

    Parameters
    ----------
    force : three floats, or (times, forces)
        (N); a table is piecewise linear in time and held outside.
    moment : three floats, or (times, moments)
        (N m), likewise.
    point : three floats
        Where the force acts, body frame (m).
    """

    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    point: Vector = (0.0, 0.0, 0.0)

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

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "force", table_of_vectors("AppliedForce.force", self.force, "times", ("s", "N")))
        set_(self, "moment", table_of_vectors("AppliedForce.moment", self.moment, "times", ("s", "N m")))
        set_(self, "point", checks.vector("AppliedForce.point", self.point, "m"))
