"""Labelled results: datasets of xarray, built here only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.results.values import Record, Values, values_of
from tautline.schema import AXES, LYAPUNOV_SCHEMA, MODES_SCHEMA, SCHEMA, TIME_VARIABLE, Variable

if TYPE_CHECKING:
    import xarray as xr

    from tautline.model.pendulum import Pendulum


def build(pendulum: Pendulum, record: Record, attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of a run."""
    return labelled_values(values_of(pendulum, record), attrs)


def build_modes(values: dict[str, Any], attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of a linearisation."""
    import xarray as xr

    coords = {
        "mode": (
            "mode",
            np.arange(1, len(values["frequency"]) + 1),
            {"long_name": "number of the mode, slowest first"},
        ),
        "axis": ("axis", AXES),
    }
    return xr.Dataset(_with_units(MODES_SCHEMA, values), coords, attrs)


def build_lyapunov(values: dict[str, Any], attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of watching neighbouring motions part."""
    import xarray as xr

    time = ("time", values["time"], {"units": TIME_VARIABLE.units, "long_name": TIME_VARIABLE.long_name})
    return xr.Dataset(_with_units(LYAPUNOV_SCHEMA, values), {"time": time}, attrs)


def build_reading(
    schema: dict[str, Variable], values: dict[str, Any], attrs: dict[str, Any], unit: str = ""
) -> xr.Dataset:
    """A labelled table that was read off a run; {unit} and {square} in the schema are those of the chosen variable."""
    import xarray as xr

    square = f"({unit})2" if " " in unit or "-" in unit else f"{unit}2"
    named = {name: v._replace(units=v.units.format(unit=unit, square=square)) for name, v in schema.items()}
    found = xr.Dataset(_with_units(named, values), attrs=attrs)
    return found.assign_coords({name: found[name] for name, v in named.items() if v.dims == (name,)})


def _with_units(schema: dict[str, Variable], values: dict[str, Any]) -> dict[str, Any]:
    return {name: (v.dims, values[name], {"units": v.units, "long_name": v.long_name}) for name, v in schema.items()}


def labelled_values(values: Values, attrs: dict[str, Any]) -> xr.Dataset:
    """With dimensions, units, and the coordinates that every result has."""
    import xarray as xr  # half a second, which a run from the command line or in a study need not spend

    coords = {
        "time": ("time", values["time"], {"units": TIME_VARIABLE.units, "long_name": TIME_VARIABLE.long_name}),
        "axis": ("axis", AXES),
    }
    return xr.Dataset(_with_units(SCHEMA, values), coords, attrs)
