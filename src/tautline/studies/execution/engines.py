"""Where batches are computed: in this process, in worker processes of this machine, or on a Dask cluster.

Every engine assigns a batch to each worker that is free, reports finished ones, and stops on request.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from tautline.extras import need
from tautline.files.runs import StoreError
from tautline.studies.execution.batches import Finished, run_batch
from tautline.studies.store.archive import Archive

# A batch that kills its worker again and again is not tried for ever.
DEATHS_OF_A_BATCH = 3
# Batches that are sent to a cluster beyond those that it computes, so that no worker waits.
AHEAD = 2
# A scheduler that does not answer within this is not there.
SECONDS_TO_ANSWER = 10.0

OnFinished = Callable[[Finished], bool]


class Engine(Protocol):
    """Computes batches; `on_finished` is called after each and answers whether to stop."""

    workers: int

    def run(self, archive: Archive, batches: Iterable[int], on_finished: OnFinished) -> None: ...


class Here:
    """In this process, one after the other."""

    workers = 1

    def run(self, archive: Archive, batches: Iterable[int], on_finished: OnFinished) -> None:
        for batch in batches:
            if on_finished(run_batch(str(archive.path), archive.token, batch)):
                return


class Processes:
    """Worker processes of this machine. Threads would wait for each other: half of a short run is Python."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, archive: Archive, batches: Iterable[int], on_finished: OnFinished) -> None:
        crew = _Crew(archive, self.workers)
        try:
            crew.run(iter(batches), on_finished)
        finally:
            crew.dismiss()


# Where the client has its tautline from; last, so that nothing beside it can take the place of another module.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from tautline.studies.execution.worker import main; main()"
_HOME = str(Path(__file__).parents[3])


class _Worker:
    """A process with at most one batch in hand."""

    def __init__(self, archive: Archive) -> None:
        # matrices are small here: threads of the linear algebra would only get in the way
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        # -P: a file of the working folder is never imported, whatever its name
        command = [sys.executable, "-P", "-c", _START, _HOME, str(archive.path), archive.token]
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True, env=environment
        )
        self.batch: int | None = None

    def give(self, batch: int) -> None:
        self.batch = batch
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it died: its answer will be the end of its output
            print(batch, file=self.process.stdin, flush=True)

    def answer(self) -> dict[str, Any] | None:
        """Report of a worker on its batch; None if it died."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def end(self) -> tuple[int, str]:
        """Wait for its end; its exit code, and the last line that it wrote to its standard error."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        code = self.process.wait()
        with self._said:
            self._said.seek(0)
            lines = [line.strip() for line in self._said.read().splitlines()]
        return code, next((line for line in reversed(lines) if line), "")


class _Crew:
    """Workers, replaced when they are killed; a batch of a killed one goes to another."""

    def __init__(self, archive: Archive, size: int) -> None:
        self._archive, self._size = archive, size
        self._again: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._busy = selectors.DefaultSelector()
        self._all: list[_Worker] = []

    def run(self, batches: Iterator[int], on_finished: OnFinished) -> None:
        waiting = True
        while True:
            while waiting and len(self._busy.get_map()) < self._size:
                batch = self._again.popleft() if self._again else next(batches, None)
                if batch is None:
                    break
                self._hand_out(batch)
            if not self._busy.get_map():
                return
            for key, _ in self._busy.select():
                finished = self._hear(key.data)
                if finished is not None and on_finished(finished):
                    waiting = False

    def _hand_out(self, batch: int) -> None:
        idle = [worker for worker in self._all if worker.batch is None]
        if idle:
            worker = idle[0]
        else:
            worker = _Worker(self._archive)
            self._all.append(worker)
        worker.give(batch)
        self._busy.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]

    def _hear(self, worker: _Worker) -> Finished | None:
        answer, batch = worker.answer(), worker.batch
        self._busy.unregister(worker.process.stdout)  # type: ignore[arg-type]
        worker.batch = None
        assert batch is not None
        if answer is None:
            self._bury(worker, batch)
            return None
        if "error" in answer:
            raise StoreError(answer["error"])
        return Finished(**answer)

    def _bury(self, worker: _Worker, batch: int) -> None:
        self._all.remove(worker)
        code, words = worker.end()
        deaths = self._deaths[batch] = self._deaths.get(batch, 0) + 1
        if deaths >= DEATHS_OF_A_BATCH:
            lack = "perhaps for lack of memory" if code == -signal.SIGKILL else "without a word"
            why = f"its last words: {words}" if words else lack
            raise StoreError(
                f"{self._archive.path}: batch {batch} ended its worker process {deaths} times (exit code {code}), "
                f"{why}; `tautline study --resume {self._archive.path}` tries again"
            )
        self._again.append(batch)

    def dismiss(self) -> None:
        """Nothing is lost: results are in the store, and a batch that something went wrong with is not marked."""
        self._busy.close()
        for worker in self._all:
            worker.process.terminate()
            worker.end()


class Dask:
    """A cluster of `dask.distributed`; its workers must see the store under the same path."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers = max(1, sum(client.ncores().values()))

    def run(self, archive: Archive, batches: Iterable[int], on_finished: OnFinished) -> None:
        distributed = need("distributed", "a study")
        left = iter(batches)
        path = str(archive.path.resolve())

        def submit(batch: int) -> Any:
            # not pure: a batch that was computed for a store of this name before is another one
            return self._client.submit(run_batch, path, archive.token, batch, pure=False)

        first = [submit(batch) for _, batch in zip(range(self.workers + AHEAD), left, strict=False)]
        running, out = distributed.as_completed(first, loop=self._client.loop), set(first)
        stopping = False
        try:
            for future in running:
                out.discard(future)
                stopping = on_finished(_result(future, archive)) or stopping
                for batch in () if stopping else islice(left, 1):
                    another = submit(batch)
                    out.add(another)
                    running.add(another)
        finally:
            self._client.cancel(list(out))  # after an error: nobody waits for these


def _result(future: Any, archive: Archive) -> Finished:
    """Result of a batch; an error becomes a sentence."""
    try:
        found: Finished = future.result()
        return found
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(
            f"{archive.path}: a batch failed on the cluster: {type(error).__name__}: {error}; "
            f"`tautline study --resume {archive.path}` tries again"
        ) from None


def connect(address: str) -> Any:
    """A client of the cluster at an address."""
    distributed = need("distributed", "a study")
    try:
        return distributed.Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StoreError(f"--dask {address}: no Dask scheduler answers there ({error})") from None
