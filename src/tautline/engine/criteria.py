"""Limits on figures and the warnings where they are exceeded: of one run, or of members whose figures are in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tautline.model.short_keys import names_of
from tautline.model.system.system import System
from tautline.results.warnings import KINDS, RunWarning


class Criterion(NamedTuple):
    """Limit on a figure, and the sentence where it is exceeded."""

    kind: str
    exceeded: Any
    figures: tuple[Any, ...]  # that the sentence is made of; the first is the value of the warning
    limit: float | None
    sentence: Callable[..., str]

    @classmethod
    def above(cls, kind: str, figure: Any, limit: float, sentence: Callable[..., str]) -> Criterion:
        """Limit that a figure must not be above."""
        return cls(kind, np.greater(figure, limit), (figure,), limit, sentence)

    def warning(self) -> RunWarning:
        """Warning on a run."""
        value = self.figures[0] if self.figures else None
        return RunWarning(self.kind, self.sentence(*self.figures), value, self.limit)

    def of_member(self, k: int) -> Criterion:
        """The criterion for one member of those in arrays."""
        return self._replace(figures=tuple(x[k] for x in self.figures))


def warnings_from(criteria: Iterable[Criterion]) -> list[RunWarning]:
    """Warnings on one run."""
    return [x.warning() for x in criteria if x.exceeded]


def warnings_by_member(criteria: Iterable[Criterion]) -> dict[int, list[RunWarning]]:
    """Warnings by member, for members that have any."""
    found: dict[int, list[RunWarning]] = {}
    for criterion in criteria:
        for k in np.flatnonzero(criterion.exceeded).tolist():
            found.setdefault(k, []).append(criterion.of_member(k).warning())
    return found


def on_only_line(system: System, warnings: Iterable[RunWarning]) -> list[RunWarning]:
    """Warnings on a system of one line and one body, with the names of these."""
    names = names_of(system)
    return [replace(w, where=getattr(names, KINDS[w.kind].where, None)) for w in warnings]
