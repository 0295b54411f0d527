"""What `tautline check` finds out about a scenario of an assembly before it runs."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from tautline.cli.checking import duration_in_words
from tautline.engine.assembly.simulation import AssemblySimulation
from tautline.engine.cases import begin
from tautline.files import runs
from tautline.model.assembly.case import AssemblyCase
from tautline.model.command import PrescribedMotion
from tautline.model.profile import places_at

# Seconds that the look at the first samples may take.
LONGEST_LOOK = 0.5
# Times at which given motions of the reels are looked up.
LOOKS = 2000
# Base steps that are made at a time.
STEPS_AT_ONCE = 1000


def facts(case: AssemblyCase) -> dict[str, Any]:
    """All that is found out, by name; SI."""
    simulation, count, sample = begin(case)
    first = simulation.values(simulation.first_sample())
    limits = simulation.limits()
    plan = simulation.sampling(sample)
    step, steps, seconds = _look(simulation, plan, count, sample)
    names = list(case.assembly.strings)
    return {
        "bodies": list(case.assembly.bodies),
        "strings": names,
        "elements": {name: line.elements for name, line in case.assembly.strings.items()},
        "samples": count + 1,
        "size_bytes": runs.file_size(count + 1, simulation.layout),
        "start_tension": dict(zip(names, first["start_tension"][0].tolist(), strict=True)),
        "end_tension": dict(zip(names, first["end_tension"][0].tolist(), strict=True)),
        "unstretched_length": dict(zip(names, first["unstretched_length"][0].tolist(), strict=True)),
        "step": step,
        "stability_limit": limits.waves,
        "steps": steps,
        "wall_time": steps * seconds,
        "fully_deployed": _used_up(case, dict(zip(names, first["unstretched_length"][0].tolist(), strict=True))),
    }


def _used_up(case: AssemblyCase, lengths: dict[str, float]) -> dict[str, float]:
    """When reels whose motion is given have no string left, by the names of the strings (s)."""
    times = np.linspace(0.0, case.run.duration, LOOKS)
    found = {}
    for name, line in case.assembly.strings.items():
        command = case.commands.get(name)
        if line.reel is None or not isinstance(command, PrescribedMotion):
            continue
        planned = places_at(command.curve(0.0, lengths[name], (0.0, case.run.duration)), times)
        beyond = np.flatnonzero(planned >= line.string.length - line.reel.guide_length)
        if len(beyond):
            found[name] = float(times[beyond[0]])
    return found


def _look(simulation: AssemblySimulation, plan: Any, count: int, sample: float) -> tuple[float, int, float]:
    """Step, steps of the whole run and seconds a step, as the first samples take them."""
    piece = plan._replace(steps_per_sample=min(plan.steps_per_sample, STEPS_AT_ONCE))
    whole = plan.steps_per_sample * count
    simulation.march(1, piece)  # compiles where it has to; not counted
    before, begun, done = simulation.steps, perf_counter(), 0
    while simulation.status == "completed" and perf_counter() - begun < LONGEST_LOOK:
        if (done + 2) * piece.steps_per_sample > whole:
            break
        simulation.march(1, piece)
        done += 1
    made = max(1, simulation.steps - before)
    seconds = (perf_counter() - begun) / made
    each = (made / done if done else float(simulation.steps)) / piece.steps_per_sample  # steps in a base step
    return plan.h / each, round(each * whole), seconds


def rows(found: dict[str, Any]) -> dict[str, str]:
    """Lines of the printed table, by title."""
    lines = {"bodies": ", ".join(found["bodies"]) or "none"}
    for name in found["strings"]:
        lines[f"string {name}"] = (
            f"{found['unstretched_length'][name]:.4g} m out in {found['elements'][name]} elements; "
            f"{found['start_tension'][name]:.4g} N at its start and {found['end_tension'][name]:.4g} N at its end, "
            "when the run begins"
        )
    lines["step at the start"] = (
        f"{found['step']:.3g} s, {found['step'] / found['stability_limit']:.2f} of the stability limit"
    )
    lines["steps"] = f"about {found['steps']:.3g}, if they stay as they are"
    lines["wall time"] = f"about {duration_in_words(found['wall_time'])} of stepping"
    if found["fully_deployed"]:
        name, time = min(found["fully_deployed"].items(), key=lambda item: item[1])
        lines["ends early"] = f"about t = {time:.3g} s: string {name!r} is fully deployed"
    lines["result"] = f"{found['samples']} samples, {found['size_bytes'] / 1e6:.1f} MB"
    return lines
