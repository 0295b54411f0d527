"""Random pendulums, states and torques: what must be kept is kept, whatever the numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import tautline as tl
from tautline.results.conservation import balance_error
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.systems import (
    System,
    largest_difference,
    random_rotation,
    reversed_in_time,
    state_at,
    systems,
    transformed,
)

DURATION = 0.2
LAWS = ("none", "published", "dissipative", "momentum", "stretched")
angles = st.floats(-np.pi, np.pi)


def about_vertical(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def simulate(system: System, **options: object) -> tuple[chains.ChainState, float]:
    """Final state and largest drift of pi_3."""
    pendulum, state, command = system
    run = chains.simulate(pendulum, state, command, duration=DURATION, sample=DURATION / 4, **options)
    assert run.attrs["status"] == "completed", run.attrs["message"]
    return state_at(run, pendulum), momentum_drift(run, pendulum)


def momentum_drift(run: xr.Dataset, pendulum: chains.Chain) -> float:
    """Largest drift of pi_3, about the vertical through the guide."""
    x, y, _ = pendulum.reel.guide_position
    linear, angular = run.linear_momentum.values, run.angular_momentum.values
    momentum = angular[:, 2] - x * linear[:, 1] + y * linear[:, 0]
    return float(np.abs(momentum - momentum[0]).max())


def momentum_scale(system: System) -> float:
    """Size of the terms whose sum is the angular momentum, for judging its rounding."""
    pendulum, state, _ = system
    mass = pendulum.body.mass + pendulum.string.density * pendulum.string.length
    reach = 1.0 + float(np.abs(state.nodes).max())
    speed = 1.0 + float(np.abs(state.node_velocities).max()) + abs(state.reel_speed)
    return mass * reach * speed


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scheme", ["symmetric", "paper"])
@given(data=st.data())
@settings(max_examples=15)
def test_momentum_group_and_balance(law: str, scheme: str, data: st.DataObject) -> None:
    system = data.draw(systems(law=law))
    pendulum, state, command = system
    run = chains.simulate(pendulum, state, command, duration=DURATION, sample=DURATION / 4, scheme=scheme)
    assert run.attrs["status"] == "completed", run.attrs["message"]
    # a few hundred steps, each exact to rounding
    check_below("drift of pi_3", momentum_drift(run, pendulum), 1e-12 * momentum_scale(system))
    check_below("orthogonality error", float(run.orthogonality_error.max()), 4e-15)
    scale = float(run.kinetic_energy.max() + run.elastic_energy.max())
    check_below("balance error", float(np.abs(balance_error(run)).max()), 0.05 * scale)


@pytest.mark.parametrize("law", LAWS)
@given(data=st.data(), angle=angles)
@settings(max_examples=10)
def test_rotating_the_world_about_the_vertical(law: str, data: st.DataObject, angle: float) -> None:
    system = data.draw(systems(law=law))
    Q = about_vertical(angle)
    turned = transformed((system[0], simulate(system)[0], system[2]), Q)[1]
    assert largest_difference(simulate(transformed(system, Q))[0], turned) < 1e-9


@pytest.mark.parametrize("law", LAWS)
@given(data=st.data(), angle=angles)
@settings(max_examples=10)
def test_mirroring_the_world(law: str, data: st.DataObject, angle: float) -> None:
    system = data.draw(systems(law=law))
    Q = about_vertical(angle) @ np.diag([1.0, -1.0, 1.0]) @ about_vertical(-angle)
    mirrored = transformed((system[0], simulate(system)[0], system[2]), Q)[1]
    assert largest_difference(simulate(transformed(system, Q))[0], mirrored) < 1e-9


@pytest.mark.parametrize(
    ("law", "order"), [("none", 2), ("published", 2), ("momentum", 2), ("none", 4), ("published", 6), ("momentum", 4)]
)
@given(data=st.data(), locked=st.booleans())
@settings(max_examples=10)
def test_reversing_time(law: str, order: int, data: st.DataObject, locked: bool) -> None:
    """A fixed step, because "auto" may divide it differently on the way back."""
    system = data.draw(systems(law=law, locked=locked))
    pendulum, state, command = system
    step = DURATION / 400
    there = simulate(system, step=step, order=order)[0]
    back = simulate((pendulum, reversed_in_time(there), command), step=step, order=order)[0]
    assert largest_difference(reversed_in_time(back), state) < 1e-9


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_without_gravity_the_whole_angular_momentum_is_kept(data: st.DataObject, seed: int) -> None:
    """With torque and Carnot loss: any axis can be made the third one by turning the world."""
    system = data.draw(systems(law="dissipative", gravity=0.0))
    turned = transformed(system, random_rotation(np.random.default_rng(seed)))
    check_below("drift of the momentum", simulate(turned)[1], 1e-12 * momentum_scale(system))


@pytest.mark.parametrize("strain", ["mean", "extrapolated"])
@pytest.mark.parametrize("law", ["dissipative", "stretched"])
@given(data=st.data(), spooled=st.floats(-0.1, 0.3))
@settings(max_examples=10)
def test_a_passive_law_only_takes_energy(law: str, strain: str, data: st.DataObject, spooled: float) -> None:
    pendulum, state, command = data.draw(systems(law=law))
    spooled = spooled if law == "stretched" else 0.0
    reel = dataclasses.replace(pendulum.reel, guide_strain=strain, spooled_strain=spooled)
    pendulum = dataclasses.replace(pendulum, reel=reel)
    run = chains.simulate(pendulum, state, command, duration=DURATION, sample=DURATION / 50)
    # the energy on the drum, of which a loss is a difference, is known to some roundings
    rounding = 1e-14 * float(run.elastic_energy.max())
    assert np.diff(run.guide_loss.values).min() >= -rounding


@given(data=st.data())
@settings(max_examples=10)
def test_a_point_mass_is_the_limit_of_a_small_ball(data: st.DataObject) -> None:
    pendulum, state, command = data.draw(systems(law="none"))
    mass = pendulum.body.mass
    point = dataclasses.replace(pendulum, body=tl.RigidBody.point(mass))
    ball = dataclasses.replace(pendulum, body=tl.RigidBody.sphere(mass, 0.1))
    still = chains.ChainState(state.reeled_length, state.reel_speed, state.nodes, state.node_velocities)
    a, b = simulate((point, still, command))[0], simulate((ball, still, command))[0]
    check_close("nodes", a.nodes, b.nodes, 1e-11)
    check_close("attitude", np.asarray(a.attitude), np.eye(3), 0.0)
