"""States of rest of systems: catenaries, forces by hand, currents, free surfaces, slack lines, tiny gravity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve

import tautline as tl
from tautline.errors import EquilibriumError
from tautline.model.rest.forces import forces_of
from tautline.model.rest.search import MOST_CORRECTIONS, left_of
from tautline.model.rest.states import network_of
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.resting import sagging

pytestmark = pytest.mark.network

G = 9.81


def catenary(EA: float, points: Any, length: float = 60.0, span: float = 50.0, weight: float = G) -> Any:
    """Elastic catenary between level ends: places at unstretched lengths `points` (Irvine 1981)."""

    def x(H: float, s: Any) -> Any:
        V = 0.5 * weight * length
        return H * s / EA + H / weight * (np.arcsinh(V / H) - np.arcsinh((V - weight * s) / H))

    (H,) = fsolve(lambda H: x(H[0], length) - span, [0.5 * weight * length], xtol=1e-14)
    V = 0.5 * weight * length
    roots = np.sqrt(H**2 + V**2) - np.sqrt(H**2 + (V - weight * points) ** 2)
    z = weight * points / EA * (V / weight - 0.5 * points) + roots / weight
    return np.stack([x(H, points), np.zeros_like(points), z], axis=-1)


def left(system: tl.System, state: tl.State) -> tuple[float, float]:
    """Largest force left, with rounding, and the largest force there is (N)."""
    network, places = network_of(system, state)
    forces = forces_of(network, places)
    assert left_of(network, forces) <= 1e-9 * forces.scale
    return float(np.abs(forces.gradient / network.lengths).max()), forces.scale


def test_sagging_ropes_are_catenaries_of_second_order(report: Report) -> None:
    errors = []
    for N in (20, 40, 80):
        system, start = sagging(N)
        nodes = chains.rest(system, start).lines["rope"].nodes
        errors.append(np.abs(nodes - catenary(1e6, np.linspace(0.0, 60.0, N + 1))).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    report("sagging rope against the elastic catenary, order", float(orders[-1]), "2 to 0.1")
    check_close("order", orders, [2.0, 2.0], 0.1)


@pytest.mark.parametrize("EA", [1e3, 1e5, 1e7, 1e9, 1e11])
def test_ropes_of_any_stiffness_sag(EA: float) -> None:
    system, start = sagging(40, EA)
    found = chains.rest(system, start)
    error = np.abs(found.lines["rope"].nodes - catenary(EA, np.linspace(0.0, 60.0, 41))).max()
    check_below("catenary", float(error), 0.02)
    force, scale = left(system, found)
    check_below("force left", force, max(1e-9 * scale, 1e-14 * EA))


@pytest.mark.parametrize("N", [2, 3, 5, 17, 100, 400])
def test_ropes_of_any_number_of_elements_sag(N: int) -> None:
    system, start = sagging(N)
    found = chains.rest(system, start)
    nodes = found.lines["rope"].nodes
    left(system, found)
    check_below("catenary", float(np.abs(nodes - catenary(1e6, np.linspace(0.0, 60.0, N + 1))).max()), 30.0 / N**2)
    check_close("symmetry", nodes[:, 2], nodes[::-1, 2], 1e-7)


@pytest.mark.parametrize("gravity", [0.0, 1e-9, 1e-3, 1e3])
@pytest.mark.parametrize("name", ["sagging", "hook-and-load", "cable-robot"])
def test_any_gravity_is_answered(name: str, gravity: float) -> None:
    if name == "sagging":
        system, start = sagging(20, gravity=gravity)
    else:
        case = tl.load(name)
        system = tl.System(case.system.bodies, case.system.lines, gravity)
        start = chains.hang(system, case.start.bodies, case.start.lines)
    left(system, chains.rest(system, start))


def test_a_rope_with_a_table_sags() -> None:
    strains, tensions = [0.0, 0.01, 0.02, 0.05], [0.0, 500.0, 2000.0, 10000.0]
    rope = tl.String.from_table(60.0, 1.0, strains, tensions)
    system = tl.System({}, {"rope": tl.Line(rope, end_point=(50.0, 0.0, 0.0), elements=30)})
    found = chains.rest(system, chains.hang(system, {}))
    force, scale = left(system, found)
    check_below("force left", force, 1e-9 * scale)
    run = tl.simulate(system, found, duration=0.5, sample=0.1)
    check_below("motion", float(np.abs(run.position - run.position[0]).max()), 1e-7)


def test_slack_ropes_beside_a_taut_one_hang_in_loops() -> None:
    load = tl.RigidBody.point(100.0)
    taut = tl.Line(tl.String(10.0, 0.5, 1e6, law="tension_only"), end="load", elements=5)
    loose = tl.Line(tl.String(30.0, 0.5, 1e6, law="tension_only"), start_point=(5.0, 0.0, 0.0), end="load", elements=20)
    system = tl.System({"load": load}, {"taut": taut, "loose": loose})
    found = chains.rest(system, chains.hang(system, {"load": (0.0, 0.0, 10.0)}))
    force, scale = left(system, found)
    check_below("force left", force, 1e-9 * scale)
    assert found.lines["loose"].nodes[:, 2].max() > found.bodies["load"].position[2] + 5.0
    run = tl.simulate(system, found, duration=0.5, sample=0.1)
    check_below("motion", float(np.abs(run.body_position - run.body_position[0]).max()), 1e-7)


def test_applied_forces_pull_aside_by_hand() -> None:
    """A load on a light rope hangs along the sum of weight and force, and its modes swing about that."""
    load, EA, l, push = tl.RigidBody.point(20.0), 1e5, 8.0, np.array([100.0, 50.0, 0.0])
    line = tl.Line(tl.String(l, 1e-7, EA, law="linear"), end="load", elements=2)
    system = tl.System({"load": load}, {"rope": line}, applied_forces={"load": tl.AppliedForce(force=push)})
    found = chains.rest(system, chains.hang(system, {"load": (0.0, 0.0, l)}))
    total = push + np.array([0.0, 0.0, 20.0 * G])
    pull = float(np.linalg.norm(total))
    check_close("place", found.bodies["load"].position, l * (1.0 + pull / EA) * total / pull, 1e-6)
    swing = np.sqrt(pull / 20.0 / (l * (1.0 + pull / EA))) / (2.0 * np.pi)
    check_close("modes", tl.modes(system, found, count=2).frequency.values, [swing, swing], 1e-5)
    run = tl.simulate(system, found, duration=0.02, sample=0.01)
    check_below("motion", float(np.abs(run.body_position - run.body_position[0]).max()), 1e-7)


def test_an_applied_moment_turns_a_body_by_hand() -> None:
    """The weight at an arm balances the moment; a force that changes has its value of time 0."""
    body = tl.RigidBody.about_center(10.0, np.eye(3), (0.0, 0.0, 0.5))
    line = tl.Line(tl.String(5.0, 1e-4, 1e5, law="linear"), end="body", elements=2)
    moment = 0.3 * 10.0 * G * 0.5
    changing = tl.AppliedForce(moment=([0.0, 1.0], [(0.0, moment, 0.0), (0.0, 0.0, 0.0)]))
    system = tl.System({"body": body}, {"rope": line}, applied_forces={"body": changing})
    found = chains.rest(system, chains.hang(system, {"body": (0.0, 0.0, 5.5)}))
    attitude = np.array(found.bodies["body"].attitude)
    check_close("arm", attitude @ [0.0, 0.0, 1.0], [0.3, 0.0, np.sqrt(1.0 - 0.09)], 1e-7)


@pytest.mark.parametrize("law", ["tension_only", "linear"])
def test_a_body_floats_on_a_slack_string(law: str) -> None:
    """7 m of string to a surface at 5 m: buoyancy carries the body, the string hangs in a loop between."""
    fluid = tl.Fluid(1000.0, surface=5.0, volume=0.05)
    string = tl.String(8.0, 0.2, 1e5, law=law, diameter=0.01)
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.5, 1.0), tl.RigidBody.point(10.0), fluid=fluid)
    found = chains.equilibrium(pendulum, 7.0, 10)
    assert found.residual < 1e-6
    nodes = found.state.nodes
    height = np.cbrt(6.0 * 0.05 / np.pi)
    wet = 0.5 + (nodes[-1, 2] - 5.0) / height
    carried = (1000.0 * 0.05 * wet - 10.0) / 0.2  # string over the weight of a meter in air
    assert 0.0 < carried < 2.0  # about half of what is too long
    assert nodes[:, 2].max() > 5.3
    run = chains.simulate(pendulum, found.state, duration=1.0, sample=0.1)
    check_below("motion", float(np.abs(run.position - run.position[0]).max()), 1e-3 if law == "linear" else 1e-2)


def in_sea(volume: float, mass: float, flow: float = 0.0) -> tuple[tl.RigidBody, dict[str, Any]]:
    """A ball, the sea with a surface at 5 m, and what that does to the ball."""
    fluid = tl.Fluid(1000.0, flow=(flow, 0.0, 0.0), surface=5.0, density_above=1.2)
    ball = tl.RigidBody.sphere(mass, (0.75 * volume / np.pi) ** (1.0 / 3.0))
    return ball, {"fluid": fluid, "body_fluid": {"ball": tl.BodyInFluid(volume=volume, drag_area=0.1)}}


@pytest.mark.parametrize("deployed", [5.5, 9.0, 30.0])
@pytest.mark.parametrize(("volume", "mass"), [(0.1, 40.0), (0.2, 40.0), (0.8, 300.0)])
def test_bodies_of_any_draft_float_above_lines_of_any_length(deployed: float, volume: float, mass: float) -> None:
    """A rope with a closed loop below: half of what is too long hangs on the ball, the rest on the guide."""
    ball, sea = in_sea(volume, mass)
    string = tl.String(60.0, 0.2, 1e5, diameter=0.01)
    lines = {"rope": tl.Line(string, end="ball", reel=tl.Reel(0.3, 0.3, 5.0), elements=20)}
    rest = tl.statics(tl.System({"ball": ball}, lines, **sea), tl.Hanging(deployed))
    line, depth_of_ball = rest.lines["rope"], rest.state.bodies["ball"].position[2]
    sunk = G * (0.2 - 1000.0 * string.area)
    # the lowest element is slack: its halves hang on both sides
    # half of what is too long, and the lift that string above the surface lacks
    on_ball = sunk * 0.5 * (deployed - depth_of_ball) + G * 1000.0 * string.area * max(5.0 - depth_of_ball, 0.0)
    step = 0.5 * sunk * deployed / 20
    assert abs(line.end_tension - on_ball) < step + 1e-3 * on_ball
    depth = (mass + line.end_tension / G - 1.2 * volume) / (volume * (1000.0 - 1.2)) - 0.5
    height = 2.0 * (0.75 * volume / np.pi) ** (1.0 / 3.0)
    assert depth_of_ball == pytest.approx(5.0 + height * depth, abs=1e-6)


@pytest.mark.parametrize(("flow", "least", "most"), [(0.05, 0.5, 1.0), (0.3, 4.5, 5.5)])
def test_a_weak_current_carries_a_floating_body_aside(flow: float, least: float, most: float) -> None:
    """Of a slack line: the pull at the ball balances the drag on it, and the ball has the depth of its draft."""
    ball, sea = in_sea(0.1, 40.0, flow)
    lines = {"rope": tl.Line(tl.String(9.0, 0.2, 1e5, diameter=0.01), end="ball", elements=20)}
    system = tl.System({"ball": ball}, lines, **sea)
    rest = tl.statics(system, tl.Hanging())
    left(system, rest.state)
    place = rest.state.bodies["ball"].position
    assert least < place[0] < most
    share = 0.5 + (place[2] - 5.0) / (2.0 * (0.75 * 0.1 / np.pi) ** (1.0 / 3.0))
    drag = 0.5 * (1.2 + (1000.0 - 1.2) * share) * 0.1 * flow**2
    assert -rest.lines["rope"].end_force[0] == pytest.approx(drag, rel=1e-6)


@pytest.mark.parametrize("flow", [0.0, 0.4])
def test_a_buoy_carries_what_hangs_on_it(flow: float) -> None:
    ball, sea = in_sea(0.1, 20.0, flow)
    sea["body_fluid"]["lead"] = tl.BodyInFluid(volume=0.003, drag_area=0.02)
    lines = {
        "mooring": tl.Line(tl.String(12.0, 0.2, 1e5, diameter=0.01), end="ball", elements=12),
        "low": tl.Line(tl.String(6.0, 0.3, 1e5, diameter=0.01), "ball", (0.0, 0.0, 0.2), end="lead", elements=6),
    }
    system = tl.System({"ball": ball, "lead": tl.RigidBody.point(30.0)}, lines, **sea)
    rest = tl.statics(system, tl.Hanging())
    left(system, rest.state)
    assert rest.state.bodies["ball"].position[2] == pytest.approx(5.0, abs=0.3)
    low = G * (30.0 - 3.0)
    assert rest.lines["low"].end_tension == pytest.approx(low, rel=1e-3)


def test_an_unstable_balance_is_left() -> None:
    """A body whose center of mass is above its rope, but for a push at the start, turns over."""
    body = tl.RigidBody.about_center(10.0, np.eye(3), (0.0, 0.0, 0.5))
    system = tl.System(
        {"body": body}, {"rope": tl.Line(tl.String(5.0, 0.1, 1e5, law="linear"), end="body", elements=4)}
    )
    upside_down = tl.BodyState((0.0, 0.0, 4.5), attitude=np.diag([1.0, -1.0, -1.0]))
    found = chains.rest(system, chains.hang(system, {"body": upside_down}))
    check_close("attitude", np.array(found.bodies["body"].attitude)[2], [0.0, 0.0, 1.0], 1e-6)


def test_where_there_is_no_rest_it_is_refused_soon() -> None:
    """A body that is lighter than water and on no line to the ground rises for ever."""
    float_ = tl.RigidBody.point(1.0)
    tail = tl.Line(tl.String(5.0, 0.1, 1e5, law="tension_only"), start="a", end="b", elements=10)
    system = tl.System(
        {"a": float_, "b": float_},
        {"tail": tail},
        fluid=tl.Fluid(1000.0),
        body_fluid={"a": tl.BodyInFluid(volume=0.01)},
    )
    start = chains.hang(system, {"a": (0.0, 0.0, 0.0), "b": (3.0, 0.0, 3.0)})
    with pytest.raises(
        EquilibriumError, match=r"no state of rest was found in .* corrections; .* N are left"
    ) as caught:
        chains.rest(system, start)
    assert int(str(caught.value).split(" in ")[1].split()[0]) <= MOST_CORRECTIONS


def test_a_fall_is_never_uphill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrections of a system with energy lower it, each of them."""
    from tautline.model.rest import search as network_rest

    falls: list[float] = []
    lower = network_rest._Search._lower

    def watched(self: Any, places: Any, here: Any, K: Any, shift: float) -> Any:
        found = lower(self, places, here, K, shift)
        if found is not None:
            falls.append((found[1].energy - here.energy) / here.size)
        return found

    monkeypatch.setattr(network_rest._Search, "_lower", watched)
    for system, start in (sagging(5), sagging(20, 1e9)):
        chains.rest(system, start)
    assert len(falls) > 50
    assert max(falls) < 1e-12
