"""Environment steps a second: ours, alone and in vectors, beside Gymnasium's own MuJoCo environments.

    python -m benchmarks.gym [seconds]

Retrieval-v0 takes 10 steps of the paper's pendulum, with 20 elements and a moving reel, in each of its own. Vectors are
what `gymnasium.make_vec` gives: lanes for Retrieval-v0, else one environment after the other. Seconds are those of the
processor, so that other programs do not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.utils.performance import benchmark_step, benchmark_vector_step

import tautline.gym  # noqa: F401 - registers environments

# Environments in a vector.
COUNTS = {
    "Retrieval-v0": 1024,
    "CraneHoist-v0": 16,
    "HookAndLoad-v0": 16,
    "InvertedPendulum-v5": 16,
    "Hopper-v5": 16,
    "Ant-v5": 16,
}


def rate(benchmark: Callable[..., float], environment: Any, seconds: int) -> float:
    """Environment steps in a second of the processor, by a benchmark of Gymnasium that counts those of the clock."""
    clock, processor = time.perf_counter(), time.process_time()
    found = benchmark(environment, target_duration=seconds, seed=0)
    return found * (time.perf_counter() - clock) / (time.process_time() - processor)


def main(seconds: int) -> None:
    print("| environment | alone | in a vector | of |\n|---|---|---|---|")
    for name, count in COUNTS.items():
        alone = rate(benchmark_step, gymnasium.make(name), seconds)
        vector = rate(benchmark_vector_step, gymnasium.make_vec(name, num_envs=count), seconds)
        print(f"| `{name}` | {alone:.0f} | {vector:.0f} | {count} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
