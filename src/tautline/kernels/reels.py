"""Reels of a block of members, worked off one by one: rows of numbers, and the reel's equation of each."""

from __future__ import annotations

from typing import NamedTuple

from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.data import Array, Counters, Parameters
from tautline.kernels.drum import Drum, holding, solve_own_row
from tautline.kernels.entrance import Entrance
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import LANES, either, put, take, zero_like
from tautline.kernels.layout import Layout
from tautline.kernels.members import Members, parameters_of


class ReelStart(NamedTuple):
    """The reel's part of a step, as far as the start of the step knows it."""

    p_s: float  # left-hand side of the reel's equation
    ahead: float  # how far speeds are extrapolated, to start Newton's method (fixed.extrapolation)
    bend: float  # and whether along a parabola
    sigma: float  # given, or extrapolated
    at: Entrance
    drum: Drum


START = Layout(ReelStart)
pack_start, unpack_start = START.pack, START.unpack
# At h = 0 the guide has no part.
NO_ENTRANCE = Entrance(0.0, 0.0)


class Reels(NamedTuple):
    """Reels of a block, in the place of a Command and of a Drum."""

    members: Members
    status: Counters  # (LANES,)
    reel: Array  # (LANES, REEL_SIZE or more)
    starts: Array  # (LANES, START.size): of the present step


@kernel
def hold_reels(reels: Reels) -> None:
    """Prepare rows for a Legendre transform: no forces of the drum, and the speeds given where reels are held."""
    for k in range(LANES):
        drum = holding(reels.reel[k, data.HELD] != data.NOT_HELD)
        pack_start(ReelStart(0.0, 0.0, 0.0, 0.0, NO_ENTRANCE, drum), reels.starts[k])


@kernel
def solve_rows(
    par: Parameters, reels: Reels, at: Entrance, sigma: float, h: float, pivot: float, left: float
) -> tuple[float, float]:
    """Corrections of sigma and impulses (drum.solve_own_row), one member after the other."""
    dsigma = zero_like(sigma)
    impulse = zero_like(sigma)
    for k in range(LANES):
        if reels.status[k] == RUNNING:
            own = parameters_of(reels.members, k)
            start = unpack_start(reels.starts[k])
            x, given = solve_own_row(own, start.drum, start.at, take(sigma, k), h, take(pivot, k), take(left, k))
            dsigma = put(dsigma, k, x)
            impulse = put(impulse, k, given)
    return dsigma, impulse


solve_reel_row = either(solve_own_row, solve_rows)
