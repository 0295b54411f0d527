"""Cost of a step of the network kernels, over one of the chain's with a reel. `python benchmarks/network.py`

Processor time of whole calls with nothing sampled in between, best of several. Machines are noisy: read the ratios.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import tautline as tl
from tautline.kernels.data import ITERATIONS

STEPS = 10_000
REPEATS = 5
REEL = tl.Reel(0.2, 0.4, 1.5, guide_law="none")
LENGTH = 10.0
# A reel that goes to and fro, and stays within its string.
SPRING = tl.Impedance(LENGTH, 50.0, 20.0)
TORQUE = tl.Torque(0.1)


class Cost(NamedTuple):
    """Cost of a step."""

    time: float  # us
    rounds: float  # iterations of Newton's method

    def __str__(self) -> str:
        return f"{self.time:.2f} us in {self.rounds:.2f} rounds"


def best_of(make: Any) -> Cost:
    """The least time of several runs, which are alike."""
    found, rounds = np.inf, 0.0
    for _ in range(REPEATS):
        simulation, run = make()
        clock = simulation.runner.stepper.counted_from()[1]
        before, begun = int(clock[ITERATIONS]), time.process_time()
        run()
        found, rounds = min(found, time.process_time() - begun), (int(clock[ITERATIONS]) - before) / STEPS
    return Cost(float(1e6 * found / STEPS), rounds)


def rope(spooled: float) -> tl.String:
    return tl.String(LENGTH + spooled, 0.05, 2000.0, law="linear")


def step_for(elements: int) -> float:
    """A quarter of the stability limit (s)."""
    string = rope(0.0)
    return float(0.25 * LENGTH / elements / np.sqrt(3.0 * string.stiffness / string.density))


def chain(elements: int, command: tl.Command, shaken: bool = False) -> Cost:
    """One line with one body, which goes round smoothly; or with waves, let go below its drum without the strain."""
    body = tl.RigidBody.box(1.2, (0.3, 0.2, 0.2), (0.1, 0.05, 0.1))
    system = tl.pendulum(rope(20.0), REEL, body, gravity=9.81 if shaken else 0.0, elements=elements)
    start = tl.Straight(LENGTH, end_velocity=(0.0, 0.5, 0.0))

    def make() -> Any:
        simulation = tl.Simulation(system, start, step=step_for(elements))
        simulation.advance(step_for(elements), command, record=False)

        def run() -> None:
            status = simulation.advance(STEPS * step_for(elements), record=False)
            assert status == "completed", simulation.message

        return simulation, run

    return best_of(make)


def measured(system: tl.System, places: dict[str, Any], commands: dict[str, tl.Command], step: float) -> Cost:
    def make() -> Any:
        simulation = tl.Simulation(system, tl.Placed(places), step=step)
        simulation.advance(step, commands)

        def run() -> None:
            status = simulation.advance(STEPS * step)
            assert status == "completed", simulation.message

        return simulation, run

    return best_of(make)


def two_bodies(elements: int, reel: bool, viscosity: float = 0.0) -> Cost:
    """Two free bodies, in free space."""
    string = rope(20.0 if reel else -0.05)
    string = tl.String(string.length, string.density, string.stiffness, viscosity=viscosity, law="linear")
    line = tl.Line(
        string,
        start="one",
        start_point=(0.2, -0.1, 0.3),
        end="other",
        end_point=(-0.1, 0.15, 0.05),
        reel=REEL if reel else None,
        drum_axis=(0, 1, 0) if reel else None,
        elements=elements,
    )
    one, other = tl.RigidBody.box(5.0, (0.5, 0.4, 0.3), (0, 0, 0)), tl.RigidBody.box(1.2, (0.3, 0.2, 0.2), (0, 0, 0))
    system = tl.System({"one": one, "other": other}, {"tether": line}, 0.0)
    places = {
        "one": tl.BodyState((0, 0, 0), angular_velocity=(0.1, 0.2, 0.1)),
        "other": tl.BodyState((LENGTH + 0.3, 0, 0), velocity=(0, 0.3, 0)),
    }
    commands: dict[str, tl.Command] = {"tether": TORQUE} if reel else {}
    return measured(system, places, commands, step_for(elements))


def four_ropes(elements: int) -> Cost:
    """A platform on four ropes with four winches."""
    platform = tl.RigidBody.box(8.0, (1.0, 1.0, 0.4), (0, 0, 0))
    corners = {"a": (1, 1), "b": (-1, 1), "c": (-1, -1), "d": (1, -1)}
    lines = {
        name: tl.Line(
            rope(20.0),
            start_point=(5 * x, 5 * y, 0),
            end="platform",
            end_point=(0.5 * x, 0.5 * y, -0.2),
            reel=REEL,
            elements=elements,
        )
        for name, (x, y) in corners.items()
    }
    system = tl.System({"platform": platform}, lines)
    commands: dict[str, tl.Command] = dict.fromkeys(lines, SPRING)
    return measured(system, {"platform": (0, 0, 7.9)}, commands, step_for(elements))


def orbit() -> tuple[float, int]:
    """Seconds for one orbit of a tether of 20 km with 40 elements, and its steps."""
    frame = tl.Orbit(6.878e6)
    line = tl.Line(
        tl.String(20_000.0, 0.005, 5e4, damping_ratio=0.05, law="linear"),
        start="upper",
        start_point=(-0.5, 0, 0),
        end="lower",
        end_point=(0.5, 0, 0),
        elements=40,
    )
    bodies = {
        "upper": tl.RigidBody.box(500.0, (1, 1, 1), (0, 0, 0)),
        "lower": tl.RigidBody.box(100.0, (1, 1, 1), (0, 0, 0)),
    }
    system = tl.System(bodies, {"tether": line}, orbit=frame)
    high, low = 20_030.0 / 6.0, -5.0 * 20_030.0 / 6.0
    places = {
        name: tl.BodyState((x, 0, 0), (0, frame.rate * x, 0), angular_velocity=(0, 0, frame.rate))
        for name, x in (("upper", high), ("lower", low))
    }
    begun = time.process_time()
    run = tl.simulate(system, tl.Placed(places), duration=frame.period, sample=frame.period / 500)
    assert run.attrs["status"] == "completed", run.attrs["message"]
    return time.process_time() - begun, int(run.attrs["steps"])


def main() -> None:
    for N in (20, 100, 400):
        own = chain(N, TORQUE)
        found, locked = two_bodies(N, True), two_bodies(N, False)
        print(
            f"N = {N:3}: one line and one body with a moving reel {own}; two bodies with a reel on one {found} "
            f"({found.time / own.time:.2f} x); at constant length {locked} ({locked.time / own.time:.2f} x)"
        )
    damped = two_bodies(20, True, 5.0)
    print(f"two bodies with a reel, damped, N = 20: {damped} ({damped.time / chain(20, TORQUE).time:.2f} x)")
    smooth, own, found = chain(10, SPRING), chain(10, SPRING, shaken=True), four_ropes(10)
    print(
        f"four ropes of 10 elements with four reels: {found}, {found.time / (4 * smooth.time):.2f} x four single lines "
        f"that move smoothly ({smooth}), {found.time / (4 * own.time):.2f} x four with waves ({own})"
    )
    seconds, steps = orbit()
    print(f"one orbit of a tether of 20 km, 40 elements: {seconds:.2f} s of processor time, {steps} steps")


if __name__ == "__main__":
    main()
