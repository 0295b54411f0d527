"""Derivatives of torques that hold a lock or lead a prescribed motion, and of their power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.gradients.chain import runs
from tautline.gradients.differences import CENTRAL_8
from tautline.gradients.keys import key_size, key_value
from tests.support import chains
from tests.support.hoist import hoist

BOX = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2))
LOCKED: dict[str, Any] = {"command": {"kind": "locked"}}
LENGTH = {"command": {"kind": "length", "target": 3.95, "speed": 0.47, "acceleration": 10.0, "jerk": 410.0}}
SPEED = {"command": {"kind": "speed", "times": [0.0, 0.103, 0.25], "payouts": [0.0, 1.0, 0.5]}}
FRICTION = {"reel.viscous_friction": 0.1, "reel.coulomb_friction": 0.05}
WATER = {
    "string.viscosity": 0.05,
    "string.diameter": 0.01,
    "fluid": {"density": 1000.0, "drag_area": 0.01, "flow": [0.1, 0.4, 0.0], "volume": 1e-4},
    "applied_force": {"force": [1.0, 0.5, 0.0]},
}
PATH = {
    "guide": {"kind": "points", "times": [0, 0.1, 0.3], "displacements": [[0, 0, 0], [0.05, 0.02, 0.01], [0.1, 0, 0]]}
}
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "locked": (LOCKED, ["string.stiffness", "initial.deployed", "reel.drum_radius"]),
    "locked, damped in water": (LOCKED | WATER, ["string.viscosity", "fluid.drag_area", "applied_force.force[0]"]),
    "locked, moving guide": (LOCKED | PATH, ["gravity", "guide.displacements[1][0]"]),
    "length, friction": (LENGTH | FRICTION, ["command.speed", "reel.inertia_mass", "reel.coulomb_friction"]),
    "length, in the paper's scheme": (LENGTH | {"run.scheme": "paper"}, ["string.stiffness"]),
    "speed": (SPEED, ["command.payouts[1]", "command.times[1]"]),
    "speed, moving guide, damped": (SPEED | PATH | WATER, ["initial.deployed", "guide.displacements[1][0]"]),
}


def differences(case: tl.Case, key: str, name: str) -> Any:
    """Central differences of runs by a key, of order 8; nearer where drag bends them."""
    value, e = key_value(case, key), (2e-3 if case.system.fluid is None else 2e-4) * key_size(case, key)
    up, down = (
        np.array([tl.simulate(case.with_({key: value + sign * k * e}))[name].values for k in range(1, 5)])
        for sign in (1.0, -1.0)
    )
    return np.tensordot(CENTRAL_8, up - down, axes=1) / (2.0 * e)


@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_runs(name: str) -> None:
    changes, by = CASES[name]
    case, names = hoist(changes, BOX), ["torque"] if changes["command"]["kind"] == "locked" else ["torque", "power"]
    found = tl.jacobian(case, names, by)
    for output in names:
        for k, key in enumerate(by):
            expected = differences(case, key, output)
            error = np.abs(found[output].values[..., k] - expected).max()
            # torques of runs are rounded to some 1e-12
            assert error <= 1e-8 * (
                np.abs(expected).max() + np.abs(found[f"{output}_value"].values).max() / key_size(case, key)
            )


@pytest.mark.parametrize("changes", [LOCKED, SPEED | FRICTION], ids=["locked", "speed"])
def test_a_heavier_stiffer_hoist_takes_more_torque_in_proportion(changes: dict[str, Any]) -> None:
    """All masses, stiffnesses and frictions times a factor: Euler's theorem for homogeneous functions."""
    by = ["string.stiffness", "string.density", "body.mass", "reel.inertia_mass"]
    by += [key for key in FRICTION if key in changes]
    case = hoist(changes)
    found = tl.jacobian(case, "torque", by)
    parts = found["torque"].values * [key_value(case, key) for key in by]
    np.testing.assert_allclose(parts.sum(axis=-1), found["torque_value"].values, atol=1e-8 * np.abs(parts).max())


def test_there_are_none_where_the_torque_jumps_or_has_a_kink() -> None:
    case = hoist({"command": {"kind": "speed", "times": [0.0, 0.1, 0.2], "payouts": [0.0, 1.0, 0.5]}} | FRICTION)
    by = ["command.times[1]", "command.payouts[0]", "run.duration", "string.stiffness"]
    found = tl.jacobian(case, ["torque", "power"], by)
    missing = np.isnan(found["torque"].values[:, 0])
    # the acceleration jumps at the sample at 0.1 s, and friction at the start, where the drum stands still
    assert missing[:, 0].nonzero()[0].tolist() == [5] and missing[:, 1].nonzero()[0].tolist() == [0]
    assert set(missing[:, 2].nonzero()[0].tolist()) <= {5, 10} and not missing[:, 3].any()
    unknown = [w for w in tl.warnings_of(found) if w.kind == "derivative_unknown"]
    assert any(w.text.startswith("torque by command.times[1], command.payouts[0]") for w in unknown)
    bent = hoist(LENGTH).with_({"command.speed": 0.5, "command.jerk": 500.0, "run.sample": 0.01})  # jerk ends at 0.02 s
    kink = np.isnan(tl.jacobian(bent, "torque", ["command.acceleration"])["torque"].values)
    assert kink[2] and kink.sum() < 8


def test_objectives_and_own_functions_have_them_where_they_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    case, by = hoist(LENGTH | FRICTION), ["command.target", "reel.viscous_friction", "body.mass"]
    run = tl.jacobian(case, "torque", by)
    torque, slopes = run["torque_value"].values, run["torque"].values
    found = tl.value_and_gradient(case, lambda v: np.mean(v["torque"] ** 2), by)
    np.testing.assert_allclose(found.gradient, 2.0 * np.mean(torque[..., None] * slopes, axis=(0, 1)), rtol=1e-12)
    many = [*by, *(f"initial.end_velocity[{i}]" for i in range(3)), "gravity", "string.stiffness", "string.density"]
    work = tl.value_and_gradient(
        case, tl.objectives.Integral("power"), many
    )  # more than eight: there is no adjoint for torques
    np.testing.assert_allclose(
        work.gradient[:3], tl.value_and_gradient(case, tl.objectives.Integral("power"), by).gradient
    )
    # torque and speed make the motor's work, to the error of the trapezoidal rule between samples
    fine = case.with_({"run.sample": 0.002})
    integral, work = (
        tl.value_and_gradient(fine, x, by[1:])
        for x in (tl.objectives.Integral("power"), tl.objectives.Final("control_work"))
    )
    np.testing.assert_allclose(integral.gradient, work.gradient, rtol=1e-3)

    def refuse(*_: Any) -> None:
        raise AssertionError("nobody asked for torques")

    monkeypatch.setattr(runs, "held_torques", refuse)
    assert np.isfinite(tl.value_and_gradient(case, lambda v: v["position"][-1, -1, 2], by).gradient).all()


def test_a_fit_to_a_measured_torque() -> None:
    case = hoist(LOCKED | {"string.viscosity": 0.1})
    run = chains.simulate(case.with_({"body.mass": 0.55, "string.stiffness": 96.0}))
    noise = 1e-4 * np.random.default_rng(5).normal(size=len(run.time))
    data = {"time": run.time.values, "torque": run.torque.values + noise}
    found = tl.fit(case, data, ["body.mass", "string.stiffness"], units="SI")
    assert found.status == "completed"
    for key, value in (("body.mass", 0.55), ("string.stiffness", 96.0)):
        assert abs(found.values[key] - value) <= 4.0 * found.standard_errors[key] <= 0.05 * value
