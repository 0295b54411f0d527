"""Charts of what was found: tornados of sensitivities, distributions, bands of series, convergence."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, styled
from tautline.studies.analysis.effects import Effect, Swing
from tautline.studies.analysis.reading import Array, Component
from tautline.studies.report.drawing import LINES, named, one_panel, output_name, panels, plain_numbers

WHISKERS: Any = {"ecolor": BLACK, "elinewidth": 0.9, "capsize": 2.5}
# Lines that can still be told apart; the strongest ones are drawn.
LINES_AT_MOST = 8


def _rows(count: int) -> float:
    """Height of a chart with so many bars."""
    return 1.1 + 0.42 * max(2, count)


def _named_rows(axes: Any, names: list[str]) -> None:
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)  # the strongest above
    axes.grid(False, axis="y")


@styled
def sobol_tornado(found: xr.Dataset) -> Figure:
    """Total and first order of one output, the strongest above."""
    one = found.sortby(found.total, ascending=False)
    figure, axes = one_panel(6.0, _rows(one.sizes["parameter"]) + 0.2)
    place = np.arange(one.sizes["parameter"])
    for shift, name, color, words in (
        (-0.19, "total", BLUE, "with all others (total)"),
        (0.19, "first", SKY, "alone (first order)"),
    ):
        half = one[f"{name}_confidence"].values
        axes.barh(place + shift, one[name].values, 0.36, color=color, label=words, xerr=half, error_kw=WHISKERS)
    axes.axvline(0.0, color=BLACK, linewidth=0.8)
    _named_rows(axes, [str(key) for key in one.parameter.values])
    axes.set_xlabel(f"part of the variance of {found.output.item()}")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@styled
def interactions(found: xr.Dataset) -> Figure:
    """Second order of every pair, with how sure it is."""
    count = found.sizes["parameter"]
    figure, axes = one_panel(2.6 + 0.75 * count, 1.6 + 0.5 * count)
    lower = np.tril(np.ones((count, count), dtype=bool), -1)[1:, :-1]
    values = np.where(lower, found.second.values[1:, :-1], np.nan)
    half = found.second_confidence.values[1:, :-1]
    most = max(0.05, float(np.nanmax(np.abs(values))), float(np.nanmax(half[lower])))  # what is not sure is pale
    picture = axes.pcolormesh(values, cmap="RdBu_r", vmin=-most, vmax=most, edgecolors="white", linewidth=1.5)
    for i, j in zip(*np.nonzero(lower), strict=True):
        dark = abs(values[i, j]) > 0.6 * most
        text = f"{round(values[i, j], 2) + 0.0:.2f}\n±{half[i, j]:.2f}"
        axes.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=7, color="white" if dark else BLACK)
    keys = [str(key) for key in found.parameter.values]
    axes.set_xticks(np.arange(count - 1) + 0.5, keys[:-1], rotation=25, ha="right")
    axes.set_yticks(np.arange(count - 1) + 0.5, keys[1:])
    axes.invert_yaxis()
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.colorbar(picture, ax=axes, label="second order")
    return figure


@styled
def morris_tornado(found: xr.Dataset) -> Figure:
    """Size of the effects, and how much they depend on the other parameters and on the place."""
    one = found.sortby(found.mu_star, ascending=False)
    keys = [str(key) for key in one.parameter.values]
    figure, grid = panels(2, 2, 3.9, max(2.4, _rows(len(keys))))
    bars, plane = grid[0]
    label = named("mean size of the effect", found.units.item())
    half = one.mu_star_confidence.values
    bars.barh(np.arange(len(keys)), one.mu_star.values, 0.6, color=BLUE, xerr=half, error_kw=WHISKERS)
    _named_rows(bars, keys)
    bars.set_xlabel(label)
    most = 1.15 * float(max(one.mu_star.max(), one.sigma.max())) or 1.0
    plane.plot([0.0, most], [0.0, most], "--", color=BLACK, linewidth=0.7)
    for k, key in enumerate(keys):
        color, dash = LINES[k % len(LINES)]
        at = (float(one.mu_star[k]), float(one.sigma[k]))
        plane.plot(*at, "o" if dash == "-" else "s", color=color, label=key, clip_on=False, zorder=3)
    plane.set_xlim(0.0, most)
    plane.set_ylim(0.0, most)
    plane.set_xlabel(label)
    plane.set_ylabel(named("deviation of the effect", found.units.item()))
    plane.legend(fontsize=7, loc="upper left")
    for axis in (bars.xaxis, plane.xaxis, plane.yaxis):
        plain_numbers(axis)
    return figure


@styled
def correlation_tornado(component: Component, effects: list[Effect]) -> Figure:
    """Rank correlations with intervals of 95 %."""
    order = sorted((e for e in effects if np.isfinite(e.value)), key=lambda e: -abs(e.value))
    figure, axes = one_panel(6.0, _rows(len(order)))
    for k, e in enumerate(order):
        reach = [[e.value - e.low], [e.high - e.value]]
        axes.barh(k, e.value, 0.6, color=BLUE if e.value >= 0.0 else ORANGE, xerr=reach, error_kw=WHISKERS)
    axes.axvline(0.0, color=BLACK, linewidth=0.8)
    axes.set_xlim(-1.05, 1.05)
    _named_rows(axes, [e.key for e in order])
    axes.set_xlabel(f"rank correlation with {component.label}")
    return figure


@styled
def swing_tornado(component: Component, found: list[Swing]) -> Figure:
    """Course of an output along every side of a grid, averaged over the others."""
    order = sorted(found, key=lambda s: s.low - s.high)
    figure, axes = one_panel(6.0, _rows(len(order)) + 0.2)
    for k, s in enumerate(order):
        axes.barh(k, s.high - s.low, 0.6, left=s.low, color=SKY)
        axes.plot(
            s.at_first, k, "v", color=BLACK, markersize=5, label="at its lowest or first value" if k == 0 else None
        )
        axes.plot(s.at_last, k, "^", color=RED, markersize=5, label="at its highest or last value" if k == 0 else None)
    axes.use_sticky_edges = False
    axes.margins(x=0.04)
    _named_rows(axes, [s.key for s in order])
    axes.set_xlabel(f"mean of {output_name(component)}")
    plain_numbers(axes.xaxis)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@styled
def distribution(component: Component, y: Array, found: xr.Dataset) -> Figure:
    """How members are spread, with quantiles and their intervals."""
    there = y[np.isfinite(y)]
    figure, axes = one_panel(6.0, 3.0)
    axes.hist(there, bins=int(np.clip(np.sqrt(len(there)), 8, 60)), color=SKY, edgecolor="white", linewidth=0.4)
    for k, p in enumerate(found["quantile"].values):
        low, high = float(found.low[k]), float(found.high[k])
        if np.isfinite([low, high]).all():
            axes.axvspan(low, high, color=RED, alpha=0.18, linewidth=0)
        axes.axvline(float(found.quantiles[k]), color=RED, linewidth=1.0)
        axes.annotate(
            f"{100 * p:g} %",
            (float(found.quantiles[k]), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2 + 8 * (k % 2)),  # quantiles may lie close together
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=RED,
        )
    axes.set_xlabel(output_name(component))
    axes.set_ylabel("members")
    plain_numbers(axes.xaxis)
    return figure


@styled
def series_bands(component: Component, time: Array, values: Array, random: bool) -> Figure:
    """Quantiles 5, 25, 50, 75 and 95 % over time; of members that are not random, where so many of them lie."""
    labels = ("5 to 95 %", "25 to 75 %", "median")
    if not random:
        labels = ("9 of 10 members (chosen ones, not random)", "the middle half of them", "the middle one")
    figure, axes = one_panel()
    axes.fill_between(time, values[0], values[4], color=SKY, alpha=0.35, linewidth=0, label=labels[0])
    axes.fill_between(time, values[1], values[3], color=BLUE, alpha=0.45, linewidth=0, label=labels[1])
    axes.plot(time, values[2], color=BLACK, label=labels[2])
    axes.set_xlabel("time (s)")
    axes.set_ylabel(output_name(component))
    plain_numbers(axes.yaxis)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


@styled
def settling_indices(found: xr.Dataset) -> Figure:
    """Sensitivities from growing parts of the design."""
    name = "total" if "total" in found else "mu_star"
    words = "total order" if name == "total" else named("mean size of the effect", found.units.item())
    one = found.sortby(found[name], ascending=False).isel(parameter=slice(LINES_AT_MOST))
    blocks = np.ceil(one.part.values * int(one.blocks))
    figure, axes = one_panel(6.0, 3.2)
    for (color, dash), k in zip(LINES, range(one.sizes["parameter"]), strict=False):
        y = one[f"{name}_so_far"][:, k].values
        half = one[f"{name}_confidence_so_far"][:, k].values
        axes.fill_between(blocks, y - half, y + half, color=color, alpha=0.13, linewidth=0)
        axes.plot(blocks, y, dash, marker="o", markersize=3, color=color, label=str(one.parameter.values[k]))
    _doubling(axes, blocks[np.isfinite(one[f"{name}_so_far"].values).any(axis=1)])
    axes.set_xlabel("blocks of the design")
    axes.set_ylabel(words)
    plain_numbers(axes.yaxis)
    figure.legend(loc="outside upper center", ncols=3, fontsize=7)
    return figure


@styled
def settling_quantiles(component: Component, found: xr.Dataset) -> Figure:
    """Mean and quantiles from growing parts of the members."""
    figure, axes = one_panel(6.0, 3.2)
    count = found.members_so_far.values
    shown = np.isfinite(found.average_so_far.values)
    for k, p in enumerate(found["quantile"].values):
        style = {"color": BLUE if p == 0.5 else SKY, "linewidth": 1.6 if p == 0.5 else 1.0}
        axes.plot(count[shown], found.quantiles_so_far.values[shown, k], "o-", markersize=3, **style)
        low, high = float(found.low[k]), float(found.high[k])
        axes.plot([count[-1]] * 2, [low, high], color=BLACK, linewidth=2.2, alpha=0.6)
        where = (count[-1], float(found.quantiles[k]))
        axes.annotate(f"{100 * p:g} %", where, xytext=(7, 0), textcoords="offset points", va="center", fontsize=7)
    axes.plot(count[shown], found.average_so_far.values[shown], "s--", markersize=3, color=GREEN, label="mean")
    _doubling(axes, count[shown])
    axes.set_xlabel("members")
    axes.set_ylabel(output_name(component))
    plain_numbers(axes.yaxis)
    figure.legend(loc="outside upper center", fontsize=7)
    return figure


def _doubling(axes: Any, counts: Array) -> None:
    """An axis of numbers that double, with room for labels at the end."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [f"{int(x)}" for x in counts])
    axes.minorticks_off()
    axes.set_xlim(counts[0] / 1.15, counts[-1] * 1.3)
