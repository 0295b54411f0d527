"""How far a fit can be trusted: covariance of the values, and warnings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.fitting.losses import push
from tautline.fitting.search import UNSEEN, Search
from tautline.fitting.stepping import step_warnings
from tautline.model.wording import both
from tautline.results.warnings import RunWarning

# Smallest singular value of the scaled derivatives, over the largest, below which some unknowns cannot be told apart.
SINGULAR = 1e-7
# Part of an unknown in a direction that the data do not determine, from which on it is named.
NAMED = 0.1
CORRELATED = 0.99
# A remaining step of this part of the standard error does not matter.
STEP = 0.1
# Nor does one of this part of the value: rounding.
LEAST_STEP = 1e-6
# Distance from a bound, in standard errors, that counts as none.
AT_BOUND = 0.01
# Probability of residuals, if they were noise, below which there is a warning.
UNLIKELY = 1e-4
LAGS = 10


class Verdict(NamedTuple):
    """Errors of the values that were found, and doubts about them."""

    covariance: Array  # of the values
    converged: bool
    warnings: list[RunWarning]


def judge(search: Search) -> Verdict:
    """Covariance and warnings at the end of a search."""
    us, at_bound = search.model.unknowns, _at_bound(search)
    free = [k for k in range(len(us)) if k not in at_bound]
    inner, blurred, pull = _covariance(search, free)
    errors = np.sqrt(np.diag(inner))
    step = pull @ push(search.residuals(search.x), search.loss)[0]
    enough = np.where(np.isnan(errors), np.inf, np.fmax(STEP * errors, LEAST_STEP))
    by_x = np.array([us[k].slope(search.values(search.x)[k]) for k in free])
    covariance = np.full((len(us), len(us)), np.nan)
    covariance[np.ix_(free, free)] = inner * np.outer(by_x, by_x)
    values, warnings = search.values(search.x), []
    for k, (end, bound) in at_bound.items():
        text = f"{us[k].key} lies at its {end} bound, {bound:.6g} {us[k].unit}".rstrip()
        warnings.append(
            RunWarning("fit_bound", f"{text}: its best value may be beyond", values[k], bound, where=us[k].key)
        )
    if blurred:
        combined = ", only some combination of them: keep one fixed, or measure more" if len(blurred) > 1 else ""
        names = both([us[free[k]].key for k in blurred])
        text = f"the data do not determine {names}{combined}"
        warnings.append(RunWarning("fit_undetermined", text, where=names))
    warnings += _correlated([us[k].key for k in free], inner)
    return Verdict(
        covariance,
        search.converged and bool(np.all(np.abs(step) <= enough)),
        warnings + step_warnings(search, [us[k].key for k in free], errors, pull) + _on_residuals(search),
    )


def _on_residuals(search: Search) -> list[RunWarning]:
    """Warnings on residuals that are not noise, not of the given size, or of a run with too few samples."""
    residuals = search.residuals(search.x)
    warnings = []
    for r, m in zip(search.by_column(residuals), search.model.series, strict=True):
        warnings += _not_white(m.name, r)
    if search.sigma_given:
        warnings += _chi_square(float(np.sum(residuals**2)), len(residuals) - len(search.x))
    unseen = search.interpolation_error()
    if unseen > UNSEEN:
        text = "samples of the run are too far apart to be interpolated at the times of the data"
        warnings.append(RunWarning("fit_sampling", text, unseen, UNSEEN))
    return warnings


def _at_bound(search: Search) -> dict[int, tuple[str, float]]:
    """Unknowns that lie at a bound and would go on: which end, and its value. They are put there exactly."""
    slopes, residuals = search.slopes(search.x), search.residuals(search.x)
    size = np.linalg.norm(slopes, axis=0)
    found: dict[int, tuple[str, float]] = {}
    x = search.x.copy()
    for k, (low, high) in enumerate(zip(*search.bounds(), strict=True)):
        near = max(AT_BOUND / size[k] if size[k] else 0.0, LEAST_STEP)
        downhill = -float(slopes[:, k] @ residuals)
        unknown = search.model.unknowns[k]
        if x[k] - low <= near and downhill <= 0.0:
            found[k], x[k] = ("lower", unknown.low), low
        elif high - x[k] <= near and downhill >= 0.0:
            found[k], x[k] = ("upper", unknown.high), high
    if not isinstance(search.at(x), str):
        search.x = x
    return found


def _covariance(search: Search, free: list[int]) -> tuple[Array, list[int], Array]:
    """Covariance of x, the unknowns that the data do not determine, and the steps to the minimum by pushes.

    It is (J^T J)^-1 for residuals over their noise. With a robust loss it is that of an M-estimator, H^-1 M H^-1: H is
    the sum of a J^T J over the columns of the data, M that of b J^T J, where a is the mean of the slope of psi, b that
    of psi^2, and psi the push of a residual.
    """
    slopes, residuals = search.slopes(search.x)[:, free], search.residuals(search.x)
    size = np.linalg.norm(slopes, axis=0)
    size[size == 0.0] = 1.0
    scaled = slopes / size
    psi, slope = push(residuals, search.loss)
    a, b = (np.concatenate([np.full(len(x), np.mean(x)) for x in search.by_column(y)]) for y in (slope, psi**2))
    _, s, vt = np.linalg.svd(np.sqrt(a)[:, None] * scaled, full_matrices=False)
    known = s > SINGULAR * np.max(s, initial=0.0)
    inverse = (vt[known].T / s[known] ** 2) @ vt[known]
    middle = inverse
    if search.loss != "linear":
        middle = inverse @ (scaled.T @ (b[:, None] * scaled)) @ inverse
    pull = -(inverse @ scaled.T) / size[:, None]
    covariance = middle / np.outer(size, size)
    blurred = [k for k in range(len(size)) if np.any(np.abs(vt[~known, k]) > NAMED)]
    covariance[blurred, :] = covariance[:, blurred] = np.nan
    return covariance, blurred, pull


def _correlated(names: Sequence[str], covariance: Array) -> list[RunWarning]:
    """Warnings on pairs that the data hardly tell apart."""
    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    return [
        RunWarning(
            "fit_correlation",
            f"{names[i]} and {names[k]} can hardly be told apart: their correlation is {correlation[i, k]:.4f}",
            abs(correlation[i, k]),
            CORRELATED,
            where=f"{names[i]} and {names[k]}",
        )
        for i, k in itertools.combinations(range(len(names)), 2)
        if abs(correlation[i, k]) > CORRELATED
    ]


def _not_white(name: str, r: Array) -> list[RunWarning]:
    """Warning on residuals whose neighbors are alike, by the test of Ljung and Box."""
    lags = min(LAGS, len(r) // 5)
    r = r - np.mean(r)
    power = float(r @ r)
    if lags < 1 or power == 0.0:
        return []
    from scipy.stats import chi2

    alike = np.array([float(r[k:] @ r[:-k]) / power for k in range(1, lags + 1)])
    n = len(r)
    test = n * (n + 2) * float(np.sum(alike**2 / (n - np.arange(1, lags + 1))))
    probability = float(chi2.sf(test, lags))
    if probability >= UNLIKELY:
        return []
    text = (
        f"residuals of {name} are not noise (correlation of neighbors {alike[0]:.2f}): the model does not explain "
        "all, and standard errors are too small"
    )
    return [RunWarning("fit_residuals", text, probability, UNLIKELY)]


def _chi_square(value: float, freedom: int) -> list[RunWarning]:
    """Warning on residuals that are not of the size of sigma."""
    from scipy.stats import chi2

    size = np.sqrt(value / freedom)
    larger, smaller = float(chi2.sf(value, freedom)), float(chi2.cdf(value, freedom))
    if larger < UNLIKELY:
        text = (
            f"residuals are {size:.3g} times as large as sigma: the model does not explain the data, or sigma is too "
            "small"
        )
        return [RunWarning("fit_sigma", text, larger, UNLIKELY)]
    if smaller < UNLIKELY:
        text = f"residuals are only {size:.3g} times as large as sigma: sigma is too large"
        return [RunWarning("fit_sigma", text, smaller, UNLIKELY)]
    return []
