"""Who may write a store: one client at a time; and what clients that were killed have left beside it."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tautline.files.runs import StoreError
from tautline.studies.store.guard import METADATA

try:
    import fcntl
except ModuleNotFoundError:  # not on every system: there, nobody is refused
    fcntl = None  # type: ignore[assignment]

_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL)


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Be the only client that writes a store; the system ends the claim with the process, however that ends."""
    try:
        held = open(path / METADATA, "r+b")  # noqa: SIM115 - what is done meanwhile has errors of its own
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
    with held:
        _lock(held.fileno(), path)
        yield


def _lock(descriptor: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(
            f"{path}: another process is computing this study; wait for it or end it, then "
            f"`tautline study --resume {path}` goes on"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise


def part_of(path: Path, word: str = "part") -> Path:
    """Where this process puts what is not complete yet."""
    return path.with_name(f"{path.name}.{os.getpid()}.{word}")


def sweep_parts(path: Path) -> None:
    """Remove what processes that are gone have begun beside a store."""
    pattern = re.compile(re.escape(path.name) + r"\.(\d+)\.(part|old)")
    for left in path.parent.iterdir():
        match = pattern.fullmatch(left.name)
        if match and left.is_dir() and not _is_alive(int(match[1])):
            shutil.rmtree(left, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # where signal 0 is not a question
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of somebody else
        return True
    return True
