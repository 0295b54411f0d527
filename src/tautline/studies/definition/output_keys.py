"""Outputs of a study from what its file says of them, checked against what its runs have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from tautline.analysis.fatigue import counting, tension_curve
from tautline.analysis.predictability import KNOWN, LOST
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.expressions import SENSORS, Parts, bind
from tautline.model.expressions import read as read_expression
from tautline.model.wording import either, near
from tautline.schema import AXES, Variable, sheave_names
from tautline.studies.definition.facts import Facts
from tautline.studies.definition.outputs import (
    ALONG_THE_LINE,
    HEALTH,
    NORM,
    OF_NEIGHBORS,
    OVER_TIME_AND_LINE,
    PLACES,
    VARIABLES,
    Output,
)
from tautline.studies.definition.readings import READINGS

REDUCTIONS = ("final", "max", "min", "mean", "at", "series")
_OF_A_WINDOW = ("start", "end")
_WORDS = ("name", "variable", "reduce", "at", *_OF_A_WINDOW, *PLACES)
_WORDS_OF_NEIGHBORS = ("name", "variable", "interval", "known", "lost")
_WORDS_OF_READINGS = ("name", "variable", "line")
_WORDS_OF_DAMAGE = (*_WORDS_OF_READINGS, "rope", "exponent", "constant")
_OURS = ("status", "message", "steps", "health", "figure", "warnings", "done", "member", "batch", "time")
_NOT_NAMES = (*HEALTH, *_OURS, *PLACES)


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
        how, _, variable = spec.strip().partition(" ")
        if how not in REDUCTIONS and not spec.replace(" ", "").replace("_", "").isalnum():  # an expression alone
            how, variable = "series", spec
        spec = {"reduce": how, "variable": variable} if variable else {"reduce": "series", "variable": how}
    if not isinstance(spec, Mapping):
        checks.refuse(where, "text such as 'max tension', or a table", spec)
    if "variable" not in spec:
        raise InputError(f"{where}.variable: missing; expected one of the variables of a run, such as tension")
    variable = spec["variable"]
    if isinstance(variable, str) and (variable in SENSORS or not variable.isidentifier()):
        return _of_expression(where, spec, facts, time_of)
    _check_variable(where, variable, facts)
    words = _words(variable)
    if words is not _WORDS and spec.get("reduce") == "series":
        spec = {word: value for word, value in spec.items() if word != "reduce"}
    checks.known(f"{where}.", spec, words)
    if variable in OF_NEIGHBORS:
        return _of_neighbors(where, spec, facts, time_of)
    if variable in READINGS:
        return _reading(where, spec, facts)
    reduce = spec.get("reduce", "at" if "at" in spec else "series")
    checks.choice(f"{where}.reduce", reduce, REDUCTIONS)
    if ("at" in spec) != (reduce == "at"):
        raise InputError(f"{where}.at: expected together with reduce = 'at' alone, got reduce = {reduce!r}")
    chosen, implied = _chosen(where, spec, variable, facts)
    dims, sizes = _shape(where, variable, reduce, chosen, facts)
    times, rows = _samples(where, spec.get("at", ()), facts, time_of)
    name = spec.get("name", _default_name(variable, reduce, chosen, implied))
    checks.instance(f"{where}.name", name, str)
    if len(rows) > 1:
        dims, sizes = (f"{name}_time", *dims), (len(rows), *sizes)
    window, limits = _window(where, spec, reduce, facts, time_of)
    chosen |= {"window": window, "limits": limits}
    return Output(name, variable, reduce, **chosen, at=rows, times=times, dims=dims, sizes=sizes, implied=implied)


def _of_expression(where: str, spec: Mapping[str, Any], facts: Facts, time_of: Any) -> Output:
    """An expression, which is one number at each time."""
    words = ("name", "variable", "reduce", "at", *_OF_A_WINDOW)
    checks.known(f"{where}.", spec, words, "key with an expression")
    text = read_expression(f"{where}.variable", spec["variable"])
    if text.is_condition:
        raise InputError(f"{where}.variable: expected a number, got the condition {text.text!r}")
    free = facts.bodies if facts.free_body is None else (facts.free_body,)
    parts = (facts.bodies, free, tuple(facts.lines), tuple(sheave_names(facts.over)))
    bind(text, Parts(facts.bodies, free, facts.lines, facts.over)).single()
    reduce = spec.get("reduce", "at" if "at" in spec else "series")
    checks.choice(f"{where}.reduce", reduce, REDUCTIONS)
    times, rows = _samples(where, spec.get("at", ()), facts, time_of)
    name = spec.get(
        "name", re.sub(r"\W+", "_", f"{reduce}_{text.text}" if reduce != "series" else text.text).strip("_")
    )
    checks.instance(f"{where}.name", name, str)
    dims, sizes = _over_time(where, reduce, facts)
    if len(rows) > 1:
        dims, sizes = (f"{name}_time",), (len(rows),)
    window, limits = _window(where, spec, reduce, facts, time_of)
    time: dict[str, Any] = {"at": rows, "times": times, "window": window, "limits": limits}
    return Output(name, text.text, reduce, **time, dims=dims, sizes=sizes, parts=parts)


def _words(variable: str) -> tuple[str, ...]:
    """Keys that an output of a variable may have."""
    if variable in OF_NEIGHBORS:
        return _WORDS_OF_NEIGHBORS
    if variable == "damage":
        return _WORDS_OF_DAMAGE
    return _WORDS_OF_READINGS if variable in READINGS else _WORDS


def _reading(where: str, spec: Mapping[str, Any], facts: Facts) -> Output:
    variable = spec["variable"]
    chosen, implied = _chosen(where, spec, variable, facts)
    loaded = chosen["line"] in facts.loaded if "line" in chosen else bool(facts.loaded)
    if READINGS[variable].of_breaking_load and not loaded:
        key = facts.key_of(chosen.get("line", "NAME"), "breaking_load")
        raise InputError(f"{where}: {variable} needs a breaking load; give {key} in `set` or `vary`")
    curve: tuple[float, ...] = ()
    if variable == "damage":
        counting("a study of damage")
        try:
            curve = tuple(tension_curve(spec.get("rope"), spec.get("exponent"), spec.get("constant")))
        except InputError as error:
            raise InputError(f"{where}.{error}") from None
    name = spec.get("name", _default_name(variable, "series", chosen, implied))
    checks.instance(f"{where}.name", name, str)
    dims, sizes = _shape(where, variable, "reading", chosen, facts)
    return Output(name, variable, "reading", **chosen, curve=curve, dims=dims, sizes=sizes, implied=implied)


def _of_neighbors(where: str, spec: Mapping[str, Any], facts: Facts, time_of: Any) -> Output:
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
    return Output(name, spec["variable"], "neighbors", interval=interval, known=known, lost=lost)


def _known(facts: Facts) -> dict[str, Variable]:
    """Variables of the runs of a study."""
    return {name: x for name, x in VARIABLES.items() if facts.bodies or "body" not in x.dims}


def _check_variable(where: str, variable: Any, facts: Facts) -> None:
    if variable in HEALTH:
        raise InputError(f"{where}.variable: {variable} is kept of every member in any case, leave it out")
    known = _known(facts)
    if variable not in known:
        hint = near(variable, known) or f"; there are {', '.join(known)}"
        raise InputError(f"{where}.variable: expected a variable of a run, got {variable!r}{hint}")


def _default_name(variable: str, reduce: str, chosen: Mapping[str, Any], implied: tuple[str, ...]) -> str:
    name = {"series": variable, "at": f"{variable}_at"}.get(reduce, f"{reduce}_{variable}")
    said = [dim for dim in ("body", "line", "axis") if dim in chosen and dim not in implied]
    return "_".join([name, *(str(chosen[dim]).replace("-", "_") for dim in said)])


def _chosen(where: str, spec: Mapping[str, Any], variable: str, facts: Facts) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Places of a variable that a study chooses, and those that need not be named, there being only one."""
    found: dict[str, Any] = {}
    for dim in (dim for dim in PLACES if dim in spec):
        found[dim] = _choice(where, dim, spec[dim], variable, facts, found)
    free = _sides(variable, facts)
    only = {"body": facts.free_body, "line": facts.only_line}
    implied = {dim: name for dim, name in only.items() if dim in free and dim not in found and name is not None}
    if "line" not in (*found, *implied) and any(dim in found for dim in ALONG_THE_LINE):
        raise InputError(
            f"{where}.line: missing; expected one of {', '.join(map(repr, facts.lines))}, whose nodes and "
            "elements are counted"
        )
    return found | implied, tuple(implied)


def _sides(variable: str, facts: Facts) -> tuple[str, ...]:
    """Dimensions that an output may choose from: nodes and elements are those of a line."""
    free = _known(facts)[variable].dims[1:]
    return ("line", *free) if "line" not in free and any(dim in ALONG_THE_LINE for dim in free) else free


def _choice(where: str, dim: str, value: Any, variable: str, facts: Facts, chosen: Mapping[str, Any]) -> Any:
    free = _sides(variable, facts)
    if dim not in free:
        have = ", ".join(free) or "the time alone"
        raise InputError(f"{where}.{dim}: {variable} has no such dimension; it has {have}")
    words = {"axis": [*AXES, NORM], "body": list(facts.bodies), "line": list(facts.lines)}
    if dim in words:
        checks.choice(f"{where}.{dim}", value, words[dim])
        return value
    size = {"row": 3, "column": 3}.get(dim, _length(dim, chosen.get("line", facts.only_line), facts))
    most = size or 10**6
    return checks.whole(f"{where}.{dim}", value, -most, most - 1)


def _length(dim: str, line: str | None, facts: Facts) -> int | None:
    """Length of a dimension, of one line where it is chosen; None where members may differ."""
    if dim not in ALONG_THE_LINE:
        return {"body": len(facts.bodies), "line": len(facts.lines)}.get(dim, 3)
    extra = dim == "node"
    counts = [facts.places(name, extra) for name in ([line] if line is not None else facts.lines)]
    return None if None in counts else sum(n or 0 for n in counts)


def _shape(
    where: str, variable: str, reduce: str, chosen: Mapping[str, Any], facts: Facts
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Dimensions that are left, and their sizes."""
    dims = [dim for dim in _known(facts)[variable].dims[1:] if dim not in chosen]
    if reduce in OVER_TIME_AND_LINE and any(dim in ALONG_THE_LINE for dim in dims):
        dims = [dim for dim in dims if dim not in ALONG_THE_LINE]
        dims = dims if "line" in chosen else ["line", *dims]
    sizes = []
    for dim in dims:
        size = _length(dim, chosen.get("line"), facts)
        if size is None:
            wanted = "choose a line with a number of elements that is not varied"
            if facts.only_line is not None:
                wanted = f"give {facts.key_of(facts.only_line, 'elements')}"
            raise InputError(
                f"{where}: expected one {dim} to be chosen, because members may have different numbers of elements; "
                f"choose one, or {wanted}"
            )
        sizes.append(size)
    if "line" in chosen and facts.only_line is None:  # lines may have different numbers of elements
        dims = [f"{chosen['line']}_{dim}" if dim in ALONG_THE_LINE else dim for dim in dims]
    time_dims, rows = _over_time(where, reduce, facts)
    return (*time_dims, *dims), (*rows, *sizes)


def _over_time(where: str, reduce: str, facts: Facts) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Dimension of the time and its length, of a series."""
    if reduce != "series":
        return (), ()
    if facts.rows is None:
        raise InputError(
            f"{where}: expected a reduction (final, max, min, mean), because the times of samples differ between "
            "members; fix run.duration, run.step and run.sample for a series"
        )
    return ("time",), (facts.rows,)


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


def _window(
    where: str, spec: Mapping[str, Any], reduce: str, facts: Facts, time_of: Any
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Samples of a part of the run, both ends included, and these ends in seconds; none where all samples count."""
    given = [word for word in _OF_A_WINDOW if word in spec]
    if not given:
        return (), ()
    if reduce not in OVER_TIME_AND_LINE:
        expected = f"only with reduce = {either([repr(x) for x in OVER_TIME_AND_LINE])}"
        raise InputError(f"{where}.{given[0]}: expected {expected}, got reduce = {reduce!r}")
    if facts.interval is None or facts.rows is None:
        raise InputError(
            f"{where}.{given[0]}: expected fixed run.duration, run.step and run.sample, got a study that varies them"
        )
    last = (facts.rows - 1) * facts.interval
    limits = tuple(time_of(f"{where}.{word}", spec[word]) if word in spec else None for word in _OF_A_WINDOW)
    low, high = 0.0 if limits[0] is None else limits[0], last if limits[1] is None else limits[1]
    near = checks.WHOLE  # of an interval
    first, after = math.ceil(low / facts.interval - near), math.floor(high / facts.interval + near) + 1
    window = max(first, 0), min(after, facts.rows)
    if window[0] >= window[1]:
        expected = f"a window with samples, which are every {facts.interval:g} s from 0 to {last:g} s"
        raise InputError(f"{where}.{given[0]}: expected {expected}, got {low:g} to {high:g} s")
    return window, limits
