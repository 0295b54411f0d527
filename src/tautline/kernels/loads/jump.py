"""Loads at a step boundary: momenta jump, positions stand still (docs/theory.md, equation 71).

The kinetic energy changes by exactly the impulse times the velocity of the boundary. A sample takes that velocity with
the half of the loads before it alone, and counts what they have still to give.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, width
from tautline.kernels.balance import SIGNS, book
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import (
    Array,
    Command,
    Loads,
    Motion,
    Parameters,
    Scratch,
    clear_nodes,
    copy_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.drum import solve_own_row
from tautline.kernels.energy import (
    element_length,
    kinetic_body,
    kinetic_reel,
    kinetic_string,
    reel_mass,
    strain_at_guide,
)
from tautline.kernels.fixed import complete_kick, momenta_with_kick
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.legendre import rates_of, velocities
from tautline.kernels.loads.acting import Push, Trend
from tautline.kernels.loads.boundary import StepBoundary, amount, given_at, instant, look, look_apart
from tautline.kernels.loads.carried import carries_fluid, expect_fluid, start_fluid
from tautline.kernels.loads.guide_motion import book_guide, boost, impulse_of_guide, momentum_of, relative_to
from tautline.kernels.loads.pushing import ACCOUNTS, OWED, act, acts, given_by_loads
from tautline.kernels.loads.resistance import DAMPING, DRAG, elements_at_boundary, resistances
from tautline.kernels.loads.resisting import drag_on_body, pull_of_damping, resist
from tautline.kernels.loads.velocities import product_of_nodes
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import reel_before
from tautline.kernels.rotation import add_spin, attitude
from tautline.kernels.so3 import ZERO, Vector, add, dot, scale, sub
from tautline.kernels.tables import vector_at

# Part of the kinetic energy, over how stiff damping is, that it may take from the velocities of a start.
STIFF = 1e-3
DAMPED = data.ACCOUNT_PLACES[ACCOUNTS[DAMPING]]


@separate
def before_start(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> None:
    """Turn velocities of the start in VELOCITY and OMEGA into those of a step before it.

    Fluid that moves along has inertia: its force follows from the change of velocity from step to step. At the start
    that is the change which all forces cause in half a step ahead.
    """
    body, v = motion.body, motion.nodes[data.VELOCITY]
    start_fluid(par, loads, ahead, motion)
    boundary = look_apart(par, loads, locked, t, ahead, zero_like(t), ahead, motion, scratch)
    guide = scale(ahead, vector_at(loads.path, t)[2])
    for i in range(par.N + 1):
        then = add(node(scratch.nodes[data.MEAN_VELOCITY], i), guide)
        put_node(v, i, sub(scale(2.0, node(v, i)), then))
    put_triple(body, data.OMEGA, sub(scale(2.0, triple(body, data.OMEGA)), boundary.rates.omega))
    start_fluid(par, loads, ahead, motion)


@separate
def forces_at(
    par: Parameters, loads: Loads, locked: bool, t: float, short: float, motion: Motion, rates: Rates, scratch: Scratch
) -> Push:
    """Forces of all loads on the nodes at the velocities in VELOCITY and given rates, into PUSHED; on reel and body.

    `short` is a time in which velocities hardly change. Where fluid moves along, momenta must be those of the motion.
    """
    v = motion.nodes[data.VELOCITY]
    started = scratch.nodes[data.MEAN_VELOCITY]
    omega = rates.omega
    put_triple(motion.body, data.OMEGA, omega)
    put_triple(motion.body, data.OMEGA_BEFORE, omega)
    copy_nodes(v, motion.nodes[data.VELOCITY_BEFORE])
    if carries_fluid(loads):
        before_start(par, loads, locked, t, short, motion, scratch)
        omega = triple(motion.body, data.OMEGA)
    copy_nodes(motion.nodes[data.VELOCITY_BEFORE], started)
    copy_nodes(started, scratch.nodes[data.GUESS])
    at = instant(par, loads, t, 0.0, short, 0.0, motion, rates)
    out = scratch.nodes[data.PUSHED]
    push = act(par, loads, at, motion, started, scratch)
    elements_at_boundary(par, element_length(par, motion.reel[data.S]), 0.0, motion, scratch)
    speeds, fluid = (rates.sigma,), loads.own[DRAG].acts
    body = resistances(par, loads, at, True, Trend(speeds, speeds, 0.0), (omega, omega), motion, scratch)
    clear_nodes(scratch.nodes[data.BORDER])
    given = resist(par, 1.0, fluid, speeds, rates.omega, body, at, ZERO, v, scratch, out, scratch.nodes[data.BORDER])
    copy_nodes(started, v)
    return Push(push.reel + given.reel, push.far + given.far, add(push.moment, given.moment))


@separate
def begin_loads(par: Parameters, loads: Loads, locked: bool, ahead: float, motion: Motion, scratch: Scratch) -> None:
    """Momentum and velocities of a motion that loads have not acted on yet, or that something else has changed."""
    reel, body = motion.reel, motion.body
    rates = velocities(par, locked, motion, scratch)
    v = scratch.nodes[data.MEAN_VELOCITY]
    if loads.moves:
        put_triple(reel, data.STEP_MOMENTUM, momentum_of(par, motion, rates, v))
    if reel[data.H_LAST] == 0.0:
        copy_nodes(v, motion.nodes[data.VELOCITY])
        copy_nodes(v, motion.nodes[data.VELOCITY_BEFORE])
        put_triple(body, data.OMEGA, rates.omega)
        put_triple(body, data.OMEGA_BEFORE, rates.omega)
        if not locked:
            reel[data.SIGMA] = rates.sigma
            reel[data.SIGMA_BEFORE] = rates.sigma
        if carries_fluid(loads):
            start_fluid(par, loads, ahead, motion)


@inlined
def give(
    par: Parameters, loads: Loads, locked: bool, time: float, boundary: StepBoundary, motion: Motion, scratch: Scratch
) -> Vector:
    """Give the momenta what loads give in a time at the velocities of a boundary, and book it; the impulse of all."""
    reel = motion.reel
    given = given_at(
        par, loads, time, boundary, motion, scratch, motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR]
    )
    if par.rotates:
        add_spin(par, motion.body, scale(time, given.moment))
    if not locked:
        accumulate(reel, data.P_S, data.P_S_ERR, time * given.reel, par.compensated)
    if loads.own[DAMPING].acts:
        reel[data.VISCOUS_PULL] = pull_of_damping(par, boundary.rates.sigma, scratch)
    if loads.own[DRAG].acts:
        reel[data.DRAG_ON_BODY] = drag_on_body(par, boundary.body, scratch)
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            book(par, reel, ACCOUNTS[k], time * amount(par, loads, k, boundary, given, scratch))
    return scale(time, given.force)


@separate
def give_apart(
    par: Parameters, loads: Loads, locked: bool, time: float, boundary: StepBoundary, motion: Motion, scratch: Scratch
) -> Vector:
    """`give`, compiled once for all that is not a step."""
    return give(par, loads, locked, time, boundary, motion, scratch)


@kernel
def kinetic_of(par: Parameters, motion: Motion, rates: Rates, v: Array) -> float:
    """Kinetic energy relative to the guide."""
    s = motion.reel[data.S]
    moving = kinetic_string(par, s, rates.sigma, motion.nodes[data.POSITION], v) + kinetic_reel(par, s, rates.sigma)
    return moving + kinetic_body(par, node(v, par.N), attitude(motion.body), rates.omega)


@kernel
def along(par: Parameters, motion: Motion, rates: Rates, v: Array) -> float:
    """Momenta times velocities: the work of what changes the former, by how much this changes."""
    spin = dot(triple(motion.body, data.SPIN), rates.omega)
    return float(product_of_nodes(par.N, motion.nodes[data.MOMENTUM], v) + spin + motion.reel[data.P_S] * rates.sigma)


@separate
def given_by_drum(
    par: Parameters, loads: Loads, command: Command, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> float:
    """Impulse on s of motor, guide and friction in a time from the start of a motion on.

    They act at the speed that they lead to with all other forces. That is linear in what is added to the momentum of
    the reel, so two looks tell how it follows.
    """
    reel = motion.reel
    if command.locked or reel[data.HELD] != data.NOT_HELD:
        return zero_like(t)
    p_s, unit = reel[data.P_S], reel_mass(par, reel[data.S])[0]
    strain = strain_at_guide(par, motion.nodes[data.POSITION], element_length(par, reel[data.S]))
    h = ahead / (1.0 - par.theta)
    before = reel_before(par, command, reel, strain, zero_like(t), h, t, t + h)
    reel[data.P_S] = before.p_s
    sigma = look_apart(par, loads, False, t, ahead, zero_like(t), ahead, motion, scratch).rates.sigma
    reel[data.P_S] = before.p_s + unit
    faster = look_apart(par, loads, False, t, ahead, zero_like(t), ahead, motion, scratch).rates.sigma
    reel[data.P_S] = p_s
    mass = unit / (faster - sigma)
    change = solve_own_row(par, before.drum, before.at, sigma, ahead, mass, zero_like(t))[0]
    return before.p_s - p_s + mass * change  # type: ignore[no-any-return]


@separate
def start_loads(
    par: Parameters, loads: Loads, command: Command, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> Vector:
    """Let loads act at the start of a motion, for half of a step; the impulse of all of them.

    At the velocities after that half, with all forces, since those of the start may be far from what stiff damping
    allows. Their work is that on the way from one velocity to the other, at the mean of both: what was booked at the
    latter beyond it, resistances have taken. At rest in a current both are zero, and so is the work.
    """
    reel, locked, v = motion.reel, command.locked, scratch.nodes[data.MEAN_VELOCITY]
    started = Rates(0.0 if locked else reel[data.SIGMA_BEFORE], triple(motion.body, data.OMEGA_BEFORE), 0.0)
    booked, damped = given_by_loads(reel), reel[DAMPED]
    p_s = reel[data.P_S]
    reel[data.P_S] = p_s + given_by_drum(par, loads, command, t, ahead, motion, scratch)
    boundary = look_apart(par, loads, locked, t, ahead, zero_like(t), ahead, motion, scratch)
    reel[data.P_S] = p_s
    before = along(par, motion, started, motion.nodes[data.VELOCITY_BEFORE]) + along(par, motion, boundary.rates, v)
    impulse = give_apart(par, loads, locked, ahead, boundary, motion, scratch)
    booked = given_by_loads(reel) - booked - dot(impulse, boundary.at.frame)
    after = along(par, motion, started, motion.nodes[data.VELOCITY_BEFORE]) + along(par, motion, boundary.rates, v)
    taken = booked - 0.5 * (after - before)
    if loads.own[DAMPING].acts:
        by_damping = max(taken, damped - reel[DAMPED])  # it never gives anything back
        book(par, reel, ACCOUNTS[DAMPING], by_damping)
        taken -= by_damping
    if loads.own[DRAG].acts:
        book(par, reel, ACCOUNTS[DRAG], SIGNS[ACCOUNTS[DRAG]] * taken)
    return impulse


@separate
def starts_stiff(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> bool:
    """Whether the velocities of a start are far from what damping allows; where drag acts they always count as such."""
    if loads.own[DRAG].acts or not loads.own[DAMPING].acts:
        return loads.own[DRAG].acts  # type: ignore[no-any-return]
    l = element_length(par, motion.reel[data.S])
    fastest = 12.0 * ahead * loads.own[DAMPING].viscosity / (par.mu * l * l)  # decay of the shortest waves
    boundary = look_apart(par, loads, locked, t, zero_like(t), ahead, zero_like(t), motion, scratch)
    moving = kinetic_of(par, motion, boundary.rates, scratch.nodes[data.MEAN_VELOCITY])
    given = given_at(par, loads, 0.0, boundary, motion, scratch, scratch.nodes[data.TARGET], scratch.nodes[data.BORDER])
    return ahead * given.lost * (1.0 + fastest) > STIFF * moving  # type: ignore[no-any-return]


@inlined
def jump(
    par: Parameters, loads: Loads, command: Command, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> Vector:
    """Let loads act at the end of a step and at the start of one of length 2 ahead; the impulse of all of them."""
    back, locked = motion.reel[data.LOADS_PENDING], command.locked
    starts = False
    if back == 0.0:
        fresh = motion.reel[data.H_LAST] == 0.0
        begin_loads(par, loads, locked, ahead, motion, scratch)
        if fresh and loads.acts:
            starts = starts_stiff(par, loads, locked, t, ahead, motion, scratch)
    impulse = ZERO
    if loads.acts:
        if starts:
            impulse = start_loads(par, loads, command, t, ahead, motion, scratch)
        else:
            boundary = look(par, loads, locked, t, back, ahead, 0.0, motion, scratch)
            impulse = give(par, loads, locked, back + ahead, boundary, motion, scratch)
            if back > 0.0 and carries_fluid(loads):
                expect_fluid(par, loads, boundary, motion, scratch)
    return impulse


@kernel
def keep_velocities(N: int, motion: Motion, scratch: Scratch) -> None:
    """Remember the mean velocities of a step."""
    v, before, mean = motion.nodes[data.VELOCITY], motion.nodes[data.VELOCITY_BEFORE], scratch.nodes[data.MEAN_VELOCITY]
    for i in range(0, N + 1, width(v)):
        put_nodes(before, i, nodes_from(v, i))
        put_nodes(v, i, nodes_from(mean, i))


@separate
def settle(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> None:
    """Let loads act for what is pending, before something else than a step acts on the momenta."""
    reel = motion.reel
    back = reel[data.LOADS_PENDING]
    if back == 0.0:
        return
    complete_kick(par, motion, scratch)
    impulse = ZERO
    if loads.acts:
        boundary = look_apart(par, loads, locked, t, back, zero_like(t), zero_like(t), motion, scratch)
        impulse = give_apart(par, loads, locked, back, boundary, motion, scratch)
    if loads.moves:
        old, now = triple(reel, data.FRAME_VELOCITY), vector_at(loads.path, t)[1]
        change = boost(par, locked, now, attitude(motion.body), motion)
        rates = velocities(par, locked, motion, scratch)
        gained = sub(
            momentum_of(par, motion, rates, scratch.nodes[data.MEAN_VELOCITY]), triple(reel, data.STEP_MOMENTUM)
        )
        book_guide(par, reel, impulse_of_guide(par, gained, change, impulse, back), scale(0.5, add(old, now)))
    reel[data.LOADS_PENDING] = 0.0


@entry
def settle_loads(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> None:
    """Let loads act for what is pending."""
    settle(par, loads, locked, t, motion, scratch)


@entry
def set_guide_velocity(par: Parameters, locked: bool, velocity: Vector, motion: Motion, scratch: Scratch) -> None:
    """Let the guide move with `velocity` from now on; nothing of loads must be pending."""
    reel = motion.reel
    v = scratch.nodes[data.MEAN_VELOCITY]
    old = triple(reel, data.FRAME_VELOCITY)
    before = momentum_of(par, motion, velocities(par, locked, motion, scratch), v)
    change = boost(par, locked, velocity, attitude(motion.body), motion)
    gained = sub(momentum_of(par, motion, velocities(par, locked, motion, scratch), v), before)
    impulse = impulse_of_guide(par, gained, change, ZERO, 0.0)
    book_guide(par, reel, impulse, scale(0.5, add(old, velocity)))


class Owed(NamedTuple):
    """Impulses that loads and guide have still to give at a sample."""

    rates: Rates  # of the sample; its velocities are in MEAN_VELOCITY
    p_s: float  # momentum of the reel with all of it
    impulse: Vector  # of the guide
    guide_work: float


@inlined
def owed_at_sample(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> Owed:
    """Velocities at a sample, and what is owed there; work and loss of each load into its rows."""
    reel = motion.reel
    back = reel[data.LOADS_PENDING]
    v = scratch.nodes[data.MEAN_VELOCITY]
    frame = vector_at(loads.path, t)[1]
    force = ZERO
    if loads.acts:
        boundary = look_apart(par, loads, locked, t, back, zero_like(t), zero_like(t), motion, scratch)
        given = given_at(
            par, loads, back, boundary, motion, scratch, scratch.nodes[data.TARGET], scratch.nodes[data.BORDER]
        )
        rates, p_s, force = boundary.rates, boundary.p_s + back * given.reel, given.force
        for k in range(len(ACCOUNTS)):
            if acts(k, loads.own):
                rest = scratch.nodes[data.LOAD_ROWS + 2 * k + 1]
                rest[OWED] = back * amount(par, loads, k, boundary, given, scratch)
    else:
        Pi = momenta_with_kick(par, motion, scratch)
        p, err = scratch.nodes[data.TARGET], scratch.nodes[data.BORDER]
        p_s, Pi = relative_to(par, loads, frame, motion, attitude(motion.body), reel[data.P_S], Pi, p, err)
        rates = rates_of(par, locked, motion, p_s, Pi, scratch)
    impulse = ZERO
    if loads.moves and back > 0.0:
        change = sub(frame, triple(reel, data.FRAME_VELOCITY))
        gained = sub(momentum_of(par, motion, rates, v), triple(reel, data.STEP_MOMENTUM))
        impulse = impulse_of_guide(par, gained, change, scale(back, force), back)
    work = dot(impulse, scale(0.5, add(frame, triple(reel, data.FRAME_VELOCITY))))
    return Owed(rates, p_s, impulse, work)


@kernel
def add_owed(loads: Loads, owed: Owed, reel: Array, scratch: Scratch, x: Array) -> None:
    """Add to the scalars of a sample what is owed there."""
    if loads.acts:
        for k in range(len(ACCOUNTS)):
            if acts(k, loads.own):
                x[ACCOUNTS[k]] += scratch.nodes[data.LOAD_ROWS + 2 * k + 1][OWED]
    x[data.GUIDE_WORK] += owed.guide_work
    put_triple(x, data.GIVEN_BY_GUIDE, add(triple(reel, data.GUIDE_IMPULSE), owed.impulse))
