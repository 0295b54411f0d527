"""How fast neighboring motions part: the largest Lyapunov exponent, and how far ahead a prediction holds.

Every motion has a shadow, started a tiny distance away. After each interval the distance is measured, and the shadow
put back to the first distance along the line it has drifted to (Benettin's method). The mean logarithmic growth per
time is the exponent: positive means chaos, and an error grows e-fold in 1/exponent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.analysis.network_growth import growth_of_assembly
from tautline.analysis.predictability import KNOWN, LOST, estimate, predictability_time, settled, standard_error
from tautline.engine.chain.ensemble import march_ensemble
from tautline.engine.chain.simulation import ChainSimulation
from tautline.engine.network.simulation import NetworkSimulation
from tautline.engine.simulation import Simulation
from tautline.errors import InputError
from tautline.kernels import data
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
SEED = 1


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
    simulation = Simulation(system, start, **options).backend
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
    if isinstance(simulation, NetworkSimulation):
        rates = growth_of_assembly(simulation, intervals, interval, DISTANCE) / interval
    else:
        assert isinstance(simulation, ChainSimulation)
        rates = growth_rates([simulation], intervals)[0] / interval
    values, figures = _figures(rates, interval, known, lost)
    return build_lyapunov(values, simulation.attributes() | figures)


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


def growth_rates(simulations: Sequence[ChainSimulation], intervals: int) -> Array:
    """Logarithmic growth of the distance to a neighboring motion in every interval, of each; NaN after its end.

    The simulations must have been started by `begin`, with one sample an interval.
    """
    shadows = [simulation.twin() for simulation in simulations]
    for simulation, shadow in zip(simulations, shadows, strict=True):
        # the same numbers for all: no member's result depends on its neighbors
        _push_aside(simulation, shadow, np.random.default_rng(SEED))
    growth = np.full((len(simulations), intervals), np.nan)
    going = list(range(len(simulations)))
    before = {i: _distance(simulations[i], shadows[i]) for i in going}
    for k in range(intervals):
        march_ensemble([*(simulations[i] for i in going), *(shadows[i] for i in going)], 1)
        going = [i for i in going if simulations[i].status == "completed" == shadows[i].status]
        for i in going:
            distance = _distance(simulations[i], shadows[i])
            growth[i, k] = math.log(distance / before[i])
            _pull_back(simulations[i], shadows[i], DISTANCE / distance)
            before[i] = _distance(simulations[i], shadows[i])
    return growth


def _scales(simulation: ChainSimulation) -> tuple[float, float]:
    """A length and a time, in which distances are measured."""
    X = simulation.unstretched_length
    g = simulation.pendulum.gravity
    wave = math.sqrt(simulation.pendulum.string.stiffness / simulation.pendulum.string.density)
    return X, math.sqrt(X / g) if g > 0.0 else X / wave


def _distance(a: ChainSimulation, b: ChainSimulation) -> float:
    """Between two motions: configurations over a length and velocities over a speed, the body's by angles."""
    X, T = _scales(a)
    x, y = a.present_sample(), b.present_sample()
    nodes = (y.nodes[0] - x.nodes[0]) / X
    scalars = y.scalars[0] - x.scalars[0]
    turned = scalars[data.ROTATION : data.ROTATION + 9]
    spun = T * scalars[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]
    squares = np.sum(nodes[0] ** 2) + np.sum((T * nodes[1]) ** 2)
    reel = (scalars[data.REELED_LENGTH] / X) ** 2 + (T * scalars[data.REEL_SPEED] / X) ** 2
    count = len(nodes[0])
    return math.sqrt(squares / count + reel + 0.5 * turned @ turned + spun @ spun)


def _push_aside(simulation: ChainSimulation, shadow: ChainSimulation, rng: np.random.Generator) -> None:
    """Start the shadow in a random direction, then at the right distance."""
    X, T = _scales(simulation)
    par, _, command, motion, _, _ = shadow.task()
    mass = par.mu * X / par.N
    for place, size in ((data.POSITION, X), (data.MOMENTUM, mass * X / T)):
        # node 0 stands at the guide
        data.nodes_of(motion.nodes[place], par.N)[1:] += DISTANCE * size * rng.normal(size=(par.N, 3))
    if par.rotates:
        motion.body[data.ATTITUDE : data.ATTITUDE + 4] += DISTANCE * rng.normal(size=4)
        motion.body[data.SPIN : data.SPIN + 3] += DISTANCE / T * np.array(par.J) @ rng.normal(size=3)
    if not command.locked:
        motion.reel[data.P_S] += DISTANCE * par.kappa * X / T * rng.normal()
    shadow.first_sample()
    _pull_back(simulation, shadow, DISTANCE / _distance(simulation, shadow))


def _pull_back(simulation: ChainSimulation, shadow: ChainSimulation, factor: float) -> None:
    """Put the shadow on the line from the motion to where it is, at `factor` of the distance."""
    ours, theirs = simulation.task().motion, shadow.task().motion
    theirs.nodes[:] = ours.nodes + factor * (theirs.nodes - ours.nodes)
    theirs.body[:] = ours.body + factor * (theirs.body - ours.body)
    configuration = [*range(data.S, data.SIGMA_BEFORE + 1), data.SIGMA_EARLIER]
    theirs.reel[configuration] = ours.reel[configuration] + factor * (
        theirs.reel[configuration] - ours.reel[configuration]
    )
    shadow.first_sample()
