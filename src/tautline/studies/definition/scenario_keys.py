"""Keys of the scenario that a study varies, of a pendulum or of an assembly: found, flattened, read and put."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tautline.errors import InputError
from tautline.model import keys, sections
from tautline.model.assembly import keys as assembly_keys
from tautline.model.assembly.sections import is_assembly
from tautline.model.assembly.sections import problem_of as problem_of_assembly
from tautline.model.case import naming_errors
from tautline.model.keys import Key
from tautline.model.kinds import Kind
from tautline.model.parts import Part
from tautline.model.sections import PARTS, Locate, Tree


@dataclass(frozen=True)
class Language:
    """How the keys of one kind of scenario are read."""

    values: Callable[[Tree], Tree]  # in SI, in range or not
    complete: Callable[[Tree], Tree]  # with defaults
    kind_of: Callable[[Tree, Key], Kind]
    parts_at: Callable[[tuple[str, ...]], tuple[Part, ...]]  # of a section
    problem_of: Any  # of an error

    def read(self, tree: Tree, locate: Locate) -> Tree:
        """The keys of a tree in plain SI numbers; whether these are in range is not looked at."""
        with naming_errors(tree, locate, "", self.problem_of):
            return self.values(tree)

    def put(self, tree: Tree, key: Key, value: Any) -> None:
        """Change one place of a tree."""
        sections.put(tree, key, value, self.kind_of)

    def clear_renamed(self, tree: Tree, changes: Any, path: tuple[str, ...] = ()) -> None:
        """Empty those sections of a tree that changes name the kind of: they are meant as a whole."""
        if not isinstance(changes, Mapping):
            return
        if any(part.word in changes for part in self.parts_at(path) if part.word):
            keys.put(tree, keys.parse(".".join(path)), {})
            return
        for name, inner in changes.items():
            if is_section((*path, name)):
                self.clear_renamed(tree, inner, (*path, name))


def _parts_of_pendulum(path: tuple[str, ...]) -> tuple[Part, ...]:
    return (PARTS[path[0]],) if len(path) == 1 and path[0] in PARTS else ()


PENDULUM = Language(
    sections.values, sections.complete, sections.kind_of, _parts_of_pendulum, problem_of=sections.problem_of
)
ASSEMBLY = Language(
    assembly_keys.values,
    assembly_keys.complete,
    assembly_keys.kind_of,
    assembly_keys.parts_at,
    problem_of=problem_of_assembly,
)


def language_of(tree: Mapping[str, Any]) -> Language:
    """The one that a tree of keys is written in."""
    return ASSEMBLY if is_assembly(tree) else PENDULUM


def is_section(path: tuple[str, ...]) -> bool:
    """Whether a path leads to a section in scenarios of either kind."""
    return bool(_parts_of_pendulum(path)) or assembly_keys.is_section(path)


def flattened(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
    """TOML reads `string.stiffness = 3` as a table in a table: both spellings to dotted keys."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        here = (*path, *str(name).split("."))
        inside = is_section(here) and isinstance(value, Mapping)
        for key, inner in (flattened(value, here) if inside else {".".join(here): value}).items():
            if key in flat:
                raise InputError(f"{key}: expected once, got twice, dotted and in a section")
            flat[key] = inner
    return flat
