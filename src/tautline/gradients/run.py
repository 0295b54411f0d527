"""A run with derivatives by keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.gradients.directions import Directions
from tautline.gradients.keys import key_value
from tautline.gradients.leaves import flat, split
from tautline.gradients.lowering import tangents_of_run
from tautline.gradients.marched import Span
from tautline.gradients.marching import march_along
from tautline.gradients.network.runs import NetworkRuns
from tautline.gradients.network.stages import spans_of
from tautline.gradients.outputs import DualValues, dual_setting, joined_values
from tautline.gradients.runs import Runs, has_sequence, runs_of
from tautline.gradients.steps import Steps
from tautline.gradients.trust import CHANGE, Line, departs_from, derivative_warnings, entries_at_steps, joined_lines
from tautline.model.system.case import Case
from tautline.model.system.system import System
from tautline.results.warnings import RunWarning


class DualRun(NamedTuple):
    """Variables of a run that carry derivatives, and how it ended."""

    values: DualValues
    status: str
    message: str
    step: float  # s
    system: System
    by: Sequence[str]
    of_keys: list[RunWarning]  # on keys
    of_run: list[RunWarning]  # on the run, and on its derivatives as a whole

    def warnings(self, unknown: bool = True) -> list[RunWarning]:
        """Warnings on keys, on derivatives that are not known of variables that were asked for, and on the run."""
        return [*self.of_keys, *(unknown_by(self.values, self.by) if unknown else []), *self.of_run]


class Prepared(NamedTuple):
    """A run of frozen steps at its start, and what keys change of it."""

    case: Case
    by: Sequence[str]
    runs: Runs
    begun: Any  # Begun, or BegunNetwork
    tangents: list[Array]  # of the leaves of the setting
    first: Any  # derivatives of the first sample
    warnings: list[RunWarning]
    sizes: Array  # of the keys


def prepared_run(case: Case, by: Sequence[str]) -> Prepared:
    """A case at the start of its run, with derivatives by keys of all that it starts from."""
    runs: Any = runs_of(case, by)
    begun = runs.begun({})
    along = Directions.single(case, by)
    columns, warnings = tangents_of_run(along, runs, begun)
    tangents = split(begun.setting, columns)
    first = begun.first_tangents(tangents)
    found = [*warnings, *entries_at_steps(case, by, begun.setting.plan)]
    return Prepared(case, by, runs, begun, tangents, first, found, along.sizes)


def run_with_derivatives(case: Case, names: Sequence[str], by: Sequence[str]) -> DualRun:
    """Run a case with frozen steps; variables by name and the time, with derivatives by keys."""
    return dual_run(prepared_run(case, by), names)


def dual_run(prepared: Prepared, names: Sequence[str]) -> DualRun:
    """March a run from its start; variables by name and the time, with derivatives by keys."""
    case, by, runs, begun, _, _, warnings, sizes = prepared
    steps = runs.steps
    spans, simulation, of_stages = _marched(prepared)
    values = joined_values([begun.values(*span, names) for span in spans])
    status, message = ended(case, steps, simulation.status, simulation.message)
    lines = joined_lines([begun.lines(span.setting, span.samples) for span in spans])

    def departs(key: int) -> bool:
        value = key_value(case, by[key])
        changes = [sign * CHANGE * float(sizes[key]) for sign in (1.0, -1.0)]
        others = [(x, _changed_lines(runs, {by[key]: value + x})) for x in changes]
        known = [(x, found) for x, found in others if found is not None]
        return not known or departs_from(lines, known, key)

    doubts = derivative_warnings(lines, values["time"].value, by, sizes, departs)
    return DualRun(
        values,
        status,
        message,
        steps.length(case.run.duration),
        simulation.system,
        by,
        [*warnings, *of_stages],
        [*simulation.warnings(), *doubts],
    )


def _marched(prepared: Prepared) -> tuple[list[Span], Any, list[RunWarning]]:
    """Samples of a run, by the commands that they are under; the simulation at its end, and warnings on stages."""
    case, by, runs, begun, tangents, first_tangents, *_ = prepared
    first, rows = dual_samples(begun.first, first_tangents), runs.steps.filled
    setting = dual_setting(begun.setting, tangents)
    if isinstance(runs, NetworkRuns) and has_sequence(case):
        plain = runs.begun({}).simulation
        rows = len(plain.march(rows, begun.setting.plan)[0]) - plain.timing.after_sample
        along = Directions.single(case, by)
        spans, of_stages = spans_of(runs, begun, along, tangents, rows, plain)
        return [Span(setting, np.zeros(1), first), *spans], plain, of_stages
    marched = march_along(begun.setting, tangents, rows)
    begun.take_note(marched)
    found = dual_samples(marched.samples, marched.tangents, marched.filled)
    samples = type(first)(*(np.concatenate(pair) for pair in zip(first, found, strict=True)))
    counts = runs.steps.per_sample * np.arange(marched.filled + 1.0)
    return [Span(setting, counts, samples)], begun.simulation, []


def _changed_lines(runs: Runs, changes: dict[str, float]) -> list[Line] | None:
    """Lines of a run with other values of keys, without derivatives; None where a value is refused."""
    try:
        begun: Any = runs.begun(changes)
    except InputError:
        return None
    setting, rows = begun.setting, runs.steps.filled
    if has_sequence(runs.case):
        marched = begun.simulation.march(rows, setting.plan)
    else:
        found = march_along(setting, split(setting, np.zeros((len(flat(setting)), 0))), rows)
        marched = [x[: found.filled] for x in found.samples]
    samples = type(begun.first)(*map(np.concatenate, zip(begun.first, marched, strict=True)))
    lines: list[Line] = begun.lines(setting, samples)
    return lines


def dual_samples(samples: Any, tangents: Any, rows: int | None = None) -> Any:
    """The first so many samples, carrying derivatives."""
    return type(samples)(*(Dual(x[:rows], t[:rows]) for x, t in zip(samples, tangents, strict=True)))


def unknown_by(values: DualValues, by: Sequence[str]) -> list[RunWarning]:
    """Warnings on derivatives that are not known."""
    made, found = values.made(), []
    for name, x in made.items():
        missing: Any = np.isnan(x.tangent).reshape(len(x), -1, len(by)).any(axis=1)
        keys = [key for key, never in zip(by, missing.any(axis=0), strict=True) if never]
        if keys:
            count = int(missing.any(axis=1).sum())
            text = f"{name} by {', '.join(keys)}: no derivative (NaN) at {count} samples"
            found.append(RunWarning("derivative_unknown", text, count))
    return sorted(found, key=lambda w: w.text)


def ended(case: Case, steps: Steps, status: str, message: str) -> tuple[str, str]:
    """Status and message of a run; a condition that stopped it was met before its last interval had passed."""
    if status == "completed" and steps.filled < steps.rows and case.run.stop:
        return "condition_met", f"a condition of run.stop was met; derivatives are up to the sample before ({message})"
    return status, message
