"""Derivatives of what a segment starts from, for searches: by differences along directions in the space of keys.

Keys may have no derivative by themselves and have one together: a table's entry that leaves the sample it lies on, and
a duration with which all entries and samples move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.differences import Changed, difference
from tautline.gradients.leaves import flat, laid_out
from tautline.gradients.scales import Scales, scales_of
from tautline.gradients.segment_slopes import Directions, by_state, high_order
from tautline.kernels.data import Plan

if TYPE_CHECKING:
    from tautline.gradients.segments import Segments

# Of a direction's size: how far away the other point of a linear function is taken.
FAR = 0.05
# Second differences below this part of the first ones are rounding.
STRAIGHT = 1e-9
# Of the size of a number: distance of central differences, whose error is its fourth power.
NEAR = 1e-3


class Straight(NamedTuple):
    """A direction along which a setting changes linearly: how far the other point is, and the run prepared there."""

    distance: float
    begun: Any  # Begun, or BegunNetwork


class DifferencedSlopes:
    """Derivatives by differences of high order, NaN where there are none.

    Parameters
    ----------
    segments : Segments
        Prepares a run at values of keys, and places it at a state.
    directions : Directions
    """

    def __init__(self, segments: Segments, directions: Directions) -> None:
        self._segments, self._directions = segments, directions

    def columns(self, setting: Any, x: Array, u: Array, k: int) -> Array:
        """Derivatives of the numbers of a setting by the coordinates of its state, and along all directions.

        Parameters
        ----------
        setting : Setting or NetworkSetting
            Of segment k, from the state x, with the keys at the values u.
        x, u, k
            As of `Segments.march`.
        """
        setting = setting.without_workspace()
        here, scales = Changed.of(setting), scales_of(setting)
        columns = [self._along(here, scales, x, u, k, j) for j in range(len(self._directions.names))]
        return np.column_stack([by_state(self._segments, setting, scales, x, u, k, self._slopes), *columns])

    def first_columns(self, u: Array) -> Array:
        """Derivatives of all that a run starts from, along all directions."""
        numbers = self._segments.begun(u).numbers()
        here, scales = Changed.of(numbers), scales_of(numbers)
        found = [self._of_first(here, scales, u, j) for j in range(len(self._directions.names))]
        return np.stack(found, axis=1) if found else np.zeros((len(here.values), 0))

    def _of_first(self, here: Changed, scales: Scales, u: Array, j: int) -> Array:
        def at(distance: float) -> Changed:
            return Changed.of(self._segments.begun(self._moved(u, j, distance)).numbers())

        return self._slopes(at, self._size(u, j), scales, here, self._directions.names[j])

    def _slopes(self, at: Callable[[float], Changed], size: float, scales: Scales, here: Changed, name: str) -> Array:
        return high_order(at, size, scales, here, name)

    def _along(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives along a direction."""

        def at(distance: float) -> Changed:
            return self._segments.numbers(self._segments.begun(self._moved(u, j, distance)), x, k)

        return self._slopes(at, self._size(u, j), scales, here, self._directions.names[j])

    def _moved(self, u: Array, j: int, distance: float) -> Array:
        return np.asarray(u + distance * self._directions.by[:, j])

    def _size(self, u: Array, j: int) -> float:
        return float(self._directions.sizes[j])


class QuickSlopes(DifferencedSlopes):
    """Derivatives for searches, which ask for them often: by fewer differences, prepared once for all segments.

    Entries of tables enter a run linearly: one more lowering of the case, taken far away, gives their derivative, and
    with fixed times the same one wherever the search goes.
    """

    def __init__(self, segments: Segments, directions: Directions) -> None:
        super().__init__(segments, directions)
        self._linear = [self._is_linear(j) for j in range(len(directions.names))]

    def _far(self, u: Array, j: int) -> Straight:
        """The run at another point along a direction, on the side where there is one."""
        distance = FAR * float(self._directions.sizes[j])
        try:
            return Straight(distance, self._segments.begun(self._moved(u, j, distance)))
        except InputError:
            return Straight(-distance, self._segments.begun(self._moved(u, j, -distance)))

    def _is_linear(self, j: int) -> bool:
        """Whether what a run is prepared from changes linearly along a direction.

        The stops of the run are left aside.
        """
        segments = self._segments
        u, x, last = segments.values, segments.start, len(segments.times) - 2
        try:
            once = self._far(u, j)
            twice = segments.begun(self._moved(u, j, 2.0 * once.distance))
        except InputError:
            return False
        begun: Any = segments.begun(u), once.begun, twice
        settings = [segments.placed(b, x, last).without_workspace() for b in begun]
        if len({repr(laid_out(s)[1]) for s in settings}) > 1:
            return False
        parts = [tuple(part for part in s if not isinstance(part, Plan)) for s in settings]
        here, near, far = map(flat, parts)
        with np.errstate(invalid="ignore"):
            bent, change = np.nan_to_num(far - 2.0 * near + here), np.nan_to_num(near - here)
        sizes = np.abs(change).max(initial=0.0) + 1e-6 * np.abs(np.nan_to_num(here, posinf=0.0, neginf=0.0))
        return bool((np.abs(bent) <= STRAIGHT * sizes).all())

    def _along(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, j: int) -> Array:
        if not self._linear[j]:
            return super()._along(here, scales, x, u, k, j)
        straight = self._far(u, j)
        there = self._segments.numbers(straight.begun, x, k)
        return np.asarray(difference(there.values, here.values) / straight.distance)

    def _of_first(self, here: Changed, scales: Scales, u: Array, j: int) -> Array:
        if not self._linear[j]:
            return super()._of_first(here, scales, u, j)
        straight = self._far(u, j)
        there = Changed.of(straight.begun.numbers())
        return np.asarray(difference(there.values, here.values) / straight.distance)

    def _size(self, u: Array, j: int) -> float:
        """That of the value which changes, at the present point of the search."""
        return abs(float(u @ self._directions.by[:, j] / (self._directions.by[:, j] ** 2).sum())) or super()._size(u, j)

    def _slopes(self, at: Callable[[float], Changed], size: float, scales: Scales, here: Changed, name: str) -> Array:
        """By central differences of fourth order; by more of them where the function is another one nearby."""
        h = NEAR * size
        try:
            places = [at(distance) for distance in (h, -h, 2.0 * h, -2.0 * h)]
        except InputError:
            return super()._slopes(at, size, scales, here, name)
        if any(place.structure != here.structure for place in places):
            return super()._slopes(at, size, scales, here, name)
        changes = [difference(place.values, here.values) for place in places]
        return np.asarray((8.0 * (changes[0] - changes[1]) - (changes[2] - changes[3])) / (12.0 * h))
