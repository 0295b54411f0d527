"""A run or a study as it goes on: the progress bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from tautline.cli.output import console
from tautline.quantities import value

if TYPE_CHECKING:
    from tautline.files.runs.writing import Progress
    from tautline.optimal.result import Progress as SearchProgress
    from tautline.studies.execution.run import Progress as StudyProgress


class Bar:
    """Progress bar on stderr, where that is a terminal."""

    def __init__(self, quiet: bool, no_color: bool) -> None:
        self._progress: Any = None
        self._task: Any = None
        if quiet or not sys.stderr.isatty():
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[error]}"),
            console=console(no_color, stderr=True),
        )

    def show(self, completed: float, total: float, words: str, speed: str, error: str) -> None:
        """Show how much of a total is completed, with words beside it."""
        if self._progress is None:
            return
        if self._task is None:
            self._task = self._progress.add_task("", total=total, speed="", error="")
        self._progress.update(self._task, completed=completed, description=words, speed=speed, error=error)

    def __enter__(self) -> Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()


class Watcher:
    """Called after every chunk; shows the bar and answers whether to stop. `compiling`: seconds spent on it so far."""

    def __init__(self, bar: Bar, compiling: Callable[[], float]) -> None:
        self.interrupted, self.insisted = False, False
        self._bar = bar
        self._last: Progress | None = None
        self._compiling, self._before = compiling, compiling()

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C ends the run, with all that is complete in its file; a second one ends the program."""
        if self.interrupted:
            self.insisted = True
            raise KeyboardInterrupt
        self.interrupted = True

    def __call__(self, progress: Progress) -> bool:
        self._last = progress
        self._bar.show(
            progress.time,
            progress.duration,
            f"t = {progress.time:.4g} of {progress.duration:.4g} s",
            self._speed(progress),
            f"balance error {value(progress.balance_error, '%', 3)}",
        )
        return self.interrupted

    @property
    def compile_time(self) -> float:
        """Wall time of compiling kernels that were not there (s)."""
        return self._compiling() - self._before

    def _stepping(self, progress: Progress) -> float:
        """Wall time of steps and of writing their samples (s)."""
        return max(progress.wall - self.compile_time, 1e-9)

    def _speed(self, progress: Progress) -> str:
        return f"{(progress.time - progress.begun) / self._stepping(progress):.3g} x real time"

    def rates(self, wall: float) -> str:
        """Wall time of the command, and the part and the rate of stepping; compilation is separate."""
        if self._last is None:
            return "nothing was left to compute"
        stepping = self._stepping(self._last)
        text = f"{wall - self.compile_time:.2f} s, {stepping:.2g} s of it stepping "
        text += f"({self._speed(self._last)}, {self._last.steps / stepping:.3g} steps a second)"
        if self.compile_time > 0.0:
            text += f", and {self.compile_time:.1f} s once for compiling"
        return text


class StudyWatcher:
    """Called after every batch of a study; shows the bar."""

    def __init__(self, bar: Bar) -> None:
        self.last: StudyProgress | None = None
        self._bar = bar

    def __call__(self, progress: StudyProgress) -> bool:
        self.last = progress
        new = progress.done - progress.begun
        self._bar.show(
            progress.done,
            progress.members,
            f"{progress.done} of {progress.members} members",
            f"{new / progress.wall:.3g} a second" if new and progress.wall > 0.0 else "",
            f"{progress.failed} failed" if progress.failed else "none failed",
        )
        return False

    def rates(self, wall: float) -> str:
        """Rates of what was computed since this watcher began."""
        new = 0 if self.last is None else self.last.done - self.last.begun
        return f"{wall:.2f} s ({new / wall:.3g} members a second)" if new else "nothing was left to compute"


def print_iteration(progress: SearchProgress) -> None:
    """Print how a search goes, after every iteration."""
    print(
        f"iteration {progress.iteration:4d}: objective {progress.objective:.6g}, "
        f"beyond bounds by {progress.violation:.1e}, {progress.seconds:.0f} s",
        file=sys.stderr,
    )


@contextmanager
def watching(quiet: bool, no_color: bool) -> Iterator[Watcher]:
    """Over a run, with Ctrl-C that saves."""
    from tautline.kernels.machine.choice import compiling_time
    from tautline.kernels.machine.pulse import PULSE_OF_MAIN

    with Bar(quiet, no_color) as bar:
        watcher = Watcher(bar, compiling_time)
        handler = signal.signal(signal.SIGINT, watcher.interrupt)
        try:
            # a march is stopped in the middle of a sample, which Ctrl-C must not do to what writes the file
            with PULSE_OF_MAIN.stopping(lambda: watcher.interrupted):
                yield watcher
        except KeyboardInterrupt:
            if watcher.insisted or not watcher.interrupted:
                raise
        finally:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def watching_study(quiet: bool, no_color: bool) -> Iterator[StudyWatcher]:
    """Over a study; Ctrl-C raises KeyboardInterrupt, since a store survives an end at any moment."""
    with Bar(quiet, no_color) as bar:
        yield StudyWatcher(bar)
