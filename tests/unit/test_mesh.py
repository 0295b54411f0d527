"""Noise and error of the mesh, and the number of elements that is taken where none is given."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from benchmarks.elements import position_error, relative, shape_error

import tautline as tl
from tautline.engine.criteria import warnings_from
from tautline.engine.mesh import MeshHealth
from tautline.engine.mesh_limits import mesh_criteria
from tautline.engine.shape import rough_part
from tautline.model.chain.systems import chain_of
from tautline.model.command import Command
from tautline.model.elements import FEWEST, MOST, default_elements
from tests.support import chains
from tests.support.warned import kinds


def plain(density: float = 0.1, stiffness: float = 2e3, mass: float = 1.0, **others: Any) -> chains.Chain:
    string = tl.String(length=11.0, density=density, stiffness=stiffness, law="linear")
    return chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(mass), **others)


def at_rest(pendulum: chains.Chain, state: chains.ChainState) -> MeshHealth:
    health = MeshHealth()
    reeled = np.array([state.reeled_length])
    health.update(
        pendulum, np.zeros(1), state.nodes[None], state.node_velocities[None], reeled, pendulum.body.mass, pendulum.reel
    )
    return health


def health_of(pendulum: chains.Chain, run: Any, reel_is_free: bool) -> MeshHealth:
    health = MeshHealth()
    nodes, velocities = relative(run.position.values), relative(run.velocity.values)
    moved = pendulum.body.mass, pendulum.reel if reel_is_free else None
    health.update(pendulum, run.time.values, nodes, velocities, run.reeled_length.values, *moved)
    return health


def swing(pendulum: chains.Chain, degrees: float, N: int | None, duration: float, deployed: float = 10.0) -> Any:
    angle = math.radians(degrees)
    start = chains.straight(pendulum, deployed, N, (math.sin(angle), 0.0, math.cos(angle)))
    return chains.simulate(pendulum, start, duration=duration, sample=duration / 200, order=4)


# -- noise ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("N", [5, 20, 33])
def test_a_wave_keeps_the_squared_sine_of_half_its_phase(N: int) -> None:
    e = np.arange(N) + 0.5
    for k in range(N):
        theta = math.pi * k / N
        wave = np.cos(theta * e)
        expected = math.sin(0.5 * theta) ** 2 * wave[1:-1]
        assert np.abs(rough_part(wave[None])[0] - expected).max() < 1e-15 * N


def test_the_shortest_wave_is_all_noise_and_a_long_one_is_none() -> None:
    e = np.arange(20.0)
    assert np.abs(rough_part(np.array([[1.0, -1.0] * 10]))).max() == 1.0
    assert np.abs(rough_part(np.cos(math.pi * (e[None] + 0.5) / 20))).max() < 0.007  # sin(pi/40)^2 = 0.0062
    assert np.abs(rough_part(100.0 + 3.0 * e[None])).max() < 1e-13  # a heavy rope, to rounding


def stopped(N: int, damping_ratio: float) -> tuple[chains.Chain, Any]:
    """A payout of 500 kg on 200 m of rope that is stopped at 2 m/s within no time."""
    rope = tl.String(300.0, 0.3, 5e6, damping_ratio=damping_ratio, law="linear")
    pendulum = chains.Chain(rope, tl.Reel(0.3, 1.0, 200.0), tl.RigidBody.point(500.0))
    sim = chains.simulation(pendulum, chains.hanging(pendulum, 200.0, N))
    sim.advance(4.0, tl.Length.to(210.0, speed=2.0, acceleration=1.0, jerk=1.0), sample=0.01)
    sim.line.stop()
    sim.advance(1.0, tl.Locked(), sample=0.01)
    return pendulum, chains.of_one(sim.dataset())


@pytest.mark.parametrize("N", [12, 20, 40])
def test_a_sudden_stop_is_warned_of_and_the_advised_damping_ends_it(N: int) -> None:
    pendulum, run = stopped(N, 0.0)
    (noise, *_) = warnings_from(mesh_criteria(health_of(pendulum, run, reel_is_free=False), pendulum, N))
    assert noise.kind == "mesh_noise"
    advised = float(noise.text.rpartition("string.damping_ratio = ")[2].split()[0])
    damped, run = stopped(N, advised)
    assert "mesh_noise" not in kinds(warnings_from(mesh_criteria(health_of(damped, run, False), damped, N)))


def test_noise_of_built_in_scenarios() -> None:
    found = {}
    for name in ("deployment", "crane-hoist", "tethered-pod"):
        case = tl.load(name)
        run = chains.simulate(case)
        chain = chain_of(case.system)
        health = health_of(chain, run, reel_is_free=True)
        found[name] = "mesh_noise" in kinds(warnings_from(mesh_criteria(health, chain, run.sizes["element"])))
    assert found == {"deployment": True, "crane-hoist": False, "tethered-pod": False}


# -- error ---------------------------------------------------------------------------------------------


def test_sag_of_a_hanging_rope_is_what_a_linear_element_misses() -> None:
    pendulum = plain(density=2.0, stiffness=500.0)
    state = chains.hanging(pendulum, 10.0, 10)
    finer = chains.hanging(pendulum, 10.0, 20)  # its nodes are exact, those in the middle of elements too
    missed = finer.nodes[1::2, 2] - 0.5 * (state.nodes[1:, 2] + state.nodes[:-1, 2])
    assert at_rest(pendulum, state).sag == pytest.approx(missed[0], rel=1e-9)
    assert np.ptp(missed) < 1e-9 * missed[0]  # 1e-14 of a position of 15 m


def test_a_straight_even_string_has_no_error() -> None:
    pendulum = plain()
    for N in (2, 3, 20):
        health = at_rest(pendulum, chains.straight(pendulum, 10.0, N, (1.0, 2.0, 2.0)))
        assert health.error < 1e-15 and health.noise < 1e-10 and not warnings_from(mesh_criteria(health, pendulum, N))


@pytest.mark.parametrize("N", [2, 5, 10])
def test_a_rope_that_is_pulled_aside_is_estimated_within_a_factor_of_three(N: int) -> None:
    pendulum = plain(density=0.5, stiffness=1e4, mass=2.0, applied_force=tl.AppliedForce((40.0, 0.0, 0.0)))
    state, finer = (chains.equilibrium(pendulum, 10.0, n).state for n in (N, 8 * N))
    true = shape_error(state.nodes[None], finer.nodes[None]) / 10.0
    assert true / 3.0 < at_rest(pendulum, state).error < 3.0 * true


SWINGS = {
    "nylon": (plain(density=0.05, stiffness=5e3, mass=2.0), 40.0, 8.0),
    "heavy chain": (plain(density=2.0, stiffness=1e6, mass=1.0), 25.0, 5.0),
    "rubber": (plain(density=0.2, stiffness=150.0, mass=0.5), 15.0, 5.0),
}


@pytest.mark.parametrize("name", SWINGS)
@pytest.mark.parametrize("N", [2, 12])
def test_a_swing_is_estimated_within_a_factor_of_three(name: str, N: int) -> None:
    pendulum, degrees, duration = SWINGS[name]
    run = swing(pendulum, degrees, N, duration)
    true = position_error(run, swing(pendulum, degrees, 8 * N, duration))
    assert true / 3.0 < health_of(pendulum, run, False).error < 3.0 * true


@pytest.mark.parametrize(("density", "least", "most"), [(1e-3, 0.0, 1e-3), (1.0, 0.01, 0.5)])
def test_a_single_element_is_judged_by_the_weight_of_the_string(density: float, least: float, most: float) -> None:
    pendulum = plain(density=density, stiffness=1e5)
    assert least < health_of(pendulum, swing(pendulum, 30.0, 1, 3.0), False).error < most


def test_the_guide_law_with_a_mean_strain_counts_and_with_an_extrapolated_one_does_not() -> None:
    string = tl.String(60.0, 0.5, 300.0, law="linear")

    def run(N: int, **reel: Any) -> tuple[chains.Chain, Any]:
        pendulum = chains.Chain(string, tl.Reel(0.2, 0.1, 20.0, **reel), tl.RigidBody.point(2.0))
        command: Command = tl.Torque(35.0)
        return pendulum, chains.simulate(
            pendulum, chains.hanging(pendulum, 20.0, N), command, duration=4.0, sample=0.02
        )

    pendulum, coarse = run(10)
    true = position_error(coarse, run(80)[1])
    mean = health_of(pendulum, coarse, True).error
    extrapolated = health_of(*run(10, guide_strain="extrapolated"), reel_is_free=True).error
    assert true / 3.0 < mean < 3.0 * true
    assert extrapolated < 0.3 * mean


@pytest.mark.parametrize("law", ["linear", "tension_only"])
def test_a_string_that_is_thrown_back_is_folded_and_slack(law: str) -> None:
    string = tl.String(20.0, 0.1, 1000.0, law=law)
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    start = chains.straight(pendulum, 5.0, 10, (0.02, 0.0, 1.0), end_velocity=(0.0, 0.0, -20.0))
    health = health_of(pendulum, chains.simulate(pendulum, start, duration=1.0), False)
    found = {w.kind: w.text for w in warnings_from(mesh_criteria(health, pendulum, 10))}
    assert {"fold", "slack"} <= set(found)
    assert ("of the string was slack" in found["slack"]) == (law == "tension_only")
    assert ("in compression" in found["slack"]) == (law == "linear")


def test_a_coarse_mesh_is_told_how_many_elements_to_try() -> None:
    pendulum = plain(density=1.0, stiffness=1e5, mass=0.5)
    found = warnings_from(mesh_criteria(health_of(pendulum, swing(pendulum, 60.0, 3, 4.0), False), pendulum, 3))
    assert any(w.kind == "mesh" and "try elements=" in w.text for w in found)


# -- gathering -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("N", "cut"), [(1, 3), (2, 1), (3, 50), (20, 3)])
def test_pieces_give_the_same_bits_as_the_whole(N: int, cut: int) -> None:
    pendulum = plain(stiffness=40.0)
    start = chains.straight(pendulum, 5.0, N, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
    run = chains.simulate(pendulum, start, tl.Torque(1.0), duration=1.2, sample=0.01)
    whole, pieces = health_of(pendulum, run, True), MeshHealth()
    for begin in range(0, len(run.time), cut):
        part = run.isel(time=slice(begin, begin + cut))
        nodes, velocities = relative(part.position.values), relative(part.velocity.values)
        pieces = MeshHealth(**json.loads(json.dumps(pieces.state())))
        moved = pendulum.body.mass, pendulum.reel
        pieces.update(pendulum, part.time.values, nodes, velocities, part.reeled_length.values, *moved)
    assert pieces == whole
    assert whole.error > 0.0


def test_samples_that_are_not_finite_are_left_out() -> None:
    pendulum = plain()
    state = chains.hanging(pendulum, 10.0, 5)
    nodes = np.stack([state.nodes, np.full_like(state.nodes, np.nan), 1e200 * state.nodes, state.nodes])
    health = MeshHealth()
    reeled, velocities = np.full(4, state.reeled_length), np.zeros_like(nodes)
    health.update(pendulum, np.arange(4.0), nodes, velocities, reeled)
    assert health.samples == 2 and health.time == 3.0
    assert all(map(math.isfinite, health.state().values()))
    health.update(pendulum, np.zeros(0), nodes[:0], velocities[:0], reeled[:0])
    assert health.samples == 2
    assert all(map(math.isfinite, MeshHealth().figures().values()))


# -- the default ---------------------------------------------------------------------------------------


def test_the_default_grows_with_mass_stretch_and_drag_and_keeps_its_bounds() -> None:
    light = plain(density=1e-6, stiffness=1e9)
    assert default_elements(light, 10.0) < default_elements(plain(density=1.0, stiffness=1e9), 10.0)
    assert default_elements(light, 10.0) < default_elements(plain(density=1e-6, stiffness=50.0), 10.0)
    thick = chains.Chain(
        tl.String(11.0, 1e-6, 1e9, diameter=0.01, law="linear"), light.reel, light.body, fluid=tl.Fluid(1025.0)
    )
    assert default_elements(light, 10.0) < default_elements(thick, 10.0)
    for density in (1e-50, 1e-9, 1e3, 1e50):
        for stiffness in (1e-50, 1e-3, 1e50):
            assert FEWEST <= default_elements(plain(density=density, stiffness=stiffness), 10.0) <= MOST


@pytest.mark.parametrize("name", SWINGS)
def test_the_default_leaves_an_error_below_one_percent(name: str) -> None:
    pendulum, degrees, duration = SWINGS[name]
    run = swing(pendulum, degrees, None, duration)
    finer = swing(pendulum, degrees, 4 * default_elements(pendulum, 10.0), duration)
    assert position_error(run, finer) < 0.01
