"""The system as a whole: named bodies, named lines, gravity or an orbit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tautline import registry
from tautline.errors import InputError
from tautline.model import checks, refusals
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.description import fields_of
from tautline.model.directional import is_directional
from tautline.model.elements import elements_for
from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
from tautline.model.read_only import ReadOnly
from tautline.model.system.parts import ANCHOR, Kinematic, Line, Orbit
from tautline.model.system.sheaves import Span, Wheel
from tautline.model.system.words import words_for_system
from tautline.model.wording import either, near

# Characters; names become parts of file names, which have 255 bytes.
LONGEST_NAME = 50


@dataclass(frozen=True, eq=False)
class System:
    """Rigid bodies, lines between them and points in space, and reels.

    Parameters
    ----------
    bodies : dict
        `RigidBody` by name; or `Kinematic`, a body whose motion is given.
    lines : dict
        `Line` by name.
    gravity : float
        Along the third axis, which points down (m/s^2); 0 with an orbit.
    orbit : Orbit, optional
        In place of gravity.
    fluid : Fluid, optional
        Air or water around all of it. What it does to bodies is said of each body, in `body_fluid`.
    body_fluid : dict
        `BodyInFluid` by the names of bodies: drag, volume, added mass, spin damping, a wing. Others feel nothing of it.
    applied_forces : dict
        `AppliedForce` by the names of bodies.
    """

    bodies: Mapping[str, Any]  # RigidBody or Kinematic
    lines: Mapping[str, Line]
    gravity: Any = None  # a number, once made; 9.81 if not given, 0 in an orbit
    orbit: Orbit | None = None
    fluid: Fluid | None = None
    body_fluid: Mapping[str, BodyInFluid] = field(default_factory=dict)
    applied_forces: Mapping[str, AppliedForce] = field(default_factory=dict)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        parts = {"bodies": (RigidBody, Kinematic), "lines": (Line,)}
        for name, wanted in (parts | {"body_fluid": (BodyInFluid,), "applied_forces": (AppliedForce,)}).items():
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                checks.refuse(f"System.{name}", "a dict of names", given)
            for key, thing in given.items():
                _check_name(name, key)
                checks.instance(f"System.{name}[{key!r}]", thing, *wanted)
            set_(self, name, ReadOnly(given))
        if not self.lines:
            raise InputError("System.lines: expected at least one line, got none")
        twice = [name for name in self.bodies if name in self.lines]
        if twice:
            raise InputError(f"System: expected every name once, got {twice[0]!r} for a body and for a string")
        checks.instance("System.orbit", self.orbit, Orbit) if self.orbit is not None else None
        gravity = (9.81 if self.orbit is None else 0.0) if self.gravity is None else self.gravity
        set_(self, "gravity", checks.non_negative("System.gravity", gravity, "m/s^2"))
        if self.orbit is not None and self.gravity != 0.0:
            checks.refuse("System.gravity", "0 beside an orbit, whose gravity acts", self.gravity)
        for name, line in self.lines.items():
            self._check_line(name, line)
        self._check_wheels()
        self._check_shafts()
        self._check_loads()

    def __repr__(self) -> str:
        return words_for_system(self)

    def _repr_html_(self) -> str:
        """Card of a notebook."""
        from tautline.model.picture.cards import card_of_system  # which needs systems

        return card_of_system(self)

    def _check_loads(self) -> None:
        """Refuse a fluid and forces that cannot be in this system."""
        for what, given in (("fluid", self.body_fluid), ("applied_force", self.applied_forces)):
            for name in given:
                if name not in self.bodies:
                    checks.refuse(f"bodies.{name}", "a body of the system", name, near(name, list(self.bodies)))
                if not self.is_free(name):
                    raise InputError(f"bodies.{name}.{what}: expected none for a body whose motion is given, got one")
        for name, force in self.applied_forces.items():
            if self._is_point(name) and (np.any(force.moment[1]) or any(force.point)):
                raise InputError(f"bodies.{name}.applied_force: expected no moment and no point for a point mass")
        for name, own in self.body_fluid.items():
            if self._is_point(name) and (own.drag_center or own.buoyancy_center or own.spin_damping):
                raise InputError(f"bodies.{name}.fluid: expected no centers and no spin damping for a point mass")
            if self._is_point(name) and is_directional(own):
                raise InputError(
                    f"bodies.{name}.fluid: expected one drag_area, one added_mass and no wing for a point mass, "
                    "which has no axes"
                )
        if self.fluid is None:
            for name in self.body_fluid:
                raise InputError(f"bodies.{name}.fluid: expected together with a fluid of the system, got it alone")
            return
        checks.instance("System.fluid", self.fluid, Fluid)
        if self.orbit is not None:
            raise refusals.ORBIT_FLUID.error("one")
        for key, kind in fields_of(BodyInFluid).items():
            if not kind.is_default(getattr(self.fluid, key)):
                raise InputError(f"fluid.{key}: set it per body, under [bodies.NAME.fluid]")
        for name, body in self.body_fluid.items():
            if body.body_height is not None and self.fluid.surface is None:
                raise InputError(f"bodies.{name}.fluid.body_height: expected together with fluid.surface, got it alone")

    def _is_point(self, name: str) -> bool:
        return self.is_free(name) and bool(self.bodies[name].is_point)

    def _check_line(self, name: str, line: Line) -> None:
        """Refuse a line that cannot be in this system."""
        head = f"lines.{name}"
        for key, end in (("start", line.start), ("end", line.end)):
            if end != ANCHOR and end not in self.bodies:
                known = [ANCHOR, *self.bodies]
                checks.refuse(f"{head}.{key}", f"one of {', '.join(map(repr, known))}", end, near(end, known))
        for name_, thing in line.over.items():
            if thing.on != ANCHOR and thing.on not in self.bodies:
                known = [ANCHOR, *self.bodies]
                key = f"{head}.over.{name_}.on"
                checks.refuse(key, f"one of {', '.join(map(repr, known))}", thing.on, near(thing.on, known))
        for key, end, point in zip(("start_point", "end_point"), line.ends, line.points, strict=True):
            self._check_point(f"{head}.{key}", end, point)
        for wheel in self.wheels(name):
            kinds = {"point": wheel.center} if wheel.is_pin else {"center": wheel.center}
            for key, point in (kinds | {"entrance": wheel.entrance, "exit": wheel.exit}).items():
                self._check_point(f"{head}.over.{wheel.name}.{key}", wheel.on, point)
        for span in self.spans(name):
            if span.ends[0] == span.ends[1] and span.points[0] == span.points[1]:
                self.check_touched()  # likelier than two equal points: the sheave belongs on a body
                where = [head, *(f"{head}.over.{other}" for other in line.over)][span.number]
                raise InputError(f"{where}: expected two different points, got a string from a point to itself")
            if line.elements == 1 and not any(map(self.is_free, span.ends)):
                raise InputError(f"{head}.elements: expected 2 or more between two held ends, got 1, which cannot move")
        for prefix, (key, reel) in zip(("", "end_"), (("reel", line.reel), ("end_reel", line.end_reel)), strict=True):
            if reel is not None:
                end = line.end if prefix else line.start
                self._check_reel(f"{head}.{prefix}drum_axis", f"{head}.{key}", end, reel, line.drum_axis_of(key))

    def check_touched(self) -> None:
        """Refuse a body that moves freely and that no line touches."""
        touched = {end for name in self.lines for end in self.holders(name)}
        for name in self.free_bodies:
            if name not in touched:
                fixed = [
                    f"lines.{x}.over.{y}" for x in self.lines for y, z in self.lines[x].over.items() if z.on == ANCHOR
                ]
                hint = f"; {either(fixed)} would touch it with on = {name!r}" if fixed else ""
                raise InputError(
                    f"bodies.{name}: expected a line that starts or ends on it or runs over a sheave or pin on it, got "
                    f"none{hint}"
                )

    def _check_point(self, key: str, end: str, point: Any) -> None:
        """Refuse a point beside a point mass."""
        if self._is_point(end) and tuple(point) != tuple(self.bodies[end].center_of_mass):
            checks.refuse(key, f"(0, 0, 0) of {end!r}, a point mass that has no lever", point)

    def _check_reel(self, axis_key: str, key: str, holder: str, reel: Any, axis: Any) -> None:
        """Refuse a reel that cannot be where it is."""
        body = self.bodies.get(holder)
        if isinstance(body, Kinematic) and axis is not None and reel.layer_growth != 0.0:
            checks.refuse(f"{key}.layer_growth", f"0 with {axis_key}", reel.layer_growth)
        if isinstance(body, RigidBody):
            if axis is None and not body.is_point:
                raise InputError(
                    f"{axis_key}: expected the axis of the drum in the frame of {holder!r}, whose rotation "
                    "it takes part in, got none"
                )
            if reel.layer_growth != 0.0:
                checks.refuse(
                    f"{key}.layer_growth",
                    f"0 on {holder!r}, a free body, whose drum keeps its radius",
                    reel.layer_growth,
                )
        else:
            if axis is not None and holder == ANCHOR:
                end = "start" if key.endswith(".reel") else "end"
                raise InputError(
                    f"{axis_key}: expected none where {holder!r} does not turn; a reel on a body is at the "
                    f"{end} of its string"
                )
            if self.orbit is not None:
                raise refusals.ORBIT_REEL.error(f"one at {holder!r}", at=key.rpartition(".")[0])

    def _check_wheels(self) -> None:
        """Refuse two lines, or one twice, on the same wheel."""
        known: dict[Any, str] = {}
        for name in self.lines:
            for wheel in self.wheels(name):
                place = (wheel.on, wheel.center)
                if place in known:
                    raise InputError(
                        f"lines.{name}.over.{wheel.name}: expected a wheel for each rope, side by side, got the place "
                        f"of {known[place]!r}"
                    )
                known[place] = wheel.command

    def _check_shafts(self) -> None:
        """Refuse reels on one shaft that do not go together."""
        for shaft, places in self.shafts().items():
            (first, key), *others = places
            lead = self.lines[first].reels[key]
            inertia = lead.inertia_mass * lead.drum_radius**2
            for name, key_ in others:
                reel = self.lines[name].reels[key_]
                own = reel.inertia_mass * reel.drum_radius**2
                if not math.isclose(own, inertia, rel_tol=1e-9):
                    expected = f"{inertia:g} kg m^2, that of the shaft {shaft!r} as lines.{first} has it"
                    checks.refuse(f"lines.{name}.{key_}.inertia", expected, own)
                if registry.GUIDE_LAWS[reel.guide_law].remembers:
                    expected = f"a law without memory for a drum that the shaft {shaft!r} of lines.{first} turns"
                    checks.refuse(f"lines.{name}.{key_}.guide_law", expected, reel.guide_law)

    def shafts(self) -> dict[str, list[tuple[str, str]]]:
        """Lines and keys of the reels on each shaft; the first has the command, motor and friction."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, line in self.lines.items():
            for key, reel in line.reels.items():
                if reel.shaft:
                    found.setdefault(reel.shaft, []).append((name, key))
        return found

    @property
    def free_bodies(self) -> dict[str, RigidBody]:
        """Bodies that move freely, by name."""
        return {name: body for name, body in self.bodies.items() if isinstance(body, RigidBody)}

    def is_free(self, name: str) -> bool:
        """Whether a name is that of a body that moves freely."""
        return isinstance(self.bodies.get(name), RigidBody)

    def center_of(self, name: str) -> Any:
        """Center of mass of a body in its frame; the origin of one whose motion is given, or of space."""
        return self.bodies[name].center_of_mass if self.is_free(name) else ZERO

    def wheels(self, name: str) -> tuple[Wheel, ...]:
        """Sheaves and pins that a line runs over, with all that is left to defaults."""
        return self._geometry[name][0]

    def spans(self, name: str) -> tuple[Span, ...]:
        """Stretches of a line between its ends and what it runs over."""
        return self._geometry[name][1]

    @cached_property
    def _geometry(self) -> dict[str, tuple[tuple[Wheel, ...], tuple[Span, ...]]]:
        """Wheels and spans of each line: lists of both are asked for at every start and sample."""
        found = {}
        for name, line in self.lines.items():
            wheels = tuple(x.wheel(key, name, self.is_free(x.on), self._is_point(x.on)) for key, x in line.over.items())
            starts = [(line.start, line.start_point), *((x.on, x.exit) for x in wheels)]
            stops = [*((x.on, x.entrance) for x in wheels), (line.end, line.end_point)]
            pairs = zip(starts, stops, strict=True)
            spans = tuple(Span(name, k, (a, b), (p, q)) for k, ((a, p), (b, q)) in enumerate(pairs))
            found[name] = wheels, spans
        return found

    def wraps(self, name: str) -> float:
        """Unstretched length of a line on what it runs over (m)."""
        return sum(x.wrap for x in self.wheels(name))

    def longest(self, name: str) -> float:
        """Length of a line that can be out of guides, beside what lies on sheaves (m)."""
        line = self.lines[name]
        return line.string.length - self.wraps(name) - sum(reel.guide_length for reel in line.reels.values())

    def check_deployed(self, key: str, name: str, deployed: float) -> None:
        """Refuse a deployed length that a line does not have."""
        longest = self.longest(name)
        if deployed > longest:
            words = "length less reel.guide_length" + (" and wraps on sheaves" if self.wraps(name) else "")
            checks.refuse(key, f"at most {longest:g} m ({words})", deployed)

    @property
    def is_reeved(self) -> bool:
        """Whether a line runs over sheaves, has a reel at its end or shares a shaft."""
        shared = any(len(places) > 1 for places in self.shafts().values())
        return shared or any(line.is_reeved for line in self.lines.values())

    def holders(self, name: str) -> tuple[str, ...]:
        """Names of what holds a line at its ends and carries what it runs over, in the order of the line."""
        line = self.lines[name]
        return (line.start, *(x.on for x in line.over.values()), line.end)

    def with_elements(self, elements: Mapping[str, int]) -> System:
        """The system with so many elements of its lines, by name."""
        if all(line.elements == elements[name] for name, line in self.lines.items()):
            return self
        lines = {name: replace(line, elements=elements[name]) for name, line in self.lines.items()}
        return replace(self, lines=lines)

    def elements_of(self, name: str, deployed: float) -> int:
        """Number of elements of a line of which so much is deployed (m)."""
        line = self.lines[name]
        if not isinstance(line.elements, str):
            return line.elements
        return elements_for(line.string, deployed, self._carried(name), float(self.gravity), bool(self.fluid))

    def _carried(self, name: str) -> float:
        """Mass of the free bodies beyond the end of a line (kg), or beyond its start if its end is fixed."""
        ends = [end for end in reversed(self.holders(name)) if self.is_free(end)]
        free, joined = self.free_bodies, self.joined(ends[:1], name)
        return sum(body.mass for end, body in free.items() if end in joined)

    def joined(self, names: Iterable[str], without: str) -> set[str]:
        """Names of some bodies and of all that lines but one join to them; beyond what is held nothing is followed."""
        found, reached = set[str](), set(names)
        while reached:
            found |= reached
            free = {name for name in reached if self.is_free(name)}
            beside = [self.holders(line) for line in self.lines if line != without]
            reached = {end for ends in beside if free & set(ends) for end in ends} - found
        return found

    def on_mesh(self, deployed: Mapping[str, float]) -> System:
        """The system with the lines' damping ratios made viscosities, for a run that starts with these lengths."""
        lines = {
            name: replace(line, string=line.string.on_mesh(deployed[name] / (line.count * line.spans)))
            for name, line in self.lines.items()
        }
        return replace(self, lines=lines)

    @property
    def is_isolated(self) -> bool:
        """Whether nothing acts from outside, so that linear and angular momentum are kept."""
        held = not all(self.is_free(end) for name in self.lines for end in self.holders(name))
        pushed = self.fluid is not None or self.applied_forces
        return self.gravity == 0.0 and self.orbit is None and not held and not pushed


def _check_name(kind: str, name: Any) -> None:
    if not isinstance(name, str) or (not name.isidentifier() and not name.replace("-", "_").isidentifier()):
        checks.refuse(f"System.{kind}", "names of letters, digits, - and _ that begin with no digit", name)
    if len(name) > LONGEST_NAME:
        checks.refuse(f"System.{kind}", f"names of at most {LONGEST_NAME} characters", name)
    if name == ANCHOR:
        checks.refuse(f"System.{kind}", f"another name than {ANCHOR!r}, which means a point in space", name)
