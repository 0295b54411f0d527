"""Functions of a test's own, compiled by Numba as the kernels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

import tautline.kernels.machine.compiling  # noqa: F401 - teaches Numba lanes
from tautline.kernels.machine.numba_lanes import teach_either
from tautline.kernels.machine.options import OPTIONS


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls."""
    teach_either()
    return numba.njit(**OPTIONS)(function)
