"""Verdict on one random run: against itself with a quarter of the step, as far as chaos lets two runs be compared."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from tautline.engine.simulation import Simulation
from tautline.kernels import data
from tautline.model.state import State
from tests.trial.cases import Case

SAMPLES = 100
# Runs of more steps than this are shortened, so that thousands of them can be made.
MOST_STEPS = 1500
# And a run that turns out to need more than this is looked at as far as it came; one with a quarter of the step after
# sixteen times as many.
FAR_TOO_MANY = 10_000
# What a result may be off by without a word.
BALANCE, MOVED = 0.02, 0.05
# Angle that the start is disturbed by (rad), and the growth of it that counts as chaos.
NUDGE, CHAOS = 1e-9, 100.0
NUMERICAL = ("unstable_step", "newton_failed", "non_finite")


class Verdict(NamedTuple):
    """What became of a case."""

    status: str
    finer: str  # status at a quarter of the step
    balance: float
    moved: float  # largest change at a quarter of the step, before chaos sets in
    finite: bool
    remarks: list[str]
    energy_in_play: float

    @property
    def silent(self) -> bool:
        """Completed, wrong, and not a word of it."""
        wrong = self.balance > BALANCE or self.moved > MOVED or not self.finite
        return self.status == "completed" and wrong and not self.remarks

    @property
    def stopped_in_vain(self) -> bool:
        """Stopped by the numerics where smaller steps get through."""
        return self.status in NUMERICAL and self.finer == "completed"


class Track(NamedTuple):
    """A run as far as it is compared: rows of samples."""

    nodes: Any
    scalars: Any
    simulation: Simulation


def _run(case: Case, state: Any, duration: float, part: float, rows: int = SAMPLES) -> Track:
    """Some samples of a run with default settings, or with a part of its steps."""
    simulation = Simulation(case.pendulum, state, **case.options)
    plan = simulation._stepper.plan
    ratio, resolution = part * plan.allowed_ratio, part * plan.resolution
    simulation._stepper.plan = plan._replace(allowed_ratio=ratio, resolution=resolution)
    for _ in range(rows):
        ended = simulation.advance(duration / SAMPLES, case.command) != "completed"
        if ended or simulation.steps > FAR_TOO_MANY / part**2:
            break
    pieces = simulation._recorder.pieces
    nodes = np.concatenate([piece.nodes for piece in pieces])
    return Track(nodes, np.concatenate([piece.scalars for piece in pieces]), simulation)


def affordable(case: Case) -> float:
    """The duration, or what can be computed of it in a moment."""
    simulation = Simulation(case.pendulum, case.state, **case.options)
    simulation.begin(case.command, case.duration, case.duration)
    h = min(0.5 * min(simulation.limits()[:3]), min(simulation.limits()[3:]))
    return min(case.duration, MOST_STEPS * h)


def _apart(one: Track, other: Track, length: float) -> Any:
    """Distance of two runs at equal times: positions and deployed length over the length, attitude in rad."""
    rows = min(len(one.nodes), len(other.nodes))
    position = np.linalg.norm(one.nodes[:rows, 0, -1] - other.nodes[:rows, 0, -1], axis=1) / length
    s = data.REELED_LENGTH
    reeled = np.abs(one.scalars[:rows, s] - other.scalars[:rows, s]) / length
    turned = np.s_[data.ROTATION : data.ROTATION + 9]
    attitude = np.linalg.norm(one.scalars[:rows, turned] - other.scalars[:rows, turned], axis=1) / np.sqrt(2.0)
    return np.maximum(np.maximum(position, reeled), attitude)


def _nudged(state: State) -> State:
    """The start, with the string turned a little as a whole: no element is stretched by it."""
    x, y, z = np.array(state.nodes).T
    nodes = np.stack([x + NUDGE * z, y + NUDGE * z, z - NUDGE * (x + y)], axis=1)
    return dataclasses.replace(state, nodes=nodes)


def judge(case: Case) -> Verdict:
    """Run a case with default settings and with a quarter of the step, and compare."""
    duration = affordable(case)
    run = _run(case, case.state, duration, 1.0)
    rows = len(run.nodes) if run.simulation.status == "completed" else SAMPLES
    fine = _run(case, case.state, duration, 0.25, rows)
    nudged = _run(case, _nudged(case.state), duration, 0.25, rows)
    length = float(np.abs(fine.nodes[:, 0]).max())
    moved = _apart(run, fine, length)
    grown = np.maximum.accumulate(_apart(nudged, fine, length)) / NUDGE
    calm = grown[: len(moved)] < CHAOS
    moved = moved[: len(calm)][calm]
    attributes = run.simulation.attributes()
    return Verdict(
        run.simulation.status,
        fine.simulation.status,
        attributes["balance_error"],
        float(np.max(moved, initial=0.0)),
        bool(np.isfinite(run.nodes).all() and np.isfinite(run.scalars).all()),
        run.simulation.remarks(),
        attributes["energy_in_play"],
    )
