"""Runs that end early, are unfinished, or have one sample: summaries and exports end where the run ended."""

from __future__ import annotations

import csv
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.cli.output import summary_table
from tautline.files import runs
from tautline.files.runs import shortening
from tautline.results.network import layout
from tautline.results.summary import summarise

RUNS = {
    "early": ("crane-hoist", {"body.mass": "800 kg", "run.sample": "0.1 s"}, None, "fully_retrieved"),
    "unfinished": ("retrieval", {"run.duration": "0.5 s"}, 7, "unfinished"),
    "first row only": ("retrieval", {"run.duration": "0.5 s"}, 1, "unfinished"),
    "numerics": ("retrieval", {"run.duration": "12 s", "run.sample": "0.5 s"}, None, "unstable_step"),
}


def strict(text: str) -> Any:
    """JSON as scripts in other languages read it."""

    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def make(name: str, path: Path) -> int:
    """Write a run; the rows that were planned."""
    origin, changes, rows, _ = RUNS[name]
    built = tl.load(origin, changes)

    def enough(progress: runs.Progress) -> bool:
        return rows is not None and progress.rows >= rows

    runs.run_to_file(path, built, watch=enough)
    if rows == 1:
        keep_first_row(path)
    attrs = tl.open_run(path).attrs
    return 1 + round(float(attrs["duration"]) / float(attrs["sample"]))


def keep_first_row(path: Path) -> None:
    """Leave the file as it is when it gets its name: one row, one copy of the checkpoint."""
    from tautline.files.runs import format

    with path.open("r+b") as file:
        contents = format.Contents.find(file)
        assert contents is not None
        found = format.read_copies(file, contents).newest
        rows = {name: place.row_size for name, place in contents.variables.items()}
        sums = []
        for name, size in rows.items():
            raw = np.frombuffer(format.read_at(file, contents.variables[name].offset, size))
            sums.append(format.checksum(raw))
        place = contents.copies
        only = found._replace(number=1, rows=1, closed=False, page_sums=sums).encode()
        format.write_at(file, place.offset, bytes(place.row_size))
        format.write_at(file, place.offset + place.row_size, only)


@pytest.mark.parametrize("name", RUNS)
def test_everything_ends_where_the_run_ended(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    planned = make(name, path)
    run = tl.open_run(path)
    rows = run.sizes["time"]
    assert run.attrs["status"] == RUNS[name][3]
    assert 1 <= rows < planned
    assert all(np.isfinite(run[variable].values).all() for variable in ("time", "position", "tension", "energy"))

    figures = strict(CliRunner().invoke(app, ["info", str(path), "--json"]).stdout)
    assert figures["rows"] == rows and figures["time"] == float(run.time[-1])
    assert figures["tension"] == [float(run.tension.min()), float(run.tension.max())]
    assert figures["torque"] == [float(run.torque.min()), float(run.torque.max())]
    assert figures["not_finite"] == 0
    text = CliRunner().invoke(app, ["info", str(path)]).stdout
    assert not re.search(r"\b(nan|inf)\b", text) and f"{rows} samples" in text

    done = CliRunner().invoke(
        app, ["export", str(path), "--csv", str(tmp_path / "a.csv"), "--vtk", str(tmp_path / "v"), "--html"]
    )
    assert done.exit_code == 0, done.output
    with (tmp_path / "a.csv").open() as file:
        table = list(csv.reader(file))[2:]
    assert [float(row[0]) for row in table] == run.time.values.tolist()
    entries = ElementTree.parse(tmp_path / "v" / "line.pvd").getroot().findall(".//DataSet")
    assert [float(entry.attrib["timestep"]) for entry in entries] == run.time.values.tolist()
    boot = re.search(r'<script id="boot" type="application/json">(.*?)</script>', (tmp_path / "run.html").read_text())
    assert boot is not None
    shown = strict(boot[1])["runs"][0]
    assert shown["samples"] == rows and shown["end"] == float(run.time[-1])


@pytest.mark.parametrize("trouble", ["", "replace", "room", "renamed"])
def test_the_file_of_an_early_end_has_the_size_of_its_samples(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that cannot be, the file stays as it was made; both hold the same, also after `resume`."""
    path = tmp_path / "run.nc"
    case = tl.load("crane-hoist", {"body.mass": "800 kg", "run.sample": "2 ms"})
    if trouble == "replace":
        monkeypatch.setattr(os, "replace", failing)
    elif trouble == "room":
        monkeypatch.setattr(shortening, "_has_room", lambda path, size: False)

    def watch(progress: runs.Progress) -> bool:
        if trouble == "renamed" and path.exists():
            path.rename(tmp_path / "other.nc")
        return False

    runs.run_to_file(path, case, watch=watch)
    monkeypatch.undo()
    assert [each.name for each in tmp_path.iterdir()] == ["other.nc" if trouble == "renamed" else "run.nc"]
    path = next(tmp_path.iterdir())
    expected = tl.simulate(case)
    rows, planned = len(expected.time), 1 + round(case.run.duration / 2e-3)
    kept = planned if trouble else rows
    assert rows < 0.9 * planned
    for _ in range(2):
        found = tl.open_run(path)
        assert found.attrs["status"] == "fully_retrieved" and found.attrs["duration"] == pytest.approx(8.0)
        for name in expected.variables:
            assert np.array_equal(found[name].values, expected[name].values), name
        with xr.open_dataset(path) as plain:
            assert plain.sizes["time"] == kept and bool(plain.time.isnull().any()) == (kept > rows)
        numbers = layout(tl.case_of(found).system).row_length()
        assert abs(path.stat().st_size - 8 * kept * numbers) < 0.15e6
        runs.resume(path)  # a file that could not be shortened then is now
        kept = rows


def failing(*_: Any) -> None:
    raise OSError("no")


def test_the_quick_start_with_a_heavier_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "mine.toml", "--like", "crane-hoist"]).exit_code == 0
    done = CliRunner().invoke(
        app, ["run", "mine.toml", "--set", "body.mass=800 kg", "--set", "run.sample=0.1", "--json"]
    )
    figures = strict(done.stdout)
    assert figures["status"] == "fully_retrieved" and figures["time"] == pytest.approx(4.4)
    assert figures["compile_time"] >= 0.0 and figures["wall_time"] > 0.0


CASE = tl.load("retrieval").meshed()


def sample_values(rows: int) -> dict[str, np.ndarray]:
    """Every variable from 1 to 2."""
    shape = layout(CASE.system)
    line = np.linspace(1.0, 2.0, rows)
    return {name: (np.ones(shape.shape(name, rows)).T * line).T for name in shape.all_variables()}


ATTRS = {"status": "completed", "message": "", "remarks": "", "steps": 1, "largest_step_ratio": 0.5, "order": 2}
ATTRS |= {"scheme": "symmetric", "balance_error": 0.0, "case": json.dumps(CASE.to_dict())}


def test_values_that_are_no_numbers_are_counted_and_not_spread() -> None:
    values = sample_values(4)
    values["tension"][2] = np.nan
    values["torque"][:] = np.inf
    figures = summarise([values], ATTRS | {"version": "0"})
    assert figures["tension"] == [1.0, 2.0] and figures["torque"] is None
    assert figures["not_finite"] == 4


def test_health_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from tautline.cli.output import console

    values = sample_values(4) | {
        "power": np.array([[-3.0], [0.0], [5.0], [4.0]]),
        "start_tension": np.array([[7.0], [8.0], [9.0], [8.0]]),
    }
    health = {"version": "0", "balance_error": 0.031, "remarks": "the first remark\nthe second one"}
    figures = summarise([values], ATTRS | health)
    assert figures["remarks"] == ["the first remark", "the second one"] and figures["balance_error"] == 0.031
    console(True).print(summary_table(figures, {}))
    lines = [re.sub(r" {2,}", ": ", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert "drum power: -3 to 5 W" in lines and "drum torque: 1 to 2 N m" in lines
    assert "tension at start: 7 to 9 N" in lines
    assert "energy balance error: 3.10e+00 % of the energy in play" in lines
    assert "remark 1: the first remark" in lines and "remark 2: the second one" in lines
