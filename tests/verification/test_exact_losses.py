"""Damped motions that are known in closed form: bars, falls with drag, spins and drums with friction.

The solutions and their derivations are in tests/support/exact.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp

import tautline as tl
from tautline.analysis.modes import displaced
from tautline.engine.chain.backend import ChainBackend
from tautline.results.conservation import balance_error
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.exact import bars, bodies, strings
from tests.support.hanging import G, system

# -- a damped bar ----------------------------------------------------------------------------------------------

BAR = bars.Bar(length=10.0, density=0.3, stiffness=4e3, mass=1.0, viscosity=30.0)


def pendulum(bar: bars.Bar, damping_ratio: float = 0.0) -> chains.Chain:
    plain = system(length=bar.length, density=bar.density, stiffness=bar.stiffness, mass=bar.mass)
    string = dataclasses.replace(plain.string, viscosity=bar.viscosity, damping_ratio=damping_ratio)
    return dataclasses.replace(plain, string=string)


def ringing(bar: bars.Bar, shape: np.ndarray, duration: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Time and displacement of the end, released at rest in a vertical shape with 1 at its end."""
    rest = chains.hanging(pendulum(bar), bar.length, len(shape) - 1)
    small = 1e-3
    state = dataclasses.replace(rest, nodes=rest.nodes + np.outer(small * shape, [0.0, 0.0, 1.0]))
    run = chains.simulate(pendulum(bar), state, tl.Locked(), duration=duration, sample=duration / 40, step=step)
    return run.time.values, (run.position.values[:, -1, 2] - rest.nodes[-1, 2]) / small


def released(omega: float, time: np.ndarray) -> np.ndarray:
    """exp(-delta t) (cos w t + delta/w sin w t)."""
    delta, w = (float(x[0]) for x in bars.decay_and_frequency(np.array([omega]), BAR))
    return np.asarray(np.exp(-delta * time) * (np.cos(w * time) + delta / w * np.sin(w * time)))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_damped_modes_of_the_mesh(number: int, report: Report) -> None:
    """Kelvin-Voigt damping does not couple the modes, so each decays on its own: what remains is the step's error."""
    N = 8
    modes = bars.mesh_modes(BAR, N)
    omega = float(modes.frequencies[number - 1])
    shape = modes.displacements[:, number - 1] / modes.displacements[-1, number - 1]
    duration = 4.0 * np.pi / omega
    counts, errors = [640, 1280, 2560], []
    for count in counts:
        time, moved = ringing(BAR, shape, duration, duration / count)
        errors.append(float(np.abs(moved - released(omega, time)).max()))
    order = check_order([1.0 / n for n in counts], errors, 2.0, tolerance=0.1)
    report(f"damped bar, mode {number} of the mesh: order in h", order, "2 +- 0.1")
    report(
        f"damped bar, mode {number} of the mesh: error at 1280 steps a period",
        check_below("error", errors[-1], 3e-5),
        "3e-5",
    )


@pytest.mark.parametrize("number", [1, 2])
def test_damped_modes_of_the_bar(number: int, report: Report) -> None:
    """delta = eta omega^2/(2 EA) with x tan x = mu X/M, as the mesh gets finer."""
    counts, errors = [8, 16, 32], []
    for N in counts:
        modes = bars.modes(BAR, number, np.linspace(0.0, BAR.length, N + 1))
        omega = float(modes.frequencies[-1])
        duration = 2.0 * np.pi / omega
        time, moved = ringing(BAR, modes.displacements[:, -1] / modes.displacements[-1, -1], duration, duration / 8000)
        errors.append(float(np.abs(moved - released(omega, time)).max()))
    order = check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)
    report(f"damped bar, mode {number}: order in 1/N", order, "2 +- 0.1")
    report(f"damped bar, mode {number}, N = 32: error", check_below("error", errors[-1], 5e-3), "5e-3")


def test_rigid_rotation_is_not_damped(report: Report) -> None:
    """A whirling string keeps its shape, so damping has nothing to take; the start is off the mesh's own shape by l^2,
    and the loss is of the square of it."""
    X, mu, EA, M, rate = 10.0, 0.1, 400.0, 0.2, 3.0
    plain = system(length=X, density=mu, stiffness=EA, mass=M, gravity=0.0)
    damped = dataclasses.replace(plain, string=dataclasses.replace(plain.string, viscosity=20.0))
    counts, losses = [5, 10, 20], []
    for N in counts:
        radius, _ = strings.whirling(np.linspace(0.0, X, N + 1), X, mu, EA, M, rate)
        state = chains.ChainState(90.0, 0.0, np.outer(radius, [1.0, 0, 0]), np.outer(rate * radius, [0, 1.0, 0]))
        run = chains.simulate(damped, state, tl.Locked(), duration=2.0, sample=0.1, step=2.5e-4)
        losses.append(float(run.damping_loss[-1] / run.kinetic_energy[0]))
    order = check_order([1.0 / N for N in counts], losses, 4.0)
    report("whirling damped string: order of the loss in 1/N", order, "4 +- 0.3")
    report("whirling damped string, N = 20: loss in a turn, of the kinetic energy", losses[-1], "order 4")


def test_steady_payout_is_not_damped(report: Report) -> None:
    """No point of the material changes its strain."""
    bar, N, speed = bars.Bar(10.0, 0.025, 40.0, 0.1, viscosity=2.0), 10, 2.0
    part = np.linspace(0.0, 1.0, N + 1)
    nodes, velocities, _ = bars.steady_payout(bar, speed, G, bar.length * part, speed * part)
    state = chains.ChainState(90.0, -speed, np.outer(nodes, [0, 0, 1.0]), np.outer(velocities, [0, 0, 1.0]))
    run = chains.simulate(pendulum(bar), state, tl.Speed(payout=speed), duration=2.0, sample=0.1)
    report("steady payout: damping loss (J)", check_below("loss", float(run.damping_loss[-1]), 1e-9), "1e-9")
    viscous = float(np.abs(run.tension - bar.stiffness * run.strain).max())
    report("steady payout: viscous part of the tension (N)", check_below("viscous", viscous, 1e-6), "1e-6")


# -- a winch that stops at once --------------------------------------------------------------------------------

WINCH = bars.Bar(length=200.0, density=0.3, stiffness=5e6, mass=500.0)
PAYOUT = 2.0
WEIGHT = (WINCH.mass + WINCH.density * WINCH.length) * G
# What is paid out is stretched at once by the weight below it.
SPEED = PAYOUT * (1.0 + WEIGHT / WINCH.stiffness)


def stopped(
    viscosity: float, N: int, step: float | str, duration: float = 0.6, damping_ratio: float = 0.0
) -> tuple[xr.Dataset, np.ndarray]:
    """A steady payout that is stopped at 200 m: the run, and how far the body is below its place at rest."""
    bar = dataclasses.replace(WINCH, viscosity=viscosity)
    rest = chains.hanging(pendulum(bar), bar.length, N)
    part = np.linspace(0.0, 1.0, N + 1)
    stretch = 1.0 + (WEIGHT - bar.density * bar.length * part * G) / bar.stiffness
    # all of the string moves with SPEED, and the nodes along it
    velocity = np.outer(SPEED - stretch * PAYOUT * (1.0 - part), [0.0, 0.0, 1.0])
    state = chains.ChainState(rest.reeled_length, -PAYOUT, rest.nodes, velocity)
    simulation = chains.simulation(pendulum(bar, damping_ratio), state, step=step)
    simulation.line.stop()
    simulation.advance(duration, sample=duration / 1200)
    run = chains.of_one(simulation.dataset())
    return run, run.position.values[:, -1, 2] - rest.nodes[-1, 2]


def test_stopped_payout_of_a_damped_rope(report: Report) -> None:
    """200 m, 500 kg, 2 m/s: place of the load and tension at the guide, after the first spike."""
    bar = dataclasses.replace(WINCH, viscosity=5e3)
    counts = [10, 20, 40]
    places, tensions, peaks = [], [], []
    for N in counts:
        run, moved = stopped(bar.viscosity, N, 1.25e-5)
        late = run.time.values > 0.05
        modes = bars.modes(bar, 300, np.array([bar.length]))
        displacements, exact = bars.stopped(modes, bar, SPEED, run.time.values[late])
        tension = run.start_tension.values[late] - WEIGHT
        places.append(float(np.abs(moved[late] - displacements[:, 0]).max() / displacements.max()))
        tensions.append(float(np.abs(tension - exact).max() / exact.max()))
        peaks.append(abs(float(tension.max() / exact.max()) - 1.0))
    for name, errors in (("place of the load", places), ("tension at the guide", tensions)):
        order = check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)
        report(f"damped rope, stopped: {name}, order in 1/N", order, "2 +- 0.1")
        report(f"damped rope, stopped: {name}, N = 40", check_below(name, errors[-1], 5e-3), "5e-3")
    report("damped rope, stopped: peak tension, N = 40", check_below("peak", peaks[-1], 1e-3), "1e-3")


def test_stopped_payout_without_damping(report: Report) -> None:
    """The mesh's own solution to second order in the step, and the continuous one as the mesh gets finer.

    The tension is no part of this: its fronts stay as sharp as the mesh is.
    """
    N, steps, errors = 10, [5e-4, 2.5e-4, 1.25e-4], []
    for h in steps:
        run, moved = stopped(0.0, N, h)
        exact, _ = bars.stopped(bars.mesh_modes(WINCH, N), WINCH, SPEED, run.time.values)
        errors.append(float(np.abs(moved - exact[:, -1]).max()))
    report("rope, stopped: order in h against the mesh", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")
    finer = []
    for N in (10, 20, 40):
        run, moved = stopped(0.0, N, 1e-4)
        exact, _ = bars.stopped(bars.modes(WINCH, 400, np.array([WINCH.length])), WINCH, SPEED, run.time.values)
        finer.append(float(np.abs(moved - exact[:, 0]).max() / exact.max()))
    assert finer[0] > 2.0 * finer[1] > 4.0 * finer[2]
    report("rope, stopped: place of the load, N = 40", check_below("place", finer[-1], 3e-4), "3e-4")


def test_peak_and_plateau_after_a_sudden_stop(report: Report) -> None:
    """Boussinesq and St Venant: 2449 N at the guide until the front returns, 15660 N in the first swing.

    The front of the peak has come five times along the rope, and falls off behind by 1 % in 2.4 elements of 40: a mesh
    that smooths it over more has a lower peak, damped or not.
    """
    plateau = WINCH.impedance * SPEED
    exact = bars.first_peak_of_stopped_tension(WINCH, SPEED) + WEIGHT
    counts, peaks = [40, 80, 160], []
    for N in counts:
        run, _ = stopped(0.0, N, "auto", duration=0.4, damping_ratio=0.1)
        above = run.start_tension.values - WEIGHT
        overshoot = float(above[run.time.values < 1.9 * WINCH.transit()].max() / plateau - 1.0)
        name = f"rope, stopped, ratio 0.1, N = {N}"
        report(f"{name}: overshoot of the plateau", check_below("overshoot", overshoot, 0.05), "0.05")
        peaks.append(1.0 - float(run.start_tension.max()) / exact)
        report(f"{name}: peak tension is too low by", check_below("peak", abs(peaks[-1]), 0.047), "0.047")
    assert peaks[0] > 1.3 * peaks[1] > 1.3**2 * peaks[2] > 0.0


def test_the_highest_mode_has_the_damping_ratio(report: Report) -> None:
    """Of a long mesh, as it is bounded by 12 EA/(mu l^2)."""
    N, ratio = 40, 0.3
    simulation = ChainBackend(pendulum(WINCH, ratio), chains.hanging(pendulum(WINCH), WINCH.length, N))
    highest = float(bars.mesh_modes(WINCH, N).frequencies[-1])
    found = simulation.pendulum.string.viscosity * highest / (2.0 * WINCH.stiffness)
    report("damping ratio of the highest mode over that asked for, N = 40", found / ratio, "0.99 to 1")
    assert 0.99 * ratio < found < ratio


@pytest.mark.long
def test_peak_tension_of_a_deployment_converges(report: Report) -> None:
    """Free payout from 1 m; without damping the peak changes by 5 % between these meshes, and does not settle."""
    peaks = []
    for N in (40, 80, 160):
        case = tl.load("deployment", {"string.damping_ratio": 0.5, "run.elements": N, "run.step": "auto"})
        run = chains.simulate(case.with_({"run.sample": 0.0025}))
        peaks.append(max(float(run[name].max()) for name in ("tension", "start_tension", "end_tension")))
    spread = max(peaks) / min(peaks) - 1.0
    report("deployment, ratio 0.5: peak tension, N = 40 to 160", check_below("spread", spread, 0.01), "0.01")


# -- falls -----------------------------------------------------------------------------------------------------


def test_body_falling_in_a_fluid(report: Report) -> None:
    """Weight less buoyancy, drag and added mass: v_t tanh(t/T), on a slack string."""
    M, rho, area, volume, added = 2.0, 1000.0, 0.01, 5e-4, 0.3
    pendulum = chains.Chain(
        tl.String(50.0, 1e-9, 100.0, law="tension_only"),
        tl.Reel(0.1, 0.1, 1.0),
        tl.RigidBody.point(M),
        fluid=tl.Fluid(rho, drag_area=area, volume=volume, added_mass=added),
    )
    state = chains.ChainState(20.0, 0.0, np.array([[0, 0, 0], [0, 0, 1.0]]), np.zeros((2, 3)))
    steps, errors = [2e-2, 1e-2, 5e-3], []
    for h in steps:
        run = chains.simulate(pendulum, state, tl.Locked(), duration=2.0, sample=0.1, step=h)
        way, speed = bodies.fall_with_drag(M + added, (M - rho * volume) * G, 0.5 * rho * area, run.time.values)
        moved, velocity = run.position.values[:, -1, 2] - 1.0, run.velocity.values[:, -1, 2]
        errors.append(float(max(np.abs(moved - way).max(), np.abs(velocity - speed).max())))
    assert speed[-1] > 0.99 * np.sqrt((M - rho * volume) * G / (0.5 * rho * area))
    report("body falling in water: order in h", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")
    report("body falling in water, h = 5 ms: way (m) and speed (m/s)", check_below("fall", errors[-1], 1e-3), "1e-3")


def test_rope_falling_across_itself(report: Report) -> None:
    """A level rope with its guide and a body that is as heavy for its drag: all fall alike and nothing pulls."""
    mu, d, C_n, rho, X, N, duration = 0.05, 0.01, 1.1, 1.2, 10.0, 5, 2.0
    area = 0.25 * np.pi * d**2
    weight, drag = (mu - rho * area) * G, 0.5 * rho * C_n * d

    def fall(time: Any) -> tuple[np.ndarray, np.ndarray]:
        return bodies.fall_with_drag(mu, weight, drag, np.asarray(time, dtype=float))

    path = tl.motions.GuidePath.of(lambda t: (0.0, 0.0, float(fall(t)[0])), duration, 5e-3)
    share = 4.0  # the body is like four meters of the rope
    pendulum = chains.Chain(
        tl.String(X + 10.0, mu, 100.0, diameter=d, normal_drag=C_n, tangential_drag=0.0, law="linear"),
        tl.Reel(0.1, 0.1, 1.0, guide_path=path),
        tl.RigidBody.point(share * mu),
        fluid=tl.Fluid(rho, drag_area=share * C_n * d, volume=share * area),
    )
    state = chains.straight(pendulum, X, N, (1.0, 0.0, 0.0))
    steps, errors = [2e-2, 1e-2, 5e-3], []
    for h in steps:
        run = chains.simulate(pendulum, state, tl.Locked(), duration=duration, sample=0.1, step=h)
        way = fall(run.time.values)[0]
        errors.append(float(np.abs(run.position.values[:, :, 2] - way[:, None]).max()))
    report("rope falling across itself: order in h", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")
    report("rope falling across itself, h = 5 ms: way (m)", check_below("way", errors[-1], 1e-3), "1e-3")


# -- rotation --------------------------------------------------------------------------------------------------


def test_spin_with_damping(report: Report) -> None:
    """Exponentials, and across the axis the body's own nutation under them; the loss is what the spin has had."""
    M, damping, start = 0.5, 4e-4, (1.0, 0.5, 6.0)
    body = tl.RigidBody.box(M, (0.2, 0.2, 0.1), (0.0, 0.0, 0.0))
    across, _, axial = np.diag(np.array(body.inertia))
    pendulum = dataclasses.replace(system(length=5.0, body=body), fluid=tl.Fluid(1e-9, spin_damping=damping))
    state = dataclasses.replace(chains.hanging(pendulum, 5.0, 1), angular_velocity=np.array(start))
    steps, errors = [2e-2, 1e-2, 5e-3], []
    for h in steps:
        run = chains.simulate(pendulum, state, tl.Locked(), duration=6.0, sample=0.1, step=h)
        exact = bodies.spin_with_damping(start, axial, across, damping, run.time.values)
        errors.append(float(np.abs(run.angular_velocity.values - exact).max()))
    report("damped spin: order in h", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")
    moments = np.array([across, across, axial])
    energy = 0.5 * exact**2 @ moments
    error = check_close("work", run.fluid_work, energy - energy[0], 1e-6 * energy[0]) / energy[0]
    report("damped spin, h = 5 ms: work of the fluid, of the first energy", error, "1e-6")


def test_drum_with_viscous_friction(report: Report) -> None:
    """A mass on a light string lets the drum run up to a steady speed; the difference is the stretch, as 1/EA."""
    M, kappa, d, friction = 2.0, 3.0, 0.25, 0.6
    stiffnesses, errors = [1e4, 1e5, 1e6], []
    for EA in stiffnesses:
        pendulum = chains.Chain(
            tl.String(100.0, 1e-7, EA, law="linear"),
            tl.Reel(d, 0.5, kappa, guide_law="none", viscous_friction=friction),
            tl.RigidBody.point(M),
        )
        # stretched as it is in its fall, so that it does not bounce when it is let go
        lighter = dataclasses.replace(pendulum, gravity=G * kappa / (M + kappa))
        start = chains.hanging(lighter, 20.0, 1)
        run = chains.simulate(pendulum, start, tl.Free(), duration=3.0, sample=0.1, step=1e-3)
        way, speed = bodies.drum_with_friction(M, kappa, friction / d**2, M * G, run.time.values)
        errors.append(float(np.abs(run.unstretched_length.values - 20.0 - way).max()))
    assert speed[-1] > 0.99 * M * G * d**2 / friction
    order = check_order([1.0 / EA for EA in stiffnesses], errors, 1.0, tolerance=0.1)
    report("drum with viscous friction: order in 1/EA", order, "1 +- 0.1")
    report("drum with viscous friction, EA = 1 MN: way (m)", check_below("way", errors[-1], 2e-4), "2e-4")
    lost = friction / d**2 * np.trapezoid(speed**2, run.time.values)
    check_close("friction_loss", run.friction_loss[-1], lost, 0.01 * lost)


# -- water -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", [0.0, 1.0])
def test_rope_in_water(coefficient: float, report: Report) -> None:
    """Across a rope with its added mass, C_a rho pi d^2/4 per length; buoyancy and inertia apart."""
    X, mu, d, rho, M = 10.0, 0.063, 0.01, 1025.0, 200.0
    water = rho * 0.25 * np.pi * d**2
    exact = strings.hanging_frequencies(4, X, mu + coefficient * water, (mu - water) * G, M, M * G)
    plain = system(length=X, density=mu, stiffness=1e9, mass=M)
    rope = dataclasses.replace(plain.string, diameter=d, normal_added_mass=coefficient)
    wet = dataclasses.replace(plain, string=rope, fluid=tl.Fluid(rho))
    counts, errors = [16, 32, 64], []
    for N in counts:
        found = chains.modes(wet, deployed=X, elements=N, count=8).angular_frequency.values[::2]
        errors.append(np.abs(found / exact - 1.0))
    orders = [check_order([1.0 / N for N in counts], [e[n] for e in errors], 2.0, tolerance=0.1) for n in range(1, 4)]
    report(f"rope in water, C_a = {coefficient:g}: least order in 1/N", min(orders), "2 +- 0.1")
    transverse = {0.0: 8.825, 1.0: 5.849}[coefficient]
    check_close("first transverse frequency (Hz)", exact[1] / (2.0 * np.pi), transverse, 1e-3)


def test_rope_in_water_swings_as_its_modes_say(report: Report) -> None:
    """The first transverse mode in the kernels, with C_a = 1 and without drag: what remains is the step's error."""
    plain = system(length=10.0, density=0.063, stiffness=1e6, mass=200.0)
    rope = dataclasses.replace(plain.string, diameter=0.01, normal_drag=0.0, tangential_drag=0.0, normal_added_mass=1.0)
    wet = dataclasses.replace(plain, string=rope, fluid=tl.Fluid(1025.0))
    modes = chains.modes(wet, deployed=10.0, elements=6, count=5)
    omega = float(modes.angular_frequency[3])
    steps, errors = [2e-4, 1e-4, 5e-5], []
    for h in steps:
        start = displaced(modes, 4, 1e-5)
        run = chains.simulate(wet, start, tl.Locked(), duration=0.4, sample=0.004, step=h)
        moved = run.position.values[:, 3, 0] / run.position.values[0, 3, 0]
        errors.append(float(np.abs(moved - np.cos(omega * run.time.values)).max()))
    order = check_order(steps, errors, 2.0, tolerance=0.1)
    report("rope in water, C_a = 1: order of a transverse mode in h", order, "2 +- 0.1")


BUOY = tl.Fluid(1000.0, volume=0.02, added_mass=8.0, surface=5.0, body_height=0.4)


def buoy(mass: float, fluid: tl.Fluid = BUOY, law: str = "tension_only") -> chains.Chain:
    return chains.Chain(
        tl.String(50.0, 1e-6, 1e4, law=law), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(mass), fluid=fluid
    )


def test_a_body_floats_where_it_displaces_its_weight(report: Report) -> None:
    """On a slack string 12 kg of a body of 20 l: 60 % of it wet, a tenth of its height below the middle."""
    depth = 5.0 + 0.1 * 0.4
    state = chains.ChainState(30.0, 0.0, np.array([[0, 0, 0], [0, 0, depth]]), np.zeros((2, 3)))
    run = chains.simulate(buoy(12.0), state, tl.Locked(), duration=2.0, sample=0.1, step=1e-3)
    error = check_close("depth", run.position[:, -1, 2], np.full(21, depth), 1e-6)
    report("floating body: distance from Archimedes' depth in 2 s (m)", error, "< 1e-6")


def test_a_floating_body_heaves(report: Report) -> None:
    """While it crosses the surface: (M + m_a wet) z'' = M g - rho g V wet, wet = 1/2 + z/height, by DOP853."""
    from scipy.integrate import solve_ivp

    def rates(t: float, y: Any) -> Any:
        wet = 0.5 + (y[0] - 5.0) / 0.4
        return [y[1], (12.0 - 20.0 * wet) * G / (12.0 + 8.0 * wet)]

    exact = solve_ivp(rates, (0.0, 1.5), [5.1, 0.0], "DOP853", t_eval=[0.5, 1.0, 1.5], rtol=1e-11, atol=1e-12).y[0]
    state = chains.ChainState(30.0, 0.0, np.array([[0, 0, 0], [0, 0, 5.1]]), np.zeros((2, 3)))
    steps, errors = [1e-2, 5e-3, 2.5e-3], []
    for h in steps:
        run = chains.simulate(buoy(12.0), state, tl.Locked(), duration=1.5, sample=0.5, step=h)
        errors.append(float(np.abs(run.position[1:, -1, 2].values - exact).max()))
    report("heaving float: order against DOP853", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")


def test_a_body_dropped_into_water(report: Report) -> None:
    """It falls through the surface, sinks, and is caught by its string; what it loses is work of the water."""
    sea = dataclasses.replace(BUOY, drag_area=0.05, density_above=1.2)
    state = chains.ChainState(42.0, 0.0, np.array([[0, 0, 0], [0, 0, 3.0]]), np.zeros((2, 3)))  # 8 m of string
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for h in steps:
        run = chains.simulate(buoy(30.0, sea), state, tl.Locked(), duration=3.0, sample=0.01, step=h)
        errors.append(float(np.abs(balance_error(run)).max() / run.kinetic_energy.max()))
    report("dropped into water: error of the balance, of max T", check_below("balance", errors[-1], 1e-4), "1e-4")
    z = run.position.values[:, -1, 2]
    in_air = run.time.values < np.sqrt(2.0 * 1.75 / G)
    fall = G * (1.0 - 1.2 * 0.02 / 30.0)
    drag = 0.5 * 1.2 * 0.05 / 30.0
    speed = np.sqrt(fall / drag) * np.tanh(np.sqrt(fall * drag) * run.time.values)
    # in air the body moves 1.2 / 1000 of its added mass along
    check_close("speed in air", run.velocity.values[in_air, -1, 2], speed[in_air], 3e-3)
    assert z[0] < 4.8 and z.max() > 8.0 and float(run.fluid_work[-1]) < -100.0


def test_deep_below_a_surface_the_fluid_is_everywhere(report: Report) -> None:
    """Buoyancy and added mass as loads, and as weights and mass: the same motion."""
    water = tl.Fluid(1000.0, flow=(0.2, 0.0, 0.0), drag_area=0.01, volume=2e-3, added_mass=1.0)
    string = tl.String(50.0, 0.1, 2e3, diameter=0.01, normal_added_mass=1.0, law="linear")
    runs = []
    for fluid in (water, dataclasses.replace(water, surface=-100.0, density_above=1.2)):
        wet = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(5.0), fluid=fluid)
        start = chains.straight(wet, 5.0, 5, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
        runs.append(chains.simulate(wet, start, tl.Locked(), duration=2.0, sample=0.1, step=1e-3))
    error = check_close("position", runs[1].position, runs[0].position.values, 1e-6)
    report("deep below a surface: distance from a fluid without one (m)", error, "< 1e-6")


# -- a string that gets taut ---------------------------------------------------------------------------------------


def depth_on_a_snatching_string(pendulum: chains.Chain, length: float, start: float, times: np.ndarray) -> np.ndarray:
    """Depth of a weight on one element that pulls with max(0, T + c v) where it is stretched, event by event."""
    string, mass = pendulum.string, pendulum.body.mass
    inertia, weight = mass + string.density * length / 3.0, (mass + 0.5 * string.density * length) * G
    stiffness, c = string.stiffness / length, string.viscosity / length

    def pull(t: float, x: np.ndarray) -> float:
        return float(stiffness * (x[0] - length) + c * x[1]) if x[0] > length else -1.0

    now, x, pulls, found = 0.0, np.array([start, 0.0]), False, np.empty(0)
    while now < times[-1]:

        def change(t: float, x: np.ndarray) -> float:
            return pull(t, x)

        change.terminal, change.direction = True, -1.0 if pulls else 1.0  # type: ignore[attr-defined]
        part = solve_ivp(
            lambda t, x, on=pulls: (x[1], (weight - on * pull(t, x)) / inertia),
            (now, times[-1]),
            x,
            events=change,
            dense_output=True,
            rtol=1e-11,
            atol=1e-13,
        )
        now, x, pulls = part.t[-1], part.y[:, -1], not pulls
        found = np.append(found, part.sol(times[len(found) :][times[len(found) :] <= now])[0])
    return found


@pytest.mark.parametrize(("name", "viscosity"), [("stiff", 30.0), ("bouncing", 2.0)])
def test_weight_on_a_string_that_gets_taut(name: str, viscosity: float, report: Report) -> None:
    """The damper of a slack element begins at once when it gets taut, and ends where it would have to push."""
    length = 2.0
    plain = system(length=length, density=0.05, stiffness=400.0, mass=0.6)
    taut = dataclasses.replace(plain, string=dataclasses.replace(plain.string, law="tension_only", viscosity=viscosity))
    state = dataclasses.replace(chains.hanging(taut, length, 1), nodes=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.8]]))
    counts, errors = [400, 800, 1600, 3200], []
    for count in counts:
        run = chains.simulate(taut, state, tl.Locked(), duration=1.0, sample=0.01, step=1.0 / count)
        exact = depth_on_a_snatching_string(taut, length, 1.8, run.time.values)
        errors.append(float(np.abs(run.position.values[:, -1, 2] - exact).max()))
    report(
        f"weight on a slack, damped string, {name}: order in h",
        check_order([1.0 / n for n in counts], errors, 2.0, tolerance=0.3),
        "2 +- 0.3",
    )
    report(
        f"weight on a slack, damped string, {name}: error of the depth at 3200 steps (m)",
        check_below("error", errors[-1], 1e-6),
        "1e-6",
    )
