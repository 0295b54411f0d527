"""How our figures look: sizes, fonts, colors that color-blind readers can tell apart, and how they are saved."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tautline.durable import replacing
from tautline.quantities import PREFIXED, number, prefixed

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN, BLUE, RED = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
)
# Of several curves of one kind.
COLORS = (BLUE, ORANGE, GREEN, RED, SKY, "#CC79A7", BLACK)
# Curves that lie on each other are told apart by their dashes.
LOOKS: list[dict[str, Any]] = [
    {"color": COLORS[k % len(COLORS)], "linestyle": ("-", "--", "-.", ":")[k % 4]} for k in range(28)
]
STRAIN_MAP = "cividis"
DIVERGING = "RdBu_r"
BODY = "#8FA3B8"
SETTINGS: Any = {
    "font.size": 9.0,
    "axes.grid": True,
    "axes.formatter.useoffset": False,  # whole numbers at the ticks
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "svg.hashsalt": "tautline",  # the same figure gives the same file
}
WIDTH, HEIGHT = 6.0, 3.6
RESOLUTION, SHOWN = 160, 110  # dots an inch, in files and in notebooks


P = ParamSpec("P")
R = TypeVar("R")


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Draw with our settings and units with prefixes, and leave settings of the user alone."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context(SETTINGS):
            drawn = function(*args, **kwargs)
            if isinstance(drawn, Figure):
                _prefix_axes(drawn)
            return drawn

    return inside


# A label of an axis with the unit of its numbers.
LABEL = re.compile(r"(?s)(?P<name>.*)\((?P<unit>[^()]+)\)(?P<rest>[^()]*)")


def _prefix_axes(figure: Figure) -> None:
    """Write forces, energies and the like as tables do: kN instead of thousands of N."""
    for axes in figure.axes:
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            found = LABEL.fullmatch(axis.get_label_text())
            if found is None or found["unit"] not in PREFIXED or axis.get_scale() != "linear":
                continue
            size, unit = prefixed(max(map(abs, limits)), found["unit"])
            if size != 1.0:
                axis.set_major_formatter(FuncFormatter(partial(_tick, size)))
                axis.set_label_text(f"{found['name']}({unit}){found['rest']}")


def _tick(size: float, x: float, _: int | None) -> str:
    return number(x / size).replace("-", "\u2212")


class Picture(Figure):
    """A figure without pyplot's global state, which shows itself in a notebook without a magic command."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        with mpl.rc_context(SETTINGS):
            self.savefig(file, format="png", dpi=SHOWN)
        return file.getvalue()


def empty_figure(width: float, height: float, layout: Any = "constrained") -> Picture:
    """A figure without axes; sides in inches."""
    figure = Picture(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def new_figure(rows: int = 1, width: float = WIDTH, height: float = HEIGHT) -> tuple[Figure, list[Any]]:
    """A figure and its axes, one below the other on one time axis."""
    figure = empty_figure(width, height * (0.55 + 0.45 * rows))
    return figure, list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])


def new_scene(width: float = WIDTH, height: float = 5.2, layout: Any = "constrained") -> tuple[Figure, Any]:
    """A figure with one three-dimensional axes; the third axis points down, as in the model."""
    figure = empty_figure(width, height, layout)
    axes = figure.add_subplot(projection="3d")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_zlabel("z, down (m)")
    return figure, axes


# A curve that turns more often than this is drawn as a band, of so many columns.
MOST_TURNS, COLUMNS = 400, 200


def curve(axes: Any, x: Any, y: Any, line: str = "-", **look: Any) -> None:
    """A line; of a series that turns too often to be seen as one, the band in which it lies, and its mean."""
    x, y = np.asarray(x), np.asarray(y)
    steps = np.sign(np.diff(y))
    turns = np.count_nonzero(steps[1:] * steps[:-1] < 0.0)
    look = {"linestyle": line} | look
    if turns <= MOST_TURNS:
        axes.plot(x, y, **look)
        return
    first = np.unique(np.linspace(0, len(x), COLUMNS, endpoint=False).astype(int))
    counts = np.diff([*first, len(x)])
    middle = np.add.reduceat(x, first) / counts
    low, high = np.fmin.reduceat(y, first), np.fmax.reduceat(y, first)
    axes.fill_between(middle, low, high, color=look.get("color"), alpha=0.35, linewidth=0.0)
    axes.plot(middle, np.add.reduceat(y, first) / counts, **look)


# Angles and rates that are smaller are rounding, and must not fill a picture (rad, rad/s).
STILL = 1e-6


def widen(axes: Any, x: bool = False) -> None:
    """Show at least the span of `STILL` on the vertical axis, and on the horizontal one if `x`."""
    for low, high, limit in ((*axes.get_ylim(), axes.set_ylim), *([(*axes.get_xlim(), axes.set_xlim)] if x else [])):
        if high - low < STILL:
            middle = 0.5 * (low + high)
            limit(middle - STILL, middle + STILL)


@styled
def save(figure: Figure, path: str | Path, formats: Iterable[str] = ("pdf", "svg", "png")) -> list[Path]:
    """Save as path.pdf, path.svg and path.png.

    Parameters
    ----------
    figure : Figure
    path : path
        Without the ending.
    formats : names of formats
        Any that matplotlib knows.

    Returns
    -------
    list of Path
        The files written.
    """
    written = []
    for kind in formats:
        target = Path(f"{path}.{kind}")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        with replacing(target, "wb") as file:
            figure.savefig(file, format=kind, dpi=RESOLUTION, metadata=metadata)
        written.append(target)
    return written
