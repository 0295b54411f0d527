"""Tension at the ends of strings: at rest what holds them, and in motion of second order in the mesh."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tautline as tl
from tautline.model.system.state import LineState
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, measured_order

pytestmark = pytest.mark.network

G = 9.81
ENDS = ("start_tension", "end_tension")
SEA = tl.Fluid(1025.0, flow=(0.6, 0.2, 0.0), volume=2e-3, drag_area=0.1)
TABLE: Any = {"law": "table", "tension_table": ((-0.1, 0.0, 0.02, 0.05), (0.0, 0.0, 900.0, 4000.0)), "stiffness": None}


def pendulum(fluid: tl.Fluid | None, reel: dict[str, Any] | None = None, **string: Any) -> chains.Chain:
    rope: Any = {"length": 40.0, "density": 0.6, "stiffness": 4e4, "diameter": 0.02} | string
    own: Any = {"drum_radius": 0.3, "guide_length": 1.0, "inertia_mass": 5.0} | (reel or {})
    return chains.Chain(tl.String(**{"law": "linear", **rope}), tl.Reel(**own), tl.RigidBody.point(8.0), fluid=fluid)


TOW = tl.motions.GuidePath((0.0, 10.0), ((0.0, 0.0, 0.0), (-8.0, 0.0, 0.0)), ((-0.8, 0.0, 0.0), (-0.8, 0.0, 0.0)))
SHEAR = ((0.0, 10.0, 25.0), ((1.2, 0.0, 0.0), (0.4, 0.3, 0.0), (0.0, 0.0, 0.0)))
SYSTEMS: dict[str, chains.Chain] = {
    "current": pendulum(SEA),
    "nothing": pendulum(None),
    "still water": pendulum(dataclasses.replace(SEA, flow=(0.0, 0.0, 0.0))),
    "shear": pendulum(dataclasses.replace(SEA, flow=SHEAR), normal_added_mass=1.0),
    "surface": pendulum(dataclasses.replace(SEA, surface=7.3, density_above=1.2)),
    "layers": pendulum(SEA, {"layer_growth": 1e-3, "guide_position": (1.0, 2.0, 3.0)}),
    "tow": pendulum(SEA, {"guide_path": TOW}),
    "tension only": pendulum(SEA, law="tension_only", viscosity=50.0),
    "table": pendulum(SEA, **TABLE),
    # the rope turns up again within the element at the body, which lifts it
    "float": pendulum(dataclasses.replace(SEA, volume=12e-3), density=2.0),
}


@pytest.mark.parametrize("elements", [19, 1, 2, 3])
@pytest.mark.parametrize("name", SYSTEMS)
def test_at_rest_it_is_what_holds_string_and_body(name: str, elements: int) -> None:
    system = SYSTEMS[name]
    rest = chains.equilibrium(system, 24.0, elements)
    run = chains.simulate(system, rest.state, duration=0.02, sample=0.01)
    for variable in ENDS:
        np.testing.assert_allclose(run[variable], getattr(rest, variable), rtol=1e-9)


def as_system(system: chains.Chain, rest: Any, turned: bool) -> tuple[tl.System, tl.State]:
    """A pendulum at rest as a system; its string may begin at the body, and has no reel then."""
    N, nodes, fluid = rest.state.elements, np.array(rest.state.nodes), system.fluid
    deployed = system.string.length - rest.state.reeled_length
    string, reeled = system.string, rest.state.reeled_length
    ends: Any = {"end": "load", "reel": system.reel}
    if turned:
        string, nodes, reeled = dataclasses.replace(string, length=deployed), nodes[::-1], 0.0
        ends = {"start": "load"}
    around: Any = {}
    if fluid is not None:
        own = tl.BodyInFluid(volume=fluid.volume, drag_area=fluid.drag_area)
        around = {"fluid": dataclasses.replace(fluid, volume=0.0, drag_area=0.0), "body_fluid": {"load": own}}
    line = tl.Line(string, elements=N, **ends)
    state = tl.State(
        {"load": tl.BodyState(tuple(rest.state.nodes[-1]))},
        {"rope": LineState(np.ascontiguousarray(nodes), np.zeros_like(nodes), reeled, 0.0)},
    )
    return tl.System({"load": system.body}, {"rope": line}, **around), state


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("elements", [7, 1, 2])
@pytest.mark.parametrize("name", ["current", "nothing", "surface", "table"])
def test_at_rest_in_a_system(name: str, elements: int, turned: bool) -> None:
    """On an anchor and on a body, either being the start; and the torque that holds the drum as the pendulum's."""
    system = SYSTEMS[name]
    rest = chains.equilibrium(system, 24.0, elements)
    # the start of a system in a current is of second order in the step: 2e-8 here, 1.6e-6 at eight times this step
    run = chains.simulate(*as_system(system, rest, turned), duration=0.02, sample=0.01, step=1.25e-4)
    for variable, end in zip(ENDS, ENDS[:: -1 if turned else 1], strict=True):
        np.testing.assert_allclose(run[end][0], getattr(rest, variable), rtol=1e-9)
        np.testing.assert_allclose(run[end], getattr(rest, variable), rtol=1e-7)
    if not turned:
        alone = chains.simulate(system, rest.state, duration=0.02, sample=0.01, step=1.25e-4)
        np.testing.assert_allclose(run.torque[0], alone.torque[0], rtol=1e-9)


def test_a_rope_between_two_anchors_carries_half_of_its_weight_at_each() -> None:
    string = tl.String(12.0, 2.0, 1e5, law="tension_only")
    system = tl.System({}, {"rope": tl.Line(string, end_point=(10.0, 0.0, 0.0), elements=9)})
    state = chains.rest(system, chains.hang(system, {}))
    run = chains.simulate(system, state, duration=0.02, sample=0.01).isel(line=0)
    along = np.diff(run.position.values[0], axis=0)
    across = float(run.tension[0, 0]) * along[0, 0] / np.linalg.norm(along[0])
    for end in ENDS:
        np.testing.assert_allclose(run[end], math.hypot(across, 0.5 * 2.0 * 12.0 * G), rtol=1e-7)


def continuous_tension(system: chains.Chain, deployed: float, wind: float) -> float:
    """Tension at the guide of the continuous string in a wind along x, by its differential equations from the body."""
    string, fluid = system.string, system.fluid
    assert fluid is not None
    weight = system.weights()
    half = 0.5 * fluid.density * string.diameter

    def slope(_: float, pull: np.ndarray) -> np.ndarray:
        tension = float(np.linalg.norm(pull))
        t, u = pull / tension, np.array([wind, 0.0, 0.0])
        along = (u @ t) * t
        across = u - along
        drag = string.normal_drag * np.linalg.norm(across) * across
        drag += math.pi * string.tangential_drag * np.linalg.norm(along) * along
        load = half * (1.0 + tension / string.stiffness) * drag + np.array([0.0, 0.0, weight.string])
        return np.asarray(load)

    pull = np.array([0.5 * fluid.density * fluid.drag_area * wind**2, 0.0, weight.body])
    found = solve_ivp(slope, (0.0, deployed), pull, rtol=1e-11, atol=1e-11)
    return float(np.linalg.norm(found.y[:, -1]))


@pytest.mark.parametrize(("elements", "bound"), [(None, 5e-4), (9, 2e-3)])
def test_an_aerostat_whose_tether_is_slackest_near_the_ground(
    elements: int | None, bound: float, report: Report
) -> None:
    """Elements near the guide have less tension than the guide and more beyond: no line through them meets it."""
    wind, deployed = 2.3, 247.0
    system = chains.Chain(
        tl.String(300.0, 0.3, 2e5, diameter=0.02, law="linear"),
        tl.Reel(0.5, 1.0, 1.0),
        tl.RigidBody.point(55.0),
        fluid=tl.Fluid(1.2, flow=(wind, 0.0, 0.0), volume=99.5, drag_area=4.0),
    )
    exact = continuous_tension(system, deployed, wind)
    rest = chains.equilibrium(system, deployed, elements)
    run = chains.simulate(system, rest.state, duration=0.2, sample=0.1)
    error = float(np.abs(run.start_tension / exact - 1.0).max())
    elements = rest.state.elements
    report(
        f"aerostat at rest, N = {elements}: tension at the guide", check_below("tension", error, bound), f"{bound:g}"
    )
    assert 0 < int(rest.tension.argmin()) < 5 and rest.tension[0] < 0.95 * exact


def stiff(**reel: Any) -> chains.Chain:
    rope = tl.String(60.0, 20.0, 5e8, viscosity=1e6, law="linear")
    return chains.Chain(rope, tl.Reel(0.3, 1.0, 200.0, **reel), tl.RigidBody.point(100.0))


@pytest.mark.parametrize("elements", [2, 3, 8])
def test_a_hoist_that_starts_pulls_with_mass_times_acceleration(elements: int, report: Report) -> None:
    """(M + mu X)(g + a) at the guide and M (g + a) at the body; the rope is six times as heavy as the load."""
    a, system = 0.8, stiff()
    lift = tl.Speed(retrieval=([0.0, 1.0, 3.0], [0.0, 0.0, 2.0 * a]))
    run = chains.simulate(system, chains.hanging(system, 30.0, elements), lift, duration=3.0, sample=0.05)
    steady = run.sel(time=slice(2.0, 2.9))
    X = steady.unstretched_length.values
    for name, mass in (("start_tension", 100.0 + 20.0 * X), ("end_tension", 100.0 + 0.0 * X)):
        error = float(np.abs(steady[name].values / (mass * (G + a)) - 1.0).max())
        report(f"hoist, N = {elements}: {name} against m (g + a)", check_below(name, error, 2e-4), "2e-4")


@pytest.mark.parametrize("elements", [2, 3, 8])
def test_a_guide_that_is_accelerated_pulls_likewise(elements: int, report: Report) -> None:
    path = tl.motions.Sine(0.5, 4.0, ramp=4.0)
    system = stiff(guide_path=path)
    run = chains.simulate(system, chains.hanging(system, 30.0, elements), duration=8.0, sample=0.05)
    a = path.acceleration(run.time.values)[:, 2]
    for name, mass in (("start_tension", 700.0), ("end_tension", 100.0)):
        error = float(np.abs(run[name].values / mass - (G - a)).max() / np.abs(a).max())
        report(f"heaving guide, N = {elements}: {name} against m (g - a)", check_below(name, error, 5e-3), "5e-3")


def moving(elements: int, kind: str) -> Any:
    """A soft, damped rope that swings in air, smoothly: with a reel that is driven, or with a guide that heaves."""
    path = tl.motions.Sine((0.3, 0.0, 0.2), 2.0, ramp=1.0) if kind == "guide" else None
    rope = tl.String(30.0, 0.4, 3000.0, viscosity=60.0, diameter=0.02, law="linear")
    air = tl.Fluid(1.2, flow=(3.0, 0.0, 0.0), drag_area=0.3)
    system = chains.Chain(rope, tl.Reel(0.3, 1.0, 5.0, guide_path=path), tl.RigidBody.point(3.0), fluid=air)
    command: Any = tl.Locked()
    if kind == "reel":
        command = tl.Speed.of(payout=lambda t: 3.0 * t * t, duration=1.0, interval=1e-3)
    rest = chains.hanging(system, 10.0, elements)
    swing = np.outer(np.linspace(0.0, 1.0, elements + 1), (0.5, 1.5, 0.0))
    state = chains.ChainState(rest.reeled_length, 0.0, rest.nodes, swing)
    return chains.simulate(system, state, command, duration=1.0, sample=0.02, step=5e-5)


@pytest.mark.parametrize("kind", ["reel", "guide"])
def test_second_order_in_the_mesh(kind: str, report: Report) -> None:
    """Root mean squares over time: where the inertia at an end changes its sign, errors do so too."""
    fine, counts = moving(160, kind), [5, 10, 20, 40]
    runs = [moving(N, kind) for N in counts]
    for name in ENDS:
        errors = [float(np.sqrt(((run[name] - fine[name]) ** 2).mean()) / fine[name].max()) for run in runs]
        order = measured_order([1.0 / N for N in counts], errors)
        report(f"swinging rope, {kind} moves: {name}, order in 1/N", order, "> 1.8")
        assert order > 1.8, f"{name}: order {order:.2f}, {errors}"
        report(f"swinging rope, {kind} moves: {name}, N = 40", check_below(name, errors[-1], 1e-4), "1e-4")
