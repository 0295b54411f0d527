"""A march that looks at the user's conditions after every step, and locates in time where one is met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.errors import CONDITION_MET, RUNNING, InputError
from tautline.kernels import data
from tautline.model.stop import StopWhen
from tautline.schema import Layout

if TYPE_CHECKING:
    from tautline.engine.backend import Backend

# Steps that are observed at a time.
STEPS_AT_ONCE = 2000
# The end of the run is found to this part of a step.
LOCATED = 1e-12


class Watch:
    """Marches a motion step by step until a condition is met."""

    def __init__(self, conditions: Sequence[StopWhen], layout: Layout) -> None:
        self.conditions = tuple(conditions)
        self.met: StopWhen | None = None
        self._names = {name for c in self.conditions for name in c.needs} - {"time"}
        if any(c.is_function for c in self.conditions):
            self._names = set(layout.variables)
        self._functions = [condition.margins_of(layout) for condition in self.conditions]

    def check_start(self, watched: Backend, sample: Any) -> None:
        """Refuse a condition that is met from the start."""
        margins = self._margins(watched, np.array([watched.time]), sample)
        if (margins > 0.0).any():
            met = self.conditions[int(np.argmax(margins[:, 0]))]
            raise InputError(f"stop: expected a condition that is not met at the start, but {met.sentence()} there")

    def march(self, watched: Backend, out: Any, plan: data.Plan) -> tuple[int, int]:
        """Fill samples as a march does; with a condition met, the motion is left at that moment."""
        motion = watched.stepper
        every, fine = plan.steps_per_sample, plan._replace(steps_per_sample=1)
        total, made = len(out[0]) * every, 0
        while made < total:
            before, begun = motion.saved(), motion.time
            steps = motion.samples_for(min(STEPS_AT_ONCE, total - made))
            status, filled = motion.march(steps, fine)
            times = begun + plan.h * np.arange(1, filled + 1, dtype=np.float64)
            steps = type(steps)(*(array[:filled] for array in steps))
            beyond = self._margins(watched, times, steps)
            where = np.flatnonzero((beyond > 0.0).any(axis=0))
            free = int(where[0]) if len(where) else filled  # steps before the condition is met
            rows = np.arange(every - 1 - made % every, free, every)
            first = made // every
            for array, found in zip(out, steps, strict=True):
                array[first : first + len(rows)] = found[rows]
            made += free
            if len(where):
                self.met = self.conditions[int(np.argmax(beyond[:, free]))]
                motion.put_back(before)
                if free:
                    motion.march(motion.samples_for(free), fine)
                self._locate(watched, fine)
                return CONDITION_MET, made // every
            if status != RUNNING:
                return status, made // every
        return RUNNING, len(out[0])

    def _margins(self, watched: Backend, times: data.Array, samples: Any) -> data.Array:
        """Margins (condition, moment)."""
        values = watched.values_for(times, samples, self._names)
        return np.stack([margins(values) for margins in self._functions])

    def _locate(self, watched: Backend, plan: data.Plan) -> None:
        """Go on to the moment within the next step at which the first condition is met."""
        from scipy.optimize import brentq

        motion = watched.stepper
        start, sample = motion.time, motion.samples_for(1)
        reel, clock = motion.counted_from()
        counted = reel[data.T_START], clock[data.STEP]
        reel[data.T_START], clock[data.STEP] = start, 0
        before = motion.saved()

        def margin(part: float) -> float:
            motion.put_back(before)
            if part == 0.0:
                motion.observe(sample, start)
            else:
                motion.march(sample, plan._replace(h=part * plan.h))
            return float(self._margins(watched, np.array([start + part * plan.h]), sample).max())

        part = float(brentq(margin, 0.0, 1.0, xtol=LOCATED))
        margin(part)
        reel[data.T_START], clock[data.STEP] = counted
        reel[data.STOP_TIME] = start + part * plan.h
