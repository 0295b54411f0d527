"""Ctrl-C while a call goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any


def interrupted(call: Any, after: float) -> float:
    """Call, and send Ctrl-C after some time; how long the answer took (s)."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of a parallel test run ignore it
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    raise AssertionError("the call ended before the interrupt")
