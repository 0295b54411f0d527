"""A run with derivatives by keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.gradients.given_starts import GivenStart
from tautline.gradients.leaves import leaves, split
from tautline.gradients.lowering import key_value, tangents_by_keys
from tautline.gradients.marching import march_along
from tautline.gradients.outputs import CarriedValues, carried_setting, carried_values, unknown_outputs
from tautline.gradients.setting import Begun, Steps, begin_frozen, steps_of
from tautline.kernels import data
from tautline.model import keys
from tautline.model.case import Case
from tautline.model.command import Speed

# Of a step: times that are nearer to the end of one are at it.
ON_STEP = 1e-6


class CarriedRun(NamedTuple):
    """Variables of a run that carry derivatives, and how it ended."""

    values: CarriedValues
    status: str
    message: str
    remarks: list[str]


class Prepared(NamedTuple):
    """A run of frozen steps at its start, and what keys change of it."""

    steps: Steps
    begun: Begun
    tangents: list[Array]  # of the leaves of the setting
    first: data.Samples  # derivatives of the first sample
    remarks: list[str]


def prepared_run(case: Case, by: Sequence[str]) -> Prepared:
    """A case at the start of its run, with derivatives by keys of all that it starts from."""
    steps = steps_of(case)
    begun = begin_frozen(case, steps)
    start = GivenStart(case, begun)
    columns, remarks = tangents_by_keys(case, by, lambda other: begin_frozen(other, steps).numbers(), start)
    tangents = split(begun.numbers(), columns)
    at_start = len(leaves(begun.setting))
    remarks += entries_on_steps(case, by, begun.setting.plan)
    return Prepared(steps, begun, tangents[:at_start], data.Samples(*tangents[at_start:]), remarks)


def entries_on_steps(case: Case, by: Sequence[str], plan: data.Plan) -> list[str]:
    """Sentences on entries of a table of speeds, whose rate jumps there, that fall on the ends of stages of steps."""
    times = (
        [name for name in by if keys.parse(name).whole == "command.times"] if isinstance(case.command, Speed) else []
    )
    ends, found = np.array([0.0, *np.cumsum(plan.stages)]), []
    for name in times:
        t = key_value(case, name)
        if 0.0 < t <= case.run.duration and np.abs(t / plan.h % 1.0 - ends).min() <= ON_STEP:
            found.append(
                f"{name}: the entry at {t:g} s falls on the end of a step: derivatives of speeds and tensions there "
                "are those of moving it later, and others of moving it earlier"
            )
    return found


def run_with_derivatives(case: Case, names: Sequence[str], by: Sequence[str]) -> CarriedRun:
    """Run a case with frozen steps; variables by name and the time, with derivatives by keys."""
    steps, begun, tangents, first_tangents, remarks = prepared_run(case, by)
    first = carried_samples(begun.first, first_tangents)
    setting = carried_setting(begun.setting, [t.copy() for t in tangents])
    setting = setting._replace(motion=setting.motion._replace(reel=setting.motion.reel.copy()))  # it is marched on
    marched = march_along(begun.setting, tangents, steps.filled)
    simulation, rows = begun.simulation, marched.filled
    simulation.marched(marched.samples, 0, marched.status, rows, begun.setting.plan)
    found = carried_samples(marched.samples, marched.tangents, rows)
    samples = data.Samples(*(np.concatenate(pair) for pair in zip(first, found, strict=True)))
    counts = steps.per_sample * np.arange(rows + 1.0)
    values = carried_values(simulation.pendulum, setting, counts, samples, names)
    unknown = unknown_outputs(simulation.pendulum, case.command, simulation.elements)
    remarks += forget_unknown(values, unknown)
    status, message = ended(case, steps, simulation.status, simulation.message)
    return CarriedRun(values, status, message, [*remarks, *unknown_by(values, by, unknown), *simulation.remarks()])


def carried_samples(samples: data.Samples, tangents: data.Samples, rows: int | None = None) -> data.Samples:
    """The first so many samples, carrying derivatives."""
    pairs = zip(samples, tangents, strict=True)
    return data.Samples(*(Carried(x[:rows], t[:rows]) for x, t in pairs))  # type: ignore[arg-type]


def forget_unknown(values: CarriedValues, unknown: dict[str, str]) -> list[str]:
    """Make derivatives NaN that are not known, and say why."""
    there = [name for name in unknown if name in values]
    for name in there:
        values[name] = Carried(values[name].value, np.full_like(values[name].tangent, np.nan))
    return [f"{name}: {unknown[name]}" for name in there]


def unknown_by(values: CarriedValues, by: Sequence[str], said: Iterable[str]) -> list[str]:
    """Sentences on derivatives that are not known, but of variables of which it was said already."""
    found = []
    for name in values.keys() - set(said):
        x = values[name]
        missing: Any = np.isnan(x.tangent).reshape(len(x), -1, len(by)).any(axis=1)
        keys = [key for key, never in zip(by, missing.any(axis=0), strict=True) if never]
        if keys:
            found.append(f"{name} by {', '.join(keys)}: no derivative (NaN) at {missing.any(axis=1).sum()} samples")
    return sorted(found)


def ended(case: Case, steps: Steps, status: str, message: str) -> tuple[str, str]:
    """Status and message of a run; a condition that stopped it was met before its last interval had passed."""
    if status == "completed" and steps.filled < steps.rows and case.run.stop:
        return "condition_met", f"a condition of run.stop was met; derivatives are up to the sample before ({message})"
    return status, message
