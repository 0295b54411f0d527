"""The variables of the schema, computed from what an integrator records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tautline.arrays import Array
from tautline.model.string_loads import StringLoads, string_loads
from tautline.results.ends import at_ends

if TYPE_CHECKING:
    from tautline.model.chain.chain import Chain
    from tautline.model.string import String

AT_ENDS = ("guide_tension", "body_tension")
# Variables of a chain that follow from what is recorded.
FOLLOWING = ("power", "position", "velocity", "stretched_length", "strain", "tension", *AT_ENDS)
# By the names of the schema, and the time.
Values = dict[str, Array]
# Nodes of a string, their velocities, and speeds of what feeds its start and its stop.
Moves = tuple[Array, Array, Array, Array]


def values_of(
    pendulum: Chain,
    recorded: Values,
    names: Iterable[str] = FOLLOWING,
    lengths: Array | None = None,
    loads: StringLoads | None = None,
) -> Values:
    """All variables of a chain, or at least the wanted ones, and the time; `lengths` are those of `lengths_of`.

    `recorded` are those that do not follow from others, by name, with `nodes` and `node_velocities` (n, N + 1, 3)
    relative to the guide entrance, and its `guide_displacement` and `guide_velocity`.
    `loads` are those along the string, in place of the pendulum's own.
    Of many members, whose pendulum has columns in place of numbers, arrays have the members as their last dimension.
    """
    wanted = set(names)
    values = dict(recorded)
    nodes, node_velocities = values.pop("nodes"), values.pop("node_velocities")
    N, time, speed = nodes.shape[1] - 1, values["time"], values["reel_speed"]
    unstretched = pendulum.string.length - values["reeled_length"]
    displacement, frame = values.pop("guide_displacement"), values.pop("guide_velocity")
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        values["unstretched_length"] = unstretched
        if "power" in wanted:
            radii = pendulum.reel.radius(values["reeled_length"])
            values["power"] = values["torque"] * speed / radii + 0.0  # no negative zeros
        if wanted & {"position", "velocity"} or (pendulum.fluid is not None and wanted & set(AT_ENDS)):
            guide = np.stack(np.broadcast_arrays(*pendulum.reel.guide_position))
            guide = guide.reshape(*guide.shape, *(1,) * (nodes.ndim - 2 - guide.ndim))
            values["position"] = nodes + guide + displacement[:, None]
            values["velocity"] = node_velocities + frame[:, None]
        if wanted & {"stretched_length", "strain", "tension", *AT_ENDS}:
            lengths = lengths_of(nodes) if lengths is None else lengths
            strain = lengths / (unstretched / N)[:, None]
            strain -= 1.0
            values["stretched_length"] = lengths.sum(axis=1)
            values["strain"] = strain
            still = 0.0 * speed
            moves = (nodes, node_velocities, speed, still)
            values["tension"] = tension_of(pendulum.string, moves, strain, unstretched / N, lengths)
        if lengths is not None and wanted & set(AT_ENDS):
            loads = loads or string_loads(pendulum.string, pendulum.gravity, pendulum.fluid, *span(time))
            if loads.flow is not None:
                moves = (values["position"], values["velocity"], speed, still)
            ends = at_ends(pendulum.string, loads, moves, values["tension"], lengths, unstretched / N, time)
            values |= dict(zip(AT_ENDS, ends, strict=True))
    return values


def span(times: Array) -> tuple[float, float]:
    """First and last of some times (s)."""
    return (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)


def lengths_of(nodes: Array) -> Array:
    """Lengths of the elements of samples (n, N + 1, 3[, members]).

    One component after the other, and in this order: what is worked on stays in the cache, and the rounding of a sample
    does not depend on others.
    """
    x, y, z = (nodes[:, 1:, axis] - nodes[:, :-1, axis] for axis in range(3))
    squares = x * x
    squares += y * y
    squares += z * z
    lengths: Array = np.sqrt(squares, out=squares)
    return lengths


def tension_of(string: String, moves: Moves, strain: Array, l: Array, lengths: Array) -> Array:
    """Elastic and viscous tension; damping makes no compression in a string that goes slack."""
    nodes, velocity, near, far = moves
    elastic = string.tension(strain)
    if string.viscosity == 0.0:
        return elastic
    along = np.diff(nodes, axis=1) / np.maximum(lengths, 1e-290)[:, :, None]
    stretching = np.sum(along * np.diff(velocity, axis=1), axis=2)
    rate = stretching + _lengthening_by_feeds(lengths, l, near, far)
    total: Array = elastic + string.viscosity * rate / l[:, None]
    if string.law == "linear":
        return total
    return np.where(elastic > 0.0, np.maximum(total, 0.0), elastic)


def _lengthening_by_feeds(lengths: Array, l: Array, near: Array, far: Array) -> Array:
    """Rate at which the material of elements stretches while their ends stand still, times l (72).

    Elements get shorter or longer, and material of another strain flows through them.
    """
    N = lengths.shape[1]
    steps = np.diff(lengths, axis=1)
    first, last = (steps[:, :1], steps[:, -1:]) if N > 1 else (0.0 * lengths, 0.0 * lengths)
    steps = np.concatenate([first, steps, last], axis=1)
    place = (np.arange(N + 1) / N).reshape(-1, *(1,) * (lengths.ndim - 2))
    growth = (far - near)[:, None]
    carried = (near[:, None] + place * growth) * steps
    rate: Array = (-growth * lengths / N - 0.5 * (carried[:, :-1] + carried[:, 1:])) / l[:, None]
    return rate
