"""Durations, sample intervals and steps: which fit each other, and how a run is cut into them."""

from __future__ import annotations

import copy
import os
from typing import Any

from tautline.engine import lowering
from tautline.engine.chain.stepper import Stepper
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.limits import step_limits
from tautline.model import checks
from tautline.model.command import Command, Locked

# Steps between two looks at the keyboard, about 0.1 s; a single sample of more steps is not interrupted.
STEPS_A_CALL = 50_000


class Timing:
    """Base steps and samples of one run. "auto" chooses the base step of a sample interval once and keeps it."""

    def __init__(self, stepper: Stepper) -> None:
        self.base_steps: dict[float, int] = {}  # of "auto", by sample interval; kept so that chunks change nothing
        self.known: tuple[float, float | None] | None = None  # duration and sample of the latest plan
        self._stepper = stepper
        self._latest: tuple[data.Plan, int] = (stepper.plan, 0)

    def twin(self, stepper: Stepper) -> Timing:
        """The timing of a twin."""
        other = copy.copy(self)
        other.base_steps, other._stepper = dict(self.base_steps), stepper
        return other

    def check(self, duration: float, sample: float | None, command: Command | None) -> None:
        """Refuse times that do not fit each other or a fixed step, before anything is changed."""
        stepper = self._stepper
        interval = duration if sample is None else sample
        if not stepper.plan.adaptive:
            if stepper.motion.clock[data.STEP] == 0:
                wanted = command or stepper.command or Locked()
                plan, s = lowering.with_impedance(stepper.plan, wanted), float(stepper.motion.reel[data.S])
                limits = step_limits(stepper.par, plan, s, wanted.holds)
                lowering.check_step(stepper.par, plan, s, limits)
            checks.whole_ratio("duration" if sample is None else "sample", interval, "step", stepper.plan.h)
        checks.whole_ratio("duration", duration, "sample", interval)

    def plan(self, duration: float, sample: float | None) -> tuple[data.Plan, int]:
        """Plan with base step and sampling, and the number of samples; kept for the next call with the same times."""
        stepper = self._stepper
        if (duration, sample) == self.known and stepper.plan is self._latest[0]:
            return self._latest
        interval = duration if sample is None else sample
        if stepper.plan.adaptive:
            if interval not in self.base_steps:
                self.base_steps[interval] = lowering.base_steps(stepper.plan, stepper.limits(), interval)
            count = self.base_steps[interval]
            h = interval / count
            if h != stepper.plan.h:
                # another base step: count from here on
                stepper.motion.reel[data.T_START] = stepper.time
                stepper.motion.clock[data.STEP] = 0
                stepper.plan = stepper.plan._replace(h=h)
        else:
            count = checks.whole_ratio("duration" if sample is None else "sample", interval, "step", stepper.plan.h)
        rows = 1 if sample is None else checks.whole_ratio("duration", duration, "sample", count * stepper.plan.h)
        if count != stepper.plan.steps_per_sample:
            stepper.plan = stepper.plan._replace(steps_per_sample=count)
        self.known, self._latest = (duration, sample), (stepper.plan, rows)
        return self._latest


def checked_times(duration: Any, sample: Any) -> tuple[float, float | None]:
    """A duration and a sample interval, both positive."""
    duration = checks.positive("duration", duration, "s")
    return duration, None if sample is None else checks.positive("sample", sample, "s")


def check_memory(rows: int, N: int) -> None:
    """Refuse what cannot fit, before hours are spent on it."""
    from tautline.schema import row_length

    size = 8 * rows * row_length(N)
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        there = 2**40
    if size > there:
        raise InputError(
            f"sample: expected few enough samples to fit into memory ({there / 2**30:.3g} GB), "
            f"got {rows:.3g} of {size / 2**30:.3g} GB together"
        )
