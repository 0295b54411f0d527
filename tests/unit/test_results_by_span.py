"""Results of reeved systems by span and by sheave, and what is made of them: expressions, studies, files, figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.cli import checking
from tautline.errors import InputError
from tautline.figures.scene import scene_of
from tautline.quantities import value
from tests.support.over_sheaves import over_sheaves

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


@pytest.mark.parametrize("name", ["hook-block-2", "hook-block-4"])
def test_the_end_of_a_line_over_sheaves_says_what_of_all_its_spans_is_out(name: str) -> None:
    case = tl.load(name)
    (line,) = (name for name, x in case.system.lines.items() if x.over)
    out = float(case.system.lines[line].string.length) - case.system.wraps(line) - 0.5
    start = {"initial.deployed": {line: out - 0.5}, f"lines.{line}.command": tl.Speed(payout=0.4)}
    run = tl.simulate(case.with_(start), duration=4.0)
    assert run.attrs["status"] == "fully_deployed"
    length = float(run.unstretched_length.sel(line=line)[-1])
    assert float(re.findall(r"deployed, (\S+) m of string out", run.attrs["message"])[0]) == pytest.approx(
        length, abs=0.02
    )
    assert length == pytest.approx(out, abs=0.02)


def test_spans_and_sheaves_need_no_quotes_in_brackets(run: xr.Dataset, tmp_path: Path) -> None:
    """The names that results have, in every expression: of analyses, conditions, studies and on the command line."""
    for name in run.span.values:
        found = tl.analysis.evaluate(run, f"span_length[{name}] - span_length[ {name} ,] / 2")
        np.testing.assert_array_equal(found, 0.5 * run.span_length.sel(span=name))
    longest = float(run.span_length.sel(span="hoist.1")[0])
    until = f"span_length[hoist.1] < '{longest - 0.05} m'"
    assert tl.simulate(crane().with_({"run.stop": [tl.StopWhen(until)]})).attrs["status"] == "condition_met"
    stages = tl.Sequence(tl.Stage(tl.Speed(retrieval=0.5), until=until), tl.Speed(retrieval=0.1))
    staged = tl.simulate(crane().with_(commands={"hoist": stages}))
    assert len(json.loads(staged.attrs["stages"])) == 2
    outputs = ["max span_length[hoist.1]", "max passed[hoist.lower]"]
    vary = {"bodies.load.mass": {"values": [1000.0]}}
    kept = tl.study({"scenario": crane(), "vary": vary, "outputs": outputs}, tmp_path / "study", workers=1)
    assert float(kept["max_span_length_hoist_1"][0]) == pytest.approx(float(run.span_length.sel(span="hoist.1").max()))


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
        {"name": "hoist", "variable": "tension[hoist]", "reduce": "max"},
        {"name": "last", "variable": "tension[sling, -1]", "reduce": "final"},
        {"name": "way", "variable": "passed[hoist.lower]", "reduce": "final"},
        "final rim_speed",
        "max span_start_tension",
    ]
    described = {"scenario": str(tmp_path / "crane.toml"), "vary": {"gravity": [GRAVITY, 9.7]}, "outputs": outputs}
    study = tl.study(described, tmp_path / "crane.zarr", workers=1)
    own = run.element_line == "hoist"
    assert float(study.hoist[0]) == float(run.tension[:, own].max())
    assert float(study["last"][0]) == float(run.tension[-1, -1])
    assert float(study.way[0]) == float(run.passed[-1, 0])
    xr.testing.assert_equal(study.final_rim_speed[0].drop_vars("gravity"), run.rim_speed[-1].drop_vars("time"))
    largest = run.span_start_tension.max("time")
    xr.testing.assert_equal(study.max_span_start_tension[0].drop_vars("gravity"), largest)
    described["outputs"] = ["final passed"]
    described["scenario"] = "fixed-length"
    with pytest.raises(InputError, match="in a system without sheaves, got 'passed'"):
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


@pytest.fixture(scope="module")
def slipping() -> xr.Dataset:
    """A driven sheave on which a rope slips, and a line with a wheel on a point mass, a pin and a drum at its end."""
    return tl.simulate(over_sheaves())


def test_rims_turn_and_motors_of_sheaves_work(slipping: xr.Dataset) -> None:
    """The rim goes on by its speed, and the motors' work is that of the whole."""
    rim = slipping.rim_travel
    travelled = np.concatenate(
        [[0.0], np.cumsum(0.01 * 0.5 * (slipping.rim_speed.values[1:] + slipping.rim_speed.values[:-1])[:, 0])]
    )
    np.testing.assert_allclose(rim[:, 0], travelled, atol=2e-3 * float(np.abs(rim[:, 0]).max()))
    assert abs(float(rim[-1, 0] - slipping.passed[-1, 0])) > 0.01
    np.testing.assert_array_equal(rim[:, 1:], slipping.passed[:, 1:])
    own = slipping.sheave_work.sel(sheave="lift.groove")
    np.testing.assert_allclose(own, 60.0 / 0.3 * rim[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slipping.sheave_power[:, 0], 60.0 / 0.3 * slipping.rim_speed[:, 0], rtol=1e-12)
    assert not slipping.sheave_work[:, 1:].any()
    # beside that of the drum at the end of the other line
    falls = ["falls.0", "falls.1", "falls.2"]
    wound = -(slipping.span_length.sel(span=falls).sum("span") - slipping.span_length.sel(span=falls)[0].sum())
    np.testing.assert_allclose(slipping.control_work - own, 30.0 / 0.25 * wound, rtol=1e-6, atol=1e-6)
    motor = tl.analysis.motor_energy(slipping, line="lift.groove")
    assert motor.driving_energy - motor.braking_energy == pytest.approx(float(own[-1]), rel=1e-9)
    with pytest.raises(InputError, match=r"line: expected one of 'lift\.groove', 'falls\.lower', 'falls\.eye'"):
        tl.analysis.motor_energy(slipping, line="lift.other")


def test_wheels_and_drums_are_drawn_where_they_are(slipping: xr.Dataset) -> None:
    found = scene_of(slipping)
    groove, lower, _, drum = found.drums  # a pin is a point
    for wheel, radius in ((groove, 0.3), (lower, 0.2)):
        center = wheel.guide[:, 0]
        np.testing.assert_allclose(np.linalg.norm(wheel.rim - center[:, None], axis=2), radius, rtol=1e-12)
    block = slipping.body_position.sel(body="block")
    np.testing.assert_allclose(lower.guide[:, 0], block, atol=1e-12)
    for wheel, radius, k in ((groove, 0.3, 0), (lower, 0.2, 1)):
        spoke = wheel.guide[:, 1] - wheel.guide[:, 0]
        turned = np.unwrap(np.arctan2(np.cross(spoke[:1], spoke) @ (0.0, 1.0, 0.0), spoke @ spoke[0]))
        sense = 1.0 if k == 0 else -1.0  # the rope runs under the block's wheel
        np.testing.assert_allclose(turned, sense * slipping.rim_travel[:, k] / radius, atol=1e-9)
    np.testing.assert_allclose(drum.guide[:, 1], np.tile((5.0, 0.0, 0.0), (len(found.time), 1)), atol=1e-12)


def test_bending_is_drawn_and_reported_by_section_and_wheel(slipping: xr.Dataset, tmp_path: Path) -> None:
    hoisted = tl.simulate(crane().with_({"run.duration": 2.5}))
    wheels = {"lift": (slipping, ["groove"]), "hoist": (hoisted, ["reel", "lower", "fixed", "all"])}
    for line, (made, names) in wheels.items():
        wear = tl.analysis.bending_cycles(made, line=line)
        figure = tl.figures.bending(made, line=line)
        drawn = {str(x.get_label()): x.get_ydata() for x in figure.axes[0].lines}
        assert list(drawn) == names
        for name in wear.wheel.values:
            np.testing.assert_array_equal(drawn[name], wear.cycles.sel(wheel=name))
        np.testing.assert_array_equal(drawn[names[-1]], wear.cycles.sum("wheel"))
        plt.close(figure)
        assert line == "lift" or wear.cycles.sel(wheel="reel").sum() > 0
    text = tl.report(hoisted, tmp_path / "crane.html").read_text(encoding="utf-8")
    assert text.count("<figcaption>How often each section of the rope was bent") == 1  # the sling runs over nothing
    assert re.search(r"of the section [\d.]+ m from the start of the rope; of each wheel alone at most, also at", text)


def test_report_has_the_motors_of_sheaves(slipping: xr.Dataset, tmp_path: Path) -> None:
    text = tl.report(slipping, tmp_path / "lift.html").read_text(encoding="utf-8")
    driving = tl.analysis.motor_energy(slipping, line="lift.groove").driving_energy
    assert f"motor of groove, driving</td><td>{value(driving, 'J')}" in text and "motor of lower" not in text


def test_a_rope_without_tension_on_its_sheave_is_told_of() -> None:
    """Two loads that are thrown up together: the rope is slack on both sides, and stays on its wheel."""
    wheel = tl.Sheave((0, 0, 0), 0.2, (0, 1, 0), inertia=0.1)
    line = tl.Line(tl.String(10.0, 0.1, 1e4), "left", end="right", over={"top": wheel}, elements=2)
    bodies = {"left": tl.RigidBody.point(5.0), "right": tl.RigidBody.point(5.0)}
    system = tl.System(bodies, {"rope": line})
    start = tl.Placed({"left": (-0.2, 0.0, 4.7), "right": (0.2, 0.0, 4.7)})
    rest = tl.statics(system, start, locked=["rope.top"]).state
    still = tl.simulate(system, rest, duration=0.2, sample=0.01)
    assert not [w for w in tl.warnings_of(still) if w.kind == "slack_sheave"]
    thrown = {name: tl.BodyState(body.position, (0.0, 0.0, -3.0)) for name, body in rest.bodies.items()}
    run = tl.simulate(system, tl.Placed(thrown), duration=0.2, sample=0.01)
    (found,) = [w for w in tl.warnings_of(run) if w.kind == "slack_sheave"]
    loose = (run.span_end_tension[:, 0] <= 0.0) & (run.span_start_tension[:, 1] <= 0.0)
    assert found.where == "rope" and "'top'" in found.text
    assert found.value == pytest.approx(float(run.time[int(np.argmax(loose.values))]), abs=0.011)


def test_check_names_what_holds_the_ends() -> None:
    row = checking.rows(checking.facts(tl.load("hook-block-4")))["line hoist"]
    assert "at the guide and " in row and "at the anchor," in row
