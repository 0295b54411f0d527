"""Simulation: a pendulum that is advanced piece by piece. It knows nothing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tautline import errors
from tautline.engine import checkpoints, lowering
from tautline.engine.chain.recorded import RecordedChain
from tautline.engine.chain.recorder import Recorder
from tautline.engine.chain.stepper import Stepper, Task
from tautline.engine.chain.watched import WatchedChain
from tautline.engine.conditions import Watch
from tautline.engine.loads import moved_on
from tautline.engine.timing import STEPS_A_CALL, Timing, check_memory, checked_times
from tautline.kernels import data
from tautline.model import checks
from tautline.model.chain.cases import chain_start
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of
from tautline.model.checks import ZERO
from tautline.model.command import Command, Free, Locked
from tautline.model.force_law import ForceLaw, check_laws
from tautline.model.run import Method, known
from tautline.model.system.case import Case
from tautline.model.system.commands import check_free, check_kinematic, check_known, commands_by_name
from tautline.model.system.parts import Kinematic

# Fewer samples than this fit into any memory.
MANY_ROWS = 10_000


class ChainSimulation(RecordedChain):
    """A pendulum in motion, for control loops and for runs that save themselves.

    Parameters
    ----------
    pendulum, state
        What, and from where.
    loads : list of ForceLaw, optional
        Forces of your own functions.
    case : Case, optional
        What it is a run of.
    **method
        `step`, `order`, `scheme`, `compensated`, `minimum_length`, `at_end` and `stop`, as in `Run`.

    Attributes
    ----------
    pendulum : Chain
        With `String.damping_ratio` made a viscosity for the mesh of the start.
    status : str
        "completed" while all is well, else the event that ended the motion.
    """

    def __init__(
        self,
        pendulum: Chain,
        state: ChainState,
        *,
        loads: Sequence[ForceLaw] = (),
        case: Case | None = None,
        **method: Any,
    ) -> None:
        checks.instance("pendulum", pendulum, Chain)
        checks.instance("state", state, ChainState)
        state.check_against(pendulum)
        how = Method(**known(method, Method))
        lowering.check_method(how)
        X = pendulum.string.length - state.reeled_length
        if how.minimum_length is not None and how.minimum_length >= X:
            checks.refuse("minimum_length", f"less than the {X:g} m deployed at the start", how.minimum_length)
        pendulum = pendulum.on_mesh(X, state.elements)
        recorder = Recorder(pendulum, how.order)
        super().__init__(Stepper(pendulum, state, how, recorder.health, check_laws(loads)), recorder, how)
        self._given, self.is_timed = case, case is not None
        self._timing = Timing(self._stepper)
        self._watch = Watch(self.method.stop, self.layout) if self.method.stop else None
        lowering.check_loaded_order(self.method.order, self._stepper.loaded)

    @classmethod
    def from_case(cls, case: Case, *, loads: Sequence[ForceLaw] = ()) -> ChainSimulation:
        """A simulation at the start of a case, whose system is a chain; its command is not taken yet."""
        with case.naming_keys():
            return cls(chain_of(case.system), chain_start(case), loads=loads, case=case, **case.run.method())

    @classmethod
    def led(cls, case: Case, *, loads: Sequence[ForceLaw] = ()) -> ChainSimulation:
        """The same, with a kinematic body that carries the reel and has no path ready to be moved."""
        simulation = cls.from_case(case, loads=loads)
        carrier = case.system.bodies.get(next(iter(case.system.lines.values())).start)
        if isinstance(carrier, Kinematic) and carrier.path is None and case.run.order == 2:  # so that it may be led
            simulation._stepper.loads = moved_on(simulation._stepper.loads, 0.0, ZERO, ZERO)
        return simulation

    # -- moving on -------------------------------------------------------------------------------------

    def advance(
        self,
        duration: float,
        command: Any = None,
        *,
        sample: float | None = None,
        record: bool = True,
    ) -> str:
        """Move on by `duration` (s) under a command; returns the status.

        Parameters
        ----------
        duration : float
            A multiple of the step, if that is fixed, and of `sample`.
        command : Command, optional
            By default the one given before; `Locked()` at first.
        sample : float, optional
            Interval between recorded states (s); by default only the end is recorded.
        record : bool
            Keep the states for `dataset`.
        """
        if self.status != "completed":
            return self.status
        if command is not None and not isinstance(command, Command):
            command = self._of_line(command)
        duration, sample = checked_times(duration, sample)
        with self.turns:
            if self._timing.known != (duration, sample):
                self._timing.check(duration, sample, command)
            self._take(command)
            plan, rows = self._timing.plan(duration, sample)
            if record and rows > MANY_ROWS:
                check_memory(rows, self.elements)
            if record and not self._recorder.times:
                self.keep(self.first_sample())
            self._note_impulse()
            done = 0
            piece = max(1, STEPS_A_CALL // plan.steps_per_sample)
            while done < rows and self.status == "completed":
                count = min(piece, rows - done)
                self.march(count, plan, record)
                done += count
        return self.status

    def move(self, name: str, velocity: Any) -> None:
        """Give the kinematic body that carries the reel another velocity (m/s)."""
        self.turns.check()
        check_kinematic(self.system, name)
        found = checks.array("velocity", velocity, (3,), "m/s")
        lowering.check_loaded_order(self.method.order, True)
        self._note_impulse()
        place = self.present_sample().scalars[0, data.GUIDE_PLACE : data.GUIDE_PLACE + 3].copy()
        self._stepper.move_guide(place, found)
        if self._stepper.command is None:  # it jumps under the first command, where the balance begins
            self._stepper.observe(self._stepper.last, self.time)
        else:
            self.first_sample()

    def _note_impulse(self) -> None:
        """Let the force on the guide be a mean from now on, with the jerk of a velocity that is given now."""
        if self._force_since[0] != self.time:
            self._force_since = (self.time, self._stepper.guide_impulse())

    def begin(self, command: Any, duration: float, sample: float) -> int:
        """Take a command and a sampling interval for calls of `march`; the number of samples."""
        if not isinstance(command, Command):
            command = self._of_line(command) or Locked()
        duration, interval = checked_times(duration, sample)
        self._timing.check(duration, interval, command)
        self._take(command)
        return self._timing.plan(duration, interval)[1]

    def _of_line(self, commands: Any) -> Command | None:
        """The command of the only line, from those of a system by the names of lines."""
        return commands_by_name(self.system, commands).get(next(iter(self.system.lines)))

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        return self._timing.plan(sample, sample)[0]

    @property
    def plan(self) -> data.Plan:
        """How steps are chosen."""
        return self._stepper.plan

    def step_limits(self, lengths: Mapping[str, float] | None = None) -> dict[str, float]:
        """Largest steps that "auto" makes of the present motion (s), by what limits them.

        With `lengths`, of one that is like it with other lengths deployed (m), by the names of lines.
        """
        deployed = None if lengths is None else lengths[next(iter(self.system.lines))]
        return lowering.allowed_steps(self._stepper.plan, self.limits(deployed))

    def allowed_step(self) -> float:
        """Largest step that "auto" makes of the present motion (s)."""
        return min(self.step_limits().values())

    def march(self, rows: int, plan: data.Plan, record: bool = False) -> data.Samples:
        """March for `rows` samples, which may be recorded; fewer if an event ends the motion.

        If an interrupt or an error of a force law ends the march, the motion is left at its latest sample.
        """
        stepper = self._stepper
        out = stepper.last if rows == 1 else data.empty_samples(rows, self.elements)
        begun = int(stepper.motion.clock[data.STEP])
        watched = None if self._watch is None else WatchedChain(stepper, self.named)
        before = None if watched is None else watched.saved()
        try:
            if self._watch is None or watched is None:
                status, filled = stepper.march(out, plan)
            else:
                if self.steps == 0:
                    self._watch.check_start(watched, self.present_sample())
                status, filled = self._watch.march(watched, out, plan)
        except BaseException:
            if before is not None and self._watch is not None:
                stepper.put_back(before)
                self._watch.met = None
            filled = (int(stepper.motion.clock[data.STEP]) - begun) // plan.steps_per_sample
            if filled:
                self._note(data.Samples(*(x[:filled] for x in out)), begun, errors.RUNNING, filled, plan, record)
            stepper.observe(stepper.last, self.time)
            raise
        return self._note(out, begun, status, filled, plan, record)

    def _note(
        self, out: data.Samples, begun: int, status: int, filled: int, plan: data.Plan, record: bool
    ) -> data.Samples:
        samples = self.marched(out, begun, status, filled, plan)
        if record and len(samples.scalars):
            self.keep(samples)
        return samples

    def go_on_from(self, state: ChainState, time: float) -> None:
        """Go on from another state at another time (s), under the command that was given at the start of the run."""
        self.turns.check()
        state.check_against(self.pendulum)
        self._stepper.go_on_from(state, time)
        self.status, self._event, self._sampled = errors.STATUS_NAMES[errors.RUNNING], "", 0

    def task(self, until: float | None = None) -> Task:
        """What is to be done next, for those who march otherwise; motions without end are there until a time (s)."""
        s = self._stepper
        if until is not None:
            s.cover(self.time, until)
        return Task(s.par, s.plan, s.kernel_command, s.motion, s.beyond, s.marches_alone or self._watch is not None)

    def marched(self, out: data.Samples, begun: int, status: int, filled: int, plan: data.Plan) -> data.Samples:
        """Take note of a march that began at a step; its samples, fewer if an event ended the motion."""
        stepper = self._stepper
        self._sampled = begun + filled * plan.steps_per_sample
        if filled:
            done, times = data.Samples(out.scalars[:filled], out.nodes[:filled]), self.sample_times(filled)
            if stepper.takes_torque:
                stepper.find_torques(done, times)
            self._recorder.watch(times, done, stepper.reel_is_free)
        if status != errors.RUNNING:
            self.status = errors.STATUS_NAMES[status]
            if self._watch is not None and self._watch.met is not None:
                self._event = f"stopped at t = {self.time:.6g} s: {self._watch.met.sentence()}"
            else:
                self._event = lowering.message(status, stepper.par, plan, self.limits(), stepper.motion, self.time)
            kept = data.Samples(out.scalars[:filled].copy(), out.nodes[:filled].copy())
            stepper.observe(stepper.last, self.time)
            return kept
        if out is not stepper.last and len(out.scalars):
            stepper.last.scalars[0], stepper.last.nodes[0] = out.scalars[-1], out.nodes[-1]
        return out

    def _take(self, command: Command | None) -> None:
        if self._stepper.take(command):
            self.first_sample()

    def _commanded(self) -> None:
        """Take a command if none was given yet: one that leaves the reel as it is."""
        if self._stepper.command is None:
            self._take(Locked() if self._stepper.initial.reel_speed == 0.0 else Free())

    # -- impulses ----------------------------------------------------------------------------------------

    def apply_impulse(self, name: str, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """Strike the body: an impulse at its center of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`. Fluid that moves along with
        the string, or with the body at a free surface, does not take its part of the blow at once.
        """
        check_free(self.system, name)
        J = checks.array("impulse", impulse, (3,), "N s")
        L = checks.array("moment", moment, (3,), "N m s")
        if self.pendulum.body.is_point and L.any():
            checks.refuse("moment", "zero for a point mass", moment)
        with self._booked(data.EXTERNAL_WORK, 1.0):
            R = self._stepper.last.scalars[0, data.ROTATION : data.ROTATION + 9].reshape(3, 3)
            self._stepper.strike_body(J, L, R)

    def stop_reel(self, name: str) -> None:
        """Hold the drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and body keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        check_known(name, self.system.lines, "lines")
        with self._booked(data.FRICTION_LOSS, -1.0):
            self._stepper.stop_reel()

    @contextmanager
    def _booked(self, account: int, sign: float) -> Iterator[None]:
        """Let the momenta jump, and book the energy that it brings or takes."""
        self.turns.check()
        self._commanded()
        before = self.energy
        with self._stepper.jump():
            yield
        self.first_sample()
        self._stepper.book(account, sign * (self.energy - before))
        self.first_sample()

    def twin(self) -> ChainSimulation:
        """An independent simulation in the same state, with nothing recorded."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._recorder = self._recorder.twin()
        other._stepper = self._stepper.twin(other._recorder.health)
        other._timing = self._timing.twin(other._stepper)
        return other

    # -- checkpoints -----------------------------------------------------------------------------------

    def checkpoint(self) -> tuple[data.Motion, str]:
        """All that the future depends on: arrays, and a JSON text."""
        return checkpoints.taken(self)

    @classmethod
    def from_checkpoint(cls, motion: data.Motion, text: str) -> ChainSimulation:
        """Go on exactly where `checkpoint` was taken."""
        return checkpoints.restored(cls, motion, text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint (not the recorded states): one npz file of plain arrays, replaced as a whole."""
        motion, text = self.checkpoint()
        checkpoints.write(path, motion._asdict(), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ChainSimulation:
        """Go on from a checkpoint written by `save`, bit for bit."""
        return checkpoints.loaded(path, lambda arrays, text: cls.from_checkpoint(data.Motion(**arrays), text))
