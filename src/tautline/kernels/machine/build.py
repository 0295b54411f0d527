"""Make libtautline: `python -m tautline.kernels.machine.build [--unless-current]`.

Needs Numba, and something to link with (linking.py). The functions are compiled once, by two processes, and emitted for
every kind of processor (targets.py). Beside the libraries come a header and the list that loading checks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from tautline.errors import EngineError
from tautline.kernels.machine.header import header
from tautline.kernels.machine.library import FOLDER, LIST, check, file_name
from tautline.kernels.machine.linking import link
from tautline.kernels.machine.options import NUMBA
from tautline.kernels.machine.signatures import all_functions
from tautline.kernels.machine.stamp import ABI, compiler, source_hash
from tautline.kernels.machine.targets import Target, machine, targets

# Functions that share much, which are compiled together by one process. All others go with the first of them.
TOGETHER = (
    (("tl_march_with_loads", "tl_march", "tl_march_network"), ("tl_march_reeling", "tl_march_locked")),
    (
        (
            *("tl_march_with_tangents", "tl_begin_with_tangents", "tl_torques_with_tangents"),
            *("tl_march_network_with_tangents", "tl_begin_network_with_tangents"),
        ),
        ("tl_march_back",),
    ),
)
HEADER = "tautline.h"
OPTIMISED = ".bc"


def shares() -> list[list[list[str]]]:
    """Names of the functions that each process compiles, those together that share much."""
    named = [[list(group) for group in share] for share in TOGETHER]
    listed = {name for share in named for group in share for name in group}
    named[0][0] += [name for name in all_functions() if name not in listed]
    return named


def compile_share(groups: list[list[str]], folder: Path) -> None:
    """Optimise some functions, then write objects of what is there from any process, until nothing is left to take."""
    from tautline.kernels.machine.compiling import module_of

    for names in groups:
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"libtautline: compiling {names[0]}{others}", flush=True)
        begun = time.perf_counter()
        code = module_of(*[all_functions()[name] for name in names]).as_bitcode()
        for target in targets():
            part = folder / f"{names[0]}-{target.name}.part"
            part.write_bytes(code)
            part.rename(part.with_suffix(OPTIMISED))
        print(f"libtautline: {names[0]}{others} ({time.perf_counter() - begun:.0f} s)", flush=True)
    while waiting := sorted(folder.glob(f"*{OPTIMISED}")):
        write_object(waiting[0])


def write_object(path: Path) -> None:
    """Write the object of an optimised function for one kind of processor, unless another process does."""
    import llvmlite.binding as llvm

    from tautline.kernels.machine.compiling import emit

    taken = path.with_suffix(".taken")
    try:
        path.rename(taken)
    except FileNotFoundError:
        return
    target = next(target for target in targets() if path.stem.endswith(f"-{target.name}"))
    module = llvm.parse_bitcode(taken.read_bytes())
    path.with_suffix(".o").write_bytes(emit(module, target, position_independent=True))
    print(f"libtautline: {path.stem} written", flush=True)


def _stamp_object(folder: Path, target: Target) -> Path:
    """Object with what a caller checks: stamp and ABI."""
    import llvmlite.binding as llvm

    from tautline.kernels.machine.compiling import emit

    stamp = source_hash()
    text = f"""
@text = private constant [{len(stamp) + 1} x i8] c"{stamp}\\00"
@tl_stamp = constant ptr @text
@tl_abi = constant i64 {ABI}
"""
    path = folder / f"stamp-{target.name}.o"
    path.write_bytes(emit(llvm.parse_assembly(text), target, position_independent=True))
    return path


def is_current() -> bool:
    """Whether all libraries are there already, made from the present sources by the present compiler, and whole."""
    try:
        listed = json.loads((FOLDER / LIST).read_text(encoding="utf-8"))
        return [check(target) for target in targets()] != [] and listed["compiler"] == compiler()
    except (EngineError, OSError, ValueError, LookupError):
        return False


def build(folder: Path = FOLDER) -> None:
    """Make the libraries, their header and their list in a folder."""
    begun = time.perf_counter()
    fastest = targets()[0]
    environment = os.environ | {"NUMBA_CPU_NAME": fastest.name, "NUMBA_CPU_FEATURES": fastest.features}
    if not version("numba").startswith(f"{NUMBA}."):
        print(f"libtautline: {compiler()} is not numba {NUMBA}, which it is usually made with: this takes longer")
        environment["NUMBA_OPT"] = "0"  # single functions; all of them are optimised together
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        objects = Path(name)
        source = str(Path(__file__).parents[3])
        code = f"import sys; sys.path.insert(0, {source!r}); from tautline.kernels.machine.build import main; main()"
        command = [sys.executable, "-c", code, "--share"]
        started = [subprocess.Popen([*command, str(k), name], env=environment) for k in range(len(shares()))]
        codes = [process.wait() for process in started]  # of all, before their folder goes
        if any(codes):
            raise RuntimeError("libtautline: compiling failed")
        files = {}
        for target in targets():
            found = [*sorted(objects.glob(f"tl_*-{target.name}.o")), _stamp_object(objects, target)]
            path = objects / file_name(target)
            link(found, path)
            content = path.read_bytes()
            files[path.name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        listed = {"abi": ABI, "stamp": source_hash(), "compiler": compiler(), "machine": machine(), "files": files}
        (objects / LIST).write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
        (objects / HEADER).write_text(header(), encoding="utf-8")
        for new in (*files, HEADER, LIST):  # the list last: without it nothing is loaded
            (objects / new).replace(folder / new)
    print(f"libtautline: made in {time.perf_counter() - begun:.0f} s", flush=True)


def main() -> None:
    """Do what the arguments of the command ask for."""
    parser = argparse.ArgumentParser(prog="python -m tautline.kernels.machine.build", description="Make libtautline.")
    parser.add_argument("--unless-current", action="store_true", help="not if it was made from the present sources")
    parser.add_argument("--share", nargs=2, help=argparse.SUPPRESS)  # which of the processes this is, and its folder
    asked = parser.parse_args()
    if asked.share:
        compile_share(shares()[int(asked.share[0])], Path(asked.share[1]))
    elif not (asked.unless_current and is_current()):
        build()


if __name__ == "__main__":
    main()
