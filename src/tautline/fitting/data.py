"""Measured series: from a CSV file, a DataFrame or arrays, in SI, each with its place in the results of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.export import Column, columns_of
from tautline.model import checks
from tautline.model.expressions import Bound, bind, parts_of_system
from tautline.model.expressions import read as read_expression
from tautline.model.forms import WrongValueError
from tautline.model.table_files import TIME, read_column, read_lines
from tautline.model.wording import near
from tautline.results.inputs import system_of
from tautline.units import factor_to_si, results_unit

if TYPE_CHECKING:
    import xarray as xr

SI = "SI"
_HOW = (
    'give them by units={"time": "s", "start_tension": "kN"}, by units="SI", or as keys ("start_tension", "kN"); a CSV '
    "file has them in its second line"
)


@dataclass(frozen=True)
class Measured:
    """One column of the data, without samples that are missing, in SI."""

    name: str  # in the data
    column: Column  # of results
    time: Array
    values: Array
    expression: Bound | None = None  # in the place of a column

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables of a run that it is compared with."""
        return (self.column.variable,) if self.expression is None else self.expression.needs

    def within(self, low: float, high: float) -> Measured:
        """Measurements from `low` to `high` (s)."""
        kept = (self.time >= low) & (self.time <= high)
        return replace(self, time=self.time[kept], values=self.values[kept])


def read(
    data: Any,
    run: xr.Dataset,
    units: Mapping[str, str] | str | None = None,
    columns: Sequence[str] | Mapping[str, str] | None = None,
) -> list[Measured]:
    """Series of the data, in the order of their columns.

    Parameters
    ----------
    data : path of a CSV file, pandas.DataFrame, or dict of arrays
    run : Dataset
        Any results of the case, which have the places of the columns.
    units : dict or "SI", optional
        Units by the names in the data, where the data do not have them.
    columns : list or dict, optional
        Columns to be used, all by default; a dict gives the column of results for each name in the data.
    """
    source = _CsvFile(Path(data)) if isinstance(data, str | os.PathLike) else _Arrays(data, units)
    if isinstance(source, _CsvFile) and units is not None:
        raise InputError("units: expected without a CSV file, which has them in its second line")
    wanted = _wanted(source.names, columns)
    if TIME not in source.names:
        raise InputError(f"data: expected a column time, got {_listed(source.names)}")
    time = source.column(TIME, "s")
    if np.isnan(time).any():
        raise InputError("data: expected a time for every sample, got rows without one")
    known = {column.name: column for column in columns_of(run)}
    found = []
    for name, result in wanted.items():
        column, expression = _place_of(result, known, run)
        values = source.column(name, column.units)
        if len(values) != len(time):
            raise InputError(f"data: expected as many values of {name} as times ({len(time)}), got {len(values)}")
        there = np.isfinite(values)
        if not there.any():
            raise InputError(f"data: expected some values of {name}, got missing samples only")
        order = np.argsort(time[there], kind="stable")
        found.append(Measured(name, column, time[there][order], values[there][order], expression))
    used = [x.column.name for x in found]
    twice = [name for k, name in enumerate(used) if name in used[:k]]
    if twice:
        raise InputError(f"columns: expected each column of results once, got {twice[0]} twice")
    return found


class _CsvFile:
    """Names in the first line, units in the second; empty cells are missing samples."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.names, self._units, self._lines = read_lines(path)
        except WrongValueError as error:
            raise InputError(str(error)) from None

    def column(self, name: str, unit: str) -> Array:
        """A column in SI, with NaN for what is missing."""
        place = self.names.index(name)
        try:
            return np.array(read_column(self.path, self._lines, place, self._units[place], unit, gaps=True))
        except WrongValueError as error:
            raise InputError(str(error)) from None


class _Arrays:
    """A DataFrame, or a mapping of arrays; keys are names, or pairs of name and unit."""

    def __init__(self, data: Any, units: Mapping[str, str] | str | None) -> None:
        if not hasattr(data, "items") or not len(data):
            raise InputError(f"data: expected a CSV file, a DataFrame or a dict of arrays, got {type(data).__name__}")
        if units is not None and units != SI and not isinstance(units, Mapping):
            raise InputError(f'units: expected a dict such as {{"time": "s"}}, or "SI", got {units!r}')
        self._values: dict[str, Any] = {}
        self._units: dict[str, str | None] = {}
        for key, values in data.items():
            name, unit = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
            given = units.get(name) if isinstance(units, Mapping) else None
            self._values[str(name)], self._units[str(name)] = values, given or unit
        self._in_si = units == SI
        self.names = list(self._values)

    def column(self, name: str, unit: str) -> Array:
        """A column in SI, with NaN for what is missing."""
        given = unit if self._in_si else self._units[name]
        if given is None:
            raise InputError(f"data: expected a unit of {name}, such as {unit}; {_HOW}")
        try:
            factor = factor_to_si(given, unit)
        except ValueError as error:
            raise InputError(f"data: unit of {name}: {error}") from None
        try:
            values = np.array(self._values[name], dtype=np.float64)
        except (TypeError, ValueError):
            values = np.zeros((0, 0))
        if values.ndim != 1 or np.isinf(values).any():
            raise InputError(f"data: expected a row of finite numbers for {name}, NaN where a sample is missing")
        return factor * values


def _wanted(names: Sequence[str], columns: Any) -> dict[str, str]:
    """Columns of results by the names in the data."""
    if columns is None:
        wanted = {name: name for name in names if name != TIME}
    elif isinstance(columns, Mapping):
        wanted = {str(name): str(result) for name, result in columns.items()}
    elif isinstance(columns, str):
        raise InputError(f"columns: expected a list of names, got the text {columns!r}")
    else:
        wanted = {name: name for name in checks.names("columns", columns)}
    for name in wanted:
        if name not in names:
            raise InputError(f"columns: expected columns of the data ({_listed(names)}), got {name}{near(name, names)}")
    if not wanted:
        raise InputError(f"data: expected columns beside time, got {_listed(names)}")
    return wanted


def _place_of(name: str, known: Mapping[str, Column], run: xr.Dataset) -> tuple[Column, Bound | None]:
    """Column of results, or an expression of them such as norm(body_velocity[load]).

    The only line and the only body need not be named: start_tension, attitude[0,0]. Places may be counted, nodes and
    elements also from the end: position[-1,x].
    """
    if name in known:
        return known[name], None
    if not re.fullmatch(r"\w+(\[[^\]]*\])?", name.strip()):
        read = read_expression(f"columns[{name!r}]", name)
        bound = bind(read, parts_of_system(system_of(run.attrs))).single()
        return Column(name, name, (), results_unit(read.unit)), bound
    variable, bracket, inside = name.replace(" ", "").partition("[")
    own = [column for column in known.values() if column.variable == variable]
    parts = inside.removesuffix("]").split(",") if bracket else []
    if own:
        dims = [str(dim) for dim in run[variable].dims[1:]]
        if len(parts) == len(dims) - 1 and dims[0] in ("line", "body") and run.sizes[dims[0]] == 1:
            parts = ["0", *parts]
        places = [_number_of(part, dim, run) for part, dim in zip(parts, dims, strict=False)]
        for column in own:
            if len(parts) == len(dims) and column.index == tuple(places):
                return column, None
        raise InputError(f"data: expected a component of {variable} such as {own[-1].name}, got {name}")
    examples = [column for column in known if column.partition("[")[0] in ("start_tension", "position")][:2]
    raise InputError(
        f"data: expected columns named as those of a run, such as {' or '.join(examples)}, got {name}"
        f"{near(variable, list(map(str, run.data_vars)))}; "
        "`columns` (--column) chooses columns, and gives them other names"
    )


def _number_of(part: str, dim: str, run: xr.Dataset) -> int:
    """Place along a dimension, from its name or from a number; -1 - size if there is none."""
    size = run.sizes[dim]
    if dim in run.coords and part in run[dim].values.tolist():
        return int(run[dim].values.tolist().index(part))
    if not re.fullmatch(r"-?\d+", part):
        return -1 - size
    return int(part) + (size if int(part) < 0 else 0)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(str, names)) or "none"
