"""How far a run of a system can be trusted: figures that are gathered while it goes on, and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from tautline.engine.criteria import warnings_from
from tautline.engine.health import (
    balance_criterion,
    function_warnings,
    kept_energies,
    pending_energy,
    step_criterion,
)
from tautline.engine.mesh import SLACK_LIMIT, MeshHealth
from tautline.engine.network.samples import pendulum_of
from tautline.engine.network.strands import NO_SPAN, strands_of, wheel_reel
from tautline.engine.warnings import motor_warnings
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.limits import NetworkLimits
from tautline.model.body import RigidBody
from tautline.model.short_keys import names_of
from tautline.model.system.system import System
from tautline.results.warnings import RunWarning

# Part of the stiffness as a compression, below which a string that pushes is not worth a warning.
COMPRESSION = 1e-9


@dataclass
class NetworkHealth:
    """Figures of a run, as its samples come in."""

    kept: float = math.nan  # energy less work plus losses, at the start (J)
    balance: float = 0.0  # largest change of that (J)
    pressed: dict[str, float] = field(default_factory=dict)  # largest compression of lines, over their stiffness

    needed: dict[str, list[float]] = field(default_factory=dict)  # torque and power of reels that are led, by string
    meshes: dict[str, MeshHealth] = field(default_factory=dict)  # by line
    # Of torques that are functions, by string: impulse by size, and the part of it by which they depart from lines
    # between the ends of steps (N m s).
    tables: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._latest = max((mesh.time for mesh in self.meshes.values()), default=-math.inf)

    @property
    def begun(self) -> bool:
        """Whether a sample was seen."""
        return not math.isnan(self.kept)

    def look(self, system: System, samples: kernels.WholeSamples, times: data.Array) -> None:
        """See samples at these times."""
        if not len(samples.whole):
            return
        kept = np.asarray(kept_energies(samples.whole.T))
        if not self.begun:
            self.kept = float(kept[0])
        pending = np.zeros(len(times))
        for name, applied in system.applied_forces.items():
            body = system.bodies[name]
            assert isinstance(body, RigidBody)
            pending += pending_energy(applied, body, times, samples.whole[:, kernels.STEP_LENGTH])
        self.balance = max(self.balance, float((np.abs(kept - self.kept) - pending).max()))
        self._look_at_meshes(system, samples, times)
        for k, _, nodes, name in _meshes(system):
            line = system.lines[name]
            if line.string.law == "linear":
                lengths = np.linalg.norm(np.diff(samples.nodes[:, nodes, :3], axis=1), axis=2)
                l = (line.string.length - samples.strands[:, k, kernels.RETRACTED]) / line.count
                least = float((lengths / l[:, None]).min()) - 1.0
                self.pressed[name] = max(self.pressed.get(name, 0.0), -least)

    def _look_at_meshes(self, system: System, samples: kernels.WholeSamples, times: data.Array) -> None:
        """See the meshes of samples."""
        new = times > self._latest  # the present state is a sample again where a record begins
        if not new.any():
            return
        self._latest = float(times[-1])
        times, places, reeled = times[new], samples.nodes[new], samples.strands[new][..., kernels.RETRACTED]
        for k, key, nodes, name in _meshes(system):
            own, velocities = places[:, nodes, :3], places[:, nodes, 3:]
            pendulum = pendulum_of(system, name)
            if key not in self.meshes:
                self.meshes[key] = MeshHealth()
                self.meshes[key].begin(pendulum, own[0], velocities[0], reeled[0, k])
            # The error that the guide law makes is left out: it depends on the mass that a string moves, and those of
            # a system move several bodies.
            self.meshes[key].update(pendulum, times, own, velocities, reeled[:, k], reel_is_free=False)
            if system.lines[name].count == 1:  # the sag of a single element is a guess from its body's weight
                self.meshes[key].sag = 0.0

    def look_at_motors(self, system: System, samples: kernels.WholeSamples, led: list[str]) -> None:
        """See what motors take to lead their reels."""
        for k, strand in enumerate(strands_of(system)):
            name = strand.drive
            if name and name in led and len(samples.strands):
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
        meshes = {name: MeshHealth(**x) for name, x in state.get("meshes", {}).items()}
        return cls(**(state | {"meshes": meshes}))

    def figures(self, totals: data.Array) -> dict[str, float]:
        """Figures by name; those of meshes are the largest of all lines."""
        by_string = [mesh.figures() for mesh in self.meshes.values()]
        ratios = totals[data.RATIOS : data.RATIOS + len(NetworkLimits._fields)]
        figures = {f"step_over_{name}": float(x) for name, x in zip(NetworkLimits._fields, ratios, strict=True)}
        in_play = float(totals[data.IN_PLAY])
        return {
            "balance_error": self.balance / in_play if in_play > 0.0 else 0.0,
            "largest_step_ratio": figures.pop("step_over_waves"),
            **figures,
            **{name: max(float(x[name]) for x in by_string) for name in (by_string[0] if by_string else ())},
        }

    def warnings(self, system: System, totals: data.Array, adaptive: bool) -> list[RunWarning]:
        """Warnings where a figure is beyond its limit."""
        figures = self.figures(totals)
        unresolved = {"stretching": "the stretching of the lines", "turning": "the turning of the bodies"}
        criteria = [balance_criterion(figures["balance_error"], adaptive)]
        criteria += [step_criterion(figures[f"step_over_{name}"], what, adaptive) for name, what in unresolved.items()]
        found = warnings_from(criteria) + self._on_meshes(system)
        for name, pressed in self.pressed.items():
            if pressed > COMPRESSION and not any(
                line_of(key) == name and x.slack_share > SLACK_LIMIT for key, x in self.meshes.items()
            ):
                stiffness = system.lines[name].string.stiffness
                text = (
                    f"the string was pressed together with up to {pressed * stiffness:.3g} N, which no rope can bear; "
                    f'use {_key(system, name) or "string"}.law = "tension_only"'
                )
                compression = RunWarning("compression", text, pressed * stiffness, COMPRESSION * stiffness)
                found += on_line(system, name, [compression])
        for name, needed in self.needed.items():
            drive = next(x for x in strands_of(system) if x.drive == name)
            found += on_line(system, name, motor_warnings(wheel_reel(drive), *needed))
        for name, table in self.tables.items():
            found += on_line(system, name, function_warnings(*table))
        return found

    def _on_meshes(self, system: System) -> list[RunWarning]:
        """Warnings on meshes: one of each kind, on the line where it is worst, which names the others."""
        found = []
        by_line = {}
        for name, mesh in self.meshes.items():
            line = line_of(name)
            pendulum, elements = pendulum_of(system, line), system.lines[line].count
            by_line[name] = mesh.criteria(pendulum, elements, _key(system, line), _is_held(system, line))
        for of_a_kind in zip(*by_line.values(), strict=True):
            exceeded = {name: x for name, x in zip(by_line, of_a_kind, strict=True) if x.exceeded}
            if exceeded:
                worst = max(exceeded, key=lambda name: float(exceeded[name].figures[0]))
                others = [name for name in exceeded if name != worst]
                found += on_line(system, worst, [exceeded[worst].warning()], others)
        return found


def _meshes(system: System) -> Iterator[tuple[int, str, slice, str]]:
    """Meshes of a system: number of the string, key, nodes among those of all, and line; one for each span."""
    node = 0
    for k, strand in enumerate(strands_of(system)):
        if strand.span != NO_SPAN:
            line = system.lines[strand.line]
            key = strand.line if line.spans == 1 else f"{strand.line}.{strand.span}"
            yield k, key, slice(node, node + line.count + 1), strand.line
            node += line.count + 1


def line_of(key: str) -> str:
    """Line of a mesh, a reel or a sheave."""
    return key.partition(".")[0]


def on_line(system: System, name: str, warnings: Iterable[RunWarning], others: Iterable[str] = ()) -> list[RunWarning]:
    """Warnings on a line; sentences name it where there are several, and others that are like it."""
    words = f"line {name!r}{''.join(f', like {other!r}' for other in others)}: " if len(system.lines) > 1 else ""
    return [replace(w, where=name).prefixed(words) for w in warnings]


def _key(system: System, name: str) -> str:
    """Key of a line in files; empty where short keys stand for it."""
    return f"lines.{name}" if names_of(system) is None else ""


def _is_held(system: System, name: str) -> bool:
    """Whether both ends of a line are on what does not move freely: fixed, or on other lines as well."""
    others = [end for other, line in system.lines.items() if other != name for end in (line.start, line.end)]
    free = [end for end, body in system.bodies.items() if isinstance(body, RigidBody) and end not in others]
    line = system.lines[name]
    return line.start not in free and line.end not in free
