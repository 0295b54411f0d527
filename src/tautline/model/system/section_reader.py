"""Reader of sections: their values in SI, the objects that these make, and all that is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.errors import InputError
from tautline.model import file_keys, kinds
from tautline.model.description import fields_of
from tautline.model.file_keys import Problem, ProblemsError, Tree, keys_of
from tautline.model.forms import WrongValueError
from tautline.model.keys import Key
from tautline.model.parts import Part
from tautline.model.system.problems import problem_at
from tautline.model.wording import near, no_such
from tautline.units import shown


class Made(NamedTuple):
    """The object of a section, and what it was made of."""

    part: Part
    values: Tree
    others: dict[str, Any]
    thing: Any

    def allowed(self) -> Mapping[str, kinds.Kind]:
        """Keys that the section may have."""
        return keys_of(_class_and_values(self.part, self.values)[0]).kinds


class Reading:
    """Reads sections, and gathers all that is wrong with them.

    Parameters
    ----------
    before : Reading, optional
        Sections that have the same values as there are not read again.

    Attributes
    ----------
    given : dict
        Values of keys as they were given, in SI.
    """

    def __init__(self, before: Reading | None = None) -> None:
        self.problems: list[Problem] = []
        self.given: Tree = {}
        self._known: dict[tuple[str, ...], Made] = {} if before is None else before._made
        self._made: dict[tuple[str, ...], Made] = {}

    def values(self, part: Part, value: Any, *path: str) -> Tree | None:
        """Values of a section in SI."""
        try:
            found = read_part(part, value)
        except ProblemsError as error:
            self.problems += [Problem((*path, *problem.path), problem.sentence) for problem in error.problems]
            return None
        self.note(found, *path)
        return found

    def note(self, values: Tree, *path: str) -> None:
        """Keep values as given."""
        section = self.given
        for name in path:
            section = section.setdefault(name, {})
        section.update(values)

    def made(self, part: Part, value: Any, *path: str, **others: Any) -> Any:
        """The object of a section; None if something is wrong with it."""
        place = (*path, part.sentence)
        known = self._known.get(place)
        if known is not None and _same(value, known.values) and _same(others, known.others):
            self._made[place] = known
            self.note(known.values, *path)
            return known.thing
        values = self.values(part, value, *path)
        if values is None:
            return None
        cls, own = _class_and_values(part, values)
        try:
            thing = assembled(part, values, others)
        except InputError as error:
            # a rule across the fields of a section makes sense where each is right
            self.problems += self._refused(cls, own, path) or [problem_at(error, path, cls, own)]
            return None
        self._made[place] = Made(part, values, others, thing)
        return thing

    def section(self, key: Key) -> Made | None:
        """The section that may have a key."""
        for place, made in self._made.items():
            if place[:-1] == key.path and key.name in made.allowed():
                return made
        return None

    def look(self, part: Part, value: Any, *path: str) -> None:
        """Gather what is wrong with a section of which nothing can be made."""
        values = self.values(part, value, *path)
        if values is not None:
            self.problems += self._refused(*_class_and_values(part, values), path)

    def _refused(self, cls: type, own: Tree, path: tuple[str, ...]) -> list[Problem]:
        """All fields of a section whose values are refused, each by itself."""
        errors = file_keys.out_of_range(cls, fields_of(cls), own)
        return list(dict.fromkeys(problem_at(error, path, cls, own) for error in errors))

    def refuse(self, error: InputError, *path: str) -> None:
        """Note what an object refused, at the key that its error names."""
        self.problems.append(problem_at(error, path))

    def named(self, tree: Mapping[str, Any], *path: str) -> dict[str, Any]:
        """Sections by name below a path."""
        for name in path:
            tree = tree.get(name, {})
            try:
                tree = kinds.section(tree)
            except WrongValueError as error:
                self.problems.append(Problem(path, str(error)))
                return {}
        return dict(tree)


def _same(value: Any, known: Mapping[str, Any]) -> bool:
    """Whether a section has the very values that are known."""
    if not isinstance(value, Mapping) or value.keys() != known.keys():
        return False
    return all(x is known[name] for name, x in value.items())


def _class_and_values(part: Part, values: Tree) -> tuple[type, Tree]:
    """Class that has the keys of a section, and their values."""
    cls = part.options[values[part.word] if part.word else ""]
    return cls, {key: x for key, x in values.items() if key != part.word}


def assembled(part: Part, values: Tree, others: Mapping[str, Any]) -> Any:
    """The object of a section from values in SI; InputError if these do not go together."""
    return part.make(described(part, values, others))


def described(part: Part, values: Tree, others: Mapping[str, Any]) -> Any:
    """The description of the object of a section, that of a shape for a body."""
    cls, own = _class_and_values(part, values)
    return file_keys.assemble(cls, own, **others)


def read_part(part: Part, value: Any) -> Tree:
    """Values of a section in SI."""
    try:
        section = {key: _plain(x) for key, x in kinds.section(value).items()}
    except WrongValueError as error:
        raise ProblemsError([Problem((), str(error))]) from None
    if not part.word:
        return file_keys.read(part.options[""], section)
    options = ", ".join(map(repr, part.options))
    if part.word not in section:
        raise ProblemsError([Problem((part.word,), f"missing; expected one of {options}")])
    tag = section.pop(part.word)
    if not isinstance(tag, str) or tag not in part.options:
        hint = near(tag, part.options)
        raise ProblemsError([Problem((part.word,), f"expected one of {options}, got {shown(tag)}{hint}")])
    cls = part.options[tag]

    def unknown(key: str) -> str:
        elsewhere = [name for name, other in part.options.items() if key in keys_of(other).kinds]
        if elsewhere:
            return f"no such key with {part.word} = {tag!r}, only with {', '.join(map(repr, elsewhere))}"
        return no_such("key", key, [part.word, *keys_of(cls).kinds])

    return {part.word: tag, **file_keys.read(cls, section, unknown)}


def _plain(value: Any) -> Any:
    """Without arrays and numbers of NumPy, which Python programs have."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
