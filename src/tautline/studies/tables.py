"""Designs that the user brings: a CSV file with keys in its first row, or columns from Python."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.studies import keys
from tautline.studies.keys import Key
from tautline.studies.parameters import Values, as_array


def from_file(path: Path) -> dict[str, Values]:
    """Columns of a CSV file by key."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file)
            names = [name.strip() for name in next(rows, [])]
            cells: list[list[str]] = [[] for _ in names]
            for row in rows:
                if not row:
                    continue
                if len(row) != len(names):
                    raise InputError(
                        f"{path}:{rows.line_num}: expected {len(names)} values, one for each key of the first row, "
                        f"got {len(row)}"
                    )
                for column, cell in zip(cells, row, strict=True):
                    column.append(cell.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"{path}:1: expected every key once, got {', '.join(names)}")
    return {name: _numbers(column) for name, column in zip(names, cells, strict=True)}


def _numbers(cells: list[str]) -> Values:
    """Whole numbers, numbers or truth values if all cells are such, else text."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(cells, dtype=kind)
        except (ValueError, OverflowError):
            continue
    if set(cells) <= {"true", "false"}:
        return np.array([cell == "true" for cell in cells])
    return np.array(cells, dtype=object)


def from_columns(table: Any) -> dict[str, Values]:
    """Of a mapping of columns, or of anything that has columns by name as pandas and polars do."""
    names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", []))
    if not names:
        checks.refuse("table", "columns by key: a mapping or a data frame", table)
    found = {str(name): as_array(np.asarray(table[name]).tolist()) for name in names}
    for name, column in found.items():
        if column.ndim != 1:
            raise InputError(f"table[{name!r}]: expected a column of single values, got shape {column.shape}")
    return found


def checked(table: Mapping[str, Values], source: str, to_si: Callable[[Key, Any], Any]) -> dict[str, Values]:
    """In SI, each distinct text and the extremes of the numbers read as the scenario would."""
    lengths = {len(column) for column in table.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError(f"{source}: expected columns of one length with something in them, got {sorted(lengths)}")
    return {name: _column_in_si(name, column, source, to_si) for name, column in table.items()}


def _column_in_si(name: str, column: Values, source: str, to_si: Callable[[Key, Any], Any]) -> Values:
    key = keys.parse(name)
    if column.dtype.kind == "O":
        distinct, places = np.unique(column.astype(str), return_inverse=True)
        return as_array([to_si(key, text) for text in distinct.tolist()])[places]
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise InputError(f"{source}: {name}: expected finite numbers, got {column[~np.isfinite(column)][0]}")
    ends = [to_si(key, value) for value in (column.min().item(), column.max().item())]
    return column.astype(np.float64) if isinstance(ends[0], float) else column
