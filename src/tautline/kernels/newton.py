"""The equations of a step with a moving reel (docs/theory.md, (18) to (22)), reduced to one for the reel's speed sigma.

At given sigma the equations of the nodes are linear in their mean velocities v, with scalar coefficients, and the
body's rotation is a small equation at their end. So sigma alone needs Newton's method: v(sigma) and its derivative
take a tridiagonal solution each, and one iteration is enough where sigma is guessed well.
One formula serves both schemes: with w_t = w + theta h (v_e - v_{e+1}) and l_t = l - theta h sigma/N the
two evaluations of the kinetic quadrature merge into one pass over the elements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.along import (
    load,
    nodes_from,
    places_from,
    previous,
    previous_nodes,
    put_nodes,
    spread,
    store,
    total,
    width,
)
from tautline.kernels.data import (
    ABOVE,
    AT_SIGMA,
    BELOW,
    BORDER,
    BY_SIGMA,
    DIAGONAL,
    MEAN_VELOCITY,
    MINOR,
    PRODUCT,
    PULL,
    RIGHT,
    Array,
    Parameters,
    Scratch,
)
from tautline.kernels.drum import PLAIN, Drum
from tautline.kernels.energy import element_length, reel_mass, transport_weights, weights_of_nodes
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import reduced_inertia
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, some, zero_like
from tautline.kernels.reels import solve_reel_row
from tautline.kernels.rotation import (
    MAX_ITERATIONS,
    lever_arm,
    mean_swing,
    mean_swing_along,
    solve_rotation,
)
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    dot,
    scale,
    select_vector,
    sub,
)
from tautline.kernels.tridiagonal import (
    backward,
    backward_with_border,
    divide_by_minors,
    forward,
    forward_with_minors,
)

# Of the leading minors of the mass matrix, over (mu l/6) each: 4 - 1/(4 - 1/...).
GROWTH = 2.0 + math.sqrt(3.0)
# Quadratic convergence: a correction x leaves an error of about (h/l) x^2. Stop when that is rounding of the speeds.
ERROR_LEFT = 1e-15
# Corrections below this part of the wave speed are rounding.
ROUNDING_FLOOR = 1e-14

ZERO = (0.0, 0.0, 0.0)


class Target(NamedTuple):
    """Left-hand sides of the step equations that are not nodes."""

    p_s: float  # without the guide law and what `drum` holds
    Pi: Vector
    at: Entrance
    drum: Drum = PLAIN


class Rates(NamedTuple):
    """Unknowns of the step that are not nodes."""

    sigma: float
    omega: Vector
    impulse: float = 0.0  # on s, of what leads, holds or rubs the drum


class Ends(NamedTuple):
    """Both ends of a step at given sigma, and how it is divided between them."""

    h_start: float
    h_end: float
    l: float  # length of the elements at the start
    l_1: float  # and at the end
    sigma: float


@kernel
def ends_of(par: Parameters, h: float, l: float, sigma: float) -> Ends:
    h_end = par.theta * h
    return Ends(h - h_end, h_end, l, l - h * (sigma / par.N), sigma)


@kernel
def weights_from(x: Array, N: int, e: int) -> tuple[float, float, float, float]:
    """Transport weights of the elements from e on, and 1; all zero behind the last element."""
    place = places_from(x, e)
    is_element = select(place < N - 0.5, spread(x, 1.0), spread(x, 0.0))
    alpha, beta, gamma = transport_weights(N, place)
    return is_element * alpha, is_element * beta, is_element * gamma, is_element


@kernel
def node_equations(
    par: Parameters, h: float, ends: Ends, q: Array, p: Array, kick: float, scratch: Scratch
) -> tuple[float, float]:
    """Coefficients of the node equations at given sigma, and right-hand sides p - kick dV/dq into RIGHT.

    All are multiplied by a number that makes neighbouring minors about equal; it is returned with the last diagonal.
    """
    N = par.N
    theta = par.theta
    sigma = ends.sigma
    pull, out = scratch.nodes[PULL], scratch.nodes[RIGHT]
    above, below = scratch.factor[ABOVE], scratch.factor[BELOW]
    product, diagonal = scratch.factor[PRODUCT], scratch.factor[DIAGONAL]
    sixth = par.mu * (ends.l - ends.h_end * (sigma / N)) / 6.0
    unit = 1.0 / (GROWTH * sixth)
    off = 1.0 / GROWTH
    flow = par.mu * sigma * unit
    to_start = flow * ends.h_start
    to_end = flow * ends.h_end
    skew = h * (2.0 * theta - 1.0) * flow
    quadratic = to_start * sigma / ends.l
    push = kick * unit
    weight = push * par.mu_g * ends.l
    last_weight = 0.5 * weight + push * par.weight
    nothing = spread(q, zero_like(sigma))
    beta_before = nothing
    carried = (nothing, nothing, nothing)
    for j in range(0, N + 1, width(q)):
        alpha, beta, gamma, _ = weights_from(q, N, j)
        up = off - (to_end * alpha + to_start * beta)
        down = off + (to_end * beta + to_start * alpha)
        store(above, j, up)
        store(below, j, down)
        store(product, j, up * down)
        store(diagonal, j, 4.0 * off + skew * (alpha - previous(q, beta_before, beta)))
        beta_before = beta
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        elastic = push * load(pull, j)
        right = scale(flow * beta + quadratic * gamma - elastic, w)
        r = add_scaled(scale(unit, nodes_from(p, j)), quadratic * gamma - flow * alpha - elastic, w)
        r = sub(r, previous_nodes(q, carried, right))
        put_nodes(out, j, (r[0], r[1], r[2] + weights_of_nodes(q, N, j, weight, last_weight)))
        carried = right
    last_beta = transport_weights(N, N - 1.0)[1]
    return unit, 2.0 * off - skew * last_beta + par.M * unit


class Sums(NamedTuple):
    """Sums over the elements that the reel's equation needs, over mu."""

    transport: float  # of w_t.D
    stretch: float  # of gamma |w|^2 at the start
    stretch_1: float  # and at the end
    speeds: float  # of |v_e|^2 + v_e.v_{e+1} + |v_{e+1}|^2, times 2


@kernel
def derivatives_by_sigma(par: Parameters, h: float, ends: Ends, q: Array, scratch: Scratch) -> Sums:
    """Derivatives of the node equations by sigma, negative and times the minors, into RIGHT; of the reel's into BORDER.

    Both over mu.
    """
    N = par.N
    v = scratch.nodes[AT_SIGMA]
    out, border, minor = scratch.nodes[RIGHT], scratch.nodes[BORDER], scratch.factor[MINOR]
    h_start, h_end, sigma = ends.h_start, ends.h_end, ends.sigma
    flow_start = 2.0 * h_start * sigma / ends.l
    flow_end = 2.0 * h_end * sigma / ends.l_1
    mass_end = h_end / (6.0 * N)
    mass_start = h_start / (6.0 * N)
    nothing = spread(q, zero_like(sigma))
    transport, stretch, stretch_1, speeds = nothing, nothing, nothing, nothing
    carried = (nothing, nothing, nothing)
    carried_border = (nothing, nothing, nothing)
    for j in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, j)
        v0, v1 = nodes_from(v, j), nodes_from(v, j + 1)
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        dv = sub(v0, v1)
        w_t = add_scaled(w, h_end, dv)
        w_1 = add_scaled(w, h, dv)
        D = add_scaled(scale(alpha, v0), beta, v1)
        gamma_w, gamma_w_1 = scale(gamma, w), scale(gamma, w_1)
        x = add_scaled(scale(h_start, D), flow_start, gamma_w)
        z = add_scaled(scale(h_end, D), flow_end, gamma_w_1)
        m0 = scale(is_element, add_scaled(v1, 2.0, v0))
        m1 = scale(is_element, add_scaled(v0, 2.0, v1))
        left = add_scaled(add_scaled(x, mass_end, m0), -alpha, w_t)
        right = add_scaled(sub(scale(mass_end, m1), x), -beta, w_t)
        reel_by_left = add_scaled(add_scaled(z, alpha, w_t), mass_start, m0)
        reel_by_right = add_scaled(sub(scale(beta, w_t), z), mass_start, m1)
        put_nodes(out, j, scale(load(minor, j), add(left, previous_nodes(q, carried, right))))
        put_nodes(border, j, add(reel_by_left, previous_nodes(q, carried_border, reel_by_right)))
        carried = right
        carried_border = reel_by_right
        transport += dot(w_t, D)
        stretch += dot(gamma_w, w)
        stretch_1 += dot(gamma_w_1, w_1)
        speeds += dot(v0, m0) + dot(v1, m1)
    return Sums(total(q, transport), total(q, stretch), total(q, stretch_1), total(q, speeds))


@kernel
def reel_row(
    par: Parameters, h: float, s: float, ends: Ends, sums: Sums, p_s: float, by_nodes: float
) -> tuple[float, float]:
    """Slope of the reel's equation with the nodes eliminated, and what is left of its left-hand side."""
    N = par.N
    theta = par.theta
    sigma = ends.sigma
    mass, slope = reel_mass(par, s)
    mass_1, slope_1 = reel_mass(par, s + h * sigma)
    start = sums.stretch / ends.l
    end = sums.stretch_1 / ends.l_1
    stretch = (1.0 - theta) * start + theta * end
    bent = sigma / N * (ends.h_end * end / ends.l_1 - ends.h_start * start / ends.l)
    pivot = (1.0 - theta) * (mass - h * slope * sigma) + theta * (mass_1 + h * slope_1 * sigma)
    pivot += par.mu * (stretch + bent + by_nodes)
    kinetic = sums.speeds / 6.0 - start / ends.l * sigma * sigma
    string = sums.transport + sigma * stretch + 0.5 * ends.h_start / N * kinetic
    drum = ((1.0 - theta) * (mass - 0.5 * h * slope * sigma) + theta * mass_1) * sigma
    return pivot, p_s - drum - par.mu * string


@kernel
def move_to_solution(N: int, not_converged: bool, along: float, scratch: Scratch) -> None:
    """Velocities that one iteration found into MEAN_VELOCITY, of what has not converged."""
    at, by_sigma, out_v = scratch.nodes[AT_SIGMA], scratch.nodes[BY_SIGMA], scratch.nodes[MEAN_VELOCITY]
    for j in range(0, N + 1, width(at)):
        v = add_scaled(nodes_from(at, j), along, nodes_from(by_sigma, j))
        put_nodes(out_v, j, select_vector(not_converged, v, nodes_from(out_v, j)))


class Correction(NamedTuple):
    """One iteration of Newton's method: velocities are AT_SIGMA + along BY_SIGMA."""

    rates: Rates
    dsigma: float
    along: float
    speed2: float  # |v_N|^2
    failed: bool  # the body's rotation was not found


@kernel
def newton_correction(
    par: Parameters,
    h: float,
    s: float,
    q: Array,
    p: Array,
    kick: float,
    R: Matrix,
    target: Target,
    rates: Rates,
    scratch: Scratch,
) -> Correction:
    """One correction of sigma; velocities and omega follow it but for an error of second order."""
    N = par.N
    ends = ends_of(par, h, element_length(par, s), rates.sigma)
    unit, last = node_equations(par, h, ends, q, p, kick, scratch)
    end = forward_with_minors(N, last, scratch)
    v_N = end.v
    t = unit * end.by_force
    omega = rates.omega
    by_b = (ZERO, ZERO, ZERO)
    swing = ZERO
    failed = t < 0.0  # never
    if par.rotates:
        b = sub(target.Pi, lever_arm(par, R, v_N))
        omega, by_b, failed = solve_rotation(reduced_inertia(par, t), h, b, omega)
        swing = mean_swing(h, omega, par.rho)
        v_N = add_scaled(v_N, -t * par.M, apply(R, swing))
    divide_by_minors(N, scratch)
    backward(N, v_N, scratch, scratch.nodes[AT_SIGMA])

    sums = derivatives_by_sigma(par, h, ends, q, scratch)
    v_N_slope = forward(N, end, scratch)  # over mu and `unit`, as all slopes here
    omega_slope = ZERO
    if par.rotates:
        omega_slope = scale(-1.0, apply(by_b, lever_arm(par, R, v_N_slope)))
        swing_slope = mean_swing_along(h, omega, par.rho, swing, omega_slope)
        v_N_slope = add_scaled(v_N_slope, -t * par.M, apply(R, swing_slope))
    by_nodes = par.mu * unit * backward_with_border(N, v_N_slope, scratch)

    pivot, left = reel_row(par, h, s, ends, sums, target.p_s, by_nodes)
    dsigma, impulse = solve_reel_row(par, target.drum, target.at, rates.sigma, ends.h_start, pivot, left)
    along = par.mu * unit * dsigma
    corrected = Rates(rates.sigma + dsigma, add_scaled(omega, along, omega_slope), impulse)
    return Correction(corrected, dsigma, along, dot(v_N, v_N), failed)


@inlined
def solve_rates(
    par: Parameters,
    h: float,
    s: float,
    q: Array,
    p: Array,
    kick: float,
    R: Matrix,
    target: Target,
    rates: Rates,
    scratch: Scratch,
) -> tuple[Rates, bool, float]:
    """Newton's method on sigma, from momenta p of the nodes and an impulse of V for the time `kick`.

    Returns whether it failed, and the number of iterations; mean velocities are in MEAN_VELOCITY.

    At h = 0 the equations are linear and this inverts the Legendre transform. A member of a batch that has converged
    waits for the others, as it is.
    """
    floor2 = ROUNDING_FLOOR * ROUNDING_FLOOR * par.EA / par.mu
    strength = h / element_length(par, s)
    not_converged = zero_like(rates.sigma) == 0.0
    failed = zero_like(rates.sigma) != 0.0
    iterations = zero_like(rates.sigma)
    for _ in range(MAX_ITERATIONS):
        x = newton_correction(par, h, s, q, p, kick, R, target, rates, scratch)
        move_to_solution(par.N, not_converged, x.along, scratch)
        rates = Rates(
            select(not_converged, x.rates.sigma, rates.sigma),
            select_vector(not_converged, x.rates.omega, rates.omega),
            select(not_converged, x.rates.impulse, rates.impulse),
        )
        iterations += select(not_converged, 1.0, 0.0)
        correction2 = x.dsigma * x.dsigma
        error = strength * correction2
        speed2 = rates.sigma * rates.sigma + x.speed2
        goes_on = (error * error > ERROR_LEFT * ERROR_LEFT * speed2) & (correction2 > floor2)
        is_small = (error * error <= ERROR_LEFT * ERROR_LEFT * speed2) | (correction2 <= floor2)
        # what is not a number settles at once, and has failed
        lost = (correction2 != correction2) | (correction2 == math.inf) | (speed2 != speed2)
        failed = failed | (not_converged & (lost | (is_small & x.failed)))
        not_converged = not_converged & goes_on
        if not some(not_converged):
            break
    return rates, failed | not_converged, iterations
