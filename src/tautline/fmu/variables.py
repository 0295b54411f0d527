"""Variables of an FMU: names, units and where their values are."""

from __future__ import annotations

import re
from typing import NamedTuple

AXES = (1, 2, 3)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")


class Variable(NamedTuple):
    """A variable of an FMU."""

    name: str
    causality: str  # independent, input, output or parameter
    unit: str
    sentence: str
    start: float | None = None
    kind: str = "word"
    first: int = 0
    least: float = 0.0  # of a parameter
    open: bool = False  # that is not allowed itself

    @property
    def is_whole(self) -> bool:
        """Whether its values are integers."""
        return self.kind in ("warnings", "status")


def quoted(name: str) -> str:
    """A part of a structured name; what is no identifier stands in quotes."""
    if IDENTIFIER.match(name):
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def named(*parts: str) -> str:
    """A structured name of parts."""
    return ".".join(quoted(part) for part in parts)
