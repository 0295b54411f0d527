"""Systems: the same motion on either backend, what is seen and done in mid-run, starts, cases and their keys."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.network.backend import NetworkBackend
from tautline.errors import InputError
from tautline.files import scenario
from tautline.model.chain.systems import chain_of, system_of, why_no_chain
from tautline.model.elements import default_elements
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.same import check_same, check_same_state

STRING = tl.String(30.0, 0.05, 4000.0, law="tension_only", damping_ratio=0.05, diameter="4 mm")
REEL = tl.Reel("0.1 m", "0.3 m", inertia="0.02 kg*m^2")
BODY = tl.RigidBody.box("8 kg", (0.4, 0.3, 0.2), (0.05, 0.02, 0.2))
WATER = tl.Fluid("100 kg/m^3", flow=(0.3, 0.0, 0.0), drag_area="0.02 m^2", volume="1 L", added_mass="1 kg")
PENDULUMS = {
    "undamped": tl.pendulum(tl.String(30.0, 0.05, 4000.0, law="linear"), REEL, BODY, elements=6),
    "plain": tl.pendulum(STRING, REEL, BODY, elements=6),
    "fluid": tl.pendulum(STRING, REEL, BODY, fluid=WATER, elements=6),
    "guide": tl.pendulum(STRING, REEL, BODY, guide=tl.motions.Sine((0.1, 0.05, 0.0), 2.0), elements=6),
    "force": tl.pendulum(STRING, REEL, BODY, applied_force=tl.AppliedForce(force=(3.0, 0.0, 0.0)), elements=6),
}


MOTION = ("position", "body_position", "body_velocity", "attitude", "tension", "start_tension", "end_tension")


def test_the_backend_is_chosen_by_what_it_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(tl.Simulation(PENDULUMS["plain"], tl.Hanging(4.0)).backend, ChainBackend)
    two = tl.System(
        {"a": BODY, "b": BODY},
        {"x": tl.Line(STRING, end="a", reel=REEL), "y": tl.Line(STRING, start="a", start_point=(0, 0, 0.4), end="b")},
    )
    assert why_no_chain(two) and not why_no_chain(PENDULUMS["guide"])
    assert isinstance(tl.Simulation(two, tl.Hanging(4.0)).backend, NetworkBackend)
    with pytest.raises(InputError, match="scheme: expected 'symmetric' with more than one line"):
        tl.simulate(two, tl.Hanging(4.0), duration=1.0, scheme="paper")
    monkeypatch.setenv("TAUTLINE_BACKEND", "fast")
    with pytest.raises(InputError, match="TAUTLINE_BACKEND: expected 'chain' or 'network', got 'fast'"):
        tl.simulate(two, tl.Hanging(4.0), duration=1.0)


@pytest.mark.parametrize("name", PENDULUMS)
def test_a_chain_becomes_a_system_and_back(name: str) -> None:
    chain = chain_of(PENDULUMS[name])
    assert chain_of(system_of(chain)) == chain


def test_elements_are_chosen_by_the_case() -> None:
    auto = tl.pendulum(STRING, REEL, BODY)
    run = tl.simulate(auto, tl.Hanging(4.0), duration=0.1)
    assert run.sizes["element"] == default_elements(chain_of(auto), 4.0)
    assert tl.case_of(run).system.lines["line"].elements == run.sizes["element"]


def test_hanging_finds_rest() -> None:
    hook, load = tl.RigidBody.point(50.0), tl.RigidBody.box(200.0, (1.0, 1.0, 1.0), (0.1, 0.0, 0.5))
    rope = tl.String(20.0, 1.0, 1e6, law="linear")
    crane = tl.System(
        {"hook": hook, "load": load},
        {
            "hoist": tl.Line(rope, end="hook", reel=tl.Reel(0.2, 0.5, inertia_mass=1.0)),
            "sling": tl.Line(tl.String(2.0, 1.0, 1e6, law="linear"), start="hook", end="load"),
        },
    )
    run = tl.simulate(crane, tl.Hanging({"hoist": "10 m"}), duration=0.5, sample=0.1)
    weight = 9.81 * (250.0 + 10.0 + 2.0)
    assert np.allclose(run.start_tension.sel(line="hoist"), weight, rtol=1e-6)
    check_below("speed (m/s)", float(np.abs(run.body_velocity).max()), 1e-6)
    for wrong, words in (
        (10.0, None),
        ({"hoits": 3.0}, "deployed.hoits: no such line; did you mean 'hoist'"),
        ({}, "missing"),
    ):
        if words is None:
            assert tl.simulate(crane, tl.Hanging(wrong), duration=0.1, sample=0.1).attrs["status"] == "completed"
        else:
            with pytest.raises(InputError, match=words):
                tl.simulate(crane, tl.Hanging(wrong), duration=0.1)


# -- what is known now ---------------------------------------------------------------------------------------

LINE_VIEW = ("deployed", "reeled_length", "speed", "nodes", "node_velocities", "start_tension", "end_tension", "torque")
BODY_VIEW = ("position", "velocity", "attitude", "angular_velocity")
START = tl.Straight(4.0, inclination=0.3, end_velocity=(0.0, 0.4, 0.0))


def pair(name: str, step: float) -> list[tl.Simulation]:
    """A simulation on each backend."""
    found = []
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            found.append(tl.Simulation(PENDULUMS[name], START, step=step))
    return found


def seen(simulation: tl.Simulation) -> dict[str, Any]:
    """All that views tell."""
    found = {name: getattr(simulation.line, name) for name in LINE_VIEW}
    for body, view in simulation.bodies.items():
        found |= {f"{body} {name}": getattr(view, name) for name in BODY_VIEW}
    return found | {"energy": simulation.energy}


@pytest.mark.parametrize("command", [tl.Torque(1.0), tl.Length.to(3.0, speed=0.5, acceleration=0.5)])
@pytest.mark.parametrize("name", ["undamped", "plain", "guide"])
def test_views_tell_the_same_on_both_backends(name: str, command: tl.Command) -> None:
    apart: list[dict[str, float]] = []
    for step in (5e-4, 2.5e-4):
        values = []
        for simulation in pair(name, step):
            simulation.advance(0.4, command)
            values.append(seen(simulation))
            last = simulation.dataset().isel(time=-1)
            line = simulation.line
            assert (line.deployed, line.speed) == (float(last.unstretched_length[0]), float(last.reel_speed[0]))
            assert line.end_tension == float(last.end_tension[0]) and line.torque == float(last.torque[0])
            check_close("body", simulation.body.position, last.body_position.sel(body="body"), 1e-13)
            assert simulation.line is simulation.lines["line"] and simulation.body is simulation.bodies["body"]
            assert simulation.health().keys() >= {"balance_error", "mesh_error", "largest_step_ratio"}
            assert "4" in repr(simulation.line) or "deployed" in repr(simulation.line)
            assert repr(simulation.body).startswith("<body 'body' at [")
        sizes = {x: max(1.0, float(np.abs(y).max())) for x, y in values[1].items()}
        apart.append({x: float(np.abs(values[0][x] - y).max()) / sizes[x] for x, y in values[1].items()})
    for variable in apart[0]:
        check_below(f"{variable}, step 0.25 ms", apart[1][variable], max(0.35 * apart[0][variable], 1e-8))
        check_below(variable, apart[0][variable], 1e-4)


def test_only_a_single_line_or_body_needs_no_name() -> None:
    simulation = tl.Simulation.from_case(tl.load("hook-and-load"))
    with pytest.raises(InputError, match=r"line: expected a system with one line, got 2 \(hoist, sling\)"):
        _ = simulation.line
    with pytest.raises(InputError, match=r"body: expected a system with one body, got 2 \(hook, load\)"):
        _ = simulation.body


# -- from one backend to the other -----------------------------------------------------------------------------

COMMANDS: dict[str, tl.Command] = {
    "locked": tl.Locked(),
    "torque": tl.Torque(1.0),
    "table": tl.Torque(([0.0, 0.3], [0.5, 2.0])),
    "length": tl.Length.to(3.0, speed=0.5, acceleration=0.5, start=0.05),
    "speed": tl.Speed(payout=([0.0, 0.2], [0.0, 0.3])),
    "brake": tl.Brake(2.0),
    "impedance": tl.Impedance(4.0, 200.0, 5.0),
}
PUSH: dict[str, Any] = {"force": (2.0, 1.0, -1.0), "moment": (0.02, 0.0, 0.01)}


def pushed(simulation: tl.Simulation, command: tl.Command, push: bool = True) -> tl.Simulation:
    """A run whose body is pushed in its midst."""
    simulation.advance(0.2, command, sample=0.02)
    if push:
        simulation.body.push(**PUSH)
    simulation.advance(0.2, sample=0.02)
    return simulation


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *(("plain", command) for command in COMMANDS),
        ("undamped", "locked"),
        ("undamped", "torque"),
        ("guide", "length"),
    ],
)
def test_a_push_goes_on_with_record_accounts_and_command(name: str, command: str) -> None:
    """As a run that was on the network from its beginning, to the order of the step."""
    apart: list[dict[str, float]] = []
    for step in (5e-4, 2.5e-4):
        chain, network = (pushed(simulation, COMMANDS[command]) for simulation in pair(name, step))
        assert isinstance(chain.backend, NetworkBackend)
        ours, theirs = chain.dataset(), network.dataset()
        assert ours.sizes == theirs.sizes and chain.steps == network.steps
        check_close("times", ours.time, theirs.time, 1e-15)
        assert tl.case_of(ours).commands == tl.case_of(theirs).commands
        assert abs(float(ours.external_work[-1])) > 0.0
        sizes = {x: max(1.0, float(np.abs(theirs[x]).max())) for x in theirs.data_vars}
        apart.append({str(x): float(np.abs(ours[x] - theirs[x]).max()) / sizes[x] for x in theirs.data_vars})
        check_below("balance", ours.attrs["balance_error"], 1e-3)
    for variable in (*MOTION, "energy", "external_work", "reeled_length", "reel_speed", "motor_work", "guide_work"):
        check_below(f"{variable}, step 0.25 ms", apart[1][variable], max(0.4 * apart[0][variable], 1e-7))
        check_below(variable, apart[0][variable], 2e-4)


def test_the_record_up_to_a_push_is_that_of_the_chain() -> None:
    plain, other = pair("plain", 5e-4)[0], pair("plain", 5e-4)[0]
    pushed(plain, tl.Torque(1.0), push=False)
    pushed(other, tl.Torque(1.0))
    check_same(other.dataset().isel(time=slice(0, 11)), plain.dataset().isel(time=slice(0, 11)))
    assert other.steps == plain.steps and other.time == plain.time and other.status == "completed"
    assert not np.array_equal(other.dataset().position[-1], plain.dataset().position[-1])


def test_a_push_that_is_none_changes_nothing_but_the_kernels() -> None:
    apart = []
    for step in (5e-4, 2.5e-4):
        one, other = pair("plain", step)[0], pair("plain", step)[0]
        for simulation in (one, other):
            simulation.advance(0.2, tl.Torque(1.0), sample=0.02)
        before = seen(other)
        other.body.push()
        for name, value in seen(other).items():  # in the moment itself, nothing jumps
            check_close(name, value, before[name], 1e-3 * max(1.0, float(np.abs(before[name]).max())))
        check_close("nodes", other.line.nodes, before["nodes"], 0.0)
        check_close("velocities", other.line.node_velocities, before["node_velocities"], 1e-9)
        for simulation in (one, other):
            simulation.advance(0.2, sample=0.02)
        apart.append(float(np.abs(one.line.nodes - other.line.nodes).max()))
    check_below("nodes", apart[1], max(0.4 * apart[0], 1e-8))


def carried() -> tl.Simulation:
    """A pendulum on a body that another program leads, on the chain kernels."""
    line = tl.Line(STRING, start="ship", start_point=(0.5, 0.0, 0.0), end="load", reel=REEL, elements=6)
    system = tl.System({"ship": tl.Kinematic(), "load": BODY}, {"rope": line})
    simulation = tl.Simulation(system, START, step=5e-4)
    assert isinstance(simulation.backend, ChainBackend)
    return simulation


def test_a_carrier_that_is_led_goes_on_after_a_push() -> None:
    """Level: on the network, spooled string does not stand above the guide (theory, after equation 105)."""
    simulation = carried()
    ship = simulation.bodies["ship"]
    ship.move((0.2, 0.1, 0.0))
    simulation.advance(0.2, tl.Torque(1.0), sample=0.02)
    check_close("ship", ship.position, [0.04, 0.02, 0.0], 1e-12)
    before = ship.force
    simulation.body.push((1.0, 0.0, 0.0))
    assert isinstance(simulation.backend, NetworkBackend)
    check_close("force", ship.force, before, 1e-9 * float(np.abs(before).max()))
    simulation.advance(0.1, sample=0.02)
    check_close("ship", ship.position, [0.06, 0.03, 0.0], 1e-12)
    check_close("velocity", ship.velocity, [0.2, 0.1, 0.0], 1e-12)
    ship.move((0.0, 0.0, 0.0))
    simulation.advance(0.1, sample=0.02)
    check_close("ship", ship.position, [0.06, 0.03, 0.0], 1e-12)
    check_below("balance", simulation.dataset().attrs["balance_error"], 1e-3)
    assert float(np.linalg.norm(ship.force)) > 10.0


def _saved(simulation: tl.Simulation, folder: Path) -> tl.Simulation:
    simulation.save(folder / "here.npz")
    return tl.Simulation.load(folder / "here.npz")


WAYS: dict[str, Callable[[tl.Simulation, Path], tl.Simulation]] = {
    "saved": _saved,
    "deepcopy": lambda simulation, _: copy.deepcopy(simulation),
    "pickle": lambda simulation, _: pickle.loads(pickle.dumps(simulation)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", ["length", "brake", "torque"])
def test_a_copy_after_a_push_goes_on_bit_for_bit(command: str, way: str, tmp_path: Path) -> None:
    simulation = carried()
    simulation.bodies["ship"].move((0.1, 0.0, 0.0))
    pushed(simulation, COMMANDS[command])
    other = WAYS[way](simulation, tmp_path)
    check_same_state(other.state, simulation.state)
    for each in (simulation, other):
        each.advance(0.1, sample=0.02)
        each.body.push((0.0, 0.0, 0.0))
        each.bodies["ship"].move((0.0, 0.1, 0.0))
        each.advance(0.1, tl.Free() if command != "length" else None, sample=0.02)
    check_same_state(other.state, simulation.state)
    assert other.energy == simulation.energy and other.steps == simulation.steps
    assert other.health() == simulation.health()
    assert other.dataset().attrs["warnings"] == simulation.dataset().attrs["warnings"]
    ours = simulation.dataset() if way != "saved" else simulation.dataset().isel(time=slice(20, None))
    check_same(other.dataset(), ours)


# -- cases -----------------------------------------------------------------------------------------------------


FULL = """
title = "A hoist"
[bodies.body]
shape = "point"
mass = "8 kg"
fluid = {drag_area = "200 cm^2"}
applied_force = {force = ["3 N", 0, 0]}
[lines.line]
string = {length = "30 m", density = "50 g/m", stiffness = "4 kN"}
start_point = [1, 0, "-2 m"]
end = "body"
elements = 6
reel = {drum_radius = "0.1 m", guide_length = "0.3 m", inertia = "0.02 kg*m^2"}
command = {kind = "torque", torque = "2 N*m"}
[fluid]
density = "100 kg/m^3"
flow = [0.3, 0, 0]
[initial]
kind = "hanging"
deployed = "4 m"
[run]
duration = "1 s"
"""


def test_short_keys_stand_for_those_of_the_only_line_and_body() -> None:
    case = scenario.parse(FULL)
    for short, full, value in (
        ("string.stiffness", "lines.line.stiffness", "9 kN"),
        ("reel.drum_radius", "lines.line.reel.drum_radius", 0.2),
        ("reel.guide_position", "lines.line.start_point", [0, 0, 1]),
        ("reel.guide_position[1]", "lines.line.start_point[1]", 2),
        ("body.mass", "bodies.body.mass", "9 kg"),
        ("run.elements", "lines.line.elements", 9),
        ("command.torque", "lines.line.command.torque", 3),
        ("fluid.drag_area", "bodies.body.fluid.drag_area", 1),
        ("applied_force.force[2]", "bodies.body.applied_force.force[2]", "1 N"),
        ("fluid.density", "fluid.density", 1000),
        ("initial.deployed", "initial.deployed", 5),
    ):
        changed = case.with_({short: value})
        assert changed == case.with_({full: value}) != case, short
        assert case.unit(short) == case.unit(full)
    with pytest.raises(InputError, match=r"string: no such key"):
        scenario.parse(FULL + "[string]\nlength = 3\n")
    with pytest.raises(InputError, match=r"my\.toml:9: lines\.line\.string\.density: expected a mass per length"):
        scenario.parse(FULL.replace("50 g/m", "50 g"), "my.toml")
    crane = tl.load("hook-and-load")
    with pytest.raises(InputError, match=r"string\.stiffness: no such key; expected one of a line or a body"):
        crane.with_({"string.stiffness": 3})


def test_a_result_gives_its_case() -> None:
    case = tl.load("crane-hoist").with_({"run.duration": 0.1})
    run = tl.simulate(case)
    found = tl.case_of(run)
    assert found == case.meshed()
    assert np.array_equal(tl.simulate(found).position, run.position)
    with pytest.raises(InputError, match="run: expected a run of simulate"):
        tl.case_of(run.drop_attrs())
