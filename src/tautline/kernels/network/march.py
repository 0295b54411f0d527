"""Many steps of a network: samples, limits of the step, events at the ends of strings, repeated intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import Array2
from tautline.errors import (
    FULLY_DEPLOYED,
    FULLY_RETRIEVED,
    INTERRUPTED,
    NEWTON_FAILED,
    NON_FINITE,
    REEL_OUTRUNS_WAVES,
    RUNNING,
    TWO_BLOCKED,
    UNSTABLE_STEP,
)
from tautline.kernels import data
from tautline.kernels.balance import balance_jump, balance_tolerance, note_balance
from tautline.kernels.data import Array, Plan, _places
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.limits import Limits
from tautline.kernels.network import data as net
from tautline.kernels.network.backup import copy_motion, put_motion
from tautline.kernels.network.begin import begin_network, release_reels, stop_at_end
from tautline.kernels.network.data import Network, Strand, WholeSamples, strand_at
from tautline.kernels.network.feeds import feed_row
from tautline.kernels.network.inverse import any_torque, find_torques
from tautline.kernels.network.limits import guard, limits_now
from tautline.kernels.network.loads import act_at_boundary, keep_for_loads
from tautline.kernels.network.observe import observe_network, refresh_network
from tautline.kernels.network.spans import retracted
from tautline.kernels.network.starting import start_in_fluid
from tautline.kernels.network.step import composed_step
from tautline.kernels.repeating import (
    END_TOLERANCE,
    IMPROVEMENT,
    MOST_EXTRA,
    MOST_SECANTS,
    MOST_TRIALS,
    ROOM_TO_SPARE,
)

# Rows of the backups: motions at the latest sample, before a step that may meet an event, and where loads begin to act.
AT_SAMPLE, BEFORE_STEP, AT_START = range(3)


class NetworkMarched(NamedTuple):
    """How far a march came."""

    status: int  # RUNNING, or why it ended before
    rows: int  # of the samples that were filled
    strand: int  # at whose end it ended, or -1


@kernel
def retrieved_beyond(strand: Strand) -> float:
    """How far a string is shorter than the shortest that it may be."""
    if strand.reeving.idle:
        return -math.inf
    return float(retracted(strand) - (strand.par.L - strand.shortest))


@kernel
def beyond_end(strand: Strand) -> float:
    """How far a reel is beyond the nearer end of its string, or a span too short; negative before it."""
    deployed = strand.par.b - strand.reel[data.S] if strand.has_reel or not strand.reeved else -math.inf
    return float(max(retrieved_beyond(strand), deployed))


@kernel
def changes_length(network: Network, strand: Strand) -> bool:
    """Whether rope can come or go at an end of a string."""
    if strand.reeved:
        return feed_row(network, strand, 0) >= 0 or feed_row(network, strand, 1) >= 0
    return bool(strand.row >= 0)


@kernel
def nearest_end(network: Network) -> float:
    """How far a reel that approaches the end of its string is beyond it, at most, over the string's length."""
    beyond = -math.inf
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if changes_length(network, strand) and strand.work[net.APPROACHES] != 0.0:
            beyond = max(beyond, beyond_end(strand) / strand.par.L)
    return beyond


@kernel
def is_retrieved(strand: Strand) -> bool:
    """Whether the nearer end of a string is the one of a retrieval."""
    return bool(retrieved_beyond(strand) >= beyond_end(strand))


@kernel
def status_at_end(network: Network, strand: Strand) -> int:
    """Status of a run that ends at the nearer end of a string."""
    if not is_retrieved(strand):
        return FULLY_DEPLOYED
    stop = strand.reeving.feeds[1]
    beside = strand.reeving.sheave or (stop >= 0 and strand_at(network.strands, stop).reeving.sheave)
    return TWO_BLOCKED if beside else FULLY_RETRIEVED


@kernel
def event_at_end(network: Network) -> tuple[int, int]:
    """Whether a reel is at the end of its string or beyond: the status, and which string, or -1."""
    beyond, which = -math.inf, -1
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if changes_length(network, strand):
            x = beyond_end(strand) / strand.par.L
            if x > beyond:
                beyond, which = x, k
    if which < 0 or beyond < 0.0:
        return RUNNING, -1
    return status_at_end(network, strand_at(network.strands, which)), which


@separate
def hold_at_ends(network: Network, t: float) -> tuple[int, int]:
    """Put reels that run into the ends of their strings on the stops there; status, and which string ends the run.

    Those with prescribed motions end it, and so do spans that become too short and drums that share a shaft.
    """
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if changes_length(network, strand) and beyond_end(strand) >= 0.0:
            retrieved = is_retrieved(strand)
            held = strand.row >= 0 and not (strand.reeved and retrieved)
            if strand.command.kind == data.BY_PROFILE or not held:
                return status_at_end(network, strand), k
            side = 1.0 if retrieved else -1.0
            if side * strand.reel[data.SIGMA] > 0.0:
                stop_at_end(network, k, side, t)
    return RUNNING, -1


@kernel
def length_rate(reel: Array, h: float) -> float:
    """Speed that a reel may reach within a step, generously."""
    change = abs(reel[data.SIGMA] - reel[data.SIGMA_BEFORE])
    if reel[data.H_LAST] != 0.0:
        change *= abs(h / reel[data.H_LAST])
    return abs(reel[data.SIGMA]) + change  # type: ignore[no-any-return]


@kernel
def may_reach_end(network: Network, h: float) -> bool:
    """Whether a step could bring a reel to the end of its string; generous, since speeds change in the step.

    Notes which reels are before the end: those on a stop, or just coming away from it, are not.
    """
    near = False
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if changes_length(network, strand):
            distance = -beyond_end(strand)
            speed = 0.0
            if strand.reeved:
                for f in range(2):
                    m = strand.reeving.feeds[f]
                    if m >= 0:
                        rate = length_rate(strand_at(network.strands, m).reel, h)
                        speed += abs(strand.reeving.factors[f]) * rate
            else:
                speed = length_rate(strand.reel, h)
            near = near or 0.0 < distance < 4.0 * speed * h + 100.0 * END_TOLERANCE * strand.par.L
            strand.work[net.APPROACHES] = 1.0 if distance > 0.0 else 0.0
    return near


@inlined
def one_step(network: Network, plan: Plan, backup: Array, t: float, h: float, end: float) -> int:
    """A step of length h from time t to `end`, with loads where it joins the step before."""
    back = network.totals[data.LOADS_PENDING]
    if network.loaded:
        if back == 0.0 and network.in_fluid:
            start_in_fluid(network, backup, t, 0.5 * h)
        else:
            act_at_boundary(network, t, 0.5 * h)
    status = composed_step(network, plan, t, h, end)
    if network.loaded and status == RUNNING:
        keep_for_loads(network, back)
    return status


@inlined
def step_to_event(network: Network, plan: Plan, backups: Array2, t: float, h: float, end: float) -> tuple[int, int]:
    """From t to `end`, h later, or up to where a reel ends the run at the end of its string; status, which string.

    A reel that is held at its end divides the step there.
    """
    backup = backups[BEFORE_STEP]
    status, which = RUNNING, -1
    left = h
    while left > 0.0 and status == RUNNING:
        begun = t + (h - left)
        near = may_reach_end(network, left)
        low, high, trial = 0.0, left, left
        at_low, at_high = 0.0, 0.0
        if near:
            copy_motion(network, backup)
            at_low = nearest_end(network)
        for trials in range(MOST_TRIALS):
            status = one_step(network, plan, backups[AT_START], begun, trial, end if trial == left else begun + trial)
            if not near or status != RUNNING:
                break
            beyond = nearest_end(network)
            if 0.0 <= beyond <= END_TOLERANCE or (beyond < 0.0 and trial == left) or trials == MOST_TRIALS - 1:
                break
            if beyond < 0.0:
                low, at_low = trial, beyond
            else:
                high, at_high = trial, beyond
            trial = low + (high - low) * (0.5 * END_TOLERANCE - at_low) / (at_high - at_low)
            if trials >= MOST_SECANTS or not low < trial < high:
                trial = 0.5 * (low + high)
            put_motion(network, backup)
            refresh_network(network, begun)
        reached = begun + trial
        left = left - trial if trial < left else 0.0
        if status == RUNNING:
            status, which = hold_at_ends(network, reached) if plan.hold else event_at_end(network)
            if status != RUNNING:
                network.totals[data.STOP_TIME] = reached
    return status, which


@separate
def sample_network(network: Network, out: WholeSamples, row: int, t: float, backups: Array2) -> bool:
    """Write the present state into row `row` of the samples; whether velocities were found. The motion stays.

    `backups` has two rows to work in.
    """
    found = observe_network(network, out, row, t)
    if any_torque(network):
        find_torques(network, t, backups, out, row)
    return found


@inlined
def march_interval(network: Network, plan: Plan, backups: Array2, pulse: int, left: int) -> tuple[int, int, int]:
    """All base steps of one sample interval; a status, which string, and the steps until the next question."""
    status, which = RUNNING, -1
    count = 0
    while count < plan.steps_per_sample and status == RUNNING:
        t = network.totals[data.T_START] + network.clock[data.STEP] * plan.h
        following = network.totals[data.T_START] + (network.clock[data.STEP] + 1) * plan.h
        status = guard(network, plan, t)
        parts = 1 << network.clock[data.LEVEL]
        h = plan.h / parts
        part = 0
        while part < parts and status == RUNNING:
            # times come from counters, not from sums: a resumed run sees the same ones
            end = t + (part + 1) * h if part + 1 < parts else following
            status, which = step_to_event(network, plan, backups, t + part * h, h, end)
            part += 1
            left = steps_left(pulse, left, 1)
            if status == RUNNING and must_stop(pulse, left):
                status = INTERRUPTED
        if status == RUNNING:
            network.clock[data.STEP] += 1
            network.clock[data.TOTAL] += parts
        count += 1
    return status, which, left


@separate
def march_rows(network: Network, plan: Plan, backups: Array2, out: WholeSamples, pulse: int) -> NetworkMarched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps.

    As `march` does for a pendulum: an adaptive march repeats a sample interval that failed, or in which the balance of
    energy did not close, with steps of half the length, and one that is stopped leaves the motion at the latest row.
    """
    totals = network.totals
    refresh_network(network, totals[data.T_START] + network.clock[data.STEP] * plan.h)
    left = FIRST_QUESTION
    for row in range(out.whole.shape[0]):
        if plan.adaptive or pulse != 0:
            copy_motion(network, backups[AT_SAMPLE])
        extra = network.clock[data.EXTRA]
        before = math.inf
        while True:
            status, which, left = march_interval(network, plan, backups, pulse, left)
            jump = math.inf
            failed = status in (NEWTON_FAILED, NON_FINITE, REEL_OUTRUNS_WAVES, UNSTABLE_STEP)
            if status == RUNNING:
                t = totals[data.T_START] + network.clock[data.STEP] * plan.h
                if not sample_network(network, out, row, t, backups[BEFORE_STEP:]):
                    status = NON_FINITE
                jump = balance_jump(totals, out.whole[row])
                failed = not jump <= balance_tolerance(totals, out.whole[row])
            if not (plan.adaptive and failed) or extra >= MOST_EXTRA:
                break
            if status == RUNNING and not jump < IMPROVEMENT * before:
                extra = max(0, extra - 1)  # finer steps are of no use
                break
            before = jump
            extra += 1
            put_motion(network, backups[AT_SAMPLE])
            network.clock[data.EXTRA] = extra
            refresh_network(network, totals[data.T_START] + network.clock[data.STEP] * plan.h)
        if status == INTERRUPTED:
            put_motion(network, backups[AT_SAMPLE])
            refresh_network(network, totals[data.T_START] + network.clock[data.STEP] * plan.h)
        if status != RUNNING:
            return NetworkMarched(status, row, which)
        if jump < ROOM_TO_SPARE * balance_tolerance(totals, out.whole[row]):
            extra = max(0, extra - 1)
        network.clock[data.EXTRA] = extra
        note_balance(totals, out.whole[row])
    return NetworkMarched(RUNNING, out.whole.shape[0], -1)


FIRST_ROW = _places(0)[0]
# What a network is asked to do.
MARCH, BEGIN, OBSERVE, RELEASE, SAVE, RESTORE, LIMITS = range(7)


class Done(NamedTuple):
    """Outcome of a call."""

    status: int  # RUNNING, or why a march ended before
    rows: int  # of the samples that were filled
    strand: int  # at whose end a march ended, or -1
    limits: Limits  # of the present motion, where they were asked for


@entry
def march_network(
    network: Network, plan: Plan, backups: Array2, out: WholeSamples, action: int, t: float, pulse: int = 0
) -> Done:
    """All that is done with a network, in one C function, since most of its machine code serves every action.

    0 fills all rows of `out`, one every plan.steps_per_sample steps; 1 turns velocities of the states into momenta at
    time t; 2 writes the present state into row 0 of `out`, with two rows of `backups` to work in; 3 gives all reels
    the momentum of their speed, however they were held; 4 copies all that a step leaves to the next one into row 0 of
    `backups`, 5 puts it back; 6 gives the limits of the step. While rows are filled, the function at the address
    `pulse`, if there is one, is asked now and then whether to go on (interrupts.py).
    """
    limits = Limits(math.inf, math.inf, math.inf, math.inf, math.inf)
    found = NetworkMarched(RUNNING, 0, -1)
    if action == MARCH:
        found = march_rows(network, plan, backups, out, pulse)
    elif action == BEGIN:
        begin_network(network, t)
    elif action == OBSERVE:
        if not sample_network(network, out, FIRST_ROW, t, backups):
            found = NetworkMarched(NON_FINITE, 0, -1)
    elif action == RELEASE:
        release_reels(network, t)
    elif action == SAVE:
        copy_motion(network, backups[0])
    elif action == RESTORE:
        put_motion(network, backups[0])
        refresh_network(network, t)
    else:
        limits = limits_now(network, plan, network.totals[data.T_START])
    return Done(found.status, found.rows, found.strand, limits)
