"""Keys of files for a described class: read and checked, assembled into an object, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from tautline.errors import InputError
from tautline.model import kinds
from tautline.model.description import fields_of
from tautline.model.forms import WrongValueError
from tautline.model.kinds import MISSING, Kind, Way, own_keys, ways_given
from tautline.model.table_files import FILE, TableFile, expanded
from tautline.model.wording import both, no_such

T = TypeVar("T")
Tree = dict[str, Any]


class Keys(NamedTuple):
    """Keys of files for a class."""

    kinds: dict[str, Kind]
    own: dict[str, frozenset[str]]  # by field: the keys that give it and no other field


@cache
def keys_of(cls: type) -> Keys:
    """Every key that files may give for a class, with its kind."""
    fields = fields_of(cls)
    found: dict[str, Kind] = {}
    for name, kind in fields.items():
        found |= {name: kind} if kind.own_key else {}
        for way in kind.ways:
            found |= {key: inner for key, inner in way.keys.items() if key not in found}
    file = file_of(cls)
    found |= {} if file is None else {FILE: file}
    return Keys(found, own_keys(fields))


def file_of(cls: type) -> TableFile | None:
    """Description of the CSV file that may stand for the table of a class."""
    file: TableFile | None = getattr(cls, "_file", None)
    return file


def _expanded(cls: type, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values with the table of a file in its place, for a class that may have one."""
    return values if file_of(cls) is None else expanded(values)


class Problem(NamedTuple):
    """Key, and a sentence on what is wrong with it."""

    path: tuple[str, ...]
    sentence: str


class ProblemsError(Exception):
    """Everything that is wrong with a section, or with several."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


def read(cls: type, section: Mapping[str, Any], unknown: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Values of the keys of a section in SI; ProblemsError if there are some.

    `unknown` says what is wrong with a key that the class does not have.
    """
    known = keys_of(cls).kinds
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in section.items():
        if key not in known:
            sentence = no_such("key", key, known) if unknown is None else unknown(key)
            problems.append(Problem((key,), sentence))
            continue
        try:
            values[key] = known[key].read(value)
        except WrongValueError as error:
            problems.append(Problem((key, *error.place), str(error)))
    # a key that was read wrongly is not also missing; whether keys go together is looked at when each is right
    absent = _absent(cls, [key for key in section if key in known], values)
    problems += [problem for problem in absent if problem.path or not problems]
    if problems:
        own = {name: kind for name, kind in fields_of(cls).items() if not kind.ways}
        refused = [str(error).partition(": ") for error in out_of_range(cls, own, values)]
        raise ProblemsError([*problems, *(Problem((re.split(r"\W", key)[0],), why) for key, _, why in refused)])
    return values


def _absent(cls: type, given: list[str], values: Mapping[str, Any]) -> list[Problem]:
    """Keys that are missing or too many; a file stands for the keys of its table."""
    if FILE not in given or file_of(cls) is None:
        return _missing(cls, given)
    if FILE not in values:
        return []
    table = expanded({FILE: values[FILE]})
    twice = [key for key in given if key in table]
    if twice:
        return [Problem((), f"expected either {FILE}, or {both(list(table))}, got {FILE} and {both(twice)}")]
    return _missing(cls, [*(key for key in given if key != FILE), *table])


def out_of_range(cls: type, fields: Mapping[str, Kind], values: Mapping[str, Any]) -> list[InputError]:
    """Errors of all fields that refuse what the values of keys give them."""
    errors, values = [], _expanded(cls, values)
    for name, kind in fields.items():
        try:
            value = _argument(cls, name, kind, values)
            if value is not MISSING:
                kind.check(name, value)
        except InputError as error:
            errors.append(error)
    return errors


def _missing(cls: type, given: Iterable[str]) -> list[Problem]:
    """Fields that are given in no way, by half or twice, and keys that nothing takes."""
    problems, taken = [], set()
    for name, kind in fields_of(cls).items():
        if not kind.ways:
            if kind.own_key and name not in given and kind.default is MISSING:
                problems.append(Problem((name,), "missing"))
            continue
        ways = _ways_given(cls, name, kind, given)
        taken |= {key for way in ways for key in way.keys}
        if len(ways) + (kind.own_key and name in given) == 1:
            complete = not ways or ways[0].required <= set(given)
        else:
            complete = not ways and name not in given and kind.default is not MISSING
        if not complete:
            options = ([name] if kind.own_key else []) + [str(way) for way in kind.ways]
            came = [key for key in given if key in keys_of(cls).own[name] or any(key in way.keys for way in ways)]
            problems.append(
                Problem((), f"expected either {', or '.join(options)}, got {' and '.join(came) or 'neither'}")
            )
    fields = fields_of(cls)
    loose = [key for key in given if key not in fields and key not in taken]
    if loose and not problems:
        problems.append(Problem((), kinds.without_others(loose[0], fields)))
    return problems


def _ways_given(cls: type, name: str, kind: Kind, given: Iterable[str]) -> list[Way]:
    return ways_given(name, kind, keys_of(cls).own[name], given)


def assemble(cls: type[T], values: Mapping[str, Any], **others: Any) -> T:
    """An object from the values of its keys, which `read` has found good."""
    arguments, values = dict(others), _expanded(cls, values)
    for name, kind in fields_of(cls).items():
        value = _argument(cls, name, kind, values)
        if value is not MISSING:
            arguments[name] = value
    return cls(**arguments)


def assemble_among(cls: type[T], values: Mapping[str, Any]) -> T:
    """An object from the values of its keys among those of something else; InputError where one is missing."""
    own = _own(cls, values)
    for problem in _missing(cls, own):
        raise InputError(f"{'.'.join(problem.path) or cls.__name__}: {problem.sentence}")
    return assemble(cls, own)


def _own(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the keys of a class."""
    return {key: value for key, value in values.items() if key in keys_of(cls).kinds}


def _argument(cls: type, name: str, kind: Kind, values: Mapping[str, Any]) -> Any:
    """Argument for a field that the values of keys make, in whichever way; MISSING if none does."""
    ways = _ways_given(cls, name, kind, values) if kind.ways else []
    if ways:
        return ways[0].join(dict(values))
    return values[name] if kind.own_key and name in values else MISSING


def to_keys(thing: Any, defaults: bool = True) -> dict[str, Any]:
    """Keys of files that give an object, in plain numbers.

    Parameters
    ----------
    thing : object
        Of a described class.
    defaults : bool
        Whether to name what is as by default.
    """
    found: dict[str, Any] = {}
    for name, kind in type(thing).__kinds__.items():
        value = getattr(thing, name)
        if value is None or ((kind.ways or not defaults) and kind.is_default(value)):
            continue
        parts = next((part for part in (way.split(value) for way in kind.ways) if part is not None), None)
        if parts is None:
            found |= {name: kind.plain(value)} if kind.own_key else {}
        else:
            found |= {key: kinds.plain(part) for key, part in parts.items()}
    tidy = getattr(thing, "_tidy_keys", None)
    return found if tidy is None else tidy(found)


def with_defaults(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of keys, and the defaults of those that are not given; not of fields that may be given in other ways."""
    fields = fields_of(cls)
    filled = {
        name: kinds.plain(kind.default)
        for name, kind in fields.items()
        if kind.own_key and not kind.ways and kind.default not in (MISSING, None)
    }
    return {**filled, **values}
