"""Forms of numbers: one, a vector, a matrix or lists of them, in SI or as text with a unit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model import checks
from tautline.units import WORDS, percentage_hint, shown, to_si


class WrongValueError(ValueError):
    """A value is not what its key takes. The sentence says why, the place which item of a list it is."""

    def __init__(self, sentence: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.place = place


class Form(NamedTuple):
    """Form of a list of numbers."""

    what: str
    size: int | None
    plain: str
    with_units: str
    words: str
    item: Form | None = None

    def expected(self, unit: str) -> str:
        """In words; `unit` is that of the numbers, empty if they have none."""
        if not unit:
            return f"{self.what}, each a number, such as {self.plain}"
        return f"{self.what}, each {WORDS[unit]}, such as {self.plain} or {self.with_units.format(unit=unit)}"


SCALAR = Form("", None, "", "", "float")
PAIR = Form("a list of two", 2, "[3, 1]", "['3 {unit}', 1]", "two floats", SCALAR)
VECTOR = Form("a list of three", 3, "[3, 0, 0]", "['3 {unit}', 0, 0]", "three floats", SCALAR)
ROW = Form("a list", None, "[0, 3]", "['0 {unit}', '3 {unit}']", "floats", SCALAR)
ROWS = Form("a list of lists", None, "[[0, 3], [1, 3]]", "[['0 {unit}', 3], [1, 3]]", "rows of floats", ROW)
VECTORS = Form(
    "a list of vectors", None, "[[0, 0, 0], [3, 0, 0]]", "[[0, 0, 0], ['3 {unit}', 0, 0]]", "vectors", VECTOR
)
MATRIX = Form(
    "three rows of three", 3, "[[3, 0, 0], [0, 3, 0], [0, 0, 3]]", "[['3 {unit}', 0, 0], ...]", "3 x 3 floats", VECTOR
)


def read_numbers(value: Any, form: Form, unit: str) -> Any:
    """Numbers of a file in SI; plain numbers are, text has a unit."""
    if form.item is None:
        try:
            return to_si(value, unit) if unit else _plain_number(value)
        except ValueError as error:
            raise WrongValueError(str(error)) from None
    if not isinstance(value, (list, tuple)) or form.size not in (None, len(value)):
        raise WrongValueError(
            f"expected {form.expected(unit)}, got {shown(list(value) if isinstance(value, tuple) else value)}"
        )
    items = []
    for k, item in enumerate(value):
        try:
            items.append(read_numbers(item, form.item, unit))
        except WrongValueError as error:
            raise WrongValueError(str(error), (str(k), *error.place)) from None
    return items


def _plain_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, got {shown(value)}{percentage_hint(value)}")
    if (isinstance(value, int) and abs(value) > checks.LARGEST) or not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {shown(value)}")
    return float(value)


def in_si(name: str, value: Any, unit: str) -> Any:
    """Value from Python, with text such as "25 m" turned into numbers; anything else stays as it is."""
    if type(value) is float or not unit:
        return value
    if isinstance(value, str):
        try:
            return to_si(value, unit)
        except ValueError as error:
            raise InputError(f"{name}: {error}") from None
    if isinstance(value, (list, tuple)) and any(isinstance(item, (str, list, tuple)) for item in value):
        return [in_si(f"{name}[{k}]", item, unit) for k, item in enumerate(value)]
    return value


def schema_of(form: Form, unit: str) -> dict[str, Any]:
    if form.item is None:
        return {"type": ["number", "string"], "unit": unit} if unit else {"type": "number"}
    found: dict[str, Any] = {"type": "array", "items": schema_of(form.item, unit)}
    return found if form.size is None else {**found, "minItems": form.size, "maxItems": form.size}
