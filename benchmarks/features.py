"""Cost of each feature to a step of the examples, over a step without it. `python benchmarks/features.py`

Processor time of whole calls of `simulate` at N = 20 and h = 5e-5 with nothing sampled in between, best of several.
Machines are noisy: read the ratios.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

import tautline as tl
from tautline.paper import examples

STEPS = 100_000
STEP = 5e-5
REPEATS = 7
replace = dataclasses.replace


def microseconds(system: tl.System, command: tl.Command, stop: tuple[tl.StopWhen, ...] = ()) -> float:
    """Time of one step."""
    start = tl.Straight(10.0, direction=(0.26, 0.0, 0.97), end_velocity=(0.0, 0.5, 0.0))
    best = np.inf
    for _ in range(REPEATS):
        begun = time.process_time()
        run = tl.simulate(system, start, command, duration=STEPS * STEP, step=STEP, sample=STEPS * STEP, stop=stop)
        best = min(best, time.process_time() - begun)
        assert run.attrs["status"] == "completed", run.attrs["message"]
    return 1e6 * best / STEPS


def main() -> None:
    line, body = examples.system().lines["line"], examples.system().bodies["body"]
    string, reel = line.string, line.reel
    assert reel is not None and isinstance(body, tl.RigidBody)

    def changed(string: tl.String = string, reel: tl.Reel = reel, **others: Any) -> tl.System:
        return tl.pendulum(string, reel, body, elements=20, **others)

    def on_deck(deck: tl.Kinematic) -> tl.System:
        lines = {"line": tl.Line(string, start="deck", end="body", reel=reel, elements=20)}
        return tl.System({"deck": deck, "body": body}, lines)

    plain = changed()
    strains = np.linspace(-0.2, 1.0, 13)
    path = tl.motions.GuidePath.of(lambda t: (0.5 * np.sin(t), 0.0, 0.0), 5.0, 0.1)
    sea = tl.motions.Waves("jonswap", "0.5 m", "6 s", seed=1, ramp="3 s")
    tide = tl.flows.FlowTable.of(
        lambda t, z: (0.2 * np.sin(t) * np.exp(-z / 30.0), 0.0, 0.0), 5.0, 0.05, depths=(0.0, 5.0, 10.0)
    )
    systems = {
        "plain": plain,
        "tension only": changed(replace(string, law="tension_only")),
        "table": changed(tl.String.from_table(100.0, 0.025, strains, 40.0 * strains)),
        "damping": changed(replace(string, viscosity=0.1)),
        "wind": changed(replace(string, diameter=0.005), fluid=tl.Fluid(1.2, (2.0, 0.0, 0.0), 0.1)),
        "wind over time and depth": changed(
            replace(string, diameter=0.005),
            fluid=tl.Fluid(
                1.2, (2.0, 0.0, 0.0), 0.1, unsteady=tl.flows.Turbulence(0.2, 50.0, depths=(0.0, 5.0, 10.0), ramp=1.0)
            ),
        ),
        "damping, wind, spin damping": changed(
            replace(string, viscosity=0.1, diameter=0.005),
            fluid=tl.Fluid(1.2, (2.0, 0.0, 0.0), 0.1, spin_damping=1e-3),
        ),
        "gust": changed(
            replace(string, diameter=0.005),
            fluid=tl.Fluid(1.2, (2.0, 0.0, 0.0), 0.1, unsteady=tl.flows.Gust(2.0, start=1.0)),
        ),
        "flow table over time and depth": changed(
            replace(string, diameter=0.005), fluid=tl.Fluid(1.2, (2.0, 0.0, 0.0), 0.1, unsteady=tide)
        ),
        "water in waves": changed(
            replace(string, diameter=0.005),
            fluid=tl.Fluid(1025.0, (0.0, 0.0, 0.0), 0.01, unsteady=tl.flows.WaveFlow(sea)),
        ),
        "wing, drag and added mass by direction": changed(
            replace(string, diameter=0.005),
            fluid=tl.Fluid(
                1.2,
                (2.0, 0.0, 0.0),
                (0.1, 0.2, 0.3),
                added_mass=(0.01, 0.02, 0.05),
                wing_area=0.1,
                wing_lift=([-0.3, 0.3], [-1.0, 1.0]),
                wing_drag=0.05,
            ),
        ),
        "moving guide": changed(guide=path),
        "turning body (network)": on_deck(tl.Kinematic(turning=tl.motions.Rocking(((0.1, 0.05, 0.0),), (8.0,)))),
        "ship motion (network)": on_deck(
            tl.Kinematic(tl.motions.ShipMotion(sea, (3, 12), ((0, 0, 0.1), (0, 0, 1)), ((0, 0, 0), (0.03, 0.0, 0.0))))
        ),
        "guide law stretched": changed(reel=replace(reel, guide_law="stretched")),
        "drum friction": changed(reel=replace(reel, coulomb_friction=0.1, viscous_friction=0.01)),
        "growing drum": changed(reel=replace(reel, layer_growth=1e-3)),
    }
    print("Microseconds a step (over the plain one at constant length): locked, and with a torque of 1.2 N m")
    base = microseconds(plain, tl.Locked())
    for name, system in systems.items():
        found = [microseconds(system, command) for command in (tl.Locked(), tl.Torque(1.2))]
        cells = "  ".join(f"{x:7.3f} ({x / base:5.2f}x)" for x in found)
        print(f"{name:>38}  {cells}")
    commands: dict[str, tl.Command] = {
        "Length": tl.Length.to(9.0, speed=0.5, acceleration=1.0, jerk=2.0),
        "Impedance": tl.Impedance(9.5, stiffness=5.0, damping=5.0),
        "Brake": tl.Brake(0.3),
        "Sequence": tl.Sequence(tl.Stage(tl.Torque(1.2), until=2.0), tl.Torque(1.0)),
    }
    for name, command in commands.items():
        x = microseconds(plain, command)
        print(f"{name:>38}  {'':16}  {x:7.3f} ({x / base:5.2f}x)")
    stop = (tl.StopWhen("norm(body_velocity) > '100 m/s'"),)
    x = microseconds(plain, tl.Locked(), stop)
    print(f"{'expression as stop condition':>38}  {x:7.3f} ({x / base:5.2f}x)")


if __name__ == "__main__":
    main()
