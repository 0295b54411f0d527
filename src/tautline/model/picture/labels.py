"""Places for the labels of a sketch, where they lie on nothing else."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array

# Width of a character and height of a line (px) of the font of labels.
CHARACTER, HEIGHT = 6.4, 14.0
# Distances from the point that a label names (px), and directions, the wanted ones first.
AWAY = (8.0, 20.0, 34.0, 52.0)
TURNS = (0.0, 180.0, 90.0, -90.0, 45.0, -45.0, 135.0, -135.0)
# Costs of lying on another label, of each stroke that crosses it, of leaving the picture, and of a pixel of distance.
ON_LABEL, ON_STROKE, OUTSIDE, FAR = 100.0, 8.0, 60.0, 0.15


class Box(NamedTuple):
    """A rectangle (px)."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Wanted(NamedTuple):
    """Words for a point, and how far what is drawn there reaches across and up (px)."""

    text: str
    point: tuple[float, float]
    reach: tuple[float, float]


class Label(NamedTuple):
    """Words with the rectangle that they take."""

    wanted: Wanted
    box: Box

    def hair(self) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Ends of a line from what is named to the words, where these are far from it."""
        (x, y), (across, up), box = self.wanted.point, self.wanted.reach, self.box
        near = min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)
        dx, dy = near[0] - x, near[1] - y
        size = math.hypot(dx, dy)
        edge = (across * abs(dx) + up * abs(dy)) / size if size > 0.0 else 0.0
        if size <= edge + AWAY[0] + 2.0:
            return None
        return (x + dx * edge / size, y + dy * edge / size), near


def place(wanted: list[Wanted], strokes: Array, width: float, height: float) -> list[Label]:
    """Labels of points, one after the other, each where it disturbs the least.

    Parameters
    ----------
    wanted : list of Wanted
    strokes : array (n, 2)
        Points on all that is drawn, a few pixels apart.
    width, height : float
        Of the picture.
    """
    found: list[Label] = []
    for one in wanted:
        options = []
        for away, turn in itertools.product(AWAY, TURNS):
            box = _box(one, away, turn)
            on_labels = sum(box.meets(other.box) for other in found)
            inside = (strokes > (box.left, box.top)) & (strokes < (box.right, box.bottom))
            crossed = int(np.count_nonzero(inside.all(axis=1)))
            out = max(0.0, -box.left, -box.top, box.right - width, box.bottom - height)
            cost = ON_LABEL * on_labels + ON_STROKE * min(crossed, 6) + OUTSIDE * (out > 0.0) + out + FAR * away
            options.append((cost + 0.01 * TURNS.index(turn), box))
        found.append(Label(one, min(options)[1]))
    return found


def _box(one: Wanted, away: float, turn: float) -> Box:
    """Rectangle of words so far from what they name, in a direction."""
    across, up = math.cos(math.radians(turn)), -math.sin(math.radians(turn))
    half, high = 0.5 * CHARACTER * len(one.text), 0.5 * HEIGHT
    x = one.point[0] + (one.reach[0] + away + half) * across
    y = one.point[1] + (one.reach[1] + away + high) * up
    return Box(x - half, y - high, x + half, y + high)
