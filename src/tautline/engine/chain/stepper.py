"""One pendulum in the kernels' terms: parameters, plan, loads and motion, and the calls that step and observe them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tautline.engine import lowering
from tautline.engine.chain import lowering as chain_lowering
from tautline.engine.ending import check_step
from tautline.engine.force_law import CallableLaw, heeding_interrupts, raise_failure, with_laws
from tautline.engine.health import Health
from tautline.engine.loads import covering, moved_on, own_numbers
from tautline.engine.tabulating import is_constant, tabulated
from tautline.engine.turns import Turns
from tautline.engine.windows import Window, around
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.inverse import holding_torques, prescribed_torques
from tautline.kernels.limits import Limits, present_limits, step_limits
from tautline.kernels.loads.jump import set_guide_velocity, settle_loads
from tautline.kernels.march import march
from tautline.kernels.observe import change_reel_mode, observe
from tautline.model import checks
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.command import Command, Locked
from tautline.model.force_law import ForceLaw
from tautline.model.profile import values_at
from tautline.model.run import Method


class Stepper:
    """The motion of one pendulum, and the only calls of the kernels that change it (`engine/stepping.py`).

    Parameters
    ----------
    pendulum, state, method
        What, from where, and how.
    laws : force laws, optional
        Of the user's own.
    """

    def __init__(self, pendulum: Chain, state: ChainState, method: Method, laws: Sequence[ForceLaw] = ()) -> None:
        self.pendulum, self.initial, self.method, self.health = pendulum, state, method, Health()
        self.turns = Turns()
        self.par, self.plan = chain_lowering.lowered(pendulum, state, method)
        self.laws = [CallableLaw(law) for law in laws]
        self.loads = chain_lowering.chain_loads(pendulum, self.laws)
        path = pendulum.reel.guide_path
        self._path_window = Window() if path is None else Window(path.covered)
        flow = None if pendulum.fluid is None else pendulum.fluid.unsteady
        self._flow_window = Window() if flow is None else Window(flow.covered)
        self._command_window = Window()
        self._place(state, 0.0)
        self.scratch = data.empty_scratch(self.par.N)
        self.backups = data.empty_backups(self.motion)
        self.command: Command | None = None
        self.kernel_command = data.Command(True, np.zeros(1), np.zeros(1))
        # time and deployed length at which the present command was given
        self.origin = (0.0, pendulum.string.length - state.reeled_length)
        self.needed = [0.0, 0.0]  # largest torque and power that a prescribed motion of the reel took, as sampled
        self.takes_torque = False  # the motion is prescribed, or the reel locked: its torque has to be found
        self.reel_is_free = False  # moved by forces
        self.last = data.empty_samples(1, self.par.N)

    def copy(self, until: float = 0.0) -> Stepper:
        """An independent stepper in the same state; its tables are made when it marches, whatever the time."""
        other = copy.copy(self)
        other.health, other.needed, other.turns = copy.deepcopy(self.health), list(self.needed), Turns()
        other.motion = data.copy_of(self.motion)
        other.scratch, other.backups = data.empty_scratch(self.par.N), data.empty_backups(self.motion)
        other.last = data.Samples(*(array.copy() for array in self.last))
        for name in ("_path_window", "_flow_window", "_command_window"):
            setattr(other, name, copy.copy(getattr(self, name)))
        other.kernel_command = self.kernel_command._replace(torques=self.kernel_command.torques.copy())
        return other

    def __getstate__(self) -> dict[str, Any]:
        """All but addresses of force laws, which are others in a copy."""
        return self.__dict__ | {"loads": with_laws(self.loads, ())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.loads = with_laws(self.loads, self.laws)

    @property
    def time(self) -> float:
        # numbers of Python: a product of numpy's whole number and a float takes ten times as long
        return self.motion.reel.item(data.T_START) + self.motion.clock.item(data.STEP) * self.plan.h

    def counted_from(self) -> tuple[data.Array, data.Counters]:
        return self.motion.reel, self.motion.clock

    @property
    def loaded(self) -> bool:
        """Whether anything but the plain model acts."""
        return bool(self.loads.acts or self.loads.moves)

    @property
    def beyond(self) -> data.Loads | None:
        """Loads, or None where the plain model will do: it is compiled sooner."""
        return self.loads if self.loaded or self.plan.hold else None

    @property
    def started(self) -> bool:
        """Whether a command was given."""
        return self.command is not None

    @property
    def tabulates(self) -> bool:
        """Whether the torque is a function, to be tabulated before every march."""
        return self.command is not None and self.command.is_function

    @property
    def marches_alone(self) -> bool:
        """Whether its tables have to be looked after while it marches."""
        return self.tabulates or self._command_window.endless

    def cover(self, since: float, until: float) -> None:
        """Let the tables of motions without end hold from a time to another."""
        since, until = around(since, until, self.plan.h, self.motion.reel.item(data.H_LAST))
        moved = [window.moves(since, until) for window in (self._path_window, self._flow_window)]
        if any(moved):
            self.loads = covering(self.loads, self.pendulum.fluid, self.pendulum.reel.guide_path, since, until)
        since = max(since, self.origin[0])  # a command's curve begins there
        if self._command_window.moves(since, until) and self.command is not None:
            self.kernel_command = lowering.kernel_command(self.command, self.par.L, *self.origin, (since, until))

    def _rows_at_once(self, interval: float) -> int:
        """Samples at an interval for which the tables of motions without end are not too large."""
        longest = min(x.longest for x in (self._path_window, self._flow_window, self._command_window))
        return int(min(max(1.0, longest / interval), checks.MOST_STEPS))

    # -- steps and samples -------------------------------------------------------------------------------

    def march(self, out: data.Samples, plan: data.Plan) -> tuple[int, int]:
        """Fill samples, some after others where motions without end would make large tables of all.

        The kernel's status, and how many were filled.
        """
        rows, filled, status = len(out.scalars), 0, RUNNING
        at_once = 1 if rows == 1 else self._rows_at_once(plan.h * plan.steps_per_sample)
        while filled < rows and status == RUNNING:
            some = out if rows <= at_once else data.Samples(*(x[filled : filled + at_once] for x in out))
            status, more = self._march(some, plan)
            filled += more
        return status, filled

    def _march(self, out: data.Samples, plan: data.Plan) -> tuple[int, int]:
        if self.command is not None and self.tabulates:
            self._tabulate(self.command, len(out.scalars), plan)
        time = self.time
        self.cover(time, time + len(out.scalars) * plan.steps_per_sample * plan.h)
        before = self.saved() if self.laws else None
        try:
            with heeding_interrupts(self.laws):
                status, filled = self.turns.run(
                    march,
                    self.par,
                    plan,
                    self.kernel_command,
                    self.motion,
                    self.scratch,
                    self.backups,
                    out,
                    self.beyond,
                )
            self._check_laws()
        except BaseException:
            if before is not None:
                self.put_back(before)
            raise
        return int(status), int(filled)

    def samples_for(self, rows: int) -> data.Samples:
        return data.empty_samples(rows, self.par.N)

    def saved(self) -> data.Motion:
        return data.copy_of(self.motion)

    def put_back(self, motion: data.Motion) -> None:
        """Go back to a copy of the motion."""
        for ours, theirs in zip(self.motion, motion, strict=True):
            ours[...] = theirs

    def following(self) -> dict[str, Any]:
        """Parts of the command of the reel, to be followed again."""
        kept = ("command", "origin", "plan", "takes_torque", "reel_is_free")
        own = {name: getattr(self, name) for name in kept} | {"_command_window": copy.copy(self._command_window)}
        return own | {"kernel_command": self.kernel_command._replace(torques=self.kernel_command.torques.copy())}

    def follow_again(self, kept: dict[str, Any]) -> None:
        """Follow a command as before; the motion is put back by itself."""
        self.__dict__.update(kept)

    def observe(self, out: data.Samples, time: float) -> None:
        """Put the present state into a single sample, with the torque that it takes."""
        self.cover(time, time)
        locked = self.initial.reel_speed == 0.0 if self.command is None else self.kernel_command.locked
        self.turns.run(observe, self.par, locked, self.motion, self.scratch, out, 0, time, self.beyond)
        if self.takes_torque:
            self.find_torques(out, np.array([time]))

    def find_torques(self, samples: data.Samples, times: data.Array) -> None:
        """Torques that a prescribed motion or a lock takes, into its samples; note the largest torque and power."""
        at_once = 1 if len(times) == 1 else self._rows_at_once(float(times[1] - times[0]))
        for first in range(0, len(times), at_once):
            some = slice(first, first + at_once)
            self.cover(*times[some][[0, -1]].tolist())
            self._find_torques(data.Samples(*(x[some] for x in samples)), times[some])

    def _find_torques(self, samples: data.Samples, times: data.Array) -> None:
        x = samples.scalars
        workspace = data.empty_motion(self.par.N, len(self.motion.reel) - data.REEL_SIZE)
        workspace.reel[data.REEL_SIZE :] = self.motion.reel[data.REEL_SIZE :]
        if self.command is None or not self.command.prescribes:
            loads = self.loads if self.loaded else None
            self.turns.run(holding_torques, self.par, times, workspace, self.scratch, samples, loads)
            self._check_laws()
            return
        # the paper's scheme has its own, of its own order
        if self.par.theta > 0.0:
            given = self.kernel_command.profile, times, workspace, self.scratch, samples, self.loads
            found = self.turns.run(prescribed_torques, self.par, *given)
            self._check_laws()
            self.health.torques_found = self.health.torques_found and found
        torque = np.abs(x[:, data.DRUM_TORQUE])
        power = torque * np.abs(x[:, data.REEL_SPEED]) / self.pendulum.reel.radius(x[:, data.REELED_LENGTH])
        self.needed = [max(self.needed[0], float(torque.max())), max(self.needed[1], float(power.max()))]

    def _check_laws(self) -> None:
        """Raise what a force law raised in the kernels."""
        if self.laws:
            raise_failure(self.laws, own_numbers(self.loads, "force_law").failed)

    def book(self, account: int, amount: float) -> None:
        """Add an amount (J) to an account of work or loss."""
        self.motion.reel[data.ACCOUNT_PLACES[account]] += amount

    def limits(self, deployed: float | None = None) -> Limits:
        """Step limits of the present motion (s), or of one that is like it with another length deployed (m)."""
        self.cover(self.time, self.time)
        locked = self.kernel_command.locked
        loads = self.loads if self.loaded else None
        now = self.turns.run(present_limits, self.par, self.plan, locked, self.motion, loads)
        if deployed is None:
            return now
        then = step_limits(self.par, self.plan, self.par.L - deployed, locked)
        return then._replace(force_law=now.force_law, turning=now.turning)

    def step_limits(self, lengths: Mapping[str, float] | None = None) -> dict[str, float]:
        """Largest steps of "auto" (s), by what limits them; with another length deployed, by the name of the line."""
        deployed = None if lengths is None else next(iter(lengths.values()))
        return lowering.allowed_steps(self.plan, self.limits(deployed))

    def allowed_step(self) -> float:
        return min(self.step_limits().values())

    def check_step(self, command: Command | None) -> None:
        """Refuse a fixed step that is too near the stability limit under a command from the start."""
        if self.plan.adaptive or self.motion.clock[data.STEP]:
            return
        wanted = command or self.command or Locked()
        plan, s = chain_lowering.with_impedance(self.plan, wanted), float(self.motion.reel[data.S])
        mesh = f"{self.par.N} elements of {(self.par.L - s) / self.par.N:.3g} m"
        check_step(plan, step_limits(self.par, plan, s, wanted.holds), mesh)

    def _tabulate(self, command: Command, rows: int, plan: data.Plan) -> None:
        """Tabulate a torque that is a function at the ends of all stages of the steps to come."""
        parts = 2 ** chain_lowering.halvings(plan, self.limits())
        table = tabulated(command, self.time, plan.h / parts, rows * plan.steps_per_sample * parts, plan.stages)
        self.health.impulse += table.impulse
        self.health.bent += table.bent
        # stages of higher orders look at the function itself, steps of order 2 at lines between its values
        pointwise = self.method.order > 2
        self.kernel_command = self.kernel_command._replace(
            times=table.times, torques=table.torques, pointwise=pointwise
        )

    # -- the reel's command ------------------------------------------------------------------------------

    def take(self, command: Command | None) -> bool:
        """Make `command` the present one, a reel that was locked or held is released; whether the state jumped."""
        if command is None or command is self.command:
            if self.command is not None:
                return False
            command = command or Locked()
        if is_constant(command) and is_constant(self.command):
            # the common case of a control loop: another constant torque
            self.kernel_command.torques[0] = command.torque
            limit = self.par.max_torque
            self.motion.reel[data.TORQUE] = min(max(command.torque, -limit), limit)
            self.command = command
            return False
        before = self.command
        speed = self.initial.reel_speed if before is None else float(self.last.scalars[0, data.REEL_SPEED])
        time, length = self.time, float(self.par.L - self.motion.reel[data.S])
        lowering.check_command(
            command, self.method.order, self.method.scheme, speed, self.pendulum.reel, before is not None
        )
        command.check_start(time, length, speed)
        kernel = lowering.kernel_command(command, self.par.L, time, length)
        if not (before is not None and before.holds and command.holds):
            self._release()
        if command.finds_torque:
            self.motion.reel[data.STOP] = 0.0
        self.origin = (time, length)
        self.kernel_command = kernel
        self.follow(command)
        self.plan = chain_lowering.with_impedance(self.plan, command)
        least = command.shortest(length, time)
        if self.method.minimum_length is None and least is not None and least < 2.0 * self.plan.minimum_length:
            # a default must not end the run on the way to where it is to go
            self.plan = self.plan._replace(minimum_length=0.5 * least)
        self._note_torque()
        if command.prescribes:
            # a jump of the speed is an impulse by the motor
            self.book(data.CONTROL_WORK, self._prescribe())
        if before is None and self.loads.moves and self.pendulum.reel.guide_path is None:
            self._take_frame(self.loads.path[2::4, 0])
        return before is None or command.prescribes

    def go_on_from(self, state: ChainState, time: float) -> None:
        """Go on from a state at a time, under the command that was given before."""
        self._place(state, time)
        self.settle()
        if self.command is not None:
            self._note_torque()
            if self.command.prescribes:
                self._prescribe()

    def _note_torque(self) -> None:
        """Torque of the motor at the beginning of a command, for the sample there."""
        assert self.command is not None
        s, sigma = self.motion.reel[[data.S, data.SIGMA]].tolist()
        self.motion.reel[data.TORQUE] = lowering.commanded_torque(
            self.pendulum.reel, self.command, self.par.L, s, sigma, self.time, self.origin
        )

    def _place(self, state: ChainState, time: float) -> None:
        """Put the motion into a state at a time."""
        self.motion = chain_lowering.initial_motion(self.par, state, self.pendulum.reel.spooled_strain)
        self.motion.reel[data.T_START] = time
        path = self.pendulum.reel.guide_path
        if path is not None:
            self.motion.reel[data.FRAME_VELOCITY : data.FRAME_VELOCITY + 3] = path.at(time)[1][0]

    def follow(self, command: Command) -> None:
        """Remember the command, and what has to be known of it in every tick."""
        self.command = command
        start = self.origin[0]
        self._command_window = Window(partial(command.covered, origin=start), start)
        self.takes_torque = command.finds_torque
        self.reel_is_free = not (command.holds or command.has_curve)

    def stop_reel(self) -> None:
        """Hold the drum at once: its speed is gone, and the reel is locked from now on."""
        self.follow(Locked())
        self.kernel_command = lowering.kernel_command(Locked())
        self.motion.reel[[data.SIGMA, data.STOP, data.TORQUE]] = 0.0

    def settle(self) -> None:
        """Let loads act for what is pending, before something else than a step acts on the momenta."""
        if self.loaded:
            self.cover(self.time, self.time)
            locked = self.kernel_command.locked
            self.turns.run(settle_loads, self.par, self.loads, locked, self.time, self.motion, self.scratch)
            self._check_laws()

    def _release(self) -> None:
        """Give a reel that was locked, prescribed or stuck the momentum of its speed."""
        self.settle()
        locked = self.command is not None and self.command.holds
        if locked or self.motion.reel[data.HELD] != data.NOT_HELD:
            self._change_reel_mode(locked, data.NOT_HELD, 0.0, 0.0)

    def _prescribe(self) -> float:
        """Prescribe the reel's motion from now on; the energy that it takes to reach its speed (J)."""
        _, speed, acceleration = values_at(self.kernel_command.profile, self.time)
        return self._change_reel_mode(False, data.PRESCRIBED, speed, acceleration)

    def _change_reel_mode(self, locked: bool, mode: float, speed: float, acceleration: float) -> float:
        call = (change_reel_mode, self.par, locked, self.motion, self.scratch, mode, speed, acceleration)
        return float(self.turns.run(*call))

    # -- jumps -------------------------------------------------------------------------------------------

    @contextmanager
    def jump(self) -> Iterator[None]:
        """Let the momenta jump: a reel that is held is released and held again; nothing is extrapolated across."""
        self.settle()
        if self.command is None or not self.command.holds:
            self._release()
        yield
        if self.command is not None and self.command.prescribes:
            self._prescribe()
        self.motion.reel[[data.H_LAST, data.H_BEFORE, data.H_EARLIER]] = 0.0

    def strike_body(self, impulse: data.Array, moment: data.Array, R: data.Array) -> None:
        """Add an impulse at the center of mass and an impulsive moment, inertial frame, to the momenta."""
        data.nodes_of(self.motion.nodes[data.MOMENTUM], self.par.N)[-1] += impulse
        if not self.pendulum.body.is_point:
            self.motion.body[data.SPIN : data.SPIN + 3] += np.cross(self.par.rho, R.T @ impulse) + R.T @ moment

    def move_guide(self, place: data.Array, velocity: data.Array) -> None:
        """Let the guide go on from a displacement with a velocity.

        The frame of the momenta takes it at once, or with the first command: whether the reel is locked counts.
        """
        if self.command is not None:
            self.settle()
            self._take_frame(velocity)
        self.loads = moved_on(self.loads, self.time, place, velocity)

    def _take_frame(self, velocity: data.Array) -> None:
        locked = self.kernel_command.locked
        call = (set_guide_velocity, self.par, locked, tuple(velocity.tolist()), self.motion, self.scratch)
        self.turns.run(*call)

    def guide_impulse(self) -> data.Array:
        """Impulse that the guide has given to string and body since the start (N s)."""
        return self.last.scalars[0, data.GIVEN_BY_GUIDE : data.GIVEN_BY_GUIDE + 3].copy()
