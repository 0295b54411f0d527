"""Heads of errors about keys: where a key stands, as whoever gave it spelled it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tautline.model.file_keys import keys_of
from tautline.model.keys import Locate, dotted
from tautline.model.short_keys import Names, Path, short
from tautline.model.string import String

# Gives the path of a key as a tree has it.
Spelled = Callable[[Path], Path]


@dataclass(frozen=True)
class Heads:
    """Heads of errors about keys that are spelled otherwise than those of the full form."""

    place: Locate
    names: Names | None = None  # whose short keys are used
    changed: tuple[tuple[Path, Path], ...] = ()  # keys changed in Python, as they were spelled, and in full

    def __call__(self, path: list[str], /) -> str:
        """The head of an error about a key of the full form."""
        for spelled, full in self.changed:
            if tuple(path[: len(full)]) == full:
                return dotted((*spelled, *path[len(full) :]))
        return self.place(list(short(tuple(path), self.names)) if self.names else path)

    def but(self, changed: list[tuple[Path, Path]], names: Names | None) -> Heads:
        """Copy for a case in which other keys were changed."""
        return Heads(self.place, self.names or names, (*changed, *self.changed))


def spelled_in(tree: Mapping[str, Any], path: Path) -> Path:
    """Path of a key as a full tree has it, in which the string of a line may be a section of its own."""
    if len(path) > 2 and path[0] == "lines":
        try:
            string = tree["lines"][path[1]]["string"]
        except (KeyError, TypeError):
            return path
        if isinstance(string, Mapping) and path[2] in keys_of(String).kinds:
            return (*path[:2], "string", *path[2:])
    return path
