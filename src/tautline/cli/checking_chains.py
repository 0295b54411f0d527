"""Steps that a run of one line will take, what limits them, and how it ends: by a run with few elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tautline.cli.ahead import CALL, MOST_TERMS, TERMS_A_STEP, Ahead, terms_a_second, windows
from tautline.cli.output import NUMERICAL
from tautline.engine import lowering
from tautline.engine.cases import begin
from tautline.engine.chain import ChainSimulation
from tautline.kernels import data
from tautline.kernels.limits import ROOM_TO_TURN, STABLE
from tautline.model.case import ChainCase
from tautline.model.checks import SMALLEST
from tautline.model.piecewise import peaks
from tautline.model.profile import pieces_of
from tautline.model.state import ChainState

# Elements of the coarse run that finds out how the length changes and how fast the body turns, and the intervals of the
# run in which it looks at these, at least.
COARSE, LOOKS = 2, 200
# Steps times elements for which an early end is confirmed by the run itself, about a second.
MOST_WORK = 1_000_000
# Steps of one timed call, and how long calls are timed for in all (s).
TIMED_STEPS, LONGEST_TIMING = 200, 0.3


class Course(NamedTuple):
    """How the deployed length and the turning of the body change in a run, as a run with few elements finds it."""

    times: data.Array
    lengths: data.Array
    turning: data.Array  # step that resolves how the body turns and swings (s)
    looked: float  # time up to which the search came (s)
    complete: bool  # whether length and turning are known to the end of the run
    status: str


def outlook(case: ChainCase) -> dict[str, Any]:
    """Steps, wall time and end of a run, by name; SI."""
    simulation, _, sample = begin(case)
    course = _course(case)
    steps = _steps(simulation, course, sample)
    ended = _confirmed(case, course, steps)
    seconds = _seconds_a_step(case, sample)
    shortest = float(course.lengths.min())
    now, later = (_limits(simulation, X) for X in (simulation.unstretched_length, shortest))
    return {
        "motions": _peaks(case, simulation.unstretched_length),
        "shortest_length": shortest,
        "looked_until": course.looked,
        "ends_at": ended.time,
        "expected_status": ended.status,
        "end_is_certain": ended.certain,
        "step": _step(simulation, sample, simulation.unstretched_length),
        "step_at_shortest": _step(simulation, sample, shortest),
        "step_limits": now,
        "step_limits_at_shortest": later,
        "governs": min(now, key=lambda name: now[name]),
        "governs_at_shortest": min(later, key=lambda name: later[name]),
        "steps": steps,
        "steps_are_complete": course.complete,
        "wall_time": steps * seconds,
    }


def _peaks(case: ChainCase, deployed: float) -> dict[str, Any]:
    """Largest speed and acceleration that are given to guide and length in the run, by name, where they are."""
    duration, path, command = case.run.duration, case.pendulum.reel.guide_path, case.command
    given: dict[str, Callable[[float, float], tuple[data.Array, data.Array]]] = {}
    if path is not None:
        given["guide"] = path.pieces
    if command.has_curve:
        given["length"] = lambda start, end: pieces_of(command.curve(0.0, deployed, (start, end)))
    found: dict[str, Any] = {}
    for name, pieces in given.items():
        motion = path if name == "guide" else command
        edges = windows(motion, duration)
        each = [peaks(*pieces(start, end), start, end) for start, end in pairwise(edges)]
        largest = np.max(each, axis=0).tolist()
        until = None if edges[-1] == duration else edges[-1]
        found[name] = {"peak_speed": largest[0], "peak_acceleration": largest[1], "until": until}
    return found


def _limits(simulation: ChainSimulation, deployed: float) -> dict[str, float]:
    """Largest steps (s) with this much string out, by what limits them: the one place that asks the planning."""
    plan = simulation.task().plan
    limits = lowering.allowed_steps(plan, simulation.limits(deployed))
    if plan.adaptive:
        return {name: step for name, step in limits.items() if step < math.inf}
    stable = dict(list(limits.items())[:STABLE])
    return {"the step that was given": plan.h, **{name: step for name, step in stable.items() if step < plan.h}}


def _step(simulation: ChainSimulation, sample: float, deployed: float) -> float:
    """The step that a run takes with this much string out and the body turning as it does now (s)."""
    plan = simulation.sampling(sample)
    return float(plan.h / 2 ** lowering.halvings(plan, simulation.limits(deployed)))


def _steps(simulation: ChainSimulation, course: Course, sample: float) -> int:
    """Steps of the run, along its course. Those that were divided are joined where there is room (`set_level`)."""
    plan, levels = simulation.sampling(sample), [0]
    for length, turning in zip(course.lengths.tolist(), course.turning.tolist(), strict=True):
        limits = simulation.limits(length)._replace(turning=turning)
        level = lowering.halvings(plan, limits)
        with_room = lowering.halvings(plan, limits._replace(turning=ROOM_TO_TURN * turning))
        levels.append(level + (levels[-1] == level + 1 == with_room))
    rates = 2.0 ** np.array(levels[1:]) / plan.h
    return math.ceil(float(np.sum(0.5 * (rates[1:] + rates[:-1]) * np.diff(course.times))))


def _course(case: ChainCase) -> Course:
    """Deployed length and turning over time, by a run with few elements and bounded work."""
    duration, X = case.run.duration, case.pendulum.string.length - case.state().reeled_length
    state = coarser(case.state(), COARSE)
    simulation = ChainSimulation(case.pendulum, state, **{**case.run.method(), "step": "auto", "order": 2})
    simulation.begin(case.command, duration, duration)
    times, lengths, turning = [0.0], [X], [simulation.limits().turning]
    ahead = Ahead(simulation, 4.0 * duration / LOOKS, duration, _terms(case))
    while ahead.go_on():
        times.append(min(simulation.time, duration))
        lengths.append(simulation.unstretched_length)
        turning.append(simulation.limits().turning)
    looked, complete = times[-1], ahead.complete
    if not complete:
        for row, latest in ((times, duration), (lengths, lengths[-1]), (turning, turning[-1])):
            row.append(latest)
        complete = case.command.holds  # the length, which is what matters most
    return Course(np.array(times), np.array(lengths), np.array(turning), looked, complete, simulation.status)


def _terms(case: ChainCase) -> float:
    """Pieces times sines in a second of the motions without end that a case has (1/s)."""
    return terms_a_second(case.pendulum.reel.guide_path, case.command)


class Ending(NamedTuple):
    """How and when a run is expected to end."""

    status: str
    time: float
    certain: bool


def _confirmed(case: ChainCase, course: Course, steps: int) -> Ending:
    """An early end of the coarse run, as the run itself has it where that takes little time.

    Where it takes longer, ends of the numerics are not believed: those of a coarse run are its own.
    """
    duration = case.run.duration
    if course.status == "completed":
        return Ending("completed", duration, True)
    at = float(course.times[-1])
    simulation, count, sample = begin(case)
    rows = min(count, math.ceil(1.05 * at / sample) + 1)
    work = steps * (1.0 + sample / max(at, sample)) * simulation.elements + rows * sample * _terms(case) / TERMS_A_STEP
    if work + CALL * rows <= MOST_WORK:
        plan = simulation.sampling(sample)
        for _ in range(rows):
            if simulation.status != "completed":
                break
            simulation.march(1, plan)
        if simulation.status == "completed":
            return Ending("completed", duration, rows == count)
        return Ending(simulation.status, simulation.time, True)
    if course.status in NUMERICAL:
        return Ending("completed", duration, False)
    return Ending(course.status, at, False)


def coarser(state: ChainState, elements: int) -> ChainState:
    """The state with fewer elements, of nodes at equal parts of the string; itself where it has no more."""
    N = state.elements
    if elements >= N:
        return state
    places = np.linspace(0.0, N, elements + 1)

    def at_places(values: data.Array) -> data.Array:
        return np.stack([np.interp(places, np.arange(N + 1), column) for column in values.T], axis=-1)

    nodes, velocities = at_places(state.nodes), at_places(state.node_velocities)
    return ChainState(state.reeled_length, state.reel_speed, nodes, velocities, state.attitude, state.angular_velocity)


def _seconds_a_step(case: ChainCase, sample: float) -> float:
    """Wall time of one step, measured on the first steps of the run after one call that may have to compile."""
    simulation = ChainSimulation.from_case(case)
    simulation.begin(case.command, sample, sample)
    interval = _interval(simulation, sample, MOST_TERMS / TIMED_STEPS / max(_terms(case), SMALLEST))
    if interval == 0.0:
        return math.nan
    simulation.begin(case.command, interval, interval)
    plan = simulation.sampling(interval)
    simulation.march(1, plan)
    before, begun = simulation.steps, perf_counter()
    while simulation.status == "completed" and perf_counter() - begun < LONGEST_TIMING:
        simulation.march(1, plan)
    seconds, made = perf_counter() - begun, simulation.steps - before
    return seconds / made if made else 0.0


def _interval(simulation: ChainSimulation, sample: float, longest: float) -> float:
    """Between samples of the timing: some steps, so that a call is neither too short nor too long (s); 0 if it is."""
    fixed = simulation.method.step
    if fixed != "auto":
        return float(fixed) * min(TIMED_STEPS, math.floor(longest / float(fixed)))
    return min(sample, longest, TIMED_STEPS * simulation.allowed_step())
