"""Where a search begins: the state at the start of the run, and how it depends on the sought values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.model.case import Case
from tautline.optimal.unknowns import Unknowns

# Part of a key's scale by which it is changed, to see what becomes of the start.
CHANGE = 1e-6


class Start:
    """The first state of a run; that of rest depends on masses and lengths, and so may be a function of the unknowns."""

    def __init__(self, case: Case, coordinates: Any, unknowns: Unknowns, first: Array) -> None:
        self._case, self._coordinates, self._unknowns, self._first = case, coordinates, unknowns, first
        sought = np.array([x.value for x in unknowns.sought])
        self._by = [k for k in range(len(sought)) if not np.array_equal(self._changed(sought, k, 1.0), first)]

    def _changed(self, sought: Array, k: int, sign: float) -> Array:
        moved = sought.copy()
        moved[k] += sign * CHANGE * self._unknowns.scales[k]
        return self._at(moved)

    def _at(self, sought: Array) -> Array:
        return np.asarray(self._coordinates.of(self._case.with_(self._unknowns.changes(sought)).state()))

    def at(self, sought: Array) -> Carried:
        """The state, with tangents by the sought values: by central differences where it depends on them."""
        tangent = np.zeros((len(self._first), len(sought)))
        for k in self._by:
            up, down = (self._changed(sought, k, sign) for sign in (1.0, -1.0))
            tangent[:, k] = (up - down) / (2.0 * CHANGE * self._unknowns.scales[k])
        return Carried(self._at(sought) if self._by else self._first, tangent)


class Guess(NamedTuple):
    """A run to begin from: states at the ends of the intervals, and what the intervals add."""

    states: Array
    parts: list[Added]
    peaks: Array


def guess(segments: Segments, start: Start, unknowns: Unknowns, sought: Array, wanted: Wanted) -> Guess:
    """March the intervals one after the other."""
    values, states, parts = unknowns.values(sought), [], []
    state, count = start.at(sought).value, len(segments.times) - 1
    duration = float(sought[unknowns.duration_place]) if unknowns.free_time else float(segments.times[-1])
    for k in range(count):
        march = marched(segments, k, state, values, False)
        parts.append(added(March(march, unknowns, duration, False), wanted, k == 0, k == count - 1))
        state = march.end
        states.append(state)
    peaks = np.array([max(float(part.peaks[j].value.max()) for part in parts) for j in range(len(wanted.peaks))])
    return Guess(np.array(states), parts, peaks)


def scales_of(case: Case, segments: Segments, begun: Guess, wanted: Wanted) -> Scales:
    """Scales from a first run: a tenth of the deployed length, and of the time; of a bound, its largest number."""
    deployed = case.pendulum.string.length - case.state().reeled_length
    length, lasts = PART * deployed, PART * case.run.duration
    units = {"position": length, "velocity": length / lasts, "rotation": 1.0, "angular_velocity": 1.0 / lasts}
    units |= {"reeled_length": length, "reel_speed": length / lasts}
    state = np.array([units[name.partition("[")[0]] for name in segments.coordinates.names])
    sizes = [_largest(np.concatenate([part.limits[k].value for part in begun.parts[-1:]])) for k in range(len(wanted.bounds))]
    return Scales(state, np.array(sizes), np.maximum(np.abs(begun.peaks), 1e-12), 1.0)
