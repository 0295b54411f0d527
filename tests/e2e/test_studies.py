"""Studies as they are run: worker processes, a Dask cluster, real SIGKILLs, a full disk. Results bit for bit."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tautline.files.runs import StoreError
from tautline.studies.execution import engines
from tautline.studies.execution.run import Progress
from tautline.studies.store.archive import open_archive
from tests.support.commands import COMMAND, tautline, wait_until

# A third of a second of computing in 40 batches, some members of which are refused.
STUDY = """
title = "Small and quick"
scenario = "fixed-length"
outputs = ["max tension", "final energy", "final angular_velocity", { variable = "energy", at = ["0.05 s", "0.1 s"] }]

[set]
run.duration = "0.1 s"
run.elements = 6

[vary]
string.stiffness = { from = "20 N", to = "80 N", points = 20 }
initial.deployed = ["9 m", "10 m", "11 m", "120 m"]
reel.guide_law = ["dissipative", "none", "momentum"]
"""
MEMBERS, BATCH = 240, 6
REFUSED = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("studies")
    (made / "study.toml").write_text(STUDY, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def exact(folder: Path) -> xr.Dataset:
    """Undisturbed, in this process."""
    return tl.study(folder / "study.toml", folder / "exact.zarr", workers=1, batch=BATCH).load()


def assert_same(path: Path, exact: xr.Dataset) -> None:
    found = tl.open_study(path)
    assert found.attrs["status"] == "completed"
    assert found.identical(exact)
    assert not list(path.rglob("*.partial"))


def assert_sound(path: Path, exact: xr.Dataset) -> np.ndarray:
    """Marks of a store that was left in the middle: what is marked is right, and what is there is right."""
    found, archive = tl.open_study(path), open_archive(path)
    done = archive.done()
    status = found.status.values
    for batch in range(archive.layout.batches):
        region = archive.layout.region(batch)
        if done[batch]:
            assert np.array_equal(status[region], exact.status.values[region])
    there = status >= 0
    for name in exact.data_vars:
        numbers = exact[name].dtype.kind == "f"
        assert np.array_equal(found[name].values[there], exact[name].values[there], equal_nan=numbers), name
    return done


def written(path: Path, batches: np.ndarray) -> dict[str, int]:
    """When the chunks of some batches were written."""
    layout = open_archive(path).layout
    places = ["/".join(map(str, np.unravel_index(b, layout.counts))) for b in np.flatnonzero(batches).tolist()]
    return {place: (path / "status" / "c" / place).stat().st_mtime_ns for place in places}


# -- results ------------------------------------------------------------------------------------------------


def test_a_grid_has_its_parameters_as_dimensions(exact: xr.Dataset) -> None:
    assert exact.max_tension.dims == ("string.stiffness", "initial.deployed", "reel.guide_law")
    assert dict(exact.status.sizes) == {"string.stiffness": 20, "initial.deployed": 4, "reel.guide_law": 3}
    assert exact["string.stiffness"].attrs["units"] == "N" and exact.max_tension.attrs["units"] == "N"
    for name in exact.data_vars:
        assert exact[name].attrs["long_name"]
    assert exact.final_angular_velocity.sel(axis="x").dims == exact.status.dims
    assert exact.energy_at.energy_at_time.values.tolist() == [0.05, 0.1]
    one = exact.sel({"string.stiffness": 80.0, "initial.deployed": 9.0, "reel.guide_law": "none"})
    assert int(one.status) == 0 and float(one.max_tension) > 0.0
    far = exact.sel({"initial.deployed": 120.0})
    meanings = dict(zip(exact.status.attrs["flag_values"], exact.status.attrs["flag_meanings"].split(), strict=True))
    assert {meanings[code] for code in far.status.values.ravel().tolist()} == {"refused"}
    assert "expected at most 99.5 m" in str(far.message.values.ravel()[0])
    assert np.isnan(far.max_tension).all() and int((exact.status == 0).sum()) == MEMBERS - REFUSED


def test_a_sampled_design_has_members(tmp_path: Path) -> None:
    definition = {
        "scenario": "fixed-length",
        "set": {"run.duration": 0.05},
        "design": {"kind": "sobol-indices", "base": 4, "seed": 1},
        "vary": {"string.stiffness": {"from": 20, "to": 80}, "reel.guide_law": ["none", "momentum"]},
        "outputs": ["final energy", "stretched_length"],
    }
    found = tl.study(definition, tmp_path / "s.zarr", batch=5)
    assert found.final_energy.dims == ("member",) and found.sizes["member"] == 4 * 6
    assert set(found["string.stiffness"].dims) == {"member"} and "string.stiffness" in found.coords
    assert found.stretched_length.dims == ("member", "time") and found.time.values[-1] == pytest.approx(0.05)
    assert set(found["reel.guide_law"].values.tolist()) == {"none", "momentum"}
    assert json.loads(found.attrs["study"])["design"]["kind"] == "sobol-indices"
    # the store is plain Zarr: xarray opens it without us
    raw = xr.open_zarr(tmp_path / "s.zarr", consolidated=False, chunks=None)
    assert np.array_equal(raw.final_energy.values, found.final_energy.values)
    assert raw.attrs["Conventions"].startswith("CF-")


# -- engines, kills, resuming ---------------------------------------------------------------------------------


def test_workers_killed_on_the_way(folder: Path, exact: xr.Dataset) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> bool:
        if progress.done >= 60 * (len(killed) + 1) and len(killed) < 3:
            workers = [p for p in psutil.Process().children() if "studies.execution.worker" in " ".join(p.cmdline())]
            if workers:
                killed.append(workers[0].pid)  # the oldest; the newest may still be starting
                workers[0].send_signal(signal.SIGKILL)
        return False

    path = folder / "workers.zarr"
    tl.study(folder / "study.toml", path, workers=2, batch=BATCH, watch=kill)
    assert len(killed) == 3
    assert_same(path, exact)


# Forks a client for every line of its input, so that kills need not wait for imports.
LAUNCHER = """
import os, sys
import xarray, zarr
from tautline.studies.execution import run
definition, path, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
run.seconds_a_member(run.definitions.read(definition))  # loads the units and the kernels
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.path.exists(path):
                run.resume_study(path, definition, workers=1)
            else:
                run.study(definition, path, workers=1, batch=batch)
            code = 0
        finally:
            os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def wait_for_more(marks: Path, count: int, child: int) -> None:
    """Until so many more batches are marked, or the client is through: by what was done, not by the clock."""

    def marked() -> int:
        return len(list(marks.glob("[0-9]*"))) if marks.exists() else 0

    wanted = marked() + count
    wait_until(lambda: marked() >= wanted or not psutil.pid_exists(child), "the client does not get on")


@pytest.mark.long
def test_a_client_killed_five_hundred_times(folder: Path, exact: xr.Dataset) -> None:
    kill_again_and_again(folder, exact, folder / "client-long.zarr", 500)


def kill_again_and_again(folder: Path, exact: xr.Dataset, path: Path, wanted: int) -> None:
    rng = random.Random("client")
    command = [sys.executable, "-c", LAUNCHER, str(folder / "study.toml"), str(path), str(BATCH)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdin and launcher.stdout
        kills = partly = whole = 0
        while kills < wanted:
            before = open_archive(path).done() if path.exists() else np.zeros(0, dtype=bool)
            marks = written(path, before) if len(before) else {}
            print("go", file=launcher.stdin, flush=True)
            child = int(launcher.stdout.readline())
            wait_for_more(path / "done" / "c", rng.randrange(6), child)
            time.sleep(rng.uniform(0.0, 0.02))  # anywhere within the next batch
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            code = int(launcher.stdout.readline())
            assert code in (0, -signal.SIGKILL), "the client failed by itself"
            if code == 0:
                assert_same(path, exact)
                shutil.rmtree(path)
                whole += 1
                continue
            kills += 1
            if path.exists():
                done = assert_sound(path, exact)
                partly += 0 < done.sum() < len(done)
                assert {name: when for name, when in written(path, done).items() if name in marks} == marks
        assert partly > wanted // 3, "the kills came too early or too late to test anything"
        launcher.stdin.close()
    print(f"{kills} kills, {partly} of them between the first batch and the last; {whole} studies ended, all exact")
    if path.exists():
        tl.studies.resume_study(path, workers=1)
    else:
        tl.study(folder / "study.toml", path, workers=1, batch=BATCH)
    assert_same(path, exact)


@pytest.mark.long
def test_a_killed_client_leaves_no_workers_behind(folder: Path, exact: xr.Dataset) -> None:
    path = folder / "command.zarr"
    arguments = ["study", "study.toml", "-o", path.name, "--workers", "2", "--batch", "3"]
    with subprocess.Popen([COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL) as client:
        wait_until(lambda: path.exists() and bool(open_archive(path).done().sum() > 3), "the study does not get on")
        workers = psutil.Process(client.pid).children()
        client.kill()
    assert len(workers) == 2
    wait_until(lambda: not any(p.is_running() and p.status() != "zombie" for p in workers), "workers live on", 20.0)
    done = assert_sound(path, exact)
    assert 0 < done.sum() < len(done)
    marks = written(path, done)
    with pytest.raises(StoreError, match=r"with \d+ of 240 members done; `tautline study --resume .*` finishes it"):
        tl.study(folder / "study.toml", path)
    resumed = tautline("study", "--resume", path.name, "--workers", "1", cwd=folder)
    assert "240 of 240" in resumed.stdout and "60 refused" in resumed.stdout
    assert {name: when for name, when in written(path, done).items() if name in marks} == marks
    assert_same(path, exact)


# What shadows a module that workers need: run, it leaves a trace and fails.
HOSTILE = """
import os
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "executed"), "w").close()
raise RuntimeError("a file of the working folder was run")
"""


@pytest.mark.long
def test_workers_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    for name in ("random", "numpy", "tautline", "json", "zarr"):
        (tmp_path / f"{name}.py").write_text(HOSTILE, encoding="utf-8")
    small = STUDY.replace("points = 20", "points = 2")
    (tmp_path / "study.toml").write_text(small, encoding="utf-8")
    command = [COMMAND, "study", "study.toml", "-o", "s.zarr", "--workers", "2", "--batch", "6"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "24 of 24" in done.stdout and not (tmp_path / "executed").exists()


def test_the_last_words_of_a_worker_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "words.zarr"
    for start, words in (
        ("raise RuntimeError('out of paper')", "its last words: RuntimeError: out of paper;"),
        ("import os; os.kill(os.getpid(), 9)", "perhaps for lack of memory;"),
        ("import os; os._exit(7)", r"\(exit code 7\), without a word;"),
    ):
        monkeypatch.setattr(engines, "_START", start)
        with pytest.raises(StoreError, match=words):
            tl.study(folder / "study.toml", path, workers=2, batch=BATCH, overwrite=True)


@pytest.mark.long
def test_a_study_goes_on_after_control_c(folder: Path, exact: xr.Dataset) -> None:
    """In a terminal, where the bar tells how far it is."""
    path = folder / "interrupted.zarr"
    master, slave = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other side is closed
            while piece := os.read(master, 65536):
                shown.append(piece)

    reader = threading.Thread(target=read)
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "140"}
    arguments = ["study", "study.toml", "-o", path.name, "--workers", "2", "--batch", "3"]
    with subprocess.Popen(
        [COMMAND, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=slave, text=True
    ) as client:
        os.close(slave)
        reader.start()
        wait_until(lambda: path.exists() and bool(open_archive(path).done().sum() > 3), "the study does not get on")
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=60)
    reader.join(timeout=10)
    os.close(master)
    assert client.returncode == 130
    bar = b"".join(shown).decode(errors="replace")
    for words in ("of 240 members", "a second", "failed", "tautline study --resume interrupted.zarr"):
        assert words in bar
    assert_sound(path, exact)
    tl.studies.resume_study(path, workers=1)
    assert_same(path, exact)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import distributed

    # a free port of this machine: None takes 8787 on all addresses, which two clusters at once cannot have
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        yield made


@pytest.mark.long
def test_a_cluster_whose_workers_are_killed(folder: Path, exact: xr.Dataset, cluster: Any) -> None:
    import distributed

    path = folder / "cluster.zarr"
    killed: list[int] = []
    with distributed.Client(cluster) as client:

        def kill(progress: Progress) -> bool:
            if progress.done >= 60 * (len(killed) + 1) and len(killed) < 2:
                pid = next(iter(client.run(os.getpid).values()))
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)
            return False

        tl.study(folder / "study.toml", path, client=client, batch=BATCH, watch=kill)
    assert len(killed) == 2
    assert_same(path, exact)


@pytest.mark.long  # in every test run: workers of a cluster are killed, and a client without a cluster
def test_a_client_of_a_cluster_killed_and_resumed(folder: Path, exact: xr.Dataset, cluster: Any) -> None:
    path = folder / "cluster-client.zarr"
    address = cluster.scheduler_address
    arguments = ["study", "study.toml", "-o", path.name, "--dask", address, "--batch", "2"]
    with subprocess.Popen([COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL) as client:
        wait_until(lambda: path.exists() and bool(open_archive(path).done().sum() > 3), "the study does not get on")
        client.kill()
    done = assert_sound(path, exact)
    assert 0 < done.sum() < len(done)
    tl.studies.resume_study(path, client=address)
    assert_same(path, exact)


def test_nobody_at_the_address(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(StoreError, match="no Dask scheduler answers there"):
        tl.study(folder / "study.toml", folder / "nobody.zarr", client="tcp://127.0.0.1:9")
    assert not (folder / "nobody.zarr").exists()


def test_stopped_by_the_caller_and_resumed(folder: Path, exact: xr.Dataset) -> None:
    path = folder / "stopped.zarr"
    seen: list[Progress] = []

    def look(progress: Progress) -> bool:
        seen.append(progress)
        return progress.done >= progress.begun + 24

    found = tl.study(folder / "study.toml", path, workers=1, batch=BATCH, watch=look)
    assert found.attrs["status"] == "unfinished" and found.attrs["members_done"] == 24
    assert int((found.status < 0).sum()) == MEMBERS - 24
    tl.studies.resume_study(path, workers=1, watch=look)
    assert [p.done for p in seen] == [0, 6, 12, 18, 24, 24, 30, 36, 42, 48]
    assert seen[-1].begun == 24 and seen[-1].failed == 12
    assert tl.studies.resume_study(path).identical(exact)
    before = {p: p.stat().st_mtime_ns for p in path.rglob("*") if p.is_file()}
    tl.studies.resume_study(path, folder / "study.toml")
    assert {p: p.stat().st_mtime_ns for p in path.rglob("*") if p.is_file()} == before


# -- a full disk ----------------------------------------------------------------------------------------------

# In a mount namespace of its own, so that neither root nor a cleanup is needed.
FULL_DISK = """
mkdir small && mount -t tmpfs -o size=SIZEk tmpfs small || exit 77
COMMAND study study.toml -o small/s.zarr --workers 2 --batch 4 2> full.txt
echo $? > code.txt
cp -r small/s.zarr left.zarr
mount -o remount,size=20M small || exit 77
COMMAND study --resume small/s.zarr --workers 1 || exit 1
cp -r small/s.zarr whole.zarr
"""


@pytest.mark.long
def test_a_full_disk(folder: Path, exact: xr.Dataset) -> None:
    """A clear message and exit code, no torn chunk, and when there is room again, all goes on."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare to make a small disk with")
    (folder / "full").mkdir()
    shutil.copy(folder / "study.toml", folder / "full")
    script = FULL_DISK.replace("SIZE", "500").replace("COMMAND", COMMAND)
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(command, cwd=folder / "full", capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr or done.returncode == 77:
        pytest.skip(f"this system lets nobody make a small disk: {done.stderr}")
    assert done.returncode == 0, done.stderr
    told = (folder / "full" / "full.txt").read_text(encoding="utf-8")
    assert "No space left on device" in told and "tautline study --resume small/s.zarr" in told
    assert len(told.splitlines()) == 1 and (folder / "full" / "code.txt").read_text().strip() == "4"
    marks = assert_sound(folder / "full" / "left.zarr", exact)
    assert 0 < marks.sum() < len(marks)
    assert_same(folder / "full" / "whole.zarr", exact)


# -- refusals -------------------------------------------------------------------------------------------------


def test_stores_that_are_not_touched(folder: Path, exact: xr.Dataset, tmp_path: Path) -> None:
    other = folder / "other.toml"
    other.write_text(STUDY.replace("80 N", "90 N"), encoding="utf-8")
    path = folder / "exact.zarr"
    with pytest.raises(StoreError, match="exists already and is complete"):
        tl.study(folder / "study.toml", path)
    with pytest.raises(StoreError, match="exists already and holds another study"):
        tl.study(other, path)
    with pytest.raises(InputError, match=r"holds another study than .*other.toml"):
        tl.studies.resume_study(path, other)
    (tmp_path / "precious.zarr").write_text("precious", encoding="utf-8")
    (tmp_path / "folder.zarr").mkdir()
    for name in ("precious.zarr", "folder.zarr"):
        with pytest.raises(StoreError, match="exists already and is no study"):
            tl.study(folder / "study.toml", tmp_path / name, overwrite=True)
        for action in (tl.open_study, tl.studies.resume_study):
            with pytest.raises(StoreError, match=f"{name}: .* holds no study"):
                action(tmp_path / name)
    with pytest.raises(StoreError, match="no such study"):
        tl.open_study(tmp_path / "typo.zarr")
    with pytest.raises(StoreError, match="folder does not exist"):
        tl.study(folder / "study.toml", tmp_path / "nowhere" / "s.zarr")
    assert sorted(os.listdir(tmp_path)) == ["folder.zarr", "precious.zarr"]
    assert_same(path, exact)


def test_overwriting_replaces_a_study(folder: Path, tmp_path: Path) -> None:
    small = {"scenario": "fixed-length", "set": {"run.duration": 0.02}, "outputs": ["final energy"]}
    path = tmp_path / "s.zarr"
    tl.study({**small, "vary": {"gravity": [9.8, 9.9, 1.6]}}, path)
    found = tl.study({**small, "vary": {"gravity": [1.6]}}, path, overwrite=True)
    assert found.sizes["gravity"] == 1 and os.listdir(tmp_path) == ["s.zarr"]


EXAMPLES = Path(__file__).parents[2] / "examples" / "studies"


# Each of its members is at rest where that has to be looked for.
SLOW = "cable-robot.toml"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.toml"))


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * (x == SLOW)) for x in NAMES])
def test_the_examples_run(name: str, tmp_path: Path) -> None:
    """As they are but for their length and their number of members."""
    tree = tomllib.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    tree["set"]["run"] |= {"duration": "0.1 s", "sample": "20 ms"}
    tree["design"] |= {word: 8 for word in ("members", "base") if word in tree["design"]}
    found = tl.study(tree, tmp_path / "s.zarr", workers=1)
    assert (found.status == 0).all() and found.attrs["title"] == tree["title"]
    for output in found.data_vars:
        if output in ("max_tension", "fastest", "lowest", "height", "final_unstretched_length", "kinetic_energy"):
            assert np.isfinite(found[output]).all()
    if tree["design"]["kind"] == "sobol-indices":
        assert np.isfinite(tl.studies.sensitivity(found).total).any()


def test_the_command_line(folder: Path, exact: xr.Dataset) -> None:
    store = str(folder / "exact.zarr")
    printed = CliRunner().invoke(app, ["study", "info", store]).output
    for words in ("completed", "240 of 240", "180 completed, 60 refused", "max_tension", "and 57 more that failed"):
        assert words in printed
    facts = json.loads(CliRunner().invoke(app, ["study", "info", store, "--json"]).output)
    assert facts["endings"] == {"completed": 180, "refused": 60} and facts["outputs"]["max_tension"]["units"] == "N"
    assert facts["outputs"]["max_tension"]["max"] == float(exact.max_tension.max())
    for arguments, code, words in (
        (["study", "nowhere.toml"], 2, "nowhere.toml: cannot be read"),
        (["study", "exact.zarr"], 2, "`tautline study --resume exact.zarr` finishes it"),
        (["study", "--resume", "exact.zarr", "--batch", "3"], 2, "--batch: expected without --resume"),
        (["study", "--workers", "2"], 2, "STUDY: expected a study file, or --resume STORE"),
        (["study", "info", "nowhere.zarr"], 4, "no such study"),
        (["study", "--help"], 0, "Example: tautline study"),
        (["study", "--help"], 0, "--workers"),
        (["study", "--help"], 0, "report"),
        (["study", "run", "--help"], 0, "--resume"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == code and words in done.output
