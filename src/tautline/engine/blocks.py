"""Blocks of members that are alike, from their start to the end of their samples.

Samples of a block are handed on as soon as it has marched, while they are in the cache: looking at them takes several
turns through all nodes, and takes twice as long when many blocks march first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.arrays import Array
from tautline.engine import columns
from tautline.engine.columns import Columns
from tautline.engine.ensemble import lanes_entry, lanes_workspace
from tautline.engine.member_calls import MemberCalls
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.inverse import holding_torques
from tautline.kernels.lanes import LANES
from tautline.kernels.members import Block, CommandTables, Members, empty_block_samples

Places = NDArray[np.int64]


class Numbers(NamedTuple):
    """Members in the letters of the kernels: tuples whose numbers are columns, and tables with a column a member."""

    columns: Columns
    par: data.Parameters
    plan: data.Plan
    commands: list[data.Command]  # one for all, or one a member
    motions: data.Motion  # with a row a member
    fine: columns.Truths


class Piece(NamedTuple):
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


class March:
    """Whole blocks of a piece, all with the same steps.

    Parameters
    ----------
    piece : Piece
    some : array of int
        Places of the members in the piece.
    locked : bool
        Whether reels are.
    h : float
        Base step (s).
    steps : int
        Base steps in a sample.
    rows : int
        Samples after the first.

    Attributes
    ----------
    block : Block
        Of all members, one behind the other.
    start : Samples
        At the start, a row a member.
    scalars : array
        (rows + 1, SCALARS, members), as far as blocks have marched.
    left : dict
        Samples of members that left their block, after the first; by their places in `some`.
    """

    def __init__(self, piece: Piece, some: Places, locked: bool, h: float, steps: int, rows: int) -> None:
        N, motions = piece.numbers.par.N, data.Motion._make(x[some] for x in piece.numbers.motions)
        self._par, self._some, self._locked, self._rows = piece.numbers.par, some, locked, rows
        state = np.full(len(some), RUNNING, dtype=np.int64), np.zeros(len(some), dtype=np.int64)
        self.block = Block(*motions, *state)
        self.start = data.Samples(*(x[some] for x in piece.first))
        self.left: dict[int, data.Samples] = {}
        self.times = steps * np.arange(rows + 1, dtype=np.float64) * h
        self._out, workspace = empty_block_samples(rows, N), lanes_workspace(N, motions.reel.shape[1])
        blocks: Any = map(_in_blocks, self.block)
        entry, settings = lanes_entry(locked), piece.members(some, h, steps)
        self._march = MemberCalls(entry, len(some) // LANES, settings, Block(*blocks), workspace, self._out)
        # in memory samples come last, and nodes come before members: sums along them are quick
        self._scalars = np.empty((data.SCALARS, len(some), rows + 1))
        self._nodes = np.empty((2, 3, N + 1, LANES, rows + 1)).swapaxes(1, 2)
        self.scalars = self._scalars.transpose(2, 0, 1)

    def samples(self, with_torques: bool) -> Iterator[tuple[Places, data.Samples]]:
        """March block after block: their members, and samples, which are written over by those of the next block.

        There is one member and one row of time in every sample: arrays are (1, ..., LANES (rows + 1)), and those of
        one member lie one behind the other. With torques that hold reels, or without where nobody asks for them.
        """
        for number, begun in enumerate(range(0, len(self._some), LANES)):
            lanes = slice(begun, begun + LANES)
            self._march(number)
            for k in np.flatnonzero(self.block.filled[lanes] < self._rows).tolist():
                self.left[begun + k] = data.Samples(*(x[k].copy() for x in self._out))
            first = data.Samples(*(x[lanes, None] for x in self.start))
            if self._locked and with_torques:
                self._hold(columns.some_of(self._par, self._some[lanes]), first)
            samples = data.Samples(self._scalars[:, lanes], self._nodes)
            for x, before, after in zip(samples, first, self._out, strict=True):
                x[..., :1] = np.moveaxis(before, (0, 1), (-2, -1))
                x[..., 1:] = np.moveaxis(after, (0, 1), (-2, -1))
            who = np.repeat(self._some[lanes], self._rows + 1)
            yield who, data.Samples(*(x.reshape(1, *x.shape[:-2], -1) for x in samples))

    def _hold(self, par: data.Parameters, first: data.Samples) -> None:
        """Torques that hold the reels of members, into their samples."""
        workspace, scratch = data.empty_motion(par.N), data.empty_scratch(par.N)
        for times, samples in ((self.times[:1], first), (self.times[1:], data.Samples(*self._out))):
            hold = MemberCalls(holding_torques, LANES, par, times, workspace, scratch, samples, None)
            for k in range(LANES):
                hold(k)


def filled_up(members: Places) -> Places:
    """Whole blocks of members: one that is not full has its last member several times."""
    return np.pad(members, (0, -len(members) % LANES), mode="edge")


def by_member(x: Array) -> Array:
    """A variable (member, time, ...) of a block, from one that is (1, ..., LANES (rows + 1))."""
    return np.moveaxis(x.reshape(*x.shape[1:-1], LANES, -1), (-2, -1), (0, 1))


def _in_blocks(x: Any) -> Any:
    """Rows of members, with a row a block before them."""
    return x.reshape(-1, LANES, *x.shape[1:])
