"""Segments of a run with derivatives along directions in the space of keys, prepared once for all segments.

Entries of tables enter a run linearly: one more lowering of the case, taken far away, gives their derivative, and with
fixed times the same one wherever the search goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.assembly.setting import BegunAssembly
from tautline.gradients.differences import Changed, derivatives, difference
from tautline.gradients.leaves import flat, places_in, structure
from tautline.gradients.scales import Scales, scales_of
from tautline.gradients.segments import Segments
from tautline.gradients.setting import Begun
from tautline.kernels.data import Plan
from tautline.model.assembly.case import AssemblyCase
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
    begun: Begun | BegunAssembly


class DirectedSegments(Segments):
    """Segments whose derivatives by keys are those by the sought values."""

    def __init__(self, case: Case | AssemblyCase, times: Array, unknowns: Unknowns, outputs: tuple[str, ...]) -> None:
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
        settings = [self._placed(b, x, last).without_workspace() for b in (self._begun(u), once.begun, twice)]
        if len({repr(structure(s)) for s in settings}) > 1:
            return False
        here, near, far = (flat(tuple(part for part in s if not isinstance(part, Plan))) for s in settings)
        with np.errstate(invalid="ignore"):
            bent, change = np.nan_to_num(far - 2.0 * near + here), np.nan_to_num(near - here)
        sizes = np.abs(change).max(initial=0.0) + 1e-6 * np.abs(np.nan_to_num(here, posinf=0.0, neginf=0.0))
        return bool((np.abs(bent) <= STRAIGHT * sizes).all())

    def _tangents(self, setting: Any, x: Array, u: Array, k: int) -> Array:
        """Derivatives of a setting by the coordinates of its state, and by the sought values."""
        setting = setting.without_workspace()
        here, scales = Changed(flat(setting), structure(setting)), scales_of(setting)
        columns = self._by_state(setting, scales, x, u, k)
        for j, linear in enumerate(self._linear):
            columns.append(self._by_straight(here, x, u, k, j) if linear else self._by_curved(here, scales, x, u, k, j))
        return np.stack(columns, axis=1)

    def _by_state(self, setting: Any, scales: Scales, x: Array, u: Array, k: int) -> list[Array]:
        """Derivatives by the coordinates, on which the motion alone depends."""
        begun, inside = self._begun(u), places_in(setting, lambda other: other.moving())
        here, part, sizes, found = self._moving(begun, x, k), scales.part(inside), self.coordinates.sizes(x), []
        for i, name in enumerate(self.coordinates.names):

            def at(distance: float, i: int = i) -> Changed:
                moved = x.copy()
                moved[i] += distance
                return self._moving(begun, moved, k)

            column = np.zeros(len(scales.groups))
            column[inside] = _slopes(at, float(sizes[i]), part, here, name)
            found.append(column)
        return found

    def _by_straight(self, here: Changed, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives by a sought value on which the setting depends linearly."""
        straight = self._far(u, j)
        there = self._numbers(straight.begun, x, k)
        return np.asarray(difference(there.values, here.values) / straight.distance)

    def _by_curved(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives by any other sought value."""

        def at(distance: float) -> Changed:
            return self._numbers(self._begun(self._moved(u, j, distance)), x, k)

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
