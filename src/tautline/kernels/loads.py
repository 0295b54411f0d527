"""Forces that are not in the Lagrangian, and a guide that moves (docs/theory.md, "Loads", equations 70 to 77).

Half a step of loads, a step of the conservative method, half a step of loads: momenta jump, positions stand still.
Only runs that have loads are compiled with this.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.compensated import accumulate, accumulate_node, accumulate_triple
from tautline.kernels.data import (
    ANGULAR_VELOCITY,
    DAMPED,
    DAMPING,
    DAMPING_ERR,
    DRAGGED,
    EXTERNAL,
    EXTERNAL_ERR,
    FLUID,
    FLUID_ERR,
    FRAME_VELOCITY,
    GRAVITY,
    GUIDE_IMPULSE,
    GUIDE_IMPULSE_ERR,
    GUIDE_PLACE,
    GUIDE_VELOCITY,
    GUIDE_WORK,
    GUIDE_WORK_ERR,
    KINETIC,
    LINEAR,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    P_S,
    P_S_ERR,
    POSITION,
    REEL_SPEED,
    STARTED_WITH,
    TARGET,
    Array,
    Loads,
    Motion,
    Parameters,
    S,
    Scratch,
    add_to_node,
    clear_nodes,
    copy_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length, spooled_lever, tension_and_energy, transport_weights
from tautline.kernels.fixed import complete_kick, momenta_with_kick
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.legendre import rates_of
from tautline.kernels.reeling import Rates
from tautline.kernels.rotation import add_spin, attitude
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    sub,
)
from tautline.kernels.tables import last_knot, linear_at, weighted_mean

ZERO = (0.0, 0.0, 0.0)
TINY = 1e-290


class LoadForces(NamedTuple):
    """What acts on the reel and the body's rotation, by account; forces on nodes are in DAMPED and DRAGGED."""

    damping_reel: float
    fluid_reel: float
    fluid_moment: Vector  # body frame
    force: Vector  # of the user's, at the attachment point's node
    moment: Vector  # and about it, body frame
    fluid_force: Vector  # all of the drag, with what the guide takes of it directly


@kernel
def in_table(table: Array, first: int, x: float) -> Vector:
    """Three rows of a table, from row `first`, over row 0: piecewise linear, held outside."""
    knots = table[0]
    return (
        linear_at(knots, table[first], x),
        linear_at(knots, table[first + 1], x),
        linear_at(knots, table[first + 2], x),
    )


@kernel
def mean_in_table(table: Array, first: int, near: float, far: float) -> Vector:
    """Three rows of a table, as their impulse acts at the near end of a step (equation 80)."""
    knots = table[0]
    return (
        weighted_mean(knots, table[first], near, far),
        weighted_mean(knots, table[first + 1], near, far),
        weighted_mean(knots, table[first + 2], near, far),
    )


@kernel
def on_path(path: Array, t: float) -> tuple[Vector, Vector]:
    """Displacement and velocity of the guide: a cubic beyond each knot, at rest outside the path.

    Row 0 holds the knots; rows 1 + 4 k to 4 + 4 k the coefficients of component k, constant first.
    """
    last = path.shape[1] - 1
    i = last_knot(path[0], t)
    x = t - path[0, i]
    if i == last or x < 0.0:
        x = 0.0
    where = (
        path[1, i] + x * (path[2, i] + x * (path[3, i] + x * path[4, i])),
        path[5, i] + x * (path[6, i] + x * (path[7, i] + x * path[8, i])),
        path[9, i] + x * (path[10, i] + x * (path[11, i] + x * path[12, i])),
    )
    if i == last or t < path[0, 0]:
        return where, ZERO
    velocity = (
        path[2, i] + x * (2.0 * path[3, i] + x * 3.0 * path[4, i]),
        path[6, i] + x * (2.0 * path[7, i] + x * 3.0 * path[8, i]),
        path[10, i] + x * (2.0 * path[11, i] + x * 3.0 * path[12, i]),
    )
    return where, velocity


@kernel
def path_acceleration(path: Array, t: float) -> Vector:
    """Acceleration of the guide; 0 outside the path."""
    i = last_knot(path[0], t)
    if i == path.shape[1] - 1 or t < path[0, 0]:
        return ZERO
    x = t - path[0, i]
    return (
        2.0 * path[3, i] + 6.0 * x * path[4, i],
        2.0 * path[7, i] + 6.0 * x * path[8, i],
        2.0 * path[11, i] + 6.0 * x * path[12, i],
    )


@kernel
def damping_forces(par: Parameters, s: float, sigma: float, q: Array, v: Array, out: Array) -> float:
    """-dR/dv of R = sum l eta (strain rate)^2/2 into `out`; -dR/dsigma returned."""
    l = element_length(par, s)
    reel = 0.0
    clear_nodes(out)
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = max(math.sqrt(dot(w, w)), TINY)
        along = scale(1.0 / length, w)
        rate = (dot(along, sub(node(v, e + 1), node(v, e))) + length * sigma / (par.N * l)) / l
        pull = par.viscosity * rate
        if par.elastic_law != LINEAR:
            # a string that cannot push cannot be made to by damping either
            elastic = max(tension_and_energy(par, length / l - 1.0)[0], 0.0)
            pull = max(pull, -elastic) if elastic > 0.0 else 0.0
        add_to_node(out, e, scale(pull, along))
        add_to_node(out, e + 1, scale(-pull, along))
        reel -= pull * length / (par.N * l)
    return reel


@kernel
def material_flow(N: int, e: int, l: float) -> float:
    """How fast the material at the middle of element e runs through the mesh, over sigma and the element's vector."""
    return (N - e - 0.5) / (N * l)


@kernel
def speed_in_fluid(
    par: Parameters, loads: Loads, depth: float, l: float, sigma: float, frame: Vector, q: Array, v: Array, e: int
) -> Vector:
    """Velocity of the string at the middle of element e relative to the fluid there."""
    w = sub(node(q, e), node(q, e + 1))
    u = scale(0.5, add(node(v, e), node(v, e + 1)))
    u = add(add_scaled(u, sigma * material_flow(par.N, e, l), w), frame)
    middle = depth + 0.5 * (node(q, e)[2] + node(q, e + 1)[2])
    return sub(u, in_table(loads.flow, 1, middle))


@kernel
def body_in_fluid(
    par: Parameters, loads: Loads, depth: float, frame: Vector, q: Array, v: Array, R: Matrix, omega: Vector
) -> Vector:
    """Velocity of the body's drag centre relative to the fluid there."""
    arm = apply(R, loads.drag_center)
    u = add(add(node(v, par.N), apply(R, cross(omega, loads.drag_center))), frame)
    return sub(u, in_table(loads.flow, 1, depth + node(q, par.N)[2] + arm[2]))


@kernel
def string_drag(
    par: Parameters, loads: Loads, depth: float, s: float, sigma: float, frame: Vector, q: Array, v: Array, out: Array
) -> tuple[float, Vector]:
    """Drag on each element at its middle, along and across it, into `out`; force on s, and the sum."""
    l = element_length(par, s)
    reel = 0.0
    total = ZERO
    clear_nodes(out)
    for e in range(par.N):
        w = sub(node(q, e), node(q, e + 1))
        length = max(math.sqrt(dot(w, w)), TINY)
        flows = scale(material_flow(par.N, e, l), w)
        u = speed_in_fluid(par, loads, depth, l, sigma, frame, q, v, e)
        along = scale(dot(u, w) / (length * length), w)
        across = sub(u, along)
        force = add_scaled(
            scale(-loads.normal * length * math.sqrt(dot(across, across)), across),
            -loads.tangential * length * math.sqrt(dot(along, along)),
            along,
        )
        add_to_node(out, e, scale(0.5, force))
        add_to_node(out, e + 1, scale(0.5, force))
        reel += dot(force, flows)
        total = add(total, force)
    put_node(out, 0, ZERO)  # the guide takes it
    return reel, total


@separate
def forces(
    par: Parameters, loads: Loads, t: float, far: float, motion: Motion, rates: Rates, v: Array, scratch: Scratch
) -> LoadForces:
    """All loads at a configuration and a velocity, at time t; applied forces as they act there for a step to `far`."""
    s = motion.reel[S]
    q = motion.nodes[POSITION]
    R = attitude(motion.body)
    frame = triple(motion.reel, FRAME_VELOCITY)
    damping_reel = damping_forces(par, s, rates.sigma, q, v, scratch.nodes[DAMPED])
    depth = par.r_p[2] + on_path(loads.path, t)[0][2]
    drag = scratch.nodes[DRAGGED]
    fluid_reel, total = string_drag(par, loads, depth, s, rates.sigma, frame, q, v, drag)

    u = body_in_fluid(par, loads, depth, frame, q, v, R, rates.omega)
    force = scale(-loads.body * math.sqrt(dot(u, u)), u)
    add_to_node(drag, par.N, force)
    total = add(total, force)
    moment = add_scaled(cross(loads.drag_center, apply_transposed(R, force)), -loads.spin, rates.omega)

    pushed = mean_in_table(loads.applied, 1, t, far)
    turned = apply_transposed(R, mean_in_table(loads.applied, 4, t, far))
    turned = add(turned, cross(loads.force_point, apply_transposed(R, pushed)))
    if not par.rotates:
        moment = ZERO
        turned = ZERO
    return LoadForces(damping_reel, fluid_reel, moment, pushed, turned, total)


@separate
def velocities(par: Parameters, locked: bool, motion: Motion, scratch: Scratch) -> Rates:
    """At the present momenta; nodes into MEAN_VELOCITY."""
    Pi = momenta_with_kick(par, motion, scratch)
    return rates_of(par, locked, motion, motion.reel[P_S], Pi, scratch)


@separate
def drag_rate(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> float:
    """Bound on the rate at which the fluid slows any small motion down, at the present velocities (1/s)."""
    rates = velocities(par, locked, motion, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    q = motion.nodes[POSITION]
    l = element_length(par, motion.reel[S])
    frame = triple(motion.reel, FRAME_VELOCITY)
    depth = par.r_p[2] + on_path(loads.path, t)[0][2]
    string2 = 0.0
    if loads.string_rate > 0.0:
        for e in range(par.N):
            w = sub(node(q, e), node(q, e + 1))
            u = speed_in_fluid(par, loads, depth, l, rates.sigma, frame, q, v, e)
            string2 = max(string2, dot(u, u) * dot(w, w) / (l * l))
    u = body_in_fluid(par, loads, depth, frame, q, v, attitude(motion.body), rates.omega)
    body = loads.body_rate * math.sqrt(dot(u, u)) + loads.spin_rate
    return max(loads.string_rate * math.sqrt(string2), body)


@separate
def load_stage(
    par: Parameters, loads: Loads, locked: bool, t: float, far: float, motion: Motion, scratch: Scratch
) -> None:
    """Loads act for half of a step between t and `far`: explicit midpoint rule for the momenta, booked exactly.

    T is quadratic in the momenta, so jumps dp change it by dp.(v before + v after)/2.
    """
    reel = motion.reel
    body = motion.body
    v = scratch.nodes[MEAN_VELOCITY]
    before = scratch.nodes[STARTED_WITH]
    damped = scratch.nodes[DAMPED]
    dragged = scratch.nodes[DRAGGED]
    p = motion.nodes[MOMENTUM]
    p_err = motion.nodes[MOMENTUM_ERR]

    h = 0.5 * abs(far - t)
    complete_kick(par, motion, scratch)
    Pi = momenta_with_kick(par, motion, scratch)
    first = velocities(par, locked, motion, scratch)
    copy_nodes(v, before)
    push = forces(par, loads, t, far, motion, first, v, scratch)

    target = scratch.nodes[TARGET]
    copy_nodes(p, target)
    for i in range(1, par.N + 1):
        add_to_node(target, i, scale(0.5 * h, add(node(damped, i), node(dragged, i))))
    add_to_node(target, par.N, scale(0.5 * h, push.force))
    middle_Pi = add_scaled(add_scaled(Pi, 0.5 * h, push.fluid_moment), 0.5 * h, push.moment)
    middle_p_s = reel[P_S] + 0.5 * h * (push.damping_reel + push.fluid_reel)
    middle = rates_of(par, locked, motion, middle_p_s, middle_Pi, scratch)
    push = forces(par, loads, t, far, motion, middle, v, scratch)

    for i in range(1, par.N + 1):
        dp = scale(h, add(node(damped, i), node(dragged, i)))
        if i == par.N:
            dp = add_scaled(dp, h, push.force)
        accumulate_node(p, p_err, i, dp, par.compensated)
    if par.rotates:
        add_spin(par, body, scale(h, add(push.fluid_moment, push.moment)))
    if not locked:
        accumulate(reel, P_S, P_S_ERR, h * (push.damping_reel + push.fluid_reel), par.compensated)
    after = velocities(par, locked, motion, scratch)

    frame = triple(reel, FRAME_VELOCITY)
    sigma = 0.5 * (first.sigma + after.sigma)
    omega = scale(0.5, add(first.omega, after.omega))
    damping = push.damping_reel * sigma
    fluid = push.fluid_reel * sigma + dot(push.fluid_moment, omega) + dot(push.fluid_force, frame)
    for i in range(1, par.N + 1):
        mean = scale(0.5, add(node(before, i), node(v, i)))
        damping += dot(node(damped, i), mean)
        fluid += dot(node(dragged, i), mean)
    v_N = scale(0.5, add(node(before, par.N), node(v, par.N)))
    external = dot(push.force, add(v_N, frame)) + dot(push.moment, omega)
    accumulate(reel, DAMPING, DAMPING_ERR, -h * damping, par.compensated)
    accumulate(reel, FLUID, FLUID_ERR, h * fluid, par.compensated)
    accumulate(reel, EXTERNAL, EXTERNAL_ERR, h * external, par.compensated)
    # what the guide has to give so that its motion stays as prescribed while these forces act
    if loads.moves:
        gained = sub(momentum_of(par, motion, after, v), momentum_of(par, motion, first, before))
        impulse = add_scaled(gained, -h, add(push.fluid_force, push.force))
        book_guide(par, reel, impulse, frame)


@kernel
def book_guide(par: Parameters, reel: Array, impulse: Vector, velocity: Vector) -> None:
    """An impulse that the guide gives while it moves with this velocity, and the work of it."""
    accumulate_triple(reel, GUIDE_IMPULSE, GUIDE_IMPULSE_ERR, impulse, par.compensated)
    accumulate(reel, GUIDE_WORK, GUIDE_WORK_ERR, dot(impulse, velocity), par.compensated)


@kernel
def spooled_by_s(par: Parameters, s: float) -> Vector:
    """Slope of the spooled string's first moment: vertical, as its potential has it."""
    return (0.0, 0.0, -par.mu * (par.b + spooled_lever(par, s)))


@kernel
def first_moment_by_s(par: Parameters, s: float, q: Array) -> Vector:
    """Slope by s of the first moment of all moving masses, G(s, q, R)."""
    total = spooled_by_s(par, s)
    for e in range(par.N):
        total = add_scaled(total, -0.5 * par.mu / par.N, add(node(q, e), node(q, e + 1)))
    return total


@kernel
def momentum_of(par: Parameters, motion: Motion, rates: Rates, v: Array) -> Vector:
    """Of string and body, relative to the guide."""
    l = element_length(par, motion.reel[S])
    q = motion.nodes[POSITION]
    swing = apply(attitude(motion.body), cross(rates.omega, par.rho))
    total = add_scaled(scale(par.M, add(node(v, par.N), swing)), rates.sigma, spooled_by_s(par, motion.reel[S]))
    for e in range(par.N):
        alpha, beta, _ = transport_weights(par.N, e)
        w = sub(node(q, e), node(q, e + 1))
        total = add_scaled(total, 0.5 * par.mu * l, add(node(v, e), node(v, e + 1)))
        total = add_scaled(total, par.mu * rates.sigma * (alpha + beta), w)
    return total


@separate
def boost(par: Parameters, locked: bool, velocity: Vector, motion: Motion, scratch: Scratch) -> None:
    """Make the momenta those relative to a guide that now moves with `velocity`; what it costs is booked.

    The first moment of the moving masses, G(s, q, R), turns a change of the frame's velocity into one of the momenta.
    """
    reel = motion.reel
    old = triple(reel, FRAME_VELOCITY)
    change = sub(velocity, old)
    if dot(change, change) == 0.0:
        return
    complete_kick(par, motion, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    rates = velocities(par, locked, motion, scratch)
    before = momentum_of(par, motion, rates, v)

    p = motion.nodes[MOMENTUM]
    p_err = motion.nodes[MOMENTUM_ERR]
    q = motion.nodes[POSITION]
    l = element_length(par, reel[S])
    moment_by_s = first_moment_by_s(par, reel[S], q)
    for i in range(1, par.N):
        accumulate_node(p, p_err, i, scale(-par.mu * l, change), par.compensated)
    accumulate_node(p, p_err, par.N, scale(-(0.5 * par.mu * l + par.M), change), par.compensated)
    if not locked:
        accumulate(reel, P_S, P_S_ERR, -dot(moment_by_s, change), par.compensated)
    if par.rotates:
        lever = cross(par.rho, apply_transposed(attitude(motion.body), change))
        add_spin(par, motion.body, scale(-par.M, lever))
    put_triple(reel, FRAME_VELOCITY, velocity)

    rates = velocities(par, locked, motion, scratch)
    gained = sub(momentum_of(par, motion, rates, v), before)
    gained = add_scaled(gained, par.mu * par.L + par.M, change)
    book_guide(par, reel, gained, scale(0.5, add(old, velocity)))


@entry
def set_guide_velocity(par: Parameters, locked: bool, velocity: Vector, motion: Motion, scratch: Scratch) -> None:
    """Let the guide move with `velocity` from now on."""
    boost(par, locked, velocity, motion, scratch)


@inlined
def momentum_now(par: Parameters, locked: bool, motion: Motion, scratch: Scratch) -> Vector:
    """Relative to the guide, from the present momenta."""
    rates = velocities(par, locked, motion, scratch)
    return momentum_of(par, motion, rates, scratch.nodes[MEAN_VELOCITY])


@kernel
def mean_velocity(loads: Loads, t: float, h: float) -> Vector:
    """Of the guide over a step: exact, from where it is at both ends."""
    start = on_path(loads.path, t)[0]
    end = on_path(loads.path, t + h)[0]
    return scale(1.0 / h, sub(end, start))


@inlined
def add_carried(par: Parameters, loads: Loads, t: float, motion: Motion, scratch: Scratch, x: Array) -> None:
    """Energies of a sample as seen by one who stands still: `x` are its scalars, MEAN_VELOCITY its nodes."""
    where, frame = on_path(loads.path, t)
    put_triple(x, GUIDE_PLACE, where)
    put_triple(x, GUIDE_VELOCITY, frame)
    omega = (x[ANGULAR_VELOCITY], x[ANGULAR_VELOCITY + 1], x[ANGULAR_VELOCITY + 2])
    relative = momentum_of(par, motion, Rates(x[REEL_SPEED], omega, 0.0), scratch.nodes[MEAN_VELOCITY])
    x[KINETIC] += dot(frame, relative) + 0.5 * (par.mu * par.L + par.M) * dot(frame, frame)
    x[GRAVITY] -= (par.mu_g * par.L + par.weight) * where[2]
