"""Runs of a chain with frozen steps, at their starts: what a march with tangents takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.cases import begin_chain
from tautline.engine.chain.ensemble import task_of
from tautline.engine.runner import Runner
from tautline.gradients.chain.dual_numbers import columns_of_chain
from tautline.gradients.chain.marching import Setting
from tautline.gradients.chain.outputs import dual_values, network_samples
from tautline.gradients.chain.reverse import Found, gradient_back, has_adjoint
from tautline.gradients.chain.torques import found_afterwards, held_torques
from tautline.gradients.coordinates import Coordinates
from tautline.gradients.dual_runs import DualRun
from tautline.gradients.marched import Marched, note_balances
from tautline.gradients.marching import march_once
from tautline.gradients.outputs import OF_TORQUES, DualValues
from tautline.gradients.scales import Scales
from tautline.gradients.steps import FrozenRuns
from tautline.gradients.trust import Line
from tautline.kernels import data
from tautline.kernels.loads.carried import carries_fluid
from tautline.kernels.network import data as network
from tautline.model import keys
from tautline.model.body import RigidBody
from tautline.model.chain.cases import chain_command
from tautline.model.chain.systems import chain_state, guide_at
from tautline.model.command import Command
from tautline.model.description import changed
from tautline.model.system.case import Case
from tautline.model.system.state import LineState, State
from tautline.model.system.system import System
from tautline.results.chain import Inertia

if TYPE_CHECKING:
    from tautline.gradients.run import Prepared


class Begun(NamedTuple):
    """A run of frozen steps at its start."""

    simulation: Runner[ChainBackend]
    setting: Setting
    first: data.Samples
    command: Command
    system: System  # that the chain is; of its numbers none that depend on keys is used

    def numbers(self) -> tuple[Setting, bool]:
        """All that follows from keys; and what steps switch on by a number."""
        return self.setting, bool(carries_fluid(self.setting.loads))

    def first_tangents(self, tangents: list[Array]) -> data.Samples:
        """Derivatives of the first sample, from those of the setting; not of torques that are found afterwards."""
        plan, motion = self.setting.plan._replace(steps_per_sample=0), data.copy_of(self.setting.motion)
        found: data.Samples = march_once(self.setting._replace(plan=plan, motion=motion), tangents)
        if self.finds_torque:
            found.scalars[:, data.DRUM_TORQUE] = 0.0
        return found

    @property
    def finds_torque(self) -> bool:
        """Whether torques are found after a run."""
        return found_afterwards(self.setting.par, self.command)

    def placed(self, coordinates: Coordinates, x: Array, time: float) -> Begun:
        """A copy in a state at a time (s), given by its coordinates."""
        simulation = self.simulation.copy()
        reeled = float(self.first.scalars[0, data.REELED_LENGTH])
        guide = guide_at(self.simulation.backend.pendulum, time)
        state = coordinates.state(x, time, self.before(reeled))
        simulation.go_on_from(chain_state(self.system, state, guide), time)
        return self._replace(simulation=simulation, setting=self.setting._replace(motion=simulation.stepper.motion))

    def before(self, reeled: Any) -> dict[str, LineState]:
        """The line with a length on its reel that stays where that is locked (m)."""
        return {name: changed(LineState(np.zeros((2, 3))), reeled_length=reeled) for name in self.system.lines}

    def as_network(self, setting: Any, samples: Any) -> network.WholeSamples:
        """Samples as those of a network, places and motions alone."""
        return network_samples(self.system, setting, samples)

    def take_note(self, marched: Marched) -> None:
        """Let the simulation know of a march of its setting."""
        note_balances(self.setting.motion.reel, marched.samples.scalars[: marched.filled])
        self.simulation.marched(marched.samples, 0, marched.status, marched.filled, self.setting.plan)

    def values(self, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> DualValues:
        """Variables by name, and the time (outputs.dual_values).

        Torques that are found afterwards get their derivatives when they are asked for.
        """
        chain = self.simulation.backend.pendulum
        values = dual_values(self.system, chain, setting, counts, samples, names)

        def held() -> DualValues:
            scalars = samples.scalars.copy()
            scalars[:, data.DRUM_TORQUE] = held_torques(self.setting, setting, values["time"], samples)
            return dual_values(self.system, chain, setting, counts, samples._replace(scalars=scalars), OF_TORQUES)

        if self.finds_torque:
            values.put_off(set(OF_TORQUES) & set(names), held)
        return values

    def lines(self, setting: Any, samples: Any) -> list[Line]:
        """The line in samples; both carry derivatives."""
        x, (nodes, velocity) = samples.scalars, (samples.nodes[:, k] for k in range(2))
        length, string = setting.par.L - x[:, data.REELED_LENGTH], self.simulation.backend.pendulum.string
        return [Line(next(iter(self.system.lines)), string, nodes, velocity, length, x[:, data.REEL_SPEED])]

    def has_adjoint(self) -> bool:
        """Whether its steps have adjoints."""
        return has_adjoint(self.setting)

    def gradient_back(
        self, prepared: Prepared, objective: Callable[[Mapping[str, Any]], Any], names: Sequence[str]
    ) -> Found | None:
        """A number and its derivatives by a reverse pass; None where there is none."""
        return gradient_back(prepared, objective, names)


def stays_chain(case: Case, key: keys.Key) -> bool:
    """Whether a case of a chain with another value of a key, none of the short ones, is one of a chain too."""
    if key.path[:2] in (("initial", "lines"), ("initial", "bodies")):
        return isinstance(case.start, State)
    return key.name != "end_point"


class ChainRuns(FrozenRuns[Begun]):
    """Runs of a case of a system that is a chain, with frozen steps."""

    _waiting: Runner[ChainBackend] | None = None  # without a command as yet

    def _own(self) -> Any:
        return begin_chain(self.case)

    def _begun(self, case: Case) -> Begun:
        """Where it has another command only, the rest is taken over."""
        frozen = self._frozen(case)
        if not self._has_another_command(case):
            begun: Any = begin_chain(frozen).simulation
            return self._at_start(begun, case)
        with case.naming_keys():
            case.state()  # checks the command
            self._waiting = self._waiting or Runner(ChainBackend.from_case(self._frozen(self.case)))
            simulation = self._waiting.copy()
            simulation.begin(chain_command(case), case.run.duration, frozen.run.interval())
        return self._at_start(simulation, case)

    def columns(self, begun: Begun, dual: DualRun, scales: Scales) -> Array:
        """Derivatives of the numbers of a run, from its case with dual numbers (`tangents_of_numbers`)."""
        return columns_of_chain(self, begun, dual, scales)

    def _frozen(self, case: Case) -> Case:
        """A case with frozen steps, without conditions that stop it."""
        duration = case.run.duration
        length, sample = self.steps.length(duration), duration / self.steps.rows
        return changed(case, run=dataclasses.replace(case.run, step=length, sample=sample, stop=()))

    def _at_start(self, simulation: Runner[ChainBackend], case: Case) -> Begun:
        """A simulation that has taken the command of a case."""
        task = task_of(simulation, self.steps.until)
        plan = task.plan._replace(h=self.steps.length(case.run.duration), steps_per_sample=self.steps.per_sample)
        first = data.Samples(*(x.copy() for x in simulation.backend.present_sample()))
        inertia = _inertia(simulation.backend.pendulum.string.density, simulation.backend.pendulum.body)
        setting = Setting(task.par, plan, task.command, task.motion, simulation.stepper.loads, inertia)
        return Begun(simulation, setting, first, chain_command(case), self.case.system)

    def _has_another_command(self, case: Case) -> bool:
        ours = self.case
        same = case.system is ours.system and case.start == ours.start and case.run == ours.run
        return same and chain_command(case) is not chain_command(ours)


def _inertia(density: float, body: RigidBody) -> Inertia:
    """Inertia as plain numbers, which are leaves of a setting."""
    rows = np.array(body.central_inertia(), dtype=float).tolist()
    return Inertia(float(density), float(body.mass), tuple(map(float, body.center_of_mass)), tuple(map(tuple, rows)))
