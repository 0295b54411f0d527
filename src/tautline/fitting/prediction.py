"""Predictions of a run at the times of the data, with derivatives by the unknowns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import TautlineError
from tautline.fitting.data import Measured
from tautline.fitting.unknowns import OFFSET, Unknown
from tautline.gradients.api import jacobian
from tautline.gradients.arrays import Dual
from tautline.model.expressions import TIME
from tautline.model.system.case import Case
from tautline.results.network import VALUE
from tautline.results.warnings import warnings_of

if TYPE_CHECKING:
    import xarray as xr

# Times of the data count as samples of the run where they are so close to them, in parts of the interval.
ON_A_SAMPLE = 1e-6
# Parts of the time between two samples of the data that are tried, to have a sample of the run at each time of them.
PARTS = (1, 2, 3, 4, 5, 10)
# So many samples of the run between two of the data are too many for that.
MOST_BETWEEN = 20
# A run for a fit has no more samples.
MOST_SAMPLES = 200_000


class Sampling(NamedTuple):
    """Samples of the runs of a fit."""

    interval: float  # s
    rows: int  # after the first
    exact: bool  # whether each time of the data is the time of a sample
    least: float = 0.0  # interval: the step, where that is fixed (s)

    def finer(self) -> Sampling | None:
        """Half of the interval; None where samples are those of the data, or there can be no more of them."""
        half = self._replace(interval=0.5 * self.interval, rows=2 * self.rows)
        possible = not self.exact and half.rows <= MOST_SAMPLES and half.interval > 0.9 * self.least
        return half if possible else None


def sampling_for(series: Sequence[Measured], latest: float, step: float | str, moves: bool) -> Sampling:
    """Samples at the times of the data where that is possible, otherwise twice as many as the data have.

    Parameters
    ----------
    series : list of Measured
    latest : float
        Time up to which the run is needed (s).
    step : float or "auto"
        Of the run, of which the interval is a multiple.
    moves : bool
        Whether the times of the data are moved, by an offset.
    """
    times = np.unique(np.concatenate([x.time for x in series]))
    gaps = np.diff(times)
    gaps = gaps[gaps > ON_A_SAMPLE * latest / MOST_SAMPLES]
    spacing = float(np.median(gaps)) if len(gaps) else latest
    shortest = float(np.min(gaps)) if len(gaps) else latest
    for interval in (x / parts for x in (shortest, spacing) for parts in PARTS if not moves):
        interval = _even(times, interval)
        fits = _on_grid(times, interval) and (isinstance(step, str) or _on_grid(np.array([interval]), step))
        if fits and interval >= spacing / MOST_BETWEEN:
            return Sampling(interval, max(1, round(latest / interval)), True)
    wanted = max(0.5 * spacing, latest / MOST_SAMPLES)
    least = 0.0 if isinstance(step, str) else step
    if least:  # doubled, so that it can be halved again
        wanted = least * 2.0 ** max(0, math.floor(math.log2(wanted / least)))
    return Sampling(wanted, max(1, math.ceil(latest / wanted - ON_A_SAMPLE)), False, least)


def _even(times: Array, spacing: float) -> float:
    """A spacing, made such that a whole number of times lies between the first and the last of some times."""
    whole = round((times[-1] - times[0]) / spacing)
    return float(times[-1] - times[0]) / whole if whole else spacing


def _on_grid(times: Array, spacing: float) -> bool:
    """Whether all times are multiples of a spacing."""
    places = times / spacing
    off = np.abs(places - np.round(places))
    return bool(np.all(off <= np.clip(ON_A_SAMPLE * places, ON_A_SAMPLE, 1e-3)))


class Predicted(NamedTuple):
    """Values of the run at the samples of a column, and derivatives by the unknowns."""

    values: Array
    derivatives: Array  # samples x unknowns
    unseen: float  # estimated error of the interpolation between samples of the run


@dataclass(frozen=True)
class Model:
    """A case whose runs are compared with series."""

    case: Case
    series: tuple[Measured, ...]
    unknowns: tuple[Unknown, ...]
    sampling: Sampling

    def with_values(self, values: Sequence[float]) -> Case:
        """The case with values of the unknowns, with the sampling of the fit."""
        changes = {u.key: float(v) for u, v in zip(self.unknowns, values, strict=True) if u.key != OFFSET}
        run = {"run.sample": self.sampling.interval, "run.duration": self.sampling.interval * self.sampling.rows}
        return self.case.with_({**changes, **run})

    def run(self, values: Sequence[float]) -> xr.Dataset | str:
        """Values and derivatives at the samples of a run, or a sentence that says why there is none."""
        outputs = list(dict.fromkeys(name for x in self.series for name in x.needs if name != TIME))
        try:
            return jacobian(self.with_values(values), outputs, [u.key for u in self.unknowns if u.key != OFFSET])
        except TautlineError as error:
            return str(error)

    def predicted(self, run: xr.Dataset, values: Sequence[float]) -> list[Predicted] | str:
        """All columns from a run, or a sentence that says why it does not have them."""
        if len(run.time) <= self.sampling.rows:
            return f"the run ends at {run.time[-1]:.6g} s, before the data: {run.attrs['message']}"
        found = [self._of_column(x, run, values) for x in self.series]
        if not all(np.isfinite(x.values).all() and np.isfinite(x.derivatives).all() for x in found):
            return "; ".join(w.text for w in warnings_of(run)) or str(run.attrs["message"])
        return found

    def _of_column(self, x: Measured, run: xr.Dataset, values: Sequence[float]) -> Predicted:
        time = run.time.values
        y, dy = _values(x, run)
        if self.sampling.exact:
            rows = np.round(x.time / self.sampling.interval).astype(int)
            return Predicted(y[rows], dy[rows], 0.0)
        from scipy.interpolate import CubicSpline

        offsets = [k for k, u in enumerate(self.unknowns) if u.key == OFFSET]
        times = x.time + (values[offsets[0]] if offsets else 0.0)
        curve = CubicSpline(time, y)
        derivatives = CubicSpline(time, dy)(times)
        for k in offsets:
            derivatives = np.insert(derivatives, k, curve(times, 1), axis=1)
        return Predicted(curve(times), derivatives, unseen(time, y))


def _values(x: Measured, run: xr.Dataset) -> tuple[Array, Array]:
    """Values of a column at the samples of a run, and derivatives by the keys."""
    if x.expression is None:
        place: tuple[Any, ...] = (slice(None), *x.column.index)
        return run[VALUE.format(x.column.variable)].values[place], run[x.column.variable].values[place]
    keys = run.sizes["key"]
    known = {name: Dual(run[VALUE.format(name)].values, run[name].values) for name in x.needs if name != TIME}
    found = x.expression.series(known | {TIME: Dual(run.time.values, np.zeros((len(run.time), keys)))})
    return found.value, found.tangent


def unseen(time: Array, y: Array) -> float:
    """Error of the spline through all samples, from that of the one through every second: a sixteenth of it."""
    if len(time) < 8:
        return 0.0
    from scipy.interpolate import CubicSpline

    between = CubicSpline(time[::2], y[::2])(time[1:-1:2])
    return float(np.sqrt(np.mean((between - y[1:-1:2]) ** 2))) / 16.0
