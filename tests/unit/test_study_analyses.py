"""Sensitivities and quantiles on functions whose answers are known, through the tables that our designs make."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import tautline as tl
from tautline.errors import InputError
from tautline.studies.analysis import uncertainty
from tautline.studies.analysis.effects import rank_correlations, swings
from tautline.studies.analysis.reading import Opened
from tautline.studies.definition import definition, work

LOW, HIGH = -np.pi, np.pi
KEYS = ("string.stiffness", "body.mass", "initial.end_velocity[1]")
# Each is carried to [-pi, pi] by its own range.
RANGES = {"string.stiffness": (20.0, 80.0), "body.mass": (0.05, 0.15), "initial.end_velocity[1]": (-2.0, 3.0)}
A, B = 7.0, 0.1


def ishigami(x: np.ndarray) -> np.ndarray:
    """Ishigami and Homma 1990; all indices are known."""
    return np.asarray(np.sin(x[0]) + A * np.sin(x[1]) ** 2 + B * x[2] ** 4 * np.sin(x[0]))


def ishigami_indices() -> tuple[np.ndarray, np.ndarray]:
    """First and total order, from the integrals of the function's parts."""
    alone = 0.5 * (1.0 + B * np.pi**4 / 5.0) ** 2
    second = A**2 / 8.0
    pair = B**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    whole = alone + second + pair
    return np.array([alone, second, 0.0]) / whole, np.array([alone + pair, second, pair]) / whole


def synthetic(function: Callable[[np.ndarray], np.ndarray], design: dict[str, Any], **dims: Any) -> xr.Dataset:
    """A study whose results are a function of its table: what open_study would give, had the simulator computed it."""
    ranges = {key: {"from": a, "to": b, **dims} for key, (a, b) in RANGES.items()}
    made = definition.read({"scenario": "fixed-length", "vary": ranges, "design": design, "outputs": ["max tension"]})
    table = np.stack(np.meshgrid(*made.table.values(), indexing="ij")) if dims else np.stack(list(made.table.values()))
    for k, (a, b) in enumerate(RANGES.values()):
        table[k] = LOW + (table[k] - a) / (b - a) * (HIGH - LOW)
    y = function(table)
    coords = {key: (key if dims else "member", column) for key, column in made.table.items()}
    status = np.zeros(made.shape, dtype=np.int8)
    variables = {"y": (made.dims, y, {"units": "N", "long_name": "y"}), "status": (made.dims, status)}
    return xr.Dataset(variables, coords, {"study": json.dumps(made.plan())})


SOBOL = {"kind": "sobol-indices", "base": 2048, "seed": 1}


def test_sobol_indices_of_the_ishigami_function() -> None:
    """Within the intervals that are told, and those are narrow."""
    found = tl.studies.sensitivity(synthetic(ishigami, SOBOL), confidence=0.99).sel(output="y")
    first, total = ishigami_indices()
    assert list(found.parameter) == list(KEYS) and found.units.item() == "N"
    assert int(found.blocks) == 2048 and int(found.blocks_left_out) == 0
    for estimate, exact, name in ((found.first, first, "first"), (found.total, total, "total")):
        half = found[f"{name}_confidence"]
        assert half.max() < 0.13
        assert (np.abs(estimate - exact) <= half).all(), (estimate.values, exact)
    pair = {"parameter": KEYS[0], "other": KEYS[2]}
    assert abs(found.second.sel(pair).item() - (total[2])) < 0.05
    assert found.second.sel(pair).item() == found.second.sel(parameter=KEYS[2], other=KEYS[0]).item()
    others = [found.second.sel(parameter=KEYS[1], other=key).item() for key in (KEYS[0], KEYS[2])]
    assert np.abs(others).max() < 0.05


def test_estimates_that_contradict_each_other_are_told() -> None:
    """A part cannot be larger than the whole: with a few blocks it seems so, with many it does not."""
    for base, contradicts in ((8, True), (2048, False)):
        found = tl.studies.sensitivity(synthetic(lambda x: x[0] ** 3 + x[1], {**SOBOL, "base": base}))
        one = found.sel(output="y")
        worst = int(np.argmax((one.first - one.total).values))
        assert (float((one.first - one.total)[worst]) > 0.05) == contradicts
        words = f"y: {KEYS[worst]}: alone {float(one.first[worst]):.2f} is more than {float(one.total[worst]):.2f}"
        warnings = [w for w in tl.warnings_of(found) if w.where == KEYS[worst]]
        assert [w.kind for w in warnings] == ["sensitivity"] * contradicts
        assert all(w.text.startswith(words) and w.limit == 0.05 < (w.value or 0.0) for w in warnings)


def test_indices_settle_with_the_design() -> None:
    found = tl.studies.sensitivity(synthetic(ishigami, SOBOL)).sel(output="y")
    assert np.array_equal(found.total_so_far[-1], found.total)
    half = found.total_confidence_so_far.max("parameter").values
    assert half[0] > 2.0 * half[-1] and (np.diff(half) < 0.0).all()
    alone = tl.studies.sensitivity(synthetic(ishigami, {**SOBOL, "second_order": False}))
    assert "second" not in alone
    assert np.abs(alone.total.values[0] - ishigami_indices()[1]).max() < 0.05


MORRIS = {"kind": "morris", "trajectories": 40, "levels": 6, "seed": 3}


def test_elementary_effects_of_a_function_with_known_ones() -> None:
    """Of a plane they are its slopes everywhere; a product makes them depend on the place."""
    plane = tl.studies.sensitivity(synthetic(lambda x: 3.0 * x[0] - 2.0 * x[1], MORRIS)).sel(output="y")
    assert plane.mu_star.values == pytest.approx(np.array([3.0, 2.0, 0.0]) * 2.0 * np.pi, abs=1e-9)
    assert plane.mu.values == pytest.approx(np.array([3.0, -2.0, 0.0]) * 2.0 * np.pi, abs=1e-9)
    assert plane.sigma.max() < 1e-9 and plane.mu_star_confidence.max() < 1e-9
    bent = tl.studies.sensitivity(synthetic(lambda x: 3.0 * x[0] + x[1] * x[2], MORRIS)).sel(output="y")
    assert bent.sigma[0] < 1e-9
    assert bent.sigma[1:].min() > 3.0


def test_blocks_with_failures_are_left_out_as_wholes() -> None:
    """Values of members that failed are nonsense; the rest must give what it would give without them."""
    design = {**SOBOL, "base": 64}
    study = synthetic(ishigami, design)
    size = 8
    bad = np.array([3, 5 * size, 5 * size + 1, 63 * size + 7])
    study.y.values[bad[:2]] = 1e9
    study.status.values[bad[:2]] = work.FAILURES[0]
    study.status.values[bad[2]] = work.NOT_COMPUTED
    study.y.values[bad[3]] = np.nan
    found = tl.studies.sensitivity(study)
    assert found.blocks.item() == 61 and found.blocks_left_out.item() == 3
    whole = synthetic(ishigami, design)
    kept = np.setdiff1d(np.arange(64), bad // size)
    y = whole.y.values.reshape(64, size)[kept]
    from SALib.analyze import sobol

    problem = {"num_vars": 3, "names": list(KEYS), "bounds": [[0, 1]] * 3}
    assert np.allclose(found.total.values[0], sobol.analyze(problem, y.ravel(), seed=1)["ST"], rtol=1e-12)
    study.status.values[::size] = work.REFUSED
    with pytest.raises(InputError, match=r"at least 8 blocks of 8 members .* got 0 of 64"):
        tl.studies.sensitivity(study)


def test_constant_outputs_have_no_indices_and_no_effects() -> None:
    assert np.isnan(tl.studies.sensitivity(synthetic(lambda x: 0.0 * x[0] + 5.0, {**SOBOL, "base": 16})).total).all()
    assert (tl.studies.sensitivity(synthetic(lambda x: 0.0 * x[0] + 5.0, MORRIS)).mu_star == 0.0).all()


def test_a_table_that_is_not_salibs_is_noticed() -> None:
    study = synthetic(ishigami, MORRIS)
    study["body.mass"].values[7] *= 1.01
    with pytest.raises(InputError, match=r"got another in body\.mass"):
        tl.studies.sensitivity(study)


def test_components_have_names_and_series_are_refused() -> None:
    study = synthetic(ishigami, {**SOBOL, "base": 16})
    study = study.assign(
        pull=(study.y * xr.DataArray([1.0, 2.0], {"axis": ["x", "y"]}, "axis")),
        swing=study.y.expand_dims(time=3).transpose("member", "time"),
    )
    found = tl.studies.sensitivity(study)
    assert list(found.output.values) == ["y", "pull[x]", "pull[y]"]
    assert np.allclose(found.first.sel(output="pull[y]"), found.first.sel(output="y"))
    with pytest.raises(InputError, match="got 'swing', which is a series"):
        tl.studies.sensitivity(study, "swing")
    with pytest.raises(InputError, match=r"outputs: .*'typo'"):
        tl.studies.sensitivity(study, "typo")
    with pytest.raises(InputError, match="confidence"):
        tl.studies.sensitivity(study, confidence=1.0)
    with pytest.raises(InputError, match="expected the design 'sobol-indices' or 'morris', got 'random'"):
        tl.studies.sensitivity(synthetic(ishigami, {"kind": "random", "members": 20, "seed": 1}))


RANDOM = {"kind": "random", "members": 400, "seed": 0}


def test_quantiles_and_how_sure_they_are() -> None:
    """Of many samples of a known distribution, the intervals hold the true quantile as often as they say."""
    exact = stats.uniform(LOW, HIGH - LOW).ppf(uncertainty.PROBABILITIES)
    held = np.zeros(5)
    for seed in range(80):
        found = tl.studies.quantiles(synthetic(lambda x: x[0], {**RANDOM, "members": 60, "seed": seed}), confidence=0.9)
        assert found.quantiles.values == pytest.approx(exact[None], abs=1.6)
        held += ((found.low <= exact) & (exact <= found.high)).values[0]
    # the least of five binomial counts with 80 x 0.9 expected or more; 62 is 3.7 deviations below
    assert held.min() > 62


def test_quantiles_settle_and_count_members() -> None:
    study = synthetic(lambda x: x[0], {**RANDOM, "members": 512})
    study.y.values[:12] = 1e6
    study.status.values[:12] = work.FAILURES[0]
    found = tl.studies.quantiles(study).sel(output="y")
    assert int(found.members) == 500 and int(found.members_left_out) == 12
    assert found.average == pytest.approx(study.y.values[12:].mean())
    assert found.average_low < 0.0 < found.average_high
    assert np.array_equal(found.quantiles_so_far[-1], found.quantiles)
    assert found.average_so_far[-2] == pytest.approx(study.y.values[12:262].mean())
    few = tl.studies.quantiles(synthetic(lambda x: x[0], {**RANDOM, "members": 20}))
    assert np.isneginf(few.low[0, 0]) and np.isposinf(few.high[0, -1]) and np.isfinite(few.low[0, 2])
    with pytest.raises(InputError, match="got the design 'grid', whose members are no sample"):
        tl.studies.quantiles(synthetic(ishigami, {"kind": "grid"}, points=4))
    with pytest.raises(InputError, match="probabilities: expected a number between 0 and 1, got 5"):
        tl.studies.quantiles(study, probabilities=[5, 95])


def test_sobol_tables_give_independent_members() -> None:
    """Neighbors of a base point would count its value many times."""
    study = synthetic(ishigami, {**SOBOL, "base": 16})
    assert tl.studies.quantiles(study).members.item() == 32


def with_series(members: int) -> xr.Dataset:
    """Member k has the curve k t / (members - 1); the last ones end early."""
    study = synthetic(lambda x: x[0], {**RANDOM, "members": members})
    time = np.arange(5) / 4
    curves = np.linspace(0.0, 1.0, members)[:, None] * time
    curves[members // 2 + 1 :, 4] = np.nan
    return study.assign(swing=(("member", "time"), curves, {"units": "m"})).assign_coords(time=time)


def test_bands_of_series(monkeypatch: pytest.MonkeyPatch) -> None:
    study = with_series(201)
    found = tl.studies.bands(study, probabilities=[0.1, 0.5, 0.9])
    assert found.swing.dims == ("quantile", "time") and found.swing.attrs == {"units": "m", "members": 201}
    assert found.swing.sel(time=0.75).values == pytest.approx([0.075, 0.375, 0.675])
    assert found.swing.sel(time=1.0).values == pytest.approx([0.05, 0.25, 0.45])
    monkeypatch.setattr(uncertainty, "BYTES_OF_CURVES", 21 * 5 * 8)
    some = tl.studies.bands(study, probabilities=[0.1, 0.5, 0.9])
    assert some.swing.attrs["members"] == 21
    assert some.swing.sel(time=0.75).values == pytest.approx([0.075, 0.375, 0.675])
    with pytest.raises(InputError, match="got 'y', which is none"):
        tl.studies.bands(study, "y")


def test_correlations_and_swings() -> None:
    study = synthetic(lambda x: x[0] ** 3 - 0.1 * x[1], RANDOM)
    opened = Opened(study)
    y = opened.values(next(opened.reduced()))
    columns = [opened.column(key) for key in KEYS]
    one, two, none = rank_correlations(y, columns)
    assert one.value == pytest.approx(stats.spearmanr(study[KEYS[0]], y).statistic)
    assert one.low > 0.9 and two.value < 0.0 and none.low < 0.0 < none.high
    exact = rank_correlations(study[KEYS[1]].values, columns)[1]
    assert exact.low == exact.value == exact.high == pytest.approx(1.0)
    grid = synthetic(lambda x: 2.0 * x[0] + x[1] ** 2, {"kind": "grid"}, points=5)
    straight, bowl, nothing = swings(Opened(grid), next(Opened(grid).reduced()))
    assert straight.at_last - straight.at_first == pytest.approx(4.0 * np.pi) == straight.high - straight.low
    assert bowl.at_last == pytest.approx(bowl.at_first) == bowl.high
    assert bowl.high - bowl.low == pytest.approx(np.pi**2)
    assert nothing.high == pytest.approx(nothing.low)
