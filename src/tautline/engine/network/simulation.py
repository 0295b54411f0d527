"""NetworkSimulation: the backend of every system, on the network kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline import errors
from tautline.engine import checkpoints, plausible
from tautline.engine.backend import ENERGIES, RUNNING, Backend, check_moment
from tautline.engine.choose import NETWORK
from tautline.engine.network import acting
from tautline.engine.network.commands import lead_reels, take
from tautline.engine.network.health import NetworkHealth
from tautline.engine.network.leading import LEAD, lead_from
from tautline.engine.network.samples import body_in, nodes_in, sentence, state_of, values_of
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.network.strands import words_for
from tautline.engine.network.warnings import network_warnings
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.balance import kept_energy
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import RESTORE
from tautline.model import checks
from tautline.model.command import Command
from tautline.model.run import Method, known
from tautline.model.system import reading
from tautline.model.system.case import Case
from tautline.model.system.commands import check_free, check_known, commands_by_name
from tautline.model.system.sections import COMMAND
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results.values import Values
from tautline.results.warnings import RunWarning


class Checkpoint(NamedTuple):
    """The motion of a system, in one array."""

    motion: data.Array


class NetworkSimulation(Backend):
    """A system in motion.

    Parameters
    ----------
    system, state
        What, and from where.
    loads : dict, optional
        `ForceLaw` or several by the names of lines: forces of your own functions on the nodes of a string and a
        moment on the body at its end. Such a simulation can be neither saved nor resumed.
    case : Case, optional
        What it is a run of.
    **method
        `step`, `order`, `compensated`, `minimum_length`, `at_end` and `stop`, as in `Run`.
    """

    NAME = NETWORK
    ARRAYS = Checkpoint
    FORM = checkpoints.FORM | {
        "commands": {plausible.ANY: dict},
        "origins": {plausible.ANY: (float, float)},
        "shortest": {plausible.ANY: float},
        "unknown_torques": [str],
        "pushes": {plausible.ANY: ((float,) * 7, (float,) * 7)},
        "impulses": (float, [plausible.WRENCH]),
        "moves": {plausible.ANY: LEAD},
        "earlier": ([(str, str, [float], [float], [str])], {plausible.ANY: float}),
    }
    stepper: NetworkStepper

    def __init__(
        self,
        system: System,
        state: State,
        *,
        loads: Mapping[str, Any] | None = None,
        case: Case | None = None,
        **method: Any,
    ) -> None:
        stepper = NetworkStepper(system, state, Method(**known(method, Method)), loads)
        # record, warnings and figures of the chain kernels, where they made the motion up to a time (switching.py)
        self._earlier: tuple[Values | None, list[RunWarning], dict[str, float]] = (None, [], {})
        super().__init__(stepper, case)

    @classmethod
    def from_case(cls, case: Case, *, loads: Mapping[str, Any] | None = None) -> NetworkSimulation:
        """A simulation at the start of a case; its commands are not taken yet."""
        checks.instance("case", case, Case)
        with case.naming_keys():
            return cls(case.system, case.state(), loads=loads, case=case, **case.run.method())

    at_start = from_case

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system, with the number of elements of every line."""
        return self.stepper.system

    def _made_of(self) -> tuple[System, State]:
        return self.system, self.stepper.initial

    @property
    def commands(self) -> dict[str, Command]:
        """Commands that reels follow, by the names of lines."""
        return self.stepper.commands

    @property
    def system_state(self) -> State:
        """The present state, as a value that another simulation can start from."""
        return state_of(self.system, self.present_sample())

    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""
        return body_in(self.system, self.present_sample(), name)

    def nodes(self, name: str) -> dict[str, data.Array]:
        """Nodes of a line and their velocities now."""
        return nodes_in(self.system, self.present_sample(), name)

    def deployed(self, name: str) -> float:
        """Unstretched length of a line outside its guide (m)."""
        return self.stepper.deployed(name)

    def reeled(self, name: str) -> float:
        """Unstretched length on the reel side of the guide entrance of a line (m)."""
        return float(self.stepper.arrays.reels[self.stepper.numbers[name]][data.S])

    def speed(self, name: str) -> float:
        """Rate of the reeled length of a line; positive in retrieval (m/s)."""
        return float(self.present_sample().strands[0, self.stepper.numbers[name], kernels.SPEED])

    def impulse_since(self, name: str) -> tuple[float, data.Array]:
        """When the latest `advance` began (s); impulse (N s) and moment (N m s) of lines on a kinematic body since."""
        return acting.impulse_since(self.stepper, self.time, name)

    def present_sample(self) -> kernels.WholeSamples:
        """The present state as a sample."""
        return self.stepper.sample_at(self.time)

    def _refresh(self) -> None:
        """Do nothing: the present state is observed whenever somebody asks."""

    def energies(self, sample: kernels.WholeSamples) -> data.Array:
        return sample.whole[0, ENERGIES]

    # -- moving on ---------------------------------------------------------------------------------------

    def _command(self, command: Any) -> dict[str, Command]:
        return commands_by_name(self.system, command)

    def _take(self, command: dict[str, Command]) -> None:
        take(self.stepper, command)
        self.stepper.check_step()
        if not self.stepper.health.begun:
            self.first_sample()

    def _note_impulses(self) -> None:
        acting.note_impulses(self.stepper, self.time)

    def _kind(self) -> list[str]:
        """Lines whose reels follow a motion that is prescribed."""
        return [name for name, command in self.commands.items() if command.prescribes]

    def _judge(self, times: data.Array, samples: kernels.WholeSamples, kind: list[str]) -> None:
        self.stepper.health.look(self.system, samples, times, self.method.order)
        self.stepper.health.look_at_motors(self.system, samples, kind)

    def _sentence(self, status: int, plan: data.Plan) -> str:
        at = self.stepper.ended_at
        name, out = "", 0.0
        if at >= 0:
            strand = self.stepper.strands[at]
            name, out = strand.line, self.deployed(strand.line)
            if status == errors.TWO_BLOCKED:
                out = self.system.lines[name].string.length - float(
                    self.present_sample().strands[0, at, kernels.RETRACTED]
                )
                name = words_for(self.system, strand)
        return sentence(status, self.time, name, out, plan.h / 2**self.halvings, self.limits().waves, plan.adaptive)

    def go_on_from(self, state: State, time: float) -> None:
        """Go on from another state at another time (s), under the commands that were given at the start of the run.

        Kinematic bodies are where the state says, and their paths are those of the run.
        """
        self.turns.check()
        self._placed()
        self.stepper.place(state, time)
        lead_reels(self.stepper, self.commands, time)

    def take_over(self, record: Values | None, warnings: list[RunWarning], figures: dict[str, float]) -> None:
        """Go on with the record, warnings and figures of another backend."""
        self._earlier = (record, warnings, figures)
        if record is not None:  # the present state is its last sample
            first = self.first_sample()
            self._recorder.keep(np.zeros(0), kernels.WholeSamples(*(x[:0] for x in first)))

    # -- actions from outside ----------------------------------------------------------------------------

    def push(
        self, name: str, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space"
    ) -> None:
        """Apply a force at the center of mass of a body (N) and a moment (N m), until others are given (`BodyView`)."""
        self.turns.check()
        check_free(self.system, name)
        checks.choice("frame", frame, acting.FRAMES)
        values = [*checks.vector("force", force, "N"), *checks.vector("moment", moment, "N m")]
        check_moment(self.system, name, values[3:])
        acting.push(self.stepper, self.time, name, values, frame)

    def _strike(self, name: str, impulse: data.Array, moment: data.Array) -> None:
        acting.strike(self.stepper, self.time, name, impulse, moment)

    def _stop_reel(self, name: str) -> None:
        acting.stop_reel(self.stepper, self.time, name)

    def _move(self, name: str, velocity: data.Array, angular_velocity: data.Array) -> None:
        acting.move(self.stepper, self.time, name, velocity, angular_velocity)

    # -- samples -----------------------------------------------------------------------------------------

    def first_sample(self) -> kernels.WholeSamples:
        """The present state as a sample, for the beginning of a record."""
        self.look()
        out, stepper = self.present_sample(), self.stepper
        totals, x = stepper.arrays.totals, out.whole[0]
        self._sampled = int(stepper.arrays.clock[data.STEP])
        if not stepper.health.begun:
            totals[data.KEPT] = kept_energy(x)
            totals[data.POTENTIAL] = x[data.ELASTIC] + x[data.GRAVITY]
            totals[data.IN_PLAY] = x[data.KINETIC]
        stepper.health.look(self.system, out, np.array([self.time]), self.method.order)
        return out

    def values(self, samples: kernels.WholeSamples, times: data.Array | None = None) -> Values:
        """Variables of the results from samples, the latest ones if no times are given."""
        return values_of(self.system, samples, self.sample_times(len(samples.whole)) if times is None else times)

    def values_for(self, times: data.Array, samples: kernels.WholeSamples, names: set[str]) -> Values:
        """Variables of the results, for conditions that end a run."""
        return values_of(self.system, samples, times)

    def recorded(self) -> Values:
        """Variables of all that was recorded, on the chain before too."""
        found, earlier = super().recorded(), self._earlier[0]
        return found if earlier is None else {name: np.concatenate([earlier[name], x]) for name, x in found.items()}

    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        self.turns.check()
        self.look()
        found, earlier = self.stepper.health.figures(self.system, self.stepper.arrays.totals), self._earlier[2]
        return found | {name: max(x, earlier[name]) for name, x in found.items() if name in earlier}

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on reels at their stops."""
        self.look()
        own = network_warnings(self.stepper)
        return list({w.text: w for w in (*self._earlier[1], *own)}.values())

    # -- checkpoints -------------------------------------------------------------------------------------

    def own_checkpoint(self) -> tuple[Checkpoint, dict[str, Any]]:
        stepper = self.stepper
        unknown = [name for name, k in stepper.numbers.items() if np.isnan(stepper.arrays.reels[k][data.TORQUE])]
        self._set_torques(unknown, 0.0)
        motion = stepper.saved()[0]
        self._set_torques(unknown, np.nan)
        text = {
            "commands": {name: reading.tagged(COMMAND, command) for name, command in self.commands.items()},
            "origins": stepper.origins,
            "shortest": stepper.shortest,
            **({"lengths": stepper.lengths} if self.system.is_reeved else {}),
            "unknown_torques": unknown,
            "pushes": {name: [x[:, 0].tolist() for x in pair] for name, pair in stepper.pushes.items()},
            "impulses": [stepper.impulses[0], stepper.impulses[1].tolist()],
            "moves": {name: lead.numbers() for name, lead in stepper.moves.items()},
            "earlier": [[_row(w) for w in self._earlier[1]], self._earlier[2]],
        }
        return Checkpoint(motion), text

    def _set_torques(self, names: list[str], torque: float) -> None:
        for name in names:
            self.stepper.arrays.reels[self.stepper.numbers[name]][data.TORQUE] = torque

    def restore(self, saved: dict[str, Any], checkpoint: Checkpoint) -> None:
        stepper, motion = self.stepper, checkpoint.motion
        arrays = stepper.arrays
        if arrays.size() != motion.size:
            raise InputError(f"checkpoint: expected {arrays.size()} numbers, got {motion.size}")
        begun = len(arrays.totals)
        plausible.check_clock(motion[begun : begun + data.CLOCK_SIZE])
        for kind in ("commands", "origins", "shortest", "unknown_torques"):
            for name in saved[kind]:
                check_known(name, stepper.numbers, "lines")
        for name in (*saved["pushes"], *saved["moves"]):
            check_known(name, self.system.bodies, "bodies")
        plausible.check_form("impulses", saved["impulses"][1], (plausible.WRENCH,) * len(arrays.names))
        stepper.started, stepper.shortest = saved["started"], saved["shortest"]
        stepper.commands = {name: reading.command(x) for name, x in saved["commands"].items()}
        stepper.origins = {name: (x[0], x[1]) for name, x in saved["origins"].items()}
        lengths = saved.get("lengths", {})
        stepper.lengths = {name: lengths.get(name, stepper.reel_length(name)) for name in stepper.commands}
        stepper.pushes = {
            name: (np.array(space)[:, None], np.array(own)[:, None]) for name, (space, own) in saved["pushes"].items()
        }
        stepper.impulses = (saved["impulses"][0], np.array(saved["impulses"][1]))
        stepper.moves = {name: lead_from(numbers) for name, numbers in saved["moves"].items()}
        rows, figures = saved["earlier"]
        self._earlier = (None, [RunWarning(*row[:2], *(x[0] if x else None for x in row[2:])) for row in rows], figures)
        stepper.health = NetworkHealth.from_state(saved["health"])
        for _ in range(2):  # the time is known when the motion is there, and tables are made for a time
            stepper.changed = True
            stepper.lower(self.time, self.time)
            stepper.call(RESTORE, self.time, saved=motion[None])
        if self.status == RUNNING:
            for strand, reel in zip(stepper.strands, arrays.reels, strict=True):
                if strand.wheel is None:
                    length = self.system.lines[strand.line].string.length
                    plausible.check_reel(reel, plausible.longest_step(saved), length)
            for state in arrays.bodies:
                plausible.check_attitude(state[data.ATTITUDE : data.ATTITUDE + 4])
        self._set_torques(saved["unknown_torques"], np.nan)


def _row(warning: RunWarning) -> list[Any]:
    """A warning in a checkpoint; what it does not have is an empty list."""
    rest = (warning.value, warning.limit, warning.where)
    return [warning.kind, warning.text, *([] if x is None else [x] for x in rest)]
