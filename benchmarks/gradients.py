"""What derivatives of a run cost, over the run itself. `python -m benchmarks.gradients`

Processor time of 20 000 steps, best of several: the run, its samples with derivatives by eight numbers (carried along),
and the gradient of one number by any number of keys (on the way back). Preparing is apart: it differentiates the
lowering, once a key. Machines are noisy: read the ratios. `python -m benchmarks.peers.gradient` has example 1 beside
other programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tautline as tl
from tautline.gradients.leaves import leaves
from tautline.gradients.marching import march_along
from tautline.gradients.network.runs import NetworkRuns
from tautline.gradients.run import prepared_run
from tautline.gradients.runs import Runs, runs_of
from tautline.kernels import data
from tautline.kernels.march import march
from tautline.kernels.network.march import MARCH
from tautline.kernels.tangents import TANGENTS

STEPS = 20_000
REPEATS = 3
ROWS = 20
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "example 1: constant length": ("fixed-length", {}),
    "constant length, damped": ("fixed-length", {"string.damping_ratio": 0.05}),
    "deployment by a torque": ("deployment", {}),
    "deployment, damped": ("deployment", {"string.damping_ratio": 0.05}),
}
# Scenarios of several lines, and a key of each.
NETWORKS = {
    "a platform on four ropes with winches": ("cable-robot", "bodies.platform.mass"),
    "hook and load below a crane": ("hook-and-load", "bodies.load.mass"),
}
KEYS = [
    *("string.stiffness", "string.density", "body.mass", "gravity"),
    *(f"initial.end_velocity[{k}]" for k in range(3)),
    "run.duration",
]


def best_of(make: Callable[[], Callable[[], Any]]) -> float:
    """Processor time (s)."""
    found = np.inf
    for _ in range(REPEATS):
        run = make()
        begun = time.process_time()
        run()
        found = min(found, time.process_time() - begun)
    return float(found)


def tangents_of(setting: Any) -> list[Any]:
    """Eight derivatives of all that a march starts from: each number itself."""
    tangents = [np.ones((*np.shape(x), TANGENTS)) * np.asarray(x)[..., None] for x in leaves(setting)]
    return [np.where(np.isfinite(t), t, 0.0) for t in tangents]


def plain_march(runs: Runs) -> Callable[[], Any]:
    """The run without derivatives, at its start."""
    begun: Any = runs.begun({})
    if isinstance(runs, NetworkRuns):
        out = begun.simulation.samples_for(ROWS)
        return lambda: begun.simulation.call(MARCH, out=out, plan=begun.setting.plan)
    par, plan, command, motion, loads, _ = begun.setting
    rows, scratch, backups = data.empty_samples(ROWS, par.N), data.empty_scratch(par.N), data.empty_backups(motion)
    given = loads if loads.acts or loads.moves else None
    return lambda: march(par, plan, command, motion, scratch, backups, rows, given)


def costs(case: tl.Case, keys: list[str]) -> tuple[float, float, float | None, float]:
    """Seconds of the run, with eight derivatives, with the way back if there is one, and of preparing one key."""
    runs = runs_of(case, keys)

    def carried() -> Callable[[], Any]:
        setting = runs.begun({}).setting
        tangents = tangents_of(setting.without_workspace())
        return lambda: march_along(setting, tangents, ROWS)

    begun = time.process_time()
    prepared = prepared_run(case, keys)
    preparing = (time.process_time() - begun) / len(keys)
    objective = tl.Final("position[-1, 0]")

    def taken_back() -> Callable[[], Any]:
        ready = prepared_run(case, keys[:1])
        return lambda: ready.begun.gradient_back(ready, objective, ["position"])

    back = best_of(taken_back) if prepared.begun.has_adjoint() else None
    return best_of(lambda: plain_march(runs)), best_of(carried), back, preparing


def with_steps(case: Any, step: float) -> Any:
    """A case of STEPS steps of a length (s)."""
    return case.with_({"run.step": step, "run.sample": STEPS // ROWS * step, "run.duration": STEPS * step})


def main() -> None:
    """Print the table."""
    print("| 20 000 steps | run (ms) | with 8 derivatives | way back, any number | preparing a key (ms) |")
    print("|---|---|---|---|---|")
    found: dict[str, tuple[float, float, float | None, float]] = {}
    for words, (name, changes) in CASES.items():
        case = tl.load(name).with_(changes)
        found[words] = costs(with_steps(case, runs_of(case, []).steps.length(case.run.duration)), KEYS)
    for words, (name, key) in NETWORKS.items():
        case = tl.load(name)
        short = case.with_({"run.duration": 4.0 * case.run.interval()})
        found[words] = costs(with_steps(case, runs_of(short, []).steps.length(short.run.duration)), [key])
    for words, (run, carried, back, preparing) in found.items():
        backward = "" if back is None else f"{back / run:.1f} x"
        print(f"| {words} | {1e3 * run:.2f} | {carried / run:.1f} x | {backward} | {1e3 * preparing:.0f} |")


def reverse_pass() -> None:
    """Print what gradients of a damped crane by many keys cost with the reverse pass, and without."""
    from tautline.gradients.chain.runs import Begun

    times = np.linspace(0.0, 8.0, 101)
    torques = np.interp(times, [0.0, 1.0, 4.0, 5.0, 8.0], [1600.0, 1750.0, 1750.0, 1560.0, 1560.0])
    command = {"kind": "torque", "times": times.tolist(), "torques": torques.tolist()}
    case = tl.load("crane-hoist").with_({"command": command, "run.duration": 2.0, "run.sample": 0.02})
    case = case.with_({"run.step": runs_of(case, []).steps.length(2.0)})
    run = best_of(lambda: lambda: tl.simulate(case))
    print("\n| crane-hoist, over the run | with the reverse pass | without |")
    print("|---|---|---|")
    taken = Begun.has_adjoint
    for count in (10, 40, 100):
        keys, found = [f"command.torques[{k}]" for k in range(count)], []
        for has in (taken, lambda self: False):
            Begun.has_adjoint = has  # type: ignore[method-assign]
            gradient = partial(tl.value_and_gradient, case, tl.Final("position[-1, 2]"), keys)
            found.append(best_of(partial(partial, gradient)))
        back, forward = found
        print(f"| {count} keys | {back / run:.1f} x | {forward / run:.1f} x |")


if __name__ == "__main__":
    main()
    reverse_pass()
