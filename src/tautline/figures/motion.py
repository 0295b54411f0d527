"""Figures in space: snapshots of the motion, phase portraits, the body's attitude."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.proj3d import proj_transform

from tautline.figures.scene import LARGEST_BOX, Scene, draw, extent, frame, place, scene_of, seen_box
from tautline.figures.source import of_run
from tautline.figures.style import (
    BLUE,
    GREEN,
    LOOKS,
    RED,
    STILL,
    STRAIN_MAP,
    empty_figure,
    new_figure,
    new_scene,
    widen,
)
from tautline.model import checks
from tautline.results.one_line import one_body, one_line


@of_run("position", "strain")
def snapshots(
    run: xr.Dataset, every: float | None = None, until: float | None = None, view: tuple[float, float] = (12.0, -75.0)
) -> Figure:
    """The maneuver at equal intervals, lines shaded by their relative elastic energy at each moment.

    Times stand on the body that moves the most, where there is room. Circles are drums, behind their guides.

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
    scene = scene_of(run)
    start = float(scene.time[0])
    end = float(scene.time[-1]) if until is None else until
    if every is None:
        every = float(MaxNLocator(10).tick_values(0.0, max(end - start, 1e-9))[1])
    wanted = np.arange(start, end + 1e-9, every)
    rows = [int(np.argmin(np.abs(scene.time - t))) for t in wanted]
    # limits first: they keep matplotlib from working out its own, in which polygons of unequal size go wrong
    frame(axes, *extent(scene, rows))
    axes.view_init(*view)
    for k in rows:
        draw(axes, scene, k, alpha=0.9)
    _fit(figure, axes)
    _say_times(axes, scene, rows)
    shade = ScalarMappable(Normalize(0.0, 1.0), mpl.colormaps[STRAIN_MAP])
    width = figure.get_figwidth()
    bar = figure.add_axes((1.0 - 0.75 / width, 0.25, 0.13 / width, 0.5))
    bar.grid(False)
    figure.colorbar(shade, cax=bar, label="elastic energy, relative")
    figure.suptitle(f"every {every:g} s in [{start:g}, {end:g}] s", fontsize=9)
    return figure


# Inches around the box of a scene, for its labels and the color bar: left, right, below, above.
MARGINS = (0.35, 1.75, 0.75, 0.3)


def _fit(figure: Figure, axes: Any) -> None:
    """A figure just as large as the box as it is seen, where matplotlib would leave room to turn it."""
    low, high = seen_box(axes)
    side = float(np.min(LARGEST_BOX / (high - low)))
    left, right, below, above = MARGINS
    figure.set_size_inches(*(side * (high - low) + (left + right, below + above)))
    place(figure, axes, np.array([left, below]), side)


# Times in a picture stand at least so far apart, as a part of the picture.
APART = 0.06


def _say_times(axes: Any, scene: Scene, rows: list[int]) -> None:
    """Times on the body that moves the most, those that would lie on another left out."""
    paths = [np.array([solid.at(k).mean(axis=0) for k in rows]) for solid in scene.solids]
    longest = max(paths or [rope.nodes[rows, -1] for rope in scene.ropes], key=lambda x: float(np.ptp(x, axis=0).max()))
    window, said = axes.viewLim, list[Any]()
    halo = [withStroke(linewidth=1.8, foreground="white")]
    order = [0, len(rows) - 1, *range(1, len(rows) - 1)]  # the first and the last are wanted most
    for k, point in ((rows[i], longest[i]) for i in order[: len(rows)]):
        seen = (np.array(proj_transform(*point, axes.get_proj())[:2]) - window.min) / window.size
        if all(np.linalg.norm(seen - other) > APART for other in said):
            said.append(seen)
            words = f"{scene.time[k]:g} s"
            axes.text(*point, words, fontsize=7, ha="center", va="center", zorder=100, path_effects=halo)


# Angle (rad) below which nobody sees a swing.
NO_SWING = 1e-6


@of_run("position", "velocity")
def phase(run: xr.Dataset, line: str | None = None) -> Figure:
    """Phase portrait of the swing: angle of the end of a line from the vertical against its rate.

    In the plane x-z or y-z, whichever has more of the swing. Of a system with several lines, of one by its name.
    """
    run = one_line(run, line)
    figure, (axes,) = new_figure(width=4.2, height=4.0)
    ends, speeds = (x.values[:, -1] - x.values[:, 0] for x in (run.position, run.velocity))
    plane, angle = max(
        ((k, np.unwrap(np.arctan2(ends[:, k], ends[:, 2]))) for k in (0, 1)), key=lambda found: float(np.ptp(found[1]))
    )
    with np.errstate(all="ignore"):  # no rate while the end passes through the start
        turning = ends[:, 2] * speeds[:, plane] - ends[:, plane] * speeds[:, 2]
        rate = turning / (ends[:, plane] ** 2 + ends[:, 2] ** 2)
    if float(np.ptp(angle)) < NO_SWING:
        axes.text(0.5, 0.75, "the line does not swing", ha="center", transform=axes.transAxes)
    axes.plot(angle, rate, color=BLUE, linewidth=0.8)
    axes.plot(angle[:1], rate[:1], "o", color=RED, markersize=4, label="start")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(f"angle in the {'xy'[plane]}-z plane (rad)")
    axes.set_ylabel("rate (rad/s)")
    widen(axes, x=True)
    axes.legend()
    return figure


@of_run()
def path(run: xr.Dataset, *bodies: str) -> Figure:
    """Where bodies go: their paths from the side and from above; dots are where they start.

    Parameters
    ----------
    run : Dataset, or path of a run file
    *bodies : str
        Names of bodies; all by default.
    """
    scene = scene_of(run)
    known = [solid.name for solid in scene.solids]
    for name in bodies:
        checks.choice("bodies", name, known)
    figure = empty_figure(7.2, 3.4)
    side, above = figure.subplots(1, 2)
    shown = [solid for solid in scene.solids if not bodies or solid.name in bodies]
    for solid, look in zip(shown, LOOKS, strict=False):
        x, y, z = solid.places.T
        for axes, up in ((side, z), (above, y)):
            axes.plot(x, up, **look, linewidth=0.9, label=solid.name if axes is side else None)
            axes.plot(x[:1], up[:1], "o", color=look["color"], markersize=4)
    places = np.concatenate([solid.places for solid in shown]) if shown else np.zeros((1, 3))
    low, high = places.min(axis=0), places.max(axis=0)
    half = max(0.55 * float((high - low).max()), STILL)  # squares of one scale: what is rounding looks like it
    for axes, up, words in ((side, 2, "z, down (m)"), (above, 1, "y (m)")):
        for k, limit in ((0, axes.set_xlim), (up, axes.set_ylim)):
            limit(0.5 * (low[k] + high[k]) - half, 0.5 * (low[k] + high[k]) + half)
        axes.set_aspect("equal")
        axes.set_xlabel("x (m)")
        axes.set_ylabel(words)
    side.set_title("from the side", fontsize=9)
    above.set_title("from above", fontsize=9)
    side.invert_yaxis()
    if len(scene.solids) > 1:
        figure.legend(loc="outside upper center", ncols=4)
    return figure


@of_run("attitude")
def attitude(run: xr.Dataset, body: str | None = None) -> Figure:
    """Paths of the three body axes on the unit sphere; of a system with several bodies, of one by its name."""
    run = one_body(run, body)
    figure, axes = new_scene(width=4.8, height=4.6)
    for k, (name, color) in enumerate((("x", RED), ("y", GREEN), ("z", BLUE))):
        path = run.attitude.values[:, :, k]
        axes.plot(*path.T, color=color, linewidth=0.7, label=f"body {name}")
        axes.plot(*path[-1:].T, "o", color=color, markersize=4)
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
