"""Fluid that a bent string moves along, from a start with a reel that is driven: self-convergence of order 2.

What the fluid does in the first half of a step follows from the accelerations there, and those from all that acts on
the drum: motor, friction, guide, or a motion that is prescribed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_order

pytestmark = pytest.mark.network

N, OUT, DURATION = 3, 4.0, 0.05
STEPS = [1e-3, 5e-4, 2.5e-4, 1.25e-4]
FLUID = tl.Fluid(1000.0)
BODY = tl.RigidBody.point(2.0)
# Reel, its speed at the start, and command.
CASES: dict[str, Any] = {
    "torque": ({}, 0.3, tl.Torque(8.0)),
    "friction": ({"viscous_friction": 2.0, "coulomb_friction": 1.0}, 0.3, tl.Torque(8.0)),
    "breakaway": ({"coulomb_friction": 1.0}, 0.0, tl.Torque(12.0)),
    "guide": ({"guide_law": "dissipative"}, 2.0, tl.Torque(0.0)),
    "prescribed": ({}, 0.5, tl.Speed(retrieval=([0.0, 1.0], [0.5, 5.5]))),
}


def start() -> tuple[Any, Any]:
    """Bent, and moving."""
    x = np.linspace(0.0, 1.0, N + 1)
    nodes = np.stack([0.72 * np.sin(1.5 * np.pi * x), 1.2 * x * (1.0 - x), 0.95 * OUT * x], axis=1)
    return nodes, x[:, None] * np.array([0.4, 0.2, 0.1])


def ended(name: str, h: float) -> Any:
    more, speed, command = CASES[name]
    string = tl.String(10.0, 0.5, 2000.0, diameter=0.03, normal_added_mass=1.0, normal_drag=0.0, law="linear")
    reel = tl.Reel(**({"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 1.0, "guide_law": "none"} | more))
    nodes, velocities = start()
    state = chains.ChainState(string.length - OUT, speed, nodes, velocities)
    times: Any = {"step": h, "duration": DURATION, "sample": DURATION}
    run = chains.simulate(chains.Chain(string, reel, BODY, fluid=FLUID), state, command, **times)
    return np.append(run.position.values[-1], run.reeled_length.values[-1])


@pytest.mark.parametrize("backend", ["chain", "network"])
@pytest.mark.parametrize("name", CASES)
def test_a_driven_reel_and_fluid_that_moves_along_start_at_order_2(
    name: str, backend: str, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAUTLINE_BACKEND", backend)
    found = [ended(name, h) for h in STEPS]
    differences = [float(np.abs(a - b).max()) for a, b in pairwise(found)]
    order = check_order(STEPS[:-1], differences, 2.0)
    report(f"{name}, {backend}: order with fluid that moves along", order, "2 +- 0.3")
