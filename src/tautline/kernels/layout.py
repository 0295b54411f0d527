"""Tuples as rows of numbers, and back: code that is written from the names and types of their fields.

A `Layout` goes through the fields of a NamedTuple in order, and through those of tuples inside it. It gives every
number one place in a row: floats as they are, truths as 0 and 1, counts as floats, and of an array its length; the
array itself is in a table with one row a member. Fields that all members share have no place, and are copied.
A field that is added to a tuple is so added to its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from tautline.kernels.data import Array
from tautline.kernels.jit import kernel

T = TypeVar("T", bound=tuple[Any, ...])


def nothing_shared(name: str, kind: Any) -> bool:
    """Give every field a place."""
    return False


class Layout(Generic[T]):
    """Places of the fields of a NamedTuple in a row of numbers, and kernels that write and read rows.

    Parameters
    ----------
    kind
        The NamedTuple.
    shared
        Whether a field of this name and type is the same for all members.

    Attributes
    ----------
    size : int
        Length of a row.
    is_shared : Callable
        As given.
    pack : Callable
        pack(value, row) writes a row.
    unpack : Callable
        unpack([shared, ] row [, tables, k]) reads one, where a row may also be lanes of rows. `shared` is a tuple
        whose shared fields are copied, `tables` are those of all members, and k is the member.
    """

    def __init__(self, kind: type[T], shared: Callable[[str, Any], bool] = nothing_shared) -> None:
        self.is_shared = shared
        self._stores: list[str] = []
        self._shared: list[str] = []
        self._arrays: list[str] = []
        self._names: dict[str, Any] = {"__name__": __name__}  # of all that the code needs
        built = self._expression(kind, "")
        self.size = len(self._stores)
        arguments = ["shared"] * bool(self._shared) + ["row"] + ["tables", "k"] * bool(self._arrays)
        stores = [f"    row[{place}] = {number}\n" for place, number in enumerate(self._stores)]
        self.pack: Callable[[T, Any], None] = kernel(self._function("pack", "value, row", "".join(stores)))
        self.unpack: Callable[..., T] = kernel(self._function("unpack", ", ".join(arguments), f"    return {built}\n"))

    def _function(self, name: str, arguments: str, body: str) -> Callable[..., Any]:
        exec(f"def {name}({arguments}):\n{body}", self._names)
        function: Callable[..., Any] = self._names[name]
        return function

    def _place(self, number: str) -> str:
        self._stores.append(number)
        return f"row[{len(self._stores) - 1}]"

    def _expression(self, kind: Any, path: str) -> str:
        """Code that builds a value of this type from a row; `path` leads to it from the whole tuple."""
        if get_origin(kind) is tuple:
            items = [self._expression(item, f"{path}[{i}]") for i, item in enumerate(get_args(kind))]
            return f"({', '.join(items)},)"
        if hasattr(kind, "_fields"):
            self._names[kind.__name__] = kind
            types = get_type_hints(kind)
            fields = [self._field(name, types[name], f"{path}.{name}") for name in kind._fields]
            return f"{kind.__name__}({', '.join(fields)})"
        if kind == Array:
            self._arrays.append(path)
            length = self._place(f"len(value{path})")
            return f"tables[{len(self._arrays) - 1}][k, : int({length})]"
        if kind not in (float, int, bool):
            raise TypeError(f"A row of numbers cannot hold the field {path[1:]} of type {kind}.")
        number = self._place(f"value{path}")
        return {float: number, int: f"int({number})", bool: f"{number} != 0.0"}[kind]

    def _field(self, name: str, kind: Any, path: str) -> str:
        if self.is_shared(name, kind):
            self._shared.append(path)
            return f"shared{path}"
        return self._expression(kind, path)

    def row(self, value: T) -> Array:
        """Numbers of a tuple, in their places."""
        out = np.empty(self.size)
        self.pack(value, out)
        return out

    def shared(self, value: T) -> tuple[Any, ...]:
        """Shared fields of a tuple, to compare with those of another; arrays as shape and bytes."""
        fields = [attrgetter(path[1:])(value) for path in self._shared]
        return tuple((x.shape, x.tobytes()) if isinstance(x, np.ndarray) else x for x in fields)

    def tables(self, values: Sequence[T]) -> tuple[Array, ...]:
        """One table for each array in a tuple: those of all members, filled up with zeros to the longest."""
        tables = []
        for path in self._arrays:
            arrays = [attrgetter(path[1:])(value) for value in values]
            table = np.zeros((len(arrays), max(map(len, arrays)), *arrays[0].shape[1:]))
            for row, array in zip(table, arrays, strict=True):
                row[: len(array)] = array
            tables.append(table)
        return tuple(tables)
