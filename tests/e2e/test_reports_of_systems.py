"""Reports and figures of systems: what is read off each line and body, from the run or from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError
from tautline.figures.scene import scene_of
from tautline.quantities import between
from tautline.results.one_line import one_line

# Pages of many figures.
pytestmark = pytest.mark.long

FOLDER = Path(__file__).parent / "every_full_key"
STRINGS = ("hoist", "sling")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("runs") / "crane.nc"
    torque = {"kind": "torque", "torque": 5.0}
    tl.run_to_file(found, tl.load(FOLDER / "crane.toml", {"lines.hoist.command": torque}))
    return found


@pytest.fixture(scope="module")
def run(path: Path) -> xr.Dataset:
    return tl.open_run(path)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- one line -----------------------------------------------------------------------------------------------


def test_a_line_alone_has_its_own_values(run: xr.Dataset) -> None:
    one = one_line(run, "sling")
    assert one.sizes == {"time": 41, "node": 3, "element": 2, "axis": 3}
    assert np.array_equal(one.tension, run.tension.sel(element=run.element_line == "sling"))
    assert np.array_equal(one.start_tension, run.start_tension.sel(line="sling"))
    assert np.array_equal(one.end_tension, run.end_tension.sel(line="sling"))
    hoist = one_line(run, "hoist")
    assert np.array_equal(hoist.motor_work, run.motor_work.sel(line="hoist")) and hoist["line"].item() == "hoist"
    with pytest.raises(InputError, match=r"line: missing; expected one of 'hoist', 'sling', such as line='hoist'"):
        one_line(run)
    with pytest.raises(InputError, match="line: expected one of 'hoist', 'sling', got 'rope'"):
        one_line(run, "rope")


def test_a_line_among_others_reads_like_one_alone() -> None:
    """The same line and body with and without others: what is read off is the same to rounding."""
    string = tl.String(6.0, 0.1, 5e3, law="tension_only", breaking_load="500 N")
    reel, body = tl.Reel(0.1, 0.2, 2.0), tl.RigidBody.point(5.0)
    method: dict[str, Any] = {"duration": 0.5, "sample": 0.01, "step": 1e-4}
    pendulum = tl.pendulum(string=string, reel=reel, body=body, elements=4)
    alone = tl.simulate(pendulum, tl.Hanging(3.0), tl.Torque(4.0), **method)
    rope = tl.Line(string, end="load", reel=reel, elements=4)
    other = tl.Line(tl.String(2.0, 0.1, 5e3, law="tension_only"), start_point=(5, 0, 0), end="other", elements=2)
    system = tl.System({"load": body, "other": tl.RigidBody.point(2.0)}, {"rope": rope, "aside": other})
    several = tl.simulate(system, tl.Hanging({"rope": 3.0}), {"rope": tl.Torque(4.0)}, **method)
    both: list[tuple[xr.Dataset, dict[str, Any]]] = [(several, {"line": "rope"}), (alone, {})]
    used = [tl.analysis.utilization(run, **which).utilization for run, which in both]
    assert used[0] == pytest.approx(used[1], rel=1e-6)
    motors = [tl.analysis.motor_energy(run, **which).braking_energy for run, which in both]
    assert motors[0] == pytest.approx(motors[1], rel=1e-6) and motors[1] > 0.0
    events = [tl.analysis.slack_events(run, **which).sizes for run, which in both]
    assert events[0] == events[1]
    ranges = [tl.analysis.rainflow(run, **which).range.max().item() for run, which in both]
    assert ranges[0] == pytest.approx(ranges[1], rel=1e-5)
    damages = [tl.analysis.damage(run, "six_strand", **which).damage for run, which in both]
    assert damages[0] == pytest.approx(damages[1], rel=1e-4)
    spectra = [tl.analysis.spectrum(run, **which).attrs["mean"] for run, which in both]
    assert spectra[0] == pytest.approx(spectra[1], rel=1e-6)


def test_speeds_that_are_rounding_are_shown_as_none() -> None:
    run = tl.simulate(tl.load("crane-hoist", {"run.duration": "0.2 s"}))
    run.reel_speed[-1] = -2.5e-45
    (row,) = (x for x in tl.summary(run).splitlines() if x.startswith("reel speed"))
    assert row.endswith(", 0 m/s at the end")


def test_a_run_without_its_dimensions_reads_the_same() -> None:
    """`run.squeeze` drops the names of the only line and the only body."""
    whole = tl.simulate(tl.load("retrieval", {"run.duration": "0.2 s"}))
    for run in (whole.squeeze(["line", "body"]), whole.squeeze(["line", "body"], drop=True)):
        assert tl.summary(run) == tl.summary(whole)
        assert tl.analysis.motor_energy(run) == tl.analysis.motor_energy(whole)
        assert tl.analysis.rainflow(run).identical(tl.analysis.rainflow(whole))
        spin = [tl.analysis.spectrum(x, "angular_velocity", axis="y") for x in (run, whole)]
        assert spin[0].identical(spin[1])
        for name, draw in tl.figures.OF_A_RUN.items():
            shown = [[line.get_label() for axes in draw(x).axes for line in axes.get_lines()] for x in (run, whole)]
            assert shown[0] == shown[1], name


def test_series_of_bodies_and_strings(run: xr.Dataset, path: Path) -> None:
    found = tl.analysis.rainflow(path, "end_tension", line="sling")
    assert found.attrs["variable"] == "end_tension of sling"
    assert np.array_equal(found.range.values, tl.analysis.rainflow(run.sel(line="sling"), "end_tension").range.values)
    height = tl.analysis.exceedance(run, "body_position", body="load", axis="z")
    assert float(height.level[0]) == float(run.body_position.sel(body="load", axis="z").min())
    assert tl.analysis.spectrum(run, "energy").attrs["mean"] == pytest.approx(float(run.energy.mean()))
    with pytest.raises(InputError, match="body: missing; expected one of body_position, such as body='load'"):
        tl.analysis.spectrum(run, "body_position", axis="z")
    with pytest.raises(InputError, match="line: missing"):
        tl.analysis.rainflow(run)


# -- the report ---------------------------------------------------------------------------------------------


# -- figures ------------------------------------------------------------------------------------------------


def test_curves_are_the_data(run: xr.Dataset) -> None:
    lines = tl.figures.tension(run).axes[0].get_lines()
    assert [line.get_label() for line in lines] == list(STRINGS)
    one = one_line(run, "sling")
    highest = np.max([one.tension.max("element"), one.start_tension, one.end_tension], axis=0)
    assert np.array_equal(np.asarray(lines[1].get_ydata()), highest)
    (line,) = tl.figures.drive(run).axes[0].get_lines()  # the one reel
    assert np.array_equal(np.asarray(line.get_ydata()), run.reel_speed.sel(line="hoist"))
    side = tl.figures.path(run, "load").axes[0].get_lines()[0]
    assert np.array_equal(np.asarray(side.get_ydata()), run.body_position.sel(body="load", axis="z"))
    picture = tl.figures.strain_map(run, line="hoist").axes[0]
    assert [x.get_text() for x in picture.get_yticklabels()] == ["start\n(jib)", "middle", "end\n(hook)"]
    with pytest.raises(InputError, match="bodies: expected one of 'jib', 'hook', 'load', got 'boat'"):
        tl.figures.path(run, "boat")


def test_bodies_drums_and_strings_meet_in_space() -> None:
    """Corners of boxes where string ends are fastened, and drums that touch their guides, in any attitude."""
    run = tl.simulate(tl.load(FOLDER / "satellites.toml"))
    scene = scene_of(run)
    mother = scene.solids[0]
    start = scene.ropes[0].nodes[:, 0]
    np.testing.assert_allclose(np.linalg.norm(start - mother.places, axis=1), 0.5, rtol=1e-9)
    (drum,) = scene.drums
    np.testing.assert_allclose(drum.guide[:, 1], start, atol=1e-9)
    axis = np.einsum("tij,j->ti", mother.attitudes, (0.0, 0.0, 1.0))
    middle = drum.rim[:, :-1].mean(axis=1)
    assert np.abs(np.einsum("tpi,ti->tp", drum.rim - middle[:, None], axis)).max() < 1e-9
    nearest = np.linalg.norm(drum.rim - drum.guide[:, :1], axis=2).min(axis=1)
    assert nearest.max() < 0.1 * 2.0 * np.pi / 24.0  # within a spoke of the rim
    hook = scene_of(tl.simulate(tl.load(FOLDER / "crane.toml")))
    box, rope = hook.solids[1], hook.ropes[0]
    gap = box.places - rope.nodes[:, -1]
    np.testing.assert_allclose(np.linalg.norm(gap, axis=1), 0.1, rtol=1e-6)  # the center of mass below the eye


@pytest.mark.long
def test_a_warning_is_printed_once(here: Path) -> None:
    """Of a string whose peak is at its start, by the names that systems have."""
    coarse = {"run.sample": "0.1 s", "run.duration": "6 s", "lines.north-east.breaking_load": "5 kN"}
    text = tl.report(tl.simulate(tl.load("cable-robot", coarse)), here / "x.html").read_text(encoding="utf-8")
    words = "line &#x27;north-east&#x27;: samples are too far apart to see the peaks: between them "
    assert text.count(words) == 1 and f"{words}start_tension of north-east" in text


def test_figures_of_drums_leave_out_lines_without_one() -> None:
    """The sling below the hook has no drum, and its length does not change."""
    run = tl.simulate(tl.load("hook-and-load", {"run.duration": "0.5 s"}))
    found = dict(line.split("  ", 1) for line in tl.summary(run).splitlines() if "  " in line)
    torque, length = run.torque.sel(line="hoist"), run.unstretched_length.sel(line="hoist")
    assert found["drum torque"].strip() == between(float(torque.min()), float(torque.max()), "N m")
    assert found["unstretched length"].strip() == between(float(length.min()), float(length.max()), "m")
