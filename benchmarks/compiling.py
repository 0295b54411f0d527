"""Seconds of processor that it takes to compile one function, and what each part of numba_lean.py is worth of it.

    python benchmarks/compiling.py [tl_march]

Each figure comes from a process of its own, in which one part is taken back; processor time, since machines are noisy.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from typing import Any

AS_IT_IS, ALL_PASSES, PUBLIC = "as it is", "with all passes", "Numba's own CPU target"


def take_back(part: str) -> None:
    """Let Numba do again what the target leaves out."""
    if part == AS_IT_IS:
        return
    from tautline.kernels.machine import options

    if part == PUBLIC:
        options.NUMBA = "none"
        return
    import tautline.kernels.machine.compiling  # noqa: F401 - brings both, in the order that they need

    if part == ALL_PASSES:
        from tautline.kernels.machine import numba_lean

        numba_lean.LEFT_OUT = ()  # type: ignore[assignment]
        return
    for owner, name in OVERRIDES[part]:
        delattr(owner_of(owner), name)


def owner_of(dotted: str) -> Any:
    """A class of the target by its module and name."""
    module, _, name = dotted.partition(".")
    return getattr(importlib.import_module(f"tautline.kernels.machine.{module}"), name)


# Methods without which Numba does each of them again.
OVERRIDES = {
    "with signs of indices": [
        ("numba_target.TypingContext", "resolve_function_type"),
        ("numba_target.TypingContext", "resolve_setitem"),
    ],
    "with single functions optimized": [("numba_lean.Library", "_optimize_functions")],
    "with a look at all overloads": [("numba_lean.LeanTypingContext", "_resolve_user_function_type")],
    "with structures taken apart": [("numba_lean.CallConvention", "_get_arg_packer")],
    "with variables in memory": [("numba_lean.Lower", "_find_singly_assigned_variable")],
    "with wrappers for Python": [
        ("numba_lean.Lower", "create_cpython_wrapper"),
        ("numba_lean.Lower", "create_cfunc_wrapper"),
    ],
    "with copies": [("numba_lean.Block", "__deepcopy__")],
}
PARTS = (AS_IT_IS, *OVERRIDES, ALL_PASSES, PUBLIC)


def measure(part: str, name: str) -> None:
    """Compile a function, and print how long it took and how large it is."""
    from tautline.kernels.machine.signatures import all_functions
    from tautline.kernels.machine.targets import best_target

    target = best_target()
    os.environ.update(NUMBA_CPU_NAME=target.name, NUMBA_CPU_FEATURES=target.features)
    take_back(part)
    from tautline.kernels.machine.compiling import emit, module_of

    begun = time.process_time()
    module = module_of(all_functions()[name])
    seconds = time.process_time() - begun
    print(f"{part:36} {seconds:6.1f} s {len(emit(module, target, position_independent=True)) / 1e3:8.0f} kB")


def main() -> None:
    """Measure all parts, or the one that is asked for."""
    name = sys.argv[1] if len(sys.argv) > 1 else "tl_march"
    if len(sys.argv) > 2:
        measure(sys.argv[2], name)
        return
    for part in PARTS:
        subprocess.run([sys.executable, __file__, name, part], check=True)


if __name__ == "__main__":
    main()
