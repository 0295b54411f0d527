"""Simulation: a system that is advanced piece by piece, on the backend that is chosen for it."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tautline.engine import checkpoints, saving
from tautline.engine.backend import Backend
from tautline.engine.choose import (
    GIVEN_MOTION,
    Ability,
    backend_for,
    backend_of,
    gives_motion,
    has_memory,
    with_ability,
)
from tautline.engine.runner import Runner
from tautline.engine.turns import Turns
from tautline.engine.views import BodyView, LineView, Views
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.force_law import check_laws
from tautline.model.run import NOT_GIVEN, Method, Run, given_of, known
from tautline.model.system.case import Case
from tautline.model.system.commands import Commands, commands_by_name
from tautline.model.system.starts import Start
from tautline.model.system.state import State
from tautline.model.system.system import System

if TYPE_CHECKING:
    import xarray as xr

T = TypeVar("T")


def runner_of(case: Case, loads: Any = ()) -> Runner[Any]:
    """A case at its start, on the backend that is chosen for it; its commands are not taken yet."""
    checks.instance("case", case, Case)
    laws = _laws_by_line(case.system, loads)
    backend = backend_of(backend_for(case)).at_start(case, loads=laws)
    with case.naming_keys():
        return Runner(backend)


def restored(arrays: dict[str, Any], text: str) -> Runner[Any]:
    """Runner that goes on exactly where a checkpoint was taken, from its arrays and its text."""
    saved = json.loads(text)
    kind = backend_of(saved.get("backend") if isinstance(saved, dict) else None)
    return saving.restored(kind, kind.ARRAYS(**arrays), text)


def _laws_by_line(system: System, loads: Any) -> dict[str, Any]:
    """Force laws by the names of lines; without names they are those of the only line."""
    if isinstance(loads, dict):
        return loads
    laws = check_laws(() if loads is None else loads)
    if laws and len(system.lines) != 1:
        checks.refuse("loads", f"a dict by the names of lines ({', '.join(system.lines)})", loads)
    return {next(iter(system.lines)): laws} if laws else {}


class Simulation:
    """A system in motion, for control loops and for runs that save themselves.

    Parameters
    ----------
    system : System
        What; `tl.pendulum` makes one of one line and one body.
    start : Straight, Hanging, AtEquilibrium, Placed or State
        From where.
    loads : ForceLaw or several, optional
        Forces of your own functions; with several lines, a dict by their names. Such a simulation can be neither saved
        nor resumed.
    step, order, scheme, compensated, minimum_length, at_end, stop
        As in `simulate`.

    Attributes
    ----------
    lines, bodies : dict
        What is known now of each line and body, by name: `sim.lines["hoist"].deployed`, `sim.bodies["load"].position`.
    """

    def __init__(
        self,
        system: System,
        start: Start,
        *,
        loads: Any = (),
        step: float | str = NOT_GIVEN,
        order: int = NOT_GIVEN,
        scheme: str = NOT_GIVEN,
        compensated: bool = NOT_GIVEN,
        minimum_length: float | str | None = NOT_GIVEN,
        at_end: str = NOT_GIVEN,
        stop: Any = NOT_GIVEN,
        **others: Any,
    ) -> None:
        method = given_of(locals(), Method) | others  # others are refused by name
        checks.instance("system", system, System)
        run = Run(duration=1.0, **known(method, Method))
        runner = runner_of(Case(system, start, {}, run), loads)
        runner.is_timed = False
        self._take(runner)

    def _take(self, runner: Runner[Any]) -> None:
        self.runner, self._has_memory = runner, has_memory(runner.system)
        self._moment: tuple[Any, ...] = ()  # of what sensors have seen
        self._sensed: dict[str, Any] = {}
        self._before: tuple[float, Any] | None = None  # time, and sample or velocities, where the latest advance began
        self.lines = Views("lines", (LineView(self, name) for name in runner.system.lines))
        self.bodies = Views("bodies", (BodyView(self, name) for name in runner.system.bodies))

    @property
    def backend(self) -> Backend:
        """State of the motion, on the kernels that it runs on."""
        found: Backend = self.runner.backend
        return found

    def runner_with(self, ability: Ability) -> Runner[Any]:
        """The runner that can do something from now on; the network kernels go on where the chain kernels cannot."""
        before, self.runner = self.runner, with_ability(self.runner, ability)
        if self.runner is not before and self._before is not None:  # samples of other kernels are not those of these
            began, sample = self._before
            self._before = began, {name: before.backend.velocity_in(sample, name) for name in self.bodies}
        return self.runner

    @classmethod
    def of(cls, runner: Runner[Any]) -> Simulation:
        """A simulation of a motion that is there already."""
        found = object.__new__(cls)
        found._take(runner)
        return found

    @classmethod
    def from_case(cls, case: Case, *, loads: Any = ()) -> Simulation:
        """A simulation at the start of a case; its commands are not taken yet."""
        return cls.of(runner_of(case, loads))

    def __copy__(self) -> Simulation:
        """An independent copy; one that shared the motion would be of no use."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"runner": self.runner}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take(state["runner"])

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system, with the number of elements of every line."""
        return self.backend.system

    @property
    def line(self) -> LineView:
        """The only line."""
        return _only(self.lines, "line")

    @property
    def body(self) -> BodyView:
        """The only body that is free."""
        return _only({name: self.bodies[name] for name in self.system.free_bodies}, "body")

    @property
    def time(self) -> float:
        """Simulated time (s); of a motion that an event ended, that of the event."""
        return self.runner.time

    @property
    def status(self) -> str:
        """ "completed" while all is well, else the event that ended the motion."""
        return self.runner.status

    @property
    def message(self) -> str:
        """How far the motion has come, or what ended it, in a sentence."""
        return self.runner.message

    @property
    def steps(self) -> int:
        """Steps made since the start."""
        return self.runner.steps

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        return self.runner.energy

    @property
    def state(self) -> State:
        """The present state, as a value that another simulation can start from."""
        return self.backend.state

    @property
    def turns(self) -> Turns:
        """Who uses it."""
        found: Turns = self.runner.stepper.turns
        return found

    def health(self) -> dict[str, Any]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        return self.runner.figures()

    # -- moving on ---------------------------------------------------------------------------------------

    def advance(
        self, duration: float, command: Commands | None = None, *, sample: float | None = None, record: bool = True
    ) -> str:
        """Move on by `duration` (s) under commands of the reels; returns the status.

        Parameters
        ----------
        duration : float
            A multiple of the step, if that is fixed, and of `sample`.
        command : Command, float or dict, optional
            A command of the only reel, or a torque (N m); with several reels, a dict by the names of lines. Reels that
            are not named go on as before; at first they are locked.
        sample : float, optional
            Interval between recorded states (s); by default only the end is recorded.
        record : bool
            Keep the states for `dataset`.
        """
        if self._has_memory and gives_motion(commands_by_name(self.system, command).values()):
            self.runner_with(GIVEN_MOTION)
        began, latest = self.time, self.runner.latest
        if latest is None:
            latest = type(x := self.backend.present_sample())(*(array.copy() for array in x))
        self._moment = ()
        status = self.runner.advance(duration, command, sample=sample, record=record)
        if self.time > began:
            self._before = began, latest
        return status

    def sensed(self, what: str, look: Callable[[], T]) -> T:
        """Result of a look at the motion, kept until the motion goes on: many sensors of a part cost as one."""
        moment = (id(self.runner), self.runner.time, self.runner.steps)
        if self._moment != moment:
            self._moment, self._sensed = moment, {}
        if what not in self._sensed:
            self._sensed[what] = look()
        found: T = self._sensed[what]
        return found

    def touch(self, *, jumped: bool = False) -> None:
        """Look at the motion anew when a sensor is read: something is done to it, and velocities may jump.

        Refused while another thread moves it on.
        """
        self.turns.check()
        self._moment = ()
        if jumped:
            self.runner.latest = None

    def velocity_before(self, body: str) -> tuple[float, Any] | None:
        """Time and velocity of a body where the latest `advance` began, if there was one."""
        if self._before is None:
            return None
        began, known = self._before
        return began, known[body] if isinstance(known, dict) else self.backend.velocity_in(known, body)

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        return self.runner.dataset()

    # -- checkpoints -------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint (not the recorded states): one npz file of plain arrays, replaced as a whole."""
        motion, text = saving.taken(self.runner)
        checkpoints.write(path, motion._asdict(), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Simulation:
        """Go on from a checkpoint written by `save`, bit for bit."""
        return cls.of(checkpoints.loaded(path, lambda arrays, text: restored(dict(arrays), text)))


def _only(views: dict[str, T], word: str) -> T:
    if len(views) != 1:
        raise InputError(f"{word}: expected a system with one {word}, got {len(views)} ({', '.join(views)})")
    return next(iter(views.values()))
