"""Forces on the reel coordinate s besides those of the potential (docs/theory.md, "The guide")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.data import (
    LAW_DISSIPATIVE,
    LAW_MOMENTUM,
    LAW_NONE,
    LAW_STRETCHED,
    LINEAR,
    Array,
    Command,
    Parameters,
)
from tautline.kernels.energy import tension_and_energy
from tautline.kernels.jit import kernel
from tautline.kernels.spooled import spooled_strain
from tautline.kernels.tables import linear_at, weighted_mean

# Bisection alone would need about 60 halvings; Newton's method needs two to ten.
MAX_ITERATIONS = 100
LAST_CORRECTION = 1e-15


class Entrance(NamedTuple):
    """Strains on the two sides of the guide entrance."""

    strain: float  # outside
    spooled: float  # inside, law `stretched` only


@kernel
def entrance(par: Parameters, reel: Array, s: float, strain: float) -> Entrance:
    if par.law == LAW_STRETCHED:
        return Entrance(strain, spooled_strain(par, reel, s))
    return Entrance(strain, 0.0)


@kernel
def spooled_force(par: Parameters, at: Entrance) -> float:
    """-W(spooled), the part of Q that does not depend on sigma; 0 but for the law `stretched`."""
    return -0.5 * par.EA * at.spooled * at.spooled


@kernel
def stretched_force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Equation 63 less -W(spooled): what comes in brings its strain, what goes out changes it with loss."""
    norm = math.sqrt(sigma * sigma + par.sigma_0 * par.sigma_0)
    sign = sigma / norm
    sign_slope = par.sigma_0 * par.sigma_0 / (norm * norm * norm)
    if sigma >= 0.0:
        k = 0.5 * par.EA * (at.strain * at.strain - at.spooled * at.spooled)
        return -sign * k, -sign_slope * k
    jump2 = (at.strain - at.spooled) * (at.strain - at.spooled)
    k = 0.5 * (par.EA + par.mu * sigma * sigma) * jump2
    return -sign * k, -sign_slope * k - sign * par.mu * sigma * jump2


@kernel
def strain_loss(par: Parameters, strain: float, retrieves: bool) -> float:
    """What a unit of length loses when its strain goes at once: W - F(0) strain coming in, F strain - W going out.

    The side that the string goes to takes it at its own tension (equation 16); where F is linear both are the same.
    """
    if par.elastic_law == LINEAR:
        return 0.5 * par.EA * strain * strain
    tension, energy = tension_and_energy(par, strain)
    if retrieves:
        return energy - tension_and_energy(par, 0.0)[0] * strain
    return tension * strain - energy


@kernel
def carnot_force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Q and dQ/dsigma: the force of the jump of speed and strain at the guide entrance (equations 16, 60 and 63)."""
    if par.law == LAW_NONE:
        return 0.0, 0.0
    if par.law == LAW_STRETCHED:
        return stretched_force(par, at, sigma)
    strain = at.strain
    half_strain2 = 0.5 * strain * strain
    slope = 2.0 * par.mu * sigma * half_strain2
    if par.law == LAW_MOMENTUM:
        return (par.EA - par.mu * sigma * sigma) * half_strain2, -slope
    # the paper's formula is that of retrieval, whichever way the reel turns
    retrieves = sigma >= 0.0 or par.law != LAW_DISSIPATIVE
    loss = par.mu * sigma * sigma * half_strain2 + strain_loss(par, strain, retrieves)
    if par.law == LAW_DISSIPATIVE:
        norm = math.sqrt(sigma * sigma + par.sigma_0 * par.sigma_0)
        sign = sigma / norm
        sign_slope = par.sigma_0 * par.sigma_0 / (norm * norm * norm)
        return -sign * loss, -sign * slope - sign_slope * loss
    return -loss, -slope


@kernel
def solve_with_carnot_force(
    par: Parameters, at: Entrance, sigma: float, h: float, pivot: float, residual: float
) -> float:
    """x from pivot x = residual + h Q(sigma + x): the correction of sigma, all else eliminated.

    The smoothed sign of the dissipative law bends within sigma_0, where a linearised Q would let Newton's
    method jump to and fro. For h > 0 the equation is monotone, and its solution lies between the one
    without loss and the standstill of the reel: Newton's method is kept inside that bracket. A stage of
    order 4 or 6 that goes back in time (h < 0) has no such bracket, and near standstill perhaps no single
    solution; then the correction that is returned does not converge, and the run ends with that status. Nor has the
    law `stretched` where less strain comes in than is spooled: there Q helps, and bends too little to need one.
    """
    x = residual / pivot
    resists = par.law == LAW_DISSIPATIVE or (par.law == LAW_STRETCHED and abs(at.strain) >= abs(at.spooled))
    bracketed = resists and h > 0.0
    low = min(x, -sigma)
    high = max(x, -sigma)
    for _ in range(MAX_ITERATIONS):
        Q, slope = carnot_force(par, at, sigma + x)
        error = pivot * x - residual - h * Q
        if error > 0.0:
            high = min(high, x)
        else:
            low = max(low, x)
        before = x
        x -= error / (pivot - h * slope)
        if bracketed and not low <= x <= high:
            x = 0.5 * (low + high)
        if abs(x - before) <= LAST_CORRECTION * abs(sigma + x):
            return x
    return x


@kernel
def torque_at(command: Command, t: float) -> float:
    """Moment of the motor or of the brake at a time."""
    return linear_at(command.times, command.torques, t)


@kernel
def mean_torque(par: Parameters, command: Command, near: float, far: float) -> float:
    """Moment that acts at the near end of a step for its part of the step (equation 80)."""
    if command.pointwise:
        return torque_at(command, near)
    mean = weighted_mean(command.times, command.torques, near, far)
    if par.theta == 0.0 and len(command.times) > 1:  # the paper's scheme gives all of it at the start
        mean = 0.5 * (mean + weighted_mean(command.times, command.torques, far, near))
    return mean
