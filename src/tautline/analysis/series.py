"""One number over time, taken from a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.model.description import fields_of
from tautline.model.string import String
from tautline.results.inputs import CASE, system_of
from tautline.results.one_line import label_of, line_of, one_line
from tautline.schema import AXES

if TYPE_CHECKING:
    import xarray as xr


class TooFewSamplesError(InputError):
    """A run has not two samples to go by."""


class Series(NamedTuple):
    """Samples of one number."""

    time: Array
    values: Array
    name: str
    unit: str


def series_of(run: Run, variable: str, place: dict[str, Any]) -> Series:
    """A variable of a run at one place, up to the first value that is not finite."""
    whole, place = run_from(run, ()), dict(place)
    if variable not in whole.data_vars or whole[variable].dims[:1] != ("time",):
        over_time = [name for name, x in whole.data_vars.items() if x.dims[:1] == ("time",)]
        checks.choice("variable", variable, over_time)
    name = variable
    if any(dim in ("line", "node", "element") for dim in whole[variable].dims):
        whole = one_line(whole, place.pop("line", None))
        name = name_of(whole, variable)
    chosen = whole[variable]
    if "body" in chosen.dims and "body" not in place and CASE in whole.attrs:
        free = list(system_of(whole.attrs).free_bodies)
        chosen = chosen.sel(body=free[0]) if len(free) == 1 else chosen
    sides = chosen.dims[1:]
    for dim in place:
        if dim not in sides:
            raise InputError(f"{dim}: {variable} has no such dimension; it has {', '.join(map(str, sides)) or 'time'}")
    for dim in map(str, sides):
        if dim not in place:
            raise InputError(f"{dim}: missing; expected one of {variable}, such as {dim}={_example(dim)}")
        chosen = _at(chosen, dim, place[dim])
    time, values = whole.time.values, chosen.values
    wrong = np.flatnonzero(~np.isfinite(values))
    good = int(wrong[0]) if len(wrong) else len(values)
    if good < 2:
        raise TooFewSamplesError(f"run: expected at least 2 samples of {variable} with finite values, got {good}")
    where = "".join(f", {dim} {x}" for dim, x in place.items())
    units = str(whole[variable].attrs.get("units", ""))
    return Series(time[:good], values[:good], f"{name}{where}", units)


def name_of(one: xr.Dataset, variable: str) -> str:
    """A variable of one line in words, with the name of the line where there are several."""
    label = label_of(one)
    return f"{variable} of {label}" if label else variable


def _example(dim: str) -> str:
    return '"x"' if dim == "axis" else "'load'" if dim == "body" else "-1"


def _at(x: xr.DataArray, dim: str, which: Any) -> xr.DataArray:
    if dim == "axis":
        checks.choice("axis", which, AXES)
        return x.isel(axis=AXES.index(which))
    if dim == "body":
        checks.choice("body", which, x.body.values.tolist())
        return x.sel(body=which)
    size = x.sizes[dim]
    return x.isel({dim: checks.whole(dim, which, -size, size - 1)})


def breaking_load_of(run: xr.Dataset, given: float | str | None, who: str) -> float:
    """Breaking load of a line (N), or the one that is given instead."""
    kind = fields_of(String)["breaking_load"]
    load = line_of(run).string.breaking_load if given is None else kind.check("breaking_load", given)
    if load is None:
        raise InputError(
            f"{who}: the run has no breaking load; give one here, breaking_load='50 kN' (--breaking-load '50 kN'), or "
            "to the string, as String(breaking_load=...) or string.breaking_load of the scenario"
        )
    return float(load)
