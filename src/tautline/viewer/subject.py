"""Parts of a run that are shown: lines, reels and bodies of a system, and the curves beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.body import RigidBody
from tautline.model.reel import Reel
from tautline.model.shapes import Mesh, boxes, mounting, shape_of, surface_of
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.commands import END_REEL, REEL
from tautline.model.system.parts import Line, Orbit
from tautline.model.system.sheaves import Wheel
from tautline.model.system.system import System
from tautline.results.inputs import case_text
from tautline.results.network import layout, span_places
from tautline.schema import Layout
from tautline.viewer.curves import Curve, Plot, curves_of

# What frames are made from, of the lines and of the bodies.
OF_LINES = ("time", "reeled_length", "unstretched_length", "position", "tension", "strain")
OF_SHEAVES = ("span_length", "rim_travel")
OF_BODIES = ("attitude", "body_position")


class Mount(NamedTuple):
    """A reel, and how it stands: directions in the frame of the body that carries it, or in space.

    A sheave stands as a drum without a guide.
    """

    reel: Reel
    turn: tuple[str, int]  # variable and column of the length that turns it; of a drum at an end, a line's number
    drop: float  # from its axis to where the rope leaves it (m)
    guide: tuple[float, ...]
    axis: tuple[float, ...]
    whole: float = 0.0  # of a drum at an end: length of the line without what lies on wheels (m)


class DrawnLine(NamedTuple):
    """A span of a line as it is drawn: its nodes and elements among those of all, what holds its ends (None: a point).

    The first span has the name of its line; others have that of the sheave before them too.
    """

    name: str
    string: String
    nodes: slice
    elements: slice
    ends: tuple[int | None, int | None]
    length: tuple[str, int]  # variable and column of its unstretched length, or of what is reeled in place of that
    mount: Mount | None = None  # the drum or the sheave at its start
    end_mount: Mount | None = None  # the drum at its end


class Subject(NamedTuple):
    """Parts of a run that are drawn and plotted."""

    lines: list[DrawnLine]
    bodies: dict[str, RigidBody | None]  # None for one that is kinematic
    shapes: list[Mesh]  # of the bodies, in their frames
    gravity: float
    orbit: Orbit | None
    surface: float | None  # depth of the fluid's, or of the sea of a ship (m)
    layout: Layout  # of the results
    plots: tuple[Plot, ...]
    curves: tuple[Curve, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables that frames are made from."""
        own = (*OF_LINES, *OF_SHEAVES) if any(line.length[0] in OF_SHEAVES for line in self.lines) else OF_LINES
        return (*own, *OF_BODIES) if self.bodies else own

    @property
    def mounts(self) -> list[Mount]:
        """All drums and wheels, line by line."""
        return [mount for line in self.lines for mount in (line.mount, line.end_mount) if mount is not None]

    def kept(self, values: Mapping[str, Array]) -> Array:
        """Unstretched length of each line that is not between the ends of what is drawn of it, (time, line) (m)."""
        found = []
        for line in self.lines:
            name, k = line.length
            length = values[name][:, k]
            found.append(length if name == "reeled_length" else line.string.length - length)
        return np.stack(found, axis=1)

    def turned(self, values: Mapping[str, Array]) -> Array:
        """Lengths by which drums and wheels turn, (time, drum or wheel) (m)."""
        found = np.zeros((len(values["time"]), len(self.mounts)))
        for i, mount in enumerate(self.mounts):
            name, k = mount.turn
            if name == END_REEL:
                found[:, i] = mount.whole - values["reeled_length"][:, k] - values["unstretched_length"][:, k]
            else:
                found[:, i] = values[name][:, k]
        return found

    def poses(self, values: Mapping[str, Array]) -> Array:
        """Origins of the bodies' frames and attitudes, (time, body, 12)."""
        origins = self.origins(values)
        if not self.bodies:
            return np.zeros((len(origins), 0, 12))
        return np.concatenate([origins, values["attitude"].reshape(*origins.shape[:2], 9)], axis=2)

    def origins(self, values: Mapping[str, Array]) -> Array:
        """Origins of the bodies' frames, (time, body, 3)."""
        if not self.bodies:
            return np.zeros((len(values["time"]), 0, 3))
        places = np.array([body.center_of_mass if body else (0.0, 0.0, 0.0) for body in self.bodies.values()])
        found: Array = values["body_position"] - np.einsum("tbij,bj->tbi", values["attitude"], places)
        return found

    def energy_density(self, strain: Array) -> Array:
        """Elastic energy of the elements, per length of unstretched string (J/m)."""
        return np.concatenate([x.string.energy_density(strain[:, x.elements]) for x in self.lines], axis=1)

    def box(self, values: Mapping[str, Array]) -> Array | None:
        """Box around lines and bodies in some samples (m); None where nothing is finite."""
        origins = self.origins(values)
        around = [values["position"]]
        for k, (points, _) in enumerate(self.shapes):
            turned = values["attitude"].reshape(*origins.shape[:2], 3, 3)[:, k]
            around.append(boxes(points, origins[:, k], turned).swapaxes(0, 1))
        place = np.concatenate(around, axis=1).reshape(-1, 3)
        place = place[np.isfinite(place).all(axis=1)]
        return np.stack([place.min(axis=0), place.max(axis=0)]) if len(place) else None


def subject_of(attributes: Mapping[Any, Any]) -> Subject:
    """Subject of a run, from the attributes of its dataset or file."""
    return _subject(case_text(attributes))


@lru_cache(maxsize=16)
def _subject(case: str) -> Subject:
    return of_system(Case.from_dict(json.loads(case)).system)


def of_system(system: System) -> Subject:
    """All lines and bodies of a system whose lines have their numbers of elements."""
    number = {name: k for k, name in enumerate(system.bodies)}
    lines: list[DrawnLine] = []
    sheaves = 0
    for k, (name, places) in enumerate(span_places(system).items()):
        line, wheels = system.lines[name], system.wheels(name)
        for span, (own, along) in zip(system.spans(name), places, strict=True):
            i = span.number
            ends = (number.get(span.ends[0]), number.get(span.ends[1]))
            length = ("unstretched_length" if line.is_reeved else "reeled_length", k)
            if line.spans > 1:
                length = ("span_length", len(lines))
            drawn = DrawnLine(name, line.string, own, along, ends, length)
            if i == 0 and line.reel is not None:
                drawn = drawn._replace(mount=_mount(system, line, REEL, ("reeled_length", k)))
            elif i > 0:
                wheel = wheels[i - 1]
                drawn = drawn._replace(name=wheel.command, mount=_wheel(wheel, sheaves))
                sheaves += 1
            if i == line.spans - 1 and line.end_reel is not None:
                drum = _mount(system, line, END_REEL, (END_REEL, k))
                drawn = drawn._replace(end_mount=drum._replace(whole=line.string.length - system.wraps(name)))
            lines.append(drawn)
    bodies = {name: body if isinstance(body, RigidBody) else None for name, body in system.bodies.items()}
    shapes = [shape_of(system, name) for name in bodies]
    gravity = float(system.gravity)
    return Subject(lines, bodies, shapes, gravity, system.orbit, surface_of(system), layout(system), *curves_of(system))


def _wheel(wheel: Wheel, number: int) -> Mount | None:
    """A sheave, from which the span behind it leaves; None for a pin."""
    up, axis = np.array(wheel.center) - np.array(wheel.exit), np.array(wheel.axis)
    up = up - (up @ axis) * axis
    drop = float(np.linalg.norm(up))
    if wheel.is_pin:
        return None
    if drop == 0.0:  # on a point mass
        up = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 else (0.0, 1.0, 0.0))
    guide = np.cross(axis, up / np.linalg.norm(up))
    reel = Reel(wheel.radius, 0.0, 1.0)
    return Mount(reel, ("rim_travel", number), drop, tuple(guide.tolist()), tuple(axis.tolist()))


def _mount(system: System, line: Line, key: str, turn: tuple[str, int]) -> Mount:
    """The drum of the reel at a key."""
    reel = line.reels[key]
    guide, axis = (tuple(x.tolist()) for x in mounting(system, line, key))
    return Mount(reel, turn, reel.drum_radius, guide, axis)
