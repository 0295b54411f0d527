"""A guide that moves: the momenta are relative to it, and jump with its velocity (docs/theory.md, (74) to (76))."""

from __future__ import annotations

from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_node, accumulate_triple
from tautline.kernels.data import (
    ANGULAR_VELOCITY,
    FRAME_VELOCITY,
    GRAVITY,
    GUIDE_IMPULSE,
    GUIDE_IMPULSE_ERR,
    GUIDE_PLACE,
    GUIDE_VELOCITY,
    GUIDE_WORK,
    KINETIC,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    P_S,
    P_S_ERR,
    POSITION,
    REEL_SPEED,
    Array,
    Loads,
    Motion,
    Parameters,
    S,
    Scratch,
    node,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length, spooled_lever, transport_weights
from tautline.kernels.fixed import complete_kick
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.legendre import velocities
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import add_spin, attitude
from tautline.kernels.so3 import Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import vector_at


@kernel
def book_guide(par: Parameters, reel: Array, impulse: Vector, velocity: Vector) -> None:
    """An impulse that the guide gives while it moves with this velocity, and the work of it."""
    accumulate_triple(reel, GUIDE_IMPULSE, GUIDE_IMPULSE_ERR, impulse, par.compensated)
    book(par, reel, GUIDE_WORK, dot(impulse, velocity))


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
    """Momentum of string and body relative to the guide (equation 75)."""
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
    """Make the momenta those relative to a guide that now moves with `velocity` (equation 74); book what it costs.

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
    """Momentum relative to the guide, from the present momenta."""
    rates = velocities(par, locked, motion, scratch)
    return momentum_of(par, motion, rates, scratch.nodes[MEAN_VELOCITY])


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
    put_triple(x, GUIDE_PLACE, where)
    put_triple(x, GUIDE_VELOCITY, frame)
    omega = (x[ANGULAR_VELOCITY], x[ANGULAR_VELOCITY + 1], x[ANGULAR_VELOCITY + 2])
    relative = momentum_of(par, motion, Rates(x[REEL_SPEED], omega, 0.0), scratch.nodes[MEAN_VELOCITY])
    x[KINETIC] += dot(frame, relative) + 0.5 * (par.mu * par.L + par.M) * dot(frame, frame)
    x[GRAVITY] -= (par.mu_g * par.L + par.weight) * where[2]
