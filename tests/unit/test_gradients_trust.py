"""Warnings on derivatives: the same by any number of keys, due where derivatives are of no use, absent elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.gradients import api
from tautline.gradients.chain import reverse
from tautline.gradients.keys import key_value
from tautline.gradients.run import prepared_run
from tautline.gradients.runs import runs_of
from tests.support import chains
from tests.support.warned import kinds

KEYS = [
    "string.stiffness",
    "string.density",
    "body.mass",
    "initial.end_velocity[0]",
    "initial.end_velocity[1]",
    "initial.angular_velocity[0]",
    "initial.angular_velocity[1]",
    "body.center_of_mass[0]",
    "body.center_of_mass[1]",
]
LAST = tl.objectives.Final("position[-1, 0]")
GREW, UNSTRETCHED = "derivative_growth", "derivative_kink"


def paper(duration: float) -> tl.Case:
    """The paper's pendulum of constant length, whose motion gets chaotic."""
    found: tl.Case = tl.load("fixed-length").with_({"run.duration": duration})
    return found


def undamped_bungee() -> tl.Case:
    """The bungee jump without damping, on a coarse mesh."""
    found: tl.Case = tl.load("bungee").with_({"string.damping_ratio": 0.0, "run.elements": 16, "run.order": 4})
    return found


def on_derivatives(found: Any) -> list[tl.RunWarning]:
    """Warnings on derivatives, of a Jacobian or of others."""
    warnings = tl.warnings_of(found) if isinstance(found, xr.Dataset) else found
    return [w for w in warnings if w.kind.startswith("derivative_")]


@pytest.mark.parametrize("duration", [0.2, 1.0])
def test_warnings_of_the_run_do_not_depend_on_the_number_of_keys(
    duration: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on how the objective is given; by nine keys they come from the reverse pass."""
    case = paper(duration).with_({"initial.end_velocity": [-3.0, 0.0, -3.0], "run.step": 1e-3, "run.sample": 0.1})
    expected = tl.warnings_of(chains.simulate(case))
    assert expected
    few = tl.value_and_gradient(case, LAST, KEYS[:8])
    function = tl.value_and_gradient(case, lambda values: values["position"][-1, -1, 0], KEYS[:8])
    monkeypatch.setattr(api, "_by_duals", None)
    many = tl.value_and_gradient(case, LAST, KEYS)
    np.testing.assert_allclose(many.gradient[:8], few.gradient, rtol=1e-8, atol=1e-10)
    assert few.warnings == function.warnings
    texts = [[str(w) for w in found] for found in (expected, few.warnings, many.warnings)]
    assert texts[0] == texts[1] == texts[2]


def test_chaos_is_warned_of_by_any_number_of_keys() -> None:
    """The reverse pass, which does not see it grow, hands over."""
    case = paper(10.0)
    assert reverse.gradient_back(prepared_run(case, KEYS), LAST, ["position"]) is None
    few, many = (tl.value_and_gradient(case, LAST, KEYS[:count]) for count in (8, 9))
    function = tl.value_and_gradient(case, lambda values: values["position"][-1, -1, 0], KEYS[:8])
    assert few.warnings == function.warnings
    assert [w.text.replace("5 more", "4 more") for w in many.warnings] == [w.text for w in few.warnings]
    grew = few.warnings[-1]
    assert grew.kind == GREW and KEYS[0] in grew.text and grew.value is not None and grew.limit is not None
    assert grew.value > grew.limit


def test_nodes_of_a_slack_tether_are_warned_of() -> None:
    """Derivatives are some 1e22 after a minute, and differences 1e-6."""
    case = tl.load("tethered-satellites", {"lines.tether.command.acceleration": "2 mm/s^2"})
    case = case.with_({"run.duration": 15.0})
    keys = ["bodies.mother.mass", "lines.tether.stiffness"]
    for objective in (tl.objectives.Final("body_position[1, 0]"), lambda values: values["body_position"][-1, 1, 0]):
        (grew,) = on_derivatives(tl.value_and_gradient(case, objective, keys).warnings)
        assert grew.kind == GREW and "slack" in grew.text and all(key in grew.text for key in keys)
    before = case.with_({"run.duration": 2.0, "run.sample": 0.5})
    assert not on_derivatives(tl.jacobian(before, ["body_position"], keys))


@pytest.mark.parametrize(
    "name",
    ["bungee", "retrieval", *(pytest.param(x, marks=pytest.mark.long) for x in ("fixed-length", "deployment"))],
)
def test_predictable_motions_are_not_warned_of(name: str) -> None:
    """The bungee jump without its damping, which sets in where the start is neither slack nor taut."""
    case = (undamped_bungee() if name == "bungee" else tl.load(name)).with_({"run.duration": 3.0, "run.sample": 0.1})
    assert not on_derivatives(tl.jacobian(case, ["position"], KEYS[:4]))


def test_a_rope_that_goes_slack_again_and_again_is_warned_of() -> None:
    """After the second rebound differences over a millionth of the mass are others, before it they are the same."""
    key, e = "body.mass", 1e-6
    for duration, right in ((4.0, True), (6.0, False)):
        case = undamped_bungee().with_({"run.duration": duration, "run.sample": 0.1})
        case = case.with_({"run.step": runs_of(case, []).steps.length(duration)})
        found = tl.jacobian(case, ["position"], [key])
        mass = key_value(case, "body.mass")
        down, up = (chains.simulate(case.with_({key: (1.0 + x) * mass})).position.values for x in (-e, e))
        slopes = (up - down) / (2.0 * e * mass)
        error = np.abs(found["position"].values[..., 0] - slopes).max() / np.abs(slopes).max()
        assert (error < 1e-6) if right else (error > 0.01)
        assert [w.kind for w in on_derivatives(found)] == ([] if right else [GREW])


def yo_yo(**changes: Any) -> tl.Case:
    """A straight string that can go slack, unstretched and at rest."""
    found: tl.Case = tl.load("yo-yo").with_({"run.duration": 0.01, "run.sample": 0.002, **changes})
    return found.with_({"run.step": runs_of(found, []).steps.length(0.01)})


def test_a_start_between_slack_and_taut_is_warned_of() -> None:
    """By a key that makes it the one or the other: derivatives on both sides differ; by others they do not."""
    case, key, e = yo_yo(), "initial.end_velocity[2]", 1e-7
    found = tl.jacobian(case, ["tension"], [key, "string.stiffness"])
    (kink,) = on_derivatives(found)
    assert (kink.kind, kink.value, kink.where) == (UNSTRETCHED, 0.0, "line") and f"by {key} are" in kink.text
    down, here, up = (chains.simulate(case.with_({key: speed})).tension.values for speed in (-e, 0.0, e))
    exact = found["tension"].values[1:, :, 0]
    above, below = (np.abs(x[1:] / e - exact).max() for x in (up - here, here - down))
    assert above < 1e-4 * np.abs(exact).max() < 10.0 * below
    many = tl.value_and_gradient(
        case, tl.objectives.Peak("tension"), [key, *KEYS[:3], *KEYS[5:], "reel.drum_radius", "reel.guide_length"]
    )
    assert len(many.gradient) > 8 and UNSTRETCHED in kinds(many.warnings)


STRETCHING: dict[str, Any] = {
    "string.damping_ratio": 0.1,
    "initial.end_velocity": [0.005, 0.0, 0.05],
    "run.elements": 2,
}


def test_damping_that_rounding_switches_on_is_warned_of() -> None:
    """By a key that changes the start; runs to both sides of it differ by more than the derivatives say."""
    key, e = "initial.deployed", 1e-6
    case = yo_yo(**{**STRETCHING, "run.elements": 4})
    found = tl.jacobian(case, ["tension"], [key])
    assert kinds(found)[-1] == UNSTRETCHED
    length = key_value(case, key)
    down, up = (chains.simulate(case.with_({key: (1.0 + x) * length})).tension.values for x in (-e, e))
    exact = found["tension"].values[..., 0]
    assert np.abs((up - down) / (2.0 * e * length) - exact).max() > 0.01 * np.abs(exact).max()
    linear = yo_yo(**STRETCHING, **{"string.law": "linear"})
    assert not on_derivatives(tl.jacobian(linear, ["tension"], [key]))


@pytest.mark.parametrize("changes", [{"string.damping_ratio": 0.1}, STRETCHING], ids=["at rest", "stretching"])
def test_derivatives_that_damping_from_an_unstretched_start_leaves_right_are_not_warned_of(
    changes: dict[str, Any],
) -> None:
    """By keys that leave the start as it is: differences agree."""
    by, e = ["body.mass", "string.damping_ratio"], 1e-5
    case = yo_yo(**changes)
    found = tl.jacobian(case, ["tension"], by)
    assert not on_derivatives(found)
    for k, (key, value) in enumerate(zip(by, (key_value(case, "body.mass"), 0.1), strict=True)):
        down, up = (chains.simulate(case.with_({key: (1.0 + x) * value})).tension.values for x in (-e, e))
        exact = found["tension"].values[..., k]
        assert np.abs((up - down) / (2.0 * e * value) - exact).max() < 1e-3 * np.abs(exact).max()


def test_linear_models_searches_and_fits_carry_the_warnings() -> None:
    case = yo_yo(**STRETCHING)
    times = [0.0, 0.006, 0.01]
    warnings = tl.gradients.linearize(case, at=times, by=["body.mass"]).warnings
    assert warnings[0].kind == UNSTRETCHED and warnings[0].text.startswith("from 0 s: ")
    assert all(w.text.startswith("from 0 s: ") for w in on_derivatives(warnings))
    search = tl.optimize(
        case, vary={"body.mass": (0.01, 1.0)}, minimize={"final": "reeled_length"}, intervals=times, iterations=1
    )
    assert any(w.text.startswith("from 0 s: ") and w.kind == UNSTRETCHED for w in search.warnings)
    run = chains.simulate(case)
    data = {"time": run.time.values, "start_tension": 1.001 * run.start_tension.values}
    fitted = tl.fit(case, data, ["initial.deployed"], units="SI")
    assert UNSTRETCHED in kinds(fitted.warnings)


@pytest.mark.parametrize("guide", [None, tl.motions.Sine(0.5, 4.0, ramp=2.0)], ids=["chain", "network"])
@pytest.mark.parametrize(("up", "step", "closes"), [(1e-3, 1e-3, True), (6.0, 2.8e-3, False)])
def test_energy_balance_is_judged_by_the_energy_in_play(guide: Any, up: float, step: float, closes: bool) -> None:
    """Marches with tangents judge it as runs do: over the energy that has moved since, and not that of the start."""
    rope, body = tl.String(20.0, 1.0, 2e5), tl.RigidBody.point(50.0)
    crane = tl.pendulum(rope, tl.Reel(0.2, 0.5, 20.0), body, guide=guide, elements=4)
    thrown = tl.Straight(10.0, end_velocity=(0.0, 0.0, -up))  # falls on its rope, which large steps do not resolve
    case = tl.Case(crane, thrown, tl.Locked(), tl.Run(duration=2.8, step=step, sample=0.28))
    run = tl.simulate(case)
    found = tl.value_and_gradient(case, LAST, "body.mass")
    assert ("energy_balance" not in kinds(found.warnings)) == closes == (run.attrs["balance_error"] < 0.01)
