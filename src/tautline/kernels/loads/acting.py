"""When and where loads act, and what they give."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.data import FRAME_VELOCITY, Array, Parameters, node, triple
from tautline.kernels.jit import kernel
from tautline.kernels.newton import Rates
from tautline.kernels.so3 import Matrix, Vector, add, scale, sub


class Instant(NamedTuple):
    """A joint of two steps, at which loads act for half of either."""

    t: float
    back: float  # half of the step before: how long they act for it
    ahead: float  # and half of the step behind
    place: Vector  # of the guide entrance, inertial
    frame: Vector  # velocity of the guide entrance
    R: Matrix
    rates: Rates  # expected, as the velocities are


class Push(NamedTuple):
    """What a load does beside its forces on the nodes."""

    reel: float  # force on s
    moment: Vector  # on the body about its attachment point, body frame


@kernel
def instant_at(at: Instant, R: Matrix, rates: Rates) -> Instant:
    """The same joint for a body with another attitude and other rates."""
    return Instant(at.t, at.back, at.ahead, at.place, at.frame, R, rates)


@kernel
def frame_change(at: Instant, reel: Array) -> Vector:
    """How much faster the guide is at the joint than the frame of the momenta."""
    return sub(at.frame, triple(reel, FRAME_VELOCITY))


@kernel
def time_of_change(at: Instant) -> float:
    """Time in which velocities have changed from those of the step before; at a start, in which they will."""
    return at.back if at.back > 0.0 else at.ahead


@kernel
def node_flow(par: Parameters, l: float, q: Array, i: int) -> Vector:
    """Velocity of the material through the mesh at node i, over sigma (equation 81)."""
    if i == par.N:
        return (0.0, 0.0, 0.0)
    w = sub(node(q, i), node(q, i + 1))
    if i > 0:
        w = scale(0.5, add(sub(node(q, i - 1), node(q, i)), w))
    return scale((par.N - i) / (par.N * l), w)
