"""Ropes that may slip on their wheels: capstan friction in the groove, which sticks or slips (docs/theory.md, "Slip").

The rope at a sheave and the wheel are two feeds. Between them the groove gives any impulse within its cone while they
move alike, and that of the side to which they slip otherwise, as dry friction does with a drum.
"""

from __future__ import annotations

import math

from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate
from tautline.kernels.drum import solve_own_row
from tautline.kernels.guide import LAST_CORRECTION, MAX_ITERATIONS
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Network, Strand, strand_at
from tautline.kernels.network.friction import NO_FRICTION, Rub, put_rub, rub_at, rub_in, solve_resisted_row
from tautline.kernels.reels import unpack_start

NO_RUB = Rub(0.0, 0.0, 0.0, 0.0)


@kernel
def cone(rub: Rub, alpha: float) -> tuple[float, float]:
    """Forces on the rope between which it sticks, towards the end of the line and towards its start."""
    to_end = rub.forward - rub.forward_mass * alpha * alpha
    to_start = rub.backward - rub.backward_mass * alpha * alpha
    return -max(to_end, 0.0), max(to_start, 0.0)


@kernel
def put_grip(strand: Strand, rub: Rub, low: float, high: float) -> None:
    """Put what the groove can give in a step: within its cone, and impulses beside that."""
    put_rub(strand.work, net.GRIP_RUB, rub)
    strand.work[net.GRIP_BESIDE], strand.work[net.GRIP_BESIDE + 1] = low, high


@separate
def begin_grip(network: Network, k: int) -> None:
    """At the start of a step: the cone, and what a groove that stuck did not give at the end of the step before."""
    strand = strand_at(network.strands, k)
    rub = rub_at(network, k, strand.reeving.groove)
    put_grip(strand, rub, strand.reel[net.GRIP_LOW], strand.reel[net.GRIP_HIGH])


@kernel
def hold_grip(strand: Strand) -> None:
    """Without a step: a rope that sticks goes along with its wheel, and one that slips by itself."""
    stuck = strand.reel[net.GRIPS] != 0.0
    put_grip(strand, NO_RUB, -math.inf if stuck else 0.0, math.inf if stuck else 0.0)


@separate
def keep_grip(network: Network, k: int, alpha: float, beta: float, h: float) -> None:
    """For a time h, which may be negative: what sticks goes on sticking, and what slips to be rubbed as it is now."""
    strand = strand_at(network.strands, k)
    hold_grip(strand)
    if strand.reel[net.GRIPS] == 0.0:
        rub = rub_at(network, k, strand.reeving.groove)
        low, high = cone(rub, alpha)
        if alpha == beta:
            put_grip(strand, rub, 0.0, 0.0)
        elif alpha > beta:
            put_grip(strand, NO_RUB, h * low, h * low)
        else:
            put_grip(strand, NO_RUB, h * high, h * high)


@kernel
def solve_feed(network: Network, strand: Strand, h: float, pivot: float, left: float) -> tuple[float, float]:
    """Correction of the speed of a feed, all else eliminated, and the impulse of what leads, holds or rubs it."""
    start = unpack_start(strand.work[net.START_ROW :])
    if strand.reeving.friction.law != NO_FRICTION or strand.reeving.shared:
        return solve_resisted_row(network, strand, start, h, pivot, left)
    return solve_own_row(strand.reeving.par, start.drum, start.at, strand.work[net.SIGMA_NOW], h, pivot, left)


@separate
def solve_gripped(
    network: Network,
    strand: Strand,
    h: float,
    own: tuple[float, float],
    other: tuple[float, float],
    left: float,
    left_wheel: float,
) -> tuple[float, float]:
    """Corrections of the speeds of a rope and of its wheel, all else eliminated.

    `own` are the coefficients of the rope's row, by itself and by the wheel, `other` those of the wheel's, by the rope
    and by itself. They stick if the impulse that this takes lies within the cone.
    """
    wheel = strand_at(network.strands, strand.reeving.wheel)
    work = strand.work
    alpha = work[net.SIGMA_NOW]
    gap = wheel.work[net.SIGMA_NOW] - alpha
    turn, impulse = 0.0 * gap, 0.0 * gap
    if wheel.row >= 0:
        pivot = own[0] + own[1] + other[0] + other[1]
        turn, impulse = solve_feed(network, wheel, h, pivot, left + left_wheel - (own[0] + other[0]) * gap)
    x = turn + gap
    needed = own[0] * x + own[1] * turn - left
    work[net.GRIP_NEEDED] = needed
    rub = rub_in(work, net.GRIP_RUB)
    side = 0.0
    for _ in range(MAX_ITERATIONS):
        low, high = cone(rub, alpha + x)
        low, high = work[net.GRIP_BESIDE] + h * low, work[net.GRIP_BESIDE + 1] + h * high
        low, high = min(low, high), max(low, high)  # stages of inverse dynamics go back in time
        if low <= needed <= high and (side == 0.0 or low == high):
            side = 0.0
            work[net.GRIP_NOW] = needed
            break
        before = x
        if side == 0.0:
            side = 1.0 if needed > high else -1.0
        given = high if side > 0.0 else low
        if wheel.row >= 0:
            by_rope = other[0] / own[0]
            turn, impulse = solve_feed(
                network, wheel, h, other[1] - by_rope * own[1], left_wheel - given - by_rope * (left + given)
            )
        x = (left + given - own[1] * turn) / own[0]
        work[net.GRIP_NOW] = given
        if abs(x - before) <= LAST_CORRECTION * abs(alpha + x):
            break
    work[net.GRIP_SIDE] = side
    work[net.IMPULSE_NOW] = 0.0 * gap
    wheel.work[net.IMPULSE_NOW] = impulse
    return x, turn


@separate
def end_grip(network: Network, k: int, h: float, end: float) -> None:
    """At the end of a step: impulses of the groove on rope and wheel, and what slipping lost.

    Where slip ends within the step, by its rates or since the groove grips so much harder there than at the start, the
    rope counts as one that sticks: the next step gives what it takes.
    """
    strand = strand_at(network.strands, k)
    wheel = strand_at(network.strands, strand.reeving.wheel)
    reel, par = strand.reel, strand.reeving.par
    given, side = strand.work[net.GRIP_NOW], strand.work[net.GRIP_SIDE]
    speed = strand.work[net.SIGMA_NOW] - wheel.work[net.SIGMA_NOW]
    before = reel[data.SIGMA_BEFORE] - wheel.reel[data.SIGMA_BEFORE]
    low, high = cone(rub_at(network, k, strand.reeving.groove), strand.work[net.SIGMA_NOW])
    at_end, boundary, sticks = 0.0 * given, given, side == 0.0
    if side != 0.0:
        at_end = 0.5 * h * (high if side > 0.0 else low)
        boundary = reel[net.GRIP_HIGH] if side > 0.0 else reel[net.GRIP_LOW]
        jumps = abs(at_end - (given - boundary)) > abs(given - strand.work[net.GRIP_NEEDED])
        turns = (1.5 * speed - 0.5 * before) * speed < 0.0
        if jumps or turns:
            at_end, sticks = 0.0 * given, True
    # what acts across the step boundary works at the mean of their speeds
    book(par, reel, data.FRICTION_LOSS, -(given + at_end - boundary) * speed - 0.5 * boundary * (before + speed))
    accumulate(reel, data.P_S, data.P_S_ERR, given + at_end, par.compensated)
    if wheel.row >= 0:
        accumulate(wheel.reel, data.P_S, data.P_S_ERR, -(given + at_end), par.compensated)
    reel[net.GRIPS] = 1.0 if sticks else 0.0
    reel[net.GRIP_LOW] = 0.5 * h * low if sticks else 0.0 * low
    reel[net.GRIP_HIGH] = 0.5 * h * high if sticks else 0.0 * high
    if side != 0.0:
        if reel[net.SLIPPED] == 0.0:
            reel[net.SLIP_TIME] = end
        reel[net.SLIPPED] += abs(h * speed)
