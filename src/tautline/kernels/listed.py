"""Lists of tuples that a kernel goes through by number: strings and bodies of an assembly.

Items of a list differ in the sizes of their arrays, so no array can hold them all. What machine code gets is a table
with the words of each item, one row an item (machine/structures.py); `reader` makes the kernel that builds item k of
it. As plain Python a list is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from tautline.arrays import Counters
from tautline.kernels.jit import Kernel

T = TypeVar("T")


class Listed(Generic[T]):
    """A list of NamedTuples of one kind, for kernels.

    Parameters
    ----------
    kind
        The NamedTuple.
    items
        The items. Their arrays are not copied.

    Attributes
    ----------
    kind, items : type, tuple
        As given.
    words : array
        One row an item, as machine code reads it.
    """

    def __init__(self, kind: type[T], items: Sequence[T]) -> None:
        from tautline.kernels.machine.structures import structure

        self.kind, self.items = kind, tuple(items)
        words: Any = structure(kind)  # type: ignore[arg-type]
        rows = [np.frombuffer(words.pack(item), dtype=np.int64) for item in self.items]
        self.words: Counters = np.array(rows).reshape(len(rows), words.size)

    def __getitem__(self, k: int) -> T:
        return self.items[k]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


class Reader(Kernel):
    """Kernel that gives item k of a list."""

    def __init__(self, kind: type) -> None:
        super().__init__(lambda listed, k: listed[k], forceinline=True)
        self._kind = kind

    def _dispatcher(self) -> Any:
        from tautline.kernels.machine.wrappers import reader_of_rows

        return reader_of_rows(self._kind)


def reader(kind: type[T]) -> Callable[[Listed[T], int], T]:
    """Kernel that gives item k of a list of this kind."""
    return Reader(kind)
