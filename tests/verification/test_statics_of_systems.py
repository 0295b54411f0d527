"""`tl.statics` for every system: by hand, as runs have it, and for one line as the pendulum's own program finds it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest

import tautline as tl
from tautline.errors import EquilibriumError, InputError
from tautline.model.chain.hanging import near_rest
from tautline.model.rest.states import frame_of
from tautline.model.rest.statics import torque_against
from tautline.model.system.starts import state_of
from tests.conftest import Report
from tests.support import chain_statics as statics
from tests.support import chains
from tests.support.chain_loads import own_loads
from tests.support.chain_statics import Configuration
from tests.support.checking import check_below, check_close, check_order
from tests.support.resting import (
    AIR,
    BALLOON,
    CASES,
    COURSE,
    CURRENT,
    LOAD,
    NARROW,
    ROPE,
    START_UP,
    WINCH,
    crane,
    sagging,
    sea,
)
from tests.support.systems import random_body

replace = dataclasses.replace
G = 9.81


def robot() -> tuple[tl.System, tl.State]:
    case = tl.load("cable-robot")
    return case.system, chains.hang(case.system, case.start.bodies, case.start.lines)


def test_a_crane_by_hand() -> None:
    """Hook of 300 kg, load of 2 t, 20 m and 4 m of rope of 2 kg/m, a drum of 0.3 m."""
    found = tl.statics(*crane())
    hoist, sling = found.lines["hoist"], found.lines["sling"]
    check_close("sling", [sling.end_tension, sling.start_tension], [G * 2000.0, G * 2008.0], 1e-6)
    check_close("hoist", [hoist.end_tension, hoist.start_tension], [G * 2308.0, G * 2348.0], 1e-6)
    assert hoist.weight == pytest.approx(G * 40.0) and found.bodies["load"].weight == pytest.approx(G * 2000.0)
    assert hoist.stretch == pytest.approx(20.0 * G * 2328.0 / 20e6, rel=1e-6)
    # but for half of the strain, and half a meter of string in the guide and what is spooled
    assert hoist.holding_torque == pytest.approx(0.3 * G * 2348.0, rel=2e-3)
    assert hoist.drum_radius == 0.3 and sling.holding_torque is None
    assert hoist.utilization == pytest.approx(hoist.start_tension / 250e3)
    np.testing.assert_allclose(found.counted["weight"], [0.0, 0.0, G * 2348.0])
    assert "in balance" in found.message and "hoist: 20 m, 23.03 kN at its start" in repr(found)
    with pytest.raises(InputError, match=r"Statics.lines: expected one, got 'hoist', 'sling'"):
        _ = found.line


@pytest.mark.parametrize("name", ["crane", "robot", "rope", "flow", "surface"])
def test_tensions_are_those_of_a_run(name: str, report: Report) -> None:
    makers: dict[str, Callable[[], tuple[tl.System, tl.State]]] = {
        "crane": crane,
        "robot": robot,
        "rope": lambda: sagging(20),
        "flow": lambda: one_line(chains.Chain(ROPE, NARROW, LOAD, fluid=CURRENT), 20.0, 10),
        "surface": lambda: one_line(sea((1.5, 0.0, 0.0), 10.0, 0.05), 40.0, 12),
    }
    system, start = makers[name]()
    found = tl.statics(system, start)
    run = tl.simulate(system, found.state, duration=0.01, sample=0.01)
    for key, variable in (
        ("start_tension", "start_tension"),
        ("end_tension", "end_tension"),
        ("stretched_length", "stretched_length"),
    ):
        ours = np.array([getattr(line, key) or 0.0 for line in found.lines.values()])
        theirs = run[variable].values[0]
        error = check_close(key, ours, theirs, 1e-8 * float(np.abs(theirs).max()))
    report(f"{name}: {variable} of statics against the first sample of a run", error, "1e-8 of it")
    # what holds the system bears all that is counted
    held = np.zeros(3)
    for line_name, line in system.lines.items():
        own = found.lines[line_name]
        held += own.start_force if line.start in ("anchor", "jib") else 0.0
        held += own.end_force if line.end == "anchor" else 0.0
    total = np.sum(list(found.counted.values()), axis=0)
    check_close("balance", held, total, 1e-7 * float(np.abs(total).max()))


@pytest.mark.parametrize("backend", ["chain", "network"])
@pytest.mark.parametrize("elements", [1, 2, 20])
@pytest.mark.parametrize("law", ["dissipative", "published", "momentum", "stretched", "none"])
def test_the_holding_torque_is_that_of_a_lock_and_holds_the_drum(
    law: str, elements: int, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a soft line, in which strain and mesh count, in a current: statics know neither kernels nor steps."""
    monkeypatch.setenv("TAUTLINE_BACKEND", backend)
    soft = tl.String(60.0, 0.2, 3000.0, law="linear", diameter=0.01)
    reel = replace(NARROW, guide_law=law, guide_strain="extrapolated", spooled_strain=0.05 * (law == "stretched"))
    system, start = one_line(chains.Chain(soft, reel, LOAD, fluid=CURRENT), 20.0, elements)
    found = tl.statics(system, start)
    torque = found.line.holding_torque
    locked = tl.simulate(system, found.state, duration=0.02, sample=0.01)
    check_close("torque of a lock", locked.torque.values, np.full((3, 1), torque), 1e-6 * torque)
    held = tl.simulate(system, found.state, tl.Torque(torque), duration=0.5, sample=0.1)
    check_below("speed of a drum held by it", float(abs(held.reel_speed).max()), 1e-6)


def test_the_holding_torque_approaches_that_of_the_tension_at_the_guide(report: Report) -> None:
    """Statics take the equation of the drum, which has the mean of all elements; to second order in their length."""
    meshes, errors = (10, 20, 40), []
    for elements in meshes:
        system, start = one_line(chains.Chain(ROPE, NARROW, LOAD, fluid=CURRENT), 20.0, elements)
        found = tl.statics(system, start)
        line, own = system.lines["line"], found.line
        pull = torque_against(system, line, found.state.lines["line"].reeled_length, own.start_tension)
        errors.append(abs(pull - (own.holding_torque or 0.0)))
    order = check_order([1.0 / N for N in meshes], errors, 2.0)
    report("order in the mesh of the distance of holding torques by the tension at the guide", order, "2")


def one_line(pendulum: chains.Chain, deployed: float, elements: int) -> tuple[tl.System, tl.State]:
    return chains.as_system(pendulum, near_rest(pendulum, deployed, elements))


@pytest.mark.parametrize("name", CASES)
def test_one_line_is_at_rest_by_the_forces_of_the_theory(name: str, report: Report) -> None:
    """Forces and loads of other programs, about the attachment point; they leave nothing at the nodes and the body."""
    pendulum, deployed, elements, at = CASES[name]
    found = chains.equilibrium(pendulum, deployed, elements, **at)
    x = Configuration(found.state.reeled_length, np.array(found.state.nodes), np.array(found.state.attitude))
    loads = own_loads(pendulum, x.s, **at)
    at_nodes, moment = statics.forces(pendulum, x)
    counted = statics.counted(pendulum, x, loads)
    for load in loads.values():
        forces, turning = statics.evaluate(load, x.q, x.R)
        at_nodes, moment = at_nodes + forces[1:], moment + turning
    size = max(found.start_tension, found.end_tension)
    # a node is rounded to 1e-15 of its distance, and pulled with EA/l
    rounding = 4e-15 * pendulum.string.stiffness * elements
    error = check_below("forces", float(np.abs(at_nodes).max()), 1e-9 * size + rounding)
    report(f"{name}: forces of the theory that are left of {size:.3g} N", error, "1e-9 of them")
    if not pendulum.body.is_point:
        check_below("moment", float(np.abs(moment).max()), 1e-9 * size + rounding)
    # the guide holds against all of them
    check_close("start", found.start_tension, float(np.linalg.norm(sum(counted.values()))), 1e-9 * size)
    by_hand = float(np.linalg.norm(np.sum(list(found.statics.body.forces.values()), axis=0)))
    check_close("end by hand", found.end_tension, by_hand, 1e-9 * size)
    if not at:  # nothing moves: the lock of a run, from kernels that share nothing with statics
        lock = float(chains.simulate(pendulum, found.state, duration=0.01, sample=0.01).torque[0])
        assert found.holding_torque == pytest.approx(lock, rel=1e-8)
    strain = float(pendulum.string.strain(found.start_tension))
    by_tension = statics.holding_torque(pendulum, x.s, strain)
    assert found.holding_torque == pytest.approx(by_tension, rel=1.0 / elements)  # a mean over the mesh
    assert set(found.counted) >= {key for key, force in counted.items() if np.any(force)}
    for key, force in found.counted.items():
        check_close(key, force, counted.get(key, np.zeros(3)), 1e-8 * size)


def test_a_free_drum_is_held_by_its_torque() -> None:
    """A line between two points: the torque says how long it is; others stay locked."""
    rope = tl.String(80.0, 1.0, 1e6, law="tension_only")
    line = tl.Line(rope, end_point=(50.0, 0.0, 0.0), reel=tl.Reel(0.2, 0.5, 1.0), elements=20)
    system = tl.System({}, {"moor": line, "spare": replace(line, start_point=(0.0, 5.0, 0.0))})
    start = chains.hang(system, {}, {"moor": 60.0, "spare": 60.0})
    found = tl.statics(system, start, torques={"moor": "120 N*m"})
    assert found.lines["moor"].holding_torque == pytest.approx(120.0, rel=1e-8)
    assert found.lines["moor"].deployed < 55.0 and found.lines["spare"].deployed == 60.0
    locked = tl.statics(system, found.state)
    check_below("torque", abs(locked.lines["moor"].holding_torque / 120.0 - 1.0), 1e-8)
    with pytest.raises(EquilibriumError, match=r"torques.moor: no length .* 12 N m hold its drum; with 79.5 m"):
        tl.statics(system, start, torques={"moor": 12.0})
    with pytest.raises(InputError, match=r"torques.mor: no such line"):
        tl.statics(system, start, torques={"mor": 12.0})
    # a hanging load: by hand (M + mu X) g d; the string and the spooled weight are small beside it
    hangs = chains.Chain(replace(ROPE, density=2.0), WINCH, LOAD)
    held = chains.statics(hangs, 20.0, torques={"line": 0.25 * G * 80.0})
    assert 30.0 + 2.0 * held.line.deployed == pytest.approx(80.0, abs=3.0)
    light = chains.Chain(replace(ROPE, density=1e-9), WINCH, LOAD)
    with pytest.raises(EquilibriumError, match="no length of the line"):
        chains.statics(light, 20.0, torques={"line": 10.0})


def test_where_there_is_no_rest_the_reason_is_told() -> None:
    loose = tl.System(
        {"a": tl.RigidBody.point(1.0), "b": tl.RigidBody.point(1.0)},
        {"tail": tl.Line(tl.String(5.0, 0.1, 1e5, law="tension_only"), start="a", end="b", elements=4)},
    )
    start = chains.hang(loose, {"a": (0.0, 0.0, 0.0), "b": (3.0, 0.0, 3.0)})
    with pytest.raises(EquilibriumError, match=r"No line leads from 'a', 'b' to a fixed point"):
        tl.statics(loose, start)
    spun = chains.Chain(ROPE, WINCH, LOAD, applied_force=tl.AppliedForce(moment=(0.0, 0.0, 5.0)))
    with pytest.raises(EquilibriumError, match=r"no state of rest .* On body 'body'"):
        chains.statics(spun, 20.0)


def test_a_towed_system_moves_along() -> None:
    """Two bodies behind a ship: the flow past them, and velocities with which a run goes on at rest."""
    ship = tl.Kinematic(COURSE)
    system = tl.System(
        {"ship": ship, "fish": LOAD, "tail": tl.RigidBody.point(8.0)},
        {
            "cable": tl.Line(replace(ROPE, length=25.0), start="ship", end="fish", elements=8),
            "leader": tl.Line(replace(ROPE, length=5.0), start="fish", end="tail", elements=3),
        },
        fluid=tl.Fluid(1025.0),
        body_fluid={"fish": tl.BodyInFluid(volume=0.01, drag_area=0.05), "tail": tl.BodyInFluid(drag_area=0.1)},
    )
    found = tl.statics(system, chains.hang(system, {"ship": (0, 0, 0), "fish": (0, 0, 28.0), "tail": (0, 0, 33.0)}))
    assert found.bodies["fish"].position[0] < -2.0
    np.testing.assert_allclose(found.bodies["tail"].forces["drag"], [-0.5 * 1025.0 * 0.1 * 1.5**2, 0.0, 0.0])
    run = tl.simulate(system, found.state, duration=2.0, sample=0.1, step=1e-3)
    relative = run.position - run.body_position.sel(body="ship")
    check_below("moved", float(np.abs(relative - relative[0]).max()), 1e-6)
    # with an anchor beside the ship there is no frame in which both stand still: the ship does
    anchored = replace(system, lines={**system.lines, "stay": tl.Line(ROPE, end="tail", elements=3)})
    assert frame_of(system).velocity[0] == 1.5 and not frame_of(anchored).velocity.any()
    hurried = replace(anchored, bodies={**anchored.bodies, "ship": tl.Kinematic(START_UP)})
    with pytest.raises(InputError, match="accelerated alike"):
        frame_of(hurried, 1.0, acceleration=True)


def test_pull_at_an_end_by_hand() -> None:
    """A light weight on a light rope, pulled aside by 30 N: sqrt(G^2 + F^2) at the end."""
    pendulum = chains.Chain(ROPE, WINCH, LOAD, applied_force=tl.AppliedForce((30.0, 0.0, 0.0)))
    found = chains.statics(pendulum, 20.0, elements=4)
    assert found.line.end_tension == pytest.approx(math.hypot(30.0, 30.0 * G), rel=1e-10)
    assert found.line.start_tension == pytest.approx(math.hypot(30.0, 34.0 * G), rel=1e-10)
    np.testing.assert_allclose(found.line.start_force, [30.0, 0.0, 34.0 * G], atol=1e-7)


def test_a_tree_hangs_without_being_placed() -> None:
    """Lengths alone: hook below the jib, load below the hook; a balloon stands up."""
    system, start = crane()
    expected, found = chains.rest(system, start), state_of(tl.Hanging({"hoist": 20.0}), system)
    for name in system.bodies:
        check_close(name, found.bodies[name].position, expected.bodies[name].position, 1e-9)
    for name in system.lines:
        check_close(name, found.lines[name].nodes, expected.lines[name].nodes, 1e-9)
    balloon, state = one_line(chains.Chain(ROPE, WINCH, BALLOON, fluid=AIR), 25.0, 8)
    up, still = state_of(tl.Hanging({"line": 25.0}), balloon), chains.rest(balloon, state)
    check_close("balloon", up.lines["line"].nodes, still.lines["line"].nodes, 1e-9)
    with pytest.raises(InputError, match=r"deployed.hoist: missing"):
        state_of(tl.Hanging({}), system)


@pytest.mark.parametrize("seed", range(12))
def test_rest_is_found(seed: int) -> None:
    """Strings of any stiffness and bodies of any lift in flows of any strength, some at a surface."""
    rng = np.random.default_rng(seed)
    X, N = 10.0 ** rng.uniform(-1.0, 2.5), int(rng.integers(1, 40))
    string = tl.String(
        1.2 * X + 1.0,
        10.0 ** rng.uniform(-2, 1),
        10.0 ** rng.uniform(3, 8),
        diameter=10.0 ** rng.uniform(-3, -1.5),
        law="linear",
    )
    body, density = random_body(rng), float(rng.choice([1.2, 1000.0]))
    fluid = tl.Fluid(
        density,
        flow=rng.normal(size=3) * [1.0, 1.0, 0.1] * 10.0 ** rng.uniform(-1.0, 0.7),
        volume=body.mass / density * rng.uniform(0.0, 1.5),
        drag_area=10.0 ** rng.uniform(-3.0, 0.0),
        surface=rng.uniform(-0.2, 1.2) * X if rng.random() < 0.4 else None,
    )
    pendulum = chains.Chain(string, tl.Reel(0.2, 0.5, 1.0), body, fluid=fluid)
    found = chains.statics(pendulum, X, elements=N)
    size = max(found.line.start_tension, found.line.end_tension, 1.0)
    check_below("residual", found.residual, 1e-8 * size + 1e-14 * string.stiffness * N)
