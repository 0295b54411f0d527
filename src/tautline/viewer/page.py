"""The page itself: filled for a server, or with a run inside it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import tempfile
import webbrowser
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import xarray as xr

from tautline.durable import replacing
from tautline.errors import TautlineError
from tautline.viewer.payload import InMemory, Recording, frame_length, frames, meta, plots

# Frames of one run inside a page: enough for a smooth replay of the paper's examples, small enough to send.
BYTES_INSIDE = 1_000_000
POINTS_INSIDE = 1500
TEMPLATE = "viewer.html"


class PageMissingError(TautlineError):
    """The page was not built when the package was installed."""


def template() -> str:
    """The built page with its two marks."""
    built = files("tautline.viewer") / TEMPLATE
    if not built.is_file():
        raise PageMissingError("the viewer's page was not built; install the package again: pip install .")
    return built.read_text(encoding="utf-8")


def fill(boot: dict[str, Any], title: str, data: Sequence[tuple[str, bytes]] = ()) -> str:
    """The page with what it starts from, and data inside."""
    # a `<` in a title must not end the script
    scripts = [f'<script id="boot" type="application/json">{json.dumps(boot).replace("<", chr(92) + "u003c")}</script>']
    for name, raw in data:
        packed = base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()
        scripts.append(f'<script id="{name}" type="text/plain">{packed}</script>')
    page = template().replace("<!--title-->", html.escape(title))
    return page.replace("<!--boot-->", "\n".join(scripts))


def offline(*named: tuple[str, Recording]) -> str:
    """One HTML file that plays one run, or two to compare, with no network and no server."""
    metas, data = [], []
    for k, (name, run) in enumerate(named):
        about = meta(run, name)
        row = 4 * frame_length(about)
        every = max(1, -(-run.rows * row // BYTES_INSIDE))
        inside = b"".join(frames(run, first, 1000, every) for first in range(0, run.rows, 1000 * every))
        about["samples"] = len(inside) // row
        metas.append(about)
        data.append((f"frames-{k}", inside))
        data.append((f"plots-{k}", plots(run, about["start"], about["end"], POINTS_INSIDE)))
    title = " and ".join(about["title"] for about in metas)
    return fill({"mode": "offline", "runs": metas}, title, data)


class View:
    """A run to look at: shows itself in a notebook; elsewhere `open` it in a browser, or `save` it as one HTML file."""

    def __init__(self, page: str, height: int) -> None:
        self._page = page
        self._height = height

    def _repr_html_(self) -> str:
        inside = html.escape(self._page, quote=True)
        style = f"width: 100%; height: {self._height}px; border: 0"
        return f'<iframe srcdoc="{inside}" style="{style}" allow="fullscreen"></iframe>'

    def __repr__(self) -> str:
        return "View of a run; in a notebook it shows itself, elsewhere use .open() or .save('run.html')"

    def save(self, path: str | Path) -> Path:
        """Write the page as one file that works offline; the path."""
        with replacing(path, encoding="utf-8") as file:
            file.write(self._page)
        return Path(path)

    def open(self) -> Path:
        """Show the page in the browser, from a file in the folder for temporary files; the path."""
        with tempfile.NamedTemporaryFile(
            "w", suffix=".html", prefix="tautline-", delete=False, encoding="utf-8"
        ) as file:
            file.write(self._page)
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)


def view(run: xr.Dataset, other: xr.Dataset | None = None, *, height: int = 560) -> View:
    """Look at a run, or at two to compare, in three dimensions with plots beside it.

    Parameters
    ----------
    run : Dataset
        From `simulate`, `open_run` or `Simulation.dataset`.
    other : Dataset, optional
        A second run, as a ghost or side by side.
    height : int
        In a notebook (pixels).
    """
    if other is None:
        return View(offline(("run", InMemory(run))), height)
    return View(offline(("first run", InMemory(run)), ("second run", InMemory(other))), height)
