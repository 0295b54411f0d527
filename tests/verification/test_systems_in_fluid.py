"""Assemblies in air and water: against the pendulum, whose loads are verified on their own, and against themselves."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.system.state import LineState
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.known_systems import HALVED, commands_of, specs, state_of, system_of, with_halved_steps

pytestmark = pytest.mark.network

DURATION = 0.05
STEPS = (2e-3, 1e-3, 5e-4)
STRING: Any = {"diameter": 0.02, "normal_drag": 1.2, "tangential_drag": 0.02}
REEL = tl.Reel(0.2, 0.5, 1.0)
BODY = tl.RigidBody.about_center(2.0, np.diag([0.05, 0.07, 0.06]), (0.05, 0.02, 0.3))
IN_FLUID: Any = {
    "drag_area": 0.05,
    "drag_center": (0.1, 0.0, 0.2),
    "volume": 1e-3,
    "buoyancy_center": (0.0, 0.05, 0.25),
    "spin_damping": 0.01,
}
AIR = {"density": 1.2, "flow": (8.0, 2.0, 0.0)}
WATER = {"density": 300.0, "flow": ([0.0, 3.0, 20.0], [(1.0, 0.0, 0.0), (0.5, 0.3, 0.0), (0.0, 0.0, 0.0)])}
SEA = {"density": 300.0, "flow": (0.5, 0.0, 0.0), "surface": 4.0, "density_above": 1.2}
HEAVE = tl.Sine((0.1, 0.0, 0.2), 0.4)
# Fluid, properties of the string and of the body in it, command, and path of the guide.
CASES: dict[str, Any] = {
    "wind": (AIR, {}, {}, tl.Locked(), None),
    "current": (WATER, {"normal_added_mass": 1.0}, {"added_mass": 1.0}, tl.Locked(), None),
    "surface": (SEA, {"normal_added_mass": 1.0, "viscosity": 30.0}, {"added_mass": 1.0}, tl.Torque(2.0), None),
    "prescribed": (WATER, {"viscosity": 30.0}, {"added_mass": 1.0}, tl.Speed(retrieval=([0.0, 0.1], [0.0, 0.4])), None),
    "heave": (SEA, {}, {"added_mass": 0.5}, tl.Speed(retrieval=([0.0, 0.1], [0.0, 0.4])), HEAVE),
}


def both(name: str, step: float) -> tuple[tl.Simulation, tl.Simulation]:
    """A pendulum and the same thing as a system, after a short time."""
    fluid, more, around, command, path = CASES[name]
    string, N, out = tl.String(20.0, 0.1, 4e3, **STRING, **more), 6, 8.0
    direction = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    nodes = np.linspace(0.0, 1.003 * out, N + 1)[:, None] * direction
    velocities = np.linspace(0.0, 1.0, N + 1)[:, None] * np.array([0.4, 0.2, 0.0])
    omega, center = np.array([0.3, -0.2, 0.5]), np.array(BODY.center_of_mass)
    state = chains.ChainState(
        nodes=nodes,
        node_velocities=velocities,
        attitude=np.eye(3),
        angular_velocity=omega,
        reeled_length=20.0 - out,
        reel_speed=0.0,
    )
    reel = dataclasses.replace(REEL, guide_path=path)
    pendulum = chains.Chain(string, reel, BODY, fluid=tl.Fluid(**fluid, **IN_FLUID, **around))
    alone = chains.simulation(pendulum, state, step=step)
    assert alone.advance(DURATION, command) == "completed"

    held = {} if path is None else {"ship": tl.Kinematic(path)}
    start, end = ("anchor" if path is None else "ship"), "body"
    moving = np.zeros(3) if path is None else path.at(0.0)[1][0]
    line = tl.Line(string, start=start, end=end, reel=REEL, elements=N)
    around_body = {"body": tl.BodyInFluid(**IN_FLUID, **around)}
    system = tl.System({**held, "body": BODY}, {"rope": line}, fluid=tl.Fluid(**fluid), body_fluid=around_body)
    bodies = {
        "body": tl.BodyState(
            nodes[-1] + center, velocities[-1] + moving + np.cross(omega, center), angular_velocity=omega
        )
    }
    ship = {} if path is None else {"ship": tl.BodyState((0.0, 0.0, 0.0), tuple(moving))}
    started = tl.State(ship | bodies, {"rope": LineState(nodes, velocities + moving, 20.0 - out, 0.0)})
    other = tl.Simulation(system, started, step=step)
    assert other.advance(DURATION, {"rope": command}) == "completed"
    return alone, other


@pytest.mark.parametrize("name", CASES)
def test_one_string_and_one_body_in_a_fluid_move_as_the_pendulum(name: str, report: Report) -> None:
    errors, works = [], []
    for step in STEPS:
        alone, other = both(name, step)
        expected, found = chains.of_one(alone.dataset()).isel(time=-1), other.dataset().isel(time=-1)
        path = CASES[name][4]
        nodes = np.abs(found.position.values - expected.position.values).max()
        turned = np.abs(found.attitude.values[-1] - expected.attitude.values).max()
        reeled = abs(float(found.reeled_length[0]) - float(expected.reeled_length))
        errors.append(max(nodes, turned, reeled))
        if path is None and "added_mass" not in CASES[name][2]:
            works.append(abs(float(found.fluid_work) - float(expected.fluid_work)))
    order = check_order(STEPS, errors, 2.0, 0.15)
    assert not works or works[-1] < 1e-5
    report(f"{name}: order of the distance between the pendulum and the same system", order, "2.0 +- 0.15")


def wet(name: str, flow: Any = (1.0, 0.2, 0.0)) -> tuple[tl.System, tl.State, dict[str, tl.Command]]:
    """A case of the reference in water with a current."""
    spec = specs()[name]
    plain = system_of(spec)
    wetted: Any = {"diameter": 0.02, "normal_added_mass": 1.0, "tangential_drag": 0.02}
    strings = {
        key: dataclasses.replace(line, string=dataclasses.replace(line.string, **wetted))
        for key, line in plain.lines.items()
    }
    own = tl.BodyInFluid(drag_area=0.05, volume=1e-3, added_mass=0.5, spin_damping=0.01)
    around: Any = {"fluid": tl.Fluid(100.0, flow=flow), "body_fluid": dict.fromkeys(plain.bodies, own)}
    return tl.System(plain.bodies, strings, plain.gravity, **around), state_of(spec), commands_of(spec)


@pytest.mark.parametrize("name", ["two-bodies-1", "cradle-5", "chain-6"])
def test_a_fluid_is_of_second_order_and_its_balance_too(name: str, report: Report) -> None:
    differences, balance = with_halved_steps(*wet(name), "fluid_work", 0.05)
    report(f"{name}: order in a current", check_order(HALVED[:-1], differences, 2.0, 0.15), "2.0 +- 0.15")
    check_order(HALVED, balance, 2.0, 0.3)


def test_a_current_is_a_frame_that_moves() -> None:
    drift = np.array([1.0, 0.2, 0.0])
    places = []
    for flow, velocity in ((drift, 0.0 * drift), (0.0 * drift, -drift)):
        system, state, commands = wet("two-bodies-3", flow)
        bodies = {
            name: tl.BodyState(x.position, np.array(x.velocity) + velocity, x.attitude, x.angular_velocity)
            for name, x in state.bodies.items()
        }
        strings = {
            name: LineState(x.nodes, x.node_velocities + velocity, x.reeled_length, x.reel_speed)
            for name, x in state.lines.items()
        }
        simulation = tl.Simulation(system, tl.State(bodies, strings), step=5e-4)
        assert simulation.advance(0.2, commands) == "completed"
        places.append(simulation.bodies["b0"].position - 0.2 * velocity)
    check_close("body", places[0], places[1], 1e-10)


def test_a_string_in_water_has_no_direction() -> None:
    system, state, _ = wet("two-bodies-2")
    there = tl.Simulation(system, state, step=1e-3)
    line = system.lines["s0"]
    ends: Any = {"start": line.end, "start_point": line.end_point, "end": line.start, "end_point": line.start_point}
    turned = dataclasses.replace(system, lines={"s0": dataclasses.replace(line, **ends)})
    x = state.lines["s0"]
    reversed_line = LineState(x.nodes[::-1].copy(), x.node_velocities[::-1].copy(), 0.0, 0.0)
    back = tl.Simulation(turned, tl.State(state.bodies, {"s0": reversed_line}), step=1e-3)
    for simulation in (there, back):
        assert simulation.advance(0.2) == "completed"
    check_close("nodes", there.lines["s0"].nodes, back.lines["s0"].nodes[::-1], 1e-11)


def test_a_load_in_still_water_rests_with_its_weight_less_its_buoyancy() -> None:
    string = tl.String(10.0, 0.5, 1e5, diameter=0.02)
    own = tl.BodyInFluid(volume=2e-3, buoyancy_center=(0.0, 0.0, -0.1))
    body = tl.RigidBody.about_center(10.0, np.diag([0.1, 0.1, 0.1]), (0.0, 0.0, 0.2))
    line = tl.Line(string, end="load", end_point=(0.1, 0.0, 0.0))
    sea = tl.System({"load": body}, {"rope": line}, fluid=tl.Fluid(1000.0), body_fluid={"load": own})
    start = chains.hang(sea, {"load": tl.BodyState((0.0, 0.0, 10.5))})
    still = chains.rest(sea, start)
    run = tl.simulate(sea, still, duration=0.5, sample=0.1)
    weight = 9.81 * (10.0 - 1000.0 * 2e-3)
    rope = 9.81 * 10.0 * (0.5 - 1000.0 * string.area)
    check_close("end tension", run.end_tension[:, 0], np.full(6, weight), 1e-3 * weight)
    check_close("start tension", run.start_tension[:, 0], np.full(6, weight + rope), 1e-3 * weight)
    check_below("motion", float(np.abs(run.body_velocity).max()), 1e-6)


def test_force_laws_push_strings_and_bodies(tmp_path: Path) -> None:
    system, state, commands = wet("two-bodies-3")
    weight = np.array([0.3, 0.0, -0.5])

    def at_end(t: float, given: tl.ForceState, own: Any, force: Any, moment: Any) -> None:
        force[-1] += weight

    law = tl.ForceLaw(at_end)
    simulation = tl.Simulation(system, state, loads={"s0": law}, step=5e-4)
    assert simulation.advance(0.1, commands) == "completed"
    # the same force at the same point of the body that holds the string's end
    point = np.array(system.lines["s0"].end_point)
    applied = dataclasses.replace(system, applied_forces={"b1": tl.AppliedForce(force=weight, point=point)})
    other = tl.Simulation(applied, state, step=5e-4)
    assert other.advance(0.1, commands) == "completed"
    check_close("body", simulation.bodies["b1"].position, other.bodies["b1"].position, 1e-7)
    ours, theirs = simulation.dataset(), other.dataset()
    check_close("work", ours.force_law_work[-1], theirs.external_work[-1], 1e-5)
    with pytest.raises(InputError, match="force law"):
        simulation.save(tmp_path / "saved.npz")
