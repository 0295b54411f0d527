"""Remarks of members on their own numbers: how many have any, and which are the most frequent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tautline.studies.analysis.reading import WORDS_AT_ONCE

if TYPE_CHECKING:
    import xarray as xr

SHOWN = 3
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Remarks(NamedTuple):
    """Members with remarks, and the most frequent remarks with their number and an example of each."""

    members: int
    frequent: list[tuple[int, str]]

    def sentences(self) -> list[str]:
        return [f"{count} members, for example: {example}" for count, example in self.frequent]


def remarks_of(study: xr.Dataset) -> Remarks:
    """Remarks of the members of a study; those that differ in their numbers only count as one. Reads block by block."""
    flat = study.remarks
    rows = max(1, WORDS_AT_ONCE // max(1, flat.size // max(1, flat.shape[0])))
    members, counts, examples = 0, dict[str, int](), dict[str, str]()
    for start in range(0, flat.shape[0], rows):
        for text in map(str, flat[start : start + rows].values.ravel().tolist()):
            members += bool(text)
            for remark in text.splitlines():
                kind = _NUMBER.sub("#", remark)
                counts[kind] = counts.get(kind, 0) + 1
                examples.setdefault(kind, remark)
    order = sorted(counts, key=lambda kind: -counts[kind])[:SHOWN]
    return Remarks(members, [(counts[kind], examples[kind]) for kind in order])
