"""Derivatives of runs in which reels follow sequences, against differences of whole runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.keys import key_size, key_value
from tautline.gradients.runs import runs_of
from tests.support.hoist import hoist

# Outputs, and rounding of each over its largest value: tensions are those of strains, and torques that hold or lead a
# drum differences over a short step.
ROUNDED = {"position": 1e-13, "tension": 1e-11, "reel_speed": 1e-13, "torque": 1e-11}
OUTPUTS = list(ROUNDED)
# Over the size of a key: differences of fourth order, so near that no moment leaves its step.
NEAR = 5e-6
BY_TIME = tl.Sequence(
    tl.Stage(tl.Torque(2.0), until=0.0437, name="pull"),
    tl.Stage(tl.Speed(retrieval=0.1), duration=0.051, transition=0.02, name="wind"),
    tl.Stage(tl.Locked(), until=0.1512, transition=0.01, name="stop"),
    tl.Stage(tl.Torque(([0.0, 0.1], [1.0, 1.5])), name="let"),
)
MOVE = tl.Length(target=4.03, speed=0.7, acceleration=30.0, jerk=2000.0)
BY_EVENTS = tl.Sequence(
    tl.Stage(tl.Torque(2.0), until="unstretched_length < '3.99 m'", name="pull"),
    tl.Stage(tl.Speed(retrieval=0.1), duration=0.0317, transition=0.02, name="wind"),
    tl.Stage(MOVE, until="done", transition=0.01, name="move"),
    tl.Stage(tl.Locked(), until="end_tension > '2.5 N'", name="hold"),
    tl.Torque(2.0),
)
ONWARDS = tl.Sequence(
    tl.Stage(tl.Speed(retrieval=0.1), duration=0.0617, transition=0.02, name="wind"),
    tl.Stage(tl.Length(target=3.97, speed=0.3, acceleration=4.0, jerk=300.0), transition=0.03, name="move"),
)
KEYS = ["body.mass", "string.stiffness", "reel.inertia_mass", "gravity", "initial.deployed"]
CASES: dict[str, tuple[tl.Case, list[str]]] = {
    "times": (
        hoist().with_(command=BY_TIME),
        [*KEYS, "command.pull.torque", "command.pull.until", "command.wind.duration", "command.let.torques[1]"],
    ),
    "events": (
        hoist({"run.duration": 0.3}).with_(command=BY_EVENTS),
        [*KEYS, "run.duration", "command.pull.torque", "command.wind.retrieval", "command.move.target"],
    ),
    "onwards": (
        hoist({"run.duration": 0.3}).with_(command=ONWARDS),
        [
            *KEYS,
            "command.wind.retrieval",
            *(f"command.move.{key}" for key in ("target", "speed", "acceleration", "jerk", "transition")),
        ],
    ),
}


def _run(runs: Any, changes: dict[str, float]) -> dict[str, Array]:
    """Samples after the start of a plain run."""
    begun = runs.begun(changes)
    plan, simulation = begun.setting.plan, begun.simulation
    samples = simulation.march(runs.steps.filled, plan)
    times = plan.h * plan.steps_per_sample * np.arange(1.0, len(samples[0]) + 1.0)
    found: dict[str, Array] = simulation.backend.values_for(times, samples, set(OUTPUTS))
    return found


def _check(case: tl.Case, keys: list[str], outputs: list[str] = OUTPUTS) -> int:
    """Compare with differences of runs; how many stages began."""
    found, runs = tl.jacobian(case, outputs, keys), runs_of(case, keys)
    for k, key in enumerate(keys):
        value, size = key_value(case, key), NEAR * key_size(case, key)
        runs_beside = [_run(runs, {key: value + place * size}) for place in (1.0, -1.0, 2.0, -2.0)]
        for name in outputs:
            slopes, (a, b, c, d) = found[name].values[1:, ..., k], (x[name] for x in runs_beside)
            expected = (8.0 * (a - b) - (c - d)) / (12.0 * size)
            known = np.isfinite(slopes)
            assert known.mean() > 0.9, (key, name)
            rounded = ROUNDED[name] * np.nanmax(np.abs(found[f"{name}_value"].values)) / size
            np.testing.assert_allclose(
                slopes[known],
                expected[known],
                rtol=0.0,
                atol=2e-7 * np.nanmax(np.abs(expected)) + rounded,
                err_msg=f"{name} by {key}",
            )
    begun: Any = runs.begun({})
    begun.simulation.march(runs.steps.filled, begun.setting.plan)
    return len(begun.simulation.watch.passed)


@pytest.mark.parametrize(
    ("name", "stages"), [("times", 4), pytest.param("events", 5, marks=pytest.mark.long), ("onwards", 2)]
)
def test_derivatives_are_those_of_differences(name: str, stages: int) -> None:
    """Of the moments at which stages end, too: given times, ends of moves, and conditions that are met."""
    assert _check(*CASES[name]) == stages


@pytest.mark.network
def test_of_two_reels_at_once() -> None:
    """Each with a sequence of its own, and a stage of one that ends while the other is within its own."""
    case = tl.load("cable-robot")
    lines = [*case.system.lines][:2]
    commands = dict(case.commands)
    # reels stand, turn, and stand again
    for k, name in enumerate(lines):
        commands[name] = tl.Sequence(
            tl.Stage(tl.Locked(), until=0.0113 + 0.004 * k, name="wait"),
            tl.Stage(tl.Speed(retrieval=0.05), until=f"reel_speed[{name}] > 0.03", transition=0.02, name="wind"),
            tl.Stage(tl.Torque(10.0 + k), name="pull"),
        )
    case = case.with_(commands=commands).with_({"run.duration": 0.04, "run.sample": 0.004, "run.step": 1.6e-4})
    assert _check(case, ["bodies.platform.mass", f"lines.{lines[1]}.command.wait.until"]) == 6


def test_of_a_scenario_whose_load_is_braked() -> None:
    """By the time at which it is lowered no more, which a condition finds, and by the brake."""
    changes = {"run.duration": 5.7, "run.sample": 0.1, "run.elements": 2, "string.law": "linear"}
    case = tl.load("lift-brake").with_(changes | {"command.wait.duration": 1.00013})  # no stage ends with a step
    keys = ["gravity", "command.wait.duration", "command.brake.torque"]
    assert _check(case, keys, OUTPUTS[:3]) == 3  # its stiff rope rounds torques more


def test_gradients_go_through_stages_and_a_moment_on_a_step_is_said() -> None:
    case, _ = CASES["events"]
    by = ["body.mass", "string.stiffness"]
    objective = tl.objectives.Final("position[-1, 2]") + tl.objectives.Integral("end_tension")
    found = tl.value_and_gradient(case, objective, by)
    size = NEAR * key_size(case, by[0])
    others = (case.with_({by[0]: key_value(case, by[0]) + x}) for x in (size, -size))
    values = [tl.value_and_gradient(other, objective, by[:1]).value for other in others]
    assert found.gradient.values[0] == pytest.approx((values[0] - values[1]) / (2.0 * size), rel=1e-6)
    on_step = case.with_(command=tl.Sequence(tl.Stage(tl.Torque(2.0), until=0.1), tl.Torque(1.0)))
    warned = tl.jacobian(on_step, ["position"], ["run.duration", "body.mass"])
    assert [w.where for w in tl.warnings_of(warned) if w.kind == "derivative_side"] == ["run.duration"]


def test_pieces_of_runs_with_sequences_are_refused() -> None:
    case, _ = CASES["times"]
    with pytest.raises(InputError, match="a state does not say in which stage"):
        tl.gradients.linearize(case)
