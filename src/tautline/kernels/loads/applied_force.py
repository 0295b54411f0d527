"""Load `applied_force`: a force and a moment on the body over time (docs/theory.md, equations 71 and 80)."""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array2
from tautline.kernels.data import Array, Motion, Parameters, Scratch, add_to_node
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Push
from tautline.kernels.so3 import Vector, add, add_scaled, apply_transposed, cross, scale
from tautline.kernels.tables import mean_vector


class AppliedForce(NamedTuple):
    """Tables of force and moment, inertial frame."""

    acts: bool
    point: Vector  # that the force acts at, body frame
    table: Array2  # time, then force and moment


@kernel
def at_joint(table: Array2, first: int, at: Instant) -> Vector:
    """Mean of three rows of a table over the halves of both steps, with the weights of equation 80."""
    before = mean_vector(table, first, at.t, at.t - 2.0 * at.back)
    if at.ahead == 0.0:
        return before
    after = mean_vector(table, first, at.t, at.t + 2.0 * at.ahead)
    return scale(1.0 / (at.back + at.ahead), add_scaled(scale(at.back, before), at.ahead, after))


@kernel
def act(
    par: Parameters, own: AppliedForce, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array
) -> Push:
    """The part of its impulse over both steps that acts at their step boundary."""
    force = at_joint(own.table, 1, at)
    add_to_node(out, par.N, force)
    moment = apply_transposed(at.R, at_joint(own.table, 4, at))
    return Push(0.0, 0.0, add(moment, cross(own.point, apply_transposed(at.R, force))))
