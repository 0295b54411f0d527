"""Facts that `tautline check` finds before a run: forces at rest by line and body, steps, wall time, size."""

from __future__ import annotations

import math
from typing import Any

from tautline.cli import checking_chains, checking_networks
from tautline.engine.cases import begin
from tautline.errors import TautlineError
from tautline.files import runs
from tautline.model.assembly.case import Case
from tautline.model.assembly.statics import LineAtRest, Statics, statics, system_and_state
from tautline.model.case import ChainCase

# Elements beyond which statics are not looked for: some seconds.
MOST_ELEMENTS = 2000
# Of the breaking load: a tension at rest beyond it is warned of.
BREAKS = 1.0


def facts(case: ChainCase | Case) -> dict[str, Any]:
    """All that is found out, by name; SI."""
    simulation, count, _ = begin(case)
    chain = isinstance(case, ChainCase)
    system, state = system_and_state(case.pendulum if isinstance(case, ChainCase) else case.system, case.state())
    found: dict[str, Any] = {
        "elements": simulation.elements if chain else {name: line.elements for name, line in system.lines.items()},
        "samples": count + 1,
        "size_bytes": runs.file_size(count + 1, simulation.layout),
    }
    at_rest = _at_rest(system, state)
    found["rest"] = at_rest.message if isinstance(at_rest, Statics) else at_rest
    found["at_rest"] = isinstance(at_rest, Statics)
    found["lines"] = {
        name: {
            "elements": line.elements,
            "deployed": line.string.length - state.lines[name].reeled_length,
            "ends": list(line.ends) if not chain else ["the guide", "the body"],
            **(_of_line(at_rest.lines[name]) if isinstance(at_rest, Statics) else {}),
        }
        for name, line in system.lines.items()
    }
    found["bodies"] = {}
    if isinstance(at_rest, Statics):
        found["bodies"] = {
            name: {"weight": body.weight, "position": body.position.tolist()} for name, body in at_rest.bodies.items()
        }
    return found | (checking_chains.outlook(case) if isinstance(case, ChainCase) else checking_networks.outlook(case))


def _at_rest(system: Any, state: Any) -> Statics | str:
    """Forces at rest near the start with all loads of time 0; a sentence where there is no such rest."""
    if system.is_isolated:
        return "not looked for: without gravity and loads nothing pulls"
    if sum(line.elements for line in system.lines.values()) > MOST_ELEMENTS:
        return f"not looked for: more than {MOST_ELEMENTS} elements; tl.statics finds it"
    try:
        return statics(system, state)
    except TautlineError as error:  # the run will show what happens
        return str(error)


def _of_line(line: LineAtRest) -> dict[str, float | None]:
    names = ("weight", "start_tension", "end_tension", "stretch", "holding_torque", "drum_radius", "utilisation")
    found: dict[str, float | None] = {name: getattr(line, name) for name in names}
    found["start_strain"] = float(line.strain[0])
    return found


def rows(found: dict[str, Any]) -> dict[str, str]:
    """Lines of the printed table, by title."""
    lines = {}
    if not found["at_rest"]:
        lines["at rest"] = found["rest"]
    lines |= {f"body {name}" if name != "body" else name: _body_row(x) for name, x in found["bodies"].items()}
    lines |= {f"line {name}" if name != "line" else name: _line_row(x) for name, x in found["lines"].items()}
    for name, motion in found["motions"].items():
        lines[f"motion of the {name}"] = (
            f"up to {motion['peak_speed']:.4g} m/s and {motion['peak_acceleration']:.4g} m/s^2"
            + (f" in the first {motion['until']:.3g} s; later ones were not looked for" if motion["until"] else "")
        )
    lines |= _step_rows(found)
    lines |= _warnings(found)
    lines |= _end_rows(found)
    lines["result"] = f"{found['samples']} samples, {found['size_bytes'] / 1e6:.1f} MB"
    return lines


def _body_row(body: dict[str, Any]) -> str:
    x, y, z = (round(coordinate, 9) + 0.0 for coordinate in body["position"])
    return f"{body['weight']:.4g} N, less buoyancy; at rest at ({x:.4g}, {y:.4g}, {z:.4g}) m"


def _line_row(line: dict[str, Any]) -> str:
    out = f"{line['deployed']:.4g} m out in {line['elements']} elements"
    if "start_tension" not in line:
        return out
    parts = [
        f"{out}, {line['weight']:.4g} N less buoyancy",
        f"at rest {line['start_tension']:.4g} N at {line['ends'][0]} and {line['end_tension']:.4g} N at "
        f"{line['ends'][1]}, stretched by {line['stretch']:.4g} m",
    ]
    if line["holding_torque"] is not None:
        parts.append(f"{line['holding_torque']:.4g} N m hold its drum of {line['drum_radius']:.4g} m")
    if line["utilisation"] is not None:
        parts.append(f"{line['utilisation']:.1%} of the breaking load")
    return "; ".join(parts)


def _step_rows(found: dict[str, Any]) -> dict[str, str]:
    least = "" if found["steps_are_complete"] else "at least "
    if "stability_limit" in found:
        least = ""
        step = f"{found['step']:.3g} s, {found['step'] / found['stability_limit']:.2f} of the stability limit"
        steps = f"about {found['steps']:.3g}, if they stay as the first ones are"
    else:
        step = f"{found['step']:.3g} s, limited by {found['governs']}"
        steps = f"{least}about {found['steps']:.3g}"
    lines = {"step at the start": step}
    if "shortest_length" in found:
        lines["step when shortest"] = (
            f"{found['step_at_shortest']:.3g} s at {found['shortest_length']:.4g} m, "
            f"limited by {found['governs_at_shortest']}"
        )
    lines["steps"] = steps
    lines["wall time"] = (
        "not measured: the motions of guide and length have too many periods in a step"
        if math.isnan(found["wall_time"])
        else f"{least}about {duration_in_words(found['wall_time'])} of stepping; start-up not counted"
    )
    return lines


def _warnings(found: dict[str, Any]) -> dict[str, str]:
    warnings = []
    if (
        "step_at_shortest" in found
        and found["governs_at_shortest"] != found["governs"]
        and found["step_at_shortest"] > min(found["step_limits_at_shortest"].values())
    ):
        warnings.append('the given step is too long for the shortest length: the run will stop; use step = "auto"')
    for name, line in found["lines"].items():
        if (line.get("utilisation") or 0.0) > BREAKS:
            warnings.append(f"line {name!r} has {line['utilisation']:.2f} of its breaking load at rest")
    return {"warning": "; ".join(warnings)} if warnings else {}


def _end_rows(found: dict[str, Any]) -> dict[str, str]:
    lines = {}
    if not found["steps_are_complete"] and "stability_limit" not in found:
        lines["looked ahead"] = f"to t = {found['looked_until']:.3g} s; the rest is taken to go on like that"
    if found.get("fully_deployed"):
        name, time = min(found["fully_deployed"].items(), key=lambda item: item[1])
        lines["ends early"] = f"about t = {time:.3g} s: line {name!r} is fully deployed"
    elif found["expected_status"] != "completed":
        title = "ends early" if found["end_is_certain"] else "may end early"
        lines[title] = f"about t = {found['ends_at']:.3g} s: {found['expected_status']}"
    return lines


def duration_in_words(seconds: float) -> str:
    """A time with two digits, in the unit that people would use."""
    if seconds < 60.0:
        return f"{seconds:.2g} s"
    return f"{seconds / 60.0:.2g} min" if seconds < 3600.0 else f"{seconds / 3600.0:.2g} h"
