"""Derivatives of what a segment starts from: by its state, by keys, and along directions in the space of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.dual_runs import tangents_of_numbers
from tautline.gradients.leaves import places_in
from tautline.gradients.lowering import by_duals, tangents_of_run
from tautline.gradients.scales import Scales, scales_of

if TYPE_CHECKING:
    from tautline.gradients.segments import Segments


def by_state(segments: Segments, setting: Any, scales: Scales, x: Array, u: Array, k: int) -> Array:
    """Derivatives of a setting by the coordinates of its first state, on which the motion alone depends."""
    inside = places_in(setting, lambda other: other.moving())
    begun, part, sizes = segments.begun(u), scales.part(inside), segments.coordinates.sizes(x)
    here, columns = segments.moving(begun, x, k), np.zeros((len(scales.groups), len(x)))
    for i, name in enumerate(segments.coordinates.names):

        def at(distance: float, i: int = i) -> Changed:
            moved = x.copy()
            moved[i] += distance
            return segments.moving(begun, moved, k)

        columns[inside, i] = derivatives(at, float(sizes[i]), part, here, name).values
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

        def tangents(along: Directions, scales: Scales) -> Array:
            found = tangents_of_numbers(runs, begun, along, scales, at)
            states.append(found[:, :n])
            return found[:, n:]

        columns, unknown = by_duals(self._directions, runs.case, tangents, scales)
        if not states:
            try:
                tangents(self._directions.some([]), scales)
            except UnknownTangentsError:
                states.append(by_state(segments, setting, scales, x, u, k))
        here = Changed.of(setting)
        for j in unknown:
            columns[:, j] = self._along(here, scales, x, u, k, j)
        return np.concatenate([states[0], columns], axis=1)

    def first_columns(self, u: Array) -> Array:
        """Derivatives of all that a run starts from, along all directions."""
        return tangents_of_run(self._directions, self._segments.runs(u), self._segments.begun(u))[0]

    def _along(self, here: Changed, scales: Scales, x: Array, u: Array, k: int, j: int) -> Array:
        """Derivatives along a direction, by differences."""
        segments, directions = self._segments, self._directions

        def at(distance: float) -> Changed:
            return segments.numbers(segments.begun(u + distance * directions.by[:, j]), x, k)

        return derivatives(at, float(directions.sizes[j]), scales, here, directions.names[j]).values
