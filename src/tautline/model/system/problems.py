"""Problems of keys: from errors of the model about its arguments to sentences about keys of a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tautline.errors import EquilibriumError, InputError
from tautline.model import file_keys
from tautline.model.description import fields_of
from tautline.model.file_keys import Problem, ProblemsError, keys_of
from tautline.model.keys import Locate
from tautline.model.reel import Reel
from tautline.model.system.sections import BODY, SECTIONS, class_of, parts_of
from tautline.model.system.state import BodyState, LineStart, LineState
from tautline.model.table_files import FILE


class ScenarioError(InputError):
    """A case cannot be used. The message says which key, what was expected and what came; of a file also where."""


RIGID_BODY = "RigidBody"
# Sections of the objects that errors of others name, by their classes.
INSIDE = {"Reel": ("reel", Reel)}
# What begins a path from the top.
FULL = ("lines.", "bodies.", "fluid.", "initial.", "state.")


class Named(NamedTuple):
    """The argument that an error names."""

    owner: str
    key: str
    sentence: str


def argument_of(error: Exception) -> Named | None:
    """Owner and key that an error names, as "Reel.drum_radius: ...", "Fluid.flow[0] (depths): ..."."""
    name, colon, sentence = str(error).partition(": ")
    if not colon or " " in name.partition("[")[0]:
        return None
    owner, _, argument = re.split(r"[\[(]", name)[0].strip().rpartition(".")
    inside = re.search(r"\((\w+)\)$", name)
    return Named(owner, inside[1] if inside else argument, sentence)


def problem_at(
    error: Exception, path: tuple[str, ...], cls: type | None = None, given: Mapping[str, Any] | None = None
) -> Problem:
    """Problem of a key, from an error of what the path leads to, whose class and keys may be known."""
    named = argument_of(error)
    if named is None:
        return Problem(path, str(error))
    owner, key, sentence = named
    if f"{owner}.".startswith(FULL):
        place = tuple(f"{owner}.{key}".split("."))
        return Problem(("initial", *place[1:]) if place[0] == "state" else place, sentence)
    if owner == "StopWhen":
        return Problem((*path, "stop", key), sentence)
    if owner.startswith("Line.over"):
        return Problem((*path, *owner.split(".")[1:], key), sentence)
    if owner in INSIDE and cls is not INSIDE[owner][1]:
        inner, cls = INSIDE[owner]
        path, given = (*path, inner), {}
    if cls is not None:
        return Problem((*path, given_by(cls, key, given or {})) if key in keys_of(cls).kinds else path, sentence)
    return Problem((*path, key) if key.islower() and key not in path[-1:] else path, sentence)


def problem_of(error: Exception, tree: Mapping[str, Any], section: str | tuple[str, ...]) -> Problem:
    """Problem of a key of a tree, from an error of whatever uses a section."""
    path = section if isinstance(section, tuple) else (section,) if section else ()
    named = argument_of(error)
    if named is None:
        return Problem(path, str(error))
    owner, key, sentence = named
    if f"{owner}.".startswith(FULL):
        return _of_start(problem_at(error, path), tree)
    if owner == "System":
        return Problem((key,), sentence)
    found = list(_classes(tree))
    body = [cls.__name__ for cls in BODY.options.values()]
    places = [(at, cls) for at, cls in found if cls.__name__ == owner or (owner == RIGID_BODY and cls.__name__ in body)]
    places.sort(key=lambda place: place[0][: len(path)] != path)
    if not places:  # settings of a run are asked for wherever things are put together
        places = [(at, cls) for wanted in (path, ("run",)) for at, cls in found if at == wanted]
    for at, cls in places:
        if key in keys_of(cls).kinds:
            return Problem((*at, given_by(cls, key, _at(tree, at))), sentence)
    if owner == "StopWhen" or not places:
        return problem_at(error, path)
    at = places[0][0]
    return Problem((*at, "kind") if key == "system" else at, sentence)


def _classes(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], type]]:
    """Sections of a tree, and the classes that have their keys."""
    for pattern in SECTIONS:
        for path in _paths(tree, pattern):
            section = _at(tree, path)
            for part in parts_of(path, section):
                if not part.word or section.get(part.word) in part.options:
                    yield path, class_of(part, section)


def _paths(tree: Any, pattern: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Paths of the sections of a tree that fit a pattern."""
    if not isinstance(tree, Mapping):
        return []
    if not pattern:
        return [()]
    names = [name for name in tree if pattern[0] in ("*", name)]
    return [(name, *rest) for name in names for rest in _paths(tree[name], pattern[1:])]


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        tree = tree[name]
    return tree


def _of_start(found: Problem, tree: Mapping[str, Any]) -> Problem:
    """A problem with a body or a line, which may be with its place at the start."""
    kind, *rest = found.path
    inside: Any = tree.get("initial", {}).get(kind, {}) if isinstance(tree.get("initial"), Mapping) else {}
    states = {"bodies": (BodyState,), "lines": (LineStart, LineState)}.get(kind, ())
    known = {key for cls in states for key in keys_of(cls).kinds}
    if len(rest) == 2 and rest[1] in known and rest[0] in inside:
        return found._replace(path=("initial", *found.path))
    return found


def given_by(cls: type, key: str, given: Mapping[str, Any]) -> str:
    """The key itself, or the first of those that gave it in another way."""
    kind = fields_of(cls).get(key)
    others = [other for way in kind.ways for other in way.keys] if kind is not None else []
    file = file_keys.file_of(cls)
    others += [FILE] if file is not None and key in file.stands_for else []
    return key if key in given else next((other for other in others if other in given), key)


@contextmanager
def naming_errors(
    tree: Mapping[str, Any],
    locate: Locate,
    section: str | tuple[str, ...],
    spelled: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple,
) -> Iterator[None]:
    """Errors about arguments become errors about the keys of a tree; `spelled` gives the path of one as that has it."""
    try:
        yield
    except ScenarioError:
        raise
    except ProblemsError as error:
        problems = error.problems
    except EquilibriumError as error:
        problems = [Problem(section if isinstance(section, tuple) else (section,), str(error))]
    except InputError as error:
        problems = [problem_of(error, tree, section)]
    else:
        return
    problems = [problem._replace(path=spelled(problem.path)) for problem in problems]
    problems = sorted(problems, key=lambda problem: _place_in(tree, problem.path))
    lines = [f"{locate(list(problem.path))}: {problem.sentence}" for problem in problems]
    raise ScenarioError("\n".join(lines)) from None


def _place_in(tree: Any, path: tuple[str, ...]) -> list[int]:
    """Where a key stands among those of a tree and of its section; behind all others if it is not there."""
    found = []
    for name in path:
        names = list(tree) if isinstance(tree, Mapping) else []
        found.append(names.index(name) if name in names else len(names))
        tree = tree[name] if name in names else None
    return found
