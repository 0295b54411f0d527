"""Many steps with tangents: the derivative of a march, at the steps that it makes."""

from __future__ import annotations

from tautline.arrays import Array
from tautline.errors import INTERRUPTED, RUNNING
from tautline.kernels import data
from tautline.kernels.data import Command, Loads, Motion, Parameters, Plan, Samples, Scratch
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.fused import kick_and_eliminate, no_drift, substitute_and_drift
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.inverse import holding_torques, prescribed_torques
from tautline.kernels.jit import inlined, tangent_entry
from tautline.kernels.march import Marched
from tautline.kernels.observe import begin, change_reel_mode, observe
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.stage import diverged, failed, make_fixed_step
from tautline.kernels.step import one_step_with_tangents
from tautline.kernels.steps import end_of_string
from tautline.kernels.tables import curve_at
from tautline.kernels.tridiagonal import factorise

# With tangents a pass along the nodes has full vectors as it is, and fewer passes read and write less.
_, fixed_base_step = make_fixed_step(kick_and_eliminate, substitute_and_drift, no_drift, diverged, failed)


@inlined
def base_step(par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, loads: Loads) -> int:
    """One base step, whole."""
    status: int
    if command.locked and not (loads.acts or loads.moves):
        l = element_length(par, motion.reel[data.S])
        status, history = fixed_base_step(par, plan, l, 1, 1, history_of(motion.reel), motion, scratch)
        keep_history(history, motion.reel)
        return status
    t = motion.reel[data.T_START] + motion.clock[data.STEP] * plan.h
    status = one_step_with_tangents(par, plan, command, motion, scratch, t, plan.h, loads)
    if status == RUNNING and not command.locked:
        status = end_of_string(par, plan, motion.reel[data.S])
    return status


@tangent_entry
def begin_with_tangents(par: Parameters, command: Command, motion: Motion, scratch: Scratch) -> Marched:
    """Momenta of a motion at its start, from positions and velocities; a motion that is prescribed begins."""
    begin(par, motion)
    if command.kind == data.BY_PROFILE and not command.locked:
        _, speed, acceleration = curve_at(command.profile.T, motion.reel[data.T_START])
        energy = change_reel_mode(par, False, motion, scratch, data.PRESCRIBED, speed, acceleration)
        motion.reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] += energy
    return Marched(RUNNING, 0)


@tangent_entry
def torques_with_tangents(
    par: Parameters,
    command: Command,
    times: Array,
    workspace: Motion,
    scratch: Scratch,
    out: Samples,
    loads: Loads,
) -> Marched:
    """Torques of samples that hold a locked reel or lead one whose motion is prescribed; rows where all were found."""
    found = True
    if command.locked:
        holding_torques(par, times, workspace, scratch, out, loads)
    else:
        found = prescribed_torques(par, command.profile, times, workspace, scratch, out, loads)
    return Marched(RUNNING, out.scalars.shape[0] if found else 0)


@tangent_entry
def march_with_tangents(
    par: Parameters,
    plan: Plan,
    command: Command,
    motion: Motion,
    scratch: Scratch,
    out: Samples,
    loads: Loads,
    pulse: int = 0,
) -> Marched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps, with derivatives of all that is written.

    Steps are of the length plan.h. An event ends the march after the step that meets it, and the
    function at the address `pulse` may (interrupts.py).
    """
    if command.locked:
        l = element_length(par, motion.reel[data.S])
        factorise(par, l, scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
    else:
        evaluate_forces(par, motion.reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
    left = FIRST_QUESTION
    for row in range(out.scalars.shape[0]):
        for _ in range(plan.steps_per_sample):
            left = steps_left(pulse, left, 1)
            if must_stop(pulse, left):
                return Marched(INTERRUPTED, row)
            status = base_step(par, plan, command, motion, scratch, loads)
            if status != RUNNING:
                return Marched(status, row)
            motion.clock[data.STEP] += 1
            motion.clock[data.TOTAL] += 1
        t = motion.reel[data.T_START] + motion.clock[data.STEP] * plan.h
        observe(par, command.locked, motion, scratch, out, row, t, loads)
    return Marched(RUNNING, out.scalars.shape[0])
