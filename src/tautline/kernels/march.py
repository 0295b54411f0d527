"""Many steps: stages of a composition, sampling, events, and sample intervals that are repeated with smaller steps."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import Array2
from tautline.errors import (
    FULLY_RETRIEVED,
    INTERRUPTED,
    NEWTON_FAILED,
    NON_FINITE,
    REEL_OUTRUNS_WAVES,
    RUNNING,
    UNSTABLE_STEP,
)
from tautline.kernels import data
from tautline.kernels.backup import restore_motion, save_motion
from tautline.kernels.balance import balance_jump, balance_tolerance, book, note_balance
from tautline.kernels.data import Array, Command, Loads, Motion, Parameters, Plan, Samples, Scratch
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.interrupts import ENDLESS, FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.limits import guard, turns_fast
from tautline.kernels.loads.jump import settle
from tautline.kernels.observe import change_reel_mode, observe
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.repeating import (
    END_TOLERANCE,
    IMPROVEMENT,
    MOST_EXTRA,
    MOST_SECANTS,
    MOST_TRIALS,
    ROOM_TO_SPARE,
)
from tautline.kernels.stage import fixed_base_step
from tautline.kernels.steps import (
    beyond_end,
    end_of_string,
    may_reach_end,
    must_guard,
    steps_alike,
    time_of_part,
)
from tautline.kernels.tridiagonal import factorise

# A sample of fewer steps, none of which is divided, is not stopped in the middle: it takes some milliseconds, and a
# copy of the motion before each sample would take several per cent of them.
FEW_STEPS = 1000

# Rows of the backups.
AT_SAMPLE, BEFORE_STEP = range(2)


class Marched(NamedTuple):
    """How far a march came."""

    status: int  # RUNNING, or why it ended before
    rows: int  # of the samples that were filled


@kernel
def reel_event(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, t: float, loads: Loads | None
) -> int:
    """At the ends of the string. The reel is put on the stop, to be held there, unless it is driven or comes away."""
    reel = motion.reel
    status = end_of_string(par, plan, reel[data.S])
    if status == RUNNING:
        return RUNNING
    side = 1.0 if status == FULLY_RETRIEVED else -1.0
    if not plan.hold or command.kind == data.BY_PROFILE:
        reel[data.STOP_TIME] = t
        return status
    if loads is not None and side * reel[data.SIGMA] > 0.0:
        reel[data.STOP] = side
        reel[data.STOP_TIME] = t
        if loads.acts or loads.moves:
            settle(par, loads, False, t, motion, scratch)
        energy = change_reel_mode(par, False, motion, scratch, data.STUCK, 0.0, 0.0)
        book(par, reel, data.FRICTION_LOSS, -energy)
    return RUNNING


@inlined
def steps_from(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    part: int,
    last: int,
    most: int,
    loads: Loads | None,
) -> tuple[int, int, int]:
    """A part of the present base step in one step, or in two if the reel reaches the end of the string on the way.

    The step that ends there, or just beyond, is found by regula falsi: from the same start with other lengths. Others
    like it may follow (`steps_alike`), `most` at most; the part that is the last one and their number are returned.
    """
    status = RUNNING
    made = 0
    h = plan.h / (1 << motion.clock[data.LEVEL])
    t = time_of_part(plan, motion, part, h)
    left = h
    while left > 0.0 and status == RUNNING:
        begun = t + (h - left)
        near = not command.locked and may_reach_end(par, plan, motion, left)
        alone = near or left < h
        low, high, trial = 0.0, left, left
        at_low, at_high = 0.0, 0.0
        if near:
            save_motion(motion, backup)
            at_low = beyond_end(par, plan, motion.reel[data.S])
        for trials in range(MOST_TRIALS):
            until = -1 if alone else last
            status, part, more = steps_alike(
                par, plan, command, motion, scratch, begun, trial, part, until, most, loads
            )
            made += more
            if not near or status != RUNNING:
                break
            beyond = beyond_end(par, plan, motion.reel[data.S])
            reached = 0.0 <= beyond <= END_TOLERANCE * par.L
            if reached or (beyond < 0.0 and trial == left) or trials == MOST_TRIALS - 1:
                break
            if beyond < 0.0:
                low, at_low = trial, beyond
            else:
                high, at_high = trial, beyond
            aim = 0.5 * END_TOLERANCE * par.L
            trial = low + (high - low) * (aim - at_low) / (at_high - at_low)
            if trials >= MOST_SECANTS or not low < trial < high:
                trial = 0.5 * (low + high)
            restore_motion(backup, motion)
            evaluate_forces(par, motion.reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
        if not alone:
            begun = time_of_part(plan, motion, part, h)
        left = left - trial if trial < left else 0.0
        if status == RUNNING and not command.locked:
            status = reel_event(par, plan, command, motion, scratch, begun + trial, loads)
    return status, part, made


@inlined
def guarded_steps(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    last: int,
    loads: Loads | None,
    pulse: int,
    left: int,
) -> tuple[int, int]:
    """A base step with a moving reel or loads, in 2**level parts, and others like it up to base step `last`.

    Returns a status, and the number of steps until the next question (interrupts.py).
    """
    status = RUNNING
    if must_guard(par, plan, motion):
        status = guard(par, plan, command.locked, motion, loads)
    part = 0
    while part < 1 << motion.clock[data.LEVEL] and status == RUNNING:
        most = left if pulse != 0 else ENDLESS
        status, part, made = steps_from(par, plan, command, motion, scratch, backup, part, last, most, loads)
        part += 1
        left = steps_left(pulse, left, made)
        if status == RUNNING and must_stop(pulse, left):
            status = INTERRUPTED
    return status, left


@inlined
def locked_step(
    par: Parameters,
    plan: Plan,
    locked: bool,
    motion: Motion,
    scratch: Scratch,
    loads: Loads | None,
    pulse: int,
    left: int,
) -> tuple[int, int]:
    """One base step at constant length. The level was set when the march began; a body that turns fast may raise it.

    Returns a status, and the number of steps until the next question (interrupts.py).
    """
    status = RUNNING
    l = element_length(par, motion.reel[data.S])
    if plan.adaptive and par.rotates:
        h = plan.h / (1 << motion.clock[data.LEVEL])
        if turns_fast(par, plan, l, h, motion) or motion.clock[data.RAISED] > 0:
            status = guard(par, plan, locked, motion, loads)
    parts = 1 << motion.clock[data.LEVEL]
    made = 0
    while made < parts and status == RUNNING:
        count = min(parts - made, left) if pulse != 0 else parts
        status, history = fixed_base_step(par, plan, l, parts, count, history_of(motion.reel), motion, scratch)
        keep_history(history, motion.reel)
        made += count
        left = steps_left(pulse, left, count)
        if status == RUNNING and must_stop(pulse, left):
            status = INTERRUPTED
    return status, left


@inlined
def march_interval(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    loads: Loads | None,
    pulse: int,
    left: int,
) -> tuple[int, int]:
    """All base steps of one sample interval; a status, and the number of steps until the next question."""
    status = RUNNING
    if plan.adaptive:
        motion.reel[data.GUARDED_STEP] = 0.0  # steps may have to be divided otherwise than in the interval before
    guarded = not command.locked
    if loads is not None:
        guarded = guarded or loads.acts or loads.moves
    if not command.locked:
        evaluate_forces(par, motion.reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
    if not guarded:
        # not with constants, for which the guard would be compiled once more
        status = guard(par, plan, command.locked, motion, loads)
    end = motion.clock[data.STEP] + plan.steps_per_sample
    while motion.clock[data.STEP] < end and status == RUNNING:
        if guarded:
            status, left = guarded_steps(par, plan, command, motion, scratch, backup, end - 1, loads, pulse, left)
        else:
            status, left = locked_step(par, plan, command.locked, motion, scratch, loads, pulse, left)
        if status == RUNNING:
            motion.clock[data.STEP] += 1
            motion.clock[data.TOTAL] += 1 << motion.clock[data.LEVEL]
    return status, left


@entry
def march(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backups: Array2,
    out: Samples,
    loads: Loads | None,
    pulse: int = 0,
) -> Marched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps.

    An adaptive march repeats a sample interval that failed, or in which the balance of energy did not close, with
    steps of half the length (docs/theory.md, "Steps that are repeated").
    After an event the motion is the one that the event left, and the clock stands at the last step that
    was completed; rows filled before are kept.
    The function at the address `pulse`, if there is one, is asked now and then whether to go on (interrupts.py). A
    march that it stops leaves the motion at the latest row.
    """
    if command.locked:
        l = element_length(par, motion.reel[data.S])
        factorise(par, l, scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
    left = FIRST_QUESTION
    can_return = plan.adaptive or plan.steps_per_sample > FEW_STEPS
    for row in range(out.scalars.shape[0]):
        if can_return:
            save_motion(motion, backups[AT_SAMPLE])
        extra = motion.clock[data.EXTRA]
        before = math.inf
        while True:
            status, left = march_interval(
                par, plan, command, motion, scratch, backups[BEFORE_STEP], loads, pulse if can_return else 0, left
            )
            jump = math.inf
            failed = status in (NEWTON_FAILED, NON_FINITE, REEL_OUTRUNS_WAVES, UNSTABLE_STEP)
            if status == RUNNING:
                t = motion.reel[data.T_START] + motion.clock[data.STEP] * plan.h
                observe(par, command.locked, motion, scratch, out, row, t, loads)
                jump = balance_jump(motion.reel, out.scalars[row])
                failed = not jump <= balance_tolerance(motion.reel, out.scalars[row])
            if not (plan.adaptive and failed) or extra >= MOST_EXTRA:
                break
            if status == RUNNING and not jump < IMPROVEMENT * before:
                extra = max(0, extra - 1)  # finer steps are of no use
                break
            before = jump
            extra += 1
            restore_motion(backups[AT_SAMPLE], motion)
            motion.clock[data.EXTRA] = extra
        if status == INTERRUPTED:
            restore_motion(backups[AT_SAMPLE], motion)
        if status != RUNNING:
            return Marched(status, row)
        if jump < ROOM_TO_SPARE * balance_tolerance(motion.reel, out.scalars[row]):
            extra = max(0, extra - 1)
        motion.clock[data.EXTRA] = extra
        note_balance(motion.reel, out.scalars[row])
        left = steps_left(pulse, left, 0)
        if must_stop(pulse, left):
            return Marched(INTERRUPTED, row + 1)
    return Marched(RUNNING, out.scalars.shape[0])
