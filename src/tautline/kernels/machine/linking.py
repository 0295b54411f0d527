"""Objects of machine code into a shared library, by the system's C compiler or by the package `ziglang`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ZIG = "ziglang"  # a C compiler from the package index


def system_compiler() -> list[str] | None:
    """Command of this machine's C compiler: the one that the environment variable CC names, or a usual one."""
    for command in (shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]):
        if command and shutil.which(command[0]):
            return command
    return None


def linker() -> list[str]:
    """Command that links a shared library."""
    found = system_compiler()
    if found is not None:
        return found
    if find_spec(ZIG) is not None:
        return [sys.executable, "-m", ZIG, "cc"]
    raise RuntimeError(f"libtautline: no C compiler was found to link with; install one, or the package {ZIG}")


def link(objects: list[Path], library: Path) -> None:
    """One shared library of some objects, without the names of what is inside."""
    names = [str(path) for path in objects]
    command = [*linker(), "-shared", "-s", "-o", str(library), *names, "-lm"]
    # zig keeps what it makes, and a home that cannot be written to would end it
    kept = {name: os.environ.get(name, str(library.parent)) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    done = subprocess.run(command, env=os.environ | kept, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"libtautline: linking failed\n{done.stderr}")
