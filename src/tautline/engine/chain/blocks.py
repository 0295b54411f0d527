"""Blocks of members that are alike, from their start to the end of their samples.

Samples are handed on as soon as they are there, and so many at a time as stay in the cache: looking at them takes
several turns through all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.arrays import Array
from tautline.engine.chain import columns
from tautline.engine.chain.ensemble import of_member
from tautline.engine.chain.member_calls import MemberCalls
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.batch import march_locked, march_reeling
from tautline.kernels.inverse import holding_torques
from tautline.kernels.lanes import LANES
from tautline.kernels.members import (
    Block,
    BlockSamples,
    CommandTables,
    Members,
    Workspace,
    by_time,
    empty_block_samples,
    empty_workspace,
)
from tautline.kernels.reels import START

Places = NDArray[np.int64]
# Nodes of samples that are handed on together.
NODES_AT_ONCE = 40_000


class Numbers(NamedTuple):
    """Members in the letters of the kernels: tuples whose numbers are columns, and tables with a column a member."""

    par: data.Parameters
    plan: data.Plan
    commands: list[data.Command]  # one for all, or one a member
    motions: data.Motion  # with a row a member
    fine: columns.Truths


class Batch(NamedTuple):
    """Members that are ready to march."""

    values: Mapping[str, Array]
    numbers: Numbers
    rows: tuple[Array, Array, Array]  # of parameters, plan and command, as `Members` has them, with a row a member
    tables: tuple[Array, ...]
    first: data.Samples  # at the start, a row a member

    def members(self, some: Places, h: float, steps: int) -> Members:
        """Settings of blocks that make so many base steps h in a sample; arrays have a row a block."""
        one = some[0]
        parameters, plans, commands = (_in_blocks(x[some]) for x in self.rows)
        return Members(
            columns.some_of(self.numbers.par, one),
            columns.some_of(self.numbers.plan, one)._replace(h=h, steps_per_sample=steps),
            np.ascontiguousarray(parameters.swapaxes(1, 2)),
            np.ascontiguousarray(plans.swapaxes(1, 2)),
            commands,
            CommandTables(*(_in_blocks(table[some]) for table in self.tables)),
        )


class Memory(NamedTuple):
    """Memory for the samples of some blocks, which is used again and again."""

    blocks: int  # that are looked at together
    out: BlockSamples  # theirs, with the first
    workspace: Workspace


def empty_memory(rows: int, N: int, reel_size: int) -> Memory:
    """Memory for as many blocks as are looked at together, of so many samples after the first."""
    blocks = max(1, NODES_AT_ONCE // ((N + 1) * LANES * (rows + 1)))
    return Memory(blocks, empty_block_samples(blocks * (rows + 1), N), empty_workspace(N, reel_size, START.size))


class March:
    """Whole blocks of a batch, all with the same steps.

    Parameters
    ----------
    batch : Batch
    some : array of int
        Places of the members in the batch.
    locked : bool
        Whether reels are.
    h : float
        Base step (s).
    steps : int
        Base steps in a sample.
    memory : Memory

    Attributes
    ----------
    block : Block
        Of all members, one behind the other.
    start : Samples
        At the start, a row a member.
    scalars : array
        (rows + 1, ROTATION, members), as far as blocks have marched: the columns before the attitude.
    left : dict
        Samples of members that left their block, after the first; by their places in `some`.
    """

    def __init__(self, batch: Batch, some: Places, locked: bool, h: float, steps: int, memory: Memory) -> None:
        count, rows = len(some), memory.out.scalars.shape[1] // memory.blocks - 1
        self._par, self._some, self._locked, self._rows, self._memory = batch.numbers.par, some, locked, rows, memory
        motions = data.Motion._make(x[some] for x in batch.numbers.motions)
        state = np.full(count, RUNNING, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.block = Block(*motions, *state)
        self.start = data.Samples(*(x[some] for x in batch.first))
        self.left: dict[int, data.Samples] = {}
        self.times = steps * np.arange(rows + 1, dtype=np.float64) * h
        # in memory samples come last: sums along them are quick
        self.scalars = np.empty((data.ROTATION, count, rows + 1)).transpose(2, 0, 1)
        settings, blocks = batch.members(some, h, steps), Block(*map(_in_blocks, self.block))
        entry = march_locked if locked else march_reeling
        after_first = memory.blocks + np.arange(count // LANES) % memory.blocks
        self._march = MemberCalls(
            entry, count // LANES, settings, blocks, memory.workspace, memory.out, after_first, memory.blocks
        )

    def groups(self, with_torques: bool) -> Iterator[Iterator[tuple[Places, data.Samples]]]:
        """March some blocks after others; with torques that hold reels, or without where nobody asks for them.

        Samples of a group come with the places of its members and in parts, in order of time, to be looked at before
        the next group. Arrays are (time, ..., member).
        """
        size = self._memory.blocks * LANES
        for begun in range(0, len(self._some), size):
            group = slice(begun, min(begun + size, len(self._some)))
            count = group.stop - begun
            for number in range(begun // LANES, group.stop // LANES):
                self._march(number)
            samples = data.Samples(*(x[..., :count] for x in by_time(self._memory.out, self._memory.blocks)))
            for x, first in zip(samples, self.start, strict=True):
                x[0] = np.moveaxis(first[group], 0, -1)
            for k in np.flatnonzero(self.block.filled[group] < self._rows).tolist():
                self.left[begun + k] = of_member(data.Samples(*(x[1:] for x in samples)), k)
            if self._locked and with_torques:
                _hold(columns.some_of(self._par, self._some[group]), self.block.reel[group], self.times, samples)
            self.scalars[:, :, group] = samples.scalars[:, : data.ROTATION]
            yield self._parts(self._some[group], samples)

    def _parts(self, who: Places, samples: data.Samples) -> Iterator[tuple[Places, data.Samples]]:
        """Samples of members that have marched."""
        most = max(1, NODES_AT_ONCE // (samples.nodes.shape[2] * len(who)))
        for begun in range(0, self._rows + 1, most):
            yield who, data.Samples(*(x[begun : begun + most] for x in samples))


def _hold(par: data.Parameters, reels: Array, times: Array, samples: data.Samples) -> None:
    """Torques that hold the reels of members, of which each has a row, into their samples."""
    each = data.Samples(*(np.ascontiguousarray(np.moveaxis(x, -1, 0)) for x in samples))
    count, scratch = len(each.scalars), data.empty_scratch(par.N)
    motion = data.empty_motion(par.N)._replace(reel=reels.copy())
    hold = MemberCalls(holding_torques, count, par, times, motion, scratch, each, None)
    for k in range(count):
        hold(k)
    samples.scalars[:, data.DRUM_TORQUE] = each.scalars[:, :, data.DRUM_TORQUE].T


def filled_up(members: Places) -> Places:
    """Whole blocks of members: one that is not full has its last member several times."""
    return np.pad(members, (0, -len(members) % LANES), mode="edge")


def _in_blocks(x: Any) -> Any:
    """Rows of members, with a row a block before them."""
    return x.reshape(-1, LANES, *x.shape[1:])
