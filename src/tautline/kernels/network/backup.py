"""A motion of a network put aside, and put back."""

from __future__ import annotations

from tautline.kernels.data import (
    Array,
)
from tautline.kernels.jit import separate
from tautline.kernels.network.data import (
    Network,
    body_at,
    strand_at,
)


@separate
def copy_motion(network: Network, out: Array) -> None:
    """Copy all that a step leaves to the next one into one flat array."""
    place = 0
    for i in range(len(network.totals)):
        out[place] = network.totals[i]
        place += 1
    for i in range(len(network.clock)):
        out[place] = network.clock[i]
        place += 1
    for b in range(len(network.bodies)):
        state = body_at(network.bodies, b).state
        for i in range(len(state)):
            out[place] = state[i]
            place += 1
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for i in range(strand.nodes.shape[0]):
            for j in range(strand.nodes.shape[1]):
                out[place] = strand.nodes[i, j]
                place += 1
        for i in range(len(strand.reel)):
            out[place] = strand.reel[i]
            place += 1


@separate
def put_motion(network: Network, saved: Array) -> None:
    """Copy a motion back from where `copy_motion` put it."""
    place = 0
    for i in range(len(network.totals)):
        network.totals[i] = saved[place]
        place += 1
    for i in range(len(network.clock)):
        network.clock[i] = int(saved[place])
        place += 1
    for b in range(len(network.bodies)):
        state = body_at(network.bodies, b).state
        for i in range(len(state)):
            state[i] = saved[place]
            place += 1
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for i in range(strand.nodes.shape[0]):
            for j in range(strand.nodes.shape[1]):
                strand.nodes[i, j] = saved[place]
                place += 1
        for i in range(len(strand.reel)):
            strand.reel[i] = saved[place]
            place += 1
