"""Controllers: what they take, what they refuse, and what follows from their definitions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.control import WaveAbsorber, impulses, shaped_path, sway_frequencies
from tautline.engine.chain.lowering import kernel_parameters
from tautline.errors import InputError
from tautline.kernels.energy import reel_mass
from tautline.model.chain.hanging import guide_pull
from tautline.model.chain.systems import system_of
from tests.support import chains

replace = dataclasses.replace
PENDULUM = chains.Chain(
    tl.String(length=50.0, density=0.1, stiffness=1e4, law="linear"),
    tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
    tl.RigidBody.sphere(mass=5.0, radius=0.1, center_of_mass=(0.02, 0.0, 0.1)),
)
SYSTEM = system_of(PENDULUM, 4)
LIMITS: dict[str, Any] = {"speed": 1.0, "acceleration": 0.5}


# 30 m spooled on a narrow drum with a geared motor: 244 mm instead of 200 mm, and five times the inertia
GEARED = replace(PENDULUM.reel, layer_growth=6.6e-4, motor_inertia=0.003, gear_ratio=10.0)


@pytest.mark.parametrize(
    ("reel", "apparent"),
    [
        *((replace(PENDULUM.reel, guide_law=law), None) for law in ("dissipative", "none", "published")),
        *((reel, 0.5) for reel in (PENDULUM.reel, replace(PENDULUM.reel, guide_law="momentum"))),
        *((GEARED, apparent) for apparent in (None, 0.5)),
    ],
)
def test_at_rest_it_holds(reel: tl.Reel, apparent: float | None) -> None:
    """The torque balances the hanging string, whatever guide law, layers and motor: nothing moves."""
    pendulum = replace(PENDULUM, reel=reel)
    absorber = WaveAbsorber(system_of(pendulum), 20.0, apparent_mass=apparent)
    run = chains.simulate(pendulum, chains.hanging(pendulum, 20.0, 40), duration=1.0, control=absorber, period=1e-3)
    # measured half an element from the guide, so that half an element's weight is missing there
    assert abs(run.unstretched_length - 20.0).max() < (1e-4 if apparent is None else 0.02)


def test_the_drum_mass_is_that_of_the_kernels() -> None:
    """With motor, gear and layers: m of equation (51), and in numbers kappa + n^2 I/d^2 + mu s without layers."""
    one_layer = replace(PENDULUM, reel=replace(GEARED, layer_growth=0.0))
    assert WaveAbsorber(system_of(one_layer), 20.0).drum_mass(30.0) == pytest.approx(
        2.0 + 100 * 0.003 / 0.04 + 0.1 * 30.0
    )
    pendulum = replace(PENDULUM, reel=GEARED)
    par = kernel_parameters(pendulum, 4, "symmetric", True)
    assert WaveAbsorber(system_of(pendulum), 20.0).drum_mass(30.0) == pytest.approx(reel_mass(par, 30.0)[0], rel=1e-14)


@pytest.mark.parametrize("reel", [PENDULUM.reel, GEARED])
def test_the_fed_back_drum_falls_as_the_apparent_mass(reel: tl.Reel) -> None:
    """Told to pull 10 N more than the load does, it begins to move as apparent_mass would, whatever the drum's own."""
    pendulum = replace(PENDULUM, reel=reel)
    absorber = WaveAbsorber(system_of(pendulum), 20.0, apparent_mass=4.0, pull=guide_pull(pendulum, 20.0) + 10.0)
    sim = chains.simulation(pendulum, chains.hanging(pendulum, 20.0, 40))
    sim.advance(2e-4, tl.Torque(absorber(sim)))
    # before a wave has come back, element and dashpot hardly resist: 0.05 kg of string go along
    assert sim.line.speed / 2e-4 == pytest.approx(10.0 / 4.0, rel=0.1)


def test_it_holds_in_water_and_with_a_table() -> None:
    strains = np.linspace(0.0, 0.1, 11)
    string = tl.String.from_table(50.0, 0.1, strains, 5e3 * strains + 1e5 * strains**2, diameter=0.008)
    water = tl.Fluid(1000.0, drag_area=0.01, volume=1e-3)
    pendulum = replace(PENDULUM, string=string, fluid=water)
    absorber = WaveAbsorber(system_of(pendulum), 10.0)
    weight = (5.0 - 1.0 + (0.1 - 1000.0 * string.area) * 10.0) * 9.81
    strain = (-5e3 + math.sqrt(25e6 + 4e5 * weight)) / 2e5
    assert absorber.resting_pull(10.0) == pytest.approx(
        weight * (1.0 + strain) - float(string.energy_density(strain)), rel=1e-4
    )
    assert absorber.impedance == pytest.approx(math.sqrt(0.1 * (5e3 + 2e5 * strain)), rel=0.01)


def test_it_follows_a_plan() -> None:
    def plan(t: float) -> tuple[float, float]:
        return 10.0 + 2.0 * math.sin(t), 2.0 * math.cos(t)

    absorber = WaveAbsorber(SYSTEM, plan, return_time=0.2)
    run = chains.simulate(PENDULUM, chains.hanging(PENDULUM, 10.0, 8), duration=6.0, control=absorber, period=5e-3)
    planned = 10.0 + 2.0 * np.sin(run.time.values)
    late = run.time.values > 2.0  # the plan does not begin at rest
    # the inertia of load and drum pulls at the spring: 12 kg x 2 m/s^2 over 160 N/m
    assert np.abs(run.unstretched_length.values - planned)[late].max() < 0.2


def test_reflection_has_the_limits_of_a_held_and_a_matched_drum() -> None:
    absorber = WaveAbsorber(SYSTEM, 20.0, return_time=1.0, apparent_mass=1e-6)
    slow, middle, fast = absorber.reflection([1e-9, 1e3, 1e18])
    assert slow == pytest.approx(1.0) and fast == pytest.approx(1.0)
    assert abs(middle) < 1e-3
    # 1/sqrt(1 + (2 omega tau)^2) without inertia
    assert abs(absorber.reflection(0.1)) == pytest.approx(1.0 / math.hypot(1.0, 0.4 * math.pi), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"system": PENDULUM}, "WaveAbsorber.system"),
        ({"system": tl.load("cable-robot").system}, "WaveAbsorber.system: expected a system with one reel, got 4"),
        ({"length": -1.0}, "WaveAbsorber.length"),
        ({"length": 50.0}, "WaveAbsorber.length"),
        ({"length": lambda t: 3.0}, "WaveAbsorber.length"),
        ({"return_time": 0.0}, "WaveAbsorber.return_time"),
        ({"apparent_mass": -1.0}, "WaveAbsorber.apparent_mass"),
        ({"impedance": float("nan")}, "WaveAbsorber.impedance"),
        ({"pull": -2.0}, "WaveAbsorber.pull"),
    ],
)
def test_an_absorber_names_what_is_wrong(change: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        arguments: dict[str, Any] = {"system": SYSTEM, "length": 10.0}
        WaveAbsorber(**(arguments | change))


@pytest.mark.parametrize(("shaper", "derivatives"), [("ZV", 0), ("ZVD", 1), ("ZVDD", 2)])
def test_impulses_cancel_at_their_frequencies(shaper: str, derivatives: int) -> None:
    """The sum of a_i t_i^k exp(i omega t_i) vanishes: residual vibration, and its derivatives by the frequency."""
    times, shares = impulses(shaper, [0.2, 0.7])
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0.0).all() and (np.diff(times) >= 0.0).all()
    for frequency in (0.2, 0.7):
        for k in range(derivatives + 1):
            assert abs((shares * times**k * np.exp(2j * np.pi * frequency * times)).sum()) < 1e-13


@pytest.mark.parametrize("distance", [1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("ramp", [0.01, 0.5, 4.0])
@pytest.mark.parametrize("shaper", ["none", "ZVD"])
def test_a_path_keeps_its_limits(distance: float, ramp: float, shaper: str) -> None:
    path = shaped_path(SYSTEM, 10.0, (0.0, -distance, 0.0), ramp=ramp, shaper=shaper, start=2.0, **LIMITS)
    assert path.times[0] == 2.0
    np.testing.assert_allclose(path.displacements[-1], (0.0, -distance, 0.0), rtol=1e-12)
    t = np.linspace(path.times[0], path.times[-1], 4001)
    where, velocity = path.at(t)
    assert np.abs(velocity).max() <= 1.0 + 1e-9
    assert np.abs(np.diff(velocity, axis=0) / np.diff(t)[:, None]).max() <= 0.5 * (1.0 + 1e-6)
    assert (np.diff(where[:, 1]) <= 1e-12).all()  # never back
    np.testing.assert_allclose(velocity[[0, -1]], 0.0, atol=1e-9)


def test_a_body_that_pitches_has_two_frequencies() -> None:
    swing, pitch = sway_frequencies(system_of(PENDULUM, 6), 10.0, count=2)
    assert swing == pytest.approx(math.sqrt(9.81 / 10.1) / (2.0 * math.pi), rel=0.02)
    assert pitch > 5.0 * swing


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"displacement": (0.0, 0.0, 0.0)}, "displacement"),
        ({"displacement": "far"}, "displacement"),
        ({"speed": -1.0}, "speed"),
        ({"acceleration": 0.0}, "acceleration"),
        ({"ramp": 0.0}, "ramp"),
        ({"shaper": "ZVX"}, "shaper"),
        ({"modes": 0}, "count"),
        ({"start": -1.0}, "start"),
        ({"deployed": 80.0}, "deployed"),
        ({"system": PENDULUM}, "system: expected a System"),
    ],
)
def test_a_path_names_what_is_wrong(change: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        arguments: dict[str, Any] = {"system": SYSTEM, "deployed": 10.0, "displacement": 3.0}
        shaped_path(**(arguments | LIMITS | change))


def test_a_hook_under_a_jib_has_the_frequencies_of_its_modes() -> None:
    """Any system that hangs: of hook and load the slow swing is the worst."""
    crane = tl.load("hook-and-load").system
    (found,) = sway_frequencies(crane, {"hoist": 20.0})
    swings = tl.modes(crane, tl.Hanging({"hoist": 20.0}), count=8)
    slowest = swings.frequency.values[swings.kind.values == "swing"].min()
    assert found == pytest.approx(slowest, rel=1e-9)


def test_at_a_surface_the_pull_is_that_of_the_state_of_rest() -> None:
    """A body that hangs half into water: by hand the weight less what it displaces."""
    half = replace(PENDULUM, fluid=tl.Fluid(1000.0, volume=2e-3, surface=20.0, body_height=1.0))
    absorber = WaveAbsorber(system_of(half, 6), 20.0)
    below = absorber.resting_pull(20.0)
    assert guide_pull(PENDULUM, 20.0) - below == pytest.approx(0.6 * 2.0 * 9.81, rel=0.2)
