"""Fits to synthetic data: the values behind them lie where the standard errors say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.arrays import Array
from tests.conftest import Report
from tests.support.measured import TRUTH, UNITS, measured, small_case

DATA_SETS = 100


def errors_of(seed: int, troubled: bool) -> Array:
    """Errors of the values in standard errors, for true values and start values at random.

    Where it is troubled, the clock has an offset, a fifth of the samples is missing, and some are far off.
    """
    chance = np.random.default_rng(1000 + seed)
    truth = {key: value * 1.3 ** chance.uniform(-1.0, 1.0) for key, value in TRUTH.items()}
    start = {key: value * 1.4 ** chance.uniform(-1.0, 1.0) for key, value in truth.items()}
    delay = float(chance.uniform(-0.04, 0.04)) if troubled else 0.0
    data = measured(small_case().with_(truth), seed, delay)
    if troubled:
        for name in ("start_tension", "position[-1,x]"):
            data[name][chance.random(len(data[name])) < 0.2] = np.nan
            data[name][::25] *= 1.5
    options: dict[str, Any] = {"offset": (-0.05, 0.05), "loss": "soft_l1"} if troubled else {}
    found = tl.fit(small_case().with_(start), data, list(truth), units=UNITS, **options)
    assert found.status == "completed"
    if troubled:
        truth["offset"] = delay
    return np.array([(found.values[key] - value) / found.standard_errors[key] for key, value in truth.items()])


@pytest.mark.long
@pytest.mark.parametrize("troubled", [False, True], ids=["noise", "noise, offset, gaps and outliers"])
def test_the_truth_lies_within_three_standard_errors(troubled: bool, report: Report) -> None:
    errors = np.array([errors_of(seed, troubled) for seed in range(DATA_SETS)])
    within = int(np.sum(np.max(np.abs(errors), axis=1) < 3.0))
    words = "with an unknown offset, gaps and outliers" if troubled else "with noise"
    report(f"data sets of 100 {words} with all values within three standard errors", within, ">= 95")
    assert within >= 95
    # of 400 or 500 errors, if each is normal with variance 1; values of one data set are correlated
    spread = float(np.sqrt(np.mean(errors**2)))
    report(f"errors over standard errors, rms, {words}", spread, "0.85 to 1.15")
    assert 0.85 < spread < 1.15
