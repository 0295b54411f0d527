"""Steps that a run will take, what limits them, and how it ends: by a run of the system with few elements."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tautline.cli.ahead import (
    CALL,
    PARTS_OF_A_RUN,
    STEPS_A_CALL,
    TERMS_A_STEP,
    Ahead,
    terms_a_second,
    windows,
)
from tautline.cli.first_steps import first_steps
from tautline.cli.output import NUMERICAL
from tautline.engine.cases import begin
from tautline.engine.lowering import LIMIT_NAMES
from tautline.engine.runner import Runner
from tautline.engine.simulation import runner_of
from tautline.kernels import data
from tautline.kernels.limits import MAX_LEVEL, RESOLVED_FORCE_LAW, ROOM_TO_TURN
from tautline.model.piecewise import peaks
from tautline.model.profile import pieces_of, places_at
from tautline.model.system.case import Case
from tautline.model.system.commands import feed_of, place_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import LineState, State
from tautline.model.turning import Turning

# Elements of each line in the coarse run that finds out how lengths change and how fast bodies turn, and the intervals
# of the run in which it looks at these, at least.
COARSE, LOOKS = 2, 200
# Steps times elements for which an early end is confirmed by the run itself, about a second.
MOST_WORK = 1_000_000
# Steps beyond this are a rough figure anyway.
MOST_COUNTED = 1e15
# Times at which given lengths are looked up, and statuses that end a run where a line ends.
PLANNED = 2000
DEPLOYED, RETRIEVED = "fully_deployed", "fully_retrieved"
# What limits a step, and must not be passed by one that was given.
TURNING, STABLE = LIMIT_NAMES["turning"], (LIMIT_NAMES["waves"], LIMIT_NAMES["force_law"])


class Course(NamedTuple):
    """How lengths and the turning of bodies change in a run, as a run with few elements finds it."""

    times: data.Array
    lengths: dict[str, data.Array]  # deployed, by the names of lines (m)
    turning: data.Array  # step that resolves how bodies turn and swing (s)
    looked: float  # time up to which the search came (s)
    complete: bool  # whether lengths and turning are known to the end of the run
    status: str

    def least(self) -> dict[str, float]:
        """Shortest length of each line (m)."""
        return {name: float(lengths.min()) for name, lengths in self.lengths.items()}


def outlook(case: Case) -> dict[str, Any]:
    """Steps, wall time and end of a run, by name; SI."""
    simulation, _, sample = begin(case)
    course, first = _course(case), first_steps(case, sample, _terms(case))
    steps = _steps(simulation, course, sample)
    if course.status in NUMERICAL and first.step > 0.0:  # the coarse run says little, the first steps of the run more
        steps = max(steps, math.ceil(min(case.run.duration / first.step, MOST_COUNTED)))
    lost = _unfollowed(simulation, course, sample)
    ended = _ending(case, course, steps) if lost is None else Ending("unstable_step", lost, lost == 0.0)
    if lost == 0.0:
        steps, course = 0, course._replace(complete=True)
    shortest = course.least()
    now, later = _limits(simulation), _limits(simulation, shortest)
    return {
        "motions": _peaks(case),
        "shortest": shortest,
        "longest": {name: float(lengths.max()) for name, lengths in course.lengths.items()},
        "looked_until": course.looked,
        "ends_at": ended.time,
        "expected_status": ended.status,
        "end_is_certain": ended.certain,
        "ending_line": ended.line,
        "step": _step(simulation, sample),
        "step_at_shortest": _step(simulation, sample, shortest),
        "step_limits": now,
        "step_limits_at_shortest": later,
        "governs": min(now, key=lambda name: now[name]),
        "governs_at_shortest": min(later, key=lambda name: later[name]),
        "steps": steps,
        "steps_are_complete": course.complete,
        "wall_time": steps * first.seconds,
    }


def _peaks(case: Case) -> dict[str, Any]:
    """Largest speed and acceleration that are given to bodies and lengths in the run, by name, where they are."""
    duration = case.run.duration
    given: dict[str, tuple[Any, Callable[[float, float], tuple[data.Array, data.Array]]]] = {}
    for name, motion in _paths(case).items():
        given[name] = motion, motion.pieces
    for name, command in case.commands.items():
        if command.has_curve:
            deployed, word = _fed(case, name), "length" if len(case.system.lines) == 1 else f"line {name}"
            given[word] = command, lambda a, b, c=command, X=deployed: pieces_of(c.curve(0.0, X, (a, b)))  # type: ignore[misc]
    found: dict[str, Any] = {}
    for name, (motion, pieces) in given.items():
        edges = windows(motion, duration)
        each = [peaks(*pieces(start, end), start, end) for start, end in pairwise(edges)]
        largest = np.max(each, axis=0).tolist()
        until = None if edges[-1] == duration else edges[-1]
        found[name] = {"peak_speed": largest[0], "peak_acceleration": largest[1], "until": until}
        found[name]["unit"] = "rad" if isinstance(motion, Turning) else "m"
    return found


def _paths(case: Case) -> dict[str, Any]:
    """Paths of kinematic bodies by name, and how they turn."""
    held = {name: body for name, body in case.system.bodies.items() if isinstance(body, Kinematic)}
    found: dict[str, Any] = {name: body.path for name, body in held.items()}
    found |= {f"{name}, turning": body.rotation for name, body in held.items()}
    return {name: motion for name, motion in found.items() if motion is not None}


def _deployed(case: Case) -> dict[str, float]:
    """Deployed lengths at the start, by the names of lines (m)."""
    state, system = case.state(), case.system
    return {name: float(state.lengths_of(system, name).sum()) for name in system.lines}


def _fed(case: Case, name: str) -> float:
    """Length at the start that a reel or sheave feeds, by the name of its command (m)."""
    return feed_of(case.system, case.state(), place_of(name)).deployed


def _limits(simulation: Runner[Any], lengths: Mapping[str, float] | None = None) -> dict[str, float]:
    """Largest steps (s) with these lengths out, by what limits them."""
    plan, limits = simulation.stepper.plan, simulation.stepper.step_limits(lengths)
    if plan.adaptive:
        return {name: step for name, step in limits.items() if step < math.inf}
    return {"the step that was given": plan.h, **{name: limits[name] for name in STABLE if limits[name] < plan.h}}


def _step(simulation: Runner[Any], sample: float, lengths: Mapping[str, float] | None = None) -> float:
    """The step that a run takes with these lengths out and bodies turning as they do now (s)."""
    plan = simulation.sampling(sample)
    return float(plan.h / 2 ** _halvings(plan, simulation.stepper.step_limits(lengths)))


def _halvings(plan: data.Plan, limits: Mapping[str, float]) -> int:
    """How often the base step is halved within these limits; one that was given never."""
    allowed = min(limits.values())
    halvings = max(0, math.ceil(math.log2(plan.h / allowed))) if plan.adaptive and 0.0 < allowed < plan.h else 0
    return min(halvings, MAX_LEVEL)


def _along(simulation: Runner[Any], course: Course) -> Iterator[dict[str, float]]:
    """Largest steps (s) of the run along its course, by what limits them."""
    for k, turning in enumerate(course.turning.tolist()):
        lengths = {name: float(row[k]) for name, row in course.lengths.items()}
        yield simulation.stepper.step_limits(lengths) | ({TURNING: turning} if k else {})


def _unfollowed(simulation: Runner[Any], course: Course, sample: float) -> float | None:
    """Time (s) at which steps would have to be shorter than "auto" can make them; None if that does not come."""
    plan = simulation.sampling(sample)
    shortest = plan.h / 2**MAX_LEVEL
    waves, force_law = STABLE
    for time, limits in zip(course.times.tolist(), _along(simulation, course), strict=True):
        least = min(limits[waves], limits[TURNING], limits[force_law] * plan.allowed_ratio / RESOLVED_FORCE_LAW)
        if plan.adaptive and least < shortest:
            return float(time)
    return None


def _steps(simulation: Runner[Any], course: Course, sample: float) -> int:
    """Steps of the run, along its course. Those that were divided are joined where there is room (`set_level`)."""
    plan, levels = simulation.sampling(sample), [0]
    for limits in _along(simulation, course):
        level = _halvings(plan, limits)
        with_room = _halvings(plan, limits | {TURNING: ROOM_TO_TURN * limits[TURNING]})
        levels.append(level + (levels[-1] == level + 1 == with_room))
    rates = 2.0 ** np.array(levels[1:]) / plan.h
    return math.ceil(float(np.sum(0.5 * (rates[1:] + rates[:-1]) * np.diff(course.times))))


def _course(case: Case) -> Course:
    """Deployed lengths and turning over time, by a run with few elements and bounded work."""
    duration = case.run.duration
    state = coarser(case.state(), COARSE)
    run = dataclasses.replace(case.run, step="auto", order=2)
    coarse = Case(case.system.with_elements(state.elements()), state, case.commands, run)
    simulation = runner_of(coarse)
    simulation.begin(case.commands, duration, run.interval())
    times, turning = [0.0], [simulation.stepper.step_limits()[TURNING]]
    lengths = {name: [X] for name, X in _deployed(case).items()}
    ahead = Ahead(simulation, 4.0 * duration / LOOKS, duration, _terms(case))
    while ahead.go_on():
        times.append(min(simulation.time, duration))
        turning.append(simulation.stepper.step_limits()[TURNING])
        for name, row in lengths.items():
            row.append(simulation.backend.deployed(name))
    looked, complete = times[-1], ahead.complete
    if simulation.status in NUMERICAL:  # what it came to is not believed
        complete = False
        for row in (times, turning, *lengths.values()):
            del row[1:]
    if not complete:
        for latest in (times, turning, *lengths.values()):
            latest.append(duration if latest is times else latest[-1])
        complete = not any(command.moves for command in case.commands.values())  # the lengths, which matter most
    found = {name: np.array(row) for name, row in lengths.items()}
    return Course(np.array(times), found, np.array(turning), looked, complete, simulation.status)


def _terms(case: Case) -> float:
    """Pieces times sines in a second of the motions without end that a case has (1/s)."""
    return terms_a_second(*_paths(case).values(), *case.commands.values())


class Ending(NamedTuple):
    """How and when a run is expected to end, and the line at whose end it does."""

    status: str
    time: float
    certain: bool
    line: str | None = None


def _ending(case: Case, course: Course, steps: int) -> Ending:
    """The first of what the run itself or the coarse one comes to, and of where a given length leaves no string."""
    found, planned = _confirmed(case, course, steps), _used_up(case)
    if planned is None:
        return found
    if found.status == "completed" or planned.time < found.time:
        return planned
    return found._replace(certain=found.certain or found.line == planned.line)


def _confirmed(case: Case, course: Course, steps: int) -> Ending:
    """An early end of the coarse run, as the run itself has it where that takes little time.

    Where it takes longer, ends of the numerics are not believed: those of a coarse run are its own.
    """
    duration = case.run.duration
    if course.status == "completed":
        return Ending("completed", duration, course.looked >= (1.0 - 1e-9) * duration)
    at = course.looked
    simulation, count, sample = begin(case)
    rows = min(count, math.ceil(1.05 * at / sample) + 1)
    elements = sum(case.state().elements().values())
    until_then = steps * (at + sample) / max(float(course.times[-1]), sample)
    work = until_then * elements + rows * sample * _terms(case) / TERMS_A_STEP
    if work + CALL * rows <= MOST_WORK:
        plan = simulation.sampling(sample)
        for _ in range(rows * plan.steps_per_sample):
            # a motion whose steps get ever smaller is not followed
            if simulation.status != "completed" or plan.h > STEPS_A_CALL * simulation.stepper.allowed_step():
                break
            simulation.march(1, plan._replace(steps_per_sample=1))
        if simulation.status == "completed":
            return Ending("completed", duration, rows == count)
        lengths = {name: simulation.backend.deployed(name) for name in case.system.lines}
        return Ending(simulation.status, simulation.time, True, _ended(case, simulation.status, lengths))
    if course.status in NUMERICAL:
        return Ending("completed", duration, False)
    lengths = {name: float(row[-1]) for name, row in course.lengths.items()}
    return Ending(course.status, at, False, _ended(case, course.status, lengths))


def _ended(case: Case, status: str, lengths: Mapping[str, float]) -> str | None:
    """The line that is all out or all in."""
    reels = {name: line for name, line in case.system.lines.items() if line.reel is not None}
    if status == DEPLOYED:
        return min(reels, key=lambda name: reels[name].string.length - lengths[name])
    started = _deployed(case)
    return min(reels, key=lambda name: lengths[name] / started[name]) if status == RETRIEVED else None


def _used_up(case: Case) -> Ending | None:
    """The first line whose given length is more than its reel has."""
    found = []
    for name, line in case.system.lines.items():
        command = case.commands.get(name)
        if (
            line.reel is None
            or command is None
            or not (command.prescribes and command.has_curve)
            or case.run.at_end != "stop"
        ):
            continue
        for start, end in pairwise(windows(command, case.run.duration)):
            times = np.linspace(start, end, PLANNED // PARTS_OF_A_RUN)
            planned = places_at(command.curve(0.0, _fed(case, name), (start, end)), times)
            beyond = np.flatnonzero(planned >= line.string.length - line.reel.guide_length)
            if len(beyond):
                found.append(Ending(DEPLOYED, float(times[beyond[0]]), True, name))
                break
    return min(found, key=lambda ending: ending.time, default=None)


def coarser(state: State, elements: int) -> State:
    """The state with fewer elements, of nodes at equal parts of the lines; lines that have no more as they are."""
    return State(state.bodies, {name: _coarser_line(line, elements) for name, line in state.lines.items()})


def _coarser_line(line: LineState, elements: int) -> LineState:
    N = len(line.nodes) // line.spans - 1
    if elements >= N:
        return line
    places = np.linspace(0.0, N, elements + 1)

    def at_places(values: data.Array) -> data.Array:
        spans = np.split(values, line.spans)
        return np.concatenate(
            [np.stack([np.interp(places, np.arange(N + 1), column) for column in own.T], axis=-1) for own in spans]
        )

    return dataclasses.replace(line, nodes=at_places(line.nodes), node_velocities=at_places(line.node_velocities))
