"""Many steps of an assembly: samples, limits of the step, events at the ends of strings, repeated intervals."""

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
    UNSTABLE_STEP,
)
from tautline.kernels.assembly.backup import copy_motion, put_motion
from tautline.kernels.assembly.begin import begin_assembly, release_reels, stop_at_end
from tautline.kernels.assembly.data import (
    APPROACHES,
    Strand,
    System,
    WholeSamples,
    strand_at,
)
from tautline.kernels.assembly.inverse import any_torque, find_torques
from tautline.kernels.assembly.limits import AssemblyLimits, guard, limits_now
from tautline.kernels.assembly.loads import act_at_joint, keep_for_loads
from tautline.kernels.assembly.observe import observe_assembly, refresh_assembly
from tautline.kernels.assembly.starting import start_in_fluid
from tautline.kernels.assembly.step import composed_step
from tautline.kernels.balance import balance_jump, balance_tolerance, note_balance
from tautline.kernels.data import (
    BY_PROFILE,
    EXTRA,
    H_LAST,
    LEVEL,
    LOADS_PENDING,
    SIGMA,
    SIGMA_BEFORE,
    STEP,
    STOP_TIME,
    T_START,
    TOTAL,
    Array,
    Plan,
    S,
    _places,
)
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.march import IMPROVEMENT, MOST_EXTRA, MOST_SECANTS, MOST_TRIALS, ROOM_TO_SPARE
from tautline.kernels.steps import END_TOLERANCE

# Rows of the backups: motions at the latest sample, before a step that may meet an event, and where loads begin to act.
AT_SAMPLE, BEFORE_STEP, AT_START = range(3)


class AssemblyMarched(NamedTuple):
    """How far a march came."""

    status: int  # RUNNING, or why it ended before
    rows: int  # of the samples that were filled
    strand: int  # at whose end it ended, or -1


@kernel
def beyond_end(strand: Strand) -> float:
    """How far a reel is beyond the nearer end of its string; negative before it."""
    s = strand.reel[S]
    return float(max(s - (strand.par.L - strand.shortest), strand.par.b - s))


@kernel
def nearest_end(system: System) -> float:
    """How far a reel that approaches the end of its string is beyond it, at most, over the string's length."""
    beyond = -math.inf
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        if strand.row >= 0 and strand.work[APPROACHES] != 0.0:
            beyond = max(beyond, beyond_end(strand) / strand.par.L)
    return beyond


@kernel
def is_retrieved(strand: Strand) -> bool:
    """Whether the nearer end of a string is the one of a retrieval."""
    s, par = strand.reel[S], strand.par
    return bool(s - (par.L - strand.shortest) >= par.b - s)


@kernel
def event_at_end(system: System) -> tuple[int, int]:
    """Whether a reel is at the end of its string or beyond: the status, and which string, or -1."""
    beyond, which = -math.inf, -1
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        if strand.row >= 0:
            x = beyond_end(strand) / strand.par.L
            if x > beyond:
                beyond, which = x, k
    if which < 0 or beyond < 0.0:
        return RUNNING, -1
    return FULLY_RETRIEVED if is_retrieved(strand_at(system.strands, which)) else FULLY_DEPLOYED, which


@separate
def hold_at_ends(system: System, t: float) -> tuple[int, int]:
    """Put reels that run into the ends of their strings on the stops there; status, and which string ends the run.

    Those with prescribed motions end it.
    """
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        if strand.row >= 0 and beyond_end(strand) >= 0.0:
            retrieved = is_retrieved(strand)
            if strand.command.kind == BY_PROFILE:
                return FULLY_RETRIEVED if retrieved else FULLY_DEPLOYED, k
            side = 1.0 if retrieved else -1.0
            if side * strand.reel[SIGMA] > 0.0:
                stop_at_end(system, k, side, t)
    return RUNNING, -1


@kernel
def may_reach_end(system: System, h: float) -> bool:
    """Whether a step could bring a reel to the end of its string; generous, since speeds change in the step.

    Notes which reels are before the end: those on a stop, or just coming away from it, are not.
    """
    near = False
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        if strand.row >= 0:
            reel, L = strand.reel, strand.par.L
            distance = -beyond_end(strand)
            change = abs(reel[SIGMA] - reel[SIGMA_BEFORE])
            if reel[H_LAST] != 0.0:
                change *= abs(h / reel[H_LAST])
            near = near or 0.0 < distance < 4.0 * (abs(reel[SIGMA]) + change) * h + 100.0 * END_TOLERANCE * L
            strand.work[APPROACHES] = 1.0 if distance > 0.0 else 0.0
    return near


@inlined
def one_step(system: System, plan: Plan, backup: Array, t: float, h: float, end: float) -> int:
    """A step of length h from time t to `end`, with loads where it joins the step before."""
    back = system.totals[LOADS_PENDING]
    if system.loaded:
        if back == 0.0 and system.in_fluid:
            start_in_fluid(system, backup, t, 0.5 * h)
        else:
            act_at_joint(system, t, 0.5 * h)
    status = composed_step(system, plan, t, h, end)
    if system.loaded and status == RUNNING:
        keep_for_loads(system, back)
    return status


@inlined
def step_to_event(system: System, plan: Plan, backups: Array2, t: float, h: float, end: float) -> tuple[int, int]:
    """From t to `end`, h later, or up to where a reel ends the run at the end of its string; status, which string.

    A reel that is held at its end divides the step there.
    """
    backup = backups[BEFORE_STEP]
    status, which = RUNNING, -1
    left = h
    while left > 0.0 and status == RUNNING:
        begun = t + (h - left)
        near = may_reach_end(system, left)
        low, high, trial = 0.0, left, left
        at_low, at_high = 0.0, 0.0
        if near:
            copy_motion(system, backup)
            at_low = nearest_end(system)
        for trials in range(MOST_TRIALS):
            status = one_step(system, plan, backups[AT_START], begun, trial, end if trial == left else begun + trial)
            if not near or status != RUNNING:
                break
            beyond = nearest_end(system)
            if 0.0 <= beyond <= END_TOLERANCE or (beyond < 0.0 and trial == left) or trials == MOST_TRIALS - 1:
                break
            if beyond < 0.0:
                low, at_low = trial, beyond
            else:
                high, at_high = trial, beyond
            trial = low + (high - low) * (0.5 * END_TOLERANCE - at_low) / (at_high - at_low)
            if trials >= MOST_SECANTS or not low < trial < high:
                trial = 0.5 * (low + high)
            put_motion(system, backup)
            refresh_assembly(system, begun)
        reached = begun + trial
        left = left - trial if trial < left else 0.0
        if status == RUNNING:
            status, which = hold_at_ends(system, reached) if plan.hold else event_at_end(system)
            if status != RUNNING:
                system.totals[STOP_TIME] = reached
    return status, which


@separate
def sample_assembly(system: System, out: WholeSamples, row: int, t: float, backups: Array2) -> bool:
    """Write the present state into row `row` of the samples; whether velocities were found. The motion stays.

    `backups` has two rows to work in.
    """
    found = observe_assembly(system, out, row, t)
    if any_torque(system):
        find_torques(system, t, backups, out, row)
    return found


@inlined
def march_interval(system: System, plan: Plan, backups: Array2, pulse: int, left: int) -> tuple[int, int, int]:
    """All base steps of one sample interval; a status, which string, and the steps until the next question."""
    status, which = RUNNING, -1
    count = 0
    while count < plan.steps_per_sample and status == RUNNING:
        t = system.totals[T_START] + system.clock[STEP] * plan.h
        following = system.totals[T_START] + (system.clock[STEP] + 1) * plan.h
        status = guard(system, plan)
        parts = 1 << system.clock[LEVEL]
        h = plan.h / parts
        part = 0
        while part < parts and status == RUNNING:
            # times come from counters, not from sums: a resumed run sees the same ones
            end = t + (part + 1) * h if part + 1 < parts else following
            status, which = step_to_event(system, plan, backups, t + part * h, h, end)
            part += 1
            left = steps_left(pulse, left, 1)
            if status == RUNNING and must_stop(pulse, left):
                status = INTERRUPTED
        if status == RUNNING:
            system.clock[STEP] += 1
            system.clock[TOTAL] += parts
        count += 1
    return status, which, left


@separate
def march_rows(system: System, plan: Plan, backups: Array2, out: WholeSamples, pulse: int) -> AssemblyMarched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps.

    As `march` does for a pendulum: an adaptive march repeats a sample interval that failed, or in which the balance of
    energy did not close, with steps of half the length, and one that is stopped leaves the motion at the latest row.
    """
    totals = system.totals
    refresh_assembly(system, totals[T_START] + system.clock[STEP] * plan.h)
    left = FIRST_QUESTION
    for row in range(out.whole.shape[0]):
        if plan.adaptive or pulse != 0:
            copy_motion(system, backups[AT_SAMPLE])
        extra = system.clock[EXTRA]
        before = math.inf
        while True:
            status, which, left = march_interval(system, plan, backups, pulse, left)
            jump = math.inf
            failed = status in (NEWTON_FAILED, NON_FINITE, REEL_OUTRUNS_WAVES, UNSTABLE_STEP)
            if status == RUNNING:
                t = totals[T_START] + system.clock[STEP] * plan.h
                if not sample_assembly(system, out, row, t, backups[BEFORE_STEP:]):
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
            put_motion(system, backups[AT_SAMPLE])
            system.clock[EXTRA] = extra
            refresh_assembly(system, totals[T_START] + system.clock[STEP] * plan.h)
        if status == INTERRUPTED:
            put_motion(system, backups[AT_SAMPLE])
            refresh_assembly(system, totals[T_START] + system.clock[STEP] * plan.h)
        if status != RUNNING:
            return AssemblyMarched(status, row, which)
        if jump < ROOM_TO_SPARE * balance_tolerance(totals, out.whole[row]):
            extra = max(0, extra - 1)
        system.clock[EXTRA] = extra
        note_balance(totals, out.whole[row])
    return AssemblyMarched(RUNNING, out.whole.shape[0], -1)


FIRST_ROW = _places(0)[0]
# What an assembly is asked to do.
MARCH, BEGIN, OBSERVE, RELEASE, SAVE, RESTORE, LIMITS = range(7)


class Done(NamedTuple):
    """What came of it."""

    status: int  # RUNNING, or why a march ended before
    rows: int  # of the samples that were filled
    strand: int  # at whose end a march ended, or -1
    limits: AssemblyLimits  # of the present motion, where they were asked for


@entry
def assembly(
    system: System, plan: Plan, backups: Array2, out: WholeSamples, action: int, t: float, pulse: int = 0
) -> Done:
    """All that is done with an assembly, in one C function, since most of its machine code serves every action.

    0 fills all rows of `out`, one every plan.steps_per_sample steps; 1 turns velocities of the states into momenta at
    time t; 2 writes the present state into row 0 of `out`, with two rows of `backups` to work in; 3 gives all reels
    the momentum of their speed, however they were held; 4 copies all that a step leaves to the next one into row 0 of
    `backups`, 5 puts it back; 6 gives the limits of the step. While rows are filled, the function at the address
    `pulse`, if there is one, is asked now and then whether to go on (interrupts.py).
    """
    limits = AssemblyLimits(math.inf, math.inf, math.inf)
    found = AssemblyMarched(RUNNING, 0, -1)
    if action == MARCH:
        found = march_rows(system, plan, backups, out, pulse)
    elif action == BEGIN:
        begin_assembly(system, t)
    elif action == OBSERVE:
        if not sample_assembly(system, out, FIRST_ROW, t, backups):
            found = AssemblyMarched(NON_FINITE, 0, -1)
    elif action == RELEASE:
        release_reels(system, t)
    elif action == SAVE:
        copy_motion(system, backups[0])
    elif action == RESTORE:
        put_motion(system, backups[0])
        refresh_assembly(system, t)
    else:
        limits = limits_now(system, plan)
    return Done(found.status, found.rows, found.strand, limits)
