"""Numbers with tangents: a value, and its derivatives by TANGENTS parameters.

Kernels are the same for plain numbers and for numbers with tangents; Numba compiles them for either. A decision is made
by values. Where a kernel needs to know, it asks with the functions below, which are what they mean for plain numbers;
machine/numba_tangents.py and machine/numba_tangent_arrays.py tell Numba what they do with tangents.
Without machine code there are no tangents.
"""

from __future__ import annotations

from typing import Any

from tautline.kernels.lanes import LANES

# One vector of doubles, as lanes have it.
TANGENTS = LANES


def has_tangents(x: Any) -> bool:
    """Whether a number has tangents: an iteration whose values have settled must be made once more for them.

    The iteration is Newton's method, so that one more solves the equation's derivative (implicit function theorem).
    """
    return False
