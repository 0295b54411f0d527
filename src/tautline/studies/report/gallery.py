"""Which pictures an output gets: that depends on the design, on what is there, and on whether it varies at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from tautline.errors import InputError
from tautline.quantities import between, unit_text, value
from tautline.studies.analysis import effects
from tautline.studies.analysis.reading import Array, Component, Opened
from tautline.studies.analysis.sensitivity import ROUNDING, doubts, sensitivity_of
from tautline.studies.analysis.uncertainty import curve_bands, independent, quantiles_of
from tautline.studies.report import charts, pictures

CAPTIONS = {
    "distribution": "Distribution over the members; red: quantiles, shaded: their 95 % confidence intervals.",
    "correlations": "Rank correlation with each parameter and its 95 % confidence interval; for words, its size. "
    "A relation that is not monotone shows in the scatter plots only.",
    "settling": "Convergence: quantiles and mean of the first members; black: 95 % confidence intervals of all.",
    "sobol": "Sobol' indices: share of the output's variance due to each parameter, with 95 % confidence intervals.",
    "pairs": "Interactions of pairs of parameters (second order); below, half the width of the 95 % interval.",
    "morris": "Elementary effects: how much the output changes when a parameter goes through its range. "
    "Near the dashed line or above, effects are nonlinear or interact with other parameters.",
    "indices": "Convergence: indices from the first blocks of the design only.",
    "swings": "Range along every side of the grid, averaged over the others.",
}


class Picture(NamedTuple):
    """A figure with its name and caption."""

    name: str
    figure: Figure
    caption: str


class Strongest(NamedTuple):
    """The parameter that an output depends on the most, and how much."""

    key: str
    words: str


Item = Picture | Strongest | str


def gallery(opened: Opened, component: Component) -> Iterator[Item]:
    """Pictures of one output one by one, what it depends on, and notes on what could not be drawn."""
    if component.output in opened.series:
        yield from _series(opened, component)
        return
    y = opened.values(component)
    there = y[np.isfinite(y)]
    if not len(there):
        yield "No member has a result."
    elif np.ptp(there) <= ROUNDING * np.abs(there).max():
        yield f"The same for all members: {value(there[0], unit_text(component.units), 6)}."
    elif opened.design.kind == "grid":
        yield from _grid(opened, component)
    elif opened.design.kind == "morris":
        yield from _indices(opened, component)
    else:
        if opened.design.kind == "sobol-indices":
            yield from _indices(opened, component)
        yield from _sampled(opened, component, y)


def _series(opened: Opened, component: Component) -> Iterator[Item]:
    """Pictures of a series, of any design; shares of a grid's members are no probabilities."""
    random = opened.design.kind not in ("grid", "morris")
    members = independent(opened) if random else np.arange(opened.members)
    if not opened.usable.ravel()[members].any():
        yield "No member has a result."
        return
    found = curve_bands(opened, component, members)
    what = "Quantiles" if random else "Shares of the members, which are no probabilities in this design,"
    figure = charts.series_bands(component, opened.dataset["time"].values, found.values, random)
    yield Picture("bands", figure, f"{what} over time, of {found.members} members.")


def _grid(opened: Opened, component: Component) -> Iterator[Item]:
    if len(opened.keys) == 1:
        yield Picture("line", pictures.line(opened, component), f"{_sentence(component)}.")
        return
    _, held = pictures.map_sides(opened, component)
    fixed = ", ".join(f"{key} = {pictures.value_text(opened.column(key), k)}" for key, k in held.items())
    others = f" Held at one value: {fixed}." if fixed else ""
    missing = "" if np.isfinite(opened.values(component)).all() else " Crossed out: no result."
    yield Picture("map", pictures.maps(opened, component), f"{_sentence(component)}.{missing}{others}")
    swings = effects.swings(opened, component)
    yield Picture("tornado", charts.swing_tornado(component, swings), CAPTIONS["swings"])
    most = max(swings, key=lambda swing: swing.high - swing.low)
    yield Strongest(most.key, f"{between(most.low, most.high, unit_text(component.units))} along it")


def _sampled(opened: Opened, component: Component, y: Array) -> Iterator[Item]:
    members = independent(opened)
    try:
        found = quantiles_of(opened, [component]).isel(output=0)
    except InputError as error:
        yield str(error)
        return
    y = y[members]
    columns = [opened.column(key) for key in opened.keys]
    columns = [replace(column, values=column.values[members]) for column in columns]
    yield Picture("distribution", charts.distribution(component, y, found), CAPTIONS["distribution"])
    if opened.design.kind != "sobol-indices":
        correlations = effects.rank_correlations(y, columns)
        yield Picture("tornado", charts.correlation_tornado(component, correlations), CAPTIONS["correlations"])
        most = max(correlations, key=lambda effect: np.nan_to_num(abs(effect.value)))
        if np.isfinite(most.value):
            yield Strongest(most.key, f"rank correlation {most.value:.2f}")
    yield Picture("points", pictures.points(component, y, columns), f"{_sentence(component)}, by parameter.")
    yield Picture("settling", charts.settling_quantiles(component, found), CAPTIONS["settling"])


def _indices(opened: Opened, component: Component) -> Iterator[Item]:
    try:
        found = sensitivity_of(opened, [component]).isel(output=0)
    except InputError as error:
        yield f"No sensitivities: {error}."
        return
    left_out = int(found.blocks_left_out)
    if left_out:
        total = int(found.blocks) + left_out
        yield f"{left_out} of {total} blocks of the design are left out: in each, a member has no result."
    yield from (w.text for w in doubts(found))
    size = found.mu_star if opened.design.kind == "morris" else found.total
    most, largest = str(size.parameter.values[np.argmax(size.values)]), float(size.max())
    effect = f"mean effect {value(largest, unit_text(component.units), 3)}"
    words = effect if opened.design.kind == "morris" else f"{value(largest, '%', 2)} of its variance"
    yield Strongest(most, words)
    if opened.design.kind == "morris":
        yield Picture("tornado", charts.morris_tornado(found), CAPTIONS["morris"])
    else:
        yield Picture("tornado", charts.sobol_tornado(found), CAPTIONS["sobol"])
        if "second" in found and len(opened.keys) > 2:
            yield Picture("pairs", charts.interactions(found), CAPTIONS["pairs"])
    yield Picture("settling-indices", charts.settling_indices(found), CAPTIONS["indices"])


def _sentence(component: Component) -> str:
    return component.long_name[:1].upper() + component.long_name[1:]
