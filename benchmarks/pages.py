"""Tables that a benchmark writes into a page of the docs, between marks; what is said about them stands in the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table in Markdown."""
    lines = [head, *rows]
    text = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join([text[0], "|---" * len(head) + "|", *text[1:]])


def rewritten(page: str, parts: Mapping[str, str]) -> str:
    """The page with new text between the marks of each part: <!-- NAME: begin --> and <!-- NAME: end -->."""
    for name, text in parts.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, after = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{after.split(end)[1]}"
    return page


def rewrite(path: Path, parts: Mapping[str, str]) -> None:
    """Put new text between the marks of a file."""
    path.write_text(rewritten(path.read_text(encoding="utf-8"), parts), encoding="utf-8")
