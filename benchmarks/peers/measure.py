"""Measures one peer after another: its pace, its conservation, its time to an accuracy, its growth."""

from __future__ import annotations

import json
import math
import os
import platform
import select
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import environments
from benchmarks.peers.catalogue import OURS, PEERS, Peer, Tried, problem
from benchmarks.peers.environments import FOLDER, ROOT, PeerError, clean_environment, python_of
from benchmarks.peers.physics import quality
from benchmarks.peers.protocol import State

Result = dict[str, Any]

STEP = 5e-4  # the paper's, at N = 20
TOLERANCE = 1e-9  # of methods that choose their steps, where the others take STEP
ELEMENTS = 20
COARSEST = 125  # steps a second at which the search begins: two thirds of the stability limit of a lumped string
BISECTIONS = 3  # of the step, once it is known to a factor of two
COARSEST_TOLERANCE, FINEST_TOLERANCE = 1e-3, 1e-13
UNSTABLE = 10.0  # %; whatever is worse has blown up, or soon will
FINEST = 1e-7  # s; a method that fails at every step takes no time, and must end too
STEP_AT = {20: 5e-4, 100: 2.5e-4, 400: 1.25e-4}  # elements: a stable step
PATIENCE = (300.0, 20.0)  # s for compilation, and a multiple of the limit, before a peer is given up


class Settings(NamedTuple):
    run: float  # s of motion for pace and conservation
    accurate: float  # s of motion for the time to an accuracy
    targets: tuple[float, ...]  # %
    repeats: int
    limit: float  # s that one run may take in the search
    paced: float  # s for a point of the growth
    elements: tuple[int, ...]  # of the growth
    started: int  # fresh processes for the times before the first result; none: these are left out
    turns: int  # further rounds through all peers, in which times are taken once more


FULL = Settings(5.0, 5.0, (1e-2, 1e-4, 1e-6), 1, 2.0, 0.2, (20, 100, 400), 3, 2)
QUICK = Settings(1.0, 1.0, (1e-2,), 1, 0.2, 0.05, (20,), 0, 1)


class Peered:
    """A running peer that answers requests; started anew after a failure."""

    def __init__(self, peer: Peer, environment: dict[str, str] | None = None, module: str | None = None) -> None:
        self.peer, self.module = peer, module or peer.name
        self.environment = environment or clean_environment()
        self.process: subprocess.Popen[str] | None = None

    def ask(self, patience: float, **request: Any) -> Result:
        if self.process is None:
            with (FOLDER / f"{self.module}.log").open("a") as log:
                self.process = subprocess.Popen(
                    [str(python_of(self.peer)), "-m", f"benchmarks.peers.{self.module}"],
                    cwd=ROOT,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line, ready = "", [self.process.stdout]
        if not line:
            self.stop()
            raise PeerError("ended without an answer" if ready else f"no answer within {patience:.0f} s")
        answer: Result = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Point(NamedTuple):
    """One run of the search."""

    knob: float  # step or tolerance
    error: float  # % of the largest kinetic energy; infinite where the run failed
    seconds: float  # for the run without samples


class Bench:
    """One method of one peer."""

    coarsest = COARSEST

    def __init__(self, peered: Peered, tried: Tried, settings: Settings) -> None:
        self.peered, self.tried, self.settings = peered, tried, settings
        self.problem: Any = problem()
        self.points: dict[float, Point] = {}

    def quality(self, states: list[State]) -> Any:
        """Invariants that a trajectory conserves."""
        return quality(self.problem, states, self.tried.model)

    def ask(self, do: str, knob: float, duration: float, elements: int = ELEMENTS, **more: Any) -> Result:
        patience = PATIENCE[0] + PATIENCE[1] * self.settings.limit
        first = 0.1 if self.tried.adaptive else 10 * knob
        return self.peered.ask(
            patience,
            do=do,
            problem=self.problem,
            elements=elements,
            method=self.tried.name,
            knob=knob,
            adaptive=self.tried.adaptive,
            duration=duration,
            first=first,
            **({"limit": self.settings.limit} | more),
        )

    def step(self, h: float) -> float:
        return TOLERANCE if self.tried.adaptive else h / self.tried.finer

    def conservation(self) -> Result:
        """Pace, time and what is conserved, with the paper's step."""
        knob, duration = self.step(STEP), self.settings.run
        found = self.ask("time", knob, duration, repeats=self.settings.repeats)
        states = self.ask("trajectory", knob, duration)["states"]
        judged = self.quality(states)
        return {
            "knob": knob,
            "steps": found["steps"],
            "first_call": found["first"],
            "seconds": spread(found["seconds"]),
            "microseconds_a_step": min(found["seconds"]) / found["steps"] * 1e6,
            "energy_error": judged.energy,
            "momentum_drift": judged.momentum,
            "attachment": judged.marks,
        }

    def probe(self, knob: float) -> Point:
        if knob not in self.points:
            duration = self.settings.accurate
            try:
                seconds = self.ask("time", knob, duration, repeats=1)["seconds"]
                states = self.ask("trajectory", knob, duration)["states"]
                error = self.quality(states).energy
            except PeerError:
                seconds, error = [0.0], math.inf
            self.points[knob] = Point(knob, error if error < UNSTABLE else math.inf, min(seconds))
        return self.points[knob]

    def search(self, target: float) -> Result:
        """The cheapest run with an energy error below the target: coarse to fine, then between the last two."""
        too_coarse, fine = None, None
        if self.tried.adaptive:
            knob, ratio, last = COARSEST_TOLERANCE, 10.0, FINEST_TOLERANCE
        else:
            knob, ratio, last = 1.0 / self.coarsest, 2.0, FINEST
        while fine is None and knob >= 0.999 * last:
            point = self.probe(knob)
            if point.error <= target:
                fine = knob
                break
            too_coarse = knob
            if 2.0 * point.seconds > self.settings.limit:
                break
            knob = knob / ratio if self.tried.adaptive else 1.0 / (2 * round(1.0 / knob))
        if fine is None:
            seen = [x for x in self.points.values() if math.isfinite(x.error)]
            best = min(seen, key=lambda x: x.error)._asdict() if seen else None
            return {"target": target, "reached": False, "best": best}
        for _ in range(BISECTIONS if too_coarse is not None else 0):
            assert too_coarse is not None
            middle = math.sqrt(too_coarse * fine)
            middle = middle if self.tried.adaptive else 1.0 / round(1.0 / middle)
            if self.probe(middle).error <= target:
                fine = middle
            else:
                too_coarse = middle
        found = self.ask("time", fine, self.settings.accurate, repeats=self.settings.repeats)
        return {
            "target": target,
            "reached": True,
            "knob": fine,
            "steps": found["steps"],
            "error": self.points[fine].error,
            "seconds": spread(found["seconds"]),
        }

    def paced(self, elements: int) -> float:
        """Microseconds a step with a number of elements."""
        more = {"elements": elements, "repeats": self.settings.repeats, "most": 1000}
        told = self.ask("pace", self.step(STEP_AT[elements]), self.settings.paced, **more)
        return float(min(told["seconds"]) / told["steps"] * 1e6)

    def growth(self) -> Result:
        """Microseconds a step as elements are added."""
        found: Result = {}
        for elements in self.settings.elements:
            try:
                found[str(elements)] = self.paced(elements)
            except PeerError as error:
                found[str(elements)] = None
                found[f"{elements} failed"] = str(error)
        return found


def spread(seconds: list[float]) -> dict[str, float]:
    return {"min": min(seconds), "runs": len(seconds)}


def first_result(peer: Peer, cold: bool) -> float:
    """Seconds from the start of a process to 0.1 s of motion; cold: with empty caches of compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        environment = clean_environment() | ({"NUMBA_CACHE_DIR": folder} if cold else {})
        peered = Peered(peer, environment)
        start = time.perf_counter()
        Bench(peered, peer.methods[0], QUICK).ask("time", 1e-6 if peer.methods[0].adaptive else STEP, 0.1, repeats=1)
        elapsed = time.perf_counter() - start
        peered.stop()
    return elapsed


def measured(peer: Peer, settings: Settings, say: Callable[[str], None]) -> Result:
    """All figures of one peer; a failure is a figure too."""
    result: Result = {"title": peer.title, "kind": peer.kind, "remark": peer.remark}
    try:
        environments.install(peer)
        result["versions"] = environments.versions(peer)
        result["install_bytes"] = environments.size(peer)
        result["model_lines"] = environments.model_lines(peer)
        if settings.started:
            result["cold_seconds"] = first_result(peer, cold=True)
            starts = [first_result(peer, cold=False) for _ in range(settings.started)]
            result["first_seconds"] = min(starts)
            result["import_seconds"] = environments.import_seconds(peer, settings.started)
    except (PeerError, OSError, subprocess.CalledProcessError) as error:
        say(f"{peer.title}: {error}")
        return result | {"failed": str(error)}
    result["methods"] = {}
    peered = Peered(peer)
    for tried in peer.methods:
        bench = Bench(peered, tried, settings)
        row: Result = {"order": tried.order, "model": tried.model, "adaptive": tried.adaptive}
        try:
            row |= bench.conservation()
            row["accuracy"] = [bench.search(target) for target in settings.targets]
            row["work_precision"] = [list(x) for x in sorted(bench.points.values()) if math.isfinite(x.error)]
            row["growth"] = bench.growth()
            say(
                f"{peer.title}, {tried.name}: {row['microseconds_a_step']:.3g} us a step, "
                f"energy {row['energy_error']:.2g} %, pi_3 {row['momentum_drift']:.2g}"
            )
        except PeerError as error:
            row["failed"] = str(error)
            say(f"{peer.title}, {tried.name}: {error}")
        result["methods"][tried.name] = row
    peered.stop()
    return result


def once_more(peer: Peer, rows: Result, settings: Settings) -> None:
    """Take the times of a peer's rows again, and keep the lower ones."""
    peered = Peered(peer)
    for tried in peer.methods:
        row, bench = rows.get(tried.name, {"failed": ""}), Bench(peered, tried, settings)
        if "failed" in row:
            continue
        points = [(row, settings.run), *((x, settings.accurate) for x in row["accuracy"] if x["reached"])]
        for point, duration in points:
            before, seconds = point["seconds"], bench.ask("time", point["knob"], duration, repeats=1)["seconds"]
            point["seconds"] = {"min": min(before["min"], *seconds), "runs": before["runs"] + len(seconds)}
        row["microseconds_a_step"] = row["seconds"]["min"] / row["steps"] * 1e6
        for elements in settings.elements:
            if row["growth"][str(elements)] is not None:
                row["growth"][str(elements)] = min(row["growth"][str(elements)], bench.paced(elements))
    peered.stop()


def machine() -> Result:
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def sitting(settings: Settings, names: list[str], say: Callable[[str], None]) -> Result:
    """Everything, one peer after the other; then times alone, in turns: others use the machine meanwhile."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen = [peer for peer in PEERS if not names or peer.name in names or peer.kind == OURS]
    result: Result = {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "clock": "processor",
        "settings": settings._asdict(),
        "peers": {peer.name: measured(peer, settings, say) for peer in chosen},
    }
    for turn in range(settings.turns):
        say(f"turn {turn + 2}")
        for peer in chosen:
            try:
                once_more(peer, result["peers"][peer.name].get("methods", {}), settings)
            except PeerError as error:
                say(f"{peer.title}: {error}")
    return result
