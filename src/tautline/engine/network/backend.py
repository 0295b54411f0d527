"""NetworkBackend: every system, on the network kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tautline import errors
from tautline.engine import checkpoints, plausible
from tautline.engine.backend import ENERGIES, NO_LAWS, case_of_run
from tautline.engine.choose import NETWORK
from tautline.engine.ending import sentence
from tautline.engine.network import acting
from tautline.engine.network.commands import prescribe_reels, take
from tautline.engine.network.ending import ended
from tautline.engine.network.health import NetworkHealth
from tautline.engine.network.kinematic import LEAD, motion_from
from tautline.engine.network.samples import body_in, nodes_in, state_of, values_of, values_of_line
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.network.warnings import network_warnings
from tautline.engine.timing import Timing
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.balance import kept_energy
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import RESTORE
from tautline.model import checks
from tautline.model.command import Command
from tautline.model.run import Method, known
from tautline.model.system import reading, to_keys
from tautline.model.system.case import Case
from tautline.model.system.commands import check_free, check_known, check_moment, commands_by_name
from tautline.model.system.sections import COMMAND
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results.values import Values
from tautline.results.warnings import RunWarning


class Checkpoint(NamedTuple):
    """The motion of a system, in one array."""

    motion: data.Array


class NetworkBackend:
    """A system in motion. `Backend` has sentences on methods that have none here.

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

    NAME: ClassVar[str] = NETWORK
    ARRAYS: ClassVar[type[Any]] = Checkpoint
    FORM: ClassVar[plausible.Form] = checkpoints.FORM | {
        "commands": {plausible.ANY: dict},
        "origins": {plausible.ANY: (float, float)},
        "shortest": {plausible.ANY: float},
        "unknown_torques": [str],
        "pushes": {plausible.ANY: ((float,) * 7, (float,) * 7)},
        "impulses": (float, [plausible.WRENCH]),
        "moves": {plausible.ANY: LEAD},
        "earlier": ([(str, str, [float], [float], [str])], {plausible.ANY: float}),
    }

    def __init__(
        self,
        system: System,
        state: State,
        *,
        loads: Mapping[str, Any] = NO_LAWS,
        case: Case | None = None,
        **method: Any,
    ) -> None:
        self.given = case
        self.stepper = NetworkStepper(system, state, Method(**known(method, Method)), loads)
        self.timing = Timing(self.stepper)
        # warnings and figures of the chain kernels, where they made the motion up to a time (switching.py)
        self.earlier: tuple[list[RunWarning], dict[str, float]] = ([], {})

    @classmethod
    def at_start(cls, case: Case, *, loads: Mapping[str, Any] = NO_LAWS) -> NetworkBackend:
        """A simulation at the start of a case; its commands are not taken yet."""
        checks.instance("case", case, Case)
        with case.naming_keys():
            return cls(case.system, case.state(), loads=loads, case=case, **case.run.method())

    # -- what is known now -------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        return self.stepper.system

    @cached_property
    def case(self) -> Case:
        return case_of_run(self.given, lambda: (self.system, self.stepper.initial), self.stepper.method)

    @property
    def commands(self) -> dict[str, Command]:
        return self.stepper.commands

    @property
    def state(self) -> State:
        """The present state, as a value that another simulation can start from."""
        return state_of(self.system, self.present_sample())

    def body(self, name: str) -> dict[str, data.Array]:
        return body_in(self.system, self.present_sample(), name)

    def velocity_in(self, sample: kernels.WholeSamples, name: str) -> data.Array:
        """Velocity of a body in a single sample (m/s)."""
        return body_in(self.system, sample, name)["velocity"]

    def nodes(self, name: str) -> dict[str, data.Array]:
        return nodes_in(self.system, self.present_sample(), name)

    def deployed(self, name: str) -> float:
        return self.stepper.deployed(name)

    def reeled(self, name: str) -> float:
        return float(self.stepper.arrays.reels[self.stepper.numbers[name]][data.S])

    def speed(self, name: str) -> float:
        return float(self.present_sample().strands[0, self.stepper.numbers[name], kernels.SPEED])

    def torque(self, name: str) -> float:
        """Torque of a drum or sheave at present (N m)."""
        return float(self.present_sample().strands[0, self.stepper.numbers[name], kernels.TORQUE_NOW])

    def impulse_since(self, name: str) -> tuple[float, data.Array]:
        return acting.impulse_since(self.stepper, self.timing.now, name)

    def present_sample(self) -> kernels.WholeSamples:
        """The present state as a sample."""
        return self.stepper.sample_at(self.timing.now)

    def refresh(self) -> None:
        """Do nothing: the present state is observed whenever somebody asks."""

    def energies(self, sample: kernels.WholeSamples) -> data.Array:
        return sample.whole[0, ENERGIES]

    # -- moving on ---------------------------------------------------------------------------------------

    def own_commands(self, command: Any) -> dict[str, Command]:
        """Commands by the names of lines."""
        return commands_by_name(self.system, command)

    def check(self, command: dict[str, Command]) -> None:
        """Refuse a caller that is not the one, and a fixed step that is too long under commands that begin the run."""
        self.stepper.turns.check()
        self.stepper.check_step(command)

    def take(self, command: dict[str, Command]) -> None:
        """Let reels follow commands from now on."""
        take(self.stepper, command)
        self.stepper.check_step()
        if not self.stepper.health.begun:
            self.first_sample()

    def room(self, rows: int) -> kernels.WholeSamples:
        return self.stepper.samples_for(rows)

    def completed(self, times: data.Array, samples: kernels.WholeSamples) -> kernels.WholeSamples:
        """Samples as they are: the march itself finds all that is in them."""
        return samples

    def note_impulses(self) -> None:
        acting.note_impulses(self.stepper, self.timing.now)

    def kind(self) -> list[str]:
        """Lines whose reels follow a motion that is prescribed."""
        return [name for name, command in self.commands.items() if command.prescribes]

    def judge(self, times: data.Array, samples: kernels.WholeSamples, kind: list[str]) -> None:
        """Let its health see samples."""
        self.stepper.health.look(self.system, samples, times, self.stepper.method.order)
        self.stepper.health.look_at_motors(self.system, samples, kind)

    def sentence(self, status: int, plan: data.Plan) -> str:
        return sentence(ended(self.stepper, status, plan, self.timing.now))

    def go_on_from(self, state: State, time: float) -> None:
        """Go on from another state at another time (s), under the commands that were given at the start of the run.

        Kinematic bodies are where the state says, and their paths are those of the run.
        """
        self.stepper.place(state, time)
        prescribe_reels(self.stepper, self.commands, time)

    # -- actions from outside ----------------------------------------------------------------------------

    def push(
        self, name: str, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space"
    ) -> None:
        """Apply a force at the center of mass of a body (N) and a moment (N m), until others are given (`BodyView`)."""
        self.stepper.turns.check()
        check_free(self.system, name)
        checks.choice("frame", frame, acting.FRAMES)
        values = [*checks.vector("force", force, "N"), *checks.vector("moment", moment, "N m")]
        check_moment(self.system, name, values[3:])
        acting.push(self.stepper, self.timing.now, name, values, frame)

    def strike(self, name: str, impulse: data.Array, moment: data.Array) -> None:
        acting.strike(self.stepper, self.timing.now, name, impulse, moment)

    def stop_reel(self, name: str) -> None:
        acting.stop_reel(self.stepper, self.timing.now, name)

    def move(self, name: str, velocity: data.Array, angular_velocity: data.Array) -> None:
        acting.move(self.stepper, self.timing.now, name, velocity, angular_velocity)

    # -- samples -----------------------------------------------------------------------------------------

    def first_sample(self) -> kernels.WholeSamples:
        out, stepper = self.present_sample(), self.stepper
        totals, x = stepper.arrays.totals, out.whole[0]
        self.timing.note_sample()
        if not stepper.health.begun:
            totals[data.KEPT] = kept_energy(x)
            totals[data.POTENTIAL] = x[data.ELASTIC] + x[data.GRAVITY]
            totals[data.IN_PLAY] = x[data.KINETIC]
        stepper.health.look(self.system, out, np.array([self.timing.now]), self.stepper.method.order)
        return out

    def values(self, samples: kernels.WholeSamples, times: data.Array, names: set[str] | None = None) -> Values:
        """Variables of the results from samples."""
        return values_of(self.system, samples, times)

    def values_for(
        self, times: data.Array, samples: kernels.WholeSamples, names: set[str], line: str | None = None
    ) -> Values:
        """Variables of the results from samples as they are marched; of one line those that follow from its own."""
        if line is None:
            return values_of(self.system, samples, times)
        return values_of_line(self.system, samples, times, line)

    def figures(self) -> dict[str, float]:
        stepper, earlier = self.stepper, self.earlier[1]
        found = stepper.health.figures(self.system, stepper.plan, stepper.arrays.totals)
        return found | {name: max(x, earlier[name]) for name, x in found.items() if name in earlier}

    def warnings(self) -> list[RunWarning]:
        return list({w.text: w for w in (*self.earlier[0], *network_warnings(self.stepper))}.values())

    # -- checkpoints -------------------------------------------------------------------------------------

    def own_checkpoint(self) -> tuple[Checkpoint, dict[str, Any]]:
        stepper = self.stepper
        unknown = [name for name, k in stepper.numbers.items() if np.isnan(stepper.arrays.reels[k][data.TORQUE])]
        self._set_torques(unknown, 0.0)
        motion = stepper.saved()[0]
        self._set_torques(unknown, np.nan)
        text = {
            "commands": {name: to_keys.tagged(COMMAND, command) for name, command in self.commands.items()},
            "origins": stepper.origins,
            "shortest": stepper.shortest,
            **({"lengths": stepper.lengths} if self.system.is_reeved else {}),
            "unknown_torques": unknown,
            "pushes": {name: [x[:, 0].tolist() for x in pair] for name, pair in stepper.pushes.items()},
            "impulses": [stepper.impulses[0], stepper.impulses[1].tolist()],
            "moves": {name: motion.numbers() for name, motion in stepper.moves.items()},
            "earlier": [[_row(w) for w in self.earlier[0]], self.earlier[1]],
        }
        return Checkpoint(motion), text

    def _set_torques(self, names: list[str], torque: float) -> None:
        for name in names:
            self.stepper.arrays.reels[self.stepper.numbers[name]][data.TORQUE] = torque

    def restore(self, saved: dict[str, Any], motion: Checkpoint, commands: dict[str, Any]) -> None:
        """Go on where a checkpoint was taken, under the commands in it."""
        stepper, row = self.stepper, motion.motion
        arrays = stepper.arrays
        if arrays.size() != row.size:
            raise InputError(f"checkpoint: expected {arrays.size()} numbers, got {row.size}")
        begun = len(arrays.totals)
        plausible.check_clock(row[begun : begun + data.CLOCK_SIZE])
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
        stepper.moves = {name: motion_from(numbers) for name, numbers in saved["moves"].items()}
        rows, figures = saved["earlier"]
        self.earlier = ([RunWarning(*w[:2], *(x[0] if x else None for x in w[2:])) for w in rows], figures)
        stepper.health = NetworkHealth.from_state(saved["health"])
        for _ in range(2):  # the time is known when the motion is there, and tables are made for a time
            stepper.changed = True
            stepper.lower(self.timing.now, self.timing.now)
            stepper.call(RESTORE, self.timing.now, saved=row[None])
        if saved["status"] == errors.STATUS_NAMES[errors.RUNNING]:
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
