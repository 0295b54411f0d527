"""A system in the kernels' terms: arrays, commands, forces, and the calls that step and observe them."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tautline.engine import lowering as line_lowering
from tautline.engine.backend import NO_LAWS
from tautline.engine.ending import check_step
from tautline.engine.force_law import CallableLaw, heeding_interrupts, raise_failure
from tautline.engine.loads import own_numbers
from tautline.engine.network import lowering
from tautline.engine.network.health import NetworkHealth
from tautline.engine.network.kinematic import KinematicMotion, kinematic_motions, motions_of, uniform
from tautline.engine.tabulating import tabulated
from tautline.engine.turns import Turns
from tautline.engine.windows import around
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.limits import Limits
from tautline.kernels.listed import Listed
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import BEGIN, LIMITS, MARCH, OBSERVE, RESTORE, SAVE, Done, march_network
from tautline.model import checks, refusals
from tautline.model.command import Command, Free
from tautline.model.force_law import check_laws
from tautline.model.run import Method
from tautline.model.sequence import Sequence
from tautline.model.system.commands import END_REEL, REEL, check_known, place_of
from tautline.model.system.state import BodyState, State
from tautline.model.system.system import System
from tautline.results import network as results


class NetworkStepper:
    """The motion of a system, and the only calls of the kernels that change it (`engine/stepping.py`).

    Parameters
    ----------
    system, state, method
        What, from where, and how.
    laws : dict, optional
        Force laws of the user's own, by the names of lines.

    Attributes
    ----------
    network : Network
        The system as the kernels have it.
    commands, origins, shortest : dict
        By the names of lines: what reels follow, since when (s) with how much out (m), and how far they retrieve (m).
    lengths : dict
        Reeled and deployed together (m), when commands were given.
    strands : tuple
        What the strings of the kernels are in the system.
    pushes, moves : dict
        By the names of bodies: forces and moments from outside, and how another program leads them.
    impulses : tuple
        When the latest advance began (s), and the impulses that bodies had been given then (N s).
    jump : tuple, optional
        Kinematic bodies were given other velocities: time, energy that this brings, impulses of all bodies.
    ended_at : int
        Number of the line at whose end the latest march ended, or -1.
    changed : bool
        Whether the network has to be made anew.
    """

    def __init__(self, system: System, state: State, method: Method, laws: Mapping[str, Any] = NO_LAWS) -> None:
        checks.instance("system", system, System)
        checks.instance("state", state, State)
        state.check_against(system)
        system = system.with_elements(state.elements())
        spans = {name: state.lengths_of(system, name) for name in system.lines}
        self.system = system.on_mesh({name: float(x.sum()) for name, x in spans.items()})
        self.initial, self.method, self.turns, self.health = state, method, Turns(), NetworkHealth()
        for name in checks.mapping("loads", laws, "ForceLaw"):
            check_known(name, self.system.lines, "lines")
        self._laws = {name: [CallableLaw(law) for law in check_laws(own)] for name, own in laws.items()}
        self.laws = [law for own in self._laws.values() for law in own]
        self._check_method()
        self.arrays = lowering.Arrays(self.system, state)
        # first strings of lines, and those at whose start a reel or sheave is commanded, by their names
        self.strands = self.arrays.strands
        self.numbers = {x.line: k for k, x in enumerate(self.strands) if x.span == 0}
        self.numbers |= {x.drive: k for k, x in enumerate(self.strands) if x.drive}
        self._led = motions_of(self.system)
        self._sizes = results.layout(self.system).lengths
        self.plan = line_lowering.plan_of(self.method)
        self.shortest = {
            name: self._least(float(spans[name].min()))
            for name, line in self.system.lines.items()
            if line.reel is not None or line.is_reeved
        }
        self.commands: dict[str, Command] = {}
        self.origins: dict[str, tuple[float, float]] = {}
        self.lengths: dict[str, float] = {}
        self.pushes: dict[str, tuple[data.Array, data.Array]] = {}
        self.moves: dict[str, KinematicMotion] = {}
        self.impulses = (0.0, np.zeros((len(self.arrays.names), 6)))
        self.jump: tuple[float, float, data.Array] | None = None
        self.ended_at = -1
        self.started, self.changed = False, True
        self._lowered = (0.0, 0.0)  # times between which the tables of motions hold
        self.lower(0.0, 0.0)
        self.call(BEGIN, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        """All but what the kernels have of it, which a copy makes of its own arrays."""
        return {name: value for name, value in self.__dict__.items() if name != "network"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.changed = True
        self.lower(self.time, self.time)

    def copy(self, until: float = 0.0) -> NetworkStepper:
        """An independent stepper in the same state, whose health begins anew; tables of motions hold up to a time."""
        other = copy.copy(self.__getstate__())
        found = object.__new__(NetworkStepper)
        found.__dict__.update(other)
        found.turns, found.arrays, found.health = Turns(), copy.deepcopy(self.arrays), NetworkHealth()
        found.changed = True
        found.lower(0.0, until)
        return found

    def _check_method(self) -> None:
        if self.method.scheme != "symmetric":
            raise refusals.PAPER_SCHEME.error(repr(self.method.scheme), what="what the network kernels run")
        line_lowering.check_method(self.method)
        damped = any(line.string.viscosity > 0.0 for line in self.system.lines.values())
        loaded = damped or self.system.fluid is not None or bool(self.laws)
        line_lowering.check_loaded_order(self.method.order, loaded)
        if self.method.order > 2 and any(w.slips for name in self.system.lines for w in self.system.wheels(name)):
            raise refusals.STICKING_ORDER.error(repr(self.method.order), what="groove_friction of sheaves")
        for name, line in self.system.lines.items():
            if line.reel is not None:
                try:
                    line_lowering.check_law_order(line.reel.guide_law, self.method.order)
                except InputError as error:
                    raise InputError(f"lines.{name}: {error}") from None
        for name in self._laws:
            over = self.system.lines[name].over
            if over:
                raise refusals.REEVED_LAW.error("one", line=name, over=next(iter(over)))

    def _least(self, deployed: float) -> float:
        least = self.method.minimum_length
        if least is None:
            return line_lowering.MINIMUM_LENGTH * deployed
        if least >= deployed:
            checks.refuse("minimum_length", f"less than the {deployed:g} m deployed at the start", least)
        return least

    @property
    def time(self) -> float:
        return self.arrays.totals.item(data.T_START) + self.arrays.clock.item(data.STEP) * self.plan.h

    def counted_from(self) -> tuple[data.Array, data.Counters]:
        return self.arrays.totals, self.arrays.clock

    def deployed(self, name: str) -> float:
        """Unstretched length of a line outside its guide (m); by the name of a sheave or an end reel that of its span.

        That of a sheave is the span behind it.
        """
        place, reels = place_of(name), self.arrays.reels
        length = self.system.lines[place.line].string.length
        if not self.system.lines[place.line].is_reeved:
            return float(length - reels[self.numbers[name]][data.S])
        spans = [k for k, x in enumerate(self.strands) if x.line == place.line and x.span >= 0]
        lengths = {k: float(length - reels[k][data.S] + reels[k][kernels.FED]) for k in spans}
        if place.part == REEL:
            return sum(lengths.values())
        behind = [k for k in spans if (wheel := self.strands[k].wheel) is not None and wheel.command == name]
        return lengths[spans[-1] if place.part == END_REEL else behind[0]]

    def reel_length(self, name: str) -> float:
        """Length from which what is deployed is taken, to give the reeled length that a reel or sheave has (m)."""
        line = self.system.lines[place_of(name).line]
        if not line.is_reeved:
            return line.string.length
        return float(self.arrays.reels[self.numbers[name]][data.S]) + self.deployed(name)

    # -- what the kernels take ---------------------------------------------------------------------------

    def lower(self, since: float, until: float) -> None:
        """Make what the kernels take, with tables that hold between two times, unless it is there already."""
        since, until = around(since, until, self.plan.h, self.arrays.totals.item(data.H_LAST))
        if not self.changed and self._lowered[0] <= since and until < self._lowered[1]:
            return
        self.changed, self._lowered = False, (since, self._covered(until))
        kernel_commands = {name: self.kernel_command(name, since, until) for name in self.commands}
        if not self.started:
            moving = {name for name, line in self.initial.lines.items() if line.reel_speed != 0.0}
            moving |= {f"{name}.end_reel" for name, line in self.initial.lines.items() if line.end_reel_speed != 0.0}
            kernel_commands = {name: line_lowering.kernel_command(Free()) for name in moving}
        leads = kinematic_motions(self.system, self.initial, since, until) | self.moves
        self.network = lowering.system_of(
            self.system,
            self.arrays,
            kernel_commands,
            self.pushes,
            leads,
            self.shortest,
            self._laws,
            self.method.compensated,
            (since, until),
        )

    def kernel_command(self, name: str, since: float, until: float) -> data.Command:
        """Command of a reel as the kernels have it, with tables that hold between two times."""
        command, span = self.commands[name], self.command_span(name, self.commands[name], since, until)
        return line_lowering.kernel_command(command, self.lengths[name], *self.origins[name], span)

    def command_span(self, name: str, command: Command, since: float, until: float) -> tuple[float, float] | None:
        """Times that the table of a motion without end has to hold for; others are the same at any time."""
        origin = self.origins[name][0]  # where its curve begins
        return (max(since, origin), until) if command.covered(until, origin) < math.inf else None

    def _covered(self, until: float) -> float:
        """Time up to which tables of paths, flows and commands hold that are asked for until then (s)."""
        flow = None if self.system.fluid is None else self.system.fluid.unsteady
        found = [motion.covered(until) for motion in (*self._led, *(() if flow is None else (flow,)))]
        found += [command.covered(until, self.origins[name][0]) for name, command in self.commands.items()]
        return float(min(found, default=math.inf))

    def prescribe(self, name: str, time: float, now: BodyState) -> None:
        """Have a kinematic body move on from where it is at a time (s) with the velocities that it has there."""
        self.moves[name], self.changed = uniform(time, now), True

    def follow(self, name: str, command: Command, origin: tuple[float, float], shortest: float) -> None:
        """Have a command that was given at a time, with a length out, to a reel that retrieves to a length."""
        self.commands[name], self.origins[name], self.shortest[name] = command, origin, shortest
        self.lengths[name] = self.reel_length(name)
        self.started, self.changed = True, True

    def have_given(self, name: str, since: float, impulse: data.Array) -> None:
        """Have a kinematic body that has felt impulse and moment since a time (s); more is counted from now on."""
        found = np.zeros((len(self.arrays.names), 6))
        found[self.arrays.names.index(name)] = impulse
        self.impulses = (since, found)

    def place(self, state: State, time: float) -> None:
        """Put the motion into a state at a time; kinematic bodies are where it says, on the paths of the run."""
        self.arrays.place(self.system, state)
        self.arrays.totals[data.T_START] = time
        if self.changed:
            self.lower(time, time)
        self.call(BEGIN, time)

    # -- steps and samples -------------------------------------------------------------------------------

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
        with heeding_interrupts(self.laws):
            done = self.turns.run(march_network, self.network, plan or self.plan, saved, samples, action, time)
        for name, laws in self._laws.items():
            raise_failure(laws, own_numbers(self.network.acting[self.numbers[name]], "force_law").failed)
        return done

    def samples_for(self, rows: int) -> kernels.WholeSamples:
        return kernels.empty_samples(rows, len(self.arrays.names), len(self.strands), self._sizes["node"])

    def observe(self, out: kernels.WholeSamples, time: float) -> None:
        """Put the present state into a single sample, with the tables that are there."""
        self.call(OBSERVE, time, out)

    def observed(self, time: float) -> kernels.WholeSamples:
        """The present state as a sample, with the tables that are there."""
        out = self.samples_for(1)
        self.observe(out, time)
        return out

    def sample_at(self, time: float) -> kernels.WholeSamples:
        """The present state as a sample, with tables for a time."""
        self.lower(time, time)
        return self.observed(time)

    def march(self, out: kernels.WholeSamples, plan: data.Plan) -> tuple[int, int]:
        """Fill samples by steps of a plan; what a force law raises leaves the motion as it was.

        The kernels' status, and how many were filled.
        """
        time = self.time
        self.lower(time, time + len(out.whole) * plan.steps_per_sample * plan.h)
        self._tabulate(len(out.whole), plan)
        before = self.saved() if self.laws else None
        try:
            done = self.call(MARCH, out=out, plan=plan)
        except BaseException:
            if before is not None:
                self._clear_workspace()
                self.put_back(before)
            raise
        self.ended_at = int(done.strand)
        return int(done.status), int(done.rows)

    def _tabulate(self, rows: int, plan: data.Plan) -> None:
        """Tabulate torques that are functions at the ends of all stages of the steps to come."""
        functions = {name: x for name, x in self.commands.items() if x.is_function}
        if not functions:
            return
        parts, allowed = 1, self.allowed_step()
        while plan.adaptive and plan.h / parts > allowed:
            parts *= 2
        strands = list(self.network.strands)
        for name, command in functions.items():
            steps = rows * plan.steps_per_sample * parts
            table = tabulated(command, self.time, plan.h / parts, steps, plan.stages)
            self.health.note_table(name, table.impulse, table.bent)
            k = self.numbers[name]
            # stages of higher orders look at the function itself, steps of order 2 at lines between its values
            own = strands[k].command._replace(times=table.times, torques=table.torques, pointwise=self.method.order > 2)
            strands[k] = strands[k]._replace(command=own)
        self.network = self.network._replace(strands=Listed(kernels.Strand, strands))

    def _clear_workspace(self) -> None:
        """Take away what is not finite from arrays that a march fills, but not all of, before it looks at them."""
        arrays = self.arrays
        for array in (*arrays.works, *arrays.strand_works, *(x for scratch in arrays.scratch for x in scratch)):
            array[...] = 0.0
        self.changed = True
        self.lower(self.time, self.time)

    def saved(self) -> data.Array:
        """A copy of the motion, as one row."""
        motion = np.zeros((1, self.arrays.size()))
        self.call(SAVE, saved=motion)
        return motion

    def put_back(self, saved: data.Array) -> None:
        """Go back to a copy of the motion."""
        steps = saved[0, len(self.arrays.totals) + data.STEP]
        self.call(RESTORE, float(saved[0, data.T_START] + steps * self.plan.h), saved=saved)

    def following(self) -> dict[str, Any]:
        return {name: dict(getattr(self, name)) for name in ("commands", "origins", "lengths", "shortest")}

    def follow_again(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.changed = True
        self.lower(self.time, self.time)

    # -- steps that are stable and resolve the motion -----------------------------------------------------

    def limits(self) -> Limits:
        """Step limits of the present motion (s)."""
        return self.call(LIMITS).limits

    def step_limits(self, lengths: Mapping[str, float] | None = None) -> dict[str, float]:
        reels = self.arrays.reels
        before = [float(reel[data.S]) for reel in reels]
        if lengths is not None:
            for reel, strand in zip(reels, self.strands, strict=True):
                line = self.system.lines[strand.line]
                if not line.is_reeved:
                    reel[data.S] = line.string.length - lengths[strand.line]
        found = self.limits()
        for reel, s in zip(reels, before, strict=True):
            reel[data.S] = s
        return line_lowering.allowed_steps(self.plan, found)

    def allowed_step(self) -> float:
        return min(self.step_limits().values())

    def check_step(self, commands: Mapping[str, Command] | None = None) -> None:
        """Refuse a fixed step that is too near the stability limit at the start, also under commands to come."""
        if self.plan.adaptive or self.arrays.clock[data.TOTAL]:
            return
        mesh = "the lines' elements"
        if len(self.numbers) == 1:
            ((name, line),) = self.system.lines.items()
            mesh = f"{line.count} elements of {self.deployed(name) / line.count:.3g} m"
        check_step(self.plan, self._limits_under(commands) if commands else self.limits(), mesh)

    def _limits_under(self, commands: Mapping[str, Command]) -> Limits:
        """Step limits (s) as they would be if reels were given commands now."""
        kept, started = self.following(), self.started
        try:
            for name, command in commands.items():
                first = command.stages[0].command if isinstance(command, Sequence) else command
                self.commands[name], self.origins[name] = first, (self.time, self.deployed(name))
                self.lengths[name] = self.reel_length(name)
            self.started = self.changed = True
            self.lower(self.time, self.time)
            return self.limits()
        finally:
            self.started = started
            self.follow_again(kept)
