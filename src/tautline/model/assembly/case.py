"""A case of a system: everything that defines a run, as objects and as keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tautline.errors import InputError
from tautline.model import toml
from tautline.model.assembly import keys, sections
from tautline.model.assembly.assembly import System
from tautline.model.assembly.commands import commands_by_name
from tautline.model.assembly.sections import Described
from tautline.model.assembly.starts import Start, state_of
from tautline.model.assembly.state import State
from tautline.model.case import naming_errors
from tautline.model.command import Command, check_command
from tautline.model.keys import dotted, parse
from tautline.model.kinds import AUTO
from tautline.model.run import Run
from tautline.model.sections import Locate, Tree
from tautline.model.short_keys import expanded, is_short, short

# What a case consists of, by the names of its arguments.
OBJECTS = ("system", "start", "run", "title", "description")


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
        What reels do, by the names of their lines; others are locked. That of the only reel also by itself.
    run : Run
        How long, and by which method.
    title, description : str
        For reports.
    """

    system: System
    start: Start
    commands: Mapping[str, Command]
    run: Run
    title: str = ""
    description: str = ""
    _locate: Locate | None = field(default=None, repr=False)
    _state: State | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.commands, Mapping):  # of the only reel
            object.__setattr__(self, "commands", commands_by_name(self.system, self.commands))
        elements = self.run.number_of_elements()
        if elements is not None:  # those of the only line
            if len(self.system.lines) != 1:
                raise InputError("elements: expected those of each line in Line.elements, got one number")
            system = self.system.with_elements({next(iter(self.system.lines)): elements})
            object.__setattr__(self, "system", system)
            object.__setattr__(self, "run", replace(self.run, elements=AUTO))

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Case) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self.system.bodies), tuple(self.system.lines), self.title, self.run.duration))

    def state(self) -> State:
        """The state at the start; computed once. InputError if the parts do not go together."""
        if self._state is not None:
            return self._state
        with self.naming_keys("initial"):
            found = state_of(self.start, self.system)
        for name, command in self.commands.items():
            if name in found.lines:
                self._check_command(name, command, found)
        object.__setattr__(self, "_state", found)
        return found

    def _check_command(self, name: str, command: Command, state: State) -> None:
        """Refuse a command that the reel cannot follow from the start."""
        line = state.lines[name]
        with self.naming_keys("initial"):
            check_command(command, line.reel_speed)
        with self._naming("lines", name, "command"):
            command.check_start(0.0, self.system.lines[name].string.length - line.reeled_length, line.reel_speed)

    def meshed(self) -> Case:
        """The case with the number of elements of every line."""
        found = replace(self, system=self.system.with_elements(self.state().elements()))
        object.__setattr__(found, "_state", self.state())
        return found

    def with_(self, changes: Mapping[str, Any] | None = None, **others: Any) -> Case:
        """Another case that differs in some places.

        Parameters
        ----------
        changes : dict
            Values by key, such as {"lines.hoist.reel.drum_radius": "0.3 m", "run.duration": 5}; an object such as a
            command, a run or a start takes the place of its whole section.
        **others
            Such values for names without a dot; or objects: a `system`, `start`, `commands` or `run`.
        """
        given, changes = dict(others), dict(changes or {})
        if "initial" in changes and not isinstance(changes["initial"], Mapping):
            given["initial"] = changes.pop("initial")
        if "command" in given:
            given["commands"] = commands_by_name(self.system, given.pop("command"))
        if "initial" in given and not isinstance(given["initial"], Mapping):
            given["start"] = given.pop("initial")
        objects = {name: x for name, x in given.items() if name in OBJECTS and not isinstance(x, Mapping)}
        objects |= {name: x for name, x in given.items() if name == "commands"}
        case = replace(self, **objects) if objects else self
        values = {**changes, **{name: x for name, x in given.items() if name not in objects}}
        if not values:
            return case
        tree = case.to_dict()
        for text, value in values.items():
            keys.change(tree, parse(text), value, case.system)
        return Case.from_dict(tree, locate=self._locate)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, locate: Locate | None = None) -> Case:
        """A case from a tree of keys: what a scenario file holds, or `to_dict` gave."""
        place = locate or dotted
        if not is_short(tree):
            with naming_errors(tree, place, "", sections.problem_of):
                case = cls(*sections.read(tree), _locate=place)
                case.state()
            return case
        with naming_errors(tree, place, "", sections.problem_of, spelled=short):
            case = cls(*sections.read(expanded(tree)), _locate=lambda path: place(list(short(tuple(path)))))
            case.state()
        return case

    def to_dict(self) -> Tree:
        """All keys in plain SI numbers, defaults too; `from_dict` of it is an equal case."""
        return sections.complete(self._described())

    def unit(self, key: str) -> str:
        """Unit of a key such as "lines.hoist.stiffness"; empty for words, counts and plain numbers."""
        return keys.kind_of(self.to_dict(), parse(key)).unit

    def to_toml(self) -> str:
        """Text of a scenario file that loads as an equal case, in plain SI numbers."""
        return toml.text_of(sections.complete(self._described(), defaults=False))

    def _described(self) -> Described:
        return Described(self.system, self.start, dict(self.commands), self.run, self.title, self.description)

    def naming_keys(self, section: str = "run") -> AbstractContextManager[None]:
        """Errors of the model about its arguments become errors about keys, with file and line where known."""
        return self._naming(section)

    @contextmanager
    def _naming(self, *section: str) -> Iterator[None]:
        if self._locate is None:
            yield
            return
        with naming_errors(self.to_dict(), self._locate, section, sections.problem_of):
            yield


def timed(case: Case, time: float) -> Case:
    """The case of a motion that nobody said how long it takes: as long as it has gone on (s)."""
    return case.with_(run=replace(case.run, duration=max(time, 1.0)))
