"""Cost of derivatives of a run, over the run itself. `python -m benchmarks.gradients [preparing]`

Processor time of 20 000 steps, best of several: the run, its samples with derivatives by eight numbers (forward mode),
and the gradient of one number by any number of keys (reverse pass). Preparing is apart: from the case to derivatives
of all that the run starts from, by one key, and what each further one adds. Machines are noisy: read the ratios.
`python -m benchmarks.peers.gradient` has example 1 beside other programs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

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
REPEATS, REPEATS_OF_PREPARING = 3, 30
ROWS = 20
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "example 1: constant length": ("fixed-length", {}),
    "constant length, damped": ("fixed-length", {"string.damping_ratio": 0.05}),
    "deployment by a torque": ("deployment", {}),
    "deployment, damped": ("deployment", {"string.damping_ratio": 0.05}),
    "deployment, slack allowed, damped": ("deployment", {"string.law": "tension_only", "string.damping_ratio": 0.05}),
    "deployment from a guide that moves": (
        "deployment",
        {"guide": {"kind": "sine", "amplitude": [0.02, 0.0, 0.01], "period": 0.7}},
    ),
}
# Scenarios of several lines, and keys of each.
NETWORKS = {
    "a platform on four ropes with winches": ("cable-robot", "lines.north-east", "bodies.platform.mass"),
    "hook and load below a crane": ("hook-and-load", "lines.hoist", "bodies.load.mass"),
}
OF_LINES = ("stiffness", "density", "length", "start_point[0]", "reel.drum_radius")
EVERY = [
    *("gravity", "body.mass", "body.semi_axes[0]", "body.semi_axes[1]", "body.height", "run.duration"),
    *("string.length", "string.density", "string.stiffness", "string.normal_drag", "string.tangential_drag"),
    *(f"reel.{x}" for x in ("drum_radius", "guide_length", "inertia_mass", "smoothing_speed", "gear_ratio")),
    *(f"reel.guide_position[{k}]" for k in range(3)),
    *(f"body.center_of_mass[{k}]" for k in range(3)),
    "initial.deployed",
    *(f"initial.{x}[{k}]" for x in ("direction", "end_velocity", "angular_velocity") for k in range(3)),
]
KEYS = [
    *("string.stiffness", "string.density", "body.mass", "gravity"),
    *(f"initial.end_velocity[{k}]" for k in range(3)),
    "run.duration",
]


def best_of(make: Callable[[], Callable[[], Any]], repeats: int = REPEATS) -> float:
    """Processor time (s)."""
    found = np.inf
    for _ in range(repeats):
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
        stepper = begun.simulation.stepper
        out = stepper.samples_for(ROWS)
        return lambda: stepper.call(MARCH, out=out, plan=begun.setting.plan)
    par, plan, command, motion, loads, _ = begun.setting
    rows, scratch, backups = data.empty_samples(ROWS, par.N), data.empty_scratch(par.N), data.empty_backups(motion)
    given = loads if loads.acts or loads.moves else None
    return lambda: march(par, plan, command, motion, scratch, backups, rows, given)


class Costs(NamedTuple):
    """Seconds of a run, with eight derivatives, with the reverse pass if there is one, and of preparing keys."""

    run: float
    carried: float
    back: float | None
    first: float  # of preparing one key
    further: float  # of each further one


def preparing(case: tl.Case, keys: list[str]) -> tuple[float, float]:
    """Seconds of preparing one key, and of each further one."""

    def prepared(names: list[str]) -> float:
        return best_of(lambda: partial(prepared_run, case, names), REPEATS_OF_PREPARING)

    one = prepared(keys[:1])
    return one, (prepared(keys) - one) / (len(keys) - 1)


def costs(case: tl.Case, keys: list[str]) -> Costs:
    """Costs of a run and of its derivatives."""
    runs = runs_of(case, keys)

    def carried() -> Callable[[], Any]:
        setting = runs.begun({}).setting
        tangents = tangents_of(setting.without_workspace())
        return lambda: march_along(setting, tangents, ROWS)

    prepared = prepared_run(case, keys)
    objective = tl.objectives.Final("position[-1, 0]")

    def taken_back() -> Callable[[], Any]:
        ready = prepared_run(case, keys[:1])
        return lambda: ready.begun.gradient_back(ready, objective, ["position"])

    back = best_of(taken_back) if prepared.begun.has_adjoint() else None
    return Costs(best_of(lambda: plain_march(runs)), best_of(carried), back, *preparing(case, keys))


def with_steps(case: Any, step: float) -> Any:
    """A case of STEPS steps of a length (s)."""
    return case.with_({"run.step": step, "run.sample": STEPS // ROWS * step, "run.duration": STEPS * step})


def cases() -> Iterator[tuple[str, tl.Case, list[str]]]:
    """Cases of the table, and the keys that are prepared."""
    for words, (name, changes) in CASES.items():
        case = tl.load(name).with_(changes)
        yield words, with_steps(case, runs_of(case, []).steps.length(case.run.duration)), KEYS
    for words, (name, line, key) in NETWORKS.items():
        case = tl.load(name)
        short = case.with_({"run.duration": 4.0 * case.run.interval()})
        step = runs_of(short, []).steps.length(short.run.duration)
        yield words, with_steps(case, step), [key, *(f"{line}.{x}" for x in OF_LINES)]


def keys_alone() -> None:
    """Print what it takes to prepare keys."""
    print("| preparing | the first key (ms) | each further one (ms) |\n|---|---|---|")
    for words, case, keys in cases():
        first, further = preparing(case, keys)
        print(f"| {words} | {1e3 * first:.1f} | {1e3 * further:.2f} |")
    for words in ("example 1: constant length", "deployment by a torque"):
        case = next(case for name, case, _ in cases() if name == words)
        first, further = preparing(case, EVERY)
        print(f"| {words}, {len(EVERY)} keys | {1e3 * first:.1f} | {1e3 * further:.2f} |")
    case, keys = hoist_by_a_table()
    first, further = preparing(case, keys)
    print(f"| a table of 101 torques | {1e3 * first:.1f} | {1e3 * further:.2f} |")


def main() -> None:
    """Print the table."""
    print("| 20 000 steps | run (ms) | with 8 derivatives | reverse pass, any number | a key, each further (ms) |")
    print("|---|---|---|---|---|")
    for words, case, keys in cases():
        x = costs(case, keys)
        backward = "" if x.back is None else f"{x.back / x.run:.1f} x"
        prepared = f"{1e3 * x.first:.1f}, {1e3 * x.further:.2f}"
        print(f"| {words} | {1e3 * x.run:.2f} | {x.carried / x.run:.1f} x | {backward} | {prepared} |", flush=True)


def hoist_by_a_table() -> tuple[tl.Case, list[str]]:
    """A damped crane under a table of torques, and the keys of its entries."""
    times = np.linspace(0.0, 8.0, 101)
    torques = np.interp(times, [0.0, 1.0, 4.0, 5.0, 8.0], [1600.0, 1750.0, 1750.0, 1560.0, 1560.0])
    command = {"kind": "torque", "times": times.tolist(), "torques": torques.tolist()}
    # damping of a law that goes slack has no adjoint
    changes = {"command": command, "string.law": "linear", "run.duration": 2.0, "run.sample": 0.02}
    case = tl.load("crane-hoist").with_(changes)
    case = case.with_({"run.step": runs_of(case, []).steps.length(2.0)})
    return case, [f"command.torques[{k}]" for k in range(len(times))]


def reverse_pass() -> None:
    """Print what gradients of a damped crane by many keys cost with the reverse pass, and without."""
    from tautline.gradients.chain.runs import Begun

    case, names = hoist_by_a_table()
    run = best_of(lambda: lambda: tl.simulate(case))
    print("\n| crane-hoist, over the run | with the reverse pass | without |")
    print("|---|---|---|")
    taken = Begun.has_adjoint
    for count in (10, 40, 100):
        keys, found = names[:count], []
        for has in (taken, lambda self: False):
            Begun.has_adjoint = has  # type: ignore[method-assign]
            gradient = partial(tl.value_and_gradient, case, tl.objectives.Final("position[-1, 2]"), keys)
            found.append(best_of(partial(partial, gradient)))
        back, forward = found
        print(f"| {count} keys | {back / run:.1f} x | {forward / run:.1f} x |")


if __name__ == "__main__":
    if "preparing" in sys.argv:
        keys_alone()
    else:
        main()
        reverse_pass()
