"""Where a search begins: the first state and its dependence on the sought values, a first run, and scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.gradients.segments import Segments
from tautline.model.expressions import TIME
from tautline.model.system.case import Case
from tautline.optimal.interval import Added, Outputs, Wanted, added, outputs_of, plain
from tautline.optimal.terms import Bound
from tautline.optimal.unknowns import Unknowns

# Part of a key's scale by which it is changed, to see what becomes of the start.
CHANGE = 1e-6
# Of the deployed length, the duration and the objective: scales.
PART = 0.1
SMALLEST = 1e-12


@dataclass(frozen=True)
class Scales:
    """Scales by which states, constraints and the objective are divided."""

    state: Array
    bounds: Array
    peaks: Array
    objective: float


class Start:
    """The start of a run, which may depend on the sought values: a state of rest does on masses and lengths.

    So do outputs in the first sample: a torque is the first entry of its table.
    """

    def __init__(self, segments: Segments, unknowns: Unknowns) -> None:
        self._case, self._coordinates, self.unknowns = segments.case, segments.coordinates, unknowns
        self._segments, self._first = segments, segments.start
        first = self._first
        sought = np.array([x.value for x in unknowns.sought])
        self._by = [k for k in range(len(sought)) if not np.array_equal(self._changed(sought, k, 1.0), first)]

    def _changed(self, sought: Array, k: int, sign: float) -> Array:
        moved = sought.copy()
        moved[k] += sign * CHANGE * self.unknowns.scales[k]
        return self._at(moved)

    def _at(self, sought: Array) -> Array:
        return np.asarray(self._coordinates.of(self._case.with_(self.unknowns.changes(sought)).state()))

    def at(self, sought: Array) -> Dual:
        """The state, with tangents by the sought values: by central differences where it depends on them."""
        tangent = np.zeros((len(self._first), len(sought)))
        for k in self._by:
            up, down = (self._changed(sought, k, sign) for sign in (1.0, -1.0))
            tangent[:, k] = (up - down) / (2.0 * CHANGE * self.unknowns.scales[k])
        return Dual(self._at(sought) if self._by else self._first, tangent)

    def changed_by(self, bounds: Sequence[Bound], sought: Array) -> tuple[bool, ...]:
        """Whether what bounds limit in the first sample depends on the sought values."""
        first = self.outputs(sought, True)
        return tuple(bool(bound.expression.of(first).tangent.any()) for bound in bounds)

    def outputs(self, sought: Array, derivatives: bool) -> Outputs:
        """Outputs in the first sample, with tangents by the first state, which are zero, and by the sought values."""
        found = self._segments.first_outputs(self.unknowns.values(sought), derivatives)
        if not derivatives:
            return found
        gap = np.zeros(self._coordinates.size)
        return {
            name: Dual(x.value, np.concatenate([np.broadcast_to(gap, (*x.shape, len(gap))), x.tangent], axis=-1))
            for name, x in found.items()
        }


class Guess(NamedTuple):
    """A run to begin from: states at the ends of the intervals, and all that is asked of the run."""

    states: Array
    added: Added

    @property
    def peaks(self) -> Array:
        """The peaks that are made least."""
        return np.array([float(x.value.max()) for x in self.added.peaks])


def guess(segments: Segments, start: Start, sought: Array, wanted: Wanted) -> Guess:
    """March the intervals one after the other; InputError if the run ends early."""
    values, states, rows = start.unknowns.values(sought), [], [start.outputs(sought, False)]
    state = start.at(sought).value
    for k in range(len(segments.times) - 1):
        march = segments.march(k, state, values, False)
        if march.status != "completed":
            raise InputError(f"case: expected one whose run is completed, to begin from; got {march.message}")
        state = march.end
        states.append(state)
        rows.append(outputs_of(march, None, False))
    whole = {name: plain(np.concatenate([part[name].value for part in rows])) for name in rows[0]}
    return Guess(np.array(states), added(whole, wanted, True, True))


def deployed(case: Case) -> float:
    """Deployed length at the start (m), of the longest string."""
    state = case.state()
    return max(float(state.lengths_of(case.system, name).sum()) for name in case.system.lines)


def scales_of(case: Case, names: list[str], begun: Guess, wanted: Wanted) -> Scales:
    """Scales from a first run.

    Of states, a tenth of the deployed length and of the duration; of the objective, a tenth of its value; of bounds,
    the largest of their numbers and of the values in that run.
    """
    length = PART * deployed(case)
    speed = length / (PART * case.run.duration)
    units = {"position": length, "velocity": speed, "rotation": 1.0, "angular": 1.0 / (PART * case.run.duration)}
    units |= {"reeled_length": length, "reel_speed": speed, "passed": length, "passing": speed}
    state = np.array([units[name.split()[0]] for name in names])
    sizes = []
    for bound, rows in zip(wanted.bounds, begun.added.limits, strict=True):
        numbers = [x for x in (bound.least, bound.most) if np.isfinite(x)]
        sizes.append(max(np.abs([*numbers, *rows.value]).max(), SMALLEST))
    peaks = np.maximum(np.abs(begun.peaks), SMALLEST)
    objective = abs(float(begun.added.objective.value))
    objective += sum(term.weight * case.run.duration for term in wanted.terms if term.kind == TIME)
    objective += sum(term.weight * peak for term, peak in zip(wanted.peaks, peaks, strict=True))
    return Scales(state, np.array(sizes), peaks, PART * float(objective) or 1.0)
