"""Ctrl-C while machine code runs: a march asks Python several times a second whether to go on (interrupts.py).

Python handles signals in its main thread alone, and there only between instructions of its own; so marches of that
thread ask, and others do not. The question takes a microsecond. It changes no number: a march is stopped, or it is not.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tautline.kernels.interrupts import ENDLESS, FIRST_QUESTION, PULSE

# Time between two questions (s).
PAUSE = 0.05


class Pulse:
    """The function that marches of the main thread ask, and what an interrupt raised in it."""

    def __init__(self) -> None:
        self._taken = False  # a march asks already, and what it calls marches too
        self._error: BaseException | None = None
        self._steps, self._asked = FIRST_QUESTION, 0.0  # that were to be made since the latest question (s)
        self._wishes: list[Callable[[], bool]] = []
        answers = self._answers()
        next(answers)
        self._function = PULSE(answers.__next__)
        self._address = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def call(self, code: Callable[..., int], before: Any, after: Any = ()) -> int:
        """Call machine code with the address that it may ask between arguments; raise what stopped it."""
        if self._taken or threading.get_ident() != threading.main_thread().ident:
            return code(*before, 0, *after)
        self._taken, self._error = True, None
        self._steps, self._asked = FIRST_QUESTION, time.perf_counter()
        try:
            status = code(*before, self._address, *after)
        finally:
            self._taken = False
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return status

    def _answers(self) -> Iterator[int]:
        """Numbers of steps until the next question; 0 stops the march.

        A generator, because Python handles signals when it enters a function, which is before any `try` in it; a
        generator is entered again at its `yield`. It handles them at jumps back too, so those of the loop are inside.
        """
        answer = FIRST_QUESTION
        while True:
            try:
                while True:
                    yield answer
                    now = time.perf_counter()
                    fitting = int(self._steps * PAUSE / max(now - self._asked, 1e-9))
                    answer = max(FIRST_QUESTION, min(2 * self._steps, fitting, ENDLESS))
                    self._steps, self._asked = answer, now
                    for wish in self._wishes:
                        if wish():
                            raise KeyboardInterrupt
            except GeneratorExit:
                return
            except BaseException as error:
                self._error, answer = error, 0

    @contextmanager
    def stopping(self, wish: Callable[[], bool]) -> Iterator[None]:
        """While this is entered, marches also stop, with a KeyboardInterrupt, where `wish` returns True."""
        self._wishes.append(wish)
        try:
            yield
        finally:
            self._wishes.remove(wish)


PULSE_OF_MAIN = Pulse()
