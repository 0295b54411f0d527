"""Warnings of members, counted by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tautline.results.warnings import decoded
from tautline.studies.analysis.reading import WORDS_AT_ONCE

if TYPE_CHECKING:
    import xarray as xr


class Counted(NamedTuple):
    """Members with a warning of one kind, and the sentence of the first."""

    kind: str
    members: int
    example: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.members} members, for example: {self.example}"


class MemberWarnings(NamedTuple):
    """Members with warnings, and their kinds, the most frequent first."""

    members: int
    kinds: list[Counted]


def counted(study: xr.Dataset) -> MemberWarnings:
    """Warnings of the members of a study by kind. Reads block by block."""
    flat = study.warnings
    rows = max(1, WORDS_AT_ONCE // max(1, flat.size // max(1, flat.shape[0])))
    members, counts, examples = 0, dict[str, int](), dict[str, str]()
    for start in range(0, flat.shape[0], rows):
        for text in map(str, flat[start : start + rows].values.ravel().tolist()):
            found = {w.kind: w.text for w in reversed(decoded(text))}
            members += bool(found)
            for kind, sentence in found.items():
                counts[kind] = counts.get(kind, 0) + 1
                examples.setdefault(kind, sentence)
    order = sorted(counts, key=lambda kind: -counts[kind])
    return MemberWarnings(members, [Counted(kind, counts[kind], examples[kind]) for kind in order])
