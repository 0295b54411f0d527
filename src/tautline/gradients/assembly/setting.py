"""From a case of an assembly to what a march with tangents takes, its steps frozen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tautline.arrays import Array
from tautline.engine.cases import begin, case_of
from tautline.engine.network import NetworkSimulation
from tautline.gradients.assembly.coordinates import NetworkCoordinates
from tautline.gradients.assembly.marching import AssemblySetting
from tautline.gradients.assembly.outputs import carried_values, held_reels
from tautline.gradients.marched import Marched
from tautline.gradients.marching import march_along
from tautline.gradients.outputs import CarriedValues
from tautline.gradients.torques import OF_TORQUES
from tautline.gradients.trust import Line
from tautline.kernels.assembly import data as kernels
from tautline.model.assembly.case import Case
from tautline.results.assembly import spans


class BegunNetwork(NamedTuple):
    """A run of an assembly with frozen steps at its start; methods as of `setting.Begun`."""

    simulation: NetworkSimulation
    setting: AssemblySetting
    first: kernels.WholeSamples
    held: list[int]  # lines whose torques are found afterwards
    until: float  # time that tables hold until (s)

    def numbers(self) -> tuple[AssemblySetting, kernels.WholeSamples]:
        """All that follows from keys, but torques that are found afterwards and workspace."""
        strands = self.first.strands.copy()
        strands[:, self.held, kernels.TORQUE_NOW] = 0.0
        return self.setting.without_workspace(), self.first._replace(strands=strands)

    def twin(self) -> BegunNetwork:
        """The same with a motion of its own."""
        return self._replace(simulation=self.simulation.twin(self.until))

    def placed(self, coordinates: NetworkCoordinates, x: Array, time: float) -> AssemblySetting:
        """The setting from a state at a time (s), given by its coordinates."""
        self.simulation.go_on_from(coordinates.state(x, time, self.first.strands[0, :, kernels.REELED]), time)
        return self.setting._replace(system=self.simulation.system)

    def take_note(self, marched: Marched) -> None:
        """Let the simulation know of a march of its setting."""
        status, filled, strand = marched.status, marched.filled, marched.strand
        self.simulation.marched(marched.samples, 0, status, filled, strand, self.setting.plan)

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
        return carried_values(self.simulation.assembly, setting, counts, samples, names)

    def lines(self, setting: Any, samples: Any) -> list[Line]:
        """The lines in samples; both carry derivatives."""
        lines, found = self.simulation.assembly.lines, []
        for k, (name, (span, _)) in enumerate(spans(self.simulation.assembly).items()):
            x, nodes = samples.strands[:, k], samples.nodes[:, span]
            length = setting.system.strands[k].par.L - x[:, kernels.REELED]
            moves = (nodes[..., :3], nodes[..., 3:], length, x[:, kernels.SPEED])
            found.append(Line(f"string {name!r}", lines[name].string, *moves))
        return found


def begin_assembly(case: Case, length: float, sample: float, per_sample: int, until: float) -> BegunNetwork:
    """A case at its start, its commands taken, with steps of a length (s); conditions that stop it are left out."""
    frozen = case_of(case, None, None, {"step": length, "sample": sample, "stop": ()})
    begun = begin(frozen, general=True)
    simulation: NetworkSimulation = begun.simulation
    first = simulation.first_sample()
    plan = simulation.sampling(begun.interval)._replace(h=length, steps_per_sample=per_sample)
    setting = AssemblySetting(simulation.task(until), plan)
    return BegunNetwork(simulation, setting, first, held_reels(simulation.assembly, case.commands), until)
