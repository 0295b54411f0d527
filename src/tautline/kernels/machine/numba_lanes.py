"""Lanes for Numba: `Lanes` is a vector register of LLVM's, `Mask` the truth values of comparing two of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.types import BaseTuple  # type: ignore[attr-defined]
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    overload,
    register_model,
)

from tautline.kernels.lanes import EITHER, LANES, put, select, some, take, zero_like
from tautline.kernels.machine.options import PART

FLOATS = ir.VectorType(ir.DoubleType(), LANES)
_TRUTHS = ir.VectorType(ir.IntType(1), LANES)
_INDEX = ir.IntType(32)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Lanes{LANES}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.promote if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, types.Float | types.Integer) else None


class _MaskType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Mask{LANES}")


lanes_type, mask_type = _LanesType(), _MaskType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, FLOATS)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _TRUTHS)


# -- arithmetic ----------------------------------------------------------------------------------------


def is_number(kind: Any) -> bool:
    return isinstance(kind, _LanesType | types.Float | types.Integer)


def broadcast(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), value, ir.Constant(_INDEX, 0))
    places = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), places)


@lower_cast(types.Float, lanes_type)
@lower_cast(types.Integer, lanes_type)
def _cast_to_lanes(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return broadcast(builder, context.cast(builder, value, fromty, types.float64))


def _operation(function: Any, result: Any, arity: int, build: Any, kind: Any = lanes_type) -> None:
    """Make `function` work on values of a kind; on lanes and plain numbers where that is lanes."""

    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            fit = [x == kind or (kind is lanes_type and is_number(x)) for x in args]
            return signature(result, *[kind] * arity) if len(args) == arity and all(fit) and kind in args else None

    infer_global(function)(Typing)

    @lower_builtin(function, *[kind] * arity)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)


def _compare(relation: str) -> Any:
    return lambda builder, a, b: builder.fcmp_ordered(relation, a, b)


def _vector_function(name: str) -> Any:
    """A function of LLVM's that works on every lane."""

    def build(builder: Any, a: Any) -> Any:
        kind = ir.FunctionType(FLOATS, [FLOATS])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64"), [a])

    return build


def _larger(builder: Any, a: Any, b: Any) -> Any:
    # the first of two where one is not a number, as for plain numbers
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", b, a), b, a)


_operation(operator.add, lanes_type, 2, lambda builder, a, b: builder.fadd(a, b))
_operation(operator.iadd, lanes_type, 2, lambda builder, a, b: builder.fadd(a, b))
_operation(operator.sub, lanes_type, 2, lambda builder, a, b: builder.fsub(a, b))
_operation(operator.isub, lanes_type, 2, lambda builder, a, b: builder.fsub(a, b))
_operation(operator.mul, lanes_type, 2, lambda builder, a, b: builder.fmul(a, b))
_operation(operator.truediv, lanes_type, 2, lambda builder, a, b: builder.fdiv(a, b))
_operation(operator.neg, lanes_type, 1, lambda builder, a: builder.fneg(a))
_operation(operator.lt, mask_type, 2, _compare("<"))
_operation(operator.le, mask_type, 2, _compare("<="))
_operation(operator.gt, mask_type, 2, _compare(">"))
_operation(operator.ge, mask_type, 2, _compare(">="))
_operation(operator.eq, mask_type, 2, _compare("=="))
_operation(operator.ne, mask_type, 2, lambda builder, a, b: builder.fcmp_unordered("!=", a, b))
_operation(math.sqrt, lanes_type, 1, _vector_function("sqrt"))
_operation(abs, lanes_type, 1, _vector_function("fabs"))
_operation(math.sin, lanes_type, 1, _vector_function("sin"))
_operation(math.cos, lanes_type, 1, _vector_function("cos"))
_operation(max, lanes_type, 2, _larger)
_operation(min, lanes_type, 2, _smaller)


# -- decisions -----------------------------------------------------------------------------------------


@infer_global(select)
class _Select(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if not all(map(is_number, args[1:])):
            return None
        kind = lanes_type if args[0] is mask_type or lanes_type in args[1:] else types.float64
        return signature(kind, args[0], kind, kind)


@lower_builtin(select, mask_type, lanes_type, lanes_type)
@lower_builtin(select, types.boolean, lanes_type, lanes_type)
@lower_builtin(select, types.boolean, types.float64, types.float64)
def _lower_select(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(*args)


def _some_lane(builder: Any, a: Any) -> Any:
    bits = builder.bitcast(a, ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


_operation(some, types.boolean, 1, _some_lane, mask_type)
_operation(some, types.boolean, 1, lambda builder, a: a, types.boolean)
_operation(operator.and_, mask_type, 2, lambda builder, a, b: builder.and_(a, b), mask_type)
_operation(operator.or_, mask_type, 2, lambda builder, a, b: builder.or_(a, b), mask_type)


def _has_lanes(kind: Any) -> bool:
    return kind is lanes_type or (isinstance(kind, BaseTuple) and any(map(_has_lanes, kind)))


def teach_either() -> None:
    """Tell Numba how to choose, for all that `either` was asked for since the last time."""
    while EITHER:
        _teach(*EITHER.pop())


def _teach(chosen: Callable[..., Any], scalar: Callable[..., Any], lanes: Callable[..., Any]) -> None:
    @overload(chosen, strict=False, jit_options=PART)
    def choose(*args: Any) -> Any:
        if any(map(_has_lanes, args)):
            return lambda *args: lanes(*args)
        return lambda *args: scalar(*args)


# -- single lanes --------------------------------------------------------------------------------------


_operation(zero_like, lanes_type, 1, lambda builder, a: ir.Constant(FLOATS, [0.0] * LANES))


_operation(zero_like, types.float64, 1, lambda builder, a: ir.Constant(a.type, 0.0), types.float64)


def check_index(context: Any, builder: Any, index: Any, size: Any) -> None:
    """Raise IndexError for an index out of range, where bounds are to be checked."""
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, index, size)


def access_to(kind: Any, vector: Any) -> tuple[Any, Any]:
    """Intrinsics that load and store a vector of neighbors in a row of numbers, of a kind that Numba knows."""

    def place(context: Any, builder: Any, row_type: Any, array: Any, index: Any) -> Any:
        row = context.make_array(row_type)(context, builder, array)
        last = builder.add(index, ir.Constant(index.type, vector.count - 1))
        for checked in (index, last):
            check_index(context, builder, checked, builder.extract_value(row.shape, 0))
        return builder.bitcast(builder.gep(row.data, [index]), vector.as_pointer())

    @intrinsic
    def load(typingctx: Any, x: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(place(context, builder, sig.args[0], *args), align=8)

        return kind(x, types.intp), codegen

    @intrinsic
    def store(typingctx: Any, x: Any, i: Any, values: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            builder.store(args[2], place(context, builder, sig.args[0], *args[:2]), align=8)
            return context.get_dummy_value()

        return types.none(x, types.intp, kind), codegen

    return load, store


def _checked_lane(context: Any, builder: Any, lane: Any) -> Any:
    check_index(context, builder, lane, ir.Constant(lane.type, LANES))
    return lane


def _type_of_one(kind: Any) -> Any:
    if isinstance(kind, BaseTuple):
        return BaseTuple.from_types([_type_of_one(x) for x in kind], getattr(kind, "instance_class", None))
    return types.float64 if kind is lanes_type else kind


def _part_of_one(context: Any, builder: Any, kind: Any, value: Any, lane: Any) -> Any:
    if isinstance(kind, BaseTuple):
        items = [_part_of_one(context, builder, x, builder.extract_value(value, i), lane) for i, x in enumerate(kind)]
        return context.make_tuple(builder, _type_of_one(kind), items)
    return builder.extract_element(value, lane) if kind is lanes_type else value


@intrinsic
def _take(typingctx: Any, x: Any, lane: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _part_of_one(context, builder, x, args[0], _checked_lane(context, builder, args[1]))

    return _type_of_one(x)(x, types.intp), codegen


@overload(take, strict=False, jit_options=PART)
def _choose_take(x: Any, lane: Any) -> Any:
    return lambda x, lane: _take(x, lane)


@intrinsic
def _put(typingctx: Any, x: Any, lane: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], _checked_lane(context, builder, args[1]))

    return lanes_type(lanes_type, types.intp, types.float64), codegen


@overload(put, strict=False, jit_options=PART)
def _choose_put(x: Any, lane: Any, number: Any) -> Any:
    if x is lanes_type:
        return lambda x, lane, number: _put(x, lane, number)
    return lambda x, lane, number: number
