"""Pictures of outputs against parameters: lines and maps of grids, points of sampled designs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tautline.figures.style import BLACK, BLUE, RED, STRAIN_MAP, styled
from tautline.quantities import unit_text, value
from tautline.studies.analysis.effects import swings
from tautline.studies.analysis.reading import Array, Column, Component, Opened
from tautline.studies.report.drawing import MISSING, edges, label_axis, output_name, panels, plain_numbers

# More points would hide each other; few are drawn large.
POINTS, FEW = 3000, 300
# Of a running median: at least so many members each, and at most so many pieces.
MEMBERS_A_PIECE, PIECES = 20, 24
MAPS_SIDE_BY_SIDE = 4
# Steps of a list of values that differ by more are drawn as equal cells, each with its value.
UNEVEN = 1.5
SEED = 1


@styled
def line(opened: Opened, component: Component) -> Figure:
    """An output along the one side of a grid; words side by side."""
    column, y = _sorted_side(opened, opened.keys[0], opened.values(component), 0)
    figure, grid = panels(1, 1, 5.4, 2.9)
    axes = grid[0, 0]
    x = np.arange(len(y)) if column.words else column.values
    axes.plot(x, y, "o" if column.words else ("o-" if len(y) < 60 else "-"), color=BLUE, markersize=3.5)
    for k in np.flatnonzero(~np.isfinite(y)):
        axes.axvline(x[k], color=MISSING, linewidth=4.0, zorder=0)
    label_axis(axes, "x", column)
    axes.set_ylabel(output_name(component))
    plain_numbers(axes.yaxis)
    return figure


def map_sides(opened: Opened, component: Component) -> tuple[list[str], dict[str, int]]:
    """Sides of a grid to draw (across, up, and one with a panel each), and the places at which the others are fixed."""
    size = {swing.key: swing.high - swing.low for swing in swings(opened, component)}
    words = {key: bool(opened.column(key).words) for key in opened.keys}
    order = sorted(opened.keys, key=lambda key: (words[key], -size.get(key, 0.0)))
    shown = order[:2] + sorted(order[2:], key=lambda key: -size.get(key, 0.0))[:1]
    lengths = dict(zip(opened.keys, opened.shape, strict=True))
    return shown, {key: (lengths[key] - 1) // 2 for key in opened.keys if key not in shown}


@styled
def maps(opened: Opened, component: Component) -> Figure:
    """An output over two sides of a grid, for some values of a third; crossed out where there is no result."""
    shown, held = map_sides(opened, component)
    y = opened.values(component)[tuple(held.get(key, slice(None)) for key in opened.keys)]
    y = np.transpose(y, [[key for key in opened.keys if key not in held].index(key) for key in shown])
    sides = []
    for axis, key in enumerate(shown):
        column, y = _sorted_side(opened, key, y, axis)
        sides.append(_as_cells(column) if axis < 2 else column)
    third = sides[2] if len(sides) > 2 else None
    places = _spread(y.shape[2]) if third is not None else [0]
    count = len(places)
    across = 1 if count == 1 else 2
    figure, grid = panels(
        count, across, 5.4 if count == 1 else 3.5, 3.6 if count == 1 else 2.7, sharex=True, sharey=True
    )
    there = y[np.isfinite(y)]
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    picture: Any = None
    for axes, k in zip(grid.flat, places, strict=False):
        layer = y[:, :, k] if third is not None else y
        axes.grid(False)
        # white and hatched: the color map has its grays
        axes.patch.set(facecolor="white", hatch="xxx", edgecolor=MISSING)
        cells = (edges(sides[0]), edges(sides[1]), layer.T)
        picture = axes.pcolormesh(*cells, cmap=STRAIN_MAP, vmin=low, vmax=high, rasterized=True)
        label_axis(axes, "x", sides[0])
        label_axis(axes, "y", sides[1])
        axes.label_outer()
        if third is not None:
            axes.set_title(f"{third.key} = {value_text(third, k)}", fontsize=8)
    bar = figure.colorbar(picture, ax=grid, label=output_name(component))
    plain_numbers(bar.ax.yaxis)
    return figure


def _spread(count: int) -> list[int]:
    return [int(k) for k in np.unique(np.linspace(0, count - 1, MAPS_SIDE_BY_SIDE).round())]


def value_text(column: Column, k: int) -> str:
    """A value with its unit, or a word."""
    if column.words:
        return column.words[int(column.values[k])]
    return value(column.values[k], unit_text(column.units))


def _sorted_side(opened: Opened, key: str, y: Array, axis: int) -> tuple[Column, Array]:
    """Lists of values may come in any order; cells and lines want them to rise."""
    column = opened.column(key)
    order = np.argsort(column.values, kind="stable")
    return replace(column, values=column.values[order]), np.take(y, order, axis=axis)


def _as_cells(column: Column) -> Column:
    """Values of an uneven list by name: to scale, some cells would be too thin to see."""
    steps = np.diff(np.log(column.values) if column.log else column.values)
    if column.words or len(steps) < 2 or steps.max() <= UNEVEN * steps.min():
        return column
    names = tuple(f"{x:.6g}" for x in column.values)
    return Column(column.key, np.arange(float(len(names))), column.units, False, names)


@styled
def points(component: Component, y: Array, columns: list[Column]) -> Figure:
    """An output against every parameter, with a running median; at most some thousand points are drawn."""
    there = np.isfinite(y)
    shown = _some(np.flatnonzero(there), POINTS)
    figure, grid = panels(len(columns), 3, sharey=True)
    few = len(shown) <= FEW
    look: dict[str, Any] = {
        "color": BLUE,
        "markersize": 5 if few else 2,
        "alpha": 0.7 if few else 0.35,
        "rasterized": True,
    }
    for axes, column in zip(grid.flat, columns, strict=False):
        x = column.values
        if column.words:
            jitter = np.random.default_rng(SEED).uniform(-0.3, 0.3, len(shown))
            axes.plot(x[shown] + jitter, y[shown], ".", **look)
            for k in np.unique(x[there]):
                axes.plot([k - 0.35, k + 0.35], [np.median(y[there & (x == k)])] * 2, color=RED, linewidth=2.0)
        else:
            axes.plot(x[shown], y[shown], ".", **look)
            axes.plot(*running_median(x[there], y[there]), color=RED, linewidth=1.6)
        label_axis(axes, "x", column)
    for row in grid:
        row[0].set_ylabel(output_name(component))
        plain_numbers(row[0].yaxis)
    said = "points: members" if len(shown) == there.sum() else f"points: {len(shown)} of {there.sum()} members"
    figure.suptitle(f"{said}; red: running median", fontsize=8, color=BLACK)
    return figure


def _some(members: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Evenly chosen."""
    return members if len(members) <= most else members[np.linspace(0, len(members) - 1, most).astype(np.int64)]


def running_median(x: Array, y: Array) -> tuple[Array, Array]:
    """Medians of pieces with equally many members."""
    pieces = int(np.clip(len(x) // MEMBERS_A_PIECE, 1, PIECES))
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, pieces)
    return np.array([np.median(x[p]) for p in parts]), np.array([np.median(y[p]) for p in parts])
