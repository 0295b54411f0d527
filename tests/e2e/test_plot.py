"""`tautline plot`: which figures, into which files, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

import tautline as tl
from tautline.cli.commands import app
from tautline.cli.plotting import USUAL
from tautline.errors import InputError

RUN = "RUN"  # in the place of the run file


def plot(run: Path, *arguments: object) -> Result:
    return CliRunner().invoke(app, ["plot", *(str(run if x == RUN else x) for x in arguments)])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_usual_figures_go_into_the_current_folder(run_file: Path, here: Path) -> None:
    done = plot(run_file, RUN)
    assert done.exit_code == 0, done.output
    expected = [f"small-{name}.png" for name in USUAL]
    assert done.stdout.split() == expected
    assert sorted(path.name for path in here.iterdir()) == sorted(expected)


@pytest.mark.long
def test_several_runs_formats_and_figures_in_a_folder(run_file: Path, here: Path) -> None:
    names = ["small", "other"]
    shutil.copy(run_file, here / "other.nc")
    done = plot(
        run_file,
        *(RUN, "other.nc"),
        *("--figure", "drive", "--figure", "energy", "--figure", "drive", "--format", "svg", "--format", "pdf"),
        *("-o", "new/folder", "--quiet"),
    )
    assert (done.exit_code, done.output) == (0, "")
    found = {path.name for path in (here / "new" / "folder").iterdir()}
    assert found == {f"{run}-{name}.{kind}" for run in names for name in ("drive", "energy") for kind in ("svg", "pdf")}
    assert (here / "new/folder/small-drive.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (here / "new/folder/small-drive.pdf").read_bytes().startswith(b"%PDF")


def test_one_figure_into_one_file(run_file: Path, here: Path) -> None:
    assert plot(run_file, RUN, "--figure", "tension", "-o", "mine.png").stdout == "mine.png\n"
    with Image.open(here / "mine.png") as picture:
        assert picture.format == "PNG"
    again = plot(run_file, RUN, "--figure", "tension", "-o", "mine.png")
    assert again.exit_code == 4 and "mine.png: exists already; allow overwriting with --overwrite" in again.stderr
    assert plot(run_file, RUN, "--figure", "tension", "-o", "mine.png", "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nosuch.nc",), 4, "nosuch.nc: no such file"),
        ((RUN, "--figure", "speed"), 2, "--figure: expected one of 'snapshots', "),
        ((RUN, "--figure", "energi"), 2, "got 'energi'; did you mean 'energy'?"),
        ((RUN, "--format", "bmp"), 2, "--format: expected one of 'png', 'svg', 'pdf', got 'bmp'"),
        ((RUN, "-o", "all.png"), 2, "--output: expected a folder for several figures"),
        ((RUN, "-o", __file__), 2, "--output: expected a folder or a name that ends in .png, .svg or .pdf"),
        ((RUN, RUN), 2, "RUN: expected files of different names"),
        ((RUN, "-o", "/dev/null/folder"), 4, "cannot be written"),
    ],
)
def test_refusals(arguments: tuple[object, ...], code: int, words: str, run_file: Path, here: Path) -> None:
    done = plot(run_file, *arguments)
    assert done.exit_code == code, done.output
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(here.iterdir())


def test_figures_take_a_path_and_say_what_they_need(run_file: Path) -> None:
    assert (
        tl.figures.drive(run_file).axes[0].get_ylabel() == tl.figures.drive(tl.open_run(run_file)).axes[0].get_ylabel()
    )
    assert tl.figures.drive(str(run_file)).axes
    with pytest.raises(InputError, match="run: expected a Dataset of simulate or open_run, or the path"):
        tl.figures.drive(3)  # type: ignore[arg-type]
    whole = tl.open_run(run_file)
    with pytest.raises(InputError, match="run: expected one with position, strain, as simulate and open_run give it"):
        tl.figures.snapshots(whole[["attitude", "torque"]])
    with pytest.raises(InputError, match="run: expected samples over time, got none"):
        tl.figures.drive(whole.isel(time=0))
    with pytest.raises(InputError, match="run: expected samples with finite positions, got none"):
        tl.figures.snapshots(whole.assign(position=whole.position * float("nan")))


def test_a_run_that_overflowed_and_a_single_sample_are_drawn(run_file: Path) -> None:
    whole = tl.open_run(run_file)
    torn = whole.assign(position=whole.position.where(whole.time < 0.2))
    assert tl.figures.snapshots(torn).get_suptitle().endswith(f"{float(torn.time[torn.time < 0.2][-1]):g}] s")
    for name, draw in tl.figures.OF_A_RUN.items():
        assert draw(whole.isel(time=[3])).axes, name
