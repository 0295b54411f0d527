"""States of rest against hand formulas, and against runs that have to stay where they are put."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.conftest import Report
from tests.support import chain_statics as statics
from tests.support import chains
from tests.support.checking import check_below
from tests.support.resting import AIR, BALLOON, LOAD, NARROW, ROPE, SEA, WINCH

replace = dataclasses.replace
G = 9.81
STRAINS = np.linspace(0.0, 0.02, 9)
STIFFENING = tl.String.from_table(60.0, 0.2, STRAINS, 2e4 * STRAINS + 2e6 * STRAINS**2, diameter=0.01, viscosity=200.0)
SLACK_TABLE = tl.String.from_table(60.0, 0.2, [-0.5, 0.0, 0.01, 0.02], [0.0, 0.0, 300.0, 900.0], diameter=0.01)


def motion(run: Any) -> float:
    """Largest displacement of a node from where it was put, relative to the guide."""
    relative = run.position - run.position.isel(node=0)
    return float(np.abs(relative - relative[0]).max())


def hold(pendulum: chains.Chain, state: chains.ChainState, command: Any = None, duration: float = 2.0) -> float:
    run = chains.simulate(pendulum, state, command or tl.Locked(), duration=duration, sample=0.1)
    assert run.attrs["status"] == "completed"
    return motion(run)


def check_rest(pendulum: chains.Chain, state: chains.ChainState) -> float:
    """Drag is taken at the velocity of the step boundary, so the discrete state of rest is the continuous one."""
    return check_below("moved", motion(chains.simulate(pendulum, state, duration=2.0, sample=0.1, step=1e-3)), 1e-11)


@pytest.mark.parametrize("string", [ROPE, replace(ROPE, law="tension_only"), STIFFENING, SLACK_TABLE])
@pytest.mark.parametrize("fluid", [None, SEA])
@pytest.mark.parametrize("reel", [WINCH, NARROW])
def test_the_holding_torque_holds(string: tl.String, fluid: tl.Fluid | None, reel: tl.Reel, report: Report) -> None:
    """Elastic law, buoyancy and layers together: a drum that is given the moment stays for two seconds."""
    pendulum = chains.Chain(string, reel, LOAD, fluid=fluid)
    figures = statics.at_rest(pendulum, 20.0)
    density = 0.0 if fluid is None else fluid.density
    weight = (30.0 - density * (0.01 if fluid else 0.0)) * G
    line = (0.2 - density * math.pi * 0.005**2) * G
    assert figures.start_tension == pytest.approx(weight + 20.0 * line, rel=1e-12)
    assert figures.end_tension == pytest.approx(weight, rel=1e-12)
    radius = math.sqrt(0.25**2 + reel.layer_growth * (60.0 - 20.0 - 0.8))
    assert figures.drum_radius == pytest.approx(radius, rel=1e-14)
    # the spooled string's own weight is out of balance by less than its line weight times b + d
    assert abs(figures.holding_torque / radius - figures.start_tension) < 0.01 * figures.start_tension + line * 1.2
    start = chains.hanging(pendulum, 20.0, 20)
    assert start.nodes[-1, 2] - 20.0 == pytest.approx(figures.stretch, rel=2e-4)
    run = chains.simulate(pendulum, start, tl.Torque(figures.holding_torque), duration=2.0, sample=0.1)
    drift = float(abs(run.unstretched_length - 20.0).max())
    # the elements' energy differs from the continuous one by O(l^2), a force of less than a thousandth of the weight
    free_fall = 0.5 * figures.start_tension / (30.0 + 4.0 + reel.turning_mass) * 2.0**2
    name = f"{string.law}, {'water' if fluid else 'air'}, {'layers' if reel is NARROW else 'one layer'}"
    error = check_below("drift over free fall", drift / free_fall, 2e-4)
    report(f"{name}: drum held by the static torque, drift over free fall in 2 s", error, "< 2e-4")


def test_stretch_by_hand() -> None:
    """(M + mu X/2) g X/EA for a linear string; by many thin slices for a table."""
    linear = statics.at_rest(chains.Chain(ROPE, WINCH, LOAD), 20.0)
    assert linear.stretch == pytest.approx((30.0 + 0.2 * 10.0) * G * 20.0 / 5e4, rel=1e-12)
    assert linear.guide_strain == pytest.approx(34.0 * G / 5e4, rel=1e-12)
    light = statics.at_rest(chains.Chain(replace(ROPE, density=1e-9), WINCH, LOAD), 20.0)
    assert light.stretch == pytest.approx(30.0 * G * 20.0 / 5e4, rel=1e-9)
    curved = statics.at_rest(chains.Chain(STIFFENING, WINCH, LOAD), 20.0)
    middles = (np.arange(20000) + 0.5) / 1000.0
    slices = STIFFENING.strain((30.0 + 0.2 * middles) * G)
    assert curved.stretch == pytest.approx(slices.sum() / 1000.0, rel=1e-7)


@pytest.mark.parametrize("law", ["linear", "tension_only", "table"])
def test_a_balloon_stands_up(law: str, report: Report) -> None:
    string = {
        "linear": ROPE,
        "tension_only": replace(ROPE, law="tension_only"),
        "table": STIFFENING,
    }[law]
    pendulum = chains.Chain(string, WINCH, BALLOON, fluid=AIR)
    lift = (1.2 * 12.0 - 6.0) * G
    line = (0.2 - 1.2 * math.pi * 0.005**2) * G
    found = chains.equilibrium(pendulum, 25.0, 15)
    assert found.start_tension == pytest.approx(lift - 25.0 * line, rel=1e-12)
    assert found.tension[-1] == pytest.approx(lift - 0.5 * line * 25.0 / 15, rel=1e-12)
    assert found.state.nodes[-1, 2] < -25.0
    # the center of buoyancy is above the attachment point
    assert np.asarray(found.state.attitude)[2, 2] == pytest.approx(-1.0)
    np.testing.assert_allclose(found.state.nodes, chains.hanging(pendulum, 25.0, 15).nodes, atol=1e-12)
    error = check_below("moved", hold(pendulum, found.state), 1e-8)
    report(f"balloon on a {law} string: motion at rest in 2 s (m)", error, "< 1e-8")
    drum = chains.simulate(pendulum, found.state, tl.Torque(found.holding_torque), duration=2.0, sample=0.1)
    assert float(abs(drum.unstretched_length - 25.0).max()) < 1e-3


def test_a_balloon_in_wind_leans(report: Report) -> None:
    """By hand with a string that weighs nothing and has no drag: tan(lean) = drag/lift."""
    thin = replace(ROPE, density=1e-7, diameter=0.0)
    wind = replace(AIR, flow=(5.0, 0.0, 0.0), drag_area=1.5)
    pendulum = chains.Chain(thin, WINCH, BALLOON, fluid=wind)
    found = chains.equilibrium(pendulum, 25.0, 8)
    lift, drag = (1.2 * 12.0 - 6.0) * G, 0.5 * 1.2 * 1.5 * 25.0
    x, _, z = found.state.nodes[-1]
    assert x / -z == pytest.approx(drag / lift, rel=1e-5)
    assert found.start_tension == pytest.approx(math.hypot(lift, drag), rel=1e-5)
    assert found.end_tension == pytest.approx(math.hypot(lift, drag), rel=1e-12)
    heavy = chains.Chain(ROPE, WINCH, BALLOON, fluid=wind)
    rest = chains.equilibrium(heavy, 25.0, 12)
    error = check_below("moved", hold(heavy, rest.state), 1e-5)
    report("balloon in wind on a heavy rope: motion at rest in 2 s (m)", error, "< 1e-5")


def test_a_balloon_that_cannot_lift_all_of_its_string_leaves_a_fold() -> None:
    """It carries lift/(line weight) of the string, and the guide the rest; `hanging` is that too."""
    weak = replace(AIR, volume=8.0)
    pendulum = chains.Chain(ROPE, WINCH, BALLOON, fluid=weak)
    lift, line = (1.2 * 8.0 - 6.0) * G, (0.2 - 1.2 * math.pi * 0.005**2) * G
    found = chains.equilibrium(pendulum, 25.0, 50)
    carried = lift / line
    assert found.start_tension == pytest.approx((25.0 - carried) * line, rel=1e-12)
    # 0.5 m elements: the fold is within one
    assert -found.state.nodes[-1, 2] == pytest.approx(2.0 * carried - 25.0, abs=0.3)
    check_below("moved", hold(pendulum, found.state), 1e-10)
    np.testing.assert_allclose(chains.hanging(pendulum, 25.0, 50).nodes, found.state.nodes, atol=1e-12)
    windy = replace(pendulum, fluid=replace(weak, flow=(8.0, 0.0, 0.0), drag_area=2.0))
    blown = chains.equilibrium(windy, 25.0, 12)
    assert blown.residual < 1e-8
    check_rest(windy, blown.state)


def test_a_guide_at_steady_speed_is_a_flow_from_ahead(report: Report) -> None:
    speed = 1.5
    sea = chains.Chain(ROPE, WINCH, LOAD, fluid=SEA)
    course = tl.motions.GuidePath(
        (0.0, 10.0), ((0.0, 0.0, 2.0), (10.0 * speed, 0.0, 2.0)), ((speed, 0, 0), (speed, 0, 0))
    )
    towed = replace(sea, reel=replace(WINCH, guide_path=course))
    streamed = replace(sea, fluid=replace(SEA, flow=(-speed, 0.0, 0.0)))
    moving, still = chains.equilibrium(towed, 25.0, 10, time=3.0), chains.equilibrium(streamed, 25.0, 10)
    np.testing.assert_allclose(moving.state.nodes, still.state.nodes, atol=1e-11)
    assert moving.state.nodes[-1, 0] < -2.0
    assert moving.start_tension == pytest.approx(still.start_tension, rel=1e-12)
    drag = 0.5 * 1025.0 * 0.05 * speed**2
    assert moving.end_tension == pytest.approx(math.hypot(drag, (30.0 - 10.25) * G), rel=1e-12)
    moved = check_rest(towed, moving.state)
    report("towed at steady speed: motion relative to the guide in 2 s (m)", moved, "< 1e-11")
    # a current over depth is taken where the guide has gone
    layered = replace(towed, fluid=replace(SEA, flow=((10.0, 20.0), ((0, 0, 0), (0.0, 1.0, 0.0)))))
    deeper = replace(course, displacements=((0.0, 0.0, 12.0), (10.0 * speed, 0.0, 12.0)))
    low = replace(layered, reel=replace(WINCH, guide_path=deeper))
    assert (
        chains.equilibrium(low, 25.0, 10).state.nodes[-1, 1]
        > 1.5 * chains.equilibrium(layered, 25.0, 10).state.nodes[-1, 1]
    )


def test_an_accelerating_guide_leans_the_string(report: Report) -> None:
    """tan(lean) = a/g, and gravity is sqrt(a^2 + g^2); without the wish for it the acceleration is left out."""
    a = 2.0
    times = np.linspace(0.0, 4.0, 5)
    course = tl.motions.GuidePath(
        tuple(times), tuple((0.5 * a * t * t, 0.0, 0.0) for t in times), ((0, 0, 0), (4.0 * a, 0, 0))
    )
    pendulum = chains.Chain(ROPE, replace(WINCH, guide_path=course), LOAD)
    found = chains.equilibrium(pendulum, 20.0, 8, time=1.0, acceleration=True)
    assert found.start_tension == pytest.approx(34.0 * math.hypot(a, G), rel=1e-12)
    assert found.state.nodes[-1, 0] / found.state.nodes[-1, 2] == pytest.approx(-a / G, rel=1e-10)
    assert found.end_tension == pytest.approx(30.0 * math.hypot(a, G), rel=1e-12)
    np.testing.assert_allclose(found.counted["acceleration"], [-34.0 * a, 0.0, 0.0], atol=1e-10)
    error = check_below("moved", hold(pendulum, found.state), 1e-6)
    report("accelerated guide: motion relative to it in 2 s (m)", error, "< 1e-6")
    plain = chains.equilibrium(pendulum, 20.0, 8, time=1.0)
    np.testing.assert_array_equal(plain.state.nodes, chains.hanging(pendulum, 20.0, 8).nodes)


def test_a_push_that_changes_counts_as_at_the_time() -> None:
    push = tl.AppliedForce(((0.0, 10.0), ((0.0, 0.0, 0.0), (100.0, 0.0, 0.0))))
    pendulum = chains.Chain(replace(ROPE, density=1e-7), WINCH, LOAD, applied_force=push)
    for time, force in ((0.0, 0.0), (5.0, 50.0), (20.0, 100.0)):
        found = chains.equilibrium(pendulum, 20.0, 4, time=time)
        assert found.state.nodes[-1, 0] / found.state.nodes[-1, 2] == pytest.approx(force / (30.0 * G), rel=1e-6)


def test_a_drum_that_grows_in_modes_and_energy() -> None:
    pendulum = chains.Chain(ROPE, NARROW, LOAD)
    found = chains.equilibrium(pendulum, 20.0, 30)
    run = chains.simulate(pendulum, found.state, tl.Locked(), duration=0.01, sample=0.01)
    x = statics.Configuration(found.state.reeled_length, found.state.nodes, np.array(found.state.attitude))
    assert statics.potential(pendulum, x) == pytest.approx(float(run.energy[0]), rel=1e-12)
    torque = float(chains.modes(pendulum, found, reel="free", count=2).balancing_torque[0])
    assert torque == pytest.approx(found.holding_torque, rel=1e-5)
    assert torque == pytest.approx(34.0 * G * found_radius(NARROW, 20.0), rel=0.02)


def found_radius(reel: tl.Reel, deployed: float) -> float:
    return math.sqrt(reel.drum_radius**2 + reel.layer_growth * (60.0 - deployed - reel.guide_length))
