"""Animations: the motion in space with a trace of the body, and tension and energies over time beside it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tautline import durable
from tautline.errors import InputError
from tautline.figures.scene import Scene, draw, extent, frame, place, scene_of, seen_box
from tautline.figures.source import of_run
from tautline.figures.style import BLACK, BLUE, GREEN, RED
from tautline.model import checks
from tautline.quantities import prefixed

CURVES = (("kinetic_energy", "$T$", BLUE), ("gravity_energy", r"$\Delta V_g$", GREEN), ("elastic_energy", "$V_e$", RED))
# Largest part of the width for the motion; inches around its box: left, right, below, above; seconds of the trail.
SHARE, MARGINS, TRAIL = 0.7, (0.3, 0.45, 0.4, 0.3), 1.5

MOST_FRAMES, RATES = 10_000, (0.1, 100.0)
# Sides of a picture: inches that margins and charts need, and dots.
SMALLEST, PIXELS = 2.0, (16, 8192)


def require_video() -> str:
    """Path of the program that writes MP4: the one that comes with the extra [video], or the system's."""
    try:
        import imageio_ffmpeg
    except ImportError:
        found = shutil.which("ffmpeg")
        if found is None:
            raise InputError(
                'path: .mp4 needs ffmpeg; pip install "tautline[video]", or end the name in .gif'
            ) from None
        return found
    return str(imageio_ffmpeg.get_ffmpeg_exe())


@of_run("position", "strain", "tension", *(name for name, _, _ in CURVES))
def animate(
    run: xr.Dataset,
    path: str | Path,
    *,
    frames: int = 100,
    rate: float = 20.0,
    size: tuple[float, float] = (5.2, 3.0),
    dpi: float = 150.0,
    view: tuple[float, float] = (12.0, -75.0),
) -> Path:
    """Write a GIF, or an MP4 (needs the extra [video]), by the ending of the path.

    Parameters
    ----------
    run : Dataset, or path of a run file
    path : path
        Ending in .gif or .mp4.
    frames : int
        Evenly spread over the run.
    rate : float
        Frames a second.
    size, dpi : figure size (inches) and dots an inch.
    view : elevation and azimuth of the camera (degrees).
    """
    target = checks.path("path", path)
    checks.whole("frames", frames, 1, MOST_FRAMES)
    if not RATES[0] <= checks.number("rate", rate) <= RATES[1]:
        checks.refuse("rate", f"frames a second from {RATES[0]:g} to {RATES[1]:g}", rate)
    pixels = checks.array("size", size, (2,), "inches") * checks.positive("dpi", dpi, "")
    if min(size) < SMALLEST:
        checks.refuse("size", f"width and height of at least {SMALLEST:g} inches", size)
    if not PIXELS[0] <= pixels.min() <= pixels.max() <= PIXELS[1]:
        checks.refuse("size", f"sides of {PIXELS[0]} to {PIXELS[1]} dots, of which dpi={dpi:g} go to an inch", size)
    checks.array("view", view, (2,), "degrees")
    writers: dict[str, Any] = {".gif": PillowWriter, ".mp4": FFMpegWriter}
    if target.suffix not in writers:
        raise InputError(f"path: expected a name that ends in .gif or .mp4, got {target.name!r}")
    if target.suffix == ".mp4":
        mpl.rcParams["animation.ffmpeg_path"] = require_video()
    scene = scene_of(run)
    time = scene.time
    rows = np.unique(np.linspace(0, len(time) - 1, frames).round().astype(int))
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    box, share = _box(figure, scene, view)
    cursors = _charts(figure, run, share)
    stamp = figure.text(0.02, 1.0 - 0.21 / size[1], "", fontsize=9)
    trails = [box.plot([], [], [], color="#999999", linewidth=0.7, clip_on=False)[0] for _ in scene.solids]
    writer = writers[target.suffix](fps=rate)
    with durable.replacing(target, "wb") as file, TemporaryDirectory() as folder:
        film = Path(folder) / f"film{target.suffix}"
        with _film(writer, figure, film, dpi, target):
            for k in rows.tolist():
                artists = draw(box, scene, k)
                past = (time <= time[k]) & (time >= time[k] - TRAIL)
                for trail, solid in zip(trails, scene.solids, strict=True):
                    trail.set_data_3d(*solid.places[past].T)
                for cursor in cursors:
                    cursor.set_xdata([time[k], time[k]])
                stamp.set_text(f"t = {time[k]:.2f} s")
                writer.grab_frame()
                for artist in artists:
                    artist.remove()
        with film.open("rb") as made:
            shutil.copyfileobj(made, file)
    return target


@contextmanager
def _film(writer: Any, figure: Figure, film: Path, dpi: float, target: Path) -> Iterator[None]:
    """Let a writer make a film of a figure; what stops its program becomes a sentence."""
    try:
        with writer.saving(figure, str(film), dpi):
            yield
    except subprocess.CalledProcessError as error:
        raise durable.StoreError(f"{target}: cannot be written: ffmpeg ended with code {error.returncode}") from None
    except BrokenPipeError:
        raise durable.StoreError(f"{target}: cannot be written: ffmpeg ended before the film") from None


def _box(figure: Figure, scene: Scene, view: tuple[float, float]) -> tuple[Any, float]:
    """Axes in space that hold the whole motion, as large as they can be, and the part of the width that they take."""
    axes: Any = figure.add_axes((0.0, 0.0, 0.7, 1.0), projection="3d")
    frame(axes, *extent(scene))
    axes.view_init(*view)
    low, high = seen_box(axes)
    left, right, below, above = MARGINS
    width, height = figure.get_size_inches()
    room = np.array([SHARE * width - left - right, height - below - above])
    side = float(np.min(room / (high - low)))
    breadth, tallness = side * (high - low)
    place(figure, axes, np.array([left, below + 0.5 * (room[1] - tallness)]), side, pad=1.5)
    axes.tick_params(labelsize=6)
    for axis in "xy":
        axes.tick_params(axis=axis, pad=-2)
    return axes, (left + breadth + right) / width


def _charts(figure: Figure, run: xr.Dataset, share: float) -> list[Any]:
    """Tension and energies over time beside the motion, that of gravity since the start; the lines at the moment."""
    left, width = share + 0.05, 0.93 - share
    above, below = figure.add_axes((left, 0.61, width, 0.28)), figure.add_axes((left, 0.14, width, 0.28))
    tension = run.tension.max("element")
    size, unit = prefixed(float(abs(tension).max()), "N")
    above.plot(run.time, tension / size, color=BLUE, linewidth=0.9)
    above.set_title(f"largest tension ({unit})", fontsize=7)
    energies = [run[name] - (run[name][0] if name == "gravity_energy" else 0.0) for name, _, _ in CURVES]
    size, unit = prefixed(max(float(abs(x).max()) for x in energies), "J")
    for energy, (_, label, color) in zip(energies, CURVES, strict=True):
        below.plot(run.time, energy / size, color=color, linewidth=0.9, label=label)
    below.set_title(f"energy ({unit})", fontsize=7, pad=13)
    below.set_xlabel("time (s)", fontsize=7)
    # above the curves: among them its best place would change with the moment that is marked
    below.legend(
        fontsize=6,
        frameon=False,
        ncols=3,
        handlelength=1.0,
        columnspacing=1.0,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.95),
    )
    for axes in (above, below):
        axes.tick_params(labelsize=6)
    return [axes.axvline(float(run.time[0]), color=BLACK, linewidth=0.8) for axes in (above, below)]
