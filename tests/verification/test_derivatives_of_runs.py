"""Derivatives of runs by every documented number, against differences of whole runs of order 8.

Dual numbers from keys to the kernels, differences where these do not know, and the kernels with tangents are one way to
a derivative; runs with changed keys are another. Steps are the same on both.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import RUNNING, InputError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.keys import key_size, key_value
from tautline.gradients.leaves import flat, leaves, split
from tautline.gradients.lowering import differentiable_keys, tangents_along, tangents_of_run
from tautline.gradients.marching import march_along
from tautline.gradients.network.runs import NetworkRuns
from tautline.gradients.runs import Runs, check_case, runs_of
from tautline.gradients.scales import IGNORED, Scales, scales_of
from tautline.gradients.steps import Steps
from tautline.kernels import data
from tautline.kernels.march import march
from tautline.kernels.network.march import MARCH
from tautline.model.system.starts import searched
from tests.conftest import Report
from tests.support.crane import ELEMENTS, crane
from tests.support.leaves import at_rest, chosen

# Relative to the largest derivative of its kind, where differences of runs are good to a tenth of it.
CHOSEN = chosen()
TOLERANCE = 1e-8
# By keys that move the knots of tables, of motions and of gusts: a step or sample that falls on one has one-sided
# derivatives. Runs are compared over a hundredth of the distance, so that no knot goes beyond another one's place.
MOVES_KNOTS = re.compile(
    r"\b(command|guide|path)\.(frequency|periods?|ramp|peak_period|peakedness|acceleration|jerk|start)\b"
    r"|\bunsteady\.(start|duration)\b"
)
TABULATED, NEARER = 1e-7, 0.01
# Derivatives below this part of what they are of, over the key, are lost in the rounding of differences.
ROUNDED = 1e-3
# One-sided differences, and those of runs from a state of rest that is found to rounding, are counted where those of
# other sizes agree with them.
OTHER_SIZES = (0.3, 0.5)
# What samples report of rounding.
ROUNDING = (data.ORTHOGONALITY, data.STEP_LENGTH)
ROWS = 4
# At rest all derivatives but a few are rounding, which cannot be compared.
AT_REST = ("equilibrium", "hanging", "state")
# Sequences, whose marches stop where stages end, are compared in tests/unit/test_gradients_of_sequences.py.
ELSEWHERE = ("sequence",)
FOLDER = Path(__file__).parents[1] / "e2e" / "every_full_key"
SYSTEMS = sorted(path for path in FOLDER.glob("*.toml") if path.stem not in AT_REST + ELSEWHERE)


def rows_of(steps: Steps) -> int:
    """Samples to compare: few, and none at the end of a run that ends early."""
    return min(ROWS, steps.filled)


def samples_of(runs: Runs, changes: dict[str, float]) -> Any:
    """Samples of a run with changed keys, by the plain kernels."""
    begun: Any = runs.begun(changes)
    rows = rows_of(runs.steps)
    if isinstance(runs, NetworkRuns):
        stepper = begun.simulation.stepper
        out = stepper.samples_for(rows)
        status, filled, _, _ = stepper.call(MARCH, out=out, plan=begun.setting.plan)
    else:
        par, plan, command, motion, loads, _ = begun.setting
        out = data.empty_samples(rows, par.N)
        loads_or_none = loads if loads.acts or loads.moves or plan.hold else None
        scratch, backups = data.empty_scratch(par.N), data.empty_backups(motion)
        status, filled = march(par, plan, command, motion, scratch, backups, out, loads_or_none)
        out.scalars[:, ROUNDING] = 0.0
    if status != RUNNING:
        raise InputError(f"the run with a changed key ended at sample {filled}")  # differences do without it
    return out


def scales_of_samples(samples: Any) -> Scales:
    found = scales_of(samples)
    return found._replace(groups=np.where(found.groups < 0, IGNORED, found.groups))


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_of_every_key(path: Path, report: Report) -> None:
    compare(check_case(at_rest(tl.load(path))), CHOSEN[path], path.stem.replace("-", " "), report)


@pytest.mark.long
@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_of_every_key_of_a_system(path: Path, report: Report) -> None:
    case = check_case(at_rest(tl.load(path)))
    compare(case, differentiable_keys(case), f"the system {path.stem.replace('-', ' ')}", report)


@pytest.mark.long
@pytest.mark.parametrize("order", [2, 4, 6])
def test_of_a_system_with_two_reels_that_are_driven(order: int, report: Report) -> None:
    case = crane().with_({f"lines.{name}.law": "linear" for name in ELEMENTS})  # it starts just taut
    case = case.with_({"run.order": order, "run.duration": 0.2, "run.sample": 0.05})
    keys = differentiable_keys(case)[order // 2 - 1 :: 3]  # each order has a third of them
    compare(case, keys, f"a crane with two reels, order {order}", report)


def tangents_of(case: tl.Case, key: str, runs: Any, searching: bool = False) -> Any:
    """Derivatives of samples by a key, in the order of `flat`; None where they are not known.

    They are those that users get, or those of searches for the start at other values of the key.
    """
    if searching:
        columns, warnings = tangents_along(
            Directions.single(case, [key]), case, lambda changes: runs.begun(changes).numbers()
        )
    else:
        columns, warnings = tangents_of_run(Directions.single(case, [key]), runs, runs.begun({}))
    if warnings:
        return None
    here = runs.begun({})
    tangents = split(here.numbers(), columns)[: len(leaves(here.setting))]
    found = march_along(here.setting, tangents, rows_of(runs.steps)).tangents
    if isinstance(found, data.Samples):
        found.scalars[:, ROUNDING] = 0.0
    return flat(found)


def compare(case: tl.Case, keys: list[str], name: str, report: Report) -> None:
    """Derivatives of a run by keys, against differences."""
    steps = runs_of(case, []).steps
    worst: dict[float, list[float]] = {TOLERANCE: [], TABULATED: []}
    for key in keys:
        runs: Any = runs_of(case, [key], steps)
        here = samples_of(runs, {})
        scales = scales_of_samples(here)
        try:
            found = tangents_of(case, key, runs)
            again = tangents_of(case, key, runs, True) if searched(case.start, case.system) else found
        except InputError:
            continue  # test_gradients_every_key.py knows why
        if found is None or again is None:
            continue
        value = key_value(case, key)

        def at(distance: float, key: str = key, value: float = value, runs: Any = runs) -> Changed:
            there = samples_of(runs, {key: value + distance})
            return Changed.of(there)

        bound, part = (TABULATED, NEARER) if MOVES_KNOTS.search(key) else (TOLERANCE, 1.0)
        size, now = key_size(case, key), Changed.of(here)
        slopes = derivatives(at, part * size, scales, now, key)
        # what a change of the key by its own size would make of the largest of a kind, beside that itself
        largest = np.maximum(scales.largest(slopes.values), ROUNDED * scales.largest(flat(here)) / size)
        sure = (slopes.error <= 0.1 * TOLERANCE * largest) & (scales.groups != IGNORED) & (largest > 0.0)
        if isinstance(runs, NetworkRuns):  # many keys of these stand at the edge of their range
            for other in OTHER_SIZES:
                others = derivatives(at, other * part * size, scales, now, key)
                sure &= np.abs(others.values - slopes.values) <= 0.1 * TOLERANCE * largest
        # a start by the stiffness and one by a search agree to the rounding of lengths, below which nothing is known
        rounded = np.abs(found - again)
        assert (rounded[sure] <= bound * np.maximum(largest, scales.largest(np.abs(now.values)) / size)[sure]).all()
        sure &= rounded <= 0.1 * TOLERANCE * largest
        error = np.abs(found - slopes.values)[sure] / largest[sure]
        if error.size:
            assert error.max() <= bound, f"{key}: {error.max():.3g}"
            worst[bound].append(float(error.max()))
    for bound, errors in worst.items():
        if errors:
            words = f"derivatives of a run by {len(errors)} keys of {name}, against differences of order 8"
            words += ", keys that move knots of tables" * (bound == TABULATED)
            report(words, max(errors), f"{bound:g}")
