"""Sections of a scenario file of which there is one kind: string, reel, fluid, push, guide and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator

from tautline import registry
from tautline.files.scenario.quantities import (
    ZERO,
    Area,
    Density,
    Elements,
    Force,
    Inertia,
    Length,
    LineDensity,
    Mass,
    Moment,
    Power,
    RotaryDamping,
    Section,
    Speed,
    Step,
    Table,
    Time,
    Vector,
    Vectors,
    Viscosity,
    Volume,
)
from tautline.model import checks
from tautline.model.fluid import AppliedForce, Fluid
from tautline.model.path import GuidePath
from tautline.model.reel import Reel
from tautline.model.string import String

if TYPE_CHECKING:
    ElasticLaw = str
    GuideLaw = str
else:
    ElasticLaw, GuideLaw = Literal[tuple(registry.ELASTIC_LAWS)], Literal[tuple(registry.GUIDE_LAWS)]


class StringSection(Section):
    """The string, all of it, spooled and deployed."""

    length: Length
    density: LineDensity
    stiffness: Force | None = None
    law: ElasticLaw = "linear"
    strains: Table[float] | None = None
    tensions: Table[Force] | None = None
    viscosity: Viscosity = 0.0
    diameter: Length = 0.0
    normal_drag: float = 1.2
    tangential_drag: float = 0.01

    @model_validator(mode="after")
    def _one_law(self) -> StringSection:
        table = (self.strains, self.tensions)
        if self.law == "table":
            if None in table or self.stiffness is not None:
                raise ValueError("expected strains and tensions with law = 'table', and no stiffness")
        elif self.stiffness is None or table != (None, None):
            raise ValueError(f"expected stiffness, and no table, with law = '{self.law}'")
        return self

    def build(self) -> String:
        others: dict[str, Any] = {
            name: getattr(self, name) for name in ("viscosity", "diameter", "normal_drag", "tangential_drag")
        }
        if self.stiffness is None:
            return String.from_table(self.length, self.density, self.strains, self.tensions, **others)
        return String(self.length, self.density, self.stiffness, law=self.law, **others)


class ReelSection(Section):
    """The drum and its guide."""

    drum_radius: Length
    guide_length: Length
    inertia_mass: Mass | None = None
    inertia: Inertia | None = None
    guide_position: Vector[Length] = ZERO
    guide_law: GuideLaw = "dissipative"
    smoothing_speed: Speed = 1e-3
    guide_strain: Literal["mean", "extrapolated"] = "mean"
    spooled_strain: float = 0.0
    viscous_friction: RotaryDamping = 0.0
    coulomb_friction: Moment = 0.0
    max_torque: Moment | None = None
    max_power: Power | None = None
    motor_inertia: Inertia = 0.0
    gear_ratio: float = 1.0
    layer_growth: Length | None = None
    rope_diameter: Length | None = None
    drum_width: Length | None = None

    @model_validator(mode="after")
    def _one_growth(self) -> ReelSection:
        by_size = (self.rope_diameter is not None, self.drum_width is not None)
        if any(by_size) and (not all(by_size) or self.layer_growth is not None):
            names = [k for k in ("layer_growth", "rope_diameter", "drum_width") if getattr(self, k) is not None]
            raise ValueError(f"expected layer_growth, or rope_diameter and drum_width, got {' and '.join(names)}")
        return self

    @model_validator(mode="after")
    def _one_inertia(self) -> ReelSection:
        if (self.inertia_mass is None) == (self.inertia is None):
            given = "neither" if self.inertia is None else "both"
            raise ValueError(f"expected either inertia_mass (kg) or inertia (kg*m^2) of the drum, got {given}")
        return self

    def build(self) -> Reel:
        mass = self.inertia_mass
        if mass is None:
            assert self.inertia is not None
            radius = checks.positive("drum_radius", self.drum_radius, "m")
            mass = checks.positive("inertia", self.inertia, "kg m^2") / radius / radius
        position: Any = self.guide_position
        growth = self.layer_growth or 0.0
        if self.rope_diameter is not None and self.drum_width is not None:
            growth = Reel.growth(self.rope_diameter, self.drum_width)
        return Reel(
            self.drum_radius,
            self.guide_length,
            mass,
            position,
            self.guide_law,
            self.smoothing_speed,
            self.guide_strain,
            self.spooled_strain,
            viscous_friction=self.viscous_friction,
            coulomb_friction=self.coulomb_friction,
            max_torque=self.max_torque,
            max_power=self.max_power,
            motor_inertia=self.motor_inertia,
            gear_ratio=self.gear_ratio,
            layer_growth=growth,
        )


class FluidSection(Section):
    """Air or water around string and body, still or flowing."""

    density: Density
    flow: Vector[Speed] = ZERO
    depths: Table[Length] | None = None
    flows: Vectors[Speed] | None = None
    drag_area: Area = 0.0
    drag_center: Vector[Length] | None = None
    volume: Volume = 0.0
    buoyancy_center: Vector[Length] | None = None
    added_mass: Mass = 0.0
    spin_damping: RotaryDamping = 0.0

    @model_validator(mode="after")
    def _one_flow(self) -> FluidSection:
        if (self.depths is None) != (self.flows is None):
            raise ValueError("expected depths and flows together")
        if self.flows is not None and self.flow != ZERO:
            raise ValueError("expected either flow, or depths and flows, got both")
        return self

    def build(self) -> Fluid:
        values = self.model_dump(exclude={"depths", "flows"})
        if self.depths is not None:
            values["flow"] = (self.depths, self.flows)
        return Fluid(**values)


class AppliedForceSection(Section):
    """A force and a moment on the body: constant, or tables over time."""

    force: Vector[Force] = ZERO
    moment: Vector[Moment] = ZERO
    times: Table[Time] | None = None
    forces: Vectors[Force] | None = None
    moments: Vectors[Moment] | None = None
    point: Vector[Length] = ZERO

    @model_validator(mode="after")
    def _timed(self) -> AppliedForceSection:
        if (self.times is None) != (self.forces is None and self.moments is None):
            raise ValueError("expected times together with forces or moments")
        for constant, table in (("force", "forces"), ("moment", "moments")):
            if getattr(self, table) is not None and getattr(self, constant) != ZERO:
                raise ValueError(f"expected either {constant}, or times and {table}, got both")
        return self

    def build(self) -> AppliedForce:
        force = self.force if self.forces is None else (self.times, self.forces)
        moment = self.moment if self.moments is None else (self.times, self.moments)
        point: Any = self.point
        return AppliedForce(force, moment, point)


class GuideSection(Section):
    """Where the guide entrance goes."""

    times: Table[Time]
    displacements: Vectors[Length]
    start_velocity: Vector[Speed] = ZERO
    end_velocity: Vector[Speed] = ZERO

    def build(self) -> GuidePath:
        points: Any = self.displacements
        ends: Any = (self.start_velocity, self.end_velocity)
        return GuidePath(tuple(self.times), points, ends)


class RunSection(Section):
    """How long, in how many elements, and by which method."""

    duration: Time
    elements: Elements = "auto"
    step: Step = "auto"
    sample: Time | None = None
    order: Literal[2, 4, 6] = 2
    scheme: Literal["symmetric", "paper"] = "symmetric"
    compensated: bool = True
    minimum_length: Length | None = None
    at_end: Literal["stop", "hold"] = "stop"

    def number_of_elements(self) -> int | None:
        """N, or None where it is left to the case."""
        return None if self.elements == "auto" else self.elements

    def options(self) -> dict[str, Any]:
        """Keyword arguments of `simulate`."""
        for name in ("duration", "step", "sample", "minimum_length"):
            value = getattr(self, name)
            if not (value is None or value == "auto"):
                checks.positive(name, value, "m" if name == "minimum_length" else "s")
        return self.model_dump(exclude={"elements"})
