"""Time of a run: its clock, and durations, sample intervals and steps that fit each other."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np

from tautline.engine.lowering import steps_within
from tautline.engine.stepping import Stepper
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model import checks

# Steps between two looks at the keyboard, about 0.1 s; a single sample of more steps is not interrupted.
STEPS_A_CALL = 50_000
# An event that comes with a sample is no more than this part of a step away from it.
WITH_SAMPLE = 1e-6


class Timing:
    """Clock, base steps and samples of one run.

    "auto" chooses the base step of a sample interval once and keeps it.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.base_steps: dict[float, int] = {}  # of "auto", by sample interval; kept so that chunks change nothing
        self.known: tuple[float, float | None] | None = None  # duration and sample of the latest plan
        self._stepper = stepper
        self._latest: tuple[data.Plan, int] = (stepper.plan, 0)
        self.sampled = 0  # STEP at the latest sample
        self.at_event = False  # an event that is located within a step ended the motion

    @property
    def now(self) -> float:
        """Simulated time (s); of a motion that an event ended, that of the event."""
        if self.at_event:
            return self._stepper.counted_from()[0].item(data.STOP_TIME)
        return self._stepper.time

    def count(self, place: int) -> int:
        """One of the counters of the motion."""
        return self._stepper.counted_from()[1].item(place)

    def note_sample(self) -> None:
        """Let the present moment be that of the latest sample."""
        self.sampled = self.count(data.STEP)

    @property
    def _sampled_at(self) -> float:
        """Time of the latest sample at the interval (s)."""
        return self._stepper.counted_from()[0].item(data.T_START) + self.sampled * self._stepper.plan.h

    @property
    def after_sample(self) -> bool:
        """Whether an event ended the motion between two samples at the interval."""
        return self.at_event and self.now - self._sampled_at > WITH_SAMPLE * self._stepper.plan.h

    def sample_times(self, rows: int) -> data.Array:
        """Times of the last so many samples, each from the counter and not from sums; the last may be at the event."""
        off = self.after_sample
        if rows == 1:  # every tick of a control loop
            return np.array([self.now if off else self._sampled_at])
        start, plan = self._stepper.counted_from()[0][data.T_START], self._stepper.plan
        counts = self.sampled + plan.steps_per_sample * np.arange(1 - rows + off, 1, dtype=np.float64)
        times: data.Array = start + counts * plan.h
        return np.append(times, self.now) if off and rows else times

    def copy(self, stepper: Stepper) -> Timing:
        """Timing of a copy of the stepper."""
        other = copy.copy(self)
        other.base_steps, other._stepper = dict(self.base_steps), stepper
        return other

    def check(self, duration: float, sample: float | None) -> None:
        """Refuse times that do not fit each other or a fixed step, before anything is changed."""
        plan, interval = self._stepper.plan, duration if sample is None else sample
        if not plan.adaptive:
            checks.whole_ratio("duration" if sample is None else "sample", interval, "step", plan.h)
        checks.whole_ratio("duration", duration, "sample", interval)

    def plan(self, duration: float, sample: float | None) -> tuple[data.Plan, int]:
        """Plan with base step and sampling, and the number of samples; kept for the next call with the same times."""
        stepper = self._stepper
        if (duration, sample) == self.known and stepper.plan is self._latest[0]:
            return self._latest
        interval = duration if sample is None else sample
        if stepper.plan.adaptive:
            if interval not in self.base_steps:
                self.base_steps[interval] = steps_within(interval, stepper.allowed_step())
            count = self.base_steps[interval]
            h = interval / count
            if h != stepper.plan.h:
                # another base step: count from here on
                numbers, clock = stepper.counted_from()
                numbers[data.T_START], clock[data.STEP] = stepper.time, 0
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


def check_memory(rows: int, numbers: int) -> None:
    """Refuse samples of so many numbers each that cannot fit, before hours are spent on them."""
    size = 8 * rows * numbers
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        there = 2**40
    if size > there:
        raise InputError(
            f"sample: expected few enough samples to fit into memory ({there / 2**30:.3g} GB), "
            f"got {rows:.3g} of {size / 2**30:.3g} GB together"
        )
