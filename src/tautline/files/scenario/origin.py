"""Where the values of a scenario come from: file, line and key, or the option that gave them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model.keys import dotted
from tautline.model.system.problems import ScenarioError

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


class Options(dict[str, str]):
    """Values by key that the option --set of a command gave, not a program."""


class Given(NamedTuple):
    """A key that --set or a program gave."""

    path: tuple[str, ...]  # in the tree of the scenario
    typed: tuple[str, ...]  # as it was given, which may be a short form


class Origin(NamedTuple):
    """Source of a scenario."""

    source: str
    text: str
    given: tuple[Given, ...]
    option: str = ""  # in front of the keys that were given

    def head(self, path: list[str]) -> str:
        """File, line and key; or the option that gave the key."""
        for key in self.given:
            if tuple(path[: len(key.path)]) == key.path:
                return f"{self.option}{dotted([*key.typed, *path[len(key.path) :]])}"
        line = line_of(self.text, path)
        if line is None and path and any(list(key.path[: len(path)]) == path for key in self.given):
            return f"{self.option}{dotted(path)}"
        where = self.source if line is None else f"{self.source}:{line}"
        return f"{where}: {dotted(path)}" if path else where


@contextmanager
def said_of(source: object, kind: type[InputError]) -> Iterator[None]:
    """Errors that name a key only also name the file, as errors of a kind."""
    try:
        yield
    except (ScenarioError, kind):
        raise
    except InputError as error:
        raise kind(f"{source}: {error}") from None


def line_of(text: str, path: list[str]) -> int | None:
    """Line of a key in a TOML text; of its section if the key is not there."""
    section: list[str] = []
    best, inside = None, 0  # line of the innermost section that is there, and in how many others it is
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
            if section == path[: len(section)] and len(section) > inside:
                best, inside = number, len(section)
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
