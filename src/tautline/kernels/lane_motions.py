"""Motions of a block in and out of lanes, and what is kept to go back to: a member that leaves goes on from there."""

from __future__ import annotations

import math
from typing import Any

from tautline.arrays import Array2, Array3
from tautline.errors import RUNNING
from tautline.kernels.data import Motion, Scratch
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import LANES, lane_array, lane_rows, put, select, zero_like
from tautline.kernels.members import Block, Clocks, Workspace


@inlined
def motion_in_lanes(block: Block, workspace: Workspace) -> tuple[Motion, Scratch]:
    """Views of a block's arrays that the kernels of a single run take for a motion and scratch."""
    x, y, z = workspace.nodes, workspace.scratch, workspace.factor
    nodes: Any = (lane_array(x[0]), lane_array(x[1]), lane_array(x[2]), lane_array(x[3]), lane_array(x[4]))
    scratch: Any = (
        lane_array(y[0]),
        lane_array(y[1]),
        lane_array(y[2]),
        lane_array(y[3]),
        lane_array(y[4]),
        lane_array(y[5]),
        lane_array(y[6]),
    )
    factor: Any = (
        lane_array(z[0]),
        lane_array(z[1]),
        lane_array(z[2]),
        lane_array(z[3]),
        lane_array(z[4]),
        lane_array(z[5]),
        lane_array(z[6]),
    )
    clock: Any = Clocks(block.clock, block.status)
    return Motion(nodes, lane_array(workspace.body), lane_rows(block.reel), clock), Scratch(scratch, factor)


@kernel
def motion_of(block: Block, k: int) -> Motion:
    """One member's motion, with nodes and body at the start of the march."""
    return Motion(block.nodes[k], block.body[k], block.reel[k], block.clock[k])


@kernel
def into_lanes(block: Block, workspace: Workspace) -> None:
    """Copy nodes and bodies into lanes, whose rows are shorter."""
    n, padded = workspace.nodes.shape[1] // 3, block.nodes.shape[2] // 3
    for k in range(LANES):
        for i in range(block.nodes.shape[1]):
            for axis in range(3):
                for j in range(n):
                    workspace.nodes[i, axis * n + j, k] = block.nodes[k, i, axis * padded + j]
        for i in range(block.body.shape[1]):
            workspace.body[i, k] = block.body[k, i]


@kernel
def out_of_lanes(nodes: Array3, body: Array2, k: int, block: Block) -> None:
    """Copy one member's nodes and body out of lanes."""
    n, padded = nodes.shape[1] // 3, block.nodes.shape[2] // 3
    for i in range(block.nodes.shape[1]):
        for axis in range(3):
            for j in range(n):
                block.nodes[k, i, axis * padded + j] = nodes[i, axis * n + j, k]
    for i in range(block.body.shape[1]):
        block.body[k, i] = body[i, k]


@kernel
def save_lanes(runs: float, x: Any, out: Any) -> None:
    """Copy the lanes of members for which `runs` is not 0."""
    for i in range(len(x)):
        out[i] = select(runs != 0.0, x[i], out[i])


@kernel
def copy_row(x: Any, k: int, out: Any) -> None:
    for i in range(x.shape[1]):
        out[k, i] = x[k, i]


@kernel
def save_members(block: Block, workspace: Workspace) -> None:
    """Put the motions of all that run aside, to go back to."""
    body = lane_array(workspace.body)
    runs = zero_like(body[0])
    for k in range(LANES):
        if block.status[k] == RUNNING:
            runs = put(runs, k, 1.0)
            copy_row(block.reel, k, workspace.reel)
            copy_row(block.clock, k, workspace.clock)
    save_lanes(runs, body, lane_array(workspace.saved_body))
    for i in range(workspace.nodes.shape[0]):
        save_lanes(runs, lane_array(workspace.nodes[i]), lane_array(workspace.saved_nodes[i]))


@kernel
def finish_members(block: Block, workspace: Workspace) -> None:
    """Give the motions back: those that left as they were at their latest sample."""
    for k in range(LANES):
        if block.status[k] == RUNNING:
            out_of_lanes(workspace.nodes, workspace.body, k, block)
        else:
            out_of_lanes(workspace.saved_nodes, workspace.saved_body, k, block)
            copy_row(workspace.reel, k, block.reel)
            copy_row(workspace.clock, k, block.clock)


@kernel
def clear_left(block: Block, workspace: Workspace, running: int) -> int:
    """Number of members that run. If some of `running` have left, fill their lanes with NaN: no loop waits for that."""
    count = 0
    for k in range(LANES):
        count += block.status[k] == RUNNING
    if count < running:
        for k in range(LANES):
            if block.status[k] != RUNNING:
                workspace.nodes[:, :, k] = math.nan
                workspace.body[:, k] = math.nan
    return count
