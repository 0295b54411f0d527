"""Derivatives by a start that is given node by node: the motion is placed anew, without reading the case again."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.leaves import flat, structure
from tautline.gradients.scales import IGNORED, Scales, scales_of
from tautline.gradients.setting import Begun
from tautline.model import keys
from tautline.model.case import Case
from tautline.model.state import State

# Fields of a state whose entries are free to change by themselves.
FIELDS = ("nodes", "node_velocities", "angular_velocity")
# Two ways to the same numbers differ by rounding.
SAME = 1e-12


class GivenStart:
    """A run of frozen steps at a start of nodes and velocities, and its derivatives by these.

    Parameters
    ----------
    case : Case
    begun : Begun
        Its run at the start.
    """

    def __init__(self, case: Case, begun: Begun) -> None:
        self._begun, self._simulation = begun, begun.simulation.twin()
        self._state = case.initial if isinstance(case.initial, State) else None
        setting = begun.setting
        before, motion, after = (len(flat(part)) for part in (setting[:3], setting.motion, setting.loads))
        count = len(flat(begun.numbers()))
        self._inside = np.array([*range(before, before + motion), *range(before + motion + after, count)])
        self._same = self._state is not None and self._is_the_same()

    def knows(self, name: str) -> bool:
        """Whether a key is a number of such a start."""
        key = keys.parse(name)
        return self._same and key.section == "initial" and key.name in FIELDS

    def column(self, name: str, scales: Scales, count: int) -> Array:
        """Derivatives of so many numbers, all that the run starts from, by a key."""
        key = keys.parse(name)
        here = self._numbers(self._state)
        found = derivatives(
            lambda distance: self._numbers(self._moved(key, distance)),
            self._size(key.name),
            scales.part(self._inside),
            here,
            name,
        )
        column = np.zeros(count)
        column[self._inside] = found.values
        return column

    def _size(self, field: str) -> float:
        """How far a change is that makes a difference: the length of an element, or a speed."""
        assert self._state is not None
        if field == "nodes":
            lengths = np.linalg.norm(np.diff(self._state.nodes, axis=0), axis=1)
            return float(lengths.mean()) or 1.0
        return max(1.0, float(np.abs(getattr(self._state, field)).max()))

    def _moved(self, key: keys.Key, distance: float) -> State:
        assert self._state is not None
        values = np.array(getattr(self._state, key.name), dtype=np.float64)
        values[key.components] += distance
        changes: dict[str, Any] = {key.name: values}
        return dataclasses.replace(self._state, **changes)

    def _numbers(self, state: State | None) -> Changed:
        """Motion and first sample at a state."""
        assert state is not None
        self._simulation.go_on_from(state, 0.0)
        motion, begun = self._simulation.task().motion, self._begun._replace(first=self._simulation.first_sample())
        numbers = (motion, begun.numbers()[1])
        return Changed(flat(numbers), structure(numbers))

    def _is_the_same(self) -> bool:
        """Whether placing the start gives the numbers that reading the case gave, but for limits."""
        numbers = self._begun.numbers()
        matters = scales_of(numbers).groups[self._inside] != IGNORED
        given, placed = flat(numbers)[self._inside], self._numbers(self._state).values
        return bool(np.allclose(given[matters], placed[matters], rtol=SAME, atol=SAME, equal_nan=True))
