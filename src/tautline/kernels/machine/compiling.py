"""From a kernel to an object of machine code, with Numba and LLVM.

Numba optimises every function with all that it calls, and makes machine code and two wrappers for Python of it, also of
one that is only called by others. Here the functions that a C function calls are put together as they are, once, and
optimised together; LLVM makes small ones part of their callers from the innermost on.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import current_target, target_override

from tautline.kernels.jit import Kernel
from tautline.kernels.machine import numba_along, numba_calls, numba_lane_arrays  # noqa: F401 - they teach Numba
from tautline.kernels.machine.numba_lanes import teach_either
from tautline.kernels.machine.numba_target import IS_LEAN, NAME, compiled_for_kernels
from tautline.kernels.machine.options import OPTIONS
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.targets import Target
from tautline.kernels.machine.wrappers import flat


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Numba's own object for a kernel that is only called by others."""
    teach_either()
    # said in any case, since Numba would take this option over from the function that calls
    found = make(**OPTIONS, **{"forceinline": False} | options)(function)
    compiled = found.get_call_template

    def for_any_value(args: Any, kws: Any) -> Any:
        """Compile once, not again for each constant that it is called with."""
        plain = numba.types.unliteral
        return compiled(tuple(plain(kind) for kind in args), {name: plain(kind) for name, kind in kws.items()})

    found.get_call_template = for_any_value
    return found


def make(**options: Any) -> Any:
    """Numba's decorator: for our own target while that is at work, else its usual one."""
    return compiled_for_kernels(**options) if for_machine_code() else numba.njit(**options)


def for_machine_code() -> bool:
    """Whether Numba is at work for `module_of`, and not for somebody else's function."""
    return bool(current_target() == NAME)


@contextmanager
def _at_work() -> Iterator[None]:
    """Compile for our own target."""
    collects = gc.isenabled()
    gc.disable()  # Numba keeps nearly all that it makes: looking through it again and again is a tenth of the time
    try:
        with target_override(NAME):
            yield
    finally:
        if collects:
            gc.enable()


def _with_called(library: Any) -> list[Any]:
    """Modules of a function and of all that it calls, directly or not, each once."""
    found: dict[Any, None] = {}
    waiting = [library]
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            waiting += library._linking_libraries
    return [library._final_module for library in found]


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


def _compiled(function: Function) -> tuple[list[Any], str]:
    """LLVM modules of a function with flat arguments, and the text of a C function that calls it."""
    code, signature = flat(function, Kernel(function.entry, inline="always"))
    compiled = make(**OPTIONS)(code)
    compiled.compile(signature)
    (found,) = compiled.overloads.values()
    kinds = ["double" if kind == numba.types.float64 else "i64" for kind in signature.args]
    # as it is lowered, with all that it calls; or as Numba has optimised it, with that inside
    modules = _with_called(found.library) if IS_LEAN else [llvm.parse_assembly(compiled.inspect_llvm(signature.args))]
    return modules, _exported(function.name, found.fndesc.llvm_func_name, kinds)


def module_of(*functions: Function) -> Any:
    """Optimised LLVM module of C functions, which alone can be seen from outside; what several call is there once.

    Functions that stay apart are hidden after they are optimised: so none depends on who else is in the module, and a
    function has the same bits in any company.
    """
    with global_compiler_lock, _at_work():
        compiled = [_compiled(function) for function in functions]
    module = llvm.parse_assembly("")
    for part in dict.fromkeys(part for parts, _ in compiled for part in parts):
        module.link_in(part, preserve=True)
    for _, text in compiled:
        module.link_in(llvm.parse_assembly(text))
    seen = {function.name for function in functions}
    _hide([*module.global_variables, *(x for x in module.functions if _becomes_part(x))])
    builder = llvm.create_pass_builder(_target_machine(), llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    _hide(x for x in module.functions if x.name not in seen)
    left_out = llvm.create_new_module_pass_manager()
    left_out.add_global_dead_code_eliminate_pass()
    left_out.run(module, builder)
    return module


def _target_machine() -> Any:
    """The processor that Numba compiles for, which the optimiser asks for its registers."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = (os.environ.get(f"NUMBA_CPU_{word}", "") for word in ("NAME", "FEATURES"))
    return target.create_target_machine(cpu=name, features=features, opt=3, reloc="default", codemodel="jitdefault")


def _becomes_part(function: Any) -> bool:
    return any(b"alwaysinline" in attributes.split() for attributes in function.attributes)


def _hide(defined: Iterable[Any]) -> None:
    for one in defined:
        if not one.is_declaration:
            one.linkage = "internal"


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
