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
OLDEST_GLIBC = (2, 17)  # of the systems that wheels and FMUs are for: manylinux2014


def system_compiler() -> list[str] | None:
    """Command of this machine's C compiler: the one that the environment variable CC names, or a usual one."""
    for command in (shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]):
        if command and shutil.which(command[0]):
            return command
    return None


def zig(*flags: str) -> list[str] | None:
    """Command of zig's C compiler, if the package is there."""
    return [sys.executable, "-m", ZIG, "cc", *flags] if find_spec(ZIG) is not None else None


def linker() -> list[str]:
    """Command that links a shared library."""
    found = system_compiler() or zig()
    if found is None:
        raise RuntimeError(f"libtautline: no C compiler was found to link with; install one, or the package {ZIG}")
    return found


def portable_compiler(machine: str) -> list[str]:
    """Command that compiles for old systems with Linux, which zig can; without it, for systems as new as this one."""
    return zig("-target", f"{machine}-linux-gnu.{OLDEST_GLIBC[0]}.{OLDEST_GLIBC[1]}") or linker()


def run_compiler(what: str, command: list[str], folder: Path) -> None:
    """Run a compiler, which may write into a folder; RuntimeError with what it does and says if it fails."""
    # zig keeps what it makes, and a home that cannot be written to would end it
    kept = {name: os.environ.get(name, str(folder)) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    done = subprocess.run(command, env=os.environ | kept, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{what} failed\n{done.stderr}")


def link(objects: list[Path], library: Path) -> None:
    """One shared library of some objects, without the names of what is inside."""
    names = [str(path) for path in objects]
    command = [*linker(), "-shared", "-s", "-o", str(library), *names, "-lm"]
    run_compiler("libtautline: linking", command, library.parent)
