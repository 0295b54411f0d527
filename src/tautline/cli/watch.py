"""A run as it goes on: the progress bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tautline.cli.output import console
from tautline.store import Progress


class Watcher:
    """Called after every chunk; shows the bar and answers whether to stop."""

    def __init__(self, bar: Any) -> None:
        self.interrupted = False
        self._bar = bar
        self._last: Progress | None = None
        self._task: Any = None
        self._from: Progress | None = None

    def __call__(self, progress: Progress) -> bool:
        self._last = progress
        if self._from is None:
            self._from = progress
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task("", total=progress.duration, speed="", error="")
            wall = progress.wall - self._from.wall
            speed = (progress.time - self._from.time) / wall if wall > 0.0 else 0.0
            self._bar.update(
                self._task,
                completed=progress.time,
                description=f"t = {progress.time:.4g} of {progress.duration:.4g} s",
                speed=f"{speed:.3g} x real time" if speed else "",
                error=f"energy error {100 * abs(progress.balance_error):.1e} %",
            )
        return self.interrupted

    def rates(self, wall: float) -> str:
        """Of what was computed since this watcher began."""
        if self._last is None or wall <= 0.0:
            return "nothing was left to compute"
        done = self._last.time - self._last.begun
        return f"{wall:.2f} s ({done / wall:.3g} x real time, {self._last.steps / wall:.3g} steps a second)"

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C ends the run after the present chunk; a second one ends the program."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


@contextmanager
def watching(quiet: bool, no_color: bool) -> Iterator[Watcher]:
    """A bar on stderr if that is a terminal, and Ctrl-C that saves."""
    bar = None
    if not quiet and sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[error]}"),
            console=console(no_color, stderr=True),
        )
        bar.start()
    watcher = Watcher(bar)
    before = signal.signal(signal.SIGINT, watcher.interrupt)
    try:
        yield watcher
    finally:
        signal.signal(signal.SIGINT, before)
        if bar is not None:
            bar.stop()


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def __call__(self) -> float:
        return time.perf_counter() - self._start
