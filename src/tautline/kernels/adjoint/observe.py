"""Adjoint of a sample (docs/theory.md, (B8))."""

from __future__ import annotations

import math

from tautline.kernels.adjoint.body import body_after, body_solve, moment_back
from tautline.kernels.adjoint.data import (
    ATTITUDE_BAR,
    BY_B,
    BY_D,
    BY_EA,
    BY_H,
    BY_HEIGHT,
    BY_J,
    BY_M,
    BY_MU_G,
    BY_WEIGHT,
    BY_WEIGHT_RHO,
    LAMBDA,
    LOSS_BAR,
    MOMENTUM_BAR,
    P_S_BAR,
    POSITION_BAR,
    RATES_BAR,
    S_BAR,
    SAMPLE_MOMENTUM,
    SAMPLE_OMEGA,
    SAMPLE_P_S,
    SAMPLE_PENDING,
    SAMPLE_POSITION,
    SAMPLE_QUATERNION,
    SAMPLE_S,
    SAMPLE_SIGMA,
    SAMPLE_SPIN,
    SAMPLE_STEPS,
    SAMPLE_TIME,
    SAMPLE_VELOCITY,
    SPIN_BAR,
    WORK_BAR,
    Adjoint,
    add_length,
    add_triple,
)
from tautline.kernels.adjoint.guide import speed_back, table_back, table_slope
from tautline.kernels.adjoint.kinetic import Direction, kinetic_back
from tautline.kernels.adjoint.potential import add_to_nodes, impulse_back
from tautline.kernels.adjoint.reeling import ZERO, Multipliers, Stage, solve_transposed
from tautline.kernels.along import nodes_from, width
from tautline.kernels.data import (
    ANGULAR_MOMENTUM,
    ANGULAR_VELOCITY,
    BY_PROFILE,
    CONTROL_WORK,
    DRUM_TORQUE,
    ELASTIC,
    GRAVITY,
    GUIDE_LOSS,
    INVERSE,
    KINETIC,
    LINEAR,
    LOWER,
    REEL_SPEED,
    REELED_LENGTH,
    RIGHT,
    ROTATION,
    ROTATIONAL,
    Array,
    Command,
    Parameters,
    Plan,
    Scratch,
    add_to_node,
    clear_nodes,
    node,
    node_stride,
    put_node,
    triple,
)
from tautline.kernels.drum import AT_KNOT
from tautline.kernels.energy import element_length, spooled_above
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Vector, add_scaled, apply, cross, dot, rotation_of, scale, sub
from tautline.kernels.tridiagonal import eliminate, substitute

DOWN = (0.0, 0.0, 1.0)


@kernel
def elastic_back(par: Parameters, k: float, l: float, q: Array, out: Adjoint) -> None:
    """Of k V_el: adds derivatives by q, l and EA."""
    q_bar = out.nodes[POSITION_BAR]
    energy, l_bar = 0.0, 0.0
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = math.sqrt(dot(w, w))
        strain = length / l - 1.0
        if par.elastic_law == LINEAR or strain > 0.0:
            force = scale(k * par.EA * strain / length, w)
            add_to_node(q_bar, e + 1, force)
            if e > 0:
                add_to_node(q_bar, e, scale(-1.0, force))
            energy += 0.5 * l * strain * strain
            l_bar -= par.EA * strain * (1.0 + 0.5 * strain)
    out.numbers[BY_EA] += k * energy
    add_length(par, k * l_bar, out)


@kernel
def gravity_back(par: Parameters, k: float, s: float, q: Array, r_3: Vector, out: Adjoint) -> None:
    """Of k times the gravity energy of string and body: adds derivatives by q, s, the attitude and parameters."""
    N = par.N
    l = element_length(par, s)
    z = 2 * node_stride(q)
    q_bar, numbers = out.nodes[POSITION_BAR], out.numbers
    depth = 2.0 * N * par.r_p[2]
    for e in range(N):
        depth += q[z + e] + q[z + e + 1]
    for i in range(1, N + 1):
        q_bar[z + i] -= k * par.mu_g * l * (1.0 if i < N else 0.5)
    q_bar[z + N] -= k * par.weight
    spooled, height = s - par.b, par.r_p[2] - par.b
    angle = spooled / par.d
    sine, cosine = math.sin(angle), math.cos(angle)
    numbers[BY_WEIGHT] -= k * (par.r_p[2] + q[z + N])
    add_triple(numbers, BY_WEIGHT_RHO, scale(-k, r_3))
    add_triple(out.body, ATTITUDE_BAR, scale(-k, cross(par.weight_rho, r_3)))
    numbers[BY_MU_G] -= k * (0.5 * l * depth + spooled * height - spooled_above(par, s))
    add_length(par, -0.5 * k * par.mu_g * depth, out)
    out.reel[S_BAR] -= k * par.mu_g * (height - par.d * sine)
    numbers[BY_HEIGHT] -= k * (par.mu_g * (l * N + spooled) + par.weight)
    numbers[BY_B] -= k * par.mu_g * (par.d * sine - height - spooled)
    numbers[BY_D] += k * par.mu_g * (2.0 * par.d * (1.0 - cosine) - spooled * sine)


@kernel
def rates_at_fixed_length_back(par: Parameters, at: Stage, omega_bar: Vector, scratch: Scratch) -> Multipliers:
    """Multipliers of the Legendre transform with the reel locked, those of nodes from RATES_BAR into LAMBDA."""
    y, lower, inverse = scratch.nodes[RIGHT], scratch.factor[LOWER], scratch.factor[INVERSE]
    lambda_N, mu = eliminate(par.N, scratch.nodes[RATES_BAR], lower, inverse, y), ZERO
    if par.rotates:
        lambda_N, mu = body_solve(par, 0.0, inverse[par.N], at.R, at.omega, lambda_N, omega_bar)
    clear_nodes(scratch.nodes[LAMBDA])
    substitute(par.N, y, lower, lambda_N, scratch.nodes[LAMBDA])
    return Multipliers(0.0, mu, 0.0)


@kernel
def legendre_back(
    par: Parameters, at: Stage, dv: Array, dsigma: float, domega: Vector, out: Adjoint, scratch: Scratch
) -> None:
    """Of the derivative of the kinetic energy along given rates: adds derivatives by configuration and parameters."""
    kinetic_back(par, 0.0, at.s, at.q, at.v, at.sigma, Direction(dv, dsigma, dv, 0.0, dv, 0.0), out)
    v_N, dv_N = node(at.v, par.N), node(dv, par.N)
    out.numbers[BY_M] += dot(dv_N, v_N)
    if par.rotates:
        minus = scale(-1.0, dv_N), scale(-1.0, domega)
        bar, _ = body_after(par, 0.0, at.R, v_N, at.omega, minus[0], minus[1], ZERO, ZERO, out.numbers)
        add_triple(out.body, ATTITUDE_BAR, bar)


@kernel
def rotation_back(R: tuple[Vector, Vector, Vector], bars: Array, out: Array) -> None:
    """Of the nine numbers of R: adds the derivative by eta, where R changes by R hat(eta)."""
    for i in range(3):
        add_triple(out, ATTITUDE_BAR, cross(triple(bars, ROTATION + 3 * i), R[i]))


@kernel
def sample_back(
    par: Parameters,
    plan: Plan,
    command: Command,
    numbers: Array,
    nodes: Array,
    scalar_bars: Array,
    node_bars: Array,
    scratch: Scratch,
    out: Adjoint,
) -> None:
    """Add the derivatives by the motion at a sample, from those by its numbers."""
    N = par.N
    Q = (numbers[SAMPLE_QUATERNION], numbers[SAMPLE_QUATERNION + 1], numbers[SAMPLE_QUATERNION + 2])
    R = rotation_of((Q[0], Q[1], Q[2], numbers[SAMPLE_QUATERNION + 3]))
    q, v, p = nodes[SAMPLE_POSITION], nodes[SAMPLE_VELOCITY], nodes[SAMPLE_MOMENTUM]
    s, sigma, omega = numbers[SAMPLE_S], numbers[SAMPLE_SIGMA], triple(numbers, SAMPLE_OMEGA)
    Pi, time = triple(numbers, SAMPLE_SPIN), numbers[SAMPLE_TIME]
    at = Stage(0.0, s, R, sigma, omega, q, v)
    held = command.kind == BY_PROFILE
    q_bar, rates_bar, multipliers = out.nodes[POSITION_BAR], scratch.nodes[RATES_BAR], scratch.nodes[LAMBDA]
    kinetic, rotational, turning = scalar_bars[KINETIC], scalar_bars[ROTATIONAL], scalar_bars[ANGULAR_MOMENTUM]

    clear_nodes(rates_bar)
    for i in range(1, N + 1):
        place, rate = node_bars[0, i], node_bars[1, i]
        momentum = node(p, i)
        bar = add_scaled((place[0], place[1], place[2]), turning, cross(momentum, DOWN))
        add_to_node(q_bar, i, bar)
        put_node(rates_bar, i, add_scaled((rate[0], rate[1], rate[2]), kinetic, momentum))
    J_omega = apply(par.J, omega)
    omega_bar = add_scaled(add_scaled(triple(scalar_bars, ANGULAR_VELOCITY), kinetic, Pi), rotational, J_omega)
    for i in range(3):
        add_triple(out.numbers, BY_J + 3 * i, scale(0.5 * rotational * omega[i], omega))
    sigma_bar = scalar_bars[REEL_SPEED] + kinetic * numbers[SAMPLE_P_S]
    out.reel[S_BAR] += scalar_bars[REELED_LENGTH]
    rotation_back(R, scalar_bars, out.body)
    add_triple(out.body, ATTITUDE_BAR, scale(turning, cross(Pi, R[2])))
    if scalar_bars[ELASTIC] != 0.0:
        elastic_back(par, scalar_bars[ELASTIC], element_length(par, s), q, out)
    if scalar_bars[GRAVITY] != 0.0:
        gravity_back(par, scalar_bars[GRAVITY], s, q, R[2], out)
    out.reel[WORK_BAR] += scalar_bars[CONTROL_WORK]
    out.reel[LOSS_BAR] += scalar_bars[GUIDE_LOSS]

    if command.locked:
        x = rates_at_fixed_length_back(par, at, omega_bar, scratch)
    else:
        x = solve_transposed(par, held, at, 0.0, sigma_bar, omega_bar, scratch)
        if held:
            speed_back(command.profile, x.given, time, AT_KNOT * plan.h, numbers[SAMPLE_STEPS], out)
        else:
            table_back(command.times, time, scalar_bars[DRUM_TORQUE], out.torques)
            slope = table_slope(command.times, command.torques, time)
            out.numbers[BY_H] += scalar_bars[DRUM_TORQUE] * slope * numbers[SAMPLE_STEPS]
        out.reel[P_S_BAR] += x.reel
    for i in range(1, N + 1):
        put_node(rates_bar, i, add_scaled(scale(0.5 * kinetic, node(v, i)), -1.0, node(multipliers, i)))
        put_node(multipliers, i, add_scaled(node(multipliers, i), turning, cross(DOWN, node(q, i))))
    domega = add_scaled(scale(0.5 * kinetic, omega), -1.0, x.body)
    legendre_back(par, at, rates_bar, 0.5 * kinetic * sigma - x.reel, domega, out, scratch)
    spin_bar = add_scaled(x.body, turning, R[2])
    pending = numbers[SAMPLE_PENDING]
    if pending != 0.0:
        by_kick = impulse_back(par, pending, s, q, multipliers, 0.0, out)
        if par.rotates:
            bar, by_moment = moment_back(par, pending, R, spin_bar, out.numbers)
            add_triple(out.body, ATTITUDE_BAR, bar)
            by_kick += by_moment
        out.numbers[BY_H] += by_kick * pending / plan.h
    for j in range(0, N + 1, width(multipliers)):
        add_to_nodes(out.nodes[MOMENTUM_BAR], j, nodes_from(multipliers, j))
    add_triple(out.body, SPIN_BAR, spin_bar)
