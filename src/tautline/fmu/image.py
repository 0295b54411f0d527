"""Memory of an instance as an image: structures and arrays of the kernels in words, with places for addresses."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tautline.arrays import Counters
from tautline.kernels.machine.structures import WORD, Member, structure

# Words that arrays are aligned to: a vector of eight numbers.
ALIGNED = 8


def bits(number: float) -> int:
    """Word of a number."""
    found: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return found


def path_in(value: Any, path: str) -> Any:
    """Part of a value at the path of a member."""
    return eval(f"value{path}", {"value": value})


class Image:
    """Words that become the memory of an instance. What was put in once is found again by its address."""

    def __init__(self) -> None:
        self.size = 0
        self.relocations: list[int] = []
        self._parts: list[tuple[int, Counters]] = []
        self._places: dict[tuple[int, int], int] = {}
        self._kept: list[Any] = []  # arrays, so that no other gets the address of one of them

    def _reserve(self, words: int) -> int:
        place = self.size
        self.size += -(-max(words, 1) // ALIGNED) * ALIGNED
        return place

    def array(self, array: Any) -> int:
        """Place of an array, which is copied into the image unless it is there."""
        key = (array.__array_interface__["data"][0], array.nbytes)
        if key not in self._places:
            self._places[key] = self._reserve(array.size)
            self._parts.append((self._places[key], np.ascontiguousarray(array).reshape(-1).view(np.int64)))
            self._kept.append(array)
        return self._places[key]

    def table(self, rows: list[list[int | float]], columns: int) -> int:
        """Place of a new table; floats are numbers, whole numbers are places and counts."""
        words = [bits(x) if isinstance(x, float) else int(x) for row in rows for x in row]
        assert len(words) == columns * len(rows)
        return self.array(np.array(words or [0], dtype=np.int64))

    def structure(self, value: Any, kind: Any) -> int:
        """Place of a value of a type of the kernels."""
        place = self._reserve(structure(kind).size)
        self._put(value, kind, place)
        return place

    def _put(self, value: Any, kind: Any, place: int) -> None:
        words = np.frombuffer(structure(kind).pack(value), dtype=np.int64).copy()
        for member in structure(kind).members:
            if member.kind is np.ndarray:
                words[member.place] = self._pointed(path_in(value, member.path), member)
                self.relocations.append(place + member.place)
        self._parts.append((place, words))

    def _pointed(self, value: Any, member: Member) -> int:
        """Place of an array, or of the table of a list."""
        if member.listed is None:
            return self.array(value)
        size = structure(member.listed).size
        place = self._reserve(size * len(value))
        for k, item in enumerate(value):
            self._put(item, member.listed, place + k * size)
        return place

    def words(self) -> Counters:
        """The whole image."""
        found = np.zeros(self.size, dtype=np.int64)
        for place, words in self._parts:
            found[place : place + len(words)] = words
        return found


def place_in(kind: Any, path: str) -> int:
    """Place of a member among the words of a type."""
    return next(member.place for member in structure(kind).members if member.path == path)


def item_place(words: Counters, at: int, kind: Any, path: str, k: int) -> int:
    """Place of item k of a list of a value that lies at a place of an image."""
    member = next(member for member in structure(kind).members if member.path == path)
    return int(words[at + member.place]) + k * structure(member.listed).size


assert np.dtype(np.int64).itemsize == WORD
