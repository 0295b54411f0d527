"""Make the wrapper of FMUs: `python -m tautline.fmu.build [--unless-current]`.

It is compiled from C when tautline is installed, for old systems, so that exporting needs no compiler and FMUs run on
other machines. One file serves both versions of the standard; it knows nothing of a system, and loads libtautline from
the FMU that it lies in.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

from tautline import errors
from tautline.errors import EngineError
from tautline.fmu import layout
from tautline.kernels.machine.linking import OLDEST_GLIBC, portable_compiler, run_compiler
from tautline.kernels.machine.targets import machine
from tautline.kernels.network import march

SOURCES = Path(__file__).parent / "c"
FOLDER = Path(__file__).parent / "built"
ACTIONS = ("MARCH", "BEGIN", "OBSERVE", "RELEASE", "LIMITS")
FLAGS = (
    "-std=c11",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-shared",
    "-s",
)


def declarations() -> str:
    """C declarations that follow from Python."""
    statuses = {name: getattr(errors, name) for name in vars(errors) if name.upper() in _statuses()}
    return layout.header_text({name: getattr(march, name) for name in ACTIONS}, statuses)


def _statuses() -> set[str]:
    """Names of the statuses of a march in the module of errors."""
    return {"RUNNING", *(name.upper() for code, name in errors.STATUS_NAMES.items() if code != errors.RUNNING)}


def digest() -> str:
    """Digest of all that the wrapper is made from."""
    found = hashlib.sha256(declarations().encode() + repr((FLAGS, OLDEST_GLIBC)).encode())
    for path in sorted(SOURCES.iterdir()):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def wrapper(folder: Path = FOLDER) -> Path:
    """File of the wrapper, made from the present sources; else EngineError."""
    if not sys.platform.startswith("linux"):
        raise EngineError(f"FMUs: expected Linux, which they hold machine code for, got {sys.platform}")
    path = folder / f"fmi-{machine()}-{digest()}.so"
    if not path.is_file():
        raise EngineError(
            "the wrapper of FMUs was not made from these sources when tautline was installed; "
            "install tautline again, or run `python -m tautline.fmu.build`"
        )
    return path


def compile_wrapper(target: Path, *flags: str) -> None:
    """Compile the wrapper to a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        (folder / "layout.h").write_text(declarations(), encoding="utf-8")
        made = folder / target.name
        sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
        command = [*portable_compiler(machine()), *FLAGS, *flags, "-I", name, *sources, "-o", str(made), "-ldl", "-lm"]
        run_compiler("the wrapper of FMUs: compiling", command, folder)
        made.replace(target)


def build() -> None:
    """Make the wrapper, and remove those of other sources."""
    target = FOLDER / f"fmi-{machine()}-{digest()}.so"
    compile_wrapper(target)
    for old in FOLDER.glob("fmi-*.so"):
        if old != target:
            old.unlink()


def is_current() -> bool:
    """Whether the wrapper was made from the present sources."""
    try:
        return wrapper().is_file()
    except EngineError:
        return False


def main() -> None:
    """Do what the arguments of the command ask for."""
    parser = argparse.ArgumentParser(prog="python -m tautline.fmu.build", description="Make the wrapper of FMUs.")
    parser.add_argument("--unless-current", action="store_true", help="not if it was made from the present sources")
    if not (parser.parse_args().unless_current and is_current()):
        build()


if __name__ == "__main__":
    main()
