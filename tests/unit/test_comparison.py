"""Measures of the paper's comparative claims."""

from __future__ import annotations

import numpy as np
import pytest

from tautline.model.command import Locked
from tautline.paper import comparison, plain
from tautline.paper.examples import only, run
from tautline.reference import Equations
from tests.support import chains
from tests.support.paper import pendulum


@pytest.fixture(scope="module")
def trials() -> list[comparison.Trial]:
    return list(comparison.long_trials(steps=20_000))


def test_plain_equations_are_those_of_the_reference() -> None:
    """Two ways to the same accelerations, in the midst of the motion; uncompiled, which is the same code."""
    last = only(run(1, duration=2.0)).isel(time=-1)
    state = chains.ChainState(
        float(last.reeled_length), 0.0, last.position, last.velocity, last.attitude, last.angular_velocity
    )
    y = plain.pack(state)
    found = plain.rates.py_func(0.0, y, plain.constants(pendulum(), state))
    expected = Equations(pendulum(), 20, Locked())(0.0, plain.reference_row(y, state.reeled_length))
    assert np.abs(plain.reference_row(found, 0.0) - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.long
def test_general_methods_drift_and_ours_does_not(trials: list[comparison.Trial]) -> None:
    verdicts = {v.statement: v for v in comparison.verdicts(trials)}
    assert len(verdicts) == 3
    # 10 s are too short for the energy; momentum and orthogonality show at once
    for word in ("momentum", "group"):
        (verdict,) = (v for s, v in verdicts.items() if word in s)
        assert verdict.holds, verdict
        assert verdict.ours < 1e-13


@pytest.mark.long
def test_a_verdict_can_be_negative(trials: list[comparison.Trial]) -> None:
    names = {"ours, order 2": "Runge-Kutta 4", "Runge-Kutta 4": "ours, order 2"}
    swapped = [trial._replace(method=names.get(trial.method, trial.method)) for trial in trials]
    assert not any(v.holds for v in comparison.verdicts(swapped))


@pytest.mark.long
def test_errors_of_the_work_precision_diagram_are_errors() -> None:
    truth = comparison._truth(1)
    errors = [
        comparison._error(run(1, step=h, duration=comparison.END, sample=comparison.END), truth) for h in (2e-3, 1e-3)
    ]
    assert 3.0 < errors[0] / errors[1] < 5.0  # order 2
    assert comparison._error(comparison._scipy_to_end(1, "DOP853", 1e-10).run, truth) < 1e-9
