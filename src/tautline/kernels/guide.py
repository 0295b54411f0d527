"""Forces of the guide on the reel coordinate s, by the law in force (docs/theory.md, "The guide")."""

from __future__ import annotations

from typing import Any

from tautline import registry
from tautline.kernels.data import Array, Parameters
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.entrance import Entrance, Partials
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.tangents import has_tangents

# Bisection alone would need about 60 halvings; Newton's method needs two to ten.
MAX_ITERATIONS = 100
LAST_CORRECTION = 1e-15
# Beyond so many smoothing speeds a correction of Newton's method leaves an error of its square over the speed.
SMOOTH = 3.0
LAST_SMOOTH_CORRECTION = 1e-8

LAWS = registry.GUIDE_LAWS
REMEMBERS = tuple(law.remembers for law in LAWS.values())


@inlined
def _resists_not(par: Parameters, at: Entrance) -> bool:
    return False


@inlined
def _nothing_spooled(par: Parameters, reel: Array, s: float) -> float:
    return 0.0


@inlined
def _no_force(par: Parameters, at: Entrance) -> float:
    return 0.0


@inlined
def _no_partials(par: Parameters, at: Entrance, sigma: float) -> Partials:
    return Partials(0.0, 0.0, 0.0, 0.0)


@inlined
def _no_memory(
    par: Parameters, h: float, sigma: float, s: float, strain: float, strain_end: float, mean: float, out_reel: Array
) -> tuple[float, float]:
    return h * mean, -h * mean * sigma


def _by_law(name: str, default: Any = None) -> Any:
    return dispatch(functions(LAWS, name, default), "par.law")


# (par, at, sigma): Q and dQ/dsigma, the force of the jump of speed and strain at the guide entrance.
carnot_force = kernel(_by_law("force"))
# (par, at, sigma): derivatives of Q, for the reverse pass; laws without never get there.
carnot_partials = kernel(_by_law("partials", _no_partials))
# (par, at): the part of Q that does not depend on sigma.
spooled_force = inlined(_by_law("spooled_force", _no_force))
# (par, reel, s): elastic energy of the string on the drum.
spooled_energy = separate(_by_law("spooled_energy", _nothing_spooled))
# (par, h, sigma, s, strain, strain_end, mean, out_reel): let the drum remember what a step from s has spooled, mean
# being the mean of Q; impulse of the guide on s, and loss.
spool = separate(_by_law("spool", _no_memory))
_resists = inlined(_by_law("resists", _resists_not))
_spooled_strain = inlined(_by_law("spooled_strain", _nothing_spooled))


@kernel
def entrance(par: Parameters, reel: Array, s: float, strain: float) -> Entrance:
    """Strains on both sides of the guide where s metres are spooled."""
    return Entrance(strain, _spooled_strain(par, reel, s))


@kernel
def guide_force(par: Parameters, reel: Array, s: float, strain: float, sigma: float) -> float:
    """All of Q, with what the drum remembers; at standstill what a lock holds beside the pull of the string."""
    at = entrance(par, reel, s, strain)
    return carnot_force(par, at, sigma)[0] + spooled_force(par, at)  # type: ignore[no-any-return]


@kernel
def solve_with_carnot_force(
    par: Parameters, at: Entrance, sigma: float, h: float, pivot: float, residual: float
) -> float:
    """x from pivot x = residual + h Q(sigma + x): the correction of sigma, all else eliminated (equation A5).

    The smoothed sign of a law that resists bends within sigma_0, where a linearised Q would let Newton's method jump to
    and fro. For h > 0 the equation is monotone, and its solution lies between the one without loss and the standstill
    of the reel: Newton's method is kept inside that bracket. A stage of order 4 or 6 that goes back in time (h < 0) has
    no such bracket, and near standstill perhaps no single solution; then the correction that is returned does not
    converge, and the run ends with that status.
    """
    free = residual / pivot
    bracketed = h > 0.0 and _resists(par, at)
    low = min(free, -sigma)
    high = max(free, -sigma)
    x = min(max(0.0, low), high) if bracketed else 0.0
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
        speed = abs(sigma + x)
        smooth = speed > SMOOTH * par.sigma_0
        if abs(x - before) <= (LAST_SMOOTH_CORRECTION if smooth else LAST_CORRECTION) * speed:
            break
    if has_tangents(x):
        Q, slope = carnot_force(par, at, sigma + x)
        x -= (pivot * x - residual - h * Q) / (pivot - h * slope)
    return x
