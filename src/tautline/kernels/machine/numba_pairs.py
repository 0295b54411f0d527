"""Pairs of numbers for Numba: two doubles in one register of LLVM's, or two numbers with tangents."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

from tautline.kernels.machine.numba_lanes import access_to
from tautline.kernels.machine.numba_tangents import tangent_type
from tautline.kernels.machine.options import PART
from tautline.kernels.pairs import first, load_pair, pair, second, store_pair

_DOUBLES = ir.VectorType(ir.DoubleType(), 2)
_INDEX = ir.IntType(32)


class _PairType(types.Type):
    """Pair of floats, or of numbers with tangents."""

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(name=f"Pair({number})")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.promote if isinstance(other, types.Float | types.Integer) or other is self.number else None


floats, tangents = _PairType(types.float64), _PairType(tangent_type)


@register_model(_PairType)
class _PairModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        number = manager.lookup(fe_type.number).get_value_type()
        super().__init__(manager, fe_type, _DOUBLES if fe_type is floats else ir.LiteralStructType([number, number]))


def _part(builder: Any, kind: Any, value: Any, place: int) -> Any:
    if kind is floats:
        return builder.extract_element(value, ir.Constant(_INDEX, place))
    return builder.extract_value(value, place)


def _joined(context: Any, builder: Any, kind: Any, a: Any, b: Any) -> Any:
    found = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for place, x in enumerate((a, b)):
        if kind is floats:
            found = builder.insert_element(found, x, ir.Constant(_INDEX, place))
        else:
            found = builder.insert_value(found, x, place)
    return found


@lower_cast(types.Float, _PairType)
@lower_cast(types.Integer, _PairType)
@lower_cast(tangent_type, tangents)
def _twice(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    number = context.cast(builder, value, fromty, toty.number)
    return _joined(context, builder, toty, number, number)


def _operation(function: Any, arity: int, build: Callable[..., Any]) -> None:
    """Make `function` work on pairs, or on pairs and numbers; `build` does it with two doubles at once."""

    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != arity or not any(isinstance(x, _PairType) for x in args):
                return None
            kinds = [tangents if x in (tangents, tangent_type) else floats for x in args]
            return signature(tangents if tangents in kinds else floats, *kinds)

    infer_global(function)(Typing)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if sig.return_type is floats:
            return build(builder, *args)
        call = context.get_function(function, signature(tangent_type, *[kind.number for kind in sig.args]))
        found = [
            call(builder, [_part(builder, kind, x, place) for kind, x in zip(sig.args, args, strict=True)])
            for place in range(2)
        ]
        return _joined(context, builder, tangents, *found)

    for kinds in product((floats, tangents), repeat=arity):
        lower_builtin(function, *kinds)(lower)


_operation(operator.add, 2, lambda builder, a, b: builder.fadd(a, b))
_operation(operator.sub, 2, lambda builder, a, b: builder.fsub(a, b))
_operation(operator.mul, 2, lambda builder, a, b: builder.fmul(a, b))
_operation(operator.truediv, 2, lambda builder, a, b: builder.fdiv(a, b))
_operation(operator.neg, 1, lambda builder, a: builder.fneg(a))


@intrinsic
def _pair(typingctx: Any, a: Any, b: Any) -> Any:
    kind = tangents if tangent_type in (a, b) else floats

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _joined(context, builder, kind, *args)

    return kind(kind.number, kind.number), codegen


def _taken(place: int) -> Any:
    @intrinsic
    def take(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _part(builder, x, args[0], place)

        return x.number(x), codegen

    return take


_first, _second = _taken(0), _taken(1)


_load, _store = access_to(floats, _DOUBLES)


@overload(pair, strict=False, jit_options=PART)
def _choose_pair(a: Any, b: Any) -> Any:
    return lambda a, b: _pair(a, b)


@overload(first, strict=False, jit_options=PART)
def _choose_first(x: Any) -> Any:
    return lambda x: _first(x)


@overload(second, strict=False, jit_options=PART)
def _choose_second(x: Any) -> Any:
    return lambda x: _second(x)


@overload(load_pair, strict=False, jit_options=PART)
def _choose_load(row: Any, i: Any) -> Any:
    if isinstance(row, types.Array):
        return lambda row, i: _load(row, i)
    return lambda row, i: _pair(row[i], row[i + 1])


@overload(store_pair, strict=False, jit_options=PART)
def _choose_store(row: Any, i: Any, x: Any) -> Any:
    if isinstance(row, types.Array):
        return lambda row, i, x: _store(row, i, x)

    def put(row: Any, i: Any, x: Any) -> None:
        row[i] = _first(x)
        row[i + 1] = _second(x)

    return put
