"""Shared parts of all pictures of studies: panels, and axes with names, units and words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, empty_figure
from tautline.quantities import unit_text
from tautline.studies.analysis.reading import Array, Column, Component

# Told apart by color and, beyond six, by dashes.
LINES = [(color, dash) for dash in ("-", "--", ":") for color in (BLUE, ORANGE, GREEN, RED, SKY, BLACK)]
MISSING = "#D9D9D9"


def named(name: str, units: str) -> str:
    shown = unit_text(units)
    return f"{name} ({shown})" if shown else name


def output_name(component: Component) -> str:
    return named(component.label, component.units)


def panels(count: int, columns: int = 3, width: float = 2.6, height: float = 2.3, **shared: Any) -> tuple[Figure, Any]:
    """A figure of at most so many columns; those that are left over are not drawn."""
    across = min(columns, count)
    down = math.ceil(count / across)
    figure = empty_figure(max(4.0, 0.6 + width * across), 0.5 + height * down)
    grid = figure.subplots(down, across, squeeze=False, **shared)
    for axes in grid.flat:
        axes.set_axisbelow(True)
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    return figure, grid


def one_panel(width: float = 6.0, height: float = 3.4) -> tuple[Figure, Any]:
    figure, grid = panels(1, 1, width - 0.6, height - 0.5)
    return figure, grid[0, 0]


def plain_numbers(axis: Any) -> None:
    """1200 and not 1.2e3; powers of ten where numbers would be long, and never an offset to be added."""
    form = ScalarFormatter(useOffset=False, useMathText=True)
    form.set_powerlimits((-3, 5))
    axis.set_major_formatter(form)


def label_axis(axes: Any, which: str, column: Column) -> None:
    """Name, unit and scale of a parameter's axis; words at their places."""
    axis = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}label")(named(column.key, column.units))
    if column.words:
        axis.set_ticks(np.arange(len(column.words)), labels=list(column.words))
        getattr(axes, f"set_{which}lim")(-0.5, len(column.words) - 0.5)
    elif column.log:
        getattr(axes, f"set_{which}scale")("log")
        _few_log_ticks(axis, column.values)
    else:
        plain_numbers(axis)
        axes.locator_params(axis=which, nbins=5)


def _few_log_ticks(axis: Any, values: Array) -> None:
    """Within less than two decades powers of ten alone would leave an axis with one number or none."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    decades = math.log10(float(values.max()) / float(values.min()))
    if decades < 2.0:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades > 0.6 else (1.0, 2.0, 4.0, 6.0)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
        axis.set_minor_formatter(NullFormatter())


def _short(x: float) -> str:
    if 1e-3 <= abs(x) < 1e5:
        return f"{x:g}"
    power = math.floor(math.log10(abs(x)))
    return rf"${x / 10.0**power:g}\times10^{{{power}}}$"


def edges(column: Column) -> Array:
    """Edges of the cells around the values of a grid: half way, on the axis as it is drawn."""
    x = np.arange(float(len(column.values))) if column.words else column.values
    x = np.log(x) if column.log else x
    if len(x) == 1:
        between = np.array([x[0] - 0.5, x[0] + 0.5])
    else:
        middle = 0.5 * (x[1:] + x[:-1])
        between = np.concatenate([[2.0 * x[0] - middle[0]], middle, [2.0 * x[-1] - middle[-1]]])
    return np.exp(between) if column.log else between
