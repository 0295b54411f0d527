"""Samples of a march with tangents, and tangents as its kernels take them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tautline.arrays import Array
from tautline.kernels.balance import note_balance
from tautline.kernels.tangents import TANGENTS

T = TypeVar("T", bound=tuple[Any, ...])
R = TypeVar("R")


class Marched(NamedTuple):
    """Samples of a march, and their derivatives as arrays with one more, last, dimension."""

    samples: Any  # Samples, or WholeSamples of a network
    tangents: Any
    status: int
    filled: int
    strand: int = -1  # of a network: at whose end it ended


class Span(NamedTuple):
    """Samples under the same commands, with derivatives."""

    setting: Any  # carries derivatives, as the samples do
    counts: Array  # steps up to each sample
    samples: Any


def in_parts(
    tangents: Sequence[Array], act: Callable[[list[Array], int], R], kept: Sequence[int] | None = None
) -> list[R]:
    """Let kernels act on tangents, along as many directions at a time as they carry.

    Parameters
    ----------
    tangents : list of array
        Some of them, by default all, are what the kernels made of them afterwards.
    act : callable
        Of tangents with `TANGENTS` directions, of which so many are asked for; the others are zero.
    kept : list of int, optional
        Numbers of those that are changed.
    """
    k = tangents[0].shape[-1]
    shapes = [(*t.shape[:-1], TANGENTS) for t in tangents]
    ends = np.cumsum([math.prod(t.shape[:-1]) for t in tangents]).tolist()
    rows = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
    whole = np.concatenate([t.reshape(part.stop - part.start, k) for t, part in zip(tangents, rows, strict=True)])
    found = []
    for first in range(0, max(k, 1), TANGENTS):
        some = whole[:, first : first + TANGENTS]
        wide = np.zeros((len(whole), TANGENTS))
        wide[:, : some.shape[1]] = some
        parts = [wide[part].reshape(shape) for part, shape in zip(rows, shapes, strict=True)]
        found.append(act(parts, some.shape[1]))
        some[...] = wide[:, : some.shape[1]]
    for i in range(len(tangents)) if kept is None else kept:
        tangents[i][...] = whole[rows[i]].reshape(tangents[i].shape)
    return found


def samples_with_tangents(samples: T, found: list[Array], directions: int, filled: int) -> T:
    """Derivatives of samples along the first directions; NaN of rows that were not filled."""
    derivatives = type(samples)(*(x[..., :directions] for x in found))
    for x in derivatives:
        x[filled:] = np.nan
    return derivatives


def note_balances(totals: Array, rows: Array) -> None:
    """Let the energy in play take note of samples in turn, which marches with tangents leave out."""
    for x in rows:
        note_balance(totals, x)
