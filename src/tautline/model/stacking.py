"""Nested tuples of numbers as arrays; the numbers may carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np


def stacked(x: Any) -> Any:
    """Array of nested tuples of numbers, which may carry derivatives; what is none is as it is."""
    if not isinstance(x, (tuple, list)):
        return x
    return np.array(x) if is_plain(*x) else np.stack([stacked(item) for item in x])


def number_of(x: Any) -> Any:
    """Plain float, or a number as it is that carries derivatives."""
    return float(x) if is_plain(x) else x


def is_plain(*values: Any) -> bool:
    """Whether no number of nested tuples carries derivatives."""
    return all(is_plain(*x) if isinstance(x, tuple) else not hasattr(x, "tangent") for x in values)
