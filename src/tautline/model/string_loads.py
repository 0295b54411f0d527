"""Weight and fluid along a string."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import wetting
from tautline.model.fluid import Fluid
from tautline.model.string import String

# Under roots, whose slope would be infinite.
TINY = 1e-290


class StringLoads(NamedTuple):
    """Numbers by which weight, buoyancy and drag on an element follow from where it is and how it moves."""

    weight: Any  # buoyancy taken off; above a surface, where there is one (N/m of unstretched length)
    normal: Any = 0.0  # drag across the string: force/(length speed^2)
    tangential: Any = 0.0
    flow: Any = None  # depth, then velocity of the fluid, at one time after the other; None without a fluid
    times: Any = None  # of these
    has_surface: bool = False
    surface: Any = 0.0  # third axis
    above: Any = 1.0  # density above the surface over density below
    lift: Any = 0.0  # below the surface, more than above it (N/m of unstretched length)


class Elements(NamedTuple):
    """Some elements in a row, of samples (n, elements[, members]); components of vectors are their first dimension."""

    nodes: Any  # places, one node more
    velocity: Any  # of the material at the middles
    along: Any  # unit vectors
    lengths: Any
    l: Any  # unstretched, (n[, members])
    times: Any = None  # of the samples, where the flow changes


def flow_rows(fluid: Fluid, start: float, until: float) -> tuple[Array, Array]:
    """Rows of depths and of three components at each time, between two times at least; and these times."""
    times, depths, velocities = fluid.flow_between(start, until)
    columns = velocities.transpose(0, 2, 1).reshape(-1, len(depths))
    return np.ascontiguousarray(np.concatenate([depths[None], columns])), times


def string_loads(
    string: String, gravity: Any, fluid: Fluid | None, start: float = 0.0, until: float = 0.0
) -> StringLoads:
    """Loads along a string; of a flow without end those between two times at least."""
    weight = string.weight(gravity, fluid)
    if fluid is None:
        return StringLoads(weight)
    half = 0.5 * fluid.density
    found = StringLoads(
        weight,
        half * string.normal_drag * string.diameter,
        half * math.pi * string.tangential_drag * string.diameter,
        *flow_rows(fluid, start, until),
    )
    if fluid.surface is None:
        return found
    lift = gravity * (fluid.density - fluid.density_above) * string.area
    above = fluid.density_above / fluid.density
    return found._replace(has_surface=True, surface=fluid.surface, above=above, lift=lift)


def on_nodes(loads: StringLoads, x: Elements) -> tuple[Array, Array]:
    """Forces of elements on the first of their nodes (N), and on those between them, or one for all of these.

    Derivatives that numbers carry come along.
    """
    down = np.array([0.0, 0.0, 1.0]).reshape(3, *(1,) * (x.nodes.ndim - 1))
    force: Any = (loads.weight * x.l)[:, None] * down
    if loads.flow is None:
        return 0.5 * force[:, :, 0], force
    lengths = x.lengths
    if loads.has_surface:
        below = x.nodes[2] - loads.surface
        begin, end = wetting.spans(below[:, :-1], below[:, 1:])
        lengths = lengths * (loads.above + (1.0 - loads.above) * (end - begin))
    u = _flow_at(loads, x.times, 0.5 * (x.nodes[2, :, :-1] + x.nodes[2, :, 1:])) - x.velocity
    along = (u * x.along).sum(axis=0)
    across = u - along * x.along
    speed = np.sqrt((across * across).sum(axis=0) + TINY)
    drag = loads.normal * speed * across + loads.tangential * np.sqrt(along * along + TINY) * along * x.along
    half = 0.5 * (force + lengths * drag)
    if not loads.has_surface:
        return half[:, :, 0], half[:, :, :-1] + half[:, :, 1:]
    up = (loads.lift * x.l)[:, None] * down
    first, second = (half - share * up for share in wetting.shares(below[:, :-1], below[:, 1:]))
    return first[:, :, 0], second[:, :, :-1] + first[:, :, 1:]


def _flow_at(loads: StringLoads, times: Any, depths: Any) -> Any:
    """Velocity of the fluid at the times of samples and at depths: linear in the table, held outside."""
    knots, rows = loads.flow[0], loads.flow[1:]
    if len(loads.times) == 1:
        velocities: Any = rows[:, None]
        which: Any = 0
    else:
        k, part = _between(loads.times, times)
        each = np.arange(3)[:, None]
        velocities = rows[3 * k + each] + part[:, None] * (rows[3 * k + 3 + each] - rows[3 * k + each])
        which = np.arange(len(times)).reshape(-1, *(1,) * (depths.ndim - 1))
    if len(knots) == 1:
        return velocities[:, :, :1] if depths.ndim == 2 else velocities[:, :, :1, None]
    i, part = _between(knots, depths)
    return velocities[:, which, i] + part * (velocities[:, which, i + 1] - velocities[:, which, i])


def _between(knots: Any, x: Any) -> tuple[Any, Any]:
    """Piece of a table that holds, and which part of it lies before x."""
    x = np.clip(x, knots[0], knots[-1])
    i = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    return i, (x - knots[i]) / (knots[i + 1] - knots[i])
