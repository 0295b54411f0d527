"""Several members at once: a number type that holds one number of each of LANES members.

`Lanes` is a vector register of LLVM's, `Mask` the truth values of comparing two of them, and `LaneArray` an array of
Lanes. Kernels that only calculate are the same for floats and for lanes; Numba compiles them for either. Where a
kernel decides, it does so with `select` and `some`, which mean what they say for plain numbers too.
Each lane does exactly what it would do alone, so a member's numbers do not depend on its neighbours.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    overload,
    register_model,
)

from tautline.kernels.jit import OPTIONS

F = TypeVar("F", bound=Callable[..., Any])

# One AVX-512 register of doubles, or two of AVX2.
LANES = 8

_FLOATS = ir.VectorType(ir.DoubleType(), LANES)
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


class _LaneArrayType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"LaneArray{LANES}")


lanes_type, mask_type, lane_array_type = _LanesType(), _MaskType(), _LaneArrayType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _FLOATS)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _TRUTHS)


@register_model(_LaneArrayType)
class _LaneArrayModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        pointer = types.CPointer(types.float64)  # type: ignore[attr-defined]
        super().__init__(manager, fe_type, [("data", pointer), ("size", types.intp)])


# -- arithmetic ----------------------------------------------------------------------------------------


def _is_number(kind: Any) -> bool:
    return isinstance(kind, _LanesType | types.Float | types.Integer)


def _broadcast(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), value, ir.Constant(_INDEX, 0))
    places = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_FLOATS, ir.Undefined), places)


@lower_cast(types.Float, lanes_type)
@lower_cast(types.Integer, lanes_type)
def _cast_to_lanes(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return _broadcast(builder, context.cast(builder, value, fromty, types.float64))


def _operation(function: Any, result: Any, arity: int, build: Any) -> None:
    """Make `function` work on lanes, or on lanes and plain numbers."""

    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == arity and all(map(_is_number, args)) and lanes_type in args:
                return signature(result, *[lanes_type] * arity)
            return None

    infer_global(function)(Typing)

    @lower_builtin(function, *[lanes_type] * arity)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)


def _compare(relation: str) -> Any:
    return lambda builder, a, b: builder.fcmp_ordered(relation, a, b)


def _vector_function(name: str) -> Any:
    """A function of LLVM's that works on every lane."""

    def build(builder: Any, a: Any) -> Any:
        kind = ir.FunctionType(_FLOATS, [_FLOATS])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64"), [a])

    return build


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


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


# -- decisions -----------------------------------------------------------------------------------------


def select(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    return a if condition else b


def some(condition: Any) -> bool:
    """Whether the condition holds for any member."""
    return bool(condition)


@infer_global(select)
class _Select(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if not all(map(_is_number, args[1:])):
            return None
        kind = lanes_type if args[0] is mask_type else types.float64
        return signature(kind, args[0], kind, kind)


@lower_builtin(select, mask_type, lanes_type, lanes_type)
@lower_builtin(select, types.boolean, types.float64, types.float64)
def _lower_select(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(*args)


@infer_global(some)
class _Some(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, *args)


@lower_builtin(some, types.boolean)
def _itself(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@lower_builtin(some, mask_type)
def _some_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bits = builder.bitcast(args[0], ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


class _OfMasks(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(mask_type, *args) if args == (mask_type, mask_type) else None


@infer_global(operator.and_)
class _And(_OfMasks):
    pass


@infer_global(operator.or_)
class _Or(_OfMasks):
    pass


@lower_builtin(operator.and_, mask_type, mask_type)
def _both(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.and_(*args)


@lower_builtin(operator.or_, mask_type, mask_type)
def _one(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.or_(*args)


def either(scalar: F, lanes: Callable[..., Any]) -> F:
    """A kernel that is `scalar` for plain numbers, and `lanes` where an argument is lanes."""

    @wraps(scalar)
    def chosen(*args: Any) -> Any:
        return scalar(*args)

    @overload(chosen, strict=False, jit_options=OPTIONS)
    def choose(*args: Any) -> Any:
        if lanes_type in args:
            return lambda *args: lanes(*args)
        return lambda *args: scalar(*args)

    return cast(F, chosen)


# -- single lanes --------------------------------------------------------------------------------------


def zero_like(x: float) -> float:
    """0, in as many lanes as x has."""
    return 0.0


_operation(zero_like, lanes_type, 1, lambda builder, a: ir.Constant(_FLOATS, [0.0] * LANES))


@infer_global(zero_like)
class _ZeroLike(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.float64, types.float64) if isinstance(args[0], types.Float) else None


@lower_builtin(zero_like, types.float64)
def _zero(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.get_constant(types.float64, 0.0)


@intrinsic
def take(typingctx: Any, x: Any, lane: Any) -> Any:
    """The number of one member."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)

    return types.float64(lanes_type, types.intp), codegen


@intrinsic
def put(typingctx: Any, x: Any, lane: Any, number: Any) -> Any:
    """Lanes with the number of one member replaced."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])

    return lanes_type(lanes_type, types.intp, types.float64), codegen


# -- memory --------------------------------------------------------------------------------------------


@intrinsic
def lane_array(typingctx: Any, array: Any) -> Any:
    """An array of shape (n, LANES) as n Lanes."""
    if not (
        isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C" and array.dtype == types.float64
    ):
        return None

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = context.make_array(sig.args[0])(context, builder, args[0])
        view = cgutils.create_struct_proxy(lane_array_type)(context, builder)
        view.data = source.data
        view.size = builder.extract_value(source.shape, 0)
        return view._getvalue()

    return lane_array_type(array), codegen


def _place(context: Any, builder: Any, array: Any, index: Any) -> Any:
    view = cgutils.create_struct_proxy(lane_array_type)(context, builder, array)
    first = builder.mul(index, ir.Constant(index.type, LANES))
    return view, builder.gep(view.data, [first])


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] is not lane_array_type:
            return None
        if isinstance(args[1], types.Integer):
            return signature(lanes_type, lane_array_type, types.intp)
        if args[1] == types.slice2_type:
            return signature(lane_array_type, lane_array_type, types.slice2_type)
        return None


@lower_builtin(operator.getitem, lane_array_type, types.intp)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _, place = _place(context, builder, *args)
    return builder.load(builder.bitcast(place, _FLOATS.as_pointer()), align=8)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] is lane_array_type and isinstance(args[1], types.Integer) and _is_number(args[2]):
            return signature(types.none, lane_array_type, types.intp, lanes_type)
        return None


@lower_builtin(operator.setitem, lane_array_type, types.intp, lanes_type)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _, place = _place(context, builder, *args[:2])
    builder.store(args[2], builder.bitcast(place, _FLOATS.as_pointer()), align=8)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, lane_array_type, types.slice2_type)
def _slice(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bounds = context.make_helper(builder, sig.args[1], args[1])
    whole, _ = _place(context, builder, args[0], bounds.start)
    part = cgutils.create_struct_proxy(lane_array_type)(context, builder)
    stop = builder.select(builder.icmp_signed("<", bounds.stop, whole.size), bounds.stop, whole.size)
    part.data = _place(context, builder, args[0], bounds.start)[1]
    part.size = builder.sub(stop, bounds.start)
    return part._getvalue()


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, lane_array_type) if args == (lane_array_type,) else None


@lower_builtin(len, lane_array_type)
def _size(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return cgutils.create_struct_proxy(lane_array_type)(context, builder, args[0]).size
