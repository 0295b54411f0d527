"""Adjoint of the forces of guide, motor and friction on s (docs/theory.md, equations 16, 44, 60, 61 and 80)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint, add_length
from tautline.kernels.data import Array, Command, Parameters, add_to_node, node
from tautline.kernels.entrance import Entrance
from tautline.kernels.guide import carnot_partials
from tautline.kernels.jit import kernel, separate
from tautline.kernels.so3 import dot, scale, sub
from tautline.kernels.tables import last_knot, linear_at, weighted_mean


@kernel
def strain_back(par: Parameters, l: float, q: Array, bar: float, out: Adjoint) -> None:
    """Adjoint of the strain at the guide: adds derivatives by q and l."""
    first = 1.5 * bar if par.extrapolated else bar
    length = stretch_back(l, q, 0, first, out)
    l_bar = -first * length / (l * l)
    if par.extrapolated:
        length = stretch_back(l, q, 1, -0.5 * bar, out)
        l_bar += 0.5 * bar * length / (l * l)
    add_length(par, l_bar, out)


@kernel
def stretch_back(l: float, q: Array, e: int, bar: float, out: Adjoint) -> float:
    """Adjoint of the stretch |w|/l of an element: adds derivatives by its nodes; |w|."""
    w = sub(node(q, e + 1), node(q, e))
    length = math.sqrt(dot(w, w))
    x = scale(bar / (length * l), w)
    add_to_node(out.nodes[adjoint.POSITION_BAR], e + 1, x)
    if e > 0:
        add_to_node(out.nodes[adjoint.POSITION_BAR], e, scale(-1.0, x))
    return length


@kernel
def guide_back(par: Parameters, c: float, l: float, q: Array, strain: float, sigma: float, out: Adjoint) -> None:
    """Adjoint of an impulse c Q: adds derivatives by q, l and parameters."""
    x = carnot_partials(par, Entrance(strain, 0.0), sigma)
    strain_back(par, l, q, c * x.by_strain, out)
    out.numbers[adjoint.BY_MU] += c * x.by_mu
    out.numbers[adjoint.BY_EA] += c * x.by_stiffness
    out.numbers[adjoint.BY_SIGMA_0] += c * x.by_sigma_0


@kernel
def friction_force(par: Parameters, sigma: float) -> tuple[float, float]:
    """Friction of a drum that slips: the force on s, and its slope by sigma (docs/theory.md, equation 44)."""
    drag = par.viscous / (par.d * par.d)
    return -drag * sigma - math.copysign(par.coulomb / par.d, sigma), -drag


@kernel
def friction_back(par: Parameters, c: float, sigma: float, out: Adjoint) -> None:
    """Adjoint of an impulse c of friction: adds derivatives by parameters."""
    d, sign = par.d, math.copysign(1.0, sigma)
    out.numbers[adjoint.BY_VISCOUS] -= c * sigma / (d * d)
    out.numbers[adjoint.BY_COULOMB] -= c * sign / d
    out.numbers[adjoint.BY_D] += c * (2.0 * par.viscous * sigma / d + par.coulomb * sign) / (d * d)


@kernel
def table_back(knots: Array, x: float, bar: float, out: Array) -> None:
    """Adjoint of the value of a table at x (tables.linear_at): adds derivatives by the table's values."""
    i = last_knot(knots, x)
    if i == len(knots) - 1 or x <= knots[0]:
        out[i] += bar
    else:
        y = (x - knots[i]) / (knots[i + 1] - knots[i])
        out[i] += (1.0 - y) * bar
        out[i + 1] += y * bar


@kernel
def table_slope(knots: Array, values: Array, x: float) -> float:
    """Slope of a table at x; at a knot that of what follows."""
    i = last_knot(knots, x)
    if i == len(knots) - 1 or x <= knots[0]:
        return 0.0
    return (values[i + 1] - values[i]) / (knots[i + 1] - knots[i])  # type: ignore[no-any-return]


@kernel
def mean_back(knots: Array, near: float, far: float, bar: float, out: Array) -> None:
    """Adjoint of the weighted mean of a table over a step (tables.weighted_mean): adds those by its values."""
    step = far - near
    end = max(near, far)
    a = min(near, far)
    i = -1 if a < knots[0] else last_knot(knots, a)
    share = bar / (3.0 * abs(step))
    while a < end:
        i += 1
        b = end
        if i < len(knots):
            b = min(end, knots[i])
        w_a, w_b = (far - a) / step, (far - b) / step
        for k in range(2):
            x, weight = (a, 2.0 * w_a + w_b) if k == 0 else (b, w_a + 2.0 * w_b)
            table_back(knots, x, share * (b - a) * weight, out)
        a = b


class MeanTaken(NamedTuple):
    """The mean of a table over a step, and the derivative by the base step through the step's times."""

    mean: float
    by_h: float


@separate
def table_mean_back(
    knots: Array,
    values: Array,
    part: float,
    near: float,
    far: float,
    by_near: float,
    by_far: float,
    bar: float,
    out: Array,
) -> MeanTaken:
    """Adjoint of a weighted mean of a table over a step: adds derivatives by the table's values.

    `part` is that of the mean as weighted from the near end; the rest is as from the far one. by_near and by_far are
    the derivatives of the times by the base step.
    """
    if len(knots) == 1:
        out[0] += bar
        return MeanTaken(values[0], 0.0)
    there, back, at_near, at_far = 0.0, 0.0, 0.0, 0.0
    for k in range(2):
        x, y = (near, far) if k == 0 else (far, near)
        mean, value = weighted_mean(knots, values, x, y), linear_at(knots, values, x)
        if k == 0:
            there, at_near = mean, value
        else:
            back, at_far = mean, value
        share = part if k == 0 else 1.0 - part
        if share > 0.0:
            mean_back(knots, x, y, share * bar, out)
    slope = 2.0 * part * (there - at_near) + (1.0 - part) * (back - there)
    slope_far = part * (back - there) + 2.0 * (1.0 - part) * (at_far - back)
    return MeanTaken(part * there + (1.0 - part) * back, bar / (far - near) * (slope * by_near + slope_far * by_far))


@kernel
def motor_back(
    par: Parameters, command: Command, c: float, near: float, far: float, by_near: float, by_far: float, out: Adjoint
) -> float:
    """Adjoint of an impulse c u/d at the near end of a step: adds those by the table, by d and by the base step; u/d.

    by_near and by_far are the derivatives of the times by the base step.
    """
    part = 0.5 if par.theta == 0.0 else 1.0  # as drive.mean_torque has it
    bar = c / par.d
    x = table_mean_back(command.times, command.torques, part, near, far, by_near, by_far, bar, out.torques)
    out.numbers[adjoint.BY_H] += x.by_h
    out.numbers[adjoint.BY_D] -= bar * x.mean / par.d
    return x.mean / par.d


@kernel
def profile_back(profile: Array, bar: float, t: float, by_h: float, out: Adjoint) -> None:
    """Adjoint of s(t) of a motion that is prescribed: adds derivatives by its table and by the base step."""
    i = last_knot(profile.T[0], t)
    x = t - profile[i, 0]
    power, slope = 1.0, 0.0
    for k in range(1, profile.shape[1]):
        out.profile[i, k] += bar * power
        if k + 1 < profile.shape[1]:
            slope += k * profile[i, k + 1] * power
        power *= x
    out.profile[i, 0] -= bar * slope
    out.numbers[adjoint.BY_H] += bar * slope * by_h


@kernel
def speed_back(profile: Array, bar: float, t: float, slack: float, by_h: float, out: Adjoint) -> None:
    """Adjoint of ds/dt at the end of a step (tables.curve_before): adds those by the table and by the base step."""
    i = last_knot(profile.T[0], t)
    if i > 0 and t - profile[i, 0] <= slack:
        i -= 1
    x = t - profile[i, 0]
    power, slope = 1.0, 0.0
    for k in range(2, profile.shape[1]):
        out.profile[i, k] += bar * (k - 1) * power
        if k + 1 < profile.shape[1]:
            slope += k * (k - 1) * profile[i, k + 1] * power
        power *= x
    out.profile[i, 0] -= bar * slope
    out.numbers[adjoint.BY_H] += bar * slope * by_h
