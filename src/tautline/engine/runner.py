"""Runner: a system in motion that is advanced piece by piece, on either backend. It knows nothing of files."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from tautline import errors
from tautline._version import __version__
from tautline.engine import stages
from tautline.engine.backend import Backend, copy_of
from tautline.engine.conditions import Watch
from tautline.engine.recorder import Recorder, copied, joined
from tautline.engine.records import record_warnings
from tautline.engine.sequencing import Progress
from tautline.engine.timing import STEPS_A_CALL, check_memory, checked_times
from tautline.kernels import data
from tautline.model.file_keys import Tree
from tautline.model.system.case import Case, timed
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

B = TypeVar("B", bound=Backend)


class Runner(Generic[B]):
    """A case in motion, for control loops and for runs that save themselves.

    Attributes
    ----------
    backend : Backend
        The motion on its kernels; what is known now is asked of it.
    status : str
        "completed" while all is well, else the event that ended the motion.
    event : str
        What ended the motion, in a sentence.
    is_timed : bool
        Whether the case says how long.
    watch : Watch, optional
        Conditions that end the run, and sequences that reels follow.
    settled : int
        Samples of the present march that were completed within it.
    """

    def __init__(self, backend: B) -> None:
        self.backend, self.stepper, self.timing = backend, backend.stepper, backend.timing
        self.status, self.event = RUNNING, ""
        self.latest: Any = None  # the sample at the end of the latest advance, unless velocities jumped since
        self.recorder, self.settled = Recorder(), 0
        self.is_timed = backend.given is not None
        stop = self.stepper.method.stop
        self.watch = Watch(stop, self.layout) if stop else None

    def __copy__(self) -> Self:
        """An independent copy; one that shared arrays of the motion would be of no use."""
        return copy.deepcopy(self)

    def copy(self, until: float = 0.0) -> Self:
        """An independent one in the same state, with nothing recorded; tables of motions hold up to a time (s)."""
        self.look()
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        backend = other.backend = copy_of(self.backend, until)
        other.stepper, other.timing, other.recorder = backend.stepper, backend.timing, Recorder()
        other.watch = None if self.watch is None else self.watch.copy()
        return other

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system, with the number of elements of every line."""
        return self.backend.system

    @property
    def layout(self) -> Layout:
        """Variables and dimensions of its results."""
        return results.layout(self.system)

    @property
    def time(self) -> float:
        """Simulated time (s); of a motion that an event ended, that of the event."""
        return self.timing.now

    @property
    def message(self) -> str:
        """How far the motion has come, or what ended it, in a sentence."""
        return self.event or f"completed at t = {self.time:.6g} s"

    @property
    def steps(self) -> int:
        """Composed steps made so far."""
        return self.timing.count(data.TOTAL)

    @property
    def halvings(self) -> int:
        """How often the base step is halved at present."""
        return self.timing.count(data.LEVEL)

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        return float(self.backend.energies(self.backend.present_sample()).sum())

    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        self.stepper.turns.check()
        self.look()
        return self.backend.figures()

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on reels at their stops."""
        self.stepper.turns.check()
        self.look()
        return self.backend.warnings() + record_warnings(self.system, self.time)

    # -- moving on ---------------------------------------------------------------------------------------

    def advance(self, duration: float, command: Any = None, *, sample: float | None = None, record: bool = True) -> str:
        """Move on by `duration` (s) under commands of the reels; returns the status (`Simulation.advance`)."""
        if self.status != RUNNING:
            return self.status
        command = self.backend.own_commands(command)
        duration, sample = checked_times(duration, sample)
        with self.stepper.turns:
            plan, rows = self._begin(command, duration, sample)
            if record and rows > MANY_ROWS:
                check_memory(rows, self.layout.row_length())
            if record and not self.has_record:
                self.keep(self.first_sample())
            done, piece, self.latest = 0, max(1, STEPS_A_CALL // plan.steps_per_sample), None
            while done < rows and self.status == RUNNING:
                count = min(piece, rows - done)
                samples = self.march(count, plan, record)
                done += count
            self.latest = type(samples)(*[x[-1:] for x in samples]) if len(samples[0]) else None
        return self.status

    def begin(self, command: Any, duration: float, sample: float) -> int:
        """Take commands and a sampling interval for calls of `march`; the number of samples."""
        return self._begin(self.backend.own_commands(command), *checked_times(duration, sample))[1]

    def _begin(self, command: Any, duration: float, sample: float | None) -> tuple[data.Plan, int]:
        backend, timing = self.backend, self.timing
        if timing.known != (duration, sample):
            backend.check(command)
            timing.check(duration, sample)
        backend.take(stages.in_stages(self, command))
        backend.note_impulses()
        return timing.plan(duration, sample)

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        return self.timing.plan(sample, sample)[0]

    def march(self, rows: int, plan: data.Plan, record: bool = False) -> Any:
        """March for `rows` samples, which may be recorded; fewer if an event ends the motion, the last of them there.

        If an interrupt or an error of a force law ends the march, the motion is left at its latest sample.
        """
        stepper, watch, out, begun = self.stepper, self.watch, self.backend.room(rows), self.timing.count(data.STEP)
        before = None if watch is None else (stepper.saved(), stepper.following(), watch.copy())
        self.settled = 0
        try:
            if watch is None:
                status, filled = stepper.march(out, plan)
            else:
                if self.steps == 0:
                    watch.check_start(self, self.backend.present_sample())
                status, filled = watch.march(self, out, plan)
        except BaseException:
            if before is not None:
                stepper.follow_again(before[1])
                stepper.put_back(before[0])
                self.watch, self.settled = before[2], 0
            filled = (self.timing.count(data.STEP) - begun) // plan.steps_per_sample
            self._note(out, begun, errors.RUNNING, filled, plan, record)
            self.backend.refresh()
            raise
        return self._note(out, begun, status, filled, plan, record)

    def _note(self, out: Any, begun: int, status: int, filled: int, plan: data.Plan, record: bool) -> Any:
        samples = self.marched(out, begun, status, filled, plan)
        if self.timing.after_sample:
            samples = joined([samples, self.backend.present_sample()])
        if record and len(samples[0]):
            self.keep(samples)
        return samples

    def marched(self, out: Any, begun: int, status: int, filled: int, plan: data.Plan) -> Any:
        """Take note of a march that began at a step; its samples, fewer if an event ended the motion."""
        self.timing.sampled = begun + filled * plan.steps_per_sample
        done = type(out)(*(x[:filled] for x in out))
        if filled > self.settled:
            rest = type(out)(*(x[self.settled :] for x in done)) if self.settled else done
            rest = self.settle(self.timing.sample_times(filled - self.settled), rest)
            done = done if self.settled else rest
        self.settled = 0
        if status != errors.RUNNING:
            self.have_status(errors.STATUS_NAMES[status])
            met = None if self.watch is None else self.watch.met
            self.event = (
                f"stopped at t = {self.time:.6g} s: {met.sentence()}" if met else self.backend.sentence(status, plan)
            )
            self.backend.refresh()
        return done

    def next_stage(self, name: str, progress: Progress) -> Progress:
        """Let a reel go on with the next stage of its sequence, at the present moment."""
        return stages.next_stage(self, name, progress)

    def have_status(self, status: str, event: str = "") -> None:
        """Be in motion, or ended by an event."""
        self.status, self.event = status, event
        self.timing.at_event = status in LOCATED

    def settle(self, times: data.Array, samples: Any) -> Any:
        """Complete samples that were marched under the present commands, and let health see them."""
        samples = self.backend.completed(times, samples)
        if self.recorder.watch(times, samples, self.backend.kind()):
            self.look()
        return samples

    def look(self) -> None:
        """Let health see the samples that wait."""
        for times, samples, kind in self.recorder.waiting():
            self.backend.judge(times, samples, kind)

    def go_on_from(self, state: Any, time: float) -> None:
        """Go on from another state at another time (s), under the commands that were given at the start of the run."""
        self.stepper.turns.check()
        self.backend.go_on_from(state, time)
        self.have_status(RUNNING)
        self.timing.sampled = 0

    # -- samples -----------------------------------------------------------------------------------------

    @property
    def has_record(self) -> bool:
        """Whether samples were kept."""
        return bool(self.recorder.times)

    def first_sample(self) -> Any:
        """The present state as a sample, for the beginning of a record."""
        self.look()
        return self.backend.first_sample()

    def keep(self, samples: Any) -> None:
        """Record the latest samples."""
        self.recorder.keep(self.timing.sample_times(len(samples[0])), samples)

    def keep_event(self) -> None:
        """Record the state at the event that ended the motion, where it has a place in time."""
        if self.timing.at_event:
            self.keep(copied(self.backend.present_sample()))

    def kept(self) -> tuple[data.Array, Any]:
        """Times and samples of all that was recorded; of the present state where nothing was."""
        self.stepper.turns.check()
        if not self.has_record:
            return np.array([self.time]), self.backend.present_sample()
        return self.recorder.all_samples()

    def values(self, samples: Any) -> Values:
        """Variables of the results from the latest samples."""
        return self.backend.values(samples, self.timing.sample_times(len(samples[0])))

    def present_values(self) -> Values:
        """Variables of the present state."""
        return self.backend.values(self.backend.present_sample(), np.array([self.time]))

    def recorded(self, names: set[str] | None = None) -> Values:
        """Variables of all that was recorded, those with names at least; all by default."""
        times, samples = self.kept()
        found, earlier = self.backend.values(samples, times, names), self.recorder.earlier
        return found if earlier is None else {name: np.concatenate([earlier[name], x]) for name, x in found.items()}

    # -- the result and its case --------------------------------------------------------------------------

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        return results.build(self.system, self.recorded(), self.attributes())

    def attributes(self) -> dict[str, Any]:
        """Attributes of the result."""
        return {
            "status": self.status,
            "message": self.message,
            WARNINGS: encoded(self.warnings()),
            "end_time": self.time,
            "step": self.stepper.plan.h / 2**self.halvings,
            "steps": self.steps,
            "newton_iterations": self.timing.count(data.ITERATIONS),
            **self.figures(),
            "order": self.stepper.method.order,
            "scheme": self.stepper.method.scheme,
            CASE: json.dumps(self.description()),
            "version": __version__,
            **stages.passed(self),
        }

    @property
    def case(self) -> Case:
        """The case of the system that it is run for, with the number of elements of every line."""
        return self.backend.case

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        case = self.case.with_(commands={**self.backend.commands, **stages.sequences(self)})
        return case.to_dict() if self.is_timed else timed(case, self.time).to_dict()
