"""A simulation in real time, and what the pages that watch it may ask of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError, TautlineError
from tautline.files import runs
from tautline.model import checks
from tautline.model.assembly.case import AssemblyCase
from tautline.model.case import Case
from tautline.model.command import Command, Free, Torque
from tautline.model.wording import near
from tautline.viewer.curves import CHANGES
from tautline.viewer.driven import deployed, driven, ramp_to
from tautline.viewer.payload import frames_of, scene

STATES_A_SECOND = 60.0
RATES = (0.05, 20.0)
# Samples in memory while recording: ten minutes of states, some 60 MB at 20 elements.
MOST_RECORDED = int(600 * STATES_A_SECOND)


class Session:
    """The simulation and what the viewers have asked of it."""

    def __init__(self, case: Case | AssemblyCase, title: str, record: Path | None = None) -> None:
        self.case = case
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
        self.driven = driven(self.case)
        self.simulation = self.driven.simulation
        self._sight = self.driven.sight()
        self._limits = self._find_limits()
        self._first: Array | None = None
        self._say("")

    def _say(self, message: str, level: str = "info") -> None:
        self.message, self.level = message, level

    @property
    def ended(self) -> bool:
        return self.simulation.status != "completed"

    @property
    def tick(self) -> float:
        """Simulated time between two states: whole steps, as near to the frame rate as can be."""
        wanted = self.rate / STATES_A_SECOND
        step = self.simulation.method.step
        return wanted if isinstance(step, str) else max(1, round(wanted / step)) * step

    def advance(self) -> bool:
        """Advance by one state; returns whether something moved."""
        if self.ended:
            return False
        recording = self._recording is not None
        try:
            status = self.driven.advance(self.tick, recording)
        except TautlineError as error:
            # a guard that speaks before a step is made: say so, and hold still
            self.paused = True
            self._say(str(error), "warning")
            return False
        if recording:
            self._recorded += 1
            if self._recorded >= MOST_RECORDED:
                self._stop_recording("the recording is full and was saved")
        if status != "completed":
            ended = f"{self.simulation.message}. Reset to start again."
            if self._recording is not None:
                self._stop_recording("the recording was saved")
                ended = f"{ended} {self.message[:1].upper()}{self.message[1:]}"
            self._say(ended, "warning")
        return True

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
            "rate": lambda m: self._set_rate(_within("value", m.get("value"), *RATES)),
            "reset": lambda m: self._restart(),
            "impulse": lambda m: self._impulse(m),
            "record": lambda m: self._record(m.get("on")),
        }
        if not isinstance(kind, str) or kind not in acts:
            raise InputError(f"type: expected one of {', '.join(acts)}, got {str(kind)[:40]!r}")
        acts[kind](message)

    def _reel(self, message: Mapping[str, Any]) -> str:
        """The reel that a message is for, by the name of its string; the first one if it names none."""
        return _chosen("string", message, self._limits["reels"])

    def _asked(self, message: Mapping[str, Any], kind: str) -> float:
        return _within("value", message.get("value"), *self._limits["reels"][self._reel(message)][kind])

    def _wind(self, name: str, speed: float) -> None:
        """Retrieve at a speed."""
        self._drive(name, ramp_to(speed, self.simulation.time, self.driven.reel_speed(name)))

    def _drive(self, name: str, command: Command) -> None:
        self._refuse_if_ended()
        self.driven.commands[name] = command

    def _refuse_if_ended(self) -> None:
        if self.ended:
            raise InputError("the run has ended; reset to start again")

    def _lock(self, name: str) -> None:
        self._refuse_if_ended()
        remark = self.driven.lock(name)
        if remark:
            self._say(remark)

    def _pause(self, on: Any) -> None:
        self.paused = _switch(on)

    def _set_rate(self, rate: float) -> None:
        self.rate = rate

    def _restart(self) -> None:
        if self._recording is not None:
            self._stop_recording("the recording was saved")
        self.reset()

    def _impulse(self, message: Mapping[str, Any]) -> None:
        self._refuse_if_ended()
        size = checks.array("impulse", message.get("impulse"), (3,), "N s")
        name = _chosen("body", message, self._limits["impulses"])
        greatest = self._limits["impulses"][name]
        if np.linalg.norm(size) > 1.001 * greatest:
            raise InputError(f"impulse: expected at most {greatest:g} N s")
        self.driven.strike(name, size, self.tick)

    def _record(self, on: Any) -> None:
        if not _switch(on):
            if self._recording is None:
                raise InputError("record: nothing is being recorded")
            self._stop_recording("the recording was saved")
            return
        if self._recording is not None:
            raise InputError("record: a recording is going on")
        self._refuse_if_ended()
        self._recording = _unused(self.record_path)
        self._recorded = 0
        self.simulation.forget_records()

    def _stop_recording(self, message: str) -> None:
        """Write what was recorded; a failure is reported, and costs only the recording."""
        path, self._recording = self._recording, None
        if path is None:
            return
        try:
            rows = runs.save_run(path, self.simulation, title=f"{self.title}, live")
            self._say(f"{message}: {path}, {rows} samples")
        except TautlineError as error:
            self._say(f"the recording was lost: {error}", "warning")
        self.simulation.forget_records()

    def close(self) -> None:
        """Keep what is being recorded."""
        self._stop_recording("the recording was saved")

    # -- reports to viewers ---------------------------------------------------------------------------

    def _find_limits(self) -> dict[str, Any]:
        """For the sliders: of torque and speed of each reel, of an impulse on each body that is free, of the rate."""
        out = deployed(self.driven.values(), self.driven.subject)
        reels = {}
        for strand in self.driven.subject.strands:
            if strand.mount is None:
                continue
            command, reel = self.driven.commands[strand.name], strand.mount.reel
            torque = 4.0 * self._sight.pulls[strand.name] * reel.radius(strand.string.length - out[strand.name])
            if isinstance(command, Torque):
                torque = max(torque, 2.0 * float(np.abs(command.table()[1]).max()))
            torque, speed = _round_up(torque), _round_up(0.2 * out[strand.name])
            reels[strand.name] = {"torque": [-torque, torque], "speed": [-speed, speed]}
        free = {name: body.mass for name, body in self.driven.subject.bodies.items() if body is not None}
        impulses = {name: _round_up(5.0 * mass) for name, mass in free.items()}
        return {"reels": reels, "impulses": impulses, "rate": list(RATES)}

    def meta(self) -> dict[str, Any]:
        sim, subject, sight = self.simulation, self.driven.subject, self._sight
        strings = [strand.string for strand in subject.strands]
        strains = [float(string.strain(sight.tension)) for string in strings]
        energies = [float(string.energy_density(x)) for string, x in zip(strings, strains, strict=True)]
        greatest = {"strain": max(strains), "tension": sight.tension, "energy_density": max(energies)}
        about = {
            "title": self.title,
            "status": sim.status,
            "message": sim.message,
            "remarks": [],
            "version": sim.attributes()["version"],
            "samples": 0,
            "start": 0.0,
            "end": 0.0,
            "limits": self._limits,
        }
        return about | scene(subject, sight.nodes, sight.box, {name: [0.0, x] for name, x in greatest.items()})

    def status(self) -> dict[str, Any]:
        return {
            "running": not self.paused and not self.ended,
            "paused": self.paused,
            "ended": self.ended,
            "reels": {name: self._reel_status(name, command) for name, command in self.driven.commands.items()},
            "rate": self.rate,
            "achieved": round(self.achieved, 3),
            "recording": None if self._recording is None else str(self._recording),
            "message": self.message,
            "level": self.level,
        }

    def _reel_status(self, name: str, command: Command) -> dict[str, Any]:
        torque = 0.0
        if isinstance(command, Torque):
            torque = float(np.interp(self.simulation.time, *command.table()))
        return {"mode": self.driven.mode(name), "torque": torque, "speed": self.driven.reel_speed(name)}

    def state(self) -> bytes:
        """The present state as the page wants it."""
        values, subject = self.driven.values(), self.driven.subject
        curves = np.array([float(curve.made(values)[0]) for curve in subject.curves])
        if self._first is None:
            self._first = curves.copy()
        for i, curve in enumerate(subject.curves):
            if curve.name in CHANGES:
                curves[i] -= self._first[i]
        return np.concatenate([values["time"], curves, frames_of(values, subject)[0]]).astype("<f8").tobytes()


def _chosen(key: str, message: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """A name in a message; the first one that is known if there is none."""
    if not known:
        raise InputError(f"{key}: there is none to choose")
    name = message.get(key, next(iter(known)))
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{key}: expected one of {', '.join(known)}, got {str(name)[:40]!r}{near(str(name), known)}")
    return name


def _switch(on: Any) -> bool:
    checks.instance("on", on, bool)
    return bool(on)


def _within(name: str, value: Any, low: float, high: float) -> float:
    number = checks.number(name, value)
    if not low <= number <= high:
        raise InputError(f"{name}: expected {low:g} to {high:g}, got {number:g}")
    return number


def _round_up(x: float) -> float:
    """To one of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= x))


def _unused(path: Path) -> Path:
    """The path, or the first with a number that does not exist yet."""
    candidate, k = path, 1
    while candidate.exists():
        k += 1
        candidate = path.with_name(f"{path.stem}-{k}{path.suffix}")
    return candidate
