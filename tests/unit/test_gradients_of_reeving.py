"""Derivatives of runs of lines over sheaves and pins, with end reels and shared shafts: by keys and by states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.gradients.keys import key_value
from tautline.gradients.segments import Segments
from tests.support.known_systems import check_fit_finds
from tests.support.tackle import tackle

OUTPUTS = ["body_position", "angular_velocity", "tension", "end_tension", "reeled_length", "energy", "passed"]
SHEAVE = [f"lines.hoist.over.lower.{key}" for key in ("bearing_friction", "bearing_radius", "radius", "inertia_mass")]
PIN = [f"lines.hoist.over.eye.{key}" for key in ("friction", "wrap", "inertia_mass", "smoothing_speed", "point[2]")]
DRIVEN = [f"lines.haul.over.drive.{key}" for key in ("efficiency", "command.torque", "center[0]")]
ORDINARY = ["gravity", "bodies.block.mass", "lines.guy.density", "lines.hoist.command.torque", "lines.haul.length"]
STARTS = ["initial.bodies.car.velocity[2]", "initial.lines.hoist.deployed"]
EIGHTH = np.array([1.0 / 280.0, -4.0 / 105.0, 1.0 / 5.0, -4.0 / 5.0, 4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0])
STEPS = (-4, -3, -2, -1, 1, 2, 3, 4)
# Changes of lengths stay small beside the stretch of the spans and beside the drums, about which rope is wound.
LENGTHS = ("length", "deployed", "point[2]", "center[0]")
ROUNDING = 1e-13  # of the largest value of a variable: positions are rounded, and tension is stiffness times strain


def differences(case: tl.Case, key: str, size: float) -> dict[str, Any]:
    """Differences of runs of the eighth order, and their rounding."""
    value = key_value(case, key)
    runs = [tl.simulate(case.with_({key: value + i * size})) for i in STEPS]
    return {
        name: (
            np.tensordot(EIGHTH, [run[name].values for run in runs], 1) / size,
            ROUNDING * float(np.abs(runs[0][name].values).max()) / size,
        )
        for name in OUTPUTS
    }


@pytest.mark.parametrize("key", [*SHEAVE, *PIN, *DRIVEN, *ORDINARY, *STARTS])
def test_derivatives_are_those_of_differences_of_runs(key: str) -> None:
    case = tackle()
    found = tl.jacobian(case, OUTPUTS, [key])
    assert not tl.warnings_of(found) and found.attrs["status"] == "completed"
    size = 1e-4 if key.endswith(LENGTHS) else 3e-3 * abs(key_value(case, key))
    for name, (expected, rounding) in differences(case, key, size).items():
        error = np.abs(found[name].values[..., 0] - expected).max()
        assert error <= 1e-6 * np.abs(expected).max() + 10.0 * rounding, (name, error, np.abs(expected).max())
    assert np.abs(found.energy.values).max() > 0.0


def held(**changes: Any) -> tl.Case:
    """Case with the sheave locked that was driven, and the drums driven."""
    speed = {"kind": "speed", "times": [0.0, 0.1], "retrievals": [0.0, 0.3]}
    still = {"initial.bodies.car.velocity": [0.0, 0.0, 0.0], "lines.haul.over.drive.command": {"kind": "locked"}}
    return tackle(**still, **{"lines.hoist.command": speed}, **changes)


@pytest.mark.parametrize("case", [tackle(), held()], ids=["free", "held"])
def test_segments_join_to_the_run_and_follow_states(case: tl.Case) -> None:
    segments = Segments(case, [0.0, 0.05, 0.1], [], ["body_position", "tension"])
    first = segments.march(0, segments.start, derivatives=False)
    second = segments.march(1, first.end)
    run = tl.simulate(case)
    for name in ("body_position", "tension"):
        ends = [first.outputs[name][-1], second.outputs[name][-1]]
        np.testing.assert_allclose(ends, run[name].values[1:], rtol=1e-9, atol=1e-9)
    x = first.end
    dx = np.random.default_rng(3).normal(size=len(x)) * segments.coordinates.sizes(x)
    moved = [segments.march(1, x + i * 1e-7 * dx, derivatives=False).end for i in (-2.0, -1.0, 1.0, 2.0)]
    expected = (moved[0] - 8.0 * moved[1] + 8.0 * moved[2] - moved[3]) / 12e-7
    assert np.abs(second.by_state @ dx - expected).max() <= 1e-6 * np.abs(expected).max()


def test_coordinates_and_states_give_each_other() -> None:
    """Lengths of spans follow from what came and went at their ends; drums on one shaft turn together."""
    case = tackle()
    found = Segments(case, [0.0, 0.1], []).coordinates
    # a body and a point, inner nodes of six spans, the shaft, a sheave, a pin and the driven sheave
    assert found.size == len(set(found.names)) == 12 + 6 + 6 * (3 * 2 + 1 + 2 * 1) + 2 * 4
    x = found.of(case.state()) + np.random.default_rng(1).normal(size=found.size) * 0.1
    np.testing.assert_allclose(found.of(found.state(x)), x, atol=1e-13)
    before, after = case.state().lines, found.state(x).lines
    hoist, guy = (after[name].reeled_length - before[name].reeled_length for name in ("hoist", "guy"))
    assert guy == pytest.approx(-0.2 / 0.3 * hoist, rel=1e-12)
    whole = [own["hoist"].span_lengths.sum() + own["hoist"].reeled_length for own in (before, after)]
    assert whole[1] == pytest.approx(whole[0], rel=1e-14)


def test_torques_that_hold_a_sheave_and_a_shaft_have_derivatives() -> None:
    case, key = held(), "bodies.car.mass"
    found = tl.jacobian(case, ["torque"], [key]).torque.values[..., 0]
    runs = [tl.simulate(case.with_({key: 30.0 + 0.3 * i})).torque.values for i in STEPS]
    expected = np.tensordot(EIGHTH, runs, 1) / 0.3
    assert np.abs(found - expected).max() <= 1e-7 * np.abs(expected).max()


@pytest.mark.long
def test_a_fit_finds_the_efficiency_of_a_sheave_and_the_friction_of_an_eye() -> None:
    case = tackle(**{"run.duration": 0.3, "run.sample": 0.01})
    truth = {"lines.haul.over.drive.efficiency": 0.93, "lines.hoist.over.eye.friction": 0.19}
    check_fit_finds(truth, case, "car", "hoist")


@pytest.mark.long
def test_an_optimum_of_a_driven_sheave_is_kept_by_a_plain_run() -> None:
    """Between torques that leave all ropes taut, as slack ones have kinks at which no search converges."""
    pytest.importorskip("casadi")
    table = {"kind": "torque", "times": [0.0, 0.1, 0.2], "torques": [20.0, 20.0, 20.0]}
    case = tackle(**{"lines.haul.over.drive.command": table, "run.duration": 0.2})
    found = tl.optimize(
        case,
        vary={"lines.haul.over.drive.command.torques": (-40.0, 60.0)},
        minimize={"integral": "start_tension[haul]^2"},
        subject_to=[tl.objectives.AtEnd("body_velocity[car, x]", -0.04, within=1e-6)],
        intervals=2,
    )
    run = tl.simulate(found.case)
    assert found.status == "completed"
    assert abs(float(run.body_velocity.sel(body="car", axis="x")[-1]) + 0.04) < 2e-6
    assert run.tension.values.min() > 0.0
