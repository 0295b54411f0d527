"""Shapes of small oscillations."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, styled
from tautline.model import checks

# A component with less than this part of the largest displacement is not drawn.
VISIBLE = 0.02
COLUMNS = 6
PANEL = (1.45, 2.9)  # inches
COMPONENTS = (("x", BLUE, "-"), ("y", ORANGE, "--"), ("z, down", GREEN, ":"))


@styled
def modes(result: xr.Dataset, count: int = 6) -> Figure:
    """Shapes of the slowest modes: displacement of the string over the distance from the guide, a panel each.

    Both ends of the swing are drawn. The thick line below the string is the body, from the attachment point (dot) to
    its centre of mass (ring). Rigid motions, which have no frequency, are left out.

    Parameters
    ----------
    result : Dataset
        From `tautline.modes`; choose modes with `result.isel(mode=...)`.
    count : int
        How many, at most.
    """
    wanted = checks.whole("count", count, 1, 1000)
    shown = result.isel(mode=np.flatnonzero(result.kind.values != "rigid")[:wanted])
    panels = shown.sizes["mode"]
    if panels == 0:
        checks.refuse("result", "at least one mode that is not rigid", list(result.kind.values))
    columns = min(COLUMNS, panels)
    rows = math.ceil(panels / columns)
    figure = Figure(figsize=(0.55 + PANEL[0] * columns, 0.75 + PANEL[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    rho = np.array(result.attrs["center_of_mass"])
    place = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(result.position.values, axis=0), axis=1))])
    length = float(np.linalg.norm(rho))
    used = set()
    for axes, k in zip(grid.flat, range(panels), strict=False):
        mode = shown.isel(mode=k)
        shape = mode["shape"].values
        center = shape[-1] + result.attitude.values @ np.cross(mode.rotation.values, rho)
        largest = max(float(np.abs(shape).max()), float(np.abs(center).max()))
        axes.axvline(0.0, color=BLACK, linewidth=0.6)
        for i, (_, colour, line) in enumerate(COMPONENTS):
            if max(float(np.abs(shape[:, i]).max()), abs(float(center[i]))) < VISIBLE * largest:
                continue
            used.add(i)
            for sign, alpha in ((1.0, 1.0), (-1.0, 0.3)):
                u = sign * shape[:, i] / largest
                axes.plot(u, place, line, color=colour, alpha=alpha)
                axes.plot(u[-1:], place[-1:], "o", color=colour, markersize=3, alpha=alpha)
                if length > 0.0:
                    end = (sign * center[i] / largest, place[-1] + length)
                    axes.plot([u[-1], end[0]], [place[-1], end[1]], color=colour, linewidth=2.4, alpha=0.7 * alpha)
                    axes.plot(*end, "o", color=colour, markersize=4, markerfacecolor="white", alpha=alpha)
        axes.set_title(f"{int(mode.mode)}: {_rate(mode)}\n{mode.kind.item()}", fontsize=8)
        axes.set_xlim(-1.15, 1.15)
        axes.set_xticks([-1, 0, 1])
    for axes in list(grid.flat)[panels:]:
        axes.set_axis_off()
    grid[0, 0].invert_yaxis()
    for row in grid:
        row[0].set_ylabel("distance from the guide (m)")
    figure.supxlabel("displacement, relative", fontsize=9)
    lines = [
        figure.axes[0].plot([], [], line, color=colour, label=name)[0]
        for i, (name, colour, line) in enumerate(COMPONENTS)
        if i in used
    ]
    figure.legend(handles=lines, loc="outside upper center", ncols=3)
    return figure


def _rate(mode: xr.Dataset) -> str:
    growth = float(mode.growth_rate)
    return f"grows, {growth:.3g} /s" if growth > 0.0 else f"{float(mode.frequency):.3g} Hz"
