"""Loads where two steps join, made again for the reverse pass and then taken back (docs/theory.md, (B9) to (B11))."""

from __future__ import annotations

from typing import NamedTuple

from tautline import registry
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.applied import Applied, applied_at, applied_back
from tautline.kernels.adjoint.body import moment_back
from tautline.kernels.adjoint.body_drag import body_drag_back
from tautline.kernels.adjoint.data import Adjoint, Setting, add_length
from tautline.kernels.adjoint.drag import Expectation, drag_back, resisted
from tautline.kernels.adjoint.elements import BY_DIRECTION, BY_LENGTH, BY_LENGTHENING, Virtual, apart, elements_back
from tautline.kernels.adjoint.fixed import add_multipliers
from tautline.kernels.adjoint.guide import speed_back
from tautline.kernels.adjoint.legendre import body_energy_back, legendre_back
from tautline.kernels.adjoint.potential import add_to_nodes, impulse_back_apart
from tautline.kernels.adjoint.reeling import Stage
from tautline.kernels.adjoint.viscous import viscous_back
from tautline.kernels.along import load, nodes_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    Array,
    Loads,
    Motion,
    Parameters,
    Scratch,
    add_to_node,
    add_triple,
    clear_nodes,
    code,
    node,
    triple,
)
from tautline.kernels.drum import AT_KNOT
from tautline.kernels.energy import body_moment, element_length
from tautline.kernels.fixed import extrapolation
from tautline.kernels.jit import inlined, separate
from tautline.kernels.loads.acting import Instant, Trend
from tautline.kernels.loads.boundary import instant, latest_rates, reel_target
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.loads.resistance import (
    DAMPING,
    DRAG,
    clear_along,
    elements_at_boundary,
    resistances,
)
from tautline.kernels.loads.resisting import drag_of_flow, resist, resist_body
from tautline.kernels.loads.solving import BoundaryEquations, solve_velocities
from tautline.kernels.loads.velocities import ReelTarget, product_of_nodes
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import add_spin
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply_transposed, cross, dot, scale, sub

FORCE = code(registry.LOADS, "applied_force")


class Acting(NamedTuple):
    """When and for how long loads act at a step boundary, and what their work counts."""

    t: float
    steps: float  # the same from the start of the run, in base steps
    base: float  # the base step
    back: float  # half of the step before
    ahead: float  # half of the step behind; 0 at a sample
    give: float  # time for which momenta get what loads give; 0 at a sample
    # derivatives by accounts, times the time for which they are booked; of the loss to damping the negative one
    lost: float
    gained: float
    pushed: float


class Resisting(NamedTuple):
    """Resistance to motion at a step boundary, beside the coefficients of elements."""

    at: Instant
    body: BodyResistance


@separate
def resistances_at(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> Resisting:
    """Coefficients at a step boundary, as loads.boundary.look has them, and momenta with pending kicks into TARGET."""
    reel = motion.reel
    last, before = latest_rates(motion, locked)
    at = instant(par, loads, t, reel[data.LOADS_PENDING], ahead, 0.0, motion, last)
    elements_at_boundary(par, element_length(par, reel[data.S]), reel[data.PENDING], motion, scratch)
    reach = extrapolation(0.0, reel[data.H_LAST], reel[data.H_BEFORE])
    trend, spins = Trend((last.sigma,), (before.sigma,), reach), (last.omega, before.omega)
    return Resisting(at, resistances(par, loads, at, not locked, trend, spins, motion, scratch))


@separate
def solve_at(par: Parameters, s: float, x: Resisting, reel: ReelTarget, Pi: Vector, scratch: Scratch) -> Rates:
    """Velocities from momenta at a step boundary, or multipliers from derivatives by velocities, by one system."""
    return solve_velocities(par, BoundaryEquations(s, x.at.back, x.body, x.at.R, reel, Pi), scratch)


@separate
def boundary_forward(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> tuple[Resisting, Rates]:
    """Velocities of a step boundary or of a sample into MEAN_VELOCITY, and its rates; the motion stays as it is."""
    reel, body = motion.reel, motion.body
    x = resistances_at(par, loads, locked, t, ahead, motion, scratch)
    Pi = sub(triple(body, data.SPIN), triple(body, data.SPIN_ERR))
    Pi = add_scaled(Pi, reel[data.PENDING], body_moment(par, x.at.R))
    p_s = reel[data.P_S]
    if loads.own[DRAG].acts:
        p, back = scratch.nodes[data.TARGET], x.at.back
        p_s += drag_of_flow(par, back, ZERO, motion.nodes[data.FLUID_VELOCITY], scratch, p).reel
        dragged = scale(back * x.body.drag, x.body.flow)
        add_to_node(p, par.N, dragged)
        Pi = add(Pi, cross(x.body.center, apply_transposed(x.at.R, dragged)))
    if loads.own[FORCE].acts:
        applied = applied_at(loads.own[FORCE], x.at)
        add_to_node(scratch.nodes[data.TARGET], par.N, scale(x.at.back, applied.force))
        Pi = add_scaled(Pi, x.at.back, applied.moment)
    return x, solve_at(par, reel[data.S], x, reel_target(par, reel, locked, p_s, 0.0), Pi, scratch)


@inlined
def jump_forward(
    par: Parameters, loads: Loads, locked: bool, t: float, ahead: float, motion: Motion, scratch: Scratch
) -> Rates:
    """Let loads act at a step boundary, as loads.jump does it where they have acted before; the rates there."""
    reel = motion.reel
    x, rates = boundary_forward(par, loads, locked, t, ahead, motion, scratch)
    time = reel[data.LOADS_PENDING] + ahead
    p, err, last = motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR], motion.nodes[data.FLUID_VELOCITY]
    drag, speeds = loads.own[DRAG].acts, (rates.sigma,)
    given = resist(par, time, drag, speeds, rates.omega, x.body, x.at, ZERO, last, scratch, p, err)
    moment = given.moment
    if loads.own[FORCE].acts:
        applied = applied_at(loads.own[FORCE], x.at)
        accumulate_node(p, err, par.N, scale(time, applied.force), par.compensated)
        moment = add(moment, applied.moment)
    if par.rotates:
        add_spin(par, motion.body, scale(time, moment))
    if not locked:
        accumulate(reel, data.P_S, data.P_S_ERR, time * given.reel, par.compensated)
    return rates


@inlined
def resist_along(
    par: Parameters,
    fluid: bool,
    acting: Acting,
    x: Array,
    x_s: float,
    v: Array,
    sigma: float,
    scratch: Scratch,
    out: Array,
) -> float:
    """Forces of resistances where nodes move with x and, for accounts, with v, into `out`; what they give to the reel.

    Of accounts it is the derivative of the power by the velocities.
    """
    rows, directions, flows = scratch.factor, scratch.nodes[data.DIRECTION], scratch.nodes[data.FLOW]
    a, lost, gained = acting.give, 2.0 * acting.lost, 2.0 * acting.gained
    nothing = spread(out, 0.0)
    before, drag, reel = (nothing, nothing, nothing), (nothing, nothing, nothing), nothing
    for e in range(0, par.N + 1, width(out)):
        t, by_reel = nodes_from(directions, e), load(rows[data.BY_REEL], e)
        x0, x1, v0, v1 = nodes_from(x, e), nodes_from(x, e + 1), nodes_from(v, e), nodes_from(v, e + 1)
        lengthening = a * apart(t, sub(x1, x0), by_reel, x_s) + lost * apart(t, sub(v1, v0), by_reel, sigma)
        pull = load(rows[data.VISCOUS], e) * lengthening
        reel -= pull * by_reel
        if fluid:
            passing = load(rows[data.PASSING], e)
            y = add_scaled(scale(0.5 * a, add(x0, x1)), 0.5 * gained, add(v0, v1))
            y = add_scaled(y, (a * x_s + gained * sigma) * passing, t)
            y = add_scaled(y, -0.5 * gained, nodes_from(flows, e))
            drag = resisted(t, load(rows[data.ACROSS], e), load(rows[data.ALONG], e), y)
            reel += dot(drag, t) * passing
        left, right = add_scaled(scale(0.5, drag), pull, t), add_scaled(scale(0.5, drag), -pull, t)
        put_nodes(out, e, add(left, previous_nodes(out, before, right)))
        before = right
    return total(out, reel)  # type: ignore[no-any-return]


@inlined
def momenta_back(par: Parameters, locked: bool, at: Stage, found: Rates, multipliers: Array, out: Adjoint) -> None:
    """Adjoint of momenta as velocities give them: adds derivatives, and multipliers to the adjoints of momenta."""
    p_bar = out.nodes[adjoint.MOMENTUM_BAR]
    lambda_N, minus = scale(-1.0, node(multipliers, par.N)), scale(-1.0, found.omega)
    if locked:
        l = element_length(par, at.s)
        add_multipliers(par, l, 1.0, multipliers, at.v, p_bar, out.nodes[adjoint.POSITION_BAR], out)
        body_energy_back(par, at, lambda_N, minus, out)
    else:
        for j in range(0, par.N + 1, width(p_bar)):
            x = nodes_from(multipliers, j)
            add_to_nodes(p_bar, j, x)
            put_nodes(multipliers, j, scale(-1.0, x))
        legendre_back(par, at, multipliers, -found.sigma, minus, out)
    out.reel[adjoint.P_S_BAR] += found.sigma
    add_triple(out.body, adjoint.SPIN_BAR, found.omega)


@separate
def boundary_back(
    setting: Setting,
    acting: Acting,
    motion: Motion,
    v: Array,
    rates: Rates,
    sigma_bar: float,
    omega_bar: Vector,
    scratch: Scratch,
    out: Adjoint,
) -> None:
    """Take the adjoint of a motion back over what loads do at a step boundary, or through the velocities of a sample.

    `v` and `rates` are the velocities there. The derivatives by them at a sample are in GUESS, sigma_bar and omega_bar.
    """
    par, loads, command = setting.par, setting.loads, setting.command
    locked = command.locked
    held = not locked and command.kind == data.BY_PROFILE
    reel, s = motion.reel, motion.reel[data.S]
    q, l = motion.nodes[data.POSITION], element_length(par, s)
    x = resistances_at(par, loads, locked, acting.t, acting.ahead, motion, scratch)
    pi, pi_s, pi_body = out.nodes[adjoint.MOMENTUM_BAR], out.reel[adjoint.P_S_BAR], triple(out.body, adjoint.SPIN_BAR)
    give, back, gained = acting.give, acting.back, acting.gained
    sigma, omega, v_N = rates.sigma, rates.omega, node(v, par.N)
    fluid = loads.own[DRAG].acts

    # (L + tau D) lambda = derivatives by the velocities, through what loads give and what is booked of it
    right, w = scratch.nodes[data.TARGET], scratch.nodes[data.PUSHED]
    right_s = sigma_bar + resist_along(par, fluid, acting, pi, pi_s, v, sigma, scratch, right)
    if give == 0.0:
        for j in range(0, par.N + 1, width(right)):
            add_to_nodes(right, j, nodes_from(scratch.nodes[data.GUESS], j))
    if fluid:
        y_N = add_scaled(scale(give, node(pi, par.N)), 2.0 * gained, v_N)
        flow = scale(gained, x.body.flow)
        body = BodyResistance(x.body.drag, x.body.center, flow, x.body.spin, 0.0, ZERO, ZERO)
        given = resist_body(body, x.at.R, y_N, add_scaled(scale(give, pi_body), 2.0 * gained, omega))
        add_to_node(right, par.N, given.force)
        omega_bar = add(omega_bar, given.moment)
    applied = Applied(ZERO, ZERO)
    if loads.own[FORCE].acts:
        applied = applied_at(loads.own[FORCE], x.at)
        add_to_node(right, par.N, scale(acting.pushed, applied.force))
        omega_bar = add_scaled(omega_bar, acting.pushed, applied.moment)
    found = solve_at(par, s, x, ReelTarget(not locked, held, 0.0, right_s, 0.0), omega_bar, scratch)
    multipliers = scratch.nodes[adjoint.LAMBDA]
    for j in range(0, par.N + 1, width(w)):
        put_nodes(w, j, add_scaled(scale(give, nodes_from(pi, j)), back, nodes_from(multipliers, j)))
    w_s = give * pi_s + back * found.sigma
    w_body = add_scaled(scale(give, pi_body), back, found.omega)

    # forces of loads along the virtual velocity w
    reach = extrapolation(0.0, reel[data.H_LAST], reel[data.H_BEFORE])
    turning = 0.0 if locked else 1.0
    last, before = turning * reel[data.SIGMA], turning * reel[data.SIGMA_BEFORE]
    expected = Expectation(reach, back + acting.ahead, acting.base, last, before)
    value, l_bar = 0.0, 0.0
    clear_along(par.N, scratch.factor[BY_LENGTH])
    if loads.own[DAMPING].acts:
        along = Virtual(w, w_s, acting.lost, v, sigma)
        value, l_bar = viscous_back(par.N, loads.own[DAMPING], l, along, scratch, out)
    else:
        clear_nodes(scratch.nodes[BY_DIRECTION])
        clear_along(par.N, scratch.factor[BY_LENGTHENING])
    if fluid:
        water = loads.own[DRAG]
        virtual = Virtual(w, w_s, gained, v, sigma)
        dragged, by_l = drag_back(par, water, l, x.at, expected, virtual, motion, scratch, out)
        w_N = add_scaled(node(w, par.N), gained, v_N)
        w_omega = add_scaled(w_body, gained, omega)
        value += dragged + body_drag_back(par, water, x.at, x.body, expected, v_N, omega, w_N, w_omega, motion, out)
        l_bar += by_l
    if loads.own[FORCE].acts:
        y_N, y_omega = add_scaled(node(w, par.N), acting.pushed, v_N), add_scaled(w_body, acting.pushed, omega)
        steps = acting.steps
        value += applied_back(loads.own[FORCE], x.at, acting.base, steps, applied, y_N, y_omega, out)
    l_bar += elements_back(par, l, not locked, scratch, out)
    add_length(par, l_bar, out)

    # momenta: with the pending kick, and as velocities give them
    kick = reel[data.PENDING]
    if kick != 0.0:
        value += kick * impulse_back_apart(par, kick, s, q, multipliers, 0.0, out)
    if par.rotates:
        bar, by_moment = moment_back(par, kick, x.at.R, found.omega, out.numbers)
        add_triple(out.body, adjoint.ATTITUDE_BAR, bar)
        value += kick * by_moment
    out.numbers[adjoint.BY_H] += value / acting.base
    if held:
        speed_bar = right_s - product_of_nodes(par.N, scratch.nodes[data.BORDER], multipliers)
        speed_back(command.profile, speed_bar, acting.t, AT_KNOT * acting.base, acting.steps, out)
    momenta_back(par, locked, Stage(0.0, s, x.at.R, sigma, rates.omega, q, v), found, multipliers, out)
