"""Classes whose fields say once what they are: unit, check, sentence and default.

From these come the checks of the constructors, unit text in Python, the Parameters sections of the docstrings, and all
that files have: keys, their units and defaults, messages, JSON and JSON Schema.

    @described
    class String:
        length: Number = quantity("m", positive, "Total unstretched length L, spooled and deployed.")
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, dataclass_transform, overload

import numpy as np

from tautline.errors import InputError
from tautline.model import kinds
from tautline.model.checks import Matrix, Vector
from tautline.model.forms import SCALAR, Form
from tautline.model.kinds import MISSING, Check, Kind, Way
from tautline.model.wording import both

T = TypeVar("T")
Kept = TypeVar("Kept")
Given = TypeVar("Given")
_KIND = "kind"
_WIDTH = 118

if TYPE_CHECKING:

    class Field(Generic[Kept, Given]):
        """A field that is of one type and takes another, such as a float that takes text with a unit as well."""

        def __get__(self, owner: Any, kind: Any = None) -> Kept: ...
        def __set__(self, owner: Any, value: Given) -> None: ...

    Number = Field[float, float | str]
    OptionalNumber = Field[float | None, float | str | None]
    Lengths = Field[Any, float | str | Mapping[str, float | str]]  # a number, or several by the names of lines
    Vector3 = Field[Vector, Any]
    OptionalVector3 = Field[Vector | None, Any]
    Matrix33 = Field[Matrix, Any]
else:
    Number, OptionalNumber, Lengths = float, float | None, Any
    Vector3, OptionalVector3, Matrix33 = Vector, Vector | None, Matrix


def declared(kind: Kind, *, default: Any = MISSING) -> Any:
    """A field of a kind."""
    kind.default = default if kind.default is MISSING else kind.default
    default = dataclasses.MISSING if kind.default is MISSING else kind.default
    return dataclasses.field(default=default, metadata={_KIND: kind})


def quantity(
    unit: str,
    check: Check,
    sentence: str,
    *,
    default: Any = MISSING,
    form: Form = SCALAR,
    ways: tuple[Way, ...] = (),
) -> Any:
    """A field of numbers: SI, or text with a unit."""
    return declared(kinds.Quantity(unit, check, sentence, form, ways=ways), default=default)


def choice(options: Iterable[Any], sentence: str, *, default: Any = MISSING) -> Any:
    """A field that is one of some words or numbers."""
    return declared(kinds.Choice(options, sentence), default=default)


def flag(sentence: str, *, default: Any = MISSING) -> Any:
    """A field that is True or False."""
    return declared(kinds.Flag(sentence), default=default)


def whole(least: int, most: int, sentence: str, *, default: Any = MISSING) -> Any:
    """A field that is a whole number."""
    return declared(kinds.Whole(least, most, sentence), default=default)


def text(sentence: str, *, default: Any = MISSING) -> Any:
    """A field of text."""
    return declared(kinds.Text(sentence), default=default)


@overload
def described(cls: type[T], /) -> type[T]: ...
@overload
def described(*, kw_only: bool = False, eq: bool = True, name: str | None = None) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(declared, quantity, choice, flag, whole, text))
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
        if any(kind.ways for kind in fields.values()):
            made.__init__ = _init_with_keys(made, prefix, fields)
        made._repr_html_ = card_in_notebook
        made.__copy__, made.__deepcopy__, made.__setstate__ = _itself, _itself, _restore
        return made

    return decorated if cls is None else decorated(cls)


def _init_with_keys(made: Any, prefix: str, fields: dict[str, Kind]) -> Callable[..., None]:
    """Constructor that also takes the keys by which files give a field in place of its own name."""
    plain = made.__init__
    names = [f.name for f in dataclasses.fields(made) if f.init]
    keys = {key for kind in fields.values() for way in kind.ways for key in way.keys if key not in names}
    own = kinds.own_keys(fields)
    has_none = (dataclasses.MISSING, dataclasses.MISSING)
    required = {f.name for f in dataclasses.fields(made) if (f.default, f.default_factory) == has_none}

    @functools.wraps(plain)
    def init(self: Any, *args: Any, **given: Any) -> None:
        extra = {key: given.pop(key) for key in list(given) if key in keys}
        if extra:
            values = dict(zip(names, args, strict=False)) | given
            taken: set[str] = set()
            for name, kind in fields.items():
                ways = kinds.ways_given(name, kind, own[name], extra)
                if not ways:
                    continue
                came = {key: x for key, x in extra.items() if any(key in way.keys for way in ways)}
                way, twice = ways[0], [name] if name in values else []
                if len(ways) > 1 or twice or not way.required <= came.keys():
                    wanted = ", or ".join(map(str, ways))
                    raise InputError(f"{prefix}.{name}: expected either it, or {wanted}, got {both([*came, *twice])}")
                taken |= came.keys()
                came = {key: way.keys[key].check(f"{prefix}.{key}", x) for key, x in came.items()}
                beside = {key: fields[key].check(f"{prefix}.{key}", x) for key, x in values.items() if key in fields}
                with suppress(KeyError):  # what else it follows from is missing, which the constructor says
                    given[name] = way.join(beside | came)
            if loose := sorted(extra.keys() - taken):
                raise InputError(f"{prefix}: {kinds.without_others(loose[0], fields)}")
        missing = [name for name in names[len(args) :] if name in required and name not in given]
        if len(missing) == 1 and given.keys() <= set(names) and fields[missing[0]].ways:
            others = ", or ".join(map(str, fields[missing[0]].ways))
            raise TypeError(f"{prefix}.{missing[0]}: expected either it, or {others}, got neither")
        plain(self, *args, **given)

    signature = inspect.signature(plain)
    others = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in _other_keys(fields)]
    init.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *others])  # type: ignore[attr-defined]
    return init


def _post_init(self: Any) -> None:
    set_ = object.__setattr__
    for field, name, kind in self.__checked__:
        set_(self, field, kind.check(name, getattr(self, field)))
    together = getattr(self, "_check_together", None)
    if together is not None:
        together()


def card_in_notebook(self: Any) -> str:
    """Card of a notebook."""
    from tautline.model.picture.cards import card_of_part  # of many parts, few are shown

    return card_of_part(self)


def _itself(self: Any, memo: Any = None) -> Any:
    """Copy of what cannot be changed."""
    return self


def _restore(self: Any, state: dict[str, Any]) -> None:
    """Take what was pickled; arrays would come back as ones that can be changed."""
    for value in state.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    self.__dict__.update(state)


def unchecked(cls: type[T], /, **fields: Any) -> T:
    """An object of a class from all of its fields, which are as they must be."""
    made = object.__new__(cls)
    vars(made).update(fields)
    return made


def changed(thing: T, cls: type[T] | None = None, /, **fields: Any) -> T:
    """A copy of a thing, or one of another class, with other fields, which are not checked; nothing that it cached."""
    own = vars(thing)
    of: Any = type(thing)
    if cached := _cached(of) & own.keys():
        own = {name: x for name, x in own.items() if name not in cached}
    return unchecked(cls or type(thing), **{**own, **fields})


@functools.cache
def _cached(cls: Any) -> frozenset[str]:
    """Names of the properties that objects of a class keep once they are computed."""
    members = (member for base in cls.__mro__ for member in vars(base).items())
    return frozenset(name for name, x in members if isinstance(x, functools.cached_property))


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
        lines += _indented(full_sentence(kind))
    for key, kind in _other_keys(fields).items():
        lines += [f"    {key} : {kind.words()}, by keyword", *_indented(full_sentence(kind))]
    return "\n".join([*lines, "    "])


def _other_keys(fields: dict[str, Kind]) -> dict[str, Kind]:
    """Keys that may be given in place of fields."""
    found = {key: kind for own in fields.values() for way in own.ways for key, kind in way.keys.items()}
    return {key: kind for key, kind in found.items() if key not in fields}


def _indented(sentences: str) -> list[str]:
    return textwrap.wrap(sentences, _WIDTH, initial_indent=8 * " ", subsequent_indent=8 * " ")


def full_sentence(kind: Kind) -> str:
    """Sentence of a field with its unit and its default."""
    unit = f" ({kind.unit.replace('*', ' ')})" if kind.unit else ""
    default = "" if kind.default in (MISSING, None, {}) else f" {default_text(kind.default)} by default."
    return f"{kind.sentence.removesuffix('.')}{unit}.{default}"


def default_text(default: Any) -> str:
    """A default in a few characters, as a file would say it."""
    value = kinds.plain(default)
    if isinstance(value, list):
        return "identity" if any(isinstance(row, list) and any(row) for row in value) else "0"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else repr(value).replace("'", '"')
