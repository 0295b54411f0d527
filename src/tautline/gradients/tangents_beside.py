"""Nested tuples with dual numbers beside the plain ones of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Dual, UnknownTangentsError, value_of
from tautline.gradients.leaves import NESTED, flat
from tautline.gradients.scales import IGNORED, Scales
from tautline.kernels.listed import Listed

# Values that dual numbers carry are those of the run but for rounding, over the largest of their kind.
SAME = 1e-12


def plain_of(tree: Any) -> Any:
    """Copies of the numbers of nested tuples without derivatives."""
    if isinstance(tree, Dual):
        return tree.value.copy() if tree.ndim else float(tree.value)
    if isinstance(tree, Listed):
        return Listed(tree.kind, [plain_of(x) for x in tree])
    if isinstance(tree, tuple):
        items = [plain_of(x) for x in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    return tree.copy() if isinstance(tree, np.ndarray) else tree


def tangents_beside(plain: Any, dual: Any, k: int, scales: Scales | None = None) -> Array:
    """Derivatives (numbers in the order of `flat`, k) of nested tuples with dual numbers beside plain ones.

    UnknownTangentsError where they are not the same numbers.
    """
    here = flat(plain)
    there, columns, end = here.copy(), np.zeros((len(here), k)), 0

    def gather(x: Any, y: Any) -> None:
        nonlocal end
        if isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype == np.float64):
            first, end = end, end + (1 if isinstance(x, float) else x.size)
            if x is y:
                return
            value = np.asarray(value_of(y), dtype=np.float64)
            if value.shape != np.shape(x):
                raise UnknownTangentsError(f"numbers of shape {np.shape(x)}, got {value.shape}")
            there[first:end] = value.ravel()
            if isinstance(y, Dual):
                columns[first:end] = y.tangent.reshape(value.size, k)
        elif isinstance(x, NESTED):
            items = list(y)
            if len(items) != len(x):
                raise UnknownTangentsError("tuples of other lengths")
            for a, b in zip(x, items, strict=True):
                gather(a, b)
        elif x is not y and np.any(x != y):
            raise UnknownTangentsError(f"{x!r}, got {y!r}")

    gather(plain, dual)
    if scales is not None:
        kinds = scales if len(here) == len(scales.groups) else scales.part(slice(0, len(here)))
        with np.errstate(invalid="ignore"):
            far = np.abs(there - here) > SAME * np.maximum(kinds.largest(here), kinds.usual)
        if far[kinds.groups != IGNORED].any():
            raise UnknownTangentsError("a start that is computed otherwise")
    return columns
