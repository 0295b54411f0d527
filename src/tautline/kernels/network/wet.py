"""Bodies of a network in a fluid: what resists their motion, and what moves along with them (equations 73, 82)."""

from __future__ import annotations

from tautline.kernels.data import put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, instant_at
from tautline.kernels.loads.drag import (
    BodyResistance,
    Drag,
    Latest,
    accelerates,
    body_resistance,
    lift_of_body,
    pushed_body,
    velocity_at_body,
)
from tautline.kernels.loads.resisting import GivenToBody, resist_body
from tautline.kernels.network.data import (
    FLUID,
    OMEGA,
    OMEGA_BEFORE,
    OMEGA_NOW,
    PLACE,
    RESISTANCE,
    TURNED,
    V_BEFORE,
    V_NOW,
    Body,
    Network,
    V,
    body_at,
    drag_at,
)
from tautline.kernels.network.ends import matrix_in
from tautline.kernels.network.linear import IDENTITY, ZEROS, add_block, add_vector
from tautline.kernels.newton import ZERO
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    Vector,
    add,
    add_scaled,
    apply_transposed,
    cross,
    dot,
    hat,
    matmul,
    matrix_add_scaled,
    outer,
    scale,
    sub,
    transpose,
)


@kernel
def keep_resistance(body: Body, x: BodyResistance) -> None:
    """Remember what resists the body at a joint."""
    work = body.work
    work[RESISTANCE], work[RESISTANCE + 1], work[RESISTANCE + 2] = x.drag, x.spin, x.inertia
    put_triple(work, RESISTANCE + 3, x.flow)
    put_triple(work, RESISTANCE + 6, x.last)


@kernel
def kept_resistance(body: Body, own: Drag) -> BodyResistance:
    """What resists the body at the present joint."""
    x = body.work
    flow, last = triple(x, RESISTANCE + 3), triple(x, RESISTANCE + 6)
    drag, spin, inertia = x[RESISTANCE], x[RESISTANCE + 1], x[RESISTANCE + 2]
    return BodyResistance(drag, own.center, flow, spin, inertia, own.buoyancy_center, last)


@kernel
def resistance_of(body: Body, own: Drag, at: Instant, ahead: float) -> BodyResistance:
    """What resists a free body at a joint, from its motion in the two latest steps."""
    state = body.state
    here = instant_at(at, attitude(state), at.rates, at.speeds)
    last = Latest(triple(state, V), triple(state, OMEGA))
    before = Latest(triple(state, V_BEFORE), triple(state, OMEGA_BEFORE))
    return body_resistance(own, here, state[PLACE + 2], last, before, ahead, triple(state, FLUID))


@kernel
def lift_on(body: Body, own: Drag, at: Instant) -> tuple[Vector, Vector]:
    """Force and moment (body frame) of buoyancy below a free surface and of a fluid's acceleration."""
    lift, moment = ZERO, ZERO
    R, depth = attitude(body.state), body.state[PLACE + 2]
    if own.has_surface:
        lift, moment = lift_of_body(own, R, depth)
    if accelerates(own):
        push, turn = pushed_body(own, at, R, depth)
        lift, moment = add(lift, push), add(moment, turn)
    return lift, moment


@kernel
def fluid_into(network: Network, body: Body, tau: float, at: Instant, ahead: float) -> None:
    """Put the fluid around a body into its equations, for a time tau in which it acts."""
    own = drag_at(network.around, body.number)
    x = resistance_of(body, own, at, ahead)
    keep_resistance(body, x)
    matrix, right, row = network.matrix, network.right[0], body.row
    R = matrix_in(body.work, TURNED)
    drag, inertia = tau * x.drag, tau * x.inertia
    dragged, kept = scale(drag, x.flow), scale(inertia, x.last)
    lift, moment = lift_on(body, own, at)
    add_block(matrix, row, row, matrix_add_scaled(ZEROS, drag + inertia, IDENTITY))
    add_vector(right, row, add_scaled(add(dragged, kept), tau, lift))
    if not body.turns:
        return
    levers = matmul(R, hat(add_scaled(scale(-drag, x.center), -inertia, x.place)))
    add_block(matrix, row, row + 3, levers)
    add_block(matrix, row + 3, row, transpose(levers))
    turning = tau * x.spin + drag * dot(x.center, x.center) + inertia * dot(x.place, x.place)
    J = matrix_add_scaled(ZEROS, turning, IDENTITY)
    J = matrix_add_scaled(J, -drag, outer(x.center, x.center))
    add_block(matrix, row + 3, row + 3, matrix_add_scaled(J, -inertia, outer(x.place, x.place)))
    turned = add(cross(x.center, apply_transposed(R, dragged)), cross(x.place, apply_transposed(R, kept)))
    add_vector(right, row + 3, add_scaled(turned, tau, moment))


@kernel
def given_to(network: Network, body: Body, at: Instant) -> GivenToBody:
    """What the fluid gives to a body at the velocities that were found at a joint."""
    v, omega, own = triple(body.work, V_NOW), triple(body.work, OMEGA_NOW), drag_at(network.around, body.number)
    x = resist_body(kept_resistance(body, own), matrix_in(body.work, TURNED), v, omega)
    lift, moment = lift_on(body, own, at)
    return GivenToBody(add(x.force, lift), add(x.moment, moment), x.power + dot(lift, v) + dot(moment, omega))


@kernel
def fluid_now(body: Body, own: Drag, time: float, v: Vector, omega: Vector) -> Vector:
    """Velocity of the centre of buoyancy some time ago, from those of the body."""
    return velocity_at_body(own, attitude(body.state), time, v, omega)


@kernel
def expect_fluid_at_bodies(network: Network, back: float, part: float) -> None:
    """Velocities of the step behind a joint if they changed there alone (carried.expect_fluid)."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free and network.in_fluid:
            own = drag_at(network.around, b)
            x = fluid_now(body, own, back, triple(body.state, V), triple(body.state, OMEGA))
            y = fluid_now(body, own, 0.0, triple(body.work, V_NOW), triple(body.work, OMEGA_NOW))
            put_triple(body.state, FLUID, add_scaled(x, part, sub(y, x)))


@kernel
def move_fluid_at_bodies(network: Network, h: float, part: float) -> None:
    """Velocities of the fluid in a step h, from those of the bodies and `part` of what was expected beyond them."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free and network.in_fluid:
            own = drag_at(network.around, b)
            x = fluid_now(body, own, 0.5 * h, triple(body.state, V), triple(body.state, OMEGA))
            put_triple(body.state, FLUID, add_scaled(x, part, sub(triple(body.state, FLUID), x)))
