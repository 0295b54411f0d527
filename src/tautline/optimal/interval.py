"""One shooting interval: its march, and what it adds to objective and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.optimal.expressions import TIME
from tautline.optimal.terms import FINAL, INTEGRAL, PEAK, Bound, Term
from tautline.optimal.unknowns import Unknowns


class Wanted(NamedTuple):
    """What is asked of every interval."""

    terms: tuple[Term, ...]
    bounds: tuple[Bound, ...]

    @property
    def peaks(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.kind == PEAK)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs of a run that are needed."""
        parts = [x.expression for x in (*self.terms, *self.bounds) if x.expression is not None]
        return tuple(dict.fromkeys(name for part in parts for name in part.needs if name != TIME))


class Added(NamedTuple):
    """What an interval adds; tangents are by its first state and the sought values."""

    end: Carried
    limits: list[Carried]  # rows of each limit, and of each condition at the end in the last interval
    peaks: list[Carried]  # rows of each peak that is made least
    objective: Carried


class March(NamedTuple):
    """A march, and what its derivatives are by."""

    marched: Any
    unknowns: Unknowns
    duration: float
    derivatives: bool

    def carried(self, values: Array, by_state: Any, by_keys: Any) -> Carried:
        """With tangents by the state at its start and the sought values; without any if none were asked for."""
        if not self.derivatives:
            return Carried(values, np.zeros((*np.shape(values), 0)))
        return Carried(values, np.concatenate([by_state, by_keys @ self.unknowns.by_sought], axis=-1))

    def end(self) -> Carried:
        return self.carried(self.marched.end, self.marched.by_state, self.marched.by_keys)

    def outputs(self) -> dict[str, Carried]:
        """Outputs by name, the time among them, which stretches with the duration."""
        m = self.marched
        by_keys = np.zeros((len(m.time), len(self.unknowns.keys)))
        if self.unknowns.free_time:
            by_keys[:, self.unknowns.duration_place] = m.time / self.duration
        found = {TIME: self.carried(m.time, np.zeros((len(m.time), m.end.size)), by_keys)}
        for name, values in m.outputs.items():
            slopes = (m.outputs_by_state[name], m.outputs_by_keys[name]) if self.derivatives else (None, None)
            found[name] = self.carried(values, *slopes)
        return found


def added(march: March, wanted: Wanted, first: bool, last: bool) -> Added:
    """What a march adds to objective and constraints."""
    outputs, end = march.outputs(), march.end()
    limits = [rows_of(bound, outputs, first) for bound in wanted.bounds if last or not bound.at_end]
    peaks = [_inside(outputs, term.expression.of(outputs), first).ravel() for term in wanted.peaks if term.expression]
    objective: Any = Carried(0.0, np.zeros(end.directions))
    for term in wanted.terms:
        if term.kind == INTEGRAL:
            objective = objective + term.weight * _integral(term, outputs)
        elif term.kind == FINAL and last:
            objective = objective + term.weight * _single(term, outputs)[-1]
    return Added(end, limits, peaks, objective)


def rows_of(bound: Bound, outputs: Mapping[str, Carried], first: bool) -> Carried:
    """Values that a limit holds for, in a row; the first sample is the last one of the interval before."""
    values = bound.expression.of(outputs)
    return (values[-1:] if bound.at_end else _inside(outputs, values, first)).ravel()


def _inside(outputs: Mapping[str, Carried], values: Carried, first: bool) -> Carried:
    return values[1:] if len(values) == len(outputs[TIME]) and not first else values


def _single(term: Term, outputs: Mapping[str, Carried]) -> Carried:
    assert term.expression is not None
    return term.expression.single(outputs)


def _integral(term: Term, outputs: Mapping[str, Carried]) -> Any:
    """By the trapezoidal rule; of an expression with rates, by its values between samples."""
    values, lasts = _single(term, outputs), np.diff(outputs[TIME])
    middles = values if len(values) < len(outputs[TIME]) else 0.5 * (values[1:] + values[:-1])
    return (middles * lasts).sum()


def of_run(wanted: Wanted, outputs: Mapping[str, Carried]) -> float:
    """The objective of a whole run."""
    total = 0.0
    for term in wanted.terms:
        if term.kind == INTEGRAL:
            value = _integral(term, outputs)
        elif term.kind == FINAL:
            value = _single(term, outputs)[-1]
        else:
            value = outputs[TIME][-1] if term.expression is None else term.expression.of(outputs).max()
        total += term.weight * float(value.value)
    return total
