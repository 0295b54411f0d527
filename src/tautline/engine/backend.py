"""Backend: what a runner asks of the two that stand above the kernels, chain and network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

from tautline.engine import plausible
from tautline.engine.timing import Timing
from tautline.kernels import data
from tautline.model.description import fields_of
from tautline.model.run import Method, Run
from tautline.model.system.case import Case
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results.values import Values
from tautline.results.warnings import RunWarning

# Places of the energies in a sample.
ENERGIES = [data.KINETIC, data.ELASTIC, data.GRAVITY]

# Force laws by the names of lines, where there are none.
NO_LAWS: Mapping[str, Any] = MappingProxyType({})


class Backend(Protocol):
    """A system in motion on kernels: what its samples mean, and what can be done to it. Arguments are checked.

    Attributes
    ----------
    stepper : Stepper
        The motion in the terms of the kernels.
    timing : Timing
        Its clock.
    given : Case, optional
        What it is a run of.
    NAME, FORM, ARRAYS
        Its name; form of the text and NamedTuple of the arrays of its checkpoints.
    """

    NAME: ClassVar[str]
    FORM: ClassVar[plausible.Form]
    ARRAYS: ClassVar[type[Any]]
    stepper: Any
    timing: Timing
    given: Case | None

    @classmethod
    def at_start(cls, case: Case, *, loads: Mapping[str, Any] = NO_LAWS) -> Self:
        """The start of a case, ready for all that can be done to it; its commands are not taken yet.

        `loads` are force laws of the user's own, by the names of lines.
        """
        ...

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system, with the number of elements of every line."""
        ...

    @property
    def case(self) -> Case:
        """The case of the system that it is run for, with the number of elements of every line."""
        ...

    @property
    def state(self) -> State:
        """The present state of the system, as a value that another simulation can start from."""
        ...

    @property
    def commands(self) -> dict[str, Any]:
        """Commands that reels follow, by the names of lines."""
        ...

    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""
        ...

    def velocity_in(self, sample: Any, name: str) -> data.Array:
        """Velocity of a body in a single sample (m/s)."""
        ...

    def nodes(self, name: str) -> dict[str, data.Array]:
        """Nodes of a line and their velocities now."""
        ...

    def deployed(self, name: str) -> float:
        """Unstretched length of a line outside its guide (m)."""
        ...

    def reeled(self, name: str) -> float:
        """Unstretched length on the reel side of the guide entrance of a line (m)."""
        ...

    def speed(self, name: str) -> float:
        """Rate of the reeled length of a line; positive in retrieval (m/s)."""
        ...

    def torque(self, name: str) -> float:
        """Torque of a drum or sheave at present (N m)."""
        ...

    def impulse_since(self, name: str) -> tuple[float, data.Array]:
        """When the latest `advance` began (s); impulse (N s) and moment (N m s) of lines on a kinematic body since."""
        ...

    # -- samples -----------------------------------------------------------------------------------------

    def present_sample(self) -> Any:
        """The present state as the kernels report it; written over by the next advance."""
        ...

    def first_sample(self) -> Any:
        """The present state as a sample, for the beginning of a record."""
        ...

    def refresh(self) -> None:
        """Look at the present state anew, where it is remembered."""
        ...

    def room(self, rows: int) -> Any:
        """Room for samples of a march."""
        ...

    def completed(self, times: data.Array, samples: Any) -> Any:
        """Samples of a march with what the march itself does not find."""
        ...

    def energies(self, sample: Any) -> data.Array:
        """Kinetic, elastic and gravitational energy (J) of a sample."""
        ...

    def values(self, samples: Any, times: data.Array, names: set[str] | None = None) -> Values:
        """Variables of the results from completed samples: all, or those with names at least."""
        ...

    def values_for(self, times: data.Array, samples: Any, names: set[str], line: str | None = None) -> Values:
        """Variables of the results from samples as they are marched, those with names at least; or of one line."""
        ...

    # -- trust -------------------------------------------------------------------------------------------

    def judge(self, times: data.Array, samples: Any, kind: Any) -> None:
        """Let its health see samples that were marched under a kind of command."""
        ...

    def kind(self) -> Any:
        """Kind of the present commands, as far as health asks."""
        ...

    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        ...

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on reels at their stops."""
        ...

    def sentence(self, status: int, plan: data.Plan) -> str:
        """Sentence on what ended the motion, when, and what to do about it."""
        ...

    # -- what is done to it ------------------------------------------------------------------------------

    def own_commands(self, command: Any) -> Any:
        """Commands as it takes them, from those of users."""
        ...

    def check(self, command: Any) -> None:
        """Refuse what cannot be begun under its commands, before anything is changed."""
        ...

    def take(self, command: Any) -> None:
        """Let reels follow its commands from now on."""
        ...

    def note_impulses(self) -> None:
        """Let forces on kinematic bodies be means from now on."""
        ...

    def go_on_from(self, state: Any, time: float) -> None:
        """Go on from another state at another time (s), under the commands that were given at the start of the run."""
        ...

    def strike(self, name: str, impulse: data.Array, moment: data.Array) -> None:
        """Let the momenta jump."""
        ...

    def stop_reel(self, name: str) -> None:
        """Hold a drum at once."""
        ...

    def move(self, name: str, velocity: data.Array, angular_velocity: data.Array) -> None:
        """Let a kinematic body have a velocity, and an angular velocity in its frame, from now on."""
        ...

    # -- checkpoints -------------------------------------------------------------------------------------

    def own_checkpoint(self) -> tuple[Any, dict[str, Any]]:
        """The motion, and what else its future depends on."""
        ...

    def restore(self, saved: dict[str, Any], motion: Any, commands: dict[str, Any]) -> None:
        """Go on where a checkpoint was taken, under commands of the case; refuse a motion that cannot be."""
        ...


def copy_of(backend: Backend, until: float) -> Any:
    """An independent backend in the same state; tables of motions hold up to a time (s)."""
    other = copy.copy(backend)
    other.stepper = backend.stepper.copy(until)
    other.timing = backend.timing.copy(other.stepper)
    return other


def case_of_run(given: Case | None, made: Callable[[], tuple[System, State]], method: Method) -> Case:
    """A case with the number of elements of every line; where none was given, that of a system and a start."""
    if given is not None:
        return given.meshed()
    run = Run(duration=1.0, **{name: getattr(method, name) for name in fields_of(Method)})
    return Case(*made(), {}, run)
