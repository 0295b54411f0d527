"""How strongly outputs follow parameters in designs that were not made for sensitivities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.studies.analysis.reading import Array, Column, Component, Opened

# The standard error of a rank correlation r is about 1.03 / sqrt(n - 3) in Fisher's variable artanh(r)
# (Fieller, Hartley and Pearson 1957); 1.96 of them hold 95 %.
HALF_WIDTH = 1.96 * 1.03
LEAST = 8
ROUNDING = 1e-12


class Effect(NamedTuple):
    """Effect of one parameter on one output, with an interval of 95 %."""

    key: str
    value: float
    low: float
    high: float


class Swing(NamedTuple):
    """Course of an output along one side of a grid, averaged over the other sides."""

    key: str
    low: float
    high: float
    at_first: float  # with the lowest value of the parameter, or the first word
    at_last: float


def rank_correlations(y: Array, columns: list[Column]) -> list[Effect]:
    """Spearman's correlation; of words, which have no order, its like without a sign from the spread of groups."""
    there = np.isfinite(y)
    found = []
    for column in columns:
        x = column.values[there]
        if there.sum() < LEAST or np.ptp(x) == 0.0 or np.ptp(y[there]) == 0.0:
            found.append(Effect(column.key, np.nan, np.nan, np.nan))
        elif column.words:
            found.append(_of_words(column.key, x.astype(np.int64), _ranks(y[there])))
        else:
            r = float(np.corrcoef(_ranks(x), _ranks(y[there]))[0, 1])
            found.append(_with_interval(column.key, r, len(x)))
    return found


def _ranks(x: Array) -> Array:
    from scipy.stats import rankdata

    return np.asarray(rankdata(x), dtype=np.float64)


def _with_interval(key: str, r: float, count: int) -> Effect:
    if abs(r) >= 1.0 - ROUNDING:  # the ranks agree: artanh has no value there
        return Effect(key, r, r, r)
    z, half = np.arctanh(r), HALF_WIDTH / np.sqrt(count - 3)
    return Effect(key, r, float(np.tanh(z - half)), float(np.tanh(z + half)))


def _of_words(key: str, groups: NDArray[np.int64], ranks: Array) -> Effect:
    """Root of the part of the ranks' variance that lies between groups, less what chance gives (epsilon squared)."""
    sizes = np.bincount(groups)
    means = np.bincount(groups, ranks)[sizes > 0] / sizes[sizes > 0]
    count, kinds = len(ranks), int((sizes > 0).sum())
    between = float(np.sum(sizes[sizes > 0] * (means - ranks.mean()) ** 2))
    total = float(np.sum((ranks - ranks.mean()) ** 2))
    within = (total - between) / max(1, count - kinds)
    r = float(np.sqrt(max(0.0, (between - (kinds - 1) * within) / total)))
    effect = _with_interval(key, r, count)
    return effect._replace(low=max(0.0, effect.low))


def swings(opened: Opened, component: Component) -> list[Swing]:
    """Ranges along the sides of a grid; members without a result are left out of the averages."""
    y = opened.values(component)
    there = np.isfinite(y)
    filled = np.where(there, y, 0.0)
    found = []
    for axis, key in enumerate(opened.keys):
        others = tuple(k for k in range(y.ndim) if k != axis)
        count = there.sum(axis=others)
        order = [k for k in np.argsort(opened.column(key).values, kind="stable") if count[k]]
        mean = filled.sum(axis=others)[order] / count[order]
        if len(mean):
            found.append(Swing(key, float(mean.min()), float(mean.max()), float(mean[0]), float(mean[-1])))
    return found
