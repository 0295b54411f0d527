"""A guide that moves: the momenta are relative to it, and jump with its velocity (docs/theory.md, (74) to (76))."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.along import nodes_from, places_from, spread, total, width
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_nodes, accumulate_triple
from tautline.kernels.data import Array, Loads, Motion, Parameters, Scratch, node, put_triple, triple
from tautline.kernels.energy import element_length, spooled_lever, weights_of_nodes
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import add_spin, attitude, mean_swing
from tautline.kernels.so3 import Matrix, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import vector_at


@kernel
def book_guide(par: Parameters, reel: Array, impulse: Vector, velocity: Vector) -> None:
    """An impulse that the guide gives while it moves with this velocity, and the work of it."""
    accumulate_triple(reel, data.GUIDE_IMPULSE, data.GUIDE_IMPULSE_ERR, impulse, par.compensated)
    book(par, reel, data.GUIDE_WORK, dot(impulse, velocity))


@kernel
def spooled_by_s(par: Parameters, s: float) -> Vector:
    """Slope of the spooled string's first moment: vertical, as its potential has it."""
    return (0.0, 0.0, -par.mu * (par.b + spooled_lever(par, s)))


@kernel
def sum_of_middles(par: Parameters, x: Array) -> Vector:
    """Sum over the elements of the mean of x at their ends."""
    nothing = spread(x, 0.0)
    sums = (nothing, nothing, nothing)
    for i in range(0, par.N + 1, width(x)):
        place = places_from(x, i)
        inner = select(place < par.N - 0.5, spread(x, 1.0), nothing)
        at_ends = (place < 0.5) | ((place > par.N - 0.5) & (place < par.N + 0.5))
        sums = add(sums, scale(select(at_ends, spread(x, 0.5), inner), nodes_from(x, i)))
    return (total(x, sums[0]), total(x, sums[1]), total(x, sums[2]))


@kernel
def first_moment_by_s(par: Parameters, s: float, q: Array) -> Vector:
    """Slope by s of the first moment of all moving masses, G(s, q, R)."""
    return add_scaled(spooled_by_s(par, s), -par.mu / par.N, sum_of_middles(par, q))


@kernel
def momentum_of(par: Parameters, motion: Motion, rates: Rates, v: Array) -> Vector:
    """Momentum of string and body relative to the guide (equation 75), at velocities of the present configuration."""
    l = element_length(par, motion.reel[data.S])
    swing = apply(attitude(motion.body), cross(rates.omega, par.rho))
    total = add_scaled(scale(par.M, add(node(v, par.N), swing)), par.mu * l, sum_of_middles(par, v))
    return add_scaled(total, rates.sigma, first_moment_by_s(par, motion.reel[data.S], motion.nodes[data.POSITION]))


@kernel
def momentum_of_step(par: Parameters, h: float, s: float, R: Matrix, motion: Motion, rates: Rates, v: Array) -> Vector:
    """Change of the first moment over a step h from s and R to the present configuration, over h."""
    l, l_1 = element_length(par, s), element_length(par, motion.reel[data.S])
    swing = apply(R, mean_swing(h, rates.omega, par.rho))
    moving = sum_of_middles(par, v)
    total = add_scaled(scale(par.M, add(node(v, par.N), swing)), 0.5 * par.mu * (l + l_1), moving)
    if rates.sigma == 0.0:
        return total
    middles = add_scaled(sum_of_middles(par, motion.nodes[data.POSITION]), -0.5 * h, moving)
    total = add_scaled(total, -par.mu * rates.sigma / par.N, middles)
    spooled = add(spooled_by_s(par, s), spooled_by_s(par, motion.reel[data.S]))
    return add_scaled(total, 0.5 * rates.sigma, spooled)


@kernel
def change_frame(
    par: Parameters,
    locked: bool,
    s: float,
    q: Array,
    R: Matrix,
    change: Vector,
    p: Array,
    err: Array,
    compensated: bool,
) -> tuple[float, Vector]:
    """Make momenta p those relative to a guide that is faster by `change` (equation 74); changes of p_s and Pi.

    The first moment of the moving masses, G(s, q, R), turns a change of the frame's velocity into one of the momenta.
    """
    l = element_length(par, s)
    for i in range(0, par.N + 1, width(p)):
        mass = weights_of_nodes(p, par.N, i, -par.mu * l, -(0.5 * par.mu * l + par.M))
        accumulate_nodes(p, err, i, (mass * change[0], mass * change[1], mass * change[2]), compensated)
    hold_first_node(p)
    hold_first_node(err)
    lever = cross(par.rho, apply_transposed(R, change))
    by_s = 0.0 if locked else -dot(first_moment_by_s(par, s, q), change)
    return by_s, scale(-par.M, lever)


@kernel
def relative_to(
    par: Parameters,
    loads: Loads,
    frame: Vector,
    motion: Motion,
    R: Matrix,
    p_s: float,
    Pi: Vector,
    p: Array,
    err: Array,
) -> tuple[float, Vector]:
    """Make a copy p of the momenta those relative to a guide with velocity `frame`; p_s and Pi in that frame."""
    if loads.moves:
        change = sub(frame, triple(motion.reel, data.FRAME_VELOCITY))
        by_s, turn = change_frame(
            par, False, motion.reel[data.S], motion.nodes[data.POSITION], R, change, p, err, False
        )
        return p_s + by_s, add(Pi, turn)
    return p_s, Pi


@inlined
def boost(par: Parameters, locked: bool, velocity: Vector, R: Matrix, motion: Motion) -> Vector:
    """Make the momenta of a motion those relative to a guide that moves with `velocity`; the change of velocity."""
    reel = motion.reel
    change = sub(velocity, triple(reel, data.FRAME_VELOCITY))
    p, err = motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR]
    by_s, turn = change_frame(
        par, locked, reel[data.S], motion.nodes[data.POSITION], R, change, p, err, par.compensated
    )
    if not locked:
        accumulate(reel, data.P_S, data.P_S_ERR, by_s, par.compensated)
    if par.rotates:
        add_spin(par, motion.body, turn)
    put_triple(reel, data.FRAME_VELOCITY, velocity)
    return change


@kernel
def impulse_of_guide(par: Parameters, gained: Vector, change: Vector, given: Vector, time: float) -> Vector:
    """Impulse that the guide has to give where momentum relative to it is gained and its velocity changes.

    Loads give the impulse `given`, and weight acts for `time`.
    """
    impulse = sub(add_scaled(gained, par.mu * par.L + par.M, change), given)
    return (impulse[0], impulse[1], impulse[2] - (par.mu_g * par.L + par.weight) * time)


@kernel
def mean_velocity(loads: Loads, t: float, h: float) -> Vector:
    """Velocity of the guide over a step: exact, from where it is at both ends."""
    start = vector_at(loads.path, t)[0]
    end = vector_at(loads.path, t + h)[0]
    return scale(1.0 / h, sub(end, start))


@inlined
def add_carried(par: Parameters, loads: Loads, t: float, motion: Motion, scratch: Scratch, x: Array) -> None:
    """Energies of a sample as seen by one who stands still: `x` are its scalars, MEAN_VELOCITY its nodes."""
    where, frame, _ = vector_at(loads.path, t)
    put_triple(x, data.GUIDE_PLACE, where)
    put_triple(x, data.GUIDE_VELOCITY, frame)
    omega = (x[data.ANGULAR_VELOCITY], x[data.ANGULAR_VELOCITY + 1], x[data.ANGULAR_VELOCITY + 2])
    relative = momentum_of(par, motion, Rates(x[data.REEL_SPEED], omega, 0.0), scratch.nodes[data.MEAN_VELOCITY])
    x[data.KINETIC] += dot(frame, relative) + 0.5 * (par.mu * par.L + par.M) * dot(frame, frame)
    x[data.GRAVITY] -= (par.mu_g * par.L + par.weight) * where[2]
