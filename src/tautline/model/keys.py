"""Places in a tree of keys: `string.stiffness`, `gravity`, `initial.end_velocity[1]`, `lines.hoist.elements`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from tautline.errors import InputError

# The head of an error message from the path of a key.
Locate = Callable[[list[str]], str]
KEY = re.compile(r"(?:([\w-]+(?:\.[\w-]+)*)\.)?([\w-]+)((?:\[[0-9]+\])*)")
_LONGEST = 60


class Key(NamedTuple):
    """A place in a case."""

    text: str
    section: str  # empty for the few keys without one; dotted where it is in others
    name: str
    components: tuple[int, ...]  # of a list

    @property
    def whole(self) -> str:
        """The key without components."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def path(self) -> tuple[str, ...]:
        """Names of the section and of those that it is in."""
        return tuple(self.section.split(".")) if self.section else ()


@lru_cache(maxsize=4096)
def parse(text: str) -> Key:
    """A key from its text."""
    found = KEY.fullmatch(text)
    if found is None:
        raise InputError(f"{text}: expected a key of a scenario such as string.stiffness or initial.end_velocity[1]")
    return Key(text, found[1] or "", found[2], tuple(int(x) for x in re.findall(r"\d+", found[3])))


def dotted(path: tuple[str, ...] | list[str]) -> str:
    """The key in one line, quoted where TOML would quote it, and not longer than one can read."""
    key = ".".join(part if re.fullmatch(r"[\w-]+", part) else repr(part) for part in path)
    return key if len(key) <= _LONGEST else key[: _LONGEST - 3] + "..."


def put(tree: dict[str, Any], key: Key, value: Any) -> None:
    """Change one place. Sections and lists on the way are replaced by changed copies: others may share them."""
    parent = tree
    for name in key.path:
        section = parent.get(name, {})
        if not isinstance(section, dict):
            raise InputError(f"{key.text}: expected {name} to be a section, got {section!r}")
        parent[name] = dict(section)
        parent = parent[name]
    if not key.components:
        parent[key.name] = value
        return
    parent[key.name] = _with_component(parent.get(key.name), key, key.components, value)


def _with_component(before: Any, key: Key, components: tuple[int, ...], value: Any) -> list[Any]:
    place, *rest = components
    if before is None:
        raise InputError(f"{key.text}: expected {key.whole} to be a list in the scenario, got none; give all of it")
    if not isinstance(before, (list, tuple)):
        raise InputError(f"{key.text}: expected {key.whole} to be a list in the scenario, got {before!r}")
    if place >= len(before):
        raise InputError(f"{key.text}: expected a component from 0 to {len(before) - 1}, got {place}")
    changed = list(before)
    changed[place] = _with_component(before[place], key, tuple(rest), value) if rest else value
    return changed


def has(tree: dict[str, Any], key: Key) -> bool:
    """Whether a tree has a key, whatever its components."""
    section: Any = tree
    for name in key.path:
        section = section.get(name, {}) if isinstance(section, dict) else {}
    return isinstance(section, dict) and key.name in section


def get(tree: dict[str, Any], key: Key) -> Any:
    """Value of a tree at a key."""
    value: Any = tree
    for place in (*key.path, key.name, *key.components):
        value = value[place]
    return value
