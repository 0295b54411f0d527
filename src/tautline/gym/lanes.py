"""Many environments of a case at once, eight in the lanes of vector registers."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tautline.arrays import Array
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.cases import begin_chain
from tautline.engine.chain.columns import Varied
from tautline.engine.chain.ensemble import fits, shared_by_block, task_of
from tautline.engine.chain.member_calls import MemberCalls
from tautline.engine.chain.samples import recorded_values
from tautline.engine.choose import LANES as TOGETHER
from tautline.engine.runner import Runner
from tautline.errors import RUNNING, InputError
from tautline.gradients.objectives import Objective
from tautline.gym.environment import CaseEnv
from tautline.gym.task import Task, is_torque
from tautline.kernels import batch, data
from tautline.kernels.lanes import LANES
from tautline.kernels.members import (
    PARAMETERS,
    Block,
    CommandTables,
    by_time,
    empty_block,
    empty_block_samples,
    empty_workspace,
    members_of,
)
from tautline.kernels.reels import START
from tautline.model.chain.systems import chain_of
from tautline.model.command import Torque
from tautline.results.chain import inertia_of, needed_for, system_values
from tautline.results.values import values_of


def why_no_lanes(task: Task) -> str | None:
    """Reason why environments of a task cannot march in lanes; None if they can."""
    if not is_torque(task) or not TOGETHER.given(task.case):
        return "only the torque of one reel that carries one body can be the action"
    if isinstance(task.reward, Objective):
        return "the reward must be a function of observations"
    if not fits(task_of(_begun(task, {}))):
        return "loads, conditions, layers on the drum and step = 'auto' take a motion of its own"
    try:
        ends = [{key: x[i] for key, x in task.randomize.items()} for i in range(2)]
        if len({shared_by_block(task_of(_begun(task, drawn))) for drawn in ends}) > 1:
            return "randomize changes the mesh or the method"
        names = _full_names(task)
        if names:
            columns = {full: np.array([task.randomize[key][0]] * 2) for key, full in names.items()}
            Varied(task.case, names.values()).put(columns)
    except (TypeError, ValueError):
        return "randomize has keys whose numbers do not go into lanes"
    return None


def _full_names(task: Task) -> dict[str, str]:
    """Keys that are randomized, in full."""
    found = {key: task.case.key(key) for key in task.randomize}
    return {name: key.whole + "".join(f"[{i}]" for i in key.components) for name, key in found.items()}


def _begun(task: Task, drawn: dict[str, float]) -> Runner[ChainBackend]:
    """A motion at the start of the case, sampled by the interval of the actions."""
    case = task.case.with_(drawn) if drawn else task.case
    simulation = begin_chain(case.with_run(sample=task.interval)).simulation
    simulation.first_sample()
    return simulation


class LaneVectorEnv(VectorEnv[Array, Array, Array]):
    """Environments of one case in lanes; the torque of its reel is the action.

    A motion takes the very steps that `CaseEnv` would take. One that ends, or that needs a step of its own, leaves its
    lane for that step. An environment whose episode has ended begins anew with the next step, whose action is ignored.

    Parameters
    ----------
    num_envs : int
    *args, **kwargs
        As of `CaseEnv`, without a render mode. `reward` is a function of observations, which are arrays here.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium's own name

    def __init__(self, num_envs: int, *args: Any, **kwargs: Any) -> None:
        one = CaseEnv(*args, **kwargs)
        self.task, self.num_envs = one.task, num_envs
        reason = why_no_lanes(self.task)
        if reason is not None:
            raise InputError(f"LaneVectorEnv: {reason}; use tautline.gym.make_vec, which takes them one by one then")
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        self._base = _begun(self.task, {})
        self._low, self._high = self.task.bounds()
        self._steps = round(self.task.case.run.duration / self.task.interval)
        task, blocks = task_of(self._base), -(-num_envs // LANES)
        N, reel = task.par.N, len(task.motion.reel)
        self._block = Block._make(np.stack([x] * blocks) for x in empty_block(N, reel))
        one_block = members_of([(task.par, task.plan, task.command)] * LANES)
        tables = CommandTables(*(np.stack([x] * blocks) for x in one_block.tables))
        arrays: dict[str, Any] = {
            name: np.stack([getattr(one_block, name)] * blocks) for name in ("numbers", "plans", "commands")
        }
        self._members = one_block._replace(tables=tables, **arrays)
        workspace, out = empty_workspace(N, reel, START.size), empty_block_samples(blocks, N)
        self._samples, places = by_time(out, blocks), np.arange(blocks)
        self._call = MemberCalls(
            batch.march_reeling, blocks, self._members, self._block, workspace, out, places, blocks
        )
        self._own: list[Any] = [None] * num_envs  # simulations of environments with numbers of their own
        self._full = _full_names(self.task)
        self._varied = Varied(self.task.case, self._full.values()) if self._full else None
        self._drawn = {key: np.full(blocks * LANES, x[0]) for key, x in self.task.randomize.items()}
        self._chain: Any = chain_of(self._base.case.system)
        self._ended = np.zeros(num_envs, dtype=bool)
        self._count = np.zeros(blocks * LANES)
        self._seen: dict[str, Array] = {}
        self._names = tuple(self.task.names)
        for place in range(blocks * LANES):  # also lanes that no environment has
            self._put(place, self._base)

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all episodes; environment k draws with seed + k, as those of SyncVectorEnv do."""
        seeds = seed if isinstance(seed, list) else [None if seed is None else seed + k for k in range(self.num_envs)]
        if not hasattr(self, "_random") or seed is not None:
            self._random = [gymnasium.utils.seeding.np_random(x)[0] for x in seeds]
        for k in range(self.num_envs):
            self._begin(k)
        self._changed()
        self._ended[:] = False
        self._seen = self._observed()
        return self._rows(), {}

    def _begin(self, k: int) -> None:
        """Begin an episode of an environment."""
        drawn = self.task.drawn(self._random[k])
        simulation = self._base
        if drawn:
            simulation = self._own[k] = _begun(self.task, drawn)
            for key, x in drawn.items():
                self._drawn[key][k] = x
        self._put(k, simulation)

    def _put(self, place: int, simulation: Runner[ChainBackend]) -> None:
        """Put a motion, its numbers and its first sample into a lane."""
        task, (b, lane) = task_of(simulation), divmod(place, LANES)
        for ours, theirs in zip(self._block, task.motion, strict=False):
            ours[b, lane] = theirs
        self._members.numbers[b, :, lane] = PARAMETERS.row(task.par)
        sample = simulation.backend.present_sample()
        self._samples.scalars[0, :, place], self._samples.nodes[0, ..., place] = sample.scalars[0], sample.nodes[0]
        self._count[place] = 0

    def _changed(self) -> None:
        """Take other numbers of the environments for what is observed."""
        if self._varied is not None:
            columns = {self._full[key]: x for key, x in self._drawn.items()}
            self._chain = chain_of(self._varied.put(columns).system)

    def step(self, actions: Any) -> tuple[Array, Array, Any, Any, dict[str, Any]]:
        """Give every environment the torque of its action for an interval."""
        anew = np.flatnonzero(self._ended)
        torques = np.zeros(len(self._count))
        torques[: self.num_envs] = self.task.actions[0].value(np.asarray(actions)[:, 0])
        alone = self._march(torques)
        status: dict[int, str] = {}
        ended = np.zeros(self.num_envs, dtype=bool)
        for place in alone:
            if place < self.num_envs and not self._ended[place]:
                found = self._alone(place, torques[place])
                ended[place] = found != "completed"
                status |= {place: found} if ended[place] else {}
        self._count += 1
        for k in anew.tolist():
            self._begin(k)
        if len(anew):
            self._changed()
        before, self._seen = self._seen, self._observed()
        rewards = np.broadcast_to(self.task.reward(before, self._seen), self._count.shape)[: self.num_envs].copy()
        rewards += self.task.failure * ended
        rewards[anew] = 0.0
        over = (self._count[: self.num_envs] >= self._steps) & ~ended
        self._ended = ended | over
        info = {} if not status else {"status": np.array([status.get(k, "") for k in range(self.num_envs)])}
        return self._rows(), rewards, ended, over, info

    def _march(self, torques: Array) -> list[int]:
        """One sample of all lanes; places of those that left."""
        block, limit = self._block, self._members.par.max_torque
        own = torques.reshape(block.status.shape)
        self._members.tables.torques[..., 0] = own
        block.reel[..., data.TORQUE] = np.clip(own, -limit, limit)
        block.status[:], block.filled[:] = RUNNING, 0
        for b in range(len(block.status)):
            self._call(b)
        found: list[int] = np.flatnonzero(block.filled.ravel() < 1).tolist()
        return found

    def _alone(self, place: int, torque: float) -> str:
        """One interval of a motion that left its lane, by itself; its status."""
        simulation = (self._own[place] or self._base).copy()
        motion, (b, lane) = simulation.stepper.motion, divmod(place, LANES)
        for ours, theirs in zip(motion, self._block, strict=False):
            ours[...] = theirs[b, lane]
        simulation.begin(Torque(float(torque)), self.task.interval, self.task.interval)
        simulation.march(1, simulation.stepper.plan)
        for ours, theirs in zip(self._block, simulation.stepper.motion, strict=False):
            ours[b, lane] = theirs
        sample = simulation.backend.present_sample()
        self._samples.scalars[0, :, place], self._samples.nodes[0, ..., place] = sample.scalars[0], sample.nodes[0]
        return str(simulation.status)

    def _observed(self) -> dict[str, Array]:
        """Observations of all lanes by name."""
        recorded = recorded_values(np.zeros(1), self._samples)
        chain, names = self._chain, set(self._names)
        values = values_of(chain, recorded, needed_for(names))
        found = system_values(self._base.case.system, values, names, inertia_of(chain.string, chain.body))
        times = self.task.interval * self._count
        rows = {name: np.moveaxis(np.asarray(found[name]), -1, 0)[:, 0] for name in self._names}
        return {x.name: times if x.of is None else x.of.of(rows) for x in self.task.observations}

    def _rows(self) -> Array:
        rows = np.stack(list(self._seen.values()), axis=1)[: self.num_envs]
        return np.clip(rows, self._low, self._high)
