"""The variables of the schema, computed from what an integrator records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import ledger
from tautline.arrays import Array
from tautline.schema import SCHEMA

if TYPE_CHECKING:
    from tautline.model.pendulum import Pendulum
    from tautline.model.string import String

# Between elements, that limit the slope of the tension at an end of the string; fewer in the third of a coarse mesh.
DIFFERENCES = 4
AT_ENDS = ("guide_tension", "body_tension")
# By the names of the schema, and the time.
Values = dict[str, Array]


class Record(NamedTuple):
    """Output of an integrator: the state, and quantities that cannot be computed from it."""

    time: Array
    reeled_length: Array
    reel_speed: Array
    nodes: Array  # (n, N + 1, 3) relative to the guide entrance
    velocity: Array
    attitude: Array
    angular_velocity: Array
    accounts: Values  # of the ledger, by name
    rotational_energy: Array
    torque: Array
    angular_momentum: Array
    orthogonality_error: Array
    guide_displacement: Array  # (n, 3)
    guide_velocity: Array


def values_of(
    pendulum: Pendulum, record: Record, names: Iterable[str] = tuple(SCHEMA), lengths: Array | None = None
) -> Values:
    """Every variable of the schema, or at least the wanted ones, and the time; `lengths` are those of `lengths_of`.

    Of many members, whose pendulum has columns in place of numbers, arrays have the members as their last dimension.
    """
    wanted = set(names)
    N = record.nodes.shape[1] - 1
    unstretched = pendulum.string.length - record.reeled_length
    values = record._asdict()
    values |= values.pop("accounts")
    nodes = values.pop("nodes")
    displacement, frame = values.pop("guide_displacement"), values.pop("guide_velocity")
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        values["unstretched_length"] = unstretched
        if "power" in wanted:
            radii = pendulum.reel.radius(record.reeled_length)
            values["power"] = record.torque * record.reel_speed / radii + 0.0  # no negative zeros
        if "energy" in wanted:
            first, *others = (values[name] for name in ledger.names(ledger.STORED))
            values["energy"] = sum(others, start=first)
        if wanted & {"position", "velocity"}:
            guide = np.stack(np.broadcast_arrays(*pendulum.reel.guide_position))
            guide = guide.reshape(*guide.shape, *(1,) * (nodes.ndim - 2 - guide.ndim))
            values["position"] = nodes + guide + displacement[:, None]
            values["velocity"] = record.velocity + frame[:, None]
        if wanted & {"stretched_length", "strain", "tension", *AT_ENDS}:
            lengths = lengths_of(nodes) if lengths is None else lengths
            strain = lengths / (unstretched / N)[:, None]
            strain -= 1.0
            values["stretched_length"] = lengths.sum(axis=1)
            values["strain"] = strain
            moves = (nodes, record.velocity, record.reel_speed)
            values["tension"] = tension_of(pendulum.string, moves, strain, unstretched / N, lengths)
        if lengths is not None and wanted & set(AT_ENDS):
            ends = _at_ends(pendulum, values["tension"], nodes, displacement, lengths, unstretched / N)
            values |= dict(zip(AT_ENDS, ends, strict=True))
    return values


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


def tension_of(string: String, moves: tuple[Array, Array, Array], strain: Array, l: Array, lengths: Array) -> Array:
    """Elastic and viscous tension; damping makes no compression in a string that goes slack.

    `moves` are nodes, their velocities and the speed of the reel.
    """
    nodes, velocity, reel_speed = moves
    elastic = string.tension(strain)
    if string.viscosity == 0.0:
        return elastic
    along = np.diff(nodes, axis=1) / np.maximum(lengths, 1e-290)[:, :, None]
    stretching = np.sum(along * np.diff(velocity, axis=1), axis=2)
    rate = stretching + _lengthening_by_reel(lengths, l) * reel_speed[:, None]
    total: Array = elastic + string.viscosity * rate / l[:, None]
    if string.law == "linear":
        return total
    return np.where(elastic > 0.0, np.maximum(total, 0.0), elastic)


def _lengthening_by_reel(lengths: Array, l: Array) -> Array:
    """Rate at which the material of elements stretches while their ends stand still, over sigma, times l (72).

    Elements get shorter, and material of another strain flows through them.
    """
    N = lengths.shape[1]
    steps = np.diff(lengths, axis=1)
    steps = np.concatenate([steps[:, :1] if N > 1 else 0.0 * lengths, steps, 0.0 * lengths[:, :1]], axis=1)
    flow = 1.0 - np.arange(N + 1) / N
    carried = flow.reshape(-1, *(1,) * (lengths.ndim - 2)) * steps
    rate: Array = (lengths / N - 0.5 * (carried[:, :-1] + carried[:, 1:])) / l[:, None]
    return rate


def _at_ends(
    pendulum: Pendulum, tension: Array, nodes: Array, displacement: Array, lengths: Array, l: Array
) -> tuple[Array, Array]:
    """Tensions at the guide and at the body, to second order in the length of an element; not negative where the string
    goes slack.

    A single element has no neighbour: its weights at its ends, along it, are added and taken off instead.
    """
    if tension.shape[1] > 1:
        ends = at_first_end(tension), at_first_end(tension[:, ::-1])
    else:
        down = nodes[:, 1, 2] / np.maximum(lengths[:, 0], 1e-290)
        upper: Any = 0.5 * pendulum.weights().string
        lower, fluid = upper, pendulum.fluid
        if fluid is not None and fluid.surface is not None:
            from tautline.model import wetting

            guide = pendulum.reel.guide_position[2] + displacement[:, 2] - fluid.surface
            lift, wet = wetting.lift_of_string(pendulum, fluid), wetting.shares(guide, guide + nodes[:, 1, 2])
            upper, lower = upper - lift * wet[0], lower - lift * wet[1]
        ends = tension[:, 0] + upper * l * down, tension[:, 0] - lower * l * down
    if pendulum.string.law == "tension_only":
        return np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)
    return ends


def at_first_end(tension: Array) -> Array:
    """Tension at the end before the first element (n, N[, members]), on a straight line from its middle.

    The line goes through the first two elements, with two limits to its slope: none where the first differences between
    elements differ in sign, and at most twice the least of them. Without these the mesh's shortest waves would be
    doubled, and a front that is in the first element overshot by half.
    """
    count = min(DIFFERENCES, max(1, tension.shape[1] // 3))
    steps = -np.diff(tension[:, : count + 1], axis=1)
    falls, rises = np.minimum(steps.max(axis=1), 0.0), np.maximum(steps.min(axis=1), 0.0)
    end: Array = tension[:, 0] + 0.5 * np.clip(steps[:, 0], 2.0 * falls, 2.0 * rises)
    return end
