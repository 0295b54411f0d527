"""From a kernel to an object of machine code, with Numba and LLVM.

Numba optimises every function with all that it calls, and makes machine code and two wrappers for Python of it, also of
one that is only called by others. Here machine code is made of the C functions alone, and what becomes part of them is
tidied before, instead of being optimised at every level of calls.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numba
from llvmlite import binding as llvm
from numba.core import codegen, cpu, inline_closurecall, targetconfig
from numba.core.compiler_lock import global_compiler_lock
from numba.np import arrayobj

from tautline.kernels.jit import Kernel
from tautline.kernels.machine import numba_along, numba_force_law, numba_lane_arrays  # noqa: F401 - they teach Numba
from tautline.kernels.machine.numba_lanes import teach_either
from tautline.kernels.machine.options import OPTIONS
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.targets import Target
from tautline.kernels.machine.wrappers import flat

_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Names of functions that do not become part of others: the last function's optimisation finds them as they are.
_stay_apart: set[str] = set()


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Numba's own object for a kernel that is only called by others."""
    teach_either()
    if not options:
        _stay_apart.add(function.__qualname__)
    return numba.njit(**OPTIONS, **_NO_WRAPPERS, **options)(function)


class _Copies:
    """What inline_closurecall copies blocks with: each copy of a block would take all names of its function along."""

    def __init__(self) -> None:
        self.copy = copy.copy

    def deepcopy(self, block: Any) -> Any:
        return copy.deepcopy(block, {id(block.scope): block.scope})


def _hash_of_options(options: Any) -> int:
    return hash(type(options))  # Numba hashes the names of all options, which is the same for all of a type


def _equal_options(options: Any, others: Any) -> bool:
    return bool(options._values == others._values or options.values() == others.values())


def _tidied(library: Any) -> None:
    """Make what a function calls part of it and fold what can be folded; loops are left to the last function."""
    codegen = library._codegen
    passes, builder = codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False, cost="cheap")
    passes.run(library._final_module, builder)


def _optimised(library: Any) -> None:
    passes, builder = library._codegen._module_pass_manager()
    passes.run(library._final_module, builder)


def _with_layout(library: Any, module: Any) -> None:
    module.data_layout = library._codegen._data_layout


@contextmanager
def _only_last(last: str) -> Iterator[None]:
    """Let Numba optimise the function of this name in full, tidy those that it calls, and make no machine code."""

    def optimise(library: Any) -> None:
        if library.name == last:
            _optimised(library)
        elif library.name not in _stay_apart:
            _tidied(library)

    def finalise(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    def from_front(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        return context.cast(builder, index, kind, numba.types.intp)

    def no_executable(context: Any, library: Any, description: Any, environment: Any) -> Any:
        return [].append  # something that is built in, and different every time

    collects = gc.isenabled()
    gc.disable()  # Numba keeps nearly all that it makes: looking through it again and again is a tenth of the time
    try:
        with (
            mock.patch.object(codegen.CPUCodeLibrary, "_optimize_functions", _with_layout),
            mock.patch.object(codegen.CPUCodeLibrary, "_optimize_final_module", optimise),
            mock.patch.object(codegen.CPUCodeLibrary, "_finalize_final_module", finalise),
            mock.patch.object(cpu.CPUContext, "get_executable", no_executable),
            mock.patch.object(inline_closurecall, "copy", _Copies()),
            mock.patch.object(targetconfig.TargetConfig, "__hash__", _hash_of_options),
            mock.patch.object(targetconfig.TargetConfig, "__eq__", _equal_options),
            # kernels do not count from the end of an array: asking for it takes a third of the shortest loops
            mock.patch.object(arrayobj, "fix_integer_index", from_front),
        ):
            yield
    finally:
        if collects:
            gc.enable()


def _exported(name: str, inner: str, kinds: list[str]) -> str:
    """IR of a C function that calls one of Numba's, whose first two arguments are for what it returns and raises."""
    named = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    return f"""
declare i32 @"{inner}"(ptr, ptr, {", ".join(kinds)})
define i64 @{name}({named}) {{
    %returned = alloca ptr
    %raised = alloca ptr
    %status = call i32 @"{inner}"(ptr %returned, ptr %raised, {named})
    %wide = sext i32 %status to i64
    ret i64 %wide
}}
"""


def module_of(function: Function) -> Any:
    """Optimised LLVM module of one C function, which alone can be seen from outside of it."""
    code, signature = flat(function, Kernel(function.entry, inline="always"))
    with global_compiler_lock, _only_last(function.name):
        compiled = numba.njit(**OPTIONS, **_NO_WRAPPERS)(code)
        compiled.compile(signature)
        (found,) = compiled.overloads.values()
        found.library._ensure_finalized()
    module = found.library._final_module
    inner = found.fndesc.llvm_func_name
    kinds = ["double" if kind == numba.types.float64 else "i64" for kind in signature.args]
    module.link_in(llvm.parse_assembly(_exported(function.name, inner, kinds)))
    for defined in (*module.functions, *module.global_variables):
        if not defined.is_declaration and defined.name != function.name:
            defined.linkage = "internal"
    return module


def emit(module: Any, target: Target, position_independent: bool) -> bytes:
    """Object file of a module."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=target.name,
        features=target.features,
        opt=3,
        reloc="pic" if position_independent else "static",
        codemodel="default" if position_independent else "jitdefault",
    )
    code: bytes = machine.emit_object(module)
    return code
