"""A simulation in real time, and what the pages that watch it may ask of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tautline._version import __version__
from tautline.arrays import Array
from tautline.durable import check_writable, unused
from tautline.errors import InputError, TautlineError
from tautline.files import runs
from tautline.model import checks
from tautline.model.system.case import Case
from tautline.viewer.alarm import Alarm
from tautline.viewer.curves import CHANGES
from tautline.viewer.driven import Driven
from tautline.viewer.drives import Drive
from tautline.viewer.hands import Hands
from tautline.viewer.limits import limits_of
from tautline.viewer.messages import switch, within
from tautline.viewer.payload import frames_of, ranges_of, scene
from tautline.viewer.pilot import Control, Pilot
from tautline.viewer.requests import Requests

STATES_A_SECOND = 60.0
UNITS = 20  # parts of the interval between samples, where the step may be any: the slowest rate makes one at a time
# Samples in memory while recording: ten minutes of them, some 60 MB at 20 elements.
NEWS = 6.0  # s for which a message is shown
MOST_RECORDED = int(600 * STATES_A_SECOND)
REMEMBERED = int(60 * STATES_A_SECOND)  # rows of curves for pages that come later


class Session:
    """The simulation and what the viewers have asked of it."""

    def __init__(
        self,
        case: Case,
        name: str,
        record: Path | None = None,
        control: Control | None = None,
        alarm: float | None = None,
    ) -> None:
        if record is not None:
            check_writable(record)
        self.case, self._control = case, control
        self._alarm = Alarm(alarm)
        # a program begins when somebody is ready for it
        self.waiting = control is None and any(command.moves for command in case.commands.values())
        self.title = case.title or name
        self.record_path = record or Path(f"{name}-live.nc")
        self.rate = 1.0
        self.paused = False
        self.achieved = 1.0
        self.message, self.level = "", "info"
        self._recorded = 0
        self._recording: Path | None = None
        self.reset()

    def reset(self) -> None:
        """Back to the beginning."""
        self.driven = Driven(self.case)
        self.simulation = self.driven.simulation
        self._sight = self.driven.sight()
        self._values = self.driven.values()
        self._limits = limits_of(self.driven, self._sight)
        self._ranges = ranges_of(self._values, self.driven.subject)
        self._first = self._curves(self._values)[0, 1:]
        self._history: deque[Array] = deque(self._rows(self._values), maxlen=REMEMBERED)
        self._fresh: list[Array] = []
        self._phase = 0  # units since the latest sample
        self._untouched = set(self.driven.drives)
        self._program = any(drive.command.moves for drive in self.driven.drives.values())
        self._alarm.clear()
        self._hands = Hands(self.driven)
        self._requests = Requests(self.driven, self._hands, self._limits, self._untouched)
        self._pilot = None if self._control is None else Pilot(self.driven, self._control, self._unit)
        self._say("")

    def _say(self, message: str, level: str = "info") -> None:
        self.message, self.level, self._said_at = message, level, perf_counter()

    def _forget(self) -> None:
        """Take back what is no news any more."""
        if self.message and self.level == "info" and perf_counter() - self._said_at > NEWS:
            self._say("")

    @property
    def ended(self) -> bool:
        return self.simulation.status != "completed"

    @property
    def moving(self) -> bool:
        """Whether time goes on."""
        return not (self.paused or self.waiting or self.ended)

    # -- moving on -------------------------------------------------------------------------------------

    @property
    def _unit(self) -> float:
        """Simulated time that all pieces are multiples of: a step, or a part of the interval (s)."""
        step = self.case.run.step
        return 1.0 / STATES_A_SECOND / UNITS if isinstance(step, str) else step

    @property
    def _interval(self) -> int:
        """Units between two samples: as near to a sixtieth of a second as can be, at any rate."""
        return max(1, round(1.0 / STATES_A_SECOND / self._unit))

    @property
    def interval(self) -> float:
        """Simulated time between two samples of curves and recordings (s)."""
        return self._interval * self._unit

    @property
    def _tick(self) -> int:
        interval = self._interval
        return interval * round(self.rate) if self.rate >= 1.0 else max(1, round(self.rate * interval))

    @property
    def tick(self) -> float:
        """Simulated time between two states (s)."""
        return self._tick * self._unit

    def advance(self) -> bool:
        """Advance by one state; returns whether something moved."""
        if self.ended or self.waiting:
            return False
        left = self._tick
        try:
            while left > 0 and not self.ended:
                left -= self._march(left)
        except TautlineError as error:
            # a guard that speaks before a step is made: say so, and hold still
            self.paused = True
            self._say(str(error), "warning")
            return False
        self._end_scenario()
        if self._recorded >= MOST_RECORDED:
            self._stop_recording("the recording is full and was saved")
        if self.ended:
            self._values = self.driven.values()
            rows = self._rows(self._values)
            if not self._fresh or rows[-1][0] > self._fresh[-1][0]:
                self._fresh += rows
            ended = f"{self.simulation.message}. Reset to start again."
            if self._recording is not None:
                self._stop_recording("the recording was saved")
                ended = f"{ended} {self.message[:1].upper()}{self.message[1:]}"
            self._say(ended, "warning")
        return True

    def _march(self, most: int) -> int:
        """Move on by some units, at most so many, to the next sample or over several; how many."""
        whole, unit = self._interval, self._unit
        count = min(most, whole - self._phase)
        if self._pilot is not None:
            count = self._pilot.act(count, self._untouched)
        elif self._phase == 0 and most > whole and not self._hands.busy:
            count = most // whole * whole
        sampled = (self._phase + count) % whole == 0
        for text in self.driven.watch(count * unit):
            self._say(text)
        self._hands.act(count * unit, self._values)
        before = self.simulation.time
        self._values = self.driven.march(
            count * unit, min(count, whole) * unit, sampled and self._recording is not None
        )
        for text in self.driven.rest():
            self._say(text)
        self._phase = (self._phase + count) % whole
        self._alarm.watch(self._values, self.driven.subject)
        rows = self._rows(self._values)
        if sampled and self.simulation.time > before:
            self._history.extend(rows)
            self._recorded += len(rows) if self._recording is not None else 0
        self._fresh += rows
        return count

    def _end_scenario(self) -> None:
        """Let drums that nobody has driven come to rest when the scenario is over; the run goes on."""
        if (
            self._pilot is not None
            or not self._untouched
            or self.simulation.time < self.case.run.duration
            or self.ended
        ):
            return
        turning = [drive for drive in self.driven.drives.values() if drive.name in self._untouched]
        turning = [drive for drive in turning if drive.mode != "locked"]
        for drive in turning:
            drive.wind(0.0)
        self._untouched.clear()
        if turning:
            self._say(f"The program has ended at {self.case.run.duration:g} s: the drums come to rest, and are yours.")

    # -- what viewers ask ------------------------------------------------------------------------------

    def obey(self, message: Any) -> None:
        """Carry out a message of the page; InputError says why not."""
        if not isinstance(message, dict):
            raise InputError("message: expected an object with a type")
        kind = message.get("type")
        acts: dict[str, Callable[[dict[str, Any]], None]] = {
            "pause": lambda m: self._pause(m.get("on")),
            "rate": lambda m: self._set_rate(within("value", m.get("value"), *self._limits["rate"])),
            "reset": lambda m: self._restart(),
            "record": lambda m: self._record(m.get("on")),
            "alarm": self._set_alarm,
        }
        if isinstance(kind, str) and kind in self._requests.acts:
            self._refuse_if_ended()
            self._requests.acts[kind](message)
            self.waiting = False
            if kind == "impulse":
                self._values = self.driven.values()
        elif isinstance(kind, str) and kind in acts:
            acts[kind](message)
        else:
            raise InputError(
                f"type: expected one of {', '.join((*self._requests.acts, *acts))}, got {str(kind)[:40]!r}"
            )

    def _set_alarm(self, message: Mapping[str, Any]) -> None:
        """Tell when a tension is above a limit; None tells of none."""
        limit = message.get("value")
        self._alarm = Alarm(None if limit is None else checks.positive("value", limit, "N"))

    def _refuse_if_ended(self) -> None:
        if self.ended:
            raise InputError("the run has ended; reset to start again")

    def _pause(self, on: Any) -> None:
        self.paused = switch(on)
        self.waiting = self.waiting and self.paused

    def _set_rate(self, rate: float) -> None:
        self.rate = rate

    def _restart(self) -> None:
        if self._recording is not None:
            self._stop_recording("the recording was saved")
        self.waiting = False
        self.reset()

    def _record(self, on: Any) -> None:
        if not switch(on):
            if self._recording is None:
                raise InputError("record: nothing is being recorded")
            self._stop_recording("the recording was saved")
            return
        if self._recording is not None:
            raise InputError("record: a recording is going on")
        self._refuse_if_ended()
        self._recording = unused(self.record_path)
        self._recorded = self._phase = 0
        runner = self.simulation.runner
        runner.recorder.forget()
        runner.keep(runner.first_sample())

    def _stop_recording(self, message: str) -> None:
        """Write what was recorded; a failure is reported, and costs only the recording."""
        path, self._recording = self._recording, None
        if path is None:
            return
        try:
            rows = runs.save_run(path, self.simulation.runner, title=f"{self.title}, live")
            self._say(f"{message}: {path}, {rows} samples")
        except TautlineError as error:
            self._say(f"the recording was lost: {error}", "warning")
        self.simulation.runner.recorder.forget()

    def close(self) -> None:
        """Keep what is being recorded."""
        self._stop_recording("the recording was saved")

    # -- reports to viewers ---------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        sim, subject, sight = self.simulation, self.driven.subject, self._sight
        about = {
            "title": self.title,
            "status": sim.status,
            "message": sim.message,
            "warnings": [],
            "version": __version__,
            "samples": 0,
            "start": 0.0,
            "end": 0.0,
            "interval": self.interval,
            "limits": self._limits,
        }
        return about | scene(subject, sight.nodes, sight.box, self._ranges)

    def status(self) -> dict[str, Any]:
        self._forget()
        return {
            "running": self.moving,
            "paused": self.paused,
            "waiting": self.waiting,
            "ended": self.ended,
            "reels": {name: self._reel_status(drive) for name, drive in self.driven.drives.items()},
            "alarm": self._alarm.status(),
            "ranges": self._ranges,
            "rate": self.rate,
            "achieved": round(self.achieved, 3),
            "recording": None if self._recording is None else str(self._recording),
            "message": self.message,
            "level": self.level,
        }

    def _reel_status(self, drive: Drive) -> dict[str, Any]:
        return {
            "mode": drive.mode,
            "program": self._program and drive.name in self._untouched,
            "torque": drive.torque,
            "speed": drive.speed,
            "target": drive.target,
            "deployed": drive.deployed,
            "length": drive.length,
            "hold": self.driven.hold(drive.name),
            "end": drive.stopped_at,
        }

    def _curves(self, values: Mapping[str, Array]) -> Array:
        """Times and curves of some samples, a row each."""
        return np.stack([values["time"], *(curve.made(values) for curve in self.driven.subject.curves)], axis=1)

    def _rows(self, values: Mapping[str, Array]) -> list[Array]:
        """Values as they are shown."""
        rows = self._curves(values)
        for i, curve in enumerate(self.driven.subject.curves):
            if curve.name in CHANGES:
                rows[:, 1 + i] -= self._first[i]
        return list(rows)

    def state(self) -> bytes:
        """The latest rows of curves, and the present state as the page wants it."""
        rows, self._fresh = self._fresh or self._rows(self._last()), []
        return self._packed(rows)

    def past(self) -> bytes:
        """All rows of curves that are remembered, and the present state: for a page that comes later."""
        now = self._rows(self._last())
        return self._packed([row for row in self._history if row[0] < now[0][0]] + now)

    def _last(self) -> dict[str, Array]:
        return {name: x[-1:] for name, x in self._values.items()}

    def _packed(self, rows: list[Array]) -> bytes:
        last, subject = self._last(), self.driven.subject
        # of colors, which are the same on every page
        self._ranges = {
            name: [min(low, self._ranges[name][0]), max(high, self._ranges[name][1])]
            for name, (low, high) in ranges_of(last, subject).items()
        }
        frame = frames_of(last, subject)[0]
        return np.concatenate([*rows, frame]).astype("<f8").tobytes()
