"""Resistance of a fluid to a body by direction: drag along its axes, added mass as a matrix, and a wing.

At a step boundary all that a fluid does to a body is a force and a moment that are linear in its velocity and
angular velocity (docs/theory.md, equations 135 to 138). Both are in the body's frame here, about its centre of mass.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.data import Array, put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, time_of_change
from tautline.kernels.loads.drag import (
    TINY,
    BodyResistance,
    Drag,
    Latest,
    accelerates,
    acceleration_of_fluid,
    density_of_body,
    flow_at,
    reach,
)
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Directional
from tautline.kernels.network.ends import matrix_in, put_matrix
from tautline.kernels.network.friction import angle_of
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    ZEROS,
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    matmul,
    matrix_add_scaled,
    matrix_scale,
    outer,
    scale,
    sub,
    transpose,
)
from tautline.kernels.tables import last_knot


class Resistance(NamedTuple):
    """Force and moment of a fluid, less what resists velocity and angular velocity."""

    uu: Matrix  # force by velocity
    uw: Matrix  # force by angular velocity
    wu: Matrix  # moment by velocity
    ww: Matrix
    force: Vector  # at velocities of 0
    moment: Vector


@kernel
def add_matrix(A: Matrix, B: Matrix) -> Matrix:
    return matrix_add_scaled(A, 1.0, B)


@kernel
def sub_matrix(A: Matrix, B: Matrix) -> Matrix:
    return matrix_add_scaled(A, -1.0, B)


@kernel
def resist_at(x: Resistance, point: Vector, K: Matrix, flow: Vector) -> Resistance:
    """With a force -K (u - flow) at a point that has the velocity u."""
    P = hat(point)
    by_spin, moved = matmul(K, P), apply(K, flow)
    turned = matmul(P, K)
    return Resistance(
        matrix_add_scaled(x.uu, 1.0, K),
        matrix_add_scaled(x.uw, -1.0, by_spin),
        matrix_add_scaled(x.wu, 1.0, turned),
        matrix_add_scaled(x.ww, -1.0, matmul(turned, P)),
        add(x.force, moved),
        add(x.moment, cross(point, moved)),
    )


@kernel
def resistance_from(x: BodyResistance, R: Matrix) -> Resistance:
    """Resistance alike in all directions: drag, spin damping and inertia."""
    spin = matrix_scale(x.spin, IDENTITY)
    nothing = Resistance(ZEROS, ZEROS, ZEROS, spin, ZERO, ZERO)
    drag, inertia = matrix_scale(x.drag, IDENTITY), matrix_scale(x.inertia, IDENTITY)
    dragged = resist_at(nothing, x.center, drag, apply_transposed(R, x.flow))
    return resist_at(dragged, x.place, inertia, apply_transposed(R, x.last))


@kernel
def keep_resistance(work: Array, x: Resistance) -> None:
    """Remember what resists a body at a step boundary."""
    put_matrix(work, net.RESISTANCE, x.uu)
    put_matrix(work, net.RESISTANCE + 9, x.uw)
    put_matrix(work, net.RESISTANCE + 18, x.wu)
    put_matrix(work, net.RESISTANCE + 27, x.ww)
    put_triple(work, net.RESISTANCE + 36, x.force)
    put_triple(work, net.RESISTANCE + 39, x.moment)


@kernel
def kept_resistance(work: Array) -> Resistance:
    """Resistance to a body at the present step boundary."""
    return Resistance(
        matrix_in(work, net.RESISTANCE),
        matrix_in(work, net.RESISTANCE + 9),
        matrix_in(work, net.RESISTANCE + 18),
        matrix_in(work, net.RESISTANCE + 27),
        triple(work, net.RESISTANCE + 36),
        triple(work, net.RESISTANCE + 39),
    )


@kernel
def expected(
    own: Drag, at: Instant, point: Vector, density: float, last: Latest, before: Latest, ahead: float, flow: Vector
) -> Vector:
    """Velocity of a point of a body in the fluid, as expected at a step boundary (equation 77), in the body's frame."""
    u = add(last.v, apply(at.R, cross(last.omega, point)))
    du = sub(u, add(before.v, apply(at.R, cross(before.omega, point))))
    u = sub(u, flow)
    decay = 0.5 * density * own.body_rate * (at.back + at.ahead) * math.sqrt(dot(u, u))
    return apply_transposed(at.R, add_scaled(u, reach(ahead, decay), du))


@kernel
def coefficients(polar: Array, angle: float) -> tuple[float, float, float]:
    """Lift, its slope by the angle of attack, and drag: linear between the angles of a table, held outside."""
    i = last_knot(polar[0], angle)
    if i == polar.shape[1] - 1 or angle < polar[0, 0]:
        return polar[1, i], 0.0 * angle, polar[2, i]
    width = polar[0, i + 1] - polar[0, i]
    y = (angle - polar[0, i]) / width
    rise = polar[1, i + 1] - polar[1, i]
    return polar[1, i] + y * rise, rise / width, (1.0 - y) * polar[2, i] + y * polar[2, i + 1]


@kernel
def wing_at(form: Directional, density: float, u: Vector) -> Matrix:
    """K with which a wing gives the force -K u at the velocity u (equation 137), with its slope across u."""
    a, n = dot(u, form.chord), dot(u, form.normal)
    speed = math.sqrt(a * a + n * n)
    if speed < TINY:
        return matrix_scale(0.0 * speed, IDENTITY)
    lift, slope, drag = coefficients(form.polar, angle_of(n, a))
    k = density * form.wing * speed
    to_side = scale(1.0 / speed, add_scaled(scale(a, form.normal), -n, form.chord))
    K = matrix_scale(k * drag, outer(form.chord, form.chord))
    K = matrix_add_scaled(K, k * drag, outer(form.normal, form.normal))
    K = matrix_add_scaled(K, k * lift, outer(form.normal, form.chord))
    K = matrix_add_scaled(K, -k * lift, outer(form.chord, form.normal))
    return matrix_add_scaled(K, k * max(slope, 0.0), outer(to_side, to_side))


@kernel
def carry(
    x: Resistance, own: Drag, form: Directional, at: Instant, depth: float, density: float, now: Latest, past: Latest
) -> Resistance:
    """With the fluid that moves along, whose momenta are those of `form` (equation 138).

    `now` is the motion that is expected, and `past` that from which it changes; `depth` is that of the centre of mass.
    What turning takes is quadratic in the motion: it is taken with its slopes at the one that is expected.
    """
    changed_in = time_of_change(at)
    part = 1.0 / changed_in if changed_in > 0.0 else 0.0 * depth
    mass, across, inertia, back = form.mass, form.across, form.inertia, transpose(form.across)
    center = depth + apply(at.R, own.buoyancy_center)[2]
    w = apply_transposed(at.R, flow_at(own, at, center))
    u, omega, last = sub(apply_transposed(at.R, now.v), w), now.omega, apply_transposed(at.R, past.v)
    P = add(apply(mass, u), apply(across, omega))
    H = add(apply(back, u), apply(inertia, omega))
    U, W = hat(u), hat(omega)
    uu = sub_matrix(matmul(W, mass), matmul(mass, W))
    uw = sub_matrix(add_matrix(matmul(W, across), matmul(mass, U)), hat(P))
    wu = sub_matrix(matmul(W, back), matmul(back, W))
    wu = add_matrix(wu, sub_matrix(matmul(U, mass), hat(P)))
    ww = add_matrix(sub_matrix(matmul(W, inertia), hat(H)), add_matrix(matmul(back, U), matmul(U, across)))
    spun = cross(omega, u)
    force = sub(sub(cross(omega, P), apply(mass, spun)), scale(-1.0, apply(uu, w)))
    moment = add(sub(cross(omega, H), apply(back, spun)), add(cross(u, P), apply(wu, w)))
    force = add_scaled(force, part, add(apply(mass, last), apply(across, past.omega)))
    moment = add_scaled(moment, part, add(apply(back, last), apply(inertia, past.omega)))
    if accelerates(own):
        a = apply_transposed(at.R, acceleration_of_fluid(own, at, center))
        force, moment = add(force, apply(mass, a)), add(moment, apply(back, a))
    return Resistance(
        matrix_add_scaled(x.uu, density, matrix_add_scaled(uu, part, mass)),
        matrix_add_scaled(x.uw, density, matrix_add_scaled(uw, part, across)),
        matrix_add_scaled(x.wu, density, matrix_add_scaled(wu, part, back)),
        matrix_add_scaled(x.ww, density, matrix_add_scaled(ww, part, inertia)),
        add_scaled(x.force, density, force),
        add_scaled(x.moment, density, moment),
    )


@kernel
def resist_by_direction(
    x: Resistance,
    own: Drag,
    form: Directional,
    at: Instant,
    depth: float,
    last: Latest,
    before: Latest,
    ahead: float,
    past: Latest,
) -> Resistance:
    """With what a fluid does to a body by direction, from its motion in the two latest steps."""
    density = density_of_body(own, depth + apply(at.R, own.buoyancy_center)[2])
    flow = flow_at(own, at, depth + apply(at.R, own.center)[2])
    u = expected(own, at, own.center, density, last, before, ahead, flow)
    speed = density * math.sqrt(dot(u, u))
    drag = ((speed * form.drag[0], 0.0, 0.0), (0.0, speed * form.drag[1], 0.0), (0.0, 0.0, speed * form.drag[2]))
    x = resist_at(x, own.center, drag, apply_transposed(at.R, flow))
    if form.wing > 0.0:
        flow = flow_at(own, at, depth + apply(at.R, form.place)[2])
        u = expected(own, at, form.place, density, last, before, ahead, flow)
        x = resist_at(x, form.place, wing_at(form, density, u), apply_transposed(at.R, flow))
    if form.carries:
        omega = add_scaled(last.omega, ahead, sub(last.omega, before.omega))
        now = Latest(add_scaled(last.v, ahead, sub(last.v, before.v)), omega)
        x = carry(x, own, form, at, depth, density, now, past)
    return x
