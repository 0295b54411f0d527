"""libtautline for platforms other than the one that makes it: what LLVM emits and zig links.

    python -m benchmarks.cross_compiling FOLDER [PLATFORM ...]

The functions are optimized as for the plainest processor of this machine, emitted for each platform, and linked by the
package `ziglang`. Each folder FOLDER/PLATFORM is what belongs in src/tautline/kernels/machine/built there: the library,
its list and its header. Nothing that is made here is run. docs/quickstart.md#platforms tells what came of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from llvmlite import binding as llvm

from tautline.kernels.machine.build import HEADER, shares
from tautline.kernels.machine.header import header
from tautline.kernels.machine.library import LIST
from tautline.kernels.machine.linking import run_compiler, zig
from tautline.kernels.machine.signatures import all_functions
from tautline.kernels.machine.stamp import ABI, compiler, source_hash
from tautline.kernels.machine.targets import TARGETS

OPTIMIZE = "--optimize"  # for its own processes


class Platform(NamedTuple):
    """A system and its processor, as tautline, LLVM and zig call them."""

    machine: str
    kind: str
    features: str
    triple: str
    zig: str


PLATFORMS = {
    "linux-aarch64": Platform("aarch64", "generic", "+neon", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17"),
    "macos-aarch64": Platform("aarch64", "generic", "+neon", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0"),
    "macos-x86_64": Platform("x86_64", "x86-64", "+sse2", "x86_64-apple-macosx11.0.0", "x86_64-macos.11.0"),
    "windows-x86_64": Platform("x86_64", "x86-64", "+sse2", "x86_64-pc-windows-gnu", "x86_64-windows-gnu"),
}


def groups() -> list[list[str]]:
    """Names of the functions that are optimized together."""
    return [group for share in shares() for group in share]


def optimized(group: list[str], folder: Path) -> bytes:
    """Functions of a group as LLVM optimizes them, by a process of its own; what is there is kept."""
    path = folder / f"{group[0]}-{source_hash()}.bc"
    if not path.exists():
        plainest = TARGETS["x86_64"][-1]
        environment = os.environ | {"NUMBA_CPU_NAME": plainest.name, "NUMBA_CPU_FEATURES": plainest.features}
        command = [sys.executable, "-m", "benchmarks.cross_compiling", OPTIMIZE, str(path), *group]
        subprocess.run(command, env=environment, check=True)
    return path.read_bytes()


def optimize(path: Path, names: list[str]) -> None:
    """Optimize the functions of a group, and keep them as bitcode."""
    from tautline.kernels.machine.compiling import module_of

    path.write_bytes(module_of(*(all_functions()[name] for name in names)).as_bitcode())
    print(f"{names[0]} and {len(names) - 1} more: {time.process_time():.0f} s of processor", flush=True)


def emitted(code: bytes, platform: Platform) -> bytes:
    """Object of a module for a platform."""
    module = llvm.parse_bitcode(code)
    target = llvm.Target.from_triple(platform.triple).create_target_machine(
        cpu=platform.kind, features=platform.features, opt=3, reloc="pic", codemodel="default"
    )
    module.triple, module.data_layout = platform.triple, str(target.target_data)
    if "windows" in platform.zig:
        for value in (*module.functions, *module.global_variables):
            if value.linkage.name == "external" and not value.is_declaration:
                value.storage_class = "dllexport"
    found: bytes = target.emit_object(module)
    return found


def stamp() -> bytes:
    """Module with what a caller checks: stamp and ABI."""
    text = source_hash()
    module = llvm.parse_assembly(f"""
@text = private constant [{len(text) + 1} x i8] c"{text}\\00"
@tl_stamp = constant ptr @text
@tl_abi = constant i64 {ABI}
""")
    found: bytes = module.as_bitcode()
    return found


def make(platform: Platform, parts: dict[str, bytes], folder: Path) -> Path:
    """Library, header and list for a platform."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for name, code in parts.items():
        objects.append(folder / f"{name}.o")
        objects[-1].write_bytes(emitted(code, platform))
    library = folder / f"libtautline-{platform.machine}-{platform.kind}.so"
    command = zig("-target", platform.zig, "-shared", "-s", "-o", str(library), *map(str, objects), "-lm")
    if command is None:
        raise SystemExit("the package ziglang is missing")
    run_compiler("linking", command, folder)
    for path in objects:
        path.unlink()
    content = library.read_bytes()
    files = {library.name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}}
    listed = {"abi": ABI, "stamp": source_hash(), "compiler": compiler(), "machine": platform.machine, "files": files}
    (folder / LIST).write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    (folder / HEADER).write_text(header(), encoding="utf-8")
    return library


def main() -> None:
    """Make the libraries that are asked for, or all."""
    if sys.argv[1] == OPTIMIZE:
        optimize(Path(sys.argv[2]), sys.argv[3:])
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parts = {group[0]: optimized(group, folder) for group in groups()} | {"stamp": stamp()}
    for name in sys.argv[2:] or PLATFORMS:
        begun = time.perf_counter()
        try:
            library = make(PLATFORMS[name], parts, folder / name)
            print(f"{name}: {library.stat().st_size / 1e6:.1f} MB in {time.perf_counter() - begun:.0f} s", flush=True)
        except RuntimeError as error:
            print(f"{name}: {error}", flush=True)


if __name__ == "__main__":
    main()
