"""The variables of a system's results, and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.model.string_loads import StringLoads, string_loads
from tautline.results.dataset import labeled
from tautline.results.ends import at_ends
from tautline.results.values import Values, span, tension_of
from tautline.schema import AXES, DERIVED, MODES_OF_SHEAVES, MODES_SCHEMA, Layout, Variable, of_system, span_names

if TYPE_CHECKING:
    import xarray as xr

    from tautline.model.system.system import System


# Name of the coordinate of a Jacobian that holds the values of a variable.
VALUE = "{}_value"


def spans(system: System) -> dict[str, tuple[slice, slice]]:
    """Places of the nodes and of the elements of every string among those of all."""
    found, node, element = {}, 0, 0
    for name, line in system.lines.items():
        nodes, elements = line.spans * (line.count + 1), line.spans * line.count
        found[name] = slice(node, node + nodes), slice(element, element + elements)
        node, element = node + nodes, element + elements
    return found


def span_places(system: System) -> dict[str, list[tuple[slice, slice]]]:
    """Places of the nodes and of the elements of the spans of every line among those of all."""
    found = {}
    for name, (nodes, elements) in spans(system).items():
        N, count = system.lines[name].count, system.lines[name].spans
        firsts = [(nodes.start + k * (N + 1), elements.start + k * N) for k in range(count)]
        found[name] = [(slice(a, a + N + 1), slice(b, b + N)) for a, b in firsts]
    return found


def layout(system: System) -> Layout:
    """Variables and dimensions of the results of a system."""
    places = {name: {"node": x[0], "element": x[1]} for name, x in spans(system).items()}
    counts = {name: line.count for name, line in system.lines.items()}
    found = of_system(list(system.bodies), counts, {name: tuple(line.over) for name, line in system.lines.items()})
    return found._replace(spans=places, free=tuple(system.free_bodies))


def variables_of(system: System) -> dict[str, Variable]:
    """Variables of the results of a system, whose lines need no number of elements."""
    over = {name: tuple(line.over) for name, line in system.lines.items()}
    return of_system(list(system.bodies), dict.fromkeys(system.lines, 1), over).variables


# Variables that follow from what is recorded: with one number an element, and with one a string.
OF_ELEMENTS = ("strain", "tension")
FEEDS = "feed_speeds"
OF_STRINGS = ("unstretched_length", "stretched_length", "start_tension", "end_tension", "power")


def derived(system: System, values: Values, loads: Mapping[str, StringLoads] | None = None) -> Values:
    """All variables, from those that the kernels record: bodies, nodes, reels, accounts and momenta.

    `loads` are those along lines, by name, in place of the system's own. FEEDS are speeds of what feeds both ends of
    spans, where there are some.
    """
    parts: dict[str, list[Array]] = {name: [] for name in (*OF_ELEMENTS, *OF_STRINGS)}
    pulls: list[tuple[Array, Array]] = []  # tensions at both ends of each span
    feeds: Any = values.pop(FEEDS, None)
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        for name in system.lines:
            own, ends = of_line(system, name, values, feeds, loads)
            pulls += ends
            for found, x in zip(parts.values(), own, strict=True):
                found.append(x)
        values |= {name: np.concatenate(parts[name], axis=1) for name in OF_ELEMENTS}
        values |= {name: np.stack(parts[name], axis=1) for name in OF_STRINGS}
        if "passed" in values:
            both = zip(("start", "end"), zip(*pulls, strict=True), strict=True)
            values |= {f"span_{end}_tension": np.stack(x, axis=1) for end, x in both}
        values["orthogonality_error"] = orthogonality_error(values["attitude"])
        values |= {name: output.formula(values) for name, output in DERIVED.items()}
    return values


def of_line(
    system: System, name: str, values: Values, feeds: Any = None, loads: Mapping[str, StringLoads] | None = None
) -> tuple[tuple[Array, ...], list[tuple[Array, Array]]]:
    """Variables of a line, OF_ELEMENTS and OF_STRINGS, and tensions at both ends of each of its spans."""
    line, names = system.lines[name], list(system.lines)
    k, places = names.index(name), span_places(system)[name]
    place = sum(system.lines[x].spans for x in names[:k])
    power = np.zeros_like(values["reeled_length"][:, k])
    if line.reel is not None:
        radii = line.reel.radius(values["reeled_length"][:, k])
        power = values["torque"][:, k] * values["reel_speed"][:, k] / radii + 0.0
    own_loads = loads[name] if loads else _loads_of(system, name, values["time"])
    by_span = []
    for number, (rows, _) in enumerate(places):
        lengths = np.linalg.norm(np.diff(values["position"][:, rows], axis=1), axis=2)
        unstretched, speed = line.string.length - values["reeled_length"][:, k], values["reel_speed"][:, k]
        speeds = (speed, 0.0 * speed)
        if line.is_reeved:
            unstretched = values["span_length"][:, place + number]
            speeds = (feeds[:, place + number, 0], feeds[:, place + number, 1])
        strain = lengths / (unstretched / line.count)[:, None] - 1.0
        moves = (values["position"][:, rows], values["velocity"][:, rows], *speeds)
        l = unstretched / line.count
        tension = tension_of(line.string, moves, strain, l, lengths)
        ends = at_ends(line.string, own_loads, moves, tension, lengths, l, values["time"])
        by_span.append((strain, tension, unstretched, lengths.sum(axis=1), *ends))
    pulls = [(x[-2], x[-1]) for x in by_span]
    if line.spans == 1:
        return (*by_span[0], power), pulls
    strains, tensions, bare, stretched, first_end, last_end = zip(*by_span, strict=True)
    whole = (sum(bare), sum(stretched), first_end[0], last_end[-1])
    return (np.concatenate(strains, axis=1), np.concatenate(tensions, axis=1), *whole, power), pulls


def _loads_of(system: System, name: str, times: Array) -> StringLoads:
    return string_loads(system.lines[name].string, system.gravity, system.fluid, *span(times))


def orthogonality_error(attitude: Array) -> Array:
    """How far matrices (..., 3, 3) are from rotations: the Frobenius norm of I - R^T R."""
    found: Array = np.linalg.norm(np.eye(3) - np.swapaxes(attitude, -1, -2) @ attitude, axis=(-2, -1))
    return found


def build(system: System, values: Values, attrs: dict[str, Any]) -> xr.Dataset:
    """The labeled result of a run of a system.

    Lines may have different numbers of elements: nodes and elements are those of all lines, one string after the
    other, and the coordinates `node_line` and `element_line` name the string of each.
    """
    beside = _owners(system)
    shape = layout(system)
    return labeled(shape.variables, values, shape.names | {"axis": AXES}, beside, attrs)


def build_modes(system: System, values: Values, attrs: dict[str, Any]) -> xr.Dataset:
    """The labeled oscillations of a system; the coordinate `line_end` names what holds the end of each line."""
    names = {**layout(system).names}
    reeved = any(line.is_reeved for line in system.lines.values())
    if reeved:
        names["span"] = span_names({name: line.spans for name, line in system.lines.items()})
    there = {"mode", "node", "axis", "row", "column", *(dim for dim, given in names.items() if len(given))}
    ends = np.array([line.end for line in system.lines.values()])
    beside = {"node_line": _owners(system)["node_line"], "line_end": ("line", ends, "what holds the end of the line")}
    every = MODES_SCHEMA | (MODES_OF_SHEAVES if reeved else {})
    known = {name: x for name, x in every.items() if there.issuperset(x.dims)}
    found = labeled(known, values, names | {"axis": AXES}, beside, attrs)
    numbers = ("mode", np.arange(1, len(values["frequency"]) + 1), {"long_name": "number of the mode, slowest first"})
    return found.assign_coords(mode=numbers)


def build_jacobian(
    system: System, values: Values, derivatives: Values, keys: list[str], attrs: dict[str, Any]
) -> xr.Dataset:
    """Labeled derivatives of variables of a run by keys; the values of the variables are coordinates."""
    from xarray import Variable as Labeled

    shape = layout(system)
    known = {name: shape.variables[name] for name in derivatives}
    dims = {dim for v in known.values() for dim in v.dims}
    slopes = {
        name: Variable((*v.dims, "key"), f"{v.units} per unit of the key", f"derivative by key: {v.long_name}")
        for name, v in known.items()
    }
    labels = {name: x for name, x in (shape.names | {"axis": AXES}).items() if name in dims} | {"key": keys}
    beside = {name: x for name, x in _owners(system).items() if x[0] in dims}
    found = labeled(slopes, {"time": values["time"], **derivatives}, labels, beside, attrs)
    return found.assign_coords(
        {
            VALUE.format(name): Labeled(v.dims, values[name], {"units": v.units, "long_name": v.long_name})
            for name, v in known.items()
        }
    )


def _owners(system: System) -> dict[str, tuple[str, Any, str]]:
    """Names of the lines that nodes and elements belong to."""
    owners = [(name, line.count) for name, line in system.lines.items() for _ in range(line.spans)]
    return {
        "node_line": ("node", np.array([name for name, N in owners for _ in range(N + 1)]), "line of the node"),
        "element_line": (
            "element",
            np.array([name for name, N in owners for _ in range(N)]),
            "line of the element",
        ),
    }
