"""Outputs of members from the variables of their runs.

Values come with a leading dimension of members, (member, time, ...), so that one member or a whole batch can be
evaluated at once; what a member gives does not depend on its neighbors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.fatigue import TensionCurve
from tautline.model.string import String
from tautline.model.system.system import System
from tautline.schema import SCHEMA
from tautline.studies.definition.outputs import ALONG_THE_LINE, Array, Output
from tautline.studies.definition.readings import READINGS, read_off


class Parts(NamedTuple):
    """Names of the lines that results are of."""

    strings: Mapping[str, String]  # numbers that members differ in are columns
    elements: Mapping[str, int]
    spans: Mapping[str, int]

    def places(self, line: str, dim: str) -> slice:
        """Nodes or elements of a line, among those of all."""
        more = int(dim == "node")
        names = list(self.elements)
        *before, own = (self.spans[x] * (self.elements[x] + more) for x in names[: names.index(line) + 1])
        return slice(sum(before), sum(before) + own)


def parts_of(system: System, elements: Mapping[str, int]) -> Parts:
    """Parts of a system, whose lines have so many elements."""
    lines = system.lines.items()
    return Parts({name: x.string for name, x in lines}, elements, {name: x.spans for name, x in lines})


def evaluate(output: Output, values: Mapping[str, Array], rows: NDArray[np.int64], parts: Parts) -> Array:
    """One array with a leading dimension of members.

    Parameters
    ----------
    output : Output
    values : mapping
        Arrays (member, time, ...) by the names of `schema.SCHEMA`.
    rows : array of int
        How many samples each member has; the rest of a shorter run is not looked at.
    parts : Parts
    """
    own = {name: values[name] for name in output.needs}
    if "time" in own:  # of all members, or of each
        own["time"] = np.broadcast_to(own["time"], (len(rows), own["time"].shape[-1]))
    if output.variable in READINGS:
        curve = TensionCurve(*output.curve) if output.curve else None
        names = parts.strings if output.line is None else (output.line,)
        found = [read_off(output.variable, curve, _of_line(own, x, parts), rows, parts.strings[x]) for x in names]
        return np.stack(found, axis=1) if "line" in output.dims else found[0]
    bound = output.bound(parts.elements)
    each: Iterable[Any] = (
        bound.series({name: x[k] for name, x in own.items()}, parts.elements) for k in range(len(rows))
    )
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        if bound.is_choice:
            together = bound.of({name: np.moveaxis(x, 0, -1) for name, x in own.items()}, parts.elements)
            if output.reduce != "mean" and (rows == rows[0]).all():
                return np.moveaxis(_reduced(output, together, int(rows[0]), bound.dims, parts), -1, 0)
            each = np.moveaxis(together, -1, 0)
        # One by one: the order of a sum, and so its rounding, must not depend on how many members there are.
        pairs = zip(each, rows.tolist(), strict=True)
        return np.stack([_reduced(output, x, n, bound.dims, parts) for x, n in pairs])


def _of_line(values: Mapping[str, Array], line: str, parts: Parts) -> dict[str, Array]:
    """Variables of one line: without the dimension of lines, and with its own nodes and elements."""
    found = {}
    for name, x in values.items():
        dim = SCHEMA[name].dims[1] if name in SCHEMA else ""
        if dim == "line":
            found[name] = x[:, :, list(parts.elements).index(line)]
        else:
            found[name] = x[:, :, parts.places(line, dim)] if dim in ALONG_THE_LINE else x
    return found


def _reduced(output: Output, x: Array, rows: int, dims: tuple[str, ...], parts: Parts) -> Array:
    """Values (time, *dims) of a member, of which so many rows count; or (time, *dims, member) of several."""
    if output.reduce in ("at", "series"):
        places = np.arange(output.sizes[0]) if output.reduce == "series" else np.array(output.at)
        there = places < min(rows, len(x))
        found = np.full((len(places), *x.shape[1:]), np.nan)
        found[there] = x[places[there]]
        return found[0] if output.reduce == "at" and len(places) == 1 else found
    first, last = output.window or (0, rows)
    x = x[first : min(last, rows)]
    if not len(x):  # a run that ended before the window has nothing in it
        return np.full((*output.sizes, *x.shape[1 + len(dims) :]), np.nan)
    if output.reduce == "final":
        return np.asarray(x[-1])
    function: Any = {"max": np.max, "min": np.min, "mean": np.mean}[output.reduce]
    dim = dims[0] if dims else ""
    if "line" in output.dims and dim in ALONG_THE_LINE:
        own = [x[:, parts.places(line, dim)] for line in parts.elements]
        return np.stack([function(np.ascontiguousarray(one), axis=(0, 1)) for one in own])
    axes = (0, 1) if dim.partition(" ")[0] in ALONG_THE_LINE else 0
    return np.asarray(function(np.ascontiguousarray(x), axis=axes))
