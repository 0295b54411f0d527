"""Fields that are constant, or follow a table over time or depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.forms import ROW, SCALAR, VECTOR, VECTORS, Form, WrongValueError, in_si
from tautline.model.kinds import Check, Kind, OrWord, Quantity, Way, plain
from tautline.model.piecewise import increasing, rows


class Over(NamedTuple):
    """Places of a table: their key and their unit."""

    key: str
    unit: str


TIMES = Over("times", "s")


class Table(Kind):
    """A number or a vector, or a pair (places, values) of lists.

    Parameters
    ----------
    unit : str
        Of the values.
    check : callable
        Of the constant, and of each number of a table.
    sentence : str
        What the field is.
    values : str
        The key that files give the values of a table by.
    over : Over
        What the table is over.
    vectors : bool
        Whether the values are vectors; a constant is then kept as a table with one entry, at 0.
    constant : bool
        Whether a constant will do.
    least : int
        How many entries a table must have.
    rule : callable, optional
        Of the whole table, by name and table.
    elsewhere : tuple of Over
        Other keys that files may give the places by.
    """

    def __init__(
        self,
        unit: str,
        check: Check,
        sentence: str,
        values: str,
        *,
        over: Over = TIMES,
        vectors: bool = False,
        constant: bool = True,
        least: int = 1,
        rule: Callable[[str, Any], None] | None = None,
        elsewhere: tuple[Over, ...] = (),
    ) -> None:
        self.unit, self._over, self._values, self._vectors = unit, over, values, vectors
        self._check, self._constant, self._least, self._rule = check, constant, least, rule
        self._form = VECTOR if vectors else SCALAR
        ways = tuple(self._way(place, sentence) for place in (over, *elsewhere))
        super().__init__(sentence, ways=ways, own_key=constant)

    def _way(self, over: Over, sentence: str) -> Way:
        places = Quantity(over.unit, increasing, f"{over.key.capitalize()} of a table, increasing.", ROW)
        form = VECTORS if self._vectors else ROW
        shape = (None, 3) if self._vectors else (None,)

        def numbers(name: str, value: Any, unit: str) -> Any:
            return checks.array(name, value, shape, unit)

        values = Quantity(self.unit, numbers, f"Over {over.key}: {sentence[0].lower()}{sentence[1:]}", form)

        def join(given: dict[str, Any]) -> Any:
            return given[over.key], given[self._values]

        def split(value: Any) -> dict[str, Any] | None:
            if not isinstance(value, tuple) or (self._vectors and self._constant and value[0] == (0.0,)):
                return None
            return {over.key: value[0], self._values: value[1]}

        return Way({over.key: places, self._values: values}, join, split)

    def read(self, value: Any) -> Any:
        try:
            return Quantity(self.unit, self._check, "", self._form).read(value)
        except WrongValueError as error:
            if isinstance(value, (list, tuple)) and any(isinstance(item, (list, tuple)) for item in value):
                raise WrongValueError(f"{error}; a table is given by {self._over.key} and {self._values}") from None
            raise

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.default is None:
            return None
        shown = self.unit.replace("*", " ")
        if not isinstance(value, (tuple, list)) or (self._vectors and len(value) != 2):
            if not self._constant:
                checks.refuse(name, f"a pair ({self._over.key}, {self._values})", value)
            constant = self._check(name, in_si(name, value, self.unit), shown)
            return ((0.0,), (constant,)) if self._vectors else constant
        if len(value) != 2:
            also = "a number or " if self._constant else ""
            checks.refuse(name, f"{also}a pair ({self._over.key}, {self._values})", value)
        first, second = f"{name}[0] ({self._over.key})", f"{name}[1] ({self._values})"
        places = increasing(first, in_si(first, value[0], self._over.unit), self._over.unit or "1", self._least)
        shape = (len(places), 3) if self._vectors else (len(places),)
        values = checks.array(second, in_si(second, value[1], self.unit), shape, shown)
        if not self._vectors:
            for number in values.tolist():
                self._check(second, number, shown)
        table = tuple(places.tolist()), rows(values) if self._vectors else tuple(values.tolist())
        if self._rule is not None:
            self._rule(name, table)
        return table

    def plain(self, value: Any) -> Any:
        constant = self._vectors and isinstance(value, tuple) and isinstance(value[0], tuple) and len(value[0]) == 1
        return plain(value[1][0] if constant else value)

    def schema(self) -> dict[str, Any]:
        return Quantity(self.unit, self._check, "", self._form).schema()

    def words(self) -> str:
        pair = f"({self._over.key}, {self._values})"
        return f"{self._form.words} or {pair}" if self._constant else pair


NATURAL = "natural"


class Ends(Kind):
    """A pair of numbers or vectors, for the first and the last entry of a table; or the word "natural" for one."""

    def __init__(self, unit: str, check: Check, sentence: str, form: Form = SCALAR) -> None:
        self.unit, self._form = unit, form
        zero: Any = (0.0, 0.0, 0.0) if form is VECTOR else 0.0
        keys: dict[str, Kind] = {
            key: OrWord(
                Quantity(unit, check, f'{sentence}: the {which} one, or "natural" for no acceleration there.', form),
                NATURAL,
                zero,
            )
            for key, which in (("start_velocity", "first"), ("end_velocity", "last"))
        }

        def join(given: dict[str, Any]) -> Any:
            return tuple(given.get(key, zero) for key in keys)

        def split(value: Any) -> dict[str, Any] | None:
            return dict(zip(keys, value, strict=True))

        self._kinds = keys
        super().__init__(
            f'{sentence}; "natural" for one at which the acceleration is 0.',
            ways=(Way(keys, join, split),),
            own_key=False,
        )

    def check(self, name: str, value: Any) -> Any:
        what = "two vectors" if self._form is VECTOR else "two numbers"
        if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
            checks.refuse(name, f"{what} ({self.unit}), at the first and at the last entry", value)
        ends = zip(self._kinds.items(), value, strict=True)
        return tuple(kind.check(f"{name}[{k}] ({key})", v) for k, ((key, kind), v) in enumerate(ends))

    def words(self) -> str:
        return "two vectors" if self._form is VECTOR else self._form.words


def spline_ends(velocities: Any, entries: Any) -> tuple[Any, Any]:
    """Conditions of a cubic spline at its ends, as SciPy has them: the first derivative, or the second one 0."""
    zero = np.zeros_like(entries[0])
    first, last = ((2, zero) if v == NATURAL else (1, np.array(v)) for v in velocities)
    return first, last


def later(table: Any, time: float) -> Any:
    """A table with later times; a constant as it is."""
    return (tuple(np.add(table[0], time).tolist()), table[1]) if isinstance(table, tuple) else table


def arrays(value: Any) -> tuple[Array, Array]:
    """A checked number or table as arrays; a constant is a table with one entry."""
    if isinstance(value, tuple):
        first, second = (np.stack(x) for x in value)
        return first, second
    return np.zeros(1), np.stack([value])  # which may carry derivatives
