"""Direct multiple shooting: values of keys and states at the ends of intervals in, objective and constraints out.

The run is cut into intervals. Each is marched for itself, from a state that is an unknown; that one begins where the
other ends is a constraint. So no derivative goes through more than one interval, and motions that part quickly can be
treated.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.gradients.segments import Segments
from tautline.optimal.interval import Added, March, Wanted, added
from tautline.optimal.starting import Start
from tautline.optimal.terms import TIME
from tautline.optimal.unknowns import Unknowns


@dataclass(frozen=True)
class Scales:
    """What states, constraints and the objective are divided by."""

    state: Array
    bounds: Array
    peaks: Array
    objective: float


class Evaluated(NamedTuple):
    """Objective and constraints at a point, with derivatives where they were asked for; NaN where a march failed."""

    objective: float
    constraints: Array
    gradient: Array
    jacobian: Array  # in the order of `Problem.pattern`
    message: str  # of the march that failed


class MarchError(Exception):
    """A march did not come to the end of its interval."""


class Problem:
    """The nonlinear program, in scaled numbers.

    A point holds the sought values, the peaks that are made least, and the states at the ends of the intervals. The
    constraints are, interval by interval: defects, limits at samples, distances from the peaks; in the last one also
    the conditions at the end.
    """

    def __init__(
        self, segments: Segments, start: Start, unknowns: Unknowns, wanted: Wanted, scales: Scales, pool: Executor
    ) -> None:
        self.segments, self.start, self.unknowns, self.wanted, self.scales = segments, start, unknowns, wanted, scales
        self.intervals, self.n, self.m = len(segments.times) - 1, segments.coordinates.size, len(unknowns.sought)
        self.head = self.m + len(wanted.peaks)
        self.size = self.head + self.n * self.intervals
        self._pool = pool
        self._known: list[tuple[bytes, bool, Evaluated]] = []
        self._count = 0

    # -- points ------------------------------------------------------------------------------------------------

    def point(self, sought: Array, peaks: Array, states: Array) -> Array:
        """From sought values, peaks, and states at the ends of the intervals."""
        return np.concatenate(
            [sought / self.unknowns.scales, peaks / self.scales.peaks, (states / self.scales.state).ravel()]
        )

    def sought(self, w: Array) -> Array:
        """The sought values at a point."""
        return np.asarray(w[: self.m] * self.unknowns.scales)

    def states(self, w: Array) -> Array:
        """The states at the ends of the intervals at a point."""
        return np.asarray(w[self.head :].reshape(self.intervals, self.n) * self.scales.state)

    def range_of_points(self) -> tuple[Array, Array]:
        """Bounds of points."""
        free, scales, sought = np.full(self.size - self.m, np.inf), self.unknowns.scales, self.unknowns.sought
        least, most = np.array([x.least for x in sought]) / scales, np.array([x.most for x in sought]) / scales
        return np.concatenate([least, -free]), np.concatenate([most, free])

    # -- evaluation --------------------------------------------------------------------------------------------

    def evaluate(self, w: Array, derivatives: bool) -> Evaluated:
        """At a point; the latest ones are remembered."""
        key = w.tobytes()
        for known, complete, found in self._known:
            if known == key and (complete or not derivatives):
                return found
        try:
            found = self._evaluate(w, derivatives)
        except MarchError as error:
            gap = np.full(self._count, np.nan)
            found = Evaluated(np.nan, gap, np.full(self.size, np.nan), gap, str(error))
        self._known = [(key, derivatives, found), *self._known[:3]]
        return found

    def marched(self, w: Array, derivatives: bool) -> list[Added]:
        """What the intervals add at a point."""
        sought, states = self.sought(w), self.states(w)
        begins = [self.start.at(sought).value, *states[:-1]]
        values = self.unknowns.values(sought)
        duration = sought[self.unknowns.duration_place] if self.unknowns.free_time else self.segments.times[-1]

        def one(k: int) -> Added:
            march = self.segments.march(k, begins[k], values, derivatives)
            if march.status != "completed":
                raise MarchError(march.message)
            parts = March(march, self.unknowns, duration, derivatives)
            return added(parts, self.wanted, k == 0, k == self.intervals - 1)

        return list(self._pool.map(one, range(self.intervals)))

    def _evaluate(self, w: Array, derivatives: bool) -> Evaluated:
        parts = self.marched(w, derivatives)
        rows = [self._rows(part, state, w) for part, state in zip(parts, self.states(w), strict=True)]
        constraints = np.concatenate([row.value for row in rows])
        self._count = len(constraints)
        objective, gradient = self._of_point(w)
        objective += sum(float(part.objective.value) for part in parts)
        if not derivatives:
            return Evaluated(objective / self.scales.objective, constraints, gradient, np.zeros(0), "")
        first, entries = self.start.at(self.sought(w)), []
        for k, (part, row) in enumerate(zip(parts, rows, strict=True)):
            gradient[self._columns(k)] += self._by_point(k, part.objective.tangent[None], first)[0]
            beyond = -np.ones(self.n + sum(x.size for x in part.peaks))
            entries += [self._by_point(k, row.tangent, first).ravel(), beyond]
        gradient /= self.scales.objective
        return Evaluated(objective / self.scales.objective, constraints, gradient, np.concatenate(entries), "")

    def _of_point(self, w: Array) -> tuple[float, Array]:
        """Terms of the objective that need no march, and their derivatives: the time and the peaks."""
        gradient = np.zeros(self.size)
        for term in self.wanted.terms:
            if term.kind == TIME and self.unknowns.free_time:
                place = self.unknowns.duration_place
                gradient[place] += term.weight * self.unknowns.scales[place]
        for k, term in enumerate(self.wanted.peaks):
            gradient[self.m + k] = term.weight * self.scales.peaks[k]
        return float(gradient @ w), gradient

    def _rows(self, part: Added, state: Array, w: Array) -> Carried:
        """Scaled constraints of an interval, with tangents by its first state and the sought values."""
        scaled: list[Any] = [(part.end - state) / self.scales.state]
        scaled += [x / scale for x, scale in zip(part.limits, self._scales(part), strict=True)]
        peaks = zip(part.peaks, self.scales.peaks, w[self.m : self.head], strict=True)
        scaled += [x / scale - peak for x, scale, peak in peaks]
        joined: Carried = np.concatenate(scaled)
        return joined

    def _scales(self, part: Added) -> Array:
        """Scales of the limits that an interval has."""
        return self.scales.bounds[self._present(part)]

    def _present(self, part: Added) -> list[int]:
        """Numbers of the bounds that an interval has: those at the end belong to the last."""
        every = len(part.limits) == len(self.wanted.bounds)
        return [k for k, bound in enumerate(self.wanted.bounds) if every or not bound.at_end]

    def _columns(self, k: int) -> Array:
        """Places of the sought values and of the first state of an interval, which is none of the unknowns at first."""
        here = self.head + (k - 1) * self.n
        return np.concatenate([np.arange(self.m), np.arange(here, here + self.n) if k else []]).astype(int)

    def _by_point(self, k: int, tangent: Array, first: Carried) -> Array:
        """Derivatives by a point's `_columns` from tangents by a state and the sought values."""
        by_state, by_sought = tangent[:, : self.n], tangent[:, self.n :]
        if k == 0:
            return np.asarray((by_sought + by_state @ first.tangent) * self.unknowns.scales)
        return np.concatenate([by_sought * self.unknowns.scales, by_state * self.scales.state], axis=1)

    # -- form of the constraints ---------------------------------------------------------------------------------

    def pattern(self, parts: list[Added]) -> tuple[Array, Array]:
        """Rows and columns of the entries of the Jacobian."""
        rows, columns, row = [], [], 0
        for k, part in enumerate(parts):
            count = self.n + sum(x.size for x in (*part.limits, *part.peaks))
            own, here = self._columns(k), self.head + k * self.n
            rows += [np.repeat(np.arange(row, row + count), len(own)), np.arange(row, row + self.n)]
            columns += [np.tile(own, count), np.arange(here, here + self.n)]
            sizes = [x.size for x in part.peaks]
            rows.append(np.arange(row + count - sum(sizes), row + count))
            columns.append(np.repeat(np.arange(self.m, self.head), sizes))
            row += count
        return np.concatenate(rows), np.concatenate(columns)

    def range_of_constraints(self, parts: list[Added]) -> tuple[Array, Array]:
        """Bounds of the constraints."""
        least, most = [], []
        for part in parts:
            least.append(np.zeros(self.n))
            most.append(np.zeros(self.n))
            for k, values in zip(self._present(part), part.limits, strict=True):
                bound, scale = self.wanted.bounds[k], self.scales.bounds[k]
                least.append(np.full(values.size, bound.least / scale))
                most.append(np.full(values.size, bound.most / scale))
            count = sum(x.size for x in part.peaks)
            least.append(np.full(count, -np.inf))
            most.append(np.zeros(count))
        return np.concatenate(least), np.concatenate(most)
