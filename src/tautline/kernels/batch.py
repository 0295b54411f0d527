"""Many members at once: LANES pendulums that step together, at constant length or with moving reels.

The arithmetic is that of fixed.py and reeling.py, compiled for lanes. A member that meets an event, whose step fails or
needs to be divided, leaves: it is given back as it was at its latest sample, to go on alone from there, and its lane is
filled with NaN, so that no loop waits for it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import TINY_LENGTH
from tautline.errors import RUNNING
from tautline.kernels.arrow import factorise
from tautline.kernels.balance import balance_jump, balance_tolerance, note_balance
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    ANGULAR_VELOCITY,
    BODY_SIZE,
    CLOCK_SIZE,
    COLUMN,
    CONTROL_WORK,
    FORCE,
    H_BEFORE,
    H_LAST,
    HELD,
    HELD_SPEED,
    INVERSE,
    ITERATIONS,
    LEVEL,
    LOWER,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    NODE_QUANTITIES,
    NOT_HELD,
    OMEGA,
    OMEGA_BEFORE,
    P_S,
    PENDING,
    POSITION,
    POSITION_ERR,
    PRESCRIBED,
    RAISED,
    RIGHT,
    ROTATION,
    S_ERR,
    SCALARS,
    SIGMA,
    SIGMA_BEFORE,
    SPIN,
    STEP,
    T_START,
    TARGET,
    TENSION_ONLY,
    TOTAL,
    Array,
    Counters,
    Motion,
    Parameters,
    S,
    Samples,
    Scratch,
    clear_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.drum import DRUM_SIZE, Reels, drum_from, holding, keep_drum
from tautline.kernels.energy import body_moment, element_length, momenta, strain_at_guide
from tautline.kernels.fixed import extrapolation, momenta_after, velocities_at_fixed_length, with_rotation
from tautline.kernels.guide import Entrance
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.lane_arrays import lane_array
from tautline.kernels.lanes import LANES, put, select, some, take, zero_like
from tautline.kernels.limits import Limits, limits_at_length, resolved_turn, set_level, turning_rate2
from tautline.kernels.march import end_of_string
from tautline.kernels.members import Members, own_command, own_parameters, own_plan, parameters_of
from tautline.kernels.observe import Diagnostics, diagnostics_of, note_reel, write_diagnostics
from tautline.kernels.reeling import (
    Rates,
    ReelImpulses,
    ReelStart,
    Target,
    evaluate_forces,
    extrapolated_rates,
    kept_reel_force,
    last_kick,
    move_string,
    reel_after,
    reel_before,
    solve_rates,
    step_target,
)
from tautline.kernels.rotation import add_spin, attitude, turn
from tautline.kernels.so3 import Matrix, Vector, add_scaled, apply_transposed, dot, scale, sub

# Those of Scratch.nodes that steps without loads need.
LANE_SCRATCH = TARGET + 1
# Status of a member that has to go on alone.
LEFT = -1


class Block(NamedTuple):
    """Motions of LANES members, each as a single run has it, and what became of them."""

    nodes: Array  # (LANES, NODE_QUANTITIES, 3 (N + 1))
    body: Array  # (LANES, BODY_SIZE)
    reel: Array  # (LANES, REEL_SIZE or more)
    clock: Counters  # (LANES, CLOCK_SIZE)
    status: Counters  # (LANES,) RUNNING or LEFT
    filled: Counters  # (LANES,) rows of samples


class Workspace(NamedTuple):
    """Nodes and bodies in lanes, and scratch."""

    nodes: Array  # (NODE_QUANTITIES, 3 (N + 1), LANES)
    body: Array  # (BODY_SIZE, LANES)
    scratch: Array  # (LANE_SCRATCH, 3 (N + 1), LANES)
    factor: Array  # (2, N + 2, LANES)
    drums: Array  # (LANES, DRUM_SIZE)
    at: Array  # (LANES, 2): strains at the guide
    reel: Array  # as in Block, at the latest sample
    clock: Counters


def empty_block(N: int, reel_size: int) -> Block:
    return Block(
        np.zeros((LANES, NODE_QUANTITIES, 3 * (N + 1))),
        np.zeros((LANES, BODY_SIZE)),
        np.zeros((LANES, reel_size)),
        np.zeros((LANES, CLOCK_SIZE), dtype=np.int64),
        np.full(LANES, RUNNING, dtype=np.int64),
        np.zeros(LANES, dtype=np.int64),
    )


def empty_workspace(N: int, reel_size: int) -> Workspace:
    return Workspace(
        np.zeros((NODE_QUANTITIES, 3 * (N + 1), LANES)),
        np.zeros((BODY_SIZE, LANES)),
        np.zeros((LANE_SCRATCH, 3 * (N + 1), LANES)),
        np.zeros((2, N + 2, LANES)),
        np.zeros((LANES, DRUM_SIZE)),
        np.zeros((LANES, 2)),
        np.zeros((LANES, reel_size)),
        np.zeros((LANES, CLOCK_SIZE), dtype=np.int64),
    )


def empty_block_samples(rows: int, N: int) -> Samples:
    """One more dimension than the samples of a single run: the member."""
    return Samples(np.full((LANES, rows, SCALARS), np.nan), np.full((LANES, rows, 2, N + 1, 3), np.nan))


@kernel
def into_lanes(block: Block, workspace: Workspace) -> None:
    for k in range(LANES):
        for i in range(block.nodes.shape[1]):
            for j in range(block.nodes.shape[2]):
                workspace.nodes[i, j, k] = block.nodes[k, i, j]
        for i in range(block.body.shape[1]):
            workspace.body[i, k] = block.body[k, i]


@kernel
def out_of_lanes(workspace: Workspace, k: int, nodes: Array, body: Array) -> None:
    for i in range(nodes.shape[0]):
        for j in range(nodes.shape[1]):
            nodes[i, j] = workspace.nodes[i, j, k]
    for i in range(body.shape[0]):
        body[i] = workspace.body[i, k]


@kernel
def save_members(block: Block, workspace: Workspace) -> None:
    """Put the motions of all that run aside, to go back to."""
    for k in range(LANES):
        if block.status[k] == RUNNING:
            out_of_lanes(workspace, k, block.nodes[k], block.body[k])
            copy_row(block.reel, workspace.reel, k)
            copy_row(block.clock, workspace.clock, k)


@kernel
def copy_row(x: Any, out: Any, k: int) -> None:
    for i in range(x.shape[1]):
        out[k, i] = x[k, i]


@kernel
def leave(block: Block, workspace: Workspace, k: int) -> None:
    """Give a member back as it was when it was saved, and let its lane rest."""
    block.status[k] = LEFT
    copy_row(workspace.reel, block.reel, k)
    copy_row(workspace.clock, block.clock, k)
    workspace.nodes[:, :, k] = math.nan
    workspace.body[:, k] = math.nan


@kernel
def running(block: Block) -> int:
    """Number of members that still run."""
    count = 0
    for k in range(LANES):
        count += block.status[k] == RUNNING
    return count


@kernel
def level_of_running(block: Block) -> int:
    """Level of a member that runs; all have the same."""
    level = 0
    for k in range(LANES):
        if block.status[k] == RUNNING:
            level = block.clock[k, LEVEL]
    return level


@inlined
def lanes_of(workspace: Workspace) -> tuple[Motion, Scratch]:
    """Views of the workspace. Reels and clocks are not in lanes."""
    x, y, z = workspace.nodes, workspace.scratch, workspace.factor
    nodes: Any = (
        lane_array(x[0]),
        lane_array(x[1]),
        lane_array(x[2]),
        lane_array(x[3]),
        lane_array(x[4]),
        lane_array(x[5]),
    )
    scratch: Any = (lane_array(y[0]), lane_array(y[1]), lane_array(y[2]), lane_array(y[3]), lane_array(y[4]))
    factor: Any = (lane_array(z[0]), lane_array(z[1]))
    nothing: Any = None
    return Motion(nodes, lane_array(workspace.body), nothing, nothing), Scratch(scratch, factor)


@inlined
def observe_locked(par: Parameters, block: Block, motion: Motion, scratch: Scratch) -> tuple[Rates, Vector]:
    """Rates and Pi; the pending kick is the same for all."""
    s = gather(block.reel, S, par.L)
    Pi = momenta_after(par, s, block.reel[0, PENDING], motion, scratch)
    nothing = zero_like(s)
    none = (nothing, nothing, nothing)
    p = scratch.nodes[TARGET]
    omega, _ = velocities_at_fixed_length(par, 0.0, p, Pi, attitude(motion.body), none, scratch)
    return Rates(nothing, omega, nothing), Pi


@inlined
def observe_reeling(
    par: Parameters, members: Members, block: Block, workspace: Workspace, motion: Motion, scratch: Scratch
) -> tuple[Rates, Vector]:
    """The same as legendre.rates_of gives a single run."""
    s = gather(block.reel, S, par.L)
    Pi = momenta_after(par, s, 0.0, motion, scratch)
    nothing = zero_like(s)
    sigma = nothing
    for k in range(LANES):
        held = block.reel[k, HELD] != NOT_HELD
        keep_drum(holding(held), workspace.drums[k])
        workspace.at[k, 0] = 0.0
        workspace.at[k, 1] = 0.0
        if held:
            sigma = put(sigma, k, block.reel[k, HELD_SPEED])
    reels: Any = Reels(members, block.status, workspace.drums)
    at: Any = workspace.at
    target = Target(gather(block.reel, P_S, par.L), Pi, at, reels)
    guess = Rates(sigma, (nothing, nothing, nothing), nothing)
    clear_nodes(scratch.nodes[MEAN_VELOCITY])
    q = motion.nodes[POSITION]
    rates, _, _ = solve_rates(par, 0.0, s, q, attitude(motion.body), target, guess, scratch)
    return rates, Pi


@inlined
def sample_members(
    par: Parameters,
    members: Members,
    block: Block,
    workspace: Workspace,
    lanes: tuple[Motion, Scratch],
    rates: Rates,
    Pi: Vector,
    row: int,
    out: Samples,
) -> None:
    """Observe all that run: figures in lanes, the rest one by one."""
    motion, scratch = lanes
    q = motion.nodes[POSITION]
    v = scratch.nodes[MEAN_VELOCITY]
    s = gather(block.reel, S, par.L)
    R = attitude(motion.body)
    x = diagnostics_of(par, s, rates.sigma, q, v, scratch.nodes[TARGET], R, rates.omega, Pi)
    P_s = momenta(par, s, rates.sigma, q, v, scratch.nodes[COLUMN])
    for k in range(LANES):
        if block.status[k] == RUNNING:
            reel = block.reel[k]
            own = out.scalars[k, row]
            write_diagnostics(diagnostics_of_one(x, k), own)
            note_reel(parameters_of(members, k), reel, take(rates.sigma, k), own)
            if reel[HELD] == PRESCRIBED:
                own[CONTROL_WORK] += (take(P_s, k) - reel[P_S]) * reel[SIGMA]
            note_turning(rates.omega, R, k, own)
            note_nodes(members.par.N, workspace, k, out.nodes[k, row])
            block.filled[k] += 1


@kernel
def diagnostics_of_one(x: Diagnostics, k: int) -> Diagnostics:
    return Diagnostics(
        take(x.kinetic, k),
        take(x.rotational, k),
        take(x.elastic, k),
        take(x.gravity, k),
        take(x.angular_momentum, k),
        take(x.orthogonality, k),
    )


@kernel
def note_turning(omega: Vector, R: Matrix, k: int, out: Array) -> None:
    for i in range(3):
        out[ANGULAR_VELOCITY + i] = take(omega[i], k)
        for j in range(3):
            out[ROTATION + 3 * i + j] = take(R[i][j], k)


@kernel
def note_nodes(N: int, workspace: Workspace, k: int, out: Array) -> None:
    q = workspace.nodes[POSITION]
    v = workspace.scratch[MEAN_VELOCITY]
    for i in range(3):
        for e in range(N + 1):
            out[0, e, i] = q[i * (N + 1) + e, k]
            out[1, e, i] = v[i * (N + 1) + e, k]


@kernel
def count_step(block: Block) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            block.clock[k, STEP] += 1
            block.clock[k, TOTAL] += 1 << block.clock[k, LEVEL]


@kernel
def leave_where(block: Block, workspace: Workspace, sizes: Any) -> None:
    """Members whose number is not below infinity leave."""
    for k in range(LANES):
        if block.status[k] == RUNNING and not take(sizes, k) < math.inf:
            leave(block, workspace, k)


@kernel
def gather(reel: Array, place: int, like: Any) -> Any:
    """One place of all members' reels, as lanes."""
    x = zero_like(like)
    for k in range(LANES):
        x = put(x, k, reel[k, place])
    return x


@kernel
def begin_members(members: Members, block: Block, workspace: Workspace, locked: bool) -> None:
    """The guard of every member; to be called at a sample, or with a fixed step."""
    for k in range(LANES):
        if block.status[k] == RUNNING:
            own = parameters_of(members, k)
            plan = own_plan(members.plan, members.numbers[:, k])
            limits = limits_at_length(own, plan, block.reel[k, S], locked)
            l = element_length(own, block.reel[k, S])
            turning = resolved_turn(own, plan, l, block.nodes[k, POSITION], block.body[k])
            limits = Limits(limits.waves, limits.damping, limits.drag, limits.stretching, turning, limits.drum)
            status = set_level(own, plan, locked, limits, block.reel[k], block.clock[k])
            if status != RUNNING or block.clock[k, RAISED] > 0:
                leave(block, workspace, k)


@kernel
def end_samples(members: Members, block: Block, workspace: Workspace, row: int, out: Samples) -> None:
    """Go on from the samples in this row; members that a single run would repeat with smaller steps leave."""
    for k in range(LANES):
        if block.status[k] == RUNNING:
            x = out.scalars[k, row]
            reel = block.reel[k]
            if members.plan.adaptive and not balance_jump(reel, x) <= balance_tolerance(reel, x):
                block.filled[k] -= 1
                leave(block, workspace, k)
            else:
                note_balance(reel, x)


@kernel
def finish_members(block: Block, workspace: Workspace) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            out_of_lanes(workspace, k, block.nodes[k], block.body[k])


@kernel
def element_force(par: Parameters, l: float, w: Vector) -> Vector:
    """f_e, as in energy.element_forces."""
    length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
    pull = par.EA / l * (1.0 - l / length)
    if par.elastic_law == TENSION_ONLY:
        pull = max(pull, 0.0)
    return scale(pull, w)


@kernel
def kick_and_eliminate(par: Parameters, l: float, h: float, motion: Motion, scratch: Scratch) -> None:
    """p -= h dV/dq, and the forward elimination behind it, from the guide to the body in one pass.

    A single run has a loop for each, which runs along the nodes with vector instructions. Lanes do not need that, and
    one pass reads and writes half as much: 0.94 of the time of a step at N = 20, 0.80 at N = 100.
    """
    q = motion.nodes[POSITION]
    p = motion.nodes[MOMENTUM]
    p_err = motion.nodes[MOMENTUM_ERR]
    lower = scratch.factor[LOWER]
    out_y = scratch.nodes[RIGHT]
    weight = par.mu_g * l
    x = node(q, 1)
    f = element_force(par, l, x)
    y = scale(0.0, x)
    for i in range(1, par.N):
        x_next = node(q, i + 1)
        f_next = element_force(par, l, sub(x_next, x))
        force = sub(f_next, f)
        accumulate_node(p, p_err, i, (h * force[0], h * force[1], h * (force[2] + weight)), par.compensated)
        y = add_scaled(node(p, i), -lower[i], y)
        put_node(out_y, i, y)
        x = x_next
        f = f_next
    end = h * (0.5 * weight + par.weight - f[2])
    accumulate_node(p, p_err, par.N, (-h * f[0], -h * f[1], end), par.compensated)
    put_node(out_y, par.N, add_scaled(node(p, par.N), -lower[par.N], y))


@kernel
def substitute_and_drift(par: Parameters, h: float, v_N: Vector, motion: Motion, scratch: Scratch) -> None:
    """Mean velocities from the body to the guide, and q += h v on the way."""
    q = motion.nodes[POSITION]
    q_err = motion.nodes[POSITION_ERR]
    lower = scratch.factor[LOWER]
    inverse = scratch.factor[INVERSE]
    y = scratch.nodes[RIGHT]
    v = v_N
    accumulate_node(q, q_err, par.N, scale(h, v), par.compensated)
    for i in range(par.N - 1, 0, -1):
        v = add_scaled(scale(inverse[i], node(y, i)), -lower[i + 1], v)
        accumulate_node(q, q_err, i, scale(h, v), par.compensated)


@inlined
def locked_lanes(par: Parameters, l: float, motion: Motion, scratch: Scratch, h: float, owed: float, x: float) -> Any:
    """One step of constant length (fixed.fixed_stage); finite where it went well."""
    body = motion.body
    R = attitude(body)
    kick_and_eliminate(par, l, owed + 0.5 * h, motion, scratch)
    t = scratch.factor[INVERSE][par.N]
    v_N = scale(t, node(scratch.nodes[RIGHT], par.N))
    size = dot(v_N, v_N)
    if par.rotates:
        add_spin(par, body, scale(owed + 0.5 * h, body_moment(par, R)))
        last = triple(body, OMEGA)
        guess = add_scaled(last, x, sub(last, triple(body, OMEGA_BEFORE)))
        v_N, omega, not_converged = with_rotation(par, h, t, v_N, triple(body, SPIN), R, guess)
        turn(par, body, h, apply_transposed(R, v_N), omega)
        put_triple(body, OMEGA_BEFORE, last)
        put_triple(body, OMEGA, omega)
        size = select(not_converged, math.inf, dot(v_N, v_N) + dot(omega, omega))
    substitute_and_drift(par, h, v_N, motion, scratch)
    return size


@entry
def march_locked(members: Members, block: Block, workspace: Workspace, out: Samples) -> None:
    """Fill the samples of a block of members of constant length; all have the same level and history."""
    plan = members.plan
    par = own_parameters(members.par, lane_array(members.numbers))
    into_lanes(block, workspace)
    save_members(block, workspace)
    begin_members(members, block, workspace, True)
    motion, scratch = lanes_of(workspace)
    l = element_length(par, gather(block.reel, S, par.L))
    factorise(par, l, scratch.factor[LOWER], scratch.factor[INVERSE])
    stages = len(plan.stages)
    plans = own_plan(plan, lane_array(members.numbers))
    parts = 1 << level_of_running(block)
    pending, h_last, h_before = block.reel[0, PENDING], block.reel[0, H_LAST], block.reel[0, H_BEFORE]
    for row in range(out.scalars.shape[1]):
        save_members(block, workspace)
        for _ in range(plan.steps_per_sample):
            if plan.adaptive and par.rotates:
                rate2 = turning_rate2(par, plans, l, motion.nodes[POSITION], motion.body)
                turned = rate2 * (plan.h / parts) * (plan.h / parts)
                size = select(turned > plan.resolution * plan.resolution, math.inf, turned)
                if some(size == math.inf):
                    leave_where(block, workspace, size)
            for i in range(parts * stages):
                h = plan.stages[i % stages] * plan.h / parts
                size = locked_lanes(par, l, motion, scratch, h, pending, extrapolation(h, h_last, h_before))
                if some(select(size < math.inf, 0.0, 1.0) > 0.0):
                    leave_where(block, workspace, size)
                pending = 0.5 * h
                h_before = h_last
                h_last = h
            count_step(block)
        for k in range(LANES):
            block.reel[k, PENDING] = pending
            block.reel[k, H_LAST] = h_last
            block.reel[k, H_BEFORE] = h_before
        rates, Pi = observe_locked(par, block, motion, scratch)
        sample_members(par, members, block, workspace, (motion, scratch), rates, Pi, row, out)
        end_samples(members, block, workspace, row, out)
        if running(block) == 0:
            return
    finish_members(block, workspace)


class Span(NamedTuple):
    """One stage of a base step."""

    h: float
    base: float  # the base step
    start: float  # parts of it
    end: float


@kernel
def times_of(block: Block, k: int, span: Span) -> tuple[float, float]:
    """Of both ends of a stage, for one member."""
    t = block.reel[k, T_START] + block.clock[k, STEP] * span.base
    return t + span.start * span.base, t + span.end * span.base


@kernel
def reels_before(members: Members, block: Block, workspace: Workspace, strain: Any, force: Any, span: Span) -> Any:
    """The reels' parts of a stage; p_s, sigma to start Newton's method from, and how far it is extrapolated."""
    p_s = zero_like(strain)
    sigma = zero_like(strain)
    x = zero_like(strain)
    for k in range(LANES):
        if block.status[k] == RUNNING:
            reel = block.reel[k]
            start, end = times_of(block, k, span)
            command = own_command(members, k, False)
            own = parameters_of(members, k)
            before = reel_before(own, command, reel, take(strain, k), take(force, k), span.h, start, end)
            keep_drum(before.drum, workspace.drums[k])
            workspace.at[k, 0] = before.at.strain
            workspace.at[k, 1] = before.at.spooled
            ahead = extrapolation(span.h, reel[H_LAST], reel[H_BEFORE])
            guess = before.sigma if before.drum.held else reel[SIGMA] + ahead * (reel[SIGMA] - reel[SIGMA_BEFORE])
            p_s = put(p_s, k, before.p_s)
            sigma = put(sigma, k, guess)
            x = put(x, k, ahead)
    return p_s, sigma, x


@kernel
def reels_after(
    members: Members, block: Block, workspace: Workspace, span: Span, rates: Rates, pushes: ReelImpulses
) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            _, end = times_of(block, k, span)
            before = ReelStart(
                0.0, 0.0, Entrance(workspace.at[k, 0], workspace.at[k, 1]), drum_from(workspace.drums[k])
            )
            own = ReelImpulses(
                take(pushes.s, k),
                take(pushes.force, k),
                take(pushes.gradient, k),
                take(pushes.force_end, k),
                take(pushes.strain_end, k),
            )
            none = (0.0, 0.0, 0.0)
            solved = Rates(take(rates.sigma, k), none, take(rates.impulse, k))
            command = own_command(members, k, False)
            reel_after(parameters_of(members, k), command, block.reel[k], before, span.h, end, solved, own)


@kernel
def move_reels(members: Members, block: Block, h: float, sigma: Any) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            accumulate(block.reel[k], S, S_ERR, h * take(sigma, k), members.par.compensated)


@kernel
def count_iterations(block: Block, iterations: Any) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            block.clock[k, ITERATIONS] += int(take(iterations, k))


@kernel
def end_at_events(members: Members, block: Block, workspace: Workspace) -> None:
    for k in range(LANES):
        if block.status[k] == RUNNING:
            plan = own_plan(members.plan, members.numbers[:, k])
            if end_of_string(parameters_of(members, k), plan, block.reel[k, S]) != RUNNING:
                leave(block, workspace, k)


@entry
def march_reeling(members: Members, block: Block, workspace: Workspace, out: Samples) -> None:
    """Fill the samples of a block of members with moving reels, at a fixed step."""
    plan = members.plan
    par = own_parameters(members.par, lane_array(members.numbers))
    into_lanes(block, workspace)
    motion, scratch = lanes_of(workspace)
    q = motion.nodes[POSITION]
    f = scratch.nodes[FORCE]
    evaluate_forces(par, gather(block.reel, S, par.L), q, f)
    reels: Any = Reels(members, block.status, workspace.drums)
    at: Any = workspace.at
    for row in range(out.scalars.shape[1]):
        save_members(block, workspace)
        for _ in range(plan.steps_per_sample):
            begin_members(members, block, workspace, False)
            done = 0.0
            for i in range(len(plan.stages)):
                h = plan.stages[i] * plan.h
                span = Span(h, plan.h, done, done + plan.stages[i])
                s = gather(block.reel, S, par.L)
                R = attitude(motion.body)
                strain = strain_at_guide(par, q, element_length(par, s))
                force = kept_reel_force(f)
                p_s, sigma, x = reels_before(members, block, workspace, strain, force, span)
                guess = extrapolated_rates(x, motion, sigma, scratch.nodes[MEAN_VELOCITY])
                target = step_target(par, h, s, motion, R, p_s, at, reels, scratch)
                rates, failed, iterations = solve_rates(par, h, s, q, R, target, guess, scratch)
                p_N = node(motion.nodes[MOMENTUM], par.N)
                size = dot(p_N, p_N) + dot(target.Pi, target.Pi) + p_s * p_s
                size = select(failed, math.inf, size)
                if some(select(size < math.inf, 0.0, 1.0) > 0.0):
                    leave_where(block, workspace, size)
                gradient = move_string(par, motion, scratch, h, s, rates, R)
                move_reels(members, block, h, rates.sigma)
                force_end, strain_end = last_kick(par, motion, scratch, h, gather(block.reel, S, par.L))
                pushes = ReelImpulses(s, force, gradient, force_end, strain_end)
                reels_after(members, block, workspace, span, rates, pushes)
                count_iterations(block, iterations)
                done = span.end
            end_at_events(members, block, workspace)
            count_step(block)
        rates, Pi = observe_reeling(par, members, block, workspace, motion, scratch)
        sample_members(par, members, block, workspace, (motion, scratch), rates, Pi, row, out)
        end_samples(members, block, workspace, row, out)
        evaluate_forces(par, gather(block.reel, S, par.L), q, f)
        if running(block) == 0:
            return
    finish_members(block, workspace)
