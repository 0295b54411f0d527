"""A motion of a network put aside, and put back."""

from __future__ import annotations

from tautline.kernels.backup import put_aside, put_rows_aside, take_back, take_counters_back, take_rows_back
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
    place = put_aside(network.totals, out, 0)
    place = put_aside(network.clock, out, place)
    for b in range(len(network.bodies)):
        place = put_aside(body_at(network.bodies, b).state, out, place)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        place = put_rows_aside(strand.nodes, out, place)
        place = put_aside(strand.reel, out, place)


@separate
def put_motion(network: Network, saved: Array) -> None:
    """Copy a motion back from where `copy_motion` put it."""
    place = take_back(saved, 0, network.totals)
    place = take_counters_back(saved, place, network.clock)
    for b in range(len(network.bodies)):
        place = take_back(saved, place, body_at(network.bodies, b).state)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        place = take_rows_back(saved, place, strand.nodes)
        place = take_back(saved, place, strand.reel)
