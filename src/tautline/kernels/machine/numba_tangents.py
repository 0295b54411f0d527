"""Numbers with tangents for Numba: a double, and a vector of LLVM's with its derivatives."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.types import BaseNamedTuple  # type: ignore[attr-defined]
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

from tautline.kernels.lanes import select, zero_like
from tautline.kernels.machine.numba_lanes import FLOATS, broadcast, lanes_type
from tautline.kernels.machine.options import PART
from tautline.kernels.tangents import TANGENTS, has_tangents, may_act, tangents_within

_DOUBLE = ir.DoubleType()
# Sums of tangents may be made in any order, so that products become part of them.
_LOOSE = ("reassoc", "contract", "nsz")
NO_TANGENTS = ir.Constant(FLOATS, [0.0] * TANGENTS)


class _TangentType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Tangent{TANGENTS}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.promote if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, types.Float | types.Integer) else None


tangent_type = _TangentType()


@register_model(_TangentType)
class _TangentModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("value", types.float64), ("tangents", lanes_type)])


class Number:
    """A number while code is made for it: its value, and its tangents or None if it has none."""

    def __init__(self, value: Any, tangents: Any = None) -> None:
        self.value, self.tangents = value, tangents


def taken_apart(builder: Any, kind: Any, value: Any) -> Number:
    if kind is tangent_type:
        return Number(builder.extract_value(value, 0), builder.extract_value(value, 1))
    return Number(value)


def put_together(builder: Any, value: Any, tangents: Any) -> Any:
    kind = ir.LiteralStructType([_DOUBLE, FLOATS])
    found = builder.insert_value(ir.Constant(kind, ir.Undefined), value, 0)
    return builder.insert_value(found, NO_TANGENTS if tangents is None else tangents, 1)


@lower_cast(types.Float, tangent_type)
@lower_cast(types.Integer, tangent_type)
def _cast_to_tangent(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return put_together(builder, context.cast(builder, value, fromty, types.float64), None)


# -- tuples whose numbers have tangents in one place and none in another -----------------------------------------------


@lower_cast(BaseNamedTuple, BaseNamedTuple)
def _cast_named(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    items = [
        context.cast(builder, builder.extract_value(value, i), a, b)
        for i, (a, b) in enumerate(zip(fromty, toty, strict=True))
    ]
    return context.make_tuple(builder, toty, items)


# -- arithmetic --------------------------------------------------------------------------------------------------------


def is_number(kind: Any) -> bool:
    return kind is tangent_type or isinstance(kind, types.Float | types.Integer)


def _operation(function: Any, arity: int, build: Callable[..., Any], result: Any = tangent_type) -> None:
    """Make `function` work on numbers with tangents; `build` is given Numbers, of which some may have none."""

    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != arity or tangent_type not in args or not all(map(is_number, args)):
                return None
            return signature(result, *[x if x is tangent_type else types.float64 for x in args])

    infer_global(function)(Typing)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = build(builder, *[taken_apart(builder, kind, x) for kind, x in zip(sig.args, args, strict=True)])
        return put_together(builder, *found) if result is tangent_type else found

    both = (tangent_type, types.float64)
    for kinds in [(a,) for a in both] if arity == 1 else [(a, b) for a in both for b in both]:
        if tangent_type in kinds:
            lower_builtin(function, *kinds)(lower)


def _times(builder: Any, number: Any, tangents: Any) -> Any:
    return None if tangents is None else builder.fmul(broadcast(builder, number), tangents, flags=_LOOSE)


def _sum(builder: Any, a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else builder.fadd(a, b, flags=_LOOSE)


def _difference(builder: Any, a: Any, b: Any) -> Any:
    return a if b is None else builder.fneg(b) if a is None else builder.fsub(a, b, flags=_LOOSE)


def _add(builder: Any, a: Number, b: Number) -> Any:
    return builder.fadd(a.value, b.value), _sum(builder, a.tangents, b.tangents)


def _sub(builder: Any, a: Number, b: Number) -> Any:
    return builder.fsub(a.value, b.value), _difference(builder, a.tangents, b.tangents)


def _mul(builder: Any, a: Number, b: Number) -> Any:
    left, right = _times(builder, b.value, a.tangents), _times(builder, a.value, b.tangents)
    return builder.fmul(a.value, b.value), _sum(builder, left, right)


def _div(builder: Any, a: Number, b: Number) -> Any:
    value = builder.fdiv(a.value, b.value)
    inverse = builder.fdiv(ir.Constant(_DOUBLE, 1.0), b.value)
    left = _difference(builder, a.tangents, _times(builder, value, b.tangents))
    return value, _times(builder, inverse, left)


def _neg(builder: Any, a: Number) -> Any:
    return builder.fneg(a.value), builder.fneg(a.tangents)


def _call(builder: Any, name: str, *args: Any) -> Any:
    kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _sqrt(builder: Any, a: Number) -> Any:
    # of zero the derivative is taken to be zero: what the kernels take roots of is a square there
    value, zero = _call(builder, "llvm.sqrt.f64", a.value), ir.Constant(_DOUBLE, 0.0)
    slope = builder.fdiv(ir.Constant(_DOUBLE, 0.5), value)
    slope = builder.select(builder.fcmp_ordered("==", value, zero), zero, slope)
    return value, _times(builder, slope, a.tangents)


def _abs(builder: Any, a: Number) -> Any:
    negative = builder.fcmp_ordered("<", a.value, ir.Constant(_DOUBLE, 0.0))
    return _call(builder, "llvm.fabs.f64", a.value), builder.select(negative, builder.fneg(a.tangents), a.tangents)


def _sin(builder: Any, a: Number) -> Any:
    return _call(builder, "llvm.sin.f64", a.value), _times(builder, _call(builder, "llvm.cos.f64", a.value), a.tangents)


def _cos(builder: Any, a: Number) -> Any:
    slope = builder.fneg(_call(builder, "llvm.sin.f64", a.value))
    return _call(builder, "llvm.cos.f64", a.value), _times(builder, slope, a.tangents)


def _copysign(builder: Any, a: Number, b: Number) -> Any:
    one = ir.Constant(_DOUBLE, 1.0)
    signs = [_call(builder, "llvm.copysign.f64", one, x.value) for x in (a, b)]
    return _call(builder, "llvm.copysign.f64", a.value, b.value), _times(builder, builder.fmul(*signs), a.tangents)


def _chosen(builder: Any, first: Any, a: Number, b: Number) -> Any:
    tangents = [NO_TANGENTS if x.tangents is None else x.tangents for x in (a, b)]
    return builder.select(first, a.value, b.value), builder.select(first, *tangents)


def _larger(builder: Any, a: Number, b: Number) -> Any:
    # the first of two where one is not a number, as for plain numbers
    return _chosen(builder, builder.fcmp_ordered(">", b.value, a.value), b, a)


def _smaller(builder: Any, a: Number, b: Number) -> Any:
    return _chosen(builder, builder.fcmp_ordered("<", b.value, a.value), b, a)


def _compare(relation: str) -> Any:
    return lambda builder, a, b: builder.fcmp_ordered(relation, a.value, b.value)


def _is_finite(builder: Any, a: Number) -> Any:
    size = _call(builder, "llvm.fabs.f64", a.value)
    return builder.fcmp_ordered("<", size, ir.Constant(_DOUBLE, math.inf))


for functions, arity, build in (
    ((operator.add, operator.iadd), 2, _add),
    ((operator.sub, operator.isub), 2, _sub),
    ((operator.mul, operator.imul), 2, _mul),
    ((operator.truediv, operator.itruediv), 2, _div),
    ((operator.neg,), 1, _neg),
    ((math.sqrt,), 1, _sqrt),
    ((abs,), 1, _abs),
    ((math.sin,), 1, _sin),
    ((math.cos,), 1, _cos),
    ((math.copysign,), 2, _copysign),
    ((max,), 2, _larger),
    ((min,), 2, _smaller),
    ((float,), 1, lambda builder, a: (a.value, a.tangents)),
    ((zero_like,), 1, lambda builder, a: (ir.Constant(_DOUBLE, 0.0), None)),
):
    for function in functions:
        _operation(function, arity, build)
for relation, compared in (
    ("<", operator.lt),
    ("<=", operator.le),
    (">", operator.gt),
    (">=", operator.ge),
    ("==", operator.eq),
):
    _operation(compared, 2, _compare(relation), types.boolean)
_operation(operator.ne, 2, lambda builder, a, b: builder.fcmp_unordered("!=", a.value, b.value), types.boolean)
_operation(math.isfinite, 1, _is_finite, types.boolean)
_operation(
    math.ceil,
    1,
    lambda builder, a: builder.fptosi(_call(builder, "llvm.ceil.f64", a.value), ir.IntType(64)),
    types.int64,
)
_operation(int, 1, lambda builder, a: builder.fptosi(a.value, ir.IntType(64)), types.int64)


@infer_global(select)
class _Select(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] == types.boolean and tangent_type in args[1:] and all(map(is_number, args[1:])):
            return signature(tangent_type, types.boolean, tangent_type, tangent_type)
        return None


@lower_builtin(select, types.boolean, tangent_type, tangent_type)
def _lower_select(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    a, b = (taken_apart(builder, tangent_type, x) for x in args[1:])
    return put_together(builder, *_chosen(builder, args[0], a, b))


@overload(has_tangents, strict=False, jit_options=PART)
def _choose_has_tangents(x: Any) -> Any:
    return (lambda x: True) if x is tangent_type else (lambda x: False)


@intrinsic
def _tangents_within(typingctx: Any, change: Any, x: Any, y: Any, part: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name, kind = f"llvm.fabs.v{TANGENTS}f64", ir.FunctionType(FLOATS, [FLOATS])
        size_of = cgutils.get_or_insert_function(builder.module, kind, name)
        sizes = [builder.call(size_of, [builder.extract_value(number, 1)]) for number in args[:3]]
        most = builder.fmul(broadcast(builder, args[3]), builder.fadd(*sizes[1:]))
        beyond = builder.fcmp_ordered(">", sizes[0], most)
        lanes = builder.bitcast(beyond, ir.IntType(TANGENTS))
        return builder.icmp_unsigned("==", lanes, ir.Constant(lanes.type, 0))

    return types.boolean(tangent_type, tangent_type, tangent_type, types.float64), codegen


@overload(tangents_within, strict=False, jit_options=PART)
def _choose_tangents_within(change: Any, x: Any, y: Any, part: Any) -> Any:
    if change is tangent_type:
        return lambda change, x, y, part: _tangents_within(change, x, y, part)
    return lambda change, x, y, part: True


@overload(may_act, strict=False, jit_options=PART)
def _choose_may_act(x: Any) -> Any:
    if x is tangent_type:
        return lambda x: x > 0.0 or not _tangents_within(x, zero_like(x), zero_like(x), 0.0)
    return lambda x: x > 0.0
