"""Spectra of what a run holds, and how long and how often it lies above a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.analysis.series import Series, series_of
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.runs.given import Run
from tautline.model import checks
from tautline.results.dataset import build_reading
from tautline.results.sampling import STILL, coarse
from tautline.results.warnings import WARNINGS, RunWarning, encoded
from tautline.schema import EXCEEDANCE_SCHEMA, SPECTRUM_SCHEMA

if TYPE_CHECKING:
    import xarray as xr

# Samples of a segment at least, where there are so many; longer runs have the mean of seven segments.
LEAST_SEGMENT = 256
# Samples are equally spaced if they are off by no more than this part of their spacing.
EVEN = 1e-6
# Part of the variance in the upper half of the frequencies from which on it is said.
FAST = 0.05
LEVELS = 101
# A peak of a spectrum rises and falls by so many powers of ten, a factor of 1.6 and of 3, and holds so much of the
# variance at least; densities below a part of the variance are rounding.
RISES, FALLS, LEAST_SHARE, FAINTEST = 0.2, 0.5, 1e-3, 1e-12
# Side lobes of a ramp rise as well, by less than a factor of 2.5, and hold less than a twentieth of the variance.
LOBE_RISES, LOBE_SHARE = 0.4, 0.05


def spectrum(
    run: Run, variable: str = "start_tension", *, segment: float | None = None, window: str = "hann", **place: Any
) -> xr.Dataset:
    """Power spectral density of a variable over a run, by Welch's method; the mean is taken out.

    Unequal samples are interpolated on a straight line.

    Parameters
    ----------
    run : Dataset, or path of a run file
    variable : str
        Of the run.
    segment : float, optional
        (s) Segments of this length overlap by half, and their spectra are averaged. A quarter of the run by default,
        but at least 256 samples.
    window : str
        Of the segments, by its name in SciPy. With "boxcar" and one segment the integral is the variance exactly.
    **place
        Where a variable has more than one value at a time: `element` or `node` (counted from 0, or from the end: -1),
        `axis`, `row`, `column`; `line` or `body` by name, where there are several.

    Returns
    -------
    Dataset
        `density` on `frequency` (Hz). `attrs`: `mean` and `standard_deviation` of the samples, `peak_frequency` (Hz;
        NaN where none stands out, as of a ramp) with its part of the variance `peak_share`,
        `zero_crossing_frequency` (Hz), `segment` (s), `warnings`.
    """
    from scipy.signal import get_window, welch

    one = series_of(run, variable, place)
    spacing, x, warnings = _evenly(one)
    if segment is None:
        length = max(min(len(x), LEAST_SEGMENT), len(x) // 4)
    else:
        length = min(len(x), round(checks.positive("segment", segment, "s") / spacing))
        if length < 2:
            raise InputError(f"segment: expected at least 2 samples ({2 * spacing:g} s), got {segment:g}")
    try:
        shape = get_window(window, length)
    except ValueError:
        checks.refuse("window", 'the name of a window of SciPy, such as "hann" or "boxcar"', window)
    frequency, density = welch(x, 1.0 / spacing, shape, length, detrend="constant")
    m0, m2 = density.sum(), (density * frequency**2).sum()
    moves = float(np.ptp(x)) > STILL * float(np.abs(x).max())
    fast = density[frequency > 0.25 / spacing].sum() / m0 if moves else 0.0
    if fast > FAST:
        text = (
            f"{100 * fast:.0f} % of the variance of {one.name} lies above half of the highest frequency that samples "
            f"{spacing:.3g} s apart can show; use a smaller run.sample"
        )
        warnings.append(RunWarning("sampling", text, fast, FAST))
    peak, share = _peak(density) if moves else (None, math.nan)
    attrs = {
        "variable": one.name,
        "mean": float(x.mean()),
        "standard_deviation": float(x.std()),
        "peak_frequency": math.nan if peak is None else float(frequency[peak]),
        "peak_share": share,
        "zero_crossing_frequency": math.sqrt(m2 / m0) if m0 > 0.0 else math.nan,
        "segment": length * spacing,
        WARNINGS: encoded(warnings),
    }
    return build_reading(SPECTRUM_SCHEMA, {"frequency": frequency, "density": density}, attrs, one.unit)


def _peak(density: Array) -> tuple[int | None, float]:
    """Place of the peak that holds the most variance, and its part of all; None where no peak stands out.

    A slow change, such as the ramp of a lift, fills the lowest frequencies and falls from there: that is no peak. One
    rises above both of its sides. Below slow peaks there are few frequencies, into which they leak, so that they need
    not rise as far there.
    """
    from scipy.signal import find_peaks

    whole = float(density.sum())
    level = np.log10(np.maximum(density[1:], FAINTEST * whole))
    places, about = find_peaks(level, prominence=RISES)
    known = []
    sides = (about[name] for name in ("prominences", "left_bases", "right_bases"))
    for place, rise, left, right in zip(places.tolist(), *sides, strict=True):
        if level[place] - level[place : right + 1].min() < FALLS:
            continue
        fallen = np.flatnonzero(level < level[place] - FALLS)
        low = max(left, *fallen[fallen < place][-1:] + 1, 0)
        up = min(right, *fallen[fallen > place][:1] - 1, len(level) - 1)
        share = float(density[1 + low : 2 + up].sum()) / whole
        if rise >= LOBE_RISES or share >= LOBE_SHARE:
            known.append((share, place + 1))
    share, place = max(known, default=(0.0, 0))
    return (place, share) if share >= LEAST_SHARE else (None, math.nan)


def _evenly(one: Series) -> tuple[float, Array, list[RunWarning]]:
    """Spacing, values and warnings; a last sample out of step, where a run ended early, is left out."""
    spacing = float(np.median(np.diff(one.time)))
    count = int((one.time[-1] - one.time[0]) / spacing + EVEN) + 1
    grid = one.time[0] + spacing * np.arange(count)
    if count <= len(one.time) and np.abs(one.time[:count] - grid).max() <= EVEN * spacing * count:
        return spacing, one.values[:count], []
    unequal = RunWarning("interpolated", f"samples are unequal: interpolated every {spacing:.3g} s", spacing)
    return spacing, np.interp(grid, one.time, one.values), [unequal]


def exceedance(
    run: Run, variable: str = "start_tension", *, levels: Sequence[float] | None = None, **place: Any
) -> xr.Dataset:
    """How long and how often a variable lies above levels; straight lines between the samples.

    Parameters
    ----------
    run : Dataset, or path of a run file
    variable : str
        Of the run.
    levels : sequence of float, optional
        101 from the least to the greatest value by default.
    **place
        Where a variable has more than one value at a time: `element` or `node` (counted from 0, or from the end: -1),
        `axis`, `row`, `column`; `line` or `body` by name, where there are several.

    Returns
    -------
    Dataset
        On `level`: `time_above`, the part of the time, and `upcrossings`. `attrs`: `duration` (s), `warnings`.
    """
    one = series_of(run, variable, place)
    chosen = np.linspace(one.values.min(), one.values.max(), LEVELS)
    if levels is not None:
        chosen = checks.array("levels", levels, (None,), one.unit)
    values = {
        "level": chosen,
        "time_above": np.array([time_above(one.time, one.values, level) for level in chosen.tolist()]),
        "upcrossings": np.array(
            [np.count_nonzero((one.values[:-1] < level) & (one.values[1:] >= level)) for level in chosen.tolist()]
        ),
    }
    attrs = {
        "variable": one.name,
        "duration": float(one.time[-1] - one.time[0]),
        WARNINGS: encoded(coarse(*one[:3])),
    }
    return build_reading(EXCEEDANCE_SCHEMA, values, attrs, one.unit)


def time_above(time: Array, x: Array, level: float) -> float:
    """Part of the time that straight lines between samples spend above a level."""
    low, high = np.minimum(x[:-1], x[1:]), np.maximum(x[:-1], x[1:])
    part = np.where(high > level, 1.0, 0.0)
    np.divide(high - level, high - low, out=part, where=(low < level) & (level < high))
    return float(np.sum(part * np.diff(time)) / (time[-1] - time[0]))
