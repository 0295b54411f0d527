"""NetworkSimulation: a system that is advanced piece by piece. It knows nothing of files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import errors
from tautline._version import __version__
from tautline.engine import checkpoints, plausible
from tautline.engine.chain.motion import LOCATED
from tautline.engine.choose import NETWORK
from tautline.engine.conditions import Watch
from tautline.engine.health import MOST_WAITING
from tautline.engine.network.acting import ActedOnNetwork
from tautline.engine.network.health import NetworkHealth, on_line
from tautline.engine.network.samples import sentence, values_of
from tautline.engine.network.watched import WatchedNetwork
from tautline.engine.timing import STEPS_A_CALL, checked_times
from tautline.engine.warnings import stop_warnings
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.balance import kept_energy
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import (
    RESTORE,
    SAVE,
)
from tautline.model import checks, refusals
from tautline.model.description import fields_of
from tautline.model.file_keys import Tree
from tautline.model.force_law import refuse_saving
from tautline.model.run import Method, Run, known
from tautline.model.system import reading
from tautline.model.system.case import Case, timed
from tautline.model.system.commands import Commands, check_known
from tautline.model.system.sections import COMMAND
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results import network as results
from tautline.results.inputs import CASE
from tautline.results.values import Values
from tautline.results.warnings import WARNINGS, RunWarning, encoded

if TYPE_CHECKING:
    import xarray as xr

VERSION = 4
# Of the text of a checkpoint (plausible.py).
FORM = checkpoints.FORM | {
    "commands": {plausible.ANY: dict},
    "origins": {plausible.ANY: (float, float)},
    "shortest": {plausible.ANY: float},
    "unknown_torques": [str],
    "pushes": {plausible.ANY: ((float,) * 7, (float,) * 7)},
    "impulses": (float, [plausible.VECTOR]),
    "moves": {plausible.ANY: (float,) * 13},
    "earlier": ([(str, str, [float], [float], [str])], {plausible.ANY: float}),
}


class Checkpoint(NamedTuple):
    """The motion of a system, in one array."""

    motion: data.Array


class NetworkSimulation(ActedOnNetwork):
    """A system in motion, for control loops and for runs that save themselves.

    Parameters
    ----------
    system, state
        What, and from where; `hang` makes states.
    loads : dict, optional
        `ForceLaw` or several by the names of lines: forces of your own functions on the nodes of a string and a
        moment on the body at its end. Such a simulation can be neither saved nor resumed.
    **method
        `step`, `order`, `compensated`, `minimum_length`, `at_end` and `stop`, as in `Run`.

    Attributes
    ----------
    status : str
        "completed" while all is well, else the event that ended the motion.
    """

    # Samples that `health` has still to see, with the lines whose reels followed prescribed motions.
    _waiting: list[tuple[data.Array, kernels.WholeSamples, list[str]]]

    def __init__(self, system: System, state: State, *, loads: Mapping[str, Any] | None = None, **method: Any) -> None:
        self.status, self._event = errors.STATUS_NAMES[errors.RUNNING], ""
        self.health = NetworkHealth()
        super().__init__(system, state, Method(**known(method, Method)), loads)
        self._case: Case | None = None
        self.is_timed = False  # the case says how long
        # record, warnings and figures of the chain kernels, where they made the motion up to a time (switching.py)
        self._earlier: tuple[Values | None, list[RunWarning], dict[str, float]] = (None, [], {})
        self._watch = Watch(self.method.stop, self.layout) if self.method.stop else None
        self.forget_records()

    @classmethod
    def from_case(cls, case: Case, *, loads: Mapping[str, Any] | None = None) -> NetworkSimulation:
        """A simulation at the start of a case; its commands are not taken yet."""
        checks.instance("case", case, Case)
        with case.naming_keys():
            simulation = cls(case.system, case.state(), loads=loads, **case.run.method())
        simulation._case, simulation.is_timed = case.meshed(), True
        return simulation

    @property
    def health(self) -> NetworkHealth:
        """How far the motion can be trusted, by all samples up to now."""
        if self._waiting:
            waiting, self._waiting, self._rows_waiting = self._waiting, [], 0
            for led, group in groupby(waiting, key=lambda piece: piece[2]):
                times, pieces = zip(*((t, x) for t, x, _ in group), strict=True)
                samples = kernels.WholeSamples(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
                self._health.look(self.system, samples, np.concatenate(times))
                self._health.look_at_motors(self.system, samples, led)
        return self._health

    @health.setter
    def health(self, health: NetworkHealth) -> None:
        self._health = health
        self._waiting, self._rows_waiting = [], 0

    @property
    def time(self) -> float:
        """Simulated time (s); of a motion that an event ended, that of the event."""
        if self.status in LOCATED:
            return float(self.arrays.totals[data.STOP_TIME])
        return self.counted_time

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        return float(self.present_sample().whole[0, [data.KINETIC, data.ELASTIC, data.GRAVITY]].sum())

    @property
    def message(self) -> str:
        """How it stands, as a sentence."""
        return self._event or f"completed at t = {self.time:.6g} s"

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
            By the names of lines: a command, or a torque (N m). Reels that are not named go on as before; at first
            they are locked.
        sample : float, optional
            Interval between recorded states (s); by default only the end is recorded.
        record : bool
            Keep the states for `dataset`.
        """
        if self.status != errors.STATUS_NAMES[errors.RUNNING]:
            return self.status
        with self.turns:
            rows = self.begin(commands, duration, duration if sample is None else sample)
            if not self._health.begun or (record and not self._times):
                first = self.first_sample()
                if record:
                    self.keep(first)
            plan = self.sampling(duration if sample is None else sample)
            piece, done = max(1, STEPS_A_CALL // plan.steps_per_sample), 0
            while done < rows and self.status == errors.STATUS_NAMES[errors.RUNNING]:
                count = min(piece, rows - done)
                self.march(count, plan, record)
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
        self._note_impulses()
        if not self._plan.adaptive and self.steps == 0:
            self._check_step()
        return rows

    def march(self, rows: int, plan: data.Plan, record: bool = False) -> kernels.WholeSamples:
        """March for `rows` samples, which may be recorded; fewer if an event ends the motion.

        If an interrupt or an error of a force law ends the march, the motion is left at its latest sample.
        """
        out = self.samples_for(rows)
        begun = int(self.arrays.clock[data.STEP])
        strand = -1
        before = None if self._watch is None else self.saved()
        try:
            if self._watch is None:
                status, filled, strand, _ = self.march_into(out, plan)
            else:
                watched = WatchedNetwork(self)
                if self.steps == 0:
                    self._watch.check_start(watched, self.present_sample())
                status, filled = self._watch.march(watched, out, plan)
                strand = watched.strand
        except BaseException:
            if before is not None and self._watch is not None:
                self.put_back(before)
                self._watch.met = None
            filled = (int(self.arrays.clock[data.STEP]) - begun) // plan.steps_per_sample
            self._note(out, begun, errors.RUNNING, filled, strand, plan, record)
            raise
        return self._note(out, begun, status, filled, strand, plan, record)

    def _note(
        self, out: Any, begun: int, status: int, filled: int, strand: int, plan: data.Plan, record: bool
    ) -> kernels.WholeSamples:
        samples = self.marched(out, begun, status, filled, strand, plan)
        if record:
            self.keep(samples)
        return samples

    def marched(
        self, out: kernels.WholeSamples, begun: int, status: int, filled: int, strand: int, plan: data.Plan
    ) -> kernels.WholeSamples:
        """Take note of a march that began at a step; its samples, fewer if an event ended the motion."""
        done = kernels.WholeSamples(*(array[:filled] for array in out))
        counts = begun + plan.steps_per_sample * np.arange(1, filled + 1, dtype=np.float64)
        self._marched = self.arrays.totals[data.T_START] + counts * plan.h
        self._waiting.append((self._marched, done, self._led()))
        self._rows_waiting += filled
        if self._rows_waiting >= MOST_WAITING:
            _ = self.health
        if status != errors.RUNNING:
            self.status = errors.STATUS_NAMES[int(status)]
            self._event = self._sentence(int(status), int(strand), plan)
        return done

    def _led(self) -> list[str]:
        """Lines whose reels follow a motion that is prescribed."""
        return [name for name, command in self._commands.items() if command.prescribes]

    def _sentence(self, status: int, strand: int, plan: data.Plan) -> str:
        """What ended the motion, when, and what to do about it."""
        if self._watch is not None and self._watch.met is not None:
            return f"stopped at t = {self.time:.6g} s: {self._watch.met.sentence()}"
        name = list(self.system.lines)[strand] if strand >= 0 else ""
        step = plan.h / 2**self.halvings
        out = self.deployed(name) if name else 0.0
        return sentence(status, self.time, name, out, step, self.limits().waves, plan.adaptive)

    def take_over(self, record: Values | None, warnings: list[RunWarning], figures: dict[str, float]) -> None:
        """Go on with the record, warnings and figures of another backend."""
        self._earlier = (record, warnings, figures)
        if record is not None:  # the present state is its last sample
            first = self.first_sample()
            self._times, self._pieces = [self._marched[:0]], [kernels.WholeSamples(*(x[:0] for x in first))]

    # -- samples -----------------------------------------------------------------------------------------

    def first_sample(self) -> kernels.WholeSamples:
        """The present state as a sample, for the beginning of a record."""
        out = self.present_sample()
        self._marched = np.array([self.time])
        totals, x = self.arrays.totals, out.whole[0]
        if not self.health.begun:
            totals[data.KEPT] = kept_energy(x)
            totals[data.POTENTIAL] = x[data.ELASTIC] + x[data.GRAVITY]
            totals[data.IN_PLAY] = x[data.KINETIC]
        self.health.look(self.system, out, self._marched)
        return out

    def keep(self, samples: kernels.WholeSamples) -> None:
        """Record the latest samples."""
        self._times.append(self._marched)
        self._pieces.append(samples)

    def values(self, samples: kernels.WholeSamples, times: data.Array | None = None) -> Values:
        """Variables of the results from samples, the latest ones if no times are given."""
        return values_of(self.system, samples, self._marched if times is None else times)

    def present_values(self) -> Values:
        """Variables of the present state."""
        return self.values(self.present_sample(), np.array([self.time]))

    def recorded(self) -> Values:
        """Variables of all that was recorded."""
        self.turns.check()
        if not self._times:
            self.keep(self.first_sample())
        pieces = kernels.WholeSamples(*(np.concatenate(arrays) for arrays in zip(*self._pieces, strict=True)))
        found, earlier = self.values(pieces, np.concatenate(self._times)), self._earlier[0]
        return found if earlier is None else {name: np.concatenate([earlier[name], x]) for name, x in found.items()}

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        return results.build(self.system, self.recorded(), self.attributes())

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on reels at their stops."""
        reels = zip(self.system.lines, self.arrays.reels, strict=True)
        own = [w for name, reel in reels for w in on_line(self.system, name, stop_warnings(reel))]
        own += self.health.warnings(self.system, self.arrays.totals, self._plan.adaptive)
        return list({w.text: w for w in (*self._earlier[1], *own)}.values())

    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name."""
        self.turns.check()
        found, earlier = self.health.figures(self.arrays.totals), self._earlier[2]
        return found | {name: max(x, earlier[name]) for name, x in found.items() if name in earlier}

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        return {
            "status": self.status,
            "message": self.message,
            WARNINGS: encoded(self.warnings()),
            "end_time": self.time,
            "step": self._plan.h / 2**self.halvings,
            "steps": self.steps,
            "newton_iterations": int(self.arrays.clock[data.ITERATIONS]),
            **self.figures(),
            "order": self.method.order,
            "version": __version__,
            CASE: json.dumps(self.description()),
        }

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        return self._as_case().to_dict()

    def _as_case(self) -> Case:
        """The case that it was made from, or one of the same system, start and commands."""
        if self._case is not None:
            return self._case if self.is_timed else timed(self._case.with_(commands=self._commands), self.time)
        method = {name: getattr(self.method, name) for name in fields_of(Method)}
        return timed(Case(self.system, self.initial, self._commands, Run(duration=1.0, **method)), self.time)

    # -- checkpoints -------------------------------------------------------------------------------------

    def checkpoint(self) -> tuple[Checkpoint, str]:
        """All that the future depends on: an array, and a JSON text."""
        for name in self.functions:
            raise refusals.SAVED_TORQUE.error("a function", at=f"lines.{name}: ")
        if any(condition.is_function for condition in self.method.stop):
            raise refusals.SAVED_CONDITION.error("a function")
        refuse_saving([law.law for laws in self.laws.values() for law in laws])
        motion = np.zeros(self.arrays.size())
        unknown = [name for name, k in self._numbers.items() if np.isnan(self.arrays.reels[k][data.TORQUE])]
        self._set_torques(unknown, 0.0)
        self.call(SAVE, saved=motion[None])
        self._set_torques(unknown, np.nan)
        text = {
            "checkpoint": VERSION,
            "backend": NETWORK,
            CASE: self.description(),
            "is_timed": self.is_timed,
            "started": self._started,
            "status": self.status,
            "event": self._event,
            "h": self._plan.h,
            "base_steps": [[interval, count] for interval, count in self.base_steps.items()],
            "commands": {name: reading.tagged(COMMAND, command) for name, command in self._commands.items()},
            "origins": self._origins,
            "shortest": self._shortest,
            "unknown_torques": [
                name for name, k in self._numbers.items() if np.isnan(self.arrays.reels[k][data.TORQUE])
            ],
            "pushes": {name: [x[:, 0].tolist() for x in pair] for name, pair in self._pushes.items()},
            "impulses": [self._impulses[0], self._impulses[1].tolist()],
            "moves": {name: table[:, 0].tolist() for name, table in self._moves.items()},
            "earlier": [[_row(w) for w in self._earlier[1]], self._earlier[2]],
            "health": self.health.state(),
        }
        return Checkpoint(motion), json.dumps(text)

    def _set_torques(self, names: list[str], torque: float) -> None:
        for name in names:
            self.arrays.reels[self._number(name)][data.TORQUE] = torque

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint (not the recorded states): one npz file of plain arrays, replaced as a whole."""
        motion, text = self.checkpoint()
        checkpoints.write(path, motion._asdict(), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NetworkSimulation:
        """Go on from a checkpoint written by `save`, bit for bit."""
        return checkpoints.loaded(path, lambda arrays, text: cls.from_checkpoint(Checkpoint(**arrays), text))

    @classmethod
    def from_checkpoint(cls, motion: Checkpoint, text: str) -> NetworkSimulation:
        """A simulation that goes on exactly where a checkpoint was taken."""
        saved = json.loads(text)
        checkpoints.check(saved, motion._asdict(), VERSION, FORM)
        simulation = cls.from_case(Case.from_dict(saved[CASE]))
        simulation.is_timed = saved["is_timed"]
        simulation._restore(saved, motion.motion)
        return simulation

    def _restore(self, saved: dict[str, Any], motion: data.Array) -> None:
        if self.arrays.size() != motion.size:
            raise InputError(f"checkpoint: expected {self.arrays.size()} numbers, got {motion.size}")
        plausible.check_steps(saved, self._plan)
        begun = len(self.arrays.totals)
        plausible.check_clock(motion[begun : begun + data.CLOCK_SIZE])
        for kind in ("commands", "origins", "shortest", "unknown_torques"):
            for name in saved[kind]:
                check_known(name, self._shortest, "lines")
        for name in (*saved["pushes"], *saved["moves"]):
            check_known(name, self.system.bodies, "bodies")
        plausible.check_form("impulses", saved["impulses"][1], (plausible.VECTOR,) * len(self.arrays.names))
        self._plan = self._plan._replace(h=saved["h"])
        self.base_steps = dict(saved["base_steps"])
        self._started, self.status, self._event = saved["started"], saved["status"], saved["event"]
        self._commands = {name: reading.command(x) for name, x in saved["commands"].items()}
        self._origins = {name: (x[0], x[1]) for name, x in saved["origins"].items()}
        self._shortest = saved["shortest"]
        self._pushes = {
            name: (np.array(space)[:, None], np.array(own)[:, None]) for name, (space, own) in saved["pushes"].items()
        }
        self._impulses = (saved["impulses"][0], np.array(saved["impulses"][1]))
        self._moves = {name: np.array(table)[:, None] for name, table in saved["moves"].items()}
        rows, figures = saved["earlier"]
        self._earlier = (None, [RunWarning(*row[:2], *(x[0] if x else None for x in row[2:])) for row in rows], figures)
        self.health = NetworkHealth.from_state(saved["health"])
        for _ in range(2):  # the time is known when the motion is there, and tables are made for a time
            self._changed = True
            self._lower(self.time, self.time)
            self.call(RESTORE, self.time, saved=motion[None])
        if self.status == errors.STATUS_NAMES[errors.RUNNING]:
            self._check_restored(plausible.longest_step(saved))
        self._set_torques(saved["unknown_torques"], np.nan)

    def _check_restored(self, longest: float) -> None:
        """Refuse a motion that cannot be."""
        for line, reel in zip(self.system.lines.values(), self.arrays.reels, strict=True):
            plausible.check_reel(reel, longest, line.string.length)
        for state in self.arrays.bodies:
            plausible.check_attitude(state[data.ATTITUDE : data.ATTITUDE + 4])
        limits = self.limits()
        plausible.check_counts(self.base_steps, min(self._plan.allowed_ratio * limits.waves, limits.stretching))
        plausible.check_energies(self.present_sample().whole[0, [data.KINETIC, data.ELASTIC, data.GRAVITY]])


def _row(warning: RunWarning) -> list[Any]:
    """A warning in a checkpoint; what it does not have is an empty list."""
    rest = (warning.value, warning.limit, warning.where)
    return [warning.kind, warning.text, *([] if x is None else [x] for x in rest)]
