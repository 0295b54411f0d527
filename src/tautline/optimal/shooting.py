"""Direct multiple shooting: values of keys and states at the ends of intervals in, objective and constraints out.

The run is cut into intervals. Each is marched for itself, from a state that is an unknown; that one begins where the
other ends is a constraint. So no derivative goes through more than one interval, and motions that part quickly can be
treated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array, Indices
from tautline.gradients.arrays import Dual
from tautline.gradients.segments import Segments
from tautline.optimal.interval import Added, Outputs, Wanted, added, behind, outputs_of
from tautline.optimal.starting import Scales, Start
from tautline.optimal.terms import TIME
from tautline.optimal.unknowns import Unknowns
from tautline.results.warnings import RunWarning


class Evaluated(NamedTuple):
    """Objective and constraints at a point, with derivatives where they were asked for; NaN where a march failed."""

    objective: float
    constraints: Array
    gradient: Array
    jacobian: Array  # in the order of `Problem.pattern`


class Part(NamedTuple):
    """An interval at a point."""

    end: Dual  # tangents are by its first state and the sought values
    outputs: Outputs
    added: Added  # tangents are by the first state of the interval before, by the own one, and by the sought values


class MarchError(Exception):
    """A march did not come to the end of its interval."""


class Problem:
    """The nonlinear program, in scaled numbers.

    A point holds the sought values, the peaks that are made least, and the states at the ends of the intervals. The
    constraints are, interval by interval: defects, limits at samples, distances from the peaks; in the last one also
    the conditions at the end.
    """

    def __init__(self, segments: Segments, start: Start, unknowns: Unknowns, wanted: Wanted, scales: Scales) -> None:
        self.segments, self.start, self.unknowns, self.wanted, self.scales = segments, start, unknowns, wanted, scales
        self.intervals, self.n, self.m = len(segments.times) - 1, segments.coordinates.size, len(unknowns.sought)
        self.head = self.m + len(wanted.peaks)
        self.size = self.head + self.n * self.intervals
        self.trouble = ""  # of the latest march that failed
        self._known: list[tuple[bytes, bool, Evaluated]] = []
        self._counts = (0, 0)  # constraints, and entries of the Jacobian

    # -- points ------------------------------------------------------------------------------------------------

    def point(self, sought: Array, peaks: Array, states: Array) -> Array:
        """From sought values, peaks, and states at the ends of the intervals."""
        scaled = (sought / self.unknowns.scales, peaks / self.scales.peaks, (states / self.scales.state).ravel())
        return np.concatenate(scaled)

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
            self.trouble = str(error)
            count, entries = self._counts
            gaps = (np.full(size, np.nan) for size in (count, self.size, entries))
            found = Evaluated(np.nan, *gaps)
        self._known = [(key, derivatives, found), *self._known[:3]]
        return found

    def parts(self, w: Array, derivatives: bool) -> list[Part]:
        """The intervals at a point; MarchError if one of them cannot be marched."""
        sought, states = self.sought(w), self.states(w)
        first, found = self.start.at(sought), []
        before = self.start.outputs(sought, derivatives)
        for k, begin in enumerate([first.value, *states[:-1]]):
            march = self.segments.march(k, begin, self.unknowns.values(sought), derivatives)
            if march.status != "completed":
                raise MarchError(march.message)
            own = outputs_of(march, self.unknowns.by_duration(sought), derivatives)
            joined = behind(before, own, self.n)
            end = Dual(march.end, np.concatenate([march.by_state, march.by_keys], axis=1))
            found.append(Part(end, own, added(joined, self.wanted, k == 0, k == self.intervals - 1)))
            before = own
        return found

    def without_derivative(self, w: Array) -> str:
        """Name of an output whose derivatives are not known at a point; empty if all are."""
        for outputs in (self.start.outputs(self.sought(w), True), *(part.outputs for part in self.parts(w, True))):
            for name, x in outputs.items():
                if np.isnan(x.tangent).any():
                    return name
        return ""

    def warnings(self, w: Array) -> list[RunWarning]:
        """Warnings on the derivatives at a point, by interval."""
        sought, found = self.sought(w), list[RunWarning]()
        u = self.unknowns.values(sought)
        for k, begin in enumerate([self.start.at(sought).value, *self.states(w)[:-1]]):
            found += self.segments.warnings_on(self.segments.march(k, begin, u), k, begin, u)
        return found

    def _evaluate(self, w: Array, derivatives: bool) -> Evaluated:
        parts = self.parts(w, derivatives)
        defects = [(part.end - x) / self.scales.state for part, x in zip(parts, self.states(w), strict=True)]
        others = [self._others(part.added, w) for part in parts]
        constraints = np.concatenate([x.value for pair in zip(defects, others, strict=True) for x in pair])
        objective, gradient = self._of_point(w)
        objective += sum(float(part.added.objective.value) for part in parts)
        objective, gradient = objective / self.scales.objective, gradient / self.scales.objective
        entries: list[Array] = []
        if derivatives:
            first = self.start.at(self.sought(w))
            for k, part in enumerate(parts):
                slopes = self._scaled(part.added.objective.tangent[None], first, k - 1, k)[0]
                gradient[self._columns(k - 1, k)] += slopes / self.scales.objective
                entries += [self._scaled(defects[k].tangent, first, k).ravel(), -np.ones(self.n)]
                entries += [self._scaled(others[k].tangent, first, k - 1, k).ravel()]
                entries += [-np.ones(sum(x.size for x in part.added.peaks))]
        jacobian = np.concatenate(entries) if derivatives else np.zeros(0)
        self._counts = len(constraints), max(len(jacobian), self._counts[1])
        return Evaluated(objective, constraints, gradient, jacobian)

    def _of_point(self, w: Array) -> tuple[float, Array]:
        """Terms of the objective that need no march, and their derivatives: the time and the peaks."""
        gradient = np.zeros(self.size)
        for term in self.wanted.terms:
            if term.kind == TIME:
                place = self.unknowns.duration_place
                gradient[place] += term.weight * self.unknowns.scales[place]
        for k, term in enumerate(self.wanted.peaks):
            gradient[self.m + k] = term.weight * self.scales.peaks[k]
        return float(gradient @ w), gradient

    def _others(self, part: Added, w: Array) -> Dual:
        """Scaled constraints of an interval beside its defects."""
        scales = self.scales.bounds[self._present(part)]
        scaled: list[Any] = [x / scale for x, scale in zip(part.limits, scales, strict=True)]
        peaks = zip(part.peaks, self.scales.peaks, w[self.m : self.head], strict=True)
        scaled += [x / scale - peak for x, scale, peak in peaks]
        none = Dual(np.zeros(0), np.zeros((0, part.objective.directions)))
        joined: Any = np.concatenate([none, *scaled])
        return Dual(joined.value, joined.tangent)

    def _present(self, part: Added) -> list[int]:
        """Numbers of the bounds that an interval has: those at the end belong to the last."""
        every = len(part.limits) == len(self.wanted.bounds)
        return [k for k, bound in enumerate(self.wanted.bounds) if every or not bound.at_end]

    # -- the Jacobian --------------------------------------------------------------------------------------------

    def _columns(self, *states: int) -> Indices:
        """Places of the sought values and of some states, by their numbers; the first one is no unknown."""
        places = [np.arange(self.m)]
        places += [self.head + (k - 1) * self.n + np.arange(self.n) for k in states if k > 0]
        return np.concatenate(places)

    def _scaled(self, tangent: Array, first: Dual, *states: int) -> Array:
        """Derivatives by `_columns`, from tangents by the same states and the sought values."""
        by_sought, blocks = tangent[:, -self.m :], []
        for place, k in enumerate(states):
            block = tangent[:, place * self.n : (place + 1) * self.n]
            if k > 0:
                blocks.append(block * self.scales.state)
            elif k == 0:
                by_sought = by_sought + block @ first.tangent
        return np.concatenate([by_sought * self.unknowns.scales, *blocks], axis=1)

    def pattern(self, parts: list[Part]) -> tuple[Indices, Indices]:
        """Rows and columns of the entries of the Jacobian, in the order of `Evaluated.jacobian`."""
        rows: list[Indices] = []
        columns: list[Indices] = []
        row = 0

        def block(count: int, places: Indices) -> None:
            rows.append(np.repeat(np.arange(row, row + count), len(places)))
            columns.append(np.tile(places, count))

        for k, part in enumerate(parts):
            block(self.n, self._columns(k))
            rows.append(np.arange(row, row + self.n))
            columns.append(self.head + k * self.n + np.arange(self.n))
            row += self.n
            sizes = [x.size for x in part.added.peaks]
            count = sum(x.size for x in part.added.limits) + sum(sizes)
            block(count, self._columns(k - 1, k))
            row += count
            rows.append(np.arange(row - sum(sizes), row))
            columns.append(np.repeat(np.arange(self.m, self.head), sizes))
        return np.concatenate(rows), np.concatenate(columns)

    def range_of_constraints(self, parts: list[Part]) -> tuple[Array, Array]:
        """Bounds of the constraints."""
        least, most = [], []
        for part in (part.added for part in parts):
            ranges = [(0.0, 0.0, self.n)]
            for k, values in zip(self._present(part), part.limits, strict=True):
                bound, scale = self.wanted.bounds[k], self.scales.bounds[k]
                ranges.append((bound.least / scale, bound.most / scale, values.size))
            ranges += [(-np.inf, 0.0, x.size) for x in part.peaks]
            least += [np.full(count, low) for low, _, count in ranges]
            most += [np.full(count, high) for _, high, count in ranges]
        return np.concatenate(least), np.concatenate(most)
