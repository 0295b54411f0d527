"""The reel: drum and guide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline import registry
from tautline.model import checks
from tautline.model.path import GuidePath

GUIDE_STRAINS = ("mean", "extrapolated")


@dataclass(frozen=True)
class Reel:
    """A drum with a guide whose entrance stands still, or moves as prescribed.

    Parameters
    ----------
    drum_radius : float
        d (m).
    guide_length : float
        Length b of the string between drum and guide entrance (m).
    inertia_mass : float
        Moment of inertia of the drum divided by drum_radius**2, kappa_d (kg).
    guide_position : three floats
        Position r_p of the guide entrance (m); the third axis points down.
    guide_law : {"dissipative", "published", "momentum", "stretched", "none"}
        What becomes of the energy where the string enters or leaves the guide. "dissipative" never creates energy;
        "published" is the paper's formula, right for retrieval, but in deployment it adds energy; "momentum" keeps
        the momentum along the string, which loses energy in deployment and adds it in retrieval; "stretched" lets the
        drum keep the string as strained as it came in and return it so; "none" is the conservative limit.
    smoothing_speed : float
        Reel speed sigma_0 below which the laws "dissipative" and "stretched" fade to zero (m/s).
    guide_strain : {"mean", "extrapolated"}
        The strain just outside the guide: that of the first element, as in the paper, or extrapolated from the
        first two, of second order in the number of elements. A single element has only its own.
    spooled_strain : float
        Strain of all string that is spooled at the start; for the law "stretched" only.
    guide_path : GuidePath, optional
        Where the guide entrance goes, from guide_position; nodes and their velocities are relative to it.
    viscous_friction : float
        Of the drum: moment over angular velocity (N m s).
    coulomb_friction : float
        Moment of dry friction on the drum (N m): holds it up to this, and rubs with it beyond.
    max_torque : float, optional
        Greatest moment of the motor on the drum (N m), in either direction.
    max_power : float, optional
        Greatest power of the motor (W), driving or braking.
    motor_inertia : float
        Moment of inertia of the motor about its own axis (kg m^2).
    gear_ratio : float
        Turns of the motor for one of the drum.
    layer_growth : float
        Growth of the squared radius with the length spooled (m^2 per m); see `growth`. drum_radius is that of the bare
        drum.
    """

    drum_radius: float
    guide_length: float
    inertia_mass: float
    guide_position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    guide_law: str = "dissipative"
    smoothing_speed: float = 1e-3
    guide_strain: str = "mean"
    spooled_strain: float = 0.0
    guide_path: GuidePath | None = None
    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    max_torque: float | None = None
    max_power: float | None = None
    motor_inertia: float = 0.0
    gear_ratio: float = 1.0
    layer_growth: float = 0.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "drum_radius", checks.positive("Reel.drum_radius", self.drum_radius, "m"))
        set_(self, "guide_length", checks.non_negative("Reel.guide_length", self.guide_length, "m"))
        set_(self, "inertia_mass", checks.positive("Reel.inertia_mass", self.inertia_mass, "kg"))
        set_(self, "guide_position", checks.vector("Reel.guide_position", self.guide_position, "m"))
        checks.choice("Reel.guide_law", self.guide_law, registry.GUIDE_LAWS)
        speed = checks.positive("Reel.smoothing_speed", self.smoothing_speed, "m/s")
        set_(self, "smoothing_speed", speed)
        checks.choice("Reel.guide_strain", self.guide_strain, GUIDE_STRAINS)
        strain = checks.number("Reel.spooled_strain", self.spooled_strain)
        if strain <= -1.0:
            checks.refuse("Reel.spooled_strain", "a finite number above -1", self.spooled_strain)
        if strain != 0.0 and self.guide_law != "stretched":
            checks.refuse("Reel.spooled_strain", "0 unless guide_law is 'stretched'", self.spooled_strain)
        set_(self, "spooled_strain", strain)
        if self.guide_path is not None:
            checks.instance("Reel.guide_path", self.guide_path, GuidePath)
        set_(self, "viscous_friction", checks.non_negative("Reel.viscous_friction", self.viscous_friction, "N m s"))
        set_(self, "coulomb_friction", checks.non_negative("Reel.coulomb_friction", self.coulomb_friction, "N m"))
        if self.max_torque is not None:
            set_(self, "max_torque", checks.positive("Reel.max_torque", self.max_torque, "N m"))
        if self.max_power is not None:
            set_(self, "max_power", checks.positive("Reel.max_power", self.max_power, "W"))
        set_(self, "motor_inertia", checks.non_negative("Reel.motor_inertia", self.motor_inertia, "kg m^2"))
        set_(self, "gear_ratio", checks.positive("Reel.gear_ratio", self.gear_ratio, "turns"))
        set_(self, "layer_growth", checks.non_negative("Reel.layer_growth", self.layer_growth, "m"))

    @staticmethod
    def growth(rope_diameter: float, drum_width: float) -> float:
        """layer_growth of a rope that fills square cells side by side: diameter^2/(pi width) (m)."""
        diameter = checks.positive("rope_diameter", rope_diameter, "m")
        return diameter * diameter / (math.pi * checks.positive("drum_width", drum_width, "m"))

    @property
    def turning_mass(self) -> float:
        """inertia_mass with the motor's inertia as the drum feels it (kg)."""
        return self.inertia_mass + self.motor_inertia * (self.gear_ratio / self.drum_radius) ** 2

    def radius(self, reeled_length: Any) -> Any:
        """Radius of the drum with the string that is spooled on it, of a length or of an array of them (m)."""
        return np.sqrt(self.drum_radius**2 + self.layer_growth * (reeled_length - self.guide_length))
