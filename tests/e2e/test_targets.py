"""Names of files that commands write: none that the command reads, none that ends like another kind of file."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tautline.cli.commands import app
from tests.conftest import STUDY_FILE
from tests.support.measured import measured, small_case, write_csv

OPTIMIZATION = """
scenario = "fitted.toml"
minimize = "final end_tension"
vary."body.mass" = { lower = 1.0, upper = 2.0 }
"""


def tautline(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--overwrite"] if arguments[0] not in WITHOUT else list(arguments))


WITHOUT = ("live", "new", "reproduce")  # commands that have no --overwrite


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def here(
    run_file: Path, study_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, bytes]]:
    """Content of a folder with a file of each kind, none of which may change."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(run_file, "run.nc")
    shutil.copy(STUDY_FILE, "study.toml")
    shutil.copytree(study_store, "study.zarr")
    Path("fitted.toml").write_text(small_case().to_toml(), encoding="utf-8")
    Path("best.toml").write_text(OPTIMIZATION, encoding="utf-8")
    write_csv(measured(small_case()), Path("data.csv"))
    Path("linked.nc").symlink_to("run.nc")
    before = content(tmp_path)
    yield before
    assert content(tmp_path) == before


FIT = ("fit", "fitted.toml", "data.csv", "--vary", "body.mass")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "fitted.toml", "-o", "fitted.toml"),
        ("export", "run.nc", "--html", "-o", "run.nc"),
        ("export", "run.nc", "--csv", "linked.nc"),
        ("export", "fitted.toml", "--fmu", "fitted.toml"),
        ("report", "run.nc", "-o", "run.nc"),
        ("report", "run.nc", "--pdf", "run.nc"),
        ("study", "study.toml", "-o", "study.toml"),
        ("study", "report", "study.zarr", "-o", "study.zarr"),
        ("study", "report", "study.zarr", "-o", "study.zarr/report"),
        ("study", "report", "study.zarr", "--pdf", "study.zarr/report.pdf"),
        (*FIT, "-o", "."),
        (*FIT, "--pdf", "data.csv"),
        ("optimize", "best.toml", "-o", "best.toml"),
        ("optimize", "best.toml", "-o", "fitted.toml"),
        ("live", "fitted.toml", "--record", "fitted.toml"),
    ],
)
def test_what_a_command_reads_it_does_not_write(arguments: tuple[str, ...]) -> None:
    done = tautline(*arguments)
    assert done.exit_code == 2, done.output
    assert "expected another file than the one that is read" in done.stderr


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "ending"),
    [
        (("run", "fixed-length", "-o", "fitted.toml"), ".nc"),
        (("run", "fixed-length", "-o", "out.txt"), ".nc"),
        (("export", "run.nc", "--html", "-o", "fitted.toml"), ".html or .htm"),
        (("export", "run.nc", "--csv", "fitted.toml"), ".csv, .txt or .dat"),
        (("export", "run.nc", "--gif", "a.mp4"), ".gif"),
        (("export", "run.nc", "--mp4", "a.gif"), ".mp4"),
        (("export", "fitted.toml", "--fmu", "out.zip"), ".fmu"),
        (("report", "run.nc", "-o", "fitted.toml"), ".html or .htm"),
        (("report", "run.nc", "--pdf", "fitted.toml"), ".pdf"),
        (("study", "study.toml", "-o", "fitted.toml"), ".zarr"),
        (("study", "report", "study.zarr", "--pdf", "fitted.toml"), ".pdf"),
        ((*FIT, "--pdf", "best.toml"), ".pdf"),
        (("optimize", "best.toml", "-o", "run.nc"), ".toml"),
        (("reproduce", "--pdf", "fitted.toml"), ".pdf"),
        (("live", "fixed-length", "--record", "fitted.txt"), ".nc"),
        (("new", "mine.nc"), ".toml"),
    ],
)
def test_endings_are_those_of_the_kind(arguments: tuple[str, ...], ending: str) -> None:
    done = tautline(*arguments)
    assert done.exit_code == 2, done.output
    assert f"expected a name that ends in {ending}" in done.stderr


@pytest.mark.usefixtures("here")
def test_live_looks_for_room_for_recordings_before_it_starts() -> None:
    done = tautline("live", "fixed-length", "--no-browser", "--record", "nosuch/x.nc")
    assert (done.exit_code, done.stderr) == (4, "error: nosuch/x.nc: its folder does not exist\n")


@pytest.mark.usefixtures("here")
def test_a_port_that_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(app, ["view", "run.nc", "--no-browser", "--port", str(port)])
    hint = "in use by another program; give another port, or 0 for one that is free"
    assert (done.exit_code, done.stderr) == (4, f"error: --port {port}: {hint}\n")
