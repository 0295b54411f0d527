"""Optimal control of a chaotic motion: intervals of their own converge where one run from start to end does not."""

from __future__ import annotations

import numpy as np
import pytest

import tautline as tl
from tautline.optimal.result import Optimized
from tests.conftest import Report
from tests.support import chains

DURATION = 16.0  # s
INTERVALS = 16
ENTRIES = 9  # of the table of forces
STRONGEST = 0.05  # N, a twentieth of the weight of the body
AWAY = (1.0, -0.5, -0.5)  # m, of the goal from where the body ends by itself
NEAR = 1e-3  # m


def chaotic() -> tl.Case:
    """Example 1 with two elements and a small force on its body."""
    example = tl.load("fixed-length")
    table = np.linspace(0.0, DURATION, ENTRIES), np.full((ENTRIES, 3), 1e-3)
    run = {"run.elements": 2, "run.duration": DURATION, "run.step": 5e-3, "run.sample": DURATION / (2 * INTERVALS)}
    return example.with_({"applied_force": tl.AppliedForce(force=table), **run})


@pytest.mark.long
def test_small_forces_bring_a_chaotic_body_to_a_place(report: Report) -> None:
    """The body of example 1 is to be 1.2 m from where it would be after 16 s: more than ten Lyapunov times."""
    pytest.importorskip("casadi")
    case = chaotic()
    parting = tl.analysis.lyapunov(case.system, case.state(), tl.Locked(), DURATION, step=5e-3).attrs["exponent"]
    goal = chains.simulate(case).position.values[-1, -1] + np.array(AWAY)
    distance = " + ".join(f"(position[-1, {k}] - ({float(x)!r}))**2" for k, x in enumerate(goal))

    def searched(intervals: int) -> tuple[Optimized, float]:
        best = tl.optimize(
            case,
            vary={"applied_force.forces": (-STRONGEST, STRONGEST)},
            minimize={"final": distance},
            intervals=intervals,
            iterations=60,
        )
        return best, float(np.linalg.norm(chains.simulate(best.case).position.values[-1, -1] - goal))

    (several, miss), (single, off) = searched(INTERVALS), searched(1)
    report("Chaotic motion, 16 intervals: distance from the goal (m)", miss, "1e-3")
    report("Chaotic motion, one interval: distance from the goal (m)", off, "none")
    assert parting * DURATION > 10.0
    assert several.status == "completed" and miss < NEAR
    assert single.status != "completed" and off > 100.0 * NEAR
    assert all(abs(x) <= STRONGEST * (1.0 + 1e-9) for x in several.values.values())
