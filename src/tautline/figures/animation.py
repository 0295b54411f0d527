"""Animations: the motion in space with a trace of the body, time, and energies beside it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tautline.errors import InputError
from tautline.figures.motion import body_of, draw, finite, frame
from tautline.figures.source import of_run
from tautline.figures.style import BLACK, BLUE, GREEN, RED

CURVES = (("kinetic_energy", "$T$", BLUE), ("gravity_energy", "$V_g$", GREEN), ("elastic_energy", "$V_e$", RED))


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


@of_run("position", "attitude", "strain", *(name for name, _, _ in CURVES))
def animate(
    run: xr.Dataset,
    path: str | Path,
    *,
    frames: int = 100,
    rate: float = 20.0,
    size: tuple[float, float] = (5.2, 3.0),
    dpi: float = 80.0,
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
    run = finite(run)
    chosen = run.isel(time=np.unique(np.linspace(0, run.sizes["time"] - 1, frames).round().astype(int)))
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    scene: Any = figure.add_axes((-0.06, -0.06, 0.74, 1.12), projection="3d")
    strip = figure.add_axes((0.74, 0.17, 0.24, 0.68))
    for name, label, colour in CURVES:
        strip.plot(run.time, run[name], color=colour, linewidth=0.9, label=label)
    strip.set_xlabel("time (s)", fontsize=7)
    strip.set_title("energy (J)", fontsize=7)
    strip.tick_params(labelsize=6)
    strip.legend(fontsize=6, frameon=False, loc="best")
    cursor = strip.axvline(0.0, color=BLACK, linewidth=0.8)
    stamp = figure.text(0.03, 0.93, "", fontsize=9)
    mesh = body_of(run)
    frame(scene, run, mesh)
    scene.view_init(*view)
    scene.tick_params(labelsize=6, pad=-2)
    trace = run.position.values[:, -1]
    (trail,) = scene.plot([], [], [], color="#999999", linewidth=0.7)
    writer = writers[target.suffix](fps=rate)
    with writer.saving(figure, str(target), dpi):
        for i in range(chosen.sizes["time"]):
            row = chosen.isel(time=i)
            t = float(row.time)
            artists = draw(scene, row, mesh)
            past = trace[(run.time.values <= t) & (run.time.values >= t - 1.5)]
            trail.set_data_3d(*past.T)
            cursor.set_xdata([t, t])
            stamp.set_text(f"t = {t:.2f} s")
            writer.grab_frame()
            for artist in artists:
                artist.remove()
    return target
