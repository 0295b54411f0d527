"""AssemblySimulation: an assembly that is advanced piece by piece. It knows nothing of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import errors, ledger
from tautline._version import __version__
from tautline.engine import checkpoints
from tautline.engine import lowering as pendulum_lowering
from tautline.engine.assembly import lowering
from tautline.engine.assembly.health import AssemblyHealth
from tautline.engine.timing import STEPS_A_CALL, checked_times
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.assembly import data as kernels
from tautline.kernels.assembly.march import (
    StepLimits,
    assembly_limits,
    march_assembly,
    restore_assembly,
    save_assembly,
)
from tautline.kernels.assembly.observe import begin_assembly, observe_assembly, release_reels
from tautline.kernels.balance import kept_energy
from tautline.model import checks
from tautline.model.assembly import sections
from tautline.model.assembly.assembly import Assembly
from tautline.model.assembly.case import AssemblyCase
from tautline.model.assembly.parts import Held
from tautline.model.assembly.state import AssemblyState, LineStart
from tautline.model.command import (
    Command,
    Free,
    Locked,
    PrescribedMotion,
    Torque,
    check_command,
    check_start,
    shortest_commanded,
)
from tautline.model.description import fields_of
from tautline.model.profile import values_at
from tautline.model.run import Method, Run
from tautline.model.sections import COMMAND, Tree
from tautline.model.wording import near
from tautline.results import assembly as results
from tautline.results.inputs import CASE
from tautline.results.values import Values
from tautline.schema import Layout

if TYPE_CHECKING:
    import xarray as xr

Commands = Mapping[str, Command | float]
VERSION = 1


class Checkpoint(NamedTuple):
    """The motion of an assembly, in one array."""

    motion: data.Array


class AssemblySimulation:
    """An assembly in motion, for control loops and for runs that save themselves.

    Parameters
    ----------
    assembly, state
        What, and from where; `hang` makes states.
    **method
        `step`, `order`, `compensated` and `minimum_length`, as in `Run`.

    Attributes
    ----------
    status : str
        "completed" while all is well, else the event that ended the motion.
    """

    def __init__(self, assembly: Assembly, state: AssemblyState, **method: Any) -> None:
        checks.instance("assembly", assembly, Assembly)
        lengths = {name: line.string.length for name, line in assembly.strings.items()}
        self.assembly = assembly.on_mesh({name: x - state.strings[name].reeled_length for name, x in lengths.items()})
        self.initial = state
        self.method = Method(**method)
        self._check_method()
        self.case: AssemblyCase | None = None
        self.status, self._event = errors.STATUS_NAMES[errors.RUNNING], ""
        self._arrays = lowering.Arrays(self.assembly, state)
        self._plan = lowering.plan_of(assembly, self.method)
        self._shortest = {
            name: self._least(line.string.length - state.strings[name].reeled_length)
            for name, line in self.assembly.strings.items()
            if line.reel is not None
        }
        self._commands: dict[str, Command] = {}
        self._origins: dict[str, tuple[float, float]] = {}
        self._pushes: dict[str, tuple[data.Array, data.Array]] = {}
        self.base_steps: dict[float, int] = {}
        self.health = AssemblyHealth()
        self._times: list[data.Array] = []
        self._pieces: list[kernels.WholeSamples] = []
        self._started = False
        self._lower(0.0, 0.0)
        begin_assembly(self._system, 0.0)

    @classmethod
    def from_case(cls, case: AssemblyCase) -> AssemblySimulation:
        """A simulation at the start of a case; its commands are not taken yet."""
        with case.naming_keys():
            simulation = cls(case.assembly, case.state(), **case.run.method())
        simulation.case = case
        return simulation

    def naming_keys(self) -> AbstractContextManager[None]:
        """Errors become errors about keys where a case is known."""
        return nullcontext() if self.case is None else self.case.naming_keys()

    def _check_method(self) -> None:
        if self.method.scheme != "symmetric":
            checks.refuse("scheme", "'symmetric' for an assembly", self.method.scheme)
        if self.method.at_end != "stop":
            checks.refuse("at_end", "'stop' for an assembly", self.method.at_end)
        damped = any(line.string.viscosity > 0.0 for line in self.assembly.strings.values())
        pendulum_lowering.check_loaded_order(self.method.order, damped)
        if self.method.stop:
            raise InputError("stop: expected no conditions for an assembly, got some")

    def _least(self, deployed: float) -> float:
        least = self.method.minimum_length
        if least is None:
            return pendulum_lowering.MINIMUM_LENGTH * deployed
        if least >= deployed:
            checks.refuse("minimum_length", f"less than the {deployed:g} m deployed at the start", least)
        return least

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time (s), from the counter of base steps."""
        return float(self._arrays.totals[data.T_START] + self._arrays.clock[data.STEP] * self._plan.h)

    @property
    def steps(self) -> int:
        """Steps made since the start."""
        return int(self._arrays.clock[data.TOTAL])

    @property
    def message(self) -> str:
        """How it stands, as a sentence."""
        return self._event or f"completed at t = {self.time:.6g} s"

    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""
        self._known(name, self.assembly.bodies, "bodies")
        row = self.present_sample().bodies[0, list(self.assembly.bodies).index(name)]
        return {
            "position": row[kernels.BODY_PLACE : kernels.BODY_PLACE + 3].copy(),
            "velocity": row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3].copy(),
            "angular_velocity": row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3].copy(),
            "attitude": row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3).copy(),
        }

    def string(self, name: str) -> dict[str, Any]:
        """Nodes, their velocities, deployed length and reel speed of a string now."""
        self._known(name, self.assembly.strings, "strings")
        sample, k = self.present_sample(), list(self.assembly.strings).index(name)
        nodes = results.spans(self.assembly)[name][0]
        length = self.assembly.strings[name].string.length
        return {
            "nodes": sample.nodes[0, nodes, :3].copy(),
            "node_velocities": sample.nodes[0, nodes, 3:].copy(),
            "deployed": float(length - sample.strands[0, k, kernels.REELED]),
            "reel_speed": float(sample.strands[0, k, kernels.SPEED]),
        }

    @staticmethod
    def _known(name: str, known: Mapping[str, Any], kind: str) -> None:
        if name not in known:
            raise InputError(f"{kind}.{name}: no such name in the assembly{near(name, known)}")

    # -- commands and forces -----------------------------------------------------------------------------

    def push(
        self, name: str, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space"
    ) -> None:
        """Apply a force at the centre of mass of a body (N) and a moment (N m), from now on until another is given.

        Parameters
        ----------
        name : str
            The body.
        force, moment : three floats
        frame : str
            "space", or "body" for a thruster or a rotor that turns with the body.
        """
        self._known(name, self.assembly.bodies, "bodies")
        if isinstance(self.assembly.bodies[name], Held):
            raise InputError(f"bodies.{name}: expected a body that is free, got one whose motion is given")
        checks.choice("frame", frame, ("space", "body"))
        values = [*checks.vector("force", force, "N"), *checks.vector("moment", moment, "N m")]
        table = np.array([[0.0], *([x] for x in values)])
        before = self._pushes.get(name, (lowering.NO_PUSH, lowering.NO_PUSH))
        self._pushes[name] = (table, before[1]) if frame == "space" else (before[0], table)
        self._lower(self.time, self.time)

    def _lower(self, since: float, until: float) -> None:
        """Make what the kernels take, with tables that hold between two times."""
        kernel_commands = {
            name: pendulum_lowering.kernel_command(
                command, self.assembly.strings[name].string.length, *self._origins[name], (since, until)
            )
            for name, command in self._commands.items()
        }
        if not self._started:
            moving = {name for name, line in self.initial.strings.items() if line.reel_speed != 0.0}
            kernel_commands = {name: pendulum_lowering.kernel_command(Free()) for name in moving}
        paths = lowering.path_tables(self.assembly, self.initial, since, until)
        self._covered = until
        self._system = lowering.system_of(
            self.assembly, self._arrays, kernel_commands, self._pushes, paths, self._shortest, self.method.compensated
        )

    def take(self, commands: Commands | None) -> None:
        """Let reels follow commands from now on, by the names of their strings; a number is a torque (N m)."""
        given: dict[str, Command] = {}
        for name, answer in (commands or {}).items():
            self._known(name, self.assembly.strings, "strings")
            command = answer if isinstance(answer, Command) else Torque(answer)
            lowering.needs_reel(name, self.assembly.strings[name], command)
            if not self._started or command != self._commands.get(name, Locked()):
                given[name] = command
        if self._started and not given:
            return
        if not self._started:
            given = {name: Locked() for name, line in self.assembly.strings.items() if line.reel is not None} | given
        self._change(given)

    def _change(self, given: dict[str, Command]) -> None:
        """Release all reels, then hold or lead those that are to be; what it takes to reach a speed is control work."""
        time, sample = self.time, self.present_sample()
        for name, command in given.items():
            k = list(self.assembly.strings).index(name)
            line = self.assembly.strings[name]
            speed, deployed = float(sample.strands[0, k, kernels.SPEED]), self._deployed(name)
            try:
                check_command(command, speed)
                assert line.reel is not None
                pendulum_lowering.check_command(command, self.method.order, "symmetric", speed, line.reel)
                check_start(command, time, deployed, speed)
            except InputError as error:
                raise InputError(f"strings.{name}: {error}") from None
            if isinstance(command, Torque) and command.is_function:
                raise InputError(f"strings.{name}: Torque.torque: expected a number or a table in an assembly")
            least = shortest_commanded(command, deployed, time)
            if self.method.minimum_length is None and least is not None and least < 2.0 * self._shortest[name]:
                self._shortest[name] = 0.5 * least
        release_reels(self._system, time)
        for name, command in given.items():
            self._commands[name], self._origins[name] = command, (time, self._deployed(name))
        self._started = True
        self._lower(time, time)
        for name in given:
            self._lead(name, time)

    def _lead(self, name: str, time: float) -> None:
        """Begin what a reel's command prescribes, and book the energy that this takes."""
        k = list(self.assembly.strings).index(name)
        reel, strand = self._arrays.reels[k], self._system.strands[k]
        if isinstance(self._commands[name], PrescribedMotion):
            before = self._observed(time).whole[0, data.KINETIC]
            _, speed, acceleration = values_at(strand.command.profile, time)
            reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
            release = self._observed(time).whole[0, data.KINETIC] - before
            release_reels(self._system, time)
            reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
            reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] += release
        command = strand.command
        reel[data.TORQUE] = float(np.interp(time, command.times, command.torques)) if not command.locked else 0.0

    def _deployed(self, name: str) -> float:
        k = list(self.assembly.strings).index(name)
        return float(self.assembly.strings[name].string.length - self._arrays.reels[k][data.S])

    # -- moving on ---------------------------------------------------------------------------------------

    def advance(
        self,
        duration: float,
        commands: Commands | None = None,
        *,
        sample: float | None = None,
        record: bool = True,
    ) -> str:
        """Move on by `duration` (s) under commands of the reels; returns the status.

        Parameters
        ----------
        duration : float
            A multiple of the step, if that is fixed, and of `sample`.
        commands : dict, optional
            By the names of strings: a command, or a torque (N m). Reels that are not named go on as before; at first
            they are locked.
        sample : float, optional
            Interval between recorded states (s); by default only the end is recorded.
        record : bool
            Keep the states for `dataset`.
        """
        if self.status != errors.STATUS_NAMES[errors.RUNNING]:
            return self.status
        rows = self.begin(commands, duration, duration if sample is None else sample)
        if not self.health.begun or (record and not self._times):
            first = self.first_sample()
            if record:
                self.keep(first)
        plan = self.sampling(duration if sample is None else sample)
        piece, done = max(1, STEPS_A_CALL // plan.steps_per_sample), 0
        while done < rows and self.status == errors.STATUS_NAMES[errors.RUNNING]:
            count = min(piece, rows - done)
            samples = self.march(count, plan)
            if record:
                self.keep(samples)
            done += count
        return self.status

    def begin(self, commands: Commands | None, duration: float, sample: float) -> int:
        """Take commands and a sampling interval for calls of `march`; the number of samples."""
        duration, interval = checked_times(duration, sample)
        assert interval is not None
        if not self._plan.adaptive:
            checks.whole_ratio("sample", interval, "step", self._plan.h)
        rows = checks.whole_ratio("duration", duration, "sample", interval)
        self.take(commands)
        if not self._plan.adaptive and self.steps == 0:
            self._check_step()
        return rows

    def _check_step(self) -> None:
        limit = self.limits().waves
        if self._plan.h > self._plan.allowed_ratio * limit:
            raise InputError(
                f"step: expected at most {self._plan.allowed_ratio * limit:.3g} s ({self._plan.allowed_ratio:g} of the "
                f"stability limit {limit:.3g} s of waves in the strings' elements), got {self._plan.h!r}; use "
                "step='auto', or fewer elements"
            )

    def limits(self) -> StepLimits:
        """Step limits of the present motion (s)."""
        return assembly_limits(self._system, self._plan)

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        if self._plan.adaptive:
            if sample not in self.base_steps:
                limits = self.limits()
                allowed = min(self._plan.allowed_ratio * limits.waves, limits.stretching, limits.turning)
                self.base_steps[sample] = pendulum_lowering.steps_within(sample, allowed)
            count = self.base_steps[sample]
            h = sample / count
            if h != self._plan.h:  # another base step: count from here on
                self._arrays.totals[data.T_START] = self.time
                self._arrays.clock[data.STEP] = 0
                self._plan = self._plan._replace(h=h)
        else:
            count = checks.whole_ratio("sample", sample, "step", self._plan.h)
        self._plan = self._plan._replace(steps_per_sample=count)
        return self._plan

    def march(self, rows: int, plan: data.Plan) -> kernels.WholeSamples:
        """So many samples in one call of the kernel; fewer if an event ends the motion."""
        until = self.time + rows * plan.steps_per_sample * plan.h
        self._lower(self.time, until)
        out = self._empty(rows)
        begun = int(self._arrays.clock[data.STEP])
        found = march_assembly(self._system, plan, np.zeros((2, self._arrays.size())), out)
        filled = int(found.rows)
        done = kernels.WholeSamples(*(array[:filled] for array in out))
        counts = begun + plan.steps_per_sample * np.arange(1, filled + 1, dtype=np.float64)
        self._marched = self._arrays.totals[data.T_START] + counts * plan.h
        self.health.look(self.assembly, done, self._arrays.totals)
        if found.status != errors.RUNNING:
            self.status = errors.STATUS_NAMES[int(found.status)]
            self._event = self._sentence(int(found.status), int(found.strand), plan)
        return done

    def _sentence(self, status: int, strand: int, plan: data.Plan) -> str:
        """What ended the motion, when, and what to do about it."""
        head = f"stopped at t = {self.time:.6g} s: "
        name = list(self.assembly.strings)[strand] if strand >= 0 else ""
        if name:
            head = f"stopped at t = {float(self._arrays.totals[data.STOP_TIME]):.6g} s: string {name!r} is "
        if status == errors.FULLY_RETRIEVED:
            return head + f"fully retrieved, {self._deployed(name):.3g} m left"
        if status == errors.FULLY_DEPLOYED:
            return head + f"fully deployed, {self._deployed(name):.6g} m out"
        if status == errors.UNSTABLE_STEP:
            h, limit = plan.h / 2 ** int(self._arrays.clock[data.LEVEL]), self.limits().waves
            remedy = "a shorter sample interval" if plan.adaptive else "step='auto', a smaller step"
            return head + (
                f"the step {h:.3g} s is {h / limit:.2f} of the stability limit {limit:.3g} s of waves in the strings' "
                f"elements; use {remedy} or fewer elements"
            )
        if status == errors.REEL_OUTRUNS_WAVES:
            return head + "a reel is faster than waves in its string; use a slower one, or a stiffer or lighter string"
        if status == errors.NEWTON_FAILED:
            return head + "Newton's method did not converge; the step is too large for how fast things turn or move"
        return head + "a number was no longer finite; use a smaller step and check the initial state"

    # -- samples -----------------------------------------------------------------------------------------

    def _empty(self, rows: int) -> kernels.WholeSamples:
        size = self.layout.lengths
        return kernels.empty_samples(rows, len(self._arrays.names), size["string"], size["node"])

    @property
    def layout(self) -> Layout:
        """Variables and dimensions of its results."""
        return results.layout(self.assembly)

    def _observed(self, time: float) -> kernels.WholeSamples:
        out = self._empty(1)
        observe_assembly(self._system, out, 0, time)
        return out

    def present_sample(self) -> kernels.WholeSamples:
        """The present state as a sample."""
        self._lower(self.time, self.time)
        return self._observed(self.time)

    def first_sample(self) -> kernels.WholeSamples:
        """The present state as a sample, for the beginning of a record."""
        out = self.present_sample()
        self._marched = np.array([self.time])
        totals, x = self._arrays.totals, out.whole[0]
        if not self.health.begun:
            totals[data.KEPT] = kept_energy(x)
            totals[data.POTENTIAL] = x[data.ELASTIC] + x[data.GRAVITY]
            totals[data.IN_PLAY] = x[data.KINETIC]
        self.health.look(self.assembly, out, totals)
        return out

    def keep(self, samples: kernels.WholeSamples) -> None:
        """Record the latest samples."""
        self._times.append(self._marched)
        self._pieces.append(samples)

    def values(self, samples: kernels.WholeSamples, times: data.Array | None = None) -> Values:
        """Variables of the results from samples, the latest ones if no times are given."""
        B = len(self.assembly.bodies)
        bodies, strands, whole = samples.bodies[:, :B], samples.strands, samples.whole
        found = {
            "time": self._marched if times is None else times,
            "body_position": bodies[..., kernels.BODY_PLACE : kernels.BODY_PLACE + 3],
            "body_velocity": bodies[..., kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3],
            "angular_velocity": bodies[..., kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3],
            "attitude": bodies[..., kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(len(whole), B, 3, 3),
            "position": samples.nodes[..., :3],
            "velocity": samples.nodes[..., 3:],
            "reeled_length": strands[..., kernels.REELED],
            "reel_speed": strands[..., kernels.SPEED],
            "torque": strands[..., kernels.TORQUE_NOW],
            "motor_work": strands[..., data.CONTROL_WORK],
            **{account.name: whole[:, k] for k, account in enumerate(ledger.ACCOUNTS)},
            "linear_momentum": whole[:, kernels.LINEAR_MOMENTUM : kernels.LINEAR_MOMENTUM + 3],
            "angular_momentum": whole[:, kernels.ANGULAR_MOMENTUM : kernels.ANGULAR_MOMENTUM + 3],
        }
        return results.derived(self.assembly, found)

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._times, self._pieces = [], []

    def recorded(self) -> Values:
        """Variables of all that was recorded."""
        if not self._times:
            self.keep(self.first_sample())
        pieces = kernels.WholeSamples(*(np.concatenate(arrays) for arrays in zip(*self._pieces, strict=True)))
        return self.values(pieces, np.concatenate(self._times))

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        return results.build(self.assembly, self.recorded(), self.attributes())

    def remarks(self) -> list[str]:
        """Sentences on what a user should know of the run besides how it ended."""
        return self.health.remarks(self.assembly, self._arrays.totals, self._plan.adaptive)

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        remarks = self.remarks()
        return {
            "status": self.status,
            "message": "; ".join([self.message, *remarks]),
            "remarks": "\n".join(remarks),
            "end_time": self.time,
            "step": self._plan.h / 2 ** int(self._arrays.clock[data.LEVEL]),
            "steps": self.steps,
            "newton_iterations": int(self._arrays.clock[data.ITERATIONS]),
            **self.health.figures(self._arrays.totals),
            "order": self.method.order,
            "version": __version__,
            CASE: json.dumps(self.description()),
        }

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        return self._as_case().to_dict()

    def _as_case(self) -> AssemblyCase:
        """The case that it was made from, or one of the same assembly, state of bodies and commands."""
        if self.case is not None:
            return self.case
        lines = {
            name: LineStart(self.assembly.strings[name].string.length - line.reeled_length, line.reel_speed)
            for name, line in self.initial.strings.items()
        }
        settings = Run(duration=max(self.time, 1.0), **{name: getattr(self.method, name) for name in fields_of(Method)})
        return AssemblyCase(self.assembly, self.initial.bodies, lines, self._commands, settings)

    # -- checkpoints -------------------------------------------------------------------------------------

    def checkpoint(self) -> tuple[Checkpoint, str]:
        """All that the future depends on: an array, and a JSON text."""
        motion = np.zeros(self._arrays.size())
        save_assembly(self._system, motion)
        text = {
            "checkpoint": VERSION,
            CASE: self.description(),
            "started": self._started,
            "status": self.status,
            "event": self._event,
            "h": self._plan.h,
            "base_steps": [[interval, count] for interval, count in self.base_steps.items()],
            "commands": {name: sections.tagged(COMMAND, command) for name, command in self._commands.items()},
            "origins": self._origins,
            "shortest": self._shortest,
            "pushes": {name: [x[:, 0].tolist() for x in pair] for name, pair in self._pushes.items()},
            "health": asdict(self.health),
        }
        return Checkpoint(motion), json.dumps(text)

    @classmethod
    def from_checkpoint(cls, motion: Checkpoint, text: str) -> AssemblySimulation:
        """A simulation that goes on exactly where a checkpoint was taken."""
        saved = json.loads(text)
        checkpoints.check(saved, motion._asdict(), VERSION)
        simulation = cls.from_case(AssemblyCase.from_dict(saved[CASE]))
        if simulation._arrays.size() != motion.motion.size:
            raise InputError(f"checkpoint: expected {simulation._arrays.size()} numbers, got {motion.motion.size}")
        simulation._plan = simulation._plan._replace(h=saved["h"])
        simulation.base_steps = dict(saved["base_steps"])
        simulation._started, simulation.status, simulation._event = saved["started"], saved["status"], saved["event"]
        simulation._commands = {name: sections.command(x) for name, x in saved["commands"].items()}
        simulation._origins = {name: (x[0], x[1]) for name, x in saved["origins"].items()}
        simulation._shortest = saved["shortest"]
        simulation._pushes = {
            name: (np.array(space)[:, None], np.array(own)[:, None]) for name, (space, own) in saved["pushes"].items()
        }
        simulation.health = AssemblyHealth(**saved["health"])
        simulation._lower(0.0, 0.0)
        restore_assembly(simulation._system, motion.motion, 0.0)
        simulation._lower(simulation.time, simulation.time)
        restore_assembly(simulation._system, motion.motion, simulation.time)
        return simulation


def assembly_case(
    system: Assembly | AssemblyCase, state: Any, commands: Any, run: Mapping[str, Any], title: str = ""
) -> AssemblyCase:
    """A case from what `simulate` takes: a case and changes of its run, or plain objects."""
    if isinstance(system, AssemblyCase):
        if state is not None or commands is not None:
            checks.refuse("state", "no state and command beside a case; use case.with_", state or commands)
        return system.with_({f"run.{name}": value for name, value in run.items()}) if run else system
    checks.instance("state", state, AssemblyState)
    lines = {
        name: LineStart(system.strings[name].string.length - line.reeled_length, line.reel_speed)
        for name, line in state.strings.items()
    }
    given = {name: x if isinstance(x, Command) else Torque(x) for name, x in (commands or {}).items()}
    case = AssemblyCase(system, state.bodies, lines, given, Run(**run), title)
    object.__setattr__(case, "_state", state)
    return case
