"""Steps of a run that stay while keys change."""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline.model.run import Run

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
