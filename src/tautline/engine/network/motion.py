"""A system in motion: what the kernels have of it, commands of its reels, forces on its bodies."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from tautline.engine import lowering as pendulum_lowering
from tautline.engine.force_law import CallableLaw, heeding_interrupts, raise_failure
from tautline.engine.loads import own_numbers
from tautline.engine.network import lowering
from tautline.engine.network.commands import check_given
from tautline.engine.network.health import NetworkHealth
from tautline.engine.tabulating import is_constant, tabulated
from tautline.engine.turns import Turns
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.limits import Limits
from tautline.kernels.listed import Listed
from tautline.kernels.network import data as kernels
from tautline.kernels.network.limits import NetworkLimits
from tautline.kernels.network.march import (
    BEGIN,
    LIMITS,
    MARCH,
    OBSERVE,
    RELEASE,
    RESTORE,
    SAVE,
    Done,
    march_network,
)
from tautline.model import checks, refusals
from tautline.model.command import Command, Free, Locked, Torque
from tautline.model.force_law import check_laws
from tautline.model.profile import values_at
from tautline.model.run import Method
from tautline.model.system.commands import Commands, check_known, commands_by_name
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, LineState, State
from tautline.model.system.system import System
from tautline.results import network as results


class NetworkInMotion:
    """A system as the kernels have it, with the commands of its reels and the forces on its bodies."""

    health: NetworkHealth

    def __init__(
        self,
        system: System,
        state: State,
        method: Method,
        laws: Mapping[str, Any] | None = None,
    ) -> None:
        checks.instance("system", system, System)
        checks.instance("state", state, State)
        state.check_against(system)
        system = system.with_elements(state.elements())
        lengths = {name: line.string.length for name, line in system.lines.items()}
        self.system = system.on_mesh({name: x - state.lines[name].reeled_length for name, x in lengths.items()})
        self.initial, self.method, self.turns = state, method, Turns()
        for name in checks.mapping("loads", {} if laws is None else laws, "ForceLaw"):
            check_known(name, self.system.lines, "lines")
        self.laws = {name: [CallableLaw(law) for law in check_laws(own)] for name, own in dict(laws or {}).items()}
        self._check_method()
        self.arrays = lowering.Arrays(self.system, state)
        self._numbers = {name: k for k, name in enumerate(self.system.lines)}
        self._has_paths = any(isinstance(x, Kinematic) and x.path is not None for x in self.system.bodies.values())
        self.layout = results.layout(self.system)
        self._plan = lowering.plan_of(system, self.method)
        self._shortest = {
            name: self._least(line.string.length - state.lines[name].reeled_length)
            for name, line in self.system.lines.items()
            if line.reel is not None
        }
        self._commands: dict[str, Command] = {}
        self._origins: dict[str, tuple[float, float]] = {}
        self._pushes: dict[str, tuple[data.Array, data.Array]] = {}
        self._moves: dict[str, data.Array] = {}  # paths of held bodies that another program leads
        self._impulses = (0.0, np.zeros((len(self.arrays.names), 3)))  # when the latest advance began, those given then
        self.base_steps: dict[float, int] = {}
        self._started, self._changed = False, True
        self._lowered = (0.0, 0.0)  # times between which the tables of motions hold
        self._lower(0.0, 0.0)
        self.call(BEGIN, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        """All but what the kernels have of it, which a copy makes of its own arrays."""
        return {name: value for name, value in self.__dict__.items() if name != "_system"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._changed = True
        self._lower(self.counted_time, self.counted_time)

    def __copy__(self) -> Self:
        """An independent copy; one that shared arrays of the motion would be of no use."""
        return copy.deepcopy(self)

    def _check_method(self) -> None:
        if self.method.scheme != "symmetric":
            raise refusals.PAPER_SCHEME.error(repr(self.method.scheme), what="what the network kernels run")
        pendulum_lowering.check_method(self.method)
        damped = any(line.string.viscosity > 0.0 for line in self.system.lines.values())
        loaded = damped or self.system.fluid is not None or bool(self.laws)
        pendulum_lowering.check_loaded_order(self.method.order, loaded)

    def _least(self, deployed: float) -> float:
        least = self.method.minimum_length
        if least is None:
            return pendulum_lowering.MINIMUM_LENGTH * deployed
        if least >= deployed:
            checks.refuse("minimum_length", f"less than the {deployed:g} m deployed at the start", least)
        return least

    @property
    def base_step(self) -> float:
        """Step that is counted (s)."""
        return self._plan.h

    @property
    def counted_time(self) -> float:
        """Simulated time (s), from the counter of base steps."""
        return float(self.arrays.totals[data.T_START] + self.arrays.clock[data.STEP] * self._plan.h)

    @property
    def time(self) -> float:
        """Simulated time (s)."""
        return self.counted_time

    @property
    def steps(self) -> int:
        """Steps made since the start."""
        return int(self.arrays.clock[data.TOTAL])

    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""
        check_known(name, self.system.bodies, "bodies")
        return self._body_in(self.present_sample(), name)

    def _body_in(self, sample: kernels.WholeSamples, name: str) -> dict[str, data.Array]:
        row = sample.bodies[0, list(self.system.bodies).index(name)]
        return {
            "position": row[kernels.BODY_PLACE : kernels.BODY_PLACE + 3].copy(),
            "velocity": row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3].copy(),
            "angular_velocity": row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3].copy(),
            "attitude": row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3).copy(),
        }

    def speed(self, name: str) -> float:
        """Rate of the reeled length of a line; positive in retrieval (m/s)."""
        return float(self.present_sample().strands[0, self._number(name), kernels.SPEED])

    def string(self, name: str) -> dict[str, Any]:
        """Nodes, their velocities, deployed length and reel speed of a string now."""
        check_known(name, self.system.lines, "lines")
        return self._string_in(self.present_sample(), name)

    def _string_in(self, sample: kernels.WholeSamples, name: str) -> dict[str, Any]:
        k = list(self.system.lines).index(name)
        nodes = results.spans(self.system)[name][0]
        length = self.system.lines[name].string.length
        return {
            "nodes": sample.nodes[0, nodes, :3].copy(),
            "node_velocities": sample.nodes[0, nodes, 3:].copy(),
            "deployed": float(length - sample.strands[0, k, kernels.REELED]),
            "reel_speed": float(sample.strands[0, k, kernels.SPEED]),
        }

    @property
    def system_state(self) -> State:
        """The present state, as a value that another simulation can start from."""
        sample = self.present_sample()
        bodies = {}
        for name in self.system.bodies:
            x = self._body_in(sample, name)
            bodies[name] = BodyState(x["position"], x["velocity"], x["attitude"], x["angular_velocity"])
        lines = {}
        for name, line in self.system.lines.items():
            own = self._string_in(sample, name)
            reeled = line.string.length - own["deployed"]
            lines[name] = LineState(own["nodes"], own["node_velocities"], reeled, own["reel_speed"])
        return State(bodies, lines)

    def _lower(self, since: float, until: float) -> None:
        """Make what the kernels take, with tables that hold between two times, unless it is there already."""
        if not self._changed and (self._lowered == (since, until) or not self._has_motions):
            return
        self._changed, self._lowered = False, (since, until)
        kernel_commands = {
            name: pendulum_lowering.kernel_command(
                command,
                self.system.lines[name].string.length,
                *self._origins[name],
                self._span(name, command, since, until),
            )
            for name, command in self._commands.items()
        }
        if not self._started:
            moving = {name for name, line in self.initial.lines.items() if line.reel_speed != 0.0}
            kernel_commands = {name: pendulum_lowering.kernel_command(Free()) for name in moving}
        paths = lowering.path_tables(self.system, self.initial, since, until) | self._moves
        self._network = lowering.system_of(
            self.system,
            self.arrays,
            kernel_commands,
            self._pushes,
            paths,
            self._shortest,
            self.laws,
            self.method.compensated,
        )

    def _span(self, name: str, command: Command, since: float, until: float) -> tuple[float, float] | None:
        """Times that the table of a motion without end has to hold for; others are the same at any time."""
        return (since, until) if command.covered(until, self._origins[name][0]) < math.inf else None

    @property
    def _has_motions(self) -> bool:
        """Whether paths or commands have tables that hold for some time only."""
        time = self.time
        held = [x.path for x in self.system.bodies.values() if isinstance(x, Kinematic)] if self._has_paths else []
        paths = any(path is not None and path.covered(time) < math.inf for path in held)
        return paths or any(self._span(name, x, time, time) for name, x in self._commands.items())

    def take(self, commands: Commands | None) -> None:
        """Let reels follow commands from now on, by the names of their lines; a number is a torque (N m).

        Where there is one reel alone, its command will do.
        """
        self.turns.check()
        given: dict[str, Command] = {}
        for name, command in commands_by_name(self.system, commands).items():
            if self.system.lines[name].reel is None:
                continue  # locked, as it must be
            if not self._started or command != self._commands.get(name, Locked()):
                given[name] = command
        if self._started and not given:
            return
        if all(is_constant(x) and is_constant(self._commands.get(name)) for name, x in given.items()) and self._started:
            # the common case of a control loop: other constant torques
            for name, command in given.items():
                self._set_torque(name, command)
            return
        if not self._started:
            given = {name: Locked() for name, line in self.system.lines.items() if line.reel is not None} | given
        self._change(given)

    def _set_torque(self, name: str, command: Command) -> None:
        """Give a reel that follows a constant torque another one."""
        assert is_constant(command)
        k = self._number(name)
        strand = self._network.strands[k]
        strand.command.torques[0] = command.torque
        limit = strand.par.max_torque
        self.arrays.reels[k][data.TORQUE] = min(max(command.torque, -limit), limit)
        self._commands[name] = command

    def _change(self, given: dict[str, Command]) -> None:
        """Release all reels, then hold or lead those that are to be; what it takes to reach a speed is control work."""
        time, sample = self.time, self.present_sample()
        for name, command in given.items():
            k = list(self.system.lines).index(name)
            line = self.system.lines[name]
            speed, deployed = float(sample.strands[0, k, kernels.SPEED]), self.deployed(name)
            check_given(name, command, line, (time, deployed, speed), self.method.order, self._started)
            least = command.shortest(deployed, time)
            if self.method.minimum_length is None and least is not None and least < 2.0 * self._shortest[name]:
                self._shortest[name] = 0.5 * least
        self._release(time)
        for name, command in given.items():
            self._commands[name], self._origins[name] = command, (time, self.deployed(name))
            if command.finds_torque:
                self.arrays.reels[self._number(name)][data.STOP] = 0.0
        self._started, self._changed = True, True
        self._lower(time, time)
        for name in given:
            self._lead(name, time)

    def _release(self, time: float) -> None:
        """Let all velocities be those of momenta, as at the beginning of a motion."""
        self.call(RELEASE, time)

    def _lead(self, name: str, time: float) -> None:
        """Begin what a reel's command prescribes, and book the energy that this takes."""
        k = list(self.system.lines).index(name)
        reel, strand = self.arrays.reels[k], self._network.strands[k]
        command = self._commands[name]
        if command.prescribes:
            before = self._observed(time).whole[0, data.KINETIC]
            _, speed, acceleration = values_at(strand.command.profile, time)
            reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
            release = self._observed(time).whole[0, data.KINETIC] - before
            self.call(RELEASE, time)
            reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
            reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] += release
        s, sigma = reel[[data.S, data.SIGMA]].tolist()
        drum = self.system.lines[name].reel
        assert drum is not None
        # a torque that is found from the motion is NaN until samples have it
        reel[data.TORQUE] = (
            math.nan
            if command.finds_torque
            else pendulum_lowering.commanded_torque(drum, command, strand.par.L, s, sigma, time, self._origins[name])
        )

    def _number(self, name: str) -> int:
        return self._numbers[name]

    def deployed(self, name: str) -> float:
        """Unstretched length of a line outside its guide (m)."""
        return float(self.system.lines[name].string.length - self.arrays.reels[self._number(name)][data.S])

    def _check_step(self) -> None:
        limit = self.limits().waves
        if self._plan.h > self._plan.allowed_ratio * limit:
            raise InputError(
                f"step: expected at most {self._plan.allowed_ratio * limit:.3g} s ({self._plan.allowed_ratio:g} of the "
                f"stability limit {limit:.3g} s of waves in the lines' elements), got {self._plan.h!r}; use "
                "step='auto', or fewer elements"
            )

    def limits(self) -> NetworkLimits:
        """Step limits of the present motion (s)."""
        return self.call(LIMITS).limits

    @property
    def plan(self) -> data.Plan:
        """How steps are chosen."""
        return self._plan

    def step_limits(self, lengths: Mapping[str, float] | None = None) -> dict[str, float]:
        """Largest steps that "auto" makes of the present motion (s), by what limits them.

        With `lengths`, of one that is like it with other lengths deployed (m), by the names of lines.
        """
        reels = self.arrays.reels
        before = [float(reel[data.S]) for reel in reels]
        if lengths is not None:
            for reel, (name, line) in zip(reels, self.system.lines.items(), strict=True):
                reel[data.S] = line.string.length - lengths[name]
        found = self.limits()
        for reel, s in zip(reels, before, strict=True):
            reel[data.S] = s
        limits = Limits(found.waves, math.inf, found.stretching, found.turning, math.inf)
        return pendulum_lowering.allowed_steps(self._plan, limits)

    def allowed_step(self) -> float:
        """Largest step that "auto" makes of the present motion (s)."""
        return min(self.step_limits().values())

    def sampling(self, sample: float) -> data.Plan:
        """The plan for calls of `march`, one sample every `sample` seconds."""
        if self._plan.adaptive:
            if sample not in self.base_steps:
                self.base_steps[sample] = pendulum_lowering.steps_within(sample, self.allowed_step())
            count = self.base_steps[sample]
            h = sample / count
            if h != self._plan.h:  # another base step: count from here on
                self.arrays.totals[data.T_START] = self.time
                self.arrays.clock[data.STEP] = 0
                self._plan = self._plan._replace(h=h)
        else:
            count = checks.whole_ratio("sample", sample, "step", self._plan.h)
        self._plan = self._plan._replace(steps_per_sample=count)
        return self._plan

    def samples_for(self, rows: int) -> kernels.WholeSamples:
        """Room for samples."""
        size = self.layout.lengths
        return kernels.empty_samples(rows, len(self.arrays.names), size["line"], size["node"])

    def _observed(self, time: float) -> kernels.WholeSamples:
        out = self.samples_for(1)
        self.call(OBSERVE, time, out)
        return out

    def call(
        self,
        action: int,
        time: float = 0.0,
        out: kernels.WholeSamples | None = None,
        saved: Any = None,
        plan: data.Plan | None = None,
    ) -> Done:
        """Let the kernels do something with the system, by its plan unless another is given."""
        if saved is None:
            saved = self.arrays.backups
        samples = self.samples_for(0) if out is None else out
        with heeding_interrupts([law for laws in self.laws.values() for law in laws]):
            done = self.turns.run(march_network, self._network, plan or self._plan, saved, samples, action, time)
        for k, name in enumerate(self.system.lines):
            if name in self.laws:
                raise_failure(self.laws[name], own_numbers(self._network.acting[k], "force_law").failed)
        return done

    @property
    def functions(self) -> dict[str, Torque]:
        """Torques that are functions of time, by the names of lines."""
        return {name: x for name, x in self._commands.items() if isinstance(x, Torque) and x.is_function}

    def _tabulate(self, rows: int, plan: data.Plan) -> None:
        """Tabulate torques that are functions at the ends of all stages of the steps to come."""
        functions = self.functions
        if not functions:
            return
        parts, allowed = 1, self.allowed_step()
        while plan.adaptive and plan.h / parts > allowed:
            parts *= 2
        strands = list(self._network.strands)
        for name, command in functions.items():
            steps = rows * plan.steps_per_sample * parts
            table = tabulated(command, self.counted_time, plan.h / parts, steps, plan.stages)
            self.health.note_table(name, table.impulse, table.bent)
            k = self._number(name)
            # stages of higher orders look at the function itself, steps of order 2 at lines between its values
            own = strands[k].command._replace(times=table.times, torques=table.torques, pointwise=self.method.order > 2)
            strands[k] = strands[k]._replace(command=own)
        self._network = self._network._replace(strands=Listed(kernels.Strand, strands))

    def march_into(self, out: kernels.WholeSamples, plan: data.Plan) -> Done:
        """Fill samples by steps of a plan; what a force law raises leaves the motion as it was."""
        self._lower(self.time, self.time + len(out.whole) * plan.steps_per_sample * plan.h)
        self._tabulate(len(out.whole), plan)
        before = self.saved() if self.laws else None
        try:
            return self.call(MARCH, out=out, plan=plan)
        except BaseException:
            if before is not None:
                self._clear_workspace()
                self.put_back(before)
            raise

    def _clear_workspace(self) -> None:
        """Take away what is not finite from arrays that a march fills, but not all of, before it looks at them."""
        arrays = self.arrays
        for array in (*arrays.works, *arrays.strand_works, *(x for scratch in arrays.scratch for x in scratch)):
            array[...] = 0.0
        self._changed = True
        self._lower(self.time, self.time)

    def saved(self) -> data.Array:
        """A copy of the motion, as one row."""
        motion = np.zeros((1, self.arrays.size()))
        self.call(SAVE, saved=motion)
        return motion

    def put_back(self, saved: data.Array) -> None:
        """Go back to a copy of the motion."""
        steps = saved[0, len(self.arrays.totals) + data.STEP]
        self.call(RESTORE, float(saved[0, data.T_START] + steps * self._plan.h), saved=saved)

    def present_sample(self) -> kernels.WholeSamples:
        """The present state as a sample."""
        self._lower(self.time, self.time)
        return self._observed(self.time)
