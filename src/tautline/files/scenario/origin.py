"""Where the values of a scenario come from: file, line and key, or the option that gave them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tautline.model.keys import dotted

# Strings, comments, ends of lines, brackets, and whatever is between them. The text is known to be valid TOML.
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?""""{0,2}|"(?:\\.|[^"\\\n])*"|'''
    r"""'''.*?''''{0,2}|'[^'\n]*'|"""
    r"""#[^\n]*|[\n\[\]{}]|[^"'#\n\[\]{}]+|.""",
    re.DOTALL,
)
_NAME = r"""(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[\w-]+)"""
_KEY = rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*"
_HEADER = re.compile(rf"\s*\[+{_KEY}\]")
_ASSIGNMENT = re.compile(rf"{_KEY}=")


class Origin(NamedTuple):
    """Source of a scenario."""

    source: str
    text: str
    given: tuple[tuple[str, ...], ...]  # keys that --set gave

    def head(self, path: list[str]) -> str:
        """File, line and key; or the option that gave the key."""
        if any(tuple(path[: len(key)]) == key for key in self.given):
            return f"--set {dotted(path)}"
        line = line_of(self.text, path)
        if line is None and path and any(list(key[: len(path)]) == path for key in self.given):
            return f"--set {dotted(path)}"
        where = self.source if line is None else f"{self.source}:{line}"
        return f"{where}: {dotted(path)}" if path else where


def line_of(text: str, path: list[str]) -> int | None:
    """Line of a key in a TOML text; of its section if the key is not there."""
    section: list[str] = []
    best: int | None = None
    items: Counter[tuple[str, ...]] = Counter()  # of arrays of sections, which are counted from 0
    for number, statement in _statements(text):
        header = _HEADER.match(statement)
        if header:
            section = _parts(header[1])
            if statement.lstrip().startswith("[["):
                items[tuple(section)] += 1
                section.append(str(items[tuple(section)] - 1))
            if section[: len(path)] == path:
                return number
            if section == path[: len(section)] and best is None:
                best = number
            continue
        assignment = _ASSIGNMENT.match(statement)
        if assignment:
            full = [*section, *_parts(assignment[1])]
            if full[: len(path)] == path[: len(full)]:
                return number
    return best


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Headers and assignments with their first lines; a value may go on over many lines."""
    number, begun, depth = 1, 1, 0
    statement = ""
    for token in _TOKEN.findall(text):
        number += token.count("\n")
        depth += (token in "[{") - (token in "]}")
        if token == "\n" and depth == 0:
            yield begun, statement
            statement, begun = "", number
        elif not token.startswith("#"):
            statement += token
    yield begun, statement


def _parts(key: str) -> list[str]:
    """Names of a dotted key, quotes and escapes read as TOML does."""
    names: list[str] = []
    tree: Any = tomllib.loads(f"{key} = 0")
    while isinstance(tree, dict):
        ((name, tree),) = tree.items()
        names.append(name)
    return names
