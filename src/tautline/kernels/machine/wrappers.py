"""Entries with flat arguments, for Numba: words are read into the tuples of the kernels, and results written to words.

All arguments are int64 or float64; pointers are int64. A function of C's own looks the same to the processor.
An entry with tangents has two addresses for each structure: that of its words, and that of TANGENTS doubles a word.
These are the derivatives of a number, or, of an array, the address of the derivatives of its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from tautline.kernels.jit import Kernel
from tautline.kernels.machine.numba_lanes import FLOATS
from tautline.kernels.machine.numba_tangent_arrays import (
    TangentArrayType,
    filled_view,
    parts_of_rows,
    rows_with_tangents,
    table_type,
    tangent_rows_type,
)
from tautline.kernels.machine.numba_tangents import put_together, tangent_type
from tautline.kernels.machine.signatures import TANGENT_WORDS, Function
from tautline.kernels.machine.structures import Structure, structure
from tautline.kernels.tangents import TANGENTS

_RESULT = "result"
_DOUBLE, _WHOLE = ir.DoubleType(), ir.IntType(64)


def _pointer(builder: Any, address: Any, place: Any, kind: Any) -> Any:
    """Pointer to a word behind an address."""
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [place])


def _first(builder: Any, kind: Any, at: Any) -> Any:
    """Address of words, from that alone or beside the address of their tangents."""
    return at if isinstance(kind, types.Integer) else builder.extract_value(at, 0)


def _tangents_at(builder: Any, at: Any, place: Any, kind: Any) -> Any:
    """Pointer to what stands for a word among the tangents."""
    place = builder.mul(place, ir.Constant(place.type, TANGENTS))
    return builder.bitcast(_pointer(builder, builder.extract_value(at, 1), place, _DOUBLE), kind.as_pointer())


@intrinsic
def _whole(typingctx: Any, at: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, _first(builder, at, args[0]), args[1], _WHOLE))

    return types.int64(at, types.int64), codegen


@intrinsic
def _real(typingctx: Any, at: Any, place: Any) -> Any:
    plain = isinstance(at, types.Integer)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(_pointer(builder, _first(builder, at, args[0]), args[1], _DOUBLE))
        if plain:
            return value
        return put_together(builder, value, builder.load(_tangents_at(builder, args[0], args[1], FLOATS), align=8))

    return (types.float64 if plain else tangent_type)(at, types.int64), codegen


def _writer(numba_type: Any, llvm_type: Any) -> Any:
    @intrinsic
    def write(typingctx: Any, address: Any, place: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            builder.store(args[2], _pointer(builder, args[0], args[1], llvm_type))
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, numba_type), codegen

    return write


def _array_at(context: Any, builder: Any, kind: Any, address: Any, counts: list[Any]) -> Any:
    """Memory as an array whose numbers lie one behind the other."""
    array = make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [ir.Constant(_WHOLE, size)]
    for count in reversed(counts[1:]):
        strides.insert(0, builder.mul(strides[0], count))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data, counts, strides, size, None)
    return array._getvalue()


def _viewer(item: Any) -> Any:
    """Intrinsic that views memory as an array whose numbers lie one behind the other."""

    @intrinsic
    def view(typingctx: Any, at: Any, place: Any, shape: Any) -> Any:
        with_tangents = item == types.float64 and not isinstance(at, types.Integer)
        kind = TangentArrayType(len(shape)) if with_tangents else types.Array(item, len(shape), "C")

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            address = builder.load(_pointer(builder, _first(builder, at, args[0]), args[1], _WHOLE))
            counts = cgutils.unpack_tuple(builder, args[2])
            if with_tangents:
                tangents = builder.load(_tangents_at(builder, args[0], args[1], _WHOLE))
                return filled_view(context, builder, kind, address, tangents, counts)
            return _array_at(context, builder, kind, address, counts)

        return kind(at, types.int64, shape), codegen

    return view


@intrinsic
def _rows(typingctx: Any, at: Any, place: Any, shape: Any) -> Any:
    """View of the table of a list, with that of the tangents where there are some."""
    with_tangents = not isinstance(at, types.Integer)
    kind = tangent_rows_type if with_tangents else table_type

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = builder.load(_pointer(builder, _first(builder, at, args[0]), args[1], _WHOLE))
        found = _array_at(context, builder, table_type, address, cgutils.unpack_tuple(builder, args[2]))
        if not with_tangents:
            return found
        tangents = builder.load(_tangents_at(builder, args[0], args[1], _WHOLE))
        return rows_with_tangents(context, builder, found, tangents)

    return kind(at, types.int64, shape), codegen


_PARTS = {
    "real": _real,
    "whole": _whole,
    "put_real": _writer(types.float64, _DOUBLE),
    "put_whole": _writer(types.int64, _WHOLE),
    "numbers": _viewer(types.float64),
    "counters": _viewer(types.int64),
    "rows": _rows,
}


def _kernel(name: str, arguments: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    exec("\n".join([f"def {name}({arguments}):", *[f"    {line}" for line in lines]]), scope)
    function: Callable[..., Any] = scope[name]
    return function


def _read(structure: Structure) -> Kernel:
    """Kernel that builds a value from the words at an address."""
    scope = _PARTS | structure.names | {"__name__": __name__}
    return Kernel(_kernel("read", "at", [f"return {structure.reading}"], scope), inline="always")


@intrinsic
def _address(typingctx: Any, rows: Any, k: Any) -> Any:
    """Address of row k of the table of a list, and of its tangents where there are some."""
    with_tangents = rows is tangent_rows_type

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        table, tangents = parts_of_rows(builder, args[0]) if with_tangents else (args[0], None)
        array = make_array(table_type)(context, builder, table)
        distance = builder.mul(args[1], cgutils.unpack_tuple(builder, array.strides)[0])
        address = builder.add(builder.ptrtoint(array.data, _WHOLE), distance)
        if not with_tangents:
            return address
        beside = builder.add(tangents, builder.mul(distance, ir.Constant(_WHOLE, TANGENTS)))
        return context.make_tuple(builder, sig.return_type, [address, beside])

    return (types.UniTuple(types.int64, 2) if with_tangents else types.int64)(rows, types.int64), codegen


def reader_of_rows(kind: Any) -> Any:
    """Numba's own object for a function that builds item k of a list from its table of words (listed.py)."""
    from tautline.kernels.machine.compiling import dispatcher

    scope: dict[str, Any] = {"__name__": __name__, "address": _address, "read_item": _read(structure(kind))}
    item = _kernel("item", "rows, k", ["return read_item(address(rows, k))"], scope)
    return dispatcher(item, {"forceinline": True})


def _write(structure: Structure) -> Kernel:
    """Kernel that writes the words of a value to an address."""
    scope = _PARTS | {"__name__": __name__}
    lines = [
        f"put_real(at, {member.place}, value{member.path})"
        if member.kind is float
        else f"put_whole(at, {member.place}, int(value{member.path}))"
        for member in structure.members
    ]
    return Kernel(_kernel("write", "at, value", lines, scope), forceinline=True)


def flat(function: Function, entry: Kernel) -> tuple[Callable[..., Any], Any]:
    """Python function with flat arguments that calls an entry, and its signature, for Numba."""
    scope: dict[str, Any] = {"__name__": __name__, "entry": entry}
    given = dict.fromkeys(function.absent, "None")
    signature: list[Any] = []
    names = []
    for argument in function.arguments:
        name = argument.name
        names += [name, f"{name}{TANGENT_WORDS}"] if function.tangents and argument.structure else [name]
        signature += [types.float64 if argument.kind is float else types.int64] * (len(names) - len(signature))
        given[name] = f"{name} != 0" if argument.kind is bool else name
        if argument.structure is not None:
            scope[f"read_{name}"] = _read(argument.structure)
            at = f"({name}, {name}{TANGENT_WORDS})" if function.tangents else name
            given[name] = f"read_{name}({at})"
    order = list(function.entry.__code__.co_varnames[: function.entry.__code__.co_argcount])
    call = f"entry({', '.join(given[name] for name in order)})"
    if function.result is not None:
        scope["write"] = _write(function.result)
        names.append(_RESULT)
        signature.append(types.int64)
        call = f"write({_RESULT}, {call})"
    code = _kernel(function.name, ", ".join(names), [call], scope)
    return code, types.none(*signature)
