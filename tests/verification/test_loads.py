"""Slack strings, damping, fluids, pushes, a guide that moves: exact cases and balances."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.command import Command, Locked
from tautline.paper import examples
from tests.conftest import Report
from tests.support import chains, paper
from tests.support.checking import check_below, check_close, check_order

replace = dataclasses.replace
STEPS = [1e-3, 5e-4, 2.5e-4]


def with_string(**changes: Any) -> chains.Chain:
    base = paper.pendulum()
    return replace(base, string=replace(base.string, **changes))


STRAINS = np.linspace(-0.2, 1.0, 25)
LOADED = {
    "tension only": with_string(law="tension_only"),
    "table": replace(
        paper.pendulum(),
        string=tl.String.from_table(100.0, 0.025, STRAINS, 40.0 * np.maximum(STRAINS, 0.0) + 30.0 * STRAINS**3),
    ),
    "damping": with_string(viscosity=0.5),
    "wind": replace(
        with_string(diameter=0.01),
        fluid=tl.Fluid(
            1.2, flow=((0.0, 20.0), ((3.0, 0.0, 0.0), (1.0, 1.0, 0.0))), drag_area=0.3, drag_center=(0.2, 0.1, 0.3)
        ),
    ),
    "water": replace(
        with_string(diameter=0.004),
        fluid=tl.Fluid(
            1000.0, drag_area=0.002, volume=5e-5, added_mass=0.05, buoyancy_center=(0.3, 0.2, 0.3), spin_damping=1e-3
        ),
    ),
    "surface": replace(
        with_string(diameter=0.004, normal_added_mass=1.0),
        fluid=tl.Fluid(
            1000.0,
            flow=(0.1, 0.0, 0.0),
            drag_area=0.002,
            volume=5e-5,
            added_mass=0.05,
            spin_damping=1e-3,
            surface=4.0,
            density_above=1.2,
        ),
    ),
    "flow over time": replace(
        with_string(diameter=0.01),
        fluid=tl.Fluid(
            1.2,
            flow=((0.0, 20.0), ((3.0, 0.0, 0.0), (1.0, 1.0, 0.0))),
            drag_area=0.3,
            drag_center=(0.2, 0.1, 0.3),
            unsteady=tl.flows.FlowTable(
                (0.0, 0.3, 1.7),
                (((0, 0, 0), (0, 0, 0)), ((2, 1, 0), (0, 1, 1)), ((-3, 0, 1), (0, 0, 0))),
                depths=(-1.0, 12.0),
            ),
        ),
    ),
    "accelerated water": replace(
        with_string(diameter=0.004, normal_added_mass=1.0),
        fluid=tl.Fluid(
            1000.0,
            drag_area=0.002,
            volume=5e-5,
            added_mass=0.05,
            buoyancy_center=(0.3, 0.2, 0.3),
            surface=4.0,
            density_above=1.2,
            unsteady=tl.flows.FlowTable((0.0, 0.7, 2.0), ((0, 0, 0), (0.5, 0.2, 0.1), (-0.3, 0.2, 0))),
        ),
    ),
    "applied_force": replace(
        paper.pendulum(),
        applied_force=tl.AppliedForce(
            force=((0.0, 1.0, 2.0), ((0, 0, 0), (0, 0.5, 0), (0, 0, 0))), moment=(0.0, 0.0, 0.01), point=(0.1, 0.0, 0.0)
        ),
    ),
    "moving guide": replace(
        paper.pendulum(),
        reel=replace(paper.pendulum().reel, guide_path=tl.motions.GuidePath.of(chains.wavy, 5.0, 0.05)),
    ),
    "guide in waves": replace(
        paper.pendulum(),
        reel=replace(
            paper.pendulum().reel,
            guide_path=tl.motions.Waves("jonswap", 1.0, 3.0, rao=(0.3, 0.1, 1.0), rao_phase=(1.6, 0, 0)),
        ),
    ),
}


def run(pendulum: chains.Chain, number: int, elements: int = 20, **options: Any) -> xr.Dataset:
    example = examples.EXAMPLES[number - 1]
    state = chains.straight(pendulum, example.deployed, elements, example.direction, end_velocity=(0.0, 0.5, 0.0))
    settings: dict[str, Any] = {"duration": 3.0, "step": 5e-4, "sample": 0.01}
    return chains.simulate(pendulum, state, example.command, **(settings | options))


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("name", LOADED)
def test_the_balance_closes_at_second_order(name: str, number: int, report: Report) -> None:
    """Energy less work plus losses, with every account that the load needs."""
    errors = []
    for h in STEPS:
        result = run(LOADED[name], number, step=h)
        kept = kept_energy(result).values
        errors.append(float(np.abs(kept - kept[0]).max() / result.kinetic_energy.max()))
    order = check_order(STEPS, errors, 2.0)
    report(f"{name}, example {number}: order of the balance error", order, "2 +- 0.3")
    report(f"{name}, example {number}: balance error at h = 5e-4, of max T", errors[1], "order 2")


def point_on_light_string(**changes: Any) -> chains.Chain:
    string: dict[str, Any] = {"length": 50.0, "density": 1e-7, "stiffness": 100.0}
    string |= changes.pop("string", {})
    settings: dict[str, Any] = {"gravity": 9.81} | changes
    return chains.Chain(
        tl.String(**{"law": "linear", **string}),
        tl.Reel(0.1, 0.1, 1.0, guide_path=settings.pop("path", None)),
        tl.RigidBody.point(2.0),
        **settings,
    )


def falling(pendulum: chains.Chain, duration: float, command: Command | None = None, **options: Any) -> xr.Dataset:
    """One element at its natural length, hanging down, at rest."""
    state = chains.straight(pendulum, 10.0, 1, (0.0, 0.0, 1.0))
    return chains.simulate(pendulum, state, command or Locked(), duration=duration, sample=duration / 100, **options)


def test_a_slack_string_lets_the_body_fall(report: Report) -> None:
    """Thrown up from the unstretched position: a parabola until the string is taut again."""
    pendulum = point_on_light_string(string={"law": "tension_only"})
    speed = 3.0
    state = chains.ChainState(40.0, 0.0, np.array([[0, 0, 0], [0, 0, 10.0]]), np.array([[0, 0, 0], [0, 0, -speed]]))
    run = chains.simulate(pendulum, state, Locked(), duration=0.6, sample=0.01, step=1e-3)
    t = run.time.values
    expected = 10.0 - speed * t + 0.5 * 9.81 * t**2
    error = check_close("height", run.position[:, -1, 2], expected, 1e-6)
    report("slack string: distance from free fall over 0.6 s (m)", error, "< 1e-6")
    assert float(run.tension.max()) <= 1e-9 and float(run.strain.min()) < -0.02


@pytest.mark.parametrize("law", ["linear", "tension_only"])
def test_in_tension_both_laws_are_one(law: str) -> None:
    """Hanging and swinging taut, not a bit differs."""
    results = []
    for kind in ("linear", law):
        pendulum = with_string(law=kind)
        hanging = chains.hanging(with_string(), 10.0, 20)
        sim = chains.simulation(pendulum, hanging, step=1e-3)
        sim.body.strike((0.02, 0.0, 0.0))
        sim.advance(1.0, sample=0.1)
        results.append(sim.dataset())
    assert float(results[1].strain.min()) > 0.0
    assert np.abs(results[0].position - results[1].position).max() < 1e-12


def test_what_slack_changes_in_example_1(report: Report) -> None:
    """Elements of the linear string are compressed by a fifth and more; slack ones carry no compression."""
    linear, slack = (run(with_string(law=law), 1, duration=10.0) for law in ("linear", "tension_only"))
    report("example 1, linear: largest compression (N)", float(-linear.tension.min()), "> 5")
    report("example 1, tension only: largest compression (N)", float(-slack.tension.min()), "= 0")
    assert float(linear.tension.min()) < -5.0
    assert float(slack.tension.min()) == 0.0


def test_damping_does_not_make_a_slack_string_push() -> None:
    result = run(with_string(law="tension_only", viscosity=0.5), 1, duration=10.0)
    assert float(result.strain.min()) < -0.01
    assert float(result.tension.min()) >= 0.0
    kept = kept_energy(result).values
    assert np.abs(kept - kept[0]).max() < 1e-3 * float(result.kinetic_energy.max())
    assert (np.diff(result.damping_loss.values) > -1e-12).all()


def test_damped_oscillation(report: Report) -> None:
    """One light element with a mass: x'' + (eta/(M X)) x' + (EA/(M X)) x = g, exactly solvable."""
    eta = 15.0
    pendulum = point_on_light_string(string={"viscosity": eta})
    M, X, EA = 2.0, 10.0, 100.0
    zeta = eta / (2.0 * M * X)
    omega = np.sqrt(EA / (M * X) - zeta**2)
    rest = M * 9.81 * X / EA
    steps = [4e-3, 2e-3, 1e-3]
    errors = []
    for h in steps:
        result = falling(pendulum, 4.0, step=h)
        t = result.time.values
        exact = 10.0 + rest * (1.0 - np.exp(-zeta * t) * (np.cos(omega * t) + zeta / omega * np.sin(omega * t)))
        errors.append(float(np.abs(result.position[:, -1, 2] - exact).max()))
    report("damped oscillation: order against the exact solution", check_order(steps, errors, 2.0), "2 +- 0.3")
    stress = result.tension[:, 0].values
    velocity = np.gradient(exact, t)
    assert np.abs(stress - (EA * (exact / 10.0 - 1.0) + eta * velocity / 10.0))[1:-1].max() < 0.05


def test_terminal_speed(report: Report) -> None:
    """Falling with drag on a slack string: v = v_t tanh(g t/v_t)."""
    area = 0.2
    pendulum = point_on_light_string(string={"law": "tension_only"}, fluid=tl.Fluid(1.2, drag_area=area))
    state = chains.ChainState(
        20.0, 0.0, np.array([[0, 0, 0], [0, 0, 1.0]]), np.zeros((2, 3))
    )  # 30 m of string, 1 m of it used
    v_t = np.sqrt(2.0 * 9.81 * 2.0 / (1.2 * area))
    steps = [2e-2, 1e-2, 5e-3]
    errors = []
    for h in steps:
        result = chains.simulate(pendulum, state, Locked(), duration=1.8, sample=0.1, step=h)
        t = result.time.values
        errors.append(float(np.abs(result.velocity[:, -1, 2] - v_t * np.tanh(9.81 * t / v_t)).max()))
    report("falling with drag: order against the exact solution", check_order(steps, errors, 2.0), "2 +- 0.3")


def test_buoyancy_and_added_mass(report: Report) -> None:
    """Released under water: (M - rho V) g/(M + m_a), before drag and string matter."""
    fluid = tl.Fluid(1000.0, volume=5e-4, added_mass=0.25)
    pendulum = point_on_light_string(string={"law": "tension_only"}, fluid=fluid)
    state = chains.ChainState(20.0, 0.0, np.array([[0, 0, 0], [0, 0, 1.0]]), np.zeros((2, 3)))
    result = chains.simulate(pendulum, state, Locked(), duration=0.5, sample=0.1, step=1e-3)
    a = (2.0 - 0.5) * 9.81 / (2.0 + 0.25)
    error = check_close("velocity", result.velocity[:, -1, 2], a * result.time.values, 5e-6)  # 3 mg of string
    report("buoyancy and added mass: error of the speed (m/s)", error, "< 5e-6")


def test_a_floating_string_weighs_nothing() -> None:
    density = 0.025 / (0.25 * np.pi * 0.01**2)
    pendulum = replace(with_string(diameter=0.01, normal_drag=0.0, tangential_drag=0.0), fluid=tl.Fluid(density))
    still = chains.straight(pendulum, 10.0, 8, (1.0, 0.0, 0.0))
    result = chains.simulate(
        replace(pendulum, body=tl.RigidBody.point(1e-6)), still, Locked(), duration=0.5, sample=0.1
    )
    fallen = 0.5 * 9.81 * 0.5**2
    assert float(np.abs(result.position[-1, :-2, 2]).max()) < 1e-4 * fallen


def test_a_push_accelerates(report: Report) -> None:
    """Weightless and slack: F t/M; a moment alone turns a ball by M t/I."""
    pendulum = point_on_light_string(
        string={"law": "tension_only"}, gravity=0.0, applied_force=tl.AppliedForce(force=(1.0, 2.0, 0.5))
    )
    state = chains.ChainState(20.0, 0.0, np.array([[0, 0, 0], [0, 0, 1.0]]), np.zeros((2, 3)))
    result = chains.simulate(pendulum, state, Locked(), duration=1.0, sample=0.1, step=1e-2)
    expected = np.outer(result.time, [0.5, 1.0, 0.25])
    report(
        "push: error of the velocity (m/s)", check_close("velocity", result.velocity[:, -1], expected, 1e-6), "< 1e-6"
    )
    assert float(result.external_work[-1]) == pytest.approx(float(result.kinetic_energy[-1]), rel=1e-9)


def test_a_guide_that_moves_uniformly_changes_nothing(report: Report) -> None:
    """Galileo: seen from the guide the motion is that of a guide that stands still."""
    V = np.array([3.0, -1.0, 0.5])
    path = tl.motions.GuidePath((0.0, 5.0), ((0.0, 0.0, 0.0), tuple(5.0 * V)), velocities=(tuple(V), tuple(V)))
    for number in (1, 3):
        still, moved = (
            run(replace(paper.pendulum(), reel=replace(paper.pendulum().reel, guide_path=p)), number, duration=2.0)
            for p in (None, path)
        )
        relative = moved.position.values - still.position.values - np.multiply.outer(moved.time.values, V)[:, None]
        error = check_below("distance", float(np.abs(relative).max()), 1e-11)
        report(f"uniformly moving guide, example {number}: distance from a still one (m)", error, "< 1e-11")


def test_a_guide_that_falls_changes_gravity(report: Report) -> None:
    """Einstein: a guide accelerated downwards by a is gravity g - a, in the discrete equations as well."""
    a, T = 4.0, 2.0
    path = tl.motions.GuidePath((0.0, T), ((0, 0, 0), (0, 0, 0.5 * a * T * T)), velocities=((0, 0, 0), (0, 0, a * T)))
    base = paper.pendulum()
    for number in (1, 3):
        moved = run(replace(base, reel=replace(base.reel, guide_path=path)), number, duration=T)
        lighter = run(replace(base, gravity=9.81 - a), number, duration=T)
        relative = moved.position.values - moved.position.values[:, :1] - lighter.position.values
        error = check_below("distance", float(np.abs(relative).max()), 1e-10)
        report(f"falling guide, example {number}: distance from weaker gravity (m)", error, "< 1e-10")


def test_shaken_pendulum(report: Report) -> None:
    """One light element with a mass under a shaken guide, against an ODE of three lines."""
    from scipy.integrate import solve_ivp

    path = tl.motions.GuidePath.of(chains.wavy, 3.0, 0.01)
    pendulum = point_on_light_string(path=path)
    state = chains.ChainState(40.0, 0.0, np.array([[0, 0, 0], [0.5, 0, 11.9]]), np.array([[0, 0, 0], [0, 0.3, 0]]))
    start, velocity = path.at(0.0)

    def rates(t: float, y: Any) -> Any:
        d = y[:3] - path.at(t)[0][0]
        length = np.linalg.norm(d)
        return np.concatenate([y[3:], [0, 0, 9.81] - 100.0 * (length / 10.0 - 1.0) / 2.0 * d / length])

    y0 = np.concatenate([state.nodes[1] + start[0], state.node_velocities[1] + velocity[0]])
    exact = solve_ivp(rates, (0.0, 3.0), y0, "DOP853", rtol=1e-11, atol=1e-12, max_step=0.01).y[:, -1]
    errors = []
    steps = [2e-2, 1e-2, 5e-3]
    for h in steps:
        result = chains.simulate(pendulum, state, Locked(), duration=3.0, sample=0.5, step=h)
        errors.append(float(np.abs(result.position[-1, -1] - exact[:3]).max()))
    report("shaken pendulum: order against DOP853", check_order(steps, errors, 2.0), "2 +- 0.3")


@pytest.mark.parametrize("name", ["wind", "water", "surface", "table", "tension only"])
def test_a_state_of_rest_stays_at_rest(name: str, report: Report) -> None:
    """What statics finds, the kernels hold: drag, buoyancy and elastic law written down twice agree."""
    found = chains.equilibrium(LOADED[name], 10.0, 20)
    run = chains.simulate(LOADED[name], found.state, Locked(), duration=2.0, sample=0.1, step=5e-4)
    bound = 1e-8
    error = check_below("distance", float(np.abs(run.position - run.position[0]).max()), bound)
    report(f"{name}: motion of the equilibrium in 2 s (m)", error, f"< {bound:g}")
    if name == "wind":
        assert float(found.state.nodes[-1, 0]) > 1.0


@pytest.mark.parametrize("name", ["water", "surface", "table"])
def test_modes_with_another_law_and_a_fluid(name: str, report: Report) -> None:
    """The first stretching mode against a small longitudinal oscillation in the kernels."""
    pendulum = LOADED[name]
    if pendulum.fluid is not None:
        pendulum = replace(pendulum, fluid=replace(pendulum.fluid, drag_area=0.0, spin_damping=0.0))
        pendulum = replace(pendulum, string=replace(pendulum.string, normal_drag=0.0, tangential_drag=0.0))
    pendulum = replace(pendulum, body=tl.RigidBody.point(0.1))
    modes = chains.modes(pendulum, deployed=10.0, elements=10)
    frequency = float(modes.frequency.values[np.array([kind == "longitudinal" for kind in modes.kind.values])][0])
    sim = chains.simulation(pendulum, chains.equilibrium(pendulum, 10.0, 10).state, step=1e-3)
    sim.body.strike((0.0, 0.0, 1e-4))
    sim.advance(40.0, sample=0.01)
    z = sim.dataset().position.values[:, -1, 2]
    z = (z - z.mean()) * np.hanning(len(z))
    padded = 16 * len(z)
    measured = float(np.argmax(np.abs(np.fft.rfft(z, padded))) / (padded * 0.01))
    report(
        f"{name}: frequency of the first stretching mode, relative error", abs(measured / frequency - 1.0), "< 0.003"
    )
    assert abs(measured / frequency - 1.0) < 0.003
