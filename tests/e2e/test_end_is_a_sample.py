"""The state at an event that ends a run is its last sample: on both backends, by every way of running and in what is
made of it."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.engine.simulation import runner_of
from tautline.files import runs
from tautline.files.runs import writing
from tautline.viewer.payload import frame_length
from tests.support import chains
from tests.support.packed import summed

SAMPLE = 5e-3


def falling() -> tl.Case:
    """A body that is let down by its weight, until it is 12 m deep."""
    system = tl.pendulum(
        tl.String(length=50.0, density=0.05, stiffness=2000.0),
        tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
        tl.RigidBody.sphere(mass=3.0, radius=0.1, center_of_mass=(0.0, 0.0, 0.1)),
        elements=6,
    )
    stop = tl.StopWhen("position[-1].z", above=12.0)
    return tl.Case(system, tl.Hanging(10.0), tl.Free(), tl.Run(duration=5.0, sample=SAMPLE, stop=(stop,)))


def paid_out() -> tl.Case:
    case = falling()
    return case.with_(run=tl.Run(duration=5.0, sample=SAMPLE)).with_({"command": {"kind": "speed", "payout": 9.6}})


def blocks_meet() -> tl.Case:
    return tl.load("hook-block-2", {"run.minimum_length": "19.7 m", "run.sample": SAMPLE})


CASES = {"condition_met": falling, "fully_deployed": paid_out, "two_blocked": blocks_meet}


def at_the_end(status: str, run: xr.Dataset) -> float:
    """How far the last sample is from what ended the run, in what it is judged by (m)."""
    last = run.isel(time=-1)
    if status == "condition_met":
        return float(last.position.values.reshape(-1, 3)[-1, 2]) - 12.0
    if status == "fully_deployed":
        return float(last.unstretched_length.values.ravel()[0]) - 49.5
    return float(last.span_length.min()) - 19.7


def check_end(status: str, run: xr.Dataset) -> None:
    """Equal intervals, then one that is shorter, up to the event; and the balance holds there."""
    time = run.time.values
    assert run.attrs["status"] == status and time[-1] == run.attrs["end_time"]
    np.testing.assert_allclose(time[:-1], SAMPLE * np.arange(len(time) - 1), rtol=0.0, atol=1e-12)
    assert 1e-4 * SAMPLE < time[-1] - time[-2] < SAMPLE
    assert abs(at_the_end(status, run)) < 1e-7
    # everything is known of it, and goes on from the sample before as that does from the one before
    for name in run.data_vars:
        assert np.isfinite(run[name].values[-1]).all(), name
    part = (time[-1] - time[-2]) / SAMPLE
    position = run.position.values
    step, before = position[-1] - position[-2], position[-2] - position[-3]
    np.testing.assert_allclose(step, part * before, rtol=0.0, atol=0.02 * np.abs(before).max())


# Lines over sheaves are no chains.
ON = [
    (chains.CHAIN, "condition_met"),
    (chains.CHAIN, "fully_deployed"),
    *((chains.NETWORK, status) for status in CASES),
]


@pytest.mark.parametrize(("backend", "status"), ON)
def test_by_every_way_of_running(backend: str, status: str, tmp_path: Path) -> None:
    """In one call, by a controller, from a file, in pieces, and killed in the middle: the same samples."""
    case = CASES[status]()
    with chains.on(backend):
        run = tl.simulate(case)
        check_end(status, run)
        simulation = tl.Simulation.from_case(case)
        while simulation.status == "completed":
            simulation.advance(10 * SAMPLE, dict(case.commands), sample=SAMPLE)
        assert_same(simulation.dataset(), run)
        simulation.advance(1.0)
        assert len(simulation.dataset().time) == len(run.time)
        for period in (2.0 * SAMPLE, 0.5 * SAMPLE):
            controlled = tl.simulate(case, control=lambda sim: dict(case.commands), period=period)
            check_end(status, controlled)
        path = tmp_path / "run.nc"
        tl.run_to_file(path, case)
        assert_same(tl.open_run(path), run)
        kept = tmp_path / "kept.nc"
        assert writing.save_run(kept, simulation.runner) == len(run.time)
        assert_same(tl.open_run(kept), run)
        assert tl.open_run(kept).attrs["sample"] == pytest.approx(SAMPLE, rel=1e-12)
        cut = tmp_path / "cut.nc"
        killed(cut, case)
        assert tl.open_run(cut).attrs["status"] == "unfinished"
        runs.resume(cut)
        assert_same(tl.open_run(cut), run)
        again = runner_of(case)
        again.begin(case.commands, case.run.duration, SAMPLE)
        last = again.march(10**4, again.sampling(SAMPLE))
        assert len(last[0]) == len(run.time) - 1 and len(again.values(last)["time"]) == len(run.time) - 1


def assert_same(found: xr.Dataset, expected: xr.Dataset) -> None:
    for name in expected.variables:
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=str(name))


def slowly(progress: runs.Progress) -> bool:
    """Leave time for a kill, and go on."""
    time.sleep(0.02)
    return False


def killed(path: Path, case: tl.Case) -> None:
    """A run file whose process was killed in the middle of its writing."""
    child = os.fork()
    if child == 0:
        writing.SECONDS_A_CHUNK = 1e-9
        tl.run_to_file(path, case, watch=slowly)
        os._exit(0)
    until = time.monotonic() + 60.0
    while not path.exists() or tl.open_run(path).sizes["time"] < 4:
        assert time.monotonic() < until and os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("status", CASES)
def test_in_what_is_made_of_it(status: str, tmp_path: Path) -> None:
    """From a scenario file: summary, CSV, page, spectrum and study."""
    case = CASES[status]()
    file, path = tmp_path / "case.toml", tmp_path / "run.nc"
    file.write_text(case.to_toml())
    tautline("run", str(file), "-o", str(path), "--quiet")
    run = tl.open_run(path)
    check_end(status, run)
    end, rows = run.attrs["end_time"], len(run.time)
    summary = json.loads(tautline("info", str(path), "--json"))
    assert (summary["rows"], summary["time"], summary["status"]) == (rows, end, status)
    table = tmp_path / "run.csv"
    tautline("export", str(path), "--csv", str(table))
    with table.open(newline="", encoding="utf-8") as lines:
        names, _, *values = csv.reader(lines)
    assert len(values) == rows and float(values[-1][names.index("time")]) == end
    tautline("export", str(path), "--html")
    text = path.with_suffix(".html").read_text(encoding="utf-8")
    boot = json.loads(text.split('<script id="boot" type="application/json">')[1].split("</script>")[0])["runs"][0]
    assert (boot["samples"], boot["end"]) == (rows, end)
    packed = text.split('<script id="frames-0" type="text/plain">')[1].split("</script>")[0]
    times = summed(packed, "<u4", frame_length(boot)).view("<f4")[0]
    np.testing.assert_allclose(times, run.time.values, rtol=1e-6, atol=1e-6)
    place: dict[str, Any] = {"line": str(run.line.values[0])} if "line" in run.dims else {}
    found = tl.analysis.spectrum(run, "start_tension", **place)
    even = tl.analysis.spectrum(run.isel(time=slice(None, -1)), "start_tension", **place)
    assert found.equals(even) and not re.search("interpolated", found.attrs["warnings"])
    line = next(iter(case.system.lines))
    study = tl.study(
        {
            "scenario": str(file),
            "vary": {f"lines.{line}.stiffness": [case.system.lines[line].string.stiffness]},
            "outputs": [
                "final energy",
                "mean energy",
                {"name": "course", "variable": "energy", "reduce": "series"},
                {"name": "then", "variable": "energy", "at": [0.0, SAMPLE * (rows - 2), SAMPLE * (rows - 1)]},
            ],
        },
        tmp_path / "study.zarr",
        workers=1,
    ).load()
    energy = run.energy.values
    check = {"final_energy": energy[-1], "mean_energy": energy[:-1].mean()}
    for name, expected in check.items():
        assert float(study[name].values.item()) == pytest.approx(expected, rel=1e-9), name
    course = study["course"].values.ravel()
    np.testing.assert_allclose(course[: rows - 1], energy[:-1], rtol=1e-9)
    assert np.isnan(course[rows - 1 :]).all()
    np.testing.assert_allclose(study["then"].values.ravel(), [energy[0], energy[-2], np.nan], rtol=1e-9)


def tautline(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_an_event_that_comes_with_a_sample_is_that_sample() -> None:
    """Paid out at a steady speed, the string is all out at 2.5 s: no sample comes twice."""
    case = falling().with_(run=tl.Run(duration=5.0, sample=0.1, step=1e-3))
    run = tl.simulate(case.with_({"command": {"kind": "speed", "payout": 15.8}}))
    assert run.status == "fully_deployed" and run.end_time == pytest.approx(2.5, abs=1e-6)
    assert len(run.time) == 26 and (np.diff(run.time) > 0.099).all()
