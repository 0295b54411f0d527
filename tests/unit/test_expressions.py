"""The language of expressions: values, units, derivatives, names, and what is refused with its place in the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.model.expressions import Parts, bind, read

PARTS = Parts(("jib", "hook", "load"), ("hook", "load"), {"hoist": 3, "north-east": 2})
ONE = Parts(("guide", "body"), ("body",), {"line": 2})
SHAPES = {
    "tension": (5,),
    "position": (7, 3),
    "velocity": (7, 3),
    "body_position": (3, 3),
    "body_velocity": (3, 3),
    "reel_speed": (2,),
    "end_tension": (2,),
    "energy": (),
}


def values(rows: int = 4) -> dict[str, Dual]:
    """Variables of three numbers by which everything is differentiated: of two, and of the duration."""
    rng = np.random.default_rng(3)
    time = np.linspace(0.0, 3.0, rows)
    found = {"time": Dual(time, np.outer(time / 3.0, [0.0, 0.0, 1.0]))}
    for name, shape in SHAPES.items():
        found[name] = Dual(rng.standard_normal((rows, *shape)), rng.standard_normal((rows, *shape, 3)))
    return found


def by_hand(x: dict[str, Any]) -> dict[str, Any]:
    """Expressions and their values from plain arrays."""
    hoist, other, time = x["position"][:, :4], x["position"][:, 4:], x["time"]
    return {
        "body_position[load].x - body_position[hook].x": x["body_position"][:, 2, 0] - x["body_position"][:, 1, 0],
        "position[hoist, -1].z": hoist[:, -1, 2],
        "position[north-east, 0, y]": other[:, 0, 1],
        "norm(position['north-east', -1] - position[hoist, 0])": np.sqrt(
            ((other[:, -1] - hoist[:, 0]) ** 2).sum(axis=1)
        ),
        "max(abs(tension[hoist]))": np.abs(x["tension"][:, :3]).max(axis=1),
        "mean(tension[north-east])": x["tension"][:, 3:].mean(axis=1),
        "max(end_tension[hoist], end_tension[north-east], '1 N')": np.maximum(
            np.maximum(x["end_tension"][:, 0], x["end_tension"][:, 1]), 1.0
        ),
        "2*reel_speed[hoist]^2/'1 m/s' - 0.5": 2.0 * x["reel_speed"][:, 0] ** 2 - 0.5,
        "rate(reel_speed[hoist])": np.diff(x["reel_speed"][:, 0]) / np.diff(time),
        "rate(reel_speed[hoist])*time": np.diff(x["reel_speed"][:, 0]) / np.diff(time) * time[1:],
        "rate(body_position[load] - body_position[hook])": x["body_velocity"][:, 2] - x["body_velocity"][:, 1],
        "atan2(body_position[load].x, -body_position[load].z)": np.arctan2(
            x["body_position"][:, 2, 0], -x["body_position"][:, 2, 2]
        ),
        "sin(time/'2 s') - cos(pi*time/'1 min')": np.sin(time / 2.0) - np.cos(np.pi * time / 60.0),
        "sum(position[hoist, :, x])": hoist[:, :, 0].sum(axis=1),
        "energy - '1 kJ'": x["energy"] - 1000.0,
    }


@pytest.mark.parametrize("text", by_hand({name: x.value for name, x in values().items()}))
def test_values_and_derivatives_are_those_by_hand(text: str) -> None:
    here, h = values(), 1e-6
    found = bind(read("x", text), PARTS).of(here)
    np.testing.assert_allclose(found.value, by_hand({name: x.value for name, x in here.items()})[text], rtol=1e-13)
    for k in range(3):
        moved = [
            by_hand({name: x.value + sign * h * x.tangent[..., k] for name, x in here.items()})[text]
            for sign in (1.0, -1.0)
        ]
        # differences of h = 1e-6 leave 1e-10 of rounding and 1e-12 of truncation on numbers of order one
        np.testing.assert_allclose(found.tangent[..., k], (moved[0] - moved[1]) / (2.0 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("torque*reel_speed", "kg*m^3*s^-3"),
        ("torque", "N*m"),
        ("abs(power)", "W"),
        ("rate(reel_speed)", "m/s^2"),
        ("rate(energy)", "W"),
        ("sqrt(position[0].x^2)", "m"),
        ("end_tension/start_tension", ""),
        ("atan2(position[0].x, position[0].z)", "rad"),
        ("norm(angular_velocity)*'2 m'", "kg"),
    ],
)
def test_units(text: str, unit: str) -> None:
    if unit == "kg":  # radians are ratios in products
        assert read("x", text).powers == (1.0, 0.0, -1.0, 1.0)
    else:
        assert read("x", text).unit == unit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "tensoin",
            "got 'tensoin'; did you mean 'tension'?, in 'tensoin' at character 1",
        ),
        ("end_tension + body_position", "expected the same unit on both sides, got N and m, in"),
        ("1 + 2*(energy - end_tension)", "at character 17"),
        ("energy^2 + enrgy^2", "at character 12"),
        ("body_position[lod].z", "expected one of jib, hook, load, got 'lod'; did you mean 'load'?"),
        ("tension[hoist, 9]", "expected element -3 to 2, got 9, in 'tension[hoist, 9]' at character 16"),
        ("position[0, 0, 0]", "expected fewer components in the brackets"),
        ("tension[", "expected ']' to close '[', in 'tension[' at character 8"),
        ("2*(norm(body_velocity)", "expected ')' to close '(', in '2*(norm(body_velocity)' at character 3"),
        ("norm(body_velocity]", "expected ')' to close '(', got ']', in 'norm(body_velocity]' at character 19"),
        ("time) > 3", "expected no ')', as nothing is open there, in 'time) > 3' at character 5"),
        ("reel_speed < '1 mm/s", "expected a quote at the end of a text that begins, in"),
        ("energy +", "expected arithmetic of variables of a run, in 'energy +' at character 9"),
        ("tension if 1 else 2", "expected numbers, variables of a run"),
        ("__import__('os')", "expected a function, got '__import__'"),
        ("().__class__", "expected a component .x, .y or .z, got .__class__"),
        ("(lambda: 1)()", "expected numbers, variables of a run"),
        ("[x for x in energy]", "expected numbers, variables of a run"),
        ("energy := 3", "expected arithmetic"),
        ("tension**tension", "expected a plain number as power"),
        ("energy^99", "expected a power from -12 to 12"),
        ("3 + 4", "expected an expression with a variable of a run"),
        ("sin(time)", "expected a ratio or an angle inside sin(...), got s"),
        ("atan2(time)", "expected 2 in atan2(...), got 1"),
        ("energy.x", "expected a vector before .x"),
        ("energy > 3 > 2", "expected numbers, variables of a run"),
        ("abs(energy > 3)", "expected a number, got a condition"),
        ("energy and time", "expected a condition such as"),
        ("energy > '3 N'", "got J and N"),
        ("energy > '3 flurbs'", "got the unknown unit 'flurbs'"),
        ("1/0*time", "expected finite numbers"),
        ("(-1)^0.5*time", "expected finite numbers"),
        ("9" * 400 + "*time", "expected finite numbers"),
        ("position + body_position", "expected numbers or vectors of one kind"),
        ("x" * 501, "expected an expression of variables of a run"),
        (5, "expected an expression of variables of a run"),
    ],
)
def test_wrong_expressions_are_refused_with_the_place(text: Any, words: str) -> None:
    with pytest.raises(InputError, match=r"x: ") as error:
        bind(read("x", text), PARTS)
    assert words in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 1500


def test_the_only_line_and_the_only_free_body_need_not_be_named() -> None:
    x = {name: np.arange(24.0).reshape(2, *shape) for name, shape in (("body_position", (4, 3)),)}
    assert bind(read("x", "body_position.z"), ONE).of({"body_position": x["body_position"][:, :2]}).tolist() == [5, 17]
    torque = np.array([[1.0], [2.0]])
    assert bind(read("x", "torque"), ONE).of({"torque": torque}).tolist() == [1.0, 2.0]
    assert bind(read("x", "torque[line]"), ONE).of({"torque": torque}).tolist() == [1.0, 2.0]


@pytest.fixture(scope="module")
def hoisted() -> Any:
    return tl.simulate(tl.load("hook-and-load"), duration=1.0, sample=0.05)


def test_a_window_of_time_leaves_out_the_samples_beside_it(hoisted: Any) -> None:
    """Both ends are inside, whatever the rounding of times; differences are those of the whole run."""
    for text in ("norm(body_velocity[load])", "rate(end_tension[hoist])", "body_position", "energy > '1 J'"):
        whole = tl.analysis.evaluate(hoisted, text)
        times = whole.time.values
        for first, last in ((0, 20), (3, 20), (0, 7), (6, 14), (9, 9)):
            found = tl.analysis.evaluate(hoisted, text, start=0.05 * first, end=f"{50 * last} ms")
            assert np.array_equal(found.time.values, times[first : last + 1])
            assert np.array_equal(found.values, whole.values[first : last + 1])
            assert found.dims == whole.dims and found.attrs == whole.attrs
        assert np.array_equal(tl.analysis.evaluate(hoisted, text, start=0.93).time.values, times[19:])
        assert np.array_equal(tl.analysis.evaluate(hoisted, text, end="60 ms").time.values, times[:2])


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"start": 3.0}, "start: expected a window with samples of the run, which are from 0 to 1 s, got '3 s'"),
        ({"end": -1.0}, r"end: expected a time from the start of the window \(0 s\) on, got -1.0"),
        ({"start": 0.11, "end": 0.12}, "start: expected a window with samples of the run"),
        ({"start": 0.5, "end": 0.2}, r"end: expected a time from the start of the window \(0.5 s\) on, got 0.2"),
        ({"start": "1 m"}, "start: expected a time such as 3 or '3 s', got '1 m', which is a length"),
        ({"end": float("nan")}, "end: expected"),
        ({"end": True}, "end: expected a time such as 3 or '3 s', got true"),
    ],
)
def test_windows_without_samples_are_refused(hoisted: Any, window: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tl.analysis.evaluate(hoisted, "energy", **window)


def test_one_language_for_run_stop_study_gradient_and_fit(hoisted: Any, tmp_path: Path) -> None:
    """A number is the same wherever its expression is given, and the same as by hand."""
    text = "norm(body_velocity[load])"
    x = np.linalg.norm(hoisted.body_velocity.sel(body="load").values, axis=1)
    found = tl.analysis.evaluate(hoisted, text)
    assert found.attrs["units"] == "m s-1" and np.array_equal(found.values, x)
    case = tl.load("hook-and-load").with_({"run.duration": 1.0, "run.sample": 0.05})
    limit = float(x[:12].max())
    stopped = tl.simulate(case, stop=tl.StopWhen(f"{text} > '{limit} m/s'"))
    also = tl.simulate(case, stop=tl.StopWhen(text, above=f"{1e3 * limit} mm/s"))
    assert stopped.attrs["status"] == also.attrs["status"] == "condition_met"
    assert stopped.attrs["end_time"] == pytest.approx(also.attrs["end_time"], abs=1e-9)
    first = hoisted.time.values[np.argmax(x > limit)]
    assert first - 0.05 <= stopped.attrs["end_time"] <= first
    kept = tl.study(
        {
            "scenario": case,
            "vary": {"bodies.load.mass": {"values": ["1 t", "2 t"]}},
            "outputs": [f"max {text}", {"variable": f"rate({text})", "reduce": "max", "name": "jolt"}],
        },
        tmp_path / "study",
        workers=1,
    )
    runs = [tl.simulate(case.with_({"bodies.load.mass": mass})) for mass in ("1 t", "2 t")]
    speeds = [np.linalg.norm(run.body_velocity.sel(body="load").values, axis=1) for run in runs]
    assert kept.max_norm_body_velocity_load.values.tolist() == [y.max() for y in speeds]
    jolts = [(np.diff(y) / np.diff(run.time.values)).max() for y, run in zip(speeds, runs, strict=True)]
    np.testing.assert_allclose(kept.jolt.values, jolts, rtol=1e-13)
    assert kept.jolt.attrs["units"] == "m s-2"


def test_gradients_and_fits_of_expressions() -> None:
    case = tl.load("fixed-length").with_({"run.duration": 0.4, "run.sample": 0.02})
    found = tl.value_and_gradient(case, tl.objectives.Final("norm(body_velocity)^2/2"), "body.mass")
    plain = tl.value_and_gradient(case, lambda x: 0.5 * (x["body_velocity"][-1] ** 2).sum(), "body.mass")
    assert found.value == pytest.approx(plain.value, rel=1e-13)
    assert found.gradient.item() == pytest.approx(plain.gradient.item(), rel=1e-10)
    run = tl.simulate(case)
    data = {"time": run.time.values, "speed": np.linalg.norm(run.body_velocity.values[:, 0], axis=1)}
    fitted = tl.fit(
        case.with_({"body.mass": 1.1 * float(case.system.bodies["body"].mass)}),
        data,
        ["body.mass"],
        units="SI",
        columns={"speed": "norm(body_velocity)"},
    )
    assert fitted.values["body.mass"] == pytest.approx(case.system.bodies["body"].mass, rel=1e-6)


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        ({"variable": "rate(end_tension[hoist])", "above": 3}, "expected a rate that is known at a moment"),
        ({"variable": "end_tension[hist] > 3"}, "did you mean 'hoist'?"),
        ({"variable": "energy > 3", "above": 2}, "run.stop.above: expected without a condition"),
        ({"variable": "energy", "axis": "x", "above": 2}, "run.stop.axis: no such key"),
        ({"variable": "abs(enrgy)", "above": 2}, "did you mean 'energy'?"),
    ],
)
def test_wrong_conditions_name_the_key(stop: dict[str, Any], words: str) -> None:
    case = tl.load("hook-and-load")
    with pytest.raises(InputError, match=r"run\.stop") as error:
        tl.simulate(case.with_({"run.stop": stop, "run.duration": 0.1}))
    assert words in str(error.value)
