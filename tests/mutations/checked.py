"""One mutated scenario through `tautline check`, with limits of time and of memory."""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from tautline.cli.commands import app
from tests.mutations.mutate import mutation

# Processor time of a check, so that other programs on the machine do not count; and the time by the clock (s).
LONGEST, LONGEST_BY_CLOCK = 20.0, 300.0
EXIT_CODES = (0, 2, 4)


class TooLongError(BaseException):
    """A check takes too long; not an Exception, so that no code takes it for an error of its own."""


class Verdict(NamedTuple):
    """What became of a check."""

    number: int
    name: str
    code: int
    seconds: float  # of the processor
    fault: str  # what is wrong with it, empty if nothing


@contextmanager
def _limited() -> Iterator[None]:
    def raise_too_long(*_: Any) -> None:
        raise TooLongError

    old = {number: signal.signal(number, raise_too_long) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_BY_CLOCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in old.items():
            signal.signal(number, handler)


def checked(number: int, folder: Path) -> Verdict:
    """The verdict on the scenario of a number; its file is left in the folder if something is wrong."""
    made = mutation(number)
    path = folder / f"mutation-{number}.toml"
    path.write_bytes(made.text.encode("utf-8", "surrogatepass"))
    arguments = ["check", str(path)]
    for option in made.options:
        arguments += ["--set", option]
    begun, fault, code = time.process_time(), "", -1
    try:
        with _limited():
            result = CliRunner().invoke(app, arguments)
        code = result.exit_code
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            fault = "".join(traceback.format_exception(result.exception)[-4:])
        elif code not in EXIT_CODES:
            fault = f"exit code {code}"
        elif code != 0 and "error:" not in result.output:
            fault = f"exit code {code} without a message"
    except TooLongError:
        fault = "too long\n" + traceback.format_exc()[-600:]
    seconds = time.process_time() - begun
    if not fault:
        path.unlink()
        fault = f"{seconds:.1f} s" if seconds > LONGEST else ""
    return Verdict(number, made.name, code, seconds, fault)
