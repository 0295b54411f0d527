"""Tuples in rows of numbers: every field comes back in its own place."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from tautline.arrays import Array
from tautline.kernels.data import Parameters, Plan
from tautline.kernels.layout import Layout
from tautline.kernels.members import (
    PARAMETERS,
    PLAN,
)


def unpacked(layout: Layout[Any], *args: Any) -> Any:
    """By the code that is written for a layout, without compiler."""
    return layout.unpack.py_func(*args)  # type: ignore[attr-defined]


def distinct(kind: Any, numbers: count[int], length: int = 2) -> Any:
    """Value of a type in which no number occurs twice; truths alternate, and arrays have this many rows."""
    if get_origin(kind) is tuple:
        return tuple(distinct(item, numbers) for item in get_args(kind))
    if hasattr(kind, "_fields"):
        types = get_type_hints(kind)
        return kind(*(distinct(types[name], numbers, 2 if name == "profile" else length) for name in kind._fields))
    number = next(numbers)
    if kind == Array:
        return 1000.0 * number + np.arange(float(length))
    return {float: number + 0.25, int: number, bool: number % 2 == 0}[kind]


def assert_same(found: Any, expected: Any) -> None:
    """Equal, field by field, with the same types."""
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for x, y in zip(found, expected, strict=True):
            assert_same(x, y)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("kind", "layout"), [(Parameters, PARAMETERS), (Plan, PLAN)])
def test_a_field_is_shared_or_has_places(kind: Any, layout: Layout[Any]) -> None:
    a, b = distinct(kind, count(1)), distinct(kind, count(500))
    mixed = unpacked(layout, a, layout.row(b).tolist())
    assert layout.shared(mixed) == layout.shared(a)
    np.testing.assert_array_equal(layout.row(mixed), layout.row(b))
    for name in kind._fields:
        origin = a if layout.is_shared(name, get_type_hints(kind)[name]) else b
        assert_same(getattr(mixed, name), getattr(origin, name))


def with_one_more(kind: Any, name: str, of: Any) -> Any:
    """A copy of a NamedTuple class with another field in the middle."""
    fields = list(get_type_hints(kind).items())
    return NamedTuple(f"Longer{kind.__name__}", [*fields[:3], (name, of), *fields[3:]])


def test_what_has_no_place_is_refused() -> None:
    with pytest.raises(TypeError, match=r"cannot hold the field added of type .*str"):
        Layout(with_one_more(Plan, "added", str))
