"""How far a run of a system can be trusted: figures that are gathered while it goes on, and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from tautline.engine.criteria import warnings_from
from tautline.engine.health import (
    balance_criterion,
    kept_energies,
    pending_energy,
    reel_speed_criterion,
    step_criteria,
    step_ratios,
)
from tautline.engine.loads import Laden
from tautline.engine.mesh import MeshHealth
from tautline.engine.mesh_limits import mesh_criteria
from tautline.engine.network.bodies import BodyHealth
from tautline.engine.network.strands import key_in_files, meshes_of, strands_of, wheel_reel
from tautline.engine.unfollowed import function_warnings
from tautline.engine.warnings import motor_warnings, slack_warnings
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.system.system import System
from tautline.results.warnings import RunWarning

# Strain of a rope that is slack and not just unstretched.
SLACK = 1e-9


@dataclass
class NetworkHealth:
    """Figures of a run, as its samples come in."""

    kept: float = math.nan  # energy less work plus losses, at the start (J)
    balance: float = 0.0  # largest change of that (J)
    step: float = 0.0  # largest (s)
    needed: dict[str, list[float]] = field(
        default_factory=dict
    )  # torque and power of reels in prescribed motion, by string
    meshes: dict[str, MeshHealth] = field(default_factory=dict)  # by line
    bodies: BodyHealth = field(default_factory=BodyHealth)
    speeds: dict[str, float] = field(default_factory=dict)  # largest of reels, over those of waves, by line
    # Of torques that are functions, by string: impulse by size, and the part of it by which they depart from lines
    # between the ends of steps (N m s).
    tables: dict[str, list[float]] = field(default_factory=dict)
    slack: dict[str, float] = field(default_factory=dict)  # sheaves with a slack rope on both sides, since when (s)

    def __post_init__(self) -> None:
        self._latest = max((mesh.time for mesh in self.meshes.values()), default=-math.inf)

    @property
    def begun(self) -> bool:
        """Whether a sample was seen."""
        return not math.isnan(self.kept)

    def look(self, system: System, samples: kernels.WholeSamples, times: data.Array, order: int) -> None:
        """See samples at these times, of a method of this order."""
        if not len(samples.whole):
            return
        kept = np.asarray(kept_energies(samples.whole.T))
        if not self.begun:
            self.kept = float(kept[0])
        pending = np.zeros(len(times))
        for name, applied in system.applied_forces.items():
            pending += pending_energy(applied, system.bodies[name], times, samples.whole[:, kernels.STEP_LENGTH])
        self.balance = max(self.balance, float((np.abs(kept - self.kept) - pending).max()))
        self._look_at_new(system, samples, times, order)

    def _look_at_new(self, system: System, samples: kernels.WholeSamples, times: data.Array, order: int) -> None:
        """See bodies, reels and meshes of samples that were not seen: where a record begins, the first one was."""
        new = times > self._latest
        if not new.any():
            return
        samples, times = type(samples)(*(x[new] for x in samples)), times[new]
        elapsed = np.diff(times, prepend=max(self._latest, 0.0))
        self._latest = float(times[-1])
        self.step = max(self.step, float(np.nanmax(samples.whole[:, kernels.STEP_LENGTH], initial=0.0)))
        self.bodies.look(system, samples, elapsed, order)
        for k, strand in enumerate(strands_of(system)):
            if strand.reel is not None:
                speed = float(np.abs(samples.strands[:, k, kernels.SPEED]).max())
                ratio = speed / system.lines[strand.line].string.wave_speed
                self.speeds[strand.line] = max(self.speeds.get(strand.line, 0.0), ratio)
        self._look_at_meshes(system, samples, times)
        self._look_at_sheaves(system, samples, times)

    def _look_at_meshes(self, system: System, samples: kernels.WholeSamples, times: data.Array) -> None:
        """See the meshes of samples."""
        places, reeled = samples.nodes, samples.strands[..., kernels.RETRACTED]
        for k, key, nodes, name in meshes_of(system):
            own, velocities = places[:, nodes, :3], places[:, nodes, 3:]
            hung, some = _in_field(system, name), slice(None)
            if key not in self.meshes:  # the start is looked at, and does not count as a sample
                self.meshes[key], some = MeshHealth(time=float(times[0])), slice(1, None)
                self.meshes[key].begin(hung, own[0], velocities[0], reeled[0, k])
            if not len(times[some]):
                continue
            # No mass and no reel: that of a single element's sag and of the guide is not known where a line moves
            # several bodies.
            self.meshes[key].update(hung, times[some], own[some], velocities[some], reeled[some, k])

    def _look_at_sheaves(self, system: System, samples: kernels.WholeSamples, times: data.Array) -> None:
        """See whether ropes are slack where they meet sheaves and pins."""
        strands, rows = strands_of(system), {k: nodes for k, _, nodes, _ in meshes_of(system)}
        for k, strand in enumerate(strands):
            if strand.wheel is None or strand.span < 0 or strand.wheel.command in self.slack:
                continue
            line, loose = system.lines[strand.line], np.ones(len(times), dtype=bool)
            for j, end in ((k - 1, slice(-2, None)), (k, slice(2))):
                l = (line.string.length - samples.strands[:, j, kernels.RETRACTED]) / line.count
                size = np.linalg.norm(np.diff(samples.nodes[:, rows[j], :3][:, end], axis=1)[:, 0], axis=1)
                loose &= size < (1.0 - SLACK) * l
            if loose.any():
                self.slack[strand.wheel.command] = float(times[np.argmax(loose)])

    def look_at_motors(self, system: System, samples: kernels.WholeSamples, prescribed: list[str]) -> None:
        """Keep what motors take to drive their reels."""
        for k, strand in enumerate(strands_of(system)):
            name = strand.drive
            if name and name in prescribed and len(samples.strands):
                torque = np.abs(samples.strands[:, k, kernels.TORQUE_NOW])
                radius = wheel_reel(strand).radius(samples.strands[:, k, kernels.REELED])
                power = torque * np.abs(samples.strands[:, k, kernels.SPEED]) / radius
                before = self.needed.get(name, [0.0, 0.0])
                largest = [float(np.nanmax(x, initial=0.0)) for x in (torque, power)]
                self.needed[name] = [max(a, b) for a, b in zip(before, largest, strict=True)]

    def note_table(self, name: str, impulse: float, bent: float) -> None:
        """See a table of a torque that is a function."""
        before = self.tables.get(name, [0.0, 0.0])
        self.tables[name] = [before[0] + impulse, before[1] + bent]

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> NetworkHealth:
        meshes = {name: MeshHealth(**x) for name, x in state["meshes"].items()}
        return cls(**(state | {"meshes": meshes, "bodies": BodyHealth(**state["bodies"])}))

    def figures(self, system: System, plan: data.Plan, totals: data.Array) -> dict[str, float]:
        """Figures by name; those of meshes are the largest of all lines."""
        by_string = [mesh.figures() for mesh in self.meshes.values() or [MeshHealth()]]
        in_play = float(totals[data.IN_PLAY])
        return {
            "balance_error": self.balance / in_play if in_play > 0.0 else 0.0,
            "energy_in_play": in_play,
            "reel_speed_ratio": max(self.speeds.values(), default=0.0),
            **self.bodies.figures(system, self.meshes),
            **{name: max(float(x[name]) for x in by_string) for name in by_string[0]},
            **{name: float(x) for name, x in step_ratios(totals, self.bodies.turn / plan.resolution).items()},
        }

    def warnings(self, system: System, plan: data.Plan, totals: data.Array) -> list[RunWarning]:
        """Warnings where a figure is beyond its limit."""
        figures = self.figures(system, plan, totals)
        criteria = [balance_criterion(figures["balance_error"], plan.adaptive), *step_criteria(figures, plan.adaptive)]
        found = warnings_from(criteria) + self.bodies.warnings(system, self.meshes) + self._on_meshes(system)
        for name, ratio in self.speeds.items():
            found += on_line(system, name, warnings_from([reel_speed_criterion(ratio)]))
        for name, needed in self.needed.items():
            drive = next(x for x in strands_of(system) if x.drive == name)
            found += on_line(system, name, motor_warnings(wheel_reel(drive), *needed))
        for name, since in self.slack.items():
            found += on_line(system, line_of(name), slack_warnings(name.partition(".")[2], since))
        for name, table in self.tables.items():
            found += on_line(system, name, function_warnings(*table))
        return found

    def _on_meshes(self, system: System) -> list[RunWarning]:
        """Warnings on meshes: one of each kind, on the line where it is worst, which names the others."""
        found = []
        by_line = {}
        for name, mesh in self.meshes.items():
            line = line_of(name)
            hung, elements = _in_field(system, line), system.lines[line].count
            key, held = key_in_files(system, line), _is_held(system, line)
            by_line[name] = mesh_criteria(mesh, hung, elements, key, held)
        for of_a_kind in zip(*by_line.values(), strict=True):
            exceeded = {name: x for name, x in zip(by_line, of_a_kind, strict=True) if x.exceeded}
            if exceeded:
                worst = max(exceeded, key=lambda name: float(exceeded[name].figures[0]))
                others = [name for name in exceeded if name != worst]
                found += on_line(system, worst, [exceeded[worst].warning()], others)
        return found


def line_of(key: str) -> str:
    """Line of a mesh, a reel or a sheave."""
    return key.partition(".")[0]


def on_line(system: System, name: str, warnings: Iterable[RunWarning], others: Iterable[str] = ()) -> list[RunWarning]:
    """Warnings on a line; sentences name it where there are several, and others that are like it."""
    words = f"line {name!r}{''.join(f', like {other!r}' for other in others)}: " if len(system.lines) > 1 else ""
    return [replace(w, where=name).prefixed(words) for w in warnings]


def _in_field(system: System, name: str) -> Laden:
    return Laden(system.lines[name].string, float(system.gravity), system.fluid)


def _is_held(system: System, name: str) -> bool:
    """Whether both ends of a line are on what does not move freely: fixed, or on other lines as well."""
    others = [end for other, line in system.lines.items() if other != name for end in line.ends]
    return not any(system.is_free(end) and end not in others for end in system.lines[name].ends)
