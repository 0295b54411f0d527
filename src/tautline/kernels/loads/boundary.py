"""Velocities where two steps join, with the loads that act there (docs/theory.md, equation 71).

Loads act for half of the step before and half of the step behind, at the velocity of the boundary: the mean of those
before and after the jump of the momenta. Resistances are linear in it, so it takes one solution of linear equations.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.balance import SIGNS
from tautline.kernels.compensated import accumulate_node
from tautline.kernels.data import Array, Loads, Motion, Parameters, Scratch, add_to_node, node, triple
from tautline.kernels.drum import friction_at_end, viscous_drag
from tautline.kernels.energy import (
    body_moment,
    element_length,
    kinetic_gradient_s,
    reel_force,
    reel_mass,
    transport_force,
    transport_weights,
)
from tautline.kernels.fixed import extrapolation, hold_first_node
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.loads.acting import NO_PUSH, Instant, Push, Speeds, Trend, frame_change
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.loads.guide_motion import relative_to
from tautline.kernels.loads.pushing import ACCOUNTS, ON_BODY, ON_FAR, ON_REEL, act, pushes, total_force
from tautline.kernels.loads.resistance import (
    DAMPING,
    DRAG,
    elements_at_boundary,
    expect_velocities,
    resistances,
)
from tautline.kernels.loads.resisting import Given, drag_of_flow, resist
from tautline.kernels.loads.solving import BoundaryEquations, solve_velocities
from tautline.kernels.loads.velocities import ReelTarget, product_of_nodes
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import vector_at


class StepBoundary(NamedTuple):
    """A step boundary as loads have it."""

    at: Instant
    body: BodyResistance
    push: Push
    rates: Rates  # found, as the velocities in MEAN_VELOCITY
    p_s: float  # momentum of the reel, without what loads give
    speeds: Speeds  # found


@kernel
def reel_target(par: Parameters, reel: Array, locked: bool, p_s: float, start: float) -> ReelTarget:
    """The reel in the equations of velocities, from its momentum; a motion that is prescribed goes on for `start`.

    Where friction is stiff, it acts for the half of the step before at the speed that is solved for, in the place of
    what it gave at the mean speed of that step.
    """
    if not locked and reel[data.HELD] == data.GLIDING:
        h = reel[data.H_LAST]
        momentum = p_s + friction_at_end(par, reel[data.S], h) * reel[data.SIGMA]
        return ReelTarget(True, False, 0.0, momentum, 0.5 * h * viscous_drag(par, reel[data.S]))
    held = reel[data.HELD] != data.NOT_HELD
    speed = reel[data.HELD_SPEED] + start * reel[data.HELD_ACCELERATION] if held and not locked else 0.0
    return ReelTarget(not locked, held, speed, p_s, 0.0)


@kernel
def instant(
    par: Parameters, loads: Loads, t: float, back: float, ahead: float, start: float, motion: Motion, rates: Rates
) -> Instant:
    """Time and place at which loads act, at given rates; the guide goes on for the time `start`.

    At a start that is the time for which they act, behind the step boundary.
    """
    place, frame, acceleration = vector_at(loads.path, t)
    frame = add_scaled(frame, start, acceleration)
    if start > 0.0:
        back, ahead = ahead, back
    return Instant(t, back, ahead, add(par.r_p, place), frame, attitude(motion.body), rates, (rates.sigma,))


@kernel
def latest_rates(motion: Motion, locked: bool) -> tuple[Rates, Rates]:
    """Mean rates over the latest step and over the one before it."""
    reel, body = motion.reel, motion.body
    turning = 0.0 if locked else 1.0
    last = Rates(turning * reel[data.SIGMA], triple(body, data.OMEGA), 0.0)
    return last, Rates(turning * reel[data.SIGMA_BEFORE], triple(body, data.OMEGA_BEFORE), 0.0)


@separate
def inertia_ahead(par: Parameters, time: float, last: Rates, motion: Motion, scratch: Scratch) -> tuple[float, Vector]:
    """Add to the momenta in TARGET what inertia gives in a time, at velocities in VELOCITY; to those of reel and body.

    Momenta belong to a configuration: with those that are found, the present one gives the velocities of then. What
    all forces besides the loads give to the reel is added.
    """
    q, v, p = motion.nodes[data.POSITION], motion.nodes[data.VELOCITY], scratch.nodes[data.TARGET]
    s, sigma = motion.reel[data.S], last.sigma
    l = element_length(par, s)
    shrunk = sigma / (6.0 * par.N)
    reel = reel_force(par, s, q) + kinetic_gradient_s(par, s, sigma, q, v) - reel_mass(par, s)[1] * sigma * sigma
    for e in range(par.N):
        alpha, beta, gamma = transport_weights(par.N, e)
        v0, v1 = node(v, e), node(v, e + 1)
        w, longer = sub(node(q, e), node(q, e + 1)), sub(v0, v1)
        D = add_scaled(scale(alpha, v0), beta, v1)
        x = transport_force(gamma, l, sigma, w, D)
        both = scale(shrunk, add(v0, v1))
        first = add_scaled(add_scaled(add(x, both), shrunk, v0), -sigma * alpha, longer)
        second = add_scaled(add_scaled(sub(both, x), shrunk, v1), -sigma * beta, longer)
        add_to_node(p, e, scale(time * par.mu, first))
        add_to_node(p, e + 1, scale(time * par.mu, second))
        stretched = sigma * gamma * (2.0 * dot(w, longer) + dot(w, w) * sigma / (par.N * l)) / l
        reel -= par.mu * (dot(longer, D) + stretched)
    hold_first_node(p)
    if not par.rotates:
        return time * reel, ZERO
    inward = cross(last.omega, cross(last.omega, par.rho))
    add_to_node(p, par.N, scale(-time * par.M, apply(attitude(motion.body), inward)))
    return time * reel, scale(time, cross(apply(par.J, last.omega), last.omega))


@inlined
def look(
    par: Parameters,
    loads: Loads,
    locked: bool,
    t: float,
    back: float,
    ahead: float,
    start: float,
    motion: Motion,
    scratch: Scratch,
) -> StepBoundary:
    """Velocities at a step boundary and all that gives them; the motion stays as it is.

    All forces besides the loads have acted for the time `start` before it.
    """
    reel, body = motion.reel, motion.body
    reach = extrapolation(0.0, reel[data.H_LAST], reel[data.H_BEFORE])
    last, before = latest_rates(motion, locked)
    expected = Rates(
        last.sigma + reach * (last.sigma - before.sigma),
        add_scaled(last.omega, reach, sub(last.omega, before.omega)),
        0.0,
    )
    at = instant(par, loads, t, back, ahead, start, motion, expected)
    push = NO_PUSH
    if pushes(loads):
        guess = scratch.nodes[data.GUESS]
        expect_velocities(par, reach, motion, guess)
        push = act(par, loads, at, motion, guess, scratch)

    kick = reel[data.PENDING] + start
    elements_at_boundary(par, element_length(par, reel[data.S]), kick, motion, scratch)
    p = scratch.nodes[data.TARGET]
    Pi = sub(triple(body, data.SPIN), triple(body, data.SPIN_ERR))
    Pi = add_scaled(Pi, kick, body_moment(par, at.R))
    p_s, Pi = relative_to(par, loads, at.frame, motion, at.R, reel[data.P_S], Pi, p, scratch.nodes[data.BORDER])
    trend, spins = Trend((last.sigma,), (before.sigma,), reach), (last.omega, before.omega)
    resistance = resistances(par, loads, at, not locked, trend, spins, motion, scratch)
    with_loads = p_s + back * push.reel
    if start > 0.0:
        by_inertia, turned = inertia_ahead(par, start, last, motion, scratch)
        with_loads, Pi = with_loads + by_inertia, add(Pi, turned)
    if loads.own[DRAG].acts:
        with_loads += drag_of_flow(
            par, back, frame_change(at, reel), motion.nodes[data.FLUID_VELOCITY], scratch, p
        ).reel
    if pushes(loads):
        for i in range(1, par.N + 1):
            add_to_node(p, i, scale(back, node(scratch.nodes[data.PUSHED], i)))
    dragged = scale(back * resistance.drag, resistance.flow)
    kept = scale(back * resistance.inertia, resistance.last)
    add_to_node(p, par.N, add(dragged, kept))
    Pi = add(Pi, cross(resistance.center, apply_transposed(at.R, dragged)))
    Pi = add(Pi, cross(resistance.place, apply_transposed(at.R, kept)))
    Pi = add_scaled(Pi, back, push.moment)
    target = reel_target(par, reel, locked, with_loads, start)
    equations = BoundaryEquations(reel[data.S], back, resistance, at.R, target, Pi)
    rates = solve_velocities(par, equations, scratch)
    return StepBoundary(at, resistance, push, rates, p_s, (rates.sigma,))


@separate
def look_apart(
    par: Parameters,
    loads: Loads,
    locked: bool,
    t: float,
    back: float,
    ahead: float,
    start: float,
    motion: Motion,
    scratch: Scratch,
) -> StepBoundary:
    """`look`, compiled once for all that is not a step."""
    return look(par, loads, locked, t, back, ahead, start, motion, scratch)


@inlined
def given_at(
    par: Parameters,
    loads: Loads,
    tau: float,
    boundary: StepBoundary,
    motion: Motion,
    scratch: Scratch,
    p: Array,
    err: Array,
) -> Given:
    """Impulses of loads in the time tau at the velocities of the step boundary, added to momenta p of the nodes."""
    frame = frame_change(boundary.at, motion.reel)
    last = motion.nodes[data.FLUID_VELOCITY]
    drag, omega = loads.own[DRAG].acts, boundary.rates.omega
    x = resist(par, tau, drag, boundary.speeds, omega, boundary.body, boundary.at, frame, last, scratch, p, err)
    force = x.force
    if pushes(loads):
        pushed = scratch.nodes[data.PUSHED]
        force = add(force, total_force(pushed, par.N))
        for i in range(1, par.N + 1):
            accumulate_node(p, err, i, scale(tau, node(pushed, i)), par.compensated)
    push = boundary.push
    moment = add(x.moment, push.moment)
    return Given(force, x.reel + push.reel, x.far + push.far, moment, x.lost, x.from_fluid, x.first)


@inlined
def amount(par: Parameters, loads: Loads, k: int, boundary: StepBoundary, given: Given, scratch: Scratch) -> float:
    """Power of load k, as its account takes it: a loss counts what is taken."""
    if k == DAMPING:
        return given.lost
    power = given.from_fluid if k == DRAG else 0.0
    if pushes(loads):
        force = scratch.nodes[data.LOAD_ROWS + 2 * k]
        rest = scratch.nodes[data.LOAD_ROWS + 2 * k + 1]
        power += rest[ON_REEL] * boundary.speeds[0] + dot(triple(rest, ON_BODY), boundary.rates.omega)
        if len(boundary.speeds) > 1:
            power += rest[ON_FAR] * boundary.speeds[len(boundary.speeds) - 1]
        power += dot(total_force(force, par.N), boundary.at.frame)
        power += product_of_nodes(par.N, force, scratch.nodes[data.MEAN_VELOCITY])
    # the signs of work and loss in the balance are opposite
    return -SIGNS[ACCOUNTS[k]] * power
