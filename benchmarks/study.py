"""How far studies scale: throughput, memory, disk, Dask's scheduler. `python -m benchmarks.study [--quick]`

The study is the paper's example 1, one second of it, with two values varied and two numbers kept. Without `--quick` the
results go to docs/measured/scale.json, and tables and pictures of docs/scale.md are made from them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import tautline as tl
from benchmarks import batch, pages, scale_page, scale_plan, scheduler
from tautline.kernels.lanes import LANES
from tautline.studies.definition import definition as definitions
from tautline.studies.execution.batches import run_batch
from tautline.studies.execution.compute import compute
from tautline.studies.store import making
from tautline.studies.store.archive import open_archive
from tautline.studies.store.layout import cut

Found = dict[str, Any]
LIBRARIES = ("numpy", "numba", "zarr", "dask", "distributed", "xarray")
REPEATS = 3
TASKS = 1500
# Members of a batch where no other number is asked for: about half a second.
BATCH = 1500


def example(members: int, duration: float = 1.0, sample: float = 0.01) -> Found:
    """The paper's example 1 with its stiffness and its initial velocity varied."""
    return {
        "scenario": "fixed-length",
        "set": {"run.duration": f"{duration} s", "run.sample": f"{sample} s"},
        "design": {"kind": "random", "members": members, "seed": 1},
        "vary": {
            "string.stiffness": {"from": "36 N", "to": "44 N"},
            "initial.end_velocity[1]": {"from": "-1 m/s", "to": "1 m/s"},
        },
        "outputs": ["max tension", "final stretched_length"],
    }


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least seconds of several."""
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        spent.append(time.perf_counter() - start)
    return min(spent)


def machine() -> Found:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": models[0].partition(":")[2].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": psutil.virtual_memory().total,
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "system": platform.system(),
        "tautline": tl.__version__,
        **{name: version(name) for name in LIBRARIES},
    }


def member_costs(quick: bool) -> Found:
    """Seconds of a member = start + steps * step + samples * sample, by least relative errors; what a batch adds."""
    members = 16 * LANES if quick else 64 * LANES
    rows, spent, cases = [], [], []
    for duration, sample in (
        (0.05, 0.05),
        (0.05, 0.001),
        (1.0, 1.0),
        (1.0, 0.01),
        (1.0, 0.001),
        (4.0, 4.0),
        (4.0, 0.01),
    ):
        wanted = definitions.read(example(members, duration, sample))
        compute(wanted.work, {key: x[:LANES] for key, x in wanted.table.items()})
        seconds = best(lambda wanted=wanted: compute(wanted.work, wanted.table)) / members  # type: ignore[misc]
        steps, samples = round(duration / 5e-4), round(duration / sample)
        rows.append((1.0, steps, samples))
        spent.append(seconds)
        cases.append({"steps": steps, "samples": samples, "seconds": seconds})
    A, b = np.array(rows), np.array(spent)
    fit = np.linalg.lstsq(A / b[:, None], np.ones(len(b)), rcond=None)[0]
    for case, predicted in zip(cases, A @ fit, strict=True):
        case["predicted"] = float(predicted)
    wanted = definitions.read(example(members))
    few = {key: x[:LANES] for key, x in wanted.table.items()}
    own = (
        best(lambda: compute(wanted.work, few), 2 * REPEATS)
        - LANES * best(lambda: compute(wanted.work, wanted.table)) / members
    )
    alone, lanes, threads = batch.best_microseconds(tl.Locked(), 20, batch.WORK["constant length"])
    return {
        "members": members,
        "start": float(fit[0]),
        "step": float(fit[1]),
        "sample": float(fit[2]),
        "cases": cases,
        "compute_once": max(0.0, own),
        "kernel": {"one_by_one": 1e-6 * alone, "lanes": 1e-6 * lanes, "two_threads": 1e-6 * threads},
    }


def batch_costs(folder: Path, quick: bool) -> Found:
    """Cost of a batch around its computation, how much batches differ, and the cost of reading marks."""
    store = folder / "batches.zarr"
    count = 8 if quick else 16
    wanted = definitions.read(example(count * BATCH))
    archive = making.create(store, wanted, cut(wanted.shape, BATCH), 1e-3, False)
    computed = compute(archive.work, archive.values(0))
    reads = [best(lambda k=k: archive.values(k), 1) for k in range(count)]  # type: ignore[misc]
    writes = [best(lambda k=k: archive.write(k, computed), 1) for k in range(count)]  # type: ignore[misc]
    batches = [best(lambda k=k: run_batch(str(store), archive.token, k), 1) for k in range(count)]  # type: ignore[misc]
    large = folder / "large.zarr"
    wanted = definitions.read(example(300_000))
    archive = making.create(large, wanted, cut(wanted.shape, 100_000), 1e-3, False)
    read_large = best(lambda: archive.values(0))
    many = 500 if quick else 2000
    wanted = definitions.read(example(many))
    marks = making.create(folder / "marks.zarr", wanted, cut(wanted.shape, 1), 1e-3, False)
    absent = best(marks.done)
    for k in range(many):
        marks._array("done")[k] = 0
    return {
        "members": BATCH,
        "read": float(np.median(reads)),
        "read_large": read_large,
        "write": float(np.median(writes)),
        "seconds": float(np.median(batches)),
        "spread": float(np.std(batches) / np.mean(batches)),
        "mark_absent": absent / many,
        "mark_there": best(marks.done) / many,
    }


def disk(path: Path) -> Found:
    """Files of a store, their bytes, and those that the file system keeps for them; of results and of the design."""
    archive = open_archive(path)
    found: Found = {}
    for kind in ("results", "design"):
        folders = [p for p in path.iterdir() if p.is_dir() and (p.name in archive.work.keys) == (kind == "design")]
        files = [f for folder in folders for f in (folder / "c").rglob("*") if f.is_file()]
        found[kind] = {
            "files": len(files),
            "bytes": sum(f.stat().st_size for f in files),
            "kept": sum(f.stat().st_blocks * 512 for f in files),
        }
    return {"members": archive.layout.members, "batches": archive.layout.batches, **found}


def peak(pid: int | str = "self") -> float:
    """Largest resident memory that a process ever had, in bytes."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it is gone
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return 1024.0 * float(lines[0].split()[1]) if lines else 0.0


def one_study(path: str, members: int, workers: int, cluster: bool = False, only_create: bool = False) -> Found:
    """In a process of its own, so that its memory is that of a client."""
    compute_once = definitions.read(example(LANES))
    compute(
        compute_once.work, compute_once.table
    )  # kernels are loaded here, as they are in workers before their first batch
    before = peak()
    told: list[tuple[float, int]] = []
    of_workers = 0.0

    def watch(progress: Any) -> bool:
        nonlocal of_workers
        told.append((time.perf_counter(), progress.done))
        of_workers = max([of_workers, *(peak(child.pid) for child in psutil.Process().children(recursive=True))])
        return only_create

    if cluster:
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as local,
            Client(local) as client,
        ):
            start = time.perf_counter()
            tl.study(example(members), path, client=client, batch=BATCH, watch=watch)
            wall = time.perf_counter() - start
    else:
        start = time.perf_counter()
        tl.study(example(members), path, workers=workers, batch=BATCH, watch=watch)
        wall = time.perf_counter() - start
    found = {
        "members": members,
        "workers": workers,
        "engine": "dask" if cluster else "here" if workers == 1 else "processes",
        "created": told[0][0] - start,
        "wall": wall,
        "client": peak(),
        "client_before": before,
        "worker": of_workers,
    }
    if not only_create:
        # the first batches wait for workers that start; the last ones for each other
        inner = told[workers : -workers or None]
        found["first"] = told[1][0] - told[0][0]
        found["rate"] = (inner[-1][1] - inner[0][1]) / (inner[-1][0] - inner[0][0])
    return found


def in_a_process(**arguments: Any) -> Found:
    code = f"import json; from benchmarks import study; print(json.dumps(study.one_study(**{arguments!r})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=pages.ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def studies(folder: Path, quick: bool) -> Found:
    few = 12_000 if quick else 20_000
    runs = []
    for cluster in (False, True):
        for workers in (1, 2):
            path = folder / f"{cluster}{workers}.zarr"
            runs.append(in_a_process(path=str(path), members=few, workers=workers, cluster=cluster))
            say(f"study, {runs[-1]['engine']}, {workers} workers: {runs[-1]['rate']:.0f} members/s")
    found: Found = {"runs": runs, "disk": disk(folder / "False2.zarr")}
    if not quick:
        found["large"] = in_a_process(path=str(folder / "large-study.zarr"), members=100_000, workers=2)
        say(f"10^5 members: {found['large']['wall']:.0f} s")
    sizes = (10_000, 1_000_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
    found["created"] = [
        in_a_process(path=str(folder / f"c{n}.zarr"), members=n, workers=1, only_create=True) for n in sizes
    ]
    return found


def dask_alone(quick: bool) -> Found:
    """Cost of a batch in the scheduler, the client and the workers' processes; how busy sleeping workers are."""
    found: Found = {"runs": [], "round_trip": {}}
    plans: dict[int, tuple[float, ...]] = {2: (0.0,), 100: (0.0, 0.1, 0.3, 1.0, 3.0), 300: (0.0, 0.5, 1.5, 5.0)}
    if quick:
        plans = {2: (0.0,), 100: (0.0, 0.3, 1.0)}
    for slots, lengths in plans.items():
        with scheduler.cluster(slots) as cluster:
            found["round_trip"][str(slots)] = cluster.round_trip()
            for asleep in lengths:
                tasks = TASKS if asleep == 0.0 else max(4 * slots, min(600, int(2.0 * slots / asleep)))
                ran = cluster.run(tasks, asleep)
                found["runs"].append(ran._asdict())
                say(f"dask, {slots} slots, {asleep} s asleep: {tasks / ran.wall:.0f} tasks/s")
    return found


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, and write nothing")
    quick = parser.parse_args().quick
    found: Found = {"machine": machine()}
    with tempfile.TemporaryDirectory(prefix="tautline-scale-") as name:
        folder = Path(name)
        found["member"] = member_costs(quick)
        found["batch"] = batch_costs(folder, quick)
        found["studies"] = studies(folder, quick)
    found["dask"] = dask_alone(quick)
    found["plan"] = scale_plan.plans(found, quick)
    if quick:
        print(*scale_page.tables(found).values(), sep="\n\n")
    else:
        scale_page.write(found)


if __name__ == "__main__":
    main()
