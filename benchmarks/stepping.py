"""Cost of a tick of a control loop in Python beyond the kernel. `python benchmarks/stepping.py`"""

from __future__ import annotations

import time
from collections.abc import Callable

from tautline import Simulation, Torque, load
from tautline.paper.examples import EXAMPLES, start, system

TICKS = 5_000
STEP = 5e-4
READS = 500


def seconds_a_tick(steps: int, record: bool) -> float:
    """Mean over many ticks of so many steps each, with another torque every time."""
    simulation = Simulation(system(), start(EXAMPLES[2]), step=STEP)
    simulation.advance(steps * STEP, Torque(2.0), record=record)
    begun = time.perf_counter()
    for i in range(TICKS):
        simulation.advance(steps * STEP, Torque(2.0 + 1e-6 * i), record=record)
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


if __name__ == "__main__":
    main()
