"""Work of Numba's that kernels can do without: half of what it takes to bring them to LLVM.

Numba serves any Python function: it deletes variables when they are no longer used, looks for array expressions, finds
the meaning of `a + b` among all overloads each time that it meets one, and copies what it makes part of a caller.
Kernels own no memory, have no array expressions, and there are thousands of sums. `shortcuts` leaves that out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any
from unittest import mock

from numba.core import (
    analysis,
    base,
    callconv,
    cgutils,
    inline_closurecall,
    ir,
    lowering,
    postproc,
    targetconfig,
    transforms,
    types,
)
from numba.core.datamodel import models
from numba.core.rewrites import registry
from numba.core.types import functions

_meant = functions.BaseFunction.get_call_type
_meanings: dict[Any, tuple[Any, Any]] = {}


def _meaning(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Signature of a call of one of Numba's own functions, found once for every kind of arguments."""
    if kws or types.none in args:  # of None Numba has functions that it writes into their callers, and changes there
        return _meant(function, context, args, kws)
    flags: Any = targetconfig.ConfigStack.top_or_none()
    key = (function.typing_key, function.templates, args, flags and flags.error_model)
    if key not in _meanings:
        signature: Any = _meant(function, context, args, kws)
        _meanings[key] = signature, function._impl_keys[signature.args]
    signature, function._impl_keys[signature.args] = _meanings[key]
    return signature


class _NoCopies:
    """What inline_closurecall copies with: each function that becomes part of another is read anew for it."""

    copy = staticmethod(copy.copy)

    @staticmethod
    def deepcopy(block: Any) -> Any:
        return block


def _variables(instruction: Any, value: Any) -> list[Any]:
    """Variables within what an instruction holds; asks for the most frequent kinds first."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in (str, ir.Loc, bool, type(None)):
        return []
    if kind in (list, tuple, dict):
        held = value.values() if kind is dict else value
        return [variable for item in held for variable in _variables(instruction, item)]
    return list(value.list_vars()) if isinstance(value, ir.Inst) else []


def _tidy_blocks(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Bring blocks into order, without deleting variables."""
    function = processor.func_ir
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None


_rewritten = registry.RewriteRegistry.apply


def _rewrite(rewrites: Any, kind: str, state: Any) -> None:
    """Rewrite what is rewritten before types are known; what comes after it are array expressions."""
    if kind == "before-inference":
        _rewritten(rewrites, kind, state)


def _hash_of_options(options: Any) -> int:
    return hash(type(options))  # Numba hashes the names of all options, which is the same for all of a type


def _equal_options(options: Any, others: Any) -> bool:
    return bool(options._values == others._values or options.values() == others.values())


def _find_values(lower: Any) -> None:
    """Find the variables that are values: given once, and before every use, in whatever block that is.

    Numba keeps a place in memory for a variable with uses in other blocks, and reads the whole structure for each part.
    """
    blocks = lower.func_ir.blocks
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
    lower._singly_assigned_vars = {
        name
        for name, labels in given.items()
        if len(labels) == 1
        and name not in in_memory
        and all(labels[0] < label and labels[0] in before[label] for label in used.get(name, ()))
    }
    lower._blk_local_varmap = {}


class _WholeArguments:
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


# Whether the function at hand becomes part of its callers. Others take fields: LLVM drops those that they do not use.
_becomes_part = ContextVar("_becomes_part", default=False)


def _arguments(context: Any, kinds: Any) -> Any:
    """What brings arguments into a function."""
    return _WholeArguments(context, kinds) if _becomes_part.get() else _taken_apart(context, kinds)


def _for(function: Callable[..., Any], part: Callable[..., bool]) -> Callable[..., Any]:
    """A function of Numba's that is told whether the kernel at hand becomes part of others: `part` of its arguments."""

    def call(*args: Any, **kws: Any) -> Any:
        token = _becomes_part.set(part(*args))
        try:
            return function(*args, **kws)
        finally:
            _becomes_part.reset(token)

    return call


_taken_apart = base.BaseContext.get_arg_packer
_declare = _for(base.BaseContext.declare_function, lambda context, module, described: described.inline)
_decode = _for(callconv.CPUCallConv.decode_arguments, lambda *args: "alwaysinline" in args[3].attributes)
_call = _for(callconv.CPUCallConv.call_function, lambda *args: "alwaysinline" in args[2].attributes)


def _as_it_is(model: Any, builder: Any, value: Any) -> Any:
    return value


def _no_wrapper(lower: Any, *_: Any) -> None:
    """Functions are called by others of their kind alone."""


@contextmanager
def shortcuts() -> Iterator[None]:
    """Let Numba compile without what kernels have no use for."""
    with ExitStack() as stack:
        for owner, name, function in (
            (functions.BaseFunction, "get_call_type", _meaning),
            (inline_closurecall, "copy", _NoCopies),
            (ir.Inst, "_rec_list_vars", _variables),
            (postproc.PostProcessor, "run", _tidy_blocks),
            (registry.RewriteRegistry, "apply", _rewrite),
            (targetconfig.TargetConfig, "__hash__", _hash_of_options),
            (targetconfig.TargetConfig, "__eq__", _equal_options),
            (lowering.Lower, "_find_singly_assigned_variable", _find_values),
            (base.BaseContext, "get_arg_packer", _arguments),
            (base.BaseContext, "declare_function", _declare),
            (callconv.CPUCallConv, "decode_arguments", _decode),
            (callconv.CPUCallConv, "call_function", _call),
            (models.StructModel, "get_return_type", models.StructModel.get_value_type),
            (models.StructModel, "as_return", _as_it_is),
            (models.StructModel, "from_return", _as_it_is),
            (lowering.Lower, "create_cfunc_wrapper", _no_wrapper),
            (lowering.Lower, "create_cpython_wrapper", _no_wrapper),
        ):
            stack.enter_context(mock.patch.object(owner, name, function))
        yield
