"""How fast neighboring motions part: the largest Lyapunov exponent, and how far ahead a prediction holds.

Every motion has a shadow, started a tiny distance away. After each interval the distance is measured, and the shadow
put back to the first distance along the line it has drifted to (Benettin's method). The mean logarithmic growth per
time is the exponent: positive means chaos, and an error grows e-fold in 1/exponent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.analysis.network_growth import growth_of_network
from tautline.analysis.predictability import KNOWN, LOST, estimate, predictability_time, settled, standard_error
from tautline.engine.choose import LANES
from tautline.engine.runner import Runner
from tautline.engine.simulation import Simulation
from tautline.errors import InputError
from tautline.kernels.data import Array
from tautline.model import checks
from tautline.model.system.commands import Commands
from tautline.model.system.starts import Start
from tautline.model.system.system import System
from tautline.results.dataset import build_lyapunov

if TYPE_CHECKING:
    import xarray as xr

# Far above rounding (1e-16 grows by the same factor as this within an interval), far below where motions bend.
DISTANCE = 1e-7


def lyapunov(
    system: System,
    start: Start,
    command: Commands | None,
    duration: float,
    *,
    interval: float = 0.1,
    known: float = KNOWN,
    lost: float = LOST,
    **options: Any,
) -> xr.Dataset:
    """Estimate the largest Lyapunov exponent along a motion.

    Parameters
    ----------
    system, start, command, duration
        As in `simulate`.
    interval : float
        Time between two measurements of the distance (s); a multiple of the step.
    known, lost : float
        Relative size of the error at the start, and of the one that makes a prediction useless.
    **options
        Of `simulate`: step, order, scheme, compensated, minimum_length, at_end.

    Returns
    -------
    xarray.Dataset
        On `time`: the growth rate in every interval, and the exponent as estimated up to then. `attrs` hold the last
        estimate, its standard error and the predictability time (s): how far ahead a prediction holds.
    """
    simulation = Simulation(system, start, **options).runner
    intervals = checks.whole_ratio(
        "duration",
        checks.positive("duration", duration, "s"),
        "interval",
        checks.positive("interval", interval, "s"),
    )
    if intervals < 2:
        raise InputError(f"interval: expected at most half of the duration {duration:g} s, got {interval:g}")
    if not 0.0 < checks.positive("known", known, "") < checks.positive("lost", lost, ""):
        raise InputError(f"known: expected less than lost ({lost:g}), got {known:g}")
    simulation.begin(command, duration, interval)
    rates = growth_of(simulation, intervals, interval) / interval
    values, figures = _figures(rates, interval, known, lost)
    return build_lyapunov(values, simulation.attributes() | figures)


def growth_of(simulation: Runner[Any], intervals: int, interval: float) -> Array:
    """Logarithmic growth of the distance to a neighboring motion in every interval (s); NaN after its end.

    The simulation must have been started by `begin`, with one sample an interval.
    """
    if LANES.of(simulation.backend):
        from tautline.analysis.chain_growth import growth_rates

        return np.asarray(growth_rates([simulation], intervals, DISTANCE)[0])
    return growth_of_network(simulation, intervals, interval, DISTANCE)


def _figures(rates: Array, interval: float, known: float, lost: float) -> tuple[dict[str, Array], dict[str, float]]:
    """Series and single figures from the growth in every interval, NaN after the end of the motion."""
    time = interval * np.arange(1, len(rates) + 1)
    counted = np.where(np.arange(len(rates)) >= settled(len(rates)), rates, np.nan)
    seen = np.cumsum(np.isfinite(counted))
    with np.errstate(all="ignore"):
        running = np.where(np.isfinite(rates), np.nancumsum(counted) / seen, np.nan)
    exponent = float(estimate(rates[None])[0])
    figures = {
        "exponent": exponent,
        "standard_error": standard_error(counted[np.isfinite(counted)]),
        "predictability_time": float(predictability_time(exponent, known, lost)),
        "known": known,
        "lost": lost,
    }
    return {"time": time, "growth_rate": rates, "exponent": running}, figures
