"""A worker process of a study: numbers of batches come in on stdin, a line of JSON for each goes out.

It ends when its input does, so a killed client leaves no worker behind. Started as a program and not by
multiprocessing, so that a script that calls `study` is not run again in every worker.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from tautline.errors import TautlineError
from tautline.studies.batches import run_batch


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which lets batches end
    path, token = sys.argv[1:3]
    # what libraries print must not come between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = dict(run_batch(path, token, int(line))._asdict())
        except TautlineError as error:
            answer = {"error": str(error)}
        except Exception as error:
            answer = {"error": f"batch {line.strip()} of {path} failed: {type(error).__name__}: {error}"}
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:  # the client is gone
            return


if __name__ == "__main__":
    main()
