"""Lines, bodies and drums of a run as they are drawn in space, over time."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.figures.style import BODY, STRAIN_MAP
from tautline.model.reel import Reel
from tautline.model.shapes import boxes, center_of, mounting, shape_of
from tautline.model.string import String
from tautline.model.system.commands import END_REEL
from tautline.model.system.sheaves import Wheel
from tautline.model.system.system import System
from tautline.results.inputs import system_of
from tautline.results.network import span_places

# Sides of a scene over the largest: the least of width and height, and a depth that has room for one label only.
NARROWEST, FLAT = 0.3, 0.2
# Bodies that reach no farther than this part of the scene are marked by a point.
SMALL = 0.008
EDGE = "#44546A"
SPOKES = 24


class Rope(NamedTuple):
    """A line over time."""

    string: String
    nodes: Array  # (time, node, axis)
    strain: Array  # (time, element)


class Solid(NamedTuple):
    """A body over time; points are relative to its place."""

    name: str
    points: Array
    faces: list[list[int]]
    places: Array  # (time, axis)
    attitudes: Array  # (time, row, column)

    def at(self, k: int) -> Array:
        """Its points in space."""
        placed: Array = self.places[k] + self.points @ self.attitudes[k].T
        return placed


class Drum(NamedTuple):
    """Rim of a drum and its guide over time."""

    rim: Array  # (time, point, axis)
    guide: Array  # (time, 2, axis)


class Scene(NamedTuple):
    """All that is drawn of a run."""

    time: Array
    ropes: list[Rope]
    solids: list[Solid]
    drums: list[Drum]


def scene_of(run: xr.Dataset) -> Scene:
    """Lines, bodies and drums of a run, where all of them have a place; one that overflowed ends with others."""
    turned = run.attitude if "attitude" in run else run.position  # two anchors need no body
    good = np.isfinite(run.position).all(("node", "axis")).values & np.isfinite(
        turned.values.reshape(run.sizes["time"], -1)
    ).all(axis=1)
    if not good.any():
        raise InputError("run: expected samples with finite positions, got none")
    run = run.isel(time=np.flatnonzero(good))
    system = system_of(run.attrs)
    ropes: list[Rope] = []
    drums, solids, wheels = [], [], 0
    names = run["body"].values.tolist() if "body" in run.dims else []
    for k, (name, places) in enumerate(span_places(system).items()):
        line = system.lines[name]
        for part, along in places:
            ropes.append(Rope(line.string, run.position.values[:, part], run.strain.values[:, along]))
        drums += [_wheel(run, system, wheel, names, j) for j, wheel in enumerate(system.wheels(name), wheels)]
        wheels += len(line.over)
        reeled = run.reeled_length.values[:, k]
        on_end = line.string.length - system.wraps(name) - reeled - run.unstretched_length.values[:, k]
        for key, reel in line.reels.items():
            entrance, spooled = ropes[-line.spans].nodes[:, 0], reeled
            if key == END_REEL:
                entrance, spooled = ropes[-1].nodes[:, -1], on_end
            on, _ = line.at(key)
            turned = run.attitude.values[:, names.index(on)] if on in names else None
            drums.append(_drum(reel, entrance, spooled, *mounting(system, line, key), turned))
    for b, name in enumerate(names):
        points, faces = shape_of(system, name)
        points = points - center_of(system.bodies[name])
        solids.append(Solid(name, points, faces, run.body_position.values[:, b], run.attitude.values[:, b]))
    return Scene(run.time.values, ropes, solids, drums)


def _wheel(run: xr.Dataset, system: System, wheel: Wheel, names: list[str], number: int) -> Drum:
    """Rim of a sheave and a spoke that turns with it; of a pin nothing but a point."""
    count = run.sizes["time"]
    center, R = np.tile(np.array(wheel.center), (count, 1)), np.tile(np.eye(3), (count, 1, 1))
    if wheel.on in names:
        b, body = names.index(wheel.on), system.bodies[wheel.on]
        arm = np.array(wheel.center) - center_of(body)
        R = run.attitude.values[:, b]
        center = run.body_position.values[:, b] + R @ arm
    radius, n = (0.0, np.array((0.0, 1.0, 0.0))) if wheel.is_pin else (wheel.radius, np.array(wheel.axis))
    first = np.cross(n, (0.0, 0.0, 1.0) if abs(n[2]) < 0.9 else (1.0, 0.0, 0.0))
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    angle = np.linspace(0.0, 2.0 * np.pi, SPOKES + 1)
    rim = radius * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)
    turn = run.rim_travel.values[:, number] / wheel.radius
    spoke = radius * (np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * second)
    spokes = np.stack([np.zeros_like(spoke), spoke], axis=1)
    return Drum(
        center[:, None] + np.einsum("tij,pj->tpi", R, rim), center[:, None] + np.einsum("tij,tpj->tpi", R, spokes)
    )


def _drum(reel: Reel, entrance: Array, reeled: Array, guide: Array, axis: Array, turned: Array | None) -> Drum:
    """A drum whose string leaves it at right angles to its axis, through a straight guide."""
    up = np.cross(guide, axis)
    angle = np.linspace(0.0, 2.0 * np.pi, SPOKES + 1)
    radius = np.asarray(reel.radius(reeled))[:, None, None]
    center = -reel.guide_length * guide + radius * up
    rim = center + radius * (np.cos(angle)[:, None] * guide + np.sin(angle)[:, None] * up)
    straight = np.broadcast_to(np.stack([-reel.guide_length * guide, 0.0 * guide]), (len(reeled), 2, 3))
    if turned is not None:
        rim, straight = (np.einsum("tij,tpj->tpi", turned, x) for x in (rim, straight))
    return Drum(entrance[:, None] + rim, entrance[:, None] + straight)


def elastic_shades(strings: list[String], strains: list[Array]) -> list[Array]:
    """Elastic energy of the elements of strings relative to the largest of that moment."""
    density = [np.maximum(s.energy_density(x), 0.0) for s, x in zip(strings, strains, strict=True)]
    largest = max(float(x.max()) for x in density)
    return [np.asarray(x / max(largest, 1e-300)) for x in density]


def draw(axes: Any, scene: Scene, k: int, alpha: float = 1.0) -> list[Any]:
    """Lines, bodies and drums at one moment; the artists."""
    artists: list[Any] = []
    shades = elastic_shades([rope.string for rope in scene.ropes], [rope.strain[k] for rope in scene.ropes])
    for rope, shade in zip(scene.ropes, shades, strict=True):
        nodes = rope.nodes[k]
        segments = np.stack([nodes[:-1], nodes[1:]], axis=1)
        colors = mpl.colormaps[STRAIN_MAP](shade)
        artists.append(axes.add_collection3d(Line3DCollection(segments, colors=colors, linewidths=1.6, alpha=alpha)))
    size = float(np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1).max())
    for solid in scene.solids:
        if solid.faces and np.linalg.norm(solid.points, axis=1).max() > SMALL * size:
            placed = solid.at(k)
            faces = Poly3DCollection(
                [placed[face] for face in solid.faces], facecolors=BODY, edgecolors=EDGE, linewidths=0.2
            )
            faces.set_alpha(0.75 * alpha)
            artists.append(axes.add_collection3d(faces))
        else:  # too small to see, or without a shape
            mark = "o" if solid.faces else "s"
            artists += axes.plot(*solid.places[k][:, None], mark, color=EDGE, markersize=3.5, alpha=alpha)
    for drum in scene.drums:
        artists += axes.plot(*drum.rim[k].T, color=EDGE, linewidth=0.9, alpha=alpha)
        artists += axes.plot(*drum.guide[k].T, color=EDGE, linewidth=0.9, alpha=alpha)
    for artist in artists:
        artist.set_clip_on(False)  # the box of a slim scene reaches beyond its axes, which are square
    return artists


def extent(scene: Scene, rows: Any = slice(None)) -> tuple[Array, Array]:
    """Least and greatest coordinates of all that is drawn in some rows."""
    around = [rope.nodes[rows].reshape(-1, 3) for rope in scene.ropes]
    around += [drum.rim[rows].reshape(-1, 3) for drum in scene.drums]
    around += [boxes(x.points, x.places[rows], x.attitudes[rows]).reshape(-1, 3) for x in scene.solids]
    points = np.concatenate(around)
    return points.min(axis=0), points.max(axis=0)


def frame(axes: Any, low: Array, high: Array) -> None:
    """Limits that hold what lies between two corners, equal scales, third axis down."""
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


# Inches of the largest box of a scene.
LARGEST_BOX = (4.6, 4.4)


def seen_box(axes: Any) -> tuple[Array, Array]:
    """Corners of the box of a scene as it is seen, as parts of its axes, which are square."""
    corners = np.array(list(itertools.product(axes.get_xlim(), axes.get_ylim(), axes.get_zlim())))
    seen = np.stack(proj_transform(*corners.T, axes.get_proj())[:2])
    window = axes.viewLim
    return (seen.min(axis=1) - window.min) / window.size, (seen.max(axis=1) - window.min) / window.size


def place(figure: Figure, axes: Any, corner: Array, side: float, pad: float = 3.0) -> None:
    """Put the lower left corner of the box of a scene at a place of the figure (inches), with axes of this side.

    `pad` (points) lies between the ticks and numbers of the third axis.
    """
    low, high = seen_box(axes)
    width, height = figure.get_size_inches()
    x, y = corner - side * low
    axes.set_position((x / width, y / height, side / width, side / height))
    # matplotlib scales these distances with the sides of the box
    narrow = LARGEST_BOX[0] / float(side * (high - low)[0])
    axes.zaxis.labelpad = 8.0 * narrow
    axes.tick_params(axis="z", pad=pad * narrow)
    if narrow > 1.3:
        axes.yaxis.set_major_locator(FixedLocator([]))  # no room for a number
