"""The page itself: filled for a server, or with a run inside it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline.content_policy import content_policy, script_hash, script_hashes
from tautline.durable import write_text
from tautline.errors import InputError, TautlineError
from tautline.model import checks
from tautline.results.inputs import CASE
from tautline.viewer.comparing import name_by_difference
from tautline.viewer.payload import InMemory, Recording, frame_length, frames, group_size, meta, plots

# Frames of one run inside a page: enough for a smooth replay of the paper's examples, small enough to send.
BYTES_INSIDE = 1_000_000
POINTS_INSIDE = 1500
MOST_RUNS = 4
TEMPLATE = "viewer.html"
# Where the page of a server may connect to; 'self' is not the websocket in every browser.
CONNECTED = "'self' ws://127.0.0.1:* ws://localhost:*"


class PageMissingError(TautlineError):
    """The page was not built when the package was installed."""


def template() -> str:
    """The built page with its two marks."""
    built = files("tautline.viewer") / TEMPLATE
    if not built.is_file():
        raise PageMissingError("the viewer's page was not built; install the package again: pip install .")
    return built.read_text(encoding="utf-8")


def fill(boot: dict[str, Any], title: str, data: Sequence[tuple[str, bytes]] = (), first: str = "") -> str:
    """The page with what it starts from, and data inside; `first` is a script that runs before its own."""
    # a `<` in a title must not end the script
    scripts = [f"<script>{first}</script>"] if first else []
    scripts += [
        f'<script id="boot" type="application/json">{json.dumps(boot).replace("<", chr(92) + "u003c")}</script>'
    ]
    for name, raw in data:
        packed = base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()
        scripts.append(f'<script id="{name}" type="text/plain">{packed}</script>')
    page = template().replace("<!--title-->", html.escape(title))
    hashes = [*script_hashes(page), *([script_hash(first)] if first else [])]
    policy = content_policy(hashes, "'none'" if boot["mode"] == "offline" else CONNECTED)
    page = page.replace("<head>", f"<head>\n{policy}", 1)
    return page.replace("<!--boot-->", "\n".join(scripts))


def planes(series: NDArray[np.unsignedinteger[Any]]) -> bytes:
    """Numbers as the differences of their bits along each series, first bytes first: a quarter smaller when packed."""
    changes = np.diff(series, axis=1, prepend=series.dtype.type(0))
    count = series.dtype.itemsize
    return np.ascontiguousarray(changes).view(np.uint8).reshape(-1, count).T.tobytes()


def check_count(count: int) -> None:
    """Refuse more runs than a page can compare."""
    if not 1 <= count <= MOST_RUNS:
        raise InputError(f"runs: expected one to {MOST_RUNS}, got {count}")


def offline(*named: tuple[str, Recording], full: bool = False) -> str:
    """One HTML file that plays one run, or up to four to compare, with no network and no server.

    Long runs are thinned out, unless they are asked for in full; the page says how far.
    """
    check_count(len(named))
    metas, data = [], []
    for k, (name, run) in enumerate(named):
        about = meta(run, name)
        row = 4 * frame_length(about)
        every = 1 if full else max(1, -(-run.rows * row // BYTES_INSIDE))
        points = max(run.rows, 10) if full else POINTS_INSIDE
        inside = b"".join(frames(run, first, 1000, every) for first in range(0, run.rows, 1000 * every))
        about["samples"] = len(inside) // row
        about["thinned"] = {"samples": run.rows, "frames": every, "curves": group_size(run.rows, points)}
        metas.append(about)
        curves = np.frombuffer(plots(run, about["start"], about["end"], points), "<u8")
        data.append((f"frames-{k}", planes(np.frombuffer(inside, "<u4").reshape(-1, row // 4).T)))
        data.append((f"plots-{k}", planes(curves.reshape(1 + len(about["series"]), -1))))
    title = name_by_difference(metas, [run.attrs for _, run in named])
    return fill({"mode": "offline", "title": title, "runs": metas}, title, data)


def title_of(attrs: Mapping[str, Any]) -> str:
    """Title of the case that a run is of; empty if it has none."""
    return str(json.loads(str(attrs.get(CASE, "{}"))).get("title", ""))


class View:
    """A run to look at: shows itself in a notebook; elsewhere `open` it in a browser, or `save` it as one HTML file."""

    def __init__(self, page: str, height: int) -> None:
        self._page = page
        self._height = height

    def _repr_html_(self) -> str:
        inside = html.escape(self._page, quote=True)
        style = f"width: 100%; height: {self._height}px; border: 0"
        return f'<iframe srcdoc="{inside}" title="Replay of a run" style="{style}" allow="fullscreen"></iframe>'

    def __repr__(self) -> str:
        return "View of a run; in a notebook it shows itself, elsewhere use .open() or .save('run.html')"

    def save(self, path: str | Path) -> Path:
        """Write the page as one file that works offline; the path."""
        write_text(path, self._page)
        return Path(path)

    def open(self) -> Path:
        """Show the page in the browser, from a file in the folder for temporary files; the path."""
        with tempfile.NamedTemporaryFile(
            "w", suffix=".html", prefix="tautline-", delete=False, encoding="utf-8"
        ) as file:
            file.write(self._page)
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)


def view(run: xr.Dataset, *others: xr.Dataset, height: int = 560, full: bool = False) -> View:
    """Look at a run, or at up to four to compare, in three dimensions with plots beside it.

    Parameters
    ----------
    run : Dataset
        From `simulate`, `open_run` or `Simulation.dataset`.
    *others : Dataset
        To compare with it, as ghosts or side by side.
    height : int
        In a notebook (pixels).
    full : bool
        Put all samples into the page, however large it becomes.
    """
    checks.instance("full", full, bool)
    return View(page_of(run, *others, full=full), checks.whole("height", height, 1, 100_000))


def page_of(*runs: xr.Dataset, full: bool = False) -> str:
    """One HTML file of runs, under the titles of their cases."""
    recordings = [InMemory(each) for each in runs]
    given = [title_of(each.attrs) or "run" for each in recordings]
    titles = [title if given.count(title) == 1 else f"{title} {k}" for k, title in enumerate(given, 1)]
    return offline(*zip(titles, recordings, strict=True), full=full)
