"""Adjoint of a stage with a moving reel (docs/theory.md, (B1) and (B2))."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.body import body_after, body_before, body_solve, moment_back
from tautline.kernels.adjoint.data import Adjoint, take_velocities
from tautline.kernels.adjoint.guide import friction_back, friction_force, guide_back, motor_back, profile_back
from tautline.kernels.adjoint.kinetic import Direction, kinetic_back, rates_back
from tautline.kernels.adjoint.potential import add_to_nodes, impulse_back_apart
from tautline.kernels.along import load, nodes_from, previous, put_nodes, spread, store, total, width
from tautline.kernels.data import Array, Command, Parameters, Scratch, add_to_node, copy_nodes, node, put_triple, triple
from tautline.kernels.energy import element_length, strain_at_guide
from tautline.kernels.entrance import Entrance
from tautline.kernels.guide import carnot_force
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.so3 import ZERO, Matrix, Vector, add, add_scaled, cayley, dot, matmul, rotation_of, scale
from tautline.kernels.step_equations import (
    Coefficients,
    Ends,
    coefficients_of,
    derivatives_by_sigma,
    ends_of,
    off_diagonals,
    reel_row,
    weights_from,
)
from tautline.kernels.tridiagonal import backward, divide_by_minors, forward, forward_with_minors


class Times(NamedTuple):
    """Times of the ends of a stage, and their derivatives by the base step."""

    start: float
    end: float
    by_start: float
    by_end: float


class Stage(NamedTuple):
    """A stage as it was: where it began, and its mean rates."""

    h: float
    s: float
    R: Matrix
    sigma: float
    omega: Vector
    q: Array
    v: Array


class Multipliers(NamedTuple):
    """Multipliers of the equations that are not of nodes."""

    reel: float
    body: Vector
    given: float  # derivative by the reel's speed, where that is given


@kernel
def transposed_equations(par: Parameters, h: float, ends: Ends, x: Array, scratch: Scratch) -> Coefficients:
    """Transposed coefficients of the node equations, scaled as in node_equations; right-hand sides x into RIGHT."""
    N = par.N
    c = coefficients_of(par, h, ends)
    above, below = scratch.factor[data.ABOVE], scratch.factor[data.BELOW]
    product, diagonal = scratch.factor[data.PRODUCT], scratch.factor[data.DIAGONAL]
    out = scratch.nodes[data.RIGHT]
    beta_before = spread(x, 0.0)
    for j in range(0, N + 1, width(x)):
        alpha, beta, _, _ = weights_from(x, N, j)
        up, down = off_diagonals(c, alpha, beta)
        store(above, j, down)
        store(below, j, up)
        store(product, j, up * down)
        store(diagonal, j, 4.0 * c.off + c.skew * (alpha - previous(x, beta_before, beta)))
        beta_before = beta
        put_nodes(out, j, scale(c.unit, nodes_from(x, j)))
    return c


@inlined
def solve_transposed(
    par: Parameters, held: bool, at: Stage, force_slope: float, sigma_bar: float, omega_bar: Vector, scratch: Scratch
) -> Multipliers:
    """Multipliers of (19) and (20) from the derivatives by the rates, those of nodes from RATES_BAR into LAMBDA.

    `force_slope` is that by sigma of the forces on s, times the part of the step that they act for at its start.
    """
    N = par.N
    h, sigma = at.h, at.sigma
    out, second = scratch.nodes[adjoint.LAMBDA], scratch.nodes[adjoint.LAMBDA_2]
    l = element_length(par, at.s)
    minor = scratch.factor[data.MINOR]
    for j in range(0, N + 1, width(minor)):
        store(minor, j, spread(minor, 1.0))
    ends = ends_of(par, h, l, sigma)
    copy_nodes(at.v, scratch.nodes[data.AT_SIGMA])
    sums = derivatives_by_sigma(par, h, ends, at.q, scratch)
    by_sigma = scratch.nodes[data.AT_SIGMA]  # a/(-mu), in the place of the velocities
    copy_nodes(scratch.nodes[data.RIGHT], by_sigma)
    c = transposed_equations(par, h, ends, scratch.nodes[adjoint.RATES_BAR], scratch)
    end = forward_with_minors(N, c.last, scratch)
    t = c.unit * end.by_force
    y_N, body = end.v, ZERO
    if par.rotates:
        y_N, body = body_solve(par, h, t, at.R, at.omega, y_N, omega_bar)
    divide_by_minors(N, scratch)
    backward(N, y_N, scratch, out)
    reel, given = 0.0, 0.0
    if held:
        given = sigma_bar + par.mu * along_nodes(N, by_sigma, out, out)[0]
    else:
        border, right = scratch.nodes[data.BORDER], scratch.nodes[data.RIGHT]
        for j in range(0, N + 1, width(border)):
            put_nodes(right, j, scale(par.mu * c.unit * load(minor, j), nodes_from(border, j)))
        y_N, turned = forward(N, end, scratch), ZERO
        if par.rotates:
            y_N, turned = body_solve(par, h, t, at.R, at.omega, y_N, ZERO)
        backward(N, y_N, scratch, second)
        products, products_2 = along_nodes(N, by_sigma, out, second)
        pivot, _ = reel_row(par, h, at.s, ends, sums, 0.0, 0.0)
        reel = (sigma_bar + par.mu * products) / (pivot - force_slope + par.mu * products_2)
        for j in range(0, N + 1, width(out)):
            put_nodes(out, j, add_scaled(nodes_from(out, j), -reel, nodes_from(second, j)))
        body = add_scaled(body, -reel, turned)
    return Multipliers(reel, body, given)


@kernel
def along_nodes(N: int, x: Array, y: Array, z: Array) -> tuple[float, float]:
    """x.y and x.z over nodes 1 to N."""
    first, second = spread(x, 0.0), spread(x, 0.0)
    for j in range(0, N + 1, width(x)):
        at = nodes_from(x, j)
        first += dot(at, nodes_from(y, j))
        second += dot(at, nodes_from(z, j))
    return total(x, first), total(x, second)


@kernel
def stage_of(numbers: Array, nodes: Array) -> Stage:
    Q = (
        numbers[adjoint.AT_QUATERNION],
        numbers[adjoint.AT_QUATERNION + 1],
        numbers[adjoint.AT_QUATERNION + 2],
        numbers[adjoint.AT_QUATERNION + 3],
    )
    return Stage(
        numbers[adjoint.AT_H],
        numbers[adjoint.AT_S],
        rotation_of(Q),
        numbers[adjoint.AT_SIGMA],
        triple(numbers, adjoint.AT_OMEGA),
        nodes[0],
        nodes[1],
    )


@kernel
def move_on(N: int, h: float, q: Array, v: Array, out: Array) -> None:
    """q + h v."""
    for j in range(0, N + 1, width(q)):
        put_nodes(out, j, add_scaled(nodes_from(q, j), h, nodes_from(v, j)))


@inlined
def body_end_back(par: Parameters, at: Stage, out: Adjoint) -> tuple[float, Vector, Vector]:
    """Adjoint of the last half kick of the body and of its drift: derivatives by h, by v_N and by omega."""
    spin_bar = triple(out.body, adjoint.SPIN_BAR)
    R_1 = matmul(at.R, cayley(scale(0.5 * at.h, at.omega)))
    bar, by_kick = moment_back(par, 0.5 * at.h, R_1, spin_bar, out.numbers)
    turned_bar = add(triple(out.body, adjoint.ATTITUDE_BAR), bar)
    put_triple(out.body, adjoint.ATTITUDE_BAR, turned_bar)
    v_bar, omega_bar = body_before(par, at.h, at.R, node(at.v, par.N), at.omega, turned_bar, spin_bar)
    return 0.5 * by_kick, v_bar, omega_bar


@kernel
def body_start_back(
    par: Parameters, at: Stage, kick: float, lambda_N: Vector, mu: Vector, out: Adjoint
) -> tuple[float, float]:
    """Adjoint of the drift and the kick before it: derivatives by h and by the length of the kick."""
    out.numbers[adjoint.BY_M] -= dot(lambda_N, node(at.v, par.N))
    if not par.rotates:
        return 0.0, 0.0
    before = triple(out.body, adjoint.ATTITUDE_BAR), triple(out.body, adjoint.SPIN_BAR)
    v_N = node(at.v, par.N)
    bar, h_bar = body_after(par, at.h, at.R, v_N, at.omega, lambda_N, mu, before[0], before[1], out.numbers)
    kicked, by_kick = moment_back(par, kick, at.R, mu, out.numbers)
    put_triple(out.body, adjoint.ATTITUDE_BAR, add(bar, kicked))
    put_triple(out.body, adjoint.SPIN_BAR, mu)
    return h_bar, by_kick


@inlined
def reeling_stage_back(
    par: Parameters,
    command: Command,
    remembered: bool,
    owed: float,
    numbers: Array,
    nodes: Array,
    scratch: Scratch,
    out: Adjoint,
) -> float:
    """Take the adjoint of a motion back over a stage with a moving reel; the derivative by the stage's length.

    The first half kick of the potential is left to the stage before, which gets it as `owed`: both act at the same
    configuration. `remembered` says whether loads look at the stage's mean rates afterwards.
    """
    N = par.N
    at = stage_of(numbers, nodes)
    h, s, sigma = at.h, at.s, at.sigma
    start, end = numbers[adjoint.AT_START], numbers[adjoint.AT_END]
    held = command.kind == data.BY_PROFILE
    h_start, h_end = (1.0 - par.theta) * h, par.theta * h
    p_bar, q_bar = out.nodes[adjoint.MOMENTUM_BAR], out.nodes[adjoint.POSITION_BAR]
    reel = out.reel
    q_1 = scratch.nodes[adjoint.POSITION_AFTER]
    move_on(N, h, at.q, at.v, q_1)
    s_1 = s + h * sigma
    l, l_1 = element_length(par, s), element_length(par, s_1)

    # what acts at the end of the stage, the potential together with what the stage after it owes
    x_s, work, loss = reel[adjoint.P_S_BAR], reel[adjoint.WORK_BAR], reel[adjoint.LOSS_BAR]
    kick = 0.5 * h + owed
    h_bar = kick / h * impulse_back_apart(par, kick, s_1, q_1, p_bar, x_s, out)
    strain_1, strain = strain_at_guide(par, q_1, l_1), strain_at_guide(par, at.q, l)
    Q_1, slope_1 = carnot_force(par, Entrance(strain_1, 0.0), sigma)
    Q, slope = carnot_force(par, Entrance(strain, 0.0), sigma)
    to_guide = x_s - loss * sigma
    guide_back(par, h_end * to_guide, l_1, q_1, strain_1, sigma, out)
    sigma_bar = to_guide * (h_end * slope_1 + h_start * slope) - loss * (h_end * Q_1 + h_start * Q)
    h_bar += par.theta * to_guide * Q_1
    times = Times(start, end, numbers[adjoint.AT_BASE], numbers[adjoint.AT_BASE] + numbers[adjoint.AT_PART])
    rubs = not held and (par.viscous > 0.0 or par.coulomb > 0.0)
    rubbed, rub, rub_slope = reel[adjoint.FRICTION_BAR], 0.0, 0.0
    if rubs:
        rub, rub_slope = friction_force(par, sigma)
        to_friction = x_s - rubbed * sigma
        friction_back(par, h_end * to_friction, sigma, out)
        sigma_bar += h * (to_friction * rub_slope - rubbed * rub)
        h_bar += par.theta * to_friction * rub
    if not held:
        push_1 = motor_back(par, command, h_end * (x_s + work * sigma), end, start, times.by_end, times.by_start, out)
        h_bar += par.theta * (x_s + work * sigma) * push_1
        if work != 0.0:
            push = motor_back(par, command, 0.0, start, end, times.by_start, times.by_end, out)
            sigma_bar += work * (h_end * push_1 + h_start * push)
    sigma_bar += h * reel[adjoint.S_BAR]
    h_bar += sigma * reel[adjoint.S_BAR]
    rates_bar = scratch.nodes[adjoint.RATES_BAR]
    first, _ = along_nodes(N, at.v, q_bar, q_bar)
    h_bar += first
    sigma_bar += rates_back(par, h, s, at.q, at.v, sigma, p_bar, x_s, q_bar, rates_bar)
    omega_bar = ZERO
    if par.rotates:
        by_kick, v_bar, omega_bar = body_end_back(par, at, out)
        h_bar += by_kick
        add_to_node(rates_bar, N, v_bar)
    if remembered:
        for j in range(0, N + 1, width(rates_bar)):
            add_to_nodes(rates_bar, j, nodes_from(out.nodes[adjoint.VELOCITY_BAR], j))
        by_speed, by_spin = take_velocities(out)
        sigma_bar, omega_bar = sigma_bar + by_speed, add(omega_bar, by_spin)

    # multipliers, and with them the momenta's adjoints at the start
    x = solve_transposed(par, held, at, h_start * (slope + rub_slope), sigma_bar, omega_bar, scratch)
    multipliers, after = scratch.nodes[adjoint.LAMBDA], scratch.nodes[adjoint.MOMENTA_AFTER]
    copy_nodes(p_bar, after)
    for j in range(0, N + 1, width(p_bar)):
        at_j = nodes_from(multipliers, j)
        put_nodes(p_bar, j, add(nodes_from(p_bar, j), at_j))
        put_nodes(multipliers, j, scale(-1.0, at_j))
    lambda_N = scale(-1.0, node(multipliers, N))
    reel[adjoint.P_S_BAR] = x_s + x.reel
    direction = Direction(multipliers, -x.reel, p_bar, reel[adjoint.P_S_BAR], after, x_s)
    h_bar += kinetic_back(par, h, s, at.q, at.v, sigma, direction, out)
    to_guide = reel[adjoint.P_S_BAR] - loss * sigma
    guide_back(par, h_start * to_guide, l, at.q, strain, sigma, out)
    h_bar += (1.0 - par.theta) * to_guide * Q
    if rubs:
        to_friction = reel[adjoint.P_S_BAR] - rubbed * sigma
        friction_back(par, h_start * to_friction, sigma, out)
        h_bar += (1.0 - par.theta) * to_friction * rub
    if not held:
        to_motor = reel[adjoint.P_S_BAR] + work * sigma
        push = motor_back(par, command, h_start * to_motor, start, end, times.by_start, times.by_end, out)
        h_bar += (1.0 - par.theta) * to_motor * push
    else:
        h_bar -= x.given * sigma / h
        profile_back(command.profile, x.given / h, end, times.by_end, out)
        profile_back(command.profile, -x.given / h, start, times.by_start, out)
    by_h, by_kick = body_start_back(par, at, 0.5 * h, lambda_N, x.body, out)
    return h_bar + by_h + 0.5 * by_kick  # type: ignore[no-any-return]
