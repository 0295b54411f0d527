"""Adjoint of a force and a moment on the body at a step boundary (docs/theory.md, (B15))."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.guide import table_mean_back
from tautline.kernels.data import add_triple
from tautline.kernels.jit import separate
from tautline.kernels.loads.acting import Instant
from tautline.kernels.loads.applied_force import AppliedForce, at_joint
from tautline.kernels.so3 import Vector, add, apply, apply_transposed, cross, dot


class Applied(NamedTuple):
    """A force on the body, inertial frame, and the moment about its attachment point, body frame."""

    force: Vector
    moment: Vector


@separate
def applied_at(own: AppliedForce, at: Instant) -> Applied:
    """Force and moment at a step boundary, as applied_force.act has it."""
    force = at_joint(own.table, 1, at)
    moment = apply_transposed(at.R, at_joint(own.table, 4, at))
    return Applied(force, add(moment, cross(own.point, apply_transposed(at.R, force))))


@separate
def applied_back(
    own: AppliedForce, at: Instant, base: float, steps: float, x: Applied, y: Vector, y_omega: Vector, out: Adjoint
) -> float:
    """Adjoint of force and moment times a virtual velocity y, y_omega: adds all derivatives; the product itself.

    `base` is the base step, and `steps` the time from the start of the run in base steps.
    """
    turned = cross(y_omega, own.point)
    add_triple(out.numbers, adjoint.BY_POINT, cross(apply_transposed(at.R, x.force), y_omega))
    force_bar, moment_bar = add(y, apply(at.R, turned)), apply(at.R, y_omega)
    bars = (*force_bar, *moment_bar)
    knots, time = own.table[0], at.back + at.ahead
    for k in range(6):
        for side in range(2):
            # the half of the step before, and that of the step behind
            half = at.back if side == 0 else at.ahead
            span = -2.0 * half if side == 0 else 2.0 * half
            if half > 0.0:
                bar, row = bars[k] * half / time, own.table[k + 1]
                far, by_far = at.t + span, steps + span / base
                out.numbers[adjoint.BY_H] += table_mean_back(
                    knots, row, 1.0, at.t, far, steps, by_far, bar, out.force[k + 1]
                ).by_h
    moment = at_joint(own.table, 4, at)
    add_triple(out.body, adjoint.ATTITUDE_BAR, cross(y_omega, apply_transposed(at.R, moment)))
    add_triple(out.body, adjoint.ATTITUDE_BAR, cross(turned, apply_transposed(at.R, x.force)))
    return dot(x.force, y) + dot(x.moment, y_omega)
