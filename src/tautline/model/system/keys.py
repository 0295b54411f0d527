"""Keys of a system by their paths: which sections there are, their values in SI, their defaults and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from tautline.errors import InputError
from tautline.model import file_keys, keys, kinds
from tautline.model.checks import ZERO
from tautline.model.commands.base import Command
from tautline.model.file_keys import Problem, ProblemsError, Tree, keys_of
from tautline.model.fluid import BodyInFluid
from tautline.model.forms import WrongValueError
from tautline.model.keys import Key, parse
from tautline.model.kinds import MISSING, Choice, Kind
from tautline.model.parts import Part
from tautline.model.short_keys import SHORT, full_key, names_of, no_such_key
from tautline.model.system.parts import GUIDE
from tautline.model.system.reading import NO_ELEMENTS, with_string
from tautline.model.system.section_reader import Reading
from tautline.model.system.sections import (
    HEADS,
    KIND,
    KINDS,
    OF_PLACES,
    PLACED,
    SECTIONS,
    SHORT_PARTS,
    START,
    TOP,
    class_of,
    command_words,
    matches,
    parts_at,
    parts_of,
    staged,
)
from tautline.model.system.system import System
from tautline.model.system.to_keys import command_keys, tagged
from tautline.model.wording import near, no_such

# Keys of sections that hold others.
WORDS: dict[tuple[str, ...], dict[str, Kind]] = {
    (): TOP,
    ("initial",): {"kind": Choice(KINDS, "Kind of start.", default=PLACED)} | OF_PLACES,
}


@lru_cache(maxsize=1024)
def is_section(path: tuple[str, ...]) -> bool:
    """Whether a path leads to a section, or to one that holds others."""
    n = len(path)
    if path[-2:-1] in (("command",), ("end_command",)) and (path[-1] in command_words()):
        return False  # a key of a command, and not a stage of a sequence
    return any(len(pattern) >= n and matches(path, pattern[:n]) for pattern in SECTIONS)


def values(tree: Mapping[str, Any]) -> Tree:
    """Keys of a tree in plain SI numbers; whether these are in range is not looked at. ProblemsError with problems."""
    reading = Reading()
    found = _section(reading, tree, ())
    if "run" not in tree:
        reading.problems.append(Problem(("run",), "missing"))
    if found.get("run", {}).get("elements") is not None:
        reading.problems.append(NO_ELEMENTS)
    if reading.problems:
        raise ProblemsError(reading.problems)
    return found


def _section(reading: Reading, section: Mapping[str, Any], path: tuple[str, ...]) -> Tree:
    """Values of a section and of those in it."""
    if len(path) == 2 and path[0] == "lines":
        section = with_string(section)
    kinematic = KIND in section and path[:1] == ("bodies",) and len(path) == 2
    inner = [name for name, x in section.items() if is_section((*path, name)) and isinstance(x, Mapping)]
    own = {name: x for name, x in section.items() if name not in inner and not (kinematic and name == KIND)}
    found: Tree = {KIND: section[KIND]} if kinematic else {}
    parts = parts_of(path, section)
    if parts:
        for k, part in enumerate(parts):
            mine = {key: x for key, x in own.items() if k == _owner(key, parts)}
            found |= reading.values(part, mine, *path) or {}
    else:
        found |= _words(reading, own, path)
    return found | {name: _section(reading, section[name], (*path, name)) for name in inner}


def _owner(key: str, parts: tuple[Part, ...]) -> int:
    """The part that has a key, the first if none has."""
    return next((k for k, part in enumerate(parts) if k and key in keys_of(part.options[""]).kinds), 0)


def _words(reading: Reading, own: Mapping[str, Any], path: tuple[str, ...]) -> Tree:
    """Keys of a section that holds others, or of a body that is held, which has none but its path."""
    known, found = WORDS.get(path, {}), {}
    for name, value in own.items():
        if name not in known:
            inside = [pattern[len(path)] for pattern in SECTIONS if is_section(path) and pattern[: len(path)] == path]
            there = [*known, *(x for x in dict.fromkeys(inside) if x != "*")]
            reading.problems.append(Problem((*path, str(name)), no_such("key", name, there)))
            continue
        try:
            found[name] = known[name].read(value)
        except WrongValueError as error:
            reading.problems.append(Problem((*path, name, *error.place), str(error)))
    return found


# Sections of a line, behind its own keys.
OF_LINES = ("reel", "end_reel", "over", "command", "end_command")


def complete(given: Tree, path: tuple[str, ...] = ()) -> Tree:
    """Values of keys with all defaults."""
    found = dict(given)
    for part in parts_of(path, given):
        found = file_keys.with_defaults(class_of(part, given), found)
    for name in _elsewhere(path):
        if name not in given:
            found.pop(name, None)
    if not path and "orbit" not in given:
        found.setdefault("gravity", kinds.plain(TOP["gravity"].default))
    found |= {name: complete(x, (*path, name)) for name, x in given.items() if is_section((*path, name))}
    order = [KIND, *_order(path, given), *OF_LINES]
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _elsewhere(path: tuple[str, ...]) -> Iterable[str]:
    """Keys of a section that are those of others in the full form."""
    if path == ("run",):
        return ("elements",)
    if path == ("fluid",):
        return keys_of(BodyInFluid).kinds
    return ("guide_position",) if path[:1] == ("lines",) and path[-1] == "reel" else ()


def _order(path: tuple[str, ...], section: Mapping[str, Any]) -> list[str]:
    """Keys of a section in the order of their descriptions; names of bodies and lines stay as they are."""
    if not path:
        return [*TOP, *HEADS]
    if path == ("initial",) and section.get(KIND) not in START.options:
        return [*WORDS[path], "bodies", "lines"]
    return [key for part in parts_of(path, section) for key in (part.word, *keys_of(class_of(part, section)).kinds)]


def kind_of(tree: Mapping[str, Any], key: Key) -> Kind:
    """Kind of a key in a tree of keys; InputError if there is none."""
    if key.path in (("initial", "deployed"), ("initial", "reel_speed")):  # by the names of lines
        return kind_of(tree, key._replace(section="initial", name=key.path[1]))
    section: Any = tree
    for name in key.path:
        section = section.get(name, {})
    for part in parts_of(key.path, section):
        known = keys_of(class_of(part, section)).kinds
        if key.name in known:
            return known[key.name]
    if key.name in WORDS.get(key.path, {}):
        return WORDS[key.path][key.name]
    raise InputError(f"{key.whole}: no such key{near(key.name, _order(key.path, section))}")


def put(tree: Tree, key: Key, value: Any) -> None:
    """Change one place of a tree; before a component is put, the default list where none is given."""
    if key.components and not keys.has(tree, key):
        default = kind_of(tree, key).default
        if default not in (MISSING, None):
            keys.put(tree, key._replace(components=()), kinds.plain(default))
    keys.put(tree, key, value)


def change(tree: Tree, key: Key, value: Any, system: System) -> Key:
    """Change one place or a whole section of a tree by a key that may be a short one (short_keys.py); the full key."""
    section = (*key.path, key.name)
    _check_head(section[0], system)
    thing = _object_keys(section, value)
    if section[0] == GUIDE:
        _add_guide(tree, system)
    found = full_key(key, system)
    is_whole = not key.path and key.name in SHORT_PARTS
    if is_whole and not key.components:
        try:
            kinds.section(thing)
        except WrongValueError as error:
            raise InputError(f"{key.text}: {error}") from None
    if key.components or not is_whole or key.name == "command":  # which has a section of its own
        put(tree, found, thing)
        return found
    known = {name for cls in SHORT_PARTS[key.name].options.values() for name in keys_of(cls).kinds}
    for name in (*known, SHORT_PARTS[key.name].word):
        drop(tree, full_key(parse(f"{key.name}.{name}"), system) if name else key)
    for name, x in thing.items():
        put(tree, full_key(parse(f"{key.name}.{name}"), system), x)
    return found


def _add_guide(tree: Tree, system: System) -> None:
    """Let a kinematic body carry the only line of a tree, if none does as yet."""
    names = names_of(system)
    if names is None or names.guide or GUIDE in tree["bodies"]:
        return
    line = dict(tree["lines"][names.line])
    body = {KIND: "kinematic", "position": line.pop("start_point", list(ZERO))}
    tree["lines"] = {names.line: line | {"start": GUIDE}}
    tree["bodies"] = {GUIDE: body, **tree["bodies"]}


def _check_head(name: str, system: System) -> None:
    """Refuse a key whose section there is not."""
    if not (name in TOP or name in HEADS or name in SHORT):  # these say what they need
        raise InputError(f"{name}: {no_such_key(name, [*TOP, *HEADS, *(SHORT if names_of(system) else ())])}")


def _object_keys(section: tuple[str, ...], value: Any) -> Any:
    """Keys of an object that stands for a section; the object itself if it does not."""
    if isinstance(value, Command) and section[-1] in ("command", "end_command"):
        return command_keys(value, defaults=False)
    if not hasattr(value, "__kinds__"):
        return staged({section[-1]: value})[section[-1]]
    parts = (SHORT_PARTS[section[0]],) if len(section) == 1 and section[0] in SHORT_PARTS else parts_at(section)
    return next((tagged(part, value) for part in parts if isinstance(value, part.wanted)), value)


def drop(tree: Tree, key: Key) -> None:
    """Remove a key, if it is there; sections on the way are replaced by changed copies."""
    parent = tree
    for name in key.path:
        if not isinstance(parent.get(name), Mapping):
            return
        parent[name] = dict(parent[name])
        parent = parent[name]
    parent.pop(key.name, None)
