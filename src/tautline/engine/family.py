"""Families: members of one case that differ in plain numbers alone, set up as arrays and marched in lanes.

A member's numbers are those that it would have by itself, to rounding, and do not depend on which others are there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import schema
from tautline.arrays import Array
from tautline.engine import columns, lowering
from tautline.engine.cases import begin
from tautline.engine.columns import Columns, Varied
from tautline.engine.ensemble import fits, give_back, lanes_entry, lanes_workspace
from tautline.engine.health import Health
from tautline.engine.member_calls import MemberCalls
from tautline.engine.mesh import Shape, said_of_members, shape_of
from tautline.engine.samples import record_of_samples
from tautline.engine.simulation import Simulation
from tautline.errors import RUNNING, TautlineError
from tautline.kernels import data, observe
from tautline.kernels.inverse import holding_torques
from tautline.kernels.lanes import LANES
from tautline.kernels.layout import Layout
from tautline.kernels.limits import present_limits, step_limits
from tautline.kernels.members import (
    COMMAND,
    PARAMETERS,
    PLAN,
    SHARED_NUMBERS,
    Block,
    BlockSamples,
    CommandTables,
    Members,
    empty_block_samples,
)
from tautline.model.case import Case
from tautline.model.command import Brake, Free, Locked, Torque
from tautline.model.pendulum import Pendulum
from tautline.results.values import Values, values_of

# For the columns of samples of members that are looked at together.
BYTES_A_LOOK = 3e6
# Where a block has larger samples, the start of a member is little beside its run.
MOST_BYTES_A_BLOCK = 64e6
# Members that are set up together.
MEMBERS_A_PIECE = 1024

Places = NDArray[np.int64]
# What is kept of the variables of some members: by name, with members as the first dimension of arrays.
Keep = Callable[[Values], dict[str, Array]]


class _Numbers(NamedTuple):
    """Members in the letters of the kernels: tuples whose numbers are columns, and tables with a column a member."""

    columns: Columns
    par: data.Parameters
    plan: data.Plan
    commands: list[data.Command]  # one for all, or one a member
    motions: data.Motion  # with a row a member
    fine: columns.Truths


class _Piece(NamedTuple):
    """Members that are ready to march."""

    values: Mapping[str, Array]
    numbers: _Numbers
    rows: tuple[Array, Array, Array]  # of parameters, plan and command, as `Members` has them
    tables: tuple[Array, ...]
    first: data.Samples  # at the start, a row a member

    def members(self, some: Places, h: float, steps: int) -> Members:
        """Settings of blocks that make so many base steps h in a sample; arrays have a row a block."""
        numbers, plans, commands = self.rows
        par, plan = (columns.some_of(x, some[0]) for x in (self.numbers.par, self.numbers.plan))
        return Members(
            par,
            plan._replace(h=h, steps_per_sample=steps),
            *(np.ascontiguousarray(_in_blocks(x.T, some).swapaxes(1, 2)) for x in (numbers, plans)),
            _in_blocks(commands, some),
            CommandTables(*(_in_blocks(table, some) for table in self.tables)),
        )


class Look(NamedTuple):
    """Members that have marched; figures have one entry a member."""

    places: Places  # numbers of members
    ended: columns.Truths  # which of these came to the end of their samples, with finite numbers
    kept: dict[str, Array]
    health: Health
    figures: dict[str, Array]
    steps: NDArray[np.int64]
    pendulum: Pendulum  # with columns
    left: dict[int, data.Samples]  # of members that left their block, after the first; by their places here
    block: Block


class Family:
    """Members of a case that differ in plain numbers alone.

    Parameters
    ----------
    case : Case
        One of the members.
    names : iterable of str
        Keys that members differ in.

    Attributes
    ----------
    known : bool
        Whether all that members need can be computed in arrays, and they march in lanes.
    rows : int
        Samples after the first.
    """

    def __init__(self, case: Case, names: Iterable[str]) -> None:
        self._case = case
        self._base, self.rows, self._interval = begin(case)
        self._task = self._base.task()
        try:
            self._varied = Varied(case, names)
            self._numbers(self._varied.alike(LANES))
            self.known = self._fits()
        except (TypeError, ValueError):  # not a plain number, or one that something is decided by
            self.known = False

    @property
    def elements(self) -> int:
        """N."""
        return self._base.elements

    def _fits(self) -> bool:
        command = self._case.command
        plain = isinstance(command, Locked | Free) or (
            isinstance(command, Torque | Brake) and isinstance(command.moment, float)
        )
        return plain and fits(self._task) and LANES * self._bytes() <= MOST_BYTES_A_BLOCK

    def _bytes(self) -> int:
        return 8 * self.rows * schema.row_length(self.elements)

    @np.errstate(all="ignore")  # of members that are refused, or whose run overflowed and says so
    def _numbers(self, values: Mapping[str, Array]) -> _Numbers:
        """Columns of the kernels' numbers from columns of keys."""
        count = len(next(iter(values.values())))
        found = self._varied.put(values)
        state, fine = columns.states(self._case, found, count)
        par, plan = lowering.lowered(found.pendulum, state, self._base.method)
        base = self._task.plan
        plan = plan._replace(h=base.h, steps_per_sample=base.steps_per_sample)
        if _shares_columns(par) or _shares_columns(plan) or self.elements != par.N:
            raise TypeError("members differ in what a block has in common")
        motions = data.Motion(*(np.zeros((count, *x.shape), x.dtype) for x in self._task.motion))
        lowering.place(state, found.pendulum.reel.spooled_strain, motions)
        command, commands = found.command, [self._task.command]
        if command is not self._case.command and isinstance(command, Torque | Brake):
            commands = [commands[0]._replace(torques=np.array([x])) for x in command.moment.tolist()]
        if isinstance(command, Torque):
            motions.reel[:, data.TORQUE] = lowering.within_limit(found.pendulum.reel, command.moment)
        return _Numbers(found, par, plan, commands, motions, fine)

    def looks(self, values: Mapping[str, Array], wanted: Iterable[str], keep: Keep) -> Iterator[Look]:
        """Run members, and keep some of the wanted variables; those whose values are refused or doubtful are in none."""
        count = len(next(iter(values.values())))
        for first in range(0, count, MEMBERS_A_PIECE):
            own = {key: x[first : first + MEMBERS_A_PIECE] for key, x in values.items()}
            numbers = self._numbers(own)
            some = np.flatnonzero(self._varied.allowed(own) & numbers.fine)
            piece = self._set_up(own, numbers, some)
            size = LANES * max(1, int(BYTES_A_LOOK / (LANES * 8 * self.rows * data.SCALARS)))
            for steps, alike in self._alike(piece, some).items():
                for begun in range(0, len(alike), size):
                    yield self._look(piece, _filled_up(alike[begun : begun + size]), first, steps, set(wanted), keep)

    def _set_up(self, values: Mapping[str, Array], numbers: _Numbers, some: Places) -> _Piece:
        """Momenta and first samples of some members, by the kernels of a single run."""
        par, motions = numbers.par, numbers.motions
        count, locked = len(motions.reel), self._task.command.locked
        first, scratch = data.empty_samples(count, par.N), data.empty_scratch(par.N)
        begin = MemberCalls(observe.begin, count, par, motions)
        rows = data.Samples(*(x[:, None] for x in first))
        sample = MemberCalls(observe.observe, count, par, locked, motions, scratch, rows, 0, 0.0, None)
        for k in some.tolist():
            begin(k)
            sample(k)
        each = count // len(numbers.commands)
        commands = np.repeat([COMMAND.row(command) for command in numbers.commands], each, axis=0)
        tables = tuple(np.repeat(table, each, axis=0) for table in COMMAND.tables(numbers.commands))
        own = _table(PARAMETERS, par, count), _table(PLAN, numbers.plan, count), commands
        return _Piece(values, numbers, own, tables, first)

    def _alike(self, piece: _Piece, some: Places) -> dict[int, Places]:
        """Members that can march together, by their base steps in a sample; none with too many."""
        _, par, plan, _, motions, _ = piece.numbers
        if not plan.adaptive:
            return {plan.steps_per_sample: some}
        count, locked, reeled = len(motions.reel), self._task.command.locked, motions.reel[:, data.S]
        present = MemberCalls(
            present_limits, count, par, plan, locked, 0.0, motions, data.empty_scratch(par.N), None
        )
        later = MemberCalls(step_limits, count, par, plan, reeled, locked)
        alike = defaultdict(list)
        for k in some.tolist():
            try:
                steps = lowering.base_steps(plan, present(k), self._interval)
            except TautlineError:
                continue
            alike[steps, lowering.halvings(plan._replace(h=self._interval / steps), later(k))].append(k)
        return {steps: np.array(members) for (steps, _), members in alike.items()}

    @np.errstate(all="ignore")
    def _look(self, piece: _Piece, some: Places, first: int, steps: int, wanted: set[str], keep: Keep) -> Look:
        """March whole blocks of a piece to the end of their samples, and look at these while they are in the cache."""
        locked, plan, N, rows = self._task.command.locked, self._task.plan, self.elements, self.rows
        h = self._interval / steps if plan.adaptive else plan.h
        start = data.Samples(*(x[some] for x in piece.first))
        block = _block(data.Motion._make(x[some] for x in piece.numbers.motions))
        health = Health()
        health.begin(block.reel.T, start.scalars.T)
        times = steps * np.arange(rows + 1, dtype=np.float64) * h
        out, workspace = empty_block_samples(rows, N), lanes_workspace(N, block.reel.shape[1])
        settings, blocks = piece.members(some, h, steps), [x.reshape(-1, LANES, *x.shape[1:]) for x in block]
        march = MemberCalls(lanes_entry(locked), len(some) // LANES, settings, Block(*blocks), workspace, out)
        scalars = np.empty((data.SCALARS, len(some), rows + 1))
        nodes = np.empty((2, 3, N + 1, LANES, rows + 1)).swapaxes(1, 2)
        shapes: list[Shape] = []
        kept, left = [], {}
        for number, begun in enumerate(range(0, len(some), LANES)):
            lanes = slice(begun, begun + LANES)
            march(number)
            for k in np.flatnonzero(block.filled[lanes] < rows):
                left[begun + int(k)] = data.Samples(*(x[k].copy() for x in out))
            before = data.Samples(*(x[lanes] for x in start))
            if locked and wanted & {"torque", "power"}:
                self._hold(columns.some_of(piece.numbers.par, some[lanes]), times, before, out)
            samples = data.Samples(scalars[:, lanes], nodes)
            for x, first_row, others in zip(samples, before, out, strict=True):
                x[..., 0] = np.moveaxis(first_row, 0, -1)
                x[..., 1:] = np.moveaxis(others, (0, 1), (-2, -1))
            # each sample as a member of its own, which has one time
            samples = data.Samples(*(x.reshape(1, *x.shape[:-2], -1) for x in samples))
            pendulum = self._pendulum(piece, np.repeat(some[lanes], rows + 1))
            shapes.append(shape_of(pendulum, samples.nodes[:, 0], samples.nodes[:, 1], samples.scalars[:, data.REELED_LENGTH]))
            values = values_of(pendulum, record_of_samples(times, samples), wanted)
            kept.append(keep({name: _by_member(values[name]) for name in wanted}))
        pendulum, scalars = self._pendulum(piece, some), scalars.transpose(2, 0, 1)
        shape = Shape(*(np.concatenate(x, axis=1).reshape(len(some), -1).T[1:] for x in zip(*shapes, strict=True)))
        health.note(times[1:, None], scalars[1:], self._base.method.order)
        health.mesh.take(pendulum, times[1:, None], scalars[1:, data.REELED_LENGTH], shape, not locked)
        total = sum(vars(health.mesh).values()) + scalars.sum(axis=(0, 1))
        ended = (block.filled == rows) & (block.status == RUNNING) & np.isfinite(total)
        figures = health.figures(pendulum, plan, block.reel.T)
        outputs = {name: np.concatenate([x[name] for x in kept]) for name in kept[0]}
        return Look(first + some, ended, outputs, health, figures, block.clock[:, data.TOTAL], pendulum, left, block)

    def _pendulum(self, piece: _Piece, some: Places) -> Pendulum:
        """The pendulum, with columns of some members."""
        return self._varied.put({key: x[some] for key, x in piece.values.items()}).pendulum

    def _hold(self, par: data.Parameters, times: Array, first: data.Samples, out: BlockSamples) -> None:
        """Torques that hold the reels of members, into their samples."""
        workspace, scratch = data.empty_motion(self.elements), data.empty_scratch(self.elements)
        start = data.Samples(*(x[:, None] for x in first))
        for when, which in ((times[:1], start), (times[1:], data.Samples(*out))):
            hold = MemberCalls(holding_torques, LANES, par, when, workspace, scratch, which, None)
            for k in range(LANES):
                hold(k)

    def remarks(self, look: Look) -> dict[int, list[str]]:
        """Remarks on members of a look that have some, by their places in it."""
        adaptive = self._task.plan.adaptive
        return said_of_members(look.health.sayings(look.pendulum, self.elements, look.figures, adaptive))

    def go_on(self, look: Look, k: int, simulation: Simulation) -> None:
        """Let a member that left its block go on alone, as a simulation that has just begun."""
        simulation.keep(simulation.present_sample())
        samples = give_back(simulation, look.left[k], look.block, k)
        if len(samples.scalars):
            simulation.keep(samples)


def _filled_up(members: Places) -> Places:
    """Whole blocks of members: one that is not full has its last member several times."""
    return np.pad(members, (0, -len(members) % LANES), mode="edge")


def _in_blocks(x: Array, some: Places) -> Array:
    """Rows of some members, with a row a block before them."""
    return x[some].reshape(-1, LANES, *x.shape[1:])


def _by_member(x: Array) -> Array:
    """A variable (member, time, ...), from one of the samples of a block that is (1, ..., sample)."""
    return np.moveaxis(x.reshape(*x.shape[1:-1], LANES, -1), (-2, -1), (0, 1))


def _block(motions: data.Motion) -> Block:
    """Motions of members that are about to march."""
    count = len(motions.reel)
    return Block(*motions, np.full(count, RUNNING, dtype=np.int64), np.zeros(count, dtype=np.int64))


def _shares_columns(value: Any) -> bool:
    """Whether members differ in a number that a block has in common."""
    return any(isinstance(x, np.ndarray) for name, x in value._asdict().items() if name in SHARED_NUMBERS)


def _table(layout: Layout[Any], value: Any, count: int) -> Array:
    """Rows of numbers of a tuple with columns, one column a member."""
    out = np.empty((layout.size, count))
    layout.pack(value, out)
    return out
