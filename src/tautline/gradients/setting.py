"""From a case to what a march with tangents takes, its steps frozen."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, overload

from tautline.arrays import Array
from tautline.engine.cases import begin
from tautline.engine.chain import ChainSimulation
from tautline.engine.network import NetworkSimulation
from tautline.errors import InputError
from tautline.gradients.assembly.setting import BegunNetwork, begin_assembly
from tautline.gradients.coordinates import Coordinates
from tautline.gradients.marched import Marched
from tautline.gradients.marching import Setting
from tautline.gradients.outputs import CarriedValues, carried_values, changed
from tautline.gradients.torques import OF_TORQUES, found_afterwards, held_torques
from tautline.gradients.trust import Line
from tautline.kernels import data
from tautline.model.assembly.case import Case
from tautline.model.case import ChainCase
from tautline.model.command import Command

# Tables of motions without end hold so much longer than the run, so that they are the same near its duration.
BEYOND = 1.1


C = TypeVar("C", bound=ChainCase | Case)


class Steps(NamedTuple):
    """The steps of a run, which stay while keys change: the length of a step is a part of the duration."""

    rows: int  # samples after the first
    per_sample: int
    filled: int  # samples before the run ended
    until: float  # time that tables hold until (s)

    def length(self, duration: float) -> float:
        """Of a step (s)."""
        return duration / (self.rows * self.per_sample)


class Begun(NamedTuple):
    """A run of frozen steps at its start."""

    simulation: ChainSimulation
    setting: Setting
    first: data.Samples
    command: Command

    def numbers(self) -> tuple[Setting, data.Samples]:
        """All that follows from keys, but a torque that was found afterwards."""
        scalars = self.first.scalars.copy()
        if found_afterwards(self.setting.par, self.command):
            scalars[:, data.DRUM_TORQUE] = 0.0
        return self.setting, self.first._replace(scalars=scalars)

    def twin(self) -> Begun:
        """The same with a motion of its own."""
        return self._replace(simulation=self.simulation.twin())

    def placed(self, coordinates: Coordinates, x: Array, time: float) -> Setting:
        """The setting from a state at a time (s), given by its coordinates."""
        reeled = float(self.first.scalars[0, data.REELED_LENGTH])
        self.simulation.go_on_from(coordinates.state(x, reeled), time)
        return self.setting._replace(motion=self.simulation.task().motion)

    def take_note(self, marched: Marched) -> None:
        """Let the simulation know of a march of its setting."""
        self.simulation.marched(marched.samples, 0, marched.status, marched.filled, self.setting.plan)

    def with_torques(self, first: Any, tangents: list[Array], names: Sequence[str]) -> Any:
        """The first sample as it is: derivatives of torques that are found afterwards come with `values`."""
        return first

    def values(self, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> CarriedValues:
        """Variables by name, and the time (outputs.carried_values).

        Torques that are found afterwards get their derivatives when they are asked for.
        """
        pendulum = self.simulation.pendulum
        values = carried_values(pendulum, setting, counts, samples, names)

        def held() -> CarriedValues:
            scalars = samples.scalars.copy()
            scalars[:, data.DRUM_TORQUE] = held_torques(self.setting, setting, values["time"], samples)
            return carried_values(pendulum, setting, counts, samples._replace(scalars=scalars), OF_TORQUES)

        if found_afterwards(self.setting.par, self.command):
            values.put_off(set(OF_TORQUES) & set(names), held)
        return values

    def lines(self, setting: Any, samples: Any) -> list[Line]:
        """The string in samples; both carry derivatives."""
        x, (nodes, velocity) = samples.scalars, (samples.nodes[:, k] for k in range(2))
        length, string = setting.par.L - x[:, data.REELED_LENGTH], self.simulation.pendulum.string
        return [Line("the string", string, nodes, velocity, length, x[:, data.REEL_SPEED])]


def check_case(case: C) -> C:
    """Refuse cases whose derivatives are not known."""
    if not isinstance(case, ChainCase | Case):
        raise InputError(f"case: expected a Case, got {type(case).__name__}")
    commands = case.commands.values() if isinstance(case, Case) else [case.command]
    if any(command.is_function for command in commands):
        raise InputError(
            "case: expected a torque that is a number or a table, got a function; Torque((times, torques))"
        )
    return case


def steps_of(case: ChainCase | Case) -> Steps:
    """The steps of a run; those of step="auto" all as small as the smallest that it makes, found by running it."""
    begun = begin(case, general=True)
    simulation: ChainSimulation | NetworkSimulation = begun.simulation
    if isinstance(simulation, NetworkSimulation):
        simulation.first_sample()
    plan = simulation.sampling(begun.interval)
    level, filled = 0, begun.samples
    if plan.adaptive or case.run.stop:
        filled = 0
        while filled < begun.samples and simulation.status == "completed":
            simulation.march(1, plan)
            level = max(level, simulation.halvings)
            filled += simulation.status == "completed"
    return Steps(begun.samples, plan.steps_per_sample << level, filled, BEYOND * case.run.duration)


@overload
def begin_frozen(case: ChainCase, steps: Steps) -> Begun: ...


@overload
def begin_frozen(case: Case, steps: Steps) -> BegunNetwork: ...


def begin_frozen(case: ChainCase | Case, steps: Steps) -> Begun | BegunNetwork:
    """A case at its start, its command taken, with frozen steps; conditions that stop it are left out."""
    duration = case.run.duration
    length, sample = steps.length(duration), duration / steps.rows
    if isinstance(case, Case):
        return begin_assembly(case, length, sample, steps.per_sample, steps.until)
    return _at_start(begin(_with_steps(case, steps)).simulation, case, steps)


def _with_steps(case: ChainCase, steps: Steps) -> ChainCase:
    """A case with frozen steps, without conditions that stop it."""
    duration = case.run.duration
    run = dataclasses.replace(case.run, step=steps.length(duration), sample=duration / steps.rows, stop=())
    return changed(ChainCase, case, run=run)


def _at_start(simulation: ChainSimulation, case: ChainCase, steps: Steps) -> Begun:
    """A simulation that has taken the command of a case."""
    task = simulation.task(steps.until)
    plan = task.plan._replace(h=steps.length(case.run.duration), steps_per_sample=steps.per_sample)
    first = data.Samples(*(x.copy() for x in simulation.present_sample()))
    return Begun(
        simulation, Setting(task.par, plan, task.command, task.motion, simulation.kernel_loads), first, case.command
    )


class FrozenRuns:
    """Runs of cases that differ from one in some keys, at their starts, with frozen steps.

    Parameters
    ----------
    case : Case or Case
    steps : Steps
    """

    def __init__(self, case: ChainCase | Case, steps: Steps) -> None:
        self._case, self._steps = case, steps
        self._waiting: ChainSimulation | None = None  # without a command as yet

    def begun(self, case: Any) -> Any:
        """`begin_frozen` of a case; where it has another command only, the rest is taken over."""
        if not isinstance(case, ChainCase) or not self._has_another_command(case):
            return begin_frozen(case, self._steps)
        frozen = _with_steps(case, self._steps)
        with case.naming_keys():
            case.state()  # checks the command
            self._waiting = self._waiting or ChainSimulation.from_case(_with_steps(self._case, self._steps))  # type: ignore[arg-type]
            simulation = self._waiting.twin()
            simulation.begin(case.command, case.run.duration, frozen.run.interval())
        return _at_start(simulation, case, self._steps)

    def _has_another_command(self, case: ChainCase) -> bool:
        ours: Any = self._case
        others = all(getattr(case, name) is getattr(ours, name) for name in ("pendulum", "initial", "run"))
        return others and case.command is not ours.command
