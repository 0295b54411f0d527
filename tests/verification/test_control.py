"""Controllers against their theory (docs/howto/suppress.md): reflected waves, passivity, sway after a traverse."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.special import erf

import tautline as tl
from tautline.model.chain.systems import chain_of, system_of
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close

Array = NDArray[np.float64]
replace = dataclasses.replace
MU, EA, X, WIDTH, CENTER, STRAIN = 0.1, 1e4, 60.0, 1.5, 20.0, 1e-4
FREQUENCIES = np.array([5.0, 10.0, 20.0, 40.0])
# drum (kg), apparent mass (kg), impedance per that of the string
DRUMS = {
    "light drum": (0.1, None, 1.0),
    "heavy drum, tension fed back": (2.0, 0.2, 1.0),
    "half the impedance": (0.1, None, 0.5),
    "three times the impedance": (2.0, 0.3, 3.0),
}


def weightless(inertia_mass: float) -> chains.Chain:
    reel = tl.Reel(0.2, 0.5, inertia_mass, guide_law="none")
    return chains.Chain(tl.String(X + 2.0, MU, EA, law="linear"), reel, tl.RigidBody.point(50.0), gravity=0.0)


def arriving(pendulum: chains.Chain, elements: int) -> chains.ChainState:
    """A bell-shaped pulse of strain on its way to the guide: w = f(t + x/c)."""
    x = np.linspace(0.0, X, elements + 1)
    u = (x - CENTER) / WIDTH
    nodes, velocities = np.zeros((2, elements + 1, 3))
    start = math.erf(-CENTER / WIDTH / math.sqrt(2.0))
    nodes[:, 2] = x + STRAIN * WIDTH * math.sqrt(0.5 * math.pi) * (erf(u / math.sqrt(2.0)) - start)
    velocities[1:-1, 2] = pendulum.string.wave_speed * STRAIN * np.exp(-0.5 * u[1:-1] ** 2)
    return chains.ChainState(pendulum.string.length - X, 0.0, nodes, velocities)


def measured_reflection(pendulum: chains.Chain, control: Any, elements: int) -> NDArray[np.complex128]:
    """Spectrum of the tension that goes past a sensor away from the drum, per spectrum of what came."""
    run = chains.simulate(pendulum, arriving(pendulum, elements), duration=0.36, control=control, period=1e-4)
    assert run.attrs["status"] == "completed"
    c = pendulum.string.wave_speed
    sensor = elements // 5
    place = (sensor + 0.5) * X / elements
    t, tension = run.time.values, run.tension.values[:, sensor]
    came = t < CENTER / c

    def spectrum(part: Array) -> NDArray[np.complex128]:
        return np.array([np.trapezoid(part * np.exp(-2j * np.pi * f * t), t) for f in FREQUENCIES])

    delay = np.exp(2j * np.pi * FREQUENCIES * 2.0 * place / c)
    return spectrum(np.where(came, 0.0, tension)) / spectrum(np.where(came, tension, 0.0)) * delay


@pytest.mark.parametrize("name", DRUMS)
def test_waves_are_reflected_as_predicted(name: str, report: Report) -> None:
    """Size and phase. The tension fed back is measured half an element from the guide, which costs a few per cent."""
    kappa, apparent, factor = DRUMS[name]
    pendulum = weightless(kappa)
    absorber = tl.control.WaveAbsorber(
        system_of(pendulum),
        X,
        return_time=0.02,
        apparent_mass=apparent,
        impedance=factor * math.sqrt(MU * EA),
        pull=0.0,
    )
    measured = measured_reflection(pendulum, absorber, elements=400)
    expected = absorber.reflection(FREQUENCIES)
    worst = check_below(name, float(np.abs(measured - expected).max()), 0.03)
    report(f"reflection at the drum, {name}: largest error of r at 5 to 40 Hz", worst, "< 0.03")


@pytest.mark.long
def test_the_string_impedance_reflects_least(report: Report) -> None:
    """Between the drum's inertia and the spring almost nothing comes back; twice or half as much of a dashpot does."""
    sizes = {}
    for factor in (0.5, 1.0, 2.0):
        pendulum = weightless(0.01)
        pendulum = replace(pendulum, string=replace(pendulum.string, length=X + 0.6))
        absorber = tl.control.WaveAbsorber(system_of(pendulum), X, 0.2, impedance=factor * math.sqrt(MU * EA), pull=0.0)
        sizes[factor] = float(np.abs(measured_reflection(pendulum, absorber, elements=300))[1])
    check_below("matched", sizes[1.0], 0.03)
    assert sizes[0.5] > 0.3 and sizes[2.0] > 0.3
    report("reflected part of a 10 Hz wave with the string's impedance", sizes[1.0], "< 0.03")


def swinging(**changes: Any) -> chains.Chain:
    body = tl.RigidBody.sphere(mass=5.0, radius=0.1, center_of_mass=(0.02, 0.01, 0.1))
    string = tl.String(length=50.0, density=0.1, stiffness=1e4, **{"law": "linear", **changes})
    return chains.Chain(string, tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0), body)


def stored(run: xr.Dataset, absorber: tl.control.WaveAbsorber) -> Array:
    """Energy of the system, of the spring, and of the constant pull; the inertia that is made up for does not count."""
    pendulum, wanted = chain_of(absorber.system), absorber.planned(0.0)[0]
    s, sigma, deployed = run.reeled_length.values, run.reel_speed.values, run.unstretched_length.values
    reel, g = pendulum.reel, pendulum.gravity * pendulum.string.density
    held = g * (reel.guide_length * s - reel.drum_radius**2 * np.cos((s - reel.guide_length) / reel.drum_radius))
    energy = run.energy.values + absorber.resting_pull(wanted) * deployed - held
    energy = energy + 0.5 * absorber.spring * (deployed - wanted) ** 2
    if absorber.apparent_mass is not None:
        mass = pendulum.string.density * s + reel.inertia_mass
        energy = energy - 0.5 * (mass - absorber.apparent_mass) * sigma**2
    return np.asarray(energy)


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.6), (2.0, 0.5, -0.5)])
@pytest.mark.parametrize(("apparent", "viscosity"), [(None, 0.0), (0.3, 2.0)])
def test_the_absorber_never_feeds_energy(
    apparent: float | None, viscosity: float, velocity: tuple[float, float, float], report: Report
) -> None:
    """What is stored falls from sample to sample, but for the error of a torque that is held for a period."""
    pendulum = swinging(viscosity=viscosity)
    absorber = tl.control.WaveAbsorber(system_of(pendulum), 30.0, return_time=0.5, apparent_mass=apparent)
    start = chains.hanging(pendulum, 30.0, 30, end_velocity=velocity)
    run = chains.simulate(pendulum, start, duration=6.0, control=absorber, period=1e-3)
    energy = stored(run, absorber)
    fallen = float(energy[0] - energy[-1])
    assert fallen > 0.2
    rise = check_below("rise", float((energy - np.minimum.accumulate(energy)).max()), 0.01 * fallen)
    kind = "own inertia" if apparent is None else "tension fed back"
    report(f"absorber, {kind}, start {velocity}: largest rise of the stored energy per fall", rise / fallen, "< 0.01")


def test_longitudinal_waves_die_out_at_the_absorber(report: Report) -> None:
    """Against a drum that is held, and one that is turned by a constant torque."""
    pendulum = swinging(viscosity=2.0)
    start = chains.hanging(pendulum, 30.0, 30, end_velocity=(0.0, 0.0, 0.6))
    balance = float(chains.modes(pendulum, deployed=30.0, elements=30, count=1, reel="free").balancing_torque[0])
    rest = chains.equilibrium(pendulum, 30.0, 30).tension

    def left(run: xr.Dataset) -> float:
        return float(np.sqrt(np.mean((run.tension.values - rest)[run.time.values > 2.0] ** 2)))

    absorber = tl.control.WaveAbsorber(system_of(pendulum), 30.0, return_time=0.5, apparent_mass=0.3)
    absorbed = left(chains.simulate(pendulum, start, duration=3.0, control=absorber, period=1e-3))
    for name, command in (("held", tl.Locked()), ("constant torque", tl.Torque(balance))):
        other = left(chains.simulate(pendulum, start, command, duration=3.0, sample=1e-3))
        ratio = check_below(name, absorbed / other, 0.02)
        report(f"tension of waves in the third second: absorber per {name}", ratio, "< 0.02")


def crane() -> chains.Chain:
    body = tl.RigidBody.box(1000.0, (1.2, 1.0, 0.9), (0.0, 0.0, 1.5))
    return chains.Chain(tl.String(60.0, 1.05, 1e6, law="linear"), tl.Reel(0.16, 1.0, 469.0), body)


def sway_after(designed: float, deployed: float, shaper: str) -> float:
    """Largest distance of the center of mass from below the guide, in two periods after the guide has stopped."""
    pendulum = crane()
    way = (6.0, 4.0, 0.0)
    path = tl.control.shaped_path(system_of(pendulum, 6), designed, way, speed=0.9, acceleration=0.4, shaper=shaper)
    np.testing.assert_allclose(path.displacements[-1], way)
    moving = replace(pendulum, reel=replace(pendulum.reel, guide_path=path))
    duration = math.ceil(path.times[-1]) + 16.0
    run = chains.simulate(moving, chains.hanging(pendulum, deployed, 6), duration=duration, sample=0.02)
    after = run.time.values > path.times[-1]
    center = run.position.values[after, -1] + run.attitude.values[after] @ np.array(pendulum.body.center_of_mass)
    return float(np.linalg.norm((center - path.displacements[-1])[:, :2], axis=1).max())


def test_a_shaped_path_leaves_no_sway(report: Report) -> None:
    plain = sway_after(12.0, 12.0, "none")
    assert plain > 0.4
    for shaper in ("ZV", "ZVD"):
        ratio = check_below(shaper, sway_after(12.0, 12.0, shaper) / plain, 1e-3)
        report(f"sway after a traverse of 7 m, {shaper} per unshaped ({plain:.2f} m)", ratio, "< 0.001")


def test_zvd_forgives_a_wrong_length(report: Report) -> None:
    """20 % more rope than planned for: the sway is that much smaller again than with ZV."""
    plain, once, twice = (sway_after(12.0, 14.4, shaper) for shaper in ("none", "ZV", "ZVD"))
    report("the same with 20 % more rope than planned for, ZV", check_below("ZV", once / plain, 0.2), "< 0.2")
    report("the same with 20 % more rope than planned for, ZVD", check_below("ZVD", twice / plain, 0.03), "< 0.03")


def test_sway_frequencies_are_those_of_a_run() -> None:
    """The worst is the swing; for a point mass on a stiff, light string it is that of the mathematical pendulum."""
    light = chains.Chain(tl.String(20.0, 1e-4, 1e7, law="linear"), tl.Reel(0.2, 0.5, 1.0), tl.RigidBody.point(10.0))
    found = tl.control.sway_frequencies(system_of(light, 5), 10.0)
    # the string's own mass, 1e-4 of the load, and its stretch are left out
    check_close("frequency", found, [math.sqrt(9.81 / 10.0) / (2.0 * math.pi)], 1e-5)
