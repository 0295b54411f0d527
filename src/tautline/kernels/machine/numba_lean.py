"""What Numba does for any Python function and kernels can do without, left out by classes of our own.

Kernels are called by other kernels only, and optimised together later (compiling.py). Written for one minor version of
Numba (NUMBA in options.py): methods that it does not promise are overridden here and nowhere else. What each is worth,
of 12.8 s of processor for tl_march (benchmarks/compiling.py): optimising and linking single functions 10 s, wrappers
for Python 4.7 s, copies of what becomes part of others 2.3 s.
"""

from __future__ import annotations

from typing import Any

from numba.core import (
    codegen,
    compiler,
    compiler_machinery,
    cpu,
    inline_closurecall,
    ir,
    lowering,
    typed_passes,
    untyped_passes,
)

from tautline.kernels.machine.numba_target import NAME


class Library(codegen.JITCodeLibrary):
    """Code as it is lowered: it is optimised later, with all that it calls."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True


class Codegen(codegen.JITCPUCodegen):
    """Makes such libraries."""

    _library_class = Library


class Context(cpu.CPUContext):
    """Lowers functions that are not executed by themselves."""

    def init(self) -> None:
        super().init()
        self._internal_codegen = Codegen(NAME)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        return [].append  # something that is built in, and different every time


class Lower(lowering.Lower):
    """Lowers functions that are called by others of their kind alone."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """No wrapper."""

    create_cfunc_wrapper = create_cpython_wrapper


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(typed_passes.BaseNativeLowering):
    """Numba's pass with our own Lower."""

    _name = "tautline_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower


class Block(ir.Block):
    """Instructions that become part of another function, and are read anew for it: nobody else has them."""

    def __deepcopy__(self, memo: Any) -> Block:
        return self


class Inliner(inline_closurecall.InlineWorker):
    """Makes functions part of others without copying them."""

    def __init__(self, state: Any) -> None:
        given = (state.typingctx, state.targetctx, state.locals, state.pipeline, state.flags)
        super().__init__(*given, validator=inline_closurecall.callee_ir_validator)
        self._compiler_pipeline = lambda state: adapted(compiler.DefaultPassBuilder.define_untyped_pipeline(state))

    def run_untyped_passes(self, func: Any, enable_ssa: bool = False) -> Any:
        found = super().run_untyped_passes(func, enable_ssa)
        for block in found.blocks.values():
            block.__class__ = Block
        return found


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class Inlining(untyped_passes.InlineInlinables):
    """Numba's pass with our own worker."""

    _name = "tautline_inlining"

    def _do_work(self, state: Any, work_list: Any, block: Any, i: Any, expr: Any, inline_worker: Any) -> Any:
        return super()._do_work(state, work_list, block, i, expr, Inliner(state))


REPLACED = {typed_passes.NativeLowering: Lowering, untyped_passes.InlineInlinables: Inlining}


def adapted(passes: Any) -> Any:
    """Numba's passes with those of ours."""
    found = compiler_machinery.PassManager(NAME)
    for one, words in passes.passes:
        found.add_pass(REPLACED.get(one, one), words)
    found.finalize()
    return found


class Pipeline(compiler.CompilerBase):
    """From Python to code that is lowered."""

    def define_pipelines(self) -> list[Any]:
        return [adapted(compiler.DefaultPassBuilder.define_nopython_pipeline(self.state))]
