"""Uncertainty: how outputs are distributed when parameters are. Quantiles with confidence, and bands of series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks
from tautline.studies.analysis.reading import Array, Component, Opened, probability
from tautline.studies.analysis.sensitivity import block_size

if TYPE_CHECKING:
    import xarray as xr

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Parts of the members on which estimates are made again, to show whether they have settled.
PARTS = (0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0)
LEAST_MEMBERS = 8
# Members of a series beyond this size are taken evenly from all.
BYTES_OF_CURVES = 64e6
# In which the rows of a user's table are taken: they may be sorted.
SEED = 1


class Bands(NamedTuple):
    """Quantiles of curves, (quantile, time), and how many members they are of."""

    values: Array
    members: int


def quantiles(
    study: xr.Dataset, *outputs: str, probabilities: Sequence[float] = PROBABILITIES, confidence: float = 0.95
) -> xr.Dataset:
    """Quantiles and means of the outputs of a random, Latin hypercube, Sobol' or table design.

    Parameters
    ----------
    study : Dataset
        From `open_study`; it may be unfinished. Members without a result are left out, and counted.
    *outputs : str
        All that are no series by default. Components of vectors are separate: `final_velocity[x]`.
    probabilities : list of float
        Of the quantiles.
    confidence : float
        Level of the intervals.

    Returns
    -------
    xarray.Dataset
        Along `output`: `quantiles` (along `quantile`) with `low` and `high`, `average` with `average_low` and
        `average_high`, `members` and `members_left_out`. Intervals of quantiles are order statistics: right for any
        distribution of independent members, and infinite where there are too few of them. In a Latin hypercube or
        Sobol' design they are rather too wide. `quantiles_so_far`, `average_so_far` and `members_so_far`, along
        `part`, are the same from the first part of the members only: what still moves has not settled.
    """
    opened = Opened(study)
    wanted = _checked(probabilities)
    probability("confidence", confidence)
    return quantiles_of(opened, list(opened.reduced(outputs)), wanted, confidence)


def quantiles_of(
    opened: Opened, chosen: list[Component], wanted: tuple[float, ...] = PROBABILITIES, confidence: float = 0.95
) -> xr.Dataset:
    """Quantiles of single components."""
    members = independent(opened)
    if not chosen:
        raise InputError(
            "outputs: expected at least one that is no series, the study keeps none; `bands` is for series"
        )
    rows = [_distribution(opened, component, members, wanted, confidence) for component in chosen]
    return _dataset(chosen, rows, wanted)


def bands(study: xr.Dataset, *outputs: str, probabilities: Sequence[float] = PROBABILITIES) -> xr.Dataset:
    """Quantiles over time of the series of a random, Latin hypercube, Sobol' or table design.

    Parameters
    ----------
    study : Dataset
        From `open_study`; it may be unfinished.
    *outputs : str
        All series by default.
    probabilities : list of float
        Of the quantiles.

    Returns
    -------
    xarray.Dataset
        Every series along `quantile`, its own dimensions and time; `members` in its attributes says how many there
        are. Beyond 64 MB a series is taken from an even choice of members. Where members ended early, quantiles
        are those of the others from there on.
    """
    import xarray as xr

    opened = Opened(study)
    wanted = _checked(probabilities)
    members = independent(opened)
    names = opened.chosen(outputs, opened.series)
    for name in names:
        if name not in opened.series:
            raise InputError(f"outputs: expected series, got {name!r}, which is none; `quantiles` is for numbers")
    if not names:
        raise InputError('outputs: expected a series, the study keeps none; outputs = ["energy"] keeps one')
    made: dict[str, Any] = {}
    for name in names:
        x, parts = study[name], opened.components(name)
        found = [curve_bands(opened, component, members, wanted) for component in parts]
        free = list(parts[0].place)
        values = np.stack([one.values for one in found]).reshape(
            (*(x.sizes[dim] for dim in free), len(wanted), x.sizes["time"])
        )
        dims = [*free, "quantile", "time"]
        made[name] = xr.DataArray(values, dims=dims, attrs={**x.attrs, "members": found[0].members})
        made[name] = made[name].transpose("quantile", "time", ...)
    coords = {str(c): study.coords[c] for name in names for c in study[name].dims if c in study.coords}
    return xr.Dataset(made, {"quantile": list(wanted), **coords})


def _checked(probabilities: Sequence[float]) -> tuple[float, ...]:
    if not len(probabilities):
        checks.refuse("probabilities", "numbers between 0 and 1", probabilities)
    return tuple(probability("probabilities", p) for p in probabilities)


def independent(opened: Opened) -> NDArray[np.int64]:
    """Members that can be taken for independent draws, in an order in which every first part of them can."""
    kind = opened.design.kind
    members = np.arange(opened.members)
    if kind in ("grid", "morris"):
        raise InputError(
            f"study: expected random values of the parameters, got the design {kind!r}, whose members are no sample of "
            "anything; use 'random', 'latin-hypercube' or 'sobol'"
        )
    if kind == "sobol-indices":  # neighbors of a base point are not: the first and the last of a block are
        size = block_size(opened)
        return np.ascontiguousarray(members.reshape(-1, size)[:, [0, size - 1]].ravel())
    return np.random.default_rng(SEED).permutation(members) if kind == "table" else members


def _distribution(
    opened: Opened, component: Component, members: NDArray[np.int64], wanted: tuple[float, ...], confidence: float
) -> dict[str, Any]:
    """Quantiles, intervals and mean of one output."""
    y = opened.values(component).ravel()[members]
    there = y[np.isfinite(y)]
    if len(there) < LEAST_MEMBERS:
        raise InputError(
            f"study: expected at least {LEAST_MEMBERS} members with a result for {component.label}, got {len(there)} "
            f"of {len(y)}; `tautline study info` says why"
        )
    low, high = _interval(np.sort(there), wanted, confidence)
    mean, half = float(there.mean()), _half_width(there, confidence)
    sizes = [int(np.ceil(part * len(there))) for part in PARTS]
    parts = [there[:size] if size >= LEAST_MEMBERS else None for size in sizes]
    return {
        "quantiles": np.quantile(there, wanted),
        "low": low,
        "high": high,
        "average": mean,
        "average_low": mean - half,
        "average_high": mean + half,
        "members": len(there),
        "members_left_out": len(y) - len(there),
        "quantiles_so_far": [np.full(len(wanted), np.nan) if x is None else np.quantile(x, wanted) for x in parts],
        "average_so_far": [np.nan if x is None else float(x.mean()) for x in parts],
        "members_so_far": sizes,
    }


def _interval(y: Array, wanted: tuple[float, ...], confidence: float) -> tuple[Array, Array]:
    """Order statistics between which the quantile lies: the number of members below it is binomial."""
    from scipy.stats import binom

    tail = (1.0 - confidence) / 2.0
    padded = np.concatenate([[-np.inf], y, [np.inf]])
    p = np.array(wanted)
    low = binom.ppf(tail, len(y), p).astype(int)
    high = binom.ppf(1.0 - tail, len(y), p).astype(int) + 1
    return padded[low], padded[high]


def _half_width(y: Array, confidence: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.5 + confidence / 2.0, len(y) - 1) * y.std(ddof=1) / np.sqrt(len(y)))


def curve_bands(
    opened: Opened, component: Component, members: NDArray[np.int64], wanted: tuple[float, ...] = PROBABILITIES
) -> Bands:
    """Quantile bands of one curve, of all members with a result or of as many as fit into memory, evenly chosen."""
    there = members[opened.usable.ravel()[members]]
    if not len(there):
        raise InputError(f"study: expected a member with a result for {component.output}, got none")
    most = max(1, int(BYTES_OF_CURVES / (8 * opened.dataset.sizes["time"])))
    if len(there) > most:
        there = there[np.linspace(0, len(there) - 1, most).astype(np.int64)]
    x = opened.curves(component, np.sort(there))
    full = np.isfinite(x).all(axis=0)
    found = np.full((len(wanted), x.shape[1]), np.nan)
    found[:, full] = np.quantile(x[:, full], wanted, axis=0, overwrite_input=True)
    for k in np.flatnonzero(~full):
        left = x[np.isfinite(x[:, k]), k]
        if len(left):
            found[:, k] = np.quantile(left, wanted)
    return Bands(found, len(there))


_DIMS = {
    "quantiles": ("quantile",),
    "low": ("quantile",),
    "high": ("quantile",),
    "quantiles_so_far": ("part", "quantile"),
    "average_so_far": ("part",),
    "members_so_far": ("part",),
}


def _dataset(chosen: list[Component], rows: list[dict[str, Any]], wanted: tuple[float, ...]) -> xr.Dataset:
    import xarray as xr

    made = {name: (["output", *_DIMS.get(name, ())], np.array([row[name] for row in rows])) for name in rows[0]}
    coords = {
        "output": [component.label for component in chosen],
        "quantile": list(wanted),
        "part": list(PARTS),
        "units": ("output", [component.units for component in chosen]),
    }
    return xr.Dataset(made, coords)
