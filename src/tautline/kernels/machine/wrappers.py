"""Entries with flat arguments, for Numba: words are read into the tuples of the kernels, and results written to words.

All arguments are int64 or float64; pointers are int64. A function of C's own looks the same to the processor.
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
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.structures import Structure, structure

_RESULT = "result"


def _pointer(builder: Any, address: Any, place: Any, kind: Any) -> Any:
    """Pointer to a word behind an address."""
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [place])


def _reader(numba_type: Any, llvm_type: Any) -> Any:
    @intrinsic
    def read(typingctx: Any, address: Any, place: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(_pointer(builder, args[0], args[1], llvm_type))

        return numba_type(types.int64, types.int64), codegen

    return read


def _writer(numba_type: Any, llvm_type: Any) -> Any:
    @intrinsic
    def write(typingctx: Any, address: Any, place: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            builder.store(args[2], _pointer(builder, args[0], args[1], llvm_type))
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, numba_type), codegen

    return write


def _viewer(item: Any) -> Any:
    """Intrinsic that views memory as an array whose numbers lie one behind the other."""

    @intrinsic
    def view(typingctx: Any, address: Any, shape: Any) -> Any:
        kind = types.Array(item, len(shape), "C")

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            array = make_array(kind)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(item))
            counts = cgutils.unpack_tuple(builder, args[1])
            strides = [ir.Constant(ir.IntType(64), size)]
            for count in reversed(counts[1:]):
                strides.insert(0, builder.mul(strides[0], count))
            data = builder.inttoptr(args[0], array.data.type)
            populate_array(array, data, counts, strides, size, None)
            return array._getvalue()

        return kind(types.int64, shape), codegen

    return view


_DOUBLE, _WHOLE = ir.DoubleType(), ir.IntType(64)
_PARTS = {
    "real": _reader(types.float64, _DOUBLE),
    "whole": _reader(types.int64, _WHOLE),
    "put_real": _writer(types.float64, _DOUBLE),
    "put_whole": _writer(types.int64, _WHOLE),
    "numbers": _viewer(types.float64),
    "counters": _viewer(types.int64),
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
    """Address of row k of an array with two indices."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = make_array(sig.args[0])(context, builder, args[0])
        stride = cgutils.unpack_tuple(builder, array.strides)[0]
        return builder.add(builder.ptrtoint(array.data, _WHOLE), builder.mul(args[1], stride))

    return types.int64(rows, types.int64), codegen


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
    signature = []
    for argument in function.arguments:
        name = argument.name
        given[name] = f"{name} != 0" if argument.kind is bool else name
        if argument.structure is not None:
            scope[f"read_{name}"] = _read(argument.structure)
            given[name] = f"read_{name}({name})"
        signature.append(types.float64 if argument.kind is float else types.int64)
    names = [argument.name for argument in function.arguments]
    order = list(function.entry.__code__.co_varnames[: function.entry.__code__.co_argcount])
    call = f"entry({', '.join(given[name] for name in order)})"
    if function.result is not None:
        scope["write"] = _write(function.result)
        names.append(_RESULT)
        signature.append(types.int64)
        call = f"write({_RESULT}, {call})"
    code = _kernel(function.name, ", ".join(names), [call], scope)
    return code, types.none(*signature)
