"""A simulation in real time, and what the pages that watch it may ask of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline._version import __version__
from tautline.arrays import Array
from tautline.durable import unused
from tautline.errors import InputError, TautlineError
from tautline.files import runs
from tautline.model import checks
from tautline.model.command import Command, Free, Torque
from tautline.model.system.case import Case
from tautline.viewer.curves import CHANGES
from tautline.viewer.driven import Driven, ramp_to
from tautline.viewer.hands import Hands
from tautline.viewer.limits import limits_of
from tautline.viewer.messages import check_size, chosen, switch, within
from tautline.viewer.payload import frames_of, ranges_of, scene
from tautline.viewer.pilot import Control, Pilot

STATES_A_SECOND = 60.0
UNITS = 20  # parts of the interval between samples, where the step may be any: the slowest rate makes one at a time
# Samples in memory while recording: ten minutes of them, some 60 MB at 20 elements.
MOST_RECORDED = int(600 * STATES_A_SECOND)
REMEMBERED = int(60 * STATES_A_SECOND)  # rows of curves for pages that come later


class Session:
    """The simulation and what the viewers have asked of it."""

    def __init__(self, case: Case, title: str, record: Path | None = None, control: Control | None = None) -> None:
        self.case, self._control = case, control
        self.title = title
        self.record_path = record or Path(f"{title}-live.nc")
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
        self._first = self._curves(self._values)[0, 1:]
        self._history: deque[Array] = deque(self._rows(self._values), maxlen=REMEMBERED)
        self._fresh: list[Array] = []
        self._phase = 0  # units since the latest sample
        self._untouched = set(self.driven.commands)
        self._hands = Hands(self.driven)
        self._pilot = None if self._control is None else Pilot(self.driven, self._control, self._unit)
        self._say("")

    def _say(self, message: str, level: str = "info") -> None:
        self.message, self.level = message, level

    @property
    def ended(self) -> bool:
        return self.simulation.status != "completed"

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
        if self.ended:
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
            self._fresh += self._rows(self._values)
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
        self._hands.act(count * unit, self._values)
        before = self.simulation.time
        self._values = self.driven.march(
            count * unit, min(count, whole) * unit, sampled and self._recording is not None
        )
        self._phase = (self._phase + count) % whole
        rows = self._rows(self._values)
        if sampled and self.simulation.time > before:
            self._history.extend(rows)
            self._recorded += len(rows) if self._recording is not None else 0
        self._fresh += rows
        return count

    def _end_scenario(self) -> None:
        """Hold the drums that nobody has driven when the scenario is over: the run goes on until it is stopped."""
        if (
            self._pilot is not None
            or not self._untouched
            or self.simulation.time < self.case.run.duration
            or self.ended
        ):
            return
        turning = [name for name in self._untouched if self.driven.mode(name) != "locked"]
        for name in turning:
            self.driven.lock(name)
        self._untouched.clear()
        if turning:
            self._say(f"the scenario has ended at {self.case.run.duration:g} s: drums are held, and yours to drive")

    # -- what viewers ask ------------------------------------------------------------------------------

    def obey(self, message: Any) -> None:
        """Carry out a message of the page; InputError says why not."""
        if not isinstance(message, dict):
            raise InputError("message: expected an object with a type")
        kind = message.get("type")
        acts: dict[str, Callable[[dict[str, Any]], None]] = {
            "lock": lambda m: self._lock(self._reel(m)),
            "free": lambda m: self._drive(self._reel(m), Free()),
            "torque": lambda m: self._drive(self._reel(m), Torque(self._asked(m, "torque"))),
            "speed": lambda m: self._wind(self._reel(m), self._asked(m, "speed")),
            "pause": lambda m: self._pause(m.get("on")),
            "rate": lambda m: self._set_rate(within("value", m.get("value"), *self._limits["rate"])),
            "reset": lambda m: self._restart(),
            "pull": lambda m: self._pull(m),
            "steer": lambda m: self._steer(m),
            "impulse": lambda m: self._impulse(m),
            "record": lambda m: self._record(m.get("on")),
        }
        if not isinstance(kind, str) or kind not in acts:
            raise InputError(f"type: expected one of {', '.join(acts)}, got {str(kind)[:40]!r}")
        acts[kind](message)

    def _reel(self, message: Mapping[str, Any]) -> str:
        """The reel that a message is for, by the name of its line; the only one if it names none."""
        return chosen("line", message, self._limits["reels"])

    def _asked(self, message: Mapping[str, Any], kind: str) -> float:
        return within("value", message.get("value"), *self._limits["reels"][self._reel(message)][kind])

    def _wind(self, name: str, speed: float) -> None:
        """Retrieve at a speed."""
        self._drive(name, ramp_to(speed, self.simulation.time, self.driven.reel_speed(name)))

    def _drive(self, name: str, command: Command) -> None:
        self._refuse_if_ended()
        self._untouched.discard(name)
        self.driven.commands[name] = command

    def _refuse_if_ended(self) -> None:
        if self.ended:
            raise InputError("the run has ended; reset to start again")

    def _lock(self, name: str) -> None:
        self._refuse_if_ended()
        self._untouched.discard(name)
        self._say(self.driven.lock(name))

    def _pause(self, on: Any) -> None:
        self.paused = switch(on)

    def _set_rate(self, rate: float) -> None:
        self.rate = rate

    def _restart(self) -> None:
        if self._recording is not None:
            self._stop_recording("the recording was saved")
        self.reset()

    def _impulse(self, message: Mapping[str, Any]) -> None:
        self._refuse_if_ended()
        size = checks.array("impulse", message.get("impulse"), (3,), "N s")
        name = chosen("body", message, self._limits["impulses"])
        check_size("impulse", size, self._limits["impulses"][name], "N s")
        self.driven.strike(name, size)
        self._values = self.driven.values()

    def _pull(self, message: Mapping[str, Any]) -> None:
        """Pull a body to a place, or let it go."""
        self._refuse_if_ended()
        name = chosen("body", message, self._limits["impulses"])
        to = message.get("to")
        self._hands.pull(name, None if to is None else checks.array("to", to, (3,), "m"))

    def _steer(self, message: Mapping[str, Any]) -> None:
        """Let the reels that hold a body move it."""
        self._refuse_if_ended()
        name = chosen("body", message, self._limits["steered"])
        velocity = checks.array("velocity", message.get("velocity"), (3,), "m/s")
        check_size("velocity", velocity, self._limits["steered"][name], "m/s")
        self._untouched.clear()
        self._hands.steer(name, velocity)

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
        backend: Any = self.simulation.backend  # its samples are of its own kind
        backend.forget_records()
        backend.keep(backend.first_sample())

    def _stop_recording(self, message: str) -> None:
        """Write what was recorded; a failure is reported, and costs only the recording."""
        path, self._recording = self._recording, None
        if path is None:
            return
        try:
            rows = runs.save_run(path, self.simulation.backend, title=f"{self.title}, live")
            self._say(f"{message}: {path}, {rows} samples")
        except TautlineError as error:
            self._say(f"the recording was lost: {error}", "warning")
        self.simulation.backend.forget_records()

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
        return about | scene(subject, sight.nodes, sight.box, ranges_of(self._values, subject))

    def status(self) -> dict[str, Any]:
        return {
            "running": not self.paused and not self.ended,
            "paused": self.paused,
            "ended": self.ended,
            "reels": {name: self._reel_status(name) for name in self.driven.commands},
            "rate": self.rate,
            "achieved": round(self.achieved, 3),
            "recording": None if self._recording is None else str(self._recording),
            "message": self.message,
            "level": self.level,
        }

    def _reel_status(self, name: str) -> dict[str, Any]:
        driven = self.driven
        return {
            "mode": driven.mode(name),
            "torque": driven.torque(name),
            "speed": driven.reel_speed(name),
            "hold": driven.hold(name),
        }

    def _curves(self, values: Mapping[str, Array]) -> Array:
        """Times and curves of some samples, a row each."""
        return np.stack([values["time"], *(curve.made(values) for curve in self.driven.subject.curves)], axis=1)

    def _rows(self, values: Mapping[str, Array]) -> list[Array]:
        """The same, as they are shown."""
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
        frame = frames_of(self._last(), self.driven.subject)[0]
        return np.concatenate([*rows, frame]).astype("<f8").tobytes()
