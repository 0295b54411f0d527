"""Arrays of numbers with tangents for Numba: values in one memory, and their tangents, TANGENTS a value, in another.

Both are raw pointers; an index is not counted from the end, and is checked where NUMBA_BOUNDSCHECK asks for it.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_getattr, models, overload, register_model
from numba.np.arrayobj import make_array, populate_array

from tautline.kernels.machine.numba_lanes import FLOATS, check_index
from tautline.kernels.machine.numba_tangents import NO_TANGENTS, is_number, put_together, taken_apart, tangent_type
from tautline.kernels.machine.options import PART
from tautline.kernels.tangents import TANGENTS, put_value, values_of

_WHOLE = ir.IntType(64)


class TangentArrayType(types.Type):
    """Pointers to values and tangents, number of items and distance of neighbours along each index."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(name=f"TangentArray{TANGENTS}({ndim})")


@register_model(TangentArrayType)
class _Model(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        pointer = types.CPointer(types.float64)  # type: ignore[attr-defined]
        counts = types.UniTuple(types.intp, fe_type.ndim)  # type: ignore[attr-defined]
        members = [("values", pointer), ("tangents", pointer), ("shape", counts), ("strides", counts)]
        super().__init__(manager, fe_type, members)


def _view(context: Any, builder: Any, kind: Any, value: Any = None) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value)


def filled_view(context: Any, builder: Any, kind: Any, values: Any, tangents: Any, counts: list[Any]) -> Any:
    """View of memory at two addresses as an array whose numbers lie one behind the other."""
    found = _view(context, builder, kind)
    found.values, found.tangents = (builder.inttoptr(x, ir.DoubleType().as_pointer()) for x in (values, tangents))
    strides = [ir.Constant(_WHOLE, 1)]
    for count in reversed(counts[1:]):
        strides.insert(0, builder.mul(strides[0], count))
    found.shape, found.strides = (cgutils.pack_array(builder, x) for x in (counts, strides))
    return found._getvalue()


def _moved(context: Any, builder: Any, view: Any, distance: Any) -> tuple[Any, Any]:
    """Pointers to a value and its tangents, so many values further on."""
    values = builder.gep(view.values, [distance])
    return values, builder.gep(view.tangents, [builder.mul(distance, ir.Constant(_WHOLE, TANGENTS))])


def _distance(context: Any, builder: Any, view: Any, indices: list[Any]) -> Any:
    found = ir.Constant(_WHOLE, 0)
    for k, index in enumerate(indices):
        check_index(context, builder, index, builder.extract_value(view.shape, k))
        found = builder.add(found, builder.mul(index, builder.extract_value(view.strides, k)))
    return found


def _part(context: Any, builder: Any, kind: Any, view: Any, distance: Any, shape: list[Any], first: int) -> Any:
    """View from a place on, with the indices of the whole from `first` on."""
    found = _view(context, builder, kind)
    found.values, found.tangents = _moved(context, builder, view, distance)
    found.shape = cgutils.pack_array(builder, shape)
    found.strides = cgutils.pack_array(builder, cgutils.unpack_tuple(builder, view.strides)[first:])
    return found._getvalue()


def _indices(kind: Any) -> int:
    """Number of whole indices of an index; 0 for what is none."""
    if isinstance(kind, types.Integer):
        return 1
    tuples = isinstance(kind, types.BaseTuple) and all(isinstance(x, types.Integer) for x in kind)  # type: ignore[attr-defined]
    return len(kind) if tuples else 0


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if not isinstance(args[0], TangentArrayType):
            return None
        if args[1] == types.slice2_type:
            return signature(args[0], *args)
        rest = args[0].ndim - _indices(args[1])
        return signature(TangentArrayType(rest) if rest else tangent_type, *args) if rest < args[0].ndim else None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        number = is_number(args[2]) or args[2] == types.boolean
        fits = isinstance(args[0], TangentArrayType) and args[0].ndim == _indices(args[1]) and number
        kind = tangent_type if args[2] is tangent_type else types.float64
        return signature(types.none, args[0], args[1], kind) if fits else None


def _listed(context: Any, builder: Any, kind: Any, index: Any) -> list[Any]:
    if isinstance(kind, types.Integer):
        return [context.cast(builder, index, kind, types.intp)]
    return [context.cast(builder, builder.extract_value(index, k), x, types.intp) for k, x in enumerate(kind)]


@lower_builtin(operator.getitem, TangentArrayType, types.Integer)
@lower_builtin(operator.getitem, TangentArrayType, types.BaseTuple)  # type: ignore[attr-defined]
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, sig.args[0], args[0])
    indices = _listed(context, builder, sig.args[1], args[1])
    distance = _distance(context, builder, view, indices)
    if sig.return_type is tangent_type:
        value, tangents = _moved(context, builder, view, distance)
        vector = builder.load(builder.bitcast(tangents, FLOATS.as_pointer()), align=8)
        return put_together(builder, builder.load(value), vector)
    shape = cgutils.unpack_tuple(builder, view.shape)[len(indices) :]
    return _part(context, builder, sig.return_type, view, distance, shape, len(indices))


@lower_builtin(operator.setitem, TangentArrayType, types.Integer, tangent_type)
@lower_builtin(operator.setitem, TangentArrayType, types.Integer, types.float64)
@lower_builtin(operator.setitem, TangentArrayType, types.BaseTuple, tangent_type)  # type: ignore[attr-defined]
@lower_builtin(operator.setitem, TangentArrayType, types.BaseTuple, types.float64)  # type: ignore[attr-defined]
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, sig.args[0], args[0])
    distance = _distance(context, builder, view, _listed(context, builder, sig.args[1], args[1]))
    value, tangents = _moved(context, builder, view, distance)
    number = taken_apart(builder, sig.args[2], args[2])
    builder.store(number.value, value)
    vector = NO_TANGENTS if number.tangents is None else number.tangents
    builder.store(vector, builder.bitcast(tangents, FLOATS.as_pointer()), align=8)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, TangentArrayType, types.slice2_type)
def _slice(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = _view(context, builder, sig.args[0], args[0])
    bounds = context.make_helper(builder, sig.args[1], args[1])
    shape, strides = (cgutils.unpack_tuple(builder, x) for x in (view.shape, view.strides))
    stop = builder.select(builder.icmp_signed("<", bounds.stop, shape[0]), bounds.stop, shape[0])
    shape[0] = builder.sub(stop, bounds.start)
    return _part(context, builder, sig.args[0], view, builder.mul(bounds.start, strides[0]), shape, 0)


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if len(args) == 1 and isinstance(args[0], TangentArrayType) else None


@lower_builtin(len, TangentArrayType)
def _size(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_value(_view(context, builder, sig.args[0], args[0]).shape, 0)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = TangentArrayType

    def resolve_shape(self, array: Any) -> Any:
        return types.UniTuple(types.intp, array.ndim)  # type: ignore[attr-defined]

    def resolve_T(self, array: Any) -> Any:
        return array


@lower_getattr(TangentArrayType, "shape")
def _shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return _view(context, builder, kind, value).shape


@lower_getattr(TangentArrayType, "T")
def _transposed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    view = _view(context, builder, kind, value)
    shape, strides = (cgutils.unpack_tuple(builder, x) for x in (view.shape, view.strides))
    view.shape, view.strides = (cgutils.pack_array(builder, x[::-1]) for x in (shape, strides))
    return view._getvalue()


# -- tables of lists (listed.py), and of the tangents of their items --------------------------------------------------


class _TangentRowsType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"TangentRows{TANGENTS}")


tangent_rows_type = _TangentRowsType()
table_type = types.Array(types.int64, 2, "C")


@register_model(_TangentRowsType)
class _RowsModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("table", table_type), ("tangents", types.int64)])


def rows_with_tangents(context: Any, builder: Any, table: Any, tangents: Any) -> Any:
    """A table of items, and the address of their tangents: TANGENTS doubles a word."""
    found = _view(context, builder, tangent_rows_type)
    found.table, found.tangents = table, tangents
    return found._getvalue()


def parts_of_rows(builder: Any, rows: Any) -> tuple[Any, Any]:
    """The table of items, and the address of their tangents."""
    return builder.extract_value(rows, 0), builder.extract_value(rows, 1)


@overload(len, strict=False, jit_options=PART)
def _count(rows: Any) -> Any:
    return (lambda rows: len(_values_of(rows))) if rows is tangent_rows_type else None


# -- values alone ------------------------------------------------------------------------------------------------------


def _type_of_values(kind: Any) -> Any:
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return types.BaseTuple.from_types([_type_of_values(x) for x in kind], getattr(kind, "instance_class", None))  # type: ignore[attr-defined]
    if isinstance(kind, TangentArrayType):
        return types.Array(types.float64, kind.ndim, "C")
    if kind is tangent_rows_type:
        return table_type
    return types.float64 if kind is tangent_type else kind


def _values(context: Any, builder: Any, kind: Any, x: Any) -> Any:
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        items = [_values(context, builder, item, builder.extract_value(x, i)) for i, item in enumerate(kind)]
        return context.make_tuple(builder, _type_of_values(kind), items)
    if isinstance(kind, TangentArrayType):
        view = _view(context, builder, kind, x)
        array = make_array(_type_of_values(kind))(context, builder)
        size = ir.Constant(_WHOLE, 8)
        strides = [builder.mul(size, stride) for stride in cgutils.unpack_tuple(builder, view.strides)]
        populate_array(array, view.values, cgutils.unpack_tuple(builder, view.shape), strides, 8, None)
        return array._getvalue()
    if kind is tangent_rows_type:
        return parts_of_rows(builder, x)[0]
    return taken_apart(builder, kind, x).value


@intrinsic
def _values_of(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _values(context, builder, x, args[0])

    return _type_of_values(x)(x), codegen


@overload(values_of, strict=False, jit_options=PART)
def _choose_values_of(x: Any) -> Any:
    return lambda x: _values_of(x)


@intrinsic
def _put_value(typingctx: Any, x: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        view = _view(context, builder, sig.args[0], args[0])
        distance = _distance(context, builder, view, [args[1]])
        builder.store(args[2], _moved(context, builder, view, distance)[0])
        return context.get_dummy_value()

    return types.none(x, types.intp, types.float64), codegen


@overload(put_value, strict=False, jit_options=PART)
def _choose_put_value(x: Any, i: Any, value: Any) -> Any:
    if isinstance(x, TangentArrayType):
        return lambda x, i, value: _put_value(x, i, value)

    def put(x: Any, i: Any, value: Any) -> None:
        x[i] = value

    return put
