"""Samples of a run: those that are kept for its result, and those that wait for a look at their health."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tautline.kernels import data
from tautline.results.values import Values

# Rows that wait to be looked at, because one by one they would cost a control loop more than the motion does.
MOST_WAITING = 2000


class Recorder:
    """Keeps samples, which are tuples of arrays with one row a moment, and lets everyone be seen once."""

    def __init__(self) -> None:
        self.times: list[data.Array] = []
        self.pieces: list[Any] = []
        self.earlier: Values | None = None  # variables that another backend recorded before
        self._waiting: list[tuple[data.Array, Any, Any]] = []
        self._rows_waiting = 0

    def keep(self, times: data.Array, samples: Any) -> None:
        """Add samples to the record."""
        self.times.append(times)
        self.pieces.append(samples)

    def forget(self) -> None:
        """Drop the record; what waits to be seen goes on waiting."""
        self.times.clear()
        self.pieces.clear()

    def all_samples(self) -> tuple[data.Array, Any]:
        """Times and samples of the record in one piece each."""
        return np.concatenate(self.times), joined(self.pieces)

    def watch(self, times: data.Array, samples: Any, kind: Any) -> bool:
        """Let samples that were marched under a kind of command wait; whether many do."""
        self._waiting.append((times, samples, kind))
        self._rows_waiting += len(times)
        return self._rows_waiting >= MOST_WAITING

    def waiting(self) -> Iterator[tuple[data.Array, Any, Any]]:
        """Samples that nobody has seen, those that were marched under one kind of command together."""
        waiting, self._waiting, self._rows_waiting = self._waiting, [], 0
        for kind, group in itertools.groupby(waiting, key=lambda piece: piece[2]):
            times, pieces = zip(*((t, x) for t, x, _ in group), strict=True)
            yield np.concatenate(times), joined(pieces), kind


def copied(samples: Any) -> Any:
    """Samples in arrays of their own."""
    return type(samples)(*(x.copy() for x in samples))


def joined(pieces: Any) -> Any:
    """Samples one after the other, in arrays of their own."""
    return type(pieces[0])(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
