"""A march that looks at conditions after every step, and locates in time where one is met.

The user's conditions end a run; those of sequences give a reel its next command, in the middle of a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.engine.sequencing import Progress
from tautline.errors import CONDITION_MET, RUNNING, InputError
from tautline.kernels import data
from tautline.model.stop import StopWhen
from tautline.model.system.commands import place_of
from tautline.schema import Layout

if TYPE_CHECKING:
    from tautline.engine.runner import Runner

# Steps that are observed at a time.
STEPS_AT_ONCE = 2000
# The moment of a condition is found to this part of a step; what is nearer to an end of a step is there.
LOCATED, AT_END = 1e-12, 1e-9


class Watch:
    """Marches a motion step by step until a condition of the user's is met; reels follow their sequences.

    Attributes
    ----------
    stages : dict
        Where reels are in their sequences, by the names of commands.
    passed : list
        Time, name and number of each stage that began.
    """

    def __init__(self, conditions: Sequence[StopWhen], layout: Layout) -> None:
        self.conditions = tuple(conditions)
        self.met: StopWhen | None = None
        self.stages: dict[str, Progress] = {}
        self.passed: list[tuple[float, str, int]] = []
        self._layout = layout
        self._bind()

    def _bind(self) -> None:
        """Make the functions of conditions, which pickles leave out."""
        self._stops = [(condition, condition.margins_of(self._layout)) for condition in self.conditions]
        self._ends: dict[str, tuple[StopWhen, Any]] = {}  # conditions that end present stages
        for name, progress in list(self.stages.items()):
            self.set_stage(name, progress)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in self.__dict__.items() if name not in ("_stops", "_ends")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def copy(self) -> Watch:
        """An independent one, at the same stages."""
        other = object.__new__(Watch)
        other.__dict__.update(self.__dict__)
        other.stages, other.passed, other._ends = dict(self.stages), list(self.passed), dict(self._ends)
        return other

    def set_stage(self, name: str, progress: Progress | None) -> None:
        """Have a reel follow a stage of a sequence, or none."""
        self.stages.pop(name, None)
        self._ends.pop(name, None)
        if progress is None:
            return
        self.stages[name] = progress
        condition = progress.stage.condition
        if condition is not None:
            self._ends[name] = (condition, self._bound(name, progress, condition))

    def check(self, name: str, progress: Progress) -> None:
        """Refuse a sequence with a condition on what results of the system do not have."""
        for number, stage in enumerate(progress.sequence.stages):
            if stage.condition is not None:
                self._bound(name, progress._replace(number=number), stage.condition)

    def _bound(self, name: str, progress: Progress, condition: StopWhen) -> Any:
        try:
            return condition.margins_of(self._layout)
        except InputError as error:
            text = str(error).removeprefix("StopWhen.variable: ")
            path = ".".join((*place_of(name).path, progress.sequence.names[progress.number]))
            raise InputError(f"{path}.until: {text}") from None

    @property
    def _all(self) -> list[tuple[str | None, StopWhen, Any]]:
        """Conditions that are looked at: the command that each ends a stage of, or none, and its margins."""
        return [
            *((None, condition, margins) for condition, margins in self._stops),
            *((name, condition, margins) for name, (condition, margins) in self._ends.items()),
        ]

    def check_start(self, watched: Runner[Any], sample: Any) -> None:
        """Refuse a condition that ends the run from the start."""
        if not self._stops:
            return
        margins = self._margins(watched, np.array([watched.time]), sample)[: len(self._stops)]
        if (margins > 0.0).any():
            met = self.conditions[int(np.argmax(margins[:, 0]))]
            raise InputError(f"stop: expected a condition that is not met at the start, but {met.sentence()} there")

    def march(self, watched: Runner[Any], out: Any, plan: data.Plan) -> tuple[int, int]:
        """Fill samples as a march does; with a condition met that ends the run, the motion is left at that moment."""
        motion = watched.stepper
        every, h = plan.steps_per_sample, plan.h
        total, made = len(out[0]) * every, 0
        rows = _Rows(watched, out, every, h)
        if self.stages:
            self._pass_on(watched, rows, 0)
        while made < total:
            plan = motion.plan._replace(h=h, steps_per_sample=every) if self.stages else plan
            count = min(STEPS_AT_ONCE, total - made)
            if not self._all:  # nothing but times to look at
                left = min(total - made, self._steps_before(motion.time, h))
                if made % every == 0 and left >= every:
                    status, filled = motion.march(rows.part(made // every, (made + left) // every), plan)
                    made += filled * every
                    if status != RUNNING:
                        return status, made // every
                    continue
                count = min(count, every - made % every)
            before, begun = motion.saved(), motion.time
            fine, steps = plan._replace(steps_per_sample=1), motion.samples_for(count)
            status, filled = motion.march(steps, fine)
            times = begun + h * np.arange(1, filled + 1, dtype=np.float64)
            steps = type(steps)(*(array[:filled] for array in steps))
            late = times > self._next_time() + AT_END * h
            beyond = (self._margins(watched, times, steps) > 0.0).any(axis=0) if self._all else late
            where = np.flatnonzero(beyond | late)
            free = int(where[0]) if len(where) else filled  # steps before a condition is met
            rows.fill(made, steps, free)
            made += free
            if len(where):
                motion.put_back(before)
                if free:
                    motion.march(motion.samples_for(free), fine)
                status, last = self._pass_step(watched, fine, rows, made // every)
                if status != RUNNING:
                    return status, made // every
                rows.fill(made, last, 1)
                made += 1
                continue
            if status != RUNNING:
                return status, made // every
        return RUNNING, len(out[0])

    def _steps_before(self, now: float, h: float) -> int:
        """Steps that end before the next time at which a stage ends."""
        left = (self._next_time() - now) / h + AT_END
        return 2**62 if math.isinf(left) else max(0, math.floor(left))

    def _next_time(self) -> float:
        return min((progress.ends_at for progress in self.stages.values()), default=math.inf)

    def _margins(self, watched: Runner[Any], times: data.Array, samples: Any) -> data.Array:
        """Margins (condition, moment)."""
        asked = self._all
        names: set[str] = set()
        for _, condition, _ in asked:
            names |= set(self._layout.variables) if condition.is_function else set(condition.needs)
        values = watched.backend.values_for(times, samples, names - {"time"})
        return np.stack([margins(values) for *_, margins in asked])

    def _pass_on(self, watched: Runner[Any], rows: _Rows, filled: int) -> None:
        """Begin the next stage of all sequences whose present one is at its end now."""
        while self.stages:
            due = [name for name, x in self.stages.items() if watched.time >= x.ends_at]
            if not due and self._ends:
                sample = watched.stepper.samples_for(1)
                watched.stepper.observe(sample, watched.time)
                margins = self._margins(watched, np.array([watched.time]), sample)[:, 0]
                due = [name for (name, *_), x in zip(self._all, margins, strict=True) if name is not None and x > 0.0]
            if not due:
                return
            self._next_stage(watched, due[0], rows, filled)

    def _next_stage(self, watched: Runner[Any], name: str, rows: _Rows, filled: int) -> None:
        rows.settle(filled)
        progress = watched.next_stage(name, self.stages[name])
        self.set_stage(name, progress)
        self.passed.append((progress.since, name, progress.number))

    def _pass_step(self, watched: Runner[Any], plan: data.Plan, rows: _Rows, filled: int) -> tuple[int, Any]:
        """Make the next step, within which reels get their next commands.

        Status and sample at its end; with a condition met that ends the run, the motion is left at that moment.
        """
        motion = watched.stepper
        start, sample = motion.time, motion.samples_for(1)
        reel, clock = motion.counted_from()
        counted, part = (reel[data.T_START], clock[data.STEP]), 0.0
        while True:
            begun, rest = start + part * plan.h, 1.0 - part
            # the rest of the step is counted from here
            reel[data.T_START], clock[data.STEP] = begun, 0
            before = motion.saved()
            within = _Within(self, watched, before, sample, motion.plan._replace(h=rest * plan.h, steps_per_sample=1))
            x, name, met = within.first(begun)
            if x is None:
                status = within.go_to(1.0)
                reel[data.T_START], clock[data.STEP] = counted[0], counted[1] + 1
                return status, sample
            if name is None:
                within.go_to(x)
                self.met = met
                reel[data.T_START], clock[data.STEP] = counted
                reel[data.STOP_TIME] = begun + x * rest * plan.h
                return CONDITION_MET, None
            x = 0.0 if x < AT_END else x
            within.go_to(x)
            part += x * rest
            reel[data.T_START], clock[data.STEP] = start + part * plan.h, 0
            self._next_stage(watched, name, rows, filled)
            self._pass_on(watched, rows, filled)
            if 1.0 - part < AT_END:
                motion.observe(sample, motion.time)
                reel[data.T_START], clock[data.STEP] = counted[0], counted[1] + 1
                return RUNNING, sample


class _Within:
    """A step, or the rest of one, and what happens in it."""

    def __init__(self, watch: Watch, watched: Runner[Any], before: Any, sample: Any, plan: data.Plan) -> None:
        self.watch, self.watched, self.before, self.sample, self.plan = watch, watched, before, sample, plan

    def go_to(self, part: float) -> int:
        """Be at a part of the step; the status of the march there."""
        motion = self.watched.stepper
        motion.put_back(self.before)
        if part == 0.0:
            motion.observe(self.sample, motion.time)
            return RUNNING
        return int(motion.march(self.sample, self.plan._replace(h=part * self.plan.h))[0])

    def margins(self, part: float, begun: float) -> data.Array:
        """Margins of all conditions at a part of the step."""
        self.go_to(part)
        return self.watch._margins(self.watched, np.array([begun + part * self.plan.h]), self.sample)[:, 0]

    def first(self, begun: float) -> tuple[float | None, str | None, StopWhen | None]:
        """Part of the step at which a condition is met first, the command whose stage it ends if it does, and it."""
        timed = [((x.ends_at - begun) / self.plan.h, name) for name, x in self.watch.stages.items()]
        at, name = min(timed, default=(math.inf, None))
        found: tuple[float | None, str | None, StopWhen | None] = (None, None, None)
        if at <= 1.0 + AT_END:
            found = (min(max(at, 0.0), 1.0), name, None)
        if not self.watch._all:
            return found
        latest = 1.0 if found[0] is None else found[0]
        if not (self.margins(latest, begun) > 0.0).any():
            return found
        x = 0.0
        if not (self.margins(0.0, begun) > 0.0).any():
            from scipy.optimize import brentq  # takes some 0.3 s, so only where a condition is met

            x = float(brentq(lambda part: float(self.margins(part, begun).max()), 0.0, latest, xtol=LOCATED))
        name, condition, _ = self.watch._all[int(np.argmax(self.margins(x, begun)))]
        return x, name, condition


class _Rows:
    """Samples that a march fills, those under one command after the other."""

    def __init__(self, watched: Runner[Any], out: Any, every: int, h: float) -> None:
        self._watched, self._out, self._every = watched, out, every
        reel, clock = watched.stepper.counted_from()
        self._start, self._step, self._h = float(reel[data.T_START]), int(clock[data.STEP]), h

    def part(self, first: int, last: int) -> Any:
        """Some of them."""
        return type(self._out)(*(array[first:last] for array in self._out))

    def fill(self, made: int, steps: Any, count: int) -> None:
        """Take those of the next steps, so many were made, which are at samples."""
        every = self._every
        found = np.arange(every - 1 - made % every, count, every)
        first = made // every
        for array, values in zip(self._out, steps, strict=True):
            array[first : first + len(found)] = values[found]

    def settle(self, filled: int) -> None:
        """Complete those that are filled, before another command comes."""
        done = self._watched.settled
        if filled > done:
            counts = self._step + self._every * np.arange(done + 1, filled + 1, dtype=np.float64)
            self._watched.settle(self._start + counts * self._h, self.part(done, filled))
            self._watched.settled = filled
