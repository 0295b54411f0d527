"""Variables of results of an assembly with their derivatives, from samples and theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.assembly.lowering import line_pendulum
from tautline.engine.assembly.samples import values_of, values_without_holding
from tautline.gradients.arrays import Carried
from tautline.gradients.outputs import CarriedValues, Unknown, carried_pendulum, changed
from tautline.kernels import data
from tautline.kernels.assembly import data as kernels
from tautline.model.assembly.assembly import Assembly
from tautline.model.command import Command, Locked, PrescribedMotion

# Variables with a torque in them.
OF_TORQUES = ("torque", "power")


def held_reels(assembly: Assembly, commands: Mapping[str, Command]) -> list[int]:
    """Places of strings whose reels are locked or led."""
    names = [name for name, line in assembly.strings.items() if line.reel is not None]
    held = [name for name in names if isinstance(commands.get(name, Locked()), Locked | PrescribedMotion)]
    return [k for k, name in enumerate(assembly.strings) if name in held]


def carried_assembly(assembly: Assembly, strands: Sequence[Any]) -> Assembly:
    """An assembly with the numbers that results take from it in place of its own."""
    lines = {}
    for (name, line), strand in zip(assembly.strings.items(), strands, strict=True):
        own = carried_pendulum(line_pendulum(line), strand.par)
        lines[name] = changed(type(line), line, string=own.string, reel=line.reel and own.reel)
    return changed(Assembly, assembly, strings=lines)


def carried_values(
    assembly: Assembly, setting: Any, counts: Array, samples: Any, names: Sequence[str], held: list[int]
) -> CarriedValues:
    """Variables by name, and the time; arguments as of `outputs.carried_values`."""
    times = setting.system.totals[data.T_START] + counts * setting.plan.h
    found: Any = values_without_holding(carried_assembly(assembly, setting.system.strands), samples, times)
    if held and set(names) & set(OF_TORQUES):
        plain = values_of(assembly, kernels.WholeSamples(*(x.value for x in samples)), times.value)
        for name in OF_TORQUES:
            found[name].value[:, held] = plain[name][:, held]
    wanted = CarriedValues({name: found[name] for name in ("time", *names)})
    for name, x in wanted.items():
        if not isinstance(x, Carried):  # zeros, where there is no reel
            wanted[name] = Carried(x, np.zeros((*x.shape, times.directions)))
    return wanted


def unknown_outputs(assembly: Assembly, held: list[int]) -> dict[str, Unknown]:
    """Variables whose derivatives are not known."""
    if not held:
        return {}
    names = ", ".join(repr(list(assembly.strings)[k]) for k in held)
    why = f"torques that hold a lock or a prescribed motion ({names}) are found afterwards, and carry no derivatives"
    return dict.fromkeys(OF_TORQUES, Unknown(why, held))
