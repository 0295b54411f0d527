"""Cost of a tick of a control loop beyond the kernel, for one body and for two. `python benchmarks/stepping.py`"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from tautline import Simulation, Torque, load
from tautline.paper.examples import EXAMPLES, start, system

TICKS = 5_000
STEP = 5e-4
READS = 500


def crane() -> tuple[tl.System, tl.Placed]:
    """A load on the winch of a jib, and a probe on a winch of the load."""
    load = tl.RigidBody.about_center(50.0, np.diag([4.0, 4.0, 5.0]), (0.0, 0.0, 0.3))
    rope = tl.String(20.0, 0.4, 2e4, law="linear")
    lines = {
        "hoist": tl.Line(rope, end="load", reel=tl.Reel(0.2, 0.1, 5.0), elements=5),
        "sling": tl.Line(
            rope, start="load", end="probe", reel=tl.Reel(0.1, 0.1, 5.0), drum_axis=(0.0, 1.0, 0.0), elements=5
        ),
    }
    places = tl.Placed({"load": (0.0, 0.0, 10.0), "probe": (0.1, 0.0, 15.0)})
    return tl.System({"load": load, "probe": tl.RigidBody.point(8.0)}, lines), places


# System and start, and the torques of the reels at first.
ONE_BODY: tuple[Any, dict[str, float]] = (system(), start(EXAMPLES[2])), {"line": 2.0}
TWO_BODIES: tuple[Any, dict[str, float]] = crane(), {"hoist": 100.0, "sling": 8.0}


def seconds_a_tick(steps: int, record: bool, given: tuple[Any, dict[str, float]] = ONE_BODY) -> float:
    """Mean over many ticks of so many steps each, with other torques every time."""
    what, torques = given
    simulation = Simulation(*what, step=STEP)
    simulation.advance(steps * STEP, torques, record=record)
    begun = time.perf_counter()
    for i in range(TICKS):
        commands = {name: Torque(x + 1e-6 * i) for name, x in torques.items()}
        simulation.advance(steps * STEP, commands, record=record)
    elapsed = time.perf_counter() - begun
    assert simulation.status == "completed", simulation.message
    return elapsed / TICKS


def sensors_us(name: str) -> dict[str, float]:
    """Microseconds of processor of sensors read at one moment, and of a millisecond of motion."""
    sim = Simulation.from_case(load(name))
    torques = {name: sim.lines[name].torque for name, line in sim.system.lines.items() if line.reel is not None}
    line, body = next(iter(sim.lines.values())), sim.bodies[sim.system.lines[next(iter(sim.lines))].end]
    sim.advance(0.01, {name: Torque(x) for name, x in torques.items()})
    reads: dict[str, Callable[[], object]] = {
        "tension": lambda: line.end_tension,
        "tensions, torque, power": lambda: (line.start_tension, line.end_tension, line.torque, line.power),
        "position, velocity": lambda: (body.position, body.velocity),
        "all": lambda: (line.end_tension, line.torque, line.end_angle, body.position_of((0.0, 0.0, 1.0)), body.tilt),
        "advance by 1 ms": lambda: sim.advance(0.001, record=False),
    }

    def loop() -> None:
        """A tick of control at 1 kHz: all sensors, and another torque."""
        reads["all"]()
        sim.advance(0.001, {name: Torque(x + 1e-6 * line.end_tension) for name, x in torques.items()}, record=False)

    found = {}
    for what, read in (reads | {"control loop at 1 kHz": loop}).items():
        begun = time.process_time()
        for _ in range(READS):
            sim.touch()
            read()
        found[what] = (time.process_time() - begun) / READS * 1e6
    return found


def main() -> None:
    for name in ("crane-hoist", "hook-and-load"):
        costs = ", ".join(f"{what} {us:.0f} us" for what, us in sensors_us(name).items())
        print(f"sensors of {name}: {costs}")
    for record in (True, False):
        one, two = (min(seconds_a_tick(n, record) for _ in range(5)) for n in (1, 2))
        step = two - one
        print(
            f"record={record!s:<5}  tick of one step {one * 1e6:6.1f} us, a step {step * 1e6:5.2f} us, "
            f"overhead of the tick {(one - step) * 1e6:6.1f} us (target 20)"
        )
        both = min(seconds_a_tick(1, record, TWO_BODIES) for _ in range(5))
        print(f"{'':14}of two bodies with two reels {both * 1e6:6.1f} us, ratio {both / one:.2f} (target 2)")


if __name__ == "__main__":
    main()
