"""Bodies of a network in a fluid: what resists their motion, and what moves along (equations 73, 82, 135 to 138)."""

from __future__ import annotations

from tautline.kernels.data import add_triple, put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, instant_at
from tautline.kernels.loads.drag import (
    Drag,
    Latest,
    accelerates,
    body_resistance,
    lift_of_body,
    pushed_body,
    velocity_at_body,
)
from tautline.kernels.loads.resisting import GivenToBody
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Directional, Network, body_at, directional_at, drag_at
from tautline.kernels.network.directional import (
    Resistance,
    keep_resistance,
    kept_resistance,
    resist_by_direction,
    resistance_from,
)
from tautline.kernels.network.ends import matrix_in
from tautline.kernels.network.linear import add_block
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    ZERO,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    dot,
    matmul,
    matrix_scale,
    scale,
    sub,
    transpose,
)


@kernel
def resistance_of(body: Body, own: Drag, form: Directional, at: Instant, ahead: float) -> Resistance:
    """Resistance to a free body at a step boundary, from its motion in the two latest steps."""
    state = body.state
    R = attitude(state)
    here = instant_at(at, R, at.rates, at.speeds)
    last = Latest(triple(state, net.V), triple(state, net.OMEGA))
    before = Latest(triple(state, net.V_BEFORE), triple(state, net.OMEGA_BEFORE))
    same = body_resistance(own, here, state[net.PLACE + 2], last, before, ahead, triple(state, net.FLUID))
    found = resistance_from(same, R)
    if not form.acts:
        return found
    past = Latest(triple(state, net.MOVED), triple(state, net.MOVED_SPIN))
    return resist_by_direction(found, own, form, here, state[net.PLACE + 2], last, before, ahead, past)


@kernel
def lift_on(body: Body, own: Drag, at: Instant) -> tuple[Vector, Vector]:
    """Force and moment (body frame) of buoyancy below a free surface and of a fluid's acceleration."""
    lift, moment = ZERO, ZERO
    R, depth = attitude(body.state), body.state[net.PLACE + 2]
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
    x = resistance_of(body, own, directional_at(network.directional, body.number), at, ahead)
    keep_resistance(body.work, x)
    matrix, right, row = network.matrix, network.right[0], body.row
    R = matrix_in(body.work, net.TURNED)
    back = transpose(R)
    lift, moment = lift_on(body, own, at)
    add_block(matrix, row, row, matrix_scale(tau, matmul(matmul(R, x.uu), back)))
    add_triple(right, row, scale(tau, add(apply(R, x.force), lift)))
    if not body.turns:
        return
    add_block(matrix, row, row + 3, matrix_scale(tau, matmul(R, x.uw)))
    add_block(matrix, row + 3, row, matrix_scale(tau, matmul(x.wu, back)))
    add_block(matrix, row + 3, row + 3, matrix_scale(tau, x.ww))
    add_triple(right, row + 3, scale(tau, add(x.moment, moment)))


@kernel
def given_to(network: Network, body: Body, at: Instant) -> GivenToBody:
    """Force, moment and power of the fluid on a body at the velocities that were found at a step boundary."""
    v, omega, own = triple(body.work, net.V_NOW), triple(body.work, net.OMEGA_NOW), drag_at(network.around, body.number)
    x, R = kept_resistance(body.work), matrix_in(body.work, net.TURNED)
    u = apply_transposed(R, v)
    force = apply(R, sub(x.force, add(apply(x.uu, u), apply(x.uw, omega))))
    turned = sub(x.moment, add(apply(x.wu, u), apply(x.ww, omega)))
    lift, moment = lift_on(body, own, at)
    force, moment = add(force, lift), add(turned, moment)
    return GivenToBody(force, moment, dot(force, v) + dot(moment, omega))


@kernel
def fluid_now(body: Body, own: Drag, time: float, v: Vector, omega: Vector) -> Vector:
    """Velocity of the centre of buoyancy some time ago, from those of the body."""
    return velocity_at_body(own, attitude(body.state), time, v, omega)


@kernel
def let_move_along(network: Network, body: Body) -> None:
    """Let fluid around a body have the velocities that are found at a step boundary."""
    v, omega = triple(body.work, net.V_NOW), triple(body.work, net.OMEGA_NOW)
    put_triple(body.state, net.FLUID, fluid_now(body, drag_at(network.around, body.number), 0.0, v, omega))
    put_triple(body.state, net.MOVED, v)
    put_triple(body.state, net.MOVED_SPIN, omega)


@kernel
def move_along(body: Body, place: int, latest: int, part: float, now: Vector) -> None:
    """Put a velocity of what moves along: that of the latest step, and a part of the way to another one."""
    x = triple(body.state, latest)
    put_triple(body.state, place, add_scaled(x, part, sub(now, x)))


@kernel
def expect_fluid_at_bodies(network: Network, back: float, part: float) -> None:
    """Velocities of the step behind a step boundary if they changed there alone (carried.expect_fluid)."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free and network.in_fluid:
            own = drag_at(network.around, b)
            x = fluid_now(body, own, back, triple(body.state, net.V), triple(body.state, net.OMEGA))
            y = fluid_now(body, own, 0.0, triple(body.work, net.V_NOW), triple(body.work, net.OMEGA_NOW))
            put_triple(body.state, net.FLUID, add_scaled(x, part, sub(y, x)))
            move_along(body, net.MOVED, net.V, part, triple(body.work, net.V_NOW))
            move_along(body, net.MOVED_SPIN, net.OMEGA, part, triple(body.work, net.OMEGA_NOW))


@kernel
def move_fluid_at_bodies(network: Network, h: float, part: float) -> None:
    """Velocities of the fluid in a step h, from those of the bodies and `part` of what was expected beyond them."""
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free and network.in_fluid:
            own = drag_at(network.around, b)
            x = fluid_now(body, own, 0.5 * h, triple(body.state, net.V), triple(body.state, net.OMEGA))
            put_triple(body.state, net.FLUID, add_scaled(x, part, sub(triple(body.state, net.FLUID), x)))
            move_along(body, net.MOVED, net.V, part, triple(body.state, net.MOVED))
            move_along(body, net.MOVED_SPIN, net.OMEGA, part, triple(body.state, net.MOVED_SPIN))
