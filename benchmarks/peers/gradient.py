"""Value and gradient of example 1: tautline, diffrax and MuJoCo. `python -m benchmarks.peers.gradient [--quick]`

Writes gradient.json and gradient.md into benchmarks/peers/results; a quick run writes into build/peers/quick instead.
After some seconds the motion is chaotic, and derivatives of several programs could not agree: the run is 2 s long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks import gradients
from benchmarks.peers import environments, page, report, tautline_gradient
from benchmarks.peers.catalogue import PEERS, problem
from benchmarks.peers.environments import FOLDER
from benchmarks.peers.measure import ELEMENTS, Peered, machine
from benchmarks.peers.protocol import Method, derivatives

Result = dict[str, Any]
DURATION = 2.0  # s
STEPS = 20_000
FEWEST = 250  # steps with which the search begins: somewhat above the limit of stability
PATIENCE = 1800.0  # s for an answer
WIDTHS = (False, True)  # by eight numbers, and by many


class Way(NamedTuple):
    """How a tool makes a gradient."""

    tool: str
    method: str  # as the tool's module knows it
    words: str
    mass: str  # of the string, by which the exact solution is chosen
    steps: int | None = None  # None: as few, of doubled numbers, as give the value as well as ours of order 2 does


OURS = Way("tautline", "order 2", "order 2", "consistent", STEPS)
WAYS = (
    OURS,
    Way("tautline", "order 4", "order 4", "consistent"),
    Way("jax", "Tsit5 consistent checkpoints", "Tsit5, adjoint with checkpoints", "consistent", STEPS),
    Way("jax", "Tsit5 consistent checkpoints", "Tsit5, adjoint with checkpoints", "consistent"),
    Way("jax", "Tsit5 consistent backsolve", "Tsit5, adjoint solved backwards", "consistent"),
    Way("mujoco", "Euler", "Euler, differences", "lumped", STEPS),
    Way("mujoco", "RK4", "RK4, differences", "lumped"),
)


class Tools:
    """The programs, each in its environment; ours in this process."""

    def __init__(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.peers = {peer.name: peer for peer in PEERS if peer.name in ("jax", "mujoco")}
        for peer in self.peers.values():
            environments.install(peer)
        self.running = {name: Peered(peer, module=f"{name}_gradient") for name, peer in self.peers.items()}

    def ask(self, way: Way, steps: int, many: bool, repeats: int, limit: float) -> Result:
        request: Result = {"problem": problem(), "elements": ELEMENTS, "method": way.method, "knob": steps}
        request |= {"duration": DURATION, "many": many, "repeats": repeats, "limit": limit}
        if way.tool == OURS.tool:
            return derivatives(tautline_gradient.Run, request)
        return self.running[way.tool].ask(PATIENCE, **request)

    def stop(self) -> None:
        for peered in self.running.values():
            peered.stop()


def sizes(many: bool) -> Any:
    """By which derivatives are made comparable: the numbers themselves, and SI for places and velocities."""
    p: Any = problem()
    rest = 6 * ELEMENTS if many else 3
    return np.array([*(p[x] for x in ("stiffness", "density", "mass", "gravity")), *np.ones(rest), DURATION])


def off(found: Result, exact: Result, many: bool) -> float:
    """Distance of a gradient from the exact one, over its length."""
    ours, true = (np.array(x["gradient"]) * sizes(many) for x in (found, exact))
    return float(np.linalg.norm(ours - true) / np.linalg.norm(true))


def enough_steps(tools: Tools, way: Way, exact: float, error: float) -> int:
    """Least number of steps, by doubling, that gives the value to an error."""
    steps = FEWEST
    while steps < STEPS and not abs(tools.ask(way, steps, False, 0, 0.0)["value"] - exact) <= error:
        steps *= 2
    return min(steps, STEPS)


def sitting(repeats: int, limit: float, say: Callable[[str], None]) -> Result:
    tools, rows = Tools(), []
    true: dict[tuple[str, bool], Result] = {}
    for mass in ("consistent", "lumped"):
        for many in WIDTHS:
            true[mass, many] = tools.ask(Way("jax", f"Dopri8 {mass} checkpoints", "", mass), 0, many, 1, limit)
    allowed = 0.0
    for way in WAYS:
        exact = true[way.mass, False]["value"]
        steps = way.steps or enough_steps(tools, way, exact, allowed)
        both = [tools.ask(way, steps, many, repeats, limit) for many in WIDTHS]
        errors = [off(found, true[way.mass, many], many) for found, many in zip(both, WIDTHS, strict=True)]
        error = abs(both[0]["value"] - exact)
        allowed = error if way is OURS else allowed
        rows.append(
            {
                "tool": way.tool,
                "words": way.words,
                "steps": steps,
                "run_seconds": min(x["run_seconds"] for x in both),
                "gradient_seconds": [x["gradient_seconds"] for x in both],
                "first": max(x["first"] for x in both),
                "value_error": error,
                "gradient_errors": errors,
            }
        )
        say(f"{way.tool}, {way.words}, {steps} steps: {rows[-1]}")
    tools.stop()
    own = tautline_gradient.Run(Method(problem(), ELEMENTS, OURS.method, STEPS), DURATION, True)
    x = gradients.costs(own.case, own.keys)
    assert x.back is not None
    preparing = (x.first + (len(own.keys) - 1) * x.further) / len(own.keys)
    return {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": {peer.title: environments.versions(peer) for peer in tools.peers.values()},
        "numbers": [len(sizes(many)) for many in WIDTHS],
        "rows": rows,
        "steps_alone": {"carried": x.carried / x.run, "back": x.back / x.run, "preparing": preparing},
    }


def cell(seconds: float, run: float) -> str:
    return f"{report.plain(1e3 * seconds)} ({report.times(seconds / run)})"


def quickest(result: Result, width: int) -> str:
    """Who makes a gradient soonest with an error of the value that is no larger than ours of order 2."""
    error = result["rows"][0]["value_error"]
    good = [row for row in result["rows"] if row["value_error"] <= error]
    best: dict[bool, float] = {}
    for row in good:
        ours, seconds = row["tool"] == OURS.tool, row["gradient_seconds"][width]
        best[ours] = min(seconds, best.get(ours, seconds))
    ratio = best[False] / best[True]
    words = f"{report.times(ratio)} as fast" if ratio >= 1.0 else f"{report.times(1.0 / ratio)} as slow"
    return f"{words} by {result['numbers'][width]}"


def markdown(result: Result) -> str:
    m, alone, (few, many) = result["machine"], result["steps_alone"], result["numbers"]
    lines = []
    for row in result["rows"]:
        run, (by_few, by_many) = row["run_seconds"], row["gradient_seconds"]
        title = {"tautline": "tautline", "jax": "diffrax", "mujoco": "MuJoCo"}[row["tool"]]
        times = [report.plain(1e3 * run), cell(by_few, run), cell(by_many, run), f"{row['first']:.1f}"]
        errors = [report.plain(x) for x in (row["value_error"], *row["gradient_errors"])]
        lines.append([f"{title}, {row['words']}", str(row["steps"]), *times, *errors])
    head = ["tool, method", "steps", "run (ms)", f"by {few} (ms)", f"by {many} (ms)", "first call, more by (s)"]
    head += ["error of the value (m)", f"of the gradient by {few}", f"by {many}"]
    versions = [
        f"{name} {found[name]}"
        for found in result["versions"].values()
        for name in ("jax", "diffrax", "mujoco")
        if name in found
    ]
    return f"""\
Measured by `python -m benchmarks.peers.gradient` on {result["date"]}: {m["processor"]}, {m["cores"]} cores,
{", ".join(versions)}, load {m["load"][0]:.1f} at the start. Times are those of the processor for whole calls, the best
of several; in brackets over the run of the same program.

{report.table(head, lines)}

Example 1 with {ELEMENTS} elements for {DURATION:g} s, the place of the body at the end along the first axis: by {few}
numbers (stiffness, density, mass, gravity, velocity of the end, duration), and by {many} (places and velocities of all
nodes in place of the last). Errors are over solutions of the same equations with a tolerance of 1e-12 (diffrax,
Dopri8): MuJoCo's string has lumped masses, the others a consistent mass matrix. Beside {STEPS} steps there are as
few, of {FEWEST} doubled, as give the value as well as the first row.

With a value at least as good as that of the first row, our quickest gradient is {quickest(result, 0)} numbers and
{quickest(result, 1)} as the quickest of the others, compilation aside. Our calls include what prepares each key,
{1e3 * alone["preparing"]:.2g} ms a key, which does not grow with the steps; the steps alone take {alone["carried"]:.1f}
times the run with eight derivatives in forward mode, and {alone["back"]:.1f} times the run with the reverse pass.
"""


if __name__ == "__main__":
    page.main("gradient", __doc__, lambda quick, say: sitting(*((1, 0.0) if quick else (5, 10.0)), say), markdown)
