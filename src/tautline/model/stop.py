"""Conditions of the user's that end a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, kinds
from tautline.model.expressions import Expression, bind, parts_of_layout, rates_needed, read
from tautline.model.forms import WrongValueError
from tautline.model.kinds import Kind
from tautline.model.piecewise import as_floats
from tautline.model.wording import no_such
from tautline.schema import SCHEMA, Layout

# Of a condition in a file.
KEYS = ("variable", "above", "below")


# Variables of the results at one moment, by name, and the time.
Instant = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class StopWhen:
    """A condition that ends the run at the moment when it becomes true.

    Parameters
    ----------
    variable : str or callable
        A variable of the results or an expression of them, such as "reel_speed", "position[hoist, -1].z" or
        "norm(body_velocity[load])"; or a condition, such as "end_tension > '5 kN' and time > 2"; or a function that is
        called with the variables at one moment (a mapping from names to values, "time" among them) and is true, or
        positive, where the run is to end.
    above, below : float or str
        The run ends when the variable is above the one or below the other; one of them is given, in the unit of the
        variable or as text with a unit; none with a condition. Of several components it is enough that one is.
    """

    variable: str | Callable[[Instant], Any]
    above: Any = None
    below: Any = None
    _expression: Expression | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = [name for name in ("above", "below") if getattr(self, name) is not None]
        if self.is_function:
            if limits:
                raise InputError(f"StopWhen.{limits[0]}: expected with the name of a variable, got it with a function")
            return
        expression = read("StopWhen.variable", self.variable)
        if expression.is_condition:
            if limits:
                raise InputError(f"StopWhen.{limits[0]}: expected without a condition, got both")
        elif len(limits) != 1:
            raise InputError(f"StopWhen: expected either above or below, got {'both' if limits else 'neither'}")
        for name in limits:
            limit = expression.to_si(f"StopWhen.{name}", getattr(self, name))
            object.__setattr__(self, name, checks.number(f"StopWhen.{name}", limit))
        object.__setattr__(self, "_expression", expression)

    @property
    def is_function(self) -> bool:
        return callable(self.variable)

    def to_keys(self) -> dict[str, Any]:
        """Keys of a file that give the condition; a function by its name, which cannot be read back."""
        if self.is_function:
            return {"variable": self.sentence()}
        return {key: x for key in KEYS if (x := getattr(self, key)) is not None}

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables that it looks at; of a function they are not known."""
        return () if self._expression is None else rates_needed(self._expression)

    def margins_of(self, layout: Layout) -> Callable[[Mapping[str, Array]], Array]:
        """Function of the variables at some moments: how far beyond its limit the condition is at each.

        Positive where it is met; variables may carry derivatives. Refuses components that results of this layout do
        not have.
        """
        expression = self._expression
        if expression is None:
            return self._answers
        bound = bind(expression, parts_of_layout(layout))
        if bound.has_differences:
            raise InputError(
                "StopWhen.variable: expected a rate that is known at a moment, such as that of a position or of a "
                f"length, got {expression.text!r}"
            )
        sign, limit = (1.0, self.above or 0.0) if self.below is None else (-1.0, self.below)

        def margins(values: Mapping[str, Array]) -> Array:
            x = as_floats(bound.of(values))
            found: Array = (sign * (x - limit)).reshape(len(x), -1).max(axis=1)
            return found

        return margins

    def _answers(self, values: Mapping[str, Array]) -> Array:
        """Answers of the function at some moments."""
        moments = range(len(values["time"]))
        return np.array([self._answer({name: x[k] for name, x in values.items()}) for k in moments])

    def _answer(self, now: Instant) -> float:
        assert callable(self.variable)
        answer = self.variable(now)
        if isinstance(answer, bool | np.bool_):
            return 1.0 if answer else -1.0
        return checks.number("StopWhen: the function's answer", answer)

    def sentence(self) -> str:
        """The condition in words."""
        if not isinstance(self.variable, str):
            name = getattr(self.variable, "__name__", "<lambda>")
            return "the condition of a function is met" if name == "<lambda>" else f"the condition {name} is met"
        assert self._expression is not None
        if self._expression.is_condition:
            return f"{self.variable} holds"
        side, limit = ("above", self.above) if self.above is not None else ("below", self.below)
        unit = SCHEMA[self.variable].units if self.variable in SCHEMA else self._expression.unit
        return f"{self.variable} is {side} {limit:g}{'' if unit in ('1', '') else ' ' + unit}"


class Conditions(Kind):
    """A condition or a list of them; tables of a file."""

    def read(self, value: Any) -> Any:
        several = value if isinstance(value, (list, tuple)) else [value]
        return [_read_one(item, (str(k),) if several is value else ()) for k, item in enumerate(several)]

    def check(self, name: str, value: Any) -> Any:
        several = value if isinstance(value, (list, tuple)) else [value]
        found = [StopWhen(**item) if isinstance(item, dict) else item for item in several]
        for item in found:
            checks.instance(name, item, StopWhen)
        return tuple(found)

    def plain(self, value: Any) -> Any:
        return [condition.to_keys() for condition in value]

    def schema(self) -> dict[str, Any]:
        limit = {"type": ["number", "string"]}
        properties = {"variable": {"type": "string"}, "above": limit, "below": limit}
        table = {"type": "object", "properties": properties, "required": ["variable"], "additionalProperties": False}
        return {"type": "array", "items": table}

    def words(self) -> str:
        return "StopWhen or several"


def _read_one(value: Any, place: tuple[str, ...]) -> dict[str, Any]:
    """One condition of a file, its limit in SI."""
    if isinstance(value, StopWhen):
        if value.is_function:
            raise WrongValueError(
                "expected a condition on a variable, got a function, which only `simulate` takes", place
            )
        return value.to_keys()
    try:
        table = dict(kinds.section(value))
    except WrongValueError as error:
        raise WrongValueError(str(error), place) from None
    for key in table:
        if key not in KEYS:
            raise WrongValueError(no_such("key", key, KEYS), (*place, str(key)))
    if "variable" not in table:
        raise WrongValueError("missing; expected a variable of the results or an expression", (*place, "variable"))
    try:
        return StopWhen(**table).to_keys()
    except InputError as error:
        head, _, text = str(error).partition(": ")
        key = head.removeprefix("StopWhen").removeprefix(".")
        raise WrongValueError(text, (*place, key) if key else place) from None
