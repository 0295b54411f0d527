"""A motion put aside, to go back to where a step met an event or a sample interval went wrong."""

from __future__ import annotations

from tautline.kernels.data import Array, Motion
from tautline.kernels.jit import separate


@separate
def save_motion(motion: Motion, out: Array) -> None:
    """Copy a motion into one flat array; its counters are below 2^53."""
    place = 0
    for i in range(motion.nodes.shape[0]):
        for j in range(motion.nodes.shape[1]):
            out[place] = motion.nodes[i, j]
            place += 1
    for i in range(len(motion.body)):
        out[place] = motion.body[i]
        place += 1
    for i in range(len(motion.reel)):
        out[place] = motion.reel[i]
        place += 1
    for i in range(len(motion.clock)):
        out[place] = motion.clock[i]
        place += 1


@separate
def restore_motion(saved: Array, out: Motion) -> None:
    """Copy a motion back from where `save_motion` put it."""
    place = 0
    for i in range(out.nodes.shape[0]):
        for j in range(out.nodes.shape[1]):
            out.nodes[i, j] = saved[place]
            place += 1
    for i in range(len(out.body)):
        out.body[i] = saved[place]
        place += 1
    for i in range(len(out.reel)):
        out.reel[i] = saved[place]
        place += 1
    for i in range(len(out.clock)):
        out.clock[i] = int(saved[place])
        place += 1
