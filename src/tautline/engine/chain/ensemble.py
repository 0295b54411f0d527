"""Many simulations at once: those that are alike enough march in lanes, the others one by one.

A member's numbers do not depend on which others march with it: each lane does what it would do alone, and who
marches in lanes is decided by looking at a member alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from tautline import errors, registry
from tautline.engine.chain import lowering
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.recorder import copied
from tautline.engine.runner import Runner
from tautline.kernels import batch, data
from tautline.kernels.lanes import LANES
from tautline.kernels.limits import step_limits
from tautline.kernels.machine.choice import engine
from tautline.kernels.members import (
    PARAMETERS,
    PLAN,
    Block,
    BlockSamples,
    Members,
    by_time,
    empty_block,
    empty_block_samples,
    empty_workspace,
    members_of,
)
from tautline.kernels.reels import START

# Which elastic laws can step in lanes, by their numbers.
LAWS_IN_LANES = tuple(law.lanes for law in registry.ELASTIC_LAWS.values())


class Task(NamedTuple):
    """Arguments with which a kernel marches a simulation on."""

    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads | None
    alone: bool  # it must be asked about every step, and cannot march with others


def task_of(simulation: Runner[ChainBackend], until: float | None = None) -> Task:
    """Arguments of kernels for callers that march otherwise; motions without end are there until a time (s)."""
    s = simulation.stepper
    if until is not None:
        s.cover(simulation.time, until)
    alone = s.marches_alone or simulation.watch is not None
    return Task(s.par, s.plan, s.kernel_command, s.motion, s.beyond, alone)


def record_ensemble(simulations: Sequence[Runner[ChainBackend]], rows: int) -> None:
    """March so many samples, and keep them and the present state in each simulation's record."""
    for simulation in simulations:
        simulation.keep(copied(simulation.backend.present_sample()))
    for simulation, samples in zip(simulations, march_ensemble(simulations, rows), strict=True):
        if len(samples.scalars):
            simulation.keep(samples)


def march_ensemble(simulations: Sequence[Runner[ChainBackend]], rows: int, threads: int = 1) -> list[data.Samples]:
    """So many samples of each, as `Runner.march` gives them. `begin` must have been called of all."""
    results: dict[int, data.Samples] = {}

    def march(places: list[int]) -> None:
        results.update(zip(places, _march_block(simulations, places, rows), strict=True))

    blocks = _blocks([task_of(simulation) for simulation in simulations])
    if threads == 1:
        for places in blocks:
            march(places)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(march, blocks))
    for place, simulation in enumerate(simulations):
        if place not in results:
            results[place] = simulation.march(rows, simulation.stepper.plan)
    return [results[place] for place in range(len(simulations))]


def _blocks(tasks: Sequence[Task]) -> Iterator[list[int]]:
    """Places of tasks that can march in lanes together, at most LANES at a time."""
    alike: dict[object, list[int]] = {}
    for place, task in enumerate(tasks):
        if fits(task):
            alike.setdefault(shared_by_block(task), []).append(place)
    for places in alike.values():
        for first in range(0, len(places), LANES):
            yield places[first : first + LANES]


def fits(task: Task) -> bool:
    """Whether a member can march in lanes at all."""
    par, plan = task.par, task.plan
    return (
        engine().name != "python"
        and task.loads is None
        and not task.alone
        and LAWS_IN_LANES[par.elastic_law]
        and par.growth == 0.0
        and (task.command.locked or not plan.adaptive)
        and task.motion.clock[data.EXTRA] == 0
    )


def shared_by_block(task: Task) -> object:
    """Properties that members of a block must have in common."""
    par, plan, motion = task.par, task.plan, task.motion
    history = ()
    if task.command.locked:
        level = lowering.halvings(plan, step_limits(par, plan, float(motion.reel[data.S]), True))
        history = (level, *motion.reel[[data.PENDING, data.H_LAST, data.H_BEFORE, data.H_EARLIER]])
    return PARAMETERS.shared(par), PLAN.shared(plan), task.command.locked, history, len(motion.reel)


def _march_block(simulations: Sequence[Runner[ChainBackend]], places: list[int], rows: int) -> list[data.Samples]:
    tasks = [task_of(simulations[place]) for place in places]
    first = tasks[0]
    N = first.par.N
    # a block that is not full has its last member several times
    lanes = [*tasks, *[tasks[-1]] * (LANES - len(tasks))]
    block = empty_block(N, len(first.motion.reel))
    for k, task in enumerate(lanes):
        for ours, theirs in zip(block, task.motion, strict=False):
            ours[k] = theirs
    out = empty_block_samples(rows, N)
    march_lanes(members_of([(task.par, task.plan, task.command) for task in lanes]), block, first.command.locked, out)
    samples = by_time(out)
    return [give_back(simulations[place], of_member(samples, k), block, k) for k, place in enumerate(places)]


def of_member(samples: data.Samples, k: int) -> data.Samples:
    """Samples of one of the members that are the last dimension."""
    return data.Samples(*(np.ascontiguousarray(x[..., k]) for x in samples))


def march_lanes(members: Members, block: Block, locked: bool, out: BlockSamples) -> None:
    """Fill the samples of a block."""
    march = batch.march_locked if locked else batch.march_reeling
    march(members, block, empty_workspace(members.par.N, block.reel.shape[1], START.size), out, 0, 1)


def give_back(simulation: Runner[ChainBackend], out: data.Samples, block: Block, k: int) -> data.Samples:
    """A member's motion and samples; one that left its block goes on alone from its latest sample."""
    task = task_of(simulation)
    begun, rows, filled = int(task.motion.clock[data.STEP]), len(out.scalars), int(block.filled[k])
    for ours, theirs in zip(task.motion, block, strict=False):
        ours[...] = theirs[k]
    kept = data.Samples(out.scalars[:filled], out.nodes[:filled])
    done: data.Samples = simulation.marched(kept, begun, errors.RUNNING, filled, task.plan)
    if filled == rows:
        return done
    rest = simulation.march(rows - filled, task.plan)
    return data.Samples(*(np.concatenate(pair) for pair in zip(done, rest, strict=True)))
