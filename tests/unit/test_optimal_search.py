"""Searches whose answers are known: least time, least effort, least peak; and searches that cannot succeed."""

from __future__ import annotations

import math
import os
import signal
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.expressions import parts_of_system
from tautline.optimal import optimize as module
from tautline.optimal import terms, unknowns
from tautline.optimal.interval import Wanted
from tautline.optimal.result import Checked, Progress, SearchInterrupted, verdict
from tautline.optimal.shooting import Problem
from tests.support import chains

DISTANCE, LASTS = 1.5, 3.0


def lift(command: Any, **body: Any) -> tl.Case:
    """A load that hangs on 4 m of a stiff rope without much weight, and is lifted."""
    system = tl.pendulum(
        tl.String(length=10.0, density=1e-3, stiffness=2e5, viscosity=1e3, law="linear"),
        tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=20.0),
        tl.RigidBody.sphere(mass=5.0, **body) if body else tl.RigidBody.point(mass=5.0),
        elements=1,
    )
    return tl.Case(system, tl.Hanging(deployed=4.0), {"line": command}, tl.Run(duration=LASTS, step=5e-3, sample=0.1))


def speeds(count: int) -> tl.Speed:
    """A triangle of speeds by which the load is lifted by less than wanted."""
    times = np.linspace(0.0, LASTS, count)
    return tl.Speed(retrieval=(times, 0.8 * DISTANCE * 2.0 / LASTS * (1.0 - np.abs(2.0 * times / LASTS - 1.0))))


ARRIVED = tl.objectives.AtEnd("unstretched_length", 4.0 - DISTANCE)
INNER = "command.retrievals[1:-1]"


def test_least_time_with_a_limit_of_the_acceleration() -> None:
    """From rest to rest: half of the way at the full acceleration, half of it braking."""
    found = tl.optimize(
        lift(speeds(3)),
        vary={INNER: (0, 5), "run.duration": (1, 9)},
        minimize="time",
        subject_to=[tl.objectives.Limit("rate(reel_speed)", -0.5, 0.5), ARRIVED],
        intervals=[0.0, 0.5, LASTS],
    )
    assert found.status == "completed", found.message
    assert abs(found.objective - 2.0 * math.sqrt(DISTANCE / 0.5)) < 1e-5
    assert abs(found.case.run.duration - found.objective) < 1e-9 and found.violation < 1e-6
    run = chains.simulate(tl.Case.from_dict(found.case.to_dict()))
    assert abs(float(run.unstretched_length[-1]) - (4.0 - DISTANCE)) < 1e-6
    assert found.history[-1].violation < 1e-6 and found.history[0].violation > 0.01


def test_least_time_with_limits_of_the_torque_that_a_speed_takes() -> None:
    """Braking lets the weight down at the least torque; speeds rise and fall in the same time."""
    weight, least, turned = 0.1 * 5.0 * 9.81, 4.0, 0.1 * (5.0 + 20.0)
    found = tl.optimize(
        lift(speeds(3)),
        vary={INNER: (0, 5), "run.duration": (1, 9)},
        minimize="time",
        subject_to=[tl.objectives.Limit("torque", least, 6.0), ARRIVED],
        intervals=[0.0, 0.5, LASTS],
    )
    assert found.status == "completed", found.message
    assert abs(found.objective / (2.0 * math.sqrt(DISTANCE * turned / (weight - least))) - 1.0) < 1e-3
    assert abs(float(found.run().torque.min()) - least) < 1e-5


def test_least_effort_of_a_table_of_speeds() -> None:
    """The integral of the squared acceleration of a piecewise linear speed: a small quadratic program."""
    knots, dt = 7, LASTS / 6.0
    found = tl.optimize(
        lift(speeds(knots)),
        vary={INNER: (-5, 5)},
        minimize={"integral": "rate(reel_speed)^2"},
        subject_to=[ARRIVED],
        intervals=2,
    )
    assert found.status == "completed", found.message
    D = np.diff(np.eye(knots), axis=0)[:, 1:-1] / dt
    v = np.linalg.solve(D.T @ D, np.ones(knots - 2))
    v *= DISTANCE / (dt * v.sum())
    np.testing.assert_allclose(list(found.values.values()), v, rtol=1e-5)
    assert abs(found.objective / (dt * float(v @ D.T @ D @ v)) - 1.0) < 1e-5


@pytest.mark.long
def test_torque_in_least_time_is_all_or_nothing() -> None:
    """Weight against torque: a load and a drum, as one mass; the table is linear between knots, and so a bit slower."""
    r, m, kappa, g = 0.1, 5.0, 20.0, 9.81
    weight = r * m * g
    times = np.linspace(0.0, LASTS, 13)
    case = lift(tl.Torque((times, np.full(13, 1.02 * weight))))
    up, down = 3.0, -1.0  # N m beyond the weight
    found = tl.optimize(
        case,
        vary={"command.torques": (weight + down, weight + up), "run.duration": (1, 9)},
        minimize="time",
        subject_to=[ARRIVED, tl.objectives.AtEnd("reel_speed", 0.0), tl.objectives.Limit("start_tension", least=1.0)],
        intervals=3,
    )
    assert found.status == "completed", found.message
    a, b = up / r / (m + kappa), -down / r / (m + kappa)
    least = math.sqrt(2.0 * DISTANCE * (a + b) / (a * b))
    assert least < found.objective < 1.05 * least
    torques = np.array([found.values[f"command.torques[{k}]"] for k in range(13)])
    np.testing.assert_allclose(torques[:2], weight + up, atol=1e-3)
    np.testing.assert_allclose(torques[-3:], weight + down, atol=0.4)


def test_the_least_peak_is_below_that_of_the_first_run_and_is_what_a_run_has() -> None:
    case = lift(speeds(5)).with_({"command.retrievals[2]": 1.0})
    found = tl.optimize(
        case, vary={INNER: (-5, 5)}, minimize={"peak": "start_tension"}, subject_to=[ARRIVED], intervals=3
    )
    assert found.status == "completed", found.message
    run = found.run()
    assert abs(found.objective / float(run.start_tension[1:].max()) - 1.0) < 1e-9
    assert found.objective < float(chains.simulate(case).start_tension.max())
    # of all motions from rest to rest, that with one acceleration has the least peak; a load that bounces may have less
    assert abs(found.objective / (5.0 * (9.81 + 4.0 * DISTANCE / LASTS**2)) - 1.0) < 0.02


def test_a_search_goes_on_from_an_earlier_one() -> None:
    arguments: dict[str, Any] = {
        "vary": {INNER: (-5, 5)},
        "minimize": {"integral": "rate(reel_speed)^2"},
        "subject_to": [ARRIVED],
        "intervals": 2,
    }
    first = tl.optimize(lift(speeds(5)), **arguments)
    for start in (first, first.case):
        again = tl.optimize(lift(speeds(5)), **arguments, start=start)
        assert again.status == "completed" and again.history[0].violation < 1e-6
        np.testing.assert_allclose(list(again.values.values()), list(first.values.values()), rtol=1e-5)


@pytest.mark.parametrize("where", ["watch", "swallowed"])
def test_an_interrupted_search_keeps_its_latest_values(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a callback of the solver, which swallows exceptions: no other march begins."""
    arguments: dict[str, Any] = {
        "vary": {INNER: (-5, 5)},
        "minimize": {"integral": "rate(reel_speed)^2"},
        "subject_to": [ARRIVED],
        "intervals": 2,
    }
    stopped = tl.optimize(lift(speeds(5)), **arguments, watch=lambda progress: progress.iteration == 2)
    evaluate, seen, later = Problem.evaluate, list[int](), list[int]()

    def send() -> None:
        later.append(0)
        if where == "swallowed":
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        else:
            os.kill(os.getpid(), signal.SIGINT)

    def watch(progress: Progress) -> None:
        seen.append(progress.iteration)
        if where == "watch" and progress.iteration == 2:
            send()

    def watched(self: Problem, w: Any, derivatives: bool) -> Any:
        if where != "watch" and seen and seen[-1] == 2:
            send()
        return evaluate(self, w, derivatives)

    monkeypatch.setattr(Problem, "evaluate", watched)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of a parallel test run ignore it
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            tl.optimize(lift(speeds(5)), **arguments, watch=watch)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(caught.value, SearchInterrupted)
    found = caught.value.result
    assert len(later) == 1 and found.status == "interrupted" and "after 2 iterations" in found.message
    assert found.values == stopped.values and found.history[-1].iteration == 2


@pytest.mark.long
def test_ends_of_a_search_that_did_not_converge() -> None:
    arguments: dict[str, Any] = {
        "vary": {INNER: (-5, 5)},
        "minimize": {"integral": "rate(reel_speed)^2"},
        "subject_to": [ARRIVED],
        "intervals": 2,
    }
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    assert tl.optimize(lift(speeds(5)), **arguments, watch=stop).status == "interrupted" and len(seen) == 1
    few = tl.optimize(lift(speeds(5)), **arguments, iterations=1)
    assert few.status == "iterations" and "allow more iterations" in few.message
    arguments["subject_to"] = [ARRIVED, tl.objectives.Limit("reel_speed", most=0.3)]
    never = tl.optimize(lift(speeds(5)), **arguments)
    assert never.status == "infeasible" and "no values were found that keep all bounds" in never.message
    assert never.violation > 0.1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"minimize": "time"}, "expected run.duration among the keys of vary"),
        (
            {"subject_to": [tl.objectives.Limit("torque", most=9.0)], "vary": {"command.times[2]": (1.4, 1.6)}},
            "torque: has no derivative at some of the samples",
        ),
        ({"intervals": 7}, "times: expected"),
        ({"intervals": 0}, "intervals: expected a whole number"),
        ({"intervals": [0.0, 1.0]}, "intervals: expected times from 0 to run.duration (3 s)"),
        ({"minimize": {"integral": "velocity"}}, "expected one number at each time"),
        ({"vary": {"command.retrievals": (90, 91)}}, "case: expected one whose run is completed"),
        ({"watch": 3}, "watch: expected a function"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"vary": {INNER: (-5, 5)}, "minimize": {"final": "reel_speed"}, "intervals": 2}
    with pytest.raises(InputError) as error:
        tl.optimize(lift(speeds(5)), **arguments | changes)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_result_that_a_plain_run_does_not_keep_is_not_completed() -> None:
    (bound,) = terms.read_bounds(
        [tl.objectives.Limit("start_tension", least=0.0)], parts_of_system(lift(speeds(5)).system)
    )
    beyond, early = Checked(1.0, 0.5, bound, ""), Checked(math.nan, math.inf, None, "stopped at t = 1 s")
    for checked, words in (
        (beyond, "start_tension should be at least 0, and is beyond by 50 %"),
        (early, "stopped at"),
    ):
        status, message = verdict("Solve_Succeeded", 9, 1e-9, checked, "")
        assert status == "not_reproduced" and words in message
    status, message = verdict("Restoration_Failed", 9, 0.1, beyond, "unstable step")
    assert status == "failed" and "Restoration_Failed; unstable step" in message


@pytest.mark.parametrize("body", [{}, {"radius": 0.2, "center_of_mass": (0.05, 0.0, 0.2)}], ids=["point", "body"])
def test_derivatives_of_the_program(body: dict[str, Any]) -> None:
    """Along a random direction, against differences; masses change the start as well."""
    case = lift(speeds(4), **body).with_({"initial": {"kind": "hanging", "deployed": 4.0}})
    sought = unknowns.read(case, {INNER: (-5, 5), "run.duration": (1, 9), "body.mass": (4, 6)})
    parts = parts_of_system(case.meshed().system)
    wanted = Wanted(
        terms.read_objective(
            ["time", {"peak": "start_tension", "weight": 0.01}, {"integral": "velocity[-1, 2]^2"}], parts
        ),
        terms.read_bounds(
            [tl.objectives.Limit("rate(reel_speed)", -1, 1), tl.objectives.Limit("position[-1]", -9, 9), ARRIVED], parts
        ),
    )
    problem, w = module._begin(case, sought, wanted, np.array([0.0, 0.8, 2.0, LASTS]), None)
    rng = np.random.default_rng(1)
    w, d, h = w + 1e-3 * rng.standard_normal(len(w)), rng.standard_normal(len(w)), 1e-6
    here = problem.evaluate(w, True)
    jacobian = np.zeros((len(here.constraints), len(w)))
    jacobian[problem.pattern(problem.parts(w, False))] = here.jacobian
    up, down = (problem.evaluate(w + distance * d, False) for distance in (h, -h))
    slope = (up.constraints - down.constraints) / (2.0 * h)
    assert np.abs(jacobian @ d - slope).max() < 1e-6 * np.abs(slope).max()
    assert abs(here.gradient @ d - (up.objective - down.objective) / (2.0 * h)) < 1e-6
