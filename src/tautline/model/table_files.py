"""Tables that scenario files take from CSV files: read once, and from then on a part of the case."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tautline import durable
from tautline.model.checks import finite
from tautline.model.forms import ROW, VECTORS, WrongValueError, read_numbers
from tautline.model.kinds import Kind, Quantity
from tautline.model.wording import both, either
from tautline.units import factor_to_si, shown

TIME = "time"
TIMES = "times"
NAME = "name"
FILE = "file"  # the key


class Values(NamedTuple):
    """Values of a table beside times: the key of the values, their columns and unit."""

    key: str
    columns: tuple[str, ...]
    unit: str

    @property
    def vectors(self) -> bool:
        """Whether the columns are components, of which some may be left out."""
        return len(self.columns) > 1


class TableFile(Kind):
    """Name of a CSV file; the value that is kept has its name and all of its numbers.

    Parameters
    ----------
    *values : Values
        What a table may hold: one of these.
    """

    def __init__(self, *values: Values) -> None:
        columns = either(either(v.columns) + (" (or several)" if v.vectors else "") for v in values)
        super().__init__(
            f"CSV file beside the scenario, in place of {TIMES} and values: names in its first line, `{TIME}` and "
            f"{columns}; units in its second.",
            None,
        )
        self.values = values
        self.stands_for = {TIMES, *(v.key for v in values)}  # keys

    def read(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._carried(value)
        if not isinstance(value, str) or not value:
            raise WrongValueError(f"expected the name of a CSV file, got {shown(value)}")
        return self._from_file(Path(value))

    def _carried(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Value that was read before: a name, and the table itself."""
        held = next((v for v in self.values if v.key in value), None)
        if held is None or set(value) != {NAME, TIMES, held.key} or not isinstance(value[NAME], str):
            keys = [NAME, TIMES, either(v.key for v in self.values)]
            raise WrongValueError(f"expected the name of a CSV file, or {both(keys)} of one, got {both(list(value))}")
        form = VECTORS if held.vectors else ROW
        table = {TIMES: (ROW, "s"), held.key: (form, held.unit)}
        return {NAME: value[NAME], **{key: read_numbers(value[key], *kind) for key, kind in table.items()}}

    def _from_file(self, path: Path) -> dict[str, Any]:
        names, units, lines = read_lines(path)
        held = [v for v in self.values if any(column in names for column in v.columns)]
        if TIME not in names or len(held) != 1:
            wanted = either(either(v.columns) for v in self.values)
            known = [name for name in (TIME, *(c for v in self.values for c in v.columns)) if name in names]
            came = f"only {both(known)} of these" if known else "none of these"
            raise WrongValueError(f"{printed(path)}:1: expected columns {TIME} and {wanted}, got {came}")
        (found,) = held
        columns = {
            name: read_column(path, lines, names.index(name), units[names.index(name)], unit)
            for name, unit in ((TIME, "s"), *((column, found.unit) for column in found.columns))
            if name in names
        }
        count = len(columns[TIME])
        parts = [columns.get(name, [0.0] * count) for name in found.columns]
        rows = [list(row) for row in zip(*parts, strict=True)] if found.vectors else parts[0]
        return {NAME: path.name, TIMES: columns[TIME], found.key: rows}

    def check(self, name: str, value: Any) -> Any:
        return value

    def schema(self) -> dict[str, Any]:
        properties = {
            NAME: {"type": "string"},
            TIMES: Quantity("s", finite, "", ROW).schema(),
            **{v.key: Quantity(v.unit, finite, "", VECTORS if v.vectors else ROW).schema() for v in self.values},
        }
        return {"anyOf": [{"type": "string"}, {"type": "object", "properties": properties}]}

    def words(self) -> str:
        return "str"


def expanded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a section with the table of its file in place of the file."""
    found = dict(values)
    table = found.pop(FILE, None)
    return found if table is None else {**found, **{key: x for key, x in table.items() if key != NAME}}


def printed(path: Path) -> str:
    """A path in a message, without characters that would break it."""
    return repr(str(path))[1:-1]


def read_lines(path: Path) -> tuple[list[str], list[str], list[tuple[int, list[str]]]]:
    """Names, units, and lines of numbers with where they are.

    Messages do not quote what may be no table: a scenario of somebody else may name any file that its user can read.
    """
    try:
        text = durable.read_text(path)
        rows = enumerate(csv.reader(io.StringIO(text, newline="")), 1)
        lines = [(k, [cell.strip() for cell in row]) for k, row in rows if row]
    except UnicodeDecodeError:
        raise WrongValueError(f"{printed(path)}: expected a CSV file, got no text in UTF-8") from None
    except (OSError, ValueError, csv.Error) as error:  # a name with a null character is a ValueError
        raise WrongValueError(f"{printed(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(lines) < 3:
        raise WrongValueError(f"{printed(path)}: expected names, units and numbers below, got {len(lines)} lines")
    (_, names), (_, units), *numbers = lines
    if len(set(names)) != len(names) or len(units) != len(names):
        came = "a name again" if len(set(names)) != len(names) else f"{len(units)} unit{'s' * (len(units) != 1)}"
        raise WrongValueError(
            f"{printed(path)}: expected {len(names)} names, each once, and a unit for each, got {came}"
        )
    for number, row in numbers:
        if any(row[len(names) :]):
            raise WrongValueError(
                f"{printed(path)}:{number}: expected a number for each of {len(names)} names, got {len(row)} cells; "
                "decimals have a point"
            )
    return names, units, numbers


def read_column(
    path: Path, lines: list[tuple[int, list[str]]], place: int, given: str, unit: str, gaps: bool = False
) -> list[float]:
    """A column in SI; with `gaps`, cells may be empty, which gives NaN."""
    try:
        float(given)
    except ValueError:
        numeric = False
    else:
        numeric = unit != "1"
    if numeric or not given:
        came = f"the number {given}" if given else "nothing"
        raise WrongValueError(
            f"{printed(path)}:2: expected units such as {unit}, got {came}; the second line has a unit for each name"
        )
    try:
        factor = factor_to_si(given, unit)
    except ValueError as error:
        raise WrongValueError(f"{printed(path)}:2: {error}") from None
    numbers = []
    for number, row in lines:
        cell = row[place] if place < len(row) else ""
        try:
            numbers.append(factor * float(cell or ("nan" if gaps else cell)))
            fits = math.isfinite(numbers[-1]) or (gaps and math.isnan(numbers[-1]))
        except ValueError:
            fits = False
        if not fits:
            came = shown(cell) if place < len(row) else "nothing"
            raise WrongValueError(
                f"{printed(path)}:{number}: expected a finite number in column {place + 1}, got {came}"
            )
    return numbers
