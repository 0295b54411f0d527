"""Derivatives of runs by keys: against differences of runs, against scaling laws, and where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.keys import key_size, key_value
from tests.support.hoist import hoist

BOX = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2))
OUTPUTS = [
    *("position", "velocity", "tension", "start_tension", "end_tension", "reeled_length", "energy", "attitude"),
    "control_work",
]
CASES: dict[str, tuple[tl.Case, list[str]]] = {
    "torque": (hoist(body=BOX), ["string.stiffness", "body.mass", "command.torques[1]", "run.duration"]),
    "order 4": (hoist({"run.order": 4}), ["string.density", "initial.end_velocity[1]", "initial.deployed", "gravity"]),
    "locked": (hoist({"command": {"kind": "locked"}}, BOX), ["body.center_of_mass[2]", "initial.angular_velocity[0]"]),
    "loads": (
        hoist(
            {
                "string.viscosity": 0.05,
                "string.diameter": 0.01,
                "fluid": {"density": 1000.0, "drag_area": 0.01, "flows": [[0.1, 0.0, 0.0], [0.4, 0.1, 0.0]]}
                | {"depths": [0.0, 5.0], "volume": 1e-4},
                "applied_force": {"force": [1.0, 0.5, 0.0]},
            }
        ),
        ["string.viscosity", "fluid.drag_area", "applied_force.force[0]", "fluid.flows[1][0]", "string.normal_drag"],
    ),
    "surface": (
        hoist(
            {
                "string.diameter": 0.008,
                "fluid": {"density": 1000.0, "flow": [0.5, 0.1, 0.0], "surface": 0.83, "density_above": 1.2},
            }
        ),
        ["fluid.surface", "fluid.density", "fluid.density_above", "string.diameter", "fluid.flow[0]"],
    ),
    "surface, one element": (
        hoist(
            {
                "string.diameter": 0.008,
                "fluid": {"density": 1000.0, "surface": 0.83, "density_above": 1.2},
                "run.elements": 1,
            }
        ),
        ["fluid.surface", "string.diameter"],
    ),
    "length": (
        hoist({"command": {"kind": "length", "target": 3.95, "speed": 0.47, "acceleration": 10.0, "jerk": 410.0}}),
        ["command.target", "command.speed", "string.stiffness"],
    ),
    "guide path": (
        hoist({"guide": {"kind": "sine", "amplitude": [0.1, 0.0, 0.05], "period": 0.7}}),
        ["guide.amplitude[0]", "guide.period", "body.mass"],
    ),
    "tension only": (hoist({"string.law": "tension_only"}), ["string.stiffness", "reel.guide_position[0]"]),
    "brake": (hoist({"command": {"kind": "brake", "torque": 0.4}}), ["command.torque", "reel.inertia_mass"]),
    "impedance": (
        hoist({"command": {"kind": "impedance", "length": 3.8, "stiffness": 30.0, "damping": 4.0}}),
        ["command.length", "command.stiffness", "command.damping"],
    ),
}


def differences(case: tl.Case, key: str, part: float) -> dict[str, Any]:
    """Central differences of runs by a key."""
    value, e = key_value(case, key), part * key_size(case, key)
    scaled: list[Any] = []
    for sign in (1.0, -1.0):
        changes = {key: value + sign * e}
        if key == "run.duration":
            factor = 1.0 + sign * e / value
            changes |= {"run.step": case.run.step * factor, "run.sample": case.run.sample * factor}  # type: ignore[operator]
        scaled.append(tl.simulate(case.with_(changes)))
    return {name: (scaled[0][name].values - scaled[1][name].values) / (2.0 * e) for name in OUTPUTS}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_runs(name: str) -> None:
    case, by = CASES[name]
    found = tl.jacobian(case, OUTPUTS, by)
    run = tl.simulate(case)
    np.testing.assert_allclose(found.time, run.time, rtol=1e-14)
    assert (found.status, found.key.values.tolist()) == ("completed", by)
    for output in OUTPUTS:
        np.testing.assert_allclose(found[f"{output}_value"].values, run[output].values, rtol=1e-12, atol=1e-12)
        assert found[output].values.shape == (*run[output].shape, len(by))
    for k, key in enumerate(by):
        for output, expected in differences(case, key, 1e-5).items():
            size = np.abs(expected).max() + 1e-3 * np.abs(run[output].values).max()
            error = np.abs(found[output].values[..., k] - expected).max()
            assert error <= 1e-5 * size + 1e-9, f"{output} by {key}: {error:.3g} of {size:.3g}"


def test_a_heavier_stiffer_stronger_hoist_moves_alike() -> None:
    # all masses, stiffnesses and torques times a factor: Euler's theorem for homogeneous functions
    by = ["string.stiffness", "string.density", "body.mass", "reel.inertia_mass"]
    by += [f"command.torques[{k}]" for k in range(3)]
    case = hoist()
    found = tl.jacobian(case, ["position", "tension", "energy"], by)
    numbers = [key_value(case, key) for key in by]
    for output, degree in (("position", 0.0), ("tension", 1.0), ("energy", 1.0)):
        total, parts = found[output].values @ numbers, np.abs(found[output].values * numbers).sum(axis=-1)
        np.testing.assert_allclose(total, degree * found[f"{output}_value"].values, atol=1e-6 * parts.max())


def test_steps_of_auto_are_frozen_at_the_smallest() -> None:
    case = hoist({"run.step": "auto"})
    found = tl.jacobian(case, "position", ["string.stiffness"])
    again = tl.jacobian(case.with_({"string.stiffness": 100.001}), "position", ["string.stiffness"])
    change = (again["position_value"].values - found["position_value"].values) / 0.001
    np.testing.assert_allclose(change, found["position"].values[..., 0], atol=1e-4 * np.abs(change).max())
    np.testing.assert_allclose(found["position_value"].values, tl.simulate(case).position.values, atol=1e-2)


def test_values_and_gradients_of_own_functions() -> None:
    case, by = hoist(), ["string.stiffness", "command.torques[1]", "run.duration"]
    found = tl.value_and_gradient(case, lambda v: np.sum(v["tension"][-1] ** 2) + v["position"][-1, -1, 0], by)
    jacobian = tl.jacobian(case, ["tension", "position"], by)
    tension = jacobian["tension_value"].values[-1]
    expected = 2.0 * tension @ jacobian["tension"].values[-1] + jacobian["position"].values[-1, -1, 0]
    assert found.value == pytest.approx(
        float(tension @ tension + jacobian["position_value"].values[-1, -1, 0]), rel=1e-14
    )
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-12)
    still = tl.value_and_gradient(case, lambda v: 3.0, by)
    assert still.value == 3.0 and not still.gradient.any()


def test_ready_objectives() -> None:
    case, by = hoist(), ["command.torques[1]", "run.duration"]
    values = tl.jacobian(case, ["start_tension", "reeled_length", "position"], by)
    tension, by_keys = values["start_tension_value"].values[:, 0], values["start_tension"].values[:, 0]
    peak = tl.value_and_gradient(case, tl.objectives.Peak("start_tension", sharpness=50.0), by)
    weights = np.exp(50.0 * (tension - tension.max()))
    assert tension.max() <= peak.value <= tension.max() + np.log(len(tension)) / 50.0
    np.testing.assert_allclose(peak.gradient, weights @ by_keys / weights.sum(), rtol=1e-11)
    final = tl.value_and_gradient(case, 2.0 * tl.objectives.Final("position[-1, 0]") ** 2 - 1.0, by)
    x = values["position_value"].values[-1, -1, 0]
    assert final.value == pytest.approx(2.0 * x * x - 1.0)
    np.testing.assert_allclose(final.gradient, 4.0 * x * values["position"].values[-1, -1, 0], rtol=1e-12)
    length = tl.value_and_gradient(
        case, tl.objectives.Integral("reeled_length") / 2.0 + tl.objectives.Final("reeled_length"), by
    )
    s, t = values["reeled_length_value"].values[:, 0], values.time.values
    expected = 0.5 * np.sum(0.5 * (s[1:] + s[:-1]) * np.diff(t))
    assert length.value == pytest.approx(expected + s[-1])
    # the time between samples grows with the duration as well
    inner = values["reeled_length"].values[:, 0, 1]
    grown = 0.5 * np.sum(0.5 * (inner[1:] + inner[:-1]) * np.diff(t)) + expected / case.run.duration + inner[-1]
    assert length.gradient[1] == pytest.approx(grown, rel=1e-11)


def test_the_gradient_of_a_peak_is_that_of_its_value() -> None:
    case, peak = hoist(), tl.objectives.Peak("unstretched_length")  # nearly the same at all samples, which all count
    found = tl.value_and_gradient(case, peak, ["initial.deployed"])
    above, below = (
        tl.value_and_gradient(case.with_({"initial.deployed": x}), peak, "gravity") for x in (4.0001, 3.9999)
    )
    assert found.gradient[0] == pytest.approx((above.value - below.value) / 2e-4, rel=1e-5)


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        (lambda v: v["tension"], "single number"),
        ("tension", "expected a function"),
        (lambda v: "high", "objective: expected a finite number, got 'high'"),
        (lambda v: None, "objective: expected a finite number, got None"),
        (
            lambda v: v["tensions"][-1],
            r"expected a variable of the run, got 'tensions'; did you mean 'tension'\?; there are time, ",
        ),
    ],
)
def test_bad_objectives_are_refused(objective: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        tl.value_and_gradient(hoist(), objective, ["string.stiffness"])


THREE: Any = 3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tl.objectives.Final("tensions"), "did you mean 'tension'"),
        (lambda: tl.objectives.Final("position[x]^y"), "expected a plain number as power"),
        (lambda: tl.objectives.Peak("tension", sharpness=-1.0), "sharpness"),
        (
            lambda: tl.value_and_gradient(hoist(), tl.objectives.Final("position"), "gravity"),
            "expected one number at each time",
        ),
        (
            lambda: tl.value_and_gradient(hoist(), tl.objectives.Final("position[9, 0]"), "gravity"),
            "expected node -5 to 4, got 9",
        ),
        (lambda: tl.jacobian(hoist(), ["nothing"], "gravity"), "expected variables of a result"),
        (lambda: tl.jacobian(hoist(), ["tension"], ["gravity", "gravity"]), "every key once"),
        (lambda: tl.jacobian(hoist(), ["tension"], []), "by: expected keys"),
        (lambda: tl.jacobian(hoist(), ["tension"], THREE), "by: expected a name or a list of names, got 3"),
        (lambda: tl.jacobian(hoist(), ["tension"], [THREE]), "by: expected a name or a list of names"),
        (lambda: tl.jacobian(hoist(), THREE, "gravity"), "outputs: expected a name or a list of names, got 3"),
        (lambda: tl.value_and_gradient(hoist(), tl.objectives.Final("energy"), []), "by: expected keys"),
    ],
)
def test_bad_names_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_run_that_ends_early_has_derivatives_up_to_its_end() -> None:
    case = hoist({"run.minimum_length": 3.99, "command": {"kind": "torque", "torque": 3.0}})
    found = tl.jacobian(case, ["position"], ["command.torque"])
    assert found.status == "fully_retrieved" and "fully retrieved" in found.message
    assert 1 < len(found.time) < 11
    assert np.isfinite(found["position"].values).all()


def test_a_condition_that_stops_a_run_is_met_between_samples() -> None:
    case = hoist()
    stopped = case.with_(run=tl.Run(**{**vars(case.run), "stop": tl.StopWhen("reel_speed", above=0.05)}))
    run = tl.simulate(stopped)
    found = tl.jacobian(stopped, ["position"], ["string.stiffness"])
    assert run.status == found.status == "condition_met"
    assert found.time[-1] <= float(run.end_time) <= found.time[-1] + case.run.interval()


@pytest.mark.parametrize("order", [2, 4])
def test_an_entry_of_speeds_on_the_end_of_a_step_is_said(order: int) -> None:
    """Its derivative is that of moving it later; between two steps there is one for both sides."""
    case = hoist({"command": {"kind": "speed", "times": [0.0, 0.1, 0.2], "payouts": [0.0, 1.0, 0.5]}})
    case = case.with_({"run.order": order})
    by = ["string.stiffness", "command.times[1]"]

    def on_entries(case: tl.Case, objective: Any) -> list[tl.RunWarning]:
        return [w for w in tl.value_and_gradient(case, objective, by).warnings if w.kind == "derivative_side"]

    for objective in (tl.objectives.Final("position[-1, 0]"), lambda v: v["position"][-1, -1, 0]):
        (side,) = on_entries(case, objective)
        assert side.text.startswith("command.times[1]: the entry at 0.1 s")
        assert side.value == 0.1 and side.where == "command.times[1]"
        assert not on_entries(case.with_({"command.times[1]": 0.1003}), objective)


def test_a_kink_at_the_start_is_said_and_not_hidden() -> None:
    case = hoist({"command": {"kind": "speed", "times": [0.0, 0.2], "payouts": [0.0, 1.0]}})
    found = tl.jacobian(case, ["position"], ["command.times[0]", "string.stiffness"])
    assert any("command.times[0]" in w.text for w in tl.warnings_of(found))
    assert np.isfinite(found["position"].values[..., 1]).all()
    # what has the kink is not used on the way: the derivative is there, and right
    up, down = (tl.simulate(case.with_({"command.times[0]": x})).position.values for x in (1e-5, -1e-5))
    np.testing.assert_allclose(found["position"].values[-1, -1, :, 0], (up - down)[-1, -1] / 2e-5, rtol=1e-3)


@pytest.mark.parametrize("key", ["reel.viscous_friction", "reel.coulomb_friction"])
def test_a_friction_of_zero_has_the_derivative_of_one_that_sets_in(key: str) -> None:
    case = hoist()
    found = tl.jacobian(case, ["reeled_length"], [key])["reeled_length"].values[..., 0]
    zero, once, twice = (tl.simulate(case.with_({key: x})).reeled_length.values for x in (0.0, 1e-5, 2e-5))
    expected = (4.0 * (once - zero) - (twice - zero)) / 2e-5
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
