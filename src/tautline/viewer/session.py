"""A simulation in real time, and what the pages that watch it may ask of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.samples import record_of_samples
from tautline.engine.simulation import Simulation
from tautline.errors import InputError, TautlineError
from tautline.files import runs
from tautline.model import checks
from tautline.model.case import Case
from tautline.model.command import Command, Free, Locked, Speed, Torque
from tautline.model.shapes import body_mesh
from tautline.model.statics import guide_pull
from tautline.results.values import values_of
from tautline.viewer.curves import CHANGES, CURVES
from tautline.viewer.payload import frames_of, scene
from tautline.viewer.subject import of_pendulum

STATES_A_SECOND = 60.0
RATES = (0.05, 20.0)
RAMP = 0.25  # s, to a new speed of the reel
# Samples in memory while recording: ten minutes of states, some 60 MB at 20 elements.
MOST_RECORDED = int(600 * STATES_A_SECOND)


class Session:
    """The simulation and what the viewers have asked of it."""

    def __init__(self, case: Case, title: str, record: Path | None = None) -> None:
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
        self.simulation = Simulation.from_case(self.case)
        self.command: Command = self.case.command
        self._first: Array | None = None
        self._say("")

    def _say(self, message: str, level: str = "info") -> None:
        self.message, self.level = message, level

    @property
    def _deployed(self) -> float:
        """Unstretched, at the start (m)."""
        return self.case.pendulum.string.length - self.case.state().reeled_length

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
            status = self.simulation.advance(self.tick, self.command, record=recording)
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
            "lock": lambda m: self._lock(),
            "free": lambda m: self._drive(Free()),
            "torque": lambda m: self._drive(Torque(_within("value", m.get("value"), *self.limits()["torque"]))),
            "speed": lambda m: self._reel(_within("value", m.get("value"), *self.limits()["speed"])),
            "pause": lambda m: self._pause(m.get("on")),
            "rate": lambda m: self._set_rate(_within("value", m.get("value"), *RATES)),
            "reset": lambda m: self._restart(),
            "impulse": lambda m: self._impulse(m.get("impulse")),
            "record": lambda m: self._record(m.get("on")),
        }
        if not isinstance(kind, str) or kind not in acts:
            raise InputError(f"type: expected one of {', '.join(acts)}, got {str(kind)[:40]!r}")
        acts[kind](message)

    def _reel(self, speed: float) -> None:
        """Retrieve at a speed, reached within a short ramp: a reel that jumped would jerk at the string."""
        now = self.simulation.time
        ramp = ((now, now + RAMP), (self.simulation.reel_speed, speed))
        self._drive(Speed(retrieval=ramp))

    def _drive(self, command: Command) -> None:
        self._refuse_if_ended()
        self.command = command

    def _refuse_if_ended(self) -> None:
        if self.ended:
            raise InputError("the run has ended; reset to start again")

    def _lock(self) -> None:
        self._refuse_if_ended()
        speed = self.simulation.reel_speed
        if speed != 0.0:
            self.simulation.stop_reel()
            self._say(f"the drum was stopped at once at {abs(speed):.2g} m/s")
        self.command = Locked()

    def _pause(self, on: Any) -> None:
        self.paused = _switch(on)

    def _set_rate(self, rate: float) -> None:
        self.rate = rate

    def _restart(self) -> None:
        if self._recording is not None:
            self._stop_recording("the recording was saved")
        self.reset()

    def _impulse(self, impulse: Any) -> None:
        self._refuse_if_ended()
        size = checks.array("impulse", impulse, (3,), "N s")
        greatest = self.limits()["impulse"]
        if np.linalg.norm(size) > 1.001 * greatest:
            raise InputError(f"impulse: expected at most {greatest:g} N s")
        self.simulation.apply_impulse(size)

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

    def limits(self) -> dict[str, Any]:
        """For the sliders: of torque and speed of the reel, of an impulse, of the rate."""
        p = self.case.pendulum
        torque = 4.0 * self._pull() * p.reel.radius(p.string.length - self._deployed)
        if isinstance(self.case.command, Torque):
            torque = max(torque, 2.0 * float(np.abs(self.case.command.table()[1]).max()))
        torque = _round_up(torque)
        speed = _round_up(0.2 * self._deployed)
        return {
            "torque": [-torque, torque],
            "speed": [-speed, speed],
            "impulse": _round_up(5.0 * p.body.mass),
            "rate": list(RATES),
        }

    def _pull(self) -> float:
        """Pull at the guide that scales are chosen by (N): at rest, or with little gravity that of 1 m/s^2."""
        p = self.case.pendulum
        least = p.body.mass + p.string.density * self._deployed
        return max(abs(guide_pull(p, self._deployed)), least)

    def meta(self) -> dict[str, Any]:
        p, sim = self.case.pendulum, self.simulation
        X = self._deployed
        reach = float(np.linalg.norm(body_mesh(p.body)[0], axis=1).max())
        tension = 2.5 * self._pull()
        strain = float(p.string.strain(tension))
        energy = float(p.string.energy_density(strain))
        guide = np.array(p.reel.guide_position)
        # as deep as the string hangs, as wide as it swings from here; the page makes room where that was too little
        depth = 1.1 * X * (1.0 + 0.4 * strain) + 2.0 * reach
        nodes = self.case.state().nodes  # from the guide
        wide = max(0.35 * depth, float(np.hypot(nodes[:, 0], nodes[:, 1]).max()) + reach)
        high = min(-0.1 * depth, float(nodes[:, 2].min()) - reach)
        box = guide + np.array([[-wide, -wide, high], [wide, wide, depth]])
        ranges = {"strain": [0.0, strain], "tension": [0.0, tension], "energy_density": [0.0, energy]}
        about = {
            "title": self.title,
            "status": sim.status,
            "message": sim.message,
            "remarks": [],
            "version": sim.attributes()["version"],
            "samples": 0,
            "start": 0.0,
            "end": 0.0,
            "limits": self.limits(),
        }
        return about | scene(of_pendulum(p), guide + nodes, box, ranges)

    def status(self) -> dict[str, Any]:
        mode = type(self.command).__name__.lower()
        torque = 0.0
        if isinstance(self.command, Torque):
            torque = float(np.interp(self.simulation.time, *self.command.table()))
        return {
            "running": not self.paused and not self.ended,
            "paused": self.paused,
            "ended": self.ended,
            "mode": mode,
            "torque": torque,
            "speed": self.simulation.reel_speed,
            "rate": self.rate,
            "achieved": round(self.achieved, 3),
            "recording": None if self._recording is None else str(self._recording),
            "message": self.message,
            "level": self.level,
        }

    def state(self) -> bytes:
        """The present state as the page wants it."""
        sim = self.simulation
        record = record_of_samples(np.array([sim.time]), sim.present_sample())
        values = values_of(sim.pendulum, record)
        curves = np.array([float(curve.made(values)[0]) for curve in CURVES])
        if self._first is None:
            self._first = curves.copy()
        for i, curve in enumerate(CURVES):
            if curve.name in CHANGES:
                curves[i] -= self._first[i]
        row = frames_of(values, of_pendulum(sim.pendulum))[0]
        return np.concatenate([[sim.time], curves, row]).astype("<f8").tobytes()


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
