"""Loads on a rope and its winch: use of the breaking load, times without tension, energy and power of the motor."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.series import breaking_load_of, name_of
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.runs.given import Run, line_from, run_from
from tautline.model import checks
from tautline.results.dataset import build_reading
from tautline.results.one_line import line_of
from tautline.results.sampling import coarse
from tautline.results.warnings import RunWarning
from tautline.schema import SLACK_SCHEMA

if TYPE_CHECKING:
    import xarray as xr

Truths = NDArray[np.bool_]
# Strain of a string that is neither stretched nor slack, by rounding.
ROUNDING = 1e-12
# Part of the spacing of samples that a slack event lasts at least.
SHORTEST = 1e-6


class Utilization(NamedTuple):
    """Largest tension over the breaking load, and when and where."""

    utilization: float
    tension: float  # N
    breaking_load: float  # N
    time: float  # s
    place: float  # 0 at the start of the line, 1 at its end
    warnings: tuple[RunWarning, ...]


class Peak(NamedTuple):
    """Largest tension of a run."""

    tension: float  # N
    row: int  # number of the sample
    place: float  # 0 at the start of the line, 1 at its end
    over_time: Array  # tension there (N)


def peak_of(tension: Array, start_tension: Array, end_tension: Array) -> Peak:
    """Largest tension at both ends and in all elements; values that are no numbers do not count."""
    along = np.column_stack([start_tension, tension, end_tension])
    row, k = (int(x) for x in np.unravel_index(np.argmax(np.where(np.isfinite(along), along, -np.inf)), along.shape))
    places = [0.0, *((np.arange(tension.shape[1]) + 0.5) / tension.shape[1]), 1.0]
    return Peak(float(along[row, k]), row, float(places[k]), along[:, k])


def peak_of_line(one: xr.Dataset) -> Peak:
    """Largest tension of a line."""
    return peak_of(one.tension.values, one.start_tension.values, one.end_tension.values)


def utilization(run: Run, *, breaking_load: float | str | None = None, line: str | None = None) -> Utilization:
    """Largest tension over the breaking load, at the ends of a line or anywhere along it.

    Parameters
    ----------
    run : Dataset, or path of a run file
    breaking_load : float or str, optional
        (N) In the place of that of the line's string.
    line : str, optional
        Name of the line, where there are several.

    Returns
    -------
    Utilization
        `utilization`, `tension` and `breaking_load` (N), `time` (s), `place` (0 at the start of the line, 1 at its
        end) and `warnings`.
    """
    whole = line_from(run, ("tension", "start_tension", "end_tension"), line)
    load = breaking_load_of(whole, breaking_load, "tl.analysis.utilization")
    peak = peak_of_line(whole)
    if not np.isfinite(peak.tension):
        raise InputError("run: expected finite tensions, got none")
    name = name_of(whole, {0.0: "start_tension", 1.0: "end_tension"}.get(peak.place, "tension"))
    good = np.isfinite(peak.over_time)
    return Utilization(
        peak.tension / load,
        peak.tension,
        load,
        float(whole.time[peak.row]),
        peak.place,
        tuple(coarse(whole.time.values[good], peak.over_time[good], name)),
    )


def slack_times(time: Array, strain: Array, limit: float) -> tuple[Array, Array]:
    """When parts of a string go slack, and when all of it is taut again; straight lines between samples.

    `limit` is the strain at which the tension vanishes. Events that last no longer than rounding are left out.
    """
    above = strain - (limit + ROUNDING)
    slack: Truths = np.any(above <= 0.0, axis=1)
    edges = np.flatnonzero(slack[1:] != slack[:-1])
    now, then = above[edges], above[edges + 1]
    part = now / np.where((now <= 0.0) != (then <= 0.0), now - then, np.inf)  # 0 of elements that do not change
    goes = slack[edges + 1]
    first = np.where(part > 0.0, part, 1.0).min(axis=1, initial=1.0)
    crossed = time[edges] + np.where(goes, first, part.max(axis=1, initial=0.0)) * (time[edges + 1] - time[edges])
    begin, end = crossed[goes], crossed[~goes]
    if slack[0]:
        begin = np.append(time[0], begin)
    if slack[-1]:
        end = np.append(end, time[-1])
    lasts = end - begin > SHORTEST * np.median(np.diff(time)) if len(time) > 1 else np.zeros(len(begin), dtype=bool)
    return begin[lasts], end[lasts]


def slack_events(run: Run, *, line: str | None = None) -> xr.Dataset:
    """Times in which some part of a line is not stretched, and where.

    Parameters
    ----------
    run : Dataset, or path of a run file
    line : str, optional
        Name of the line, where there are several.

    Returns
    -------
    Dataset
        On `event`: `begin`, `end` and `duration` (s), `nearest` and `farthest`, between which places lies what goes
        slack (0 at the start of the line, 1 at its end), and `largest_part` of the line that is slack at one time.
        `attrs`: `slack_time`, all together (s).
    """
    whole = line_from(run, ("strain",), line)
    limit = float(line_of(whole).string.strain(0.0))
    time, strain = whole.time.values, whole.strain.values
    good = np.isfinite(strain).all(axis=1)
    time, strain = time[good], strain[good]
    begin, end = slack_times(time, strain, limit)
    slack = strain <= limit + ROUNDING
    places = np.empty((3, len(begin)))
    for k, (first, last) in enumerate(zip(begin, end, strict=True)):
        during = slack[np.searchsorted(time, first) : np.searchsorted(time, last, side="right")]
        elements = np.flatnonzero(during.any(axis=0))
        count = strain.shape[1]
        places[:, k] = elements[0] / count, (elements[-1] + 1) / count, during.mean(axis=1).max()
    values = {"begin": begin, "end": end, "duration": end - begin}
    values |= dict(zip(("nearest", "farthest", "largest_part"), places, strict=True))
    return build_reading(SLACK_SCHEMA, values, {"slack_time": float((end - begin).sum())})


class MotorEnergy(NamedTuple):
    """Work of the motor on the drum, driving and braking apart, and its largest powers."""

    driving_energy: float  # J
    braking_energy: float  # J, not negative
    peak_power: float  # W, driving
    peak_time: float  # s
    peak_braking_power: float  # W, not negative
    peak_braking_time: float  # s


def motor_energy(run: Run, *, line: str | None = None) -> MotorEnergy:
    """Energy and power of the motor over a run.

    Driving less braking energy is `motor_work`, the account of every step; the two are told apart between samples.

    Parameters
    ----------
    run : Dataset, or path of a run file
    line : str, optional
        Name of the line on the drum, where there are several; or of a driven sheave, "ropes.traction".

    Returns
    -------
    MotorEnergy
        `driving_energy` and `braking_energy` (J), `peak_power` (W) and `peak_time` (s) of driving,
        `peak_braking_power` (W) and `peak_braking_time` (s). A motor that does not work has 0, at the start.
    """
    if line is not None and "." in line:
        every = run_from(run, ("sheave_work", "sheave_power"))
        checks.choice("line", line, every.sheave.values.tolist())
        one = every.sel(sheave=line)
        return motor_of(one.time.values, one.sheave_work.values, one.sheave_power.values)
    whole = line_from(run, ("motor_work", "power"), line)
    return motor_of(whole.time.values, whole.motor_work.values, whole.power.values)


def motor_of(time: Array, work: Array, power: Array) -> MotorEnergy:
    """From the account of the work and samples of the power."""
    change = np.diff(work)
    x = np.where(np.isfinite(power), power, 0.0)
    driving, braking = int(np.argmax(x)), int(np.argmin(x))
    return MotorEnergy(
        float(change[change > 0.0].sum()),
        float(abs(change[change < 0.0].sum())),
        max(0.0, float(x[driving])),
        float(time[driving if x[driving] > 0.0 else 0]),
        max(0.0, float(-x[braking])),
        float(time[braking if x[braking] < 0.0 else 0]),
    )
