"""Directions in the space of keys, along which derivatives are taken.

Keys may have no derivative by themselves and have one together: an entry of a table that leaves the sample it lies on,
and a duration with which all entries and samples move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.keys import key_sizes, key_value
from tautline.model.system.case import Case


class Directions(NamedTuple):
    """Directions in the space of keys.

    Attributes
    ----------
    keys : tuple of str
        m keys.
    by : array (m, d)
        Changes of the keys' values along each direction.
    sizes : array (d,)
        How far a change is that may be expected to make a difference.
    names : tuple of str
        For errors.
    """

    keys: tuple[str, ...]
    by: Array
    sizes: Array
    names: tuple[str, ...]

    @classmethod
    def single(cls, case: Case, names: Sequence[str]) -> Directions:
        """Each key by itself."""
        return cls(tuple(names), np.eye(len(names)), key_sizes(case, names), tuple(names))

    def some(self, places: Sequence[int]) -> Directions:
        """Some of the directions, and the keys that change along these."""
        by, names = self.by[:, places], tuple(self.names[j] for j in places)
        rows = np.flatnonzero(by.any(axis=1))
        return Directions(tuple(self.keys[k] for k in rows), by[rows], self.sizes[places], names)

    def changes(self, case: Case, distances: Array) -> dict[str, float]:
        """Values by key at distances along all directions."""
        moved = zip(self.keys, (self.by @ distances).tolist(), strict=True)
        return {name: key_value(case, name) + x for name, x in moved if x}

    def by_section(self, case: Case) -> list[list[int]]:
        """Numbers of the directions along which keys of the same sections change."""
        found: dict[frozenset[tuple[str, ...]], list[int]] = {}
        paths = [case.key(name).path for name in self.keys]
        for j, moved in enumerate(self.by.T != 0.0):
            found.setdefault(frozenset(path for path, x in zip(paths, moved, strict=True) if x), []).append(j)
        return [*found.values()]
