"""Damage to run files is never silent: each is refused in a sentence, or changes nothing that is read or resumed."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.files import runs
from tautline.files.runs import StoreError, format, writing
from tautline.files.runs.writing import Progress
from tests.support import damage
from tests.support.written import written_run

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of the netCDF library about damaged files
ATTRIBUTES: dict[str, object] = {
    "sample": 0.005,
    "rows_planned": np.int64(7),
    "Conventions": "CF-1.0",
    "title": "another title",
    "version": "0.0.1",
    "format": "tautline run 3",
    "source": "tautline 9",
    "new": "attribute",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Run files in every condition; the pages are small, so that several are there."""
    folder = tmp_path_factory.mktemp("whole")
    names = ("finished", "early", "stopped", "killed", "one_row")
    paths = {name: folder / f"{name}.nc" for name in names}
    saved = writing.SECONDS_A_CHUNK, format.BYTES_A_PAGE
    writing.SECONDS_A_CHUNK, format.BYTES_A_PAGE = 1e-6, 8 * 12 * 4
    try:
        written_run(paths["finished"])
        written_run(paths["early"], duration=4.0)
        written_run(paths["stopped"], watch=lambda progress: progress.rows >= 11)

        def copied(progress: Progress) -> bool:
            """The file as a kill would leave it at this moment."""
            for name, rows in (("one_row", 2), ("killed", 10)):
                if progress.rows == rows:
                    shutil.copy(folder / "running.nc", paths[name])
            return False

        written_run(folder / "running.nc", watch=copied)
    finally:
        writing.SECONDS_A_CHUNK, format.BYTES_A_PAGE = saved
    assert tl.open_run(paths["early"]).attrs["status"] == "fully_deployed"
    assert tl.open_run(paths["killed"]).attrs["status"] == "unfinished"
    return paths


def edit(path: Path, rng: random.Random) -> str:
    """An attribute, or a row, by the netCDF library."""
    with netCDF4.Dataset(path, "r+") as handle:
        name = rng.choice([*ATTRIBUTES, "units", "gone", *handle.variables])
        if name in handle.variables:
            handle[name][rng.randrange(5)] += 1e-9
        elif name == "units":
            handle["tension"].units = "kN"
        elif name == "gone":
            del handle.title
        else:
            handle.setncattr(name, ATTRIBUTES[name])
    return f"{name} edited"


DAMAGES = (damage.flip, damage.zero, damage.noise, damage.cut, damage.append, edit)


def outcome(path: Path, whole: xr.Dataset, complete: xr.Dataset) -> str:
    """Outcome of reading and resuming a damaged file."""
    results = set()
    try:
        run = tl.open_run(path)
        if run.identical(whole):
            results.add("same")
        else:
            # a broken checkpoint: the one before it counts fewer rows, and that is said
            assert "torn or damaged" in run.attrs["message"]
            assert run.equals(whole.isel(time=slice(0, run.sizes["time"])))
            results.add("told")
    except StoreError as error:
        assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        results.add("refused")
    try:
        runs.resume(path)
        assert tl.open_run(path).identical(complete)
        results.add("same")
    except StoreError as error:
        assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        results.add("refused")
    assert results != {"same", "refused"}, "read without a word, and not resumed"
    return max(results)  # "told" before "same" before "refused"


def trials(files: dict[str, Path], folder: Path, count: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    wholes, completes = {}, {}
    copy = folder / "run.nc"
    for name, path in files.items():
        shutil.copy(path, copy)
        wholes[name] = tl.open_run(copy)
        runs.resume(copy)
        completes[name] = tl.open_run(copy)
    rng = random.Random(seed)
    for number in range(count):
        name = rng.choice(list(files))
        shutil.copy(files[name], copy)
        what = rng.choice(DAMAGES)(copy, rng)
        try:
            counts[outcome(copy, wholes[name], completes[name])] += 1
        except BaseException as error:
            raise AssertionError(f"trial {number}: {name}, {what}: {error!r}") from error
    print(f"\n{count} damaged run files: {dict(counts)}, none silent")
    return counts


@pytest.mark.long
def test_damage_is_noticed_often(files: dict[str, Path], tmp_path: Path) -> None:
    assert trials(files, tmp_path, 3_000, 2)["refused"] > 1200


def test_the_trials_can_fail(files: dict[str, Path], tmp_path: Path) -> None:
    """Were other values read, or other values resumed to, the trials would say so."""
    whole = tl.open_run(files["finished"])
    wrong = whole.copy(deep=True)
    wrong["tension"].values[3, 1] += 1e-9
    with pytest.raises(AssertionError):
        outcome(files["finished"], wrong, whole)
    with pytest.raises(AssertionError):
        outcome(files["finished"], whole, wrong)


def edit_attribute(path: Path) -> None:
    with netCDF4.Dataset(path, "r+") as handle:
        handle.rows_planned = np.int64(10**6)


def edit_rows(path: Path) -> None:
    with netCDF4.Dataset(path, "r+") as handle:
        handle["position"][3, 1, 2] += 1e-12


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def forget_the_contents(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(format.MAGIC, bytes(len(format.MAGIC))))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (edit_attribute, "its header or an attribute was changed"),
        (edit_rows, "of position do not match their checksum"),
        (cut, "bytes, and was made with"),
        (forget_the_contents, "its table of contents is gone"),
    ],
)
def test_commands_name_what_is_damaged(
    change: Callable[[Path], None], words: str, files: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "run.nc"
    shutil.copy(files["stopped"], path)
    change(path)
    before = path.read_bytes()
    csv = str(tmp_path / "a.csv")
    for command in (["info"], ["info", "--json"], ["resume"], ["export", "--csv", csv], ["export", "--html"]):
        done = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
        assert done.exit_code == 4, done.output
        assert done.stdout == "" and done.stderr.startswith(f"error: {path}: damaged: ") and words in done.stderr
        assert done.stderr.count("\n") == 1
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.nc"]
