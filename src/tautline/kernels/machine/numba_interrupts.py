"""The question whether to go on, for Numba (interrupts.py)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from tautline.kernels.interrupts import ask
from tautline.kernels.machine.options import PART


@intrinsic
def _ask(typingctx: Any, pulse: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [])

    return types.int64(types.int64), codegen


@overload(ask, strict=False, jit_options=PART)
def _compiled_ask(pulse: Any) -> Any:
    return lambda pulse: _ask(pulse)
