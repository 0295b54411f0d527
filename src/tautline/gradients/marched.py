"""Samples of a march with tangents, and tangents as its kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from tautline.arrays import Array
from tautline.kernels.balance import note_balance
from tautline.kernels.tangents import TANGENTS

T = TypeVar("T", bound=tuple[Any, ...])


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


def widened(tangents: list[Array]) -> list[Array]:
    """Copies with as many directions as the kernels carry; the last ones are zero."""
    more = TANGENTS - tangents[0].shape[-1]
    return [np.concatenate([t, np.zeros((*t.shape[:-1], more))], axis=-1) for t in tangents]


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
