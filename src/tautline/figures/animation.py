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
from tautline.quantities import prefixed

CURVES = (("kinetic_energy", "$T$", BLUE), ("gravity_energy", r"$\Delta V_g$", GREEN), ("elastic_energy", "$V_e$", RED))
# Part of the width that the motion takes; inches around its box: left, right, below, above; seconds of the trail.
SHARE, MARGINS, TRAIL = 0.7, (0.3, 0.45, 0.4, 0.3), 1.5


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
    target = Path(path)
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
    box = _box(figure, scene, view)
    cursors = _charts(figure, run)
    stamp = figure.text(0.02, 0.93, "", fontsize=9)
    trails = [box.plot([], [], [], color="#999999", linewidth=0.7)[0] for _ in scene.solids]
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


def _box(figure: Figure, scene: Scene, view: tuple[float, float]) -> Any:
    """Axes in space that hold the whole motion, as large as the part of the figure that is meant for them."""
    axes: Any = figure.add_axes((0.0, 0.0, 0.7, 1.0), projection="3d")
    frame(axes, *extent(scene))
    axes.view_init(*view)
    low, high = seen_box(axes)
    left, right, below, above = MARGINS
    width, height = figure.get_size_inches()
    room = np.array([SHARE * width - left - right, height - below - above])
    side = float(np.min(room / (high - low)))
    place(figure, axes, np.array([left, below]) + 0.5 * (room - side * (high - low)), side)
    axes.tick_params(labelsize=6, pad=-2)
    return axes


def _charts(figure: Figure, run: xr.Dataset) -> list[Any]:
    """Tension and energies over time, that of gravity since the start; the lines that mark the moment."""
    left, width = SHARE + 0.05, 0.93 - SHARE
    above, below = figure.add_axes((left, 0.61, width, 0.28)), figure.add_axes((left, 0.14, width, 0.34))
    tension = run.tension.max("element")
    size, unit = prefixed(float(abs(tension).max()), "N")
    above.plot(run.time, tension / size, color=BLUE, linewidth=0.9)
    above.set_title(f"largest tension ({unit})", fontsize=7)
    energies = [run[name] - (run[name][0] if name == "gravity_energy" else 0.0) for name, _, _ in CURVES]
    size, unit = prefixed(max(float(abs(x).max()) for x in energies), "J")
    for energy, (_, label, color) in zip(energies, CURVES, strict=True):
        below.plot(run.time, energy / size, color=color, linewidth=0.9, label=label)
    below.set_title(f"energy ({unit})", fontsize=7)
    below.set_xlabel("time (s)", fontsize=7)
    below.legend(fontsize=6, frameon=False, loc="best")
    for axes in (above, below):
        axes.tick_params(labelsize=6)
    return [axes.axvline(float(run.time[0]), color=BLACK, linewidth=0.8) for axes in (above, below)]
