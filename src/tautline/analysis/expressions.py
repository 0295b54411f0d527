"""Series of expressions of the variables of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.model.expressions import bind, parts_of_system, read
from tautline.results.inputs import system_of
from tautline.schema import AXES
from tautline.units import in_si, results_unit

if TYPE_CHECKING:
    import xarray as xr

# Of the latest time of a run: samples so near an end of a window are inside, as their times are rounded.
SAME_TIME = 1e-9


def evaluate(
    run: Run, expression: str, start: float | str | None = None, end: float | str | None = None
) -> xr.DataArray:
    """Values of an expression at the samples of a run, such as "norm(body_velocity[load])".

    Parameters
    ----------
    run : Dataset, or path of a run file
    expression : str
        See the language in docs/howto/expressions.md. Of a condition, whether it holds.
    start, end : float or str, optional
        Window of time, both ends included (s, or text with a unit): samples outside are left out. Without them those
        of the whole run.

    Returns
    -------
    DataArray
        On `time` and on the dimensions of which no component was chosen; `attrs["units"]` is its unit.
    """
    import xarray as xr

    wanted = read("expression", expression)
    values = run_from(run, wanted.needs)
    bound = bind(wanted, parts_of_system(system_of(values.attrs)))
    found = bound.series({str(name): x.values for name, x in values.data_vars.items()} | {"time": values.time.values})
    if wanted.is_condition:
        found = found > 0.0
    time = values.time
    if start is not None or end is not None:
        inside = _window(time.values, start, end)
        found, time = found[inside], time[inside]
    dims = tuple(dim.replace(" of ", "_") for dim in bound.dims)
    names = {"axis": AXES} | {dim: values[dim].values for dim in ("line", "body") if dim in values.coords}
    labels = {"time": time} | {dim: names[dim] for dim in dims if dim in names}
    units = {} if wanted.is_condition else {"units": results_unit(wanted.unit)}
    return xr.DataArray(np.asarray(found), labels, ("time", *dims), wanted.text, {"long_name": wanted.text, **units})


def _window(time: Array, start: float | str | None, end: float | str | None) -> slice:
    """Samples of a window of time, which must have one at least."""
    first, last = float(time[0]), float(time[-1])
    low, high = (
        otherwise if x is None else checks.finite(name, _seconds(name, x), "s")
        for name, x, otherwise in (("start", start, first), ("end", end, last))
    )
    if end is not None and low > high:
        checks.refuse("end", f"a time from the start of the window ({low:g} s) on", high)
    near = SAME_TIME * max(abs(first), abs(last))
    inside = slice(int(np.searchsorted(time, low - near)), int(np.searchsorted(time, high + near, side="right")))
    if inside.start >= inside.stop:
        name, given = ("start", low) if start is not None else ("end", high)
        checks.refuse(name, f"a window with samples of the run, which are from {first:g} to {last:g} s", f"{given:g} s")
    return inside


def _seconds(name: str, value: float | str) -> float:
    try:
        return in_si(value, "s")
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
