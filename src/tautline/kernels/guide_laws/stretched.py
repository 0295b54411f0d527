"""Guide law `stretched`: the drum keeps the string as strained as it came in (docs/theory.md, equations 62 to 66).

The drum remembers strain by the material coordinate: cells of equal unstretched length over the whole string, each with
the mean strain of what is spooled of it, behind the other places of Motion.reel. The cell at the guide entrance is
partly filled. All cells below it are full, what cells above it hold means nothing.

Linear strings only, and order 2 only: higher orders go back in time for a while, and string that was spooled cannot be
spooled back.
"""

from __future__ import annotations

import math

from tautline.kernels import data
from tautline.kernels.data import Array, Parameters
from tautline.kernels.entrance import Entrance, smooth_sign
from tautline.kernels.jit import inlined, kernel


@inlined
def force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Equation 63 less -W(spooled): what comes in brings its strain, what goes out changes it with loss."""
    sign, sign_slope = smooth_sign(par, sigma)
    if sigma >= 0.0:
        k = 0.5 * par.EA * (at.strain * at.strain - at.spooled * at.spooled)
        return -sign * k, -sign_slope * k
    jump2 = (at.strain - at.spooled) * (at.strain - at.spooled)
    k = 0.5 * (par.EA + par.mu * sigma * sigma) * jump2
    return -sign * k, -sign_slope * k - sign * par.mu * sigma * jump2


@inlined
def resists(par: Parameters, at: Entrance) -> bool:
    """Whether Q opposes the motion: not where less strain comes in than is spooled, and there it bends little."""
    return abs(at.strain) >= abs(at.spooled)


@inlined
def spooled_force(par: Parameters, at: Entrance) -> float:
    """-W(spooled), the part of Q that does not depend on sigma."""
    return -0.5 * par.EA * at.spooled * at.spooled


@kernel
def square(x: float) -> float:
    return x * x


@kernel
def cell_length(par: Parameters, reel: Array) -> float:
    return par.L / (len(reel) - data.REEL_SIZE)


@kernel
def cell_at(par: Parameters, reel: Array, s: float) -> int:
    """The cell of the string just inside the entrance: its fill is above 0, up to all of it."""
    cells = len(reel) - data.REEL_SIZE
    return math.ceil(min(max(s / par.L * cells, 1.0), cells)) - 1


@kernel
def spooled_strain(par: Parameters, reel: Array, s: float) -> float:
    """Strain of the string that comes out next."""
    return float(reel[data.REEL_SIZE + cell_at(par, reel, s)])


@inlined
def spooled_energy(par: Parameters, reel: Array, s: float) -> float:
    """V_w, the elastic energy of all that is spooled (equation 62)."""
    length = cell_length(par, reel)
    top = cell_at(par, reel, s)
    squares: float = square(reel[data.REEL_SIZE + top]) * (s / length - top)
    for i in range(top):
        squares += square(reel[data.REEL_SIZE + i])
    return 0.5 * par.EA * length * squares


@kernel
def wind_in(par: Parameters, s: float, s_end: float, strain: float, out_reel: Array) -> float:
    """String of this strain comes in and mixes with what its cell holds; the change of V_w.

    Mixing keeps the mean strain, so it loses energy: EA/2 times the variance, never gains.
    """
    length = cell_length(par, out_reel)
    i = cell_at(par, out_reel, s)
    s_end = min(s_end, par.L)
    change = 0.0
    while s < s_end and i < len(out_reel) - data.REEL_SIZE:
        fill = s - i * length
        end = min(s_end, (i + 1) * length)
        new = max(end - s, 0.0)  # rounding may put s beyond a cell that is full
        if new > 0.0:
            mean = out_reel[data.REEL_SIZE + i]
            both = fill + new
            change += new * ((2.0 * strain - mean) * mean * fill + strain * strain * new) / both
            out_reel[data.REEL_SIZE + i] = (mean * fill + strain * new) / both
            s = end
        i += 1
    return 0.5 * par.EA * change


@kernel
def wind_out(
    par: Parameters, reel: Array, s: float, s_end: float, strain: float, strain_end: float
) -> tuple[float, float]:
    """String leaves, as strained as its cell: the change of V_w, and the length times squared jump of the strain.

    The strain outside is weighted between its values at the ends of the step, as forces are.
    """
    length = cell_length(par, reel)
    i = cell_at(par, reel, s)
    change = 0.0
    jump2 = 0.0
    while s > s_end and i >= 0:
        end = max(s_end, i * length)
        mean = reel[data.REEL_SIZE + i]
        change -= (s - end) * mean * mean
        jump2 += (s - end) * ((1.0 - par.theta) * square(strain - mean) + par.theta * square(strain_end - mean))
        s = end
        i -= 1
    return 0.5 * par.EA * change, jump2


@inlined
def spool(
    par: Parameters, h: float, sigma: float, s: float, strain: float, strain_end: float, mean: float, out_reel: Array
) -> tuple[float, float]:
    """The step from s to the present S has spooled string: the impulse of the guide on s, and the loss (equation 65).

    `mean` is the mean over the step of the part of Q that depends on sigma; that of deployment is found here anew,
    from all that has left, so that borders of cells do not spoil the order.
    """
    s_end = out_reel[data.S]
    if s_end < s:
        change, jump2 = wind_out(par, out_reel, s, s_end, strain, strain_end)
        sign = -smooth_sign(par, sigma)[0]
        resistance = sign * 0.5 * (par.EA + par.mu * sigma * sigma) * jump2 / (s - s_end)
        return h * (change / (s - s_end) + resistance), -h * sigma * resistance
    spooled = spooled_strain(par, out_reel, s)
    density = max(0.0, 0.5 * par.EA * spooled * spooled - mean)
    entered = math.copysign(math.sqrt(2.0 * density / par.EA), strain_end)
    change = wind_in(par, s, s_end, entered, out_reel)
    return -h * density, density * (s_end - s) - change
