"""Variables of results with their derivatives, from samples of a network and theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.network.samples import pendulum_of, values_of
from tautline.gradients.arrays import Carried
from tautline.gradients.outputs import CarriedValues, carried_chain, carried_loads
from tautline.kernels import data
from tautline.model.chain.chain import Chain
from tautline.model.command import Command, Locked
from tautline.model.description import changed
from tautline.model.system.system import System


def held_reels(system: System, commands: Mapping[str, Command]) -> list[int]:
    """Places of lines whose reels are locked or led."""
    names = [name for name, line in system.lines.items() if line.reel is not None]
    held = [name for name in names if commands.get(name, Locked()).finds_torque]
    return [k for k, name in enumerate(system.lines) if name in held]


def carried_lines(system: System, numbers: Any) -> dict[str, Chain]:
    """Chains that lines would be, with the numbers that results take from them in place of their own."""
    found = {}
    for name, strand in zip(system.lines, numbers.strands, strict=True):
        line = system.lines[name]
        weight = 0.0 if system.on_free_body(line) else numbers.field.g * strand.par.mu * strand.sinking
        found[name] = carried_chain(pendulum_of(system, name), strand.par._replace(mu_g=weight))
    return found


def carried_system(system: System, chains: Mapping[str, Chain]) -> System:
    """A system with the strings and reels of chains."""
    lines = {
        name: changed(line, string=chains[name].string, reel=line.reel and chains[name].reel)
        for name, line in system.lines.items()
    }
    return changed(system, lines=lines)


def carried_values(system: System, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> CarriedValues:
    """Variables by name, and the time; arguments as of `chain.outputs.carried_values`."""
    numbers = setting.network
    times = numbers.totals[data.T_START] + counts * setting.plan.h
    carried = carried_system(system, carried_lines(system, numbers))
    loads = {
        name: carried_loads(system.fluid, numbers.field.g * strand.par.mu * strand.sinking, own)
        for name, strand, own in zip(system.lines, numbers.strands, numbers.acting, strict=True)
    }
    found: Any = values_of(carried, samples, times, loads)
    wanted: dict[str, Carried] = {}
    for name in ("time", *names):
        x = found[name]  # zeros, where there is no reel
        wanted[name] = x if isinstance(x, Carried) else Carried(x, np.zeros((*x.shape, times.directions)))
    return CarriedValues(wanted)
