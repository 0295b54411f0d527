"""Study files and their equals in Python: read, checked against the scenario by name, and turned into plain SI."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.files import scenario
from tautline.files.scenario import ScenarioError
from tautline.model import checks, keys
from tautline.model.file_keys import Tree
from tautline.model.keys import Key, dotted
from tautline.model.short_keys import expanded, is_short
from tautline.model.system import keys as system_keys
from tautline.model.system.case import Case
from tautline.studies.definition import designs, output_keys, parameters, tables
from tautline.studies.definition.designs import Design
from tautline.studies.definition.facts import Facts, facts_of
from tautline.studies.definition.outputs import Output
from tautline.studies.definition.parameters import DISTRIBUTIONS, Parameter, Values
from tautline.studies.definition.scenario_keys import Language, flattened
from tautline.studies.definition.work import Work

# Members whose values are looked at before a study begins.
MEMBERS_TRIED = 4096
_WORDS = ("title", "description", "scenario", "set", "vary", "table", "design", "outputs")


class StudyError(InputError):
    """A study cannot be used. The message says where and why."""


@dataclass(frozen=True)
class Study:
    """Study as it is to be computed: every value in SI, nothing run yet."""

    title: str
    description: str
    work: Work
    design: Design
    varied: dict[str, dict[str, Any]]  # by key, as a study file would say it
    units: dict[str, str]
    given: dict[str, Values]  # sides of a grid, or columns of a table
    sampled: tuple[Parameter, ...]  # of other designs
    facts: Facts  # what all members have in common

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that are varied."""
        return (*self.given, *(parameter.key.text for parameter in self.sampled))

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of a grid's sides, or the number of members."""
        if self.sampled:
            return (designs.members_of(self.design, len(self.sampled)),)
        return designs.grid_shape(self.given) if self.design.kind == "grid" else (len(next(iter(self.given.values()))),)

    @property
    def table(self) -> dict[str, Values]:
        """All values by key: along a dimension each in a grid, else along the members."""
        return self.part(0, self.members) if self.sampled else self.given

    def part(self, first: int, last: int) -> dict[str, Values]:
        """Values by key of some members of a design that is no grid; the same however it is cut into parts."""
        if self.sampled:
            return designs.columns(self.design, self.sampled, first, last)
        return {key: column[first:last] for key, column in self.given.items()}

    @property
    def members(self) -> int:
        return math.prod(self.shape)

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions of members."""
        return self.keys if self.design.kind == "grid" else ("member",)

    def plan(self) -> dict[str, Any]:
        """All that decides about the results, in plain values."""
        design = {"kind": self.design.kind, **self.design.settings}
        return {**asdict(self.work), "design": design, "vary": self.varied, "units": self.units}


def work_of(plan: Mapping[str, Any]) -> Work:
    """From a plan that went through JSON."""
    found = []
    for described in plan["outputs"]:
        found.append(Output(**{name: _with_tuples(x) for name, x in described.items()}))
    return Work(dict(plan["scenario"]), dict(plan["places"]), tuple(found), plan["is_short"])


def _with_tuples(x: Any) -> Any:
    return tuple(map(_with_tuples, x)) if isinstance(x, list) else x


def read(definition: str | os.PathLike[str] | Mapping[str, Any]) -> Study:
    """From a study file, or from a mapping of the same form."""
    if isinstance(definition, Mapping):
        return _read(definition, "study", Path())
    path = checks.path("definition", definition)
    text = scenario.read(path)
    tree = scenario.tree_of(text, str(path))
    if "scenario" not in tree and ("string" in tree or "lines" in tree):
        raise StudyError(f"{path}: a scenario and not a study; `tautline run {path}` runs it")
    return _read(tree, str(path), path.parent)


def _read(tree: Mapping[str, Any], source: str, folder: Path) -> Study:
    with scenario.said_of(source, StudyError):
        checks.known("", tree, _WORDS, "key in a study")
        design, columns = _design(tree, folder)
        varied = {} if columns is not None else _flat(tree, "vary")
        firsts = {k: _first(k, v) for k, v in varied.items()} if columns is None else _first_rows(columns)
        for key in _flat(tree, "set"):
            if key in firsts:
                raise InputError(f"{key}: expected to be set or to be varied, got both")
        language, base = _base(tree, source, folder, firsts)
        reader = _Reader(language, base, source)
        given: dict[str, Values] = {}
        sampled: tuple[Parameter, ...] = ()
        if columns is None:
            chosen = tuple(parameters.read(k, v, reader.unit(k), reader) for k, v in varied.items())
            described = {p.key.text: p.description() for p in chosen}
            given, sampled = (designs.sides(chosen), ()) if design.kind == "grid" else ({}, chosen)
        else:
            given = tables.checked(columns, "table", reader)
            described = {key: {"sha256": _digest(column)} for key, column in given.items()}
        complete = system_keys.complete(base)
        places = _places(described, reader)
        facts = facts_of(complete, tuple(places.values()), language.is_short)
        found = output_keys.read(tree.get("outputs"), facts, reader.time)
        for word in ("title", "description"):
            checks.instance(word, tree.get(word, ""), str)
        plain = {name: x for name, x in complete.items() if name not in ("title", "description")}
        work = Work(plain, places, found, language.is_short)
        units = {key: reader.unit(key) for key in described}
        titles = tree.get("title", ""), tree.get("description", "")
        study = Study(*titles, work, design, described, units, given, sampled, facts)
        if sampled:
            designs.check_room(design, len(sampled))
            study.part(0, min(study.members, MEMBERS_TRIED))  # refuses distributions that have no such points
        assert study.shape  # refuses a grid that is too large
        return study


def _flat(tree: Mapping[str, Any], word: str) -> dict[str, Any]:
    section = tree.get(word, {})
    if not isinstance(section, Mapping):
        checks.refuse(word, "a section of keys of the scenario", section)
    for name in section:
        if name in _WORDS:
            raise InputError(
                f"{word}.{name}: no key of a scenario; move `{name} = ...` above the first [section] of the file"
            )
    return flattened(section)


def _design(tree: Mapping[str, Any], folder: Path) -> tuple[Design, dict[str, Values] | None]:
    """The design, and the columns of a table if it is one."""
    if "table" not in tree:
        design = designs.read(tree.get("design", {"kind": "grid"}))
        if design.kind == "table":
            raise InputError(
                "table: missing; with design.kind = 'table' it names a CSV file with keys in its first row"
            )
        if not _flat(tree, "vary"):
            raise InputError("vary: expected at least one key of the scenario, got none")
        return design, None
    if "vary" in tree or tree.get("design", {"kind": "table"}) != {"kind": "table"}:
        raise InputError("table: expected alone, without vary and design; it is the design")
    table = tree["table"]
    if isinstance(table, (str, os.PathLike)):
        return Design("table", {}), tables.from_file(folder / table)
    return Design("table", {}), tables.from_columns(table)


def _first(key: str, spec: Any) -> Any:
    """Any value that a key takes, for a first check; what is wrong with the rest of `spec` is found later."""
    if isinstance(spec, Mapping):
        words = [word for with_unit, _ in DISTRIBUTIONS.values() for word in with_unit]
        listed = spec.get("values") or [spec[word] for word in words if word in spec]
    else:
        listed = spec
    if not isinstance(listed, (list, tuple)) or not listed:
        checks.refuse(f"vary.{key}", "a list of values, or a table with from and to, or with a distribution", spec)
    return listed[0]


def _first_rows(columns: Mapping[str, Values]) -> dict[str, Any]:
    for key, column in columns.items():
        if not len(column):
            raise InputError(f"table: expected rows below the keys, {key} has none")
    return {key: column.tolist()[0] for key, column in columns.items()}


def _places(varied: Mapping[str, Any], reader: _Reader) -> dict[str, str]:
    """Keys of the system by those that are varied."""
    found: dict[str, str] = {}
    for text in varied:
        place = reader.place(text)
        if place in found.values():
            raise InputError(f"{text}: expected once, got it again as {next(x for x in found if found[x] == place)}")
        found[text] = place
    return found


def _base(tree: Mapping[str, Any], source: str, folder: Path, firsts: Mapping[str, Any]) -> tuple[Language, Tree]:
    """The keys with all changes and the first value of every varied key: names and units are checked here."""
    case, given = _scenario(tree, folder)
    language = Language(case.system, is_short(given))
    base = expanded(given) if language.is_short else given
    language.clear_renamed(base, tree.get("set", {}))
    for key, value in (*_flat(tree, "set").items(), *firsts.items()):
        language.put(base, key, value)
    return language, language.read(base, _located(source))


def _located(source: str) -> Callable[[list[str]], str]:
    """Heads of errors: the source and the key."""
    return lambda path: f"{source}: {dotted(path)}"


def _scenario(tree: Mapping[str, Any], folder: Path) -> tuple[Case, dict[str, Any]]:
    """The case that is varied, and its keys as they were given."""
    given = tree.get("scenario")
    if given is None:
        raise InputError("scenario: missing; expected the name of a built-in scenario, or a file")
    if isinstance(given, Case):
        return given, given.to_dict()
    if isinstance(given, Mapping):
        return Case.from_dict(given), dict(given)
    if not isinstance(given, (str, os.PathLike)):
        checks.refuse("scenario", "the name of a built-in scenario, a file or a Case", given)
    beside = folder / given
    found = beside if beside.is_file() else scenario.find(str(given))
    text = scenario.read(found)
    case = scenario.parse(text, str(found))  # errors in that file are reported with their lines
    return case, scenario.beside(scenario.tree_of(text, str(found)), found.parent)


class _Reader:
    """Reads values of keys as the scenario does: by putting them there."""

    def __init__(self, language: Language, base: Tree, source: str) -> None:
        self._base, self._language, self._locate = base, language, _located(f"{source}: vary")

    def __call__(self, key: Key, value: Any) -> Any:
        tree = dict(self._base)
        self._language.put(tree, key.text, value)
        return self._language.get(self._language.read(tree, self._locate), key.text)

    def time(self, name: str, value: Any) -> float:
        """With a unit, as run.duration has it."""
        try:
            return float(self(keys.parse("run.duration"), value))
        except ScenarioError as error:
            raise InputError(f"{name}: {str(error).partition('run.duration: ')[2]}") from None

    def unit(self, key: str) -> str:
        return self._language.unit(self._base, key)

    def place(self, key: str) -> str:
        """The key of the system, with components."""
        found = self._language.full(keys.parse(key))
        return found.whole + "".join(f"[{k}]" for k in found.components)


def _digest(column: Values) -> str:
    raw = "\n".join(column.tolist()).encode() if column.dtype.kind == "O" else np.ascontiguousarray(column).tobytes()
    return hashlib.sha256(raw).hexdigest()
