"""Members that are too long or too large, designs that are too large, clients that meet, interrupts that must end."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.files.runs import StoreError
from tautline.kernels.data import Plan
from tautline.studies.definition import definition
from tautline.studies.definition.work import REFUSED
from tautline.studies.execution import compute as execution
from tautline.studies.execution import timing
from tautline.studies.execution.compute import compute
from tautline.studies.store import claims, space
from tautline.studies.store.archive import open_archive
from tests.support.commands import COMMAND, tautline, wait_until
from tests.support.interrupting import interrupted

SMALL: dict[str, Any] = {
    "scenario": "fixed-length",
    "set": {"run.duration": 0.02},
    "vary": {"gravity": [9.8, 9.9, 1.6]},
    "outputs": ["final energy"],
}
# The last member takes days at this step, and the first sample of it hours.
STEP = 5e-4
LONG = "run.duration,run.sample\n0.02,0.01\n0.03,0.01\n1e9,1e7\n"


def write_long(folder: Path) -> None:
    (folder / "table.csv").write_text(LONG, encoding="utf-8")
    text = (
        f'scenario = "fixed-length"\noutputs = ["final energy"]\ntable = "table.csv"\nset = {{"run.step" = {STEP}}}\n'
    )
    (folder / "study.toml").write_text(text, encoding="utf-8")


SECONDS_A_STEP = 1e-5
# Until an interrupted process has ended (s); alone on a machine it takes 0.2.
PATIENCE = 5.0


@pytest.mark.parametrize("durations", [[0.02, 0.03, 1e9], [1e9], [1e7] * 8, [3600.0, 1e-2]], ids=str)
def test_members_of_any_length_are_timed_in_a_moment(durations: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a single sample takes an hour; by a clock that goes on with the steps that are made."""
    made = 0

    march = execution.march

    def counted(one: execution.Started, rows: int, plan: Plan) -> None:
        nonlocal made
        march(one, rows, plan)
        made += rows * one.simulation.stepper.plan.steps_per_sample

    monkeypatch.setattr(execution, "march", counted)
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: made * SECONDS_A_STEP))
    table = {"run.duration": durations, "run.sample": [duration / 10 for duration in durations]}
    tree = {"scenario": "fixed-length", "set": {"run.step": STEP}, "outputs": ["final energy"], "table": table}
    wanted = definition.read(tree)
    pace = timing.seconds_a_member(wanted)
    # a first one that does not count, and each up to twice its share, because looks at the clock become rarer
    assert 0 < made * SECONDS_A_STEP < 4 * timing.SECONDS_MEASURED
    assert pace.mean == pytest.approx(np.mean(durations) / STEP * SECONDS_A_STEP, rel=1e-9)
    assert pace.typical == pytest.approx(np.median(durations) / STEP * SECONDS_A_STEP, rel=1e-9)


def test_samples_that_do_not_fit_into_memory(tmp_path: Path) -> None:
    """A member among others is refused by name; a study of such members before it begins."""
    huge = {**SMALL, "set": {"run.sample": 0.01}, "vary": {"run.duration": [0.02, 1e6, 0.03]}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "memory", lambda: 4e9)
        found = tl.study(huge, tmp_path / "s.zarr", workers=1)
        assert found.status.values.tolist() == [0, REFUSED, 0]
        message = str(found.message.values[1])
        assert message.startswith("run.sample: ") and "1e+08 of 20 elements" in message and "2 GB" in message
        with pytest.raises(InputError, match=r"run.sample: .* take .* GB, and a member may take 2 GB"):
            tl.study({**SMALL, "set": {"run.duration": 1e6, "run.sample": 0.01}}, tmp_path / "t.zarr")
    assert sorted(os.listdir(tmp_path)) == ["s.zarr"]


@pytest.mark.parametrize(
    ("design", "name"),
    [
        ({"kind": "morris", "trajectories": 10**9, "seed": 1}, "design.trajectories"),
        ({"kind": "grid"}, "vary.gravity.points"),
    ],
)
def test_designs_that_are_made_as_a_whole_are_held_against_the_memory(
    design: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "free_memory", lambda: 8e9)
    points = {"points": 10**9} if design["kind"] == "grid" else {}
    tree = {**SMALL, "design": design, "vary": {"gravity": {"from": 1.0, "to": 9.0, **points}}}
    before = psutil.Process().memory_info().rss
    with pytest.raises(InputError, match=rf"{name}: .* members with 1 varied key take [\d.]+ GB .*, and 8 GB are free"):
        definition.read(tree)
    assert psutil.Process().memory_info().rss - before < 1e9


@pytest.mark.parametrize(
    "design",
    [
        {"kind": "random", "members": 10**9, "seed": 1},
        {"kind": "latin-hypercube", "members": 10**9, "seed": 1},
        {"kind": "sobol", "members": 2**29, "seed": 1},
        {"kind": "sobol-indices", "base": 2**27, "seed": 1},
    ],
)
def test_other_designs_are_made_in_parts(design: dict[str, Any]) -> None:
    before = psutil.Process().memory_info().rss
    made = definition.read({**SMALL, "design": design, "vary": {"gravity": {"from": 1.0, "to": 9.0}}})
    assert made.members > 5e8 and len(made.part(made.members - 9, made.members)["gravity"]) == 9
    assert psutil.Process().memory_info().rss - before < 1e8


def test_results_are_held_against_the_disk(tmp_path: Path) -> None:
    sides = {key: {"from": 1.0, "to": 2.0, "points": 1000} for key in ("gravity", "body.mass", "string.stiffness")}
    tree = {**SMALL, "vary": sides, "outputs": ["position"]}
    with pytest.raises(StoreError, match=r"needs up to .* GB for 1e\+09 members, but .* GB are free there"):
        tl.study(tree, tmp_path / "s.zarr")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_control_c_ends_at_once(tmp_path: Path, workers: str) -> None:
    """While a member of days is computed, in the client itself or by a worker; no worker stays behind."""
    write_long(tmp_path)
    arguments = ["study", "study.toml", "-o", "s.zarr", "--workers", workers, "--batch", "1"]
    with subprocess.Popen([COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as client:
        marks = tmp_path / "s.zarr" / "done" / "c"
        wait_until(lambda: marks.exists() and len(list(marks.glob("[0-9]*"))) == 2, "short members are not computed")
        time.sleep(0.5)  # into the long one
        children = psutil.Process(client.pid).children()
        sent = time.perf_counter()
        client.send_signal(signal.SIGINT)
        told = client.communicate(timeout=60)[1]
    assert time.perf_counter() - sent < PATIENCE
    assert client.returncode == 130 and "Traceback" not in told
    assert told == "interrupted; 2 of 3 members are kept; `tautline study --resume s.zarr` goes on from there\n"
    wait_until(lambda: not any(p.is_running() and p.status() != "zombie" for p in children), "workers live on", 20.0)
    assert tl.open_study(tmp_path / "s.zarr").attrs["members_done"] == 2


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_control_c_ends_a_study_in_python(tmp_path: Path, workers: int) -> None:
    """As a KeyboardInterrupt, while a member of days is computed; the complete batches are in the store."""
    write_long(tmp_path)
    store = tmp_path / "s.zarr"

    def study() -> None:
        tl.study(tmp_path / "study.toml", store, workers=workers, batch=1)

    others = set(psutil.Process().children())
    assert interrupted(study, 8.0) < PATIENCE
    wait_until(lambda: set(psutil.Process().children()) <= others, "workers live on", 20.0)
    assert tl.open_study(store).attrs["members_done"] == 2
    with claims.claimed(store):  # the claim has ended with it
        pass


@pytest.mark.parametrize("presses", [1, 2])
def test_the_process_ends_where_python_does_not_answer(presses: int) -> None:
    """Work that swallows every interrupt, as imports of other packages may."""
    program = (
        "import os, signal, time\nfrom tautline.cli.interrupting import ends_soon\n"
        "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'heard\\n'))\n"
        f"with ends_soon('nothing was written', {presses}):\n    os.write(1, b'begun\\n')\n    time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        for k in range(presses):
            assert k == 0 or process.stdout.readline() == "heard\n"
            process.send_signal(signal.SIGINT)
            sent = time.perf_counter()
        told = process.communicate(timeout=60)[1]
    assert time.perf_counter() - sent < PATIENCE
    assert process.returncode == 130, told
    assert told.strip() == "interrupted; nothing was written"


@pytest.mark.long
def test_a_worker_of_a_long_batch_ends_with_its_client(tmp_path: Path) -> None:
    write_long(tmp_path)
    arguments = ["study", "study.toml", "-o", "s.zarr", "--workers", "2", "--batch", "1"]
    with subprocess.Popen([COMMAND, *arguments], cwd=tmp_path) as client:
        marks = tmp_path / "s.zarr" / "done" / "c"
        wait_until(lambda: marks.exists() and len(list(marks.glob("[0-9]*"))) == 2, "short members are not computed")
        children = psutil.Process(client.pid).children()
        # while it lives, nobody else may write
        refused = tautline("study", "--resume", "s.zarr", cwd=tmp_path, expect=4)
        assert "another process is computing this study" in refused.stderr
        with pytest.raises(StoreError, match="another process is computing this study"):
            tl.study(tmp_path / "study.toml", tmp_path / "s.zarr", overwrite=True)
        client.kill()
    assert children
    wait_until(lambda: not any(p.is_running() and p.status() != "zombie" for p in children), "workers live on", 20.0)
    # and when it was killed, its claim is gone with it
    with claims.claimed(tmp_path / "s.zarr"):
        pass


def test_parts_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f"s.zarr.{gone.pid}.part", f"s.zarr.{os.getppid()}.part", f"t.zarr.{gone.pid}.part", "s.zarr.x.part"):
        (tmp_path / name / "inside").mkdir(parents=True)
    tl.study(SMALL, tmp_path / "s.zarr", workers=1)
    left = {"s.zarr", f"s.zarr.{os.getppid()}.part", f"t.zarr.{gone.pid}.part", "s.zarr.x.part"}
    assert set(os.listdir(tmp_path)) == left


def test_a_client_killed_after_its_last_batch_leaves_nothing_for_ever(tmp_path: Path) -> None:
    tl.study(SMALL, tmp_path / "s.zarr", workers=1)
    left = tmp_path / "s.zarr" / "status" / "c" / "0.4082.partial"
    left.write_bytes(b"half of it")
    tl.studies.resume_study(tmp_path / "s.zarr")
    assert not left.exists()


def test_places_that_cannot_take_a_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("precious", encoding="utf-8")
    for place in (Path("/dev/null"), tmp_path / "pipe", tmp_path / "file"):
        for overwrite in (False, True):
            with pytest.raises(StoreError, match="exists already and is no study"):
                tl.study(SMALL, place, overwrite=overwrite)
        for action in (tl.open_study, tl.studies.resume_study):
            with pytest.raises(StoreError, match="holds no study"):
                action(place)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "precious"
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


def test_a_link_to_a_study_stays_one(tmp_path: Path) -> None:
    tl.study(SMALL, tmp_path / "s.zarr", workers=1)
    (tmp_path / "link.zarr").symlink_to(tmp_path / "s.zarr")
    tl.study({**SMALL, "vary": {"gravity": [9.8]}}, tmp_path / "link.zarr", workers=1, overwrite=True)
    assert (tmp_path / "link.zarr").is_symlink() and tl.open_study(tmp_path / "s.zarr").sizes["gravity"] == 1
    shutil.rmtree(tmp_path / "s.zarr")


def test_a_batch_of_a_study_that_was_replaced_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    tl.study(SMALL, path, workers=1)
    before = open_archive(path)
    computed = compute(before.work, before.values(0))
    tl.study({**SMALL, "vary": {"gravity": [3.0, 4.0, 5.0]}}, path, workers=1, overwrite=True)
    exact = tl.open_study(path).load()
    with pytest.raises(StoreError, match="was replaced by another study meanwhile"):
        before.write(0, computed)
    assert tl.open_study(path).identical(exact)


def test_an_opened_study_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    found = tl.study(SMALL, tmp_path / "s.zarr", workers=1)
    assert pickle.loads(pickle.dumps(found)).identical(found)
