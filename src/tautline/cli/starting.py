"""Start of a run before it is made: tensions and strains of lines, and stages of commands that end at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.engine.cases import Begun
from tautline.engine.runner import Runner
from tautline.kernels import data
from tautline.model.commands.impedance import Impedance
from tautline.model.commands.length import Length
from tautline.model.sequence import Sequence
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.system import System
from tautline.quantities import between, number, value
from tautline.results.network import layout
from tautline.results.warnings import RunWarning

# Strain beyond which a line is warned of, unless the table of its law goes on. Steel ropes part at some 3 %, those of
# polyester at 15 %, of nylon at 40 %. Rubber bears more, but its law is a curve, which only a table gives.
PARTS = 0.5
# Of the breaking load: a larger tension is warned of.
BREAKS = 1.0
# Of the largest tension: a start that differs from rest by more is described.
DIFFERS = 0.01
# Strain below which a line is neither stretched nor pressed: rounding of positions.
ROUNDING = 1e-9


def extremes(*tensions: data.Array) -> tuple[float, float]:
    """Least and largest of all tensions (N)."""
    every = np.concatenate([np.ravel(x) for x in tensions])
    return float(every.min()), float(every.max())


def of_start(simulation: Runner[Any]) -> dict[str, dict[str, Any]]:
    """Tensions, strains and lengths of lines at the start, by name."""
    values, system = simulation.present_values(), simulation.system
    found, span = {}, 0
    for k, (name, line) in enumerate(system.lines.items()):
        own = layout(system).spans[name]["element"]
        ends = [values[f"{end}_tension"][0, k] for end in ("start", "end")]
        if line.is_reeved:
            spans = slice(span, span + line.spans)
            ends = [values[f"span_{end}_tension"][0, spans] for end in ("start", "end")]
        span += line.spans
        low, high = (
            0.0 if abs(x) < ROUNDING * line.string.stiffness else x for x in extremes(values["tension"][0, own], *ends)
        )
        breaking = line.string.breaking_load
        found[name] = {
            "initial_tension": [low, high],
            "initial_strain": float(values["strain"][0, own].max()),
            "initial_stretched_length": float(values["stretched_length"][0, k]),
            "initial_utilization": None if breaking is None else high / breaking,
        }
    return found


def starts_at_rest(line: dict[str, Any]) -> bool:
    """Whether tensions at the start are those at rest."""
    if "tension" not in line:
        return False
    rest, start = np.array(line["tension"]), np.array(line["initial_tension"])
    return bool(np.abs(start - rest).max() <= DIFFERS * np.abs([rest, start]).max())


def start_words(line: dict[str, Any]) -> list[str]:
    """Sentence on the start of a line that does not begin at rest."""
    low, high = line["initial_tension"]
    if starts_at_rest(line):
        return []
    if low == high == 0.0:
        return ["starts without tension"]
    strain = f", strain {value(line['initial_strain'], '%', 3)}" if line["initial_strain"] > ROUNDING else ""
    return [f"starts with {between(low, high, 'N')}{strain}"]


def line_warnings(system: System, lines: dict[str, dict[str, Any]]) -> list[RunWarning]:
    """Warnings on lines that would part at rest or at the start."""
    found = []
    for name, line in lines.items():
        moments = [("at rest", "")] if "tension" in line else []
        moments += [] if starts_at_rest(line) else [("at the start", "initial_")]
        for moment, prefix in moments:
            found += _overloaded(name, system.lines[name].string, moment, line, prefix)
    return found


def _overloaded(name: str, string: String, moment: str, line: dict[str, Any], prefix: str) -> list[RunWarning]:
    found = []
    used, strain = line[f"{prefix}utilization"] or 0.0, line[f"{prefix}strain"]
    if used > BREAKS:
        text = f"line {name!r} bears {number(used, 3)} times its breaking load {moment}"
        found.append(RunWarning("breaking_load", text, used, BREAKS, name))
    limit = PARTS if string.tension_table is None else max(PARTS, string.tension_table[0][-1])
    if strain > limit:
        text = (
            f"line {name!r} is stretched by {value(strain, '%', 3)} {moment}, from {value(line['deployed'], 'm')} to "
            f"{value(line[f'{prefix}stretched_length'], 'm')}, with {value(line[f'{prefix}tension'][1], 'N')}: ropes "
            f"part below {value(PARTS, '%')}; check its stiffness ({value(string.stiffness, 'N')}), lengths and loads, "
            'and give rubber law = "table"'
        )
        found.append(RunWarning("strain", text, strain, limit, name))
    return found


def skipped_stages(begun: Begun) -> dict[str, list[str]]:
    """Names of the stages that end before the first step, by the names of commands."""
    simulation = begun.simulation
    simulation.march(0, simulation.sampling(begun.interval))
    stages = {} if simulation.watch is None else simulation.watch.stages
    return {name: list(x.sequence.names[: x.number]) for name, x in stages.items() if x.number}


def stage_warnings(case: Case, skipped: dict[str, list[str]]) -> list[RunWarning]:
    """Warnings on stages that end before the first step."""
    found = []
    for name, stages in skipped.items():
        sequence = case.commands[name]
        for stage in sequence.stages[: len(stages)]:
            text = (
                f"stage {stage.name!r} of {name!r} is skipped: what ends it (until = {stage.until!r}) holds at the "
                "start already"
            )
            found.append(RunWarning("stage", text, where=name))
    return found


def target_warnings(case: Case) -> list[RunWarning]:
    """Warnings on moves beyond the string that there is, whether or not the run lasts until then."""
    found = []
    for name, command in case.commands.items():
        line = case.system.lines.get(name)
        if line is None:  # of a sheave
            continue
        longest = line.string.length - case.system.wraps(name) - sum(x.guide_length for x in line.reels.values())
        stages = [stage.command for stage in command.stages] if isinstance(command, Sequence) else [command]
        moves = [stage.length if isinstance(stage, Impedance) else stage for stage in stages]
        target = max((float(x.target) for x in moves if isinstance(x, Length) and x.target is not None), default=0.0)
        if target > longest:
            text = f"line {name!r} is to move to {value(target, 'm')}, but reaches {value(longest, 'm')} at most"
            found.append(RunWarning("target", text, target, longest, name))
    return found
