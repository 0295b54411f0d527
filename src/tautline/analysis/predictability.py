"""The exponent and the predictability time from growth rates of a distance, however these were found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array

# The shadow needs a while to turn into the direction that grows: this part of the time is not counted.
SETTLING = 0.1
# What counts as known and as lost, relative to the size of the motion.
KNOWN, LOST = 1e-3, 0.1


def settled(intervals: int) -> int:
    """First interval that counts."""
    return min(math.ceil(SETTLING * intervals), intervals - 1)


def estimate(rates: Array) -> Array:
    """Exponents of members (rows) from their growth rates; NaN where the motion ended before anything counted."""
    counted = rates[:, settled(rates.shape[1]) :]
    n = np.isfinite(counted).sum(axis=1)
    total = np.nansum(counted, axis=1)
    mean: Array = np.divide(total, n, out=np.full(len(rates), np.nan), where=n > 0)
    return mean


def standard_error(rates: Array) -> float:
    """Standard error of the mean rate, from the means of blocks, which depend on each other less than neighbors do."""
    blocks = min(10, len(rates) // 2)
    if blocks < 2:
        return math.nan
    means = [float(np.mean(part)) for part in np.array_split(rates, blocks)]
    return float(np.std(means, ddof=1) / math.sqrt(blocks))


def predictability_time(exponent: Any, known: float = KNOWN, lost: float = LOST) -> Any:
    """Time in which an error grows from `known` to `lost` (s); infinite where it does not grow."""
    exponent = np.asarray(exponent, dtype=float)
    time = np.full(exponent.shape, np.inf)
    np.divide(math.log(lost / known), exponent, out=time, where=exponent > 0.0)
    return np.where(np.isnan(exponent), np.nan, time)
