"""Piecewise functions of one variable: where a value lies, linear interpolation, and weighted means over a step."""

from __future__ import annotations

from tautline.kernels.data import Array
from tautline.kernels.jit import kernel


@kernel
def last_knot(knots: Array, x: float) -> int:
    """Index of the last knot that is not beyond x; 0 before the first."""
    low = 0
    high = len(knots)
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@kernel
def linear_at(knots: Array, values: Array, x: float) -> float:
    """Value of a table at x: linear between the knots, held outside them."""
    i = last_knot(knots, x)
    if i == len(knots) - 1 or x <= knots[0]:
        return float(values[i])
    y = (x - knots[i]) / (knots[i + 1] - knots[i])
    return float((1.0 - y) * values[i] + y * values[i + 1])


@kernel
def weighted_mean(knots: Array, values: Array, near: float, far: float) -> float:
    """Mean of a table between two times, with weights that fall from 2 at `near` to 0 at `far` (equation 80).

    Exact, whatever lies between the times: half of the step times this is the impulse that a force gives at the near
    end of the step, and the impulses at both ends make up all of its impulse.
    """
    if len(knots) == 1:
        return float(values[0])
    step = far - near
    if step == 0.0:
        return linear_at(knots, values, near)
    end = max(near, far)
    a = min(near, far)
    F_a = linear_at(knots, values, a)
    i = last_knot(knots, a)
    if a < knots[0]:
        i = -1
    total = 0.0
    while a < end:
        i += 1
        b = end
        if i < len(knots):
            b = min(end, knots[i])
        F_b = linear_at(knots, values, b)
        w_a = (far - a) / step
        w_b = (far - b) / step
        total += (b - a) * (F_a * (2.0 * w_a + w_b) + F_b * (w_a + 2.0 * w_b))
        a = b
        F_a = F_b
    return total / (3.0 * abs(step))
