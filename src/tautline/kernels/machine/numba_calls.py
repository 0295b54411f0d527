"""Calls of C functions by their addresses, for Numba: force laws, and the question whether to go on."""

from __future__ import annotations

from math import nan
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from tautline.kernels.interrupts import ask
from tautline.kernels.loads.force_law import RESULT_SIZE, STATE_SIZE, call_law
from tautline.kernels.machine.numba_tangents import tangent_type
from tautline.kernels.machine.options import PART


@intrinsic
def _call(
    typingctx: Any, address: Any, t: Any, position: Any, velocity: Any, state: Any, parameters: Any, out: Any
) -> Any:
    number, count = ir.DoubleType(), ir.IntType(64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(sig.args[k])(context, builder, args[k])

        def place(buffer: Any, k: int) -> Any:
            return builder.gep(buffer, [ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), k)])

        numbers = cgutils.alloca_once(builder, ir.ArrayType(number, STATE_SIZE))
        result = cgutils.alloca_once(builder, ir.ArrayType(number, RESULT_SIZE))
        for k in range(STATE_SIZE):
            builder.store(builder.extract_value(args[4], k), place(numbers, k))
        for k in range(RESULT_SIZE):
            builder.store(ir.Constant(number, 0.0), place(result, k))
        pointer = number.as_pointer()
        kind = ir.FunctionType(
            ir.VoidType(), [number, count, pointer, pointer, pointer, pointer, count, pointer, pointer]
        )
        nodes = builder.sdiv(builder.extract_value(array(2).shape, 0), ir.Constant(count, 3))
        given = [args[1], nodes, array(2).data, array(3).data, place(numbers, 0)]
        given += [array(5).data, builder.extract_value(array(5).shape, 0), array(6).data, place(result, 0)]
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)
        values = [builder.load(place(result, k)) for k in range(RESULT_SIZE)]
        return context.make_tuple(builder, sig.return_type, values)

    kinds: Any = types
    numbers, result = (kinds.UniTuple(types.float64, size) for size in (STATE_SIZE, RESULT_SIZE))
    return result(types.int64, types.float64, position, velocity, numbers, parameters, out), codegen


@overload(call_law, strict=False, jit_options=PART)
def _compiled_call(address: Any, t: Any, position: Any, velocity: Any, state: Any, parameters: Any, out: Any) -> Any:
    if t is tangent_type:
        # nothing is known of its derivatives
        return lambda address, t, position, velocity, state, parameters, out: (nan, nan, nan, 1.0)

    def call(address: Any, t: Any, position: Any, velocity: Any, state: Any, parameters: Any, out: Any) -> Any:
        return _call(address, t, position, velocity, state, parameters, out)

    return call


@intrinsic
def _ask(typingctx: Any, pulse: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [])

    return types.int64(types.int64), codegen


@overload(ask, strict=False, jit_options=PART)
def _compiled_ask(pulse: Any) -> Any:
    return lambda pulse: _ask(pulse)
