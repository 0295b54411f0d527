"""Members of a block: what they share, numbers of their own, and memory for their motions and samples.

Blocks of LANES members step together. Nodes and bodies are in lanes; reels, with their many cases, are arrays of their
own, one row a member, and are worked off one by one with the kernels of a single run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array2, Array3, Counters2
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.data import Array, Command, Counters, Parameters, Plan, Samples, node_stride, row_length
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import LANES, lane_array, put, select, take, vector_zeros, zero_like
from tautline.kernels.layout import Layout

# Numbers that all members of a block have in common, because kernels decide by them or step by them.
SHARED_NUMBERS = {"viscosity", "theta", "growth", "h", "limit_multiple", "allowed_ratio", "resolution"}
# Those of Scratch.nodes that steps without loads need.
LANE_SCRATCH = data.IMPULSE + 1
# Status of a member that has to go on alone.
LEFT = -1


def _is_shared(name: str, kind: Any) -> bool:
    return kind in (int, bool, Array) or name in SHARED_NUMBERS


PARAMETERS = Layout(Parameters, _is_shared)
PLAN = Layout(Plan, _is_shared)
COMMAND = Layout(Command)

unpack_parameters, unpack_plan, unpack_command = PARAMETERS.unpack, PLAN.unpack, COMMAND.unpack


class CommandTables(NamedTuple):
    """Tables of the commands of a block, filled up to the longest; one field for each array of a Command."""

    times: Array2
    torques: Array2
    profile: Array3


class Members(NamedTuple):
    """Settings of a block: elements, laws, step and method are those of the first member, other numbers are own."""

    par: Parameters
    plan: Plan
    numbers: Array2  # (PARAMETERS.size, LANES)
    plans: Array2  # (PLAN.size, LANES)
    commands: Array2  # (LANES, COMMAND.size)
    tables: CommandTables


def members_of(settings: Sequence[tuple[Parameters, Plan, Command]]) -> Members:
    """Settings of a block, from those of LANES members."""
    pars, plans, commands = zip(*settings, strict=True)
    return Members(
        pars[0],
        plans[0],
        np.stack([PARAMETERS.row(par) for par in pars], axis=1),
        np.stack([PLAN.row(plan) for plan in plans], axis=1),
        np.stack([COMMAND.row(command) for command in commands]),
        CommandTables(*COMMAND.tables(commands)),
    )


@kernel
def parameters_of(members: Members, k: int) -> Parameters:
    return unpack_parameters(members.par, members.numbers[:, k])


@kernel
def plan_of(members: Members, k: int) -> Plan:
    return unpack_plan(members.plan, members.plans[:, k])


@kernel
def command_of(members: Members, k: int) -> Command:
    return unpack_command(members.commands[k], members.tables, k)


class Block(NamedTuple):
    """Motions of LANES members, each as a single run has it, and what became of them.

    While the block marches, nodes and bodies are those at the start.
    """

    nodes: Array3  # (LANES, NODE_QUANTITIES, 3 row_length(N))
    body: Array2  # (LANES, BODY_SIZE)
    reel: Array2  # (LANES, REEL_SIZE or more)
    clock: Counters2  # (LANES, CLOCK_SIZE)
    status: Counters  # (LANES,) RUNNING or LEFT
    filled: Counters  # (LANES,) rows of samples


class Workspace(NamedTuple):
    """Nodes and bodies in lanes, scratch, and what else is needed to go back to the latest sample."""

    nodes: Array3  # (NODE_QUANTITIES, 3 lane_row_length(N), LANES)
    body: Array2  # (BODY_SIZE, LANES)
    scratch: Array3  # (LANE_SCRATCH, 3 lane_row_length(N), LANES)
    factor: Array3  # (FACTOR_ROWS, lane_row_length(N), LANES)
    starts: Array2  # (LANES, width of reels.START)
    saved_nodes: Array3  # at the latest sample, as the members' nodes
    saved_body: Array2
    reel: Array2  # as in Block, at the latest sample
    clock: Counters2
    sample: Array2  # (SCALARS, LANES)


class Clocks(NamedTuple):
    """Clocks of a block, in the place of Motion.clock."""

    counters: Counters2  # (LANES, CLOCK_SIZE)
    status: Counters  # (LANES,)


def lane_row_length(N: int) -> int:
    """Places for one component of all nodes in lanes: passes look one node beyond the last (along.py).

    An odd number, so that what belongs to one node is never apart by a multiple of 4 KB, where the cache has few places
    for it: such steps take twice as long.
    """
    return N + 2 | 1


def empty_block(N: int, reel_size: int) -> Block:
    return Block(
        np.zeros((LANES, data.NODE_QUANTITIES, 3 * row_length(N))),
        np.zeros((LANES, data.BODY_SIZE)),
        np.zeros((LANES, reel_size)),
        np.zeros((LANES, data.CLOCK_SIZE), dtype=np.int64),
        np.full(LANES, RUNNING, dtype=np.int64),
        np.zeros(LANES, dtype=np.int64),
    )


def empty_workspace(N: int, reel_size: int, start_size: int) -> Workspace:
    n = lane_row_length(N)
    return Workspace(
        vector_zeros(data.NODE_QUANTITIES, 3 * n, LANES),
        vector_zeros(data.BODY_SIZE, LANES),
        vector_zeros(LANE_SCRATCH, 3 * n, LANES),
        vector_zeros(data.FACTOR_ROWS, n, LANES),
        np.zeros((LANES, start_size)),
        vector_zeros(data.NODE_QUANTITIES, 3 * n, LANES),
        vector_zeros(data.BODY_SIZE, LANES),
        np.zeros((LANES, reel_size)),
        np.zeros((LANES, data.CLOCK_SIZE), dtype=np.int64),
        vector_zeros(data.SCALARS, LANES),
    )


class BlockSamples(NamedTuple):
    """Samples of blocks in lanes. Those of a block are equally far apart, in order of time."""

    scalars: Array3  # (SCALARS, places, LANES)
    nodes: Array3  # (6 (N + 1), places, LANES): positions and velocities, by component and node


def empty_block_samples(places: int, N: int) -> BlockSamples:
    """Samples that are filled by march_locked and march_reeling (batch.py)."""
    return BlockSamples(vector_zeros(data.SCALARS, places, LANES), vector_zeros(6 * (N + 1), places, LANES))


def by_time(out: BlockSamples, blocks: int = 1) -> Samples:
    """Views of the samples of so many blocks as those of a single run, with members as last dimension."""
    scalars, nodes = (x.reshape(len(x), -1, blocks * LANES) for x in out)
    return Samples(scalars.swapaxes(0, 1), nodes.reshape(2, 3, -1, *nodes.shape[1:]).transpose(3, 0, 2, 1, 4))


@kernel
def write_node_lanes(N: int, q: Array, v: Array, place: int, out: Array3) -> None:
    """Positions and velocities of all members."""
    for i in range(3):
        for e in range(N + 1):
            at: Any = lane_array(out[i * (N + 1) + e])
            at[place] = q[i * node_stride(q) + e]
            moving: Any = lane_array(out[(i + 3) * (N + 1) + e])
            moving[place] = v[i * node_stride(v) + e]


@kernel
def leave_where(clock: Clocks, condition: bool) -> None:
    """Let members leave for which the condition holds."""
    holds = select(condition, 1.0, 0.0)
    for k in range(LANES):
        if take(holds, k) != 0.0:
            clock.status[k] = LEFT


@kernel
def level_of_running(block: Block) -> int:
    """Level of a member that runs; all have the same."""
    level = 0
    for k in range(LANES):
        if block.status[k] == RUNNING:
            level = block.clock[k, data.LEVEL]
    return level


@kernel
def count_steps(block: Block, steps: int) -> None:
    for k in range(LANES):
        block.clock[k, data.STEP] += steps
        block.clock[k, data.TOTAL] += steps << block.clock[k, data.LEVEL]


@kernel
def count_iterations(clock: Clocks, iterations: float) -> None:
    for k in range(LANES):
        clock.counters[k, data.ITERATIONS] += int(take(iterations, k))


@kernel
def times_of(block: Block, h: float, like: float) -> float:
    """Time of each member, in lanes."""
    t = zero_like(like)
    for k in range(LANES):
        t = put(t, k, block.reel[k, data.T_START] + block.clock[k, data.STEP] * h)
    return t
