"""When and where loads act, and what they give."""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.along import load
from tautline.kernels.data import Array, Parameters, node, triple
from tautline.kernels.jit import kernel
from tautline.kernels.newton import Rates
from tautline.kernels.so3 import Matrix, Vector, scale, sub

# Of the reel; of a span those of the feeds at its start and at its stop. Kernels are compiled for either.
Speeds = tuple[float, ...]


class Instant(NamedTuple):
    """A step boundary, at which loads act for half of either."""

    t: float
    back: float  # half of the step before: how long they act for it
    ahead: float  # and half of the step behind
    place: Vector  # of the guide entrance, inertial
    frame: Vector  # velocity of the guide entrance
    R: Matrix
    rates: Rates  # expected, as the velocities are
    speeds: Speeds  # likewise


class Trend(NamedTuple):
    """Speeds of the feeds in the two latest steps, and how far velocities are extrapolated along their change."""

    last: Speeds
    before: Speeds
    ahead: float


class Push(NamedTuple):
    """Push of a load beside its forces on the nodes."""

    reel: float  # force on s
    far: float  # force on the feed at the stop of a span
    moment: Vector  # on the body about its attachment point, body frame


NO_PUSH = Push(0.0, 0.0, (0.0, 0.0, 0.0))


@kernel
def instant_at(at: Instant, R: Matrix, rates: Rates, speeds: Speeds) -> Instant:
    """Step boundary for a body with another attitude and other rates."""
    return Instant(at.t, at.back, at.ahead, at.place, at.frame, R, rates, speeds)


@kernel
def frame_change(at: Instant, reel: Array) -> Vector:
    """How much faster the guide is at the step boundary than the frame of the momenta."""
    return sub(at.frame, triple(reel, data.FRAME_VELOCITY))


@kernel
def time_of_change(at: Instant) -> float:
    """Time in which velocities have changed from those of the step before; at a start, in which they will."""
    return at.back if at.back > 0.0 else at.ahead


@kernel
def by_speeds(rows: Array2, near: int, far: int, speeds: Speeds, e: int) -> float:
    """Sum over the feeds of their speeds times a row of the elements from e on, `far` being that of the stop."""
    found: float = speeds[0] * load(rows[near], e)
    if len(speeds) > 1:
        found += speeds[len(speeds) - 1] * load(rows[far], e)
    return found


@kernel
def node_flow(par: Parameters, l: float, q: Array, i: int) -> Vector:
    """Velocity of the material through the mesh at node i, over the speed of what passes there (equation 81)."""
    before, behind = max(i - 1, 0), min(i + 1, par.N)
    return scale(1.0 / ((behind - before) * l), sub(node(q, before), node(q, behind)))


@kernel
def shares_at(par: Parameters, i: int) -> tuple[float, float]:
    """Parts of what passes node i by the feeds at the start and at the stop."""
    return (par.N - i) / par.N, i / par.N
