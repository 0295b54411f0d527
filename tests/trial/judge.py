"""Verdict on one random run: against itself with a quarter of the step on a mesh of twice as many elements.

A run from a start that is turned by a billionth shows which motions are chaotic: those cannot be compared.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, NamedTuple

import numpy as np

import tautline as tl
from tautline.errors import TautlineError
from tautline.model.system.state import State
from tests.trial.cases import Case

SAMPLES = 400
# What a result may be off by without a word: parts of the length and of the largest tension, rad, part of the energy.
MOVED, PEAK, TURNED, BALANCE = 0.05, 0.05, 0.1, 0.02
# And what it is right to, where a word is in vain.
RIGHT = 0.01
# Angle that the start is disturbed by (rad), and the growth of it that counts as chaos.
NUDGE, CHAOS = 1e-9, 100.0
# Warnings on the motion, not on how right it is.
OF_THE_MOTION = (
    "end_stop",
    "slip",
    "snap",
    "slack_sheave",
    "motor_torque",
    "motor_power",
    "breaking_load",
    "record_end",
)
# True also where nothing is wrong.
NEVER_IN_VAIN = (*OF_THE_MOTION, "slack", "compression")
NUMERICAL = ("unstable_step", "newton_failed", "non_finite")
LEFT_OUT = "left out"
# Diagnostics that are kept beside the warnings.
FIGURES = (
    "balance_error", "energy_in_play", "turning_error", "mesh_noise", "mesh_error", "slack_share", "largest_fold_deg",
    "attitude_error", "front_share", "current_share", "steps",
)  # fmt: skip


class Track(NamedTuple):
    """A run as far as it is compared: rows of samples."""

    status: str
    position: Any  # (rows, bodies, 3) of what is at the ends of the strings
    strings: list[Any]  # (rows, N + 1, 3) of the nodes, by string
    reeled: Any  # (rows, strings)
    attitude: Any  # (rows, bodies, 3, 3)
    peaks: Any  # (strings,) largest tensions
    length: float
    warnings: list[str]  # kinds
    figures: dict[str, float]


def run(case: Case, state: Any, part: float = 1.0) -> Track:
    """A run with default settings, or with a part of its steps."""
    simulation = case.simulation(state)
    sample = case.duration / SAMPLES
    if part != 1.0:
        _refine(simulation, part)
    simulation.advance(case.duration, case.command, sample=sample)
    found = simulation.dataset()
    peaks, strings = [], []
    for name in found.line.values:
        spans = case.system.lines[name].spans if isinstance(case.state, State) else 1
        strings += np.split(found.position.values[:, found.node_line.values == name], spans, axis=1)
        own = found.tension.values[:, found.element_line.values == name]
        ends = [found[x].sel(line=name).values for x in ("start_tension", "end_tension")]
        peaks.append(max(float(np.max(x)) for x in (own, *ends)))
    # a body that is the only one is where its string ends: about that point it may turn fast
    position = found.body_position.values if isinstance(case.state, State) else found.position.values[:, -1:]
    return Track(
        simulation.status,
        position,
        strings,
        found.reeled_length.values,
        found.attitude.values,
        np.array(peaks),
        float(found.unstretched_length.max()),
        [w.kind for w in simulation.runner.warnings()],
        {name: float(found.attrs[name]) for name in FIGURES if name in found.attrs},
    )


def _refine(simulation: tl.Simulation, part: float) -> None:
    """Let a simulation take a part of the steps that it would take."""
    stepper = simulation.runner.stepper
    plan = stepper.plan
    stepper.plan = plan._replace(allowed_ratio=part * plan.allowed_ratio, resolution=part * plan.resolution)


def cost(case: Case) -> float:
    """Steps times elements that a run takes at its first step, about."""
    runner = case.simulation(case.state).runner
    runner.begin(case.command, case.duration, case.duration)
    limits = runner.stepper.limits()._asdict()
    waves = min((limits.pop(name) for name in ("waves", "damping", "drag", "force_law") if name in limits), default=1e9)
    h = min(0.5 * waves, *limits.values(), case.duration / SAMPLES)
    nodes = sum(len(line.nodes) for line in runner.backend.state.lines.values())
    return float(case.duration / h * nodes)


class Apart(NamedTuple):
    """Distance of two runs, largest over their common time."""

    moved: float  # places, over the length
    turned: float  # rad
    peak: float  # largest tension of the first less that of the second, over the latter
    growth: float  # of both by the row, over the nudge
    strung: float  # largest of all nodes that both meshes have, over the length


def apart(one: Track, other: Track) -> Apart:
    """Compare two runs."""
    rows = min(len(one.position), len(other.position))
    moved = np.linalg.norm(one.position[:rows] - other.position[:rows], axis=2).max() / other.length
    reeled = np.abs(one.reeled[:rows] - other.reeled[:rows]).max() / other.length
    turns = np.einsum("...ji,...jk->...ik", one.attitude[:rows], other.attitude[:rows])
    angle = np.arccos(np.clip(0.5 * (np.trace(turns, axis1=-2, axis2=-1) - 1.0), -1.0, 1.0))
    small = np.linalg.norm(one.attitude[:rows] - other.attitude[:rows], axis=(2, 3)) / np.sqrt(2.0)
    turned = float(np.where(small > 0.1, angle, small).max(initial=0.0))
    off = one.peaks - other.peaks
    peak = float(off[np.argmax(np.abs(off))] / max(other.peaks.max(), 1e-300))
    place = float(max(moved, reeled))
    strung = max(_common_nodes(a[:rows], b[:rows]) for a, b in zip(one.strings, other.strings, strict=True))
    return Apart(place, turned, peak, max(place, turned) / NUDGE, strung / other.length)


def _common_nodes(coarse: Any, fine: Any) -> float:
    """Largest distance of two strings (rows, nodes, 3) at the nodes of the first one, which both have."""
    every = (fine.shape[1] - 1) // (coarse.shape[1] - 1)
    return float(np.linalg.norm(coarse - fine[:, ::every], axis=2).max())


def nudged(state: Any) -> Any:
    """The start, turned a little as a whole: no element is stretched by it."""
    if isinstance(state, State):
        strings = {name: dataclasses.replace(x, nodes=_turned(x.nodes)) for name, x in state.lines.items()}
        bodies = {
            name: dataclasses.replace(x, position=tuple(_turned([x.position])[0].tolist()))
            for name, x in state.bodies.items()
        }
        return State(bodies, strings)
    return dataclasses.replace(state, nodes=_turned(state.nodes))


def _turned(nodes: Any) -> Any:
    x, y, z = np.array(nodes).T
    return np.stack([x + NUDGE * z, y + NUDGE * z, z - NUDGE * (x + y)], axis=1)


def judge(case: Case, finer: Case, budget: float) -> dict[str, Any]:
    """Run a case with default settings, refined, and nudged, and compare; all numbers that a verdict needs."""
    begun, work = time.perf_counter(), cost(case)
    about = {"family": case.family, "features": case.features, "cost": work}
    if work > budget:
        return about | {"status": LEFT_OUT}
    first = run(case, case.state)
    fine = run(finer, finer.state, 0.25)
    try:
        growth = apart(run(case, nudged(case.state)), first).growth
    except TautlineError:  # a start that must not be turned
        growth = 0.0
    distance = apart(first, fine)
    return about | {
        "status": first.status,
        "finer": fine.status,
        "moved": distance.moved,
        "turned": distance.turned,
        "peak": distance.peak,
        "strung": distance.strung,
        "growth": growth,
        "finite": bool(np.isfinite(first.position).all() and np.isfinite(first.peaks).all()),
        "warnings": first.warnings,
        "figures": first.figures,
        "seconds": time.perf_counter() - begun,
    }


def again(case: Case, verdict: dict[str, Any]) -> dict[str, Any]:
    """The verdict with the warnings and diagnostics of today, without the refined runs."""
    if verdict["status"] == LEFT_OUT:
        return verdict
    first = run(case, case.state)
    return verdict | {"warnings": first.warnings, "figures": first.figures}


def wrong(v: dict[str, Any]) -> list[str]:
    """Figures beyond their limits in a run that is not chaotic."""
    if v["status"] != "completed" or not v["growth"] < CHAOS:  # a run that was left out has another status
        return []
    found = {"moved": v["moved"] > MOVED, "turned": v["turned"] > TURNED, "peak": abs(v["peak"]) > PEAK}
    found["strung"] = v.get("strung", 0.0) > MOVED
    return [name for name, is_so in found.items() if is_so]


def warned(v: dict[str, Any], but_for: tuple[str, ...] = OF_THE_MOTION) -> bool:
    """Whether a warning says that a result may be wrong."""
    return any(kind not in but_for for kind in v.get("warnings", ()))


def silent(v: dict[str, Any]) -> list[str]:
    """Figures that are wrong without a warning."""
    return [] if warned(v) else wrong(v)


def in_vain(v: dict[str, Any], strings: bool = True) -> bool:
    """Whether there is a word on numerics though everything is right to a hundredth, `strings` along their length too.

    Of strings whose body is in its place some were off by 4 % of the length themselves: words on that are not in vain.
    """
    if v["status"] != "completed" or not warned(v, NEVER_IN_VAIN) or not v["growth"] < CHAOS:
        return False
    strung = v.get("strung", 0.0) if strings else 0.0
    return bool(max(v["moved"], v["turned"], abs(v["peak"]), strung) < RIGHT)


def stopped_in_vain(v: dict[str, Any]) -> bool:
    """Stopped by the numerics where the finer run gets through."""
    return v["status"] in NUMERICAL and bool(v["finer"] == "completed")
