"""Cost of a tick of a control loop for two bodies with two reels, beside one line and one body.

`python -m benchmarks.network_stepping`
"""

from __future__ import annotations

import time

import numpy as np

import tautline as tl
from benchmarks import stepping

TICKS = 5_000
STEP = 5e-4


def crane() -> tuple[tl.System, tl.Placed]:
    """A load on the winch of a jib, and a probe on a winch of the load."""
    load = tl.RigidBody.about_center(50.0, np.diag([4.0, 4.0, 5.0]), (0.0, 0.0, 0.3))
    rope = tl.String(20.0, 0.4, 2e4, law="linear")
    system = tl.System(
        {"load": load, "probe": tl.RigidBody.point(8.0)},
        {
            "hoist": tl.Line(rope, end="load", reel=tl.Reel(0.2, 0.1, 5.0), elements=5),
            "sling": tl.Line(
                rope, start="load", end="probe", reel=tl.Reel(0.1, 0.1, 5.0), drum_axis=(0.0, 1.0, 0.0), elements=5
            ),
        },
    )
    return system, tl.Placed({"load": (0.0, 0.0, 10.0), "probe": (0.1, 0.0, 15.0)})


def seconds_a_tick(steps: int, record: bool) -> float:
    """Mean over many ticks of so many steps each, with other torques on both reels every time."""
    simulation = tl.Simulation(*crane(), step=STEP)
    simulation.advance(steps * STEP, {"hoist": 100.0, "sling": 8.0}, record=record)
    start = time.perf_counter()
    for i in range(TICKS):
        commands = {"hoist": tl.Torque(100.0 + 1e-6 * i), "sling": tl.Torque(8.0 + 1e-6 * i)}
        simulation.advance(steps * STEP, commands, record=record)
    elapsed = time.perf_counter() - start
    assert simulation.status == "completed", simulation.message
    return elapsed / TICKS


def main() -> None:
    for record in (True, False):
        found = {}
        for name, tick in (("one body", stepping.seconds_a_tick), ("two bodies", seconds_a_tick)):
            found[name] = min(tick(1, record) for _ in range(3))
        ratio = found["two bodies"] / found["one body"]
        ticks = ", ".join(f"{name} {1e6 * x:6.1f} us" for name, x in found.items())
        print(f"record={record!s:<5}  tick of one step: {ticks}, ratio {ratio:.2f} (target 2)")


if __name__ == "__main__":
    main()
