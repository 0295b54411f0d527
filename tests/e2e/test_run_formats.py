"""Files of other versions are refused in a sentence that names the version."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.files import runs
from tautline.files.runs import StoreError, format
from tautline.studies.store import archive


def refused(path: Path, *commands: list[str]) -> str:
    """The sentence that every command has for a file, which stays as it is."""
    sentences = set()
    for command in commands:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 4 and done.stderr.count("\n") == 1, done.output
        sentences.add(done.stderr.replace("error: ", ""))
    (sentence,) = sentences
    return str(sentence)


def test_a_run_of_another_format_is_refused(run_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_bytes(run_file.read_bytes().replace(format.MAGIC, b"\x89tautline run 3\n"))
    before = path.read_bytes()
    words = (
        f"was written by tautline {tl.__version__} ('tautline run 3'); this is tautline {tl.__version__}, which reads"
    )
    csv = str(tmp_path / "a.csv")
    found = refused(path, ["info", str(path)], ["resume", str(path)], ["export", str(path), "--csv", csv])
    assert found.startswith(f"{path}: {words}") and "run the scenario again" in found
    with pytest.raises(StoreError, match="was written by tautline"):
        tl.open_run(path)
    assert path.read_bytes() == before and [entry.name for entry in tmp_path.iterdir()] == ["run.nc"]


def test_a_run_with_other_variables_is_refused(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tautline import schema

    monkeypatch.setitem(schema.SCHEMA, "another", schema.SCHEMA["energy"])
    with pytest.raises(StoreError, match=r"small\.nc: was written by tautline .*run the scenario again"):
        tl.open_run(run_file)


def test_a_study_of_another_format_is_refused(study_store: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(study_store, tmp_path / "study.zarr"))
    file = path / "zarr.json"
    tree = json.loads(file.read_text(encoding="utf-8"))
    assert tree["attributes"]["format"] == archive.FORMAT
    tree["attributes"] |= {"format": "tautline study 1", "version": "0.0.1"}
    file.write_text(json.dumps(tree), encoding="utf-8")
    report = ["study", "report", str(path), "-o", str(tmp_path / "r")]
    found = refused(path, ["study", "info", str(path)], ["study", "--resume", str(path)], report)
    assert found.startswith(f"{path}: was written by tautline 0.0.1 ('tautline study 1'); this is tautline ")
    assert found.rstrip().endswith("compute the study again, or open it with tautline 0.0.1")


def test_a_checkpoint_with_other_arrays_is_read_and_not_resumed(run_file: Path, tmp_path: Path) -> None:
    """What the engine keeps in a checkpoint may change; a file stays readable."""
    path = tmp_path / "run.nc"
    shutil.copy(run_file, path)
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
