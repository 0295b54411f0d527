"""A target of our own in Numba, by its extension points, for kernels alone.

Under its name tuples with names may have numbers with tangents in one place and without in another. Nothing outside
changes: functions that anybody else compiles go Numba's usual way. With the version of Numba that numba_lean.py was
written for, its classes bring kernels to LLVM in half of the time; with any other the target is Numba's own CPU.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
from numba.core import compiler, cpu, descriptors, dispatcher, typing
from numba.core import types as numba_types
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_registry

from tautline.kernels.machine.options import NUMBA

NAME = "tautline kernels"
types: Any = numba_types  # made by Numba when it is imported
# Whether this is the version that numba_lean.py was written for.
IS_LEAN = numba.__version__.split(".")[:2] == NUMBA.split(".")


class KernelTarget(CPU):
    """Everything that Numba knows of the CPU holds for it too."""


class TypingContext(typing.Context):
    """Numba's types, with a rule more for tuples with names and one less for indices."""

    def unify_pairs(self, first: Any, second: Any) -> Any:
        """One type for two, also of tuples whose numbers have tangents in one place and none in another."""
        if first == second or not _same_tuple(first, second):
            return super().unify_pairs(first, second)
        kinds = [self.unify_pairs(a, b) for a, b in zip(first, second, strict=True)]
        return None if None in kinds else types.BaseTuple.from_types(kinds, first.instance_class)

    def can_convert(self, fromty: Any, toty: Any) -> Any:
        if fromty == toty or not _same_tuple(fromty, toty):
            return super().can_convert(fromty, toty)
        kinds = [self.can_convert(a, b) for a, b in zip(fromty, toty, strict=True)]
        return None if None in kinds else max(kinds)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if func is operator.getitem:
            args = (args[0], _from_front(*args))
        return super().resolve_function_type(func, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return super().resolve_setitem(target, _from_front(target, index), value)


def _same_tuple(first: Any, second: Any) -> bool:
    """Whether both are tuples with names, and of one class."""
    named = isinstance(first, types.BaseNamedTuple) and isinstance(second, types.BaseNamedTuple)
    return named and first.instance_class is second.instance_class


def _from_front(array: Any, index: Any) -> Any:
    """Type of an index as one without sign: kernels do not count from the end of an array.

    Numba would ask for it, which takes a third of the shortest loops.
    """
    if not isinstance(array, types.Array):
        return index
    if isinstance(index, types.Integer):
        return types.uintp
    if isinstance(index, types.BaseTuple) and all(isinstance(kind, types.Integer) for kind in index):
        return types.UniTuple(types.uintp, len(index))
    return index


target_registry[NAME] = KernelTarget


class Target(descriptors.TargetDescriptor):
    """Types and code of the target."""

    options = cpu.CPUTargetOptions

    def __init__(self) -> None:
        super().__init__(NAME)
        self._typing, self._context = _contexts()

    @property
    def typing_context(self) -> Any:
        return self._typing

    @property
    def target_context(self) -> Any:
        return self._context


def _contexts() -> tuple[Any, Any]:
    if not IS_LEAN:
        types_of = TypingContext()
        return types_of, cpu.CPUContext(types_of, NAME)
    from tautline.kernels.machine import numba_lean

    types_of = numba_lean.LeanTypingContext()
    return types_of, numba_lean.Context(types_of, NAME)


class Kernels(dispatcher.Dispatcher):
    """A function of this target."""

    targetdescr = Target()


def compiled_for_kernels(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Numba's object for a function that is compiled for this target; a decorator without a function."""
    if function is None:
        return lambda given: compiled_for_kernels(given, **options)
    pipeline: Any = compiler.Compiler
    if IS_LEAN:
        from tautline.kernels.machine import numba_lean

        pipeline = numba_lean.Pipeline
    known = {name: x for name, x in options.items() if name not in ("target", "_target")} | {"nopython": True}
    return Kernels(py_func=function, targetoptions=known, pipeline_class=pipeline)


dispatcher_registry[KernelTarget] = Kernels
jit_registry[KernelTarget] = compiled_for_kernels
