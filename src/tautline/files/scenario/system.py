"""A scenario as a whole: its sections, and the plain SI objects that they stand for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import PrivateAttr

from tautline.errors import InputError
from tautline.files.scenario.bodies import Body
from tautline.files.scenario.commands import Command
from tautline.files.scenario.names import key_of
from tautline.files.scenario.origin import Origin, ScenarioError
from tautline.files.scenario.quantities import Acceleration, Section
from tautline.files.scenario.sections import (
    AppliedForceSection,
    FluidSection,
    GuideSection,
    ReelSection,
    RunSection,
    StringSection,
)
from tautline.files.scenario.starts import HangingState, Initial
from tautline.model import checks
from tautline.model.command import Command as ModelCommand
from tautline.model.command import Locked, check_start
from tautline.model.elements import default_elements
from tautline.model.pendulum import Pendulum
from tautline.model.reel import Reel
from tautline.model.state import State

_T = TypeVar("_T")


class Built(NamedTuple):
    """What a scenario stands for."""

    pendulum: Pendulum
    state: State
    command: ModelCommand
    options: dict[str, Any]


class Scenario(Section):
    """A whole system and what to do with it."""

    title: str = ""
    description: str = ""
    gravity: Acceleration = 9.81
    string: StringSection
    reel: ReelSection
    body: Body
    fluid: FluidSection | None = None
    applied_force: AppliedForceSection | None = None
    guide: GuideSection | None = None
    initial: Initial
    command: Command
    run: RunSection

    _origin: Origin = PrivateAttr(default_factory=lambda: Origin("scenario", "", ()))

    def build(self, like: tuple[Scenario, Built] | None = None) -> Built:
        """Plain SI objects; ScenarioError where values are out of range or do not fit together.

        Parameters
        ----------
        like : tuple of Scenario and Built, optional
            Another scenario and what it was built to. Sections that are the same objects in both are not built again:
            of thousands of scenarios that differ in a value or two, most of the work is done once.
        """
        string = self._part("string", like, lambda built: built.pendulum.string, self.string.build)
        body = self._part("body", like, lambda built: built.pendulum.body, self.body.build)
        reel = self._reel(like)
        fluid = applied_force = None
        if self.fluid is not None:
            fluid = self._part("fluid", like, lambda built: built.pendulum.fluid, self.fluid.build)
        if self.applied_force is not None:
            applied_force = self._part(
                "applied_force", like, lambda built: built.pendulum.applied_force, self.applied_force.build
            )
        with self.naming_keys("reel"):
            pendulum = Pendulum(string, reel, body, self.gravity, fluid, applied_force)
        command = self._part("command", like, lambda built: built.command, self.command.build)
        options = dict(self._part("run", like, lambda built: built.options, self.run.options))
        with self.naming_keys("initial"):
            state = self._state(pendulum, like)
            state.check_against(pendulum)
            if isinstance(command, Locked) and state.reel_speed != 0.0:
                checks.refuse("reel_speed", "0 with a locked reel", state.reel_speed)
        with self.naming_keys("command"):
            check_start(command, 0.0, string.length - state.reeled_length, state.reel_speed)
        return Built(pendulum, state, command, options)

    def _reel(self, like: tuple[Scenario, Built] | None) -> Reel:
        """With the path of the guide, which has a section of its own."""
        if like is not None and like[0].reel is self.reel and like[0].guide is self.guide:
            return like[1].pendulum.reel
        with self.naming_keys("reel"):
            reel = self.reel.build()
        if self.guide is None:
            return reel
        with self.naming_keys("guide"):
            return dataclasses.replace(reel, guide_path=self.guide.build())

    def _state(self, pendulum: Pendulum, like: tuple[Scenario, Built] | None) -> State:
        """At the start; one that does not hang depends on two lengths only."""
        if like is not None and like[0].initial is self.initial and not isinstance(self.initial, HangingState):
            known = like[1]
            deployed = pendulum.string.length - known.state.reeled_length
            elements = self.run.number_of_elements() or default_elements(pendulum, deployed)
            same = (
                known.state.elements == elements
                and known.pendulum.string.length == pendulum.string.length
                and known.pendulum.reel.guide_length == pendulum.reel.guide_length
            )
            if same:
                return known.state
        return self.initial.build(pendulum, self.run.number_of_elements())

    def _part(
        self, section: str, like: tuple[Scenario, Built] | None, made: Callable[[Built], _T], make: Callable[[], _T]
    ) -> _T:
        if like is not None and getattr(like[0], section) is getattr(self, section):
            return made(like[1])
        with self.naming_keys(section):
            return make()

    @contextmanager
    def naming_keys(self, section: str = "run") -> Iterator[None]:
        """Errors of the model about its arguments become errors about the keys of the file, with file and line.

        Parameters
        ----------
        section : str
            The section that is being used, for arguments that do not name their class.
        """
        try:
            yield
        except ScenarioError:
            raise
        except InputError as error:
            name, colon, rest = str(error).partition(": ")
            named = colon and " " not in name.partition("[")[0]
            path = key_of(name, self, section) if named else [section]
            raise ScenarioError(f"{self._origin.head(path)}: {rest if named else error}") from None


def _kinds(annotation: Any, word: str) -> dict[str, type[Section]]:
    """Kinds of a section by the text that tells them apart."""
    return {get_args(kind.model_fields[word].annotation)[0]: kind for kind in get_args(get_args(annotation)[0])}


# Of the sections that come in several kinds: the key that tells them apart, and the kinds.
DISCRIMINATORS = {"body": "shape", "initial": "kind", "command": "kind"}
KINDS: dict[str, dict[str, type[Section]]] = {
    section: _kinds(annotation, DISCRIMINATORS[section])
    for section, annotation in (("body", Body), ("initial", Initial), ("command", Command))
}
SECTIONS: dict[str, type[Section]] = {
    "string": StringSection,
    "reel": ReelSection,
    "fluid": FluidSection,
    "applied_force": AppliedForceSection,
    "guide": GuideSection,
    "run": RunSection,
}


def model_of(section: str, values: Mapping[str, Any]) -> type[Section] | None:
    """Class of a section that has these values; None if there is no such section or kind."""
    if section in DISCRIMINATORS:
        kind = values.get(DISCRIMINATORS[section])
        return KINDS[section].get(kind) if isinstance(kind, str) else None
    return SECTIONS.get(section)


def default_of(section: str, values: Mapping[str, Any], name: str) -> Any:
    """What a key of a section is if it is not given; None if there is no such key or no default."""
    field = getattr(model_of(section, values), "model_fields", {}).get(name)
    return None if field is None or field.is_required() else field.get_default(call_default_factory=True)
