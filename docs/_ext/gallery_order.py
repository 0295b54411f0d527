"""Order of the pages of a gallery: that of the links in its header, whose groups get headings over their tiles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = re.compile(r":doc:`(\w+)`")
# A group of the header, and a tile; tiles stand between an opening and a closing.
GROUP = re.compile(r"^\*\*(?P<name>.+?)\*\*[,:] (?P<about>.+?):\n(?P<links>(?::doc:`\w+`[,.]\n)+)", re.MULTILINE)
TILE = re.compile(
    r"\.\. raw:: html\n\n    <div class=\"sphx-glr-thumbcontainer\".*?:doc:`[/\w]*/(?P<page>\w+)`.*?\n    </div>\n",
    re.DOTALL,
)
OPEN, CLOSE = '.. raw:: html\n\n    <div class="sphx-glr-thumbnails">\n\n', "\n.. raw:: html\n\n    </div>\n\n"


class HeaderOrder:
    """Sort key of the scripts in a folder; scripts without a link come last, by name."""

    def __init__(self, src_dir: str) -> None:
        header = Path(src_dir, "GALLERY_HEADER.rst")  # the settings are tried with an empty name of a folder
        self.listed = LINK.findall(header.read_text(encoding="utf-8")) if header.is_file() else []

    def __call__(self, file_name: str) -> tuple[int, str]:
        name = Path(file_name).stem
        return (self.listed.index(name) if name in self.listed else len(self.listed), name)


def grouped(text: str) -> str:
    """Index of a gallery with a heading and the tiles of each group in the place of its links."""
    tiles = {found["page"]: found[0] for found in TILE.finditer(text)}
    groups = list(GROUP.finditer(text))
    if not groups or not tiles:
        return text
    parts = [text[: groups[0].start()]]
    for group in groups:
        own = "\n".join(tiles[page] for page in LINK.findall(group["links"]) if page in tiles)
        about = group["about"][:1].upper() + group["about"][1:]
        parts.append(f"{group['name']}\n{'-' * len(group['name'])}\n\n{about}.\n\n{OPEN}{own}{CLOSE}")
    return "".join(parts) + text[text.index(".. toctree::") :]


def _group(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "generated/gallery/index":
        source[0] = grouped(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _group)
    return {"parallel_read_safe": True, "version": "1"}
