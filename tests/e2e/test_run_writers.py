"""Who may write a run file: one process at a time, into a regular file, leaving nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline import durable
from tautline.cli.commands import app
from tautline.files import runs
from tautline.files.runs import StoreError
from tests.support.run_files import arguments, short

# A run that goes on until it is killed; every sample waits a little.
WRITING = """
import sys, time
from tautline.files import runs
from tautline.files.runs import writing
from tests.support.run_files import arguments
writing.SECONDS_A_CHUNK = 1e-6
parts, options = arguments("locked")
def slowly(progress):
    print(progress.rows, flush=True)
    time.sleep(0.05)
    return False
if sys.argv[2] == "resume":
    runs.resume(sys.argv[1], slowly)
else:
    runs.run_to_file(sys.argv[1], *parts, watch=slowly, overwrite=True, **options)
"""


@contextmanager
def a_writer(path: Path, what: str = "run") -> Iterator[subprocess.Popen[str]]:
    """Another process that is writing the file, killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path), what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        if not process.stdout.readline():
            raise AssertionError(process.stderr.read())
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    """Another run or resume is refused, and the first goes on as if nothing had been; after kill -9 the way is free."""
    path = tmp_path / "run.nc"
    with a_writer(path) as process:
        inode = path.stat().st_ino
        for overwrite in (True, False):
            with pytest.raises(StoreError, match=r"run\.nc: another process is writing this file"):
                short(path, overwrite=overwrite)
        with pytest.raises(StoreError, match="another process is writing"):
            runs.resume(path)
        for command in (["run", "fixed-length", "-o", str(path), "--overwrite"], ["resume", str(path)]):
            done = CliRunner().invoke(app, command)
            assert done.exit_code == 4 and "another process is writing" in done.stderr
        assert tl.open_run(path).attrs["status"] == "unfinished"
        assert path.stat().st_ino == inode and process.poll() is None
        assert os.listdir(tmp_path) == ["run.nc"]
    with a_writer(path, "resume"), pytest.raises(StoreError, match="another process is writing"):
        runs.resume(path)
    rows = tl.open_run(path).sizes["time"]
    assert rows > 1
    short(path, overwrite=True)
    assert tl.open_run(path).attrs["status"] == "completed"


def test_two_that_replace_a_file_at_once(tmp_path: Path) -> None:
    """One of them wins the name while it writes; the other is refused, and nobody's file is replaced."""
    path = tmp_path / "run.nc"
    path.write_text("old")
    parts = [tmp_path / f"{k}.part" for k in range(8)]
    handles = []
    outcomes: list[str] = []
    for part in parts:
        part.write_text(part.name)
        handle = part.open("r+b")
        assert durable.lock(handle)
        handles.append(handle)

    def claim(part: Path) -> None:
        try:
            durable.give_name(part, path, True)
            outcomes.append(part.name)
        except StoreError:
            outcomes.append("refused")

    threads = [threading.Thread(target=claim, args=[part]) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes)[1:] == ["refused"] * 7
    assert path.read_text() == min(outcomes)
    for handle in handles:
        handle.close()


def test_readers_of_other_programs_do_not_lock_a_run_out(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    short(path)
    with xr.open_dataset(path, decode_times=False) as held:
        short(path, overwrite=True)
        assert held.sizes["time"] == 11


@pytest.mark.parametrize("kind", ["device", "pipe", "link to a device"])
def test_only_regular_files_are_written(kind: str, tmp_path: Path) -> None:
    """As root, a device would be replaced by a file."""
    run = tmp_path / "run.nc"
    short(run)
    if kind == "device":
        target = Path("/dev/null")
    elif kind == "pipe":
        target = tmp_path / "pipe"
        os.mkfifo(target)
    else:
        target = tmp_path / "link"
        target.symlink_to("/dev/null")
    before = os.lstat(target)
    commands = [
        ["run", "fixed-length", "--set", "run.duration=0.2", "-o", str(target), "--overwrite"],
        ["export", str(run), "--csv", str(target), "--overwrite"],
        ["export", str(run), "--vtk", str(target), "--overwrite"],
        ["export", str(run), "--html", "-o", str(target), "--overwrite"],
        ["info", str(target)],
        ["resume", str(target)],
    ]
    for command in commands:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 4, (command, done.output)
        assert "expected" in done.stderr and ("is a device" in done.stderr or "is a pipe" in done.stderr)
    simulation = runs.resume(run)
    for write in (simulation.save, tl.view(tl.open_run(run)).save):
        with pytest.raises(StoreError, match="expected the name of a file"):
            write(target)
    after = os.lstat(target)
    assert (before.st_mode, before.st_ino) == (after.st_mode, after.st_ino)


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    gone = [tmp_path / f"run.nc.{child}.part", tmp_path / f"run.nc.{child}-3.part"]
    kept = [tmp_path / f"run.nc.{os.getpid()}.part", tmp_path / f"other.nc.{child}.part", tmp_path / "run.nc.part"]
    for path in (*gone, *kept):
        path.write_text("left")
    short(tmp_path / "run.nc")
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in kept)


def test_a_run_killed_before_it_has_its_name_leaves_nothing_for_long(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from tautline import durable
from tests.support.run_files import short
from pathlib import Path
durable.give_name = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
short(Path(sys.argv[1]))
"""
    path = tmp_path / "run.nc"
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 1 and not path.exists()
    short(path)
    assert os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EROFS, "the file system is mounted read-only"),
        (errno.EACCES, "not allowed"),
        (errno.ENOSPC, "No space left"),
    ],
)
def test_why_a_file_cannot_be_written(code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.nc"
    short(path, watch=lambda progress: True)
    opened, opened_by_number = Path.open, os.open

    def refusing_numbers(name: str, flags: int, *rest: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY):
            raise OSError(code, os.strerror(code), str(name))
        return opened_by_number(name, flags, *rest)

    def refusing(self: Path, mode: str = "r", *rest: object, **options: object) -> object:
        if mode != "r" and mode != "rb":
            raise OSError(code, os.strerror(code), str(self))
        return opened(self, mode, *rest, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refusing)
    monkeypatch.setattr(os, "open", refusing_numbers)
    for action in (runs.resume, lambda target: short(target, overwrite=True)):
        with pytest.raises(StoreError, match=words) as caught:
            action(path)
        assert "damaged" not in str(caught.value)
    assert tl.open_run(path).attrs["status"] == "unfinished"


def test_several_processes_save_one_checkpoint(tmp_path: Path) -> None:
    """Each writes under a name of its own; what is there in the end is one of them, whole."""
    path = tmp_path / "checkpoint.npz"
    simulation = short(tmp_path / "run.nc")
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                for _ in range(40):
                    simulation.save(path)
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert tl.Simulation.load(path).time == simulation.time
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.npz", "run.nc"]


def test_a_slow_reader_sees_rows_that_stay(tmp_path: Path) -> None:
    """While another process writes, what is counted never changes."""
    path = tmp_path / "run.nc"
    parts, options = arguments("locked")
    exact = tl.simulate(*parts, **options)
    with a_writer(path):
        seen: list[int] = []
        deadline = time.monotonic() + 20.0
        while len(seen) < 5 and time.monotonic() < deadline:
            run = tl.open_run(path)
            if not seen or run.sizes["time"] > seen[-1]:
                seen.append(run.sizes["time"])
                assert run.equals(exact.isel(time=slice(0, seen[-1])))
    assert len(seen) == 5 and np.all(np.diff(seen) > 0)
