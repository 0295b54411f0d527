"""What is kept of every member: a variable of the results, some of its components, over time or reduced.

Values come with a leading dimension of members, (member, time, ...), so that one member or a whole batch can be
evaluated at once; what a member gives does not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.fatigue import TensionCurve, counting, tension_curve
from tautline.analysis.predictability import KNOWN, LOST
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.string import String
from tautline.schema import AXES, SCHEMA, Variable
from tautline.studies.definition.readings import READINGS, read_off

# Of a motion as a whole, by watching neighbouring motions.
OF_NEIGHBOURS = {
    "lyapunov": Variable((), "s-1", "largest Lyapunov exponent: how fast neighbouring motions part"),
    "predictability_time": Variable((), "s", "how far ahead a prediction holds, by the Lyapunov exponent"),
}
# Kept of every member in any case, to say how far its numbers can be trusted.
HEALTH = {
    "balance_error": "largest error of the energy balance, of the energy in play",
    "reel_speed_ratio": "largest speed of the reel over the wave speed of the string",
    "mesh_noise": "part of the energy in motions that the mesh cannot resolve",
    "mesh_error": "estimated error of the mesh",
    "largest_step_ratio": "largest step over the stability limit",
}
VARIABLES = SCHEMA | OF_NEIGHBOURS | {name: reading.variable for name, reading in READINGS.items()}
REDUCTIONS = ("final", "max", "min", "mean", "at", "series")
# Reduced together with the time: the string as a whole. Components of vectors are not.
ALONG_THE_STRING = ("node", "element")
NORM = "norm"
_WORDS = ("name", "variable", "reduce", "at", "node", "element", "axis", "row", "column")
_WORDS_OF_NEIGHBOURS = ("name", "variable", "interval", "known", "lost")
_WORDS_OF_READINGS = ("name", "variable")
_WORDS_OF_DAMAGE = (*_WORDS_OF_READINGS, "rope", "exponent", "constant")
_OURS = ("status", "message", "steps", "health", "figure", "remarks", "done", "member", "batch", "time")
_NOT_NAMES = (*HEALTH, *_OURS, *_WORDS[4:])
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """Properties that all runs of a study have in common."""

    elements: int | None
    interval: float | None  # between samples (s)
    rows: int | None  # samples, the first included
    breaking_load: bool = False  # whether every member has one


@dataclass(frozen=True)
class Output:
    """A result of every member, and its dimensions beyond those of the members."""

    name: str
    variable: str
    reduce: str
    node: int | None = None
    element: int | None = None
    axis: str | None = None
    row: int | None = None
    column: int | None = None
    at: tuple[int, ...] = ()  # samples, of reduce = "at"
    times: tuple[float, ...] = ()  # the same in seconds
    dims: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    interval: float = 0.0  # between measurements of how far neighbours have parted (s)
    known: float = KNOWN
    lost: float = LOST
    curve: tuple[float, ...] = ()  # of the damage, as TensionCurve has it

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables of a run that it is made of."""
        return (*READINGS[self.variable].needs, "time") if self.variable in READINGS else (self.variable,)

    def fits(self, elements: int) -> bool:
        """Whether a mesh of so many elements has the chosen node or element."""
        chosen = ((self.node, elements + 1), (self.element, elements))
        return all(k is None or -size <= k < size for k, size in chosen)

    @property
    def units(self) -> str:
        return VARIABLES[self.variable].units

    @property
    def long_name(self) -> str:
        """In words, with what was chosen."""
        chosen = [f"{dim} {getattr(self, dim)}" for dim in _free(self.variable) if getattr(self, dim) is not None]
        how = {
            "series": "",
            "neighbours": "",
            "reading": "",
            "final": "at the end: ",
            "at": f"at {', '.join(f'{t:g}' for t in self.times)} s: ",
            "max": "largest: ",
            "min": "smallest: ",
            "mean": "mean: ",
        }[self.reduce]
        return how + VARIABLES[self.variable].long_name + (f" ({', '.join(chosen)})" if chosen else "")


def _free(variable: str) -> tuple[str, ...]:
    """Dimensions but the time."""
    return VARIABLES[variable].dims[1:]


def read(specs: Any, facts: Facts, time_of: Any) -> tuple[Output, ...]:
    """From the list `outputs` of a study; `time_of` reads a time with a unit."""
    if not isinstance(specs, (list, tuple)) or not specs:
        checks.refuse("outputs", "a list such as ['max tension', 'final energy']", specs)
    found = tuple(_read_one(f"outputs[{k}]", spec, facts, time_of) for k, spec in enumerate(specs))
    names = [output.name for output in found]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InputError(
                f"outputs[{k}]: expected another name than {name!r}, which is taken; give it one: name = ..."
            )
        if name in _NOT_NAMES or not name.isidentifier():
            raise InputError(f"outputs[{k}].name: expected letters, digits and _, and none of ours; got {name!r}")
    return found


def _read_one(where: str, spec: Any, facts: Facts, time_of: Any) -> Output:
    if isinstance(spec, str):
        how, _, variable = spec.partition(" ")
        spec = {"reduce": how, "variable": variable} if variable else {"reduce": "series", "variable": how}
    if not isinstance(spec, Mapping):
        checks.refuse(where, "text such as 'max tension', or a table", spec)
    if "variable" not in spec:
        raise InputError(f"{where}.variable: missing; expected one of the variables of a run, such as tension")
    variable = spec["variable"]
    _check_variable(where, variable)
    words = _words(variable)
    if words is not _WORDS and spec.get("reduce") == "series":
        spec = {word: value for word, value in spec.items() if word != "reduce"}
    for word in spec:
        if word not in words:
            raise InputError(f"{where}.{word}: no such key; expected some of {', '.join(words)}")
    if variable in OF_NEIGHBOURS:
        return _of_neighbours(where, spec, facts, time_of)
    if variable in READINGS:
        return _reading(where, spec, facts)
    reduce = spec.get("reduce", "at" if "at" in spec else "series")
    checks.choice(f"{where}.reduce", reduce, REDUCTIONS)
    if ("at" in spec) != (reduce == "at"):
        raise InputError(f"{where}.at: expected together with reduce = 'at' alone, got reduce = {reduce!r}")
    chosen = {dim: _choice(where, dim, spec[dim], variable, facts) for dim in _WORDS[4:] if dim in spec}
    dims, sizes = _shape(where, variable, reduce, chosen, facts)
    times, rows = _samples(where, spec.get("at", ()), facts, time_of)
    name = spec.get("name", _default_name(variable, reduce, chosen))
    checks.instance(f"{where}.name", name, str)
    if len(rows) > 1:
        dims, sizes = (f"{name}_time", *dims), (len(rows), *sizes)
    return Output(name, variable, reduce, **chosen, at=rows, times=times, dims=dims, sizes=sizes)


def _words(variable: str) -> tuple[str, ...]:
    """Keys that an output of a variable may have."""
    if variable in OF_NEIGHBOURS:
        return _WORDS_OF_NEIGHBOURS
    if variable == "damage":
        return _WORDS_OF_DAMAGE
    return _WORDS_OF_READINGS if variable in READINGS else _WORDS


def _reading(where: str, spec: Mapping[str, Any], facts: Facts) -> Output:
    variable = spec["variable"]
    if READINGS[variable].of_breaking_load and not facts.breaking_load:
        raise InputError(f"{where}: {variable} needs a breaking load; give string.breaking_load in `set` or `vary`")
    curve: tuple[float, ...] = ()
    if variable == "damage":
        counting("a study of damage")
        try:
            curve = tuple(tension_curve(spec.get("rope"), spec.get("exponent"), spec.get("constant")))
        except InputError as error:
            raise InputError(f"{where}.{error}") from None
    name = spec.get("name", variable)
    checks.instance(f"{where}.name", name, str)
    return Output(name, variable, "reading", curve=curve)


def _of_neighbours(where: str, spec: Mapping[str, Any], facts: Facts, time_of: Any) -> Output:
    if facts.interval is None or facts.rows is None:
        raise InputError(f"{where}: expected fixed run.duration, run.step and run.sample for {spec['variable']}")
    duration = (facts.rows - 1) * facts.interval
    interval = time_of(f"{where}.interval", spec["interval"]) if "interval" in spec else facts.interval
    if checks.whole_ratio("run.duration", duration, f"{where}.interval", interval) < 2:
        raise InputError(
            f"{where}.interval: expected at most half of run.duration ({duration:g} s), got {interval:g} s"
        )
    known = checks.positive(f"{where}.known", spec.get("known", KNOWN), "")
    lost = checks.positive(f"{where}.lost", spec.get("lost", LOST), "")
    if not known < lost:
        raise InputError(f"{where}.known: expected less than lost ({lost:g}), got {known:g}")
    name = spec.get("name", spec["variable"])
    checks.instance(f"{where}.name", name, str)
    return Output(name, spec["variable"], "neighbours", interval=interval, known=known, lost=lost)


def _check_variable(where: str, variable: Any) -> None:
    import difflib

    if variable in HEALTH:
        raise InputError(f"{where}.variable: {variable} is kept of every member in any case, leave it out")
    if variable not in VARIABLES:
        near = difflib.get_close_matches(str(variable), VARIABLES, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(VARIABLES)}"
        raise InputError(f"{where}.variable: expected a variable of a run, got {variable!r}{hint}")


def _default_name(variable: str, reduce: str, chosen: Mapping[str, Any]) -> str:
    name = {"series": variable, "at": f"{variable}_at"}.get(reduce, f"{reduce}_{variable}")
    return f"{name}_{chosen['axis']}" if "axis" in chosen else name


def _choice(where: str, dim: str, value: Any, variable: str, facts: Facts) -> Any:
    if dim not in _free(variable):
        have = ", ".join(_free(variable)) or "the time alone"
        raise InputError(f"{where}.{dim}: {variable} has no such dimension; it has {have}")
    if dim == "axis":
        checks.choice(f"{where}.axis", value, [*AXES, NORM])
        return value
    size = {"row": 3, "column": 3}.get(dim)
    if size is None and facts.elements is not None:
        size = facts.elements + (dim == "node")
    most = size or 10**6
    return checks.whole(f"{where}.{dim}", value, -most, most - 1)


def _shape(
    where: str, variable: str, reduce: str, chosen: Mapping[str, Any], facts: Facts
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What is left of the dimensions."""
    dims = [dim for dim in _free(variable) if dim not in chosen]
    if reduce in ("max", "min", "mean"):
        dims = [dim for dim in dims if dim not in ALONG_THE_STRING]
    sizes = []
    for dim in dims:
        if dim in ALONG_THE_STRING and facts.elements is None:
            raise InputError(
                f"{where}: expected one {dim} to be chosen, because members may have different numbers of elements; "
                "choose one, or give run.elements"
            )
        sizes.append((facts.elements or 0) + (dim == "node") if dim in ALONG_THE_STRING else 3)
    if reduce == "series":
        if facts.rows is None:
            raise InputError(
                f"{where}: expected a reduction (final, max, min, mean), because the times of samples differ between "
                "members; fix run.duration, run.step and run.sample for a series"
            )
        return ("time", *dims), (facts.rows, *sizes)
    return tuple(dims), tuple(sizes)


def _samples(where: str, at: Any, facts: Facts, time_of: Any) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Times, and the numbers of the samples at those times."""
    listed = at if isinstance(at, (list, tuple)) else [at]
    if not listed:
        return (), ()
    if facts.interval is None or facts.rows is None:
        raise InputError(
            f"{where}.at: expected fixed run.duration, run.step and run.sample, got a study that varies them"
        )
    times = tuple(time_of(f"{where}.at", value) for value in listed)
    last = (facts.rows - 1) * facts.interval
    rows = []
    for time in times:
        if not 0.0 <= time <= last * (1.0 + checks.WHOLE):
            raise InputError(f"{where}.at: expected times from 0 to {last:g} s, got {time:g} s")
        rows.append(0 if time == 0.0 else checks.whole_ratio(f"{where}.at", time, "run.sample", facts.interval))
    return times, tuple(rows)


def evaluate(output: Output, values: Mapping[str, Array], rows: NDArray[np.int64], string: String) -> Array:
    """One array with a leading dimension of members.

    Parameters
    ----------
    output : Output
    values : mapping
        Arrays (member, time, ...) by the names of `schema.SCHEMA`.
    rows : array of int
        How many samples each member has; the rest of a shorter run is not looked at.
    string : String
        Of the members; numbers that they differ in are columns.
    """
    if output.variable in READINGS:
        curve = TensionCurve(*output.curve) if output.curve else None
        return read_off(output.variable, curve, values, rows, string)
    x = _selected(output, values[output.variable])
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        return _reduced(output, x, rows)


def _selected(output: Output, x: Array) -> Array:
    """Chosen components only; behind member and time."""
    place = 2
    for dim in _free(output.variable):
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
    free = [dim for dim in _free(output.variable) if getattr(output, dim) is None]
    axes = (0, *(k + 1 for k, dim in enumerate(free) if dim in ALONG_THE_STRING))
    function: Any = {"max": np.max, "min": np.min, "mean": np.mean}[output.reduce]
    if output.reduce != "mean" and (rows == x.shape[1]).all():
        return np.asarray(function(x, axis=tuple(axis + 1 for axis in axes)))
    # one by one: the order of a sum, and so its rounding, must not depend on how many members there are
    return np.stack([function(np.ascontiguousarray(one[:n]), axis=axes) for one, n in zip(x, rows, strict=True)])
