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
from tautline.model.expressions import SENSORS, TIME, Bound, Parts, bind
from tautline.model.expressions import read as read_expression
from tautline.model.wording import either, near
from tautline.schema import SCHEMA, sheave_names
from tautline.studies.definition.facts import Facts
from tautline.studies.definition.outputs import (
    ALONG_THE_LINE,
    HEALTH,
    OF_NEIGHBORS,
    OVER_TIME_AND_LINE,
    Output,
)
from tautline.studies.definition.readings import READINGS

REDUCTIONS = ("final", "max", "min", "mean", "at", "series")
_OF_A_WINDOW = ("start", "end")
_WORDS = ("name", "variable", "reduce", "at", *_OF_A_WINDOW)
_WORDS_OF_NEIGHBORS = ("name", "variable", "interval", "known", "lost")
_WORDS_OF_READINGS = ("name", "variable")
_WORDS_OF_DAMAGE = (*_WORDS_OF_READINGS, "rope", "exponent", "constant")
# A variable by itself, or that of one line or body.
_PLAIN = re.compile(r"(\w+)(?:\s*\[\s*['\"]?([\w-]+)['\"]?\s*\])?")
_OURS = ("status", "message", "steps", "health", "figure", "warnings", "done", "member", "batch")
_NOT_NAMES = (*HEALTH, *_OURS, *(dim for variable in SCHEMA.values() for dim in variable.dims))


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
    plain = _PLAIN.fullmatch(spec["variable"].strip()) if isinstance(spec["variable"], str) else None
    word, label = plain.groups() if plain is not None else ("", None)
    if word in (*OF_NEIGHBORS, *READINGS) and spec.get("reduce") == "series":
        spec = {key: value for key, value in spec.items() if key != "reduce"}
    if word in OF_NEIGHBORS:
        if label is not None:
            raise InputError(f"{where}.variable: {word} is of the motion as a whole, leave out [{label}]")
        checks.known(f"{where}.", spec, _WORDS_OF_NEIGHBORS)
        return _of_neighbors(where, spec, facts, time_of)
    if word in READINGS:
        checks.known(f"{where}.", spec, _WORDS_OF_DAMAGE if word == "damage" else _WORDS_OF_READINGS)
        return _reading(where, spec, word, label, facts)
    if word in HEALTH:
        raise InputError(f"{where}.variable: {word} is kept of every member in any case, leave it out")
    if plain is not None:
        _check_variable(where, word, facts)
    checks.known(f"{where}.", spec, _WORDS)
    return _of_expression(where, spec, facts, time_of)


def _of_expression(where: str, spec: Mapping[str, Any], facts: Facts, time_of: Any) -> Output:
    text = read_expression(f"{where}.variable", spec["variable"])
    if text.is_condition:
        raise InputError(f"{where}.variable: expected a number, got the condition {text.text!r}")
    for variable in text.needs:
        if variable != TIME or len(text.needs) == 1:
            _check_variable(where, variable, facts)
    free = facts.bodies if facts.free_body is None else (facts.free_body,)
    bound = bind(text, Parts(facts.bodies, free, facts.lines, facts.over))
    reduce = spec.get("reduce", "at" if "at" in spec else "series")
    checks.choice(f"{where}.reduce", reduce, REDUCTIONS)
    if ("at" in spec) != (reduce == "at"):
        raise InputError(f"{where}.at: expected together with reduce = 'at' alone, got reduce = {reduce!r}")
    name = _name(where, spec, text.text, reduce)
    times, rows = _samples(where, spec.get("at", ()), facts, time_of)
    dims, sizes = _shape(where, bound, reduce, facts)
    if len(rows) > 1:
        dims, sizes = (f"{name}_time", *dims), (len(rows), *sizes)
    window, limits = _window(where, spec, reduce, facts, time_of)
    time: dict[str, Any] = {"at": rows, "times": times, "window": window, "limits": limits}
    parts = (facts.bodies, free, tuple(facts.lines), tuple(sheave_names(facts.over)))
    return Output(name, text.text, reduce, **time, dims=dims, sizes=sizes, parts=parts)


def _reading(where: str, spec: Mapping[str, Any], word: str, line: str | None, facts: Facts) -> Output:
    """Quantity that is read off a run, of one line or of each."""
    if line is not None:
        checks.choice(f"{where}.variable", line, list(facts.lines))
    loaded = line in facts.loaded if line is not None else bool(facts.loaded)
    if READINGS[word].of_breaking_load and not loaded:
        key = facts.key_of(line or facts.only_line or "NAME", "breaking_load")
        raise InputError(f"{where}: {word} needs a breaking load; give {key} in `set` or `vary`")
    curve: tuple[float, ...] = ()
    if word == "damage":
        counting("a study of damage")
        try:
            curve = tuple(tension_curve(spec.get("rope"), spec.get("exponent"), spec.get("constant")))
        except InputError as error:
            raise InputError(f"{where}.{error}") from None
    each = line is None and facts.only_line is None
    dims, sizes = (("line",), (len(facts.lines),)) if each else ((), ())
    name = _name(where, spec, spec["variable"], "series")
    return Output(name, word, "reading", curve=curve, dims=dims, sizes=sizes, line=line)


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
    name = _name(where, spec, spec["variable"], "series")
    return Output(name, spec["variable"], "neighbors", interval=interval, known=known, lost=lost)


def _check_variable(where: str, variable: str, facts: Facts) -> None:
    known = {name: x for name, x in SCHEMA.items() if facts.bodies or "body" not in x.dims}
    words = (*known, *SENSORS, *OF_NEIGHBORS, *READINGS)
    if variable not in words:
        hint = near(variable, words) or f"; there are {', '.join(words)}"
        raise InputError(f"{where}.variable: expected a variable of a run, got {variable!r}{hint}")


def _name(where: str, spec: Mapping[str, Any], variable: str, reduce: str) -> str:
    """Name of an output: the given one, or from what it is."""
    words = re.sub(r"\W+", "_", variable).strip("_")
    name = spec.get("name", {"series": words, "at": f"{words}_at"}.get(reduce, f"{reduce}_{words}"))
    checks.instance(f"{where}.name", name, str)
    return str(name)


def _shape(where: str, bound: Bound, reduce: str, facts: Facts) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Dimensions that are left, and their sizes."""
    dims, sizes = list(bound.dims), list(bound.sizes)
    kind, _, line = dims[0].partition(" of ") if dims else ("", "", "")
    if kind in ALONG_THE_LINE and reduce in OVER_TIME_AND_LINE:
        each = not line and facts.only_line is None
        dims[:1], sizes[:1] = (["line"], [len(facts.lines)]) if each else ([], [])
    elif line:  # lines may have different numbers of elements
        dims[0] = kind if facts.only_line is not None else f"{line}_{kind}"
    for dim, size in zip(dims, sizes, strict=True):
        if size is None:
            wanted = "choose a line with a number of elements that is not varied"
            if facts.only_line is not None:
                wanted = f"give {facts.key_of(facts.only_line, 'elements')}"
            raise InputError(
                f"{where}: expected one {dim} to be chosen, because members may have different numbers of elements; "
                f"choose one, or {wanted}"
            )
    time_dims, rows = _over_time(where, reduce, facts)
    return (*time_dims, *dims), (*rows, *(size or 0 for size in sizes))


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
