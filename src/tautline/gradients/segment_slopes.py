"""Derivatives of what a segment starts from: by its state, by keys, and along directions in the space of keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_sizes
from tautline.gradients.leaves import places_in
from tautline.gradients.lowering import by_duals, tangents_of_run
from tautline.gradients.runs import Runs
from tautline.gradients.scales import Scales, scales_of

if TYPE_CHECKING:
    from tautline.gradients.segments import Segments


Slopes = Callable[[Callable[[float], Changed], float, Scales, Changed, str], Array]


class Directions(NamedTuple):
    """Directions in the space of keys.

    Attributes
    ----------
    by : array (m, d)
        Changes of the keys' values along each.
    sizes : array (d,)
        How far a change is that may be expected to make a difference.
    names : tuple of str
        For errors.
    """

    by: Array
    sizes: Array
    names: tuple[str, ...]

    def along(self, columns: Array) -> Array:
        """Derivatives along the directions from those by the keys, of which some may not be known."""
        found = [columns[:, moved] @ self.by[moved, j] for j, moved in enumerate(self.by.T != 0.0)]
        return np.stack(found, axis=1) if found else np.zeros((len(columns), 0))


def high_order(at: Callable[[float], Changed], size: float, scales: Scales, here: Changed, name: str) -> Array:
    """Slopes by differences of high order, NaN where there are none."""
    return derivatives(at, size, scales, here, name).values


def by_state(
    segments: Segments, setting: Any, scales: Scales, x: Array, u: Array, k: int, slopes: Slopes = high_order
) -> Array:
    """Derivatives of a setting by the coordinates of its first state, on which the motion alone depends."""
    inside = places_in(setting, lambda other: other.moving())
    begun, part, sizes = segments.begun(u), scales.part(inside), segments.coordinates.sizes(x)
    here, columns = segments.moving(begun, x, k), np.zeros((len(scales.groups), len(x)))
    for i, name in enumerate(segments.coordinates.names):

        def at(distance: float, i: int = i) -> Changed:
            moved = x.copy()
            moved[i] += distance
            return segments.moving(begun, moved, k)

        columns[inside, i] = slopes(at, float(sizes[i]), part, here, name)
    return columns


class SegmentSlopes:
    """Derivatives by dual numbers, and by differences of high order where these do not know; NaN where there are none.

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
        segments = self._segments
        runs, begun, at = segments.runs(u), segments.begun(u), segments.midway(setting, x, u, k)
        setting = setting.without_workspace()
        scales, n = scales_of(setting), len(x)
        states: list[Array] = []

        def tangents(names: Sequence[str], scales: Scales) -> Array:
            found: Array = runs.tangents(begun, names, scales, at)
            states.append(found[:, :n])
            return found[:, n:]

        columns, unknown = by_duals(runs.case, segments.by, tangents, scales)
        if not states:
            try:
                tangents([], scales)
            except UnknownTangentsError:
                states.append(by_state(segments, setting, scales, x, u, k))
        here = Changed.of(setting)
        for j in unknown:
            columns[:, j] = self._by_key(here, scales, x, u, k, segments.by[j])
        return np.concatenate([states[0], self._directions.along(columns)], axis=1)

    def first_columns(self, u: Array) -> Array:
        """Derivatives of all that a run starts from, along all directions."""
        runs: Runs = self._segments.runs(u)
        columns, _ = tangents_of_run(runs.case, self._segments.by, runs, self._segments.begun(u))
        return self._directions.along(columns)

    def _by_key(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, name: str) -> Array:
        """Derivatives by a key."""
        segments, step = self._segments, np.array([key == name for key in self._segments.by], dtype=float)

        def at(distance: float) -> Changed:
            return segments.numbers(segments.begun(u + distance * step), x, k)

        return derivatives(at, float(key_sizes(segments.runs(u).case, [name])[0]), scales, here, name).values
