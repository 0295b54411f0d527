"""Many members at once: LANES pendulums that step together, at constant length or with moving reels.

Steps, samples and guards are those of single runs, compiled for lanes. A member that meets an event, whose step fails
or needs to be divided, leaves: it is given back as it was at its latest sample, to go on alone from there.
"""

from __future__ import annotations

from typing import Any

from tautline.arrays import Array2
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.balance import balance_jump, balance_tolerance, note_balance
from tautline.kernels.data import Motion, Parameters, Plan, Scratch
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history, momenta_with_kick
from tautline.kernels.guide import REMEMBERS, spooled_energy
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.lane_motions import (
    clear_left,
    finish_members,
    into_lanes,
    motion_in_lanes,
    motion_of,
    save_members,
)
from tautline.kernels.lane_stages import composed_step, fixed_base_step
from tautline.kernels.lanes import LANES, lane_array, put, select, some, take, zero_like
from tautline.kernels.legendre import rates_at_fixed_length, rates_with_reel
from tautline.kernels.limits import guard, limits_change, turns_fast
from tautline.kernels.members import (
    LEFT,
    Block,
    BlockSamples,
    Members,
    Workspace,
    count_steps,
    leave_where,
    level_of_running,
    parameters_of,
    plan_of,
    times_of,
    unpack_parameters,
    unpack_plan,
    write_node_lanes,
)
from tautline.kernels.newton import Rates
from tautline.kernels.observe import sample_of, write_sample
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.reels import Reels, hold_reels
from tautline.kernels.so3 import Vector
from tautline.kernels.steps import end_of_string
from tautline.kernels.tridiagonal import factorise


@kernel
def guard_members(members: Members, block: Block, locked: bool, must: float) -> None:
    """Guard the next base step of members where `must` is not 0 (limits.guard).

    Bodies and nodes are looked at as of the start of the march. That is enough: only a step that adapts depends on
    them, and such members are guarded there alone.
    """
    for k in range(LANES):
        if block.status[k] == RUNNING and take(must, k) != 0.0:
            motion = motion_of(block, k)
            status = guard(parameters_of(members, k), plan_of(members, k), locked, motion, None)
            if status != RUNNING or motion.clock[data.RAISED] > 0:
                block.status[k] = LEFT


@inlined
def guard_reels(par: Parameters, plan: Plan, members: Members, block: Block, motion: Motion) -> None:
    """Guard members whose limits may have changed."""
    must = limits_change(par, plan, motion.reel)
    if some(must):
        guard_members(members, block, False, select(must, 1.0, 0.0))


@inlined
def turn_resolved(par: Parameters, plan: Plan, l: float, h: float, motion: Motion) -> None:
    """Let members leave whose bodies turn, or swing on the string, too fast for steps of length h."""
    fast = turns_fast(par, plan, l, h, motion)
    clock: Any = motion.clock
    if some(fast):
        leave_where(clock, fast)


@kernel
def end_at_events(members: Members, block: Block) -> None:
    """Let members leave whose reels have come to the end of the string."""
    for k in range(LANES):
        if block.status[k] == RUNNING:
            s = block.reel[k, data.S]
            if end_of_string(parameters_of(members, k), plan_of(members, k), s) != RUNNING:
                block.status[k] = LEFT


@kernel
def energies_on_reels(par: Parameters, members: Members, block: Block) -> float:
    """Elastic energies of the string on the reels of members that run."""
    energies = zero_like(par.L)
    if REMEMBERS[par.law]:
        for k in range(LANES):
            if block.status[k] == RUNNING:
                reel = block.reel[k]
                energies = put(energies, k, spooled_energy(parameters_of(members, k), reel, reel[data.S]))
    return energies


@inlined
def sample_members(
    par: Parameters,
    members: Members,
    locked: bool,
    block: Block,
    motion: Motion,
    rates: Rates,
    Pi: Vector,
    scratch: Scratch,
    sample: Array2,
    place: int,
    out: BlockSamples,
) -> None:
    """Write a sample of each member, and let those that run go on from there.

    Members that a single run would repeat with smaller steps leave.
    """
    x = sample_of(par, locked, motion, rates, motion.reel[data.P_S], Pi, scratch)
    write_node_lanes(par.N, motion.nodes[data.POSITION], scratch.nodes[data.MEAN_VELOCITY], place, out.nodes)
    scalars: Any = lane_array(sample)
    write_sample(motion.reel, energies_on_reels(par, members, block), x, scalars)
    for i in range(len(scalars)):
        row: Any = lane_array(out.scalars[i])
        row[place] = scalars[i]
    for k in range(LANES):
        if block.status[k] == RUNNING:
            reel, own = block.reel[k], sample[:, k]
            if members.plan.adaptive and not balance_jump(reel, own) <= balance_tolerance(reel, own):
                block.status[k] = LEFT
            else:
                note_balance(reel, own)
                block.filled[k] += 1


@entry
def march_locked(
    members: Members, block: Block, workspace: Workspace, out: BlockSamples, first: int, every: int, pulse: int = 0
) -> None:
    """Fill the samples of a block of members of constant length; all have the same level and history.

    These are `every` places apart, from the first one on. The function at the address `pulse` may stop the march
    (interrupts.py); members are of no use then.
    """
    par = unpack_parameters(members.par, lane_array(members.numbers))
    plan = unpack_plan(members.plan, lane_array(members.plans))
    into_lanes(block, workspace)
    save_members(block, workspace)
    motion, scratch = motion_in_lanes(block, workspace)
    guard_members(members, block, True, zero_like(motion.reel[data.S]) + 1.0)
    l = element_length(par, motion.reel[data.S])
    factorise(par, l, scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
    parts = 1 << level_of_running(block)
    history = history_of(block.reel[0])
    running = clear_left(block, workspace, LANES)
    left = FIRST_QUESTION
    for place in range(first, out.scalars.shape[1], every):
        if running == 0:
            break
        save_members(block, workspace)
        for _ in range(plan.steps_per_sample):
            if plan.adaptive and par.rotates:
                turn_resolved(par, plan, l, plan.h / parts, motion)
            _, history = fixed_base_step(par, plan, l, parts, parts, history, motion, scratch)
            running = clear_left(block, workspace, running)
            left = steps_left(pulse, left, parts)
            if must_stop(pulse, left):
                return
        count_steps(block, plan.steps_per_sample)
        for k in range(LANES):
            keep_history(history, block.reel[k])
        Pi = momenta_with_kick(par, motion, scratch)
        rates = rates_at_fixed_length(par, motion, Pi, scratch)
        sample_members(par, members, True, block, motion, rates, Pi, scratch, workspace.sample, place, out)
        running = clear_left(block, workspace, running)
    finish_members(block, workspace)


@entry
def march_reeling(
    members: Members, block: Block, workspace: Workspace, out: BlockSamples, first: int, every: int, pulse: int = 0
) -> None:
    """Fill the samples of a block of members with moving reels, at a fixed step; places as in `march_locked`."""
    plan = members.plan
    par = unpack_parameters(members.par, lane_array(members.numbers))
    into_lanes(block, workspace)
    motion, scratch = motion_in_lanes(block, workspace)
    reels: Any = Reels(members, block.status, block.reel, workspace.starts)
    running = LANES
    left = FIRST_QUESTION
    for place in range(first, out.scalars.shape[1], every):
        if running == 0:
            break
        save_members(block, workspace)
        evaluate_forces(par, motion.reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
        for _ in range(plan.steps_per_sample):
            guard_reels(par, plan, members, block, motion)
            composed_step(par, plan, reels, motion, scratch, times_of(block, plan.h, par.L), plan.h)
            end_at_events(members, block)
            count_steps(block, 1)
            running = clear_left(block, workspace, running)
            left = steps_left(pulse, left, 1)
            if must_stop(pulse, left):
                return
        hold_reels(reels)
        Pi = momenta_with_kick(par, motion, scratch)
        rates = rates_with_reel(par, motion, motion.reel[data.P_S], Pi, reels, scratch)
        sample_members(par, members, False, block, motion, rates, Pi, scratch, workspace.sample, place, out)
        running = clear_left(block, workspace, running)
    finish_members(block, workspace)
