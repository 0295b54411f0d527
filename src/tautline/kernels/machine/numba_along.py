"""Vectors along the string for Numba: LANES neighbours in an array of numbers, or one item of an array of lanes."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from tautline.kernels.along import fused, load, previous, ramp, spread, store, store_values, total, width
from tautline.kernels.lanes import LANES
from tautline.kernels.machine import numba_pairs  # noqa: F401 - it teaches Numba pairs
from tautline.kernels.machine.numba_lanes import FLOATS, access_to, lanes_type
from tautline.kernels.machine.numba_tangent_arrays import TangentArrayType
from tautline.kernels.machine.numba_tangents import tangent_type
from tautline.kernels.machine.options import PART
from tautline.kernels.tangents import put_value

_INDEX = ir.IntType(32)


def _is_row(x: Any) -> bool:
    """Whether x is a row of plain numbers."""
    return isinstance(x, types.Array) and x.ndim == 1 and x.layout == "C" and x.dtype == types.float64


_load, _store = access_to(lanes_type, FLOATS)


@intrinsic
def _spread(typingctx: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[0], sig.args[0], lanes_type)

    return lanes_type(number), codegen


@intrinsic
def _ramp(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(FLOATS, [float(k) for k in range(LANES)])

    return lanes_type(), codegen


@intrinsic
def _previous(typingctx: Any, before: Any, values: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = [LANES - 1 + k for k in range(LANES)]
        return builder.shuffle_vector(*args, ir.Constant(ir.VectorType(_INDEX, LANES), places))

    return lanes_type(lanes_type, lanes_type), codegen


@intrinsic
def _total(typingctx: Any, values: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found, size = args[0], LANES
        while size > 1:
            size //= 2
            nothing = ir.Constant(found.type, ir.Undefined)
            halves = [
                builder.shuffle_vector(
                    found, nothing, ir.Constant(ir.VectorType(_INDEX, size), list(range(first, first + size)))
                )
                for first in (0, size)
            ]
            found = builder.fadd(*halves)
        return builder.extract_element(found, ir.Constant(_INDEX, 0))

    return types.float64(lanes_type), codegen


@intrinsic
def _fused(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    kind = lanes_type if lanes_type in (a, b, c) else types.float64
    name = f"llvm.fmuladd.v{LANES}f64" if kind is lanes_type else "llvm.fmuladd.f64"

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = FLOATS if kind is lanes_type else ir.DoubleType()
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number] * 3), name)
        return builder.call(function, args)

    return kind(kind, kind, kind), codegen


@overload(fused, strict=False, jit_options=PART)
def _choose_fused(a: Any, b: Any, c: Any) -> Any:
    if tangent_type in (a, b, c):
        return lambda a, b, c: a * b + c
    return lambda a, b, c: _fused(a, b, c)


@overload(load, strict=False, jit_options=PART)
def _choose_load(x: Any, i: Any) -> Any:
    return (lambda x, i: _load(x, i)) if _is_row(x) else (lambda x, i: x[i])


@overload(store, strict=False, jit_options=PART)
def _choose_store(x: Any, i: Any, values: Any) -> Any:
    if _is_row(x):
        return lambda x, i, values: _store(x, i, values)

    def put(x: Any, i: Any, values: Any) -> None:
        x[i] = values

    return put


@overload(store_values, strict=False, jit_options=PART)
def _choose_store_values(x: Any, i: Any, values: Any) -> Any:
    if _is_row(x):
        return lambda x, i, values: _store(x, i, values)
    return lambda x, i, values: put_value(x, i, values)


@overload(width, strict=False, jit_options=PART)
def _choose_width(x: Any) -> Any:
    return (lambda x: LANES) if _is_row(x) else (lambda x: 1)


@overload(spread, strict=False, jit_options=PART)
def _choose_spread(x: Any, number: Any) -> Any:
    if isinstance(x, TangentArrayType):
        return lambda x, number: number
    return lambda x, number: _spread(number)


@overload(ramp, strict=False, jit_options=PART)
def _choose_ramp(x: Any) -> Any:
    return (lambda x: _ramp()) if _is_row(x) else (lambda x: 0.0)


@overload(previous, strict=False, jit_options=PART)
def _choose_previous(x: Any, before: Any, values: Any) -> Any:
    return (lambda x, before, values: _previous(before, values)) if _is_row(x) else (lambda x, before, values: before)


@overload(total, strict=False, jit_options=PART)
def _choose_total(x: Any, values: Any) -> Any:
    return (lambda x, values: _total(values)) if _is_row(x) else (lambda x, values: values)
