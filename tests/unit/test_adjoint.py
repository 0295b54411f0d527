"""Reverse pass through the steps, against exact derivatives along random directions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.kernels import data, guide, jit, newton, rotation
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.observe import DAMPING_LOSS, FLUID_WORK
from tautline.kernels.loads.applied_force import AppliedForce
from tautline.kernels.loads.damping import Damping
from tautline.kernels.loads.drag import Drag
from tests.support import duals
from tests.support.adjoints import (
    PLAIN,
    ROWS,
    backward,
    begun,
    forward,
    part,
    products,
    random_direction,
    setting,
    with_loads,
    with_slopes,
)

SAMPLED = [
    *(data.KINETIC, data.ELASTIC, data.GRAVITY, data.REELED_LENGTH, data.REEL_SPEED, data.ROTATIONAL),
    *(data.ANGULAR_MOMENTUM, *range(data.ANGULAR_VELOCITY, data.ROTATION + 9), data.GUIDE_LOSS),
    DAMPING_LOSS,
    FLUID_WORK,
    data.EXTERNAL_WORK,
]
DRIVEN = [data.CONTROL_WORK, data.DRUM_TORQUE, data.FRICTION_LOSS]


@pytest.fixture
def python_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as plain Python on dual numbers, and Newton's method to the last digit."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tautline.kernels.") and ".machine" not in name:
            monkeypatch.setattr(module, "float", lambda x: x, raising=False)
            if hasattr(module, "math"):
                monkeypatch.setattr(module, "math", duals.MATH)
    monkeypatch.setattr(jit.Entry, "__call__", lambda entry, *args: entry.py_func(*args))
    monkeypatch.setattr(rotation, "ERROR_LEFT", 1e-30)
    monkeypatch.setattr(newton, "ERROR_LEFT", 1e-28)
    monkeypatch.setattr(newton, "ROUNDING_FLOOR", 0.0)
    monkeypatch.setattr(guide, "LAST_SMOOTH_CORRECTION", 1e-15)


LOCKED = data.Command(True, np.zeros(1), np.zeros(1))
TORQUE = data.Command(False, np.array([0.0, 0.013, 0.05]), np.array([3.0, -2.0, 4.0]))
PROFILE = data.Command(
    False, np.zeros(1), np.zeros(1), data.BY_PROFILE, np.array([[0.0, 4.0, 0.7, 0.5, 0.3, 0, 0, 0, 0]])
)


DAMPED = with_loads(damping=Damping(True, 2.0))
STIFF = with_loads(damping=Damping(True, 200.0))
PUSH = AppliedForce(
    True,
    (0.3, -0.2, 0.1),
    np.array([[0.0, 0.012, 0.031, 0.2], *np.random.default_rng(0).standard_normal((6, 4)).tolist()]),
)
LAYERS = np.array([[1.0, 3.0, 8.0], [1.0, -2.0, 0.5], [0.3, 1.5, -1.0], [0.1, 0.2, -0.3]])
WIND = Drag(True, 0.3, 0.1, 0.7, (0.2, 0.1, 0.3), 0.4, np.array([[0.0], [1.0], [-2.0], [0.5]]), np.zeros(1), 1.5, 2.0)
WATER = WIND._replace(flow=LAYERS, string_rate=150.0, body_rate=90.0)
SLACK = data.code(tl.registry.ELASTIC_LAWS, "tension_only")


def law(name: str) -> int:
    return data.code(tl.registry.GUIDE_LAWS, name)


CASES: dict[str, tuple[data.Command, dict[str, Any]]] = {
    "locked": (LOCKED, {}),
    "locked point mass": (LOCKED, {"rotates": False}),
    "locked slack": (LOCKED, {"elastic_law": SLACK}),
    "torque none": (TORQUE, {"law": law("none")}),
    "torque dissipative": (TORQUE, {"law": law("dissipative")}),
    "torque published": (TORQUE, {"law": law("published"), "extrapolated": True}),
    "torque momentum": (TORQUE, {"law": law("momentum"), "rotates": False}),
    "torque slack": (TORQUE, {"law": 0, "elastic_law": SLACK}),
    "torque paper": (TORQUE, {"law": law("published"), "theta": 0.0}),
    "profile": (PROFILE, {"law": law("dissipative")}),
    "profile none": (PROFILE, {"law": law("none"), "rotates": False}),
    "torque rubbing": (TORQUE, {"viscous": 0.03, "coulomb": 0.2}),
    "torque rubbing, damped": (TORQUE, {"viscous": 0.03, "coulomb": 0.2, "loads": DAMPED}),
    "locked damped": (LOCKED, {"loads": DAMPED}),
    "locked damped point mass": (LOCKED, {"loads": DAMPED, "rotates": False}),
    "torque damped": (TORQUE, {"loads": DAMPED}),
    "profile damped": (PROFILE, {"loads": STIFF}),
    "locked pushed": (LOCKED, {"loads": with_loads(applied_force=PUSH)}),
    "torque pushed": (TORQUE, {"loads": with_loads(applied_force=PUSH, damping=Damping(True, 2.0)), "rotates": False}),
    "locked in wind": (LOCKED, {"loads": with_loads(drag=WIND)}),
    "locked in water": (LOCKED, {"loads": with_loads(drag=WATER, damping=Damping(True, 200.0))}),
    "locked point mass in water": (LOCKED, {"loads": with_loads(drag=WATER), "rotates": False}),
    "torque in water": (TORQUE, {"loads": with_loads(drag=WATER, damping=Damping(True, 2.0))}),
    "profile in water": (PROFILE, {"loads": with_loads(drag=WATER)}),
}


# The paper's scheme is composed at constant length only.
ORDERS = {"torque paper": (2,), "torque rubbing": (2,), "locked": (2, 4, 6)}


def orders_of(case: str) -> tuple[int, ...]:
    return (2,) if "loads" in CASES[case][1] else ORDERS.get(case, (2, 4))


def sizes_of(case: str) -> tuple[int, ...]:
    return (3,) if "loads" in CASES[case][1] else (2, 3)


RUNS = [
    pytest.param(case, order, N, marks=[pytest.mark.long] * (N == 2 and case != "locked"))
    for case in CASES
    for order in orders_of(case)
    for N in sizes_of(case)
]


@pytest.mark.usefixtures("python_kernels")
@pytest.mark.parametrize(("case", "order", "N"), RUNS)
def test_product_with_a_direction(case: str, order: int, N: int) -> None:
    """bars.(forward derivative along d) = (adjoint of bars).d, for random bars and d."""
    command, changes = CASES[case]
    rng = np.random.default_rng(len(case) + N)
    loads = changes.get("loads", PLAIN)
    x = setting(rng, N, order, command, 0.01, **changes)
    columns = SAMPLED + (DRIVEN if command.kind == data.BY_TORQUE and not command.locked else [])
    bars = data.empty_samples(ROWS, N)
    bars.scalars[:] = 0.0
    bars.scalars[:, columns] = rng.standard_normal((ROWS, len(columns)))
    bars.nodes[:] = rng.standard_normal(bars.nodes.shape)
    d = random_direction(rng, x)
    y = with_slopes(x, d)
    if loads.acts:
        motion = begun(y).motion
        x, d = part(x, motion, duals.values), part(d, motion, duals.slopes)
    samples = forward(y)
    expected = float((bars.scalars[:, columns] * duals.slopes(samples.scalars[:, columns])).sum())
    expected += float((bars.nodes * duals.slopes(samples.nodes)).sum())
    out = adjoint.empty_adjoint(x.par, command, x.loads)
    backward(x, bars, out)
    found = products(x, d, out)
    size = sum(map(abs, found.values()))
    assert abs(sum(found.values()) - expected) <= 1e-12 * size


def coordinates(N: int, out: adjoint.Adjoint) -> list[tuple[Any, Any]]:
    """Places of the adjoint: of positions, of momenta, of s and p_s, of the attitude and of Pi."""
    rows = [data.nodes_of(out.nodes[row], N) for row in (adjoint.POSITION_BAR, adjoint.MOMENTUM_BAR)]
    nodes = [(row, (i, j)) for row in rows for i in range(1, N + 1) for j in range(3)]
    return [*nodes, (out.reel, adjoint.S_BAR), (out.reel, adjoint.P_S_BAR), *((out.body, k) for k in range(6))]


def brackets(N: int, Pi: Any) -> Any:
    """Poisson brackets of these coordinates with one another; Pi is in the body frame."""
    n = 3 * N
    B = np.zeros((2 * n + 8, 2 * n + 8))
    B[:n, n : 2 * n] = np.eye(n)
    B[2 * n, 2 * n + 1] = 1.0
    B[2 * n + 2 : 2 * n + 5, 2 * n + 5 :] = np.eye(3)
    B -= B.T
    x, y, z = Pi
    B[2 * n + 5 :, 2 * n + 5 :] = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return B


@pytest.mark.usefixtures("python_kernels")
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("case", ["locked", "torque none"])
def test_conservative_runs_are_symplectic(case: str, order: int) -> None:
    """A B A^T = B', where A is the derivative of the motion at the end by that at the start; its rows are adjoints."""
    N = 2
    command, changes = CASES[case]
    x = setting(np.random.default_rng(1), N, order, command, 0.01, **changes)
    none = data.Samples(np.zeros((ROWS, data.SCALARS)), np.zeros((ROWS, 2, N + 1, 3)))
    rows = []
    for k in range(6 * N + 8):
        out = adjoint.empty_adjoint(x.par, command, x.loads)
        places = coordinates(N, out)
        array, place = places[k]
        array[place] = 1.0
        end = backward(x, none, out)
        rows.append([array[place] for array, place in places])
    A, B, B_end = np.array(rows), *(brackets(N, m.body[data.SPIN : data.SPIN + 3]) for m in (x.motion, end))
    if command.locked:  # s is a parameter
        A, B, B_end = (np.delete(np.delete(C, [6 * N, 6 * N + 1], 0), [6 * N, 6 * N + 1], 1) for C in (A, B, B_end))
    np.testing.assert_allclose(A @ B @ A.T, B_end, rtol=0.0, atol=1e-10)
