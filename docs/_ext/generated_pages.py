"""Pages that the build makes: written only where they have changed, so that Sphinx does not read them anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def write_generated(app: Sphinx, name: str, text: str) -> None:
    """Put a page into docs/generated."""
    target = Path(app.srcdir) / "generated" / name
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
