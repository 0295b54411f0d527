"""Designs that the user brings: a CSV file with keys in its first row, or columns from Python."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline import durable
from tautline.errors import InputError
from tautline.model import checks, keys
from tautline.model.keys import Key
from tautline.studies.definition.parameters import Values, as_array

# Bytes of a file with a design: ten million values.
LARGEST_TABLE = 2**28
LONGEST_HEAD = 2**20


def from_file(path: Path) -> dict[str, Values]:
    """Columns of a CSV file by key."""
    import pandas as pd  # comes with xarray; a million rows without a Python object for every cell

    try:
        content = io.BytesIO(durable.read_input(path, LARGEST_TABLE))
        first = content.readline(LONGEST_HEAD).decode("utf-8-sig")
        names = [name.strip() for name in next(csv.reader([first]), [])]
        content.seek(0)
        frame = pd.read_csv(content, encoding="utf-8-sig", skipinitialspace=True, keep_default_na=False, na_values=[""])
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path}: expected a table with keys in its first row: {error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"{path}:1: expected every key once, got one again")
    if not all(keys.KEY.fullmatch(name) for name in names):  # and does not quote a file that is no table at all
        raise InputError(f"{path}:1: expected keys such as string.stiffness, got something else")
    if not isinstance(frame.index, pd.RangeIndex):
        raise InputError(f"{path}:2: expected {len(names)} values, one for each key of the first row, got more")
    missing = frame.isna().any(axis=1).to_numpy()
    if missing.any():
        line = int(np.flatnonzero(missing)[0]) + 2
        raise InputError(f"{path}:{line}: expected {len(names)} values, one for each key of the first row, got fewer")
    return {name: as_array(frame.iloc[:, k]) for k, name in enumerate(names)}


def from_columns(table: Any) -> dict[str, Values]:
    """Columns of a mapping, or of anything that has columns by name as pandas and polars do."""
    names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", []))
    if not names:
        checks.refuse("table", "columns by key: a mapping or a data frame", table)
    found = {str(name): as_array(table[name]) for name in names}
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
