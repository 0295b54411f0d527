"""Runs of any system with frozen steps, at their starts: what a march with tangents takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tautline.arrays import Array
from tautline.engine.cases import begin
from tautline.engine.network.simulation import NetworkSimulation
from tautline.gradients.coordinates import Coordinates, held_at
from tautline.gradients.dual_cases import UnknownTangentsError
from tautline.gradients.marched import Marched
from tautline.gradients.marching import march_along
from tautline.gradients.network.marching import NetworkSetting
from tautline.gradients.network.outputs import carried_values, held_reels
from tautline.gradients.outputs import OF_TORQUES, CarriedValues
from tautline.gradients.rest_starts import CasesBeside
from tautline.gradients.scales import Scales
from tautline.gradients.steps import Steps, steps_of
from tautline.gradients.trust import Line
from tautline.kernels.network import data as kernels
from tautline.model.system.case import Case
from tautline.model.system.given import case_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State
from tautline.results.network import spans
from tautline.results.warnings import RunWarning


class BegunNetwork(NamedTuple):
    """A run with frozen steps at its start."""

    simulation: NetworkSimulation
    setting: NetworkSetting
    first: kernels.WholeSamples
    held: list[int]  # lines whose torques are found afterwards
    until: float  # time that tables hold until (s)
    start: State

    def numbers(self) -> tuple[NetworkSetting, kernels.WholeSamples]:
        """All that follows from keys, but torques that are found afterwards and workspace."""
        strands = self.first.strands.copy()
        strands[:, self.held, kernels.TORQUE_NOW] = 0.0
        return self.setting.without_workspace(), self.first._replace(strands=strands)

    def twin(self) -> BegunNetwork:
        """The same with a motion of its own."""
        return self._replace(simulation=self.simulation.twin(self.until))

    def placed(self, coordinates: Coordinates, x: Array, time: float) -> NetworkSetting:
        """The setting from a state at a time (s), given by its coordinates."""
        bodies, start = self.simulation.system.bodies, self.start.bodies
        held = {name: held_at(body, start[name], time) for name, body in bodies.items() if isinstance(body, Kinematic)}
        self.simulation.go_on_from(coordinates.state(x, time, self.first.strands[0, :, kernels.REELED], held), time)
        return self.setting._replace(network=self.simulation.stepper.network)

    def as_network(self, setting: Any, samples: Any) -> kernels.WholeSamples:
        """Samples as they are."""
        found: kernels.WholeSamples = samples
        return found

    def take_note(self, marched: Marched) -> None:
        """Let the simulation know of a march of its setting."""
        self.simulation.stepper.ended_at = marched.strand
        self.simulation.marched(marched.samples, 0, marched.status, marched.filled, self.setting.plan)

    def with_torques(self, first: Any, tangents: list[Array], names: Sequence[str]) -> Any:
        """The first sample with derivatives of torques that are found from the motion, if they are among variables.

        `tangents` are those of the setting.
        """
        if not self.held or not set(OF_TORQUES) & set(names):
            return first
        at_once = self.setting._replace(plan=self.setting.plan._replace(steps_per_sample=0))
        found = march_along(at_once, tangents, 1).tangents.strands
        strands = first.strands.copy()
        strands.tangent[:, self.held, kernels.TORQUE_NOW] = found[:, self.held, kernels.TORQUE_NOW]
        return first._replace(strands=strands)

    def values(self, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> CarriedValues:
        """Variables by name, and the time."""
        return carried_values(self.simulation.system, setting, counts, samples, names)

    def lines(self, setting: Any, samples: Any) -> list[Line]:
        """The lines in samples; both carry derivatives."""
        lines, found = self.simulation.system.lines, []
        for k, (name, (span, _)) in enumerate(spans(self.simulation.system).items()):
            x, nodes = samples.strands[:, k], samples.nodes[:, span]
            length = setting.network.strands[k].par.L - x[:, kernels.REELED]
            moves = (nodes[..., :3], nodes[..., 3:], length, x[:, kernels.SPEED])
            found.append(Line(name, lines[name].string, *moves))
        return found

    def has_adjoint(self) -> bool:
        """Whether there is a way back through its steps: none as yet."""
        return False


class NetworkRuns:
    """Runs of a case whose keys have values of its own or others, at their starts, with frozen steps.

    Parameters
    ----------
    case : Case
    steps : Steps, optional
        The case's own by default.
    """

    def __init__(self, case: Case, steps: Steps | None = None) -> None:
        self._case, self._beside = case, CasesBeside(case)
        self.steps = steps or self._own_steps()

    def _own_steps(self) -> Steps:
        begun = begin(self._case, general=True)
        begun.simulation.first_sample()
        return steps_of(begun, self._case.run)

    def begun(self, changes: Mapping[str, float]) -> BegunNetwork:
        """A run at its start, its commands taken; conditions that stop it are left out."""
        return self._begun(self._case.with_(changes) if changes else self._case)

    def beside(self, changes: Mapping[str, float]) -> BegunNetwork:
        """A run at its start for derivatives: right to first order in the changes, and without a search for rest."""
        return self._begun(self._beside.case_with(changes))

    def _begun(self, case: Case) -> BegunNetwork:
        duration, steps = case.run.duration, self.steps
        length, sample = steps.length(duration), duration / steps.rows
        begun = begin(case_of(case, None, None, {"step": length, "sample": sample, "stop": ()}), general=True)
        simulation: Any = begun.simulation
        first = simulation.first_sample()
        plan = simulation.sampling(begun.interval)._replace(h=length, steps_per_sample=steps.per_sample)
        simulation.stepper.lower(0.0, steps.until)
        setting = NetworkSetting(simulation.stepper.network, plan)
        held = held_reels(simulation.system, case.commands)
        return BegunNetwork(simulation, setting, first, held, steps.until, case.state())

    def tangents(self, begun: BegunNetwork, names: Sequence[str], scales: Scales) -> Array:
        """Derivatives by dual numbers: not yet."""
        raise UnknownTangentsError("a network")

    def warnings(self, begun: BegunNetwork) -> list[RunWarning]:
        """Warnings on keys: none."""
        return []
