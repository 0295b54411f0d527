"""Fits: known values are found again, standard errors mean what they say, and doubts are told."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import tautline as tl
from tautline.cli.fitting import summary
from tautline.fitting.prediction import Sampling, sampling_for
from tautline.fitting.result import Fit, rounded
from tautline.fitting.stepping import advised_step, step_warnings
from tautline.gradients.keys import key_value
from tests.support import chains
from tests.support.measured import NOISE, START, TRUTH, UNITS, measured, small_case, write_csv
from tests.support.warned import kinds

ALL = list(TRUTH)


def fit(data: Any, vary: Any = ALL, start: dict[str, float] = START, **options: Any) -> Fit:
    wanted = start if vary is ALL else {key: start[key] for key in vary if key in start}
    return tl.fit(small_case().with_(wanted), data, vary, **{"units": UNITS} | options)


def errors(found: Fit) -> list[float]:
    """How far the values are from the truth, in standard errors."""
    return [(found.values[key] - TRUTH[key]) / found.standard_errors[key] for key in TRUTH if key in found.values]


def test_values_behind_exact_data_are_found() -> None:
    found = fit(measured(small_case(), seed=None))
    assert found.status == "completed"
    for key, value in TRUTH.items():
        # the run that the data are from took steps of another length than the fit's, whose error is of second order
        assert found.values[key] == pytest.approx(value, rel=2e-3)
    assert key_value(found.case, "body.mass") == found.values["body.mass"]


@pytest.mark.parametrize("seed", range(2))
def test_values_behind_noise_are_within_three_standard_errors(seed: int) -> None:
    found = fit(measured(small_case(), seed))
    assert found.status == "completed" and found.warnings == ()
    assert np.max(np.abs(errors(found))) < 3.0
    for name, x in found.columns.items():
        # the mean of the squares of 101 samples
        assert x.sigma == pytest.approx(NOISE[name], rel=0.3)
        np.testing.assert_array_equal(x.residuals, x.measured - x.fitted)
    assert found.chi_square == pytest.approx(found.degrees_of_freedom, rel=1e-3) and found.degrees_of_freedom == 198
    np.testing.assert_allclose(np.diag(found.correlations), 1.0, rtol=1e-14)


@pytest.fixture(scope="module")
def of_known_noise() -> Fit:
    return fit(measured(small_case()), sigma=NOISE)


def test_standard_errors_are_those_of_a_linear_model(of_known_noise: Fit) -> None:
    """From the derivatives at the solution, by the textbook: sigma^2 (J^T J)^-1."""
    data, found = measured(small_case()), of_known_noise
    at = tl.jacobian(found.case, ["start_tension", "position"], ALL)
    rows = [at["start_tension"].values[:, 0] / NOISE["start_tension"]]
    rows.append(at["position"].values[:, -1, 0] / NOISE["position[-1,x]"])
    J = np.concatenate(rows)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(J.T @ J), rtol=1e-5)
    fitted = at["start_tension_value"].values[:, 0]
    np.testing.assert_allclose(found.columns["start_tension"].fitted, fitted, rtol=1e-9)
    residuals = [(fitted - data["start_tension"]) / NOISE["start_tension"]]
    residuals.append((at["position_value"].values[:, -1, 0] - data["position[-1,x]"]) / NOISE["position[-1,x]"])
    assert found.chi_square == pytest.approx(np.sum(np.concatenate(residuals) ** 2), rel=1e-9)

    def cost(values: Any) -> Any:
        series = {"start_tension": values["start_tension"][:, 0], "position[-1,x]": values["position"][:, -1, 0]}
        return sum(np.sum(((x - data[name]) / NOISE[name]) ** 2) for name, x in series.items())

    least = tl.value_and_gradient(found.case, cost, ALL)  # changes by little over a standard error
    assert least.value == pytest.approx(found.chi_square, rel=1e-9)
    assert np.abs(least.gradient * [found.standard_errors[key] for key in ALL]).max() < 1e-2


@pytest.mark.parametrize("delay", [0.0431, pytest.param(-0.08, marks=pytest.mark.long)])
def test_an_unknown_offset_of_the_clock(delay: float) -> None:
    found = fit(measured(small_case(), 7, delay), offset=(-0.1, 0.1))
    assert found.status == "completed"
    assert abs(found.values["offset"] - delay) < 3.0 * found.standard_errors["offset"] < 0.02
    assert np.max(np.abs(errors(found))) < 3.0
    left_out = found.warnings[0]
    assert left_out.kind == "fit_left_out" and (left_out.value or 0.0) > 0.0
    assert "offset from -0.1 to 0.1 s, and were left out" in left_out.text
    assert found.units["offset"] == "s"


@pytest.mark.long
def test_missing_samples_and_times_of_any_kind(tmp_path: Path) -> None:
    """Half of the samples are missing, and times are those of a clock that ticks unevenly."""
    chance = np.random.default_rng(5)
    run = chains.simulate(small_case(sample=0.003))
    rows = np.sort(chance.choice(len(run.time), 300, replace=False))
    columns = {"start_tension": run.start_tension.values[rows], "position[-1,x]": run.position.values[rows, -1, 0]}
    data = {"time": run.time.values[rows]}
    for name, x in columns.items():
        data[name] = np.where(chance.random(300) < 0.5, np.nan, x + chance.normal(0.0, NOISE[name], 300))
    found = tl.fit(small_case().with_(START), write_csv(data, tmp_path / "data.csv"), ALL)
    assert found.status == "completed" and np.max(np.abs(errors(found))) < 3.0
    assert [len(x.time) for x in found.columns.values()] == [int(np.isfinite(data[name]).sum()) for name in columns]


@pytest.mark.long
def test_outliers_matter_less_with_a_robust_loss() -> None:
    data = measured(small_case())
    data["start_tension"][::10] += 20.0
    plain, robust = fit(data), fit(data, loss="soft_l1")
    assert np.max(np.abs(errors(robust))) < 3.0
    assert robust.standard_errors["body.mass"] < 0.5 * plain.standard_errors["body.mass"]
    off = [abs(x.values["body.mass"] - TRUTH["body.mass"]) for x in (plain, robust)]
    assert off[1] < 0.2 * off[0]


def test_a_value_at_its_bound_is_told() -> None:
    found = fit(measured(small_case()), {"string.stiffness": (100, 180), "body.mass": None})
    assert found.values["string.stiffness"] == pytest.approx(180.0, rel=1e-12)
    assert np.isnan(found.standard_errors["string.stiffness"]) and found.standard_errors["body.mass"] > 0.0
    (bound,) = (w for w in found.warnings if w.kind == "fit_bound")
    assert (bound.where, bound.limit) == ("string.stiffness", 180.0)
    assert "string.stiffness lies at its upper bound, 180 N" in bound.text
    assert "unknown" in str(found)


def test_values_that_cannot_be_told_apart_are_told() -> None:
    """Drag is density times area: the data know the product alone."""
    found = fit(measured(small_case()), ["fluid.drag_area", "fluid.density", "body.mass"])
    assert np.isnan(found.standard_errors["fluid.drag_area"]) and np.isnan(found.standard_errors["fluid.density"])
    assert found.standard_errors["body.mass"] < 0.1
    (blurred,) = (w for w in found.warnings if w.kind == "fit_undetermined")
    assert "do not determine fluid.drag_area and fluid.density, only some" in blurred.text
    product = found.values["fluid.drag_area"] * found.values["fluid.density"]
    assert product == pytest.approx(0.6, rel=0.1)


def test_values_that_can_hardly_be_told_apart_are_told() -> None:
    """The place alone over the first half of a bounce: a spring and a mass are known by their ratio."""
    data = measured(small_case(duration=0.5, sample=0.005))
    found = fit({name: data[name] for name in ("time", "position[-1,x]")}, ["string.stiffness", "body.mass"])
    correlation = found.correlations[0, 1]
    assert abs(correlation) > 0.99
    assert [w.value for w in found.warnings if w.kind == "fit_correlation"] == pytest.approx([abs(correlation)])


def test_residuals_that_are_not_noise_are_told() -> None:
    found = fit(measured(small_case()), ["string.stiffness"], {"string.stiffness": 190.0, "body.mass": 1.1})
    wrong = tl.fit(small_case().with_({"body.mass": 1.3}), measured(small_case()), ["string.stiffness"], units=UNITS)
    assert "fit_residuals" not in kinds(found.warnings)
    assert any("residuals of start_tension are not noise" in w.text for w in wrong.warnings)


@pytest.mark.long
def test_noise_that_is_not_as_given_is_told() -> None:
    data = measured(small_case())
    for factor, words in ((0.5, "times as large as sigma: the model"), (2.0, "sigma is too large")):
        found = fit(data, sigma={name: factor * x for name, x in NOISE.items()})
        assert any(w.kind == "fit_sigma" and words in w.text for w in found.warnings)
        scaled = np.sqrt(found.chi_square / found.degrees_of_freedom)
        assert any(f"{scaled:.3g} times as large as sigma" in w.text for w in found.warnings)
    with_units = fit(data, sigma={"start_tension": "300 mN", "position[-1,x]": "1 cm"})
    assert with_units.sigma_given and with_units.warnings == ()


def test_a_search_that_is_cut_short_is_not_completed() -> None:
    found = fit(measured(small_case()), most_runs=3)
    assert found.status == "not_converged" and found.runs == 3
    assert "not converged" in found.message and "not converged" in str(found)


def test_progress_is_told_after_every_run() -> None:
    seen: list[Any] = []
    found = fit(measured(small_case()), watch=seen.append)
    assert [x.runs for x in seen] == list(range(1, found.runs + 1))
    assert seen[0].values == START and seen[-1].misfit == pytest.approx(1.0, abs=0.1)


def test_the_case_that_was_fitted_is_ready_to_run_and_to_save(tmp_path: Path) -> None:
    case = small_case(elements="auto").with_(START)
    found = tl.fit(case, measured(case), ["body.mass"], units=UNITS)
    assert (
        found.case.system.lines["line"].elements == case.state().elements()["line"]
    )  # those that the data were compared with
    assert (found.case.run.duration, found.case.run.sample) == (3.0, 0.03)
    (tmp_path / "fitted.toml").write_text(found.case.to_toml(), encoding="utf-8")
    again = chains.simulate(tl.load(tmp_path / "fitted.toml"))
    np.testing.assert_array_equal(again.position, chains.simulate(found.case).position)


def test_a_run_that_fails_on_the_way_is_avoided() -> None:
    """With a fixed step, larger stiffness is refused; the search stays where there are runs."""
    case = small_case(step=0.003).with_({"string.stiffness": 100.0})
    found = tl.fit(case, measured(small_case()), ["string.stiffness"], units=UNITS)
    assert found.status == "completed" and abs(found.values["string.stiffness"] - 200.0) < 3.0


def test_the_table_has_the_digits_that_mean_something(of_known_noise: Fit) -> None:
    assert rounded(59996.6, 30.2) == ("59997", "30")
    assert rounded(59996.6, 301.0) == ("60000", "300")
    assert rounded(0.19979, 0.000131) == ("0.19979", "0.00013")
    assert rounded(1.0e9, 2.345e4) == ("1e+09", "2.3e+04")
    assert rounded(123456789.0, 2345.0) == ("1.234568e+08", "2.3e+03")
    assert rounded(0.0, 0.0123) == ("0.000", "0.012")
    assert rounded(3.0, float("nan")) == ("3", "unknown")
    found = of_known_noise
    lines = str(found).splitlines()
    key, value, error, unit = lines[1].split()
    assert (key, unit) == ("string.stiffness", "N")
    assert (value, error) == rounded(found.values[key], found.standard_errors[key])
    assert lines[5] == f"start_tension: residuals of {found.columns['start_tension'].rms:.3g} N (rms)"
    assert lines[7] == f"completed: 202 samples in 2 columns, {found.runs} runs"


def times(*values: float) -> Any:
    class Times:
        time = np.array(values)

    return [Times()]


@pytest.mark.parametrize(
    ("given", "latest", "step", "moves", "expected"),
    [
        ((0.1, 0.2, 0.4), 0.4, "auto", False, Sampling(0.1, 4, True)),
        ((0.05, 0.15, 0.25), 0.25, "auto", False, Sampling(0.05, 5, True)),
        ((0.0, 0.1, 0.2), 0.3, "auto", True, Sampling(0.05, 6, False)),
        ((0.0, 0.1, 0.2), 0.2, 0.01, False, Sampling(0.1, 2, True)),
        ((0.0, 0.1, 0.2), 0.2, 0.03, False, Sampling(0.03, 7, False, 0.03)),
        ((0.0, 0.1, 0.2), 0.2, 0.007, False, Sampling(0.028, 8, False, 0.007)),
        ((0.0, 0.1, 0.2171), 0.2171, "auto", False, Sampling(0.054275, 4, False)),
        ((0.3,), 0.3, "auto", False, Sampling(0.3, 1, True)),
    ],
)
def test_runs_have_samples_at_the_times_of_the_data_where_possible(
    given: Any, latest: float, step: Any, moves: bool, expected: Sampling
) -> None:
    found = sampling_for(times(*given), latest, step, moves)
    assert found.interval == pytest.approx(expected.interval, rel=1e-12) and found[1:] == expected[1:]
    finer, last = found.finer(), found.exact or found.interval == found.least
    assert finer is None if last else finer == found._replace(interval=0.5 * found.interval, rows=2 * found.rows)


@pytest.mark.parametrize(
    ("data", "vary", "options", "words"),
    [
        ({}, ["reel.viscous_friction"], {}, "vary reel.viscous_friction: expected a key that the data depend on"),
        (
            {"time": np.linspace(50.0, 60.0, 101)},
            ALL,
            {},
            "within the run, 0 to 3 s, got 50 to 60 s; change run.duration",
        ),
        (
            {"time": np.linspace(50.0, 60.0, 101)},
            ALL,
            {"offset": True},
            "with an offset from -1 to 1 s, got 50 to 60 s",
        ),
        ({}, ALL, {"loss": "quartic"}, "loss: expected one of 'linear', 'soft_l1'"),
        (
            {},
            ALL,
            {"sigma": {"start_tension": 1.0}},
            "sigma: expected one for each column (start_tension, position[-1,x])",
        ),
        ({}, ALL, {"sigma": {**NOISE, "start_tension": "1 m"}}, "sigma start_tension: expected a force"),
        ({}, ALL, {"sigma": {**NOISE, "start_tension": 0}}, "sigma start_tension: expected a positive"),
        ({}, ALL, {"sigma": 3.0}, "sigma: expected a dict"),
        ({}, ALL, {"most_runs": 0}, "most_runs: expected a whole number"),
        ({}, ALL, {"offset": (0.2, 0.1)}, "offset: expected a lower bound below the upper one"),
        ({"time": np.r_[0.0, 0.1, np.arange(99) + 9.0]}, ALL, {}, "expected more samples than the 4 unknowns, got 4"),
    ],
)
def test_what_is_refused(data: Any, vary: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(tl.errors.InputError) as caught:
        fit(measured(small_case()) | data, vary, **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_starts_without_a_run_are_refused() -> None:
    with pytest.raises(tl.errors.InputError, match=r"data: expected a component of start_tension such as"):
        tl.fit(tl.load("hook-and-load"), measured(small_case()), ["gravity"], units=UNITS)
    case = small_case(step=0.003).with_({"command": {"kind": "torque", "torque": 30.0}})
    with pytest.raises(tl.errors.InputError, match=r"start values; the run ends at .* before the data") as caught:
        tl.fit(case, measured(small_case()), ["body.mass"], units=UNITS)
    assert "\n" not in str(caught.value)


# -- steps -------------------------------------------------------------------------------------------------

BOUNCING = {"string.stiffness": 1.3e6, "string.viscosity": 8e3}


def bouncing(**run: Any) -> tl.Case:
    """A load of 1 t that bounces at 1.3 Hz on 20 m of rope."""
    return tl.Case.from_dict(
        {
            "string": {"length": 20.1, "density": 0.9, **{key.partition(".")[2]: x for key, x in BOUNCING.items()}},
            "reel": {"drum_radius": 0.2, "guide_length": 0.1, "inertia_mass": 20.0},
            "body": {"shape": "point", "mass": 1000.0},
            "initial": {"kind": "hanging", "deployed": 20.0, "end_velocity": [0.0, 0.0, 0.3]},
            "command": {"kind": "locked"},
            "run": {"duration": 3.0, "elements": 1, "sample": 0.01} | run,
        }
    )


@pytest.fixture(scope="module")
def tensions() -> tuple[Any, Any]:
    """Times and tensions of a run with a step so small that its error does not matter."""
    run = chains.simulate(bouncing(step=1e-4))
    return run.time.values, run.start_tension.values.reshape(-1)


def noisy(tensions: tuple[Any, Any], noise: float) -> dict[str, Any]:
    time, exact = tensions
    return {"time": time, "start_tension": exact + np.random.default_rng(1).normal(0.0, noise, len(time))}


def off(found: Fit) -> float:
    """Error of the stiffness in standard errors."""
    return (found.values["string.stiffness"] - 1.3e6) / found.standard_errors["string.stiffness"]


OF_TENSION = {"time": "s", "start_tension": "N"}


@pytest.mark.parametrize("noise", [10.0, 1.0])
def test_a_step_that_moves_the_values_is_told_and_the_advised_one_is_enough(
    tensions: tuple[Any, Any], noise: float, tmp_path: Path
) -> None:
    data = noisy(tensions, noise)

    def found_with(**run: Any) -> Fit:
        wrong = bouncing(**run).with_({"string.stiffness": 1e6, "string.viscosity": 5e3})
        return tl.fit(wrong, data, list(BOUNCING), units=OF_TENSION)

    found = found_with()
    (warning,) = found.warnings
    assert (warning.kind, warning.where) == ("fit_step", "string.stiffness")
    assert warning.limit == pytest.approx(1.0 / 3.0)
    step = re.search(r'set run\.step = "([\d.]+ ms)"', warning.text)
    assert step is not None and warning.value is not None
    finer = found_with(step=step[1])
    assert finer.status == "completed" and finer.warnings == () and abs(off(finer)) < 3.0
    # what the warning says is how far the value is from that of small steps
    assert warning.value == pytest.approx(abs(off(found) - off(finer)), rel=0.15)
    assert (abs(off(found)) > 3.0) == (noise == 1.0)
    assert warning.text in str(found) and warning.to_dict() in summary(found)["warnings"]
    page = tl.figures.fit_report(found, tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.escape(warning.text) in page and 'class="verdict unsure"' in page


def test_higher_orders_need_smaller_steps_only_for_better_data() -> None:
    case = bouncing(order=4).with_({"string.viscosity": 0.0})
    run = chains.simulate(case.with_({"run.step": 1e-4}))
    data = noisy((run.time.values, run.start_tension.values.reshape(-1)), 0.01)
    start = case.with_({"string.stiffness": 1.2e6})
    coarse, fine = (
        tl.fit(start.with_({"run.step": step}), data, ["string.stiffness"], units=OF_TENSION) for step in (1e-2, 2.5e-3)
    )
    (warning,) = coarse.warnings
    assert warning.kind == "fit_step" and 'run.step = "5 ms"' in warning.text and fine.warnings == ()
    assert warning.value == pytest.approx(abs(off(coarse) - off(fine)), rel=0.15)


def test_a_robust_fit_is_told_of_its_step_too(tensions: tuple[Any, Any]) -> None:
    data = noisy(tensions, 10.0)
    plain = tl.fit(bouncing(), data, list(BOUNCING), units=OF_TENSION)
    data["start_tension"][::25] += 1e4
    robust = tl.fit(bouncing(), data, list(BOUNCING), units=OF_TENSION, loss="soft_l1")
    shifts = [w.value for found in (plain, robust) for w in found.warnings if w.kind == "fit_step"]
    assert len(shifts) == 2 and shifts[1] == pytest.approx(shifts[0], rel=0.2)


@pytest.mark.parametrize(
    ("sample", "interval", "needed", "expected"),
    [
        (0.015, 0.01, 4e-3, 2.5e-3),  # of both
        (0.01, 0.01, 1.3e-3, 1.25e-3),
        (None, 0.01, 7e-5, 6.25e-5),
        (0.01, 1.0 / 30.0, 4e-3, 2.5e-3),  # which no part of a hundredth of a second divides
        (1.0 / 7.0, 0.01, 4e-3, 1.0 / 7.0 / 36.0),  # nor has few digits
        (2.0, 0.5, 0.7, 0.5),
    ],
)
def test_advised_steps_are_possible(sample: float | None, interval: float, needed: float, expected: float) -> None:
    run = tl.Run(duration=3.0 if sample is None else 20 * sample, sample=sample)
    step = advised_step(needed, run, interval)
    assert step == pytest.approx(expected, rel=1e-12)
    advised = replace(run, step=float(f"{1e3 * step:.12g}") / 1e3)  # as the warning prints it
    done = tl.simulate(replace(small_case(), run=advised)) if step < 5e-3 else None  # larger ones are not stable
    assert done is None or done.attrs["status"] == "completed"


def test_a_run_with_half_the_step_that_fails_is_told() -> None:
    (warning,) = step_warnings(
        cast(Any, SimpleNamespace(with_half_step=lambda: (0.1, "no rope"))), [], *[np.ones(1)] * 2
    )
    assert warning.kind == "fit_step" and "no rope" in warning.text and warning.value is None
