"""The search for the unknowns of a fit: least squares, with the noise of the columns estimated on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.fitting.prediction import Model, Predicted
from tautline.fitting.unknowns import OFFSET
from tautline.results.warnings import RunWarning, warnings_of

if TYPE_CHECKING:
    import xarray as xr

# Noise that is not given is estimated from the residuals, again and again until it changes by less than this part.
STEADY, ROUNDS = 0.02, 10
# Tolerances of the search: of the round that only gives a first estimate of the noise, and of the others.
ROUGH, FINE = 1e-4, 1e-8
# The noise is not thought to be smaller than this part of the measured values: rounding.
LEAST_NOISE = 1e-9
# Interpolation between samples of the run may have an error of this part of the noise.
UNSEEN = 0.05
# Offsets at which the start is looked at, to begin with the best.
OFFSETS_TRIED = 81
# Influence of an unknown on the data below which there is none, in parts of what the data vary.
NO_INFLUENCE = 1e-10
# Standard deviation of normal noise over the median of its size.
OVER_MEDIAN = 1.4826


class Progress(NamedTuple):
    """Argument of `watch`, which is called after every run."""

    runs: int
    misfit: float  # root of the mean square of residuals over sigma; NaN where there was no run
    values: dict[str, float]


class Search:
    """A search that knows what the data say of every point it has been at.

    Parameters
    ----------
    model : Model
    sigma : array, optional
        Noise of the columns; estimated if not given.
    loss : str
        As SciPy's `least_squares` has it.
    most_runs : int
        After which it ends.
    watch : callable, optional
    """

    def __init__(
        self,
        model: Model,
        sigma: Array | None,
        loss: str,
        most_runs: int,
        watch: Callable[[Progress], Any] | None,
    ) -> None:
        self.model, self.loss, self.most_runs, self.watch = model, loss, most_runs, watch
        self.sigma_given = sigma is not None
        spread = [float(np.std(m.values)) or float(np.max(np.abs(m.values))) or 1.0 for m in model.series]
        self.sigma = np.array(spread) if sigma is None else sigma
        self.x = np.array([u.x(u.start) for u in model.unknowns])
        self.runs = 0
        self.converged = False
        self._known: dict[bytes, list[Predicted] | str] = {}
        self._latest: tuple[bytes, xr.Dataset | str] | None = None  # run, and the point without the offset

    def find(self) -> None:
        """Search until the values, the noise and the sampling of the runs agree."""
        self._begin()
        for rounds in range(ROUNDS):
            self._descend(FINE if self.sigma_given or rounds else ROUGH)
            before = self.sigma
            if not self.sigma_given:
                self.sigma = self._noise()
            finer = self.model.sampling.finer() if self.interpolation_error() > UNSEEN else None
            if finer is not None:
                self.model, self._known, self._latest = replace(self.model, sampling=finer), {}, None
            steady = bool(np.max(np.abs(np.log(self.sigma / before))) < STEADY)
            if (steady and finer is None and (rounds or self.sigma_given)) or self.runs >= self.most_runs:
                return
        self.converged = False

    def _begin(self) -> None:
        """Refuse a start without a run and unknowns without influence; take the best of some offsets."""
        start = self.at(self.x)
        if isinstance(start, str):
            raise InputError(f"case: expected a run over the time of the data at the start values; {start}")
        slopes = self.slopes(self.x)
        for k, unknown in enumerate(self.model.unknowns):
            if np.linalg.norm(slopes[:, k]) <= NO_INFLUENCE * np.sqrt(len(slopes)):
                raise InputError(
                    f"vary {unknown.key}: expected a key that the data depend on, got one without influence"
                )
        for k, unknown in enumerate(self.model.unknowns):
            if unknown.key == OFFSET:
                tried = [self.x.copy() for _ in range(OFFSETS_TRIED)]
                for x, value in zip(tried, np.linspace(unknown.low, unknown.high, OFFSETS_TRIED), strict=True):
                    x[k] = unknown.x(float(value))
                self.x = min([self.x, *tried], key=lambda x: float(np.sum(self.residuals(x) ** 2)))

    def bounds(self) -> tuple[Array, Array]:
        """Least and largest x."""
        us = self.model.unknowns
        return np.array([u.x(u.low) for u in us]), np.array([u.x(u.high) for u in us])

    def _descend(self, tolerance: float) -> None:
        from scipy.optimize import least_squares

        found = least_squares(
            self.residuals,
            np.clip(self.x, *self.bounds()),
            self.slopes,
            bounds=self.bounds(),
            x_scale="jac",
            loss=self.loss,
            ftol=tolerance,
            xtol=tolerance,
            gtol=None,
            max_nfev=max(1, self.most_runs - self.runs + 1),  # the first is where the search has been
        )
        self.x, self.converged = found.x, found.status > 0

    def values(self, x: Array) -> list[float]:
        """Values of the unknowns."""
        return [u.value(float(v)) for u, v in zip(self.model.unknowns, x, strict=True)]

    def at(self, x: Array) -> list[Predicted] | str:
        """Predictions of a run at the times of the data, or why there are none."""
        key = x.tobytes()
        if key not in self._known:
            run = self._run(x)
            self._known[key] = run if isinstance(run, str) else self.model.predicted(run, self.values(x))
        return self._known[key]

    def _run(self, x: Array) -> xr.Dataset | str:
        """The run at a point; the latest one if it differs in the offset alone."""
        own = np.array([v for v, u in zip(x, self.model.unknowns, strict=True) if u.key != OFFSET]).tobytes()
        if self._latest is not None and self._latest[0] == own:
            return self._latest[1]
        values = self.values(x)
        run = self.model.run(values)
        self._latest = (own, run)
        self.runs += 1
        if self.watch is not None:
            misfit = float(np.sqrt(np.mean(self.residuals(x) ** 2)))
            self.watch(
                Progress(self.runs, misfit, dict(zip((u.key for u in self.model.unknowns), values, strict=True)))
            )
        return run

    def residuals(self, x: Array) -> Array:
        """Run less measured, over the noise; not finite where there is no run, which the search then avoids."""
        found = self.at(x)
        if isinstance(found, str):
            return np.full(sum(len(m.values) for m in self.model.series), np.nan)
        return self._over_noise(found)

    def _over_noise(self, found: list[Predicted]) -> Array:
        """Predictions less measured, over the noise."""
        pairs = zip(found, self.model.series, self.sigma, strict=True)
        return np.concatenate([(p.values - m.values) / s for p, m, s in pairs])

    def slopes(self, x: Array) -> Array:
        """Derivatives of the residuals by x."""
        found = self.predicted(x)
        by_x = np.array([u.slope(v) for u, v in zip(self.model.unknowns, self.values(x), strict=True)])
        return np.concatenate([p.derivatives * by_x / s for p, s in zip(found, self.sigma, strict=True)])

    def predicted(self, x: Array) -> list[Predicted]:
        """Predictions of a run at a point that the search has accepted, where there is one."""
        found = self.at(x)
        assert not isinstance(found, str)
        return found

    def by_column(self, samples: Array) -> list[Array]:
        """Numbers of all samples, by columns."""
        return np.split(samples, np.cumsum([len(m.values) for m in self.model.series])[:-1])

    def _noise(self) -> Array:
        """Standard deviations of the columns' noise from their residuals; with a robust loss, from their medians."""
        residuals = self.residuals(self.x)
        share = 1.0 - len(self.x) / len(residuals)
        found = []
        for r, s, m in zip(self.by_column(residuals), self.sigma, self.model.series, strict=True):
            size = np.sqrt(np.mean(r**2) / share) if self.loss == "linear" else OVER_MEDIAN * np.median(np.abs(r))
            found.append(max(s * float(size), LEAST_NOISE * float(np.max(np.abs(m.values))), np.finfo(float).tiny))
        return np.array(found)

    def interpolation_error(self) -> float:
        """Largest error of interpolation between samples of the run, over the noise."""
        return max(float(p.unseen / s) for p, s in zip(self.predicted(self.x), self.sigma, strict=True))

    def with_half_step(self) -> tuple[float, Array | str]:
        """Step of the run at the end (s), and residuals with half of it, or why there are none."""
        run = self._run(self.x)
        if isinstance(run, str):
            return np.nan, run
        step, values = float(run.attrs["step"]), self.values(self.x)
        finer = replace(self.model, case=self.model.case.with_({"run.step": 0.5 * step}))
        run = finer.run(values)
        found = run if isinstance(run, str) else finer.predicted(run, values)
        return step, found if isinstance(found, str) else self._over_noise(found)

    def run_warnings(self) -> list[RunWarning]:
        """Warnings on the run at the end, and on its derivatives."""
        run = self._run(self.x)
        return [] if isinstance(run, str) else warnings_of(run)
