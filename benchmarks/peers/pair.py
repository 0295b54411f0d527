"""A string between two free bodies: tautline and MuJoCo. `python -m benchmarks.peers.pair [--quick]`

Writes pair.json and pair.md into benchmarks/peers/results; a quick run writes into build/peers/quick instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from benchmarks.peers import environments, page, report
from benchmarks.peers.catalogue import OURS, PACKAGED, PEERS, Peer, Tried
from benchmarks.peers.environments import FOLDER
from benchmarks.peers.measure import FULL, QUICK, STEP, Bench, Peered, Settings, machine, spread
from benchmarks.peers.physics import PairQuality, pair_quality
from benchmarks.peers.protocol import Body, Pair, State

Result = dict[str, Any]
COMPARED = tuple(peer for peer in PEERS if peer.name in ("tautline", "mujoco"))
LONG = 10  # times the run, for what drifts
AGREEMENT = (10, 20, 40)  # elements at which the two are compared
AGREED = 2.0  # s after which they are
FINE = 1e-4  # s, a step whose errors are far below those of the elements
LIMIT = 5.0  # s that one run may take in the search


def pair() -> Pair:
    """Two boxes, fastened off their centers of mass, that tumble and turn about each other with 1 rad/s."""
    apart, part = 10.3, 0.36  # m between the ends of a string of 10 m; the center of mass is at this part of it
    boxes = (
        (tl.RigidBody.box(4.0, (0.6, 0.4, 0.3), (-0.3, 0.1, 0.05)), -part * apart, [4.0, 5.0, 1.0]),
        (tl.RigidBody.box(2.0, (0.3, 0.3, 0.4), (0.15, 0.0, -0.1)), (1.0 - part) * apart, [-3.0, 6.0, 1.0]),
    )
    bodies = [
        Body(
            mass=box.mass,
            center_of_mass=list(box.center_of_mass),
            inertia=[list(row) for row in box.inertia],
            position=[x, 0.0, 0.0],
            velocity=[0.0, x, 0.0],
            angular_velocity=spin,
        )
        for box, x, spin in boxes
    ]
    return Pair(length=10.0, density=0.1, stiffness=500.0, bodies=bodies)


class PairBench(Bench):
    """One method of one peer on the pair."""

    coarsest = 80  # the limit of stability of Runge-Kutta is at 100 steps a second for a lumped string

    def __init__(self, peered: Peered, tried: Tried, settings: Settings) -> None:
        super().__init__(peered, tried, settings)
        self.problem = pair()

    def quality(self, states: list[State]) -> PairQuality:
        return pair_quality(self.problem, states, self.tried.model)

    def conservation(self) -> Result:
        """Pace, and what is conserved with the step of the other comparison, also in a longer run."""
        duration = self.settings.run
        found = self.ask("time", STEP, duration, repeats=self.settings.repeats)
        kept = self.quality(self.ask("trajectory", STEP, duration)["states"])
        longer = self.quality(self.ask("trajectory", STEP, LONG * duration)["states"])
        return {
            "knob": STEP,
            "steps": found["steps"],
            "seconds": spread(found["seconds"]),
            "microseconds_a_step": min(found["seconds"]) / found["steps"] * 1e6,
            "kept": kept._asdict(),
            "kept_long": longer._asdict(),
        }

    def end(self, elements: int) -> list[list[float]]:
        """Both ends of the string after a while, with a small step."""
        nodes = self.ask("trajectory", FINE, AGREED, elements)["states"][-1]["nodes"]
        return [nodes[0], nodes[-1]]


def measured(peer: Peer, settings: Settings, say: Callable[[str], None]) -> Result:
    environments.install(peer)
    name = f"{peer.name}_pair"
    result: Result = {
        "title": peer.title,
        "kind": peer.kind,
        "versions": environments.versions(peer),
        "methods": {},
    }
    peered = Peered(peer, module=name)
    for tried in peer.methods:
        bench = PairBench(peered, tried, settings)
        row = {"order": tried.order, "adaptive": False, **bench.conservation()}
        row["accuracy"] = [bench.search(target) for target in settings.targets]
        row["work_precision"] = [list(x) for x in sorted(bench.points.values()) if math.isfinite(x.error)]
        result["methods"][tried.name] = row
        say(f"{peer.title}, {tried.name}: {row['microseconds_a_step']:.3g} us a step, {row['kept']}")
    result["ends"] = {str(elements): bench.end(elements) for elements in AGREEMENT}
    peered.stop()
    return result


def sitting(settings: Settings, say: Callable[[str], None]) -> Result:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "settings": settings._asdict(),
        "peers": {peer.name: measured(peer, settings, say) for peer in COMPARED},
    }


def kept_table(result: Result) -> str:
    unit = report.ours(result).found["microseconds_a_step"]
    lines = []
    for row in report.rows(result):
        kept, longer = row.found["kept"], row.found["kept_long"]
        cells = [row.found["microseconds_a_step"], kept["energy"], kept["linear"], kept["angular"]]
        lines.append(
            [
                report.named(row),
                *(report.plain(x) for x in cells[:1]),
                report.times(cells[0] / unit),
                *(report.plain(x) for x in cells[1:]),
                *(report.plain(longer[x]) for x in ("energy", "linear", "angular")),
            ]
        )
    run = result["settings"]["run"]
    kinds = ("energy (%)", "linear", "angular")
    head = ["tool, method", "µs a step", "over ours", *kinds, *(f"{x}, {LONG * run:g} s" for x in kinds)]
    return report.table(head, lines)


def agreement(result: Result) -> str:
    """Distances between the ends of both tools, by the number of elements."""
    first, second = (peer["ends"] for peer in result["peers"].values())
    apart = [1e3 * float(np.linalg.norm(np.subtract(first[n], second[n]), axis=1).max()) for n in first]
    return ", ".join(f"{report.plain(x)} mm at {n} elements" for x, n in zip(apart, first, strict=True))


def markdown(result: Result) -> str:
    m, s = result["machine"], result["settings"]
    ratios = []
    for target in s["targets"]:
        mine, other = (report.quickest(result, kind, target) for kind in (OURS, PACKAGED))
        if mine is not None and other is not None:
            ratios.append(
                f"- To an energy error of {target:g} %: {other[0] / mine[0]:.1f} times as fast ({mine[1].name} against "
                f"{other[1].name})."
            )
    versions = ", ".join(f"{peer['title']} {peer['versions'].get(name, '')}" for name, peer in result["peers"].items())
    return f"""\
Measured by `python -m benchmarks.peers.pair` on {result["date"]}: {m["processor"]}, {m["cores"]} cores, {versions},
load {m["load"][0]:.1f} at the start. Times are processor times of the loop of steps alone, the best of several runs.

{chr(10).join(ratios)}

20 elements, steps of {STEP * 1e3:g} ms, {s["run"]:g} s and {LONG * s["run"]:g} s. Largest changes: of the energy in %
of the largest kinetic energy, of linear momentum over the largest of a body, of angular momentum over its own:

{kept_table(result)}

Time for {s["accurate"]:g} s of motion with an energy error below a target, with the largest step that reaches it; in
brackets over the best of ours. The search ends where the next run would take more than {s["limit"]:g} s:

{report.accuracy_table(result)}

Both simulate the same thing: with steps of {FINE * 1e3:g} ms the ends of their strings are apart, after {AGREED:g} s,
by {agreement(result)}: a lumped and a consistent string approach the same motion.
"""


if __name__ == "__main__":
    page.main(
        "pair", __doc__, lambda quick, say: sitting(QUICK if quick else FULL._replace(limit=LIMIT), say), markdown
    )
