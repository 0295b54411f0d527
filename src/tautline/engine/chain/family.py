"""Families: members of one case that differ in plain numbers alone, set up as arrays and marched in lanes.

A member's numbers are those that it would have by itself, to rounding, and do not depend on which others are there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import schema
from tautline.arrays import Array
from tautline.engine import lowering
from tautline.engine.chain import columns
from tautline.engine.chain import lowering as chain_lowering
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.blocks import Batch, March, Memory, Numbers, Places, empty_memory, filled_up
from tautline.engine.chain.cases import begin_chain
from tautline.engine.chain.columns import Varied
from tautline.engine.chain.ensemble import fits, give_back, task_of
from tautline.engine.chain.member_calls import MemberCalls
from tautline.engine.chain.samples import recorded_values
from tautline.engine.criteria import on_only_line, warnings_by_member
from tautline.engine.health import Health
from tautline.engine.recorder import copied
from tautline.engine.runner import Runner
from tautline.engine.shape import Shape, shape_of
from tautline.errors import RUNNING, TautlineError
from tautline.kernels import data, observe
from tautline.kernels.lanes import LANES
from tautline.kernels.layout import Layout
from tautline.kernels.limits import present_limits, step_limits
from tautline.kernels.members import COMMAND, PARAMETERS, PLAN, SHARED_NUMBERS, Block
from tautline.model.chain.cases import chain_command
from tautline.model.chain.chain import Chain
from tautline.model.chain.systems import chain_of
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.results.chain import inertia_of, needed_for, system_values
from tautline.results.values import Values, lengths_of, values_of
from tautline.results.warnings import RunWarning

# For the columns of samples of members that are looked at together.
BYTES_A_RESULT = 6e6
# Where a block has larger samples, the start of a member is little beside its run.
MOST_BYTES_A_BLOCK = 64e6
# Members that are set up together.
MEMBERS_A_BATCH = 1024

# What is kept of the variables of members, from these and their string: arrays have members as their first dimension.
Keep = Callable[[Values, String], dict[str, Array]]


class BatchResult(NamedTuple):
    """Members that have marched; figures have one entry a member."""

    places: Places  # numbers of members
    ended: columns.Truths  # which of these came to the end of their samples, with finite numbers
    kept: dict[str, Array]
    health: Health
    figures: dict[str, Array]
    steps: NDArray[np.int64]
    chain: Chain  # with columns
    left: dict[int, data.Samples]  # of members that left their block, after the first; by their places here
    block: Block


class Family:
    """Members of a case that differ in plain numbers alone.

    Parameters
    ----------
    case : Case
        One of the members, of a system that is a chain.
    names : iterable of str
        Keys of it that members differ in, none of them a short one.

    Attributes
    ----------
    case : Case
        The given one.
    known : bool
        Whether all that members need can be computed in arrays, and they march in lanes.
    rows : int
        Samples after the first.
    """

    def __init__(self, case: Case, names: Iterable[str]) -> None:
        self.case = case
        base, self.rows, self._interval = begin_chain(case)
        self._base = base
        self._task = task_of(base)
        try:
            self._varied = Varied(case, names)
            self._numbers(self._varied.alike(LANES))
            self.known = self._fits()
        except (TypeError, ValueError):  # not a plain number, or one that something is decided by
            self.known = False

    @property
    def elements(self) -> int:
        """N."""
        return int(self._task.par.N)

    def _fits(self) -> bool:
        command = chain_command(self.case)
        return command.constant_torque is not None and fits(self._task) and LANES * self._bytes() <= MOST_BYTES_A_BLOCK

    def _bytes(self) -> int:
        system = self.case.system
        layout = schema.of_system(list(system.bodies), dict.fromkeys(system.lines, self.elements))
        return 8 * self.rows * layout.row_length()

    @np.errstate(all="ignore")  # of members that are refused, or whose run overflowed and says so
    def _numbers(self, values: Mapping[str, Array]) -> Numbers:
        """Columns of the kernels' numbers from columns of keys."""
        count = len(next(iter(values.values())))
        case = self._varied.put(values)
        plain, command = chain_of(case.system), chain_command(case)
        state, fine = columns.states(self.case, case, plain, count)
        chain = plain.on_mesh(plain.string.length - state.reeled_length, state.elements)
        par, plan = chain_lowering.lowered(chain, state, self._base.stepper.method)
        base = self._task.plan
        plan = plan._replace(h=base.h, steps_per_sample=base.steps_per_sample)
        if _shares_columns(par) or _shares_columns(plan) or self.elements != par.N:
            raise TypeError("members differ in what a block has in common")
        motions = data.Motion(*(np.zeros((count, *x.shape), x.dtype) for x in self._task.motion))
        chain_lowering.place(state, chain.reel.spooled_strain, motions)
        commands = [self._task.command]
        torque = command.constant_torque
        if np.ndim(torque):
            commands = [commands[0]._replace(torques=np.array([x])) for x in torque.tolist()]
        if not command.sticks:
            motions.reel[:, data.TORQUE] = lowering.within_limit(chain.reel, torque)
        return Numbers(par, plan, commands, motions, fine)

    def results(self, values: Mapping[str, Array], wanted: Iterable[str], keep: Keep) -> Iterator[BatchResult]:
        """Run members, and keep what is to be kept of some variables.

        Those whose values are refused or doubtful are in no result.
        """
        count, names = len(next(iter(values.values()))), set(wanted)
        size = LANES * max(1, int(BYTES_A_RESULT / (8 * LANES * self.rows * data.SCALARS)))
        memory = empty_memory(self.rows, self.elements, len(self._task.motion.reel))
        for first in range(0, count, MEMBERS_A_BATCH):
            own = {key: x[first : first + MEMBERS_A_BATCH] for key, x in values.items()}
            numbers = self._numbers(own)
            fine = np.flatnonzero(self._varied.allowed(own) & numbers.fine)
            batch = self._set_up(own, numbers, fine)
            for steps, alike in self._alike(batch, fine):
                for begun in range(0, len(alike), size):
                    yield self._marched(
                        batch, filled_up(alike[begun : begun + size]), steps, first, memory, names, keep
                    )

    def _set_up(self, values: Mapping[str, Array], numbers: Numbers, some: Places) -> Batch:
        """Momenta and first samples of some members, by the kernels of a single run."""
        par, motions, locked = numbers.par, numbers.motions, self._task.command.locked
        count = len(motions.reel)
        first, scratch = data.empty_samples(count, par.N), data.empty_scratch(par.N)
        rows = data.Samples(*(x[:, None] for x in first))
        begin = MemberCalls(observe.begin, count, par, motions)
        sample = MemberCalls(observe.observe, count, par, locked, motions, scratch, rows, 0, 0.0, None)
        for k in some.tolist():
            begin(k)
            sample(k)
        each = count // len(numbers.commands)
        commands = np.repeat([COMMAND.row(command) for command in numbers.commands], each, axis=0)
        tables = tuple(np.repeat(table, each, axis=0) for table in COMMAND.tables(numbers.commands))
        own = _table(PARAMETERS, par, count), _table(PLAN, numbers.plan, count), commands
        return Batch(values, numbers, own, tables, first)

    def _alike(self, batch: Batch, some: Places) -> Iterator[tuple[int, Places]]:
        """Members that can march together, with their base steps in a sample; not those with too many."""
        par, plan, motions = batch.numbers.par, batch.numbers.plan, batch.numbers.motions
        if not plan.adaptive:
            yield plan.steps_per_sample, some
            return
        count, locked, reeled = len(motions.reel), self._task.command.locked, motions.reel[:, data.S]
        present = MemberCalls(present_limits, count, par, plan, locked, motions, None)
        in_kernels = MemberCalls(step_limits, count, par, plan, reeled, locked)
        alike = defaultdict(list)
        for k in some.tolist():
            with suppress(TautlineError):
                steps = chain_lowering.base_steps(plan, present(k), self._interval)
                halvings = chain_lowering.halvings(plan._replace(h=self._interval / steps), in_kernels(k))
                alike[steps, halvings].append(k)
        for (steps, _), members in alike.items():
            yield steps, np.array(members)

    @np.errstate(all="ignore")
    def _marched(
        self, batch: Batch, some: Places, steps: int, first: int, memory: Memory, wanted: set[str], keep: Keep
    ) -> BatchResult:
        """March whole blocks of a batch, which begins with member `first`, and look at their samples."""
        locked, plan = self._task.command.locked, self._task.plan
        h = self._interval / steps if plan.adaptive else plan.h
        march = March(batch, some, locked, h, steps, memory)
        block, health = march.block, Health()
        start = march.start
        health.begin(self._chain(batch, some), block.reel.T, start.scalars.T, np.moveaxis(start.nodes, 0, -1))
        names = wanted - {"time"}
        shapes, kept = [], []
        for parts in march.groups(with_torques=bool(wanted & {"torque", "power"})):
            found = [(who, *self._variables(batch, who, samples, march.times, names)) for who, samples in parts]
            members, *both = zip(*found, strict=True)
            shape_parts, variables = (_one_after_another(x, axis) for axis, x in enumerate(both))
            shapes.append(shape_parts)
            values = {"time": march.times[None], **dict(zip(names, variables, strict=True))}
            kept.append(keep(values, self._chain(batch, members[0]).string))
        chain, times, scalars = self._chain(batch, some), march.times[1:, None], march.scalars
        shape = Shape(*(np.concatenate(x, axis=1)[1:] for x in zip(*shapes, strict=True)))
        health.note(chain, self.elements, times, scalars[1:], self._base.stepper.method.order)
        moved = chain.body.mass, None if locked else chain.reel
        health.mesh.take(chain, times, scalars[1:, data.REELED_LENGTH], shape, *moved)
        total = sum(vars(health.mesh).values()) + scalars.sum(axis=(0, 1))
        ended = (block.filled == self.rows) & (block.status == RUNNING) & np.isfinite(total)
        outputs = {name: np.concatenate([x[name] for x in kept]) for name in kept[0]}
        figures, made = health.figures(chain, plan, block.reel.T), block.clock[:, data.TOTAL]
        return BatchResult(first + some, ended, outputs, health, figures, made, chain, march.left, block)

    def _variables(
        self, batch: Batch, who: Places, samples: data.Samples, times: Array, wanted: set[str]
    ) -> tuple[list[Array], list[Array]]:
        """Figures of the mesh (time, member), and wanted variables (member, time, ...)."""
        chain, recorded = self._chain(batch, who), recorded_values(times, samples)
        nodes, velocities = recorded["nodes"], recorded["node_velocities"]
        lengths = lengths_of(nodes)
        shape = shape_of(chain, nodes, velocities, recorded["reeled_length"], lengths, chain.body.mass)
        values = values_of(chain, recorded, needed_for(wanted), lengths)
        found = system_values(self.case.system, values, wanted, inertia_of(chain.string, chain.body))
        return [np.asarray(x) for x in shape], [np.moveaxis(found[name], -1, 0) for name in wanted]

    def _chain(self, batch: Batch, some: Places) -> Chain:
        """The chain, with columns of some members."""
        return chain_of(self._varied.put({key: x[some] for key, x in batch.values.items()}).system)

    def warnings(self, result: BatchResult) -> dict[int, list[RunWarning]]:
        """Warnings on members of a result that have any, by their places in it."""
        criteria = result.health.criteria(result.chain, self.elements, result.figures, self._task.plan.adaptive)
        return {k: on_only_line(self.case.system, x) for k, x in warnings_by_member(criteria).items()}

    def go_on(self, result: BatchResult, k: int, simulation: Runner[ChainBackend]) -> None:
        """Let a member that left its block go on alone, as a simulation that has just begun."""
        simulation.keep(copied(simulation.backend.present_sample()))
        samples = give_back(simulation, result.left[k], result.block, k)
        if len(samples.scalars):
            simulation.keep(samples)


def _one_after_another(parts: Sequence[list[Array]], axis: int) -> list[Array]:
    """Variables of parts of the time, which is this axis, as a whole."""
    return parts[0] if len(parts) == 1 else [np.concatenate(x, axis=axis) for x in zip(*parts, strict=True)]


def _shares_columns(value: Any) -> bool:
    """Whether members differ in a number that a block has in common."""
    return any(isinstance(x, np.ndarray) for name, x in value._asdict().items() if name in SHARED_NUMBERS)


def _table(layout: Layout[Any], value: Any, count: int) -> Array:
    """Rows of numbers of a tuple with columns, one row a member."""
    out = np.empty((layout.size, count))
    layout.pack(value, out)
    return np.ascontiguousarray(out.T)
