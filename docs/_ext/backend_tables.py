"""Tables of what runs on which backend and of what cannot be had, written from the tables of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tautline.engine.choose import ABILITIES, CHAIN, NETWORK
from tautline.model.refusals import REFUSALS

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def tables() -> str:
    """Both tables."""
    lines = ["| what only one of them can do | chain | network |", "|---|---|---|"]
    for x in ABILITIES:
        cells = ("yes" if x.by == backend else x.otherwise for backend in (CHAIN, NETWORK))
        lines.append(f"| {x.what} | {' | '.join(cells)} |")
    lines += ["", "What cannot be had is refused with its reason:", "", "| refused | because |", "|---|---|"]
    lines += [f"| {x.what} | {x.reason} |" for x in REFUSALS]
    return "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    """Put the tables where docs/howto/systems.md includes them."""
    from generated_pages import write_generated  # found by Sphinx; a test reads this file without it

    write_generated(app, "backends.md", tables())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
