"""Ctrl-C during a search. CasADi turns an interrupt in a callback into a failed evaluation and a warning of its own."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from types import FrameType

from tautline.kernels.machine.pulse import PULSE_OF_MAIN


class Interrupts:
    """Keeps the first interrupt of a search, stops all later evaluations, and raises the interrupt after the search."""

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self._silence = ExitStack()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Over a search: keep an interrupt wherever Python handles it, and raise it at the end."""
        main = threading.current_thread() is threading.main_thread()
        # a handler of the user's own is left in place; `callback` keeps what it raises
        own = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with PULSE_OF_MAIN.stopping(lambda: main and self._error is not None), self._silence:
            if own:
                signal.signal(signal.SIGINT, self._hear)
            try:
                yield
            finally:
                if own:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._error is not None:
            raise self._error

    @contextmanager
    def callback(self) -> Iterator[None]:
        """Over a callback of the solver: keep an interrupt, and refuse to begin after one."""
        if self._error is not None:
            raise self._error
        try:
            yield
        except Exception:
            raise
        except BaseException as error:
            self._keep(error)
            raise

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._keep(KeyboardInterrupt())
        raise KeyboardInterrupt

    def _keep(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error
            # the solver's warning about the evaluation that was stopped
            self._silence.enter_context(redirect_stderr(io.StringIO()))
