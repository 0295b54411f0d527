"""Leave out what Numba does for any Python function and kernels can do without, by classes of our own.

Kernels own no memory, are called by other kernels only, and are optimised together later (compiling.py). Written for
one minor version of Numba (NUMBA in options.py): methods that it does not promise are overridden here and nowhere else.
`python benchmarks/compiling.py` measures what each is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import (
    analysis,
    callconv,
    cgutils,
    codegen,
    compiler,
    compiler_machinery,
    cpu,
    inline_closurecall,
    ir,
    lowering,
    targetconfig,
    typed_passes,
    types,
    untyped_passes,
)

from tautline.kernels.machine.numba_target import NAME, TypingContext


class Library(codegen.JITCodeLibrary):
    """Code as it is lowered: it is optimised later, with all that it calls."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True


class Codegen(codegen.JITCPUCodegen):
    """Makes such libraries."""

    _library_class = Library


class LeanTypingContext(TypingContext):
    """Finds the signature of a call of one of Numba's own functions once for every kind of arguments.

    There are thousands of sums, and Numba looks through all overloads for each.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, tuple[Any, Any]] = {}

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        found: Any = self._lookup_global(func) or func
        if kws or not issubclass(type(found), types.BaseFunction) or types.none in args:
            # of None Numba has functions that it writes into their callers, and changes there
            return super()._resolve_user_function_type(func, args, kws, literals)
        flags: Any = targetconfig.ConfigStack.top_or_none()
        key = (found.typing_key, found.templates, args, flags and flags.error_model)
        if key not in self._known:
            signature: Any = found.get_call_type(self, args, kws)
            self._known[key] = signature, found._impl_keys[signature.args]
        signature, found._impl_keys[signature.args] = self._known[key]
        return signature


class WholeArguments:
    """Hands structures over as they are. Numba takes them apart and puts them together again in each function."""

    def __init__(self, context: Any, kinds: Any) -> None:
        self.argument_types = tuple(context.data_model_manager[kind].get_value_type() for kind in kinds)

    def as_arguments(self, builder: Any, values: Any) -> Any:
        return tuple(
            # further arguments of max and min are a structure, and wanted as an array
            value if value.type == wanted else cgutils.pack_array(builder, cgutils.unpack_tuple(builder, value))
            for value, wanted in zip(values, self.argument_types, strict=True)
        )

    def from_arguments(self, builder: Any, values: Any) -> Any:
        return list(values)

    def assign_names(self, values: Any, names: Any) -> None:
        for value, name in zip(values, names, strict=True):
            value.name = name


class CallConvention(callconv.CPUCallConv):
    """Arguments of functions that become part of their callers stay whole.

    Other functions take fields: LLVM drops those that they do not use.
    """

    whole = False  # whether the function at hand becomes part of its callers

    def _get_arg_packer(self, argtypes: Any) -> Any:
        return WholeArguments(self.context, argtypes) if self.whole else self.context.get_arg_packer(argtypes)

    def _for(self, whole: bool, call: Callable[..., Any], *args: Any, **kws: Any) -> Any:
        before, self.whole = self.whole, whole
        try:
            return call(*args, **kws)
        finally:
            self.whole = before

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> Any:
        return self._for("alwaysinline" in func.attributes, super().decode_arguments, builder, argtypes, func)

    def call_function(self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None) -> Any:
        whole = "alwaysinline" in callee.attributes
        return self._for(whole, super().call_function, builder, callee, resty, argtys, args, attrs)

    def declared(self, described: Any, declare: Callable[..., Any], *args: Any) -> Any:
        """Declare a function that is described."""
        return self._for(described.inline, declare, *args)


class Context(cpu.CPUContext):
    """Lowers functions that are not executed by themselves."""

    def init(self) -> None:
        super().init()
        self._internal_codegen = Codegen(NAME)

    @property
    def call_conv(self) -> Any:
        if not hasattr(self, "_convention"):
            self._convention = CallConvention(self)
        return self._convention

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        return self.call_conv.declared(fndesc, super().declare_function, module, fndesc)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        return [].append  # something that is built in, and different every time


class Lower(lowering.Lower):
    """Keeps variables that are given once as values, in whatever block they are used.

    Numba keeps a place in memory for a variable with uses in other blocks, and reads the whole structure for each part.
    """

    def _find_singly_assigned_variable(self) -> None:
        blocks = self.func_ir.blocks
        before = analysis.compute_cfg_from_blocks(blocks).dominators()
        uses = analysis.compute_use_defs(blocks).usemap
        in_memory = analysis.must_use_alloca(blocks)
        given: dict[str, list[int]] = {}
        for label, block in blocks.items():
            for assignment in block.find_insts(ir.Assign):
                given.setdefault(assignment.target.name, []).append(label)
        used: dict[str, list[int]] = {}
        for label, names in uses.items():
            for name in names:
                used.setdefault(name, []).append(label)
        self._singly_assigned_vars = {
            name
            for name, labels in given.items()
            if len(labels) == 1
            and name not in in_memory
            and all(labels[0] < label and labels[0] in before[label] for label in used.get(name, ()))
        }
        self._blk_local_varmap: dict[str, Any] = {}

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Functions are called by others of their kind alone."""

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


# Passes that are replaced, and those that kernels have no use for: they have no array expressions.
REPLACED = {typed_passes.NativeLowering: Lowering, untyped_passes.InlineInlinables: Inlining}
LEFT_OUT = (typed_passes.NopythonRewrites, typed_passes.AnnotateTypes, typed_passes.DumpParforDiagnostics)


def adapted(passes: Any) -> Any:
    """Numba's passes as kernels need them."""
    found = compiler_machinery.PassManager(NAME)
    for one, words in passes.passes:
        if one not in LEFT_OUT:
            found.add_pass(REPLACED.get(one, one), words)
    found.finalize()
    return found


class Pipeline(compiler.CompilerBase):
    """From Python to code that is lowered."""

    def define_pipelines(self) -> list[Any]:
        return [adapted(compiler.DefaultPassBuilder.define_nopython_pipeline(self.state))]
