"""Many members of example 1 at once: tautline, mujoco.batch, JAX vmap. `python -m benchmarks.peers.ensemble [--quick]`

Writes ensemble.json and ensemble.md into benchmarks/peers/results; a quick run writes into build/peers/quick instead.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import environments, page, report
from benchmarks.peers.catalogue import PEERS, problem
from benchmarks.peers.environments import FOLDER, PeerError
from benchmarks.peers.measure import COARSEST, ELEMENTS, FULL, PATIENCE, STEP, UNSTABLE, Peered, machine
from benchmarks.peers.physics import quality

Result = dict[str, Any]
TARGETS = (1e-2, 1e-4)  # %, of the member with the largest error
MEMBERS = 64
JUDGED = 16  # of them, whose states are judged
SIZES = (1, MEMBERS)  # members with which a member-step is timed
PACED = 2.0  # s of motion for that
TURNS = 3
INTERVAL = 0.04  # s between the states that are judged
FINER = 2.0**0.25  # ratio of numbers of steps that are tried
TRIED = (16, 24)  # of them: the last one, and the last one where that is too coarse


class Way(NamedTuple):
    """How a tool marches members."""

    tool: str
    title: str
    method: str
    mass: str  # of the string


WAYS = (
    Way("tautline", "tautline, order 2", "order 2", "consistent"),
    Way("tautline", "tautline, order 4", "order 4", "consistent"),
    Way("mujoco", "mujoco.batch, Euler", "Euler", "lumped"),
    Way("mujoco", "mujoco.batch, RK4", "RK4", "lumped"),
    Way("jax", "JAX vmap, RK4", "RK4 lumped", "lumped"),
    Way("jax", "JAX vmap, RK4", "RK4 consistent", "consistent"),
)


def velocities(members: int) -> list[list[float]]:
    """Start of every member: the body of example 1 moves off in other directions."""
    rng, own = np.random.default_rng(1), np.array(problem()["end_velocity"])
    found: list[list[float]] = (own + rng.uniform(-0.5, 0.5, (members, 3))).tolist()
    return found


class Tools:
    """The programs, each in its environment, on one core."""

    def __init__(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.peers = {peer.name: peer for peer in PEERS if peer.name in {way.tool for way in WAYS}}
        for peer in self.peers.values():
            environments.install(peer)
        if hasattr(os, "sched_setaffinity"):  # what is started from now on has one core
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        self.running = {name: Peered(peer, module=f"{name}_ensemble") for name, peer in self.peers.items()}

    def ask(self, way: Way, members: int, step: float, duration: float, interval: float = 0.0) -> Result:
        given = {**problem(), "members": velocities(members)}
        request = {"problem": given, "elements": ELEMENTS, "method": way.method, "knob": step}
        return self.running[way.tool].ask(10 * PATIENCE[0], duration=duration, interval=interval, **request)

    def error(self, way: Way, steps: int, duration: float) -> float:
        """Energy error of the worst member with so many steps a second."""
        times = self.ask(way, JUDGED, 1.0 / steps, duration, INTERVAL)["states"]
        errors = [quality(problem(), member, way.mass).energy for member in zip(*times, strict=True)]
        worst = float(max(errors))
        return worst if worst < UNSTABLE else math.inf

    def stop(self) -> None:
        for peered in self.running.values():
            peered.stop()


def coarsest(tools: Tools, way: Way, target: float, duration: float, seen: dict[int, float]) -> int | None:
    """Fewest steps a second with which all members have an energy error below a target; None if none of those tried."""

    def good(k: int) -> bool:
        # intervals between states are multiples of the step
        steps = round(COARSEST * FINER**k * INTERVAL) / INTERVAL
        if round(steps) not in seen:
            try:
                seen[round(steps)] = tools.error(way, round(steps), duration)
            except PeerError:  # ours refuses steps that are not stable
                seen[round(steps)] = math.inf
        return seen[round(steps)] <= target

    low, high = -1, TRIED[0]
    if not good(high):
        low, high = TRIED
        if not good(high):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return round(round(COARSEST * FINER**high * INTERVAL) / INTERVAL)


def searched(tools: Tools, way: Way, duration: float) -> Result:
    """Steps a second for every accuracy, and the error with the usual step."""
    error = tools.error(way, round(1.0 / STEP), duration)
    seen = {round(1.0 / STEP): error}
    # a method of first order would need hundreds of thousands of steps
    found = [None if way.method == "Euler" else coarsest(tools, way, x, duration, seen) for x in TARGETS]
    return {"error": error, "steps_a_second": found, "pace": {}, "seconds": [None] * len(TARGETS)}


def take_times(tools: Tools, rows: list[Result], duration: float, paced: float, say: Callable[[str], None]) -> None:
    """Let all ways take their turn once, and keep the least times: seconds of a member-step, and of a member."""
    for way, row in zip(WAYS, rows, strict=True):
        for members in SIZES:
            told = tools.ask(way, members, STEP, paced)
            spent = told["seconds"] / (told["steps"] * members)
            row["pace"][str(members)] = min(spent, row["pace"].get(str(members), spent))
        for i, steps in enumerate(row["steps_a_second"]):
            if steps is not None:
                spent = tools.ask(way, MEMBERS, 1.0 / steps, duration)["seconds"] / MEMBERS
                row["seconds"][i] = min(spent, row["seconds"][i] or spent)
        say(f"{way.title}, {way.mass}: {row}")


def sitting(quick: bool, say: Callable[[str], None]) -> Result:
    """Steps for every accuracy first; then times, in turns."""
    tools, turns = Tools(), 1 if quick else TURNS
    duration, paced = (1.0, 0.1) if quick else (FULL.accurate, PACED)
    rows = [searched(tools, way, duration) for way in WAYS]
    for _ in range(turns):
        take_times(tools, rows, duration, paced, say)
    tools.stop()
    return {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "duration": duration,
        "paced": paced,
        "turns": turns,
        "versions": {name: environments.versions(peer)[name] for name, peer in tools.peers.items()},
        "rows": rows,
    }


def markdown(result: Result) -> str:
    m, rows = result["machine"], result["rows"]
    sizes = list(rows[0]["pace"])
    best = [min(row["seconds"][i] for row in rows[:2] if row["seconds"][i]) for i in range(len(TARGETS))]
    lines = []
    for way, row in zip(WAYS, rows, strict=True):
        paces = [f"{report.plain(1e6 * row['pace'][n])}" for n in sizes]
        ratio = report.times(row["pace"][str(MEMBERS)] / rows[0]["pace"][str(MEMBERS)])
        cells = []
        for steps, seconds, unit in zip(row["steps_a_second"], row["seconds"], best, strict=True):
            count = "" if steps is None else f", {round(steps * result['duration'])} steps"
            cells.append(
                "not reached"
                if steps is None
                else f"{report.plain(1e3 * seconds)} ms ({report.times(seconds / unit)}){count}"
            )
        lines.append([way.title, way.mass, *paces, ratio, report.plain(row["error"]), *cells])
    head = ["tool, method", "string", *(f"µs a member-step, {n} member{'s' * (n != '1')}" for n in sizes)]
    head += [f"over ours, {MEMBERS} members", "energy error (%)", *(f"a member to {x:g} %" for x in TARGETS)]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    turns, paced, duration = (result[x] for x in ("turns", "paced", "duration"))
    return f"""\
Measured by `python -m benchmarks.peers.ensemble` on {result["date"]}: {m["processor"]}, {report.shared(m)};
{versions}. Every program had one core. Processor times of the steps alone, the least of {turns} taken in turns.

Example 1 with {ELEMENTS} elements; members differ by the velocity of their body at the start. First columns: steps of
{1e3 * STEP:g} ms for {paced:g} s. The energy error is that of the worst of {JUDGED} members over {duration:g} s.
Last columns: the largest step, of a series with ratios of 1.19, with which all stay below; in brackets over ours:

{report.table(head, lines)}
"""


if __name__ == "__main__":
    page.main("ensemble", __doc__, sitting, markdown)
