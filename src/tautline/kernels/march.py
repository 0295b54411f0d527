"""Many steps: stages of a composition, sampling, stability guard, events."""

from __future__ import annotations

import math

from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED, RUNNING, UNSTABLE_STEP
from tautline.kernels.arrow import factorise
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import (
    BY_PROFILE,
    FORCE,
    FRICTION,
    FRICTION_ERR,
    INVERSE,
    LEVEL,
    LOWER,
    POSITION,
    SIGMA,
    STEP,
    STOP,
    STOP_TIME,
    STUCK,
    T_START,
    TOTAL,
    WORST_RATIO,
    Array,
    Command,
    Counters,
    Loads,
    Motion,
    Parameters,
    Plan,
    S,
    Samples,
    Scratch,
)
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.fixed import fixed_stage
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.loads import book_guide, boost, load_stage, mean_velocity, momentum_now, on_path
from tautline.kernels.observe import hand_over, observe
from tautline.kernels.reeling import ZERO, evaluate_forces, reeling_stage
from tautline.kernels.so3 import sub

# Steps are never divided further than this: the minimum length stops a run long before.
MAX_LEVEL = 40


@kernel
def stretching_frequency2(par: Parameters, end_mass: float, s: float, locked: bool) -> float:
    """Squared frequency of the deployed string as one element between the reel and the body.

    Two masses on a spring; a locked reel is an infinite one.
    """
    X = par.L - s
    body = end_mass + par.mu * X / 3.0
    if locked:
        return par.EA / (X * body)
    reel = reel_mass(par, s)[0] + par.mu * X / 3.0
    between = par.mu * X / 6.0
    return par.EA / X * (reel + body + 2.0 * between) / (reel * body - between * between)


@kernel
def stability_limit(par: Parameters, plan: Plan, s: float, locked: bool) -> float:
    """Largest stable step of the composed method (docs/theory.md, "Stability").

    12 EA/(mu l^2) bounds the squared frequency of any mesh of consistent-mass elements, whatever they are tied to.
    A single element has no neighbour that could swing with it, so its ends count; it shares them with the body.
    """
    l = element_length(par, s)
    drum = plan.drum_stiffness / reel_mass(par, s)[0]
    if par.N == 1:
        frequency2 = stretching_frequency2(par, plan.end_mass, s, locked) + plan.body_frequency2 + drum
    else:
        frequency2 = max(12.0 * par.EA / (par.mu * l * l), plan.body_frequency2, drum)
    limit = plan.limit_multiple * 2.0 / math.sqrt(frequency2)
    if par.viscosity > 0.0:
        # the midpoint rule for half a step of damping, at the rate of the stiffest mode
        limit = min(limit, 4.0 * par.EA / (par.viscosity * frequency2))
    return limit


@kernel
def resolved_step(par: Parameters, plan: Plan, s: float, locked: bool) -> float:
    """Step that resolves the fundamental stretching mode, which few elements would not ask for by stability."""
    return plan.resolution / math.sqrt(stretching_frequency2(par, plan.end_mass, s, locked))


@entry
def step_limits(par: Parameters, plan: Plan, s: float, locked: bool) -> tuple[float, float]:
    """Stability limit and resolved step, for planning a run."""
    return stability_limit(par, plan, s, locked), resolved_step(par, plan, s, locked)


@kernel
def choose_level(par: Parameters, plan: Plan, s: float, locked: bool) -> int:
    """Fewest halvings of the base step that keep it within the allowed part of the limit."""
    stable = plan.allowed_ratio * stability_limit(par, plan, s, locked)
    allowed = min(stable, resolved_step(par, plan, s, locked))
    level = 0
    h = plan.h
    while h > allowed and level < MAX_LEVEL:
        h *= 0.5
        level += 1
    return level


@kernel
def begin_base_step(par: Parameters, plan: Plan, locked: bool, reel: Array, clock: Counters) -> int:
    """Set the level for the present length; UNSTABLE_STEP if that does not suffice."""
    s = reel[S]
    level = choose_level(par, plan, s, locked) if plan.adaptive else 0
    ratio = plan.h / (1 << level) / stability_limit(par, plan, s, locked)
    reel[WORST_RATIO] = max(reel[WORST_RATIO], ratio)
    clock[LEVEL] = level
    return UNSTABLE_STEP if ratio > plan.allowed_ratio else RUNNING


@kernel
def end_of_string(par: Parameters, plan: Plan, s: float) -> int:
    """Where the model's validity ends."""
    if par.L - s <= plan.minimum_length:
        return FULLY_RETRIEVED
    return FULLY_DEPLOYED if s <= par.b else RUNNING


@kernel
def reel_event(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, t: float, loads: Loads | None
) -> int:
    """At the ends of the string. To be held there, the reel is put on the stop, unless it is led or comes away."""
    reel = motion.reel
    status = end_of_string(par, plan, reel[S])
    side = 1.0 if status == FULLY_RETRIEVED else -1.0
    if status == RUNNING or not plan.hold or command.kind == BY_PROFILE:
        return status
    if loads is not None and side * reel[SIGMA] > 0.0:
        reel[STOP] = side
        reel[STOP_TIME] = t
        energy = hand_over(par, False, motion, scratch, STUCK, 0.0, 0.0)
        accumulate(reel, FRICTION, FRICTION_ERR, -energy, par.compensated)
    return RUNNING


@inlined
def reeling_step(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, loads: Loads | None
) -> int:
    """One base step with a moving reel, in 2**level parts, each a composition of stages."""
    status = begin_base_step(par, plan, command.locked, motion.reel, motion.clock)
    parts = 1 << motion.clock[LEVEL]
    h = plan.h / parts
    part = 0
    while part < parts and status == RUNNING:
        # times come from counters, not from sums: a resumed run sees the same ones
        t = motion.reel[T_START] + motion.clock[STEP] * plan.h + part * h
        done = 0.0
        i = 0
        while i < len(plan.stages) and status == RUNNING:
            stage = plan.stages[i]
            start = t + done * h
            done += stage
            status = reeling_stage(par, command, motion, scratch, stage * h, start, t + done * h)
            i += 1
        if status == RUNNING:
            status = reel_event(par, plan, command, motion, scratch, t + h, loads)
        part += 1
    return status


@inlined
def locked_step(par: Parameters, plan: Plan, motion: Motion, scratch: Scratch) -> int:
    """One base step at constant length; the level was set when the march began."""
    parts = 1 << motion.clock[LEVEL]
    status = RUNNING
    for i in range(parts * len(plan.stages)):
        if status == RUNNING:
            stage = plan.stages[i % len(plan.stages)]
            status = fixed_stage(par, motion, scratch, stage * plan.h / parts)
    return status


@inlined
def loaded_step(par: Parameters, plan: Plan, command: Command, loads: Loads, motion: Motion, scratch: Scratch) -> int:
    """One base step: half of the loads, a step of the method in a frame that moves with the guide, the other half."""
    locked = command.locked
    status = begin_base_step(par, plan, locked, motion.reel, motion.clock)
    parts = 1 << motion.clock[LEVEL]
    h = plan.h / parts
    weight = (0.0, 0.0, (par.mu_g * par.L + par.weight) * h)  # an impulse
    part = 0
    while part < parts and status == RUNNING:
        t = motion.reel[T_START] + motion.clock[STEP] * plan.h + part * h
        if loads.acts:
            load_stage(par, loads, locked, t, 0.5 * h, motion, scratch)
        frame = mean_velocity(loads, t, h)
        boost(par, locked, frame, motion, scratch)
        before = ZERO
        if loads.moves:
            before = momentum_now(par, locked, motion, scratch)
        if locked:
            status = fixed_stage(par, motion, scratch, h)
        else:
            evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[FORCE])
            status = reeling_stage(par, command, motion, scratch, h, t, t + h)
        if loads.moves and status == RUNNING:
            gained = sub(momentum_now(par, locked, motion, scratch), before)
            book_guide(par, motion.reel, sub(gained, weight), frame)
        boost(par, locked, on_path(loads.path, t + h)[1], motion, scratch)
        if loads.acts:
            load_stage(par, loads, locked, t + h, 0.5 * h, motion, scratch)
        if status == RUNNING and not locked:
            status = reel_event(par, plan, command, motion, scratch, t + h, loads)
        part += 1
    return status


@entry
def march(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    out: Samples,
    loads: Loads | None,
) -> tuple[int, int]:
    """Fill all rows of `out`, one every plan.steps_per_sample steps; (status, rows filled).

    After an event the motion is the one that the event left, and the clock stands at the last step that
    was completed; rows filled before are kept.
    """
    if command.locked:
        l = element_length(par, motion.reel[S])
        factorise(par, l, scratch.factor[LOWER], scratch.factor[INVERSE])
        status = begin_base_step(par, plan, command.locked, motion.reel, motion.clock)
        if status != RUNNING:
            return status, 0
    for row in range(out.scalars.shape[0]):
        if not command.locked:
            evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[FORCE])
        for _ in range(plan.steps_per_sample):
            status = RUNNING
            loaded = False
            if loads is not None:
                loaded = loads.acts or loads.moves
                if loaded:
                    status = loaded_step(par, plan, command, loads, motion, scratch)
            if not loaded:
                if command.locked:
                    status = locked_step(par, plan, motion, scratch)
                else:
                    status = reeling_step(par, plan, command, motion, scratch, loads)
            if status != RUNNING:
                return status, row
            motion.clock[STEP] += 1
            motion.clock[TOTAL] += 1 << motion.clock[LEVEL]
        t = motion.reel[T_START] + motion.clock[STEP] * plan.h
        observe(par, command.locked, motion, scratch, out, row, t, loads)
    return RUNNING, out.scalars.shape[0]
