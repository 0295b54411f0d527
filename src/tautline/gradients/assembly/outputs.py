"""Variables of results of an assembly with their derivatives, from samples and theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.assembly.samples import pendulum_of, values_of
from tautline.gradients.arrays import Carried
from tautline.gradients.outputs import CarriedValues, carried_loads, carried_pendulum, changed
from tautline.kernels import data
from tautline.model.assembly.assembly import System
from tautline.model.command import Command, Locked
from tautline.model.pendulum import Chain


def held_reels(assembly: System, commands: Mapping[str, Command]) -> list[int]:
    """Places of lines whose reels are locked or led."""
    names = [name for name, line in assembly.lines.items() if line.reel is not None]
    held = [name for name in names if commands.get(name, Locked()).finds_torque]
    return [k for k, name in enumerate(assembly.lines) if name in held]


def carried_lines(assembly: System, system: Any) -> dict[str, Chain]:
    """Pendulums that lines would be, with the numbers that results take from them in place of their own."""
    found = {}
    for name, strand in zip(assembly.lines, system.strands, strict=True):
        line = assembly.lines[name]
        weight = 0.0 if assembly.on_free_body(line) else system.field.g * strand.par.mu * strand.sinking
        found[name] = carried_pendulum(pendulum_of(assembly, name), strand.par._replace(mu_g=weight))
    return found


def carried_assembly(assembly: System, pendulums: Mapping[str, Chain]) -> System:
    """An assembly with the lines and reels of pendulums."""
    lines = {
        name: changed(type(line), line, string=pendulums[name].string, reel=line.reel and pendulums[name].reel)
        for name, line in assembly.lines.items()
    }
    return changed(System, assembly, lines=lines)


def carried_values(assembly: System, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> CarriedValues:
    """Variables by name, and the time; arguments as of `outputs.carried_values`."""
    times = setting.system.totals[data.T_START] + counts * setting.plan.h
    pendulums = carried_lines(assembly, setting.system)
    carried = carried_assembly(assembly, pendulums)
    system = setting.system
    loads = {
        name: carried_loads(assembly.fluid, system.field.g * strand.par.mu * strand.sinking, own)
        for name, strand, own in zip(assembly.lines, system.strands, system.acting, strict=True)
    }
    found: Any = values_of(carried, samples, times, loads)
    wanted: dict[str, Carried] = {}
    for name in ("time", *names):
        x = found[name]  # zeros, where there is no reel
        wanted[name] = x if isinstance(x, Carried) else Carried(x, np.zeros((*x.shape, times.directions)))
    return CarriedValues(wanted)
