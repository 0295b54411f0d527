"""Conditions that end a run, looked at after every step and located in time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tautline.engine.samples import record_of_samples
from tautline.engine.stepper import Stepper
from tautline.errors import CONDITION_MET, RUNNING, InputError
from tautline.kernels import data
from tautline.model import checks
from tautline.results.schema import AXES, SCHEMA, sizes
from tautline.results.values import values_of

# Steps that are observed at a time.
STEPS_AT_ONCE = 2000
# The end of the run is found to this part of a step.
LOCATED = 1e-12


class Instant(Mapping[str, Any]):
    """Variables of the results at one moment, by name, and the time."""

    def __init__(self, values: Mapping[str, data.Array], row: int) -> None:
        self._values, self._row = values, row

    def __getitem__(self, name: str) -> Any:
        return self._values[name][self._row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclasses.dataclass(frozen=True)
class StopWhen:
    """A condition that ends the run at the moment when it becomes true.

    Parameters
    ----------
    variable : str or callable
        A variable of the results, such as "position", "guide_tension" or "reel_speed"; or a function that is called
        with the variables at one moment (a mapping from names to values, "time" among them) and is true, or positive,
        where the run is to end.
    above, below : float
        The run ends when the variable is above the one or below the other; one of them is given, in the unit of the
        variable. Of several components it is enough that one is.
    node, element, row, column : int, optional
        Which component of a variable that has several; negative ones count from the body's end.
    axis : {"x", "y", "z"}, optional
        Which component of a vector; z points down.
    """

    variable: str | Callable[[Instant], Any]
    above: float | None = None
    below: float | None = None
    node: int | None = None
    element: int | None = None
    axis: str | None = None
    row: int | None = None
    column: int | None = None

    def __post_init__(self) -> None:
        if self.is_function:
            given = [f.name for f in dataclasses.fields(self)[1:] if getattr(self, f.name) is not None]
            if given:
                raise InputError(f"StopWhen.{given[0]}: expected with the name of a variable, got it with a function")
            return
        checks.choice("StopWhen.variable", self.variable, SCHEMA)
        if (self.above is None) == (self.below is None):
            raise InputError("StopWhen: expected either above or below, got " + ("both" if self.above else "neither"))
        name = "above" if self.below is None else "below"
        object.__setattr__(self, name, checks.number(f"StopWhen.{name}", getattr(self, name)))
        for dim in ("node", "element", "axis", "row", "column"):
            if getattr(self, dim) is not None and dim not in self._dims:
                raise InputError(f"StopWhen.{dim}: expected with a variable that has it, got {self.variable!r}")
        if self.axis is not None:
            checks.choice("StopWhen.axis", self.axis, AXES)

    @property
    def is_function(self) -> bool:
        return callable(self.variable)

    @property
    def _dims(self) -> tuple[str, ...]:
        return SCHEMA[str(self.variable)].dims[1:]

    def check_against(self, elements: int) -> None:
        """Refuse components that a string of so many elements does not have."""
        for dim in () if self.is_function else self._dims:
            index, size = getattr(self, dim), sizes(elements, 1)[dim]
            if isinstance(index, int) and not -size <= index < size:
                checks.refuse(f"StopWhen.{dim}", f"a whole number from {-size} to {size - 1}", index)

    def margins(self, values: Mapping[str, data.Array]) -> data.Array:
        """How far beyond its limit the condition is at each moment; positive where it is met."""
        if not isinstance(self.variable, str):
            return np.array([self._answer(Instant(values, row)) for row in range(len(values["time"]))])
        x = values[self.variable]
        for dim in reversed(self._dims):
            index = getattr(self, dim)
            if index is not None:
                place = AXES.index(index) if dim == "axis" else index
                x = np.take(x, place, axis=1 + self._dims.index(dim))
                x = np.expand_dims(x, 1 + self._dims.index(dim))
        sign = -1.0 if self.above is None else 1.0
        limit: Any = self.below if self.above is None else self.above
        return np.asarray((sign * (x - limit)).reshape(len(x), -1).max(axis=1))

    def _answer(self, now: Instant) -> float:
        assert callable(self.variable)
        answer = self.variable(now)
        if isinstance(answer, bool | np.bool_):
            return 1.0 if answer else -1.0
        return checks.number("StopWhen: the function's answer", answer)

    def sentence(self) -> str:
        """The condition in words."""
        if not isinstance(self.variable, str):
            return f"the condition {getattr(self.variable, '__qualname__', 'of a function')} is met"
        chosen = [f"{dim} {getattr(self, dim)}" for dim in self._dims if getattr(self, dim) is not None]
        where = f" ({', '.join(chosen)})" if chosen else ""
        side, limit = ("above", self.above) if self.above is not None else ("below", self.below)
        unit = SCHEMA[self.variable].units
        return f"{self.variable}{where} is {side} {limit:g}{'' if unit == '1' else ' ' + unit}"


class Watch:
    """Marches a pendulum step by step until a condition is met."""

    def __init__(self, conditions: Sequence[StopWhen], elements: int) -> None:
        self.conditions = tuple(conditions)
        self.met: StopWhen | None = None
        self._names = {str(c.variable) for c in self.conditions if not c.is_function}
        if any(c.is_function for c in self.conditions):
            self._names = set(SCHEMA)
        for condition in self.conditions:
            checks.instance("stop", condition, StopWhen)
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
        if stepper.takes_torque:
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
