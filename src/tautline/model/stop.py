"""Conditions of the user's that end a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, kinds
from tautline.model.kinds import Kind, WrongValueError, in_si
from tautline.model.wording import near
from tautline.schema import AXES, CHAIN_SCHEMA, SCHEMA, Layout
from tautline.units import shown, to_si

_COMPONENTS = ("body", "line", "node", "element", "axis", "row", "column")
# Components that have names.
_NAMED = ("body", "line", "axis")
# Variables of the results of pendulums and systems.
VARIABLES = SCHEMA | CHAIN_SCHEMA


class Instant(Mapping[str, Any]):
    """Variables of the results at one moment, by name, and the time."""

    def __init__(self, values: Mapping[str, Array], row: int) -> None:
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
    above, below : float or str
        The run ends when the variable is above the one or below the other; one of them is given, in the unit of the
        variable or as text with a unit. Of several components it is enough that one is.
    node, element, row, column : int, optional
        Which component of a variable that has several; negative ones count from the body's end.
    body, string : str, optional
        Of a system: which body or string, and of which string the node or element is counted.
    axis : {"x", "y", "z"}, optional
        Which component of a vector; z points down.
    """

    variable: str | Callable[[Instant], Any]
    above: Any = None
    below: Any = None
    node: int | None = None
    element: int | None = None
    axis: str | None = None
    row: int | None = None
    column: int | None = None
    body: str | None = None
    line: str | None = None

    def __post_init__(self) -> None:
        if self.is_function:
            given = [f.name for f in dataclasses.fields(self)[1:] if getattr(self, f.name) is not None]
            if given:
                raise InputError(f"StopWhen.{given[0]}: expected with the name of a variable, got it with a function")
            return
        if not isinstance(self.variable, str) or self.variable not in VARIABLES:
            raise InputError(
                "StopWhen.variable: expected a variable of the results by its name, such as 'reel_speed', and its "
                f"limit as above or below, got {shown(self.variable)}{near(self.variable, VARIABLES)}"
            )
        if (self.above is None) == (self.below is None):
            raise InputError(
                "StopWhen: expected either above or below, got " + ("neither" if self.above is None else "both")
            )
        name = "above" if self.below is None else "below"
        limit = in_si(f"StopWhen.{name}", getattr(self, name), unit_of(str(self.variable)))
        object.__setattr__(self, name, checks.number(f"StopWhen.{name}", limit))
        for dim in _COMPONENTS:
            given = getattr(self, dim)
            if given is not None and dim not in components(str(self.variable)):
                raise InputError(f"StopWhen.{dim}: expected with a variable that has it, got {self.variable!r}")
            if dim in ("body", "line") and given is not None:
                checks.instance(f"StopWhen.{dim}", given, str)
            elif dim not in _NAMED and given is not None:
                checks.whole(f"StopWhen.{dim}", given, -checks.MOST_STEPS, checks.MOST_STEPS)
        if self.axis is not None:
            checks.choice("StopWhen.axis", self.axis, AXES)

    @property
    def is_function(self) -> bool:
        return callable(self.variable)

    def to_keys(self) -> dict[str, Any]:
        """Keys of a file that give the condition; a function by its name, which cannot be read back."""
        if self.is_function:
            return {"variable": self.sentence()}
        return {f.name: x for f in dataclasses.fields(self) if (x := getattr(self, f.name)) is not None}

    def check_against(self, layout: Layout) -> None:
        """Refuse a variable or components that results of this layout do not have."""
        if self.is_function:
            return
        known = list(layout.variables)
        if self.variable not in known:
            checks.refuse("StopWhen.variable", "a variable of these results", self.variable, near(self.variable, known))
        dims = layout.variables[str(self.variable)].dims
        if self.line is not None and not {"line", "node", "element"} & set(dims):
            raise InputError(f"StopWhen.line: expected with a variable that has it, got {self.variable!r}")
        for dim in ("body", "line"):
            name, names = getattr(self, dim), layout.names.get(dim, [])
            if name is not None and name not in names:
                expected = f"one of {', '.join(map(repr, names))}" if names else "none for a pendulum"
                checks.refuse(f"StopWhen.{dim}", expected, name, near(name, names))
        for dim in dims:
            index, size = getattr(self, dim, None), layout.sizes(0)[dim]
            if self.line is not None and dim in ("node", "element"):
                span = layout.spans[self.line][dim]
                size = span.stop - span.start
            if isinstance(index, int) and not -size <= index < size:
                checks.refuse(f"StopWhen.{dim}", f"a whole number from {-size} to {size - 1}", index)

    def margins(self, values: Mapping[str, Array], layout: Layout) -> Array:
        """How far beyond its limit the condition is at each moment; positive where it is met."""
        if not isinstance(self.variable, str):
            return np.array([self._answer(Instant(values, row)) for row in range(len(values["time"]))])
        x, dims = values[self.variable], layout.variables[self.variable].dims
        for place in reversed(range(1, len(dims))):  # from the last, so that the places of the others stay
            dim = dims[place]
            index = getattr(self, dim)
            if self.line is not None and dim in ("node", "element"):
                x = np.take(x, np.arange(layout.lengths[dim])[layout.spans[self.line][dim]], axis=place)
            if index is not None:
                names = AXES if dim == "axis" else layout.names.get(dim, [])
                x = np.take(x, names.index(index) if dim in _NAMED else index, axis=place)
        sign = -1.0 if self.above is None else 1.0
        limit = self.below if self.above is None else self.above
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
            name = getattr(self.variable, "__name__", "<lambda>")
            return "the condition of a function is met" if name == "<lambda>" else f"the condition {name} is met"
        chosen = [f"{dim} {getattr(self, dim)}" for dim in _COMPONENTS if getattr(self, dim) is not None]
        where = f" ({', '.join(chosen)})" if chosen else ""
        side, limit = ("above", self.above) if self.above is not None else ("below", self.below)
        unit = VARIABLES[self.variable].units
        return f"{self.variable}{where} is {side} {limit:g}{'' if unit == '1' else ' ' + unit}"


def components(variable: str) -> set[str]:
    """What may be chosen of a variable, of pendulums and of systems."""
    dims = {dim for schema in (CHAIN_SCHEMA, SCHEMA) if variable in schema for dim in schema[variable].dims}
    return dims | ({"line"} if dims & {"node", "element"} else set())


def unit_of(variable: str) -> str:
    """Unit of a variable of the results, as files write it; empty for a plain number."""
    up: list[str] = []
    down: list[str] = []
    for word in VARIABLES[variable].units.split():
        power = word.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        name, exponent = word.removesuffix(power), int(power or 1)
        if name:
            (up if exponent > 0 else down).append(name + (f"^{abs(exponent)}" if abs(exponent) > 1 else ""))
    return "/".join(["*".join(up), *down])


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
        properties: dict[str, Any] = {
            "variable": {"enum": list(VARIABLES)},
            "above": limit,
            "below": limit,
            **{name: {"type": "string" if name in _NAMED else "integer"} for name in _COMPONENTS},
            "axis": {"enum": AXES},
        }
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
    known = ("variable", "above", "below", *_COMPONENTS)
    for key in table:
        if key not in known:
            raise WrongValueError(f"no such key{near(key, known)}", (*place, str(key)))
    variable = table.get("variable")
    if not isinstance(variable, str) or variable not in VARIABLES:
        hint = near(variable, VARIABLES)
        raise WrongValueError(
            f"expected a variable of the results such as 'position', got {shown(variable)}{hint}", (*place, "variable")
        )
    for key in ("above", "below"):
        if isinstance(table.get(key), str):
            try:
                table[key] = to_si(table[key], unit_of(variable))
            except ValueError as error:
                raise WrongValueError(str(error), (*place, key)) from None
    try:
        return StopWhen(**table).to_keys()
    except InputError as error:
        raise WrongValueError(str(error), place) from None
