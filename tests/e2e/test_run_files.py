"""Run files: streamed, killed, resumed, damaged, refused. Real processes, real SIGKILLs."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.files import runs
from tautline.files.runs import Progress, StoreError, writing
from tests.support.run_files import CASES, arguments, short

KILLS = 5  # in the middle of a run; there are more before it has begun and after it has ended


def in_child(action: Callable[[], object]) -> int:
    """Run in a forked process, so that a kill hits only that; its process id."""
    child = os.fork()
    if child == 0:
        try:
            writing.SECONDS_A_CHUNK = 0.002
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def kill_after(child: int, delay: float) -> bool:
    """SIGKILL after a delay; False if the process had ended well before."""
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "the child failed by itself"
        return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_killed_again_and_again(case: str, tmp_path: Path) -> None:
    kill_and_resume(case, tmp_path, KILLS)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_killed_hundreds_of_times(case: str, tmp_path: Path) -> None:
    """600 kills over the cases."""
    kill_and_resume(case, tmp_path, 100)


def kill_and_resume(case: str, tmp_path: Path, wanted: int) -> None:
    """At random moments: the file opens with all chunks so far, and the resumed run ends bit for bit the same."""
    parts, options = arguments(case)
    exact = tl.simulate(*parts, **options)
    rng = random.Random(case)
    path = tmp_path / "run.nc"
    kills = lost = 0
    longest = 0.15
    while lost < wanted:
        assert kills < 20 * wanted, "the kills come too early or too late to test anything"
        if path.exists():
            child = in_child(lambda: runs.resume(path))
        else:
            child = in_child(lambda: runs.run_to_file(path, *parts, **options))
        if not kill_after(child, rng.uniform(0.0, longest)):
            assert tl.open_run(path).equals(exact)
            path.unlink()  # finished before it could be killed: begin anew
            continue
        kills += 1
        if not path.exists():
            longest = min(1.0, 1.1 * longest)  # on a busy machine
            continue  # killed before the file had its name; nothing was promised yet
        found = tl.open_run(path)
        rows = found.sizes["time"]
        assert rows >= 1
        assert found.equals(exact.isel(time=slice(0, rows)))
        if rows < exact.sizes["time"]:
            lost += 1
        else:
            path.unlink()
    if not path.exists():
        runs.run_to_file(path, *parts, **options)
    runs.resume(path)
    whole = tl.open_run(path)
    assert whole.attrs["status"] == exact.attrs["status"]
    assert whole.equals(exact)
    print(f"\n{case}: {kills} kills, {lost} of them in the middle of a run, nothing lost")


def test_progress_is_told(tmp_path: Path) -> None:
    seen: list[Progress] = []
    short(tmp_path / "run.nc", watch=seen.append)
    assert [p.rows for p in seen] == sorted({p.rows for p in seen})
    assert seen[-1].time == pytest.approx(0.1) and seen[-1].duration == pytest.approx(0.1)
    assert seen[-1].balance_error == tl.open_run(tmp_path / "run.nc").attrs["balance_error"] < 1e-5


def test_file_follows_the_conventions(tmp_path: Path) -> None:
    """Plain netCDF-4: xarray opens it without us, and units are where they belong."""
    path = tmp_path / "run.nc"
    short(path, title="a title")
    with xr.open_dataset(path, decode_times=False) as raw:
        assert raw.attrs["Conventions"].startswith("CF-")
        assert raw.attrs["version"] == tl.__version__
        for name in raw.data_vars:
            assert raw[name].attrs["units"] and raw[name].attrs["long_name"]
    ours = tl.open_run(path)
    assert ours.attrs["title"] == "a title"
    assert "scenario_file" not in ours.attrs and json.loads(ours.attrs["case"])["lines"]["line"]["elements"] == 20


def test_other_programs_read_the_same_values(tmp_path: Path) -> None:
    """Rows are written past the netCDF library, into the places of its arrays."""
    path = tmp_path / "run.nc"
    short(path, duration=2.0)
    ours = tl.open_run(path)
    with xr.open_dataset(path, decode_times=False) as raw:
        assert set(ours.data_vars) <= set(raw.data_vars)
        for name in ("time", *ours.data_vars):
            np.testing.assert_array_equal(raw[name].values, ours[name].values)


def test_parts_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    short(path, duration=2.0)
    run = tl.open_run(path)
    with closing(runs.Reader(path)) as reader:
        for name in ("time", "energy", "position"):
            for rows in (slice(3, 4), slice(150, None), slice(0, None, 7), slice(None, None, 190)):
                np.testing.assert_array_equal(reader.read(name, rows), run[name].values[rows])
            np.testing.assert_array_equal(reader.read(name, slice(None, None, -3)), run[name].values[::-3])
        assert reader.read("position", slice(5, 5)).shape == (0, *run.position.shape[1:])
        assert len(reader.read("time", slice(190, 900))) == 11


def test_existing_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_text("precious")
    with pytest.raises(StoreError, match="exists already"):
        short(path)
    with pytest.raises(tl.errors.InputError):
        short(path, overwrite=True, order=5)
    assert path.read_text() == "precious"
    short(path, overwrite=True)
    assert tl.open_run(path).attrs["status"] == "completed"
    assert os.listdir(tmp_path) == ["run.nc"]


def test_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: a clear error, no half-made file, the old one untouched."""
    path = tmp_path / "run.nc"
    path.write_text("precious")

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            short(path, overwrite=True, duration=10.0)
        except StoreError as error:
            os._exit(7 if "cannot be written" in str(error) else 8)

    child = in_child(limited)
    _, status = os.waitpid(child, 0)
    assert os.WEXITSTATUS(status) == 7
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["run.nc"]


def test_foreign_damaged_and_missing_files(tmp_path: Path) -> None:
    good = tmp_path / "good.nc"
    short(good)
    bytes_ = good.read_bytes()
    cases = {
        "missing.nc": None,
        "text.nc": b"not netCDF at all",
        "empty.nc": b"",
        "truncated.nc": bytes_[: len(bytes_) // 2],
        "head.nc": bytes_[:600],
    }
    for name, content in cases.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        for action in (tl.open_run, runs.resume):
            with pytest.raises(StoreError, match=name):
                action(path)
    foreign = tmp_path / "foreign.nc"
    xr.Dataset({"x": ("t", np.zeros(3))}).to_netcdf(foreign)
    with pytest.raises(StoreError, match="not a run of tautline"):
        tl.open_run(foreign)


def test_both_copies_of_the_checkpoint_torn(tmp_path: Path) -> None:
    import netCDF4

    path = tmp_path / "run.nc"
    short(path)
    with netCDF4.Dataset(path, "r+") as handle:
        handle["checkpoint"]["copies"][:, 1000:1010] ^= 1
    for action in (tl.open_run, runs.resume):
        with pytest.raises(StoreError, match=r"run\.nc: damaged: both copies"):
            action(path)


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """A run of 200 MB in a process that may use little more than what the imports take."""
    code = f"""
import resource
from tautline.files import runs
from tests.support.run_files import arguments
parts, _ = arguments("locked")
runs.run_to_file({str(tmp_path / "small.nc")!r}, *parts, duration=0.1, step=5e-4, sample=5e-4)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
runs.run_to_file({str(tmp_path / "large.nc")!r}, *parts, duration=60.0, step=5e-4, sample=5e-4)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "large.nc").stat().st_size > 150e6
    assert float(done.stdout) < 120.0, f"{done.stdout} MB more"


def test_nothing_is_made_where_nothing_can_be(tmp_path: Path) -> None:
    for action in (tl.open_run, runs.resume):
        with pytest.raises(StoreError, match="no such file"):
            action(tmp_path / "typo.nc")
        with pytest.raises(StoreError, match="is a folder"):
            action(tmp_path)
    with pytest.raises(StoreError, match="is a folder"):
        short(tmp_path, overwrite=True)
    with pytest.raises(StoreError, match="folder does not exist"):
        short(tmp_path / "nowhere" / "run.nc")
    with pytest.raises(StoreError, match="GB are free"):
        short(tmp_path / "run.nc", duration=5e8)
    assert os.listdir(tmp_path) == []


def test_an_unfinished_run_is_named_as_such_before_it_is_replaced(tmp_path: Path) -> None:
    short(tmp_path / "run.nc", watch=lambda progress: True)
    with pytest.raises(StoreError, match="tautline resume"):
        short(tmp_path / "run.nc")
