"""Systems in air and water: order and balance, frames, directions, weight less buoyancy, and forces of one's own."""

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
    string = tl.String(10.0, 0.5, 1e5, diameter=0.02, law="linear")
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
