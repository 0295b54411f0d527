"""Kinds of values that a field of a described class may have.

Each kind reads what a file says, checks what Python gives, and says in words and in JSON Schema what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.forms import SCALAR, Form, WrongValueError, in_si, read_numbers, schema_of
from tautline.model.read_only import ReadOnly
from tautline.model.wording import both, either, near
from tautline.units import shown


class Missing:
    """Mark of what is not given. Copies and pickles of it are itself."""

    def __reduce__(self) -> str:
        return "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = Missing()
AUTO = "auto"
# Name of an argument, value and unit in; the value as the model keeps it out.
Check = Callable[[str, Any, str], Any]


class Way(NamedTuple):
    """Keys by which files give a field in place of its own name."""

    keys: dict[str, Kind]
    join: Callable[[dict[str, Any]], Any]  # values of a section to the value of the field
    split: Callable[[Any], dict[str, Any] | None]  # the opposite; None where the value is given otherwise
    label: str = ""  # of a way of many keys, any of which will do

    @property
    def required(self) -> set[str]:
        """Keys without which the way is not complete."""
        return set() if self.label else {name for name, kind in self.keys.items() if kind.default is MISSING}

    def __str__(self) -> str:
        return self.label or both(list(self.keys))


class Kind:
    """Kind of value that a field takes.

    Parameters
    ----------
    sentence : str
        What it is, for people.
    default : object
        What it is if it is not given; MISSING if it must be.
    ways : tuple of Way
        Other keys that files may give it by.
    own_key : bool
        Whether its name is a key of files.
    """

    unit = ""

    def __init__(self, sentence: str, default: Any = MISSING, ways: tuple[Way, ...] = (), own_key: bool = True) -> None:
        self.sentence, self.default, self.ways, self.own_key = sentence, default, ways, own_key

    def read(self, value: Any) -> Any:
        """Value of a file in SI; WrongValueError if it is of another kind."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> Any:
        """Value from Python as the model keeps it; InputError names the argument."""
        raise NotImplementedError

    def takes(self, value: Any) -> bool:
        """Whether a value is allowed."""
        try:
            self.check("value", value)
        except InputError:
            return False
        return True

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of what files may say."""
        raise NotImplementedError

    def words(self) -> str:
        """The type, as the Parameters section of a docstring has it."""
        raise NotImplementedError

    def plain(self, value: Any) -> Any:
        """A value of the model as its own key gives it, in plain numbers."""
        return plain(value)

    def is_default(self, value: Any) -> bool:
        """Whether a value of the model is the one that is taken where none is given."""
        return self.default is not MISSING and self.plain(value) == self.plain(self.default)


def own_keys(fields: Mapping[str, Kind]) -> dict[str, frozenset[str]]:
    """By field: the keys that give it and no other field."""
    every = {
        name: ({name} if kind.own_key else set()).union(*(way.keys for way in kind.ways))
        for name, kind in fields.items()
    }
    return {
        name: frozenset(keys.difference(*(others for other, others in every.items() if other != name)))
        for name, keys in every.items()
    }


def ways_given(name: str, kind: Kind, own: frozenset[str], given: Iterable[str]) -> list[Way]:
    """The way that gives a field, if one does; several only if they contradict each other."""
    came = own & set(given)
    touched = [way for way in kind.ways if came & way.keys.keys()]
    complete = [way for way in touched if way.required <= set(given) and came - {name} <= way.keys.keys()]
    return complete[:1] if complete else touched


def without_others(key: str, fields: Mapping[str, Kind]) -> str:
    """Sentence on a key that gives a field together with others, which are not there."""
    ways = [way for kind in fields.values() for way in kind.ways if key in way.keys]
    others = either(dict.fromkeys(other for way in ways for other in way.keys if other != key))
    return f"expected {key} together with {others}, got it without"


class Quantity(Kind):
    """Numbers of one unit: one, a vector, a matrix or a list of them."""

    def __init__(self, unit: str, check: Check, sentence: str, form: Form = SCALAR, **others: Any) -> None:
        super().__init__(sentence, **others)
        self.unit, self.form = unit, form
        self._check, self._shown = check, unit.replace("*", " ") or "1"

    def read(self, value: Any) -> Any:
        return read_numbers(value, self.form, self.unit)

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.default is None:
            return None
        return self._check(name, in_si(name, value, self.unit), self._shown)

    def schema(self) -> dict[str, Any]:
        return schema_of(self.form, self.unit)

    def words(self) -> str:
        return self.form.words


class OrWord(Kind):
    """Another kind, or a word."""

    def __init__(self, kind: Kind, word: str, default: Any = MISSING) -> None:
        super().__init__(kind.sentence, default)
        self._kind, self._word, self.unit = kind, word, kind.unit

    def read(self, value: Any) -> Any:
        if isinstance(value, str) and value == self._word:
            return value
        try:
            return self._kind.read(value)
        except WrongValueError as error:
            raise WrongValueError(self._also(error), error.place) from None

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value == self._word:
            return value
        try:
            return self._kind.check(name, value)
        except InputError as error:
            raise InputError(self._also(error)) from None

    def _also(self, error: Exception) -> str:
        return str(error).replace("expected", f"expected {self._word!r} or", 1)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"const": self._word}, self._kind.schema()]}

    def words(self) -> str:
        return f'{self._kind.words()} or "{self._word}"'


class OrByName(Kind):
    """Another kind, or several of it by the names of lines."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.sentence)
        self._kind, self.unit = kind, kind.unit

    def read(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return self._kind.read(value)
        found = {}
        for name, item in value.items():
            try:
                found[str(name)] = self._kind.read(item)
            except WrongValueError as error:
                raise WrongValueError(str(error), (str(name), *error.place)) from None
        return found

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return self._kind.check(name, value)
        return ReadOnly({str(key): self._kind.check(f"{name}.{key}", item) for key, item in value.items()})

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self._kind.schema(), {"type": "object", "additionalProperties": self._kind.schema()}]}

    def words(self) -> str:
        return f"{self._kind.words()} or dict"


class ByDepth(Kind):
    """Numbers in one of several forms, told apart by how often lists are in lists; the first has them `least` times."""

    def __init__(self, sentence: str, *kinds: Quantity, least: int = 0) -> None:
        super().__init__(sentence)
        self._kinds, self._least, self.unit = kinds, least, kinds[0].unit

    def _kind(self, value: Any) -> Quantity:
        return self._kinds[min(max(depth_of(value) - self._least, 0), len(self._kinds) - 1)]

    def read(self, value: Any) -> Any:
        return self._kind(value).read(value)

    def check(self, name: str, value: Any) -> Any:
        return self._kind(value).check(name, value)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [kind.schema() for kind in self._kinds]}

    def words(self) -> str:
        return " or ".join(kind.words() for kind in self._kinds)


def depth_of(value: Any) -> int:
    """How many lists lie in each other."""
    if hasattr(value, "ndim"):
        return int(value.ndim)
    return 1 + depth_of(next(iter(value), 0.0)) if isinstance(value, (list, tuple)) else 0


class Choice(Kind):
    """One of some words or numbers."""

    def __init__(self, options: Iterable[Any], sentence: str, **others: Any) -> None:
        super().__init__(sentence, **others)
        self._options = options  # a table may get further entries

    @property
    def options(self) -> tuple[Any, ...]:
        """Values to choose from."""
        return tuple(self._options)

    def read(self, value: Any) -> Any:
        if not checks.is_among(value, self.options):
            raise WrongValueError(
                f"expected {either(map(repr, self.options))}, got {shown(value)}{near(value, self.options)}"
            )
        return value

    def check(self, name: str, value: Any) -> Any:
        if value is not None or self.default is not None:
            checks.choice(name, value, self.options)
        return str(value) if isinstance(value, str) else value  # NumPy's text compares, and does not print, like text

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}

    def words(self) -> str:
        quoted = (f'"{x}"' if isinstance(x, str) else str(x) for x in self.options)
        return f"{{{', '.join(quoted)}}}"


class OfType(Kind):
    """A value of one type of Python."""

    wanted: type
    expected: str
    in_schema: str

    def read(self, value: Any) -> Any:
        if not isinstance(value, self.wanted) or isinstance(value, bool) is not (self.wanted is bool):
            raise WrongValueError(f"expected {self.expected}, got {shown(value)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": self.in_schema}

    def words(self) -> str:
        return self.wanted.__name__


class Whole(OfType):
    """A whole number."""

    wanted, expected, in_schema = int, "a whole number", "integer"

    def __init__(self, least: int, most: int, sentence: str, **others: Any) -> None:
        super().__init__(sentence, **others)
        self.least, self.most = least, most

    def check(self, name: str, value: Any) -> Any:
        return checks.whole(name, value, self.least, self.most)

    def schema(self) -> dict[str, Any]:
        return super().schema() | {"minimum": self.least, "maximum": self.most}


class Flag(OfType):
    """True or false."""

    wanted, expected, in_schema = bool, "true or false", "boolean"

    def check(self, name: str, value: Any) -> Any:
        checks.instance(name, value, bool)
        return value


class Text(OfType):
    """Any text."""

    wanted, expected, in_schema = str, "text", "string"

    def check(self, name: str, value: Any) -> Any:
        return checks.text(name, value)


def plain(value: Any) -> Any:
    """Lists of plain numbers for tuples and arrays, dicts for mappings."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def section(value: Any) -> Mapping[str, Any]:
    """A section of a file; WrongValueError if it is something else."""
    if not isinstance(value, Mapping):
        hint = ' such as {key = 3, other = "text"}' if isinstance(value, str) else ""
        raise WrongValueError(f"expected a section{hint}, got {shown(value)}")
    return value
