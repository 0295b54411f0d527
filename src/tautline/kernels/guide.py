"""Forces on the reel coordinate s besides those of the potential (docs/theory.md, "The guide way")."""

from __future__ import annotations

import math

from tautline.kernels.data import LAW_DISSIPATIVE, LAW_NONE, Array, Command, Parameters
from tautline.kernels.jit import kernel


@kernel
def carnot_force(par: Parameters, strain: float, sigma: float) -> tuple[float, float]:
    """Q and dQ/dsigma: the loss where the string changes speed and strain at the guide entrance."""
    if par.law == LAW_NONE:
        return 0.0, 0.0
    half_strain2 = 0.5 * strain * strain
    loss = (par.mu * sigma * sigma + par.EA) * half_strain2
    slope = 2.0 * par.mu * sigma * half_strain2
    if par.law == LAW_DISSIPATIVE:
        norm = math.sqrt(sigma * sigma + par.sigma_0 * par.sigma_0)
        sign = sigma / norm
        sign_slope = par.sigma_0 * par.sigma_0 / (norm * norm * norm)
        return -sign * loss, -sign * slope - sign_slope * loss
    return -loss, -slope


@kernel
def torque_at(command: Command, t: float) -> float:
    """Piecewise linear in the table, held outside it."""
    times: Array = command.times
    torques: Array = command.torques
    last = len(times) - 1
    if t >= times[last]:
        return float(torques[last])
    if t <= times[0]:
        return float(torques[0])
    low = 0
    high = last
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle
    x = (t - times[low]) / (times[high] - times[low])
    return float((1.0 - x) * torques[low] + x * torques[high])
