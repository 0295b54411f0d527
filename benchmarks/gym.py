"""Environment steps a second: ours, alone and in lanes, beside Gymnasium's own MuJoCo environments.

    python -m benchmarks.gym [seconds]

Retrieval-v0 takes 10 steps of the paper's pendulum, with 20 elements and a moving reel, in each of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import gymnasium
import numpy as np
from gymnasium.utils.performance import benchmark_step

import tautline.gym  # noqa: F401 - registers environments

ALONE = ("Retrieval-v0", "CraneHoist-v0", "HookAndLoad-v0")
MUJOCO = ("InvertedPendulum-v5", "Hopper-v5", "Ant-v5")


def rate(step: Callable[[], object], count: int, seconds: float) -> float:
    """Environment steps in a second of the processor, where a call makes so many."""
    step()
    begun, calls = time.process_time(), 0
    while time.process_time() - begun < seconds:
        step()
        calls += 1
    return calls * count / (time.process_time() - begun)


def main(seconds: float) -> None:
    print(f"{'environment':<24}{'alone (benchmark_step, wall)':>30}{'1024 at once (processor)':>28}")
    for name in (*ALONE, *MUJOCO):
        try:
            environment = gymnasium.make(name)
        except Exception as error:  # MuJoCo's environments need a package of their own
            print(f"{name:<24}{type(error).__name__:>30}")
            continue
        alone, vector = benchmark_step(environment, target_duration=round(seconds), seed=0), ""
        if name == "Retrieval-v0":
            many = gymnasium.make_vec(name, num_envs=1024)
            many.reset(seed=0)
            vector = f"{rate(partial(many.step, np.zeros((1024, 1))), 1024, seconds):.0f}"
        print(f"{name:<24}{alone:>30.0f}{vector:>28}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
