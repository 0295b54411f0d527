"""Backend: a case that is advanced piece by piece, over a stepper that calls the kernels. It knows nothing of files.

Chain and network differ in their steppers, in what their samples hold, and in what they can do to a motion.
"""

from __future__ import annotations

import copy
import json
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tautline import errors
from tautline._version import __version__
from tautline.engine import checkpoints, plausible
from tautline.engine.conditions import Watch
from tautline.engine.recorder import Recorder
from tautline.engine.sequencing import Now, Progress, begun
from tautline.engine.timing import STEPS_A_CALL, Timing, check_memory, checked_times
from tautline.engine.turns import Turns
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.command import Command
from tautline.model.description import fields_of
from tautline.model.file_keys import Tree
from tautline.model.run import Method, Run
from tautline.model.sequence import Sequence
from tautline.model.system import reading
from tautline.model.system.case import Case, timed
from tautline.model.system.commands import REEL, check_free, check_kinematic, check_known, place_of
from tautline.model.system.sections import COMMAND
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results import network as results
from tautline.results.inputs import CASE
from tautline.results.values import Values
from tautline.results.warnings import WARNINGS, RunWarning, encoded
from tautline.schema import Layout

if TYPE_CHECKING:
    import xarray as xr

RUNNING = errors.STATUS_NAMES[errors.RUNNING]
# Events that are located in time, between two steps.
LOCATED = ("fully_retrieved", "fully_deployed", "two_blocked", "condition_met")
# Fewer samples than this fit into any memory.
MANY_ROWS = 10_000
ENERGIES = [data.KINETIC, data.ELASTIC, data.GRAVITY]


class Backend(ABC):
    """A case in motion, for control loops and for runs that save themselves.

    Attributes
    ----------
    status : str
        "completed" while all is well, else the event that ended the motion.
    is_timed : bool
        Whether the case says how long.
    """

    NAME: ClassVar[str]
    FORM: ClassVar[plausible.Form]  # of the text of its checkpoints
    ARRAYS: ClassVar[type[Any]]  # of its checkpoints: a NamedTuple
    stepper: Any  # a Stepper

    def __init__(self, stepper: Any, case: Case | None) -> None:
        self.status, self.event = RUNNING, ""  # what ended the motion, in a sentence
        self.stepper, self._recorder, self.timing = stepper, Recorder(), Timing(stepper)
        self._given: Case | None = case  # what it is a run of
        self._case: Case | None = None  # the same with a mesh, made when somebody asks
        self.is_timed = case is not None
        self._sampled = 0  # STEP at the latest sample
        self._watch = Watch(self.method.stop, self.layout) if self.method.stop else None
        self.settled = 0  # samples of the present march that were completed within it

    def __copy__(self) -> Self:
        """An independent copy; one that shared arrays of the motion would be of no use."""
        return copy.deepcopy(self)

    def twin(self, until: float = 0.0) -> Self:
        """An independent one in the same state, with nothing recorded; tables of motions hold up to a time (s)."""
        self.look()
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.stepper, other._recorder = self.stepper.twin(until), Recorder()
        other._watch = None if self._watch is None else self._watch.copy()
        other.timing = self.timing.twin(other.stepper)
        return other

    # -- what each has of its own ------------------------------------------------------------------------

    @property
    @abstractmethod
    def system(self) -> System:
        """The system, with the number of elements of every line."""

    @property
    @abstractmethod
    def system_state(self) -> State:
        """The present state, as a value that another simulation can start from."""

    @property
    @abstractmethod
    def commands(self) -> dict[str, Any]:
        """Commands that reels follow, by the names of lines."""

    @abstractmethod
    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""

    @abstractmethod
    def nodes(self, name: str) -> dict[str, data.Array]:
        """Nodes of a line and their velocities now."""

    @abstractmethod
    def deployed(self, name: str) -> float:
        """Unstretched length of a line outside its guide (m)."""

    @abstractmethod
    def reeled(self, name: str) -> float:
        """Unstretched length on the reel side of the guide entrance of a line (m)."""

    @abstractmethod
    def speed(self, name: str) -> float:
        """Rate of the reeled length of a line; positive in retrieval (m/s)."""

    @abstractmethod
    def present_sample(self) -> Any:
        """The present state as the kernels report it; written over by the next advance."""

    @abstractmethod
    def first_sample(self) -> Any:
        """The present state as a sample, for the beginning of a record."""

    @abstractmethod
    def values(self, samples: Any, times: data.Array | None = None) -> Values:
        """Variables of the results from samples, the latest ones if no times are given."""

    @abstractmethod
    def values_for(self, times: data.Array, samples: Any, names: set[str]) -> Values:
        """Variables of the results, those with names at least, for conditions that end a run."""

    @abstractmethod
    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""

    @abstractmethod
    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on reels at their stops."""

    @abstractmethod
    def impulse_since(self, name: str) -> tuple[float, data.Array]:
        """When the latest `advance` began (s); impulse (N s) and moment (N m s) of lines on a kinematic body since."""

    @classmethod
    @abstractmethod
    def at_start(cls, case: Case) -> Self:
        """A simulation at the start of a case, ready for all that can be done to it; its commands are not taken yet."""

    @abstractmethod
    def _command(self, command: Any) -> Any:
        """Commands as its stepper takes them."""

    @abstractmethod
    def _take(self, command: Any) -> None:
        """Let reels follow commands from now on."""

    @abstractmethod
    def _note_impulses(self) -> None:
        """Let forces on kinematic bodies be means from now on."""

    @abstractmethod
    def _judge(self, times: data.Array, samples: Any, kind: Any) -> None:
        """Let its health see samples that were marched under a kind of command."""

    @abstractmethod
    def _kind(self) -> Any:
        """Kind of the present commands, as far as health asks."""

    @abstractmethod
    def _sentence(self, status: int, plan: data.Plan) -> str:
        """What ended the motion, when, and what to do about it."""

    @abstractmethod
    def energies(self, sample: Any) -> data.Array:
        """Kinetic, elastic and gravitational energy (J) of a sample."""

    @abstractmethod
    def _strike(self, name: str, impulse: data.Array, moment: data.Array) -> None:
        """Let the momenta jump."""

    @abstractmethod
    def _stop_reel(self, name: str) -> None:
        """Hold a drum at once."""

    @abstractmethod
    def _move(self, name: str, velocity: data.Array, angular_velocity: data.Array) -> None:
        """Let a kinematic body have a velocity, and an angular velocity in its frame, from now on."""

    @abstractmethod
    def own_checkpoint(self) -> tuple[Any, dict[str, Any]]:
        """The motion, and what else its future depends on."""

    @abstractmethod
    def restore(self, saved: dict[str, Any], motion: Any) -> None:
        """Go on where a checkpoint was taken; refuse a motion that cannot be."""

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def turns(self) -> Turns:
        """Who uses it."""
        return self.stepper.turns  # type: ignore[no-any-return]

    @property
    def method(self) -> Method:
        """How the motion is computed."""
        return self.stepper.method  # type: ignore[no-any-return]

    @property
    def plan(self) -> data.Plan:
        """How steps are chosen."""
        return self.stepper.plan  # type: ignore[no-any-return]

    @property
    def time(self) -> float:
        """Simulated time (s); of a motion that an event ended, that of the event."""
        if self.status in LOCATED:
            return float(self.stepper.counted_from()[0][data.STOP_TIME])
        return self.stepper.time  # type: ignore[no-any-return]

    @property
    def message(self) -> str:
        """How far the motion has come, or what ended it, in a sentence."""
        return self.event or f"completed at t = {self.time:.6g} s"

    def _count(self, place: int) -> int:
        return int(self.stepper.counted_from()[1][place])

    @property
    def steps(self) -> int:
        """Composed steps made so far."""
        return self._count(data.TOTAL)

    @property
    def halvings(self) -> int:
        """How often the base step is halved at present."""
        return self._count(data.LEVEL)

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        return float(self.energies(self.present_sample()).sum())

    @property
    def layout(self) -> Layout:
        """Variables and dimensions of its results."""
        return results.layout(self.system)

    def step_limits(self, lengths: Any = None) -> dict[str, float]:
        """Largest steps that "auto" makes of the present motion (s), by what limits them.

        With `lengths`, of one that is like it with other lengths deployed (m), by the names of lines.
        """
        return self.stepper.step_limits(lengths)  # type: ignore[no-any-return]

    def allowed_step(self) -> float:
        """Largest step that "auto" makes of the present motion (s)."""
        return self.stepper.allowed_step()  # type: ignore[no-any-return]

    def limits(self) -> Any:
        """Step limits of the present motion (s), by the fields of a tuple."""
        return self.stepper.limits()

    def force_on(self, name: str) -> data.Array:
        """Mean force of lines and reels on a kinematic body over the latest `advance` (N), inertial frame.

        Weight and inertia of all of the string, spooled or not, and of what hangs on it, and the drag on them (theory,
        equation 76). The drum's own mass belongs to the body.
        """
        return self._mean_on("force_on", name)[:3]

    def moment_on(self, name: str) -> data.Array:
        """Mean moment of these forces about the origin of a kinematic body over the latest `advance` (N m), inertial.

        With what it takes to turn a drum along whose axis is given.
        """
        return self._mean_on("moment_on", name)[3:]

    def _mean_on(self, what: str, name: str) -> data.Array:
        check_kinematic(self.system, name)
        since, given = self.impulse_since(name)
        if self.time <= since:
            raise InputError(f"{what}: expected after an advance, got none yet")
        return given / (self.time - since)

    # -- moving on ---------------------------------------------------------------------------------------

    def advance(self, duration: float, command: Any = None, *, sample: float | None = None, record: bool = True) -> str:
        """Move on by `duration` (s) under commands of the reels; returns the status (`Simulation.advance`)."""
        if self.status != RUNNING:
            return self.status
        command = self._command(command)
        duration, sample = checked_times(duration, sample)
        with self.turns:
            plan, rows = self._begin(command, duration, sample)
            if record and rows > MANY_ROWS:
                check_memory(rows, self.layout.row_length())
            if record and not self._recorder.times:
                self.keep(self.first_sample())
            done, piece = 0, max(1, STEPS_A_CALL // plan.steps_per_sample)
            while done < rows and self.status == RUNNING:
                count = min(piece, rows - done)
                self.march(count, plan, record)
                done += count
        return self.status

    def begin(self, command: Any, duration: float, sample: float) -> int:
        """Take commands and a sampling interval for calls of `march`; the number of samples."""
        return self._begin(self._command(command), *checked_times(duration, sample))[1]

    def _begin(self, command: Any, duration: float, sample: float | None) -> tuple[data.Plan, int]:
        if self.timing.known != (duration, sample):
            self._check(command)
            self.timing.check(duration, sample)
        self._take(self._in_stages(command))
        self._note_impulses()
        return self.timing.plan(duration, sample)

    def _check(self, command: Any) -> None:
        """Refuse what cannot be begun under a command, before anything is changed."""
        self.turns.check()

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        return self.timing.plan(sample, sample)[0]

    def march(self, rows: int, plan: data.Plan, record: bool = False) -> Any:
        """March for `rows` samples, which may be recorded; fewer if an event ends the motion.

        If an interrupt or an error of a force law ends the march, the motion is left at its latest sample.
        """
        stepper, watch, out, begun = self.stepper, self._watch, self._room(rows), self._count(data.STEP)
        before = None if watch is None else (stepper.saved(), stepper.following(), watch.copy())
        self.settled = 0
        try:
            if watch is None:
                status, filled = stepper.march(out, plan)
            else:
                if self.steps == 0:
                    watch.check_start(self, self.present_sample())
                status, filled = watch.march(self, out, plan)
        except BaseException:
            if before is not None:
                stepper.follow_again(before[1])
                stepper.put_back(before[0])
                self._watch, self.settled = before[2], 0
            filled = (self._count(data.STEP) - begun) // plan.steps_per_sample
            self._note(out, begun, errors.RUNNING, filled, plan, record)
            self._refresh()
            raise
        return self._note(out, begun, status, filled, plan, record)

    def _room(self, rows: int) -> Any:
        """Room for samples of a march."""
        return self.stepper.samples_for(rows)

    @abstractmethod
    def _refresh(self) -> None:
        """Look at the present state anew, where it is remembered."""

    def _note(self, out: Any, begun: int, status: int, filled: int, plan: data.Plan, record: bool) -> Any:
        samples = self.marched(out, begun, status, filled, plan)
        if record and len(samples[0]):
            self.keep(samples)
        return samples

    def marched(self, out: Any, begun: int, status: int, filled: int, plan: data.Plan) -> Any:
        """Take note of a march that began at a step; its samples, fewer if an event ended the motion."""
        self._sampled = begun + filled * plan.steps_per_sample
        done = type(out)(*(x[:filled] for x in out))
        if filled > self.settled:
            rest = type(out)(*(x[self.settled : filled] for x in out))
            rest = self.settle(self.sample_times(filled - self.settled), rest)
            done = done if self.settled else rest
        self.settled = 0
        if status != errors.RUNNING:
            self.status = errors.STATUS_NAMES[status]
            met = None if self._watch is None else self._watch.met
            reason = f"stopped at t = {self.time:.6g} s: {met.sentence()}" if met else self._sentence(status, plan)
            self.event = reason
            self._refresh()
        return done

    def settle(self, times: data.Array, samples: Any) -> Any:
        """Complete samples that were marched under the present commands, and let health see them."""
        samples = self._completed(times, samples)
        if self._recorder.watch(times, samples, self._kind()):
            self.look()
        return samples

    def _completed(self, times: data.Array, samples: Any) -> Any:
        """Samples with what the march itself does not find."""
        return samples

    def look(self) -> None:
        """Let health see the samples that wait."""
        for times, samples, kind in self._recorder.waiting():
            self._judge(times, samples, kind)

    def _placed(self) -> None:
        """Be at another state, as if nothing had been before."""
        self.status, self.event, self._sampled = RUNNING, "", 0

    # -- sequences ---------------------------------------------------------------------------------------

    @property
    def sequences(self) -> dict[str, Sequence]:
        """Sequences that reels follow, by the names of commands."""
        return {} if self._watch is None else {name: x.sequence for name, x in self._watch.stages.items()}

    @property
    def stages(self) -> dict[str, str]:
        """Names of the stages that reels are in, by the names of commands."""
        stages = {} if self._watch is None else self._watch.stages
        return {name: x.sequence.names[x.number] for name, x in stages.items()}

    def _in_stages(self, given: Any) -> Any:
        """Commands as they are followed now: those of first stages for sequences, none for a sequence that goes on."""
        if given is None:
            return None
        by_name = given if isinstance(given, dict) else {next(iter(self.system.lines)): given}
        found = {}
        for name, command in by_name.items():
            known = self.sequences.get(name)
            if not isinstance(command, Sequence):
                if known is not None and self._watch is not None:
                    self._watch.set_stage(name, None)
                found[name] = command
            elif known != command:
                found[name] = self._begin_sequence(name, command)
        return found if isinstance(given, dict) else next(iter(found.values()), None)

    def _begin_sequence(self, name: str, sequence: Sequence) -> Command:
        """The plain command of the first stage."""
        if self._watch is None:
            self._watch = Watch(self.method.stop, self.layout)
        progress = begun(sequence, 0, self._now(name))
        self._watch.check(name, progress)
        self._watch.set_stage(name, progress)
        self._watch.passed.append((progress.since, name, 0))
        return progress.command

    def next_stage(self, name: str, progress: Progress) -> Progress:
        """Let a reel go on with the next stage of its sequence, at the present moment."""
        self._refresh()
        found = begun(progress.sequence, progress.number + 1, self._now(name))
        if found.command.holds and self.speed(name) != 0.0:
            self._stop_reel(name)
        else:
            self._take(self._command({name: found.command}))
        return found

    def stages_text(self) -> dict[str, Any]:
        """Where reels are in their sequences, for a checkpoint."""
        watch = self._watch
        if watch is None or not watch.stages:
            return {}
        stages = {
            name: [x.number, x.since, reading.tagged(COMMAND, x.command), [] if math.isinf(x.ends_at) else [x.ends_at]]
            for name, x in watch.stages.items()
        }
        return {"stages": stages, "passed": watch.passed}

    def restore_stages(self, saved: dict[str, Any]) -> None:
        """Have reels be where a checkpoint says in the sequences of the case."""
        if "stages" not in saved:
            return
        plausible.check_form("checkpoint", saved, checkpoints.STAGES)
        self._watch = self._watch or Watch(self.method.stop, self.layout)
        for name, (number, since, keys, ends) in saved["stages"].items():
            sequence = self.case.commands.get(name)
            if not isinstance(sequence, Sequence) or not 0 <= number < len(sequence.stages):
                raise InputError(f"checkpoint.stages.{name}: expected a stage of a sequence of the case, got {number}")
            progress = Progress(sequence, number, since, reading.command(keys), ends[0] if ends else math.inf)
            self._watch.set_stage(name, progress)
        self._watch.passed = [(t, name, k) for t, name, k in saved["passed"]]

    def take_stages(self, other: Backend) -> None:
        """Have reels be where those of another backend are in their sequences."""
        self._watch = None if other._watch is None else other._watch.copy()

    def command_now(self, name: str) -> Any:
        """The command of the case that a reel follows; of a sequence that of its present stage."""
        stage = None if self._watch is None else self._watch.stages.get(name)
        return self.case.commands[name] if stage is None else stage.command

    def _now(self, name: str) -> Now:
        """Drum of a reel at the present moment."""
        values = self.values(self.present_sample(), np.array([self.time]))
        place = place_of(name)
        torque = values["torque"][0, list(self.system.lines).index(place.line)] if place.part == REEL else math.nan
        return Now(self.time, self.deployed(name), self.speed(name), float(torque))

    # -- actions from outside ----------------------------------------------------------------------------

    def apply_impulse(self, name: str, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """Strike a body: an impulse at its center of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`.
        """
        self.turns.check()
        check_free(self.system, name)
        J, L = checks.array("impulse", impulse, (3,), "N s"), checks.array("moment", moment, (3,), "N m s")
        check_moment(self.system, name, L)
        self._strike(name, J, L)

    def stop_reel(self, name: str) -> None:
        """Hold a drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and bodies keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        self.turns.check()
        check_known(name, self.system.lines, "lines")
        if self.system.lines[name].reel is None:
            raise InputError(f"lines.{name}: expected a string with a reel, got one without")
        self._stop_reel(name)

    def move(self, name: str, velocity: Any, angular_velocity: Any = (0.0, 0.0, 0.0)) -> None:
        """Let a kinematic body move with a velocity (m/s), and turn (rad/s, body frame), until others are given.

        `force_on` and `moment_on` tell what that takes.
        """
        self.turns.check()
        check_kinematic(self.system, name)
        turning = checks.array("angular_velocity", angular_velocity, (3,), "rad/s")
        self._move(name, checks.array("velocity", velocity, (3,), "m/s"), turning)

    # -- samples -----------------------------------------------------------------------------------------

    @property
    def has_record(self) -> bool:
        """Whether samples were kept."""
        return bool(self._recorder.times)

    def keep(self, samples: Any) -> None:
        """Record the latest samples."""
        self._recorder.keep(self.sample_times(len(samples[0])), samples)

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._recorder.forget()

    def sample_times(self, rows: int) -> data.Array:
        """Times of the last so many samples, each from the counter and not from sums."""
        start, plan = self.stepper.counted_from()[0][data.T_START], self.stepper.plan
        if rows == 1:  # every tick of a control loop
            return np.array([start + self._sampled * plan.h])
        counts = self._sampled + plan.steps_per_sample * np.arange(1 - rows, 1, dtype=np.float64)
        times: data.Array = start + counts * plan.h
        return times

    def kept(self) -> tuple[data.Array, Any]:
        """Times and samples of all that was recorded; of the present state where nothing was."""
        self.turns.check()
        if not self._recorder.times:
            return np.array([self.time]), self.present_sample()
        return self._recorder.all_samples()

    def present_values(self) -> Values:
        """Variables of the present state."""
        return self.values(self.present_sample(), np.array([self.time]))

    def recorded(self) -> Values:
        """Variables of all that was recorded."""
        times, samples = self.kept()
        return self.values(samples, times)

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        return results.build(self.system, self.recorded(), self.attributes())

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        return {
            "status": self.status,
            "message": self.message,
            WARNINGS: encoded(self.warnings()),
            "end_time": self.time,
            "step": self.plan.h / 2**self.halvings,
            "steps": self.steps,
            "newton_iterations": self._count(data.ITERATIONS),
            **self.figures(),
            "order": self.method.order,
            CASE: json.dumps(self.description()),
            "version": __version__,
            **self._passed(),
        }

    def _passed(self) -> dict[str, str]:
        """Stages of sequences and when they began, as rows of time, name of the command and name of the stage."""
        if self._watch is None or not self._watch.passed:
            return {}
        names = {name: x.names for name, x in self.sequences.items()}
        rows = [[t, name, names[name][k]] for t, name, k in self._watch.passed if name in names]
        return {"stages": json.dumps(rows)}

    # -- the case, and checkpoints -----------------------------------------------------------------------

    @property
    def case(self) -> Case:
        """The case of the system that it is run for, with the number of elements of every line."""
        if self._case is None:
            self._case = self._given.meshed() if self._given is not None else Case(*self._made_of(), {}, self._run())
        return self._case

    def _run(self) -> Run:
        return Run(duration=1.0, **{name: getattr(self.method, name) for name in fields_of(Method)})

    @abstractmethod
    def _made_of(self) -> tuple[System, State]:
        """System and start, where no case was given."""

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        case = self.case.with_(commands={**self.commands, **self.sequences})
        return case.to_dict() if self.is_timed else timed(case, self.time).to_dict()

    def checkpoint(self) -> tuple[Any, str]:
        """All that the future depends on: arrays, and a JSON text."""
        return checkpoints.taken(self)

    @classmethod
    def from_checkpoint(cls, motion: Any, text: str) -> Self:
        """Go on exactly where `checkpoint` was taken."""
        return checkpoints.restored(cls, motion, text)


def check_moment(system: System, name: str, moment: Any) -> None:
    """Refuse a moment on a body that cannot turn."""
    body = system.bodies[name]
    if isinstance(body, RigidBody) and body.is_point and np.any(moment):
        checks.refuse("moment", "zero for a point mass", list(moment))
