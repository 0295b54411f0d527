"""Assemblies: independent trajectories, conservation, and systems that must move alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.model.system.state import LineState
from tests.conftest import Report
from tests.support import known_systems as systems
from tests.support.checking import check_below, check_close, check_order
from tests.support.known_systems import HALVED, specs, with_halved_steps

pytestmark = pytest.mark.network

# Steps at which the methods of high order are below 1e-8 m; where a guide dissipates while its reel turns round, the
# step must be small against the time in which the reel passes the speed at which the law fades.
SMALL = {
    "two-bodies-1": (6, 1e-3),
    "two-bodies-2": (6, 5e-4),
    "two-bodies-3": (4, 4e-5),
    "orbit-4": (4, 1e-3),
    "cradle-5": (4, 4e-5),
    "chain-6": (6, 4e-4),
}


@pytest.mark.parametrize("name", SMALL)
def test_trajectories_agree_with_an_independent_implementation(name: str, report: Report) -> None:
    spec, (order, step) = specs()[name], SMALL[name]
    state = spec["states"][1]
    error = systems.distance(systems.run(spec, state["time"], step, order), state)
    report(f"{name}: distance from the independent trajectory (m)", error, "< 1e-8")
    check_below(name, error, 1e-8)


@pytest.mark.parametrize("name", ["two-bodies-1", "orbit-4", "cradle-5"])
def test_the_step_is_of_second_order(name: str, report: Report) -> None:
    spec = specs()[name]
    state = spec["states"][1]
    steps = [state["time"] / n for n in (600, 1200, 2400)]
    errors = [systems.distance(systems.run(spec, state["time"], h), state) for h in steps]
    order = check_order(steps, errors, 2.0, 0.1)
    report(f"{name}: order of the step", order, "2.0 +- 0.1")


@pytest.mark.parametrize("order", [4, 6])
def test_composed_steps_keep_their_order_in_an_orbit(order: int, report: Report) -> None:
    spec = dict(specs()["orbit-4"])
    spec["strings"] = [s | {"reel": s["reel"] | {"guide_law": "none"}} for s in spec["strings"]]
    exact = systems.run(spec, 5.0, 5.0 / 2400, 6)
    counts = (75, 150, 300)
    errors = []
    for n in counts:
        found = systems.run(spec, 5.0, 5.0 / n, order)
        errors.append(max(np.abs(found.bodies[b].position - exact.bodies[b].position).max() for b in ("b0", "b1")))
    report(f"order {order} in an orbit", check_order([5.0 / n for n in counts], errors, order, 0.4), f"{order} +- 0.4")


def momenta(simulation: tl.Simulation) -> np.ndarray[Any, Any]:
    run = simulation.dataset()
    return np.concatenate([run.linear_momentum.values, run.angular_momentum.values], axis=1)


@pytest.mark.parametrize(
    "steps", [pytest.param(20_000, id="2e4 steps"), pytest.param(1_000_000, id="1e6 steps", marks=pytest.mark.long)]
)
def test_momenta_are_kept_while_the_reel_runs(steps: int, report: Report) -> None:
    """Two bodies in free space, the reel pulled to and fro by a torque that keeps within the string."""
    system = systems.system_of(specs()["two-bodies-1"])
    state = systems.state_of(specs()["two-bodies-1"])
    h, wave = 5e-4, 1.0
    times = np.arange(0.0, steps * h + wave, wave / 8)
    torque = tl.Torque((times, 0.5 * np.sin(2.0 * np.pi * times / wave)))
    simulation = tl.Simulation(system, state, step=h)
    rest = simulation.lines["s0"].deployed
    held = tl.Impedance(rest, 40.0)
    simulation.advance(steps * h, {"s0": held if steps > 20_000 else torque}, sample=steps * h / 20)
    assert simulation.status == "completed", simulation.message
    found = momenta(simulation)
    for name, columns in (("linear", slice(0, 3)), ("angular", slice(3, 6))):
        drift = np.abs(found[:, columns] - found[0, columns]).max() / np.linalg.norm(found[0, columns])
        report(f"{name} momentum over {steps:.0e} steps with a reel on a body, relative", drift, "< 1e-13")
        check_below(f"{name} momentum", drift, 1e-13)


COMMANDS: dict[str, tl.Command] = {
    "torque": tl.Torque(8.0),
    "locked": tl.Locked(),
    "brake": tl.Brake(3.0),
    "length": tl.Length.to(3.0, speed=1.0, acceleration=2.0),
    "spring": tl.Impedance(4.0, 30.0, 2.0),
}


@pytest.mark.parametrize(
    ("command", "string", "reel"),
    [
        *(pytest.param(name, {}, {}, id=name) for name in COMMANDS),
        pytest.param("torque", {"viscosity": 5.0}, {}, id="damped, torque"),
        pytest.param("locked", {"viscosity": 5.0}, {}, id="damped, locked"),
        pytest.param("length", {"viscosity": 1.0, "law": "tension_only"}, {}, id="damped, slack, length"),
        pytest.param("torque", {}, {"guide_law": "stretched"}, id="stretched on the drum"),
        pytest.param("torque", {}, {"coulomb_friction": 0.5, "viscous_friction": 0.2}, id="friction of the drum"),
        pytest.param("torque", {}, {"guide_law": "none", "layer_growth": 0.001}, id="layers"),
    ],
)
def test_one_string_and_one_body_move_as_the_pendulum(
    command: str, string: dict[str, Any], reel: dict[str, Any], report: Report
) -> None:
    body = tl.RigidBody.elliptic_cylinder(2.0, (0.3, 0.2), 0.5, (0.1, 0.05, 0.25))
    pendulum, system = systems.both(COMMANDS[command], string, reel, body)
    assert pendulum.attrs["status"] == system.attrs["status"] == "completed"
    check_close("attitude", system.attitude[:, 0], pendulum.attitude, 1e-12)
    check_close("reeled length", system.reeled_length[:, 0], pendulum.reeled_length, 1e-12)
    for name in ("energy", "control_work", "damping_loss", "guide_loss", "friction_loss"):
        check_close(name, system[name], pendulum[name], 1e-10)
    check_close("tension", system.tension, pendulum.tension, 1e-8)
    apart = check_close("nodes", system.position, pendulum.position, 1e-12)
    report(f"nodes of the pendulum and of the same system, {command} (m)", apart, "< 1e-12")


def test_several_equal_strings_are_one_string() -> None:
    """Each with its part of stiffness, mass, drum and torque."""
    base = specs()["two-bodies-1"]
    spec = base["strings"][0]
    part = spec | {"density": spec["density"] / 3, "stiffness": spec["stiffness"] / 3}
    part["reel"] = spec["reel"] | {
        "inertia_mass": spec["reel"]["inertia_mass"] / 3,
        "torque": spec["reel"]["torque"] / 3,
    }
    one = systems.run(base, 0.3, 5e-4)
    three = systems.run(base | {"strings": [part] * 3}, 0.3, 5e-4)
    for body in ("b0", "b1"):
        check_close(body, three.bodies[body].position, one.bodies[body].position, 3e-13)
    for name in ("s0", "s1", "s2"):
        check_close(name, three.lines[name].nodes, one.lines["s0"].nodes, 3e-13)


def test_a_heavy_base_is_an_anchor() -> None:
    """Without gravity; the reel on a body of 10^9 kg against the one at an anchor."""
    spec = specs()["two-bodies-1"]
    heavy = spec["bodies"][0] | {
        "mass": 1e9,
        "inertia": (1e9 * np.eye(3)).tolist(),
        "velocity": [0.0] * 3,
        "angular_velocity": [0.0] * 3,
        "attitude": np.eye(3).tolist(),
    }
    where = spec["strings"][0]["from"]["point"]
    nodes = np.array(spec["strings"][0]["nodes"])
    nodes[0] = where
    velocities = np.array(spec["strings"][0]["node_velocities"])
    velocities[0] = 0.0
    line = spec["strings"][0] | {"nodes": nodes.tolist(), "node_velocities": velocities.tolist()}
    free = systems.run(spec | {"bodies": [heavy, spec["bodies"][1]], "strings": [line]}, 0.3, 5e-4)
    anchor = {"kind": "anchor", "point": where}
    end = line["to"] | {"body": 0}
    fixed = systems.run(
        spec | {"bodies": [spec["bodies"][1]], "strings": [line | {"from": anchor, "to": end}]}, 0.3, 5e-4
    )
    check_close("body", free.bodies["b1"].position, fixed.bodies["b0"].position, 1e-8)
    check_close("nodes", free.lines["s0"].nodes, fixed.lines["s0"].nodes, 1e-8)


def test_a_frame_that_moves_uniformly_changes_nothing() -> None:
    """Anchors become points of a body that is held on a straight path."""
    drift = np.array([2.0, -1.0, 0.5])
    spec = specs()["cradle-5"]
    still = systems.run(spec, 0.2, 4e-4)
    system, state = systems.system_of(spec), systems.state_of(spec)
    path = tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.0), tuple(drift)), (tuple(drift), tuple(drift)))
    lines = {
        name: tl.Line(x.string, "ship", x.start_point, x.end, x.end_point, x.reel, None, x.elements)
        for name, x in system.lines.items()
    }
    moving = tl.System({**system.bodies, "ship": tl.Kinematic(path)}, lines, system.gravity)
    b0 = state.bodies["b0"]
    bodies = {
        "b0": tl.BodyState(b0.position, tuple(np.array(b0.velocity) + drift), b0.attitude, b0.angular_velocity),
        "ship": tl.BodyState((0.0, 0.0, 0.0), tuple(drift)),
    }
    strings = {
        name: LineState(x.nodes, x.node_velocities + drift, x.reeled_length, x.reel_speed)
        for name, x in state.lines.items()
    }
    simulation = tl.Simulation(moving, tl.State(bodies, strings), step=4e-4)
    simulation.advance(0.2, systems.commands_of(spec))
    check_close("body", simulation.bodies["b0"].position - 0.2 * drift, still.bodies["b0"].position, 1e-10)
    check_below("balance", simulation.dataset().attrs["balance_error"], 1e-2)


@pytest.mark.parametrize(("viscosity", "name"), [(2.0, "two-bodies-1"), (3.0, "chain-6")])
def test_damping_is_of_second_order_and_its_balance_too(viscosity: float, name: str, report: Report) -> None:
    spec = specs()[name]
    system = systems.system_of(spec)
    lines = {
        key: tl.Line(
            tl.String(x.string.length, x.string.density, x.string.stiffness, viscosity=viscosity, law="linear"),
            x.start,
            x.start_point,
            x.end,
            x.end_point,
            x.reel,
            x.drum_axis,
            x.elements,
        )
        for key, x in system.lines.items()
    }
    damped = tl.System(system.bodies, lines, system.gravity)
    given = (damped, systems.state_of(spec), systems.commands_of(spec))
    differences, balance = with_halved_steps(*given, "damping_loss", 0.1)
    report(f"{name}: order with damping", check_order(HALVED[:-1], differences, 2.0, 0.15), "2.0 +- 0.15")
    check_order(HALVED, balance, 2.0, 0.15)


def test_stiff_damping_limits_no_step() -> None:
    spec = specs()["two-bodies-1"]
    system = systems.system_of(spec)
    line = system.lines["s0"]
    for viscosity in (2e3, 2e7):
        string = tl.String(
            line.string.length, line.string.density, line.string.stiffness, viscosity=viscosity, law="linear"
        )
        stiff = tl.Line(string, line.start, line.start_point, line.end, line.end_point, line.reel, line.drum_axis, 4)
        simulation = tl.Simulation(tl.System(system.bodies, {"s0": stiff}, 0.0), systems.state_of(spec), step=2e-3)
        simulation.advance(1.0, systems.commands_of(spec), sample=0.01)
        run = simulation.dataset()
        assert run.attrs["status"] == "completed", run.attrs["message"]
        moved = np.concatenate([run.linear_momentum.values, run.angular_momentum.values], axis=1)
        check_below("momenta", float(np.abs(moved - moved[0]).max()), 1e-12)
        assert float(run.kinetic_energy.max()) <= 2.0 * float(run.energy.values[0])
