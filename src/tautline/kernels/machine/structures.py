"""NamedTuples of the kernels as C structures.

Everything takes a word of eight bytes: floats are doubles, whole numbers and truths are int64_t, an array is a pointer
and the numbers of its rows, columns and so on. Tuples lie one behind the other inside what holds them. All of it
follows from the fields and their types, so a field that is added to a tuple is added to its structure.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from tautline import registry
from tautline.arrays import Array, Counters
from tautline.kernels.data import Loads
from tautline.kernels.listed import Listed
from tautline.kernels.tangents import TANGENTS

WORD = 8


class Member(NamedTuple):
    """One number or one array of a structure."""

    path: str  # from the whole to it: ".r_p[0]"
    kind: type  # float, int, bool or np.ndarray
    place: int  # of its first word
    indices: int = 0  # of an array
    item: str = "d"  # of an array: d of doubles, q of int64_t
    listed: Any = None  # type of the items, of a list whose table of words is the array


def array_type(kind: Any) -> tuple[int, str] | None:
    """Number of indices of an array and the letter of its items, from its type; None for what is no array."""
    if get_origin(kind) is Listed:
        return 2, "q"
    plain, indices = get_args(kind) if get_origin(kind) is Annotated else (kind, 1)
    letter = {Array: "d", Counters: "q"}.get(plain)
    return None if letter is None else (indices, letter)


def own_types() -> tuple[Any, ...]:
    """Types of the numbers of each load of the registry, from the files of the loads."""
    files = [vars(import_module(load.module)).values() for load in registry.LOADS.values()]
    return tuple(next(x for x in file if isinstance(x, type) and "acts" in getattr(x, "_fields", ())) for file in files)


def fields_of(kind: Any) -> list[tuple[str, Any]] | None:
    """How to get at the items of a tuple from it, and their types; None for what is no tuple."""
    if kind is Loads:
        types = get_type_hints(Loads, include_extras=True) | {"own": tuple[own_types()]}  # type: ignore[misc]
        return [(f".{name}", types[name]) for name in Loads._fields]
    if hasattr(kind, "_fields"):
        types = get_type_hints(kind, include_extras=True)
        return [(f".{name}", types[name]) for name in kind._fields]
    if get_origin(kind) is tuple:
        return [(f"[{i}]", item) for i, item in enumerate(get_args(kind))]
    return None


class Structure:
    """Words of a type of the kernels: a tuple, a number or an array.

    Parameters
    ----------
    kind
        The type.

    Attributes
    ----------
    members : list of Member
        Numbers and arrays, in the order of their words.
    size : int
        Number of words.
    reading : str
        Code for Numba that builds a value from the words at the address `at` (wrappers.py).
    names : dict
        Tuples that this code needs.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.members: list[Member] = []
        self.size = 0
        self.names: dict[str, Any] = {"address": address_of}
        self.reading = self._read(kind, "")
        letters = "".join("d" if member.kind is float else "q" * (1 + member.indices) for member in self.members)
        self._format = struct.Struct(f"={letters}")
        self._flatten = self._function("value", self._flat())
        self._rebuild = self._function("x", self._rebuilt(kind, iter(range(self.size))))

    def _function(self, argument: str, expression: str) -> Callable[[Any], Any]:
        return eval(f"lambda {argument}: {expression}", self.names)  # type: ignore[no-any-return]

    def _read(self, kind: Any, path: str) -> str:
        """Code for Numba that builds a value from the words at `at`; members are found on the way (wrappers.py)."""
        fields = fields_of(kind)
        if fields is not None:
            parts = ", ".join(self._read(item, path + step) for step, item in fields)
            if hasattr(kind, "_fields"):
                self.names[kind.__name__] = kind
                return f"{kind.__name__}({parts})"
            return f"({parts},)"
        array = array_type(kind)
        place = self.size
        if array is not None:
            indices, letter = array
            listed = get_args(kind)[0] if get_origin(kind) is Listed else None
            self.members.append(Member(path, np.ndarray, place, indices, letter, listed))
            self.size += 1 + indices
            shape = ", ".join(f"whole(at, {place + 1 + i})" for i in range(indices))
            view = "rows" if listed else {"d": "numbers", "q": "counters"}[letter]
            return f"{view}(at, {place}, ({shape},))"
        if kind not in (float, int, bool):
            raise TypeError(f"machine code cannot be given a field {path[1:]} of type {kind}")
        self.members.append(Member(path, kind, place))
        self.size += 1
        return {float: f"real(at, {place})", int: f"whole(at, {place})", bool: f"whole(at, {place}) != 0"}[kind]

    def _flat(self) -> str:
        """Code that lists the words of a value."""
        words = []
        for member in self.members:
            value = f"value{member.path}"
            if member.kind is np.ndarray:
                words.append(f"*address({value}, {member.indices}, {member.item!r})")
            else:
                words.append(f"int({value})" if member.kind is bool else value)
        return f"({', '.join(words)},)"

    def _rebuilt(self, kind: Any, places: Any) -> str:
        """Code that builds a value from its words; there is no array in what machine code gives back."""
        fields = fields_of(kind)
        if fields is not None:
            parts = ", ".join(self._rebuilt(item, places) for _, item in fields)
            return f"{kind.__name__}({parts})" if hasattr(kind, "_fields") else f"({parts},)"
        place = next(places)
        return f"x[{place}] != 0" if kind is bool else f"x[{place}]"

    def pack(self, value: Any) -> bytes:
        """Words of a value. Arrays are not copied: they must live as long as the words are used."""
        return self._format.pack(*self._flatten(value))

    def tangent_words(self, value: Any, leaves: Sequence[Array]) -> Array:
        """TANGENTS doubles a word: of a float its tangents, of an array of floats the address of its tangents.

        Of a list it is the address of the words of its items, which lie behind those of the whole.
        """
        lists = {member.place: attrgetter(member.path[1:])(value) for member in self.members if member.listed}
        items = [structure(x.kind).size * len(x) for x in lists.values()]
        words = np.zeros((self.size + sum(items), TANGENTS))
        supply, end = iter(leaves), self.size
        for member in self.members:
            own = words[member.place]
            if member.listed:
                begin, size = end, structure(member.listed).size
                end += size * len(lists[member.place])
                own.view(np.int64)[0] = words[begin:].__array_interface__["data"][0]
                for k in range(len(lists[member.place])):
                    structure(member.listed)._put_tangents(words[begin + k * size :], supply)
            else:
                _put_tangent(member, own, supply)
        assert next(supply, None) is None
        return words

    def _put_tangents(self, words: Array, supply: Iterator[Array]) -> None:
        """Tangents of a value that holds no list."""
        for member in self.members:
            _put_tangent(member, words[member.place], supply)

    def unpack(self, words: Any) -> Any:
        """Value of words that machine code has written."""
        return self._rebuild(self._format.unpack(words))


def _put_tangent(member: Member, word: Array, supply: Iterator[Array]) -> None:
    """Tangents of one number, or the address of those of one array."""
    if member.kind is float:
        word[:] = next(supply)
    elif member.kind is np.ndarray and member.item == "d":
        word.view(np.int64)[0] = address_of(next(supply), member.indices + 1, "d")[0]


def address_of(array: Any, indices: int, item: str) -> tuple[int, ...]:
    """Address and shape of an array that machine code can take."""
    if isinstance(array, Listed):
        array = array.words
    if array.ndim != indices or array.dtype.char not in (item, "l" if item == "q" else item):
        raise TypeError(f"machine code expects an array of {indices} indices, got {array.ndim} of {array.dtype}")
    if not array.flags.c_contiguous:
        raise TypeError("machine code expects an array whose numbers lie one behind the other")
    return (array.__array_interface__["data"][0], *array.shape)


@cache
def structure(kind: Any) -> Structure:
    """Structure of a type, made once."""
    return Structure(kind)
