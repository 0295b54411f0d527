"""Wall time of the first steps of a run, measured."""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any, NamedTuple

from tautline.cli.ahead import MOST_TERMS, Ahead
from tautline.engine.runner import Runner
from tautline.engine.simulation import runner_of
from tautline.model.checks import SMALLEST
from tautline.model.system.case import Case

# Steps of one timed call, and how long calls are timed for in all (s).
TIMED_STEPS, LONGEST_TIMING = 200, 0.3
# Base steps of a sample interval, about; and such calls that are timed, at most.
BASE_STEPS, LONGEST_TIMED = 6.0, 1e4


class First(NamedTuple):
    """Wall time of a step, and the length of steps, of the first ones of a run (s); 0 where there are none."""

    seconds: float
    step: float


def first_steps(case: Case, sample: float, terms: float) -> First:
    """The first steps of the run, after one call that may have to compile; in calls whose work is bounded.

    `terms` are pieces times sines in a second of motions without end (1/s).
    """
    simulation = runner_of(case)
    simulation.begin(case.commands, sample, sample)
    interval = _interval(simulation, sample, MOST_TERMS / TIMED_STEPS / max(terms, SMALLEST))
    if interval == 0.0:
        return First(math.nan, 0.0)
    simulation.begin(case.commands, interval, interval)
    if simulation.stepper.plan.adaptive:
        go_on = Ahead(simulation, min(sample, BASE_STEPS * interval), LONGEST_TIMED * interval, terms).go_on
    else:
        plan = simulation.sampling(interval)

        def go_on(most: int = 1) -> bool:
            simulation.march(1, plan)
            return simulation.status == "completed"

    go_on()
    # calls of more and more steps, of which the best counts: what a call or an event takes besides is not a step's
    most, seconds, begun = 1, math.inf, perf_counter()
    while simulation.status == "completed" and perf_counter() - begun < LONGEST_TIMING:
        before, since = simulation.steps, perf_counter()
        if not go_on(most):
            break
        if simulation.steps > before:
            seconds = min(seconds, (perf_counter() - since) / (simulation.steps - before))
        most *= 2
    steps = simulation.steps
    return First(seconds if seconds < math.inf else 0.0, simulation.time / steps if steps else 0.0)


def _interval(simulation: Runner[Any], sample: float, longest: float) -> float:
    """Between samples of the timing: some steps, so that a call is neither too short nor too long (s); 0 if it is."""
    fixed = simulation.stepper.method.step
    if fixed != "auto":
        return float(fixed) * min(TIMED_STEPS, math.floor(longest / float(fixed)))
    return min(sample, longest, TIMED_STEPS * float(simulation.stepper.allowed_step()))
