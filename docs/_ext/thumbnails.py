"""Thumbnails of the gallery: what an example simulates, drawn in space at a few moments."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform
from PIL import Image

from tautline.arrays import Array
from tautline.figures.scene import EDGE, Drum, Rope, Scene, Solid, draw, extent, scene_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Pixels, three times as many as the site shows, and of them for an inch, by which the width of lines counts.
WIDTH, HEIGHT, DOTS = 480, 336, 120
MARGIN = 0.09  # of the picture, free at each edge
SKY = LinearSegmentedColormap.from_list("sky", ["#FFFFFF", "#E3EAF1"])
GRID, TRAIL = "#AEBCCA", "#D55E00"
CELLS = 10  # of the ground, along its side
# Scenes narrower than this, over their height, are drawn at several moments beside each other.
NARROW, BESIDE = 0.3, 0.9


class Look(NamedTuple):
    """Which run of an example is drawn, when, and from where."""

    run: str = "run"  # its name in the example
    moments: tuple[float, ...] = (0.0, 0.33, 0.66, 1.0)  # parts of its duration; the last is drawn in full
    view: tuple[float, float] = (14.0, -65.0)  # elevation and azimuth of the camera (degrees)
    ground: bool = True


# Of examples whose run has another name, or is best seen at other moments or from elsewhere.
LOOKS = {
    "bungee": Look(moments=(0.0, 0.04, 0.07, 0.1, 0.14)),
    "cable_robot": Look("circle", (0.0, 0.35, 0.5, 0.65), (24.0, -62.0)),
    "chaos": Look("first", (0.0, 0.06, 0.12, 0.2, 0.3)),
    "crane": Look(moments=(0.0, 0.3, 0.45, 0.6, 0.75)),
    "mujoco_crane": Look("work.rope"),
    "slack": Look(moments=(0.0, 0.1, 0.2, 0.33)),
    "step_1_pendulum": Look(moments=(0.0, 0.06, 0.1, 0.15)),
    "tethered_satellites": Look("swing", view=(35.0, -75.0), ground=False),
    "thrown_bodies": Look(moments=(0.0, 0.08, 0.16, 0.25)),
    "towed": Look("sinks", (0.0, 0.06, 0.15, 0.3)),
}
DRAWN = Look()
# Runs of the examples that the build ran, by their thumbnails.
found: dict[Path, xr.Dataset] = {}


def look_of(example: str) -> Look:
    return LOOKS.get(example, DRAWN)


def remember(example: Path, names: dict[str, Any]) -> None:
    """Keep the run that stands for an example, where it has been made already."""
    with contextlib.suppress(KeyError, AttributeError):
        name, *parts = look_of(example.stem).run.split(".")
        run = functools.reduce(getattr, parts, names[name])
        if "line" in run.dims:  # the whole of it, not one line
            found[example] = run


def replace_thumbnails(app: Sphinx) -> None:
    """Put them in the place of small copies of the examples' first figures."""
    for example, run in found.items():
        for file in (example.parent / "images" / "thumb").glob(f"sphx_glr_{example.stem}_thumb.*"):
            if file.suffix in (".png", ".gif"):
                thumbnail(run, look_of(example.stem)).save(file)


def thumbnail(run: xr.Dataset, look: Look) -> Image.Image:
    """A picture without axes: a few moments of a run, the paths of its bodies, ground below them."""
    scene = scene_of(run)
    rows = [round(x * (len(scene.time) - 1)) for x in look.moments]
    low, high = extent(scene, slice(min(rows), max(rows) + 1))
    height = float((high - low)[2])
    narrow = float(np.hypot(*(high - low)[:2])) < NARROW * height
    if narrow:
        moves = np.linspace(0.0, BESIDE * height, len(rows))
        moments = [_moved(scene, k, np.array([x, 0.0, 0.0])) for k, x in zip(rows, moves, strict=True)]
        high[0] += moves[-1]
    else:
        moments = [_moved(scene, k, np.zeros(3)) for k in rows]
    figure, axes = _empty(look)
    _frame(axes, low, high)
    if look.ground:
        _ground(axes, low, high)
    if not narrow:
        _paths(axes, scene, slice(rows[0], rows[-1] + 1))
    shades = np.linspace(0.45 if narrow else 0.25, 1.0 if narrow else 0.5, len(rows))
    for moment, shade in zip(moments, [*shades[:-1], 1.0], strict=True):
        _place(draw(axes, moment, 0, alpha=shade), shade)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    return Image.open(drawn).convert("RGB")


def _moved(scene: Scene, k: int, by: Array) -> Scene:
    """One moment of a scene, at another place."""
    row = slice(k, k + 1)
    return Scene(
        scene.time[row],
        [Rope(rope.string, rope.nodes[row] + by, rope.strain[row]) for rope in scene.ropes],
        [Solid(x.name, x.points, x.faces, x.places[row] + by, x.attitudes[row]) for x in scene.solids],
        [Drum(drum.rim[row] + by, drum.guide[row] + by) for drum in scene.drums],
    )


def _empty(look: Look) -> tuple[Figure, Any]:
    """A picture of nothing but the sky."""
    figure = Figure(figsize=(WIDTH / DOTS, HEIGHT / DOTS), dpi=DOTS)
    sky = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    sky.imshow(np.linspace(0.0, 1.0, 64)[:, None], cmap=SKY, aspect="auto")
    sky.set_axis_off()
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    axes.set_axis_off()
    axes.patch.set_visible(False)
    axes.set_proj_type("persp", focal_length=1.2)
    axes.view_init(*look.view)
    return figure, axes


def _frame(axes: Any, low: Array, high: Array) -> None:
    """Limits with equal scales, third axis down; size and place of the axes such that the box fills the picture."""
    middle, half = 0.5 * (low + high), 0.5 * float((high - low).max())
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_zlim(middle[2] + half, middle[2] - half)
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    window, size = axes.viewLim, axes.figure.get_size_inches()
    seen = np.stack(proj_transform(*corners.T, axes.get_proj())[:2], axis=1)
    seen = (seen - window.min) / window.size
    side = float(np.min((1.0 - 2.0 * MARGIN) * size / np.maximum(np.ptp(seen, axis=0), 1e-9)))
    corner = 0.5 * size - side * 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    axes.set_position((*(corner / size), *(side / size)))


def _ground(axes: Any, low: Array, high: Array) -> None:
    """A grid below everything."""
    middle, half = 0.5 * (low + high), 0.75 * float((high - low).max())
    edge = np.array([-half, half])
    for t in np.linspace(-half, half, CELLS + 1):
        for x, y in ((np.full(2, t), edge), (edge, np.full(2, t))):
            axes.plot(middle[0] + x, middle[1] + y, high[[2, 2]], color=GRID, linewidth=0.5, alpha=0.6, zorder=0)


def _paths(axes: Any, scene: Scene, rows: slice) -> None:
    for solid in scene.solids:
        axes.plot(*solid.places[rows].T, color=TRAIL, linewidth=0.9, alpha=0.7)


def _place(artists: list[Any], shade: float) -> None:
    """Lines thick enough for a small picture."""
    for artist in artists:
        if isinstance(artist, Line3DCollection):
            artist.set_linewidth(2.2)
            artist.set_path_effects([withStroke(linewidth=3.0, foreground=EDGE, alpha=shade)])
        elif isinstance(artist, Poly3DCollection):
            artist.set_edgecolor(mpl.colors.to_rgba(EDGE, shade**2))
            artist.set_linewidth(0.5)
        else:
            artist.set_markersize(6.0)
            artist.set_linewidth(1.4)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", replace_thumbnails, priority=600)  # when the examples have run
    return {"parallel_read_safe": True, "version": "1"}
