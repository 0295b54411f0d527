"""Steps that a run of several lines will take, and how it ends: by a look at its first samples."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tautline.cli.ahead import PARTS_OF_A_RUN, STEPS_A_CALL, Ahead, windows
from tautline.cli.output import NUMERICAL
from tautline.engine.cases import begin
from tautline.engine.network import NetworkSimulation
from tautline.kernels import data
from tautline.model.assembly.case import Case
from tautline.model.profile import places_at

# Seconds that the look at the first samples may take.
LONGEST_LOOK = 0.5
# Times at which given motions of the reels are looked up.
LOOKS = 2000
# Samples that are looked at, at most.
LONGEST_LOOKED = 1000.0
# Steps beyond this are a rough figure anyway.
MOST_COUNTED = 1e15


def outlook(case: Case) -> dict[str, Any]:
    """Steps, wall time and end of a run, by name; SI."""
    simulation, _, sample = begin(case, general=True)
    limits = simulation.limits()
    plan = simulation.sampling(sample)
    lengths = {
        name: line.string.length - case.state().lines[name].reeled_length for name, line in case.system.lines.items()
    }
    look = _look(simulation, plan, sample)
    steps = case.run.duration / look.step
    return {
        "motions": {},
        "looked_until": simulation.time,
        "ends_at": simulation.time if look.status != "completed" else case.run.duration,
        "expected_status": look.status,
        "end_is_certain": look.status not in NUMERICAL,
        "step": look.step,
        "step_limits": {"waves in the elements of the strings": limits.waves},
        "stability_limit": limits.waves,
        "steps": round(steps) if steps < MOST_COUNTED else steps,
        "steps_are_complete": False,
        "wall_time": steps * look.seconds,
        "fully_deployed": _used_up(case, lengths),
    }


def _used_up(case: Case, lengths: dict[str, float]) -> dict[str, float]:
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


def _look(simulation: NetworkSimulation, plan: data.Plan, sample: float) -> Look:
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
