"""Systems and states of tests/verification/reeving.json, through the public interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import tautline as tl
from tautline.model.description import changed

CASES = json.loads((Path(__file__).parents[1] / "verification" / "reeving.json").read_text())

STRING_KEYS = ("stiffness", "density", "viscosity", "diameter", "normal_drag", "tangential_drag")


def _end(end: dict[str, Any]) -> tuple[str, tuple[float, ...]]:
    return ("anchor" if end["kind"] == "anchor" else f"body{end['body']}"), tuple(end["point"])


def _sheave(data: dict[str, Any], entrance: Any, exit_: Any) -> Any:
    on, center = _end(data["centre"])
    points: dict[str, Any] = {"entrance": tuple(map(float, entrance)), "exit": tuple(map(float, exit_))}
    common = {"on": on, "wrap": data["wrap"], "inertia_mass": data["inertia_mass"]}
    common["smoothing_speed"] = data["smoothing_speed"]
    if data["law"] == "pin":
        return tl.Pin(point=center, friction=data["friction"], **points, **common)
    sheave = tl.Sheave(
        center=center,
        radius=data["radius"],
        axis=data["axis"],
        efficiency=data.get("efficiency", 1.0),
        **common,
    )
    return changed(sheave, **points)  # unchecked: axes of the cases are arbitrary, and points not in the wheels' planes


def lines_of(case: dict[str, Any]) -> list[list[int]]:
    """Numbers of the strings of a case that are spans of each line."""
    behind = {x["in"]: x["out"] for x in case["sheaves"]}
    lines = []
    for k in range(len(case["strings"])):
        if k not in behind.values():
            spans = [k]
            while spans[-1] in behind:
                spans.append(behind[spans[-1]])
            lines.append(spans)
    return lines


def case_of(case: dict[str, Any], **run: Any) -> tl.Case:
    """A case of the reference with torques of its motors, and its start."""
    bodies = {
        f"body{k}": tl.RigidBody.about_center(x["mass"], x["inertia"], (0.0, 0.0, 0.0))
        for k, x in enumerate(case["bodies"])
    }
    starts = {
        f"body{k}": tl.BodyState(x["position"], x["velocity"], x["attitude"], x["angular_velocity"])
        for k, x in enumerate(case["bodies"])
    }
    lines, states, commands = {}, {}, {}
    for i, spans in enumerate(lines_of(case)):
        name, strings = f"line{i}", [case["strings"][k] for k in spans]
        sheaves = [next(x for x in case["sheaves"] if x["in"] == k) for k in spans[:-1]]
        over = {
            f"s{j}": _sheave(x, _end(strings[j]["to"])[1], _end(strings[j + 1]["from"])[1])
            for j, x in enumerate(sheaves)
        }
        lengths = [x["deployed"] for x in strings]
        (start, start_point), (end, end_point) = _end(strings[0]["from"]), _end(strings[-1]["to"])
        reel, drum = None, strings[0].get("reel")
        options: dict[str, Any] = {}
        if drum:
            keys = ("drum_radius", "inertia_mass", "guide_length", "guide_law")
            reel = tl.Reel(**{key: drum[key] for key in keys})
            commands[name] = tl.Torque(drum["torque"])
            if start != "anchor":
                options["drum_axis"] = drum["drum_axis"]
        commands |= {f"{name}.s{j}": tl.Torque(x["torque"]) for j, x in enumerate(sheaves) if x["torque"]}
        reeled = drum["reeled_length"] if drum else 0.0
        whole = sum(lengths) + reeled + sum(x["wrap"] for x in sheaves)
        own = {key: strings[0][key] for key in STRING_KEYS if key in strings[0]}
        string = tl.String(length=whole, **{"law": "linear", **own})
        lines[name] = tl.Line(
            string,
            start,
            start_point,
            end,
            end_point,
            reel=reel,
            over=over,
            elements=strings[0]["elements"],
            **options,
        )
        states[name] = tl.LineState(
            np.concatenate([x["nodes"] for x in strings]),
            np.concatenate([x["node_velocities"] for x in strings]),
            reeled,
            drum["reel_speed"] if drum else 0.0,
            np.array(lengths if sheaves else []),
            passing=np.array([x["speed"] for x in sheaves]),
        )
    water, fluid = case.get("fluid"), None
    if water:
        fluid = tl.Fluid(water["density"], flow=water["flow"])
    system = tl.System(bodies, lines, gravity=case["gravity"], fluid=fluid)
    return tl.Case(system, tl.State(starts, states), commands, tl.Run(**run))


def compared(case: dict[str, Any], state: tl.State) -> np.ndarray:
    """Nodes (m), lengths passed (m) and attitudes of a state, in one row."""
    own = [state.lines[f"line{i}"] for i in range(len(lines_of(case)))]
    attitudes = [state.bodies[f"body{k}"].attitude for k in range(len(case["bodies"]))]
    parts = [x.nodes for x in own] + [x.passed for x in own] + attitudes
    return np.concatenate([np.ravel(x) for x in parts])


def expected_of(case: dict[str, Any], expected: dict[str, Any]) -> np.ndarray:
    """Numbers of the reference."""
    passed = {x["in"]: expected["sheaves"][n]["passed"] for n, x in enumerate(case["sheaves"])}
    lines = lines_of(case)
    parts: list[Any] = [np.concatenate([expected["strings"][k]["nodes"] for k in spans]) for spans in lines]
    parts += [[passed[k] for k in spans[:-1]] for spans in lines] + [x["attitude"] for x in expected["bodies"]]
    return np.concatenate([np.ravel(x) for x in parts])


def largest_error(case: dict[str, Any], state: tl.State, expected: dict[str, Any]) -> float:
    """Largest distance of a node (m), of an attitude and of a length passed from the reference."""
    return float(np.abs(compared(case, state) - expected_of(case, expected)).max())
