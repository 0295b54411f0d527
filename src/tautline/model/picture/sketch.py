"""A sketch of a system with its names, as SVG: lines, reels, sheaves, bodies and what carries them."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.body import RigidBody
from tautline.model.picture import labels
from tautline.model.picture.strokes import around, arrow, fixed, hull, listed, polyline, ring, text
from tautline.model.shapes import center_of, is_ship, shape_of, surface_of
from tautline.model.system.parts import ANCHOR
from tautline.model.system.starts import Hanging, near_rest
from tautline.model.system.state import State
from tautline.model.system.system import System

# Sides of the picture (px): width, least and largest height; margins, with room for labels.
WIDTH, LEAST, MOST = 640.0, 150.0, 380.0
MARGINS = (110.0, 34.0, 110.0, 40.0)  # left, above, right, below
# A system whose depth is less than this part of its size is drawn from the side.
FLAT = 0.15
# Camera of the others: turned about the vertical, and looking down by (degrees).
TURN, TILT = 28.0, 16.0
# Radii and sides of what would be too small to see (px).
LEAST_DRUM, LEAST_WHEEL, LEAST_BODY = 7.0, 5.0, 13.0
ROPE, BODY, WATER = "#2f86c5", "#8fa3b8", "#56b4e9"
# Reels have the names of their lines: where there are more of them, they are not named again.
NAMED = 2
# Points on strokes, which labels keep clear of, are so far apart (px).
APART = 4.0


class Place(NamedTuple):
    """Where a body is: its center of mass, or the point that a kinematic body leads; and its attitude."""

    position: Any
    attitude: Any


def sketch_of_state(system: System, state: State) -> str:
    """Sketch of a system in a state."""
    places = {name: Place(x.position, x.attitude) for name, x in state.bodies.items()}
    return sketch(system, {name: x.nodes for name, x in state.lines.items()}, places)


def sketch_of_system(system: System) -> str:
    """Sketch of a system that is in no state yet: hanging, with half of the rope off its reels; empty if it cannot."""
    lengths = {name: line.string.length - system.wraps(name) for name, line in system.lines.items() if line.reels}
    reeled = {name: 0.5 * x for name, x in lengths.items()}
    try:
        return sketch_of_state(system, near_rest(system, Hanging(reeled)))
    except InputError:  # a body that hangs from nothing, or floats
        return ""


def sketch(system: System, nodes: Mapping[str, Array], places: Mapping[str, Place]) -> str:
    """SVG of a system with names; its colors are those of the page around it.

    Parameters
    ----------
    system : System
    nodes : dict
        Positions of the nodes of every line, span after span (m).
    places : dict
        `Place` of every body.
    """
    drawing = _Drawing(system, nodes, places)
    parts = [*drawing.carriers(), *drawing.lines(), *drawing.wheels(), *drawing.bodies(), *drawing.reels()]
    marks = [*drawing.water(), *drawing.scale(), *drawing.words()]
    width, height = drawing.size
    names = f"lines {', '.join(system.lines)}" + (f"; bodies {', '.join(system.bodies)}" if system.bodies else "")
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="Sketch of the system: {html.escape(names)}" class="sketch" font-family="sans-serif" '
        f'font-size="12" fill="none" stroke="currentColor" stroke-width="1.3" stroke-linejoin="round">'
        f"{''.join((*parts, *marks))}</svg>"
    )


class _View(NamedTuple):
    """Directions in space that are across and down in the picture."""

    across: Array
    down: Array


def _view_of(points: Array, system: System) -> _View:
    """View that shows a system best: from the side where it is flat, else from above a corner."""
    x, y, z = np.eye(3)
    sides = np.ptp(points, axis=0)
    if system.orbit is not None or system.gravity == 0.0:  # nothing is below
        first, second = sorted(np.argsort(sides)[-2:].tolist())
        if sides.min() <= FLAT * sides.max():
            return _View(np.eye(3)[first], -y if second == 1 else z)
    if min(sides[:2]) <= FLAT * sides.max():
        return _View(x if sides[0] >= sides[1] else y, z)
    turn, tilt = math.radians(TURN), math.radians(TILT)
    across = math.cos(turn) * x - math.sin(turn) * y
    nearer = math.sin(turn) * x + math.cos(turn) * y
    return _View(across, math.cos(tilt) * z + math.sin(tilt) * nearer)


class _Drawing:
    """The parts of a sketch, and the words and strokes that labels have to keep clear of."""

    def __init__(self, system: System, nodes: Mapping[str, Array], places: Mapping[str, Place]) -> None:
        self._system, self._nodes, self._places = system, nodes, places
        self._meshes = {name: self._mesh(name) for name in system.bodies}
        every = np.concatenate([np.asarray(x) for x in (*nodes.values(), *(m for m in self._meshes.values()))])
        every = every[np.isfinite(every).all(axis=1)]
        self._view = _view_of(every, system)
        flat = np.stack([every @ self._view.across, every @ self._view.down], axis=1)
        flat = np.concatenate([flat, *self._drums()])
        low, high = flat.min(axis=0), flat.max(axis=0)
        left, above, right, below = MARGINS
        span = np.maximum(high - low, 1e-9)
        self._scale = float(min((WIDTH - left - right) / span[0], (MOST - above - below) / span[1]))
        height = max(LEAST, self._scale * span[1] + above + below)
        self.size = (WIDTH, height)
        middle = np.array([left + WIDTH - right, above + height - below]) / 2.0
        self._shift = middle - self._scale * 0.5 * (low + high)
        self._wanted: list[labels.Wanted] = []
        self._strokes: list[Array] = []

    def _drums(self) -> list[Array]:
        """Corners around drums and guides (m), across and down."""
        found = []
        for line in self._system.lines.values():
            for key, reel in line.reels.items():
                entrance = self._place(*line.at(key))
                at = np.array([entrance @ self._view.across, entrance @ self._view.down])
                reach = reel.guide_length + 2.0 * reel.drum_radius
                side = reach if key == "end_reel" else -reach
                found.append(at + np.array([[0.0, -2.0 * reel.drum_radius], [side, 0.0]]))
        return found

    def _mesh(self, name: str) -> Array:
        """Points of a body in space."""
        body, place = self._system.bodies[name], self._places[name]
        points = shape_of(self._system, name)[0] - center_of(body)
        found: Array = np.asarray(place.position) + points @ np.asarray(place.attitude).T
        return found

    def _point(self, name: str, point: Any) -> Array:
        """A point of a body, or in space, in the picture."""
        return self._seen(self._place(name, point))

    def _place(self, name: str, point: Any) -> Array:
        """A point of a body, or in space (m)."""
        if name == ANCHOR:
            return np.array(point, dtype=float)
        body, place = self._system.bodies[name], self._places[name]
        found: Array = np.asarray(place.position) + np.asarray(place.attitude) @ (np.asarray(point) - center_of(body))
        return found

    def _seen(self, points: Array) -> Array:
        """Points of space in the picture (px)."""
        flat = np.stack([points @ self._view.across, points @ self._view.down], axis=-1)
        found: Array = self._scale * flat + self._shift
        return found

    def _stroke(self, points: Array, closed: bool = False) -> None:
        """Note what labels have to keep clear of."""
        points = np.concatenate([points, points[:1]]) if closed else points
        for a, b in itertools.pairwise(points):
            count = max(2, int(np.linalg.norm(b - a) / APART))
            self._strokes.append(a + np.linspace(0.0, 1.0, count)[:, None] * (b - a))

    def lines(self) -> list[str]:
        """Spans of the lines, each line with its name in the middle of its longest span."""
        found = []
        for name, line in self._system.lines.items():
            spans = [self._seen(np.asarray(x)) for x in np.array_split(np.asarray(self._nodes[name]), line.spans)]
            for span in spans:
                self._stroke(span)
                found.append(polyline(span, f'stroke="{ROPE}" stroke-width="2"'))
            longest = max(spans, key=lambda x: float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum()))
            k = len(longest) // 2
            middle = longest[k] if len(longest) % 2 else 0.5 * (longest[k - 1] + longest[k])
            self._want(name, middle, 1.0)
        return found

    def reels(self) -> list[str]:
        """Drums, beside the ends of the lines that they wind up."""
        found = []
        count = sum(len(line.reels) for line in self._system.lines.values())
        for name, line in self._system.lines.items():
            for key, reel in line.reels.items():
                entrance = self._point(*line.at(key))
                radius = max(LEAST_DRUM, self._scale * reel.drum_radius)
                side = -1.0 if key == "reel" else 1.0
                aside = side * (max(self._scale * reel.guide_length, 5.0) + radius)
                center = entrance + np.array([aside, -radius])
                self._stroke(around(center, radius), closed=True)
                tail = np.stack([center + np.array([0.0, radius]), entrance])
                found.append(polyline(tail, f'stroke="{ROPE}" stroke-width="2"'))
                found.append(ring(center, radius) + ring(center, 1.5))
                if count <= NAMED:
                    whose = f" of {name}" if len(self._system.lines) > 1 else ""
                    self._want(f"reel{whose}", center, radius)
        return found

    def wheels(self) -> list[str]:
        """Sheaves and pins, with their names."""
        found = []
        for name in self._system.lines:
            for wheel in self._system.wheels(name):
                center = self._point(wheel.on, wheel.center)
                radius = 3.0 if wheel.is_pin else max(LEAST_WHEEL, self._scale * wheel.radius)
                self._stroke(around(center, radius), closed=True)
                found.append(ring(center, radius) + ("" if wheel.is_pin else ring(center, 1.5)))
                if wheel.on == ANCHOR:
                    found.append(fixed(center - (0.0, radius)))
                self._want(wheel.name, center, radius)
        return found

    def bodies(self) -> list[str]:
        """Outlines of the free bodies."""
        found = []
        for name, body in self._system.bodies.items():
            if not isinstance(body, RigidBody):
                continue
            outline = hull(self._seen(self._meshes[name]))
            center = outline.mean(axis=0)
            if np.ptp(outline, axis=0).max() < LEAST_BODY:
                half = 0.5 * LEAST_BODY
                outline = center + half * np.array([[-1, -0.8], [1, -0.8], [1, 0.8], [-1, 0.8]])
            for eye in self._eyes(name):  # what reaches out of the body to its line
                found.append(polyline(np.stack([center, eye]), 'stroke-width="1"'))
            self._stroke(outline, closed=True)
            found.append(f'<polygon points="{listed(outline)}" fill="{BODY}"/>')
            reach = 0.5 * np.ptp(outline, axis=0)
            self._want(name, 0.5 * (outline.min(axis=0) + outline.max(axis=0)), *reach.tolist())
        return found

    def _eyes(self, name: str) -> list[Array]:
        """Points of a body where lines are fastened, in the picture."""
        ends = [
            (end, point)
            for line in self._system.lines.values()
            for end, point in zip(line.ends, line.points, strict=True)
        ]
        return [self._point(end, point) for end, point in ends if end == name]

    def carriers(self) -> list[str]:
        """Points in space that hold lines, and bodies whose motion is given."""
        found, held = [], []
        for line in self._system.lines.values():
            held += [point for end, point in zip(line.ends, line.points, strict=True) if end == ANCHOR]
        for point in dict.fromkeys(map(tuple, held)):
            at = self._point(ANCHOR, point)
            self._stroke(at + np.array([[-11.0, 0.0], [-8.0, -5.0], [8.0, -5.0], [11.0, 0.0]]))
            found.append(fixed(at))
        for name, body in self._system.bodies.items():
            if isinstance(body, RigidBody):
                continue
            center = self._seen(np.asarray(self._places[name].position, dtype=float))
            if is_ship(body):
                seen, faces = self._seen(self._meshes[name]), shape_of(self._system, name)[1]
                outline = "".join(f"M{listed(seen[face])}Z" for face in faces)
                found.append(f'<path d="{outline}" stroke-width="0.6"/>')
                self._stroke(hull(seen), closed=True)
                self._want(name + " (moves as given)", center, *(0.5 * np.ptp(seen, axis=0)).tolist())
                continue
            corners = center + np.array([[-13, -9], [13, -9], [13, 0], [-13, 0]])
            self._stroke(corners, closed=True)
            found.append(f'<polygon points="{listed(corners)}"/>')
            if body.path is None:
                found.append(fixed(center - (0.0, 9.0)))
            else:
                found += [arrow(center - (0.0, 14.0), side) for side in (-1.0, 1.0)]
            self._want(name + (" (moves as given)" if body.path is not None else ""), center - (0.0, 5.0), 13.0, 9.0)
        return found

    def water(self) -> list[str]:
        """The surface of a fluid or a sea, where it is near."""
        surface = surface_of(self._system)
        if surface is None:
            return []
        level = float(self._scale * surface * self._view.down[2] + self._shift[1])
        width, height = self.size
        if not 0.0 < level < height:
            return []
        self._want("surface", np.array([width - 60.0, level]), 0.0)
        return [f'<path d="M8 {level:.1f}H{width - 8:.0f}" stroke="{WATER}" stroke-dasharray="9 4"/>']

    def scale(self) -> list[str]:
        """A bar of a round length, and the directions of the picture."""
        width, height = self.size
        wish = 0.17 * width / self._scale
        power = 10.0 ** math.floor(math.log10(wish))
        length = max(x * power for x in (1.0, 2.0, 5.0) if x * power <= wish)
        bar, y = length * self._scale, height - 12.0
        self._strokes.append(np.array([[10.0 + 4.0 * k, y - 8.0] for k in range(int(bar / 4.0) + 8)]))
        corner, axes = np.array([30.0, y - 38.0]), ""
        for axis, name in zip(np.eye(3), "xyz", strict=True):
            way = 22.0 * np.array([axis @ self._view.across, axis @ self._view.down])
            if (size := float(np.linalg.norm(way))) > 4.0:
                tip = corner + way
                back, aside = -4.0 * way / size, 2.5 * np.array([-way[1], way[0]]) / size
                head = np.stack([tip + back + aside, tip, tip + back - aside])
                axes += polyline(np.stack([corner, tip])) + polyline(head)
                axes += text(name, *(tip + 6.0 * way / size + (-3.0, 4.0)).tolist())
        return [f'<path d="M10 {y - 4:.0f}v4h{bar:.1f}v-4"/>', text(f"{length:g} m", 14 + bar, y), axes]

    def words(self) -> list[str]:
        """All labels, with a hair to what they name where they are far from it."""
        strokes = np.concatenate(self._strokes) if self._strokes else np.zeros((0, 2))
        found = []
        for label in labels.place(self._wanted, strokes, *self.size):
            if (hair := label.hair()) is not None:
                found.append(polyline(np.array(hair), 'stroke-width="0.6" stroke-opacity="0.6"'))
            found.append(text(label.wanted.text, label.box.left, label.box.bottom - 3.0))
        return found

    def _want(self, text: str, point: Array, across: float, up: float | None = None) -> None:
        x, y = point.tolist()
        self._wanted.append(labels.Wanted(text, (x, y), (across, across if up is None else up)))
