"""Runs whose keys change while their steps stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from tautline.gradients.rest_starts import CasesBeside
from tautline.model.run import Run
from tautline.model.system.case import Case

B = TypeVar("B")

# Tables of motions without end hold so much longer than the run, so that they are the same near its duration.
BEYOND = 1.1


class Steps(NamedTuple):
    """The steps of a run, which stay while keys change: the length of a step is a part of the duration."""

    rows: int  # samples after the first
    per_sample: int
    filled: int  # samples before the run ended
    until: float  # time that tables hold until (s)

    def length(self, duration: float) -> float:
        """Length of a step (s)."""
        return duration / (self.rows * self.per_sample)


def steps_of(begun: Any, run: Run) -> Steps:
    """The steps of a run from its start; those of step="auto" all as small as the smallest, found by running it."""
    simulation = begun.simulation
    plan = simulation.sampling(begun.interval)
    level, filled = 0, begun.samples
    if plan.adaptive or run.stop:
        filled = 0
        while filled < begun.samples and simulation.status == "completed":
            simulation.march(1, plan)
            level = max(level, simulation.halvings)
            filled += simulation.status == "completed"
    return Steps(begun.samples, plan.steps_per_sample << level, filled, BEYOND * run.duration)


class FrozenRuns(Generic[B]):
    """Runs of a case whose keys have values of its own or others, at their starts, with frozen steps.

    Parameters
    ----------
    case : Case
    steps : Steps, optional
        The case's own by default.

    Attributes
    ----------
    cases : CasesBeside
        Cases with other values of keys.
    """

    def __init__(self, case: Case, steps: Steps | None = None) -> None:
        self.case, self.cases = case, CasesBeside(case)
        self.steps = steps or steps_of(self._own(), case.run)

    def begun(self, changes: Mapping[str, float]) -> B:
        """A run at its start, its commands taken; conditions that stop it are left out."""
        return self._begun(self.case.with_(changes) if changes else self.case)

    def beside(self, changes: Mapping[str, float]) -> B:
        """A run at its start for derivatives: right to first order in the changes, and without a search for rest."""
        return self._begun(self.cases.case_with(changes))

    def _own(self) -> Any:
        """The run of the case as it is, at its start."""
        raise NotImplementedError

    def _begun(self, case: Case) -> B:
        """The run of another case at its start."""
        raise NotImplementedError
