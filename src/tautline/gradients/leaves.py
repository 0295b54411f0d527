"""Numbers of nested tuples, as the kernels take them: found in order, put back, and laid out in one row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tautline.arrays import Array
from tautline.kernels.listed import Listed

T = TypeVar("T")
# What numbers are nested in.
NESTED = (tuple, Listed)


def _is_number(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype == np.float64)


def leaves(tree: Any) -> list[Any]:
    """Floats and arrays of floats of nested tuples, in order; no whole numbers and no truths."""
    found: list[Any] = []
    _gather(tree, found)
    return found


def _gather(tree: Any, found: list[Any]) -> None:
    if isinstance(tree, NESTED):
        for item in tree:
            if type(item) is float:  # most of them
                found.append(item)
            else:
                _gather(item, found)
    elif _is_number(tree):
        found.append(tree)


def with_leaves(tree: T, values: Sequence[Any]) -> T:
    """Nested tuples with other numbers in the places of `leaves`; lists of the kernels become tuples."""
    supply = iter(values)

    def put(item: Any) -> Any:
        if isinstance(item, NESTED):
            inner = [put(x) for x in item]
            return type(item)(*inner) if hasattr(item, "_fields") else tuple(inner)
        return next(supply) if _is_number(item) else item

    found: T = put(tree)
    return found


def laid_out(tree: Any) -> tuple[Array, list[Any]]:
    """All numbers of nested tuples in one row; and what is not smooth: shapes, whole numbers, truths and words."""
    rows: list[Array] = []
    floats: list[float] = []
    others: list[Any] = []

    def gather(items: Any) -> None:
        for x in items:
            if isinstance(x, float):
                floats.append(x)
            elif isinstance(x, NESTED):
                gather(x)
            elif isinstance(x, np.ndarray) and x.dtype == np.float64:
                others.append((len(floats), x.shape))
                rows.extend((np.array(floats), x.ravel()))
                floats.clear()
            else:
                others.append(x.tolist() if isinstance(x, np.ndarray) else x)

    gather((tree,))
    others.append(len(floats))
    return np.concatenate([*rows, np.array(floats)]), others


def flat(tree: Any) -> Array:
    """All numbers of nested tuples in one row."""
    return laid_out(tree)[0]


def places_in(tree: Any, part: Callable[[Any], Sequence[Any]]) -> Any:
    """Places in `flat` of the numbers of some arrays of a tree, which `part` takes from it."""
    ends = np.cumsum([np.size(x) for x in leaves(tree)])
    numbered = [np.arange(end - np.size(x), end) for x, end in zip(leaves(tree), ends, strict=True)]
    pairs = zip(part(tree), part(with_leaves(tree, numbered)), strict=True)
    return np.concatenate([places for x, places in pairs if _is_number(x)])


def split(tree: Any, columns: Array) -> list[Array]:
    """Columns (numbers of `flat`, k) by leaves: arrays of the leaf's shape with one more dimension, k."""
    found, end = [], 0
    for x in leaves(tree):
        shape = () if isinstance(x, float) else x.shape
        first, end = end, end + math.prod(shape)
        found.append(np.ascontiguousarray(columns[first:end].reshape(*shape, columns.shape[1])))
    return found
