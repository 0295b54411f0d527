"""Interrupts: a march asks its caller now and then whether to go on.

The caller gives the address of a C function, `int64_t pulse(void)`, or 0 to be left alone. The function returns the
number of steps until it is asked again, or 0 to stop the march.
"""

from __future__ import annotations

import ctypes

from tautline.kernels.jit import kernel

# Steps until the first question: little to wait for, and much beside a call from Python.
FIRST_QUESTION = 64
# More steps than any march has.
ENDLESS = 1 << 62

PULSE = ctypes.CFUNCTYPE(ctypes.c_int64)


def ask(pulse: int) -> int:
    """Call the function at an address (machine/numba_calls.py has it for machine code)."""
    return int(PULSE(pulse)())


@kernel
def steps_left(pulse: int, left: int, made: int) -> int:
    """Steps until the next question, after `made` more of them; 0 if the march is to stop."""
    left -= made
    if left <= 0 and pulse != 0:
        left = max(ask(pulse), 0)
    return left


@kernel
def must_stop(pulse: int, left: int) -> bool:
    """Whether the latest answer was to stop."""
    return pulse != 0 and left <= 0
