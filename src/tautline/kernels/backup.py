"""A motion put aside, to go back to where a step met an event or a sample interval went wrong."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.kernels.data import Array, Counters, Motion
from tautline.kernels.jit import kernel, separate


@kernel
def put_aside(x: Array | Counters, out: Array, place: int) -> int:
    """Copy an array into a flat one from a place on, and give the place behind it; counters are below 2^53."""
    for i in range(len(x)):
        out[place + i] = x[i]
    return place + len(x)


@kernel
def put_rows_aside(x: Array2, out: Array, place: int) -> int:
    for i in range(x.shape[0]):
        place = put_aside(x[i], out, place)
    return place


@kernel
def take_back(saved: Array, place: int, out: Array) -> int:
    """Copy an array back from a place in a flat one, and give the place behind it."""
    for i in range(len(out)):
        out[i] = saved[place + i]
    return place + len(out)


@kernel
def take_rows_back(saved: Array, place: int, out: Array2) -> int:
    for i in range(out.shape[0]):
        place = take_back(saved, place, out[i])
    return place


@kernel
def take_counters_back(saved: Array, place: int, out: Counters) -> int:
    for i in range(len(out)):
        out[i] = int(saved[place + i])
    return place + len(out)


@separate
def save_motion(motion: Motion, out: Array) -> None:
    """Copy a motion into one flat array."""
    place = put_rows_aside(motion.nodes, out, 0)
    place = put_aside(motion.body, out, place)
    place = put_aside(motion.reel, out, place)
    put_aside(motion.clock, out, place)


@separate
def restore_motion(saved: Array, out: Motion) -> None:
    """Copy a motion back from where `save_motion` put it."""
    place = take_rows_back(saved, 0, out.nodes)
    place = take_back(saved, place, out.body)
    place = take_back(saved, place, out.reel)
    take_counters_back(saved, place, out.clock)
