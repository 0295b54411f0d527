"""Adjoint of a sample (docs/theory.md, (B8) and (B10))."""

from __future__ import annotations

import math

from tautline import registry
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.boundary import Acting, boundary_back
from tautline.kernels.adjoint.data import Adjoint, Setting, add_length
from tautline.kernels.adjoint.guide import table_back, table_slope
from tautline.kernels.adjoint.legendre import legendre_back
from tautline.kernels.adjoint.reeling import Stage
from tautline.kernels.data import (
    Array,
    Motion,
    Parameters,
    Scratch,
    account,
    add_to_node,
    add_triple,
    clear_nodes,
    node,
    node_stride,
    put_node,
    triple,
)
from tautline.kernels.elastic import elastic_partials
from tautline.kernels.energy import all_momenta, element_length, spooled_above
from tautline.kernels.jit import kernel, separate
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, add, add_scaled, apply, cross, dot, scale, sub

DOWN = (0.0, 0.0, 1.0)
DAMPING_LOSS, FLUID_WORK = (account(registry.LOADS[name].account) for name in ("damping", "drag"))


@kernel
def elastic_back(par: Parameters, k: float, l: float, q: Array, out: Adjoint) -> None:
    """Adjoint of k V_el: adds derivatives by q, l and EA."""
    q_bar = out.nodes[adjoint.POSITION_BAR]
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
    out.numbers[adjoint.BY_EA] += k * energy
    add_length(par, k * l_bar, out)


@kernel
def gravity_back(par: Parameters, k: float, s: float, q: Array, r_3: Vector, out: Adjoint) -> None:
    """Adjoint of k times the gravity energy of string and body: adds those by q, s, attitude and parameters."""
    N = par.N
    l = element_length(par, s)
    z = 2 * node_stride(q)
    q_bar, numbers = out.nodes[adjoint.POSITION_BAR], out.numbers
    depth = 2.0 * N * par.r_p[2]
    for e in range(N):
        depth += q[z + e] + q[z + e + 1]
    for i in range(1, N + 1):
        q_bar[z + i] -= k * par.mu_g * l * (1.0 if i < N else 0.5)
    q_bar[z + N] -= k * par.weight
    spooled, height = s - par.b, par.r_p[2] - par.b
    angle = spooled / par.d
    sine, cosine = math.sin(angle), math.cos(angle)
    numbers[adjoint.BY_WEIGHT] -= k * (par.r_p[2] + q[z + N])
    add_triple(numbers, adjoint.BY_WEIGHT_RHO, scale(-k, r_3))
    add_triple(out.body, adjoint.ATTITUDE_BAR, scale(-k, cross(par.weight_rho, r_3)))
    numbers[adjoint.BY_MU_G] -= k * (0.5 * l * depth + spooled * height - spooled_above(par, s))
    add_length(par, -0.5 * k * par.mu_g * depth, out)
    out.reel[adjoint.S_BAR] -= k * par.mu_g * (height - par.d * sine)
    numbers[adjoint.BY_HEIGHT] -= k * (par.mu_g * (l * N + spooled) + par.weight)
    numbers[adjoint.BY_B] -= k * par.mu_g * (par.d * sine - height - spooled)
    numbers[adjoint.BY_D] += k * par.mu_g * (2.0 * par.d * (1.0 - cosine) - spooled * sine)


@kernel
def rotation_back(R: tuple[Vector, Vector, Vector], bars: Array, out: Array) -> None:
    """Adjoint of the nine numbers of R: adds the derivative by eta, where R changes by R hat(eta)."""
    for i in range(3):
        add_triple(out, adjoint.ATTITUDE_BAR, cross(triple(bars, data.ROTATION + 3 * i), R[i]))


@separate
def sample_back(
    x: Setting,
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
    par, command = x.par, x.command
    N = par.N
    R, q, s = attitude(motion.body), motion.nodes[data.POSITION], motion.reel[data.S]
    sigma, omega = rates.sigma, rates.omega
    at = Stage(0.0, s, R, sigma, omega, q, v)
    time, steps = last[adjoint.AT_END], last[adjoint.AT_BASE] + last[adjoint.AT_PART]
    kinetic, rotational, turning = bars[data.KINETIC], bars[data.ROTATIONAL], bars[data.ANGULAR_MOMENTUM]
    q_bar, p = out.nodes[adjoint.POSITION_BAR], scratch.nodes[data.TARGET]
    rates_bar, along = scratch.nodes[data.GUESS], scratch.nodes[adjoint.LAMBDA]

    p_s, Pi = all_momenta(par, s, sigma, q, v, R, omega, p)
    clear_nodes(rates_bar)
    clear_nodes(along)
    for i in range(1, N + 1):
        place, rate, momentum = node_bars[0, i], node_bars[1, i], node(p, i)
        add_to_node(q_bar, i, add_scaled((place[0], place[1], place[2]), turning, cross(momentum, DOWN)))
        put_node(rates_bar, i, add_scaled((rate[0], rate[1], rate[2]), kinetic, momentum))
        put_node(along, i, scale(turning, cross(DOWN, node(q, i))))
    J_omega = apply(par.J, omega)
    omega_bar = add_scaled(add_scaled(triple(bars, data.ANGULAR_VELOCITY), kinetic, Pi), rotational, J_omega)
    for i in range(3):
        add_triple(out.numbers, adjoint.BY_J + 3 * i, scale(0.5 * rotational * omega[i], omega))
    sigma_bar = bars[data.REEL_SPEED] + kinetic * p_s
    out.reel[adjoint.S_BAR] += bars[data.REELED_LENGTH]
    rotation_back(R, bars, out.body)
    add_triple(out.body, adjoint.ATTITUDE_BAR, scale(turning, cross(Pi, R[2])))
    if bars[data.ELASTIC] != 0.0:
        elastic_back(par, bars[data.ELASTIC], element_length(par, s), q, out)
    if bars[data.GRAVITY] != 0.0:
        gravity_back(par, bars[data.GRAVITY], s, q, R[2], out)
    if not command.locked and command.kind == data.BY_TORQUE:
        table_back(command.times, time, bars[data.DRUM_TORQUE], out.torques)
        slope = table_slope(command.times, command.torques, time)
        out.numbers[adjoint.BY_H] += bars[data.DRUM_TORQUE] * slope * steps

    # momenta of the sample are those of its velocities
    domega = scale(turning, R[2])
    if turning != 0.0:
        p_s, Pi = all_momenta(par, s, 0.0, q, along, R, domega, p)
        sigma_bar, omega_bar = sigma_bar + p_s, add(omega_bar, Pi)
        for i in range(1, N + 1):
            add_to_node(rates_bar, i, node(p, i))
    if turning != 0.0 or kinetic != 0.0:
        for i in range(1, N + 1):
            add_to_node(along, i, scale(0.5 * kinetic, node(v, i)))
        domega = add_scaled(domega, 0.5 * kinetic, omega)
        legendre_back(par, at, along, 0.5 * kinetic * sigma, domega, out)
    back = motion.reel[data.LOADS_PENDING]
    lost, gained = -back * bars[DAMPING_LOSS], back * bars[FLUID_WORK]
    acting = Acting(time, steps, x.plan.h, back, 0.0, 0.0, lost, gained, back * bars[data.EXTERNAL_WORK])
    boundary_back(x, acting, motion, v, rates, sigma_bar, omega_bar, scratch, out)
    reel = out.reel
    reel[adjoint.WORK_BAR] += bars[data.CONTROL_WORK]
    reel[adjoint.LOSS_BAR] += bars[data.GUIDE_LOSS]
    reel[adjoint.DAMPING_BAR] += bars[DAMPING_LOSS]
    reel[adjoint.FLUID_BAR] += bars[FLUID_WORK]
    reel[adjoint.EXTERNAL_BAR] += bars[data.EXTERNAL_WORK]
    reel[adjoint.FRICTION_BAR] += bars[data.FRICTION_LOSS]
