"""The command `tautline`, run in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support import forked

# As it is installed: for tests that send it signals, or look at its terminal.
COMMAND = str(Path(sys.executable).with_name("tautline"))


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def tautline(*arguments: str, cwd: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = forked.command(arguments, cwd)
    assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done
