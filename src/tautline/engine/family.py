"""Families: members of one case that differ in plain numbers alone, set up as arrays and marched in lanes.

A member's numbers are those that it would have by itself, to rounding, and do not depend on which others are there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import schema
from tautline.arrays import Array
from tautline.engine import columns, lowering
from tautline.engine.cases import begin
from tautline.engine.columns import Columns, Varied
from tautline.engine.ensemble import fits, give_back, march_lanes
from tautline.engine.health import Health
from tautline.engine.mesh import said_of_members
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

# For samples that are looked at together; that takes several turns, in which they should stay in the cache.
BYTES_A_LOOK = 6.5e6
# Where a block has larger samples, the start of a member is little beside its run.
MOST_BYTES_A_BLOCK = 64e6
# Members that are set up together.
MEMBERS_A_PIECE = 1024

Places = NDArray[np.int64]


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

    numbers: _Numbers
    pars: list[data.Parameters]
    plans: list[data.Plan]
    rows: tuple[Array, Array, Array]  # of parameters, plan and command, as `Members` has them
    tables: tuple[Array, ...]
    steps: list[tuple[int, int] | None]  # in a sample, and halvings of each; None where there are too many
    first: data.Samples  # at the start, a row a member

    def members(self, who: Places, h: float, steps: int) -> Members:
        """Settings of a block that makes so many base steps h in a sample."""
        plan = self.plans[who[0]]._replace(h=h, steps_per_sample=steps)
        numbers, plans, commands = self.rows
        own = np.take(numbers, who, axis=1), np.take(plans, who, axis=1), commands[who]
        return Members(self.pars[who[0]], plan, *own, CommandTables(*(table[who] for table in self.tables)))


class Look(NamedTuple):
    """Members that have marched: variables and figures have members as their last dimension."""

    places: Places  # numbers of members
    ended: columns.Truths  # which of these came to the end of their samples, with finite numbers
    values: Values
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
            isinstance(command, Torque | Brake) and isinstance(command.torque, float)
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
            commands = [commands[0]._replace(torques=np.array([x])) for x in command.torque.tolist()]
        if isinstance(command, Torque):
            motions.reel[:, data.TORQUE] = lowering.within_limit(found.pendulum.reel, command.torque)
        return _Numbers(found, par, plan, commands, motions, fine)

    def looks(self, values: Mapping[str, Array], wanted: Iterable[str]) -> Iterator[Look]:
        """Run members, and look at some after others; those whose values are refused or doubtful are in none."""
        count = len(next(iter(values.values())))
        for first in range(0, count, MEMBERS_A_PIECE):
            piece = {key: x[first : first + MEMBERS_A_PIECE] for key, x in values.items()}
            some = np.flatnonzero(self._varied.allowed(piece) & self._numbers(piece).fine)
            if len(some):
                some = _filled_up(some)
                yield from self._march({key: x[some] for key, x in piece.items()}, first + some, set(wanted))

    def _march(self, values: Mapping[str, Array], places: Places, wanted: set[str]) -> Iterator[Look]:
        piece = self._set_up(self._numbers(values))
        alike = defaultdict(list)
        for k, chosen in enumerate(piece.steps):
            if chosen is not None:
                alike[chosen].append(k)
        size = LANES * max(1, int(BYTES_A_LOOK / (LANES * self._bytes())))
        out = empty_block_samples(self.rows, self.elements)
        for (steps, _), members in alike.items():
            filled_up = _filled_up(np.array(members))
            for first in range(0, len(filled_up), size):
                some = filled_up[first : first + size]
                own = {key: x[some] for key, x in values.items()}
                yield self._look(piece, some, places[some], self._varied.put(own).pendulum, steps, out, wanted)

    def _set_up(self, numbers: _Numbers) -> _Piece:
        """Momenta, first samples and steps of members, by the kernels of a single run."""
        par, plan, motions = numbers.par, numbers.plan, numbers.motions
        count, locked = len(motions.reel), self._task.command.locked
        pars, plans = list(columns.rows_of(par, count)), list(columns.rows_of(plan, count))
        first, scratch = data.empty_samples(count, par.N), data.empty_scratch(par.N)
        steps: list[tuple[int, int] | None] = []
        for k, (own, how) in enumerate(zip(pars, plans, strict=True)):
            motion = data.Motion(*(x[k] for x in motions))
            observe.begin(own, motion)
            observe.observe(own, locked, motion, scratch, first, k, 0.0, None)
            steps.append(self._steps(own, how, motion, scratch) if plan.adaptive else (plan.steps_per_sample, 0))
        each = count // len(numbers.commands)
        commands = np.repeat([COMMAND.row(command) for command in numbers.commands], each, axis=0)
        tables = tuple(np.repeat(table, each, axis=0) for table in COMMAND.tables(numbers.commands))
        rows = _table(PARAMETERS, par, count), _table(PLAN, plan, count), commands
        return _Piece(numbers, pars, plans, rows, tables, steps, first)

    def _steps(
        self, par: data.Parameters, plan: data.Plan, motion: data.Motion, scratch: data.Scratch
    ) -> tuple[int, int] | None:
        """Base steps of a sample that "auto" chooses, and how often each is halved."""
        try:
            limits = present_limits(par, plan, self._task.command.locked, 0.0, motion, scratch, None)
            count = lowering.base_steps(plan, limits, self._interval)
        except TautlineError:
            return None
        limits = step_limits(par, plan, float(motion.reel[data.S]), self._task.command.locked)
        return count, lowering.halvings(plan._replace(h=self._interval / count), limits)

    @np.errstate(all="ignore")
    def _look(
        self,
        piece: _Piece,
        some: Places,
        places: Places,
        pendulum: Pendulum,
        steps: int,
        out: BlockSamples,
        wanted: set[str],
    ) -> Look:
        """March members of a piece to the end of their samples, and look at these."""
        locked, plan = self._task.command.locked, self._task.plan
        h = self._interval / steps if plan.adaptive else plan.h
        first = data.Samples(*(x[some] for x in piece.first))
        block = _block(data.Motion._make(x[some] for x in piece.numbers.motions))
        health = Health()
        health.begin(block.reel.T, first.scalars.T)
        times = steps * np.arange(self.rows + 1, dtype=np.float64) * h
        samples, left = _empty_members_last(self.rows + 1, self.elements, len(some)), {}
        for begun in range(0, len(some), LANES):
            lanes = slice(begun, begun + LANES)
            start = data.Samples(*(x[lanes] for x in first))
            march_lanes(piece.members(some[lanes], h, steps), Block._make(x[lanes] for x in block), locked, out)
            for k in np.flatnonzero(block.filled[lanes] < self.rows):
                left[begun + int(k)] = data.Samples(*(x[k].copy() for x in out))
            if locked and wanted & {"torque", "power"}:
                self._hold([piece.pars[k] for k in some[lanes]], times, start, out)
            for x, before, after in zip(samples, start, out, strict=True):
                x[0, ..., lanes], x[1:, ..., lanes] = np.moveaxis(before, 0, -1), np.moveaxis(after, 0, -1)
        marched = data.Samples(*(x[1:] for x in samples))
        health.update(pendulum, np.repeat(times[1:, None], len(some), 1), marched, self._base.method.order, not locked)
        total = sum(vars(health.mesh).values()) + samples.scalars.sum(axis=(0, 1))
        ended = (block.filled == self.rows) & (block.status == RUNNING) & np.isfinite(total)
        variables = values_of(pendulum, record_of_samples(times, samples), wanted)
        chosen = {name: variables[name] for name in wanted}
        figures = health.figures(pendulum, plan, block.reel.T)
        return Look(places, ended, chosen, health, figures, block.clock[:, data.TOTAL], pendulum, left, block)

    def _hold(self, pars: list[data.Parameters], times: Array, first: data.Samples, out: BlockSamples) -> None:
        """Torques that hold the reels of members, into their samples."""
        workspace, scratch = data.empty_motion(self.elements), data.empty_scratch(self.elements)
        for k, par in enumerate(pars):
            for when, which in ((times[:1], (x[k : k + 1] for x in first)), (times[1:], (x[k] for x in out))):
                holding_torques(par, when, workspace, scratch, data.Samples(*which), None)

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


def _empty_members_last(rows: int, N: int, count: int) -> data.Samples:
    """Samples with members as the last dimension; in memory nodes come first, so that sums along them are quick."""
    scalars, nodes = np.empty((data.SCALARS, rows, count)), np.empty((2, 3, N + 1, rows, count))
    return data.Samples(scalars.transpose(1, 0, 2), nodes.transpose(3, 0, 2, 1, 4))
