"""Piecewise functions of one variable: polynomials, linear interpolation, and weighted means over a step.

Piecewise polynomials are arrays with a column a piece: in row 0 the knots from which they hold, below them the
coefficients of powers of the distance to the knot, constant first. The first piece also holds before its knot.
"""

from __future__ import annotations

from tautline.kernels.data import Array
from tautline.kernels.jit import kernel, separate
from tautline.kernels.so3 import Vector


@kernel
def last_knot(knots: Array, x: float) -> int:
    """Index of the last knot that is not beyond x; 0 before the first.

    Looked for where it is if knots are evenly spaced, and then by halving.
    """
    low = 0
    high = len(knots)
    if high > 2 and knots[0] < x < knots[high - 1]:
        guess = int((x - knots[0]) / (knots[high - 1] - knots[0]) * (high - 1))
        if 0 < guess < high - 1:
            if knots[guess] <= x:
                low = guess
                high = guess + 1 if x < knots[guess + 1] else high
            else:
                high = guess
                low = guess - 1 if knots[guess - 1] <= x else low
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@kernel
def polynomial(pieces: Array, i: int, first: int, count: int, x: float) -> tuple[float, float, float]:
    """Value, slope and second derivative at a distance x from knot i, by Horner's rule.

    Of the polynomial with `count` coefficients from row `first` on.
    """
    value = 0.0
    slope = 0.0
    half_second = 0.0
    for j in range(first + count - 1, first - 1, -1):
        half_second = half_second * x + slope
        slope = slope * x + value
        value = value * x + pieces[j, i]
    return value, slope, 2.0 * half_second


@kernel
def curve_at(pieces: Array, x: float) -> tuple[float, float, float]:
    """Value, slope and second derivative of a piecewise polynomial."""
    i = last_knot(pieces[0], x)
    return polynomial(pieces, i, 1, pieces.shape[0] - 1, x - pieces[0, i])


@kernel
def curve_before(pieces: Array, x: float, slack: float) -> tuple[float, float, float]:
    """Value and derivatives of a curve, at a knot those of the piece before it; x may be beyond the knot by `slack`."""
    i = last_knot(pieces[0], x)
    if i > 0 and x - pieces[0, i] <= slack:
        i -= 1
    return polynomial(pieces, i, 1, pieces.shape[0] - 1, x - pieces[0, i])


@kernel
def curve_increment(pieces: Array, start: float, end: float) -> float:
    """Change of a piecewise polynomial from `start` to `end`, without the rounding of its values within one piece."""
    i = last_knot(pieces[0], start)
    j = last_knot(pieces[0], end)
    x = start - pieces[0, i]
    y = end - pieces[0, j]
    before = 0.0
    after = 0.0
    for k in range(pieces.shape[0] - 1, 1, -1):
        before = (before + pieces[k, i]) * x
        after = (after + pieces[k, j]) * y
    jump = 0.0 if i == j else pieces[1, j] - pieces[1, i]
    return float(jump + (after - before))


@kernel
def vector_at(pieces: Array, x: float) -> tuple[Vector, Vector, Vector]:
    """Value, slope and second derivative of three cubics a piece, in rows 1 to 4, 5 to 8 and 9 to 12."""
    i = last_knot(pieces[0], x)
    distance = x - pieces[0, i]
    a = polynomial(pieces, i, 1, 4, distance)
    b = polynomial(pieces, i, 5, 4, distance)
    c = polynomial(pieces, i, 9, 4, distance)
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@kernel
def linear_at(knots: Array, values: Array, x: float) -> float:
    """Value of a table at x: linear between the knots, held outside them."""
    i = last_knot(knots, x)
    if i == len(knots) - 1 or x < knots[0]:
        return float(values[i])
    y = (x - knots[i]) / (knots[i + 1] - knots[i])
    return float((1.0 - y) * values[i] + y * values[i + 1])


@kernel
def weighted_mean(knots: Array, values: Array, near: float, far: float) -> float:
    """Mean of a table between two times, with weights that fall from 2 at `near` to 0 at `far` (equation 80).

    Exact, whatever lies between the times: half of the step times this is the impulse that a force gives at the near
    end of the step, and the impulses at both ends make up all of its impulse.
    """
    return float(values[0]) if len(knots) == 1 else _mean_of_table(knots, values, near, far)


@separate
def _mean_of_table(knots: Array, values: Array, near: float, far: float) -> float:
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
        F_b = values[len(knots) - 1]
        if i < len(knots):
            # of the piece before the knot, to which b belongs where it is the knot itself
            b = min(end, knots[i])
            y = (b - knots[i - 1]) / (knots[i] - knots[i - 1]) if i > 0 else 1.0
            F_b = (1.0 - y) * values[max(i - 1, 0)] + y * values[i]
        w_a = (far - a) / step
        w_b = (far - b) / step
        total += (b - a) * (F_a * (2.0 * w_a + w_b) + F_b * (w_a + 2.0 * w_b))
        a = b
        F_a = F_b
    return total / (3.0 * abs(step))


@kernel
def linear_vector(table: Array, first: int, x: float) -> Vector:
    """Three rows of a table from row `first` on, over row 0: linear between the knots, held outside them."""
    knots = table[0]
    return (
        linear_at(knots, table[first], x),
        linear_at(knots, table[first + 1], x),
        linear_at(knots, table[first + 2], x),
    )


@kernel
def mean_vector(table: Array, first: int, near: float, far: float) -> Vector:
    """Weighted means of three rows of a table from row `first` on (equation 80)."""
    knots = table[0]
    return (
        weighted_mean(knots, table[first], near, far),
        weighted_mean(knots, table[first + 1], near, far),
        weighted_mean(knots, table[first + 2], near, far),
    )


@kernel
def mean_between(table: Array, first: int, near: float, far: float) -> Vector:
    """Means of three rows of a table between two times, without weights."""
    a, b = mean_vector(table, first, near, far), mean_vector(table, first, far, near)
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
