"""Animations: the motion in space with a trace of the body, and tension and energies over time beside it."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from PIL import Image

from tautline import durable
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.figures.scene import Scene, draw, extent, frame, place, scene_of, seen_box
from tautline.figures.source import of_run
from tautline.figures.style import BLACK, BLUE, GREEN, RED
from tautline.model import checks
from tautline.quantities import prefixed

CURVES = (("kinetic_energy", "$T$", BLUE), ("gravity_energy", r"$\Delta V_g$", GREEN), ("elastic_energy", "$V_e$", RED))
# Largest part of the width for the motion; inches around its box: left, right, below, above; seconds of the trail.
SHARE, MARGINS, TRAIL = 0.7, (0.3, 0.45, 0.4, 0.3), 1.5

# Pictures of which a GIF takes its 256 colors; parts of those that are white.
COLORED, PAPER = 8, 246
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
    writers = {".gif": _write_gif, ".mp4": _write_mp4}
    if target.suffix not in writers:
        raise InputError(f"path: expected a name that ends in .gif or .mp4, got {target.name!r}")
    if target.suffix == ".mp4":
        require_video()
    moving = Moving(run, size, dpi, view)
    rows = np.unique(np.linspace(0, len(moving.scene.time) - 1, frames).round().astype(int)).tolist()
    with durable.replacing(target, "wb") as file, TemporaryDirectory() as folder:
        film = Path(folder) / f"film{target.suffix}"
        writers[target.suffix](film, moving, rows, rate, target)
        with film.open("rb") as made:
            shutil.copyfileobj(made, file)
    return target


class Moving:
    """A figure of which only what moves is drawn anew, over a picture of the rest."""

    def __init__(self, run: xr.Dataset, size: tuple[float, float], dpi: float, view: tuple[float, float]) -> None:
        self.scene, self.figure = scene_of(run), Figure(figsize=size, dpi=dpi)
        self.canvas = cast(Any, FigureCanvasAgg(self.figure))
        self.box, share = _box(self.figure, self.scene, view)
        self.cursors = _charts(self.figure, run, share)
        self.stamp = self.figure.text(0.02, 1.0 - 0.21 / size[1], "", fontsize=9)
        trail = {"color": "#999999", "linewidth": 0.7, "clip_on": False}
        self.trails = [self.box.plot([], [], [], **trail)[0] for _ in self.scene.solids]
        for artist in (*self.cursors, self.stamp, *self.trails):
            artist.set_animated(True)
        self.canvas.draw()
        self.rest = self.canvas.copy_from_bbox(self.figure.bbox)

    def at(self, k: int) -> Array:
        """Picture of one moment: colors and opacity of all dots."""
        time, now = self.scene.time, self.scene.time[k]
        past = (time <= now) & (time >= now - TRAIL)
        for trail, solid in zip(self.trails, self.scene.solids, strict=True):
            trail.set_data_3d(*solid.places[past].T)
        for cursor in self.cursors:
            cursor.set_xdata([now, now])
        self.stamp.set_text(f"t = {now:.2f} s")
        drawn = draw(self.box, self.scene, k)
        solids: list[Any] = [artist for artist in drawn if isinstance(artist, Collection)]
        solids.sort(key=lambda artist: artist.do_3d_projection(), reverse=True)  # what is nearer hides what is behind
        marks = [artist for artist in drawn if artist not in solids]
        self.canvas.restore_region(self.rest)
        for artist in (*self.cursors, *self.trails, *marks, *solids, self.stamp):
            artist.draw(self.canvas.get_renderer())
        for artist in drawn:
            artist.remove()
        return np.asarray(self.canvas.buffer_rgba())


def _write_gif(film: Path, moving: Moving, rows: list[int], rate: float, target: Path) -> None:
    """All in the colors of some of them; what is nearly white is the paper."""
    some = np.vstack([moving.at(k)[..., :3] for k in rows[:: -(-len(rows) // COLORED)]])
    colors = Image.fromarray(some).quantize(256)
    table = np.array(colors.getpalette() or []).reshape(-1, 3)
    table[table.min(axis=1) > PAPER] = 255
    colors.putpalette(table.ravel().tolist())
    pictures = (Image.fromarray(moving.at(k)[..., :3]).quantize(palette=colors, dither=Image.Dither.NONE) for k in rows)
    next(pictures).save(film, save_all=True, append_images=pictures, duration=round(1000.0 / rate), loop=0)


def _write_mp4(film: Path, moving: Moving, rows: list[int], rate: float, target: Path) -> None:
    """By ffmpeg, which gets one picture after the other; sides must be even."""
    height, width = moving.at(rows[0]).shape[:2]
    given = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}", "-framerate", f"{rate}", "-i", "pipe:"]
    wanted = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-vcodec", "h264", "-pix_fmt", "yuv420p", str(film)]
    command = [require_video(), "-loglevel", "error", *given, *wanted]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # when it ended before the film, its code says so
            for k in rows:
                process.stdin.write(moving.at(k).tobytes())
            process.stdin.close()
        code = process.wait()
    if code:
        raise durable.StoreError(f"{target}: cannot be written: ffmpeg ended with code {code}")


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
