"""Arrays of lanes for Numba: views of plain arrays whose items are Lanes.

`lane_array` views an array of shape (n, LANES): an item is one vector in memory. `lane_rows` views an array of shape
(LANES, n), one row a member: an item is gathered from all rows, and put back into all of them. Both are raw pointers;
an index is not counted from the end, and is checked where NUMBA_BOUNDSCHECK asks Numba to check those of its arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from tautline.kernels.lanes import LANES, lane_array, lane_rows
from tautline.kernels.machine.numba_lanes import FLOATS, check_index, is_number, lanes_type
from tautline.kernels.machine.options import PART


class _ViewType(types.Type):
    """A pointer to floats and the number of items."""


class _LaneArrayType(_ViewType):
    def __init__(self) -> None:
        super().__init__(name=f"LaneArray{LANES}")


class _LaneRowsType(_ViewType):
    def __init__(self) -> None:
        super().__init__(name=f"LaneRows{LANES}")


lane_array_type, lane_rows_type = _LaneArrayType(), _LaneRowsType()


@register_model(_LaneArrayType)
@register_model(_LaneRowsType)
class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        pointer = types.CPointer(types.float64)  # type: ignore[attr-defined]
        super().__init__(manager, fe_type, [("data", pointer), ("size", types.intp)])


def _view_of(array: Any, kind: Any, lanes: int) -> Any:
    """Signature and code that view a plain array; `lanes` is the axis along which its members are."""
    if not (
        isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C" and array.dtype == types.float64
    ):
        return None

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = context.make_array(sig.args[0])(context, builder, args[0])
        members = builder.extract_value(source.shape, lanes)
        check_index(context, builder, ir.Constant(members.type, LANES - 1), members)
        view = cgutils.create_struct_proxy(kind)(context, builder)
        view.data = source.data
        view.size = builder.extract_value(source.shape, 1 - lanes)
        return view._getvalue()

    return kind(array), codegen


@intrinsic
def _lane_array(typingctx: Any, array: Any) -> Any:
    return _view_of(array, lane_array_type, 1)


@intrinsic
def _lane_rows(typingctx: Any, array: Any) -> Any:
    return _view_of(array, lane_rows_type, 0)


@overload(lane_array, strict=False, jit_options=PART)
def _view_array(array: Any) -> Any:
    return lambda array: _lane_array(array)


@overload(lane_rows, strict=False, jit_options=PART)
def _view_rows(array: Any) -> Any:
    return lambda array: _lane_rows(array)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], _ViewType) and isinstance(args[1], types.Integer):
            return signature(lanes_type, args[0], types.intp)
        if args[0] is lane_array_type and args[1] == types.slice2_type:
            return signature(lane_array_type, lane_array_type, types.slice2_type)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], _ViewType) and isinstance(args[1], types.Integer) and is_number(args[2]):
            return signature(types.none, args[0], types.intp, lanes_type)
        return None


def _view(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value)


def _vector_at(context: Any, builder: Any, view: Any, index: Any) -> Any:
    """Pointer to an item of a lane array."""
    check_index(context, builder, index, view.size)
    first = builder.gep(view.data, [builder.mul(index, ir.Constant(index.type, LANES))])
    return builder.bitcast(first, FLOATS.as_pointer())


@lower_builtin(operator.getitem, lane_array_type, types.intp)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, lane_array_type, args[0])
    return builder.load(_vector_at(context, builder, view, args[1]), align=8)


@lower_builtin(operator.setitem, lane_array_type, types.intp, lanes_type)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, lane_array_type, args[0])
    builder.store(args[2], _vector_at(context, builder, view, args[1]), align=8)
    return context.get_dummy_value()


def _numbers_at(context: Any, builder: Any, view: Any, index: Any) -> list[Any]:
    """Pointers to the numbers of an item of lane rows, one a member."""
    check_index(context, builder, index, view.size)
    rows = [builder.mul(view.size, ir.Constant(index.type, k)) for k in range(LANES)]
    return [builder.gep(view.data, [builder.add(row, index)]) for row in rows]


@lower_builtin(operator.getitem, lane_rows_type, types.intp)
def _gather(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, lane_rows_type, args[0])
    x = ir.Constant(FLOATS, ir.Undefined)
    for k, place in enumerate(_numbers_at(context, builder, view, args[1])):
        x = builder.insert_element(x, builder.load(place), ir.Constant(ir.IntType(32), k))
    return x


@lower_builtin(operator.setitem, lane_rows_type, types.intp, lanes_type)
def _scatter(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, lane_rows_type, args[0])
    for k, place in enumerate(_numbers_at(context, builder, view, args[1])):
        builder.store(builder.extract_element(args[2], ir.Constant(ir.IntType(32), k)), place)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, lane_array_type, types.slice2_type)
def _slice(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    whole = _view(context, builder, lane_array_type, args[0])
    bounds = context.make_helper(builder, sig.args[1], args[1])
    # an empty part may begin where the whole ends
    check_index(context, builder, bounds.start, builder.add(whole.size, ir.Constant(whole.size.type, 1)))
    part = cgutils.create_struct_proxy(lane_array_type)(context, builder)
    stop = builder.select(builder.icmp_signed("<", bounds.stop, whole.size), bounds.stop, whole.size)
    part.data = builder.gep(whole.data, [builder.mul(bounds.start, ir.Constant(bounds.start.type, LANES))])
    part.size = builder.sub(stop, bounds.start)
    return part._getvalue()


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if len(args) == 1 and isinstance(args[0], _ViewType) else None


@lower_builtin(len, lane_array_type)
@lower_builtin(len, lane_rows_type)
def _size(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _view(context, builder, sig.args[0], args[0]).size
