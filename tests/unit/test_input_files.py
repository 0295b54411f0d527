"""Files that are read: regular ones of bounded size, and nothing of other files in messages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline import durable
from tautline.cli.commands import app
from tautline.studies.definition import tables
from tautline.studies.store import guard
from tests.support import chains
from tests.support.valid import PENDULUM, START

SECRET = "root:*:20228:0:99999:7:::"
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody writes into: opening it in the usual way waits for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@needs_pipes
def test_pipes_devices_and_folders_are_refused_at_once(pipe: Path) -> None:
    for path, words in ((pipe, "is a pipe"), (Path("/dev/zero"), "is a device"), (pipe.parent, "is a folder")):
        with pytest.raises(durable.NotAFileError, match=f"{words}, expected a file"):
            durable.read_input(path)


def test_size_is_bounded_also_of_files_that_say_they_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(b"x" * 2**20)
    assert len(durable.read_input(path, 2**20)) == 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(OSError, match="at most 1 MB, got a larger one"):
        durable.read_input(path, 2**20)


@needs_pipes
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "retrieval", "--set", "guide={kind='points',file='PIPE'}"],
        ["fit", "retrieval", "PIPE", "--vary", "string.stiffness"],
        ["info", "PIPE"],
        ["resume", "PIPE"],
        ["check", "PIPE"],
        ["study", "PIPE"],
        ["study", "info", "PIPE"],
        ["optimize", "PIPE"],
    ],
    ids=" ".join,
)
def test_no_command_waits_for_a_pipe(arguments: list[str], pipe: Path) -> None:
    result = CliRunner().invoke(app, [part.replace("PIPE", str(pipe)) for part in arguments])
    assert result.exit_code in (2, 4) and result.output.startswith("error: "), result.output
    assert "pipe" in result.output


@needs_pipes
def test_checkpoints_and_chunks_of_studies_are_no_pipes(pipe: Path) -> None:
    with pytest.raises(tl.errors.InputError, match="is a pipe"):
        tl.Simulation.load(pipe)
    assert guard.state_of(pipe) == "damaged"
    with pytest.raises(durable.StoreError, match="damaged"):
        guard.read_metadata(pipe)


@pytest.mark.parametrize("rest", ["", f"{SECRET}\n" * 3, "a,b\n1,2\n"])
def test_messages_do_not_quote_files_that_are_no_tables(rest: str, tmp_path: Path) -> None:
    path = tmp_path / "shadow"
    path.write_text(f"{SECRET}\n{rest}", encoding="utf-8")
    with pytest.raises(tl.errors.InputError) as caught:
        tl.load("retrieval", {"guide": {"kind": "points", "file": str(path)}})
    assert "20228" not in str(caught.value)
    with pytest.raises(tl.errors.InputError) as caught:
        tables.from_file(path)
    assert "20228" not in str(caught.value)


def test_tables_of_functions_have_a_bounded_length() -> None:
    with pytest.raises(tl.errors.InputError, match="interval: expected at least a millionth of the duration"):
        tl.motions.GuidePath.of(lambda t: (0.0, 0.0, t), 1e9, 1e-9)


def test_full_disk_names_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    simulation = chains.simulation(PENDULUM, START)
    monkeypatch.setattr("numpy.savez", full)
    with pytest.raises(durable.StoreError, match=r"state\.npz: cannot be written: No space left on device"):
        simulation.save(tmp_path / "state.npz")
    assert not list(tmp_path.iterdir())
