"""How Numba compiles the kernels."""

from __future__ import annotations

from typing import Any

# Version of Numba that the library is made with (numba_lean.py); with others compiling takes longer.
NUMBA = "0.68"
# Contraction lets a*b + c become one fused instruction (10 % of a step). Compensated sums stay exact
# under it: they hold no product that a fusion could change for the worse.
OPTIONS: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy", "nogil": True, "_nrt": False}
# Of functions that become part of their callers.
PART: dict[str, Any] = OPTIONS | {"forceinline": True}
