"""Classes whose fields say once what they are: unit, check, sentence and default.

From these come the checks of the constructors, unit text in Python, the Parameters sections of the docstrings, and all
that files have: keys, their units and defaults, messages, JSON and JSON Schema.

    @described
    class String:
        length: Number = quantity("m", positive, "Total unstretched length L, spooled and deployed.")
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, dataclass_transform, overload

from tautline.model import kinds
from tautline.model.checks import Matrix, Vector
from tautline.model.kinds import MISSING, SCALAR, Check, Form, Kind, Way, WrongValueError
from tautline.model.wording import either, near

T = TypeVar("T")
_KIND = "kind"
_WIDTH = 118

if TYPE_CHECKING:

    class Number:
        """A field that is a float, and takes text with a unit as well."""

        def __get__(self, owner: Any, kind: Any = None) -> float: ...
        def __set__(self, owner: Any, value: float | str) -> None: ...

    class OptionalNumber:
        """A number or None."""

        def __get__(self, owner: Any, kind: Any = None) -> float | None: ...
        def __set__(self, owner: Any, value: float | str | None) -> None: ...

    class Vector3:
        """A field of three floats that takes any three numbers or texts."""

        def __get__(self, owner: Any, kind: Any = None) -> Vector: ...
        def __set__(self, owner: Any, value: Any) -> None: ...

    class OptionalVector3:
        """Three floats or None."""

        def __get__(self, owner: Any, kind: Any = None) -> Vector | None: ...
        def __set__(self, owner: Any, value: Any) -> None: ...

    class Matrix33:
        """A field of 3 x 3 floats that takes any such numbers or texts."""

        def __get__(self, owner: Any, kind: Any = None) -> Matrix: ...
        def __set__(self, owner: Any, value: Any) -> None: ...

else:
    Number, OptionalNumber = float, float | None
    Vector3, OptionalVector3, Matrix33 = Vector, Vector | None, Matrix


def declared(kind: Kind, *, default: Any = MISSING) -> Any:
    """A field of a kind."""
    kind.default = default if kind.default is MISSING else kind.default
    return dataclasses.field(default=kind.default, metadata={_KIND: kind})


def quantity(
    unit: str,
    check: Check,
    sentence: str,
    *,
    default: Any = MISSING,
    form: Form = SCALAR,
    ways: tuple[Way, ...] = (),
    file_default: Any = MISSING,
) -> Any:
    """A field of numbers: SI, or text with a unit. Python must give what only has a `file_default`."""
    kind = kinds.Quantity(unit, check, sentence, form, ways=ways)
    kind.file_default = file_default
    return declared(kind, default=default)


def choice(options: Iterable[Any], sentence: str, *, default: Any = MISSING) -> Any:
    """A field that is one of some words or numbers."""
    return declared(kinds.Choice(options, sentence), default=default)


def flag(sentence: str, *, default: Any = MISSING) -> Any:
    """A field that is True or False."""
    return declared(kinds.Flag(sentence), default=default)


def text(sentence: str, *, default: Any = MISSING) -> Any:
    """A field of text."""
    return declared(kinds.Text(sentence), default=default)


@overload
def described(cls: type[T], /) -> type[T]: ...
@overload
def described(*, kw_only: bool = False, eq: bool = True, name: str | None = None) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(declared, quantity, choice, flag, text))
def described(cls: Any = None, /, *, kw_only: bool = False, eq: bool = True, name: str | None = None) -> Any:
    """Make a frozen dataclass of a class with described fields.

    Fields are checked in their order; a method `_check_together` then holds rules across them.

    Parameters
    ----------
    cls : type
        The class.
    kw_only, eq : bool
        As for `dataclasses.dataclass`.
    name : str, optional
        What errors call the class; empty for a class whose arguments are those of a function.
    """

    def decorated(cls: Any) -> Any:
        prefix = cls.__name__ if name is None else name
        cls.__post_init__ = _post_init
        made = dataclasses.dataclass(frozen=True, kw_only=kw_only, eq=eq)(cls)
        fields = {f.name: f.metadata[_KIND] for f in dataclasses.fields(made) if _KIND in f.metadata}
        made.__kinds__ = fields
        made.__checked__ = [(x, f"{prefix}.{x}" if prefix else x, kind) for x, kind in fields.items()]
        made.__doc__ = _documented(made.__doc__, fields)
        return made

    return decorated if cls is None else decorated(cls)


def _post_init(self: Any) -> None:
    set_ = object.__setattr__
    for field, name, kind in self.__checked__:
        set_(self, field, kind.check(name, getattr(self, field)))
    together = getattr(self, "_check_together", None)
    if together is not None:
        together()


def fields_of(cls: type) -> dict[str, Kind]:
    """Kinds of the fields of a described class, by name."""
    found: dict[str, Kind] = getattr(cls, "__kinds__")  # noqa: B009 - set by `described`
    return found


def _documented(text: str | None, fields: dict[str, Kind]) -> str | None:
    """A docstring with the section Parameters of numpydoc."""
    if not fields or text is None:
        return text
    lines = [text.rstrip(), "", "    Parameters", "    ----------"]
    for name, kind in fields.items():
        optional = ", optional" if kind.default is None else ""
        lines.append(f"    {name} : {kind.words()}{optional}")
        lines += textwrap.wrap(full_sentence(kind), _WIDTH, initial_indent=8 * " ", subsequent_indent=8 * " ")
    return "\n".join([*lines, "    "])


def full_sentence(kind: Kind) -> str:
    """What a field is, with its unit and its default."""
    unit = f" ({kind.unit.replace('*', ' ')})" if kind.unit else ""
    default = "" if kind.default in (MISSING, None) else f" {default_text(kind.default)} by default."
    return f"{kind.sentence.removesuffix('.')}{unit}.{default}"


def default_text(default: Any) -> str:
    """A default in a few characters, as a file would say it."""
    value = kinds.plain(default)
    if isinstance(value, list):
        return "identity" if any(isinstance(row, list) and any(row) for row in value) else "0"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else repr(value).replace("'", '"')


# -- keys of files -------------------------------------------------------------------------------------------


class Keys(NamedTuple):
    """Keys of files for a class."""

    kinds: dict[str, Kind]
    own: dict[str, frozenset[str]]  # by field: the keys that give it and no other field


@cache
def keys_of(cls: type) -> Keys:
    """Every key that files may give for a class, with its kind."""
    fields = fields_of(cls)
    of_field = {
        name: ({name} if kind.own_key else set()).union(*(way.keys for way in kind.ways))
        for name, kind in fields.items()
    }
    found: dict[str, Kind] = {}
    for name, kind in fields.items():
        found |= {name: kind} if kind.own_key else {}
        for way in kind.ways:
            found |= {key: inner for key, inner in way.keys.items() if key not in found}
    own = {
        name: frozenset(keys.difference(*(others for other, others in of_field.items() if other != name)))
        for name, keys in of_field.items()
    }
    return Keys(found, own)


class Problem(NamedTuple):
    """What is wrong with a key."""

    path: tuple[str, ...]
    sentence: str


class ProblemsError(Exception):
    """Everything that is wrong with a section."""

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
            sentence = f"no such key{near(key, known)}" if unknown is None else unknown(key)
            problems.append(Problem((key,), sentence))
            continue
        try:
            values[key] = known[key].read(value)
        except WrongValueError as error:
            problems.append(Problem((key, *error.place), str(error)))
    # a key that was read wrongly is not also missing; whether keys go together is looked at when each is right
    absent = _missing(cls, [key for key in section if key in known])
    problems += [problem for problem in absent if problem.path or not problems]
    if problems:
        raise ProblemsError(problems)
    return values


def _missing(cls: type, given: Iterable[str]) -> list[Problem]:
    """Fields that are given in no way, by half or twice, and keys that nothing takes."""
    problems, taken = [], set()
    for name, kind in fields_of(cls).items():
        if not kind.ways:
            if kind.own_key and name not in given and kind.default is MISSING and kind.file_default is MISSING:
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
        ways = [way for kind in fields.values() for way in kind.ways if loose[0] in way.keys]
        others = either(dict.fromkeys(key for way in ways for key in way.keys if key != loose[0]))
        problems.append(Problem((), f"expected {loose[0]} together with {others}, got it without"))
    return problems


def _ways_given(cls: type, name: str, kind: Kind, given: Iterable[str]) -> list[Way]:
    """The way that gives a field, if one does; several only if they contradict each other."""
    own = keys_of(cls).own[name] & set(given)
    touched = [way for way in kind.ways if own & way.keys.keys()]
    complete = [way for way in touched if way.required <= set(given) and own - {name} <= way.keys.keys()]
    return complete[:1] if complete else touched


def assemble(cls: type[T], values: Mapping[str, Any], **others: Any) -> T:
    """An object from the values of its keys, which `read` has found good."""
    arguments: dict[str, Any] = dict(others)
    for name, kind in fields_of(cls).items():
        ways = _ways_given(cls, name, kind, values) if kind.ways else []
        if ways:
            arguments[name] = ways[0].join(dict(values))
        elif kind.own_key and name in values:
            arguments[name] = values[name]
        elif kind.file_default is not MISSING:
            arguments[name] = kind.file_default
    return cls(**arguments)


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
