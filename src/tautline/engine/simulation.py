"""Simulation, which advances a pendulum piece by piece, and simulate(), which does it all at once.

The only callers of `march`. They know nothing of files; `store` drives a Simulation chunk by chunk.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from tautline import errors
from tautline._version import __version__
from tautline.engine import checkpoints, lowering
from tautline.engine.health import MOST_WAITING, Health, Motion
from tautline.engine.recording import record_of_samples
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.inverse import holding_torques, prescribed_torques
from tautline.kernels.limits import Limits, present_limits, step_limits
from tautline.kernels.loads import set_guide_velocity
from tautline.kernels.march import march
from tautline.kernels.observe import change_reel_mode, observe
from tautline.model import checks
from tautline.model.body import RigidBody, Shape
from tautline.model.command import (
    KINDS,
    SAME_LENGTH,
    Brake,
    Command,
    Free,
    Impedance,
    Length,
    Locked,
    PrescribedMotion,
    Speed,
    Torque,
    check_command,
    check_start,
    shortest_commanded,
)
from tautline.model.fluid import AppliedForce, Fluid
from tautline.model.path import GuidePath
from tautline.model.pendulum import Pendulum
from tautline.model.profile import places_at, values_at
from tautline.model.reel import Reel
from tautline.model.state import State
from tautline.model.string import String

if TYPE_CHECKING:
    import xarray as xr

    from tautline.results.values import Record

DEFAULT_SAMPLES = 1000
# Steps between two looks at the keyboard, about 0.1 s; a single sample of more steps is not interrupted.
STEPS_A_CALL = 50_000
# Fewer samples than this fit into any memory.
MANY_ROWS = 10_000
CHECKPOINT_VERSION = 2
# Events that are located in time, between two steps.
ENDS_OF_STRING = ("fully_retrieved", "fully_deployed")


class Task(NamedTuple):
    """What a kernel needs to march a simulation on."""

    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads | None
    tabulated: bool  # the command is a function, which a march asks anew


Controller = Callable[["Simulation"], "float | Command"]


class Simulation:
    """A pendulum in motion, for control loops and for runs that save themselves.

    Parameters
    ----------
    pendulum, state
        What, and from where.
    step, order, scheme, compensated, minimum_length, at_end
        As in `simulate`.

    Attributes
    ----------
    pendulum : Pendulum
    status : str
        "completed" while all is well, else the event that ended the motion.
    """

    def __init__(
        self,
        pendulum: Pendulum,
        state: State,
        *,
        step: float | str = "auto",
        order: int = 2,
        scheme: str = "symmetric",
        compensated: bool = True,
        minimum_length: float | None = None,
        at_end: str = "stop",
    ) -> None:
        checks.instance("pendulum", pendulum, Pendulum)
        checks.instance("state", state, State)
        lowering.check_method(order, scheme, compensated, at_end)
        state.check_against(pendulum)
        if isinstance(step, str):
            checks.choice("step", step, ["auto"])
        fixed = None if isinstance(step, str) else checks.positive("step", step, "s, or 'auto'")
        X = pendulum.string.length - state.reeled_length
        shortest = lowering.MINIMUM_LENGTH * X
        if minimum_length is not None:
            shortest = checks.positive("minimum_length", minimum_length, "m")
            if shortest >= X:
                checks.refuse("minimum_length", f"less than the {X:g} m deployed at the start", minimum_length)
        self.pendulum = pendulum
        self.settings: dict[str, Any] = {
            "step": "auto" if fixed is None else fixed,
            "order": order,
            "scheme": scheme,
            "compensated": compensated,
            "minimum_length": None if minimum_length is None else shortest,
            "at_end": at_end,
        }
        self.status = errors.STATUS_NAMES[errors.RUNNING]
        self._event = ""  # what ended the motion, in a sentence
        self._initial = state
        self._par = lowering.kernel_parameters(pendulum, state.elements, scheme, compensated)
        self._plan = lowering.method_plan(pendulum, order, fixed, shortest, at_end)
        self._base_steps: dict[float, int] = {}  # of "auto", by sample interval; kept so that chunks change nothing
        self._loads = lowering.kernel_loads(pendulum)
        self._check_order()
        self._motion = lowering.initial_motion(self._par, state, pendulum.reel.spooled_strain)
        if pendulum.reel.guide_path is not None:
            frame = slice(data.FRAME_VELOCITY, data.FRAME_VELOCITY + 3)
            self._motion.reel[frame] = pendulum.reel.guide_path.at(0.0)[1][0]
        self._scratch = data.empty_scratch(self._par.N)
        self._backups = data.empty_backups(self._motion)
        self._command: Command | None = None
        self._kernel_command = data.Command(True, np.zeros(1), np.zeros(1))
        self._origin = (0.0, X)  # time and deployed length at which the present command was given
        self._needed = [0.0, 0.0]  # largest torque and power that a given motion of the reel took, as sampled
        self._health = Health()
        self._waiting: list[tuple[data.Array, data.Samples, bool]] = []  # samples that `_health` has still to see
        self._rows_waiting = 0
        self._takes_torque = False  # the motion is prescribed, or the reel locked: its torque has to be found
        self._reel_is_free = False  # moved by forces
        self._force_since = (0.0, np.zeros(3))  # time and impulse of the guide when the latest advance began
        self._last = data.empty_samples(1, self._par.N)
        self._sampled = 0  # STEP at the latest sample
        self._timed_for: tuple[float, float | None] | None = None
        self._timed_result: tuple[data.Plan, int] = (self._plan, 0)
        self._times: list[data.Array] = []
        self._pieces: list[data.Samples] = []

    # -- what can be asked at any time ----------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time (s)."""
        if self.status in ENDS_OF_STRING:
            return float(self._motion.reel[data.STOP_TIME])
        return float(self._motion.reel[data.T_START] + self._motion.clock[data.STEP] * self._plan.h)

    @property
    def message(self) -> str:
        """How far the motion has come, or what ended it, in a sentence."""
        return self._event or f"completed at t = {self.time:.6g} s"

    @property
    def steps(self) -> int:
        """Composed steps made so far."""
        return int(self._motion.clock[data.TOTAL])

    @property
    def elements(self) -> int:
        """N."""
        return self._par.N

    @property
    def reeled_length(self) -> float:
        """s (m)."""
        return float(self._motion.reel[data.S])

    @property
    def unstretched_length(self) -> float:
        """Of the deployed string (m)."""
        return float(self._par.L - self._motion.reel[data.S])

    @property
    def reel_speed(self) -> float:
        """Rate of reeled_length; positive in retrieval (m/s)."""
        return float(self.present_sample().scalars[0, data.REEL_SPEED])

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        x = self.present_sample().scalars[0]
        return float(x[data.KINETIC] + x[data.ELASTIC] + x[data.GRAVITY])

    @property
    def state(self) -> State:
        """The present state, as a value that another simulation can start from."""
        x = self.present_sample()
        row = x.scalars[0]
        return State(
            row[data.REELED_LENGTH],
            row[data.REEL_SPEED],
            x.nodes[0, 0],
            x.nodes[0, 1],
            row[data.ROTATION : data.ROTATION + 9].reshape(3, 3),
            row[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3],
        )

    def present_sample(self) -> data.Samples:
        """The present state as the kernels report it; written over by the next advance."""
        if self._command is None:
            locked = self._initial.reel_speed == 0.0
            observe(self._par, locked, self._motion, self._scratch, self._last, 0, self.time, self._beyond())
        return self._last

    def _beyond(self) -> data.Loads | None:
        """Loads, or None where the plain model will do: it is compiled sooner."""
        return self._loads if self._loaded or self._plan.hold else None

    @property
    def _loaded(self) -> bool:
        return bool(self._loads.acts or self._loads.moves)

    def _check_order(self, carried: bool = False) -> None:
        order = self.settings["order"]
        if (self._loaded or carried) and order > 2:
            raise InputError(
                f"order: expected 2 with damping, a fluid, a push or a moving guide, got {order}; higher orders step "
                "back in time inside, where damping would feed energy in"
            )

    def _check_carrier(self) -> None:
        """Refuse a guide that is to be moved in two ways, or by a method that cannot."""
        if self.pendulum.reel.guide_path is not None:
            checks.refuse("Reel.guide_path", "None where guide_velocity is given", "a GuidePath")
        self._check_order(carried=True)

    # -- moving on -------------------------------------------------------------------------------------

    def advance(
        self,
        duration: float,
        command: Command | None = None,
        *,
        sample: float | None = None,
        record: bool = True,
        guide_velocity: Any = None,
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
        guide_velocity : three floats, optional
            Of a guide that is carried by something outside, from now on until another is given (m/s; inertial frame,
            third axis down). A change is a jump (theory, equation 74): what is fastened to the guide is jerked along,
            everything else keeps its inertial velocity. Its work is in `guide_work`, the force on the carrier in
            `guide_force`.
        """
        if self.status != "completed":
            return self.status
        duration, sample = _checked_times(duration, sample)
        if guide_velocity is not None:
            guide_velocity = checks.array("guide_velocity", guide_velocity, (3,), "m/s")
            self._check_carrier()
        if (duration, sample) != self._timed_for:
            self._check_ratio(duration, sample, command)
        self._take(command)
        plan, rows = self._timed(duration, sample)
        if record and rows > MANY_ROWS:
            _check_memory(rows, self._par.N)
        if record and not self._times:
            self.keep(self.first_sample())
        self._force_since = (self.time, self._guide_impulse())
        if guide_velocity is not None:
            self._move_guide(guide_velocity)
        done = 0
        piece = max(1, STEPS_A_CALL // plan.steps_per_sample)
        while done < rows and self.status == "completed":
            count = min(piece, rows - done)
            samples = self.march(count, plan)
            done += count
            if record and len(samples.scalars):
                self.keep(samples)
        return self.status

    def begin(self, command: Command, duration: float, sample: float) -> int:
        """Take a command and a sampling interval for calls of `march`; the number of samples."""
        duration, interval = _checked_times(duration, sample)
        self._check_ratio(duration, interval, command)
        self._take(command)
        return self._timed(duration, interval)[1]

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        return self._timed(sample, sample)[0]

    def march(self, rows: int, plan: data.Plan) -> data.Samples:
        """So many samples in one call of the kernel; fewer if an event ends the motion."""
        out = self._last if rows == 1 else data.empty_samples(rows, self._par.N)
        begun = int(self._motion.clock[data.STEP])
        if isinstance(self._command, Torque) and self._command.is_function:
            self._tabulate(self._command, rows, plan)
        status, filled = march(
            self._par, plan, self._kernel_command, self._motion, self._scratch, self._backups, out, self._beyond()
        )
        return self.marched(out, begun, status, filled, plan)

    def task(self) -> Task:
        """What is to be done next, for those who march several simulations at once."""
        tabulated = isinstance(self._command, Torque) and self._command.is_function
        return Task(self._par, self._plan, self._kernel_command, self._motion, self._beyond(), tabulated)

    def marched(self, out: data.Samples, begun: int, status: int, filled: int, plan: data.Plan) -> data.Samples:
        """Take note of a march that began at a step; its samples, fewer if an event ended the motion."""
        self._sampled = begun + filled * plan.steps_per_sample
        if filled:
            done, times = data.Samples(out.scalars[:filled], out.nodes[:filled]), self.sample_times(filled)
            if self._takes_torque:
                self._find_torques(done, times)
            self._let_wait(done, times)
        if status != errors.RUNNING:
            self.status = errors.STATUS_NAMES[status]
            self._event = lowering.message(status, self._par, plan, self.limits(), self._motion, self.time)
            kept = data.Samples(out.scalars[:filled].copy(), out.nodes[:filled].copy())
            self._observe(self._last)
            return kept
        if out is not self._last and len(out.scalars):
            self._last.scalars[0], self._last.nodes[0] = out.scalars[-1], out.nodes[-1]
        return out

    def _tabulate(self, command: Torque, rows: int, plan: data.Plan) -> None:
        """A torque that is a function, at the ends of all stages of the steps to come."""
        parts = 2 ** lowering.halvings(plan, self.limits())
        h = plan.h / parts
        begins = self.time + h * np.arange(rows * plan.steps_per_sample * parts + 1)
        inner = np.cumsum(plan.stages)[:-1]
        times = np.unique(np.concatenate([begins, *(begins[:-1] + x * h for x in inner)]))
        times = times[np.concatenate([[True], np.diff(times) > SAME_LENGTH * h])]
        times, torques = command.sampled(times)
        if len(plan.stages) == 1:
            middles = command.sampled(0.5 * (times[1:] + times[:-1]))[1]
            self._health.impulse += float(np.diff(times) @ np.abs(middles))
            self._health.bent += float(np.diff(times) @ np.abs(middles - 0.5 * (torques[1:] + torques[:-1])))
        # stages of higher orders look at the function itself, steps of order 2 at lines between its values
        pointwise = self.settings["order"] > 2
        self._kernel_command = self._kernel_command._replace(times=times, torques=torques, pointwise=pointwise)

    def _observe(self, out: data.Samples) -> None:
        """The present state into a single sample."""
        locked = self._kernel_command.locked
        observe(self._par, locked, self._motion, self._scratch, out, 0, self.time, self._beyond())
        if self._takes_torque:
            self._find_torques(out, np.array([self.time]))

    def _find_torques(self, samples: data.Samples, times: data.Array) -> None:
        """Torques that a prescribed motion or a lock takes, into its samples; note the largest torque and power."""
        prescribed = isinstance(self._command, PrescribedMotion)
        x = samples.scalars
        room = data.empty_motion(self._par.N)
        loads = self._loads if self._loaded else None
        if not prescribed:
            holding_torques(self._par, times, room, self._scratch, samples, loads)
            return
        # the paper's scheme has its own, of its own order
        if self._par.theta > 0.0:
            profile = self._kernel_command.profile
            found = prescribed_torques(self._par, profile, times, room, self._scratch, samples, loads)
            self._health.torques_found = self._health.torques_found and found
        torque = np.abs(x[:, data.DRUM_TORQUE])
        power = torque * np.abs(x[:, data.REEL_SPEED]) / self.pendulum.reel.radius(x[:, data.REELED_LENGTH])
        self._needed = [max(self._needed[0], float(torque.max())), max(self._needed[1], float(power.max()))]

    def limits(self, deployed: float | None = None) -> Limits:
        """Step limits of the present motion (s), or of one that is like it with another length deployed (m)."""
        locked = self._kernel_command.locked
        loads = self._loads if self._loaded else None
        now = present_limits(self._par, self._plan, locked, self.time, self._motion, self._scratch, loads)
        if deployed is None:
            return now
        then = step_limits(self._par, self._plan, self._par.L - deployed, locked)
        return then._replace(drag=now.drag, turning=now.turning)

    def _take(self, command: Command | None) -> None:
        """Make `command` the present one; a reel that was locked or held is released."""
        if command is None or command is self._command:
            if self._command is not None:
                return
            command = command or Locked()
        if _is_constant(command) and _is_constant(self._command):
            # the common case of a control loop: another constant torque
            self._kernel_command.torques[0] = command.moment
            limit = self._par.max_torque
            self._motion.reel[data.TORQUE] = min(max(command.moment, -limit), limit)
            self._command = command
            return
        before = self._command
        speed = self._initial.reel_speed if before is None else float(self._last.scalars[0, data.REEL_SPEED])
        time, length = self.time, self.unstretched_length
        lowering.check_command(command, self.settings["order"], self.settings["scheme"], speed, self.pendulum.reel)
        check_start(command, time, length, speed)
        kernel = lowering.kernel_command(command, self._par.L, time, length)
        if not (isinstance(before, Locked) and isinstance(command, Locked)):
            self._let_go()
        if isinstance(command, Locked | PrescribedMotion):
            self._motion.reel[data.STOP] = 0.0
        self._origin = (time, length)
        self._kernel_command = kernel
        self._follow(command)
        self._plan = lowering.with_impedance(self._plan, command)
        least = shortest_commanded(command, length, time)
        if self.settings["minimum_length"] is None and least is not None and least < 2.0 * self._plan.minimum_length:
            # a default must not end the run on the way to where it is to go
            self._plan = self._plan._replace(minimum_length=0.5 * least)
        self._motion.reel[data.TORQUE] = lowering.commanded_torque(self._par, kernel, self._motion, time)
        if isinstance(command, PrescribedMotion):
            # a jump of the speed is a blow by the motor
            self._motion.reel[data.WORK] += self._lead()
        if before is None or isinstance(command, PrescribedMotion):
            self.first_sample()

    def _follow(self, command: Command) -> None:
        """Remember the command, and what has to be known of it in every tick."""
        self._command = command
        self._takes_torque = isinstance(command, Locked | PrescribedMotion)
        self._reel_is_free = not isinstance(command, Locked | PrescribedMotion | Impedance)

    def _let_go(self) -> None:
        """Give a reel that was locked, led or stuck the momentum of its speed."""
        locked = isinstance(self._command, Locked)
        if locked or self._motion.reel[data.HELD] != data.NOT_HELD:
            change_reel_mode(self._par, locked, self._motion, self._scratch, data.NOT_HELD, 0.0, 0.0)

    def _lead(self) -> float:
        """Let the reel follow the command from now on; the energy that it takes to reach its speed (J)."""
        _, speed, acceleration = values_at(self._kernel_command.profile, self.time)
        return float(
            change_reel_mode(self._par, False, self._motion, self._scratch, data.PRESCRIBED, speed, acceleration)
        )

    def _check_ratio(self, duration: float, sample: float | None, command: Command | None) -> None:
        """Refuse times that do not fit each other or a fixed step, before anything is changed."""
        interval = duration if sample is None else sample
        if not self._plan.adaptive:
            if self._motion.clock[data.STEP] == 0:
                wanted = command or self._command or Locked()
                plan = lowering.with_impedance(self._plan, wanted)
                limits = step_limits(self._par, plan, self.reeled_length, isinstance(wanted, Locked))
                lowering.check_step(self._par, plan, self.reeled_length, limits)
            checks.whole_ratio("duration" if sample is None else "sample", interval, "step", self._plan.h)
        checks.whole_ratio("duration", duration, "sample", interval)

    def _timed(self, duration: float, sample: float | None) -> tuple[data.Plan, int]:
        """Plan with base step and sampling, and the number of samples; kept for the next call with the same times."""
        if (duration, sample) == self._timed_for and self._plan is self._timed_result[0]:
            return self._timed_result
        interval = duration if sample is None else sample
        if self._plan.adaptive:
            if interval not in self._base_steps:
                self._base_steps[interval] = lowering.base_steps(self._plan, self.limits(), interval)
            count = self._base_steps[interval]
            h = interval / count
            if h != self._plan.h:
                # another base step: count from here on
                self._motion.reel[data.T_START] = self.time
                self._motion.clock[data.STEP] = 0
                self._plan = self._plan._replace(h=h)
        else:
            count = checks.whole_ratio("duration" if sample is None else "sample", interval, "step", self._plan.h)
        rows = 1 if sample is None else checks.whole_ratio("duration", duration, "sample", count * self._plan.h)
        if count != self._plan.steps_per_sample:
            self._plan = self._plan._replace(steps_per_sample=count)
        self._timed_for, self._timed_result = (duration, sample), (self._plan, rows)
        return self._timed_result

    # -- blows -------------------------------------------------------------------------------------------

    def apply_impulse(self, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """A blow on the body: an impulse at its centre of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`.
        """
        J = checks.array("impulse", impulse, (3,), "N s")
        L = checks.array("moment", moment, (3,), "N m s")
        if self.pendulum.body.is_point and L.any():
            checks.refuse("moment", "zero for a point mass", moment)
        with self._blow(data.EXTERNAL, 1.0):
            N = self._par.N
            self._motion.nodes[data.MOMENTUM, N :: N + 1] += J
            R = self._last.scalars[0, data.ROTATION : data.ROTATION + 9].reshape(3, 3)
            if not self.pendulum.body.is_point:
                spin = np.cross(self._par.rho, R.T @ J) + R.T @ L
                self._motion.body[data.SPIN : data.SPIN + 3] += spin

    def stop_reel(self) -> None:
        """Hold the drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and body keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        with self._blow(data.FRICTION, -1.0):
            self._follow(Locked())
            self._kernel_command = lowering.kernel_command(Locked())
            self._motion.reel[[data.SIGMA, data.STOP, data.TORQUE]] = 0.0

    @contextmanager
    def _blow(self, account: int, sign: float) -> Iterator[None]:
        """Around a jump of the momenta: book the energy, and do not extrapolate across it."""
        if self._command is None:
            self._take(None if self._initial.reel_speed == 0.0 else Free())
        before = self.energy
        if not isinstance(self._command, Locked):
            self._let_go()
        yield
        if isinstance(self._command, PrescribedMotion):
            self._lead()
        self._motion.reel[[data.H_LAST, data.H_BEFORE]] = 0.0
        self.first_sample()
        self._motion.reel[account] += sign * (self.energy - before)
        self.first_sample()

    def twin(self) -> Simulation:
        """An independent simulation in the same state, with nothing recorded."""
        other = copy.copy(self)
        other._motion = data.copy_of(self._motion)
        other._scratch = data.empty_scratch(self._par.N)
        other._backups = data.empty_backups(self._motion)
        other._health = copy.deepcopy(self._health)
        other._waiting = list(self._waiting)
        other._last = data.Samples(*(array.copy() for array in self._last))
        other._kernel_command = self._kernel_command._replace(torques=self._kernel_command.torques.copy())
        other._base_steps, other._needed = dict(self._base_steps), list(self._needed)
        other._times, other._pieces = [], []
        return other

    # -- a guide that another program moves ---------------------------------------------------------------

    @property
    def guide_force(self) -> data.Array:
        """Mean force of string and reel on whatever carries a guide that moves, over the latest `advance` (N).

        Weight and inertia of all of the string, spooled or not, and of the body, and the drag on them (theory, equation
        76); inertial frame, third axis down. The drum's own mass belongs to the carrier.
        """
        passed = self.time - self._force_since[0]
        if not self._loads.moves or passed <= 0.0:
            raise InputError(
                "guide_force: expected a guide that moves; advance with guide_velocity first, zeros if it stands"
            )
        given: data.Array = (self._force_since[1] - self._guide_impulse()) / passed
        return given

    def _guide_impulse(self) -> data.Array:
        """What the guide has given to string and body (N s)."""
        return self._motion.reel[data.GUIDE_IMPULSE : data.GUIDE_IMPULSE + 3].copy()

    def _move_guide(self, velocity: data.Array) -> None:
        """Let the guide go on from where it is with this velocity, which the frame of the momenta takes at once."""
        place = self.present_sample().scalars[0, data.GUIDE_PLACE : data.GUIDE_PLACE + 3].copy()
        set_guide_velocity(
            self._par, self._kernel_command.locked, tuple(velocity.tolist()), self._motion, self._scratch
        )
        self._loads = lowering.moved_on(self._loads, self.time, place, velocity)
        self.first_sample()

    # -- what was recorded -----------------------------------------------------------------------------

    def first_sample(self) -> data.Samples:
        """The present state as a sample, for the beginning of a record."""
        out = data.empty_samples(1, self._par.N)
        self._observe(out)
        self._last.scalars[:], self._last.nodes[:] = out.scalars, out.nodes
        self._sampled = int(self._motion.clock[data.STEP])
        self._health.begin(self._motion.reel, out.scalars[0])
        return out

    def keep(self, samples: data.Samples) -> None:
        """Record the latest samples."""
        if samples is self._last:
            samples = data.Samples(samples.scalars.copy(), samples.nodes.copy())
        self._times.append(self.sample_times(len(samples.scalars)))
        self._pieces.append(samples)

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._times.clear()
        self._pieces.clear()

    def sample_times(self, rows: int) -> data.Array:
        """Times of the last so many samples, each from the counter and not from sums."""
        if rows == 1:  # every tick of a control loop
            return np.array([self._motion.reel[data.T_START] + self._sampled * self._plan.h])
        counts = self._sampled + self._plan.steps_per_sample * np.arange(1 - rows, 1, dtype=np.float64)
        times: data.Array = self._motion.reel[data.T_START] + counts * self._plan.h
        return times

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        from tautline.results import dataset

        return dataset.build(self.pendulum, self.record(), self.attributes())

    def record(self) -> Record:
        """The same as plain arrays, for those who make thousands of runs."""
        # nothing recorded yet: the present state alone
        pieces = self._pieces or [self.present_sample()]
        times = self._times or [np.array([self.time])]
        samples = data.Samples(np.concatenate([p.scalars for p in pieces]), np.concatenate([p.nodes for p in pieces]))
        return record_of_samples(np.concatenate(times), samples)

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        remarks = self.remarks()
        return {
            "status": self.status,
            "message": "; ".join([self.message, *remarks]),
            "remarks": "\n".join(remarks),
            "end_time": self.time,
            "elements": self.elements,
            "step": self._plan.h / 2 ** int(self._motion.clock[data.LEVEL]),
            "steps": self.steps,
            "newton_iterations": int(self._motion.clock[data.ITERATIONS]),
            **self.health(),
            "order": self.settings["order"],
            "scheme": self.settings["scheme"],
            "scenario": json.dumps(self.description()),
            "version": __version__,
        }

    def _let_wait(self, samples: data.Samples, times: data.Array) -> None:
        """Keep the latest samples for a look at their health, and look when there are many."""
        if len(times) == 1:  # in `_last`, which is written over
            samples = data.Samples(samples.scalars.copy(), samples.nodes.copy())
        self._waiting.append((times, samples, self._reel_is_free))
        self._rows_waiting += len(times)
        if self._rows_waiting >= MOST_WAITING:
            self._look()

    def _look(self) -> None:
        """Let `_health` see what is waiting: pieces that were marched under one kind of command together."""
        for free, group in itertools.groupby(self._waiting, key=lambda waiting: waiting[2]):
            times, pieces = zip(*((t, s) for t, s, _ in group), strict=True)
            samples = data.Samples(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
            self._health.update(self.pendulum, np.concatenate(times), samples, self.settings["order"], free)
        self._waiting.clear()
        self._rows_waiting = 0

    def health(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        self._look()
        return self._health.figures(self.pendulum, self._plan, self._motion.reel)

    def remarks(self) -> list[str]:
        """Sentences on what a user should know of the run besides how it ended."""
        reel, said = self.pendulum.reel, []
        if self._motion.reel[data.STOP] != 0.0:
            side = "retrieved" if self._motion.reel[data.STOP] > 0.0 else "deployed"
            said.append(f"held at the {side} end since t = {self._motion.reel[data.STOP_TIME]:.6g} s")
        for name, needed, limit, unit in (
            ("max_torque", self._needed[0], reel.max_torque, "N m"),
            ("max_power", self._needed[1], reel.max_power, "W"),
        ):
            if limit is not None and needed > limit:
                said.append(
                    f"the prescribed motion of the reel took {needed:.4g} {unit}, more than {name} ({limit:g} {unit})"
                )
        said += self._health.remarks(self.pendulum, self.elements, self.health(), self._plan.adaptive)
        return said + self._health.unresolved(self._force_knots(), self._given_motions(), self.time)

    def _force_knots(self) -> dict[str, data.Array]:
        """Times of the entries of tables of forces that act, by what they are of; a function has none."""
        found, command = {}, self._command
        if isinstance(command, Torque | Brake) and isinstance(command.moment, tuple):
            found[type(command).__name__] = self._kernel_command.times
        if self._loads.applied.shape[1] > 1:
            found["AppliedForce"] = self._loads.applied[0]
        return found

    def _given_motions(self) -> dict[str, Motion]:
        """Tables of motions that are given to reel or guide, by what they are of."""
        found: dict[str, Motion] = {}
        command = self._command
        follower = command.length if isinstance(command, Impedance) else command
        if isinstance(follower, Speed) or (isinstance(follower, Length) and follower.target is None):
            curve = self._kernel_command.profile
            found[type(command).__name__] = (curve[:, 0], partial(places_at, curve))
        path = self.pendulum.reel.guide_path
        if path is not None:
            found["Reel.guide_path"] = (np.array(path.times), lambda times: path.at(times)[0])
        return found

    def description(self) -> dict[str, Any]:
        """The full input, so that a result explains itself and a checkpoint can be read back."""
        command = self._command or Locked()
        return {
            "pendulum": dataclasses.asdict(self.pendulum),
            "state": _state_description(self._initial),
            "command": _command_description(command),
            "run": self.settings,
            "time": self.time,
            "sample": self._plan.steps_per_sample * self._plan.h,
        }

    # -- checkpoints -----------------------------------------------------------------------------------

    def checkpoint(self) -> tuple[data.Motion, str]:
        """All that the future depends on: arrays, and a JSON text."""
        if isinstance(self._command, Torque) and self._command.is_function:
            raise InputError("Torque.moment: expected a number or a table in a run that is saved, got a function")
        self._look()
        text = {
            "checkpoint": CHECKPOINT_VERSION,
            "description": self.description(),
            "started": self._command is not None,
            "status": self.status,
            "event": self._event,
            "h": self._plan.h,
            "minimum_length": self._plan.minimum_length,
            "origin": self._origin,
            "needed": self._needed,
            "health": self._health.state(),
            "base_steps": [[interval, count] for interval, count in self._base_steps.items()],
        }
        if self._loads.moves and self.pendulum.reel.guide_path is None:
            path = self._loads.path[:, 0]
            text["guide"] = [path[0], path[1::4].tolist(), path[2::4].tolist()]
            text["force_since"] = [self._force_since[0], self._force_since[1].tolist()]
        return self._motion, json.dumps(text)

    @classmethod
    def from_checkpoint(cls, motion: data.Motion, text: str) -> Simulation:
        """Go on exactly where `checkpoint` was taken."""
        saved = json.loads(text)
        checkpoints.check(saved, motion._asdict(), CHECKPOINT_VERSION)
        described = saved["description"]
        simulation = cls(pendulum_from(described["pendulum"]), State(**described["state"]), **described["run"])
        for ours, theirs in zip(simulation._motion, motion, strict=True):
            if ours.shape != theirs.shape:
                raise InputError(f"checkpoint: expected an array of shape {ours.shape}, got {theirs.shape}")
            ours[...] = theirs
        simulation._plan = simulation._plan._replace(h=saved["h"], minimum_length=saved["minimum_length"])
        simulation._base_steps = dict(saved["base_steps"])
        simulation.status, simulation._event = saved["status"], saved["event"]
        simulation._health = Health.from_state(saved["health"])
        if "guide" in saved:
            simulation._loads = lowering.moved_on(simulation._loads, *saved["guide"])
            simulation._force_since = (saved["force_since"][0], np.array(saved["force_since"][1]))
        if saved["started"]:
            command = _command_from(described["command"])
            simulation._follow(command)
            simulation._origin = tuple(saved["origin"])
            simulation._needed = saved["needed"]
            simulation._kernel_command = lowering.kernel_command(command, simulation._par.L, *simulation._origin)
            simulation._plan = lowering.with_impedance(simulation._plan, command)
            simulation._observe(simulation._last)
        return simulation

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint (not the recorded states): one npz file of plain arrays, replaced as a whole."""
        motion, text = self.checkpoint()
        checkpoints.write(path, motion._asdict(), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Simulation:
        """Go on from a checkpoint written by `save`, bit for bit."""
        arrays, text = checkpoints.read(path)
        try:
            return cls.from_checkpoint(data.Motion(**arrays), text)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise InputError(
                f"path: expected a checkpoint of Simulation.save, got {os.fspath(path)!r}: {error}"
            ) from None


def _checked_times(duration: Any, sample: Any) -> tuple[float, float | None]:
    duration = checks.positive("duration", duration, "s")
    return duration, None if sample is None else checks.positive("sample", sample, "s")


def _is_constant(command: Command | None) -> TypeGuard[Torque]:
    return type(command) is Torque and isinstance(command.moment, float)


def _state_description(state: State) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(state).items()}


def pendulum_from(tree: dict[str, Any]) -> Pendulum:
    """A pendulum from its description."""
    body, reel = dict(tree["body"]), dict(tree["reel"])
    shape, path = body.pop("shape"), reel.pop("guide_path")
    return Pendulum(
        String(**tree["string"]),
        Reel(**reel, guide_path=None if path is None else GuidePath(**path)),
        RigidBody(**body, shape=None if shape is None else Shape(shape[0], tuple(shape[1]))),
        tree["gravity"],
        None if tree["fluid"] is None else Fluid(**tree["fluid"]),
        None if tree["applied_force"] is None else AppliedForce(**tree["applied_force"]),
    )


def _command_description(command: Command) -> dict[str, Any]:
    if isinstance(command, Torque) and command.is_function:
        name = getattr(command.moment, "__qualname__", type(command.moment).__name__)
        return {"kind": "Torque", "moment": f"function {name}"}
    tree = {"kind": type(command).__name__, **dataclasses.asdict(command)}
    follower = getattr(command, "length", None)
    if isinstance(follower, Length | Speed):
        tree["length"] = _command_description(follower)
    return tree


def _command_from(tree: dict[str, Any]) -> Command:
    arguments = {name: _command_from(x) if isinstance(x, dict) else x for name, x in tree.items() if name != "kind"}
    return KINDS[tree["kind"]](**arguments)


def _check_memory(rows: int, N: int) -> None:
    """Refuse what cannot fit, before hours are spent on it."""
    from tautline.results.schema import row_length

    size = 8 * rows * row_length(N)
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        there = 2**40
    if size > there:
        raise InputError(
            f"sample: expected few enough samples to fit into memory ({there / 2**30:.3g} GB), "
            f"got {rows:.3g} of {size / 2**30:.3g} GB together"
        )


def default_sample(duration: Any, step: float | str) -> float:
    """About a thousandth of the duration; of a fixed step in whole steps, so that samples divide the duration."""
    duration = checks.positive("duration", duration, "s")
    if isinstance(step, str):
        return float(duration / DEFAULT_SAMPLES)
    steps = checks.whole_ratio("duration", duration, "step", step)
    if steps <= DEFAULT_SAMPLES:
        return float(step)
    for samples in (*range(DEFAULT_SAMPLES, 10 * DEFAULT_SAMPLES), *range(DEFAULT_SAMPLES - 1, 99, -1)):
        if steps % samples == 0:
            return float(steps // samples * step)
    raise InputError(
        f"sample: expected one to be given, because {steps} steps cannot be divided evenly into 100 to "
        f"{10 * DEFAULT_SAMPLES} samples"
    )


def simulate(
    pendulum: Pendulum,
    state: State,
    command: Command = Locked(),  # noqa: B008 - frozen and without fields
    *,
    duration: float,
    step: float | str = "auto",
    sample: float | None = None,
    order: int = 2,
    scheme: str = "symmetric",
    compensated: bool = True,
    minimum_length: float | None = None,
    at_end: str = "stop",
    control: Controller | None = None,
    period: float | None = None,
) -> xr.Dataset:
    """Simulate a pendulum from a state under a command.

    Parameters
    ----------
    pendulum, state, command
        What, from where, and what the drum does.
    duration : float
        Simulated time (s), a multiple of `sample`.
    step : float or "auto"
        Time step (s), or a stable one that keeps to half of the stability limit while the string's
        length changes. With a number the run stops at 0.9 of the limit.
    sample : float, optional
        Interval between stored states (s), a multiple of `step`; about a thousandth of the duration by default.
    order : {2, 4, 6}
        Order of accuracy; 4 and 6 compose a step of 5 or 11 second-order ones.
    scheme : {"symmetric", "paper"}
        "paper" is the published discretisation, of first order with a moving reel.
    compensated : bool
        Keep rounding from accumulating (the default). Costs about a tenth of the time.
    minimum_length : float, optional
        A retrieval ends when no more than this is deployed (m); by default 1 % of the initial length, or less where a
        command names a shorter length to go to.
    at_end : {"stop", "hold"}
        What happens there, and when the string is off the drum: the run stops, or the reel is held by an end stop
        until it is pulled away from it.
        A reel that is led by `Length` or `Speed` ends the run there in either case.
    control : callable, optional
        Called with the `Simulation` every `period`; returns the drum's moment (N m) or a command, held until the
        next call. Takes the place of `command`.
    period : float, optional
        Of `control` (s); a multiple of `sample`, which it is by default.

    Returns
    -------
    xarray.Dataset
        On `time`. `attrs["status"]` is "completed" or the event that ended the run early, `attrs["message"]`
        says more.
    """
    check_command(command, 0.0)
    simulation = Simulation(
        pendulum,
        state,
        step=step,
        order=order,
        scheme=scheme,
        compensated=compensated,
        minimum_length=minimum_length,
        at_end=at_end,
    )
    if control is not None:
        _controlled(simulation, duration, sample, control, period)
        return simulation.dataset()
    if period is not None:
        raise InputError("period: expected together with control, got it alone")
    interval = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    simulation.advance(duration, command, sample=interval)
    return simulation.dataset()


def _controlled(
    simulation: Simulation, duration: Any, sample: float | None, control: Controller, period: float | None
) -> None:
    """Zero-order hold: ask the controller, advance by a period, and so on."""
    duration = checks.positive("duration", duration, "s")
    if not callable(control):
        checks.refuse("control", "something that can be called", control)
    if period is None:
        period = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    tick = checks.positive("period", period, "s")
    if sample is not None:
        checks.whole_ratio("period", tick, "sample", checks.positive("sample", sample, "s"))
    ticks = checks.whole_ratio("duration", duration, "period", tick)
    for _ in range(ticks):
        answer = control(simulation)
        command = answer if isinstance(answer, Command) else Torque(answer)
        if simulation.advance(tick, command, sample=sample) != "completed":
            return
