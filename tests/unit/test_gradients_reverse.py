"""Derivatives of one number by many keys, by the reverse pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline import registry
from tautline.engine.choose import NETWORK, VARIABLE
from tautline.gradients import api
from tautline.gradients.arrays import Dual
from tautline.gradients.chain import reverse
from tautline.gradients.chain.runs import stays_chain
from tautline.gradients.keys import number_keys
from tautline.gradients.run import prepared_run
from tautline.gradients.runs import runs_of
from tautline.gradients.traced import Traced, derivatives_of
from tautline.kernels.guide_laws import dissipative
from tautline.model.keys import parse
from tests.support import chains

X = np.array([[0.3, -1.2, 0.7], [2.1, 0.4, -0.6]])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: np.sum((2.0 - x * x[0]) / (3.0 + x[:, :1]) - x / 4.0),
    "powers": lambda x: np.sum(np.sqrt(x * x + 1.0) ** 3) + np.sum(np.square(x)),
    "parts": lambda x: x[-1, 0] * x[0, 2] + np.sum(x[:, [0, 0, 2]] * x[:, ::-1]),
    "shapes": lambda x: np.sum(x.reshape(3, 2)[1] * x.T[0]) + x.ravel()[4] * x.transpose()[2, 0],
    "sums": lambda x: np.sum(x.mean(axis=1) * x.sum(axis=1)) + np.sum(np.cumsum(x, axis=1) * x),
    "differences": lambda x: np.sum(np.diff(x, axis=1) ** 2) + np.sum(np.cumsum(x) ** 2),
    "joined": lambda x: np.sum(np.concatenate([x, 2.0 * x], axis=1)[0] * np.stack([x[0], x[1]]).reshape(-1)),
    "spread": lambda x: np.sum(np.broadcast_arrays(x[:, :1], x)[0] * x) + np.sum(np.repeat(x, 2, axis=0)[1] * x[1]),
    "extremes": lambda x: np.max(x) * np.min(x[0]) + np.sum(np.maximum(x, 0.5) * np.clip(x, -1.0, 1.0)),
    "choice": lambda x: np.sum(np.where(x > 0.0, x * x, -3.0 * x)) + np.abs(x[0, 1]) * np.linalg.norm(x[1]),
    "in place": lambda x: np.sum(in_place(x)),
    "products": lambda x: np.sum(x @ x.T @ x) * np.std(x) + x[0] @ x[1] - np.var(x, axis=1) @ x[:, 0],
    "plain": lambda x: np.sum(np.exp(x) * np.argmax(x)) + np.sum(np.sin(x) * np.arctan2(x, 2.0)),
}


def in_place(x: Any) -> Any:
    y = x * x
    y += x
    return np.sqrt(y + 1.0, out=y) * y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_way_back_through_arrays(name: str) -> None:
    """As derivatives in forward mode."""
    f = FUNCTIONS[name]
    traced = Traced(X)
    number = f(traced)
    carried = f(Dual(X, np.eye(6).reshape(2, 3, 6)))
    assert number.value == carried.value
    (found,) = derivatives_of(number, [traced])
    np.testing.assert_allclose(found.ravel(), carried.tangent, rtol=1e-13, atol=1e-13)


def test_equal_extremes_have_no_derivative() -> None:
    """Nor has what depends on them; what does not, has."""
    x = Traced(np.array([1.0, 1.0, 0.5]))
    (found,) = derivatives_of(np.max(x) + x[2], [x])
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1.0])
    (none,) = derivatives_of(0.0 * np.max(x), [x])
    assert not none.any()


def test_what_would_lose_the_way_back_is_refused() -> None:
    """As by arrays that carry derivatives."""
    x = Traced(X)
    for wrong in (lambda: np.linalg.inv(x[:, :2]), lambda: float(x[0, 0]), lambda: np.asarray(x)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        x[0] = 1.0


COMMANDS = {
    "locked": tl.Locked(),
    "torque": tl.Torque(([0.0, 0.011, 0.05], [2.0, 2.5, 1.0])),
    "length": tl.Length(([0.0, 0.02, 0.03, 0.1], [10.0, 9.95, 9.92, 9.8])),
}


FLUID = tl.Fluid(
    1.2,
    flow=([0.0, 3.0, 20.0], [[2.0, 0.5, 0.0], [3.0, -1.0, 0.2], [1.0, 2.0, 0.0]]),
    drag_area=0.3,
    drag_center=(0.1, 0.0, 0.2),
    spin_damping=0.02,
)
PUSH = tl.AppliedForce(
    ([0.0, 0.013, 0.1], [[2.0, 0.0, 1.0], [-1.0, 3.0, 0.0], [0.0, 0.0, 2.0]]), (0.1, 0.2, 0.3), (0.1, 0.0, 0.2)
)
LOADS: dict[str, dict[str, Any]] = {
    "": {},
    "damped": {"string.viscosity": 2.0},
    "in wind": {"string.viscosity": 2.0, "string.diameter": 0.02, "fluid": FLUID},
    "pushed": {"applied_force": PUSH},
    "rubbing": {"reel.viscous_friction": 0.05, "reel.coulomb_friction": 0.1},
}


def short_case(name: str, loads: str = "") -> tl.Case:
    case = tl.load("src/tautline/scenarios/retrieval.toml").with_(command=COMMANDS[name]).with_(LOADS[loads])
    changes = {"run.duration": 0.04, "run.elements": 4, "run.step": 0.001, "run.sample": 0.004}
    found: tl.Case = case.with_(changes | {"string.stiffness": 41.0, "initial.angular_velocity": [0.4, -0.5, 0.6]})
    return found


def smooth_keys(case: tl.Case) -> list[str]:
    """Keys by which what the run starts from has derivatives."""
    found = []
    for key in (key for key in number_keys(case) if stays_chain(case, parse(key))):
        try:
            prepared = prepared_run(case, [key])
        except tl.errors.InputError:
            continue
        if not prepared.warnings:
            found.append(key)
    return found


def same_gradients(found: Any, carried: Any) -> None:
    """To what differences of runs can tell; test_adjoint.py has the reverse pass to 1e-12."""
    sizes = np.maximum(np.abs(carried), 1e-3)
    np.testing.assert_allclose(found / sizes, carried / sizes, rtol=0.0, atol=1e-5)


# Keys that the reverse pass does not know.
UNKNOWN = {"pushed": {"bodies.body.applied_force.times"}}
QUICK = [("locked", "damped"), ("torque", "in wind")]
LONG = [(name, loads) for name in COMMANDS for loads in LOADS if (name, loads) not in QUICK]


@pytest.mark.parametrize(("name", "loads"), [*QUICK, *(pytest.param(*x, marks=pytest.mark.long) for x in LONG)])
def test_gradients_of_runs(name: str, loads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reverse pass and forward mode agree, by all keys but the few whose adjoint is not known."""
    case = short_case(name, loads)
    by = smooth_keys(case)
    objective = (
        tl.objectives.Final("position[-1, 0]") * 2.0
        + tl.objectives.Integral("tension[2]") * 30.0
        + tl.objectives.Final("velocity[-1, 1]")
    )
    objective = (
        objective
        + tl.objectives.Final("energy")
        + tl.objectives.Peak("strain", 1e3)
        + tl.objectives.Final("angular_momentum[2]") ** 2
    )
    for account in ("damping_loss", "fluid_work", "external_work"):
        objective = objective + tl.objectives.Final(account) * 20.0
    if name != "locked":
        objective = objective + tl.objectives.Final("reel_speed") + tl.objectives.Final("guide_loss") * 100.0
    known = reverse.gradient_back(prepared_run(case, by), objective, sorted(objective.names))
    assert known is not None
    missing = {key.split("[")[0] for key, x in zip(by, known.gradient, strict=True) if np.isnan(x)}
    unknown = UNKNOWN.get(loads, set()) | ({"lines.line.command.times"} if name == "torque" else set())
    if name == "torque" and loads != "rubbing":
        unknown |= {"lines.line.reel.viscous_friction", "lines.line.reel.coulomb_friction"}
    assert missing == unknown
    found = tl.value_and_gradient(case, objective, by)
    assert found.status == "completed"
    monkeypatch.setattr(api, "TANGENTS", len(by))
    carried = tl.value_and_gradient(case, objective, by)
    assert found.value == pytest.approx(carried.value, rel=1e-13)
    same_gradients(found.gradient, carried.gradient)


def test_a_run_that_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goes back from its last sample before the event."""
    case = short_case("torque")
    lengths = chains.simulate(case).unstretched_length.values
    case = case.with_({"run.minimum_length": float(0.5 * (lengths[6] + lengths[7]))})
    by = [*(f"initial.end_velocity[{k}]" for k in range(3)), *(f"body.center_of_mass[{k}]" for k in range(3))]
    by += ["string.density", "string.stiffness", "body.mass", "command.torques[0]"]
    objective = tl.objectives.Final("velocity[-1, 0]") + tl.objectives.Final("reel_speed")
    found = tl.value_and_gradient(case, objective, by)
    assert found.status == "fully_retrieved"
    monkeypatch.setattr(api, "TANGENTS", len(by))
    same_gradients(found.gradient, tl.value_and_gradient(case, objective, by).gradient)


def test_by_the_state_of_the_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a start from any state the end of the line goes with the body, on the chain as on the network."""
    still = tl.load("fixed-length", {"run.elements": 4, "run.duration": 0.2, "run.sample": 0.1, "run.step": 5e-4})
    case = tl.Case(still.system, still.state(), still.commands, still.run)
    by = [f"initial.bodies.body.{x}[{k}]" for x in ("position", "velocity", "angular_velocity") for k in range(3)]
    by += [f"initial.lines.line.{x}[{i}][{k}]" for x in ("nodes", "node_velocities") for i in (2, 4) for k in range(3)]
    objective = tl.objectives.Final("position[-1, 0]") + tl.objectives.Final("velocity[-1, 2]")
    assert prepared_run(case, by).begun.has_adjoint()
    found = tl.value_and_gradient(case, objective, by)
    monkeypatch.setattr(api, "TANGENTS", len(by))
    same_gradients(found.gradient, tl.value_and_gradient(case, objective, by).gradient)
    monkeypatch.setenv(VARIABLE, NETWORK)
    on_network = tl.value_and_gradient(case, objective, by)
    np.testing.assert_allclose(found.gradient, on_network.gradient, rtol=0.0, atol=1e-9)  # both round
    assert not found.gradient.sel(key=[key for key in by if "[4]" in key]).any()  # the body decides where that end is


@pytest.mark.long
def test_outputs_without_a_way_back_are_carried_along() -> None:
    """Work of the motor under a prescribed motion."""
    case = short_case("length")
    by = smooth_keys(case)[:10]
    objective = tl.objectives.Final("control_work")
    assert reverse.gradient_back(prepared_run(case, by), objective, ["control_work"]) is None
    assert np.isfinite(tl.value_and_gradient(case, objective, by).gradient).all()


def test_a_drum_that_sticks_is_carried_along() -> None:
    """Its adjoint is not known, which shows in the run only."""
    case = short_case("torque").with_({"reel.coulomb_friction": 50.0, "initial.reel_speed": 0.1})
    by = [*(f"initial.end_velocity[{k}]" for k in range(3)), *(f"body.center_of_mass[{k}]" for k in range(3))]
    by += ["string.density", "string.stiffness", "body.mass"]
    objective = tl.objectives.Final("velocity[-1, 0]")
    assert chains.simulate(case).reel_speed.values[-1] == 0.0
    assert reverse.gradient_back(prepared_run(case, by), objective, ["velocity"]) is None
    assert np.isfinite(tl.value_and_gradient(case, objective, by).gradient).all()


def test_a_law_from_outside_without_partial_derivatives_is_carried_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """By 9 keys as by 8. It is a file of somebody's with the force of `dissipative`, which the library has compiled."""
    outside, own = ModuleType("outside"), dissipative
    vars(outside).update(force=own.force, resists=own.resists)
    monkeypatch.setitem(sys.modules, "outside", outside)
    law = registry.GUIDE_LAWS["dissipative"]._replace(module="outside")
    case = short_case("torque").with_({"reel.guide_law": "dissipative"})
    by = ["string.density", "string.stiffness", "body.mass", *(f"body.center_of_mass[{k}]" for k in range(3))]
    by += [*(f"initial.end_velocity[{k}]" for k in range(3))]
    objective = (
        tl.objectives.Final("velocity[-1, 0]")
        + tl.objectives.Final("guide_loss") * 100.0
        + tl.objectives.Final("reel_speed")
    )
    back = tl.value_and_gradient(case, objective, by)
    assert runs_of(case, by).begun({}).has_adjoint()
    known = reverse.with_partials({**registry.GUIDE_LAWS, "dissipative": law})
    assert sum(reverse.KNOWN_GUIDE_LAWS) - sum(known) == 1
    monkeypatch.setattr(reverse, "KNOWN_GUIDE_LAWS", known)
    assert not runs_of(case, by).begun({}).has_adjoint()
    nine, eight = (tl.value_and_gradient(case, objective, names) for names in (by, by[:8]))
    np.testing.assert_array_equal(nine.gradient.values[:8], eight.gradient.values)
    assert [str(w) for w in nine.warnings] == [str(w) for w in eight.warnings]
    same_gradients(back.gradient, nine.gradient)


def test_models_without_a_way_back() -> None:
    """Some loads, limits of the drum, tables of tension and a drum that remembers are left to forward mode."""
    case = short_case("torque")
    assert reverse.has_adjoint(prepared_run(case, []).begun.setting)
    for changes in (
        {"fluid": tl.Fluid(1000.0, surface=1.0)},
        {"string.law": "tension_only", "string.viscosity": 0.1},
        {"reel.guide_law": "stretched"},
        {"reel.layer_growth": 1e-4},
        {"reel.max_torque": 10.0},
        {"run.at_end": "hold"},
    ):
        assert not reverse.has_adjoint(prepared_run(case.with_(changes), []).begun.setting), changes
