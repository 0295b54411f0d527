"""A motion of an assembly put aside, and put back."""

from __future__ import annotations

from tautline.kernels.assembly.data import (
    System,
    body_at,
    strand_at,
)
from tautline.kernels.data import (
    Array,
)
from tautline.kernels.jit import separate


@separate
def copy_motion(system: System, out: Array) -> None:
    """Copy all that a step leaves to the next one into one flat array."""
    place = 0
    for i in range(len(system.totals)):
        out[place] = system.totals[i]
        place += 1
    for i in range(len(system.clock)):
        out[place] = system.clock[i]
        place += 1
    for b in range(len(system.bodies)):
        state = body_at(system.bodies, b).state
        for i in range(len(state)):
            out[place] = state[i]
            place += 1
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        for i in range(strand.nodes.shape[0]):
            for j in range(strand.nodes.shape[1]):
                out[place] = strand.nodes[i, j]
                place += 1
        for i in range(len(strand.reel)):
            out[place] = strand.reel[i]
            place += 1


@separate
def put_motion(system: System, saved: Array) -> None:
    """Copy a motion back from where `copy_motion` put it."""
    place = 0
    for i in range(len(system.totals)):
        system.totals[i] = saved[place]
        place += 1
    for i in range(len(system.clock)):
        system.clock[i] = int(saved[place])
        place += 1
    for b in range(len(system.bodies)):
        state = body_at(system.bodies, b).state
        for i in range(len(state)):
            state[i] = saved[place]
            place += 1
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        for i in range(strand.nodes.shape[0]):
            for j in range(strand.nodes.shape[1]):
                strand.nodes[i, j] = saved[place]
                place += 1
        for i in range(len(strand.reel)):
            strand.reel[i] = saved[place]
            place += 1
