"""Names of a system or of results that expressions may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tautline.schema import Layout, by_line

if TYPE_CHECKING:
    from tautline.model.system.system import System


class Parts(NamedTuple):
    """Names that an expression may use."""

    bodies: tuple[str, ...]
    free: tuple[str, ...]  # those that are not kinematic
    lines: Mapping[str, int | None]  # elements of each span by name; None where runs may differ
    over: Mapping[str, Sequence[str]] = MappingProxyType({})  # names of what lines run over, in their order

    def spans(self, line: str) -> int:
        """Number of spans of a line."""
        return len(self.over.get(line, ())) + 1


def parts_of_system(system: System) -> Parts:
    """Parts of a system; lines without a number of elements have None."""
    lines = {name: line.elements if isinstance(line.elements, int) else None for name, line in system.lines.items()}
    over = {name: tuple(line.over) for name, line in system.lines.items()}
    return Parts(tuple(system.bodies), tuple(system.free_bodies), lines, over)


def parts_of_layout(layout: Layout) -> Parts:
    """Parts of results."""
    over = by_line(layout.names.get("sheave", ()))
    elements = {name: own["element"].stop - own["element"].start for name, own in layout.spans.items()}
    lines = {name: count // (len(over.get(name, ())) + 1) for name, count in elements.items()}
    return Parts(tuple(layout.names["body"]), layout.free, lines, over)
