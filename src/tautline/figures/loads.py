"""Figures of what rope engineers read off: spectra, exceedances, cycles of tension and of bending."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tautline.analysis import fatigue, spectra
from tautline.analysis.bending import bending_cycles
from tautline.analysis.series import TooFewSamplesError
from tautline.figures.source import of_run
from tautline.figures.style import BLUE, ORANGE, RED, SKY, new_figure
from tautline.quantities import value

# Frequencies beyond which less than this part of the variance lies are not drawn.
QUIET = 1e-4
BINS = 40
P = ParamSpec("P")


def _or_say(draw: Callable[Concatenate[xr.Dataset, P], Figure]) -> Callable[Concatenate[xr.Dataset, P], Figure]:
    """Draw, or say on an empty figure that there are too few samples."""

    @wraps(draw)
    def inside(run: xr.Dataset, /, *args: P.args, **kwargs: P.kwargs) -> Figure:
        try:
            return draw(run, *args, **kwargs)
        except TooFewSamplesError:
            figure, (axes,) = new_figure()
            axes.set_xlabel("too few samples")
            axes.set_ylabel("no result")
            return figure

    return inside


@of_run()
@_or_say
def spectrum(run: xr.Dataset, /, variable: str = "start_tension", **place: Any) -> Figure:
    """Power spectral density of a variable, as `tl.analysis.spectrum` gives it, up to where it has faded."""
    found = spectra.spectrum(run, variable, **place)
    figure, (axes,) = new_figure()
    frequency, density = found.frequency.values, found.density.values
    left = np.cumsum(density[::-1])[::-1]
    shown = max(8, int(np.count_nonzero(left > QUIET * left[0])))
    axes.plot(frequency[1:shown], density[1:shown], color=BLUE, linewidth=0.9)
    if left[0] > 0.0:
        axes.set_yscale("log")
        peak = found.attrs["peak_frequency"]
        if math.isfinite(peak):
            axes.axvline(peak, color=RED, linestyle=":", linewidth=0.9, label=f"peak at {value(peak, 'Hz', 3)}")
            figure.legend(loc="outside upper center")
    axes.set_xlabel("frequency (Hz)")
    axes.set_ylabel(f"density of {_words(found)} ({found.density.attrs['units'].replace('2 s', '² s')})")
    return figure


@of_run()
@_or_say
def exceedance(run: xr.Dataset, /, variable: str = "start_tension", **place: Any) -> Figure:
    """Part of the time that a variable spends above a level, and how often it rises through it."""
    found = spectra.exceedance(run, variable, **place)
    figure, (above, below) = new_figure(2)
    above.plot(found.level, found.time_above.where(found.time_above > 0.0), color=BLUE)
    if found.time_above.any():
        above.set_yscale("log")
    above.set_ylabel("part of the\ntime above")
    below.step(found.level, found.upcrossings, color=ORANGE, where="mid")
    below.set_ylabel("upward\ncrossings")
    below.set_xlabel(f"{_words(found)} ({found.level.attrs['units']})")
    return figure


@of_run()
@_or_say
def rainflow(run: xr.Dataset, /, variable: str = "start_tension", **place: Any) -> Figure:
    """Cycles by their range: how many there are of about that range, and how many of at least that range."""
    found = fatigue.rainflow(run, variable, **place)
    figure, (axes,) = new_figure()
    ranges, counts = found.range.values, found["count"].values
    order = np.argsort(ranges)[::-1]
    axes.hist(ranges, bins=BINS, weights=counts, color=SKY, label="of about this range")
    axes.step(ranges[order], np.cumsum(counts[order]), color=RED, where="post", label="of at least this range")
    if len(ranges):
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.4)  # half a cycle is the least
    axes.set_xlabel(f"range of {_words(found)} ({found.range.attrs['units']})")
    axes.set_ylabel("cycles")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@of_run()
def bending(run: xr.Dataset, /, line: str | None = None) -> Figure:
    """Cycles of bending of each section of a rope over each sheave and drum, as `tl.analysis.bending_cycles` counts."""
    found = bending_cycles(run, line=line)
    figure, (axes,) = new_figure()
    for name, cycles in zip(found.wheel.values, found.cycles.values, strict=True):
        axes.step(found.section, cycles, where="mid", label=str(name))
    if found.sizes["wheel"] > 1:
        axes.step(found.section, found.cycles.sum("wheel"), where="mid", color="black", linewidth=0.9, label="all")
    if found.sizes["wheel"]:
        figure.legend(loc="outside upper center", ncols=4)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("along the rope from its start (m, unstretched)")
    axes.set_ylabel("cycles of bending")
    return figure


def _words(found: xr.Dataset) -> str:
    return str(found.attrs["variable"]).replace("_", " ")
