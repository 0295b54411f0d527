"""One shooting interval: its outputs, and what it adds to objective and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Dual
from tautline.model.expressions import TIME
from tautline.optimal.terms import FINAL, INTEGRAL, PEAK, Bound, Term

Outputs = Mapping[str, Dual]


class Wanted(NamedTuple):
    """Terms and bounds that are asked of every interval."""

    terms: tuple[Term, ...]
    bounds: tuple[Bound, ...]
    # by bound, whether the sought values change it in the first sample; else that one is given, and is not limited
    at_start: tuple[bool, ...] = ()

    @property
    def starts(self) -> tuple[bool, ...]:
        """By bound, whether it holds in the first sample."""
        return self.at_start or (False,) * len(self.bounds)

    @property
    def peaks(self) -> tuple[Term, ...]:
        """Terms that are the peak of an expression."""
        return tuple(term for term in self.terms if term.kind == PEAK)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs of a run that are needed."""
        parts = [x.expression for x in self.terms if x.expression is not None] + [x.expression for x in self.bounds]
        return tuple(dict.fromkeys(name for part in parts for name in part.needs if name != TIME))


class Added(NamedTuple):
    """Limits, peaks and a part of the objective that an interval adds beside its end."""

    limits: list[Dual]  # rows of each limit, in the last interval also of each condition at the end
    peaks: list[Dual]  # rows of each peak that is made least
    objective: Dual


def outputs_of(marched: Any, by_duration: Array | None, derivatives: bool) -> dict[str, Dual]:
    """Outputs of a march with tangents by its first state and the sought values; the time stretches with the duration.

    `by_duration` are the derivatives of the duration by the sought values, over the duration; None where it is fixed.
    """
    n, values = marched.end.size, {TIME: marched.time, **marched.outputs}
    if not derivatives:
        return {name: plain(x) for name, x in values.items()}
    m = marched.by_keys.shape[1]
    stretch = np.zeros(m) if by_duration is None else by_duration
    found = {TIME: Dual(marched.time, np.outer(marched.time, np.concatenate([np.zeros(n), stretch])))}
    for name, x in marched.outputs.items():
        slopes = np.concatenate([marched.outputs_by_state[name], marched.outputs_by_keys[name]], axis=-1)
        found[name] = Dual(x, slopes)
    return found


def plain(values: Array) -> Dual:
    """Values without tangents."""
    return Dual(values, np.zeros((*np.shape(values), 0)))


def behind(before: Outputs, own: Outputs, n: int) -> Outputs:
    """Outputs of an interval behind the last sample of the one before.

    Tangents are by the first state of the one before, by the own first state (n numbers each), and by the sought
    values.
    """
    found = {}
    for name, x in own.items():
        last = before[name][-1:]
        if x.directions:
            gap = [np.zeros((*part.shape, n)) for part in (last, x)]
            last = Dual(last.value, np.concatenate([last.tangent[..., :n], gap[0], last.tangent[..., n:]], axis=-1))
            x = Dual(x.value, np.concatenate([gap[1], x.tangent], axis=-1))
        found[name] = Dual(np.concatenate([last.value, x.value]), np.concatenate([last.tangent, x.tangent]))
    return found


def added(outputs: Outputs, wanted: Wanted, first: bool, last: bool) -> Added:
    """Parts of objective and constraints that an interval adds; its first sample is the last of the one before.

    `first` and `last` say whether the run begins and ends with it. Then the first sample is the run's own.
    """
    pairs = zip(wanted.bounds, wanted.starts, strict=True)
    limits = [rows_of(bound, outputs, first and start) for bound, start in pairs if last or not bound.at_end]
    peaks = [_rows(outputs, term.expression.of(outputs), first) for term in wanted.peaks if term.expression]
    objective: Any = Dual(0.0, np.zeros(outputs[TIME].directions))
    for term in wanted.terms:
        if term.kind == INTEGRAL:
            objective = objective + term.weight * _integral(term, outputs)
        elif term.kind == FINAL and last:
            objective = objective + term.weight * _single(term, outputs)[-1]
    return Added(limits, peaks, objective)


def rows_of(bound: Bound, outputs: Outputs, start: bool) -> Dual:
    """Values that a bound holds for, in a row; with that in the first sample where `start`."""
    values: Dual = bound.expression.of(outputs)
    return values[-1:].ravel() if bound.at_end else _rows(outputs, values, start)


def _rows(outputs: Outputs, values: Dual, start: bool) -> Dual:
    """Values at all samples, the first one only where `start`, or between samples, in a row."""
    return (values if start or len(values) < len(outputs[TIME]) else values[1:]).ravel()


def _single(term: Term, outputs: Outputs) -> Dual:
    assert term.expression is not None
    found: Dual = term.expression.single().of(outputs)
    return found


def _integral(term: Term, outputs: Outputs) -> Any:
    """By the trapezoidal rule; of an expression with rates, by its values between samples."""
    values, lasts = _single(term, outputs), np.diff(outputs[TIME])
    middles = values if len(values) < len(outputs[TIME]) else 0.5 * (values[1:] + values[:-1])
    return (middles * lasts).sum()


def of_run(wanted: Wanted, outputs: Outputs) -> float:
    """The objective of a whole run."""
    whole = added(outputs, wanted, True, True)
    total = float(whole.objective.value)
    total += sum(term.weight * float(x.value.max()) for term, x in zip(wanted.peaks, whole.peaks, strict=True))
    return total + sum(term.weight * float(outputs[TIME].value[-1]) for term in wanted.terms if term.kind == TIME)
