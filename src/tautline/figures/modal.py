"""Shapes of small oscillations."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, empty_figure, styled
from tautline.model import checks

# A component with less than this part of the largest displacement is not drawn.
VISIBLE = 0.02
COLUMNS = 6
PANEL = (1.45, 2.9)  # inches
COMPONENTS = (("x", BLUE, "-"), ("y", ORANGE, "--"), ("z, down", GREEN, ":"))


@styled
def modes(result: xr.Dataset, count: int = 6, *, line: str | None = None) -> Figure:
    """Shapes of the slowest modes: displacement of a line over the distance from its start, a panel each.

    Both ends of the swing are drawn. The thick line below the string is the body at its end, from the attachment point
    (dot) to its center of mass (ring). Rigid motions, which have no frequency, are left out.

    Parameters
    ----------
    result : Dataset
        From `tautline.modes`; choose modes with `result.isel(mode=...)`.
    count : int
        How many, at most.
    line : str, optional
        Name of the line, of a system with several.
    """
    names = [str(name) for name in result["line"].values]
    if line is None and len(names) > 1:
        checks.refuse("line", f"one of {', '.join(map(repr, names))}", line)
    chosen = names[0] if line is None else line
    checks.choice("line", chosen, names)
    wanted = checks.whole("count", count, 1, 1000)
    shown = result.isel(mode=np.flatnonzero(result.kind.values != "rigid")[:wanted])
    panels = shown.sizes["mode"]
    if panels == 0:
        checks.refuse("result", "at least one mode that is not rigid", list(result.kind.values))
    columns = min(COLUMNS, panels)
    rows = math.ceil(panels / columns)
    figure = empty_figure(0.55 + PANEL[0] * columns, 0.75 + PANEL[1] * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    own = result.node_line.values == chosen
    nodes = result.position.values[own]
    end = str(result.line_end.sel(line=chosen).item())
    has_body = "body" in result.dims and end in result["body"].values
    place = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    length = float(np.linalg.norm(result.body_position.sel(body=end).values - nodes[-1])) if has_body else 0.0
    used = set()
    for axes, k in zip(grid.flat, range(panels), strict=False):
        mode = shown.isel(mode=k)
        shape = mode["shape"].values[own]
        center = mode.body_shape.sel(body=end).values if has_body else shape[-1]
        largest = max(float(np.abs(shape).max()), float(np.abs(center).max()))
        axes.axvline(0.0, color=BLACK, linewidth=0.6)
        for i, (_, color, dashes) in enumerate(COMPONENTS):
            if max(float(np.abs(shape[:, i]).max()), abs(float(center[i]))) < VISIBLE * largest:
                continue
            used.add(i)
            for sign, alpha in ((1.0, 1.0), (-1.0, 0.3)):
                u = sign * shape[:, i] / largest
                axes.plot(u, place, dashes, color=color, alpha=alpha)
                axes.plot(u[-1:], place[-1:], "o", color=color, markersize=3, alpha=alpha)
                if length > 0.0:
                    tip = (sign * center[i] / largest, place[-1] + length)
                    axes.plot([u[-1], tip[0]], [place[-1], tip[1]], color=color, linewidth=2.4, alpha=0.7 * alpha)
                    axes.plot(*tip, "o", color=color, markersize=4, markerfacecolor="white", alpha=alpha)
        axes.set_title(f"{int(mode.mode)}: {_rate(mode)}\n{mode.kind.item()}", fontsize=8)
        axes.set_xlim(-1.15, 1.15)
        axes.set_xticks([-1, 0, 1])
    for axes in list(grid.flat)[panels:]:
        axes.set_axis_off()
    grid[0, 0].invert_yaxis()
    for row in grid:
        row[0].set_ylabel(
            "distance from the guide (m)" if len(names) == 1 else f"distance from the start of {chosen} (m)"
        )
    figure.supxlabel("displacement, relative", fontsize=9)
    lines = [
        figure.axes[0].plot([], [], dashes, color=color, label=name)[0]
        for i, (name, color, dashes) in enumerate(COMPONENTS)
        if i in used
    ]
    figure.legend(handles=lines, loc="outside upper center", ncols=3)
    return figure


def _rate(mode: xr.Dataset) -> str:
    growth = float(mode.growth_rate)
    return f"grows, {growth:.3g} /s" if growth > 0.0 else f"{float(mode.frequency):.3g} Hz"
