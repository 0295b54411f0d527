"""Load `applied_force`: a force and a moment on the body over time (docs/theory.md, equations 71 and 80)."""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array2
from tautline.kernels.data import Array, Motion, Parameters, Scratch, add_to_node
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Push
from tautline.kernels.so3 import Vector, add, apply_transposed, cross
from tautline.kernels.tables import mean_vector


class AppliedForce(NamedTuple):
    """Tables of force and moment, inertial frame."""

    acts: bool
    point: Vector  # that the force acts at, body frame
    table: Array2  # time, then force and moment


@kernel
def act(
    par: Parameters, own: AppliedForce, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array
) -> Push:
    """The part of its impulse over the step that acts at this end."""
    force = mean_vector(own.table, 1, at.t, at.far)
    add_to_node(out, par.N, force)
    moment = apply_transposed(at.R, mean_vector(own.table, 4, at.t, at.far))
    return Push(0.0, add(moment, cross(own.point, apply_transposed(at.R, force))))
