"""Machine code that is compiled in this process: for those who change kernels, and where there is no library.

What was compiled is kept on disk, one object a function, and taken from there by the next process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tautline.kernels.machine.folders import cache_folder
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.targets import best_target

_DIGEST = hashlib.sha256().digest_size
# Compilation that begins this long after the last one has ended is announced again (s).
PAUSE = 5.0


class InProcess:
    """Functions that Numba compiles when they are first asked for."""

    name = "compiled"

    def __init__(self, why: str) -> None:
        self.why = why
        self.seconds = 0.0  # spent on compiling
        self._ended = -PAUSE
        self._engine: Any = None
        target = best_target()
        # Numba reads them when it is imported, which it may have been before
        os.environ.setdefault("NUMBA_CPU_NAME", target.name)
        os.environ.setdefault("NUMBA_CPU_FEATURES", target.features)
        self._target = target

    def address(self, function: Function) -> int:
        """Address of a function, compiled or from the disk."""
        import llvmlite.binding as llvm

        path = self._path(function)
        code = _read(path) if path is not None else None
        if code is None:
            code = self._compile(function)
            if path is not None:
                _write(path, code)
        if self._engine is None:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        found: int = self._engine.get_function_address(function.name)
        return found

    def _path(self, function: Function) -> Path | None:
        folder = cache_folder()
        checked = "-checked" * bool(os.environ.get("NUMBA_BOUNDSCHECK"))
        return folder / f"{function.name}-{self._target.name}{checked}.o" if folder is not None else None

    def _compile(self, function: Function) -> bytes:
        begun = time.perf_counter()
        if begun - self._ended > PAUSE:
            kept = "once" if cache_folder() is not None else "no writable cache folder, so in every process"
            print(f"tautline: compiling kernels, since {self.why} ({kept})", file=sys.stderr, flush=True)
        from tautline.kernels.machine.compiling import emit, module_of

        code = emit(module_of(function), self._target, position_independent=False)
        self._ended = time.perf_counter()
        self.seconds += self._ended - begun
        return code


def _read(path: Path) -> bytes | None:
    """Code from the disk, or None where there is none or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST], content[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    """Keep code on the disk; another process that reads it meanwhile finds all of it or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(file.name).replace(path)
    except OSError:
        return  # a full disk: the next process compiles again
