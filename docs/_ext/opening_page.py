"""The run on the site's first screen: made by the build, shown in a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import tautline as tl
from saved_pictures import PAGES

SCENARIO = "gantry"
PAGE = "opening.html"


def save_page(folder: Path) -> Path:
    """The page of a run of the scenario."""
    return tl.view(tl.simulate(tl.load(SCENARIO))).save(folder / PAGE)


def _made(app: Sphinx) -> None:
    if not (PAGES / PAGE).is_file():
        save_page(PAGES)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", _made)
    return {"parallel_read_safe": True}
