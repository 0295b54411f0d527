"""Fatigue of ropes: cycles of tension counted by rainflow, and the damage that they do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.analysis.series import breaking_load_of, series_of
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.extras import need
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.results.dataset import build_reading
from tautline.results.one_line import one_line
from tautline.results.sampling import coarse
from tautline.results.warnings import WARNINGS, RunWarning, encoded
from tautline.schema import RAINFLOW_SCHEMA

if TYPE_CHECKING:
    import xarray as xr


class TensionCurve(NamedTuple):
    """Cycles to failure N of a range R, as a part of the breaking load: N R^m = K, log10 K = a - b Lm.

    Lm is the mean tension over the breaking load.
    """

    exponent: float  # m
    constant: float  # K at no mean load
    decades: float = 0.0  # b: by how many powers of ten K falls at a mean load of the whole breaking load

    def at(self, mean_load: float) -> float:
        """K at a mean load over the breaking load."""
        return self.constant * math.pow(10.0, -self.decades * mean_load)


# API RP 2SK, design curves of wire ropes under varying tension.
ROPES = {
    "six_strand": TensionCurve(4.09, 10.0**3.20, 2.79),
    "spiral_strand": TensionCurve(5.05, 10.0**3.25, 3.43),
}


class Cycles(NamedTuple):
    """Cycles of a series, in the order in which they close."""

    range: Array
    mean: Array
    counts: Array
    first: Array  # numbers of the samples at the two turning points
    last: Array


class Damage(NamedTuple):
    """Miner's sum over the cycles of a run, and what it was made of."""

    damage: float  # 1 is failure
    life: float  # duration over damage (s): how long the run could be repeated
    cycles: float
    largest_range: float  # N
    mean_load: float  # over the breaking load
    exponent: float  # m
    constant: float  # K at that mean load
    breaking_load: float  # N
    warnings: tuple[RunWarning, ...]


def counting(who: str) -> Any:
    """The library that counts, for `who`."""
    return need("rainflow", who)


def cycles_of(x: Array, who: str) -> Cycles:
    """Rainflow count of a series (ASTM E1049-85, 5.4.4)."""
    found = list(counting(who).extract_cycles(x.tolist()))
    columns = np.array(found, dtype=np.float64).reshape(-1, 5).T
    return Cycles(columns[0], columns[1], columns[2], columns[3].astype(np.int64), columns[4].astype(np.int64))


def rainflow(run: Run, variable: str = "start_tension", **place: Any) -> xr.Dataset:
    """Cycles of a variable over a run, counted by rainflow (ASTM E1049-85, 5.4.4).

    Parameters
    ----------
    run : Dataset, or path of a run file
    variable : str
        Of the run.
    **place
        Where a variable has more than one value at a time: `element` or `node` (counted from 0, or from the end: -1),
        `axis`, `row`, `column`; `line` or `body` by name, where there are several.

    Returns
    -------
    Dataset
        On `cycle`, in the order in which cycles close: `range`, `mean`, `count` (1, or 0.5 for a half cycle), `begin`
        and `end`, the times of the turning points. A warning says if samples are too far apart to see peaks.
    """
    one = series_of(run, variable, place)
    found = cycles_of(one.values, "tl.analysis.rainflow")
    values = {
        "range": found.range,
        "mean": found.mean,
        "count": found.counts,
        "begin": one.time[found.first],
        "end": one.time[found.last],
    }
    attrs = {"variable": one.name, WARNINGS: encoded(coarse(*one[:3]))}
    return build_reading(RAINFLOW_SCHEMA, values, attrs, one.unit)


def tension_curve(rope: str | None, exponent: float | None, constant: float | None) -> TensionCurve:
    """The curve of a kind of rope, or of numbers that are given."""
    if (rope is None) == (exponent is None) or (exponent is None) != (constant is None):
        raise InputError(
            f"rope: expected one of {', '.join(map(repr, ROPES))}, or exponent and constant of N R^m = K, "
            f"got {rope!r}, {exponent!r} and {constant!r}"
        )
    if rope is not None:
        checks.choice("rope", rope, ROPES)
        return ROPES[rope]
    return TensionCurve(checks.positive("exponent", exponent, ""), checks.positive("constant", constant, ""))


def damage_of(time: Array, x: Array, breaking_load: float, curve: TensionCurve, found: Cycles) -> tuple[float, float]:
    """Miner's sum of n R^m / K over the cycles, and the mean load over the breaking load."""
    mean_load = max(0.0, float(np.trapezoid(x, time)) / float(time[-1] - time[0]) / breaking_load)
    cycles = found.counts * (found.range / breaking_load) ** curve.exponent
    return math.fsum(cycles) / curve.at(mean_load), mean_load


def damage(
    run: Run,
    rope: str | None = None,
    *,
    exponent: float | None = None,
    constant: float | None = None,
    breaking_load: float | str | None = None,
    variable: str = "start_tension",
    **place: Any,
) -> Damage:
    """Fatigue damage of a rope under varying tension: Miner's sum of n R^m / K over the cycles of rainflow.

    R is the range of a cycle over the breaking load. It holds for a rope that is pulled, not for bending over sheaves.

    Parameters
    ----------
    run : Dataset, or path of a run file
    rope : {"six_strand", "spiral_strand"}
        Kind of wire rope, with m and K of API RP 2SK: 4.09 and 10^(3.20 - 2.79 Lm) for six-strand and multi-strand
        rope, 5.05 and 10^(3.25 - 3.43 Lm) for spiral strand. Lm is the mean tension of the run over the breaking load.
    exponent, constant : float
        m and K of another curve, such as one for chain or fiber rope, instead of `rope`.
    breaking_load : float or str, optional
        (N) In the place of that of the line's string.
    variable : str
        A tension of the run.
    **place
        `element`, if the variable is "tension"; `line` by name, where there are several.

    Returns
    -------
    Damage
        `damage` (1 is failure), `life` (s), `cycles`, `largest_range` (N), `mean_load`, `exponent`, `constant`,
        `breaking_load` (N) and `warnings`.
    """
    curve = tension_curve(rope, exponent, constant)
    whole = run_from(run, ())
    load = breaking_load_of(one_line(whole, place.get("line")), breaking_load, "tl.analysis.damage")
    one = series_of(whole, variable, place)
    if one.unit != "N":
        raise InputError(f"variable: expected a tension (N), got {variable} ({one.unit})")
    found = cycles_of(one.values, "tl.analysis.damage")
    sum_, mean_load = damage_of(one.time, one.values, load, curve, found)
    duration = float(one.time[-1] - one.time[0])
    return Damage(
        sum_,
        duration / sum_ if sum_ > 0.0 else math.inf,
        float(found.counts.sum()),
        float(found.range.max(initial=0.0)),
        mean_load,
        curve.exponent,
        curve.at(mean_load),
        load,
        tuple(coarse(*one[:3])),
    )
