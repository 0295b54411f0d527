"""Below each name of the reference the pages whose code uses it; that code runs when docs are built and tested."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'^(?:# (.+)|"""\n?(.+))$', re.MULTILINE)
PACKAGE = "tautline"
MOST = 3  # pages named, the shortest first: they are about less


def pages() -> Iterator[tuple[str, str, str]]:
    """Name of each page with code that runs, its title, and its code."""
    for path in (ROOT / "CONTRIBUTING.md", DOCS / "quickstart.md", *sorted((DOCS / "howto").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(path.parents[1] if path.parent.name == "howto" else path.parent)
        code = "\n".join(map(textwrap.dedent, BLOCK.findall(text)))
        yield place.with_suffix("").as_posix().lower(), title(text), code
    for path in sorted(EXAMPLES.glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        yield f"generated/{path.parent.name}/{path.stem}", title(text), text


def title(text: str) -> str:
    """First title of a page of Markdown or of an example."""
    found = TITLE.search(text)
    assert found is not None, text[:80]
    return (found[1] or found[2]).strip('" ')


def names_used(code: str) -> set[str]:
    """Dotted names of the package that code uses, however it imports them."""
    known: dict[str, str] = {}
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            known |= {x.asname or x.name: x.name for x in node.names if x.name.split(".")[0] == PACKAGE}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            known |= {x.asname or x.name: f"{node.module}.{x.name}" for x in node.names}
            found |= {f"{node.module}.{x.name}" for x in node.names}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in known:
                found.add(".".join((known[first], *rest)))
    return found


@functools.cache
def used_in() -> dict[str, list[tuple[str, str]]]:
    """Pages (name and title) by the dotted names of the package that their code uses."""
    found: dict[str, list[tuple[str, str]]] = {}
    for page, heading, code in sorted(pages(), key=lambda page: len(page[2])):
        for name in names_used(code):
            found.setdefault(name, []).append((page, heading))
    return found


def add_pages(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put the pages below a docstring."""
    some = used_in().get(name, [])[:MOST]
    if some:
        lines += ["", "**In use:** " + ", ".join(f":doc:`{heading} </{page}>`" for page, heading in some), ""]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", add_pages, priority=900)  # after the sections of numpydoc
    return {"parallel_read_safe": True, "version": "1"}
