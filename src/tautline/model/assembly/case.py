"""A case of a system: everything that defines a run, as objects and as keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tautline.model import toml
from tautline.model.assembly import keys, sections
from tautline.model.assembly.assembly import System
from tautline.model.assembly.sections import Described
from tautline.model.assembly.starts import Start, state_of
from tautline.model.assembly.state import AssemblyState
from tautline.model.case import naming_errors
from tautline.model.command import Command
from tautline.model.keys import dotted, parse
from tautline.model.run import Run
from tautline.model.sections import Locate, Tree


@dataclass(frozen=True, eq=False)
class AssemblyCase:
    """Everything that defines a run of a system.

    `tautline.load` reads one from a file that has [bodies.NAME] and [lines.NAME], `tautline.simulate` runs it.

    Parameters
    ----------
    system : System
        Bodies and lines.
    start : Placed, Straight, Hanging, AtEquilibrium or AssemblyState
        Where the run starts.
    commands : dict
        What reels do, by the names of their lines; others are locked.
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
    _state: AssemblyState | None = field(default=None, init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, AssemblyCase) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self.system.bodies), tuple(self.system.lines), self.title, self.run.duration))

    def state(self) -> AssemblyState:
        """The state at the start; computed once."""
        if self._state is not None:
            return self._state
        with self.naming_keys("initial"):
            found = state_of(self.start, self.system)
            object.__setattr__(self, "_state", found)
        return found

    def meshed(self) -> AssemblyCase:
        """The case with the number of elements of every line."""
        found = replace(self, system=self.system.with_elements(self.state().elements()))
        object.__setattr__(found, "_state", self.state())
        return found

    def with_(self, changes: Mapping[str, Any] | None = None, **others: Any) -> AssemblyCase:
        """Another case that differs in some places.

        Parameters
        ----------
        changes : dict
            Values by key, such as {"lines.hoist.reel.drum_radius": "0.3 m", "run.duration": 5}.
        **others
            Such values for names without a dot; or objects: a `system`, `start`, `commands` or `run`.
        """
        objects = {name: x for name, x in others.items() if name in ("system", "start", "commands", "run")}
        case = replace(self, **objects) if objects else self
        values = {**(changes or {}), **{name: x for name, x in others.items() if name not in objects}}
        if not values:
            return case
        tree = case.to_dict()
        for key, value in values.items():
            keys.put(tree, parse(key), value)
        return AssemblyCase.from_dict(tree)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, locate: Locate | None = None) -> AssemblyCase:
        """A case from a tree of keys: what a scenario file holds, or `to_dict` gave."""
        with naming_errors(tree, locate or dotted, "", sections.problem_of):
            case = cls(*sections.read(tree), _locate=locate or dotted)
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

    @contextmanager
    def naming_keys(self, section: str = "run") -> Iterator[None]:
        """Errors of the model about its arguments become errors about keys, with file and line where known."""
        if self._locate is None:
            yield
            return
        with naming_errors(self.to_dict(), self._locate, section, sections.problem_of):
            yield
