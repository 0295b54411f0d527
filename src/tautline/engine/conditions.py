"""A march that looks at the user's conditions after every step, and locates in time where one is met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tautline.engine.samples import record_of_samples
from tautline.engine.stepper import Stepper
from tautline.errors import CONDITION_MET, RUNNING, InputError
from tautline.kernels import data
from tautline.model.stop import StopWhen
from tautline.results.values import values_of
from tautline.schema import SCHEMA

# Steps that are observed at a time.
STEPS_AT_ONCE = 2000
# The end of the run is found to this part of a step.
LOCATED = 1e-12
# Variables that take inverse dynamics where the reel is prescribed or locked; others do not pay for it in every step.
NEED_TORQUE = {"torque", "power"}


class Watch:
    """Marches a pendulum step by step until a condition is met."""

    def __init__(self, conditions: Sequence[StopWhen], elements: int) -> None:
        self.conditions = tuple(conditions)
        self.met: StopWhen | None = None
        self._names = {str(c.variable) for c in self.conditions if not c.is_function}
        if any(c.is_function for c in self.conditions):
            self._names = set(SCHEMA)
        for condition in self.conditions:
            condition.check_against(elements)

    def check_start(self, stepper: Stepper, sample: data.Samples) -> None:
        """Refuse a condition that is met from the start."""
        margins = self._margins(stepper, np.array([stepper.time]), sample)
        if (margins > 0.0).any():
            met = self.conditions[int(np.argmax(margins[:, 0]))]
            raise InputError(f"stop: expected a condition that is not met at the start, but {met.sentence()} there")

    def march(self, stepper: Stepper, out: data.Samples, plan: data.Plan) -> tuple[int, int]:
        """Fill samples as `Stepper.march` does; with a condition met, the motion is left at that moment."""
        every, fine = plan.steps_per_sample, plan._replace(steps_per_sample=1)
        total, made = len(out.scalars) * every, 0
        while made < total:
            before, begun = data.copy_of(stepper.motion), stepper.time
            steps = data.empty_samples(min(STEPS_AT_ONCE, total - made), stepper.par.N)
            status, filled = stepper.march(steps, fine)
            times = begun + plan.h * np.arange(1, filled + 1, dtype=np.float64)
            steps = data.Samples(steps.scalars[:filled], steps.nodes[:filled])
            beyond = self._margins(stepper, times, steps)
            where = np.flatnonzero((beyond > 0.0).any(axis=0))
            free = int(where[0]) if len(where) else filled  # steps before the condition is met
            rows = np.arange(every - 1 - made % every, free, every)
            first = made // every
            out.scalars[first : first + len(rows)] = steps.scalars[rows]
            out.nodes[first : first + len(rows)] = steps.nodes[rows]
            made += free
            if len(where):
                self.met = self.conditions[int(np.argmax(beyond[:, free]))]
                _put_back(stepper, before)
                if free:
                    stepper.march(data.empty_samples(free, stepper.par.N), fine)
                self._locate(stepper, fine)
                return CONDITION_MET, made // every
            if status != RUNNING:
                return status, made // every
        return RUNNING, len(out.scalars)

    def _margins(self, stepper: Stepper, times: data.Array, samples: data.Samples) -> data.Array:
        """Margins (condition, moment)."""
        if stepper.takes_torque and self._names & NEED_TORQUE:
            stepper.find_torques(samples, times)
        values = values_of(stepper.pendulum, record_of_samples(times, samples), self._names)
        return np.stack([condition.margins(values) for condition in self.conditions])

    def _locate(self, stepper: Stepper, plan: data.Plan) -> None:
        """Go on to the moment within the next step at which the first condition is met."""
        from scipy.optimize import brentq

        reel, clock = stepper.motion.reel, stepper.motion.clock
        counted, start = (reel[data.T_START], clock[data.STEP]), stepper.time
        reel[data.T_START], clock[data.STEP] = start, 0
        before, sample = data.copy_of(stepper.motion), data.empty_samples(1, stepper.par.N)

        def margin(part: float) -> float:
            _put_back(stepper, before)
            if part == 0.0:
                stepper.observe(sample, start)
            else:
                stepper.march(sample, plan._replace(h=part * plan.h))
            return float(self._margins(stepper, np.array([start + part * plan.h]), sample).max())

        part = float(brentq(margin, 0.0, 1.0, xtol=LOCATED))
        margin(part)
        reel[data.T_START], clock[data.STEP] = counted
        reel[data.STOP_TIME] = start + part * plan.h


def _put_back(stepper: Stepper, before: data.Motion) -> None:
    for ours, theirs in zip(stepper.motion, before, strict=True):
        ours[...] = theirs
