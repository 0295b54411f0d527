"""Pictures for the gallery: what an example saved beside itself, moved into the site; pages are shown in a frame."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

import thumbnails

PAGES = Path(__file__).parents[1] / "generated" / "static"
ENDINGS = (".png", ".gif")
FRAME = """
.. raw:: html

    <iframe src="{address}" title="Replay" style="width: 100%; height: 540px; border: 0" loading="lazy"></iframe>
"""


class SavedPictures:
    """Called by sphinx-gallery after every block of an example."""

    def __repr__(self) -> str:
        return "SavedPictures()"  # part of what decides whether examples are run again

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        folder = Path(block_vars["src_file"]).parent
        thumbnails.remember(Path(block_vars["target_file"]), block_vars["example_globals"])
        saved = sorted((p for p in folder.iterdir() if p.suffix in ENDINGS), key=lambda p: p.stat().st_mtime_ns)
        moved = []
        for picture in saved:
            target = Path(next(block_vars["image_path_iterator"])).with_suffix(picture.suffix)
            shutil.move(picture, target)
            moved.append(str(target))
        pages = "".join(self._framed(page) for page in sorted(folder.glob("*.html")))
        return str(figure_rst(moved, gallery_conf["src_dir"])) + pages

    def _framed(self, page: Path) -> str:
        """Move a page into the site's static files, and show it."""
        shutil.move(page, PAGES / page.name)
        # an example's page lies two folders deep
        return FRAME.format(address=f"../../_static/{page.name}")
