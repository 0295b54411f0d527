"""Outputs of members from the variables of their runs.

Values come with a leading dimension of members, (member, time, ...), so that one member or a whole batch can be
evaluated at once; what a member gives does not depend on its neighbors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.fatigue import TensionCurve
from tautline.model.expressions import Bound
from tautline.model.string import String
from tautline.model.system.system import System
from tautline.schema import AXES, SCHEMA
from tautline.studies.definition.outputs import ALONG_THE_LINE, NORM, Array, Output
from tautline.studies.definition.readings import READINGS, read_off


class Parts(NamedTuple):
    """Names of the parts that results are of."""

    strings: Mapping[str, String]  # by the names of lines; numbers that members differ in are columns
    elements: Mapping[str, int]
    bodies: tuple[str, ...]
    spans: Mapping[str, int]


def parts_of(system: System, elements: Mapping[str, int]) -> Parts:
    """Parts of a system, whose lines have so many elements."""
    lines = system.lines.items()
    strings, spans = {name: x.string for name, x in lines}, {name: x.spans for name, x in lines}
    return Parts(strings, elements, tuple(system.bodies), spans)


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
    if output.expression is not None:
        return _reduced(output, _of_expression(output.expression, own, parts), rows)
    if output.body is not None:
        place = parts.bodies.index(output.body)
        own = {name: np.take(x, place, axis=2) if _has(name, "body") else x for name, x in own.items()}
    if not output.of_each_line:
        return _evaluated(output, own, rows, None)
    names = list(parts.strings) if output.line is None else [output.line]
    found = [_evaluated(output, _of_line(own, name, parts), rows, parts.strings[name]) for name in names]
    return found[0] if output.line is not None else np.stack(found, axis=1)


def _of_expression(bound: Bound, values: Mapping[str, Array], parts: Parts) -> Array:
    """Values (member, time), of one member after the other, so that rounding does not depend on their number."""
    members = len(next(x for name, x in values.items() if name != "time"))
    one_by_one = ({name: x if x.ndim == 1 else x[k] for name, x in values.items()} for k in range(members))
    return np.stack([np.asarray(bound.series(own, parts.elements)) for own in one_by_one])


def _has(variable: str, *dims: str) -> bool:
    return variable in SCHEMA and any(dim in SCHEMA[variable].dims for dim in dims)


def _of_line(values: Mapping[str, Array], line: str, parts: Parts) -> dict[str, Array]:
    """Variables of one line: without the dimension of lines, and with its own nodes and elements."""
    place = list(parts.elements).index(line)
    counts = [parts.spans[name] * count for name, count in parts.elements.items()]
    spans = sum(list(parts.spans.values())[:place])
    before, count, own = sum(counts[:place]), counts[place], parts.spans[line]
    nodes, elements = slice(before + spans, before + spans + count + own), slice(before, before + count)
    found = {}
    for name, x in values.items():
        if _has(name, "line"):
            found[name] = x[:, :, place]
        else:
            found[name] = x[:, :, nodes] if _has(name, "node") else x[:, :, elements] if _has(name, "element") else x
    return found


def _evaluated(output: Output, values: Mapping[str, Array], rows: NDArray[np.int64], string: String | None) -> Array:
    """From values of one line, or of all."""
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
    if output.window:
        first, last = output.window
        x, rows = x[:, first:last], np.clip(rows - first, 0, last - first)
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
    axes = (0, *(k + 1 for k, dim in enumerate(free) if dim in ALONG_THE_LINE))
    function: Any = {"max": np.max, "min": np.min, "mean": np.mean}[output.reduce]
    if output.reduce != "mean" and (rows == x.shape[1]).all() and x.shape[1]:
        return np.asarray(function(x, axis=tuple(axis + 1 for axis in axes)))
    # one by one: the order of a sum, and so its rounding, must not depend on how many members there are
    # a run that ended before the window has nothing in it
    nothing = np.full([size for k, size in enumerate(x.shape[1:]) if k not in axes], np.nan)
    pairs = zip(x, rows, strict=True)
    return np.stack([function(np.ascontiguousarray(one[:n]), axis=axes) if n else nothing for one, n in pairs])
