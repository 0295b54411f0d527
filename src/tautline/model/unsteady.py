"""Table of a flow over time and depth."""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array


class Unsteady(NamedTuple):
    """Velocities over time and depth, beside the steady flow: linear between, held outside."""

    times: Array
    depths: Array
    velocities: Array  # (time, depth, axis)
