"""A case: everything that defines a run, as objects and as keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from tautline.errors import EquilibriumError, InputError
from tautline.model import toml
from tautline.model.chain import sections
from tautline.model.chain.chain import Chain
from tautline.model.chain.sections import Locate, ScenarioError, SectionError, Sections, Tree
from tautline.model.chain.state import ChainState
from tautline.model.command import Command, check_command
from tautline.model.description import declared, described
from tautline.model.elements import default_elements
from tautline.model.file_keys import Problem
from tautline.model.keys import dotted, parse
from tautline.model.parts import Part
from tautline.model.run import Run
from tautline.model.starts import Start, depends_on_loads, state_of


def _head_of(changed: list[list[str]], locate: Locate, path: list[str]) -> str:
    """Head of an error: the key alone if it is one of those that were changed."""
    return dotted(path) if any(path[: len(key)] == key for key in changed) else locate(path)


def _hidden() -> Any:
    return dataclasses.field(default=None, init=False, repr=False, compare=False)


@described(name="Case")
class ChainCase:
    """Everything that defines a run.

    `tautline.load` reads one from a file, `with_` makes others from it, `tautline.simulate` runs it.
    """

    pendulum: Chain = declared(Part({"": Chain}, "The system."))
    initial: Start = declared(sections.INITIAL)
    command: Command = declared(sections.COMMAND)
    run: Run = declared(sections.RUN)
    title: str = declared(sections.TITLE, default="")
    description: str = declared(sections.DESCRIPTION, default="")
    _read: Sections | None = _hidden()
    _locate: Locate | None = _hidden()
    _state: ChainState | None = _hidden()
    _placed: ChainState | None = _hidden()  # the same, but not looked at together with the command

    def state(self) -> ChainState:
        """The state at the start; computed once. InputError if the parts do not go together."""
        if self._state is None:
            with self.naming_keys("initial"):
                found = self._placed or state_of(self.initial, self.pendulum, self.run.number_of_elements())
                check_command(self.command, found.reel_speed)
            with self.naming_keys("command"):
                deployed = self.pendulum.string.length - found.reeled_length
                self.command.check_start(0.0, deployed, found.reel_speed)
            object.__setattr__(self, "_state", found)
        assert self._state is not None
        return self._state

    def with_(self, changes: Mapping[str, Any] | None = None, **others: Any) -> ChainCase:
        """Another case that differs in some places; only what has changed is checked and built again.

        Parameters
        ----------
        changes : dict
            Values by key, such as {"string.length": "30 m", "initial.end_velocity[1]": 0.5, "run.duration": 5}; a
            section as a mapping or an object takes the place of the whole section.
        **others
            Such values for names without a dot: `gravity=0`, `command=tl.Locked()`, `title="Other"`; or a `pendulum`.
        """
        tree, changed = dict(self._sections().given), []
        if "pendulum" in others:
            kept = {name: x for name, x in tree.items() if name not in sections.SYSTEM}
            tree = kept | sections.of_system(others.pop("pendulum"))
            changed += [[name] for name in sections.SYSTEM]
        for key, value in {**(changes or {}), **others}.items():
            place = parse(key)
            sections.put(tree, place, value)
            changed.append(place.whole.split("."))
        return ChainCase.from_dict(tree, like=self, locate=self._located_but(changed))

    def _located_but(self, changed: list[list[str]]) -> Locate:
        """Heads of errors: those of this case, but for keys that were changed in Python."""
        locate = self._locate
        if locate is None:
            return dotted
        return partial(_head_of, changed, locate)

    @classmethod
    def from_dict(
        cls, tree: Mapping[str, Any], *, like: ChainCase | None = None, locate: Locate | None = None
    ) -> ChainCase:
        """A case from a tree of keys: what a scenario file holds, or `to_dict` gave.

        Parameters
        ----------
        tree : dict
            Sections of keys; numbers are SI, text has units.
        like : Case, optional
            Sections that are the same objects as in that case's tree are not read again.
        locate : callable, optional
            Gives the head of an error message from the path of a key; the key itself by default.
        """
        before, place = None if like is None else like._sections(), locate or dotted
        with naming_errors(tree, place, "reel"):
            read = sections.read(tree, before)
            case = cls(read.system(), read.made["initial"], read.made["command"], read.made["run"], *read.words())
        set_ = object.__setattr__
        set_(case, "_read", read)
        set_(case, "_locate", place)
        if like is not None and like._state is not None and case._same_state(like):
            set_(case, "_placed", like._state)
            set_(case, "_state", like._state if case.command is like.command else None)
        return case

    def _same_state(self, other: ChainCase) -> bool:
        """Whether the start is that of another case; one that does not hang depends on two lengths only."""
        known, ours, theirs = other._state, self.pendulum, other.pendulum
        if known is None or self.initial is not other.initial:
            return False
        if depends_on_loads(self.initial):
            return ours is theirs and self.run.elements == other.run.elements
        if ours.string.length != theirs.string.length or ours.reel.guide_length != theirs.reel.guide_length:
            return False
        deployed = ours.string.length - known.reeled_length
        elements = self.run.number_of_elements() or default_elements(ours, deployed)
        return known.elements == elements and ours.body.is_point == theirs.body.is_point

    def to_dict(self) -> Tree:
        """All keys in plain SI numbers, defaults too; `from_dict` of it is an equal case."""
        return sections.complete(self._sections().given)

    def to_toml(self) -> str:
        """Text of a scenario file that loads as an equal case: the keys that were given, in plain SI numbers."""
        return toml.text_of(self.keys())

    def keys(self) -> Tree:
        """The keys as they were given, in SI; of a case made of objects, those that differ from defaults."""
        return self._sections().given

    def unit(self, key: str) -> str:
        """Unit of a key such as "string.stiffness"; empty for words, counts and plain numbers."""
        return sections.kind_of(self._sections().given, parse(key)).unit

    def _sections(self) -> Sections:
        if self._read is None:
            object.__setattr__(self, "_read", sections.of(self))
        assert self._read is not None
        return self._read

    @contextmanager
    def naming_keys(self, section: str = "run") -> Iterator[None]:
        """Errors of the model about its arguments become errors about keys, with file and line where these are known.

        Parameters
        ----------
        section : str
            The section that is being used, for arguments that do not name their class.
        """
        if self._locate is None:
            yield
            return
        with naming_errors(self._sections().given, self._locate, section):
            yield


@contextmanager
def naming_errors(
    tree: Mapping[str, Any],
    locate: Locate,
    section: Any,
    problem_of: Callable[[Exception, Mapping[str, Any], Any], Problem] = sections.problem_of,
    spelled: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple,
) -> Iterator[None]:
    """Errors about arguments become errors about the keys of a tree; `problem_of` finds the key of an error.

    `spelled` gives the path of a key as the tree has it.
    """
    try:
        yield
    except ScenarioError:
        raise
    except SectionError as error:
        problems = error.problems
    except EquilibriumError as error:
        problems = [Problem(section if isinstance(section, tuple) else (section,), str(error))]
    except InputError as error:
        problems = [problem_of(error, tree, section)]
    else:
        return
    problems = [problem._replace(path=spelled(problem.path)) for problem in problems]
    problems = sorted(problems, key=lambda problem: _place_in(tree, problem.path))
    lines = [f"{locate(list(problem.path))}: {problem.sentence}" for problem in problems]
    raise ScenarioError("\n".join(lines)) from None


def _place_in(tree: Any, path: tuple[str, ...]) -> list[int]:
    """Where a key stands among those of a tree and of its section; behind all others if it is not there."""
    found = []
    for name in path:
        names = list(tree) if isinstance(tree, Mapping) else []
        found.append(names.index(name) if name in names else len(names))
        tree = tree[name] if name in names else None
    return found
