"""Samples of a run: those that are kept for its result, and a look at the health of all of them."""

from __future__ import annotations

import copy
import itertools

import numpy as np

from tautline.engine.health import MOST_WAITING, Health
from tautline.kernels import data
from tautline.model.chain.chain import Chain


class Recorder:
    """Keeps samples, and lets `health` see every one of them once.

    Parameters
    ----------
    pendulum : Chain
    order : int
        Of the method.
    """

    def __init__(self, pendulum: Chain, order: int) -> None:
        self.health = Health()
        self.times: list[data.Array] = []
        self.pieces: list[data.Samples] = []
        self._pendulum, self._order = pendulum, order
        self._waiting: list[tuple[data.Array, data.Samples, bool]] = []  # samples that `health` has still to see
        self._rows_waiting = 0

    def keep(self, times: data.Array, samples: data.Samples) -> None:
        """Add samples to the record."""
        self.times.append(times)
        self.pieces.append(samples)

    def forget(self) -> None:
        """Drop the record; what `health` has seen stays."""
        self.times.clear()
        self.pieces.clear()

    def all_samples(self) -> tuple[data.Array, data.Samples]:
        """Times and samples of the record in one piece each."""
        scalars, nodes = (np.concatenate(arrays) for arrays in zip(*self.pieces, strict=True))
        return np.concatenate(self.times), data.Samples(scalars, nodes)

    def watch(self, times: data.Array, samples: data.Samples, free: bool) -> None:
        """Let samples wait for a look at their health, and look when there are many; `free`: forces move the reel."""
        if len(times) == 1:  # it is written over by the next one
            samples = data.Samples(samples.scalars.copy(), samples.nodes.copy())
        self._waiting.append((times, samples, free))
        self._rows_waiting += len(times)
        if self._rows_waiting >= MOST_WAITING:
            self.look()

    def look(self) -> None:
        """Let `health` see what is waiting: pieces that were marched under one kind of command together."""
        for free, group in itertools.groupby(self._waiting, key=lambda waiting: waiting[2]):
            times, pieces = zip(*((t, s) for t, s, _ in group), strict=True)
            samples = data.Samples(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
            self.health.update(self._pendulum, np.concatenate(times), samples, self._order, free)
        self._waiting.clear()
        self._rows_waiting = 0

    def twin(self) -> Recorder:
        """An independent recorder of the same history, with nothing kept."""
        other = copy.copy(self)
        other.health = copy.deepcopy(self.health)
        other._waiting = list(self._waiting)
        other.times, other.pieces = [], []
        return other
