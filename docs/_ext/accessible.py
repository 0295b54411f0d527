"""Put what the theme leaves out for those who read by ear or by keyboard into the pages that were built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# As the theme writes it, and as it should be.
MENDED = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),  # the corner of a table heads nothing
)
# Code, formulas and tables that are too wide scroll: by arrow keys too, once they have the focus.
FOCUSED = re.compile(r'(<div class="highlight"><pre|<div class="(?:math|table-wrapper)[^"]*")(?! tabindex)')


def mended(text: str) -> str:
    """A page with what is missing; the same once more changes nothing."""
    for found, wanted in MENDED:
        if wanted not in text:
            text = text.replace(found, wanted)
    return FOCUSED.sub(r'\1 tabindex="0"', text)


def _mend(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        if "_static" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if (better := mended(text)) != text:
            path.write_text(better, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", _mend)
    return {"parallel_read_safe": True}
