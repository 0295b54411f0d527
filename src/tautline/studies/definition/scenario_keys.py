"""Keys of the scenario that a study varies or sets: found, flattened, read and put."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tautline.errors import InputError
from tautline.model import keys
from tautline.model.file_keys import Tree
from tautline.model.keys import Key, Locate
from tautline.model.parts import Part
from tautline.model.short_keys import full_key, short
from tautline.model.system import keys as system_keys
from tautline.model.system.keys import is_section
from tautline.model.system.problems import naming_errors
from tautline.model.system.sections import SHORT_PARTS, START, parts_at
from tautline.model.system.system import System

Path = tuple[str, ...]


class Language:
    """Keys of a system, some of which may be short ones.

    Parameters
    ----------
    system : System
        Whose keys they are.
    is_short : bool
        Errors name short keys.
    """

    def __init__(self, system: System, is_short: bool) -> None:
        self._system, self.is_short = system, is_short

    def full(self, key: Key) -> Key:
        """The key of the system that a key, which may be a short one, stands for."""
        return full_key(key, self._system)

    def read(self, tree: Tree, locate: Locate) -> Tree:
        """The keys of a tree in plain SI numbers; whether these are in range is not looked at."""
        spelled = short if self.is_short else tuple
        with naming_errors(tree, locate, "", spelled=spelled):
            return system_keys.values(tree)

    def put(self, tree: Tree, text: str, value: Any) -> None:
        """Change one place of a tree."""
        key = keys.parse(text)
        try:
            system_keys.change(tree, key, value, self._system)
        except InputError as error:  # of components
            raise InputError(str(error).replace(self.full(key).whole, key.whole)) from None

    def get(self, tree: Tree, text: str) -> Any:
        """Value of a tree at a key."""
        return keys.get(tree, self.full(keys.parse(text)))

    def unit(self, tree: Tree, text: str) -> str:
        """Unit of a key; empty for words, counts and plain numbers."""
        return system_keys.kind_of(tree, self.full(keys.parse(text))).unit

    def clear_renamed(self, tree: Tree, changes: Any, path: Path = ()) -> None:
        """Empty those sections of a tree that changes name the kind of: they are meant as a whole."""
        if not isinstance(changes, Mapping):
            return
        if path and any(part.word in changes for part in _parts_at(path) if part.word):
            key = self.full(keys.parse(".".join(path)))
            before = keys.get(tree, key) if keys.has(tree, key) else {}
            place = (*key.path, key.name)
            kept = {name: x for name, x in before.items() if place[0] == "bodies" and is_section((*place, name))}
            keys.put(tree, key, kept)
            return
        for name, inner in changes.items():
            if _is_section((*path, *str(name).split("."))):
                self.clear_renamed(tree, inner, (*path, *str(name).split(".")))


def _parts_at(path: Path) -> tuple[Part, ...]:
    """Parts whose keys a section has."""
    if path == ("initial",):
        return (START,)
    return (SHORT_PARTS[path[0]],) if len(path) == 1 and path[0] in SHORT_PARTS else parts_at(path)


def _is_section(path: Path) -> bool:
    """Whether a path leads to a section, by full or short keys."""
    return (len(path) == 1 and path[0] in SHORT_PARTS) or is_section(path)


def flattened(tree: Mapping[str, Any], path: Path = ()) -> dict[str, Any]:
    """TOML reads `string.stiffness = 3` as a table in a table: both spellings to dotted keys."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        here = (*path, *str(name).split("."))
        inside = _is_section(here) and isinstance(value, Mapping)
        for key, inner in (flattened(value, here) if inside else {".".join(here): value}).items():
            if key in flat:
                raise InputError(f"{key}: expected once, got twice, dotted and in a section")
            flat[key] = inner
    return flat
