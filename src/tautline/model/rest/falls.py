"""Hand formulas of lines over sheaves: falls, mechanical advantage, pulls that hold, hoist and lower, with friction."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.system.sheaves import Wheel
from tautline.model.system.state import State, point_of
from tautline.model.system.system import System


class Falls(NamedTuple):
    """A body that spans of a line carry, by hand formulas: straight spans, no stretch, bodies at rest.

    Attributes
    ----------
    body : str
    falls : int
        Ends of spans that pull at the body.
    advantage : float
        Pull on the body over the tension of the line, without friction: the sum of the vertical parts of the spans.
    load : float
        Weight of the body and of all that hangs on it, with the rope on its sheaves (N).
    holding, hoisting, lowering : float
        Tension at the start of the line that holds the load without friction, and that hoists and lowers it steadily
        against the friction of the sheaves (N); the weight of the spans counts.
    """

    body: str
    falls: int
    advantage: float
    load: float
    holding: float
    hoisting: float
    lowering: float


def falls_of(system: System, state: State, name: str) -> Falls | None:
    """Hand formulas of a line over sheaves that carries one free body; None for any other line."""
    line, wheels, spans = system.lines[name], system.wheels(name), system.spans(name)
    carried = {end for span in spans for end in span.ends if system.is_free(end)}
    if not line.over or len(carried) != 1:
        return None
    (body,) = carried
    ends = [
        [point_of(system, state.bodies, end, point)[0] for end, point in zip(span.ends, span.points, strict=True)]
        for span in spans
    ]
    chords = [(b - a) / max(float(np.linalg.norm(b - a)), 1e-290) for a, b in ends]
    weight = float(system.gravity) * line.string.density
    lengths = state.lengths_of(system, name)
    # along the line from its start: factor of the tension there, and what the weight of the rope adds
    load = _load(system, state, name, body)
    pulls = []
    for sense in (0, 1, -1):
        factor, added, slope, offset, up = 1.0, 0.0, 0.0, 0.0, 0.0
        for k, (span, chord) in enumerate(zip(spans, chords, strict=True)):
            down = weight * float(lengths[k]) * float(chord[2])  # tension falls by this from start to end of the span
            if span.ends[0] == body:
                slope, offset, up = slope + factor * chord[2] * -1.0, offset - added * chord[2], up - chord[2]
            added -= down
            if span.ends[1] == body:
                slope, offset, up = slope + factor * chord[2], offset + added * chord[2], up + chord[2]
            if k < len(wheels):
                ratio = behind_over_ahead(wheels[k], chord, chords[k + 1]) ** sense
                factor, added = factor * ratio, added * ratio
        pulls.append((load - offset) / slope if slope > 0.0 else math.inf)
        advantage = float(up)
    count = sum(span.ends.count(body) for span in spans)
    return Falls(body, count, advantage, load, *(float(x) for x in pulls))


def behind_over_ahead(wheel: Wheel, before: Array, behind: Array) -> float:
    """Tension behind a wheel over that ahead of it, when rope runs slowly and steadily to the start of the line.

    `before` and `behind` are unit tangents of the spans, along the line.
    """
    if wheel.law == "efficiency":
        return wheel.efficiency
    cosine = float(np.dot(before, behind))
    if wheel.law == "pin":
        angle = math.atan2(float(np.linalg.norm(np.cross(before, behind))), cosine) + 2.0 * math.pi * wheel.turns
        return math.exp(-wheel.friction * angle)
    if wheel.law == "bearing":
        # (1 - x)^2 = c^2 (1 + x^2 - 2 x cosine), the root below 1
        c2 = (wheel.friction * wheel.bearing_ratio) ** 2
        half = (1.0 - c2 * cosine) / (1.0 - c2)
        return half - math.sqrt(max(half * half - 1.0, 0.0))
    return 1.0


def _load(system: System, state: State, name: str, body: str) -> float:
    """Weight of a body and of all that other lines join to it, with the rope on its sheaves (N)."""
    found = {x for x in system.joined([body], name) if system.is_free(x)}
    lines = [x for x in system.lines if x != name and found & set(system.holders(x))]
    mass = float(sum(system.bodies[x].mass for x in found))
    mass += sum(system.lines[x].string.density * float(state.lengths_of(system, x).sum()) for x in lines)
    mass += sum(system.lines[name].string.density * wheel.wrap for wheel in system.wheels(name) if wheel.on == body)
    return mass * float(system.gravity)
