"""The equations of a step with a moving reel (docs/theory.md, (18) to (22)), reduced to one for the reel's speed sigma.

At given sigma the equations of the nodes are linear in their mean velocities v, with scalar coefficients, and the
body's rotation is a small equation at their end. So sigma alone needs Newton's method: v(sigma) and its derivative
take a tridiagonal solution each, and one iteration is enough where sigma is guessed well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, width
from tautline.kernels.data import Array, Parameters, Scratch, node, put_node
from tautline.kernels.drum import PLAIN, Drum
from tautline.kernels.energy import element_length
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import reduced_inertia
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.lanes import select, some, zero_like
from tautline.kernels.reels import solve_reel_row
from tautline.kernels.rotation import (
    MAX_ITERATIONS,
    lever_arm,
    mean_swing,
    mean_swing_along,
    solve_rotation,
)
from tautline.kernels.so3 import ZERO, Matrix, Vector, add_scaled, apply, dot, scale, select_vector, sub
from tautline.kernels.step_equations import (
    derivatives_by_sigma,
    ends_of,
    node_equations,
    reel_row,
    sums_over_elements,
)
from tautline.kernels.tangents import values_of
from tautline.kernels.tridiagonal import (
    backward,
    backward_with_border,
    divide_by_minors,
    forward,
    forward_with_minors,
)

# Quadratic convergence: a correction x leaves an error of about (h/l) x^2. Stop when that is rounding of the speeds.
ERROR_LEFT = 1e-15
# Corrections below this part of the wave speed are rounding.
ROUNDING_FLOOR = 1e-14


class Target(NamedTuple):
    """Left-hand sides of the step equations that are not nodes."""

    p_s: float  # without the guide law and what `drum` holds
    Pi: Vector
    at: Entrance
    drum: Drum = PLAIN


class Equations(NamedTuple):
    """Knowns of a step of length h: where it starts, and left-hand sides."""

    h: float
    s: float
    q: Array
    p: Array  # momenta of the nodes
    kick: float  # time for which V gives them an impulse
    R: Matrix
    target: Target


class Rates(NamedTuple):
    """Unknowns of the step that are not nodes."""

    sigma: float
    omega: Vector
    impulse: float = 0.0  # on s, of what leads, holds or rubs the drum


@kernel
def move_to_solution(N: int, not_converged: bool, along: float, scratch: Scratch) -> None:
    """Velocities that one iteration found into MEAN_VELOCITY, of what has not converged."""
    at, by_sigma, out_v = scratch.nodes[data.AT_SIGMA], scratch.nodes[data.BY_SIGMA], scratch.nodes[data.MEAN_VELOCITY]
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
    pivot: float  # slope of the reel's equation, all else eliminated
    omega_slope: Vector  # of omega by sigma, over mu and the unit of the node equations


@kernel
def newton_correction(par: Parameters, x: Equations, rates: Rates, scratch: Scratch) -> Correction:
    """One correction of sigma; velocities and omega follow it but for an error of second order."""
    N = par.N
    h, s, q, R, target = x.h, x.s, x.q, x.R, x.target
    ends = ends_of(par, h, element_length(par, s), rates.sigma)
    unit, last = node_equations(par, h, ends, q, x.p, x.kick, scratch)
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
    backward(N, v_N, scratch, scratch.nodes[data.AT_SIGMA])

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
    return Correction(corrected, dsigma, along, dot(v_N, v_N), failed, pivot, omega_slope)


@inlined
def solve_rates(par: Parameters, equations: Equations, rates: Rates, scratch: Scratch) -> tuple[Rates, bool, float]:
    """Newton's method on sigma.

    Returns whether it failed, and the number of iterations; mean velocities are in MEAN_VELOCITY.

    At h = 0 the equations are linear and this inverts the Legendre transform. A member of a batch that has converged
    waits for the others, as it is.
    """
    floor2 = ROUNDING_FLOOR * ROUNDING_FLOOR * par.EA / par.mu
    strength = equations.h / element_length(par, equations.s)
    not_converged = zero_like(rates.sigma) == 0.0
    failed = zero_like(rates.sigma) != 0.0
    iterations = zero_like(rates.sigma)
    for _ in range(MAX_ITERATIONS):
        x = newton_correction(par, equations, rates, scratch)
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


@separate
def rates_with_tangents(
    par: Parameters, equations: Equations, rates: Rates, scratch: Scratch
) -> tuple[Rates, bool, float]:
    """`solve_rates` with tangents: values by Newton's method on values alone, then a correction with its slopes there.

    So tangents are found by one linear solution (implicit function theorem).
    """
    plain = values_of((par, equations, scratch))
    settled, failed, iterations = solve_rates(plain[0], plain[1], values_of(rates), plain[2])
    slopes = newton_correction(plain[0], plain[1], settled, plain[2])
    N = par.N
    h, s, q, R, target = equations.h, equations.s, equations.q, equations.R, equations.target
    # for a driven reel the guess is the speed itself, with its tangents; of others they are corrected below
    sigma = settled.sigma + (rates.sigma - values_of(rates.sigma))
    ends = ends_of(par, h, element_length(par, s), sigma)
    unit, last = node_equations(par, h, ends, q, equations.p, equations.kick, scratch)
    end = forward_with_minors(N, last, scratch)
    v_N, omega = end.v, settled.omega
    if par.rotates:
        t = unit * end.by_force
        b = sub(target.Pi, lever_arm(par, R, v_N))
        omega, _, _ = solve_rotation(reduced_inertia(par, t), h, b, omega)
        v_N = add_scaled(v_N, -t * par.M, apply(R, mean_swing(h, omega, par.rho)))
    divide_by_minors(N, scratch)
    backward(N, v_N, scratch, scratch.nodes[data.AT_SIGMA])
    sums = sums_over_elements(par, h, ends, q, scratch)
    _, left = reel_row(par, h, s, ends, sums, target.p_s, 0.0)
    dsigma, impulse = solve_reel_row(par, target.drum, target.at, sigma, ends.h_start, slopes.pivot, left)
    along = values_of(par.mu * unit) * dsigma
    v, by_sigma, out_v = scratch.nodes[data.AT_SIGMA], plain[2].nodes[data.BY_SIGMA], scratch.nodes[data.MEAN_VELOCITY]
    for j in range(N + 1):
        put_node(out_v, j, add_scaled(node(v, j), along, node(by_sigma, j)))
    found = Rates(sigma + dsigma, add_scaled(omega, along, slopes.omega_slope), impulse)
    return found, failed, iterations
