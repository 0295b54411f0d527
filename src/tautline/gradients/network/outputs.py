"""Variables of results with their derivatives, from samples of a network and theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.network.samples import values_of
from tautline.engine.network.strands import strands_of
from tautline.gradients.arrays import Dual
from tautline.gradients.outputs import (
    OF_TORQUES,
    ON_KNOT,
    DualValues,
    dual_loads,
    dual_reel,
    dual_string,
    on_moved_knots,
)
from tautline.kernels import data
from tautline.model.description import changed
from tautline.model.profile import values_at
from tautline.model.system.system import System

# Of the acceleration of a motion: where both sides of a knot differ by more, it jumps.
SAME = 1e-8


def first_spans(system: System) -> dict[str, int]:
    """Places of the first string of every line among all strings."""
    return {x.line: k for k, x in enumerate(strands_of(system)) if x.span == 0}


def dual_system(system: System, numbers: Any) -> System:
    """A system whose lines have the numbers of the kernels in place of their own."""
    lines = {}
    for name, k in first_spans(system).items():
        line, strand = system.lines[name], numbers.strands[k]
        reel = line.reel and dual_reel(line.reel, strand.par)
        lines[name] = changed(line, string=dual_string(line.string, strand.par), reel=reel)
    return changed(system, lines=lines)


def dual_values(system: System, setting: Any, counts: Array, samples: Any, names: Sequence[str]) -> DualValues:
    """Variables by name, and the time; arguments as of `chain.outputs.dual_values`."""
    numbers = setting.network
    times = numbers.totals[data.T_START] + counts * setting.plan.h
    dual, places = dual_system(system, numbers), first_spans(system)
    loads = {
        name: dual_loads(system.fluid, numbers.field.g * strand.par.mu * strand.weight_fraction, own)
        for name, strand, own in ((name, numbers.strands[k], numbers.acting[k]) for name, k in places.items())
    }
    found: Any = values_of(dual, samples, times, loads)
    wanted: dict[str, Dual] = {}
    for name in ("time", *names):
        x = found[name]  # zeros, where there is no reel
        wanted[name] = x if isinstance(x, Dual) else Dual(x, np.zeros((*x.shape, times.directions)))
    for name in set(OF_TORQUES) & wanted.keys():
        for line, k in enumerate(places.values()):
            wanted[name].tangent[:, line][_where_torques_jump(numbers.strands[k].command, times)] = np.nan
    return DualValues(wanted)


def _where_torques_jump(command: Any, times: Dual) -> Any:
    """Samples, and directions along which a knot of a prescribed motion moves past them and its acceleration jumps."""
    if command.locked or command.kind != data.BY_PROFILE:
        return np.zeros(times.tangent.shape, dtype=bool)
    knots, profile = command.profile[:, 0], command.profile.value
    slack = ON_KNOT * float(times.value.max())
    before, after = ([values_at(profile, t + side)[2] for t in times.value] for side in (-slack, slack))
    return on_moved_knots(knots, times) & ~np.isclose(before, after, rtol=SAME, atol=0.0)[:, None]
