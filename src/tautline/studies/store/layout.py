"""How members are cut into batches: a batch is one chunk of every array, so that two writers never share one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tautline.studies.definition.parameters import Values


class Layout(NamedTuple):
    """Dimensions of the members, and the part of them that a batch takes."""

    shape: tuple[int, ...]
    chunk: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Batches along each dimension."""
        return tuple(-(-n // k) for n, k in zip(self.shape, self.chunk, strict=True))

    @property
    def batches(self) -> int:
        return math.prod(self.counts)

    @property
    def members(self) -> int:
        return math.prod(self.shape)

    def region(self, batch: int) -> tuple[slice, ...]:
        """The place of a batch in the arrays."""
        places = np.unravel_index(batch, self.counts)
        return tuple(
            slice(int(p) * k, min((int(p) + 1) * k, n)) for p, k, n in zip(places, self.chunk, self.shape, strict=True)
        )

    def size(self, batch: int) -> int:
        """Members of a batch."""
        return math.prod(part.stop - part.start for part in self.region(batch))

    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Members of every batch."""
        sides = [np.minimum(k, n - k * np.arange(-(-n // k))) for n, k in zip(self.shape, self.chunk, strict=True)]
        total = np.ones(1, dtype=np.int64)
        for side in sides:
            total = np.multiply.outer(total, side).ravel()
        return total


def cut(shape: tuple[int, ...], most: int) -> Layout:
    """Batches of at most so many members, along the last dimensions first, and of nearly equal size."""
    chunk, room = [1] * len(shape), max(1, most)
    for axis in reversed(range(len(shape))):
        parts = -(-shape[axis] // room)
        chunk[axis] = -(-shape[axis] // parts)
        room //= chunk[axis]
        if parts > 1 or room < 1:
            break
    return Layout(shape, tuple(chunk))


def spread(columns: dict[str, Values], region: tuple[slice, ...]) -> dict[str, Values]:
    """Values of the members in a region: of a grid, every combination of its sides."""
    if len(region) == 1:
        return {key: column[region[0]] for key, column in columns.items()}
    sides = np.meshgrid(*(np.arange(part.start, part.stop) for part in region), indexing="ij")
    return {key: column[side.ravel()] for (key, column), side in zip(columns.items(), sides, strict=True)}
