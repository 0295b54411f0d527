"""Table of a flow over time and depth, and how one without end is made in blocks of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array

# Intervals that are tabulated together: whoever asks for them, the numbers are the same.
INTERVALS_A_BLOCK = 64


class Unsteady(NamedTuple):
    """Velocities over time and depth, beside the steady flow: linear between, held outside."""

    times: Array
    depths: Array
    velocities: Array  # (time, depth, axis)


def in_blocks(interval: float, start: float, until: float, block: Callable[[int], Array]) -> tuple[Array, Array]:
    """Times and values of a table between two times at least; `block` has the values of a block, its end included."""
    first, last = (math.floor(t / (INTERVALS_A_BLOCK * interval)) for t in (start, until))
    blocks = [block(number) for number in range(first, last + 1)]
    steps = np.arange(INTERVALS_A_BLOCK * first, INTERVALS_A_BLOCK * (last + 1) + 1, dtype=np.float64)
    return interval * steps, np.concatenate([*(x[:-1] for x in blocks), blocks[-1][-1:]])


def steps_of_block(number: int) -> Array:
    """Intervals that pass before each value of a block."""
    return np.asarray(INTERVALS_A_BLOCK * number + np.arange(INTERVALS_A_BLOCK + 1, dtype=np.float64))


def end_of_block(interval: float, until: float) -> float:
    """End of the block that a time is in (s)."""
    block = INTERVALS_A_BLOCK * interval
    return (math.floor(until / block) + 1) * block
