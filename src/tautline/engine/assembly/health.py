"""How far a run of an assembly can be trusted: figures that are gathered while it goes on, and remarks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tautline.engine.health import BALANCE, RESOLUTION, function_remarks, kept_energies, pending_energy
from tautline.engine.remarks import motor_remarks
from tautline.kernels import data
from tautline.kernels.assembly import data as kernels
from tautline.kernels.assembly.limits import AssemblyLimits
from tautline.model.assembly.assembly import Assembly
from tautline.model.body import RigidBody
from tautline.results.assembly import spans

# Part of the stiffness as a compression, below which a string that pushes is not worth a remark.
COMPRESSION = 1e-9


@dataclass
class AssemblyHealth:
    """Figures of a run, as its samples come in."""

    kept: float = math.nan  # energy less work plus losses, at the start (J)
    balance: float = 0.0  # largest change of that (J)
    pressed: dict[str, float] = field(default_factory=dict)  # largest compression of lines, over their stiffness

    needed: dict[str, list[float]] = field(default_factory=dict)  # torque and power of reels that are led, by string
    # Of torques that are functions, by string: impulse by size, and the part of it by which they depart from lines
    # between the ends of steps (N m s).
    tables: dict[str, list[float]] = field(default_factory=dict)

    @property
    def begun(self) -> bool:
        """Whether a sample was seen."""
        return not math.isnan(self.kept)

    def look(self, assembly: Assembly, samples: kernels.WholeSamples, times: data.Array) -> None:
        """See samples at these times."""
        if not len(samples.whole):
            return
        kept = np.asarray(kept_energies(samples.whole.T))
        if not self.begun:
            self.kept = float(kept[0])
        pending = np.zeros(len(times))
        for name, applied in assembly.applied_forces.items():
            body = assembly.bodies[name]
            assert isinstance(body, RigidBody)
            pending += pending_energy(applied, body, times, samples.whole[:, kernels.STEP_LENGTH])
        self.balance = max(self.balance, float((np.abs(kept - self.kept) - pending).max()))
        for k, (name, (nodes, _)) in enumerate(spans(assembly).items()):
            line = assembly.lines[name]
            if line.string.law == "linear":
                lengths = np.linalg.norm(np.diff(samples.nodes[:, nodes, :3], axis=1), axis=2)
                l = (line.string.length - samples.strands[:, k, kernels.REELED]) / line.elements
                least = float((lengths / l[:, None]).min()) - 1.0
                self.pressed[name] = max(self.pressed.get(name, 0.0), -least)

    def look_at_motors(self, assembly: Assembly, samples: kernels.WholeSamples, led: list[str]) -> None:
        """See what motors take to lead their reels."""
        for k, (name, line) in enumerate(assembly.lines.items()):
            if name in led and line.reel is not None and len(samples.strands):
                torque = np.abs(samples.strands[:, k, kernels.TORQUE_NOW])
                radius = line.reel.radius(samples.strands[:, k, kernels.REELED])
                power = torque * np.abs(samples.strands[:, k, kernels.SPEED]) / radius
                before = self.needed.get(name, [0.0, 0.0])
                largest = [float(np.nanmax(x, initial=0.0)) for x in (torque, power)]
                self.needed[name] = [max(a, b) for a, b in zip(before, largest, strict=True)]

    def note_table(self, name: str, impulse: float, bent: float) -> None:
        """See a table of a torque that is a function."""
        before = self.tables.get(name, [0.0, 0.0])
        self.tables[name] = [before[0] + impulse, before[1] + bent]

    def figures(self, totals: data.Array) -> dict[str, float]:
        """Figures by name."""
        ratios = totals[data.RATIOS : data.RATIOS + len(AssemblyLimits._fields)]
        figures = {f"step_over_{name}": float(x) for name, x in zip(AssemblyLimits._fields, ratios, strict=True)}
        in_play = float(totals[data.IN_PLAY])
        return {
            "balance_error": self.balance / in_play if in_play > 0.0 else 0.0,
            "largest_step_ratio": figures.pop("step_over_waves"),
            **figures,
        }

    def remarks(self, assembly: Assembly, totals: data.Array, adaptive: bool) -> list[str]:
        """Sentences on figures that a user would not accept."""
        said, figures = [], self.figures(totals)
        if not figures["balance_error"] <= BALANCE:
            finer = "other elements or a smaller fixed step" if adaptive else "a smaller step or 'auto'"
            error = f"{100 * figures['balance_error']:.2g} %"
            said.append(f"the balance of energy is off by {error} of the energy in play; use {finer}")
        for name, what in (("stretching", "the stretching of the lines"), ("turning", "the turning of the bodies")):
            ratio = figures[f"step_over_{name}"]
            if not adaptive and ratio > RESOLUTION:
                said.append(f"the step is {ratio:.0f} times the one that resolves {what}; use a smaller one")
        for name, pressed in self.pressed.items():
            if pressed > COMPRESSION:
                force = pressed * assembly.lines[name].string.stiffness
                said.append(
                    f"string {name!r} was pressed together with up to {force:.3g} N, which no rope can bear; "
                    f'use lines.{name}.law = "tension_only"'
                )
        for name, needed in self.needed.items():
            reel = assembly.lines[name].reel
            assert reel is not None
            said += [f"string {name!r}: {sentence}" for sentence in motor_remarks(reel, *needed)]
        for name, table in self.tables.items():
            said += [f"string {name!r}: {sentence}" for sentence in function_remarks(*table)]
        return said
