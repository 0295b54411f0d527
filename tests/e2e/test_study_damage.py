"""Stores that were damaged: none is read as if nothing had happened, and what can be computed again is."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.files.runs import StoreError
from tautline.studies.analysis.summary import summarize
from tautline.studies.execution.run import Progress
from tautline.studies.store.archive import open_archive
from tests.support import damage

STUDY = {
    "scenario": "fixed-length",
    "set": {"run.duration": 0.02, "run.elements": 3},
    "vary": {"string.stiffness": [20.0, 40.0, 80.0], "initial.deployed": [9.0, 10.0, 11.0, 120.0]},
    "outputs": ["max tension", "final angular_velocity", "energy"],
}
BATCH = 3  # the last batch of every row is not full
DAMAGES = 500


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "whole.zarr"
    tl.study(STUDY, path, workers=1, batch=BATCH)
    return path


@pytest.fixture(scope="module")
def exact(store: Path) -> xr.Dataset:
    return tl.open_study(store).load()


def chunks(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file() and p.name != "zarr.json"}


def outcome(path: Path, whole: Path, exact: xr.Dataset) -> tuple[str, str]:
    """Outcome of reading and resuming a damaged store."""
    try:
        summarize(path)
        read = tl.open_study(path).load()
    except StoreError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        seen = "refused"
    else:
        if read.attrs["status"] == "completed":
            seen = "as it was" if read.identical(exact) else "SILENT"
        else:
            there = read.status.values >= 0
            same = (np.array_equal(read[n].values[there], exact[n].values[there], equal_nan=True) for n in NUMBERS)
            seen = "unfinished" if all(same) else "SILENT"
    try:
        resumed = tl.studies.resume_study(path, workers=1)
    except StoreError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return seen, "refused"
    same_bytes = chunks(path) == chunks(whole)
    return seen, "whole again" if resumed.load().identical(exact) and same_bytes else "SILENT"


NUMBERS = ("max_tension", "final_angular_velocity", "energy", "steps", "largest_step_ratio")


def try_damages(folder: Path, store: Path, exact: xr.Dataset, count: int, seed: str) -> dict[str, Counter[str]]:
    """Counts of what damaged stores came to, by kind of damage."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in damage.KINDS}
    for k in range(count):
        rng = random.Random(f"{seed} {k}")
        kind = list(damage.KINDS)[k % len(damage.KINDS)]
        path = folder / "damaged.zarr"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(store, path)
        what = damage.damage(path, kind, rng)
        seen, resumed = outcome(path, store, exact)
        assert "SILENT" not in (seen, resumed), f"damage {k}: {what}: read {seen}, resumed {resumed}"
        counts[kind][f"read: {seen}, resumed: {resumed}"] += 1
    for kind, found in counts.items():
        print(f"{kind}: " + "; ".join(f"{number} {words}" for words, number in sorted(found.items())))
    return counts


@pytest.mark.long
def test_no_damage_of_many_is_silent(tmp_path: Path, store: Path, exact: xr.Dataset) -> None:
    counts = try_damages(tmp_path, store, exact, DAMAGES, "all")
    assert sum(sum(found.values()) for found in counts.values()) == DAMAGES


def damaged_copy(store: Path, tmp_path: Path, name: str = "s.zarr") -> Path:
    return Path(shutil.copytree(store, tmp_path / name))


def victim(path: Path, name: str, batch: int) -> Path:
    return path / open_archive(path).kept.chunk(name, batch)


@pytest.mark.parametrize("name", ["max_tension", "energy", "status", "message", "health", "warnings", "done"])
@pytest.mark.parametrize("kind", ["flips", "cuts", "deletions"])
def test_the_batch_and_the_array_are_named(
    store: Path, exact: xr.Dataset, tmp_path: Path, name: str, kind: str
) -> None:
    """By every command, with its exit code and without a traceback; resuming computes that batch and no other."""
    path = damaged_copy(store, tmp_path)
    before = chunks(path)
    damage.KINDS[kind](victim(path, name, 5), random.Random(1))
    if (name, kind) == ("done", "deletions"):
        assert summarize(path)["status"] == "unfinished"  # which is true: nobody knows that it was complete
    else:
        what = "the mark of batch 5" if name == "done" else f"array {name} of batch 5"
        for arguments in (["study", "info", str(path)], ["study", "report", str(path), "-o", str(tmp_path / "r")]):
            told = CliRunner().invoke(app, arguments)
            assert told.exit_code == 4 and f"s.zarr: {what} is " in told.output, told.output
            assert f"`tautline study --resume {path}` computes that batch again" in told.output.replace("\n", " ")
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return False

    found = tl.studies.resume_study(path, workers=1, watch=watch)
    assert found.load().identical(exact) and chunks(path) == before
    assert seen[-1].done - seen[0].begun == open_archive(path).layout.size(5)
    assert seen[-1].mended == (0 if (name, kind) == ("done", "deletions") else 1)


def test_resuming_says_what_was_computed_again(store: Path, tmp_path: Path) -> None:
    path = damaged_copy(store, tmp_path)
    victim(path, "energy", 2).unlink()
    told = CliRunner().invoke(app, ["study", "--resume", str(path)])
    assert told.exit_code == 0 and "1 damaged batch" in told.output
    again = CliRunner().invoke(app, ["study", "--resume", str(path)])
    assert again.exit_code == 0 and "damaged" not in again.output


def test_several_damaged_batches_are_counted(store: Path, tmp_path: Path) -> None:
    path = damaged_copy(store, tmp_path)
    for batch in (1, 4):
        victim(path, "energy", batch).unlink()
    told = CliRunner().invoke(app, ["study", "info", str(path)]).output
    assert "array energy of batch 1 is missing; so is 1 other batch" in told


def test_a_damaged_design_cannot_be_computed_again(store: Path, tmp_path: Path) -> None:
    path = damaged_copy(store, tmp_path)
    damage.flip(path / "string.stiffness" / "c" / "0", random.Random(1))
    for arguments in (["study", "info", str(path)], ["study", "--resume", str(path)], ["study", "report", str(path)]):
        told = CliRunner().invoke(app, arguments)
        assert told.exit_code == 4 and "array string.stiffness, which belongs to the design" in told.output


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ("", "the study's attributes (zarr.json) were changed"),
        ("max_tension", "the metadata of array max_tension (max_tension/zarr.json) is missing or was changed"),
    ],
)
def test_edited_attributes_are_refused(store: Path, tmp_path: Path, array: str, words: str) -> None:
    path = damaged_copy(store, tmp_path)
    file = path / array / "zarr.json"
    tree = json.loads(file.read_text(encoding="utf-8"))
    tree["attributes"]["title" if not array else "units"] = "lbf"
    file.write_text(json.dumps(tree), encoding="utf-8")
    for arguments in (["study", "info"], ["study", "--resume"], ["study", "report"]):
        told = CliRunner().invoke(app, [*arguments, str(path)])
        assert told.exit_code == 4 and words in told.output
    # and may be replaced, if the user says so
    with pytest.raises(StoreError, match=r"was changed|were changed"):
        tl.study(STUDY, path)
    assert tl.study(STUDY, path, overwrite=True, workers=1).attrs["status"] == "completed"
