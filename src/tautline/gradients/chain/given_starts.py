"""Derivatives by a start that is given node by node: the motion is placed anew, without reading the case again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.leaves import flat
from tautline.gradients.scales import IGNORED, Scales, scales_of
from tautline.model import keys
from tautline.model.chain.state import ChainState
from tautline.model.description import changed

if TYPE_CHECKING:
    from tautline.gradients.chain.runs import Begun

# Fields of a state whose entries are free to change by themselves.
FIELDS = ("nodes", "node_velocities")
# Two ways to the same numbers differ by rounding.
SAME = 1e-12


class Part(NamedTuple):
    """Some of the numbers that a run starts from."""

    place: slice  # among all
    numbers: Callable[[ChainState], Changed]  # at a state
    here: Changed  # at the start
    scales: Scales


class GivenStart:
    """A run of frozen steps at a start of nodes and velocities, and its derivatives by these.

    Parameters
    ----------
    state : State
        The start.
    begun : Begun
        The run there.
    places : dict
        Keys of the start by the names that they were given by.
    """

    def __init__(self, state: ChainState, begun: Begun, places: Mapping[str, keys.Key]) -> None:
        self._places = places
        self._begun, self._simulation, self._state = begun, begun.simulation.twin(), state
        numbers, setting = begun.numbers(), begun.setting
        before, motion, all_but_sample = (len(flat(part)) for part in (setting[:3], setting.motion, setting))
        given, scales = flat(numbers), scales_of(numbers)

        def part(place: slice, function: Callable[[ChainState], Changed]) -> Part:
            return Part(place, function, function(state), scales.part(place))

        self._count = len(given)
        self._moving = part(slice(before, before + motion), self._motion)
        self._sampled = part(slice(all_but_sample, self._count), self._sample)
        self._same = all(_agree(given[x.place], x) for x in (self._moving, self._sampled))

    @property
    def sampled(self) -> slice:
        """Places of the first sample among all numbers."""
        return self._sampled.place

    def knows(self, name: str) -> bool:
        """Whether a key is a number of such a start."""
        return self._same and name in self._places and self._places[name].name in FIELDS

    def column(self, name: str) -> Array:
        """Derivatives by a key of all numbers that the run starts from; those of the first sample are left out."""
        column = np.zeros(self._count)
        column[self._moving.place] = self._slopes(name, self._moving)
        return column

    def sample_column(self, name: str) -> Array:
        """Derivatives of the first sample by a key."""
        return self._slopes(name, self._sampled)

    def _slopes(self, name: str, part: Part) -> Array:
        key = self._places[name]

        def at(distance: float) -> Changed:
            return part.numbers(self._moved(key, distance))

        return derivatives(at, self._size(key.name), part.scales, part.here, name).values

    def _size(self, field: str) -> float:
        """How far a change is that makes a difference: the length of an element, or a speed."""
        if field == "nodes":
            lengths = np.linalg.norm(np.diff(self._state.nodes, axis=0), axis=1)
            return float(lengths.mean()) or 1.0
        return max(1.0, float(np.abs(getattr(self._state, field)).max()))

    def _moved(self, key: keys.Key, distance: float) -> ChainState:
        values: Any = np.array(getattr(self._state, key.name), dtype=np.float64)
        values[key.components] += distance
        return changed(self._state, **{key.name: values})

    def _motion(self, state: ChainState) -> Changed:
        """Motion at a state."""
        self._simulation.go_on_from(state, 0.0)
        return Changed.of(self._simulation.task().motion)

    def _sample(self, state: ChainState) -> Changed:
        """First sample at a state."""
        self._simulation.go_on_from(state, 0.0)
        first = self._simulation.first_sample(torques=False)
        return Changed.of(self._begun._replace(first=first).numbers()[1])


def _agree(given: Array, part: Part) -> bool:
    """Whether placing the start gives the numbers that reading the case gave, but for limits."""
    matters = part.scales.groups != IGNORED
    return bool(np.allclose(given[matters], part.here.values[matters], rtol=SAME, atol=SAME, equal_nan=True))
