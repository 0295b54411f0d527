"""How kernels are compiled, and where their machine code is kept.

Numba's disk cache looks only at the file of the cached function itself: after a change in `so3.py`
it would go on using the old machine code of `march.py`. So the folder is named after a hash of all
kernel sources. Only entry points are cached; what they call is compiled into them.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

from tautline import ledger, registry

F = TypeVar("F", bound=Callable[..., Any])

# Contraction lets a*b + c become one fused instruction (10 % of a step). Compensated sums stay exact
# under it: they hold no product that a fusion could change for the worse.
OPTIONS: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy", "nogil": True, "_nrt": False}

# Compilation that begins this long after the last one has ended is announced again (s).
PAUSE = 5.0


@cache
def source_hash() -> str:
    """Digest of all kernel sources, so that any change of any of them leads to a new folder.

    With what is compiled into the kernels from elsewhere: status codes, and the laws, commands, loads and accounts that
    are registered, from outside of tautline too.
    """
    digest = hashlib.sha256(repr((registry.tables(), ledger.ACCOUNTS)).encode())
    folder = Path(__file__).parent
    ours = (*sorted(folder.rglob("*.py")), folder.parent / "arrays.py", folder.parent / "errors.py")
    for path in (*ours, *_registered_outside()):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _registered_outside() -> Iterator[Path]:
    """Files of registered kernels that are not in this folder."""
    for law in (law for table in registry.tables() for law in table.values()):
        if not law.module.startswith(f"{__package__}."):
            found = find_spec(law.module)  # imports no kernel, which might need the folder that is being named
            if found is not None and found.origin is not None:
                yield Path(found.origin)


def _is_ours_and_writable(folder: Path) -> bool:
    """Cached machine code is loaded and run, so a folder that others can write to is refused."""
    try:
        # the mode is not given to parents, and a permissive umask would make ours writable for others
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        if hasattr(os, "getuid"):
            # and its parent, in which another could put a folder of his own in its place
            for info in (folder.stat(), folder.parent.stat()):
                if info.st_uid != os.getuid() or info.st_mode & 0o022:
                    return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _candidates(name: str) -> Iterator[Path]:
    """Absolute, because the working directory may change before the first call compiles."""
    if numba.config.CACHE_DIR:  # the user's NUMBA_CACHE_DIR
        yield Path(numba.config.CACHE_DIR).absolute() / "tautline" / name
    else:
        with suppress(RuntimeError):  # a user without a home
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            yield Path(base).absolute() / "tautline" / name
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with suppress(FileNotFoundError):  # no folder for temporary files
        yield Path(tempfile.gettempdir()) / f"tautline-{owner}" / name


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where no folder can be written."""
    candidates = _candidates(f"kernels-{source_hash()}")
    return next((folder for folder in candidates if _is_ours_and_writable(folder)), None)


class _Compilation(event.Listener):  # type: ignore[misc]
    """Says on stderr that compiling takes a while, whenever it begins anew, and adds up how long it took."""

    def __init__(self) -> None:
        self.depth = 0
        self.begun = 0.0
        self.ended = -math.inf
        self.seconds = 0.0

    def on_start(self, event: Any) -> None:
        if self.depth == 0 and not _is_ours(event):
            return
        now = time.perf_counter()
        if self.depth == 0:
            self.begun = now
            if now - self.ended > PAUSE:
                kept = "once" if cache_folder() else "no writable cache folder, so in every process"
                print(f"tautline: compiling this kind of run ({kept}, about a minute)", file=sys.stderr, flush=True)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            self.ended = time.perf_counter()
            self.seconds += self.ended - self.begun


def _is_ours(event: Any) -> bool:
    return bool(event.data["dispatcher"].py_func.__module__.startswith(__package__))


_compilation = _Compilation()
if not numba.config.DISABLE_JIT:
    event.register("numba:compile", _compilation)


def compiling_time() -> float:
    """Seconds that this process has spent on compiling kernels."""
    return _compilation.seconds


def kernel(function: F) -> F:
    """Compile for use inside other kernels."""
    compiled: F = numba.njit(forceinline=True, **OPTIONS)(function)
    return compiled


def inlined(function: F) -> F:
    """Compile as a part of its caller, for functions with one caller that steer others.

    Numba optimises each function together with all that it calls; a chain of five such functions
    is optimised five times (23 s in all), and hands its structures over by value.
    """
    compiled: F = numba.njit(inline="always", **OPTIONS)(function)
    return compiled


def separate(function: F) -> F:
    """Compile as a function of its own, for large ones with several callers outside the hot path."""
    compiled: F = numba.njit(**OPTIONS)(function)
    return compiled


def entry(function: F) -> F:
    """Compile for calls from Python, with the machine code kept on disk."""
    folder = cache_folder()
    if folder is None:
        return kernel(function)
    users_choice = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(folder)  # read by Numba while it decorates
        compiled: F = numba.njit(cache=True, **OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = users_choice
    return compiled
