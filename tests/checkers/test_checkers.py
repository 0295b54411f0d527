"""Every checker, with an input that must make it fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from tests.support import chains, checking, same

STEPS = [1e-2, 5e-3, 2.5e-3]
SECOND_ORDER = [h**2 for h in STEPS]
FORM = np.array([[0.0, 1.0], [-1.0, 0.0]])
RAMP = np.linspace(0.0, 1.0, 50)
RUN = xr.Dataset({"x": ("time", RAMP)}, {"time": RAMP})
NODES = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
STATE = chains.ChainState(1.0, 0.0, NODES, 0.0 * NODES)

FAILING: dict[str, Callable[[], object]] = {
    "order too low": lambda: checking.check_order(STEPS, SECOND_ORDER, 4),
    "order too high": lambda: checking.check_order(STEPS, SECOND_ORDER, 1),
    "order from two steps": lambda: checking.check_order(STEPS[:2], SECOND_ORDER[:2], 2),
    "order from repeated steps": lambda: checking.check_order([1e-2] * 3, SECOND_ORDER, 2),
    "order from rounding": lambda: checking.check_order(STEPS, [1e-14, 1e-15, 1e-16], 2),
    "not below": lambda: checking.check_below("x", 1.0, 1.0),
    "NaN is not below": lambda: checking.check_below("x", float("nan"), 1.0),
    "not close": lambda: checking.check_close("x", [1.0, 2.0], [1.0, 2.1], 0.01),
    "NaN is not close": lambda: checking.check_close("x", [np.nan], [np.nan], 1.0),
    "other shape": lambda: checking.check_close("x", [1.0], 1.0, 1.0),
    "not bounded": lambda: checking.check_bounded_without_drift("x", 2.0 * np.sin(9.0 * RAMP), 1.0, 10.0),
    "bounded but drifting": lambda: checking.check_bounded_without_drift("x", 0.5 * RAMP, 1.0, 0.1),
    "scaled rotation": lambda: checking.check_rotation((1.0 + 1e-12) * np.eye(3)),
    "reflection": lambda: checking.check_rotation(np.diag([1.0, 1.0, -1.0])),
    "another bit": lambda: same.check_same(RUN, RUN.assign(x=RUN.x + 1e-16 + 1e-17)),
    "another length": lambda: same.check_same(RUN, RUN.isel(time=slice(9))),
    "another state": lambda: same.check_same_state(STATE, replace(STATE, nodes=NODES * (1.0 + 1e-15))),
    "not symplectic": lambda: checking.check_symplectic(1.001 * np.eye(2), FORM, FORM, 1e-8),
}


@pytest.mark.parametrize("case", FAILING)
def test_checker_fails(case: str) -> None:
    with pytest.raises(AssertionError):
        FAILING[case]()


def test_checkers_pass_what_is_right() -> None:
    assert checking.check_order(STEPS, SECOND_ORDER, 2) == pytest.approx(2.0)
    checking.check_below("x", 0.5, 1.0)
    checking.check_close("x", [1.0], [1.0 + 1e-9], 1e-8)
    checking.check_bounded_without_drift("x", np.sin(40.0 * RAMP), 1.1, 0.5)
    checking.check_rotation(np.eye(3))
    same.check_same(RUN, RUN.copy(deep=True))
    same.check_same_state(STATE, replace(STATE, nodes=NODES.copy()))
    checking.check_symplectic(np.array([[1.0, 0.3], [0.0, 1.0]]), FORM, FORM, 1e-14)
