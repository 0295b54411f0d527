"""Table of a flow over time and depth."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import Array


def blocks_between(start: float, until: float, block: float) -> tuple[int, int]:
    """Numbers of the first and last block (s) of a table that holds between two times.

    A table that would begin at its start has a block before it: the acceleration there is that of both sides.
    """
    return max(0, math.ceil(start / block) - 1), math.floor(until / block)


class Unsteady(NamedTuple):
    """Velocities over time and depth, beside the steady flow: linear between, held outside."""

    times: Array
    depths: Array
    velocities: Array  # (time, depth, axis)
