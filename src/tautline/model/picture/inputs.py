"""Inputs of a case for people: what was given, section by section, with units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model.description import fields_of
from tautline.model.keys import parse
from tautline.model.string import String
from tautline.model.system import keys
from tautline.quantities import number, prefixed, value

# Items of a list that are shown; of a longer one, how many there are and in which range.
SHOWN = 6
# Keys that are no inputs of the model.
LEFT_OUT = ("title", "description")
# Sections of named parts, with the word for one of them; other sections in words.
NAMED = {"bodies": "body", "lines": "line"}
WORDS = {"initial": "start"}


class Section(NamedTuple):
    """Sections of one kind: names of what they describe, and rows of a name and a value for each of these."""

    title: str
    names: list[str]  # empty for a section of which there is one
    rows: list[tuple[str, list[str]]]


def inputs_of(tree: Mapping[str, Any]) -> list[Section]:
    """Inputs section by section, those of all lines beside each other, from keys that differ from defaults."""
    groups: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for path, own in _sections(tree, ()):
        at = next((k for k, word in enumerate(path[:-1]) if word in NAMED), None)
        kind = path if at is None else (*path[: at + 1], "", *path[at + 2 :])
        name = "" if at is None else path[at + 1]
        if rows := _rows(tree, path, own):
            groups.setdefault(kind, {})[name] = rows
    return [_section(kind, group) for kind, group in groups.items()]


def _section(kind: tuple[str, ...], group: dict[str, dict[str, str]]) -> Section:
    keys_ = list(dict.fromkeys(key for rows in group.values() for key in rows))
    names = list(group)
    head = names[0] if len(names) == 1 else ""
    shown = names if len(names) > 1 else []
    return Section(_title(kind, head), shown, [(key, [group[name].get(key, "") for name in names]) for key in keys_])


def _sections(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Paths of the sections with the values of their keys."""
    inner = [name for name, x in tree.items() if isinstance(x, Mapping) and keys.is_section((*path, name))]
    yield path, {name: x for name, x in tree.items() if name not in inner and not (path == () and name in LEFT_OUT)}
    for name in inner:
        yield from _sections(tree[name], (*path, name))


def _title(kind: tuple[str, ...], name: str) -> str:
    """A section in words: "line hoist, reel" of one line, "lines, reel" of several."""
    if not kind:
        return "surroundings"
    words = []
    for word in kind:
        if word in NAMED:
            one = NAMED[word]
            words.append((one if name in ("", one) else f"{one} {name}") if name else word)
        elif word not in ("", "over"):
            words.append(WORDS.get(word, word.replace("_", " ")))
    return ", ".join(words)


def _rows(tree: Mapping[str, Any], path: tuple[str, ...], own: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    if len(path) == 2 and path[0] == "lines" and "length" in own:  # which decides how peaks are to be read
        own = {"law": fields_of(String)["law"].default} | dict(own)
    for name, x in own.items():
        radius = own.get("drum_radius", own.get("radius"))
        if name == "inertia_mass" and isinstance(x, float) and isinstance(radius, float):  # of a drum or a wheel
            found["inertia"] = value(x * radius**2, "kg m²", 6)
            continue
        try:
            unit = unit_in_words(keys.kind_of(tree, parse(".".join((*path, name)))).unit)
        except InputError:  # a key that only a list of others has
            unit = ""
        text = in_words(x, unit)
        if text:
            found[name.replace("_", " ")] = text
    return found


def unit_in_words(unit: str) -> str:
    """A unit of the model as people write it."""
    return unit.replace("*", " ").replace("^2", "²").replace("^3", "³")


def in_words(x: Any, unit: str) -> str:
    """A value with its unit; of a long list, how many there are and in which range."""
    if x is None or x == {} or x == []:
        return ""
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, (int, float)):
        return value(float(x), unit, 6)
    if isinstance(x, Mapping):
        return "; ".join(f"{name} {in_words(y, unit)}" for name, y in x.items())
    if not isinstance(x, (list, tuple)):
        return str(x).replace("_", " ")
    numbers = _numbers(x)
    if numbers is None:
        return "; ".join(in_words(y, unit) for y in x)
    size, name = prefixed(max(map(abs, numbers)), unit)
    if len(numbers) <= SHOWN:
        text = ", ".join(number(y / size, 6) for y in numbers)
        return f"{f'({text})' if len(numbers) == 3 else text} {name}".rstrip()
    rows = f"{len(x)} x {len(x[0])}" if isinstance(x[0], (list, tuple)) else str(len(x))
    return f"{rows} values, {number(min(numbers) / size)} to {number(max(numbers) / size)} {name}".rstrip()


def _numbers(x: Any) -> list[float] | None:
    """All numbers of nested lists; None if something else is among them."""
    found: list[float] = []
    for y in x:
        inner = _numbers(y) if isinstance(y, (list, tuple)) else [float(y)] if isinstance(y, (int, float)) else None
        if inner is None or not all(map(math.isfinite, inner)):
            return None
        found += inner
    return found or None
