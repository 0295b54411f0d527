"""Series of expressions of the variables of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tautline.files.runs.given import Run, run_from
from tautline.model.expressions import bind, parts_of_system, read
from tautline.results.inputs import system_of
from tautline.schema import AXES
from tautline.units import results_unit

if TYPE_CHECKING:
    import xarray as xr


def evaluate(run: Run, expression: str) -> xr.DataArray:
    """Values of an expression at all samples of a run, such as "norm(body_velocity[load])".

    Parameters
    ----------
    run : Dataset, or path of a run file
    expression : str
        See the language in docs/howto/expressions.md. Of a condition, whether it holds.

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
    dims = tuple(dim.replace(" of ", "_") for dim in bound.dims)
    names = {"axis": AXES} | {dim: values[dim].values for dim in ("line", "body") if dim in values.coords}
    labels = {"time": values.time} | {dim: names[dim] for dim in dims if dim in names}
    units = {} if wanted.is_condition else {"units": results_unit(wanted.unit)}
    return xr.DataArray(np.asarray(found), labels, ("time", *dims), wanted.text, {"long_name": wanted.text, **units})
