"""Short keys of a system with one line and one body: `[string] [reel] [body] [command] [guide] [applied_force]`.

They stand for those of the line, which is called "line", and of the body, called "body": `string.stiffness` is
`lines.line.stiffness`, `body.mass` is `bodies.body.mass`. A guide that moves is a kinematic body called "guide".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model import kinds
from tautline.model.file_keys import Problem, ProblemsError, Tree, keys_of
from tautline.model.fluid import BodyInFluid
from tautline.model.forms import WrongValueError
from tautline.model.keys import Key
from tautline.model.system.parts import ANCHOR, BODY, GUIDE, LINE, Kinematic, Line
from tautline.model.system.reading import read
from tautline.model.system.sections import KIND, SHORT_PARTS, START
from tautline.model.system.sections import SECTIONS as PATHS
from tautline.model.system.system import System
from tautline.model.wording import no_such

NEEDED = ("string", "body", "initial", "run")
SHORT = ("string", "reel", "body", "command", "guide", "applied_force")
TOP = ("title", "description", "gravity")
SECTIONS = (*NEEDED, "reel", "command", "guide", "applied_force", "fluid")
Path = tuple[str, ...]


class Names(NamedTuple):
    """Names of the parts."""

    line: str = LINE
    body: str = BODY
    guide: str = ""  # empty if the reel stands in space


def is_short(tree: Mapping[str, Any]) -> bool:
    """Whether a tree of keys has the short form."""
    return "lines" not in tree and "bodies" not in tree


def names_of(system: System) -> Names | None:
    """Names of the only line, of the only free body and of what carries the line; None where there are others."""
    free = list(system.free_bodies)
    if len(system.lines) != 1 or len(free) != 1:
        return None
    name, line = next(iter(system.lines.items()))
    return Names(name, free[0], line.start if isinstance(system.bodies.get(line.start), Kinematic) else "")


def names_in(tree: Mapping[str, Any]) -> Names | None:
    """`names_of` from a tree of keys that is not in the short form."""
    bodies, lines = (tree.get(section) for section in ("bodies", "lines"))
    if not isinstance(bodies, Mapping) or not isinstance(lines, Mapping):
        return None
    free = [name for name, body in bodies.items() if not isinstance(body, Mapping) or "kind" not in body]
    if len(lines) != 1 or len(free) != 1:
        return None
    name, line = next(iter(lines.items()))
    start = line.get("start", "") if isinstance(line, Mapping) else ""
    return Names(name, free[0], start if start in bodies and start != free[0] else "")


def full(path: Path, names: Names) -> Path:
    """Path that a short one stands for; others as they are."""
    section, rest = path[0], path[1:]
    line, body = ("lines", names.line), ("bodies", names.body)
    if section == "string":
        return (*line, *rest)
    if path[:2] == ("reel", "guide_position"):
        place = ("bodies", names.guide, "position") if names.guide else (*line, "start_point")
        return (*place, *rest[1:])
    if section in ("reel", "command"):
        return (*line, section, *rest)
    if section == "body":
        return (*body, *rest)
    if section == "guide":
        return ("bodies", names.guide or GUIDE, "path", *rest)
    if section == "applied_force" or (section == "fluid" and rest and rest[0] in keys_of(BodyInFluid).kinds):
        return (*body, section, *rest)
    if path[:2] == ("run", "elements"):
        return (*line, *rest)
    return path


def short(path: Path, names: Names = Names(guide=GUIDE)) -> Path:  # noqa: B008 - never changed
    """The short path of one that it stands for; others as they are."""
    section, name, rest = path[:1], path[1:2], path[2:]
    if section == ("lines",) and name == (names.line,):
        inner = rest[:1]
        if inner in (("reel",), ("command",)):
            return rest
        if inner == ("elements",):
            return ("run", *rest)
        if inner == ("start_point",):
            return ("reel", "guide_position", *rest[1:])
        if inner and inner[0] in keys_of(Line).kinds:  # of its ends: the short form has none of them
            return path
        return ("string", *(rest[1:] if inner == ("string",) else rest))
    if section == ("bodies",) and name == (names.body,):
        return rest if rest[:1] in (("fluid",), ("applied_force",)) else ("body", *rest)
    if section == ("bodies",) and name and name == (names.guide,) and rest[:1] not in (("turning",), ("angles",)):
        return ("reel", "guide_position") if rest[:1] == ("position",) else ("guide", *rest[1:])
    return path


def spelled(system: System, *path: str) -> str:
    """A key of a system as its files spell it: the short one where there is one line and one free body."""
    names = names_of(system)
    return ".".join(path if names is None else short(path, names))


def full_key(key: Key, system: System) -> Key:
    """The key of a system that a short one stands for."""
    path = (*key.path, key.name)
    names = names_of(system)
    is_one = path[0] in SHORT or path == ("run", "elements")
    if names is None:
        if is_one:
            raise InputError(
                f"{key.text}: no such key; expected one of a line or a body, such as lines.NAME.{key.name}"
            )
        return key
    found = full(path, names)
    return key if found == path else Key(key.text, ".".join(found[:-1]), found[-1], key.components)


def expanded(tree: Mapping[str, Any]) -> Tree:
    """The tree that a short one stands for; ProblemsError where its sections are not those of the short form."""
    needed = (*NEEDED, "reel") if "command" in tree else NEEDED  # a line without a reel is tied to a point
    problems = [Problem((name,), "missing") for name in needed if name not in tree]
    given: dict[str, Any] = {}
    for name, value in tree.items():
        if name in TOP:
            continue
        if name not in SECTIONS:
            problems.append(Problem((str(name),), no_such_key(name, [*TOP, *SECTIONS])))
            continue
        try:
            given[name] = dict(kinds.section(value))
        except WrongValueError as error:
            problems.append(Problem((name,), str(error)))
    for section, words in (("string", {*keys_of(Line).kinds, *_inside("lines")}), ("body", {KIND, *_inside("bodies")})):
        for key in words & given.get(section, {}).keys():
            problems.append(Problem((section, key), "no such key"))
            del given[section][key]
    if problems:
        raise ProblemsError(problems + _others(given, tree))
    return _long(given, {name: tree[name] for name in TOP if name in tree})


def _inside(section: str) -> set[str]:
    """Sections inside of those of bodies or lines, which have others in the short form."""
    return {path[2] for path in PATHS if path[0] == section and len(path) > 2}


def _long(given: dict[str, dict[str, Any]], top: Tree) -> Tree:
    carried = "guide" in given
    names = Names(guide=GUIDE if carried else "")
    found: Tree = dict(top)
    _at(found, ("lines", LINE)).update({"end": BODY, "start": GUIDE if carried else ANCHOR})
    _at(found, ("bodies",))
    if carried:
        _at(found, ("bodies", GUIDE)).update({"kind": "kinematic"})
    for section, values in given.items():
        if section == "initial":
            found[section] = values
            continue
        _at(found, full((section,), names))
        for key, value in values.items():
            *place, last = full((section, key), names)
            _at(found, tuple(place))[last] = value
    return found


def _at(tree: Tree, path: Path) -> Tree:
    """A section of a tree, made if it is not there."""
    for name in path:
        tree = tree.setdefault(name, {})
    return tree


def no_such_key(name: str, known: Sequence[str]) -> str:
    """Sentence on a key at the top that there is not: the section that has it, or what there is."""
    parts = {section: part for section, part in ({"initial": START} | SHORT_PARTS).items() if section in known}
    for section, part in parts.items():
        if any(name in keys_of(cls).kinds for cls in part.options.values()):
            return f"no such key; did you mean {f'{section}.{name}'!r}?"
    return no_such("key", name, known)


def _others(given: dict[str, dict[str, Any]], tree: Mapping[str, Any]) -> list[Problem]:
    """Further problems of the sections that are there."""
    needed = (*NEEDED, "reel") if {"reel", "command"} & tree.keys() else NEEDED
    filled: dict[str, dict[str, Any]] = {name: {} for name in needed}
    try:
        read(_long(filled | given, {name: tree[name] for name in TOP if name in tree}))
    except ProblemsError as error:
        found = (problem._replace(path=short(problem.path)) for problem in error.problems)
        return [problem for problem in found if problem.path[0] in given or problem.path[0] in TOP]
    return []
