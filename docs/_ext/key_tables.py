"""Tables of the keys of scenario files, written from the descriptions of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tautline.model.description import default_text
from tautline.model.file_keys import keys_of
from tautline.model.kinds import MISSING, Kind
from tautline.model.sections import PARTS, TOP

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = ["| key | unit | default | meaning |", "|---|---|---|---|"]


def row(name: str, kind: Kind) -> str:
    """A line of a table."""
    default = kind.default if kind.file_default is MISSING else kind.file_default
    shown = "" if default is MISSING or default is None else f"`{default_text(default)}`"
    words = f"{kind.words()}. " if kind.words().startswith("{") else ""
    meaning = (words + kind.sentence).replace("|", r"\|")
    return f"| `{name}` | {kind.unit.replace('*', ' ')} | {shown} | {meaning} |"


def tables() -> str:
    """All sections, and all kinds of sections, with their keys."""
    lines = ["Above the first section:", "", *HEAD, *(row(name, kind) for name, kind in TOP.items()), ""]
    for name, part in PARTS.items():
        optional = "" if part.default is MISSING else " (optional)"
        lines += [f"### `[{name}]`{optional}", "", part.sentence, ""]
        for tag, cls in part.options.items():
            if tag:
                first = (cls.__doc__ or "").partition("\n")[0]
                lines += [f'`{part.word} = "{tag}"`: {first}', ""]
            found = keys_of(cls).kinds
            if found:
                lines += [*HEAD, *(row(key, kind) for key, kind in found.items()), ""]
    return "\n".join(lines)


def write(app: Sphinx) -> None:
    """Put the tables where docs/scenarios.md includes them."""
    from generated_pages import write_generated  # found by Sphinx; a test reads this file without it

    write_generated(app, "keys.md", tables())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
