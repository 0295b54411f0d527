"""Flow over time: spectra and coherence against formulas, gusts by hand, one motion on both backends."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model import turbulence
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close

U, L, I = 12.0, 100.0, 0.15
WIND = tl.Fluid(1.2, flow=(U, 0.0, 0.0))
AXES = range(3)


def series(flow: tl.flows.Turbulence, duration: float, step: float) -> np.ndarray:
    """Fluctuations (time, level, axis), evenly."""
    found = flow.table(0.0, duration, np.array([[U, 0.0, 0.0]]))
    times = np.arange(0.0, duration, step)
    values = found.velocities.reshape(len(found.times), -1)
    return np.stack([np.interp(times, found.times, x) for x in values.T], axis=1).reshape(len(times), -1, 3)


SEEDS, LASTS, STEP = 40, 1200.0, 0.5


@cache
def wind(name: str, seed: int) -> np.ndarray:
    """Fluctuations (time, axis) at one height."""
    return series(tl.flows.Turbulence(I, L, name, components=100, seed=seed), LASTS, STEP)[:, 0]


@pytest.mark.parametrize("name", turbulence.SPECTRA)
@pytest.mark.parametrize("axis", AXES)
def test_spectra_have_the_variance_and_integral_scale_of_their_formulas(name: str, axis: int) -> None:
    """Over all frequencies the variance is 1, and S(0)/4 is the integral scale L/U; in decades to +-1e-6 of both."""
    n = np.geomspace(1e-9, 1e9, 200_001)
    density = turbulence.SPECTRA[name].density(n, axis)
    check_close("variance", float(np.trapezoid(density * n, np.log(n))), 1.0, 2e-3)  # 70.8 and 283.2 have three digits
    assert density[0] == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("name", turbulence.SPECTRA)
def test_turbulence_has_its_spectrum(name: str, report: Report) -> None:
    """Mean over realizations of variance, integral scale and coherence, within four standard errors."""
    depths, count, duration, step = (0.0, 10.0, 40.0), 24, 1200.0, 0.5
    f: Any = np.fft.rfftfreq(int(duration / step), step)
    powers, cross, variances = [], [], []
    for seed in range(count):
        flow = tl.flows.Turbulence(I, L, name, depths=depths, interval=0.1, components=100, seed=seed)
        x = series(flow, duration, step)
        transform = np.fft.rfft(x[:, :, 0] * np.hanning(len(x))[:, None], axis=0)
        powers.append(np.abs(transform) ** 2)
        cross.append(transform[:, :1] * transform[:, 1:].conj())
        variances.append(x.var(axis=0))
    own, highest = turbulence.SPECTRA[name], 1.0 / (10 * 0.1)
    for axis in AXES:
        n: Any = np.geomspace(1e-3 * own.lengths[axis], highest * L * own.lengths[axis] / U, 20_001)
        whole = float(np.trapezoid(own.density(n, axis), n)) * (I * U * own.deviations[axis]) ** 2
        got = np.array(variances)[:, :, axis]
        error = float(got.std()) / math.sqrt(got.size)
        check_below(
            f"{name}: variance of component {axis}, standard errors", abs(float(got.mean()) - whole) / error, 4.0
        )
    # Coherence of all frequencies of a band, whose estimate has a standard error of some 1/sqrt(number of lines).
    for low, high in ((0.01, 0.02), (0.05, 0.1)):
        band = (f >= low) & (f < high)
        for k, r in enumerate((10.0, 40.0)):
            S = np.array(cross)[:, band, k].sum().real
            auto = [np.array(powers)[:, band, j].sum() for j in (0, k + 1)]
            weight = own.density(f[band] * L / U, 0)
            formula = np.exp(-12.0 * np.sqrt((f[band] * r / U) ** 2 + (0.12 * r / L) ** 2))
            wanted = float((weight * formula).sum() / weight.sum())
            found = float(S / np.sqrt(auto[0] * auto[1]))
            lines = count * 100 / math.log(highest * L / U / 1e-3) * math.log(high / low)  # sines in the band
            report(
                f"{name}: coherence at {r:g} m, {low:g} to {high:g} Hz, off by",
                abs(found - wanted),
                "4 standard errors",
            )
            check_below("coherence", abs(found - wanted), 4.0 / math.sqrt(lines))


def test_the_integral_scale_is_seen_in_the_series(report: Report) -> None:
    """The autocorrelation of the tabulated speeds is the cosine transform of Kaimal's spectrum, cut likewise."""
    lags, found = np.arange(0, 121), []
    for seed in range(SEEDS):
        x = wind("kaimal", seed)[:, 0]
        found.append([float(np.mean(x[: len(x) - k] * x[k:])) for k in lags])
    products = np.array(found)
    mean = products.mean(axis=0) / products[:, 0].mean()
    # without what is below and above the sines
    n: Any = np.geomspace(1e-3, 1.0 * L / U, 40_001)
    S = turbulence.kaimal(n, 0)
    exact = np.array([np.trapezoid(S * np.cos(2.0 * np.pi * n * U / L * k * STEP), n) for k in lags])
    exact /= exact[0]
    # of a quotient of means: the scatter of the products about it
    error = (products - mean * products[:, :1]).std(axis=0) / products[:, 0].mean() / math.sqrt(SEEDS)
    off = float((np.abs(mean - exact) / np.maximum(error, 1e-3)).max())
    report("autocorrelation of Kaimal's wind, off by, standard errors", off, "4")
    check_below("autocorrelation, standard errors", off, 4.0)
    scale = [float(np.trapezoid(x, dx=STEP)) for x in (mean, exact)]
    spread = float(np.trapezoid(products - mean * products[:, :1], dx=STEP, axis=1).std()) / products[:, 0].mean()
    report("integral scale of Kaimal's wind over its formula", scale[0] / scale[1], "within 4 standard errors")
    check_close("integral scale (s)", scale[0], scale[1], 4.0 * spread / math.sqrt(SEEDS))


@pytest.mark.parametrize("name", turbulence.SPECTRA)
@pytest.mark.parametrize("axis", AXES)
def test_the_density_of_the_series_is_that_of_the_formula(name: str, axis: int, report: Report) -> None:
    """By periodograms of the tabulated speeds, in bands of a third of a decade, within four standard errors."""
    own = turbulence.SPECTRA[name]
    f: Any = np.fft.rfftfreq(int(LASTS / STEP), STEP)
    window: Any = np.hanning(int(LASTS / STEP))
    waves = np.stack([wind(name, seed)[:, axis] for seed in range(SEEDS)])
    densities = 2.0 * STEP * np.abs(np.fft.rfft(waves * window)) ** 2 / (window**2).sum()
    time = L * own.lengths[axis] / U
    formula = (I * U * own.deviations[axis]) ** 2 * own.density(f[1:] * time, axis) * time
    edges = np.geomspace(0.01, 0.464, 6)
    worst = 0.0
    for low, high in pairwise(edges):
        band = (f >= low) & (f < high)
        got = densities[:, band].mean(axis=1)
        wanted = float(formula[band[1:]].mean())
        # lines between values of the table, 0.1 s apart, take at most (pi f/10)^2/3 of the amplitude
        lost = 2.0 * (math.pi * high * 0.1) ** 2 / 3.0 * wanted
        off = max(0.0, abs(float(got.mean()) - wanted) - lost) / (float(got.std()) / math.sqrt(SEEDS))
        worst = max(worst, off)
    report(f"{name}: density of component {axis}, 0.01 to 0.46 Hz, off by, standard errors", worst, "4")
    check_below("density, standard errors", worst, 4.0)


def test_operating_gust_by_hand() -> None:
    """IEC 61400-1: V - 0.37 V_gust sin(3 pi t/T)(1 - cos(2 pi t/T)), T = 10.5 s: highest in the middle, 2 x 0.37."""
    gust = tl.flows.Gust(5.0, start=2.0)
    assert gust.speed(2.0 + 5.25) == pytest.approx(0.74 * 5.0)
    assert gust.speed(2.0) == 0.0
    assert abs(gust.speed(12.5)) < 1e-12
    dip = 2.0 + 10.5 / 6.0  # sin is 1, and 1 - cos(pi/3) = 1/2
    assert gust.speed(dip) == pytest.approx(-0.37 * 5.0 * 0.5)
    ramp, pulse = (tl.flows.Gust(5.0, shape, duration=4.0) for shape in ("ramp", "pulse"))
    assert ramp.speed(2.0) == pytest.approx(2.5)
    assert ramp.speed(9.0) == pytest.approx(5.0)
    assert pulse.speed(2.0) == pytest.approx(5.0)
    assert abs(pulse.speed(4.0)) < 1e-12


def sphere(fluid: tl.Fluid) -> chains.Chain:
    """A point mass on a string that weighs nothing and has no drag."""
    return chains.Chain(
        tl.String(5.0, 1e-6, 10.0, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(2.0), 0.0, fluid
    )


def test_accelerated_water_takes_along_what_it_displaces(report: Report) -> None:
    """Without drag a body of the water's density goes with the water; another one has (V rho + m_a)/(m + m_a) of it."""
    table = tl.flows.FlowTable((0.0, 1.0, 2.0), ((0, 0, 0), (0.02, 0, 0), (0.05, 0.01, 0)))
    for mass_ratio in (1.0, 0.4):
        volume = 2.0 * mass_ratio / 1000.0
        water = tl.Fluid(1000.0, volume=volume, added_mass=0.7, unsteady=table)
        start = chains.straight(sphere(water), 4.0, 1, (0.0, 0.0, 1.0))
        for backend in (chains.CHAIN, chains.NETWORK):
            system, state = chains.as_system(sphere(water), start)
            with chains.on(backend):
                run = tl.simulate(system, state, tl.Locked(), duration=2.0, sample=1.0, step=1e-3)
            moved = run.body_velocity.values[-1, 0, :2]
            wanted = np.array([0.05, 0.01]) * (1000.0 * volume + 0.7) / 2.7
            # the string, unstretched at first, pulls back by 10 N/m times 1e-4 m, which 0.05 m aside lengthen it by
            report(
                f"{backend}: velocity in accelerated water, off by", float(np.abs(moved - wanted).max()), "1e-3 of it"
            )
            check_below(backend, float(np.abs(moved - wanted).max()), 1e-3 * 0.05)


FLOWS: dict[str, Any] = {
    "table": tl.flows.FlowTable(
        (0.0, 0.5, 1.0), (((0, 0, 0), (1, 0, 0)), ((2, 1, 0), (0, 3, 0)), ((0, 0, 1), (2, 0, 0))), (0, 9)
    ),
    "gust": tl.flows.Gust(4.0, start=0.1, duration=0.8),
    "turbulence": tl.flows.Turbulence(0.3, 20.0, "von_karman", depths=(0.0, 5.0, 12.0), interval=0.01, seed=5),
}


@pytest.mark.parametrize("name", FLOWS)
def test_both_backends_agree(name: str, report: Report) -> None:
    """One line in a flow over time on the chain and on the network: the same motion, to the error of the method.

    They expect the speed of the body at a step boundary differently, at its attachment and at its center of mass.
    Without added mass of the body, whose energy is kinetic on the chain and work of the fluid on the network.
    """
    fluid = tl.Fluid(1.2, flow=(6.0, 1.0, 0.0), drag_area=0.3, volume=0.2, unsteady=FLOWS[name])
    string = tl.String(20.0, 0.05, 3000.0, diameter=0.02, normal_added_mass=1.0, viscosity=2.0, law="linear")
    chain = chains.Chain(string, tl.Reel(0.2, 0.3, 2.0), tl.RigidBody.sphere(1.0, 0.3, (0, 0, 0.3)), fluid=fluid)
    system, state = chains.as_system(chain, chains.straight(chain, 10.0, 8, (0.3, 0.0, 1.0)))
    variables, differences = ("position", "velocity", "fluid_work"), []
    for step in (1e-3, 5e-4):
        runs = []
        for backend in (chains.CHAIN, chains.NETWORK):
            with chains.on(backend):
                runs.append(tl.simulate(system, state, tl.Torque(1.0), duration=1.0, sample=0.05, step=step))
        pairs = {variable: [run[variable].values for run in runs] for variable in variables}
        differences.append({key: float(np.abs(a - b).max() / np.abs(a).max()) for key, (a, b) in pairs.items()})
    for variable, coarse in differences[0].items():
        report(
            f"{name}: {variable} on chain and network, relative difference", coarse, "1e-3, a third at half the step"
        )
        check_below(variable, coarse, 1e-3)
        check_below(f"{variable}, half the step", differences[1][variable], 0.35 * coarse)  # a quarter at order 2


def test_a_table_of_a_function_is_checked() -> None:
    slow = tl.flows.FlowTable.of(lambda t, z: (math.sin(t), 0.1 * z, 0.0), 5.0, 0.1, depths=(0.0, 10.0))
    assert slow.flows[0][1] == (0.0, 1.0, 0.0)
    with pytest.raises(InputError, match=r"interval: expected one whose lines follow the function to 1%"):
        tl.flows.FlowTable.of(lambda t, z: (math.sin(40.0 * t), 0.0, 0.0), 5.0, 0.1)


def test_rest_is_in_the_flow_of_its_time() -> None:
    """A string leans as in the steady flow that the table has at that time."""
    system = tl.pendulum(
        tl.String(20.0, 0.05, 3000.0, diameter=0.02, law="linear"),
        tl.Reel(0.2, 0.3, 2.0),
        tl.RigidBody.point(1.0),
        fluid=replace(
            WIND, flow=(1.0, 0, 0), drag_area=0.1, unsteady=tl.flows.FlowTable((0, 10), ((2, 0, 0), (6, 0, 0)))
        ),
        elements=8,
    )
    steady = replace(system, fluid=replace(WIND, flow=(5.0, 0, 0)))
    found, wanted = (tl.statics(x, tl.AtEquilibrium(10.0), time=5.0) for x in (system, steady))
    check_close("lean", float(found.body.position[0]), float(wanted.body.position[0]), 1e-9)
