"""ChainBackend: one line to one body, on the chain kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from tautline import errors
from tautline.engine import checkpoints, lowering, plausible
from tautline.engine.backend import ENERGIES, NO_LAWS, case_of_run
from tautline.engine.chain import lowering as chain_lowering
from tautline.engine.chain.samples import recorded_values
from tautline.engine.chain.stepper import Stepper
from tautline.engine.chain.warnings import chain_warnings
from tautline.engine.choose import CHAIN
from tautline.engine.criteria import on_only_line
from tautline.engine.ending import LOSS_AT_GUIDE, Ended, sentence
from tautline.engine.health import Health
from tautline.engine.loads import moved_on
from tautline.engine.recorder import copied
from tautline.engine.timing import Timing
from tautline.kernels import data
from tautline.kernels.so3 import cross
from tautline.model import checks
from tautline.model.chain.cases import chain_start
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of, placed_system, system_state
from tautline.model.checks import ZERO
from tautline.model.command import Command, Free, Locked
from tautline.model.force_law import ForceLaw, check_laws
from tautline.model.run import Method, known
from tautline.model.system.case import Case
from tautline.model.system.commands import check_known, commands_by_name
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results.chain import needed_for, system_values
from tautline.results.values import Values, values_of
from tautline.results.warnings import RunWarning

# Variables that take inverse dynamics where the reel is prescribed or locked; others do not pay for it in every step.
NEED_TORQUE = {"torque", "power"}


class ChainBackend:
    """A pendulum in motion. `Backend` has sentences on methods that have none here.

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
    """

    NAME: ClassVar[str] = CHAIN
    ARRAYS: ClassVar[type[Any]] = data.Motion
    FORM: ClassVar[plausible.Form] = checkpoints.CHAIN_FORM

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
        self.pendulum = pendulum.on_mesh(X, state.elements)
        self._force_since = (0.0, np.zeros(3))  # time and impulse of the guide when the latest advance began
        self.given = case
        self.stepper = Stepper(self.pendulum, state, how, check_laws(loads))
        self.timing = Timing(self.stepper)
        lowering.check_loaded_order(how.order, self.stepper.loaded)

    @classmethod
    def from_case(cls, case: Case, *, loads: Sequence[ForceLaw] = ()) -> ChainBackend:
        """A simulation at the start of a case, whose system is a chain; its command is not taken yet."""
        with case.naming_keys():
            return cls(chain_of(case.system), chain_start(case), loads=loads, case=case, **case.run.method())

    @classmethod
    def at_start(cls, case: Case, *, loads: Mapping[str, Sequence[ForceLaw]] = NO_LAWS) -> ChainBackend:
        """A simulation at the start of a case; a kinematic body that carries the reel and has no path can be moved."""
        simulation = cls.from_case(case, loads=check_laws(loads.get(next(iter(case.system.lines)), ())))
        carrier = case.system.bodies.get(next(iter(case.system.lines.values())).start)
        if isinstance(carrier, Kinematic) and carrier.path is None and case.run.order == 2:
            simulation.stepper.loads = moved_on(simulation.stepper.loads, 0.0, ZERO, ZERO)
        return simulation

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system that it is run for."""
        return self.case.system

    @cached_property
    def case(self) -> Case:
        made = partial(placed_system, self.pendulum, self.stepper.initial)
        return case_of_run(self.given, made, self.stepper.method)

    @property
    def _line(self) -> str:
        return next(iter(self.system.lines))

    @property
    def commands(self) -> dict[str, Command]:
        """The command of its reel, by the name of the line."""
        return {self._line: self.stepper.command or Locked()}

    @property
    def deployed_length(self) -> float:
        """Unstretched length of the string outside its guide (m)."""
        return float(self.stepper.par.L - self.stepper.motion.reel[data.S])

    @property
    def chain_state(self) -> ChainState:
        """The present state relative to the guide."""
        x = self.present_sample()
        row = x.scalars[0]
        return ChainState(
            row[data.REELED_LENGTH],
            row[data.REEL_SPEED],
            x.nodes[0, 0],
            x.nodes[0, 1],
            row[data.ROTATION : data.ROTATION + 9].reshape(3, 3),
            row[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3],
        )

    @property
    def state(self) -> State:
        """The present state of the system, in inertial coordinates."""
        return system_state(self.system, self.chain_state, self._guide())

    def _guide(self) -> tuple[data.Array, data.Array]:
        """Place and velocity of the guide."""
        x = self.present_sample().scalars[0]
        place = np.array(self.pendulum.reel.guide_position) + x[data.GUIDE_PLACE : data.GUIDE_PLACE + 3]
        return place, x[data.GUIDE_VELOCITY : data.GUIDE_VELOCITY + 3]

    def body(self, name: str) -> dict[str, data.Array]:
        if name != self.system.lines[self._line].end:  # the one that carries the reel
            x = self.state.bodies[name]
            return {key: np.array(getattr(x, key)) for key in ("position", "velocity", "attitude", "angular_velocity")}
        sample = self.present_sample()
        row, c = sample.scalars[0], np.array(self.pendulum.body.center_of_mass)
        R = row[data.ROTATION : data.ROTATION + 9].reshape(3, 3).copy()
        return {
            "position": self.nodes(self._line)["nodes"][-1] + R @ c,
            "velocity": self.velocity_in(sample, name),
            "attitude": R,
            "angular_velocity": row[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3].copy(),
        }

    def velocity_in(self, sample: data.Samples, name: str) -> data.Array:
        """Velocity of a body in a single sample (m/s)."""
        row = sample.scalars[0]
        found: data.Array = row[data.GUIDE_VELOCITY : data.GUIDE_VELOCITY + 3].copy()
        if name == self.system.lines[self._line].end:  # the other one carries the reel
            R, omega = row[data.ROTATION : data.ROTATION + 9], row[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]
            # of vectors, and not by np.cross, which takes thirty times as long
            turning = cross(omega.tolist(), self.pendulum.body.center_of_mass)
            found += sample.nodes[0, 1, -1] + R.reshape(3, 3) @ turning
        return found

    def nodes(self, name: str) -> dict[str, data.Array]:
        """Nodes of the line and their velocities now."""
        check_known(name, self.system.lines, "lines")
        place, velocity = self._guide()
        nodes = self.present_sample().nodes[0]
        return {"nodes": nodes[0] + place, "node_velocities": nodes[1] + velocity}

    def deployed(self, name: str) -> float:
        """Unstretched length of the line outside its guide (m)."""
        check_known(name, self.system.lines, "lines")
        return self.deployed_length

    def reeled(self, name: str) -> float:
        """Unstretched length on the reel side of the guide entrance (m)."""
        return float(self.stepper.par.L) - self.deployed(name)

    def speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        check_known(name, self.system.lines, "lines")
        return float(self.present_sample().scalars[0, data.REEL_SPEED])

    def torque(self, name: str) -> float:
        """Torque of the drum at present (N m)."""
        check_known(name, self.system.lines, "lines")
        return float(self.present_sample().scalars[0, data.DRUM_TORQUE])

    def impulse_since(self, name: str) -> tuple[float, data.Array]:
        """When the latest `advance` began (s), and impulse and moment of all on its carrier since (N s, N m s)."""
        impulse = self._force_since[1] - self.stepper.guide_impulse()
        point = next(iter(self.system.lines.values())).start_point
        return self._force_since[0], np.concatenate([impulse, np.cross(point, impulse)])

    def present_sample(self) -> data.Samples:
        if self.stepper.command is None:
            self.refresh()
        return self.stepper.last

    def refresh(self) -> None:
        """Look at the present state anew."""
        self.stepper.observe(self.stepper.last, self.timing.now)

    def energies(self, sample: data.Samples) -> data.Array:
        return sample.scalars[0, ENERGIES]

    # -- moving on ---------------------------------------------------------------------------------------

    def own_commands(self, command: Any) -> Command | None:
        """The command of the only line; of a study's members it comes as such, without a system that knows its mesh."""
        if command is None or isinstance(command, Command):
            return command
        return commands_by_name(self.system, command).get(self._line)

    def check(self, command: Command | None) -> None:
        """Refuse a fixed step that is too near the stability limit."""
        self.stepper.check_step(command)

    def take(self, command: Command | None) -> None:
        """Let the reel follow a command from now on."""
        if self.stepper.take(command):
            self.first_sample()

    def note_impulses(self) -> None:
        """Let the force on the guide be a mean from now on, with the jerk of a velocity that is given now."""
        if self._force_since[0] != self.timing.now:
            self._force_since = (self.timing.now, self.stepper.guide_impulse())

    def room(self, rows: int) -> data.Samples:
        return self.stepper.last if rows == 1 else self.stepper.samples_for(rows)

    def completed(self, times: data.Array, samples: data.Samples) -> data.Samples:
        """Samples with torques that have to be found; the last one is the present state."""
        stepper = self.stepper
        if stepper.takes_torque:
            stepper.find_torques(samples, times)
        if len(times) == 1:  # it is written over by the next one
            samples = copied(samples)
        stepper.last.scalars[0], stepper.last.nodes[0] = samples.scalars[-1], samples.nodes[-1]
        return samples

    def kind(self) -> bool:
        """Whether forces move the reel."""
        return self.stepper.reel_is_free

    def judge(self, times: data.Array, samples: data.Samples, kind: bool) -> None:
        """Let its health see samples."""
        self.stepper.health.update(self.pendulum, times, samples, self.stepper.method.order, kind)

    def sentence(self, status: int, plan: data.Plan) -> str:
        par, reel, stepper = self.stepper.par, self.stepper.motion.reel, self.stepper
        ended = Ended(
            status=status,
            time=self.timing.now,
            where="",
            out=float(par.L - reel[data.S]),
            shortest=plan.minimum_length,
            step=plan.h / 2 ** self.timing.count(data.LEVEL),
            adaptive=plan.adaptive,
            limits=stepper.limits(),
            reel_speed=abs(float(reel[data.SIGMA])),
            wave_speed=self.pendulum.string.wave_speed,
            backward=LOSS_AT_GUIDE if len(plan.stages) > 1 and self.pendulum.reel.guide_law == "dissipative" else "",
        )
        return sentence(ended)

    def go_on_from(self, state: ChainState, time: float) -> None:
        """Go on from another state at another time (s), under the command that was given at the start of the run."""
        state.check_against(self.pendulum)
        self.stepper.go_on_from(state, time)

    # -- actions from outside ----------------------------------------------------------------------------

    def move(self, name: str, velocity: data.Array, angular_velocity: data.Array) -> None:
        """Let the body that carries the reel have a velocity from now on."""
        lowering.check_loaded_order(self.stepper.method.order, True)
        self.note_impulses()
        place = self.present_sample().scalars[0, data.GUIDE_PLACE : data.GUIDE_PLACE + 3].copy()
        self.stepper.move_guide(place, velocity)
        if self.stepper.command is None:  # it jumps under the first command, where the balance begins
            self.refresh()
        else:
            self.first_sample()

    def strike(self, name: str, impulse: data.Array, moment: data.Array) -> None:
        """Let the momenta jump; fluid that moves along does not take its part of the blow at once."""
        with self._booked(data.EXTERNAL_WORK, 1.0):
            R = self.stepper.last.scalars[0, data.ROTATION : data.ROTATION + 9].reshape(3, 3)
            self.stepper.strike_body(impulse, moment, R)

    def stop_reel(self, name: str) -> None:
        """Hold the drum at once."""
        with self._booked(data.FRICTION_LOSS, -1.0):
            self.stepper.stop_reel()

    @contextmanager
    def _booked(self, account: int, sign: float) -> Iterator[None]:
        """Let the momenta jump, and book the energy that it brings or takes."""
        if self.stepper.command is None:  # one that leaves the reel as it is
            self.take(Locked() if self.stepper.initial.reel_speed == 0.0 else Free())
        before = self._energy()
        with self.stepper.jump():
            yield
        self.first_sample()
        self.stepper.book(account, sign * (self._energy() - before))
        self.first_sample()

    def _energy(self) -> float:
        return float(self.energies(self.present_sample()).sum())

    # -- samples -----------------------------------------------------------------------------------------

    def first_sample(self) -> data.Samples:
        stepper = self.stepper
        out = stepper.samples_for(1)
        stepper.observe(out, self.timing.now)
        stepper.last.scalars[:], stepper.last.nodes[:] = out.scalars, out.nodes
        self.timing.note_sample()
        stepper.health.begin(self.pendulum, stepper.motion.reel, out.scalars[0], out.nodes[0])
        return out

    def values(self, samples: data.Samples, times: data.Array, names: set[str] | None = None) -> Values:
        recorded = recorded_values(times, samples)
        system = self.system if self.given is None else self.given.system  # whose elements are known takes time
        if names is None:
            return system_values(system, values_of(self.pendulum, recorded))
        return system_values(system, values_of(self.pendulum, recorded, needed_for(names)), names)

    def values_for(self, times: data.Array, samples: data.Samples, names: set[str], line: str | None = None) -> Values:
        """Variables of the results from samples as they are marched, those with names at least; it has one line."""
        if self.stepper.takes_torque and names & NEED_TORQUE:
            self.stepper.find_torques(samples, times)
        return self.values(samples, times, names)

    def figures(self) -> dict[str, float]:
        figures = self.stepper.health.figures(self.pendulum, self.stepper.plan, self.stepper.motion.reel)
        return {name: float(figure) for name, figure in figures.items()}

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on a reel at its stop."""
        return on_only_line(self.system, chain_warnings(self.stepper, self.figures()))

    # -- checkpoints -------------------------------------------------------------------------------------

    def own_checkpoint(self) -> tuple[data.Motion, dict[str, Any]]:
        stepper = self.stepper
        text: dict[str, Any] = {
            "minimum_length": stepper.plan.minimum_length,
            "origin": stepper.origin,
            "needed": stepper.needed,
        }
        if stepper.loads.moves and self.pendulum.reel.guide_path is None:
            path = stepper.loads.path[:, 0]
            text["guide"] = [path[0], path[1::4].tolist(), path[2::4].tolist()]
            text["force_since"] = [self._force_since[0], self._force_since[1].tolist()]
        return stepper.motion, text

    def restore(self, saved: dict[str, Any], motion: data.Motion, commands: dict[str, Any]) -> None:
        """Go on where a checkpoint was taken."""
        stepper = self.stepper
        for ours, theirs in zip(stepper.motion, motion, strict=True):
            if ours.shape != theirs.shape:
                raise errors.InputError(f"checkpoint: expected an array of shape {ours.shape}, got {theirs.shape}")
            ours[...] = theirs
        plausible.check_clock(motion.clock)
        if saved["status"] == errors.STATUS_NAMES[errors.RUNNING]:
            plausible.check_reel(motion.reel, plausible.longest_step(saved), self.pendulum.string.length)
            plausible.check_attitude(motion.body[data.ATTITUDE : data.ATTITUDE + 4])
        stepper.plan = stepper.plan._replace(minimum_length=saved["minimum_length"])
        stepper.health = Health.from_state(saved["health"])
        if "guide" in saved:
            plausible.check_form("checkpoint", saved, checkpoints.MOVED)
            stepper.loads = moved_on(stepper.loads, *saved["guide"])
            self._force_since = (saved["force_since"][0], np.array(saved["force_since"][1]))
        if saved["started"]:
            command = commands[self._line]
            stepper.origin, stepper.needed = tuple(saved["origin"]), saved["needed"]
            stepper.follow(command)
            stepper.kernel_command = lowering.kernel_command(command, stepper.par.L, *stepper.origin)
            stepper.plan = chain_lowering.with_impedance(stepper.plan, command)
            self.refresh()
