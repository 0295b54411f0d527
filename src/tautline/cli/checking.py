"""Facts that `tautline check` finds before a run: forces at rest and at the start, steps, wall time, size, warnings."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import pairwise
from typing import Any

from tautline.cli.drives import drives_at_rest, motor_warnings, notes_on
from tautline.cli.outlook import outlook
from tautline.cli.starting import (
    extremes,
    line_warnings,
    of_start,
    skipped_stages,
    stage_warnings,
    start_words,
    target_warnings,
)
from tautline.engine.cases import begin
from tautline.errors import TautlineError
from tautline.files import runs
from tautline.model.rest.at_rest import LineAtRest, Statics
from tautline.model.rest.falls import falls_of
from tautline.model.rest.statics import statics
from tautline.model.system.case import Case
from tautline.model.system.parts import ANCHOR, BODY, GUIDE, Line
from tautline.model.system.sheaves import off_rim
from tautline.model.system.starts import ORBITAL, Placed
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.quantities import between, number, value
from tautline.results.warnings import RunWarning

# Elements beyond which statics are not looked for: some seconds.
MOST_ELEMENTS = 2000
# Of the length at the start: lines that get shorter than this are told of.
SHORTER = 1.0 - 1e-6


def facts(case: Case) -> dict[str, Any]:
    """All that is found out, by name; SI."""
    begun = begin(case)
    simulation, count, _ = begun
    system, state = case.meshed().system, case.state()
    found: dict[str, Any] = {
        "elements": {name: line.elements for name, line in system.lines.items()},
        "samples": count + 1,
        "size_bytes": runs.file_size(count + 1, simulation.layout),
    }
    at_rest = _at_rest(system, state, case.locked_sheaves())
    found["rest"] = at_rest.message if isinstance(at_rest, Statics) else at_rest
    found["at_rest"] = isinstance(at_rest, Statics)
    found["in_fluid"] = system.fluid is not None
    at_start, skipped = of_start(simulation), skipped_stages(begun)
    found["lines"] = {
        name: {
            "elements": line.elements,
            "deployed": float(state.lengths_of(system, name).sum()),
            "ends": _ends(line),
            **(_of_line(at_rest.lines[name]) if isinstance(at_rest, Statics) else {}),
            **at_start[name],
            **of_spans(system, at_rest.state if isinstance(at_rest, Statics) else state, name),
        }
        for name, line in system.lines.items()
    }
    found["bodies"], found["drives"], found["notes"] = {}, {}, [*wheel_notes(system), *orbit_notes(case)]
    warnings = line_warnings(system, found["lines"])
    if isinstance(at_rest, Statics):
        found["bodies"] = {
            name: {"weight": body.weight, "position": body.position.tolist()} for name, body in at_rest.bodies.items()
        }
        drives = drives_at_rest(case, at_rest)
        found["drives"] = {x.name: {"holding_torque": x.holding, "max_torque": x.max_torque} for x in drives}
        for drive in drives:
            found["notes"] += notes_on(drive, case.run.duration, len(skipped.get(drive.name, ())))
        warnings += [warning for drive in drives for warning in motor_warnings(drive)]
    found |= {"skipped_stages": skipped, **outlook(case)}
    warnings += [*stage_warnings(case, skipped), *target_warnings(case), *_step_warnings(found)]
    found["warnings"] = [warning.to_dict() for warning in warnings]
    return found


def orbit_notes(case: Case) -> list[str]:
    """Note on bodies in an orbit that are placed without any velocity, and do not turn with it."""
    start = case.start
    if case.system.orbit is None or not isinstance(start, Placed) or start.frame == ORBITAL:
        return []
    moving = (any(x.velocity) or any(x.angular_velocity) for x in start.bodies.values())
    if any(moving):
        return []
    return [
        "all bodies start at rest in a frame that does not turn, and leave the local vertical; initial.frame = "
        f'"{ORBITAL}" starts them at rest in the one that turns with the orbit'
    ]


def _ends(line: Line) -> list[str]:
    """Holders of the ends of a line, in words."""
    words = {GUIDE: "the guide", BODY: "the body"}
    drums = zip(line.ends, (line.reel, line.end_reel), strict=True)
    return [
        ("the anchor" if reel is None else "the guide") if end == ANCHOR else words.get(end, end) for end, reel in drums
    ]


def of_spans(system: System, state: State, name: str) -> dict[str, Any]:
    """Falls, mechanical advantage and pulls of a line over sheaves, by hand formulas."""
    line = system.lines[name]
    if not line.is_reeved:
        return {}
    found: dict[str, Any] = {"spans": dict(zip(span_names(system, name), state.lengths_of(system, name), strict=True))}
    falls = falls_of(system, state, name)
    if falls is not None:
        found["falls"] = falls._asdict()
        if line.reel is not None:
            found["falls"]["holding_torque"] = falls.holding * float(line.reel.radius(state.lines[name].reeled_length))
    return found


def span_names(system: System, name: str) -> list[str]:
    """Spans by what is at their ends: "start to lower", "lower to end"."""
    places = ["start", *system.lines[name].over, "end"]
    return [f"{a} to {b}" for a, b in pairwise(places)]


def _at_rest(system: Any, state: Any, locked: Collection[str]) -> Statics | str:
    """Forces at rest near the start with all loads of time 0; a sentence where there is no such rest."""
    if system.is_isolated:
        return "not looked for: without gravity and loads nothing pulls"
    if system.orbit is not None:
        return "not looked for: in an orbit nothing stays at rest"
    if sum(line.elements for line in system.lines.values()) > MOST_ELEMENTS:
        return f"not looked for: more than {MOST_ELEMENTS} elements; tl.statics finds it"
    try:
        return statics(system, state, locked=locked)
    except TautlineError as error:  # the run will show what happens
        return str(error)


def _of_line(line: LineAtRest) -> dict[str, Any]:
    names = ("weight", "start_tension", "end_tension", "stretch", "holding_torque", "drum_radius", "utilization")
    found: dict[str, Any] = {name: getattr(line, name) for name in names}
    found["start_strain"] = float(line.strain[0])
    found["strain"], found["stretched_length"] = float(line.strain.max()), line.stretched_length
    found["tension"] = [float(x) for x in extremes(line.tension, line.span_tensions)]
    if len(line.span_tensions) > 1:
        found["span_tensions"] = line.span_tensions.tolist()
    return found


def verdict(found: dict[str, Any]) -> str:
    """Outcome of the check in a few words."""
    count, parts = len(found["warnings"]), []
    if count:
        parts.append(f"with {count} warning{'s' if count > 1 else ''}")
    if found["expected_status"] != "completed":
        parts.append(_early(found))
    return ", ".join(["valid", *parts]) if parts else "good"


def _early(found: dict[str, Any]) -> str:
    return "ends early" if found["end_is_certain"] else "may end early"


def rows(found: dict[str, Any]) -> dict[str, str]:
    """Lines of the printed table, by title."""
    lines, wet = {}, " less buoyancy" if found["in_fluid"] else ""
    if found["warnings"]:
        lines["warning"] = "\n".join(warning["text"] for warning in found["warnings"])
    if not found["at_rest"]:
        lines["at rest"] = found["rest"]
    lines |= {f"body {name}" if name != "body" else name: _body_row(x, wet) for name, x in found["bodies"].items()}
    lines |= {f"line {name}" if name != "line" else name: _line_row(x, wet) for name, x in found["lines"].items()}
    for name, motion in found["motions"].items():
        unit = motion["unit"]
        lines[f"motion of the {name}"] = (
            f"up to {motion['peak_speed']:.4g} {unit}/s and {motion['peak_acceleration']:.4g} {unit}/s^2"
            + (f" in the first {motion['until']:.3g} s; later ones were not looked for" if motion["until"] else "")
        )
    if found["notes"]:
        lines["note"] = "\n".join(found["notes"])
    lines |= _step_rows(found)
    lines |= _end_rows(found)
    lines["result"] = f"{found['samples']} samples, {found['size_bytes'] / 1e6:.1f} MB"
    return lines


def _heavy(weight: float, wet: str) -> str:
    """Weight less buoyancy, or what is lifted where buoyancy is more."""
    return f"{value(weight, 'N')}{wet}" if weight >= 0.0 else f"lifted by {value(-weight, 'N')}, buoyancy less weight"


def _body_row(body: dict[str, Any], wet: str) -> str:
    x, y, z = (round(coordinate, 9) + 0.0 for coordinate in body["position"])
    return f"{_heavy(body['weight'], wet)}; at rest at ({number(x)}, {number(y)}, {number(z)}) m"


def _line_row(line: dict[str, Any], wet: str) -> str:
    out = f"{value(line['deployed'], 'm')} out in {line['elements']} elements"
    if "start_tension" not in line:
        return "; ".join([out, *start_words(line)])
    parts = [
        f"{out}, {_heavy(line['weight'], wet)}",
        f"at rest {value(line['start_tension'], 'N')} at {line['ends'][0]} and {value(line['end_tension'], 'N')} at "
        f"{line['ends'][1]}, stretched by {value(line['stretch'], 'm')}",
    ]
    if line["holding_torque"] is not None:
        parts.append(f"{value(line['holding_torque'], 'N m')} hold its drum of {value(line['drum_radius'], 'm')}")
    if line["utilization"] is not None:
        parts.append(f"{value(line['utilization'], '%', 3)} of the breaking load")
    for name, (first, last) in zip(line.get("spans", ()), line.get("span_tensions", ()), strict=False):
        parts.append(f"{name}: {value(line['spans'][name], 'm')}, {between(first, last, 'N')}")
    falls = line.get("falls")
    if falls is not None:
        parts.append(
            f"by hand: {falls['falls']} falls, advantage {falls['advantage']:.4g}, {value(falls['load'], 'N')} of "
            f"{falls['body']!r} take {value(falls['holding'], 'N')} to hold, "
            f"{value(falls['hoisting'], 'N')} to hoist and {value(falls['lowering'], 'N')} to lower"
            + (f", {value(falls['holding_torque'], 'N m')} at the drum" if "holding_torque" in falls else "")
        )
    return "; ".join([*parts, *start_words(line)])


def _step_rows(found: dict[str, Any]) -> dict[str, str]:
    least = "" if found["steps_are_complete"] else "at least "
    lines = {"step at the start": f"{found['step']:.3g} s, limited by {found['governs']}"}
    shorter = {name: X for name, X in found["shortest"].items() if SHORTER * found["lines"][name]["deployed"] > X}
    if shorter:
        only = len(found["lines"]) == 1
        out = ", ".join(f"{X:.4g} m" if only else f"{X:.4g} m of {name}" for name, X in shorter.items())
        lines["step when shortest"] = (
            f"{found['step_at_shortest']:.3g} s at {out}, limited by {found['governs_at_shortest']}"
        )
    lines["steps"] = f"{least}about {found['steps']:.3g}"
    lines["wall time"] = (
        "not measured: the motions of guide and length have too many periods in a step"
        if math.isnan(found["wall_time"])
        else f"{least}about {duration_in_words(found['wall_time'])} of stepping; start-up not counted"
    )
    return lines


def _step_warnings(found: dict[str, Any]) -> list[RunWarning]:
    step, limit = found["step_at_shortest"], min(found["step_limits_at_shortest"].values())
    if found["governs_at_shortest"] == found["governs"] or step <= limit:
        return []
    text = 'the given step is too long for the shortest length: the run will stop; use step = "auto"'
    return [RunWarning("step", text, step, limit)]


def _end_rows(found: dict[str, Any]) -> dict[str, str]:
    lines = {}
    if not found["steps_are_complete"] or (found["expected_status"] == "completed" and not found["end_is_certain"]):
        lines["looked ahead"] = f"to t = {found['looked_until']:.3g} s; the rest is taken to go on like that"
    if found["expected_status"] != "completed":
        end, line = found["expected_status"], found["ending_line"]
        if line is not None and len(found["lines"]) > 1:
            end = f"line {line!r} is {end.replace('_', ' ')}"
        lines[_early(found)] = f"about t = {found['ends_at']:.3g} s: {end}"
    return lines


def duration_in_words(seconds: float) -> str:
    """A time with two digits, in the unit that people would use."""
    if seconds < 60.0:
        return f"{seconds:.2g} s"
    return f"{seconds / 60.0:.2g} min" if seconds < 3600.0 else f"{seconds / 3600.0:.2g} h"


def wheel_notes(system: System) -> list[str]:
    """Notes on sheaves that rope meets or leaves far from their rims, where it is likely a mistake."""
    return [
        f"lines.{line}.over.{name}.{key} is {value(away, 'm')} from the center of the wheel and {value(aside, 'm')} "
        f"from its plane; its radius is {value(radius, 'm')}"
        for line, own in system.lines.items()
        for (name, key), (away, aside, radius) in off_rim(own.over).items()
    ]
