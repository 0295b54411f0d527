"""One run file of every format is read, summarised and exported; reading needs no engine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline import ledger, schema
from tautline.cli.commands import app
from tautline.files import runs
from tautline.files.runs import StoreError
from tautline.model import kinds
from tautline.results.inputs import pendulum_of

DATA = Path(__file__).parents[1] / "data" / "runs"
FORMATS = [1, 2, 3, 4]


@pytest.mark.parametrize("number", FORMATS)
def test_every_format_is_read(number: int) -> None:
    """Values as the netCDF library finds them, attributes as the code of that time gave them."""
    path = DATA / f"format-{number}.nc"
    run = tl.open_run(path)
    with netCDF4.Dataset(path) as raw:
        assert raw.format == f"tautline run {number}"
        for name in ("time", *run.data_vars):
            if name in raw.variables:
                np.testing.assert_array_equal(run[name].values, np.asarray(raw[name][:]))
    expected = json.loads(path.with_suffix(".json").read_text())
    pendulum = pendulum_of(run.attrs)
    if number < 4:
        expected.pop("scenario_file")
        described = json.loads(expected.pop("scenario"))["pendulum"]
        for part in ("string", "reel", "body"):
            check_part(getattr(pendulum, part), described[part])
        assert pendulum.gravity == described["gravity"] and pendulum.fluid is None
    else:
        assert tl.Case.from_dict(json.loads(run.attrs["case"])).pendulum == pendulum
    assert {name: run.attrs[name] for name in expected} == expected


def check_part(part: Any, described: dict[str, Any]) -> None:
    """A part of the pendulum as earlier formats described it."""
    for name, value in described.items():
        found = kinds.plain(getattr(part, name.replace("wound_strain", "spooled_strain")))
        assert found == value, name


@pytest.mark.parametrize("number", FORMATS)
def test_what_a_format_did_not_know_is_missing_and_not_invented(number: int) -> None:
    run = tl.open_run(DATA / f"format-{number}.nc")
    with netCDF4.Dataset(DATA / f"format-{number}.nc") as raw:
        missing = set(schema.SCHEMA) - set(raw.variables)
    for name in missing - set(ledger.booked()):
        assert np.isnan(run[name].values).all()
    # the accounts of an older format are complete: nothing that it knew could change the others
    kept = ledger.kept_energy(run).values
    assert np.ptp(kept) < 1e-4 * run.kinetic_energy.values.max()


@pytest.mark.parametrize("number", FORMATS)
def test_every_format_is_summarised_and_exported(number: int, tmp_path: Path) -> None:
    path = str(DATA / f"format-{number}.nc")
    summary = CliRunner().invoke(app, ["info", path, "--json"])
    figures = json.loads(summary.stdout)
    assert figures["rows"] == 21 and figures["not_finite"] == 0 and figures["status"] == "completed"
    assert "nan" not in CliRunner().invoke(app, ["info", path]).stdout
    targets = ["--csv", str(tmp_path / "a.csv"), "--vtk", str(tmp_path / "frames"), "--html", "-o"]
    done = CliRunner().invoke(app, ["export", path, *targets, str(tmp_path / "a.html")])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 23
    assert len(list((tmp_path / "frames").glob("string_*.vtp"))) == 21


def test_an_old_run_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "old.nc"
    shutil.copy(DATA / "format-2-unfinished.nc", path)
    run = tl.open_run(path)
    assert run.attrs["status"] == "unfinished" and run.sizes["time"] == 6
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"old\.nc: a run of an older format"):
        runs.resume(path)
    assert path.read_bytes() == before


READ = """
import sys
from pathlib import Path
from typing import Any
import tautline as tl
from typer.testing import CliRunner
from tautline.cli.commands import app
folder, *paths = sys.argv[1:]
for number, path in enumerate(paths):
    run = tl.open_run(path)
    target = f"{folder}/{number}"
    files = ["--csv", target + ".csv", "--vtk", target + "-frames", "--html", "-o", target + ".html"]
    for arguments in (["info", path], ["info", path, "--json"], ["export", path, *files]):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        engine = {"numba", "tautline.engine.simulation", "tautline.kernels.march"} & set(sys.modules)
        assert not engine, (path, arguments, engine)
"""


def test_reading_needs_no_engine(tmp_path: Path) -> None:
    files = [str(DATA / f"format-{number}.nc") for number in FORMATS]
    arguments = [sys.executable, "-c", READ, str(tmp_path), *files]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_arrays_of_another_length_are_read(tmp_path: Path) -> None:
    """What the engine keeps in a checkpoint may change; a file stays readable."""
    from tautline.files.runs import format

    path = tmp_path / "run.nc"
    shutil.copy(DATA / "format-4.nc", path)
    whole = tl.open_run(path)
    with path.open("r+b") as file:
        contents = format.Contents.find(file)
        assert contents is not None
        copy = format.read_copies(file, contents).newest
        copy = copy._replace(number=copy.number + 1, arrays={"other": np.arange(3.0)})
        place = contents.copies
        format.write_at(file, place.offset + copy.number % format.COPIES * place.row_size, copy.encode())
    assert tl.open_run(path).identical(whole)
    with pytest.raises(StoreError, match=r"run\.nc"):
        runs.resume(path)
