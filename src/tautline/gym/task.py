"""A task: what an agent commands and observes of a case, for how long, and what it is rewarded for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.objectives import Objective
from tautline.model import checks
from tautline.model.command import Command, Torque
from tautline.model.expressions import TIME, Bound, Parts, bind, parts_of_system, read
from tautline.model.system.case import Case
from tautline.units import shown

Range = tuple[float, float]


class Action(NamedTuple):
    """A number of the command of a line, between two limits."""

    line: str
    field: str
    low: float
    high: float

    def value(self, x: Any) -> Any:
        """The number for an action from -1 to 1."""
        return self.low + 0.5 * (np.clip(x, -1.0, 1.0) + 1.0) * (self.high - self.low)


class Observation(NamedTuple):
    """A variable, or one component of it, between two limits."""

    name: str
    of: Bound | None  # None for the time
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Task:
    """Checked description of an environment; arguments as of `CaseEnv`."""

    case: Case
    actions: tuple[Action, ...]
    observations: tuple[Observation, ...]
    reward: Any
    interval: float
    randomize: dict[str, Range]
    failure: float

    @property
    def names(self) -> set[str]:
        """Variables of results that have to be computed."""
        wanted = set(self.reward.names) if isinstance(self.reward, Objective) else set()
        return wanted.union(*(x.of.needs for x in self.observations if x.of is not None))

    def bounds(self) -> tuple[Array, Array]:
        """Limits of the observations."""
        return np.array([x.low for x in self.observations]), np.array([x.high for x in self.observations])

    def commands(self, action: Any) -> dict[str, Command]:
        """Commands by line for an action."""
        given: dict[str, dict[str, float]] = {}
        for own, x in zip(self.actions, np.asarray(action, dtype=np.float64), strict=True):
            given.setdefault(own.line, {})[own.field] = float(own.value(x))
        return {line: dataclasses.replace(self.case.commands[line], **fields) for line, fields in given.items()}

    def drawn(self, rng: np.random.Generator) -> dict[str, float]:
        """Values of the keys that are randomized."""
        return {key: float(rng.uniform(*limits)) for key, limits in self.randomize.items()}

    def rewarded(self, before: dict[str, Any], after: dict[str, Any], values: Any) -> float:
        """Reward of a step, from observations before and after it; `values` gives variables of both for objectives."""
        if isinstance(self.reward, Objective):
            return float(self.reward(values()))
        found = self.reward(before, after)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InputError(f"reward: expected a function that gives a number, got {shown(found)} from it") from None


def task_of(
    case: Case,
    actions: Mapping[str, Range],
    observations: Mapping[str, Range],
    reward: Any,
    interval: float | None,
    randomize: Mapping[str, Range] | None,
    failure: float,
) -> Task:
    """Check the arguments of an environment."""
    checks.instance("case", case, Case)
    own = tuple(_action(case, key, limits) for key, limits in checks.mapping("actions", actions, "limits").items())
    if not own:
        raise InputError("actions: expected at least one key of a command, got none")
    parts = parts_of_system(case.meshed().system)
    seen = tuple(
        Observation(name, _variable(name, parts), *_limits(f"observations[{name!r}]", limits))
        for name, limits in checks.mapping("observations", observations, "limits").items()
    )
    if not seen:
        raise InputError("observations: expected at least one variable, got none")
    if not callable(reward) or isinstance(reward, type):
        checks.refuse("reward", "an objective such as -tl.objectives.Integral('power'), or a function", reward)
    if isinstance(reward, Objective):
        if reward.differences(parts) > 1:  # a step has two samples
            raise InputError("reward: expected rates of variables over a step, got a rate of a rate")
        reward = reward.of(parts)
    every = case.run.interval() if interval is None else checks.positive("interval", interval, "s")
    checks.whole_ratio("run.duration", case.run.duration, "interval", every)
    drawn = {key: _limits(f"randomize[{key!r}]", limits) for key, limits in (randomize or {}).items()}
    for key, limits in drawn.items():
        for value in limits:
            case.with_({key: value})  # refuses what there is not
    return Task(case, own, seen, reward, every, drawn, checks.finite("failure", failure, "1"))


def _variable(name: str, parts: Parts) -> Bound | None:
    """Expression that is observed by a name; None for the time."""
    if name == TIME:
        return None
    found = bind(read("observations", name), parts).single()
    if found.has_differences:
        checks.refuse("observations", "variables of one moment", name)
    return found


def _limits(name: str, value: Any) -> Range:
    low, high = checks.array(name, value, (2,), "1").tolist()
    if not low < high or not math.isfinite(high - low):
        checks.refuse(name, "two limits, the lower one first", value)
    return low, high


def _action(case: Case, name: str, limits: Range) -> Action:
    key = case.key(name)
    line = key.path[1] if len(key.path) == 3 and key.path[0] == "lines" and key.path[2] == "command" else None
    if line is None or line not in case.commands:
        raise InputError(f"actions: expected keys of commands such as 'command.torque', got {name!r}")
    command = case.commands[line]
    if key.components or not isinstance(getattr(command, key.name, None), float):
        plain = [x for x in vars(command) if isinstance(getattr(command, x), float)]
        raise InputError(f"actions: expected a single number of the command ({', '.join(plain)}), got {name!r}")
    return Action(line, key.name, *_limits(f"actions[{name!r}]", limits))


def is_torque(task: Task) -> bool:
    """Whether the only action is a constant torque."""
    return len(task.actions) == 1 and isinstance(task.case.commands[task.actions[0].line], Torque)
