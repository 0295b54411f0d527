"""Text of expressions as Python reads it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

# A name as it stands in brackets, with what belongs to it behind a dot: hoist, north-east, hoist.lower, hoist.0.
LABEL = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*(?=\s*[],])")


@lru_cache(maxsize=256)
def tree_of(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def as_python(text: str) -> tuple[str, tuple[int, ...]]:
    """Source as Python reads it, and the place in the text of each byte of it.

    It has Python's sign for powers, and names in brackets stand in quotes; what is in quotes is left alone.
    """
    found, marks, place = "", [], 0
    quote, opened, before = "", "", ""  # the quote and the brackets that are open, and the latest sign
    while place < len(text):
        sign = written = text[place]
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        elif opened[-1:] == "[" and before in "[," and (label := LABEL.match(text, place)):
            sign, written = label[0], f"'{label[0]}'"
        elif sign in "[(":
            opened += sign
        elif sign in "])":
            opened = opened[:-1]
        elif sign == "^":
            written = "**"
        before = before if sign.isspace() else sign
        found += written
        marks += [place] * len(written.encode())
        place += len(sign)
    return found, (*marks, len(text))


def broken(message: str) -> str:
    """Description of what text lacks to be an expression, from the message of Python's parser."""
    brackets = re.findall(r"'([()\[\]{}])'", message)
    if brackets and "was never closed" in message:
        return f"expected {_CLOSING[brackets[0]]!r} to close {brackets[0]!r}"
    if brackets and "unmatched" in message:
        return f"expected no {brackets[0]!r}, as nothing is open there"
    if len(brackets) == 2 and "does not match" in message:
        return f"expected {_CLOSING[brackets[1]]!r} to close {brackets[1]!r}, got {brackets[0]!r}"
    if "unterminated" in message:
        return "expected a quote at the end of a text that begins"
    return "expected arithmetic of variables of a run"


_CLOSING = {"(": ")", "[": "]", "{": "}"}
