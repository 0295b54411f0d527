"""A worker process of a study: numbers of batches come in on stdin, a line of JSON for each goes out.

It ends when its input does, also in the middle of a batch, so a client that was killed leaves no worker behind. Started
as a program and not by multiprocessing, so that a script that calls `study` is not run again in every worker.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any

from tautline.errors import TautlineError
from tautline.studies.execution.batches import run_batch


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends its workers
    path, token = sys.argv[1:3]
    # what libraries print must not come between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    batches: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(batches,), daemon=True).start()
    while True:
        answer = _answer(path, token, int(batches.get()))
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:  # the client is gone
            return


def _listen(batches: SimpleQueue[str]) -> None:
    """Read orders while kernels run; end the process when the parent is gone, since its batch is of no use then."""
    for line in sys.stdin:
        batches.put(line)
    os._exit(0)


def _answer(path: str, token: str, batch: int) -> dict[str, Any]:
    try:
        return dict(run_batch(path, token, batch)._asdict())
    except TautlineError as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"batch {batch} of {path} failed: {type(error).__name__}: {error}"}
