"""What a tick of a control loop in Python costs beyond the kernel. `python benchmarks/stepping.py`"""

from __future__ import annotations

import time

from tautline import Simulation, Torque
from tautline.paper.examples import EXAMPLES, start, system

TICKS = 5_000
STEP = 5e-4


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


def main() -> None:
    for record in (True, False):
        one, two = (min(seconds_a_tick(n, record) for _ in range(5)) for n in (1, 2))
        step = two - one
        print(
            f"record={record!s:<5}  tick of one step {one * 1e6:6.1f} us, a step {step * 1e6:5.2f} us, "
            f"overhead of the tick {(one - step) * 1e6:6.1f} us (target 20)"
        )


if __name__ == "__main__":
    main()
