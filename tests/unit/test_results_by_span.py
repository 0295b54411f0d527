"""Results of reeved systems by span and by sheave, and what is made of them: expressions, studies, files, figures."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError

GRAVITY = 9.81


def crane() -> tl.Case:
    """A block on two falls with friction, and a plain sling below it, hoisted from rest."""
    rope, sheave = tl.String(60.0, 2.0, 20e6, law="tension_only"), tl.Sheave((0, 0, 0), 0.25, (0, 1, 0), on="block")
    hoist = tl.Line(
        rope,
        start_point=(-0.25, 0, 0),
        reel=tl.Reel(0.3, 0.5, inertia_mass=100.0),
        over={"lower": sheave, "fixed": tl.Pin((0.25, 0, 0), friction=0.1)},
        end_point=(2.0, 0, 0.0),
        elements=3,
    )
    sling = tl.Line(tl.String(3.0, 2.0, 10e6, law="tension_only"), start="block", start_point=(0, 0, 0.8), end="load")
    block = tl.RigidBody.box(250.0, (0.6, 0.4, 0.8), (0, 0, 0.4))
    system = tl.System({"block": block, "load": tl.RigidBody.point(1000.0)}, {"hoist": hoist, "sling": sling})
    command = tl.Length.to(18.0, speed=0.8, acceleration=0.4)
    return tl.Case(system, tl.Hanging(20.0), {"hoist": command}, tl.Run(duration=1.0, sample=0.05)).with_(
        {"lines.sling.elements": 2}
    )


@pytest.fixture(scope="module")
def run() -> xr.Dataset:
    return tl.simulate(crane())


def test_spans_and_sheaves_have_names(run: xr.Dataset) -> None:
    assert run.span.values.tolist() == ["hoist.0", "hoist.1", "hoist.2", "sling.0"]
    assert run.sheave.values.tolist() == ["hoist.lower", "hoist.fixed"]
    plain = tl.simulate(tl.load("fixed-length"), duration="0.01 s", step=1e-3, sample=1e-3)
    assert not {"span", "sheave"} & set(plain.dims) and "passed" not in plain


def test_spans_exchange_the_rope_that_passes(run: xr.Dataset) -> None:
    """Lengths of spans follow from what passes the sheaves between them, and add up to that of the line."""
    length, passed = run.span_length, run.passed
    own = length.sel(span=["hoist.0", "hoist.1", "hoist.2"])
    np.testing.assert_allclose(own.sum("span"), run.unstretched_length.sel(line="hoist"), atol=1e-12)
    came = length.sel(span="hoist.1") - length.sel(span="hoist.1")[0]
    given = passed.sel(sheave="hoist.fixed") - passed.sel(sheave="hoist.lower")
    np.testing.assert_allclose(came, given, atol=1e-12)  # rounding of 20 m
    speed = run.passing_speed.sel(sheave="hoist.lower")
    travelled = float(np.trapezoid(speed, run.time))
    assert travelled == pytest.approx(float(passed.sel(sheave="hoist.lower")[-1]), rel=5e-3)  # coarse samples


def test_ends_of_lines_are_ends_of_spans(run: xr.Dataset) -> None:
    start, end = run.span_start_tension, run.span_end_tension
    np.testing.assert_array_equal(start.sel(span="hoist.0"), run.start_tension.sel(line="hoist"))
    np.testing.assert_array_equal(end.sel(span="hoist.2"), run.end_tension.sel(line="hoist"))
    np.testing.assert_array_equal(end.sel(span="sling.0"), run.end_tension.sel(line="sling"))
    # a free wheel without inertia or friction: the same tension before and behind it, while nothing moves
    before, behind = float(end.sel(span="hoist.0")[0]), float(start.sel(span="hoist.1")[0])
    assert before == pytest.approx(behind, rel=1e-9)  # the search for rest


def test_losses_at_sheaves_are_the_friction_of_the_whole(run: xr.Dataset) -> None:
    """The reel of this crane has none."""
    loss = run.sheave_loss
    assert float(loss.sel(sheave="hoist.lower").max()) == 0.0
    np.testing.assert_allclose(loss.sum("sheave"), run.friction_loss, rtol=1e-12, atol=1e-12)
    assert float(loss.sel(sheave="hoist.fixed")[-1]) > 0.0


def test_expressions_know_spans_and_sheaves(run: xr.Dataset) -> None:
    found = tl.analysis.evaluate(run, "passed[hoist.lower] - passed[hoist.fixed]")
    np.testing.assert_array_equal(found, run.passed[:, 0] - run.passed[:, 1])
    own = tl.analysis.evaluate(run, "tension[sling, -1]")
    np.testing.assert_array_equal(own, run.tension[:, -1])
    np.testing.assert_array_equal(tl.analysis.evaluate(run, "position[sling, 0].z"), run.position[:, 12, 2])
    with pytest.raises(InputError, match=r"expected one of hoist\.lower, hoist\.fixed, got 'lower'"):
        tl.analysis.evaluate(run, "passed[lower]")
    with pytest.raises(InputError, match="in a system without sheaves, got 'passed'"):
        tl.Simulation.from_case(tl.load("fixed-length").with_({"run.stop": [tl.StopWhen("passed[0] > '1 m'")]}))


def test_a_study_counts_nodes_and_elements_of_spans(run: xr.Dataset, tmp_path: Path) -> None:
    (tmp_path / "crane.toml").write_text(crane().to_toml(), encoding="utf-8")
    outputs = [
        {"name": "hoist", "variable": "tension", "line": "hoist", "reduce": "max"},
        {"name": "last", "variable": "tension", "line": "sling", "element": -1, "reduce": "final"},
        {"name": "way", "variable": "passed[hoist.lower]", "reduce": "final"},
    ]
    described = {"scenario": str(tmp_path / "crane.toml"), "vary": {"gravity": [GRAVITY, 9.7]}, "outputs": outputs}
    study = tl.study(described, tmp_path / "crane.zarr", workers=1)
    own = run.element_line == "hoist"
    assert float(study.hoist[0]) == float(run.tension[:, own].max())
    assert float(study["last"][0]) == float(run.tension[-1, -1])
    assert float(study.way[0]) == float(run.passed[-1, 0])
    described["outputs"] = ["final passed"]
    described["scenario"] = "fixed-length"
    with pytest.raises(InputError, match="expected a variable of a run, got 'passed'"):
        tl.study(described, tmp_path / "plain.zarr", workers=1)


def test_files_hold_spans_and_sheaves(run: xr.Dataset, tmp_path: Path) -> None:
    tl.run_to_file(tmp_path / "crane.nc", crane())
    read = tl.open_run(tmp_path / "crane.nc")
    np.testing.assert_array_equal(read.sheave_loss, run.sheave_loss)


def test_figures_draw_the_wheels(run: xr.Dataset) -> None:
    figure = tl.figures.snapshots(run)
    assert figure.axes
    plt.close(figure)
    cycles = tl.analysis.bending_cycles(run, line="hoist")
    assert cycles.wheel.values.tolist() == ["reel", "lower", "fixed"]
