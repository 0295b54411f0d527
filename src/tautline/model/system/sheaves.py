"""Sheaves, which are wheels, and pins, on which the rope slides: a line runs over them between its ends."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import ZERO, Vector, non_negative, positive, unit_vector, vector
from tautline.model.description import (
    Number,
    OptionalNumber,
    OptionalVector3,
    Vector3,
    choice,
    described,
    quantity,
    text,
)
from tautline.model.forms import VECTOR
from tautline.model.kinds import Kind
from tautline.model.parts import Part
from tautline.model.read_only import ReadOnly
from tautline.model.reel import by_inertia
from tautline.model.rotations import E3
from tautline.model.stacking import number_of, stacked

ON = 'Body that carries it, or "anchor" for a place in space.'
ENTRANCE = "Point where the span before it ends, in the same frame as its center."
EXIT = "Point where the span behind it begins."
SMOOTHING = "Speed of the rope below which friction fades to zero."
TURNS = "Whole turns of rope around it, beside what follows from the directions of the two spans."
# A rope over a wheel's top, or under its bottom as on a hook block.
SIDES = ("over", "under")
# How far entrance and exit may be from the center of a wheel and from its plane, over its radius: a guide or a fleet
# angle takes them a little off the rim.
FARTHEST, ASIDE = 1.5, 0.5
# A pin has no radius (m).
HEIGHT_OF_PIN = 1e-3


def _efficiency(name: str, value: Any, unit: str) -> float:
    number = checks.number(name, value)
    if not 0.0 < number <= 1.0:
        checks.refuse(name, "a number above 0, at most 1", value)
    return number


_INERTIA = by_inertia("Sheave", "radius", "wheel", non_negative)


@described
class Sheave:
    """A wheel that a line runs over: free, or driven by a command.

    The mass of the wheel belongs to the body that carries it.
    """

    center: Vector3 = quantity(
        "m", vector, "Center of the wheel, in the frame of the body that carries it, or in space.", form=VECTOR
    )
    radius: Number = quantity("m", positive, "Radius of the wheel, to the middle of the rope.")
    axis: Vector3 = quantity(
        "",
        unit_vector,
        "Axis of the wheel; need not be of unit length. Where entrance and exit are given, the wheel turns about it, "
        "right-handed, as rope moves towards the start of the line; otherwise the line runs along axis x down.",
        form=VECTOR,
    )
    on: str = text(ON, default="anchor")
    inertia_mass: Number = quantity(
        "kg", non_negative, "Moment of inertia of the wheel divided by radius**2.", default=0.0, ways=(_INERTIA,)
    )
    side: str | None = choice(
        SIDES,
        'Whether the rope runs over the top of the wheel or under it, as on a hook block: "under" on a body that moves '
        'freely, "over" elsewhere, unless given.',
        default=None,
    )
    entrance: OptionalVector3 = quantity(
        "m",
        vector,
        f"{ENTRANCE} By default an end of the diameter that is horizontal at identity attitude, on a point mass the "
        "center.",
        default=None,
        form=VECTOR,
    )
    exit: OptionalVector3 = quantity(
        "m", vector, f"{EXIT} By default the other end of that diameter.", default=None, form=VECTOR
    )
    wrap: OptionalNumber = quantity(
        "m",
        non_negative,
        "Unstretched length of rope on the wheel; by default that of the arc from entrance to exit, and turns.",
        default=None,
    )
    turns: Number = quantity("", non_negative, TURNS, default=0.0)
    efficiency: Number = quantity(
        "", _efficiency, "Tension behind the wheel over that ahead of it when the rope runs steadily.", default=1.0
    )
    bearing_friction: Number = quantity("", non_negative, "Friction coefficient of the bearing.", default=0.0)
    bearing_radius: OptionalNumber = quantity(
        "m", positive, "Radius of the bearing, where bearing_friction acts.", default=None
    )
    groove_friction: OptionalNumber = quantity(
        "",
        positive,
        "Friction coefficient between rope and groove, for a rope that may slip on the wheel; none if it cannot.",
        default=None,
    )
    smoothing_speed: Number = quantity("m/s", positive, SMOOTHING, default=0.01)

    if TYPE_CHECKING:  # also takes `inertia` in place of `inertia_mass`

        def __init__(
            self,
            center: Any,
            radius: float | str,
            axis: Any,
            on: str = ...,
            inertia_mass: float | str = ...,
            *others: Any,
            inertia: float | str = ...,
            **named: Any,
        ) -> None: ...

    def _check_together(self) -> None:
        if (self.entrance is None) != (self.exit is None):
            given = "entrance" if self.exit is None else "exit"
            raise InputError(f"Sheave.{given}: expected entrance and exit together, got it alone")
        if self.entrance is not None and self.side is not None:
            checks.refuse("Sheave.side", "none beside entrance and exit", self.side)
        if self.entrance is None and abs(self.axis[2]) > 0.999:
            raise InputError("Sheave.entrance: expected for a wheel whose axis is vertical, got none")
        if self.efficiency != 1.0 and self.bearing_friction != 0.0:
            raise InputError("Sheave.bearing_friction: expected 0 beside an efficiency below 1, got both")
        if self.bearing_friction != 0.0 and self.bearing_radius is None:
            raise InputError("Sheave.bearing_radius: expected beside bearing_friction, got none")
        if self.bearing_radius is not None and self.bearing_radius >= self.radius:
            checks.refuse("Sheave.bearing_radius", f"less than radius ({self.radius:g} m)", self.bearing_radius)

    def is_under(self, on_free_body: bool) -> bool:
        """Whether the rope runs under the wheel, where it lies on a body that moves freely or not."""
        return on_free_body if self.side is None else self.side == "under"

    def wheel(self, name: str, line: str, on_free_body: bool, is_point: bool) -> Wheel:
        """The wheel with all that is left to defaults."""
        n, c = stacked(self.axis), stacked(self.center)
        if self.entrance is not None and self.exit is not None:
            entrance, out = self.entrance, self.exit
            angle = _angle(n, stacked(out) - c, stacked(entrance) - c)
        else:
            along = np.cross(n, E3)
            along = along * (0.0 if is_point else self.radius / np.linalg.norm(along))
            entrance, out, angle = _triple(c - along), _triple(c + along), math.pi
            n = -n if self.is_under(on_free_body) else n
        wrap = self.radius * (angle + 2.0 * math.pi * self.turns) if self.wrap is None else self.wrap
        law, friction, ratio = "none", 0.0, 0.0
        if self.efficiency != 1.0:
            law = "efficiency"
        elif self.bearing_friction != 0.0:
            law, friction, ratio = "bearing", self.bearing_friction, (self.bearing_radius or 0.0) / self.radius
        found = _on_wheel(self, name, line, self.center, (entrance, out), wrap)
        return found._replace(
            axis=_triple(n),
            radius=self.radius,
            law=law,
            efficiency=self.efficiency,
            friction=friction,
            bearing_ratio=ratio,
            groove_friction=self.groove_friction or 0.0,
            slips=self.groove_friction is not None,
        )


@described
class Pin:
    """A pin, eye or shoe that a line slides over, with friction that grows with the angle (capstan)."""

    point: Vector3 = quantity(
        "m", vector, "Where it is, in the frame of the body that carries it, or in space.", form=VECTOR
    )
    on: str = text(ON, default="anchor")
    friction: Number = quantity("", non_negative, "Friction coefficient between rope and pin.", default=0.0)
    turns: Number = quantity("", non_negative, TURNS, default=0.0)
    wrap: Number = quantity("m", non_negative, "Unstretched length of rope on the pin.", default=0.05)
    inertia_mass: Number = quantity(
        "kg", non_negative, "Mass that moves along with the rope on it, such as that of small rollers.", default=0.0
    )
    entrance: OptionalVector3 = quantity("m", vector, f"{ENTRANCE} By default the point.", default=None, form=VECTOR)
    exit: OptionalVector3 = quantity("m", vector, f"{EXIT} By default the point.", default=None, form=VECTOR)
    smoothing_speed: Number = quantity("m/s", positive, SMOOTHING, default=0.01)

    @property
    def center(self) -> Vector:
        """The point, where the rope on it is."""
        return self.point

    def wheel(self, name: str, line: str, on_free_body: bool, is_point: bool) -> Wheel:
        """The pin with all that is left to defaults."""
        ends = self.entrance or self.point, self.exit or self.point
        found = _on_wheel(self, name, line, self.point, ends, self.wrap)
        return found._replace(law="pin" if self.friction else "none", friction=self.friction, is_pin=True)


class Wheel(NamedTuple):
    """A sheave or a pin of a line with all that is left to defaults; points are in the frame of what carries it."""

    name: str
    command: str  # name that it is commanded by
    on: str
    center: Vector
    entrance: Vector
    exit: Vector
    inertia_mass: float
    wrap: float  # m, with whole turns
    turns: float
    smoothing_speed: float
    axis: Vector = ZERO  # unit; the wheel turns about it, right-handed, as rope moves to the start; 0 of a pin
    radius: float = 1.0
    law: str = "none"  # none, efficiency, bearing or pin
    efficiency: float = 1.0
    friction: float = 0.0
    bearing_ratio: float = 0.0
    slips: bool = False
    groove_friction: float = 0.0
    is_pin: bool = False

    @property
    def height(self) -> float:
        """Height over which the rope on it gets wet at a free surface (m)."""
        return HEIGHT_OF_PIN if self.is_pin else 2.0 * self.radius


def _on_wheel(
    thing: Sheave | Pin, name: str, line: str, center: Vector, ends: tuple[Vector, Vector], wrap: float
) -> Wheel:
    """A wheel of a sheave or a pin, from what both have."""
    own = thing.inertia_mass, wrap, thing.turns, thing.smoothing_speed
    return Wheel(name, f"{line}.{name}", thing.on, center, *ends, *own)


class Span(NamedTuple):
    """A stretch of a line between two points, each fixed in space or on a body."""

    line: str
    number: int
    ends: tuple[str, str]
    points: tuple[Vector, Vector]


def _triple(values: Any) -> Vector:
    x, y, z = map(number_of, values)
    return (x, y, z)


def _angle(n: Any, first: Any, second: Any) -> Any:
    """Angle from one vector to another, right-handed about n, 0 to 2 pi."""
    sine, cosine = n @ np.cross(first, second), first @ second - (n @ first) * (n @ second)
    angle = number_of(np.arctan2(sine, cosine))
    return angle if angle >= 0.0 else angle + 2.0 * math.pi


def off_rim(over: Mapping[str, Sheave | Pin]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Distances from center and plane of entrances and exits that are likely a mistake, and radius (m), by name.

    They are those of wheels that rope meets or leaves far from their rims.
    """
    found = {}
    for name, wheel in over.items():
        for key in ("entrance", "exit"):
            point = getattr(wheel, key)
            if isinstance(wheel, Sheave) and point is not None:
                arm = np.subtract(point, wheel.center)
                away, aside = float(np.linalg.norm(arm)), abs(float(arm @ np.asarray(wheel.axis)))
                if max(away / FARTHEST, aside / ASIDE) > wheel.radius:
                    found[name, key] = away, aside, wheel.radius
    return found


class Over(Kind):
    """Sheaves and pins by name, in the order in which a line runs over them."""

    def __init__(self, options: Mapping[str, Part], sentence: str) -> None:
        super().__init__(sentence, own_key=False)
        self.options = options

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            checks.refuse(name, "a dict of Sheave and Pin by name, in the order of the line", value)
        for key, thing in value.items():
            if not isinstance(key, str) or not key.replace("-", "_").isidentifier() or key in ("reel", "end_reel"):
                expected = (
                    "names of letters, digits, - and _ that begin with no digit, other than 'reel' and 'end_reel'"
                )
                at = f"{name}.{key}" if isinstance(key, str) and re.fullmatch(r"[\w-]+", key) else name
                checks.refuse(at, expected, key)
            checks.instance(f"{name}[{key!r}]", thing, Sheave, Pin)
        return ReadOnly(value)

    def words(self) -> str:
        return "dict of Sheave and Pin"


SHEAVE = Part({"": Sheave}, "A wheel that the line runs over.")
PIN = Part({"": Pin}, "A pin that the line slides over.")
OVER = {"sheave": SHEAVE, "pin": PIN}


def over_part(section: Any) -> Part:
    """Part whose keys a section of a sheave or a pin has: a pin has a point."""
    return PIN if isinstance(section, Mapping) and "point" in section else SHEAVE
