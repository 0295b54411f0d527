"""A case of a system: everything that defines a run, as objects and as keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tautline.errors import InputError
from tautline.model import checks, toml
from tautline.model.command import Command, check_command, check_kind
from tautline.model.file_keys import ProblemsError, Tree
from tautline.model.keys import Key, Locate, dotted, parse
from tautline.model.kinds import AUTO
from tautline.model.read_only import ReadOnly
from tautline.model.run import NOT_GIVEN, Run
from tautline.model.short_keys import Names, expanded, full_key, is_short, names_of, short
from tautline.model.system import keys, reading, to_keys
from tautline.model.system.commands import SHEAVE, commands_by_name, drives, feed_of, place_of
from tautline.model.system.heads import Heads, Spelled, spelled_in
from tautline.model.system.parts import GUIDE
from tautline.model.system.problems import naming_errors
from tautline.model.system.reading import Described
from tautline.model.system.section_reader import Reading
from tautline.model.system.sections import staged
from tautline.model.system.starts import AtEquilibrium, Hanging, Placed, Start, Straight, state_of
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.model.system.words import words_for_case

# What a case consists of, by the names of its arguments.
OBJECTS = ("system", "start", "commands", "run", "title", "description")


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that defines a run of a system.

    `tautline.load` reads one from a file that has [bodies.NAME] and [lines.NAME], `tautline.simulate` runs it.

    Parameters
    ----------
    system : System
        Bodies and lines.
    start : Placed, Straight, Hanging, AtEquilibrium or State
        Where the run starts.
    commands : dict or Command
        What reels do, by the names of their lines; others are locked. That of the only reel also by itself. All are
        locked if not given.
    run : Run
        How long, and by which method.
    title, description : str
        For reports.
    """

    system: System
    start: Any  # a Start
    commands: Any = None  # Command by the name of a line
    run: Run = NOT_GIVEN
    title: str = ""
    description: str = ""
    _locate: Locate | None = field(default=None, repr=False)
    _read: Reading | None = field(default=None, init=False, repr=False)
    _keys: Tree | None = field(default=None, init=False, repr=False)  # as given, in SI
    _all: Tree | None = field(default=None, init=False, repr=False)  # with defaults
    _state: State | None = field(default=None, init=False, repr=False)
    _checked: bool = field(default=False, init=False, repr=False)  # the state goes with the commands
    _named: dict[str, Key] = field(default_factory=dict, init=False, repr=False)  # keys by what they were called

    def __post_init__(self) -> None:
        checks.instance("Case.system", self.system, System)
        checks.instance("Case.start", self.start, Placed, Straight, Hanging, AtEquilibrium, State)
        if self.run is NOT_GIVEN:
            raise InputError("Case.run: missing; expected a Run such as run=tl.Run(duration=10.0)")
        checks.instance("Case.run", self.run, Run)
        given = {} if self.commands is None else self.commands
        for command in given.values() if isinstance(given, Mapping) else (given,):
            check_kind(command, "Sequence(...)")
        vars(self).update(commands=ReadOnly(commands_by_name(self.system, given)))
        elements = self.run.number_of_elements()
        if elements is not None:  # those of the only line
            if len(self.system.lines) != 1:
                raise InputError("elements: expected those of each line in Line.elements, got one number")
            system = self.system.with_elements({next(iter(self.system.lines)): elements})
            vars(self).update(system=system, run=replace(self.run, elements=AUTO))

    def __eq__(self, other: object) -> bool:
        return self._complete() == other._complete() if isinstance(other, Case) else NotImplemented

    def __repr__(self) -> str:
        return words_for_case(self)

    def _repr_html_(self) -> str:
        """Card of a notebook."""
        from tautline.model.picture.cards import card_of_case  # of many cases, few are shown

        return card_of_case(self)

    def __hash__(self) -> int:
        return hash((tuple(self.system.bodies), tuple(self.system.lines), self.title, self.run.duration))

    def state(self) -> State:
        """The state at the start; computed once. InputError if the parts do not go together."""
        if self._state is None:
            with self.naming_keys("initial"):
                vars(self).update(_state=state_of(self.start, self.system, self.locked_sheaves()))
        found = self._state
        assert found is not None
        if not self._checked:
            for name, command in self.commands.items():
                self._check_command(name, command, found)
            vars(self).update(_checked=True)
        return found

    def locked_sheaves(self) -> frozenset[str]:
        """Names of the sheaves that stand still, or whose motion is given, when the run starts."""
        kinds = drives(self.system)
        return frozenset(
            name for name, x in self.commands.items() if kinds.get(name) == SHEAVE and (x.finds_torque or x.sticks)
        )

    def is_placed(self) -> bool:
        """Whether the state at the start is known already."""
        return self._state is not None

    def starting_from(self, state: State) -> Case:
        """Copy of the case that takes a state for that of its start."""
        found = copy(self)
        vars(found).update(_state=state)
        return found

    def _check_command(self, name: str, command: Command, state: State) -> None:
        """Refuse a command that the reel or sheave cannot follow from the start."""
        place = place_of(name)
        fed = feed_of(self.system, state, place)
        with self.naming_keys("initial", *(("lines", place.line) if isinstance(self.start, Placed | State) else ())):
            check_command(command, fed.speed)
        with self.naming_keys(*place.path):
            command.check_start(0.0, fed.deployed, fed.speed)

    def meshed(self) -> Case:
        """The case with the number of elements of every line."""
        elements = self.state().elements()
        found = replace(self, system=self.system.with_elements(elements))
        tree = dict(self.given_keys())
        for name, count in elements.items():
            keys.put(tree, parse(f"lines.{name}.elements"), count)
        vars(found).update(_keys=tree, _state=self._state, _checked=True)
        return found

    def with_(self, changes: Mapping[str, Any] | None = None, **others: Any) -> Case:
        """Another case that differs in some places; only what has changed is read and built again.

        Parameters
        ----------
        changes : dict
            Values by key, such as {"lines.hoist.reel.drum_radius": "0.3 m", "run.duration": 5}; a section as a
            mapping or an object takes the place of the whole section. Of a system with one line and one body, short
            keys will do: {"string.stiffness": "2 MN", "body.mass": "3 t"}.
        **others
            Such values for names without a dot: `gravity=0`, `title="Other"`; or objects: a `system`, `start`, `run`,
            and `commands`, or a `command` of the only reel.
        """
        given = dict(others)
        if isinstance(given.get("command"), Command):
            given["commands"] = given.pop("command")
        if isinstance(given.get("initial"), Start):
            given["start"] = given.pop("initial")
        objects = {name: given.pop(name) for name in OBJECTS if name in given and not _is_section(name, given[name])}
        case = self._with_objects(objects) if objects else self
        values = {**(changes or {}), **given}
        return case._with_values(values) if values else case

    def with_run(self, **settings: Any) -> Case:
        """Another case with other settings of its run."""
        keys = [("run", name) for name in settings]
        locate = self._heads().but([(key, key) for key in keys], None)
        with naming_errors(self.given_keys(), locate, "run"):
            case = self.with_(run=replace(self.run, **settings))
        vars(case).update(_locate=locate)
        return case

    def _heads(self) -> Heads:
        return self._locate if isinstance(self._locate, Heads) else Heads(self._locate or dotted)

    def _with_objects(self, objects: dict[str, Any]) -> Case:
        case = replace(self, **objects)
        if "system" in objects:
            return case
        tree = dict(self.given_keys())
        for name in ("title", "description"):
            tree |= {name: objects[name]} if name in objects else {}
        if "start" in objects:
            tree["initial"] = to_keys.start_keys(case.start, defaults=False)
        if "run" in objects:
            tree["run"] = to_keys.run_keys(case.run, defaults=False)
        if "commands" in objects:
            for name in drives(self.system):
                keys.drop(tree, _command_key(name))
            for name, command in case.commands.items():
                keys.put(tree, _command_key(name), to_keys.command_keys(command, defaults=False))
        vars(case).update(_keys=tree)
        if "start" not in objects:
            case._keep_state_of(self)
        return case

    def _with_values(self, values: Mapping[str, Any]) -> Case:
        tree, changed = dict(self.given_keys()), []
        for text, value in values.items():
            key = parse(text)
            found = keys.change(tree, key, value, self.system)
            changed.append(((*key.path, key.name), (*found.path, found.name)))
        self.sections()  # so that others share what they have
        names = names_of(self.system) if any(one != other for one, other in changed) else None
        return Case._from_full(tree, self._heads().but(changed, names), tree, tuple, self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, locate: Locate | None = None) -> Case:
        """A case from a tree of keys: what a scenario file holds, or `to_dict` gave.

        Parameters
        ----------
        tree : dict
            Sections of keys; numbers are SI, text has units.
        locate : callable, optional
            Gives the head of an error message from the path of a key; the key itself by default.
        """
        place, tree = locate or dotted, staged(tree)
        if not is_short(tree):
            return cls._from_full(tree, place, tree, partial(spelled_in, tree))
        with naming_errors(tree, place, "", spelled=short):
            full = expanded(tree)
        return cls._from_full(full, Heads(place, Names(guide=GUIDE)), tree, short)

    @classmethod
    def _from_full(
        cls,
        full: Mapping[str, Any],
        locate: Locate,
        tree: Mapping[str, Any],
        spelled: Spelled,
        like: Case | None = None,
    ) -> Case:
        """A case from a full tree of keys, which stands for one that is spelled otherwise."""
        read = Reading(None if like is None else like._read)
        place = locate.place if isinstance(locate, Heads) and spelled is not tuple else locate
        with naming_errors(tree, place, "", spelled=spelled):
            described = reading.read(full, read)
            if like is not None and vars(described.system) == vars(like.system):
                described = described._replace(system=like.system)
            case = cls(*described, _locate=locate)
        vars(case).update(_read=read, _keys=read.given)
        if like is not None and case.system is like.system and case.start == like.start:
            case._keep_state_of(like)
        return case

    def _keep_state_of(self, other: Case) -> None:
        """Start from the state of another case with the same system and start, which need not be found again."""
        checked = other._checked and dict(self.commands) == dict(other.commands)
        vars(self).update(_state=other._state, _checked=checked)

    def sections(self) -> Reading | None:
        """Sections that its objects were made of, or could be; None where its keys do not go together."""
        if self._read is None:  # of a case made of objects
            with suppress(ProblemsError):
                own = Reading()
                reading.read(self.given_keys(), own)
                vars(self).update(_read=own)
        return self._read

    def to_dict(self) -> Tree:
        """All keys in plain SI numbers, as they were given, and defaults; `from_dict` of it is an equal case."""
        return keys.complete(self.given_keys())

    def all_keys(self) -> Tree:
        """The tree of `to_dict`, made once, to be looked at only."""
        if self._all is None:
            vars(self).update(_all=self.to_dict())
        assert self._all is not None
        return self._all

    def key(self, name: str) -> Key:
        """The key of the system that a name, which may be a short one, stands for."""
        if name not in self._named:
            self._named[name] = full_key(parse(name), self.system)
        return self._named[name]

    def unit(self, key: str) -> str:
        """Unit of a key such as "lines.hoist.stiffness"; empty for words, counts and plain numbers."""
        return keys.kind_of(self.given_keys(), self.key(key)).unit

    def to_toml(self) -> str:
        """Text of a scenario file that loads as an equal case: the keys that were given, in plain SI numbers."""
        return toml.text_of(self.given_keys())

    def given_keys(self) -> Tree:
        """Keys as they were given, in SI; of a case made of objects, those that differ from defaults."""
        if self._keys is None:
            vars(self).update(_keys=self._complete(defaults=False))
        assert self._keys is not None
        return self._keys

    def stated_keys(self) -> Tree:
        """Keys that differ from defaults, in SI."""
        return self._complete(defaults=False)

    def _complete(self, defaults: bool = True) -> Tree:
        """Keys of the objects."""
        parts = (self.system, self.start, dict(self.commands), self.run, self.title, self.description)
        return to_keys.complete(Described(*parts), defaults)

    @contextmanager
    def naming_keys(self, *section: str) -> Iterator[None]:
        """Errors of the model about its arguments become errors about keys, with file and line where known.

        Those of a section, that of the run by default, come first.
        """
        if self._locate is None:
            yield
            return
        with naming_errors(self.given_keys(), self._locate, section or ("run",)):
            yield


def _command_key(name: str) -> Key:
    return parse(".".join(place_of(name).path))


def _is_section(name: str, value: Any) -> bool:
    """Whether a value gives keys of a section, and no objects."""
    return name in ("run", "start", "system") and isinstance(value, Mapping)


def timed(case: Case, time: float) -> Case:
    """The case of a motion that nobody said how long it takes: as long as it has gone on (s)."""
    return case.with_(run=replace(case.run, duration=max(time, 1.0)))
