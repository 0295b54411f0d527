"""Readings of rope engineers: against counts and sums by hand, exact integrals, and the accounts of the run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError
from tests.support import chains
from tests.support.checking import check_close
from tests.support.warned import kinds

# Of sums of some thousand numbers of the same size.
ROUNDING = 1e-12


def made(time: Any, tension: Any, strain: Any = None, **string: Any) -> xr.Dataset:
    """A run of one element with this tension."""
    case = tl.load("fixed-length")
    whole = case.to_dict()
    whole["lines"]["line"] |= string
    x = np.asarray(tension, dtype=float)
    stretch = x / 40.0 if strain is None else np.asarray(strain, dtype=float)
    stretch = stretch[:, None] if stretch.ndim == 1 else stretch
    return xr.Dataset(
        {
            "start_tension": ("time", x, {"units": "N"}),
            "end_tension": ("time", x, {"units": "N"}),
            "tension": (("time", "element"), np.repeat(x[:, None], stretch.shape[1], 1), {"units": "N"}),
            "strain": (("time", "element"), stretch, {"units": "1"}),
        },
        {"time": np.asarray(time, dtype=float)},
        {"case": json.dumps(whole)},
    )


@pytest.fixture(scope="module")
def bungee() -> xr.Dataset:
    return chains.simulate(tl.load("bungee", {"string.breaking_load": "5 kN", "run.duration": "10 s"}))


# -- cycles and damage ---------------------------------------------------------------------------------------


def test_rainflow_of_the_example_of_the_standard() -> None:
    """ASTM E1049-85, figure 6: peaks and valleys A to I, and their counts."""
    found = tl.analysis.rainflow(made(np.arange(9.0) * 2.0, [-2, 1, -3, 5, -1, 3, -4, 4, -2]))
    counted: dict[float, float] = {}
    for size, count in zip(found.range.values, found["count"].values, strict=True):
        counted[size] = counted.get(size, 0.0) + count
    assert counted == {3.0: 0.5, 4.0: 1.5, 6.0: 0.5, 8.0: 1.0, 9.0: 0.5}
    whole = found.isel(cycle=int(np.argmax(found["count"].values)))
    assert (float(whole.range), float(whole["mean"]), float(whole.begin), float(whole.end)) == (4.0, 1.0, 8.0, 10.0)
    assert found.range.units == "N" and found.begin.units == "s"


def cosine(periods: int, mean: float, amplitude: float, breaking_load: float) -> xr.Dataset:
    """Whole periods of 2 s from peak to peak, 40 samples each."""
    t = np.arange(40 * periods + 1) / 20.0
    return made(t, mean + amplitude * np.cos(np.pi * t), breaking_load=breaking_load)


@pytest.mark.parametrize(
    ("rope", "m", "K"),
    [
        ({"rope": "six_strand"}, 4.09, 10.0 ** (3.20 - 2.79 * 0.3)),
        ({"rope": "spiral_strand"}, 5.05, 10.0 ** (3.25 - 3.43 * 0.3)),
        ({"exponent": 3.0, "constant": 1000.0}, 3.0, 1000.0),
    ],
)
def test_damage_of_a_sine_by_hand(rope: dict[str, Any], m: float, K: float) -> None:
    """Twelve cycles of a range of 0.2 of the breaking load about 0.3 of it."""
    found = tl.analysis.damage(cosine(12, 3000.0, 1000.0, 1e4), **rope)
    by_hand = 12 * 0.2**m / K
    check_close("damage", found.damage, by_hand, ROUNDING * by_hand)
    check_close("life", found.life, 24.0 / by_hand, 1e-9 * found.life)
    assert found.cycles == 12.0 and found.mean_load == pytest.approx(0.3, rel=ROUNDING)
    assert found.largest_range == pytest.approx(2000.0, rel=ROUNDING) and not found.warnings
    assert (found.exponent, found.breaking_load) == (m, 1e4)


# -- spectra and exceedances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1000, 1001])
def test_the_integral_of_the_spectrum_is_the_variance(count: int) -> None:
    x = np.random.default_rng(1).normal(size=count).cumsum()
    run = made(0.01 * np.arange(count), x)
    exact = tl.analysis.spectrum(run, window="boxcar", segment=0.01 * count)
    integral = float(exact.density.sum()) * float(exact.frequency[1])
    check_close("variance", integral, x.var(), 1e-9 * x.var())
    assert exact.attrs["standard_deviation"] == pytest.approx(x.std()) and exact.density.units == "N2 s"


def test_the_integral_of_averaged_segments_is_the_variance_on_average() -> None:
    """Of white noise, whose 7 segments of 2500 samples leave a deviation of the variance of about 1.5 %."""
    x = np.random.default_rng(2).normal(size=10_000)
    found = tl.analysis.spectrum(made(0.1 * np.arange(len(x)), x))
    integral = float(found.density.sum()) * float(found.frequency[1])
    check_close("variance", integral, 1.0, 0.05)
    assert found.attrs["segment"] == pytest.approx(250.0)
    assert "above half of the highest frequency" in tl.warnings_of(found)[-1].text


def test_a_sine_has_one_frequency() -> None:
    t = 0.01 * np.arange(4000)
    found = tl.analysis.spectrum(made(t, 7.0 + 3.0 * np.sin(2.0 * np.pi * 1.5 * t)))
    spacing = float(found.frequency[1])
    assert abs(found.attrs["peak_frequency"] - 1.5) < spacing
    assert abs(found.attrs["zero_crossing_frequency"] - 1.5) < spacing
    assert found.attrs["mean"] == pytest.approx(7.0) and not tl.warnings_of(found)


def test_a_ramp_has_no_peak_and_does_not_hide_one() -> None:
    """A lift's slow change fills the lowest frequencies; an oscillation of a hundredth of it still stands out."""
    t = 0.01 * np.arange(1000)
    ramp = 10_000.0 + 1000.0 * np.clip((t - 2.0) / 3.0, 0.0, 1.0)
    alone = tl.analysis.spectrum(made(t, ramp))
    assert np.isnan(alone.attrs["peak_frequency"]) and np.isnan(alone.attrs["peak_share"])
    swing = 50.0 * np.sin(2.0 * np.pi * 6.0 * t)
    both = tl.analysis.spectrum(made(t, ramp + swing))
    assert abs(both.attrs["peak_frequency"] - 6.0) < float(both.frequency[1])
    # at least the mean square of the sine over the variance: a quarter of the run sees less of the ramp than all of it
    assert 0.5 * 50.0**2 / np.var(ramp + swing) < both.attrs["peak_share"] < 1.0
    # a hoist that speeds up, goes on and stops, in ramps of 0.6 s whose side lobes rise at 0.8 Hz
    t = 0.02 * np.arange(751)
    pull = sum(np.interp(t, [0, 1, 1.6, end, end + 0.6, 15], [0, 0, 1, 1, 0, 0]) for end in (3, 11))
    bounce = 20.0 * np.sin(2.0 * np.pi * 4.3 * t)
    rest = tl.analysis.spectrum(made(t, 20_000.0 + 400.0 * pull))
    assert np.isnan(rest.attrs["peak_frequency"])
    lifted = tl.analysis.spectrum(made(t, 20_000.0 + 400.0 * pull + bounce))
    assert abs(lifted.attrs["peak_frequency"] - 4.3) < float(lifted.frequency[1])
    still = tl.analysis.spectrum(made(t, 10_000.0 + 1e-6 * np.random.default_rng(4).normal(size=len(t))))
    assert np.isnan(still.attrs["peak_frequency"]) and not tl.warnings_of(still)  # rounding has no frequency


def test_samples_out_of_step() -> None:
    """The last one of a run that ended early is left out; unequal ones are interpolated, and that is said."""
    t = 0.01 * np.arange(2000)
    x = np.sin(2.0 * np.pi * 0.8 * t)
    whole = tl.analysis.spectrum(made(t, x))
    early = tl.analysis.spectrum(made([*t, t[-1] + 0.0031], [*x, 9.0]))
    np.testing.assert_array_equal(early.density, whole.density)
    some = np.flatnonzero(np.random.default_rng(3).uniform(size=len(t)) < 0.7)
    uneven = tl.analysis.spectrum(made(t[some], x[some]))
    assert "interpolated" in kinds(uneven)
    assert abs(uneven.attrs["peak_frequency"] - 0.8) < float(uneven.frequency[1])


def test_exceedance_of_a_triangle_is_exact() -> None:
    """Up and down between 10 and 50 N ten times; samples at turning points alone."""
    run = made(np.arange(21.0), np.where(np.arange(21) % 2, 50.0, 10.0))
    found = tl.analysis.exceedance(run, levels=[0, 10, 20, 45, 50, 60])
    np.testing.assert_allclose(found.time_above, [1.0, 1.0, 0.75, 0.125, 0.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(found.upcrossings, [0, 0, 10, 10, 10, 0])
    assert found.attrs["duration"] == 20.0


def test_exceedance_of_unequal_samples() -> None:
    """Straight lines: where the samples lie on them does not matter."""
    t = np.sort(np.random.default_rng(4).uniform(0.0, 4.0, 200))
    t = np.unique([*t, 0.0, 1.0, 2.0, 3.0, 4.0])
    x = np.abs((t % 2.0) - 1.0)
    found = tl.analysis.exceedance(made(t, x), levels=[0.25, 0.5])
    np.testing.assert_allclose(found.time_above, [0.75, 0.5], atol=1e-12)


# -- utilization, slack, motor -------------------------------------------------------------------------------


def test_utilization_is_the_largest_tension_anywhere(bungee: xr.Dataset) -> None:
    found = tl.analysis.utilization(bungee)
    at_guide, inside = float(bungee.start_tension.max()), float(bungee.tension.max())
    assert found.tension == max(at_guide, inside) and found.utilization == found.tension / 5000.0
    assert float(bungee.start_tension.sel(time=found.time)) == found.tension and found.place == 0.0
    n = bungee.sizes["element"]
    body = bungee.assign(tension=bungee.tension + xr.DataArray([0.0] * (n - 1) + [1e5], dims="element"))
    assert tl.analysis.utilization(body).place == (n - 0.5) / n
    assert tl.analysis.utilization(bungee, breaking_load="10 kN").utilization == found.tension / 10_000.0


def test_slack_events_of_the_bungee_jump(bungee: xr.Dataset) -> None:
    """Samples within events have an element that is not stretched, and no tension in it; those outside have none.

    Damping takes the tension of one that is stretched and gets shorter.
    """
    found = tl.analysis.slack_events(bungee)
    slack = (bungee.strain.values <= 0.0).any(axis=1)
    assert (bungee.tension.values[slack].min(axis=1) == 0.0).all()
    inside = np.zeros(len(slack), dtype=bool)
    for begin, end in zip(found.begin.values, found.end.values, strict=True):
        inside |= (bungee.time.values >= begin) & (bungee.time.values <= end)
    np.testing.assert_array_equal(inside, slack)
    assert float(found.begin[0]) == 0.0 and float(found.largest_part[0]) == 1.0  # it starts without tension
    assert len(found.event) > 5 and (found.begin.values[1:] > found.end.values[:-1]).all()
    assert found.attrs["slack_time"] == pytest.approx(float(found.duration.sum()))
    finer = tl.analysis.slack_events(chains.simulate(tl.load("bungee", {"run.duration": "10 s", "run.sample": "1 ms"})))
    for name in (
        "begin",
        "end",
    ):  # of the first one in flight: a straight line over 20 ms is off by less than half of it
        coarse, fine = (float(x[name][np.searchsorted(x.end.values, 4.8)]) for x in (found, finer))
        check_close(name, coarse, fine, 0.01)


def test_slack_times_are_exact_on_straight_lines() -> None:
    """Two elements whose strains go through 0 between samples; where the slack part lies."""
    first = [0.01, -0.01, -0.01, 0.03, 0.03, 0.03]
    second = [0.02, 0.02, 0.02, 0.02, -0.02, -0.02]
    found = tl.analysis.slack_events(made(np.arange(6.0), np.zeros(6), np.transpose([first, second])))
    np.testing.assert_allclose(found.begin, [0.5, 3.5], atol=1e-9)
    np.testing.assert_allclose(found.end, [2.25, 5.0], atol=1e-9)
    np.testing.assert_array_equal(found.nearest, [0.0, 0.5])
    np.testing.assert_array_equal(found.farthest, [0.5, 1.0])
    np.testing.assert_array_equal(found.largest_part, [0.5, 0.5])


def test_slack_is_where_the_tension_of_a_table_vanishes() -> None:
    """A lashing that has its first tension at a strain of 2 %."""
    table = {"law": "table", "strains": [0.0, 0.02, 0.03], "tensions": [0.0, 0.0, 10.0]}
    run = made(np.arange(3.0), np.zeros(3), [0.03, 0.01, 0.03])
    whole = json.loads(run.attrs["case"])
    line = whole["lines"]["line"]
    whole["lines"]["line"] = {key: x for key, x in line.items() if key not in ("stiffness", "law")} | table
    found = tl.analysis.slack_events(run.assign_attrs(case=json.dumps(whole)))
    np.testing.assert_allclose(found.duration, [1.0], atol=1e-6)


def lowered_and_stopped() -> xr.Dataset:
    """A load that is lowered by a given motion, so that the motor brakes, and lifted again."""
    system = tl.load("crane-hoist").system.with_elements({"line": 8})
    length = tl.Length(([0.0, 2.0, 4.0], [20.0, 22.0, 20.0]))
    return chains.of_one(tl.simulate(system, tl.Hanging(20.0), length, duration=4.0, sample=0.005))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: chains.simulate(tl.load("crane-hoist")), 1e-6),
        (lambda: chains.simulate(tl.load("tethered-pod")), 1e-5),
        (lambda: chains.simulate(tl.load("yo-yo")), 1e-3),
        (lowered_and_stopped, 1e-3),
    ],
    ids=["crane-hoist", "tethered-pod", "yo-yo", "given length"],
)
def test_motor_energy_is_the_integral_of_power_and_the_account(make: Callable[[], xr.Dataset], error: float) -> None:
    """The account to rounding; the integral to the error of the trapezoidal rule."""
    run = make()
    found = tl.analysis.motor_energy(run)
    net, work = found.driving_energy - found.braking_energy, float(run.control_work[-1])
    scale = found.driving_energy + found.braking_energy
    check_close("account", net, work, ROUNDING * scale)
    power, time = run.power.values, run.time.values
    check_close("integral of power", np.trapezoid(power, time), work, error * scale)
    check_close("driving", np.trapezoid(np.maximum(power, 0.0), time), found.driving_energy, error * scale)
    check_close("braking", np.trapezoid(np.maximum(-power, 0.0), time), found.braking_energy, error * scale)
    assert found.peak_power == max(0.0, power.max()) and found.peak_braking_power == max(0.0, -power.min())
    if found.peak_power:
        assert float(run.power.sel(time=found.peak_time)) == found.peak_power
    if found.peak_braking_power:
        assert float(run.power.sel(time=found.peak_braking_time)) == -found.peak_braking_power


# -- what is said, and what is refused -----------------------------------------------------------------------


def test_coarse_samples_are_noted() -> None:
    """A sine of 0.1 s: with 30 samples a period all is well, with 5 a tenth of a range may be missed."""
    for spacing, expected in ((1.0 / 300.0, []), (0.02, ["sampling"])):
        t = spacing * np.arange(200)
        run = made(t, 50.0 + 30.0 * np.sin(2.0 * np.pi * 10.0 * t + 0.3), breaking_load=100.0)
        found = (
            tl.analysis.rainflow(run),
            tl.analysis.exceedance(run),
            tl.analysis.damage(run, "six_strand").warnings,
            tl.analysis.utilization(run).warnings,
        )
        assert all(kinds(x) == expected for x in found)


def test_what_is_not_finite_is_left_out() -> None:
    t, x = np.arange(6.0), [1.0, 5.0, 2.0, 6.0, np.nan, 9.0]
    cut = made(t, x, np.full(6, 0.1), breaking_load=10.0)
    assert float(tl.analysis.rainflow(cut).end.max()) == 3.0
    assert float(tl.analysis.exceedance(cut).level.max()) == 6.0
    with pytest.raises(InputError, match="at least 2 samples of start_tension with finite values, got 1"):
        tl.analysis.spectrum(made([0, 1], [1, np.nan], [1, 1]), "start_tension")


def test_other_variables_and_places(bungee: xr.Dataset) -> None:
    height = tl.analysis.spectrum(bungee, "position", node=-1, axis="z")
    assert height.density.units == "m2 s" and height.attrs["variable"] == "position, node -1, axis z"
    assert float(tl.analysis.rainflow(bungee, "tension", element=-1).range.max()) == float(
        np.ptp(bungee.tension[:, -1].values)
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda run: tl.analysis.utilization(run),
            r"tl\.analysis\.utilization: the run has no breaking load; give one here, breaking_load=",
        ),
        (
            lambda run: tl.analysis.damage(run, "six_strand"),
            r"tl\.analysis\.damage: the run has no breaking load.*string\.breaking_load",
        ),
        (
            lambda run: tl.analysis.damage(run),
            "rope: expected one of 'six_strand', 'spiral_strand', or exponent and constant",
        ),
        (lambda run: tl.analysis.damage(run, "six_strand", exponent=3.0, constant=1.0), "rope: expected one of"),
        (lambda run: tl.analysis.damage(run, exponent=3.0), "rope: expected one of"),
        (lambda run: tl.analysis.damage(run, "sixstrand"), "rope: .*did you mean 'six_strand'"),
        (lambda run: tl.analysis.damage(run, exponent=-1.0, constant=1.0), "exponent: expected a positive"),
        (lambda run: tl.analysis.damage(run, "six_strand", breaking_load="5 kg"), "breaking_load: expected a force"),
        (
            lambda run: tl.analysis.damage(run, "six_strand", breaking_load=5, variable="strain", element=0),
            r"tension \(N\), got",
        ),
        (lambda run: tl.analysis.rainflow(run, "tensoin"), "variable: expected one of.*did you mean 'tension'"),
        (
            lambda run: tl.analysis.rainflow(run, "tension"),
            "element: missing; expected one of tension, such as element=-1",
        ),
        (lambda run: tl.analysis.rainflow(run, element=0), "element: start_tension has no such dimension; it has time"),
        (lambda run: tl.analysis.rainflow(run, "tension", element=1), "element: expected a whole number from -1 to 0"),
        (lambda run: tl.analysis.spectrum(run, segment=0.0), "segment: expected a positive"),
        (lambda run: tl.analysis.spectrum(run, segment=0.5), "segment: expected at least 2 samples"),
        (lambda run: tl.analysis.spectrum(run, window="hat"), "window: expected the name of a window of SciPy"),
        (lambda run: tl.analysis.exceedance(run, levels=[math.nan]), "levels: expected n finite numbers"),
        (lambda run: tl.analysis.slack_events(run.drop_vars("strain")), "run: expected one with strain"),
        (lambda run: tl.analysis.motor_energy(run.time), "run: expected a Dataset of simulate or open_run"),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call(made([0.0, 1.0, 2.0], [1.0, 3.0, 2.0]))
