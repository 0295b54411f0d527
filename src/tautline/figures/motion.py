"""Figures in space: snapshots of the motion, phase portraits, the body's attitude."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform

from tautline.errors import InputError
from tautline.figures.source import of_run
from tautline.figures.style import BLUE, BODY, GREEN, RED, STRAIN_MAP, new_figure, new_scene, widen
from tautline.model.shapes import body_mesh
from tautline.model.string import String
from tautline.results.inputs import pendulum_of

# Sides of a scene over the largest: the least of width and height, and a depth that has room for one label only.
NARROWEST, FLAT = 0.3, 0.2


def elastic_shade(row: xr.Dataset) -> np.ndarray:
    """Elastic energy of the elements relative to the largest of that moment."""
    density = np.maximum(string_of(row).energy_density(row.strain.values), 0.0)
    return np.asarray(density / max(float(density.max()), 1e-300))


def string_of(run: xr.Dataset) -> String:
    """String of a run."""
    return pendulum_of(run.attrs).string


def draw(axes: Any, row: xr.Dataset, mesh: Any, alpha: float = 1.0) -> list[Any]:
    """String and body at one moment; the artists."""
    nodes = row.position.values
    segments = np.stack([nodes[:-1], nodes[1:]], axis=1)
    colours = mpl.colormaps[STRAIN_MAP](elastic_shade(row))
    string = Line3DCollection(segments, colors=colours, linewidths=1.6, alpha=alpha)
    axes.add_collection3d(string)
    points, faces = mesh
    placed = nodes[-1] + points @ row.attitude.values.T
    body = Poly3DCollection(
        [placed[face] for face in faces], facecolors=BODY, edgecolors="#44546A", linewidths=0.2, alpha=0.75 * alpha
    )
    axes.add_collection3d(body)
    return [string, body]


def body_of(run: xr.Dataset) -> Any:
    """Mesh of the body of a run."""
    return body_mesh(pendulum_of(run.attrs).body)


def frame(axes: Any, run: xr.Dataset, mesh: Any) -> None:
    """Limits that hold the whole motion, equal scales, third axis down."""
    reach = float(np.linalg.norm(mesh[0], axis=1).max())
    low = run.position.min(("time", "node")).values - reach
    high = run.position.max(("time", "node")).values + reach
    largest = float((high - low).max())
    room = np.maximum(0.0, (NARROWEST, 0.05, NARROWEST) * np.array(largest) - (high - low)) / 2.0
    low, high = low - room, high + room
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(high[2], low[2])
    axes.set_box_aspect(high - low)
    for axis, span in zip((axes.xaxis, axes.yaxis, axes.zaxis), high - low, strict=True):
        # as many ticks as the side has room for
        axis.set_major_locator(MaxNLocator(max(1, round(6.0 * span / largest))))
    if high[1] - low[1] < FLAT * largest:
        middle = 0.0 if low[1] < 0.0 < high[1] else float(f"{0.5 * (low[1] + high[1]):.1g}")
        axes.yaxis.set_major_locator(FixedLocator([middle]))


def finite(run: xr.Dataset) -> xr.Dataset:
    """Samples of a run in which string and body have a place; one that overflowed ends with others."""
    good = np.isfinite(run.position).all(("node", "axis")) & np.isfinite(run.attitude).all(("row", "column"))
    if not good.any():
        raise InputError("run: expected samples with finite positions, got none")
    return run.isel(time=np.flatnonzero(good))


@of_run("position", "attitude", "strain")
def snapshots(
    run: xr.Dataset, every: float | None = None, until: float | None = None, view: tuple[float, float] = (12.0, -75.0)
) -> Figure:
    """The manoeuvre at equal intervals, the string shaded by its relative elastic energy at each moment.

    Parameters
    ----------
    run : Dataset, or path of a run file
    every : float, optional
        Interval between the pictures (s); a round one with ten pictures or fewer by default.
    until : float, optional
        Time of the last one (s); the end of the run by default.
    view : two floats
        Elevation and azimuth of the camera (degrees).
    """
    figure, axes = new_scene(layout=None)
    run = finite(run)
    start = float(run.time[0])
    end = float(run.time[-1]) if until is None else until
    if every is None:
        every = float(MaxNLocator(10).tick_values(0.0, max(end - start, 1e-9))[1])
    chosen = run.sel(time=np.arange(start, end + 1e-9, every), method="nearest")
    mesh = body_of(run)
    # limits first: they keep matplotlib from working out its own, in which polygons of unequal size go wrong
    frame(axes, chosen, mesh)
    for i in range(chosen.sizes["time"]):
        draw(axes, chosen.isel(time=i), mesh, alpha=0.9)
    axes.view_init(*view)
    _fit(figure, axes)
    shade = ScalarMappable(Normalize(0.0, 1.0), mpl.colormaps[STRAIN_MAP])
    width = figure.get_figwidth()
    bar = figure.add_axes((1.0 - 0.75 / width, 0.25, 0.13 / width, 0.5))
    bar.grid(False)
    figure.colorbar(shade, cax=bar, label="elastic energy, relative")
    figure.suptitle(f"every {every:g} s in [{start:g}, {end:g}] s", fontsize=9)
    return figure


# Inches around the box of a scene, for its labels and the colour bar: left, right, below, above.
MARGINS = (0.35, 1.75, 0.75, 0.3)
LARGEST_BOX = (4.6, 4.4)


def _fit(figure: Figure, axes: Any) -> None:
    """A figure just as large as the box as it is seen, where matplotlib would leave room to turn it."""
    corners = np.array(list(itertools.product(axes.get_xlim(), axes.get_ylim(), axes.get_zlim())))
    seen = np.stack(proj_transform(*corners.T, axes.get_proj())[:2])
    window = axes.viewLim
    low = (seen.min(axis=1) - window.min) / window.size  # as parts of the axes, which are square
    high = (seen.max(axis=1) - window.min) / window.size
    side = float(np.min(LARGEST_BOX / (high - low)))
    left, right, below, above = MARGINS
    width, height = side * (high - low) + (left + right, below + above)
    figure.set_size_inches(width, height)
    corner = np.array([left, below]) - side * low
    axes.set_position((corner[0] / width, corner[1] / height, side / width, side / height))
    # matplotlib scales these distances with the sides of the box
    narrow = LARGEST_BOX[0] / float(side * (high - low)[0])
    axes.zaxis.labelpad = 8.0 * narrow
    axes.tick_params(axis="z", pad=3.0 * narrow)
    if narrow > 1.3:
        axes.yaxis.set_major_locator(FixedLocator([]))  # no room for a number


@of_run("position", "velocity")
def phase(run: xr.Dataset) -> Figure:
    """Phase portrait of the swing: angle of the attachment point from the vertical against its rate."""
    figure, (axes,) = new_figure(width=4.2, height=4.0)
    guide = run.position.values[:, 0]
    end = run.position.values[:, -1] - guide
    speed = run.velocity.values[:, -1] - run.velocity.values[:, 0]
    angle = np.unwrap(np.arctan2(end[:, 0], end[:, 2]))
    with np.errstate(all="ignore"):  # no rate while the end passes through the guide
        rate = (end[:, 2] * speed[:, 0] - end[:, 0] * speed[:, 2]) / (end[:, 0] ** 2 + end[:, 2] ** 2)
    axes.plot(angle, rate, color=BLUE, linewidth=0.8)
    axes.plot(angle[:1], rate[:1], "o", color=RED, markersize=4, label="start")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("angle in the x-z plane (rad)")
    axes.set_ylabel("rate (rad/s)")
    widen(axes, x=True)
    axes.legend()
    return figure


@of_run("attitude")
def attitude(run: xr.Dataset) -> Figure:
    """Paths of the three body axes on the unit sphere."""
    figure, axes = new_scene(width=4.8, height=4.6)
    for k, (name, colour) in enumerate((("x", RED), ("y", GREEN), ("z", BLUE))):
        path = run.attitude.values[:, :, k]
        axes.plot(*path.T, color=colour, linewidth=0.7, label=f"body {name}")
        axes.plot(*path[-1:].T, "o", color=colour, markersize=4)
    u, v = np.mgrid[0 : 2 * np.pi : 24j, 0 : np.pi : 13j]
    sphere = (np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v))
    axes.plot_wireframe(*sphere, color="#CCCCCC", linewidth=0.3)
    axes.set_zlim(1.0, -1.0)
    axes.set_box_aspect((1, 1, 1))
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MaxNLocator(2))
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_zlabel("z, down")
    axes.legend(loc="upper left")
    return figure
