"""What `tautline check` finds out about a scenario of an assembly before it runs."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tautline.cli.ahead import PARTS_OF_A_RUN, STEPS_A_CALL, Ahead, windows
from tautline.cli.checking import duration_in_words
from tautline.cli.output import NUMERICAL
from tautline.engine.assembly.simulation import AssemblySimulation
from tautline.engine.cases import begin
from tautline.files import runs
from tautline.kernels import data
from tautline.model.assembly.case import AssemblyCase
from tautline.model.profile import places_at

# Seconds that the look at the first samples may take.
LONGEST_LOOK = 0.5
# Times at which given motions of the reels are looked up.
LOOKS = 2000
# Samples that are looked at, at most.
LONGEST_LOOKED = 1000.0
# Steps beyond this are a rough figure anyway.
MOST_COUNTED = 1e15


def facts(case: AssemblyCase) -> dict[str, Any]:
    """All that is found out, by name; SI."""
    simulation, count, sample = begin(case, general=True)
    first = simulation.values(simulation.first_sample())
    limits = simulation.limits()
    plan = simulation.sampling(sample)
    look = _look(simulation, plan, sample)
    steps = case.run.duration / look.step
    names = list(case.system.lines)
    return {
        "bodies": list(case.system.bodies),
        "lines": names,
        "elements": {name: line.count for name, line in case.system.lines.items()},
        "samples": count + 1,
        "size_bytes": runs.file_size(count + 1, simulation.layout),
        "start_tension": dict(zip(names, first["start_tension"][0].tolist(), strict=True)),
        "end_tension": dict(zip(names, first["end_tension"][0].tolist(), strict=True)),
        "unstretched_length": dict(zip(names, first["unstretched_length"][0].tolist(), strict=True)),
        "step": look.step,
        "stability_limit": limits.waves,
        "steps": round(steps) if steps < MOST_COUNTED else steps,
        "wall_time": steps * look.seconds,
        "ends_at": simulation.time if look.status != "completed" else None,
        "expected_status": look.status,
        "fully_deployed": _used_up(case, dict(zip(names, first["unstretched_length"][0].tolist(), strict=True))),
    }


def _used_up(case: AssemblyCase, lengths: dict[str, float]) -> dict[str, float]:
    """When reels whose motion is given have no string left, by the names of the strings (s)."""
    found = {}
    for name, line in case.system.lines.items():
        command = case.commands.get(name)
        if line.reel is None or command is None or not command.prescribes:
            continue
        for start, end in pairwise(windows(command, case.run.duration)):
            times = np.linspace(start, end, LOOKS // PARTS_OF_A_RUN)
            planned = places_at(command.curve(0.0, lengths[name], (start, end)), times)
            beyond = np.flatnonzero(planned >= line.string.length - line.reel.guide_length)
            if len(beyond):
                found[name] = float(times[beyond[0]])
                break
    return found


class Look(NamedTuple):
    """Step (s), wall time of a step (s) and status of the first steps of a run."""

    step: float
    seconds: float
    status: str


def _look(simulation: AssemblySimulation, plan: data.Plan, sample: float) -> Look:
    """Steps as the first ones are, in calls whose work is bounded."""
    if plan.adaptive:
        allowed = simulation.allowed_step()
        ahead = Ahead(simulation, sample, LONGEST_LOOKED * sample)
        ahead.go_on()  # compiles where it has to; not counted
        go_on = ahead.go_on
    else:
        allowed = plan.h
        piece = plan._replace(steps_per_sample=min(plan.steps_per_sample, STEPS_A_CALL))
        simulation.march(1, piece)

        def go_on() -> bool:
            simulation.march(1, piece)
            return simulation.status == "completed"

    before, since, begun = simulation.steps, simulation.time, perf_counter()
    while simulation.status == "completed" and perf_counter() - begun < LONGEST_LOOK and go_on():
        pass
    seconds, made, passed = perf_counter() - begun, simulation.steps - before, simulation.time - since
    if not (made and passed > 0.0):
        return Look(allowed, 0.0, simulation.status)
    return Look(passed / made, seconds / made, simulation.status)


def rows(found: dict[str, Any]) -> dict[str, str]:
    """Lines of the printed table, by title."""
    lines = {"bodies": ", ".join(found["bodies"]) or "none"}
    for name in found["lines"]:
        lines[f"string {name}"] = (
            f"{found['unstretched_length'][name]:.4g} m out in {found['elements'][name]} elements; "
            f"{found['start_tension'][name]:.4g} N at its start and {found['end_tension'][name]:.4g} N at its end, "
            "when the run begins"
        )
    lines["step at the start"] = (
        f"{found['step']:.3g} s, {found['step'] / found['stability_limit']:.2f} of the stability limit"
    )
    lines["steps"] = f"about {found['steps']:.3g}, if they stay as the first ones are"
    lines["wall time"] = f"about {duration_in_words(found['wall_time'])} of stepping"
    if found["fully_deployed"]:
        name, time = min(found["fully_deployed"].items(), key=lambda item: item[1])
        lines["ends early"] = f"about t = {time:.3g} s: string {name!r} is fully deployed"
    elif found["expected_status"] != "completed":
        title = "may end early" if found["expected_status"] in NUMERICAL else "ends early"
        lines[title] = f"about t = {found['ends_at']:.3g} s: {found['expected_status']}"
    lines["result"] = f"{found['samples']} samples, {found['size_bytes'] / 1e6:.1f} MB"
    return lines
