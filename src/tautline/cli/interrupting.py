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

# Time that the program has to end by itself after Ctrl-C (s).
GRACE = 0.7


@contextmanager
def ends_soon(hint: str, presses: int = 1) -> Iterator[None]:
    """While this is entered, the program ends within a second after Ctrl-C, or after so many of them.

    Python raises KeyboardInterrupt as usual. If that does not lead out of here in time, the process exits, with the
    hint on standard error: only for work whose files survive a kill at any moment.
    """
    heard, noted = socket.socketpair()
    noted.setblocking(False)
    left = threading.Event()
    threading.Thread(target=_listen, args=(heard, left, hint, presses), daemon=True).start()
    before = signal.set_wakeup_fd(noted.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        noted.close()


def _listen(heard: socket.socket, left: threading.Event, hint: str, presses: int) -> None:
    """Count interrupts, which the system writes here at once."""
    count = 0
    with heard:
        while count < presses:
            numbers = heard.recv(64)
            if not numbers:
                return
            count += numbers.count(signal.SIGINT)
    if not left.wait(GRACE):
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # the bar had hidden it
        # not by print, which the interrupt may have found at work
        os.write(2, f"\n{cursor}interrupted; {hint}\n".encode())
        os._exit(INTERRUPTED)
