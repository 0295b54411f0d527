"""Outputs of members from the variables of their runs.

Values come with a leading dimension of members, (member, time, ...), so that one member or a whole batch can be
evaluated at once; what a member gives does not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.fatigue import TensionCurve
from tautline.model.assembly.assembly import System
from tautline.model.string import String
from tautline.results.assembly import values_of_body, values_of_string
from tautline.schema import AXES
from tautline.studies.definition.outputs import ALONG_THE_STRING, NORM, Array, Output
from tautline.studies.definition.readings import READINGS, read_off


def evaluate_of_assembly(
    output: Output, values: Mapping[str, Array], rows: NDArray[np.int64], assembly: System
) -> Array:
    """One array with a leading dimension of members, of an assembly; arguments as of `evaluate`."""
    if output.body is not None:
        values = values_of_body(assembly, values, output.body)
    if not output.of_each_string:
        return evaluate(output, values, rows)
    names = list(assembly.lines) if output.line is None else [output.line]
    found = [
        evaluate(output, values_of_string(assembly, values, name), rows, assembly.lines[name].string) for name in names
    ]
    return found[0] if output.line is not None else np.stack(found, axis=1)


def evaluate(
    output: Output, values: Mapping[str, Array], rows: NDArray[np.int64], string: String | None = None
) -> Array:
    """One array with a leading dimension of members.

    Parameters
    ----------
    output : Output
    values : mapping
        Arrays (member, time, ...) by the names of `schema.SCHEMA`.
    rows : array of int
        How many samples each member has; the rest of a shorter run is not looked at.
    string : String
        Of the members, for readings; numbers that they differ in are columns.
    """
    if output.variable in READINGS:
        assert string is not None
        curve = TensionCurve(*output.curve) if output.curve else None
        return read_off(output.variable, curve, values, rows, string)
    x = _selected(output, values[output.variable])
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        return _reduced(output, x, rows)


def _selected(output: Output, x: Array) -> Array:
    """Chosen components only; behind member and time."""
    place = 2
    for dim in output.sides:
        chosen = getattr(output, dim)
        if chosen is None:
            place += 1
        elif chosen == NORM:
            x = np.sqrt(np.sum(x * x, axis=place))
        else:
            x = np.take(x, AXES.index(chosen) if dim == "axis" else chosen, axis=place)
    return x


def _reduced(output: Output, x: Array, rows: NDArray[np.int64]) -> Array:
    members = np.arange(len(x))
    if output.reduce == "final":
        return x[members, rows - 1]
    if output.reduce in ("at", "series"):
        places = np.arange(output.sizes[0]) if output.reduce == "series" else np.array(output.at)
        there = places[None, :] < rows[:, None]
        found = x[members[:, None], np.minimum(places, x.shape[1] - 1)[None, :]]
        found = np.where(there.reshape(there.shape + (1,) * (x.ndim - 2)), found, np.nan)
        return found[:, 0] if output.reduce == "at" and len(places) == 1 else found
    free = [dim for dim in output.sides if getattr(output, dim) is None]
    axes = (0, *(k + 1 for k, dim in enumerate(free) if dim in ALONG_THE_STRING))
    function: Any = {"max": np.max, "min": np.min, "mean": np.mean}[output.reduce]
    if output.reduce != "mean" and (rows == x.shape[1]).all():
        return np.asarray(function(x, axis=tuple(axis + 1 for axis in axes)))
    # one by one: the order of a sum, and so its rounding, must not depend on how many members there are
    return np.stack([function(np.ascontiguousarray(one[:n]), axis=axes) for one, n in zip(x, rows, strict=True)])
