"""Lists of tuples that a kernel goes through by number: strings and bodies of a network.

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
    """

    def __init__(self, kind: type[T], items: Sequence[T]) -> None:
        self.kind, self.items = kind, tuple(items)
        self._words: Counters | None = None

    @property
    def words(self) -> Counters:
        """One row an item, as machine code reads it: with addresses of the arrays."""
        if self._words is None:
            from tautline.kernels.machine.structures import structure

            words: Any = structure(self.kind)  # type: ignore[arg-type]
            rows = [np.frombuffer(words.pack(item), dtype=np.int64) for item in self.items]
            self._words = np.array(rows).reshape(len(rows), words.size)
        return self._words

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy makes words of its own, since the arrays of its items are elsewhere."""
        return Listed, (self.kind, self.items)

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
