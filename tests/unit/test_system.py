"""Systems that are chains: the same motion on either backend, starts of every kind, and the programs of the docs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tautline.engine.assembly.simulation import AssemblySimulation

import tautline as tl
from tautline.engine.cases import assembly_case, simulation_of
from tautline.engine.simulation import Simulation
from tautline.errors import InputError
from tautline.model.chain import chain_of, system_of, why_no_chain
from tautline.model.chain_cases import system_case
from tautline.results.chain import OF_LINE
from tests.support.checking import check_below

STRING = tl.String(30.0, 0.05, 4000.0, law="tension_only", damping_ratio=0.05, diameter="4 mm")
REEL = tl.Reel("0.1 m", "0.3 m", inertia="0.02 kg*m^2")
BODY = tl.RigidBody.box("8 kg", (0.4, 0.3, 0.2), (0.05, 0.02, 0.2))
WATER = tl.Fluid("100 kg/m^3", flow=(0.3, 0.0, 0.0), drag_area="0.02 m^2", volume="1 L", added_mass="1 kg")
PENDULUMS = {
    "undamped": tl.pendulum(tl.String(30.0, 0.05, 4000.0), REEL, BODY, elements=6),
    "plain": tl.pendulum(STRING, REEL, BODY, elements=6),
    "fluid": tl.pendulum(STRING, REEL, BODY, fluid=WATER, elements=6),
    "guide": tl.pendulum(STRING, REEL, BODY, guide=tl.Sine((0.1, 0.05, 0.0), 2.0), elements=6),
    "force": tl.pendulum(STRING, REEL, BODY, applied_force=tl.AppliedForce(force=(3.0, 0.0, 0.0)), elements=6),
}


def on_network(system: tl.System, start: Any, command: Any, **run: Any) -> Any:
    """The run on the network backend."""
    case = assembly_case(system, start, command, run)
    simulation = AssemblySimulation.from_case(case)
    simulation.advance(case.run.duration, case.commands, sample=case.run.interval())
    return simulation.dataset()


MOTION = ("position", "body_position", "body_velocity", "attitude", "tension", "start_tension", "end_tension")
MOMENTA = ("linear_momentum", "angular_momentum")  # with loads, the network has them before a half impulse


@pytest.mark.parametrize("name", PENDULUMS)
@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(1.0), tl.Length.to(3.0, speed=0.5, acceleration=0.5)])
def test_both_backends_give_the_same_results(name: str, command: tl.Command) -> None:
    """Each is of second order in the step with its own coefficient, so the difference falls with its square."""
    start = tl.Straight(4.0, inclination=0.3, end_velocity=(0.0, 0.4, 0.0))
    apart: list[dict[str, float]] = []
    for step in (5e-4, 2.5e-4):
        settings: dict[str, Any] = {"duration": 0.4, "step": step, "sample": 0.1}
        fast = tl.simulate(PENDULUMS[name], start, command, **settings)
        slow = on_network(PENDULUMS[name], start, command, **settings)
        assert list(fast.data_vars) == list(slow.data_vars) and fast.sizes == slow.sizes
        assert fast.line.values.tolist() == ["line"]
        assert fast.body.values.tolist() == (["guide", "body"] if name == "guide" else ["body"])
        sizes = {x: max(1.0, float(np.abs(slow[x]).max())) for x in (*MOTION, *MOMENTA, "energy")}
        # the first sample of tensions in a fluid is that of a start without its inertia on the chain
        pairs = (fast, slow) if name != "fluid" else (fast.isel(time=slice(1, None)), slow.isel(time=slice(1, None)))
        apart.append({x: float(np.abs(pairs[0][x] - pairs[1][x]).max()) / size for x, size in sizes.items()})
    # kinetic energy of fluid that moves along is the body's on the chain, and the fluid's on the network
    for variable in {"undamped": (*MOTION, *MOMENTA, "energy"), "fluid": MOTION}.get(name, (*MOTION, "energy")):
        check_below(f"{variable}, step 0.25 ms", apart[1][variable], max(0.35 * apart[0][variable], 1e-8))
        check_below(variable, apart[0][variable], 1e-4)


def test_the_backend_is_chosen_by_what_it_can_do() -> None:
    case = assembly_case(PENDULUMS["plain"], tl.Hanging(4.0), None, {"duration": 1.0})
    assert isinstance(simulation_of(case)[0], Simulation)
    two = tl.System(
        {"a": BODY, "b": BODY},
        {"x": tl.Line(STRING, end="a", reel=REEL), "y": tl.Line(STRING, start="a", start_point=(0, 0, 0.4), end="b")},
    )
    assert why_no_chain(two) and not why_no_chain(PENDULUMS["guide"])
    assert isinstance(
        simulation_of(assembly_case(two, tl.Hanging(4.0), None, {"duration": 1.0}))[0], AssemblySimulation
    )
    with pytest.raises(InputError, match="scheme: expected 'symmetric' for a system with more than one line"):
        tl.simulate(two, tl.Hanging(4.0), duration=1.0, scheme="paper")


@pytest.mark.parametrize("name", PENDULUMS)
def test_a_chain_becomes_a_system_and_back(name: str) -> None:
    chain = chain_of(PENDULUMS[name])
    assert chain_of(system_of(chain)) == chain


def test_elements_are_chosen_by_the_case() -> None:
    auto = tl.pendulum(STRING, REEL, BODY)
    run = tl.simulate(auto, tl.Hanging(4.0), duration=0.1)
    pendulum = tl.Pendulum(STRING, REEL, BODY)
    assert run.sizes["element"] == tl.hanging(pendulum, 4.0).elements


def test_hanging_finds_rest() -> None:
    hook, load = tl.RigidBody.point(50.0), tl.RigidBody.box(200.0, (1.0, 1.0, 1.0), (0.1, 0.0, 0.5))
    rope = tl.String(20.0, 1.0, 1e6)
    crane = tl.System(
        {"hook": hook, "load": load},
        {
            "hoist": tl.Line(rope, end="hook", reel=tl.Reel(0.2, 0.5, inertia_mass=1.0)),
            "sling": tl.Line(tl.String(2.0, 1.0, 1e6), start="hook", end="load"),
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


def test_a_case_of_any_start_goes_through_a_file_and_back() -> None:
    system = PENDULUMS["guide"]
    placed = tl.Placed({"body": (0.0, 0.0, 4.2)}, {"line": 4.0})
    state = assembly_case(system, tl.Straight(4.0, inclination=0.5), None, {"duration": 1.0}).state()
    for start in (tl.Straight(4.0), tl.Hanging(4.0), tl.AtEquilibrium(4.0), placed, state):
        case = assembly_case(system, start, tl.Torque(2.0), {"duration": 1.0})
        again = tl.AssemblyCase.from_dict(case.to_dict())
        assert again == case
        ours, theirs = case.state().lines["line"], again.state().lines["line"]
        assert np.array_equal(ours.nodes, theirs.nodes) and np.array_equal(ours.node_velocities, theirs.node_velocities)


@pytest.mark.parametrize("name", ["crane-hoist", "retrieval", "fixed-length", "sea-cable", "bungee", "ship-crane"])
def test_a_scenario_has_the_same_numbers_as_a_system(name: str) -> None:
    """On the chain kernels, bit for bit; and the case of the system goes through keys and back."""
    chain = tl.load(name).with_({"run.duration": 0.2, "run.sample": 0.05})
    case = system_case(chain)
    assert tl.AssemblyCase.from_dict(case.to_dict()) == case
    before, after = tl.simulate(chain), tl.simulate(case)
    for ours, theirs in {"position": "position", "tension": "tension", **OF_LINE}.items():
        assert np.array_equal(after[ours].values.reshape(before[theirs].shape), before[theirs].values), ours
    assert after.attrs["remarks"] == before.attrs["remarks"]
    assert np.array_equal(after.attitude.sel(body="body"), before.attitude)


def test_a_result_gives_its_case() -> None:
    chain = tl.load("crane-hoist").with_({"run.duration": 0.1})
    assert tl.case_of(tl.simulate(chain)) == chain
    found = tl.case_of(tl.simulate(system_case(chain)))
    assert isinstance(found, tl.AssemblyCase) and found == system_case(chain).meshed()
    again = tl.simulate(found)
    assert np.array_equal(again.position, tl.simulate(chain).position)
    with pytest.raises(InputError, match="run: expected a run of simulate"):
        tl.case_of(again.drop_attrs())
