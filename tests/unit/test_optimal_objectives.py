"""Searches report and make least one number: that of `value_and_gradient` of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.arrays import Array
from tautline.gradients.keys import key_value
from tautline.model.expressions import parts_of_system
from tautline.optimal import optimize as module
from tautline.optimal import terms, unknowns
from tautline.optimal.interval import Wanted
from tautline.optimal.optimize import optimize
from tests.support import chains

LASTS, DISTANCE, RADIUS, MASS = 1.2, 0.3, 0.1, 5.0
WEIGHT = RADIUS * MASS * 9.81
KNOTS = 7
TIMES = np.linspace(0.0, LASTS, KNOTS)
SPEEDS = tl.Speed(retrieval=(TIMES, 0.2 + 0.5 * np.sin(np.pi * TIMES / LASTS)))
TORQUES = tl.Torque((TIMES, np.linspace(1.3, 0.8, KNOTS) * WEIGHT))
OF_TORQUE = {"command.torques": (-20.0, 40.0)}
OF_SPEED = {"command.retrievals": (-5.0, 5.0)}


def lift(command: Any, start: Any = None) -> tl.Case:
    """A load on a stiff rope."""
    system = tl.pendulum(
        tl.String(length=10.0, density=1e-3, stiffness=2e5, viscosity=1e3, law="linear"),
        tl.Reel(drum_radius=RADIUS, guide_length=0.1, inertia_mass=20.0),
        tl.RigidBody.point(mass=MASS),
        elements=1,
    )
    run = tl.Run(duration=LASTS, step=5e-3, sample=0.05)
    return tl.Case(system, start or tl.Hanging(deployed=4.0), {"line": command}, run)


def moving() -> tl.Straight:
    """A start with speed, so that there is power at once."""
    return tl.Straight(deployed=4.0, reel_speed=0.4)


def thrown() -> tl.Case:
    """Two bodies on a string whose reel turns from the start."""
    command = {"kind": "torque", "times": [0.0, 0.04], "torques": [0.3, 0.4]}
    run = {"run.duration": 0.04, "run.sample": 0.01, "run.step": 1e-3, "lines.cord.elements": 2}
    changes = {"lines.cord.law": "linear", "lines.cord.command": command, "initial.lines.cord.reel_speed": 0.2}
    found: tl.Case = tl.load("thrown-bodies").with_({**run, **changes})
    return found


def integral(of: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """By the trapezoidal rule over all samples."""

    def number(values: Mapping[str, Any]) -> Any:
        x = of(values).reshape(len(values["time"]))  # of the only line
        return np.sum(0.5 * (x[1:] + x[:-1]) * np.diff(values["time"]))

    return number


# Case, keys that are sought, what is made least, and the same number from the values of a run.
OBJECTIVES: dict[str, tuple[Callable[[], Any], dict[str, Any], Any, Callable[..., Any]]] = {
    "final": (
        lambda: lift(TORQUES),
        OF_TORQUE,
        tl.objectives.Final("reeled_length"),
        tl.objectives.Final("reeled_length"),
    ),
    "torque": (lambda: lift(TORQUES), OF_TORQUE, {"integral": "torque^2"}, integral(lambda x: x["torque"] ** 2)),
    "power": (
        lambda: lift(TORQUES, moving()),
        OF_TORQUE,
        tl.objectives.Integral("power"),
        tl.objectives.Integral("power"),
    ),
    "expression": (
        lambda: lift(TORQUES, moving()),
        OF_TORQUE | {"initial.reel_speed": (0.0, 1.0), "body.mass": (1.0, 9.0)},
        [{"integral": "power^2 + start_tension*torque*'1 m/s^2'", "weight": 2.0}, {"final": "reel_speed"}],
        lambda x: (
            2.0 * integral(lambda y: y["power"] ** 2 + y["start_tension"] * y["torque"])(x) + x["reel_speed"][-1, 0]
        ),
    ),
    "torque that a speed takes": (
        lambda: lift(SPEEDS, moving()),
        OF_SPEED,
        {"integral": "torque*reel_speed"},
        integral(lambda x: x["torque"] * x["reel_speed"]),
    ),
    "torque that holds": (
        lambda: lift(tl.Locked()),
        {"body.mass": (1.0, 9.0), "reel.drum_radius": (0.05, 0.2)},
        {"integral": "torque^2"},
        integral(lambda x: x["torque"] ** 2),
    ),
    "time": (
        lambda: lift(TORQUES),
        OF_TORQUE | {"run.duration": (1.0, 2.0)},
        ["time", {"integral": "torque^2", "weight": 0.1}],
        lambda x: x["time"][-1] + 0.1 * integral(lambda y: y["torque"] ** 2)(x),
    ),
    "system": (
        thrown,
        {"lines.cord.command.torques": (0.0, 9.0), "lines.cord.reel.drum_radius": (0.01, 0.4)},
        {"integral": "norm(power)^2"},
        integral(lambda x: np.sum(x["power"] ** 2, axis=1)),
    ),
}


QUICK = ("expression", "torque that a speed takes", "time")


def problem_of(case: Any, vary: dict[str, Any], minimize: Any, subject_to: Any = (), intervals: int = 1) -> Any:
    """The program of a search, and the point where it begins."""
    sought, parts = unknowns.read(case, vary), parts_of_system(case.meshed().system)
    wanted = Wanted(terms.read_objective(minimize, parts), terms.read_bounds(subject_to, parts))
    return module._begin(case, sought, wanted, np.linspace(0.0, case.run.duration, intervals + 1), None)


@pytest.mark.parametrize("name", [x if x in QUICK else pytest.param(x, marks=pytest.mark.long) for x in OBJECTIVES])
def test_a_search_makes_least_what_it_reports(name: str) -> None:
    """Number and slopes of the program are those of `value_and_gradient`, and the number is the reported one."""
    make, vary, minimize, number = OBJECTIVES[name]
    case = make()
    problem, w = problem_of(case, vary, minimize)
    sought = [x.key for x in problem.unknowns.sought]
    found = tl.value_and_gradient(case, number, by=problem.unknowns.keys)
    program = problem.evaluate(w, True)
    scale = problem.scales.objective
    assert program.objective * scale == pytest.approx(found.value, rel=1e-12)
    slopes = program.gradient[: problem.m] * scale / problem.unknowns.scales
    exact = found.gradient.values @ problem.unknowns.by_sought
    np.testing.assert_allclose(slopes, exact, rtol=1e-6, atol=1e-7 * np.abs(exact).max())
    assert np.abs(exact).min() > 0.0
    reported = optimize(case, vary=vary, minimize=minimize, intervals=2, iterations=1)
    again = tl.value_and_gradient(reported.case, number, by=sought[0])
    assert reported.objective == pytest.approx(again.value, rel=1e-9)


def test_a_peak_may_be_in_the_first_sample() -> None:
    """Where the entry that is sought decides it: the least peak of a torque that moves a load is that of them all."""
    case = lift(TORQUES)
    found = tl.optimize(
        case,
        vary=OF_TORQUE,
        minimize=tl.objectives.Peak("torque"),
        subject_to=[tl.objectives.AtEnd("unstretched_length", most=4.0 - DISTANCE)],
        intervals=1,
    )
    assert found.status == "completed", found.message
    torques = tl.jacobian(found.case, "torque", by="body.mass").torque_value.values[:, 0]
    assert found.objective == pytest.approx(float(torques.max()), rel=1e-9)
    assert float(torques[0]) <= float(torques[1:].max()) + 1e-6  # made least as the others are


def test_limits_hold_in_a_first_sample_that_is_sought() -> None:
    """A start that is given is not limited."""
    pair = [
        tl.objectives.Limit("torque", most=5.5),
        tl.objectives.Limit("reel_speed", least=0.1),
        tl.objectives.Limit("abs(power)", most=99.0),
    ]
    problem, _ = problem_of(lift(TORQUES), OF_TORQUE, {"final": "reeled_length"}, pair)
    assert problem.wanted.at_start == (True, False, False)
    found = tl.optimize(
        lift(TORQUES),
        vary=OF_TORQUE,
        minimize={"integral": "torque^2"},
        subject_to=[tl.objectives.Limit("torque", least=3.0)],
        intervals=1,
    )
    assert found.status == "completed", found.message
    np.testing.assert_allclose(list(found.values.values()), 3.0, atol=1e-4)  # the first one among them


def quadratic_program(case: tl.Case) -> tuple[Array, float]:
    """Torques that reach the end at rest with the least sum of squares, by a linear model of the same runs.

    Solved anew about its solution, until that stays.
    """
    start = chains.simulate(case)
    at = np.stack([np.interp(start.time.values, TIMES, row) for row in np.eye(KNOTS)], axis=1)
    lasts = np.diff(start.time.values)
    weights = 0.5 * (np.append(lasts, 0.0) + np.append(0.0, lasts))
    keys = [f"command.torques[{k}]" for k in range(KNOTS)]
    H, u = at.T @ (weights[:, None] * at), np.array([key_value(case, key) for key in keys])
    ends = {"unstretched_length": 4.0 - DISTANCE, "reel_speed": 0.0}
    for _ in range(6):
        found = tl.jacobian(case.with_(dict(zip(keys, u.tolist(), strict=True))), list(ends), keys)
        A = np.stack([found[name].values[-1, 0] for name in ends])
        left = np.array([end - found[f"{name}_value"].values[-1, 0] for name, end in ends.items()])
        matrix = np.block([[H, A.T], [A, np.zeros((2, 2))]])
        u = np.linalg.solve(matrix, [*(WEIGHT * at.T @ weights), *(left + A @ u)])[:KNOTS]
    return u, float(weights @ (at @ u - WEIGHT) ** 2)


@pytest.mark.parametrize("intervals", [3, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2, 4, 6))])
def test_least_effort_of_torques_from_rest_to_rest(intervals: int) -> None:
    """As a quadratic program of the same runs."""
    case = lift(TORQUES)
    torques, effort = quadratic_program(case)
    found = tl.optimize(
        case,
        vary=OF_TORQUE,
        minimize={"integral": f"(torque - {WEIGHT})^2"},
        subject_to=[tl.objectives.AtEnd("unstretched_length", 4.0 - DISTANCE), tl.objectives.AtEnd("reel_speed", 0.0)],
        intervals=intervals,
    )
    assert found.status == "completed", found.message
    assert found.objective == pytest.approx(effort, rel=1e-6)
    np.testing.assert_allclose(list(found.values.values()), torques, atol=1e-3 * np.abs(torques - WEIGHT).max())
