"""Labeled results: datasets of xarray, built here only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.results.values import Values
from tautline.schema import LYAPUNOV_SCHEMA, TIME_VARIABLE, Variable

if TYPE_CHECKING:
    import xarray as xr

# By name: labels and attributes.
Coordinates = dict[str, tuple[Any, dict[str, str]]]
# By name: dimension, labels that are no index, and words.
Beside = dict[str, tuple[str, Any, str]]


def build_lyapunov(values: dict[str, Any], attrs: dict[str, Any]) -> xr.Dataset:
    """The labeled result of watching neighboring motions part."""
    return _dataset(LYAPUNOV_SCHEMA, values, {"time": (values["time"], _attributes(TIME_VARIABLE))}, attrs)


def build_reading(
    schema: dict[str, Variable], values: dict[str, Any], attrs: dict[str, Any], unit: str = ""
) -> xr.Dataset:
    """A labeled table that was read off a run; {unit} and {square} in the schema are those of the chosen variable."""
    square = f"({unit})2" if " " in unit or "-" in unit else f"{unit}2"
    named = {name: v._replace(units=v.units.format(unit=unit, square=square)) for name, v in schema.items()}
    labels: Coordinates = {name: (values[name], _attributes(v)) for name, v in named.items() if v.dims == (name,)}
    return _dataset({name: v for name, v in named.items() if name not in labels}, values, labels, attrs)


def labeled(
    schema: dict[str, Variable],
    values: Values,
    labels: dict[str, list[str]],
    beside: Beside,
    attrs: dict[str, Any],
) -> xr.Dataset:
    """On time, with the names of other dimensions, and names beside a dimension."""
    coordinates: Coordinates = {"time": (values["time"], _attributes(TIME_VARIABLE))} if "time" in values else {}
    coordinates |= {name: (np.array(given), {}) for name, given in labels.items() if len(given)}
    return _dataset(schema, values, coordinates, attrs, beside)


def by_key(keys: list[str], gradient: Array) -> xr.DataArray:
    """Derivatives of one number, labeled by keys."""
    words = {"gradient": Variable(("key",), "", "derivatives by key")}
    return labeled(words, {"gradient": gradient}, {"key": keys}, {}, {})["gradient"]


def _attributes(variable: Variable) -> dict[str, str]:
    return {"units": variable.units, "long_name": variable.long_name}


def _dataset(
    schema: dict[str, Variable],
    values: dict[str, Any],
    coordinates: Coordinates,
    attrs: dict[str, Any],
    beside: Beside | None = None,
) -> xr.Dataset:
    """Dataset of plain arrays, whose variables and indices are made here.

    Left to xarray, it would import pint and Dask wherever they are installed, to ask whether the arrays are theirs:
    0.1 s and 0.4 s of a first result.
    """
    import pandas as pd  # these take 0.3 s, which a run from the command line or in a study need not spend
    import xarray as xr
    from xarray.indexes import PandasIndex

    def variable(dims: tuple[str, ...], array: Any, attributes: dict[str, str]) -> xr.Variable:
        return xr.Variable(dims, np.asarray(array), attributes, fastpath=True)

    indices: dict[str, xr.Index] = {}
    labels: dict[Any, xr.Variable] = {}
    for name, (given, attributes) in coordinates.items():
        label = variable((name,), given, attributes)
        indices[name] = PandasIndex(pd.Index(label.values), name, coord_dtype=label.dtype)
        labels |= indices[name].create_variables({name: label})
    labels |= {name: variable((dim,), x, {"long_name": words}) for name, (dim, x, words) in (beside or {}).items()}
    variables = {name: variable(v.dims, values[name], _attributes(v)) for name, v in schema.items()}
    return xr.Dataset(variables, xr.Coordinates(labels, indices), attrs)
