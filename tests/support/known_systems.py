"""Systems of tests/data/systems.json, and how far a simulation is from the states there."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.system.state import LineState
from tests.support import chains

HALVED = [1e-3, 5e-4, 2.5e-4, 1.25e-4]
_DATA = Path(__file__).parents[1] / "data" / "systems.json"


@cache
def specs() -> dict[str, Any]:
    """Cases by name."""
    return {spec["name"]: spec for spec in json.loads(_DATA.read_text(encoding="utf-8"))}


def _line(spec: dict[str, Any], bodies: list[str]) -> tl.Line:
    ends: dict[str, Any] = {}
    for key, end in (("start", spec["from"]), ("end", spec["to"])):
        ends[key] = "anchor" if end["kind"] == "anchor" else bodies[end["body"]]
        ends[f"{key}_point"] = end["point"]
    reel = spec.get("reel")
    string = tl.String(spec["length"], spec["density"], spec["stiffness"], law="linear")
    if reel is None:
        return tl.Line(string, **ends, elements=spec["elements"])
    made = tl.Reel(reel["drum_radius"], reel["guide_length"], reel["inertia_mass"], guide_law=reel["guide_law"])
    axis = None if ends["start"] == "anchor" else reel["drum_axis"]
    return tl.Line(string, **ends, reel=made, drum_axis=axis, elements=spec["elements"])


def system_of(spec: dict[str, Any]) -> tl.System:
    """The system of a case."""
    bodies = {
        f"b{i}": tl.RigidBody.about_center(b["mass"], b["inertia"], (0.0, 0.0, 0.0))
        for i, b in enumerate(spec["bodies"])
    }
    strings = {f"s{k}": _line(s, list(bodies)) for k, s in enumerate(spec["strings"])}
    orbit = spec["orbit"]
    if orbit is None:
        return tl.System(bodies, strings, spec["gravity"])
    made = tl.Orbit(orbit["radius"], gravitational_parameter=orbit["gravitational_parameter"])
    return tl.System(bodies, strings, orbit=made)


def one_line(
    rope: tl.String, drum: tl.Reel, start: chains.ChainState, body: tl.RigidBody, **others: Any
) -> tuple[tl.System, tl.State]:
    """The system that is a pendulum, in a state of that."""
    system = tl.System(
        {"body": body}, {"rope": tl.Line(rope, end="body", reel=drum, elements=start.elements)}, **others
    )
    arm = np.array(start.attitude) @ np.array(body.center_of_mass)
    spun = np.array(start.attitude) @ np.cross(start.angular_velocity, body.center_of_mass)
    place = tl.BodyState(
        tuple(start.nodes[-1] + arm),
        tuple(start.node_velocities[-1] + spun),
        start.attitude,
        tuple(start.angular_velocity),
    )
    line = LineState(start.nodes, start.node_velocities, start.reeled_length, start.reel_speed)
    return system, tl.State({"body": place}, {"rope": line})


BOX = tl.RigidBody.box(2.0, (0.5, 0.4, 0.3), (0.0, 0.0, 0.2))


def pendulum_and_system(
    string: dict[str, Any], reel: dict[str, Any], body: tl.RigidBody = BOX
) -> tuple[tuple[chains.Chain, chains.ChainState], tuple[tl.System, tl.State]]:
    """A pendulum that swings and tumbles, as a chain and as a system, each with its state."""
    rope, drum = tl.String(10.0, 0.1, 2000.0, **{"law": "linear", **string}), tl.Reel(0.2, 0.5, 1.5, **reel)
    moving: Any = {"end_velocity": (0.0, 1.0, 0.0), "angular_velocity": (0.3, -0.2, 0.5)}
    chain = chains.Chain(rope, drum, body)
    start = chains.straight(chain, 5.0, 6, (1.0, 0.2, 1.0), **moving)
    return (chain, start), one_line(rope, drum, start, body)


def both(
    command: tl.Command, string: dict[str, Any], reel: dict[str, Any], body: tl.RigidBody = BOX, **run: Any
) -> tuple[Any, Any]:
    """Runs of a pendulum and of the same as a system."""
    settings = {"duration": 0.3, "step": 5e-4, "sample": 0.03} | run
    chain, system = pendulum_and_system(string, reel, body)
    return chains.simulate(*chain, command, **settings), tl.simulate(*system, {"rope": command}, **settings)


def state_of(spec: dict[str, Any]) -> tl.State:
    """Its state at the start."""
    bodies = {
        f"b{i}": tl.BodyState(
            tuple(b["position"]), tuple(b["velocity"]), np.array(b["attitude"]), tuple(b["angular_velocity"])
        )
        for i, b in enumerate(spec["bodies"])
    }
    strings = {}
    for k, s in enumerate(spec["strings"]):
        reel = s.get("reel") or {}
        lengths = (reel.get("reeled_length", 0.0), reel.get("reel_speed", 0.0))
        strings[f"s{k}"] = LineState(np.array(s["nodes"]), np.array(s["node_velocities"]), *lengths)
    return tl.State(bodies, strings)


def commands_of(spec: dict[str, Any]) -> dict[str, tl.Command]:
    """Torques of its reels."""
    return {f"s{k}": tl.Torque(s["reel"]["torque"]) for k, s in enumerate(spec["strings"]) if s.get("reel")}


def run(spec: dict[str, Any], duration: float, step: float, order: int = 2) -> tl.Simulation:
    """A simulation that has advanced by a duration."""
    simulation = chains.simulation(system_of(spec), state_of(spec), step=step, order=order)
    assert simulation.advance(duration, commands_of(spec)) == "completed", simulation.message
    return simulation


def with_halved_steps(
    system: tl.System, state: tl.State, commands: Any, account: str, least: float
) -> tuple[list[float], list[float]]:
    """Differences of motions after 0.1 s with HALVED steps, and errors of their balances of energy.

    An account must have more than `least` (J) at the end.
    """
    found, balance = [], []
    for h in HALVED:
        simulation = chains.simulation(system, state, step=h)
        simulation.advance(0.1, commands)
        run = simulation.dataset()
        assert abs(run[account][-1]) > least
        found.append(np.concatenate([run.position.values[-1].ravel(), run.body_position.values[-1].ravel()]))
        kept = kept_energy(run)
        balance.append(abs(float(kept[-1] - kept[0])))
    return [float(np.abs(a - b).max()) for a, b in pairwise(found)], balance


def distance(simulation: tl.Simulation, state: dict[str, Any]) -> float:
    """Largest difference to a state of a case: positions and lengths (m), attitudes."""
    errors = [0.0]
    for i, body in enumerate(state["bodies"]):
        now = simulation.bodies[f"b{i}"]
        errors += [np.abs(getattr(now, name) - body[name]).max() for name in ("position", "attitude")]
    for k, string in enumerate(state["strings"]):
        line = simulation.lines[f"s{k}"]
        errors.append(np.abs(line.nodes - string["nodes"]).max())
        errors.append(abs(line.reeled_length - string["reeled_length"]))
    return float(max(errors))


def check_fit_finds(truth: dict[str, float], case: tl.Case, body: str, line: str) -> None:
    """Fit to the height of a body and the tension of a line, with noise, and expect the values that made them."""
    run = tl.simulate(case.with_(truth))
    noise = np.random.default_rng(2).normal(size=(2, len(run.time)))
    data = {
        "time": run.time.values,
        f"body_position[{body},z]": run.body_position.sel(body=body, axis="z").values + 1e-5 * noise[0],
        f"start_tension[{line}]": run.start_tension.sel(line=line).values + 1e-2 * noise[1],
    }
    found = tl.fit(case, data, list(truth), units="SI")
    assert found.status == "completed"
    for key, value in truth.items():
        assert abs(found.values[key] - value) <= 4.0 * found.standard_errors[key] <= 0.01 * value
