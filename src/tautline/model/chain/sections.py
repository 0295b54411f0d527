"""Sections of keys that describe a case: read into objects of the model, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import file_keys, keys, kinds
from tautline.model.chain.chain import Chain
from tautline.model.command import COMMANDS, Command
from tautline.model.description import fields_of
from tautline.model.file_keys import Problem, ProblemsError, keys_of
from tautline.model.keys import Key
from tautline.model.kinds import MISSING, Kind, Text, WrongValueError
from tautline.model.motions import MOTIONS
from tautline.model.parts import Part
from tautline.model.reel import Reel
from tautline.model.run import Run
from tautline.model.starts import STARTS, Start
from tautline.model.table_files import FILE
from tautline.model.wording import near
from tautline.units import shown

Tree = dict[str, Any]
# The head of an error message from the path of a key.
Locate = Callable[[list[str]], str]

_SYSTEM = fields_of(Chain)
_GUIDE = fields_of(Reel)["guide_path"]
assert isinstance(_GUIDE, Part)
INITIAL = Part(STARTS, "Where it starts; a `State` will do.", word="kind", wanted=Start)
COMMAND = Part(COMMANDS, "What the drum does.", word="kind", wanted=Command)
RUN = Part({"": Run}, "How long, in how many elements, and by which method.")
TITLE = Text("A few words, for reports.", "")
DESCRIPTION = Text("What the case is about.", "")
# Keys without a section.
TOP: dict[str, Kind] = {"title": TITLE, "description": DESCRIPTION, "gravity": _SYSTEM["gravity"]}
# Sections of the pendulum: its parts, and the path of the guide, which is a part of the reel.
SYSTEM: dict[str, Part] = {name: part for name, part in _SYSTEM.items() if isinstance(part, Part)} | {"guide": _GUIDE}
PARTS: dict[str, Part] = {**SYSTEM, "initial": INITIAL, "command": COMMAND, "run": RUN}
# Sections by the classes that errors name; motions may be a part of several.
_OWNERS = {cls.__name__: name for name, part in PARTS.items() for cls in part.options.values()} | {"RigidBody": "body"}
_OWNERS = {name: section for name, section in _OWNERS.items() if name not in {cls.__name__ for cls in MOTIONS.values()}}


class ScenarioError(InputError):
    """A case cannot be used. The message says which key, what was expected and what came; of a file also where."""


class SectionError(Exception):
    """Everything that is wrong with some sections, by the paths of keys."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class Sections:
    """Sections as keys and as objects."""

    def __init__(self, given: Tree, made: dict[str, Any], pendulum: Chain | None = None) -> None:
        self.given, self.made = given, made
        self._pendulum = pendulum

    def system(self) -> Chain:
        """The pendulum of the parts."""
        if self._pendulum is None:
            gravity = {"gravity": self.given["gravity"]} if "gravity" in self.given else {}
            parts = {name: self.made[name] for name in _SYSTEM if name in self.made}
            self._pendulum = Chain(**parts, **gravity)
        return self._pendulum

    def words(self) -> tuple[str, str]:
        """Title and description."""
        return self.given.get("title", ""), self.given.get("description", "")


def complete(given: Tree) -> Tree:
    """Keys with all defaults."""
    found: Tree = {name: given.get(name, kind.default) for name, kind in TOP.items()}
    for name, part in PARTS.items():
        if name in given:
            found[name] = file_keys.with_defaults(_class_of(part, given[name]), given[name])
    return found


def of_system(pendulum: Chain, defaults: bool = True) -> Tree:
    """Keys that describe a pendulum."""
    things = {name: getattr(pendulum, name) for name in SYSTEM if name != "guide"}
    things["guide"] = pendulum.reel.guide_path
    tree: Tree = {"gravity": pendulum.gravity} if defaults or not TOP["gravity"].is_default(pendulum.gravity) else {}
    return tree | {name: of_part(name, x, defaults) for name, x in things.items() if x is not None}


def of_part(name: str, thing: Any, defaults: bool = True) -> Tree:
    """Keys that describe the object of a section."""
    part = PARTS[name]
    described = part.unmake(thing)
    found = file_keys.to_keys(described, defaults)
    if part.word:
        tag = next(tag for tag, cls in part.options.items() if type(described) is cls)
        return {part.word: tag, **found}
    return found


def of(case: Any) -> Sections:
    """The sections of a case that was made of objects."""
    made = {"initial": case.initial, "command": case.command, "run": case.run}
    made |= {name: getattr(case.pendulum, name) for name in _SYSTEM if getattr(case.pendulum, name) is not None}
    if case.pendulum.reel.guide_path is not None:
        made["guide"] = case.pendulum.reel.guide_path
    tree = {name: getattr(case, name) for name in ("title", "description") if getattr(case, name)}
    tree |= of_system(case.pendulum, defaults=False)
    tree |= {name: of_part(name, made[name], defaults=False) for name in ("initial", "command", "run")}
    return Sections(tree, {name: x for name, x in made.items() if name in PARTS}, case.pendulum)


# -- reading -------------------------------------------------------------------------------------------------


def values(tree: Mapping[str, Any], parts: Mapping[str, Part] = PARTS, before: Sections | None = None) -> Tree:
    """Keys and sections of a tree in plain SI numbers; SectionError with all that is wrong.

    Parameters
    ----------
    tree : dict
        Sections of keys. A section may also be an object of the model.
    parts : dict
        The sections that are wanted.
    before : Sections, optional
        Sections that are the same objects there are not read again.
    """
    given, problems = _top(tree, parts)
    for name, part in parts.items():
        if name not in tree:
            problems += [Problem((name,), "missing")] if part.default is MISSING else []
        elif before is not None and before.given.get(name) is tree[name]:
            given[name] = tree[name]
        elif isinstance(tree[name], part.wanted):
            given[name] = of_part(name, tree[name])
        else:
            try:
                given[name] = read_part(part, tree[name])
            except ProblemsError as error:
                problems += [Problem((name, *problem.path), problem.sentence) for problem in error.problems]
    if problems:
        refused = [problem for name in parts if name in given for problem in _refused(name, parts[name], given)]
        raise SectionError(problems + refused + _refused_at_top(given))
    return given


def read(tree: Mapping[str, Any], before: Sections | None = None, parts: Mapping[str, Part] = PARTS) -> Sections:
    """Sections from a tree of keys, as objects; arguments as of `values`."""
    given = values(tree, parts, before)
    known = before or Sections({}, {})
    made: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in sorted(given.keys() & parts.keys(), key=lambda name: name == "reel"):  # after the path of its guide
        unchanged = name in known.made and known.given[name] is given[name]
        if unchanged and (name != "reel" or known.made.get("guide") is made.get("guide")):
            made[name] = known.made[name]
        elif isinstance(tree[name], parts[name].wanted) and name != "reel":
            made[name] = tree[name]
        else:
            try:
                made[name] = _made(name, parts[name], given, made)
            except InputError as error:
                # a rule across the fields of a section makes sense where each is right
                problems += _refused(name, parts[name], given) or [problem_of(error, given, name)]
    if problems:
        raise SectionError(problems + _refused_at_top(given))
    same = before is not None and all(made.get(name) is known.made.get(name) for name in SYSTEM)
    same = same and given.get("gravity") == known.given.get("gravity")
    return Sections(given, made, known.system() if same else None)


def system(tree: Mapping[str, Any]) -> Chain:
    """The pendulum that a tree of keys describes; other sections need not be there."""
    return read(tree, parts=SYSTEM).system()


def part(name: str, tree: Mapping[str, Any]) -> Any:
    """The object of one section of a tree of keys."""
    return read({name: tree[name]}, parts={name: PARTS[name]}).made[name]


def _made(name: str, part: Part, given: Tree, made: Mapping[str, Any]) -> Any:
    """The object of a section."""
    path = {"guide_path": made.get("guide")} if name == "reel" else {}
    section = given[name]
    return part.make(file_keys.assemble(_class_of(part, section), section, **path))


def _refused(name: str, part: Part, given: Tree) -> list[Problem]:
    """All fields of a section whose values are refused, each by itself."""
    cls = _class_of(part, given[name])
    errors = file_keys.out_of_range(cls, fields_of(cls), given[name])
    return list(dict.fromkeys(problem_of(error, given, name) for error in errors))


def _refused_at_top(given: Tree) -> list[Problem]:
    """Keys without a section whose values are refused."""
    problems = []
    for name in (name for name in TOP if name in given):
        try:
            TOP[name].check(name, given[name])
        except InputError as error:
            problems.append(Problem((name,), str(error).partition(": ")[2]))
    return problems


def _top(tree: Mapping[str, Any], parts: Mapping[str, Part]) -> tuple[Tree, list[Problem]]:
    """Keys without a section, and problems with the names of all."""
    given: Tree = {}
    problems = []
    for name, value in tree.items():
        if name in TOP:
            try:
                given[name] = TOP[name].read(_plain(value))
            except WrongValueError as error:
                problems.append(Problem((name, *error.place), str(error)))
        elif name not in PARTS:
            inside = [f"{section}.{name}" for section, part in parts.items() if name in _all_keys(part)]
            hint = f"; did you mean {inside[0]!r}?" if inside else near(name, [*TOP, *parts])
            problems.append(Problem((str(name),), f"no such key{hint}"))
    return given, problems


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
        return f"no such key{near(key, keys_of(cls).kinds)}"

    return {part.word: tag, **file_keys.read(cls, section, unknown)}


def _plain(value: Any) -> Any:
    """Without arrays and numbers of NumPy, which Python programs have."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _all_keys(part: Part) -> set[str]:
    return {key for cls in part.options.values() for key in keys_of(cls).kinds}


def _class_of(part: Part, section: Mapping[str, Any]) -> type:
    return part.options[section[part.word] if part.word else ""]


# -- places --------------------------------------------------------------------------------------------------


def kind_of(tree: Mapping[str, Any], key: Key) -> Kind:
    """Kind of a key in a tree of keys; InputError if there is none."""
    if not key.section and key.name in TOP:
        return TOP[key.name]
    section = tree.get(key.section, {})
    part = PARTS.get(key.section)
    tag = section.get(part.word, "") if part is not None and part.word else ""
    if part is not None and tag in part.options:
        found = keys_of(part.options[tag]).kinds
        if key.name in found:
            return found[key.name]
    raise InputError(f"{key.whole}: no such key")


def put(tree: Tree, key: Key, value: Any, kind_of: Callable[[Tree, Key], Kind] = kind_of) -> None:
    """Change one place of a tree; before a component is put, the default list where none is given.

    `kind_of` gives the kind of a key of the tree.
    """
    if key.components and not keys.has(tree, key):
        try:
            default = kind_of(tree, key).default
        except InputError:
            default = None
        if default not in (MISSING, None):
            keys.put(tree, key._replace(components=()), kinds.plain(default))
    keys.put(tree, key, value)


def problem_of(error: Exception, tree: Mapping[str, Any], section: str) -> Problem:
    """What is wrong with which key, from an error that names an argument."""
    name, colon, rest = str(error).partition(": ")
    if not colon or " " in name.partition("[")[0]:
        return Problem((section,), str(error))
    return Problem(tuple(_path_of(name, tree, section)), rest)


def _path_of(name: str, tree: Mapping[str, Any], section: str) -> list[str]:
    """Path of the key that an argument was read from, as far as it is known.

    Errors begin with names such as "Reel.drum_radius", "deployed", "State.nodes[0]" and "Fluid.flow[0] (depths)".
    """
    base = re.split(r"[\[(]", name)[0]
    owner, _, argument = base.rpartition(".")
    if base in PARTS or base == "gravity":
        return [argument]
    place = _OWNERS.get(owner or base, section)
    inside = re.search(r"\((\w+)\)$", name)
    key = inside[1] if inside else argument
    for candidate in (place, "run"):  # settings of a run are asked for wherever things are put together
        given = tree.get(candidate)
        part = PARTS.get(candidate)
        if part is None or not isinstance(given, Mapping):
            continue
        cls = _class_of(part, given)
        if key in keys_of(cls).kinds:
            return [candidate, _given_by(cls, key, given)]
        if fields_of(cls).get(key) is _GUIDE:
            return ["guide"]
    return [place] if place else []


def _given_by(cls: type, key: str, given: Mapping[str, Any]) -> str:
    """The key itself, or the first of those that gave it in another way."""
    kind: Kind | None = fields_of(cls).get(key)
    others = [other for way in kind.ways for other in way.keys] if kind is not None else []
    file = file_keys.file_of(cls)
    others += [FILE] if file is not None and key in file.stands_for else []
    return key if key in given else next((other for other in others if other in given), key)
