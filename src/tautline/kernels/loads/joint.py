"""Loads at the joint of two steps: momenta jump, positions stand still (docs/theory.md, equation 71).

Loads act for half of the step before and half of the step behind, at the velocity of the joint: the mean of those
before and after the jump. Resistances are linear in it, so it takes one solution of linear equations, and the kinetic
energy changes by exactly the impulse times that velocity. A sample takes the velocity with the half before it alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline import registry
from tautline.kernels.along import load, nodes_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.balance import SIGNS, book
from tautline.kernels.compensated import accumulate, accumulate_node, accumulate_nodes
from tautline.kernels.data import (
    ACROSS,
    ALONG,
    BORDER,
    BY_REEL,
    DIRECTION,
    FLOW,
    FRAME_VELOCITY,
    GIVEN_BY_GUIDE,
    GUESS,
    GUIDE_IMPULSE,
    GUIDE_WORK,
    H_BEFORE,
    H_LAST,
    HELD,
    HELD_SPEED,
    LOAD_ROWS,
    LOADS_PENDING,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    NOT_HELD,
    OMEGA,
    OMEGA_BEFORE,
    P_S,
    P_S_ERR,
    PASSING,
    PENDING,
    PUSHED,
    SIGMA,
    SIGMA_BEFORE,
    SPIN,
    SPIN_ERR,
    STEP_MOMENTUM,
    TARGET,
    VELOCITY,
    VELOCITY_BEFORE,
    VISCOUS,
    Array,
    Loads,
    Motion,
    Parameters,
    S,
    Scratch,
    account,
    add_to_node,
    clear_nodes,
    copy_nodes,
    node,
    put_triple,
    triple,
)
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.energy import body_moment, element_length
from tautline.kernels.fixed import complete_kick, extrapolation, hold_first_node, momenta_with_kick
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.legendre import rates_of, velocities
from tautline.kernels.loads.acting import Instant, Push
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.loads.guide_motion import book_guide, boost, impulse_of_guide, momentum_of, relative_to
from tautline.kernels.loads.resistance import DAMPING, DRAG, elements_at_joint, expect_velocities, resistances
from tautline.kernels.loads.velocities import ReelTarget, solve_velocities
from tautline.kernels.newton import ZERO, Rates
from tautline.kernels.rotation import add_spin, attitude
from tautline.kernels.so3 import Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import vector_at

LOADS = registry.LOADS
# Accounts of the loads.
ACCOUNTS = tuple(account(load.account) for load in LOADS.values())
OWED = 4  # place of what is owed at a sample, in the second row of a load


@kernel
def _acts_at_all(own: Any) -> bool:
    return own.acts  # type: ignore[no-any-return]


@kernel
def _resists_only(
    par: Parameters, own: Any, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array
) -> Push:
    return Push(0.0, (0.0, 0.0, 0.0))


@kernel
def _no_rate(own: Any) -> float:
    return 0.0


_acts = kernel(dispatch([_acts_at_all] * len(LOADS), "code", own="own"))
_act = separate(dispatch(functions(LOADS, "act", _resists_only), "code", own="own"))
_rate = kernel(dispatch(functions(LOADS, "rate", _no_rate), "code", own="own"))


@kernel
def pushes(loads: Loads) -> bool:
    """Whether a load acts that does not resist, or not only."""
    found = False
    for k in range(len(ACCOUNTS)):
        if k not in (DAMPING, DRAG) and _acts(k, loads.own):
            found = True
    return found


@kernel
def fastest_decay(loads: Loads) -> float:
    """Bound on the rate at which loads that do not resist slow any small motion down (1/s)."""
    largest = 0.0
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            largest = max(largest, _rate(k, loads.own))
    return largest


@separate
def act(par: Parameters, loads: Loads, at: Instant, motion: Motion, v: Array, scratch: Scratch) -> Push:
    """Let loads act that do not resist: their forces on the nodes into PUSHED, and each one's into its own rows.

    Of each load the row behind that of its forces holds its force on s and its moment on the body.
    """
    pushed = scratch.nodes[PUSHED]
    clear_nodes(pushed)
    reel = 0.0
    moment = ZERO
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            out = scratch.nodes[LOAD_ROWS + 2 * k]
            rest = scratch.nodes[LOAD_ROWS + 2 * k + 1]
            clear_nodes(out)
            push = _act(k, par, loads.own, at, motion, v, scratch, out)
            rest[0] = push.reel
            put_triple(rest, 1, push.moment if par.rotates else ZERO)
            reel += rest[0]
            moment = add(moment, triple(rest, 1))
            for i in range(par.N + 1):
                add_to_node(pushed, i, node(out, i))
    return Push(reel, moment)


class Joint(NamedTuple):
    """A joint of two steps as loads have it."""

    at: Instant
    body: BodyResistance
    push: Push
    rates: Rates  # found, as the velocities in MEAN_VELOCITY
    p_s: float  # momentum of the reel, without what loads give


class Given(NamedTuple):
    """What loads give at a joint, over the time for which they act."""

    force: Vector  # all of them together, with what the guide takes at node 0
    reel: float  # on s
    moment: Vector
    lost: float  # power that goes into the string
    from_fluid: float


@kernel
def drag_of_flow(par: Parameters, tau: float, scratch: Scratch, out: Array) -> float:
    """Add to momenta what the flow would give to nodes that stand still; what it would give to the reel."""
    directions, flows, rows = scratch.nodes[DIRECTION], scratch.nodes[FLOW], scratch.factor
    nothing = spread(out, 0.0)
    before = (nothing, nothing, nothing)
    reel = nothing
    for e in range(0, par.N + 1, width(out)):
        t, flow = nodes_from(directions, e), nodes_from(flows, e)
        across, along = load(rows[ACROSS], e), load(rows[ALONG], e)
        flow_along = dot(t, flow)
        half = scale(0.5 * tau, add_scaled(scale(across, flow), (along - across) * flow_along, t))
        reel += along * flow_along * load(rows[PASSING], e)
        put_nodes(out, e, add(nodes_from(out, e), add(half, previous_nodes(out, before, half))))
        before = half
    hold_first_node(out)
    return tau * total(out, reel)  # type: ignore[no-any-return]


@kernel
def resist(
    par: Parameters,
    tau: float,
    fluid: bool,
    rates: Rates,
    body: BodyResistance,
    at: Instant,
    scratch: Scratch,
    p: Array,
    err: Array,
) -> Given:
    """Add to momenta p what resistances give in the time tau at the velocities in MEAN_VELOCITY."""
    v, directions, flows = scratch.nodes[MEAN_VELOCITY], scratch.nodes[DIRECTION], scratch.nodes[FLOW]
    rows = scratch.factor
    sigma = rates.sigma
    nothing = spread(p, 0.0)
    before = (nothing, nothing, nothing)
    drag = before
    force = before
    lost, gained, reel = nothing, nothing, nothing
    for e in range(0, par.N + 1, width(p)):
        t, v0, v1 = nodes_from(directions, e), nodes_from(v, e), nodes_from(v, e + 1)
        by_reel = load(rows[BY_REEL], e)
        apart = dot(t, sub(v1, v0)) + sigma * by_reel
        pull = load(rows[VISCOUS], e) * apart
        lost += pull * apart
        reel -= pull * by_reel
        if fluid:
            across, along, passing = load(rows[ACROSS], e), load(rows[ALONG], e), load(rows[PASSING], e)
            material = add_scaled(scale(0.5, add(v0, v1)), sigma * passing, t)
            u = sub(material, nodes_from(flows, e))
            u_along = dot(t, u)
            drag = add_scaled(scale(-across, u), (across - along) * u_along, t)
            force = add(force, drag)
            gained += dot(drag, material)
            reel -= along * u_along * passing
        left = add_scaled(scale(0.5, drag), pull, t)
        right = add_scaled(scale(0.5, drag), -pull, t)
        accumulate_nodes(p, err, e, scale(tau, add(left, previous_nodes(p, before, right))), par.compensated)
        before = right
    hold_first_node(p)
    hold_first_node(err)
    if not fluid:
        return Given(ZERO, total(p, reel), ZERO, total(p, lost), 0.0)
    on_string = (total(p, force[0]), total(p, force[1]), total(p, force[2]))
    swing = add(node(v, par.N), apply(at.R, cross(rates.omega, body.center)))
    on_body = scale(-body.drag, sub(swing, body.flow))
    accumulate_node(p, err, par.N, scale(tau, on_body), par.compensated)
    moment = add_scaled(cross(body.center, apply_transposed(at.R, on_body)), -body.spin, rates.omega)
    all_force = add(on_string, on_body)
    work = total(p, gained) + dot(on_body, swing) - body.spin * dot(rates.omega, rates.omega) + dot(all_force, at.frame)
    return Given(all_force, total(p, reel), moment, total(p, lost), work)


@kernel
def reel_target(reel: Array, locked: bool, p_s: float) -> ReelTarget:
    held = reel[HELD] != NOT_HELD
    return ReelTarget(not locked, held, reel[HELD_SPEED] if held and not locked else 0.0, p_s)


@kernel
def instant(
    par: Parameters, loads: Loads, t: float, back: float, ahead: float, motion: Motion, rates: Rates
) -> Instant:
    """Time and place at which loads act, at given rates."""
    place, frame, _ = vector_at(loads.path, t)
    return Instant(t, back, ahead, add(par.r_p, place), frame, attitude(motion.body), rates)


@inlined
def look(
    par: Parameters, loads: Loads, locked: bool, t: float, back: float, ahead: float, motion: Motion, scratch: Scratch
) -> Joint:
    """Velocities at a joint and all that gives them; the motion stays as it is."""
    reel, body = motion.reel, motion.body
    reach = extrapolation(0.0, reel[H_LAST], reel[H_BEFORE])
    turning = 0.0 if locked else 1.0
    last = Rates(turning * reel[SIGMA], triple(body, OMEGA), 0.0)
    before = Rates(turning * reel[SIGMA_BEFORE], triple(body, OMEGA_BEFORE), 0.0)
    expected = Rates(
        last.sigma + reach * (last.sigma - before.sigma),
        add_scaled(last.omega, reach, sub(last.omega, before.omega)),
        0.0,
    )
    at = instant(par, loads, t, back, ahead, motion, expected)
    guess = scratch.nodes[GUESS]
    expect_velocities(par, reach, motion, guess)
    push = Push(0.0, ZERO)
    if pushes(loads):
        push = act(par, loads, at, motion, guess, scratch)

    elements_at_joint(par, element_length(par, reel[S]), reel[PENDING], motion, scratch)
    p = scratch.nodes[TARGET]
    Pi = sub(triple(body, SPIN), triple(body, SPIN_ERR))
    Pi = add_scaled(Pi, reel[PENDING], body_moment(par, at.R))
    p_s, Pi = relative_to(par, loads, at.frame, motion, at.R, reel[P_S], Pi, p, scratch.nodes[BORDER])
    resistance = resistances(par, loads, at, not locked, last, before, reach, motion, scratch)
    with_loads = p_s + back * push.reel
    if loads.own[DRAG].acts:
        with_loads += drag_of_flow(par, back, scratch, p)
    if pushes(loads):
        for i in range(1, par.N + 1):
            add_to_node(p, i, scale(back, node(scratch.nodes[PUSHED], i)))
    on_body = scale(back * resistance.drag, resistance.flow)
    add_to_node(p, par.N, on_body)
    Pi = add_scaled(add(Pi, cross(resistance.center, apply_transposed(at.R, on_body))), back, push.moment)
    rates = solve_velocities(par, reel[S], back, resistance, at.R, reel_target(reel, locked, with_loads), Pi, scratch)
    return Joint(at, resistance, push, rates, p_s)


@inlined
def given_at(par: Parameters, loads: Loads, tau: float, joint: Joint, scratch: Scratch, p: Array, err: Array) -> Given:
    """What loads give in the time tau at the velocities of the joint, added to momenta p of the nodes."""
    x = resist(par, tau, loads.own[DRAG].acts, joint.rates, joint.body, joint.at, scratch, p, err)
    force = x.force
    if pushes(loads):
        pushed = scratch.nodes[PUSHED]
        force = add(force, total_force(pushed, par.N))
        for i in range(1, par.N + 1):
            accumulate_node(p, err, i, scale(tau, node(pushed, i)), par.compensated)
    return Given(force, x.reel + joint.push.reel, add(x.moment, joint.push.moment), x.lost, x.from_fluid)


@kernel
def total_force(force: Array, N: int) -> Vector:
    """Sum over the nodes, with what the guide takes at node 0."""
    total = ZERO
    for i in range(N + 1):
        total = add(total, node(force, i))
    return total


@inlined
def amount(par: Parameters, loads: Loads, k: int, joint: Joint, given: Given, scratch: Scratch) -> float:
    """Power of load k, as its account takes it: a loss counts what is taken."""
    if k == DAMPING:
        return given.lost
    if k == DRAG:
        return given.from_fluid
    force = scratch.nodes[LOAD_ROWS + 2 * k]
    rest = scratch.nodes[LOAD_ROWS + 2 * k + 1]
    v = scratch.nodes[MEAN_VELOCITY]
    power = rest[0] * joint.rates.sigma + dot(triple(rest, 1), joint.rates.omega)
    power += dot(total_force(force, par.N), joint.at.frame)
    for i in range(1, par.N + 1):
        power += dot(node(force, i), node(v, i))
    # the signs of work and loss in the balance are opposite
    return -SIGNS[ACCOUNTS[k]] * power


@separate
def forces_at(par: Parameters, loads: Loads, t: float, motion: Motion, rates: Rates, scratch: Scratch) -> Push:
    """Forces of all loads on the nodes at the velocities in VELOCITY and given rates, into PUSHED; on reel and body."""
    v = motion.nodes[VELOCITY]
    at = instant(par, loads, t, 0.0, 0.0, motion, rates)
    out = scratch.nodes[PUSHED]
    push = act(par, loads, at, motion, v, scratch)
    elements_at_joint(par, element_length(par, motion.reel[S]), 0.0, motion, scratch)
    copy_nodes(v, scratch.nodes[GUESS])
    copy_nodes(v, scratch.nodes[MEAN_VELOCITY])
    body = resistances(par, loads, at, rates.sigma != 0.0, rates, rates, 0.0, motion, scratch)
    clear_nodes(scratch.nodes[BORDER])
    given = resist(par, 1.0, loads.own[DRAG].acts, rates, body, at, scratch, out, scratch.nodes[BORDER])
    return Push(push.reel + given.reel, add(push.moment, given.moment))


@kernel
def begin_loads(par: Parameters, loads: Loads, locked: bool, motion: Motion, scratch: Scratch) -> None:
    """Velocities of a motion that loads have not acted on yet, or that something else has changed."""
    reel, body = motion.reel, motion.body
    rates = velocities(par, locked, motion, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    copy_nodes(v, motion.nodes[VELOCITY])
    copy_nodes(v, motion.nodes[VELOCITY_BEFORE])
    put_triple(body, OMEGA, rates.omega)
    put_triple(body, OMEGA_BEFORE, rates.omega)
    if not locked:
        reel[SIGMA] = rates.sigma
        reel[SIGMA_BEFORE] = rates.sigma
    if loads.moves:
        put_triple(reel, STEP_MOMENTUM, momentum_of(par, motion, rates, v))


@separate
def jump(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> Vector:
    """Let loads act at the end of a step and at the start of one of length 2 ahead; the impulse of all of them."""
    reel = motion.reel
    if reel[LOADS_PENDING] == 0.0:
        begin_loads(par, loads, locked, motion, scratch)
    if not loads.acts:
        return ZERO
    back = reel[LOADS_PENDING]
    joint = look(par, loads, locked, t, back, ahead, motion, scratch)
    time = back + ahead
    given = given_at(par, loads, time, joint, scratch, motion.nodes[MOMENTUM], motion.nodes[MOMENTUM_ERR])
    if par.rotates:
        add_spin(par, motion.body, scale(time, given.moment))
    if not locked:
        accumulate(reel, P_S, P_S_ERR, time * given.reel, par.compensated)
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            book(par, reel, ACCOUNTS[k], time * amount(par, loads, k, joint, given, scratch))
    return scale(time, given.force)


@kernel
def keep_velocities(motion: Motion, scratch: Scratch) -> None:
    """Remember the mean velocities of a step."""
    copy_nodes(motion.nodes[VELOCITY], motion.nodes[VELOCITY_BEFORE])
    copy_nodes(scratch.nodes[MEAN_VELOCITY], motion.nodes[VELOCITY])


@separate
def settle(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> None:
    """Let loads act for what is pending, before something else than a step acts on the momenta."""
    reel = motion.reel
    back = reel[LOADS_PENDING]
    if back == 0.0:
        return
    complete_kick(par, motion, scratch)
    impulse = jump(par, loads, locked, t, 0.0, motion, scratch)
    if loads.moves:
        old, now = triple(reel, FRAME_VELOCITY), vector_at(loads.path, t)[1]
        change = boost(par, locked, now, attitude(motion.body), motion)
        rates = velocities(par, locked, motion, scratch)
        gained = sub(momentum_of(par, motion, rates, scratch.nodes[MEAN_VELOCITY]), triple(reel, STEP_MOMENTUM))
        book_guide(par, reel, impulse_of_guide(par, gained, change, impulse, back), scale(0.5, add(old, now)))
    reel[LOADS_PENDING] = 0.0


@entry
def settle_loads(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> None:
    """Let loads act for what is pending."""
    settle(par, loads, locked, t, motion, scratch)


@entry
def set_guide_velocity(par: Parameters, locked: bool, velocity: Vector, motion: Motion, scratch: Scratch) -> None:
    """Let the guide move with `velocity` from now on; nothing of loads must be pending."""
    reel = motion.reel
    v = scratch.nodes[MEAN_VELOCITY]
    old = triple(reel, FRAME_VELOCITY)
    before = momentum_of(par, motion, velocities(par, locked, motion, scratch), v)
    change = boost(par, locked, velocity, attitude(motion.body), motion)
    gained = sub(momentum_of(par, motion, velocities(par, locked, motion, scratch), v), before)
    impulse = impulse_of_guide(par, gained, change, ZERO, 0.0)
    book_guide(par, reel, impulse, scale(0.5, add(old, velocity)))


class Owed(NamedTuple):
    """What loads and guide have still to give at a sample."""

    rates: Rates  # of the sample; its velocities are in MEAN_VELOCITY
    p_s: float  # momentum of the reel with all of it
    impulse: Vector  # of the guide
    guide_work: float


@inlined
def owed_at_sample(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> Owed:
    """Velocities at a sample, and what is owed there; work and loss of each load into its rows."""
    reel = motion.reel
    back = reel[LOADS_PENDING]
    v = scratch.nodes[MEAN_VELOCITY]
    frame = vector_at(loads.path, t)[1]
    force = ZERO
    if loads.acts:
        joint = look(par, loads, locked, t, back, 0.0, motion, scratch)
        given = given_at(par, loads, back, joint, scratch, scratch.nodes[TARGET], scratch.nodes[BORDER])
        rates, p_s, force = joint.rates, joint.p_s + back * given.reel, given.force
        for k in range(len(ACCOUNTS)):
            if _acts(k, loads.own):
                rest = scratch.nodes[LOAD_ROWS + 2 * k + 1]
                rest[OWED] = back * amount(par, loads, k, joint, given, scratch)
    else:
        Pi = momenta_with_kick(par, motion, scratch)
        p, err = scratch.nodes[TARGET], scratch.nodes[BORDER]
        p_s, Pi = relative_to(par, loads, frame, motion, attitude(motion.body), reel[P_S], Pi, p, err)
        rates = rates_of(par, locked, motion, p_s, Pi, scratch)
    impulse = ZERO
    if loads.moves and back > 0.0:
        change = sub(frame, triple(reel, FRAME_VELOCITY))
        gained = sub(momentum_of(par, motion, rates, v), triple(reel, STEP_MOMENTUM))
        impulse = impulse_of_guide(par, gained, change, scale(back, force), back)
    work = dot(impulse, scale(0.5, add(frame, triple(reel, FRAME_VELOCITY))))
    return Owed(rates, p_s, impulse, work)


@kernel
def add_owed(loads: Loads, owed: Owed, reel: Array, scratch: Scratch, x: Array) -> None:
    """Add to the scalars of a sample what is owed there."""
    if loads.acts:
        for k in range(len(ACCOUNTS)):
            if _acts(k, loads.own):
                x[ACCOUNTS[k]] += scratch.nodes[LOAD_ROWS + 2 * k + 1][OWED]
    x[GUIDE_WORK] += owed.guide_work
    put_triple(x, GIVEN_BY_GUIDE, add(triple(reel, GUIDE_IMPULSE), owed.impulse))
