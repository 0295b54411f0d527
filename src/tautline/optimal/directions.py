"""Segments of a run with derivatives along directions in the space of keys, prepared once for all segments.

Entries of tables enter a run linearly: one more lowering of the case, taken far away, gives their derivative, and with
fixed times the same one wherever the search goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.differences import Changed, derivatives, difference
from tautline.gradients.leaves import flat, structure
from tautline.gradients.marching import Setting
from tautline.gradients.scales import Scales, scales_of
from tautline.gradients.segments import Segments
from tautline.gradients.setting import Begun
from tautline.model.case import Case
from tautline.optimal.unknowns import Unknowns

# Of an unknown's scale: how far away the other point of a linear function is taken.
FAR = 0.05
# Second differences below this part of the first ones are rounding.
STRAIGHT = 1e-9
# Of the size of a number: distance of central differences, whose error is its fourth power.
NEAR = 1e-3


class Straight(NamedTuple):
    """A direction along which a setting changes linearly: how far the other point is, and the run prepared there."""

    distance: float
    begun: Begun


class DirectedSegments(Segments):
    """Segments whose derivatives by keys are those by the sought values."""

    def __init__(self, case: Case, times: Array, unknowns: Unknowns, outputs: tuple[str, ...]) -> None:
        super().__init__(case, times, unknowns.keys, outputs)
        self._unknowns = unknowns
        self._linear = [self._is_linear(j) for j in range(len(unknowns.sought))]

    def _moved(self, u: Array, j: int, distance: float) -> Array:
        return np.asarray(u + distance * self._unknowns.by_sought[:, j])

    def _far(self, u: Array, j: int) -> Straight:
        """The run at another point along a direction, on the side where there is one."""
        distance = FAR * self._unknowns.sought[j].scale
        try:
            return Straight(distance, self._begun(self._moved(u, j, distance)))
        except InputError:
            return Straight(-distance, self._begun(self._moved(u, j, -distance)))

    def _is_linear(self, j: int) -> bool:
        """Whether what a run is prepared from changes linearly along a direction, the stops of the run aside."""
        u, x, last = self.values, self.start, len(self.times) - 2
        try:
            once = self._far(u, j)
            twice = self._begun(self._moved(u, j, 2.0 * once.distance))
        except InputError:
            return False
        settings = [self._placed(b.simulation, b, x, last) for b in (self._begun(u), once.begun, twice)]
        if len({repr(structure(s)) for s in settings}) > 1:
            return False
        here, near, far = (flat((s.par, *s[2:])) for s in settings)
        with np.errstate(invalid="ignore"):
            bent, change = np.nan_to_num(far - 2.0 * near + here), np.nan_to_num(near - here)
        sizes = np.abs(change).max(initial=0.0) + 1e-6 * np.abs(np.nan_to_num(here, posinf=0.0, neginf=0.0))
        return bool((np.abs(bent) <= STRAIGHT * sizes).all())

    def _tangents(self, setting: Setting, x: Array, u: Array, k: int) -> Array:
        """Derivatives of a setting by the coordinates of its state, and by the sought values."""
        here, scales = Changed(flat(setting), structure(setting)), scales_of(setting)
        columns = [self._by_state(setting, scales, x, u, k, i) for i in range(len(x))]
        for j, linear in enumerate(self._linear):
            columns.append(self._by_straight(here, x, u, k, j) if linear else self._by_curved(here, scales, x, u, k, j))
        return np.stack(columns, axis=1)

    def _by_state(self, setting: Setting, scales: Scales, x: Array, u: Array, k: int, i: int) -> Array:
        """Derivatives by one of the coordinates, on which the motion alone depends."""
        column, begun = np.zeros(len(flat(setting))), self._begun(u)
        before = len(flat(setting[:3]))
        inside = slice(before, before + len(flat(setting.motion)))

        def at(distance: float) -> Changed:
            moved = x.copy()
            moved[i] += distance
            there = self._placed(begun.simulation, begun, moved, k).motion
            return Changed(flat(there), structure(there))

        here = Changed(flat(setting.motion), structure(setting.motion))
        size, name = float(self.coordinates.sizes(x)[i]), self.coordinates.names[i]
        column[inside] = _slopes(at, size, scales.part(inside), here, name)
        return column

    def _by_straight(self, here: Changed, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives by a sought value on which the setting depends linearly."""
        straight = self._far(u, j)
        there = flat(self._placed(straight.begun.simulation, straight.begun, x, k))
        return np.asarray(difference(there, here.values) / straight.distance)

    def _by_curved(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives by any other sought value."""

        def at(distance: float) -> Changed:
            other = self._begun(self._moved(u, j, distance))
            there = self._placed(other.simulation, other, x, k)
            return Changed(flat(there), structure(there))

        sought = self._unknowns.sought[j]
        return _slopes(at, abs(float(u[j])) or sought.scale, scales, here, sought.key)


def _slopes(at: Callable[[float], Changed], size: float, scales: Scales, here: Changed, name: str) -> Array:
    """Derivatives by central differences of fourth order; by `derivatives` where the function is another one nearby."""
    h = NEAR * size
    try:
        places = [at(distance) for distance in (h, -h, 2.0 * h, -2.0 * h)]
    except InputError:
        return derivatives(at, size, scales, here, name).values
    if any(place.structure != here.structure for place in places):
        return derivatives(at, size, scales, here, name).values
    changes = [difference(place.values, here.values) for place in places]
    return np.asarray((8.0 * (changes[0] - changes[1]) - (changes[2] - changes[3])) / (12.0 * h))
