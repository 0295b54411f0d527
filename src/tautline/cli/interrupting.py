"""Ctrl-C while compiled code runs: Python's handlers wait for it to return, a thread beside it does not."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tautline.cli.output import INTERRUPTED

# What the program has to end by itself after the second Ctrl-C (s).
GRACE = 1.0


@contextmanager
def second_ends_at_once() -> Iterator[None]:
    """While this is entered, the program ends a second after the second Ctrl-C at the latest.

    Nothing is lost by that: batches that are complete are in the store, and workers end with their client.
    """
    heard, noted = socket.socketpair()
    noted.setblocking(False)
    left = threading.Event()
    threading.Thread(target=_listen, args=(heard, left), daemon=True).start()
    before = signal.set_wakeup_fd(noted.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        noted.close()


def _listen(heard: socket.socket, left: threading.Event) -> None:
    """Count interrupts, which the system writes here at once."""
    count = 0
    with heard:
        while count < 2:
            numbers = heard.recv(64)
            if not numbers:
                return
            if not count and signal.SIGINT in numbers:
                _say("ends when the batches in progress are complete; Ctrl-C again ends at once")
            count += numbers.count(signal.SIGINT)
    if not left.wait(GRACE):
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # the bar had hidden it
        _say(f"{cursor}interrupted; `tautline study --resume` goes on from the last complete batch")
        os._exit(INTERRUPTED)


def _say(text: str) -> None:
    """Not by print, which the interrupt may have found at work."""
    os.write(2, f"\n{text}\n".encode())
