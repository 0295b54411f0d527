"""Reading and writing files safely: regular files only, of bounded size; written under a temporary name first.

A lock is the operating system's (flock): it ends with the process that holds it, also after `kill -9`.
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tautline.errors import TautlineError

try:
    import fcntl
except ImportError:  # not on every system; files are written without a lock there
    fcntl = None  # type: ignore[assignment]

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
)
_counter = itertools.count()
# Bytes of a file that is read as a whole: scenarios, tables of numbers, measured data.
LARGEST_INPUT = 64 * 2**20


class StoreError(TautlineError):
    """A file cannot be written or read."""


class NotAFileError(OSError):
    """A folder, a device, a pipe or a socket stands where a file is expected."""


def kind_of(path: Path) -> str | None:
    """Kind of what stands at a path in the way of a regular file ("is a device"), or None."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return next((words for test, words in _KINDS if test(mode)), None)


def open_input(path: str | os.PathLike[str], mode: str = "rb", **options: Any) -> IO[Any]:
    """Open a regular file for reading, or for changing it ("r+b"), without waiting for a pipe or a device.

    OSError says in `strerror` what stands there instead.
    """
    access = os.O_RDWR if "+" in mode else os.O_RDONLY
    others = (getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
    handle = os.open(path, access | sum(others))
    try:
        kind = next((words for test, words in _KINDS if test(os.fstat(handle).st_mode)), None)
        if kind is not None:
            raise NotAFileError(errno.EINVAL, f"{kind}, expected a file")
        return open(handle, mode, **options)
    except BaseException:
        os.close(handle)
        raise


def read_input(path: str | os.PathLike[str], largest: int = LARGEST_INPUT) -> bytes:
    """Content of a regular file of bounded size; OSError says in `strerror` why not."""
    with open_input(path) as file:
        content: bytes = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"expected a file of at most {largest / 2**20:.0f} MB, got a larger one")
    return content


def read_text(path: str | os.PathLike[str], largest: int = LARGEST_INPUT) -> str:
    """Text of a regular file of bounded size, in UTF-8; some editors put a byte order mark first."""
    return read_input(path, largest).decode("utf-8-sig")


def check_regular(path: Path) -> None:
    """Refuse a folder, a device, a pipe or a socket where a file is to be written."""
    kind = kind_of(path)
    if kind is not None:
        raise StoreError(f"{path}: {kind}, expected the name of a file")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: its folder does not exist")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the file system while writing into a sentence."""
    try:
        yield
    except (OSError, RuntimeError, UnicodeError) as error:
        # netCDF and HDF5 report a full disk as a RuntimeError with little text
        raise StoreError(f"{path}: {reason(error)}") from None


def reason(error: Exception) -> str:
    """Why a file cannot be written, in words."""
    code = getattr(error, "errno", None)
    if code == errno.EROFS:
        return "cannot be written: the file system is mounted read-only"
    if code in (errno.EACCES, errno.EPERM):
        return "not allowed to write there"
    return f"cannot be written: {getattr(error, 'strerror', None) or error}"


def part_name(target: Path) -> Path:
    """A name beside a target for its unfinished content, unique to this process and call."""
    return target.with_name(f"{target.name}.{os.getpid()}-{next(_counter)}.part")


def check_writable(path: Path) -> None:
    """Refuse a path where no file can be made, before there is something to write."""
    check_regular(path)
    part = part_name(path)
    with explained(path):
        part.open("xb").close()
        part.unlink()


def remove_leftovers(target: Path) -> None:
    """Delete unfinished content of a target that processes left behind which are gone."""
    pattern = re.compile(re.escape(target.name) + r"\.(\d+)(-\d+)?\.part")
    with suppress(OSError):
        for path in target.parent.iterdir():
            found = pattern.fullmatch(path.name)
            if found and not _is_running(int(found[1])) and not is_locked(path):
                if path.is_dir():  # of a study
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # there, asking ends the process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that takes the place of `path` as a whole when it is written; before that nothing changes there."""
    target = Path(os.path.realpath(path))
    check_regular(target)
    remove_leftovers(target)
    part = part_name(target)
    try:
        with part.open(mode, **options) as file:
            yield file
        os.replace(part, target)
    except OSError as error:
        if error.filename not in (None, str(part), part):
            raise  # of another file, which the caller reads meanwhile
        raise StoreError(f"{target}: {reason(error)}") from None
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file as a whole; what goes wrong becomes a sentence."""
    with explained(Path(path)), replacing(path, encoding="utf-8") as file:
        file.write(text)


def json_text(value: Any) -> str:
    """Indented JSON, which has no word for numbers that are not finite: null."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def free_space(path: Path) -> float:
    """Bytes that are free in the folder of a path; infinite where the system does not tell."""
    try:
        disk = os.statvfs(path.parent)
    except (AttributeError, OSError):
        return math.inf
    return float(disk.f_bavail * disk.f_frsize)


def give_name(part: Path, target: Path, overwrite: bool) -> None:
    """Give a finished part its name: without `overwrite` never that of a file that is there, and never that of a file
    which another process is writing."""
    while True:
        try:
            os.link(part, target)
            return
        except FileExistsError:
            if not overwrite:
                raise StoreError(f"{target}: exists already; it was made while this one was being prepared") from None
        except OSError:  # a file system without hard links
            os.replace(part, target)
            return
        try:
            with target.open("rb") as old:
                # others who would replace the same file wait for its lock, and find another file then
                if not lock(old) and is_locked(target):
                    raise StoreError(in_use(target))
                if os.path.samestat(os.fstat(old.fileno()), target.stat()):
                    os.replace(part, target)
                    return
        except FileNotFoundError:
            continue


def unused(path: Path) -> Path:
    """The path, or the first with a number that does not exist yet."""
    candidate, k = path, 1
    while candidate.exists():
        k += 1
        candidate = path.with_name(f"{path.stem}-{k}{path.suffix}")
    return candidate


def in_use(path: Path) -> str:
    """Say that a file has a writer already."""
    return f"{path}: another process is writing this file; wait for it, or choose another name"


def lock(file: IO[Any]) -> bool:
    """Take the writer's lock of an open file until it is closed; False if another process has one."""
    return _flock(file, "LOCK_EX")


def is_locked(path: Path) -> bool:
    """Whether another process is writing a file; one that only reads does not count."""
    try:
        with path.open("rb") as file:
            return not _flock(file, "LOCK_SH")
    except OSError:
        return False


def _flock(file: IO[Any], kind: str) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, getattr(fcntl, kind) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
