"""The reel: drum and guide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline import registry
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import ZERO, non_negative, positive, vector
from tautline.model.description import Number, OptionalNumber, Vector3, choice, declared, described, quantity, text
from tautline.model.forms import VECTOR, in_si
from tautline.model.kinds import Check, Quantity, Way
from tautline.model.parts import Part
from tautline.model.path import GUIDE_MOTIONS, GuideMotion
from tautline.model.string import String

GUIDE_STRAINS = ("mean", "extrapolated")


def _spooled_strain(name: str, value: Any, unit: str) -> float:
    strain = checks.number(name, value)
    if strain <= -1.0:
        checks.refuse(name, "a finite number above -1", value)
    return strain


def by_inertia(owner: str, radius: str, what: str, check: Check) -> Way:
    """Way to give an inertia as a mass at the rim by the moment of inertia; `radius` is the key of the radius."""
    words = f"Moment of inertia of the {what}, in place of `inertia_mass`."

    def join(given: dict[str, Any]) -> Any:
        r = positive(f"{owner}.{radius}", given[radius], "m")
        return check(f"{owner}.inertia", given["inertia"], "kg m^2") / r / r

    return Way({"inertia": Quantity("kg*m^2", check, words)}, join, _nothing)


def _by_rope(given: dict[str, Any]) -> float:
    return Reel.growth(given["rope_diameter"], given["drum_width"])


def _nothing(value: Any) -> None:
    return None


_INERTIA = by_inertia("Reel", "drum_radius", "drum", positive)
_ROPE = Way(
    {
        "rope_diameter": Quantity("m", positive, "Diameter of the rope on the drum, for its layers."),
        "drum_width": Quantity("m", positive, "Width of the drum that the layers fill."),
    },
    _by_rope,
    _nothing,
)


@described
class Reel:
    """A drum with a guide whose entrance stands still, or moves as prescribed."""

    drum_radius: Number = quantity("m", positive, "Radius d of the drum; with layers that of the bare drum.")
    guide_length: Number = quantity("m", non_negative, "Length b of the string between drum and guide entrance.")
    inertia_mass: Number = quantity(
        "kg", positive, "Moment of inertia of the drum divided by drum_radius**2, kappa_d.", ways=(_INERTIA,)
    )
    guide_position: Vector3 = quantity(
        "m", vector, "Position r_p of the guide entrance; the third axis points down.", default=ZERO, form=VECTOR
    )
    guide_law: str = choice(
        registry.GUIDE_LAWS,
        'What becomes of the energy where the string enters or leaves the guide. "dissipative" never creates energy; '
        '"published" is the paper\'s formula, right for retrieval, but in deployment it adds energy; "momentum" keeps '
        "the momentum along the string, which loses energy in deployment and adds it in retrieval; "
        '"stretched" lets the drum keep the string as strained as it came in and return it so; "none" is the '
        "conservative limit.",
        default="dissipative",
    )
    smoothing_speed: Number = quantity(
        "m/s",
        positive,
        'Reel speed sigma_0 below which the laws "dissipative" and "stretched" fade to zero.',
        default=1e-3,
    )
    guide_strain: str = choice(
        GUIDE_STRAINS,
        "The strain just outside the guide: that of the first element, as in the paper, or extrapolated from the "
        "first two, of second order in the number of elements. A single element has only its own.",
        default="mean",
    )
    spooled_strain: Number = quantity(
        "",
        _spooled_strain,
        'Strain of all string that is spooled at the start; for the law "stretched" only.',
        default=0.0,
    )
    guide_path: GuideMotion | None = declared(
        Part(
            GUIDE_MOTIONS,
            "Where the guide entrance goes, from guide_position; nodes are relative to it.",
            word="kind",
            wanted=GuideMotion,
        ),
        default=None,
    )
    viscous_friction: Number = quantity(
        "N*m*s", non_negative, "Friction of the drum: torque over angular velocity.", default=0.0
    )
    coulomb_friction: Number = quantity(
        "N*m",
        non_negative,
        "Torque of dry friction on the drum: holds it up to this, and rubs with it beyond.",
        default=0.0,
    )
    max_torque: OptionalNumber = quantity(
        "N*m", positive, "Greatest torque of the motor on the drum, in either direction.", default=None
    )
    max_power: OptionalNumber = quantity(
        "W", positive, "Greatest power of the motor, driving or braking.", default=None
    )
    motor_inertia: Number = quantity(
        "kg*m^2", non_negative, "Moment of inertia of the motor about its own axis.", default=0.0
    )
    gear_ratio: Number = quantity("", positive, "Turns of the motor for one of the drum.", default=1.0)
    layer_growth: Number = quantity(
        "m",
        non_negative,
        "Growth of the squared radius with the length spooled, in m^2 per m; see `growth`.",
        default=0.0,
        ways=(_ROPE,),
    )
    shaft: str = text(
        "Name of the shaft that the drum is on. Reels with the same one turn together; the first of the system's lines "
        "has their command, motor and friction.",
        default="",
    )
    sense: int = choice(
        (1, -1), "Sense on its shaft: -1 if it pays out while the first reel retrieves, 1 if both retrieve.", default=1
    )

    if TYPE_CHECKING:  # also takes `inertia` in place of `inertia_mass`, and the other keys of files

        def __init__(
            self,
            drum_radius: float | str,
            guide_length: float | str,
            inertia_mass: float | str = ...,
            *others: Any,
            inertia: float | str = ...,
            **named: Any,
        ) -> None: ...

    def _check_together(self) -> None:
        if self.spooled_strain != 0.0 and self.guide_law != "stretched":
            checks.refuse("Reel.spooled_strain", "0 unless guide_law is 'stretched'", self.spooled_strain)
        if self.sense != 1 and not self.shaft:
            checks.refuse("Reel.sense", "1 for a reel without a shaft", self.sense)
        if self.shaft and self.layer_growth != 0.0:
            checks.refuse("Reel.layer_growth", "0 on a shaft, whose drums keep their radii", self.layer_growth)

    @staticmethod
    def growth(rope_diameter: float | str, drum_width: float | str) -> float:
        """layer_growth of a rope that fills square cells side by side: diameter^2/(pi width) (m)."""
        diameter = positive("rope_diameter", in_si("rope_diameter", rope_diameter, "m"), "m")
        return diameter * diameter / (math.pi * positive("drum_width", in_si("drum_width", drum_width, "m"), "m"))

    def check_string(self, string: String) -> None:
        """Refuse a string that this reel cannot have."""
        strings = registry.GUIDE_LAWS[self.guide_law].strings
        if strings and string.law not in strings:
            raise InputError(
                f"Reel.guide_law: expected another law with String.law = {string.law!r}, got "
                f"{self.guide_law!r}, which is for strings that are {' or '.join(strings)}"
            )
        if self.guide_length >= string.length:
            raise InputError(
                f"Reel.guide_length: expected a guide shorter than the string ({string.length:g} m), "
                f"got {self.guide_length:g} m"
            )

    @property
    def turning_mass(self) -> float:
        """inertia_mass with the motor's inertia as the drum feels it (kg)."""
        return self.inertia_mass + self.motor_inertia * (self.gear_ratio / self.drum_radius) ** 2

    def radius(self, reeled_length: Any) -> Any:
        """Radius of the drum with the string that is spooled on it, of a length or of an array of them (m)."""
        return np.sqrt(self.drum_radius**2 + self.layer_growth * (reeled_length - self.guide_length))
