"""Runs of any system with frozen steps, at their starts: what a march with tangents takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tautline.arrays import Array
from tautline.engine.cases import begin
from tautline.engine.network.backend import NetworkBackend
from tautline.engine.network.samples import state_of
from tautline.engine.network.strands import strands_of
from tautline.engine.runner import Runner
from tautline.gradients.coordinates import Coordinates, held_at
from tautline.gradients.dual_runs import DualRun
from tautline.gradients.marched import Marched, note_balances
from tautline.gradients.marching import march_once
from tautline.gradients.network.dual_numbers import columns_of_network
from tautline.gradients.network.marching import NetworkSetting
from tautline.gradients.network.outputs import dual_values
from tautline.gradients.outputs import DualValues
from tautline.gradients.scales import Scales
from tautline.gradients.steps import FrozenRuns
from tautline.gradients.trust import Line
from tautline.kernels.network import data as kernels
from tautline.model.system.case import Case
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State


class BegunNetwork(NamedTuple):
    """A run with frozen steps at its start."""

    simulation: Runner[NetworkBackend]
    setting: NetworkSetting
    first: kernels.WholeSamples
    until: float  # time that tables hold until (s)
    start: State

    def numbers(self) -> NetworkSetting:
        """All that follows from keys, but workspace."""
        return self.setting.without_workspace()

    def first_tangents(self, tangents: list[Array]) -> kernels.WholeSamples:
        """Derivatives of the first sample, from those of the setting."""
        at_once = self.setting._replace(plan=self.setting.plan._replace(steps_per_sample=0))
        found: kernels.WholeSamples = march_once(at_once, tangents)
        return found

    def placed(self, coordinates: Coordinates, x: Array, time: float) -> BegunNetwork:
        """A copy in a state at a time (s), given by its coordinates."""
        simulation = self.simulation.copy(self.until)
        bodies, start = self.simulation.system.bodies, self.start.bodies
        held = {name: held_at(body, start[name], time) for name, body in bodies.items() if isinstance(body, Kinematic)}
        lines = state_of(self.simulation.system, self.first).lines
        simulation.go_on_from(coordinates.state(x, time, lines, held), time)
        return self._replace(simulation=simulation, setting=self.setting._replace(network=simulation.stepper.network))

    def as_network(self, setting: Any, samples: Any) -> kernels.WholeSamples:
        """Samples as they are."""
        found: kernels.WholeSamples = samples
        return found

    def take_note(self, marched: Marched) -> None:
        """Let the simulation know of a march of its setting."""
        self.simulation.stepper.ended_at = marched.strand
        note_balances(self.simulation.stepper.arrays.totals, marched.samples.whole[: marched.filled])
        self.simulation.marched(marched.samples, 0, marched.status, marched.filled, self.setting.plan)

    def values(self, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> DualValues:
        """Variables by name, and the time."""
        return dual_values(self.simulation.system, setting, counts, samples, names)

    def lines(self, setting: Any, samples: Any) -> list[Line]:
        """The lines in samples; both carry derivatives."""
        system, found = self.simulation.system, []
        for k, strand in enumerate(strands_of(system)):
            if strand.span < 0:
                continue
            line, own = system.lines[strand.line], setting.network.strands[k]
            first = own.first
            nodes = samples.nodes[:, first : first + line.count + 1]
            length = own.par.L - samples.strands[:, k, kernels.RETRACTED]
            speed, stop = samples.strands[:, k, kernels.SPEED], own.reeving.feeds[1]
            if stop >= 0:
                speed = speed - own.reeving.factors[1] * samples.strands[:, stop, kernels.SPEED]
            found.append(Line(strand.line, line.string, nodes[..., :3], nodes[..., 3:], length, speed))
        return found

    def has_adjoint(self) -> bool:
        """Whether its steps have adjoints: none as yet."""
        return False


class NetworkRuns(FrozenRuns[BegunNetwork]):
    """Runs of a case of any system, with frozen steps."""

    def _own(self) -> Any:
        begun = begin(self.case, general=True)
        begun.simulation.first_sample()
        return begun

    def _begun(self, case: Case) -> BegunNetwork:
        duration, steps = case.run.duration, self.steps
        length, sample = steps.length(duration), duration / steps.rows
        begun = begin(case.with_run(step=length, sample=sample, stop=()), general=True)
        simulation = begun.simulation
        first = simulation.first_sample()
        plan = simulation.sampling(begun.interval)._replace(h=length, steps_per_sample=steps.per_sample)
        simulation.stepper.lower(0.0, steps.until)
        setting = NetworkSetting(simulation.stepper.network, plan)
        return BegunNetwork(simulation, setting, first, steps.until, case.state())

    def columns(self, begun: BegunNetwork, dual: DualRun, scales: Scales) -> Array:
        """Derivatives of the numbers of a run, from its case with dual numbers (`tangents_of_numbers`)."""
        return columns_of_network(self, begun, dual, scales)
