r"""Equations with a \tag keep their number, have an anchor, and "(16)" in the text links to it.

Sphinx wraps displayed formulas of several lines in a `split`, where a \tag is not allowed; these are passed on as they
stand. The same text shows on GitHub.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

HOME = "theory"
PAGES = (HOME, "glossary")
TAG = re.compile(r"\\tag\{(\w+)\}")
MENTION = re.compile(r"\((A?\d{1,3})\)")


def keep_tags(app: Sphinx, doctree: nodes.document) -> None:
    """Formulas go to MathJax unchanged."""
    numbers = []
    for formula in list(doctree.findall(nodes.math_block)):
        tag = TAG.search(formula.astext())
        if tag:
            numbers.append(tag[1])
            anchor = nodes.target("", "", ids=[f"equation-{tag[1].lower()}"])
            formula.parent.insert(formula.parent.index(formula), anchor)
        if not formula.get("no-wrap") and not formula.get("nowrap"):
            text = rf"\[{formula.astext()}\]"
            formula["no-wrap"] = formula["nowrap"] = True
            formula.clear()
            formula.append(nodes.Text(text))
    if app.env.docname == HOME:
        app.env.metadata[HOME]["equations"] = numbers


def link_mentions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Numbers in parentheses that belong to an equation become links."""
    if docname not in PAGES:
        return
    known: list[str] = app.env.metadata[HOME].get("equations", [])
    home = "" if docname == HOME else app.builder.get_relative_uri(docname, HOME)
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.literal, nodes.math, nodes.math_block, nodes.reference, nodes.title)):
            continue
        pieces = MENTION.split(text.astext())
        if len(pieces) == 1:
            continue
        parts: list[nodes.Node] = []
        for i, piece in enumerate(pieces):
            if i % 2 == 0:
                parts.append(nodes.Text(piece))
                continue
            if piece not in known:
                logging.getLogger(__name__).warning("no equation (%s)", piece, location=text.parent)
            link = f"{home}#equation-{piece.lower()}"
            parts.append(nodes.reference("", f"({piece})", refuri=link, internal=True))
        text.parent.replace(text, parts)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", keep_tags)
    app.connect("doctree-resolved", link_mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
