"""Stages of members in lanes, as far as they differ: reels one by one, fused passes, and members that leave."""

from __future__ import annotations

import math
from typing import Any

from tautline.errors import RUNNING
from tautline.kernels.data import Array, Parameters
from tautline.kernels.fused import kick_and_eliminate, no_drift, substitute_and_drift
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import LANES, put, some, take, zero_like
from tautline.kernels.members import Clocks, command_of, count_iterations, leave_where, parameters_of
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import ReelImpulses, reel_after, reel_before
from tautline.kernels.reels import NO_ENTRANCE, Reels, ReelStart, pack_start, unpack_start
from tautline.kernels.stage import make_fixed_step, make_reeling_step


@kernel
def failed(clock: Clocks, condition: bool) -> bool:
    """False, since a block goes on; members for which the condition holds leave it."""
    if some(condition):
        leave_where(clock, condition)
    return False


@kernel
def diverged(clock: Clocks, x: float, y: float) -> bool:
    """False, since a block goes on; members of which one of two numbers is not finite leave it."""
    size = abs(x) + abs(y)
    return failed(clock, (size == math.inf) | (size != size))


@kernel
def reels_before(
    par: Parameters, reels: Reels, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Starts of a step, one member after the other: into rows of `reels`, which stand for entrances and drums."""
    p_s = zero_like(strain)
    ahead = zero_like(strain)
    bend = zero_like(strain)
    sigma = zero_like(strain)
    for k in range(LANES):
        if reels.status[k] == RUNNING:
            own = parameters_of(reels.members, k)
            command = command_of(reels.members, k)
            given = (take(strain, k), take(force, k), h, take(start, k), take(end, k))
            before = reel_before(own, command, reels.reel[k], *given)
            pack_start(before, reels.starts[k])
            p_s = put(p_s, k, before.p_s)
            ahead = put(ahead, k, before.ahead)
            bend = put(bend, k, before.bend)
            sigma = put(sigma, k, before.sigma)
    rows: Any = reels
    return ReelStart(p_s, ahead, bend, sigma, NO_ENTRANCE, rows)


@kernel
def reels_after(
    par: Parameters,
    reels: Reels,
    reel: Array,
    before: ReelStart,
    h: float,
    end: float,
    rates: Rates,
    pushes: ReelImpulses,
) -> None:
    """Impulses, work and loss of a step, one member after the other."""
    for k in range(LANES):
        if reels.status[k] == RUNNING:
            own = parameters_of(reels.members, k)
            command = command_of(reels.members, k)
            start = unpack_start(reels.starts[k])
            reel_after(own, command, reels.reel[k], start, h, take(end, k), take(rates, k), take(pushes, k))


_, fixed_base_step = make_fixed_step(kick_and_eliminate, substitute_and_drift, no_drift, diverged, failed)
_, composed_step = make_reeling_step(reels_before, reels_after, diverged, failed, count_iterations)
