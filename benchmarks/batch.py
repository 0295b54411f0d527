"""Member-steps a second: simulations together in lanes, over one after the other. `python benchmarks/batch.py`

Example 1 (constant length) and example 3 (retrieval) with members of different stiffness, nothing sampled in between.
The time of one thread on one core, and how two threads share blocks of members. Read the ratios.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.ensemble import march_ensemble
from tautline.engine.runner import Runner
from tautline.kernels.lanes import LANES
from tautline.model.chain.state import straight
from tautline.model.chain.systems import chain_of

STEP = 5e-4
REPEATS = 3
MEMBERS = 8 * LANES
# Member-steps in a measurement, at N = 20; a moving reel would come to its end in a longer one.
WORK = {"constant length": 4_000_000, "moving reel": 400_000}


def prepared(command: tl.Command, N: int, steps: int) -> list[Runner[ChainBackend]]:
    simulations, plain = [], chain_of(tl.load("fixed-length").system)
    for i in range(MEMBERS):
        chain = dataclasses.replace(plain, string=dataclasses.replace(plain.string, stiffness=40.0 - 0.1 * i))
        state = straight(chain, 10.0, N, (0.26, 0.0, 0.97), end_velocity=(0.0, 0.5, 0.0))
        step = STEP * min(1.0, 20 / N)
        simulation = Runner(ChainBackend(chain, state, step=step))
        simulation.begin(command, steps * step, steps * step)
        simulations.append(simulation)
    return simulations


def one_by_one(simulations: list[Runner[ChainBackend]]) -> None:
    for simulation in simulations:
        simulation.march(1, simulation.stepper.plan)


def best_microseconds(command: tl.Command, N: int, work: int) -> list[float]:
    """A member-step: one by one, in lanes, in lanes with two threads."""
    steps = max(1, work * 20 // (N * MEMBERS))
    ways: list[Callable[[list[Runner[ChainBackend]]], object]] = [
        one_by_one,
        lambda x: march_ensemble(x, 1),
        lambda x: march_ensemble(x, 1, threads=2),
    ]
    best = [float("inf")] * len(ways)
    for _ in range(REPEATS):
        for i, way in enumerate(ways):
            simulations = prepared(command, N, steps)
            start = time.perf_counter()
            way(simulations)
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e6 * x / (steps * MEMBERS) for x in best]


def main() -> None:
    print(f"{MEMBERS} members, {LANES} lanes. Microseconds a member-step (over one by one); two threads over one")
    commands: dict[str, tl.Command] = {"constant length": tl.Locked(), "moving reel": tl.Torque(1.2)}
    for name, command in commands.items():
        for N in (5, 20, 100):
            alone, lanes, threads = best_microseconds(command, N, WORK[name])
            print(
                f"{name:>16} N = {N:3}  one by one {alone:6.3f}   in lanes {lanes:6.3f} ({alone / lanes:4.2f}x)"
                f"   two threads {threads:6.3f} ({lanes / threads:4.2f}x)"
            )


if __name__ == "__main__":
    main()
