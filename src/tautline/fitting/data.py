"""Measured series: from a CSV file, a DataFrame or arrays, in SI, each with its place in the results of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.export import Column, columns_of, spelled_dims
from tautline.model import checks
from tautline.model.kinds import WrongValueError
from tautline.model.table_files import TIME, read_column, read_lines
from tautline.model.wording import near
from tautline.units import factor_to_si

if TYPE_CHECKING:
    import xarray as xr

SI = "SI"
_HOW = (
    'give them by units={"time": "s", "guide_tension": "kN"}, by units="SI", or as keys ("guide_tension", "kN"); a CSV '
    "file has them in its second line"
)


@dataclass(frozen=True)
class Measured:
    """One column of the data, without samples that are missing, in SI."""

    name: str  # in the data
    column: Column  # of results
    time: Array
    values: Array

    def within(self, low: float, high: float) -> Measured:
        """What was measured from `low` to `high` (s)."""
        kept = (self.time >= low) & (self.time <= high)
        return Measured(self.name, self.column, self.time[kept], self.values[kept])


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
        column = _place_of(result, known, run)
        values = source.column(name, column.units)
        if len(values) != len(time):
            raise InputError(f"data: expected as many values of {name} as times ({len(time)}), got {len(values)}")
        there = np.isfinite(values)
        if not there.any():
            raise InputError(f"data: expected some values of {name}, got missing samples only")
        order = np.argsort(time[there], kind="stable")
        found.append(Measured(name, column, time[there][order], values[there][order]))
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


def _place_of(name: str, known: Mapping[str, Column], run: xr.Dataset) -> Column:
    """Column of results; nodes and elements may be counted from the end, position[-1,x]."""
    variable, bracket, inside = name.replace(" ", "").partition("[")
    parts = inside.removesuffix("]").split(",") if bracket else []
    sizes = [run.sizes[dim] for dim in spelled_dims(run, variable)] if variable in run.data_vars else []
    if len(parts) == len(sizes):
        parts = [str(n + int(x)) if re.fullmatch(r"-\d+", x) else x for x, n in zip(parts, sizes, strict=True)]
    spelled = f"{variable}[{','.join(parts)}]" if parts else variable
    if spelled in known:
        return known[spelled]
    own = [column for column in known if column.partition("[")[0] == variable]
    if own:
        raise InputError(f"data: expected a component of {variable} such as {own[-1]}, got {name}")
    examples = [column for column in ("guide_tension", "position[0,x]") if column in known] or list(known)[-1:]
    raise InputError(
        f"data: expected columns named as those of a run, such as {' or '.join(examples)}, got {name}"
        f"{near(variable, list(map(str, run.data_vars)))}; "
        "`columns` (--column) chooses columns, and gives them other names"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(str, names)) or "none"
