"""Calls of an entry for one member after the other: the words of all members are made beforehand, in arrays.

A call from Python makes the words of its arguments every time, which takes longer than what many an entry computes.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tautline.kernels.machine.calls import machine_code, names_of
from tautline.kernels.machine.signatures import ASKED, functions_of
from tautline.kernels.machine.structures import WORD, Structure, address_of


class MemberCalls:
    """An entry with its arguments for every member.

    Parameters
    ----------
    entry : Callable
        The entry; machine code runs.
    count : int
        How many members there are.
    *args
        What the entry takes. A number may be a column with one entry a member, also inside a tuple, and an array may
        have one row a member; if it has fewer, they are used in turn. Arrays are not copied.
    """

    def __init__(self, entry: Callable[..., Any], count: int, *args: Any) -> None:
        plain = inspect.unwrap(entry)
        absent = tuple(name for name, x in zip(names_of(plain), args, strict=True) if x is None)
        function = functions_of(plain)[absent]
        self._name, self._result = function.name, function.result
        self._code = machine_code(function)
        self._given = [x for x in args if x is not None]
        arguments = [argument for argument in function.arguments if argument.name != ASKED]
        self._tables = [
            None if argument.structure is None else _table(argument.structure, x, count)
            for argument, x in zip(arguments, self._given, strict=True)
        ]
        each: list[Sequence[Any]] = [
            np.broadcast_to(x, count).tolist() if table is None else _addresses(table)
            for x, table in zip(self._given, self._tables, strict=True)
        ]
        room = ctypes.create_string_buffer(WORD * (self._result.size if self._result is not None else 0))
        self._buffer = [room] * (self._result is not None)
        self._calls = list(zip(*each, strict=True))

    def __call__(self, k: int) -> Any:
        """Call the entry for member k; what it returns."""
        if self._code(self._calls[k], *self._buffer) != 0:
            raise IndexError(f"{self._name}: an index was out of range")
        return None if self._result is None else self._result.unpack(self._buffer[0].raw)


def _addresses(table: Any) -> range:
    """Addresses of the rows of a table."""
    start = table.ctypes.data
    return range(start, start + table.nbytes, table.strides[0])


def _table(structure: Structure, value: Any, count: int) -> Any:
    """Words of a structure, one row a member."""
    words = np.empty((count, structure.size), dtype=np.int64)
    reals = words.view(np.float64)
    for member, x in zip(structure.members, _flatten(structure)(value), strict=True):
        if member.kind is np.ndarray:
            own = x.ndim - member.indices
            address, *shape = address_of(x, member.indices + min(own, 1), member.item)
            words[:, member.place] = address + (np.arange(count) % len(x) * x.strides[0] if own else 0)
            words[:, member.place + 1 : member.place + 1 + member.indices] = shape[own:]
        else:
            (reals if member.kind is float else words)[:, member.place] = x
    return words


@cache
def _flatten(structure: Structure) -> Callable[[Any], tuple[Any, ...]]:
    """A function that lists the numbers and arrays of a value, in the order of the members of its structure."""
    items = "".join(f"value{member.path}, " for member in structure.members)
    return eval(f"lambda value: ({items})")  # type: ignore[no-any-return]
