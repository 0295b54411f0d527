"""Adjoint of a sample (docs/theory.md, (B8) and (B10))."""

from __future__ import annotations

import math

from tautline import registry
from tautline.kernels.adjoint.boundary import Acting, boundary_back
from tautline.kernels.adjoint.data import (
    AT_BASE,
    AT_END,
    AT_PART,
    ATTITUDE_BAR,
    BY_B,
    BY_D,
    BY_EA,
    BY_H,
    BY_HEIGHT,
    BY_J,
    BY_MU_G,
    BY_WEIGHT,
    BY_WEIGHT_RHO,
    DAMPING_BAR,
    EXTERNAL_BAR,
    FLUID_BAR,
    FRICTION_BAR,
    LAMBDA,
    LOSS_BAR,
    POSITION_BAR,
    S_BAR,
    WORK_BAR,
    Adjoint,
    add_length,
    add_triple,
)
from tautline.kernels.adjoint.guide import table_back, table_slope
from tautline.kernels.adjoint.legendre import legendre_back
from tautline.kernels.adjoint.reeling import Stage
from tautline.kernels.data import (
    ANGULAR_MOMENTUM,
    ANGULAR_VELOCITY,
    BY_TORQUE,
    CONTROL_WORK,
    DRUM_TORQUE,
    ELASTIC,
    EXTERNAL_WORK,
    FRICTION_LOSS,
    GRAVITY,
    GUESS,
    GUIDE_LOSS,
    KINETIC,
    LOADS_PENDING,
    POSITION,
    REEL_SPEED,
    REELED_LENGTH,
    ROTATION,
    ROTATIONAL,
    TARGET,
    Array,
    Command,
    Loads,
    Motion,
    Parameters,
    Plan,
    S,
    Scratch,
    account,
    add_to_node,
    clear_nodes,
    node,
    node_stride,
    put_node,
    triple,
)
from tautline.kernels.elastic import elastic_partials
from tautline.kernels.energy import body_momenta, element_length, momenta, spooled_above
from tautline.kernels.jit import kernel, separate
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, add, add_scaled, apply, cross, dot, scale, sub

DOWN = (0.0, 0.0, 1.0)
DAMPING_LOSS, FLUID_WORK = (account(registry.LOADS[name].account) for name in ("damping", "drag"))


@kernel
def elastic_back(par: Parameters, k: float, l: float, q: Array, out: Adjoint) -> None:
    """Adjoint of k V_el: adds derivatives by q, l and EA."""
    q_bar = out.nodes[POSITION_BAR]
    energy, l_bar = 0.0, 0.0
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = math.sqrt(dot(w, w))
        stretch = length / l
        own, tension, _ = elastic_partials(par, stretch - 1.0)
        force = scale(k * par.EA * tension / length, w)
        add_to_node(q_bar, e + 1, force)
        if e > 0:
            add_to_node(q_bar, e, scale(-1.0, force))
        energy += l * own
        l_bar += par.EA * (own - tension * stretch)
    out.numbers[BY_EA] += k * energy
    add_length(par, k * l_bar, out)


@kernel
def gravity_back(par: Parameters, k: float, s: float, q: Array, r_3: Vector, out: Adjoint) -> None:
    """Adjoint of k times the gravity energy of string and body: adds those by q, s, attitude and parameters."""
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
def rotation_back(R: tuple[Vector, Vector, Vector], bars: Array, out: Array) -> None:
    """Adjoint of the nine numbers of R: adds the derivative by eta, where R changes by R hat(eta)."""
    for i in range(3):
        add_triple(out, ATTITUDE_BAR, cross(triple(bars, ROTATION + 3 * i), R[i]))


@kernel
def momenta_of(par: Parameters, at: Stage, v: Array, sigma: float, omega: Vector, out: Array) -> tuple[float, Vector]:
    """Momenta that velocities have at a configuration: of nodes into `out`, of reel and body."""
    p_s = momenta(par, at.s, sigma, at.q, v, out)
    linear, Pi = body_momenta(par, node(v, par.N), at.R, omega)
    add_to_node(out, par.N, linear)
    return p_s, Pi


@separate
def sample_back(
    par: Parameters,
    plan: Plan,
    command: Command,
    loads: Loads,
    motion: Motion,
    last: Array,
    v: Array,
    rates: Rates,
    bars: Array,
    node_bars: Array,
    scratch: Scratch,
    out: Adjoint,
) -> None:
    """Add the derivatives by the motion at a sample, from those by its numbers.

    `v` and `rates` are its velocities, and `last` are the numbers of the stage that ends there.
    """
    N = par.N
    R, q, s = attitude(motion.body), motion.nodes[POSITION], motion.reel[S]
    sigma, omega = rates.sigma, rates.omega
    at = Stage(0.0, s, R, sigma, omega, q, v)
    time, steps = last[AT_END], last[AT_BASE] + last[AT_PART]
    kinetic, rotational, turning = bars[KINETIC], bars[ROTATIONAL], bars[ANGULAR_MOMENTUM]
    q_bar, p = out.nodes[POSITION_BAR], scratch.nodes[TARGET]
    rates_bar, along = scratch.nodes[GUESS], scratch.nodes[LAMBDA]

    p_s, Pi = momenta_of(par, at, v, sigma, omega, p)
    clear_nodes(rates_bar)
    clear_nodes(along)
    for i in range(1, N + 1):
        place, rate, momentum = node_bars[0, i], node_bars[1, i], node(p, i)
        add_to_node(q_bar, i, add_scaled((place[0], place[1], place[2]), turning, cross(momentum, DOWN)))
        put_node(rates_bar, i, add_scaled((rate[0], rate[1], rate[2]), kinetic, momentum))
        put_node(along, i, scale(turning, cross(DOWN, node(q, i))))
    J_omega = apply(par.J, omega)
    omega_bar = add_scaled(add_scaled(triple(bars, ANGULAR_VELOCITY), kinetic, Pi), rotational, J_omega)
    for i in range(3):
        add_triple(out.numbers, BY_J + 3 * i, scale(0.5 * rotational * omega[i], omega))
    sigma_bar = bars[REEL_SPEED] + kinetic * p_s
    out.reel[S_BAR] += bars[REELED_LENGTH]
    rotation_back(R, bars, out.body)
    add_triple(out.body, ATTITUDE_BAR, scale(turning, cross(Pi, R[2])))
    if bars[ELASTIC] != 0.0:
        elastic_back(par, bars[ELASTIC], element_length(par, s), q, out)
    if bars[GRAVITY] != 0.0:
        gravity_back(par, bars[GRAVITY], s, q, R[2], out)
    if not command.locked and command.kind == BY_TORQUE:
        table_back(command.times, time, bars[DRUM_TORQUE], out.torques)
        slope = table_slope(command.times, command.torques, time)
        out.numbers[BY_H] += bars[DRUM_TORQUE] * slope * steps

    # momenta of the sample are those of its velocities
    domega = scale(turning, R[2])
    if turning != 0.0:
        p_s, Pi = momenta_of(par, at, along, 0.0, domega, p)
        sigma_bar, omega_bar = sigma_bar + p_s, add(omega_bar, Pi)
        for i in range(1, N + 1):
            add_to_node(rates_bar, i, node(p, i))
    if turning != 0.0 or kinetic != 0.0:
        for i in range(1, N + 1):
            add_to_node(along, i, scale(0.5 * kinetic, node(v, i)))
        domega = add_scaled(domega, 0.5 * kinetic, omega)
        legendre_back(par, at, along, 0.5 * kinetic * sigma, domega, out)
    back = motion.reel[LOADS_PENDING]
    lost, gained = -back * bars[DAMPING_LOSS], back * bars[FLUID_WORK]
    acting = Acting(time, steps, plan.h, back, 0.0, 0.0, lost, gained, back * bars[EXTERNAL_WORK])
    boundary_back(par, loads, command, acting, motion, v, rates, sigma_bar, omega_bar, scratch, out)
    reel = out.reel
    reel[WORK_BAR] += bars[CONTROL_WORK]
    reel[LOSS_BAR] += bars[GUIDE_LOSS]
    reel[DAMPING_BAR] += bars[DAMPING_LOSS]
    reel[FLUID_BAR] += bars[FLUID_WORK]
    reel[EXTERNAL_BAR] += bars[EXTERNAL_WORK]
    reel[FRICTION_BAR] += bars[FRICTION_LOSS]
