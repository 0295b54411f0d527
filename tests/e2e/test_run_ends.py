"""Runs that end early, are unfinished, or have one sample: summaries and exports end where the run ended."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline import durable
from tautline.cli.output import two_columns
from tautline.files import runs
from tautline.results.network import layout
from tautline.results.summary import summarize
from tautline.results.summary_text import summary_rows
from tautline.results.warnings import encoded


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
        monkeypatch.setattr(durable, "free_space", lambda path: 0.0 if path.exists() else 1e12)

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


CASE = tl.load("retrieval").meshed()


def sample_values(rows: int) -> dict[str, np.ndarray]:
    """Every variable from 1 to 2."""
    shape = layout(CASE.system)
    line = np.linspace(1.0, 2.0, rows)
    return {name: (np.ones(shape.shape(name, rows)).T * line).T for name in shape.all_variables()}


ATTRS = {"status": "completed", "message": "", "warnings": "[]", "steps": 1, "largest_step_ratio": 0.5, "order": 2}
ATTRS |= {"scheme": "symmetric", "balance_error": 0.0, "case": json.dumps(CASE.to_dict())}


def test_values_that_are_no_numbers_are_counted_and_not_spread() -> None:
    values = sample_values(4)
    values["tension"][2] = np.nan
    values["torque"][:] = np.inf
    figures = summarize([values], ATTRS | {"version": "0"})
    assert figures["tension"] == [1.0, 2.0] and figures["torque"] is None
    assert figures["not_finite"] == 4


def test_health_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from tautline.cli.output import console

    values = sample_values(4) | {
        "power": np.array([[-3.0], [0.0], [5.0], [4.0]]),
        "start_tension": np.array([[7.0], [8.0], [9.0], [8.0]]),
    }
    found = [tl.RunWarning("mesh", "the first", 0.03, 0.02), tl.RunWarning("step", "the second")]
    health = {"version": "0", "balance_error": 0.031, "warnings": encoded(found)}
    figures = summarize([values], ATTRS | health)
    assert figures["warnings"] == [w.to_dict() for w in found] and figures["balance_error"] == 0.031
    console(True).print(two_columns(summary_rows(figures, {})))
    lines = [re.sub(r" {2,}", ": ", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert "drum power: -3 to 5 W" in lines and "drum torque: 1 to 2 N m" in lines
    assert "tension at start: 7 to 9 N" in lines
    assert "energy balance error: 3.1 % of the energy in play" in lines
    assert "warning 1: the first" in lines and "warning 2: the second" in lines


SEA = {"guide.amplitude": 3.0, "guide.period": 5.0, "run.duration": 20.0, "run.sample": 0.2}  # a cable that snaps


def test_use_of_a_breaking_load_is_not_shown_without_its_doubt(tmp_path: Path) -> None:
    """The table and the JSON of `run` and `info`, and `tl.summary`, say what `tl.analysis.utilization` warns of."""
    from typer.testing import CliRunner

    from tautline.cli.commands import app

    file = tmp_path / "run.nc"
    settings = [word for key, x in SEA.items() for word in ("--set", f"{key}={x}")]
    shown = {"run": CliRunner().invoke(app, ["run", "sea-cable", *settings, "-o", str(file)])}
    run = tl.open_run(file)
    use = tl.analysis.utilization(run)
    (doubt,) = use.warnings
    assert doubt.kind == "sampling"
    shown["info"] = CliRunner().invoke(app, ["info", str(file)])
    for name, done in shown.items():
        assert done.exit_code == 0, done.output
        words = " ".join(done.stdout.split())
        assert f"of the breaking load at most between samples {doubt.text}" in words, name
    assert f"between samples{' ' * 10}" in tl.summary(run) and doubt.text in tl.summary(run)
    again = ["run", "sea-cable", *settings, "-o", str(file), "--overwrite", "--json"]
    for arguments in (again, ["info", str(file), "--json"]):
        figures = json.loads(CliRunner().invoke(app, arguments).stdout)
        figures = figures.get("summary", figures)
        assert figures["utilization"] == use.utilization
        assert figures["utilization_warnings"] == [doubt.to_dict()]
    close = tl.simulate(tl.load("sea-cable", SEA | {"run.sample": 0.005}))
    assert tl.analysis.utilization(close).warnings == () and "between samples" not in tl.summary(close)


def test_doubts_of_several_lines_are_those_of_their_utilization_in_pieces_too() -> None:
    case = tl.load("hook-and-load", {"run.sample": "500 ms", "lines.sling.breaking_load": "30 kN"})
    run = tl.simulate(case)
    expected = [w.to_dict() for name in case.system.lines for w in tl.analysis.utilization(run, line=name).warnings]
    values = {str(name): x.values for name, x in run.data_vars.items()} | {"time": run.time.values}
    assert len(expected) > 1
    for cuts in ([], [1], [2, 3, 5], list(range(1, len(run.time)))):
        rows = np.split(np.arange(len(run.time)), cuts)
        figures = summarize([{name: x[k] for name, x in values.items()} for k in rows], dict(run.attrs))
        assert figures["utilization_warnings"] == expected


def test_lines_without_a_breaking_load_have_no_doubts() -> None:
    figures = summarize([sample_values(4)], ATTRS | {"version": "0"})
    assert figures["utilization"] is None and figures["utilization_warnings"] == []
