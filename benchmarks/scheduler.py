"""Dask's scheduler alone: batches that only sleep, given out by the engine of studies to many workers of one thread.

Scheduler, client and the processes that host the workers are separate, so that the processor time of each is known; a
machine with other work to do changes that less than it changes the clock.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import psutil

from tautline.studies.execution.batches import Finished
from tautline.studies.execution.engines import Dask, connect

ROOT = Path(__file__).parents[1]
HOSTS = 2
SECONDS_TO_START = 60.0
# What every worker does 2 to 50 times a second beside its work. On a core of its own that is nothing; a hundred workers
# in one process would do little else.
QUIET: dict[str, Any] = {
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
}


class Ran(NamedTuple):
    """A run of sleeping batches: seconds of the clock, and of the processor in each process, for all of them."""

    tasks: int
    slots: int
    asleep: float  # seconds of a batch
    wall: float
    scheduler: float
    client: float
    hosts: float


def sleeping_batch(path: str, token: str, batch: int, seconds: float) -> Finished:
    """In place of `run_batch`."""
    if seconds:
        time.sleep(seconds)
    return Finished(batch, 1, 0)


class _Sleeping:
    """A client that has batches slept instead of computed, for the engine that studies use."""

    def __init__(self, client: Any, seconds: float) -> None:
        self._client, self._seconds = client, seconds
        self.loop, self.cancel, self.ncores = client.loop, client.cancel, client.ncores

    def submit(self, function: Any, path: str, token: str, batch: int, pure: bool) -> Any:
        return self._client.submit(sleeping_batch, path, token, batch, self._seconds, pure=pure)


class Cluster:
    """A scheduler, and workers of one thread each in a few processes, all on the loopback interface."""

    def __init__(self, client: Any, scheduler: int, hosts: list[int]) -> None:
        self.client = client
        self._scheduler, self._hosts = psutil.Process(scheduler), [psutil.Process(pid) for pid in hosts]

    def _spent(self) -> tuple[float, float, float, float]:
        times = [sum(process.cpu_times()[:2]) for process in (self._scheduler, *self._hosts)]
        return time.perf_counter(), times[0], time.process_time(), sum(times[1:])

    def run(self, tasks: int, seconds: float) -> Ran:
        """Run as a study of so many batches does."""
        engine = Dask(_Sleeping(self.client, seconds))
        archive: Any = SimpleNamespace(path=Path("nowhere"), token="none")
        before = self._spent()
        engine.run(archive, range(tasks), lambda finished: False)
        spent = [b - a for a, b in zip(before, self._spent(), strict=True)]
        return Ran(tasks, engine.workers, seconds, *spent)

    def round_trip(self, times: int = 200) -> float:
        """Median seconds of a batch that does nothing, when nothing else is there to do."""
        found = []
        for k in range(times):
            start = time.perf_counter()
            self.client.submit(sleeping_batch, "nowhere", "none", k, 0.0, pure=False).result()
            found.append(time.perf_counter() - start)
        return sorted(found)[times // 2]


@contextmanager
def cluster(slots: int) -> Iterator[Cluster]:
    """Started and ended."""
    started: list[subprocess.Popen[str]] = []
    try:
        address, process = _started("keep_scheduler()")
        started.append(process)
        for k in range(HOSTS):
            share = slots // HOSTS + (k < slots % HOSTS)
            started.append(_started(f"keep_workers({address!r}, {share})")[1])
        client = connect(address)
        try:
            client.wait_for_workers(slots, timeout=SECONDS_TO_START)
            client.gather([client.submit(sleeping_batch, "", "", k, 0.0, pure=False) for k in range(2 * slots)])
            yield Cluster(client, started[0].pid, [process.pid for process in started[1:]])
        finally:
            client.close()
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def _started(call: str) -> tuple[str, subprocess.Popen[str]]:
    """A process of our own that says one line when it is ready."""
    code = f"from benchmarks import scheduler; scheduler.{call}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"{call} did not start")
    return line, process


def _alone() -> None:
    """Say only what matters, and end with the process that started this one."""
    logging.disable(logging.WARNING)

    def wait() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def keep_scheduler() -> None:
    from distributed import Scheduler

    async def serve() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0") as scheduler:
            print(scheduler.address, flush=True)
            await scheduler.finished()

    _alone()
    asyncio.run(serve())


def keep_workers(address: str, count: int) -> None:
    import dask
    from distributed import Worker

    async def serve() -> None:
        workers = [Worker(address, nthreads=1, host="127.0.0.1", dashboard=False, memory_limit=0) for _ in range(count)]
        await asyncio.gather(*workers)
        print("ready", flush=True)
        await asyncio.gather(*(worker.finished() for worker in workers))

    _alone()
    with dask.config.set(QUIET):
        asyncio.run(serve())
