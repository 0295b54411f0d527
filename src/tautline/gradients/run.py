"""A run with derivatives by keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.gradients.leaves import leaves, split
from tautline.gradients.lowering import tangents_by_keys
from tautline.gradients.marching import march_along
from tautline.gradients.outputs import CarriedValues, carried_setting, carried_values, unknown_outputs
from tautline.gradients.setting import Steps, begin_frozen, steps_of
from tautline.kernels import data
from tautline.model.case import Case


class CarriedRun(NamedTuple):
    """Variables of a run that carry derivatives, and how it ended."""

    values: CarriedValues
    status: str
    message: str
    remarks: list[str]


def run_with_derivatives(case: Case, names: Sequence[str], by: Sequence[str]) -> CarriedRun:
    """Run a case with frozen steps; variables by name and the time, with derivatives by keys."""
    steps = steps_of(case)
    begun = begin_frozen(case, steps)
    columns, remarks = tangents_by_keys(case, by, lambda other: begin_frozen(other, steps).numbers())
    tangents = split(begun.numbers(), columns)
    at_start = len(leaves(begun.setting))
    first = carried_samples(begun.first, data.Samples(*tangents[at_start:]))
    del tangents[at_start:]
    setting = carried_setting(begun.setting, [t.copy() for t in tangents])
    setting = setting._replace(motion=setting.motion._replace(reel=setting.motion.reel.copy()))  # it is marched on
    marched = march_along(begun.setting, tangents, steps.filled)
    simulation, rows = begun.simulation, marched.filled
    simulation.marched(marched.samples, 0, marched.status, rows, begun.setting.plan)
    found = carried_samples(marched.samples, marched.tangents, rows)
    samples = data.Samples(*(np.concatenate(pair) for pair in zip(first, found, strict=True)))
    counts = steps.per_sample * np.arange(rows + 1.0)
    values = carried_values(simulation.pendulum, setting, counts, samples, names)
    forget_unknown(values, unknown_outputs(simulation.pendulum, case.command, simulation.elements), remarks)
    status, message = ended(case, steps, simulation.status, simulation.message)
    return CarriedRun(values, status, message, [*remarks, *unknown_by(values, by), *simulation.remarks()])


def carried_samples(samples: data.Samples, tangents: data.Samples, rows: int | None = None) -> data.Samples:
    """The first so many samples, carrying derivatives."""
    pairs = zip(samples, tangents, strict=True)
    return data.Samples(*(Carried(x[:rows], t[:rows]) for x, t in pairs))  # type: ignore[arg-type]


def forget_unknown(values: CarriedValues, unknown: dict[str, str], remarks: list[str]) -> None:
    """Make derivatives NaN that are not known, and say why."""
    for name, why in unknown.items():
        if name in values:
            values[name] = Carried(values[name].value, np.full_like(values[name].tangent, np.nan))
            remarks.append(f"{name}: {why}")


def unknown_by(values: CarriedValues, by: Sequence[str]) -> list[str]:
    """Sentences on derivatives that are not known for some of the samples."""
    said = []
    for name, x in values.items():
        missing: Array = np.isnan(x.tangent).reshape(len(x), -1, len(by)).any(axis=1)
        for k, key in enumerate(by):
            count = int(missing[:, k].sum())
            if count:
                said.append(f"{name} by {key}: no derivative (NaN) at {count} of {len(x)} samples")
    return said


def ended(case: Case, steps: Steps, status: str, message: str) -> tuple[str, str]:
    """Status and message of a run; a condition that stopped it was met before its last interval had passed."""
    if status == "completed" and steps.filled < steps.rows and case.run.stop:
        return "condition_met", f"a condition of run.stop was met; derivatives are up to the sample before ({message})"
    return status, message
