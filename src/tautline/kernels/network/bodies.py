"""Bodies in a step of a network: impulses of gravity and applied forces, and work of motions that are given."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_triple
from tautline.kernels.data import add_triple, put_triple, triple
from tautline.kernels.fixed import extrapolated_vector
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Network, strand_at
from tautline.kernels.network.ends import matrix_in, put_matrix
from tautline.kernels.network.guess import beyond_parabola, keep_vectors
from tautline.kernels.network.kinematic import mean_turning, mean_velocity, turn_to
from tautline.kernels.rotation import attitude, quaternion
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply, cross, dot, quaternion_increment, scale, sub
from tautline.kernels.tables import mean_between


@separate
def push_on(body: Body, near: float, far: float) -> tuple[Vector, Vector]:
    """Mean force and moment of what is applied to a body, as it is at the near end of a step; inertial.

    Both ends give half of the impulse of the step: so its work, at the mean velocity, is what the energy changes by.
    """
    R = attitude(body.state)
    applied = mean_between(body.applied, 1, near, far)
    force = add(mean_between(body.push, 1, near, far), apply(R, mean_between(body.thrust, 1, near, far)))
    moment = add(mean_between(body.push, 4, near, far), apply(R, mean_between(body.thrust, 4, near, far)))
    turning = add(mean_between(body.applied, 4, near, far), cross(apply(R, body.point), applied))
    return add(force, applied), add(moment, turning)


@kernel
def book_push(network: Network, body: Body, impulse: Vector, moment: Vector) -> None:
    """Work of an impulse and a moment of impulse, at the mean velocities of the step."""
    omega = apply(attitude(body.state), triple(body.work, net.OMEGA_NOW))
    work = dot(impulse, triple(body.work, net.V_NOW)) + dot(moment, omega)
    book_whole(network, data.EXTERNAL_WORK, work)


@kernel
def begin_body(body: Body, h: float, ahead: float, bend: float, steady: bool, start: float, end: float) -> None:
    """Guess of a free body's velocities, or those that are given."""
    state, work = body.state, body.work
    put_matrix(work, net.TURNED, attitude(state))
    if body.free:
        latest = triple(state, net.V), triple(state, net.V_BEFORE), triple(state, net.V_EARLIER)
        velocity = extrapolated_vector(ahead, bend, latest[0], latest[1], latest[2])
        turns = triple(state, net.OMEGA), triple(state, net.OMEGA_BEFORE), triple(state, net.OMEGA_EARLIER)
        omega = extrapolated_vector(ahead, bend, turns[0], turns[1], turns[2])
        if steady:
            velocity = add(velocity, beyond_parabola(state, net.V, net.V_OLDER))
            omega = add(omega, beyond_parabola(state, net.OMEGA, net.OMEGA_OLDER))
        put_triple(work, net.V_NOW, velocity)
        put_triple(work, net.OMEGA_NOW, omega)
        if body.pushed:
            force, moment = push_on(body, start, end)
            put_triple(work, net.PUSHED, scale(0.5 * h, force))
            put_triple(work, net.PUSHED + 3, scale(0.5 * h, moment))
        return
    velocity = mean_velocity(body, start, end, h)
    put_triple(work, net.V_NOW, velocity)
    put_triple(work, net.OMEGA_NOW, mean_turning(body, start, end, h))
    put_triple(work, net.AT_START, add_scaled(scale(body.mass, velocity), -0.5 * h, triple(work, net.PULLED)))
    for place in (net.SPIN_AT_START, net.GAINED, net.SPIN_GAINED):
        put_triple(work, place, ZERO)


@kernel
def give(body: Body, impulse: Vector, moment: Vector) -> None:
    """An impulse at the centre of mass and a moment of impulse about it, inertial, to a body."""
    if body.free:
        accumulate_triple(body.state, net.LINEAR, net.LINEAR_ERR, impulse, body.compensated)
        if body.turns:
            accumulate_triple(body.state, net.ANGULAR, net.ANGULAR_ERR, moment, body.compensated)
    else:
        add_triple(body.work, net.GAINED, impulse)
        add_triple(body.work, net.SPIN_GAINED, moment)


@kernel
def move_body(network: Network, body: Body, h: float, end: float) -> None:
    """Move and turn a body; pay gravity's impulse at the start."""
    state, work = body.state, body.work
    give(body, scale(0.5 * h, triple(work, net.PULLED)), scale(0.5 * h, triple(work, net.TWISTED)))
    if body.pushed and body.free:
        impulse, moment = triple(work, net.PUSHED), triple(work, net.PUSHED + 3)
        give(body, impulse, moment)
        book_push(network, body, impulse, moment)
    velocity = triple(work, net.V_NOW)
    accumulate_triple(state, net.PLACE, net.PLACE_ERR, scale(h, velocity), body.compensated)
    if body.free and body.turns:
        dQ = quaternion_increment(quaternion(state), scale(0.5 * h, triple(work, net.OMEGA_NOW)))
        for i in range(4):
            accumulate(state, data.ATTITUDE + i, data.ATTITUDE_ERR + i, dQ[i], body.compensated)
    if body.rotates:
        turn_to(body, end)


@kernel
def end_body(network: Network, body: Body, h: float, start: float, end: float) -> None:
    """Impulses of gravity and applied forces at the end of a step; work of a motion that is given; velocities."""
    state, work = body.state, body.work
    give(body, scale(0.5 * h, triple(work, net.PULLED)), scale(0.5 * h, triple(work, net.TWISTED)))
    if body.pushed and body.free:
        force, moment = push_on(body, end, start)
        give(body, scale(0.5 * h, force), scale(0.5 * h, moment))
        book_push(network, body, scale(0.5 * h, force), scale(0.5 * h, moment))
    if not body.free:
        impulse = sub(triple(work, net.AT_START), triple(state, net.LINEAR))
        moment = sub(triple(work, net.SPIN_AT_START), triple(state, net.ANGULAR))
        mean = scale(0.5, add(triple(state, net.V), triple(work, net.V_NOW)))
        turning = apply(
            matrix_in(work, net.TURNED), scale(0.5, add(triple(state, net.OMEGA), triple(work, net.OMEGA_NOW)))
        )
        book_given(network, body, impulse, moment, mean, turning)
        put_triple(state, net.LINEAR, add(triple(work, net.AT_START), triple(work, net.GAINED)))
        put_triple(state, net.ANGULAR, add(triple(work, net.SPIN_AT_START), triple(work, net.SPIN_GAINED)))
    keep_vectors(state, net.V, net.V_OLDER, triple(work, net.V_NOW))
    keep_vectors(state, net.OMEGA, net.OMEGA_OLDER, triple(work, net.OMEGA_NOW))


@kernel
def book_given(
    network: Network, body: Body, impulse: Vector, moment: Vector, velocity: Vector, turning: Vector
) -> None:
    """Count an impulse and a moment of impulse of what leads a body, and its work at a velocity (inertial)."""
    state = body.state
    book_whole(network, data.GUIDE_WORK, dot(impulse, velocity) + dot(moment, turning))
    add_triple(state, net.GIVEN, impulse)
    add_triple(state, net.GIVEN_MOMENT, moment)


@kernel
def book_whole(network: Network, account: int, amount: float) -> None:
    """Add an amount (J) to an account of the network as a whole."""
    book(strand_at(network.strands, 0).par, network.totals, account, amount)


@kernel
def size_of(body: Body) -> float:
    """A number that is finite where the momenta of a body are, and what leads it has given."""
    held = triple(body.state, net.GIVEN)
    return dot(triple(body.state, net.LINEAR), triple(body.state, net.ANGULAR)) + held[0] + held[1] + held[2]
