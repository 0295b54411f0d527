"""Many steps: stages of a composition, sampling, events, and sample intervals that are repeated with smaller steps."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import Array2
from tautline.errors import (
    FULLY_DEPLOYED,
    FULLY_RETRIEVED,
    NEWTON_FAILED,
    NON_FINITE,
    REEL_OUTRUNS_WAVES,
    RUNNING,
    UNSTABLE_STEP,
)
from tautline.kernels.backup import restore_motion, save_motion
from tautline.kernels.balance import balance_jump, balance_tolerance, book, note_balance
from tautline.kernels.data import (
    BY_PROFILE,
    EXTRA,
    FRICTION_LOSS,
    GUARDED_STEP,
    H_LAST,
    INVERSE,
    LEVEL,
    LOWER,
    POSITION,
    PULL,
    RAISED,
    SIGMA,
    SIGMA_BEFORE,
    STEP,
    STOP,
    STOP_TIME,
    STUCK,
    T_START,
    TOTAL,
    Array,
    Command,
    Loads,
    Motion,
    Parameters,
    Plan,
    S,
    Samples,
    Scratch,
)
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.limits import guard, limits_change, turning_rate2
from tautline.kernels.loads.jump import settle
from tautline.kernels.observe import change_reel_mode, observe
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.stage import fixed_base_step
from tautline.kernels.step import one_step
from tautline.kernels.tridiagonal import factorise

# How far the reel may go beyond the end of the string, over the length of the string.
END_TOLERANCE = 1e-10
MOST_TRIALS = 80
MOST_SECANTS = 20  # before halving takes over
# Halvings that a sample interval may need beyond those of the limits.
MOST_EXTRA = 5
# A repeated interval whose balance is not better than this part of before is not repeated again.
IMPROVEMENT = 0.7
# An interval this much better than it need be lets the next one try a larger step.
ROOM_TO_SPARE = 1.0 / 16.0


# Rows of the backups.
AT_SAMPLE, BEFORE_STEP = range(2)


class Marched(NamedTuple):
    """How far a march came."""

    status: int  # RUNNING, or why it ended before
    rows: int  # of the samples that were filled


@kernel
def end_of_string(par: Parameters, plan: Plan, s: float) -> int:
    """Where the model's validity ends."""
    if par.L - s <= plan.minimum_length:
        return FULLY_RETRIEVED
    return FULLY_DEPLOYED if s <= par.b else RUNNING


@kernel
def beyond_end(par: Parameters, plan: Plan, s: float) -> float:
    """How far s is beyond the nearer end of the string; negative before it."""
    return max(s - (par.L - plan.minimum_length), par.b - s)


@kernel
def may_reach_end(par: Parameters, plan: Plan, motion: Motion, h: float) -> bool:
    """Whether a step could bring the reel to the end of the string; generous, since the speed changes in the step."""
    reel = motion.reel
    distance = -beyond_end(par, plan, reel[S])
    change = abs(reel[SIGMA] - reel[SIGMA_BEFORE])
    if reel[H_LAST] != 0.0:
        change *= abs(h / reel[H_LAST])
    return bool(0.0 < distance < 4.0 * (abs(reel[SIGMA]) + change) * h + 100.0 * END_TOLERANCE * par.L)


@kernel
def reel_event(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, t: float, loads: Loads | None
) -> int:
    """At the ends of the string. To be held there, the reel is put on the stop, unless it is led or comes away."""
    reel = motion.reel
    status = end_of_string(par, plan, reel[S])
    if status == RUNNING:
        return RUNNING
    side = 1.0 if status == FULLY_RETRIEVED else -1.0
    if not plan.hold or command.kind == BY_PROFILE:
        reel[STOP_TIME] = t
        return status
    if loads is not None and side * reel[SIGMA] > 0.0:
        reel[STOP] = side
        reel[STOP_TIME] = t
        if loads.acts or loads.moves:
            settle(par, loads, False, t, motion, scratch)
        energy = change_reel_mode(par, False, motion, scratch, STUCK, 0.0, 0.0)
        book(par, reel, FRICTION_LOSS, -energy)
    return RUNNING


@inlined
def steps_to(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    t: float,
    h: float,
    loads: Loads | None,
) -> int:
    """From t to t + h in one step, or in two if the reel reaches the end of the string on the way.

    The step that ends there, or just beyond, is found by regula falsi: from the same start with other lengths.
    """
    status = RUNNING
    left = h
    while left > 0.0 and status == RUNNING:
        begun = t + (h - left)
        near = not command.locked and may_reach_end(par, plan, motion, left)
        low, high, trial = 0.0, left, left
        at_low, at_high = 0.0, 0.0
        if near:
            save_motion(motion, backup)
            at_low = beyond_end(par, plan, motion.reel[S])
        for trials in range(MOST_TRIALS):
            status = one_step(par, plan, command, motion, scratch, begun, trial, loads)
            if not near or status != RUNNING:
                break
            beyond = beyond_end(par, plan, motion.reel[S])
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
            evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[PULL])
        left = left - trial if trial < left else 0.0
        if status == RUNNING and not command.locked:
            status = reel_event(par, plan, command, motion, scratch, begun + trial, loads)
    return status


@inlined
def must_guard(par: Parameters, plan: Plan, motion: Motion, loads: Loads | None) -> bool:
    """Whether a limit may have changed since the last look."""
    reel = motion.reel
    must = limits_change(par, plan, reel)
    if plan.adaptive and par.rotates and not must:
        h = plan.h / (1 << motion.clock[LEVEL])
        l = element_length(par, reel[S])
        turned2 = turning_rate2(par, plan, l, motion) * h * h
        must = turned2 > plan.resolution * plan.resolution or motion.clock[RAISED] > 0
    return must


@inlined
def guarded_step(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    loads: Loads | None,
) -> int:
    """One base step with a moving reel or loads, in 2**level parts."""
    t = motion.reel[T_START] + motion.clock[STEP] * plan.h
    status = RUNNING
    if must_guard(par, plan, motion, loads):
        status = guard(par, plan, command.locked, t, motion, scratch, loads)
    parts = 1 << motion.clock[LEVEL]
    h = plan.h / parts
    part = 0
    while part < parts and status == RUNNING:
        # times come from counters, not from sums: a resumed run sees the same ones
        status = steps_to(par, plan, command, motion, scratch, backup, t + part * h, h, loads)
        part += 1
    return status


@inlined
def locked_step(
    par: Parameters, plan: Plan, locked: bool, motion: Motion, scratch: Scratch, loads: Loads | None
) -> int:
    """One base step at constant length. The level was set when the march began; a body that turns fast may raise it."""
    status = RUNNING
    l = element_length(par, motion.reel[S])
    if par.rotates:
        h = plan.h / (1 << motion.clock[LEVEL])
        turned2 = turning_rate2(par, plan, l, motion) * h * h
        if turned2 > plan.resolution * plan.resolution or motion.clock[RAISED] > 0:
            status = guard(par, plan, locked, 0.0, motion, scratch, loads)
    if status == RUNNING:
        parts = 1 << motion.clock[LEVEL]
        status, history = fixed_base_step(par, plan, l, parts, history_of(motion.reel), motion, scratch)
        keep_history(history, motion.reel)
    return status


@inlined
def march_interval(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    backup: Array,
    loads: Loads | None,
) -> int:
    """All base steps of one sample interval."""
    status = RUNNING
    if plan.adaptive:
        motion.reel[GUARDED_STEP] = 0.0  # steps may have to be divided otherwise than in the interval before
    guarded = not command.locked
    if loads is not None:
        guarded = guarded or loads.acts or loads.moves
    if not command.locked:
        evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[PULL])
    if not guarded:
        # not with constants, for which the guard would be compiled once more
        status = guard(par, plan, command.locked, 0.0, motion, scratch, loads)
    count = 0
    while count < plan.steps_per_sample and status == RUNNING:
        if guarded:
            status = guarded_step(par, plan, command, motion, scratch, backup, loads)
        else:
            status = locked_step(par, plan, command.locked, motion, scratch, loads)
        if status == RUNNING:
            motion.clock[STEP] += 1
            motion.clock[TOTAL] += 1 << motion.clock[LEVEL]
        count += 1
    return status


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
) -> Marched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps.

    An adaptive march repeats a sample interval that failed, or in which the balance of energy did not close, with
    steps of half the length (docs/theory.md, "Steps that are repeated").
    After an event the motion is the one that the event left, and the clock stands at the last step that
    was completed; rows filled before are kept.
    """
    if command.locked:
        l = element_length(par, motion.reel[S])
        factorise(par, l, scratch.factor[LOWER], scratch.factor[INVERSE])
    for row in range(out.scalars.shape[0]):
        if plan.adaptive:
            save_motion(motion, backups[AT_SAMPLE])
        extra = motion.clock[EXTRA]
        before = math.inf
        while True:
            status = march_interval(par, plan, command, motion, scratch, backups[BEFORE_STEP], loads)
            jump = math.inf
            failed = status in (NEWTON_FAILED, NON_FINITE, REEL_OUTRUNS_WAVES, UNSTABLE_STEP)
            if status == RUNNING:
                t = motion.reel[T_START] + motion.clock[STEP] * plan.h
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
            motion.clock[EXTRA] = extra
        if status != RUNNING:
            return Marched(status, row)
        if jump < ROOM_TO_SPARE * balance_tolerance(motion.reel, out.scalars[row]):
            extra = max(0, extra - 1)
        motion.clock[EXTRA] = extra
        note_balance(motion.reel, out.scalars[row])
    return Marched(RUNNING, out.scalars.shape[0])
