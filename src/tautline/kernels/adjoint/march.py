"""The way back through many steps: they are made once more from a checkpoint and recorded, and then taken back."""

from __future__ import annotations

from tautline.errors import RUNNING
from tautline.kernels.adjoint.data import (
    AT_BASE,
    AT_END,
    AT_H,
    AT_KICK,
    AT_OMEGA,
    AT_PART,
    AT_QUATERNION,
    AT_S,
    AT_START,
    BY_H,
    MOMENTUM_BAR,
    P_S_BAR,
    SAMPLE_MOMENTUM,
    SAMPLE_OMEGA,
    SAMPLE_P_S,
    SAMPLE_PENDING,
    SAMPLE_POSITION,
    SAMPLE_QUATERNION,
    SAMPLE_S,
    SAMPLE_SIGMA,
    SAMPLE_SPIN,
    SAMPLE_STEPS,
    SAMPLE_TIME,
    SAMPLE_VELOCITY,
    Adjoint,
    Record,
)
from tautline.kernels.adjoint.data import AT_SIGMA as AT_RATE
from tautline.kernels.adjoint.fixed import fixed_stage_back
from tautline.kernels.adjoint.observe import sample_back
from tautline.kernels.adjoint.potential import impulse_back
from tautline.kernels.adjoint.reeling import reeling_stage_back
from tautline.kernels.data import (
    ATTITUDE,
    BORDER,
    INVERSE,
    LOWER,
    MEAN_VELOCITY,
    OMEGA,
    P_S,
    PENDING,
    POSITION,
    PULL,
    SIGMA,
    STEP,
    T_START,
    TARGET,
    Array,
    Command,
    Motion,
    Parameters,
    Plan,
    S,
    Samples,
    Scratch,
    copy_nodes,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length, momenta
from tautline.kernels.fixed import history_of, keep_history, momenta_with_kick
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.legendre import rates_of
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.stage import composed_step, fixed_stage
from tautline.kernels.tridiagonal import factorise


@kernel
def copy_quaternion(body: Array, i: int, out: Array) -> None:
    for k in range(4):
        out[i + k] = body[ATTITUDE + k]


@inlined
def recorded_step(
    par: Parameters,
    plan: Plan,
    single: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    first: int,
    out: Record,
) -> int:
    """A base step, its stages written into the record from `first` on; `single` is the plan with one stage."""
    status = RUNNING
    reel = motion.reel
    done = 0.0
    steps = motion.clock[STEP]
    for i in range(len(plan.stages)):
        if status == RUNNING:
            part = plan.stages[i]
            h = part * plan.h
            numbers, nodes = out.numbers[first + i], out.nodes[first + i]
            copy_nodes(motion.nodes[POSITION], nodes[0])
            copy_quaternion(motion.body, AT_QUATERNION, numbers)
            numbers[AT_S], numbers[AT_H], numbers[AT_PART] = reel[S], h, part
            numbers[AT_BASE] = steps + done
            numbers[AT_START] = reel[T_START] + numbers[AT_BASE] * plan.h
            numbers[AT_END] = reel[T_START] + (numbers[AT_BASE] + part) * plan.h
            done += part
            if command.locked:
                numbers[AT_KICK] = reel[PENDING] + 0.5 * h
                l = element_length(par, reel[S])
                status, history = fixed_stage(par, l, history_of(reel), motion, scratch, h)
                keep_history(history, reel)
            else:
                status = composed_step(par, single, command, motion, scratch, numbers[AT_START], h)
                numbers[AT_RATE] = reel[SIGMA]
            copy_nodes(scratch.nodes[MEAN_VELOCITY], nodes[1])
            put_triple(numbers, AT_OMEGA, triple(motion.body, OMEGA))
    return status


@inlined
def record_sample(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, row: int, out: Record
) -> None:
    """What `observe` finds at a sample, into row `row`."""
    reel = motion.reel
    numbers, nodes = out.at_samples[row], out.samples[row]
    Pi = momenta_with_kick(par, motion, scratch)
    rates = rates_of(par, command.locked, motion, reel[P_S], Pi, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    copy_nodes(motion.nodes[POSITION], nodes[SAMPLE_POSITION])
    copy_nodes(v, nodes[SAMPLE_VELOCITY])
    copy_nodes(scratch.nodes[TARGET], nodes[SAMPLE_MOMENTUM])
    copy_quaternion(motion.body, SAMPLE_QUATERNION, numbers)
    put_triple(numbers, SAMPLE_OMEGA, rates.omega)
    put_triple(numbers, SAMPLE_SPIN, Pi)
    numbers[SAMPLE_S], numbers[SAMPLE_SIGMA] = reel[S], rates.sigma
    numbers[SAMPLE_PENDING] = reel[PENDING]
    numbers[SAMPLE_STEPS] = motion.clock[STEP]
    numbers[SAMPLE_TIME] = reel[T_START] + motion.clock[STEP] * plan.h
    numbers[SAMPLE_P_S] = momenta(par, reel[S], rates.sigma, motion.nodes[POSITION], v, scratch.nodes[BORDER])


@entry
def march_back(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    bars: Samples,
    record: Record,
    out: Adjoint,
) -> int:
    """Take the adjoint at the end of some sample intervals back to their start; the status of their march.

    `motion` is a checkpoint at the start, and at the end of the intervals afterwards. `bars` are the derivatives by the
    samples at the ends of the intervals. Steps are of one length, and the reel does not reach its ends.
    """
    rows = bars.scalars.shape[0]
    a_step = len(plan.stages)
    a_row = plan.steps_per_sample * a_step
    single = Plan(
        plan.h,
        record.single,
        plan.limit_multiple,
        False,
        plan.allowed_ratio,
        plan.resolution,
        plan.minimum_length,
        plan.end_mass,
        plan.body_frequency2,
        plan.steps_per_sample,
        plan.hold,
        plan.drum_stiffness,
        plan.swing,
        plan.drum_damping,
    )
    if command.locked:
        factorise(par, element_length(par, motion.reel[S]), scratch.factor[LOWER], scratch.factor[INVERSE])
    else:
        evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[PULL])
    status = RUNNING
    for row in range(rows):
        for count in range(plan.steps_per_sample):
            if status == RUNNING:
                first = row * a_row + count * a_step
                status = recorded_step(par, plan, single, command, motion, scratch, first, record)
                motion.clock[STEP] += 1
        if status == RUNNING:
            record_sample(par, plan, command, motion, scratch, row, record)
    if status != RUNNING:
        return status
    for row in range(rows - 1, -1, -1):
        at, samples = record.at_samples[row], record.samples[row]
        sample_back(par, plan, command, at, samples, bars.scalars[row], bars.nodes[row], scratch, out)
        owed = 0.0
        for i in range((row + 1) * a_row - 1, row * a_row - 1, -1):
            numbers, nodes = record.numbers[i], record.nodes[i]
            if command.locked:
                h_bar, kick_bar = fixed_stage_back(par, numbers, nodes, scratch, out)
                out.numbers[BY_H] += kick_bar * numbers[AT_KICK] / plan.h
            else:
                h_bar = reeling_stage_back(par, command, owed, numbers, nodes, scratch, out)
                owed = 0.5 * numbers[AT_H]
            out.numbers[BY_H] += h_bar * numbers[AT_PART]
        if not command.locked:
            s, q = record.numbers[row * a_row, AT_S], record.nodes[row * a_row, 0]
            kick_bar = impulse_back(par, owed, s, q, out.nodes[MOMENTUM_BAR], out.reel[P_S_BAR], out)
            out.numbers[BY_H] += kick_bar * owed / plan.h
    return status
