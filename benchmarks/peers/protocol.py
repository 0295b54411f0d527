"""Messages between a peer and the driver: one line of JSON each way. Standard library only.

A peer is a module with a function `build` and a last line `serve(build)`. It is started by the Python of its own
environment and knows nothing of tautline: the numbers of the problem come with every request. The lines between
`# model` and `# end of model` are what a user of the tool would have to write; the table counts them.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypedDict

SAMPLES_A_SECOND = 100
# Runs that take less than this together (s) are repeated more often, for all might fall into one slow moment.
ENOUGH, MORE = 0.5, 20


class Problem(TypedDict):
    """Example 1: a string along the first axis with a rigid body at its end; the third axis points down. SI."""

    length: float  # deployed, unstretched
    density: float  # mass per unstretched length
    stiffness: float  # EA
    gravity: float
    mass: float  # of the body
    center_of_mass: list[float]  # from the attachment point
    inertia: list[list[float]]  # about the attachment point
    end_velocity: list[float]


class Body(TypedDict):
    """A rigid body at an end of a string."""

    mass: float
    center_of_mass: list[float]  # from the attachment point
    inertia: list[list[float]]  # about the attachment point
    position: list[float]  # of the attachment point
    velocity: list[float]
    angular_velocity: list[float]  # in the body frame


class Pair(TypedDict):
    """A straight string between two free bodies, without gravity; node velocities are linear between its ends. SI."""

    length: float
    density: float
    stiffness: float
    bodies: list[Body]


class Method(NamedTuple):
    """Method to simulate with: `knob` is the step (s), or the relative tolerance of a method that chooses its steps."""

    problem: Any  # a Problem, or a Pair
    elements: int
    name: str
    knob: float


class Turning(TypedDict):
    """Attitude of a body and its rate."""

    rotation: list[list[float]]  # body frame to inertial frame
    angular_velocity: list[float]  # in the body frame


class State(TypedDict, total=False):
    """Nodes 1..N with their velocities, and the body; of a pair nodes 0..N, and `bodies`.

    A tool with a model of its own reports its invariants too.
    """

    time: float
    nodes: list[list[float]]
    velocities: list[list[float]]
    rotation: list[list[float]]  # body frame to inertial frame
    angular_velocity: list[float]  # in the body frame
    kinetic: float
    energy: float
    momentum: float  # about the third axis through the upper end
    bodies: list[Turning]


class Simulation(Protocol):
    """The problem in a tool, ready to move. One that chooses its steps also has `trace`."""

    def advance(self, seconds: float) -> int:
        """Move on, in the compiled loop of the tool where it has one; the number of steps taken."""
        ...

    def state(self) -> State: ...


Build = Callable[[Method], Simulation]


class Differentiable(Protocol):
    """A run in a tool: the place of the attachment point along the first axis at its end (m), and its derivatives.

    They are by stiffness, density, mass, gravity, then by the components of the end's velocity, or where many are
    asked for by those of all places and then of all velocities of nodes 1..N, and by the duration. The knob of the
    method is the number of steps.
    """

    def value(self) -> float: ...

    def value_and_gradient(self) -> tuple[float, list[float]]: ...


Differentiate = Callable[[Method, float, bool], Differentiable]


class EndBody(NamedTuple):
    """The body with half an element's mass of string at the attachment point: what a lumped model moves as one."""

    mass: float
    center_of_mass: list[float]
    inertia: list[list[float]]  # about its own center of mass


def end_body(problem: Problem | Pair, elements: int, carried: Body | None = None) -> EndBody:
    """Rigid body in the terms that simulators ask for; of a pair the one that is given."""
    body: Any = problem if carried is None else carried
    mass = body["mass"] + 0.5 * problem["density"] * problem["length"] / elements
    center = [body["mass"] / mass * x for x in body["center_of_mass"]]
    square = sum(x * x for x in center)
    inertia = [
        [body["inertia"][i][j] - mass * ((square if i == j else 0.0) - center[i] * center[j]) for j in range(3)]
        for i in range(3)
    ]
    return EndBody(mass, center, inertia)


def rotated(quaternion: list[float]) -> list[list[float]]:
    """Rotation matrix of a unit quaternion, scalar first."""
    w, x, y, z = quaternion
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def trajectory(simulation: Simulation, duration: float, step: float | None) -> list[State]:
    """States about every 10 ms and at every full second; with a fixed step only at its multiples."""
    trace = getattr(simulation, "trace", None)
    states = [simulation.state()]
    if step is None:
        assert trace is not None
        for second in range(round(duration)):
            states += trace(float(second + 1))
        return states
    a_second = round(1.0 / step)
    every = math.ceil(a_second / SAMPLES_A_SECOND)
    for _ in range(round(duration)):
        left = a_second
        while left > 0:
            steps = min(every, left)
            simulation.advance(steps * step)
            left -= steps
            states.append(simulation.state())
    return states


def timed(simulation: Simulation, seconds: float) -> tuple[float, int]:
    """Seconds of the processor, which a busy machine lengthens less than those of the wall; steps."""
    start = time.process_time()
    steps = simulation.advance(seconds)
    return time.process_time() - start, steps


def answer(build: Build, request: dict[str, Any]) -> dict[str, Any]:
    """Do what a request says."""
    method = Method(request["problem"], request["elements"], request["method"], request["knob"])
    duration, step = request["duration"], None if request["adaptive"] else method.knob
    start = time.perf_counter()
    simulation = build(method)
    built = time.perf_counter() - start
    if request["do"] == "trajectory":
        start = time.perf_counter()
        states = trajectory(simulation, duration, step)
        return {"states": states, "seconds": time.perf_counter() - start}
    # Whatever is compiled on first use is compiled now; what the first call takes more than a later one is reported.
    first, _ = timed(simulation, request["first"])
    if request["do"] == "pace":  # as many steps as fill about `duration` seconds
        second, _ = timed(simulation, request["first"])
        duration = request["first"] * max(1, min(round(duration / second), request["most"]))
    runs: list[float] = []
    while sum(runs) <= request["limit"] and len(runs) < request["repeats"] * (MORE if sum(runs) < ENOUGH else 1):
        simulation = build(method)
        seconds, steps = timed(simulation, duration)
        runs.append(seconds)
    return {"seconds": runs, "steps": steps, "first": first, "build": built}


def derivatives(build: Differentiate, request: dict[str, Any]) -> dict[str, Any]:
    """Time a run, and the same run with its gradient: seconds of the processor. Without repeats, the value alone."""
    method = Method(request["problem"], request["elements"], request["method"], request["knob"])
    run = build(method, request["duration"], request["many"])
    if request["repeats"] == 0:
        return {"value": run.value()}

    def spent(call: Callable[[], Any]) -> tuple[Any, list[float]]:
        found: Any = None
        seconds: list[float] = []
        # the first call is apart: whatever is compiled on first use is compiled there
        while len(seconds) <= request["repeats"] and sum(seconds[1:]) <= request["limit"]:
            start = time.process_time()
            found = call()
            seconds.append(time.process_time() - start)
        return found, seconds

    _, runs = spent(run.value)
    (value, gradient), both = spent(run.value_and_gradient)
    seconds = {
        "run_seconds": min(runs[1:]),
        "gradient_seconds": min(both[1:]),
        "first": max(both[0] - min(both[1:]), 0.0),
    }
    return {"value": value, "gradient": gradient, **seconds}


class Members(Protocol):
    """Example 1 with several velocities of the body at the start, which the problem has as `members`."""

    def advance(self, seconds: float) -> int:
        """Move all of them on; the number of steps that each takes."""
        ...

    def states(self) -> list[State]: ...


def ensembles(build: Callable[[Method], Members], request: dict[str, Any]) -> dict[str, Any]:
    """Take the states of all members in intervals, or the seconds of the processor for a run."""
    method = Method(request["problem"], request["elements"], request["method"], request["knob"])
    members = build(method)
    interval = request["interval"]
    if interval:
        found = [members.states()]
        for _ in range(round(request["duration"] / interval)):
            members.advance(interval)
            found.append(members.states())
        return {"states": found}
    members.advance(10 * method.knob)  # whatever is compiled on first use is compiled here
    members = build(method)
    start = time.process_time()
    steps = members.advance(request["duration"])
    return {"seconds": time.process_time() - start, "steps": steps}


class Passage(TypedDict):
    """Bodies on a line over a sheave."""

    time: float
    heights: list[float]  # of the bodies, over their places at the start (m)
    tensions: list[float]  # of its two spans: at the wheel of an Atwood machine, of a hoist where it is hauled (N)


class Traced:
    """A simulation whose `state` is looked at in intervals."""

    def trace(self: Any, duration: float, sample: float) -> list[Passage]:
        found = []
        for _ in range(round(duration / sample)):
            self.advance(sample)
            found.append(self.state())
        return found


def reeved(build: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Take samples of a run, or the seconds of the processor for a run without."""
    method = Method(request["problem"], request["elements"], request["method"], request["knob"])
    simulation, duration, sample = build(method), request["duration"], request["sample"]
    if sample:
        return {"states": simulation.trace(duration, sample)}
    simulation.advance(2 * method.knob)  # whatever is compiled on first use is compiled here
    seconds, steps = timed(simulation, duration)
    return {"seconds": seconds, "steps": steps}


def serve(build: Any, answer: Callable[[Any, dict[str, Any]], dict[str, Any]] = answer) -> None:
    """Answer requests on standard input until it closes. What the tool prints itself goes to standard error."""
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            result = answer(build, json.loads(line))
        except Exception as error:
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {error}"}
        reply.write(json.dumps(result) + "\n")
        reply.flush()
