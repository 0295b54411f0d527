"""Parts of a system besides rigid bodies: lines between them, bodies whose motion is given, an orbit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import ZERO, finite, positive, unit_vector, vector
from tautline.model.description import (
    Number,
    OptionalVector3,
    Vector3,
    declared,
    described,
    quantity,
    text,
)
from tautline.model.elements import MOST_ELEMENTS
from tautline.model.forms import VECTOR
from tautline.model.kinds import AUTO, OrWord, Whole
from tautline.model.parts import Part
from tautline.model.path import GUIDE_MOTIONS, GuideMotion
from tautline.model.read_only import ReadOnly
from tautline.model.reel import Reel
from tautline.model.ships import ShipMotion
from tautline.model.string import String
from tautline.model.system.sheaves import OVER, Over, Pin, Sheave
from tautline.model.turning import TURNINGS, Turning, rotation_of

# What may be given as the path of a kinematic body, by the word that tells them apart in files.
CARRIER_MOTIONS: dict[str, type] = {**GUIDE_MOTIONS, "ship": ShipMotion}
# What an end of a line is called that is fastened to no body.
ANCHOR = "anchor"
# Names of the parts of a system with one line and one body.
LINE, BODY, GUIDE = "line", "body", "guide"
EARTH_GM = 3.986004418e14
EARTH_RADIUS = 6.3781e6
# Corrections of Kepler's equation at most, and the last one, of the anomaly.
MOST_CORRECTIONS, LAST_CORRECTION = 50, 1e-15


@described
class Line:
    """A string between two points, each fixed in space or fastened to a body, with a reel at its start or without.

    It may run over sheaves and pins on its way, and have a reel at its end.
    """

    string: String = declared(Part({"": String}, "The string, all of it, spooled and deployed."))
    start: str = text('Body that holds the start of the string, or "anchor" for a point in space.', default=ANCHOR)
    start_point: Vector3 = quantity(
        "m", vector, "Where: in the body's frame, or in space for an anchor.", default=ZERO, form=VECTOR
    )
    end: str = text('Body that holds the end of the string, or "anchor" for a point in space.', default=ANCHOR)
    end_point: Vector3 = quantity(
        "m", vector, "Where: in the body's frame, or in space for an anchor.", default=ZERO, form=VECTOR
    )
    reel: Any = declared(
        Part({"": Reel}, "Drum and guide at the start of the string; none if the length is constant."), default=None
    )
    drum_axis: OptionalVector3 = quantity(
        "",
        unit_vector,
        "Axis of the drum of a reel on a body, in the body's frame: the drum turns about it, right-handed, in "
        "retrieval, and the body feels that. Need not be of unit length.",
        default=None,
        form=VECTOR,
    )
    elements: int | str = declared(
        OrWord(
            Whole(
                1,
                MOST_ELEMENTS,
                "Number of elements of the line, of each span if it runs over sheaves; or as many as the case needs.",
            ),
            AUTO,
        ),
        default=AUTO,
    )
    over: Mapping[str, Sheave | Pin] = declared(
        Over(OVER, "Sheaves and pins that the line runs over, by name, in their order from its start to its end."),
        default=ReadOnly({}),
    )
    end_reel: Any = declared(
        Part({"": Reel}, "Drum and guide at the end of the string; none if it is fastened there."), default=None
    )
    end_drum_axis: OptionalVector3 = quantity(
        "", unit_vector, "Axis of the drum at the end, as drum_axis of that at the start.", default=None, form=VECTOR
    )

    def _check_together(self) -> None:
        for prefix in ("", "end_"):
            self._check_reel(f"{prefix}reel", f"{prefix}drum_axis", "end_point" if prefix else "start_point")
        wraps = 0.0
        for name, thing in self.over.items():
            wheel = thing.wheel(name, "", False, False)
            if wheel.inertia_mass + self.string.density * wheel.wrap <= 0.0:
                raise InputError(
                    f"Line.over.{name}: expected a wheel with inertia or rope on it (wrap above 0), got neither"
                )
            if wheel.slips and not (wheel.inertia_mass > 0.0 and wheel.wrap > 0.0):
                raise InputError(
                    f"Line.over.{name}.groove_friction: expected inertia and a wrap above 0 beside it, since rope and "
                    f"wheel move by themselves, got {wheel.inertia_mass:g} kg and {wheel.wrap:g} m"
                )
            wraps += wheel.wrap
            if wraps + sum(reel.guide_length for reel in self.reels.values()) >= self.string.length:
                raise InputError(
                    f"Line.over.{name}.wrap: expected less rope on sheaves than the string has "
                    f"({self.string.length:g} m), got {wraps:g} m in all"
                )

    def _check_reel(self, key: str, axis_key: str, point: str) -> None:
        reel, axis = getattr(self, key), getattr(self, axis_key)
        if reel is None:
            if axis is not None:
                checks.refuse(f"Line.{axis_key}", "none for a line without a reel", axis)
            return
        if any(reel.guide_position) or reel.guide_path is not None:
            raise InputError(
                f"Reel.guide_position: expected none in a line, whose {point} says where its guide is; "
                "a guide that moves is on a body that is Kinematic on a path"
            )
        reel.check_string(self.string)

    @property
    def reels(self) -> dict[str, Reel]:
        """Its reels by their keys: "reel" at its start, "end_reel" at its end."""
        return {key: reel for key in ("reel", "end_reel") if (reel := getattr(self, key)) is not None}

    def at(self, key: str) -> tuple[str, Any]:
        """Holder of the end at which the reel of a key is, and the point."""
        return (self.end, self.end_point) if key == "end_reel" else (self.start, self.start_point)

    def drum_axis_of(self, key: str) -> Any:
        """Axis of the drum of the reel at a key, "reel" or "end_reel"; None where it has none."""
        return self.end_drum_axis if key == "end_reel" else self.drum_axis

    @property
    def is_reeved(self) -> bool:
        """Whether it runs over sheaves or pins, or has a reel at its end."""
        return bool(self.over) or self.end_reel is not None

    @property
    def spans(self) -> int:
        """Number of stretches between its ends and what it runs over."""
        return len(self.over) + 1

    @property
    def count(self) -> int:
        """Number of elements, which must have been chosen."""
        assert not isinstance(self.elements, str)
        return self.elements

    @property
    def ends(self) -> tuple[str, str]:
        """Names of what holds its start and its end."""
        return (self.start, self.end)

    @property
    def points(self) -> tuple[Any, Any]:
        """Where they hold it."""
        return (self.start_point, self.end_point)


@described
class Kinematic:
    """A body whose motion is given: it stands still, moves along a path, turns, or does both, as a ship does."""

    path: GuideMotion | ShipMotion | None = declared(
        Part(
            CARRIER_MOTIONS,
            "Where it goes, from its position; it stands still if not given. That of a ship turns it too.",
            word="kind",
            wanted=GuideMotion | ShipMotion,
        ),
        default=None,
    )
    position: Vector3 = quantity(
        "m", vector, "Where it is, or where its path begins to count from; third axis down.", default=ZERO, form=VECTOR
    )
    turning: Turning | None = declared(
        Part(TURNINGS, "How it turns about its origin; not at all if not given.", word="kind", wanted=Turning),
        default=None,
    )
    angles: Vector3 = quantity(
        "rad",
        vector,
        "Roll, pitch and yaw at which it is, or that its turning begins to count from.",
        default=ZERO,
        form=VECTOR,
    )

    def _check_together(self) -> None:
        if isinstance(self.path, ShipMotion) and self.turning is not None:
            checks.refuse("Kinematic.turning", "none beside the motion of a ship, which turns", self.turning)

    @property
    def rotation(self) -> Turning | None:
        """How it turns, by itself or as a ship; None for one that does not."""
        return self.path.turning if isinstance(self.path, ShipMotion) else self.turning

    @property
    def attitude(self) -> Array:
        """Rotation matrix that its turning counts from."""
        found = rotation_of(self.angles)
        if isinstance(self.path, ShipMotion):
            found = rotation_of((0.0, 0.0, self.path.heading)) @ found
        return found

    @property
    def is_turned(self) -> bool:
        """Whether its axes are not, or not always, those of space."""
        return self.rotation is not None or any(self.angles)


@described
class Orbit:
    """A frame that falls along an orbit and does not rotate: gravity is what differs from that of its origin.

    Its first axis points from the center of attraction to the pericenter, its second in the direction of motion there.
    """

    semi_major_axis: Number = quantity("m", positive, "Semi-major axis; the radius of a circular orbit.")
    eccentricity: Number = quantity("", checks.non_negative, "Eccentricity, 0 for a circle.", default=0.0)
    mean_anomaly: Number = quantity("rad", finite, "Mean anomaly at the start: 0 at the pericenter.", default=0.0)
    gravitational_parameter: Number = quantity(
        "m^3/s^2",
        positive,
        "Gravitational parameter GM of what it falls around; the Earth's by default.",
        default=EARTH_GM,
    )
    ground_radius: Number = quantity(
        "m",
        checks.non_negative,
        "Radius of what it falls around, below which no orbit is; the Earth's by default.",
        default=EARTH_RADIUS,
    )

    def _check_together(self) -> None:
        if self.eccentricity >= 1.0:
            checks.refuse("Orbit.eccentricity", "less than 1, a closed orbit", self.eccentricity)
        lowest = self.semi_major_axis * (1.0 - self.eccentricity)
        if lowest <= self.ground_radius:
            raise InputError(
                f"Orbit.semi_major_axis: expected an orbit above the ground ({self.ground_radius / 1e3:.6g} km), "
                f"got one whose lowest point is at {lowest / 1e3:.6g} km"
            )

    @property
    def rate(self) -> float:
        """Mean motion n (rad/s)."""
        return math.sqrt(self.gravitational_parameter / self.semi_major_axis**3)

    def at_start(self) -> tuple[Any, Any]:
        """True anomaly at the start (rad), and its rate (rad/s); the numbers may carry derivatives."""
        e, M = self.eccentricity, self.mean_anomaly
        n, E = np.sqrt(self.gravitational_parameter / self.semi_major_axis**3), M + e * np.sin(M)
        for iteration in range(MOST_CORRECTIONS):  # Kepler's equation
            correction = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
            E = E - correction
            if iteration and abs(correction) <= LAST_CORRECTION * (1.0 + abs(E)):
                break
        flat = np.sqrt(1.0 - e**2)
        angle = np.arctan2(flat * np.sin(E), np.cos(E) - e)
        return angle, n * flat / (1.0 - e * np.cos(E)) ** 2

    @property
    def period(self) -> float:
        """Time of one turn (s)."""
        return 2.0 * math.pi / self.rate
