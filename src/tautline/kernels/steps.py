"""Steps of one length, one after the other, for as long as nothing else is to be done between them."""

from __future__ import annotations

from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED, RUNNING
from tautline.kernels import data
from tautline.kernels.data import Command, Loads, Motion, Parameters, Plan, Scratch
from tautline.kernels.energy import element_length
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.limits import limits_change, turns_fast
from tautline.kernels.repeating import END_TOLERANCE
from tautline.kernels.step import one_step


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
    distance = -beyond_end(par, plan, reel[data.S])
    change = abs(reel[data.SIGMA] - reel[data.SIGMA_BEFORE])
    if reel[data.H_LAST] != 0.0:
        change *= abs(h / reel[data.H_LAST])
    return bool(0.0 < distance < 4.0 * (abs(reel[data.SIGMA]) + change) * h + 100.0 * END_TOLERANCE * par.L)


@inlined
def must_guard(par: Parameters, plan: Plan, motion: Motion) -> bool:
    """Whether a limit may have changed since the last look."""
    reel = motion.reel
    must = limits_change(par, plan, reel)
    if plan.adaptive and par.rotates and not must:
        h = plan.h / (1 << motion.clock[data.LEVEL])
        l = element_length(par, reel[data.S])
        must = turns_fast(par, plan, l, h, motion) or motion.clock[data.RAISED] > 0
    return must


@kernel
def time_of_part(plan: Plan, motion: Motion, part: int, h: float) -> float:
    """When a part of the present base step begins: from counters, not from sums, as a resumed run sees it."""
    return motion.reel[data.T_START] + motion.clock[data.STEP] * plan.h + part * h  # type: ignore[no-any-return]


@separate
def steps_alike(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    t: float,
    h: float,
    part: int,
    last: int,
    most: int,
    loads: Loads | None,
) -> tuple[int, int, int]:
    """A step of length h from t on, in a part of the present base step.

    Unless `last` is negative, others like it follow up to base step `last`, `most` at most, for as long as no limit has
    to be looked at and no end of the string is near. Returns a status, the part that it ended with, and the number of
    steps. Compiled on its own: inside the loops that locate an event the compiler would take 10 s longer. A call hands
    over hundreds of numbers, which takes a tenth to a fifth of a step: so one call for many steps.
    """
    parts = 1 << motion.clock[data.LEVEL]
    made = 0
    while True:
        status = one_step(par, plan, command, motion, scratch, t, h, loads)
        made += 1
        if last < 0 or status != RUNNING or made >= most:
            break
        if not command.locked:
            ends = end_of_string(par, plan, motion.reel[data.S]) != RUNNING
            if ends or may_reach_end(par, plan, motion, h):
                break
        if part + 1 < parts:
            part += 1
        else:
            if motion.clock[data.STEP] >= last or must_guard(par, plan, motion):
                break
            part = 0
            motion.clock[data.STEP] += 1
            motion.clock[data.TOTAL] += parts
        t = time_of_part(plan, motion, part, h)
    return status, part, made
