"""Reverse pass through many steps: they are made once more from a checkpoint and recorded, and then taken back."""

from __future__ import annotations

from tautline.errors import INTERRUPTED, RUNNING
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.boundary import Acting, boundary_back, boundary_forward, jump_forward
from tautline.kernels.adjoint.data import Adjoint, Record, Setting
from tautline.kernels.adjoint.fixed import fixed_stage_back
from tautline.kernels.adjoint.forward import can_be_taken_back, stage_forward
from tautline.kernels.adjoint.observe import sample_back
from tautline.kernels.adjoint.potential import impulse_back_apart
from tautline.kernels.adjoint.reeling import reeling_stage_back
from tautline.kernels.data import (
    Array,
    Command,
    Counters,
    Loads,
    Motion,
    Parameters,
    Plan,
    Samples,
    Scratch,
    copy_nodes,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined
from tautline.kernels.loads.jump import keep_velocities
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.so3 import ZERO
from tautline.kernels.stage import fixed_stage
from tautline.kernels.tridiagonal import factorise

# A status of its own: the drum sticks or glides.
NO_WAY_BACK = -1


@inlined
def copy_quaternion(body: Array, i: int, out: Array) -> None:
    for k in range(4):
        out[i + k] = body[data.ATTITUDE + k]


@inlined
def remembers(par: Parameters, loads: Loads) -> bool:
    """Whether loads look at mean velocities of the steps before."""
    return loads.acts and (loads.own[DRAG].acts or par.elastic_law != data.LINEAR)


@inlined
def record_motion(motion: Motion, i: int, out: Record) -> None:
    """Record the parts of a motion that loads look at."""
    for row in (data.POSITION, data.VELOCITY, data.VELOCITY_BEFORE):
        copy_nodes(motion.nodes[row], out.motions[i, row])
    copy_nodes(motion.body, out.bodies[i])
    copy_nodes(motion.reel, out.reels[i])


@inlined
def recorded_motion(record: Record, i: int, clock: Counters) -> Motion:
    return Motion(record.motions[i], record.bodies[i], record.reels[i], clock)


@inlined
def recorded_jump(x: Setting, t: float, ahead: float, motion: Motion, scratch: Scratch, i: int, out: Record) -> None:
    """Let loads act where a stage joins the one before."""
    record_motion(motion, i, out)
    rates = jump_forward(x.par, x.loads, x.command.locked, t, ahead, motion, scratch)
    copy_nodes(scratch.nodes[data.MEAN_VELOCITY], out.nodes[i, 2])
    out.numbers[i, adjoint.AT_BOUNDARY_SIGMA] = rates.sigma
    put_triple(out.numbers[i], adjoint.AT_BOUNDARY_OMEGA, rates.omega)


@inlined
def recorded_step(x: Setting, motion: Motion, scratch: Scratch, first: int, out: Record) -> int:
    """A base step, its stages written into the record from `first` on."""
    par, plan, command, loads = x
    status = RUNNING
    reel = motion.reel
    done = 0.0
    steps = motion.clock[data.STEP]
    for i in range(len(plan.stages)):
        if status == RUNNING:
            part = plan.stages[i]
            h = part * plan.h
            numbers, nodes = out.numbers[first + i], out.nodes[first + i]
            copy_nodes(motion.nodes[data.POSITION], nodes[0])
            copy_quaternion(motion.body, adjoint.AT_QUATERNION, numbers)
            numbers[adjoint.AT_S], numbers[adjoint.AT_H], numbers[adjoint.AT_PART] = reel[data.S], h, part
            numbers[adjoint.AT_BASE] = steps + done
            numbers[adjoint.AT_START] = reel[data.T_START] + numbers[adjoint.AT_BASE] * plan.h
            numbers[adjoint.AT_END] = reel[data.T_START] + (numbers[adjoint.AT_BASE] + part) * plan.h
            done += part
            if loads.acts:
                recorded_jump(x, numbers[adjoint.AT_START], 0.5 * h, motion, scratch, first + i, out)
            if command.locked:
                numbers[adjoint.AT_KICK] = reel[data.PENDING] + 0.5 * h
                l = element_length(par, reel[data.S])
                status, history = fixed_stage(par, l, history_of(reel), motion, scratch, h)
                keep_history(history, reel)
            else:
                start = numbers[adjoint.AT_START]
                status = stage_forward(par, command, motion, scratch, h, start, start + h)
                numbers[adjoint.AT_SIGMA] = reel[data.SIGMA]
                if not can_be_taken_back(reel):
                    status = NO_WAY_BACK
            copy_nodes(scratch.nodes[data.MEAN_VELOCITY], nodes[1])
            put_triple(numbers, adjoint.AT_OMEGA, triple(motion.body, data.OMEGA))
            if loads.acts:
                reel[data.LOADS_PENDING] = 0.5 * h
                keep_velocities(par.N, motion, scratch)
    return status


@inlined
def record_sample(x: Setting, motion: Motion, scratch: Scratch, row: int, out: Record) -> None:
    """Velocities of a sample, as `observe` finds them, into row `row`."""
    t = motion.reel[data.T_START] + motion.clock[data.STEP] * x.plan.h
    _, rates = boundary_forward(x.par, x.loads, x.command.locked, t, 0.0, motion, scratch)
    copy_nodes(scratch.nodes[data.MEAN_VELOCITY], out.samples[row])
    out.at_samples[row, 0] = rates.sigma
    put_triple(out.at_samples[row], 1, rates.omega)


@inlined
def jump_back(x: Setting, motion: Motion, v: Array, numbers: Array, scratch: Scratch, out: Adjoint) -> None:
    """Take the adjoint back over what loads did where a stage joins the one before."""
    back, ahead = motion.reel[data.LOADS_PENDING], 0.5 * numbers[adjoint.AT_H]
    time = back + ahead
    lost, gained = -time * out.reel[adjoint.DAMPING_BAR], time * out.reel[adjoint.FLUID_BAR]
    pushed = time * out.reel[adjoint.EXTERNAL_BAR]
    acting = Acting(
        numbers[adjoint.AT_START], numbers[adjoint.AT_BASE], x.plan.h, back, ahead, time, lost, gained, pushed
    )
    rates = Rates(numbers[adjoint.AT_BOUNDARY_SIGMA], triple(numbers, adjoint.AT_BOUNDARY_OMEGA), 0.0)
    boundary_back(x, acting, motion, v, rates, 0.0, ZERO, scratch, out)


@entry
def march_back(
    par: Parameters,
    plan: Plan,
    command: Command,
    loads: Loads,
    motion: Motion,
    scratch: Scratch,
    bars: Samples,
    record: Record,
    out: Adjoint,
    pulse: int = 0,
) -> int:
    """Take the adjoint at the end of some sample intervals back to their start; the status of their march.

    `motion` is a checkpoint at the start, and at the end of the intervals afterwards. `bars` are the derivatives by the
    samples at the ends of the intervals. Steps are of one length, and the reel does not reach its ends. Loads that act
    have done so in a step before. The function at the address `pulse` may stop it (interrupts.py).
    """
    setting = Setting(par, plan, command, loads)
    rows = bars.scalars.shape[0]
    a_step = len(plan.stages)
    a_row = plan.steps_per_sample * a_step
    if command.locked:
        l = element_length(par, motion.reel[data.S])
        factorise(par, l, scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
    else:
        evaluate_forces(par, motion.reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
    status = RUNNING
    if not command.locked and not can_be_taken_back(motion.reel):
        status = NO_WAY_BACK
    left = FIRST_QUESTION
    for row in range(rows):
        for count in range(plan.steps_per_sample):
            if status == RUNNING:
                first = row * a_row + count * a_step
                status = recorded_step(setting, motion, scratch, first, record)
                motion.clock[data.STEP] += 1
                left = steps_left(pulse, left, 1)
                if status == RUNNING and must_stop(pulse, left):
                    status = INTERRUPTED
        if status == RUNNING:
            record_sample(setting, motion, scratch, row, record)
            if not loads.acts:
                record_motion(motion, row, record)
    if status != RUNNING:
        return status
    if loads.acts:
        record_motion(motion, rows * a_row, record)
    remembered = remembers(par, loads)
    for row in range(rows - 1, -1, -1):
        then = recorded_motion(record, (row + 1) * a_row if loads.acts else row, motion.clock)
        last, v = record.numbers[(row + 1) * a_row - 1], record.samples[row]
        rates = Rates(record.at_samples[row, 0], triple(record.at_samples[row], 1), 0.0)
        x, y = bars.scalars[row], bars.nodes[row]
        sample_back(setting, then, last, v, rates, x, y, scratch, out)
        owed = 0.0
        for i in range((row + 1) * a_row - 1, row * a_row - 1, -1):
            numbers, nodes = record.numbers[i], record.nodes[i]
            left = steps_left(pulse, left, 1)
            if must_stop(pulse, left):
                return INTERRUPTED
            if command.locked:
                h_bar, kick_bar = fixed_stage_back(par, remembered, numbers, nodes, scratch, out)
                out.numbers[adjoint.BY_H] += kick_bar * numbers[adjoint.AT_KICK] / plan.h
            else:
                h_bar = reeling_stage_back(par, command, remembered, owed, numbers, nodes, scratch, out)
                owed = 0.5 * numbers[adjoint.AT_H]
            out.numbers[adjoint.BY_H] += h_bar * numbers[adjoint.AT_PART]
            if not command.locked and (loads.acts or i == row * a_row):
                # what acts between kicks at one configuration keeps them apart
                p_bar, p_s_bar = out.nodes[adjoint.MOMENTUM_BAR], out.reel[adjoint.P_S_BAR]
                kick_bar = impulse_back_apart(par, owed, numbers[adjoint.AT_S], nodes[0], p_bar, p_s_bar, out)
                out.numbers[adjoint.BY_H] += kick_bar * owed / plan.h
                owed = 0.0
            if loads.acts:
                before = recorded_motion(record, i, motion.clock)
                jump_back(setting, before, nodes[2], numbers, scratch, out)
    return status
