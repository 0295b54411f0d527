"""Lines over sheaves: tautline, Exudyn and Newton. `python -m benchmarks.peers.reeving [--quick]`

A heavy-rope Atwood machine against its exact motion and a hoist on two falls against a calculation by hand. Writes
reeving.json and reeving.md into benchmarks/peers/results; a quick run writes into build/peers/quick instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import environments, page, report
from benchmarks.peers.catalogue import NEWTON, PEERS
from benchmarks.peers.environments import FOLDER
from benchmarks.peers.measure import Peered, machine
from benchmarks.peers.protocol import Passage

Result = dict[str, Any]
PATIENCE = 3600.0  # s for an answer: Newton compiles for minutes when it runs first
SAMPLE = 0.01  # s
WINDOW = 50  # samples of which tensions are taken: longer than they swing
ATWOOD: Result = {
    "case": "atwood",
    "masses": [10.0, 12.0],
    "side": 20.0,  # m of rope on each side
    "radius": 0.5,
    "wheel": 5.0,  # inertia over the radius squared (kg)
    "density": 0.5,
    "stiffness": 1e6,
    "gravity": 9.81,
}
HOIST: Result = {
    "case": "hoist",
    "load": 2250.0,  # with the block
    "fall": 20.0,  # m of rope in each fall at the start
    "radius": 0.25,
    "wheel": 6.4,
    "density": 2.0,
    "stiffness": 2e7,
    "damping": 2e5,  # N s: of the rate of strain
    "efficiency": 0.98,
    "gravity": 9.81,
    "program": [1.0, 1.0, 0.8],  # start (s), time to full speed (s), speed of the drum's rim (m/s)
}
DURATIONS = {"atwood": 3.0, "hoist": 6.0}
TIMED = 1.0  # s of the runs that are timed
TURNS = 3


class Way(NamedTuple):
    """How a tool does a case."""

    tool: str
    method: str
    words: str
    elements: int  # of a span
    step: float
    case: Result
    mass: float = 0.0  # of the rope that the model has, over all of it
    efficiency: float = 1.0


def atwood(tool: str, method: str, words: str, step: float, mass: float, elements: int = 0) -> Way:
    return Way(tool, method, words, elements, step, ATWOOD, mass)


def hoist(tool: str, method: str, words: str, step: float, mass: float, elements: int = 0, eta: float = 1.0) -> Way:
    return Way(tool, method, words, elements, step, HOIST, mass, eta)


BARE, BY_HAND = "rope without mass", "masses of rope and wheel put on the bodies by hand"
HALF = "rope without mass; wheel turns"
MOVED = "mass of the rope put on the bodies by hand; wheel turns"
WAYS = (
    atwood("tautline", "order 2", "rope with mass; wheel turns", 5e-4, 1.0, 4),
    atwood("tautline", "order 4", "rope with mass; wheel turns", 5e-4, 1.0, 4),
    atwood("exudyn", "plain", "rope and wheel without mass", 1e-3, 0.0),
    atwood("exudyn", "by hand", BY_HAND, 1e-3, 1.0),
    atwood("newton", "XPBD", HALF, 1e-3, 0.0),
    atwood("newton", "XPBD, by hand", MOVED, 1e-3, 1.0),
    atwood("newton", "XPBD, by hand", MOVED, 2.5e-4, 1.0),
    atwood("newton", "VBD, by hand", MOVED, 1e-3, 1.0),
    hoist("tautline", "order 2", "rope with mass, efficiency of the wheel", 2e-4, 1.0, 6, HOIST["efficiency"]),
    hoist("exudyn", "plain", "rope without mass, no friction", 1e-3, 0.0),
    hoist("newton", "XPBD, friction", "rope without mass slips on a still wheel", 1e-3, 0.0, 0, HOIST["efficiency"]),
)


def passed(t: float) -> float:
    """Rope of the Atwood machine that has passed its wheel, if it does not stretch (m)."""
    p = ATWOOD
    rate, lead = math.sqrt(2.0 * p["density"] * p["gravity"] / total(1.0)), p["masses"][1] - p["masses"][0]
    return float(lead / (2.0 * p["density"]) * (math.cosh(rate * t) - 1.0))


def total(mass: float, wheel: bool = True) -> float:
    """Mass that the Atwood machine moves (kg), with that of its rope or without."""
    p = ATWOOD
    rope = p["density"] * (2.0 * p["side"] + math.pi * p["radius"])
    return float(sum(p["masses"]) + mass * rope + (p["wheel"] if wheel else 0.0))


def own_passed(way: Way, t: float) -> float:
    """Length that the rope of a tool would pass if it did not stretch and the tool made no error."""
    if way.tool == "tautline":
        return passed(t)
    lead = ATWOOD["masses"][1] - ATWOOD["masses"][0]
    moved = total(way.mass, wheel=way.method != "plain")
    return float(0.5 * ATWOOD["gravity"] * lead / moved * t * t)


def tensions(t: float) -> tuple[float, float]:
    """Tensions on both sides of the wheel of the Atwood machine."""
    p, x = ATWOOD, passed(t)
    a = p["gravity"] * (p["masses"][1] - p["masses"][0] + 2.0 * p["density"] * x) / total(1.0)
    light, heavy = (m + p["density"] * (p["side"] + s * x) for m, s in zip(p["masses"], (-1.0, 1.0), strict=True))
    return light * (p["gravity"] + a), heavy * (p["gravity"] - a)


def hauled(t: float) -> float:
    """Rope that the drum of the hoist has taken in (m)."""
    start, ramp, speed = HOIST["program"]
    inside = min(max(t - start, 0.0), ramp)
    return float(speed * (0.5 * inside * inside / ramp + max(t - start - ramp, 0.0)))


def pull(t: float, mass: float = 1.0, efficiency: float = HOIST["efficiency"]) -> float:
    """Pull at the drum: at rest, and where it hauls steadily; ropes with a part of their mass."""
    p, g = HOIST, HOIST["gravity"]
    start, ramp, speed = p["program"]
    steady = speed if t > start + ramp else 0.0
    density = mass * p["density"]
    # the block hangs on two falls, whose rope turns round by half of the speed
    below = (p["load"] + density * math.pi * p["radius"]) * g + 2.0 * density * (0.5 * steady) ** 2
    behind = efficiency if steady else 1.0
    return float(below / (1.0 + behind) + density * g * (p["fall"] - 0.5 * hauled(t)))


def at_end(states: list[Passage], span: int) -> float:
    """Tension of a span at the end of some samples: it swings, so a line is put through it."""
    last = states[-WINDOW:]
    times = np.array([x["time"] for x in last])
    found = np.polyfit(times - times[-1], [x["tensions"][span] for x in last], 1)
    return float(found[1])


def judged(way: Way, states: list[Passage]) -> Result:
    """Figures of a run for who chooses a tool."""
    end = states[-1]
    if way.case is ATWOOD:
        found = [0.5 * (x["heights"][0] - x["heights"][1]) for x in states]
        marks = range(round(1.0 / SAMPLE) - 1, len(states), round(1.0 / SAMPLE))
        return {
            "passed": [found[i] for i in marks],
            "error": 100.0 * (found[-1] / passed(end["time"]) - 1.0),
            "own_error": found[-1] - own_passed(way, end["time"]),
            "tensions": [at_end(states, 0), at_end(states, 1)],
        }
    start = HOIST["program"][0]
    rest = [x for x in states if x["time"] < start - 0.5 * SAMPLE]
    pulls, times = [at_end(rest, 0), at_end(states, 0)], (0.0, end["time"])
    return {
        "raised": end["heights"][0],
        "pulls": pulls,
        "errors": [100.0 * (x / pull(t) - 1.0) for x, t in zip(pulls, times, strict=True)],
        "own_errors": [
            100.0 * (x / pull(t, way.mass, way.efficiency) - 1.0) for x, t in zip(pulls, times, strict=True)
        ],
    }


def sitting(quick: bool, say: Callable[[str], None]) -> Result:
    """Results of every tool; then times, in turns, so that what else the machine does falls on all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    peers = {peer.name: peer for peer in (*PEERS, NEWTON) if peer.name in {way.tool for way in WAYS}}
    for peer in peers.values():
        environments.install(peer)
    running = {name: Peered(peer, module=f"{name}_reeving") for name, peer in peers.items()}

    def ask(way: Way, duration: float, sample: float) -> Result:
        request = {"problem": way.case, "elements": way.elements, "method": way.method, "knob": way.step}
        return running[way.tool].ask(PATIENCE, duration=duration, sample=sample, **request)

    turns, timed = (1, 0.1) if quick else (TURNS, TIMED)
    rows: list[Result] = []
    for way in WAYS:
        duration = timed if quick and way.tool == "newton" else DURATIONS[way.case["case"]]
        rows.append({"seconds_a_step": math.inf, **judged(way, ask(way, duration, SAMPLE)["states"])})
    for _ in range(turns):
        for way, row in zip(WAYS, rows, strict=True):
            told = ask(way, timed, 0.0)
            row["seconds_a_step"] = min(row["seconds_a_step"], told["seconds"] / told["steps"])
            say(f"{way.tool}, {way.method}, {way.case['case']}: {row}")
    for peered in running.values():
        peered.stop()
    return {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "turns": turns,
        "versions": {peer.title: environments.versions(peer) for peer in peers.values()},
        "rows": rows,
    }


def titled(way: Way) -> str:
    title = {"tautline": "tautline", "exudyn": "Exudyn", "newton": "Newton"}[way.tool]
    return title if way.method == "plain" or way.method == "by hand" else f"{title}, {way.method.split(',')[0]}"


def cost(way: Way, row: Result) -> list[str]:
    seconds = row["seconds_a_step"]
    return [f"{1e3 * way.step:g} ms", report.plain(1e6 * seconds), report.plain(1e3 * seconds / way.step)]


def numbers(values: list[float] | tuple[float, ...], digits: int) -> str:
    return ", ".join(f"{x:.{digits}f}" for x in values)


def markdown(result: Result) -> str:
    m, both = result["machine"], list(zip(WAYS, result["rows"], strict=True))
    exact = [numbers([passed(t) for t in (1.0, 2.0, 3.0)], 4), "", "", numbers(tensions(3.0), 1)]
    lines = [["exact, rope that does not stretch", "", *exact, "", "", ""]]
    for way, row in both:
        if way.case is ATWOOD:
            cells = [numbers(row["passed"], 4), f"{row['error']:+.2g} %", f"{1e3 * row['own_error']:+.2g}"]
            lines.append([titled(way), way.words, *cells, numbers(row["tensions"], 1), *cost(way, row)])
    head = ["tool", "what of the rope is there", "passed after 1, 2, 3 s (m)", "off the exact motion"]
    head += ["off the tool's own limit (mm)", "tensions at the wheel (N)", "step", "µs a step", "ms for 1 s"]
    end = DURATIONS["hoist"]
    hoists = [["by hand", "", numbers([pull(0.0), pull(end)], 0), "", "", f"{0.5 * hauled(end):.4f}", "", "", ""]]
    for way, row in both:
        if way.case is HOIST:
            off = [", ".join(f"{x:+.2g}" for x in row[key]) for key in ("errors", "own_errors")]
            cells = [numbers(row["pulls"], 0), *off, f"{row['raised']:.4f}"]
            hoists.append([titled(way), way.words, *cells, *cost(way, row)])
    hoist_head = ["tool", "what of rope and wheel is there", "pull at rest, hauling (N)", "off by hand (%)"]
    hoist_head += ["off the tool's own limit (%)", f"raised in {end:g} s (m)", "step", "µs a step", "ms for 1 s"]
    versions = ", ".join(f"{name} {found[name.lower()]}" for name, found in result["versions"].items())
    return f"""\
Measured by `python -m benchmarks.peers.reeving` on {result["date"]}: {m["processor"]}, {report.shared(m)},
{versions}. Processor times, the least of {result["turns"]} taken in turns.

An Atwood machine: 10 and 12 kg on 41.6 m of rope of 0.5 kg/m and EA 1 MN over a wheel of 0.5 m and 1.25 kg m², from
rest. The rope that passes speeds it up: x'' = g (m₂ - m₁ + 2 µ x)/M. The tool's own limit is what its model would do
without stretch and without an error of the method:

{report.table(head, lines)}

A hoist on two falls of 20 m: 2250 kg on rope of 2 kg/m and EA 20 MN, a wheel with an efficiency of 0.98, hauled at
0.8 m/s after a second at rest and a second of acceleration. By hand: load/(1 + η) and the weight of one fall:

{report.table(hoist_head, hoists)}
"""


if __name__ == "__main__":
    page.main("reeving", __doc__, sitting, markdown)
