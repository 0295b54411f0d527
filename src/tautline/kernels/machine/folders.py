"""Where machine code that was compiled in a process is kept for the next ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from tautline.kernels.machine.stamp import compiler, source_hash

# Environment variable that names the folder of the user's choice.
VARIABLE = "TAUTLINE_CACHE_DIR"
# It may be relative to the folder in which the kernels are loaded; that of their first call may be another.
CHOSEN = os.path.abspath(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def _is_ours_and_writable(folder: Path) -> bool:
    """Machine code found there is loaded and run, so a folder that others can write to is refused."""
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
    if CHOSEN is not None:
        yield Path(CHOSEN) / "tautline" / name
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
    # named after what is in it: sources, and what compiled them
    candidates = _candidates(f"kernels-{source_hash()}-{compiler().replace(', ', '-').replace(' ', '-')}")
    return next((folder for folder in candidates if _is_ours_and_writable(folder)), None)
