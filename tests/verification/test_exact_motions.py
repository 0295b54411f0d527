"""Motions that are known in closed form: strings drawn in and paid out, whirling, folded, at rest; swings and spins.

The solutions and their derivations are in tests/support/exact.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order, measured_order
from tests.support.exact import bars, bodies, strings
from tests.support.hanging import G, frequency, system

LIGHT = 1e-9


def point_on_a_string(length: float, stiffness: float, mass: float = 1.0, gravity: float = G) -> chains.Chain:
    """`length` is what is deployed, 40 m more are on the reel; the string weighs nothing and loses nothing."""
    return chains.Chain(
        tl.String(length + 40.0, LIGHT, stiffness, law="linear"),
        tl.Reel(0.1, 0.1, 1.0, guide_law="none"),
        tl.RigidBody.point(mass),
        gravity,
    )


def one_element(place: Any, velocity: Any, reel_speed: float = 0.0) -> chains.ChainState:
    return chains.ChainState(
        40.0, reel_speed, np.array([[0.0, 0.0, 0.0], place]), np.array([[0.0, 0.0, 0.0], velocity])
    )


def angle_of(run: xr.Dataset) -> np.ndarray:
    """Angle of the body from the vertical in the plane x, z."""
    return np.asarray(np.arctan2(run.position.values[:, -1, 0], run.position.values[:, -1, 2]))


# -- waves -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.2, -0.2])
def test_string_drawn_through_an_eyelet(rate: float, report: Report) -> None:
    """A wave on a taut string that is paid out or drawn in at a fifth of the waves' speed.

    The body is so heavy that it moves on with the string's own speed; seen from it the guide moves along a string
    at rest.
    """
    X, strain, amplitude = 10.0, 0.1, 1e-4
    pendulum = system(length=X, mass=1e9, gravity=0.0)
    c = pendulum.string.wave_speed * np.sqrt(strain / (1.0 + strain))
    speed = rate * c
    duration = 2.5 * X / c
    counts, errors = [20, 40, 80], []
    for N in counts:
        z = np.linspace(0.0, 1.0, N + 1)

        def at(time: float, z: np.ndarray = z) -> tuple[np.ndarray, np.ndarray]:
            """Nodes and their velocities: mesh node z is at the distance (1 - z) X(t) from the body."""
            length = X + speed * time
            u, u_t, u_x = strings.drawn_through_an_eyelet(1, X, speed, c, (1.0 - z) * length, time)
            nodes = np.stack([amplitude * u, 0.0 * z, (1.0 + strain) * length * z], axis=1)
            rates = np.stack([amplitude * (u_t + (1.0 - z) * speed * u_x), 0.0 * z, (1.0 + strain) * speed * z], axis=1)
            return nodes, rates

        nodes, velocities = at(0.0)
        nodes[[0, -1], 0] = velocities[0] = velocities[-1, 0] = 0.0
        state = chains.ChainState(90.0, -speed, nodes, velocities)
        run = chains.simulate(pendulum, state, tl.Speed(payout=speed), duration=duration, sample=duration, order=4)
        errors.append(float(np.abs(run.position[-1] - at(duration)[0])[:, 0].max() / amplitude))
    name = "paid out" if rate > 0.0 else "drawn in"
    order = check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)
    report(f"string {name} through an eyelet: order in 1/N", order, "2 +- 0.1")
    report(
        f"string {name} through an eyelet: error of the wave at N = 80, of its height",
        check_below("wave", errors[-1], 2e-3),
        "2e-3",
    )


@pytest.mark.parametrize(("mass", "water"), [(0.3, 0.0), (30.0, 0.0), (0.3, 1025.0)])
def test_waves_across_a_hanging_rope_with_an_end_mass(mass: float, water: float, report: Report) -> None:
    """Bessel functions: the pendulum, and the waves on a rope whose tension grows upwards, or falls if it floats."""
    X, mu, diameter = 10.0, 0.063, 0.01
    exact = strings.hanging_frequencies(4, X, mu, (mu - 0.25 * np.pi * diameter**2 * water) * G, mass, mass * G)
    plain = system(length=X, density=mu, stiffness=1e9, mass=mass)
    wet = dataclasses.replace(plain.string, diameter=diameter)
    pendulum = dataclasses.replace(plain, string=wet, fluid=tl.Fluid(water)) if water else plain
    counts, errors = [16, 32, 64], []
    for N in counts:
        # each twice, along x and along y
        found = chains.modes(pendulum, deployed=X, elements=N, count=8).angular_frequency.values[::2]
        errors.append(np.abs(found / exact - 1.0))
    orders = [check_order([1.0 / N for N in counts], [e[n] for e in errors], 2.0, tolerance=0.1) for n in range(1, 4)]
    name = f"hanging rope with {mass:g} kg{' in water' if water else ''}"
    report(f"{name}, modes 2 to 4: least order in 1/N", min(orders), "2 +- 0.1")
    largest = check_below("frequencies", float(errors[-1].max()), 2e-3)
    report(f"{name}, N = 64: frequencies of modes 1 to 4", largest, "2e-3")


def whirl_errors(N: int) -> tuple[float, float, float]:
    X, mu, EA, M, rate = 10.0, 0.1, 400.0, 0.2, 3.0
    pendulum = system(length=X, density=mu, stiffness=EA, mass=M, gravity=0.0)
    radius, _ = strings.whirling(np.linspace(0.0, X, N + 1), X, mu, EA, M, rate)
    root, tip = strings.whirling(np.array([0.0, X]), X, mu, EA, M, rate)[1]
    state = chains.ChainState(90.0, 0.0, np.outer(radius, [1.0, 0, 0]), np.outer(rate * radius, [0, 1.0, 0]))
    run = chains.simulate(pendulum, state, tl.Locked(), duration=2.0, sample=0.01, order=4)
    t = run.time.values
    end = radius[-1] * np.stack([np.cos(rate * t), np.sin(rate * t), 0.0 * t], axis=1)
    return (
        float(np.abs(run.start_tension - root).max() / root),
        float(np.abs(run.end_tension - tip).max() / root),
        float(np.abs(run.position[:, -1] - end).max()),
    )


def test_whirling_elastic_string(report: Report) -> None:
    """r = A sin(k zeta): it circles as it is, and is stretched most at the guide."""
    counts = [5, 10, 20, 40]
    errors = np.array([whirl_errors(N) for N in counts])
    for name, column in (("tension at the guide", 0), ("tension at the body", 1)):
        order = measured_order([1.0 / N for N in counts], list(errors[:, column]))
        report(f"whirling string, {name}: order in 1/N", order, "> 1.8")
        assert order > 1.8, errors
        report(f"whirling string, N = 40: {name}", check_below("tension", errors[-1, column], 5e-5), "5e-5")
    order = check_order([1.0 / N for N in counts], list(errors[:, 2]), 2.0, tolerance=0.1)
    report("whirling string, place of the body: order in 1/N", order, "2 +- 0.1")


@pytest.mark.parametrize("across", [2.0, 20.0])
def test_elastic_catenary(across: float, report: Report) -> None:
    """Irvine's: a string that is pulled aside at its end."""
    X, mu, EA, M = 10.0, 0.4, 500.0, 0.3
    pendulum = dataclasses.replace(
        system(length=X, density=mu, stiffness=EA, mass=M), applied_force=tl.AppliedForce(force=(across, 0.0, 0.0))
    )
    exact = strings.elastic_catenary(np.array([X]), X, mu * G, EA, across, M * G)[0]
    counts, errors = [10, 20, 40, 80], []
    for N in counts:
        found = chains.equilibrium(pendulum, X, N)
        errors.append(float(np.linalg.norm(found.state.nodes[-1, [0, 2]] - exact)))
    order = check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)
    report(f"elastic catenary, pulled by {across:g} N: order in 1/N", order, "2 +- 0.1")
    report(
        f"elastic catenary, pulled by {across:g} N: end point at N = 80 (m)",
        check_below("end point", errors[-1], 1e-3),
        "1e-3",
    )


def test_folded_chain(report: Report) -> None:
    """Falls faster than free fall, because nothing is lost at the fold (Calkin and March).

    Two hanging halves beside each other, joined by one element; the loose end is let go. Every element that passes the
    fold leaves a little of its energy in waves, so the chain is a little slower, at any N.
    """
    L, mu, EA, part = 1.0, 1.0, 1e4, 0.9
    pendulum = chains.Chain(
        tl.String(6.0, mu, EA), tl.Reel(0.1, 0.1, 1.0, guide_law="none"), tl.RigidBody.point(1e-6), G
    )
    exact, free = strings.time_of_folded_chain(part), np.sqrt(2.0 * L / G)
    for N in (41, 161):
        half, l = N // 2, L / N
        down = np.concatenate([[0.0], np.cumsum(l * (1.0 + mu * G * l * np.arange(half, 0, -1) / EA))])
        nodes = np.zeros((N + 1, 3))
        nodes[half + 1 :, 0] = l
        nodes[:, 2] = np.concatenate([down, down[::-1]])
        state = chains.ChainState(5.0, 0.0, nodes, np.zeros((N + 1, 3)))
        run = chains.simulate(pendulum, state, tl.Locked(), duration=0.9 * free, sample=0.9 * free / 1000)
        fallen = run.position.values[:, -1, 2]
        after = int(np.argmax(fallen > part * L))
        time = np.interp(part * L, fallen[after - 1 : after + 1], run.time.values[after - 1 : after + 1]) / free
        # 0.95 in free fall
        report(f"folded chain, N = {N}: time for 0.9 L over sqrt(2 L/g)", time, f"{exact:.4f} + 0.01")
        assert exact - 0.002 < time < exact + 0.01


# -- changing length -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("speed", "X"), [(8.0, 10.0), (-8.0, 18.0)])
def test_steady_payout(speed: float, X: float, report: Report) -> None:
    """At a fifth of the waves' speed: linear elements have the places of a hanging string exactly, at any N, also while
    the mesh runs along it."""
    bar = bars.Bar(X, 0.025, 40.0, 0.1)
    for N in (1, 10):
        part = np.linspace(0.0, 1.0, N + 1)
        nodes, velocities, _ = bars.steady_payout(bar, speed, G, X * part, speed * part)
        state = chains.ChainState(90.0, -speed, np.outer(nodes, [0, 0, 1.0]), np.outer(velocities, [0, 0, 1.0]))
        run = chains.simulate(
            system(length=X), state, tl.Speed(payout=speed), duration=1.0, sample=0.02, step=1e-3, order=4
        )
        places, _, tensions = np.array(
            [
                bars.steady_payout(dataclasses.replace(bar, length=length), speed, G, length * part, speed * part)
                for length in run.unstretched_length.values
            ]
        ).transpose(1, 0, 2)
        name = f"steady {'payout' if speed > 0.0 else 'retrieval'}, N = {N}"
        report(f"{name}: places (m)", check_close("places", run.position[:, :, 2], places, 1e-11), "1e-11")
        middle = 0.5 * (tensions[:, 1:] + tensions[:, :-1])
        report(f"{name}: tensions (N)", check_close("tensions", run.tension, middle, 1e-9), "1e-9")


@pytest.mark.parametrize(("length", "rate", "duration"), [(2.0, 1.5, 6.0), (10.0, -1.5, 5.6)])
def test_pendulum_that_gets_longer_or_shorter(length: float, rate: float, duration: float, report: Report) -> None:
    """Bessel functions. The stretched length grows as the unstretched one does, by M g/EA more."""
    stiffness, angle = 1e4, 1e-4
    pendulum = point_on_a_string(length, stiffness)
    stretch = 1.0 + G / stiffness
    along = stretch * np.array([np.sin(angle), 0.0, np.cos(angle)])
    state = one_element(length * along, rate * along, -rate)
    steps, errors = [8e-3, 4e-3, 2e-3], []
    for h in steps:
        run = chains.simulate(pendulum, state, tl.Speed(payout=rate), duration=duration, sample=duration / 50, step=h)
        exact = strings.angle_of_lengthening_pendulum(stretch * length, stretch * rate, G, run.time.values)
        measured = angle_of(run) / angle
        errors.append(float(np.abs(measured - exact).max()))
    name = f"pendulum from {length:g} to {length + rate * duration:g} m"
    report(f"{name}: order in h", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")
    report(f"{name}: last angle over the first", float(measured[-1]), f"{exact[-1]:.6f}")
    report(f"{name}: error of the angle, of the first, h = 2 ms", check_below("angle", errors[-1], 1e-4), "1e-4")


def test_pendulum_pumped_at_twice_its_frequency(report: Report) -> None:
    """Parametric growth over ten swings; of a string that stretches as the mass is lifted, as far as it is stiff."""
    length, part, angle = 2.0, 0.05, 1e-4
    omega = np.sqrt(G / length)
    duration = 10.0 * 2.0 * np.pi / omega
    command = tl.Length(motion=tl.motions.Sine(part * length, np.pi / omega))
    speed = length * part * 2.0 * omega
    stiffnesses, errors = [1e4, 1e5, 1e6], []
    for stiffness in stiffnesses:
        stretch = 1.0 + G / stiffness
        along = stretch * np.array([np.sin(angle), 0.0, np.cos(angle)])
        state = one_element(length * along, speed * along, -speed)
        run = chains.simulate(
            point_on_a_string(length, stiffness), state, command, duration=duration, sample=duration / 200, order=2
        )
        exact = strings.angle_of_pumped_pendulum(stretch * length, part, 2.0 * omega, G, run.time.values)
        errors.append(float(np.abs(angle_of(run) / angle - exact).max() / np.abs(exact).max()))
    report("pumped pendulum: growth over ten swings", float(np.abs(angle_of(run)).max() / angle), f"{exact.max():.4f}")
    report("pumped pendulum: order in 1/EA", check_order([1 / EA for EA in stiffnesses], errors, 1.0, 0.1), "1 +- 0.1")
    report("pumped pendulum, EA = 1 MN: error of the growth", check_below("growth", errors[-1], 2e-4), "2e-4")


def test_pirouette(report: Report) -> None:
    """Drawn in to a third without gravity: M r^2 omega stays."""
    length, M, stiffness, omega = 3.0, 1.0, 1e6, 1.0
    pendulum = point_on_a_string(length, stiffness, M, gravity=0.0)
    radius = length * (1.0 + M * omega**2 * length / stiffness)
    command = tl.Length.to(1.0, speed=0.5, acceleration=0.5, jerk=2.0)
    state = one_element([radius, 0.0, 0.0], [0.0, omega * radius, 0.0])
    run = chains.simulate(pendulum, state, command, duration=6.0, sample=0.02, step=1e-3)
    x, v = run.position.values[:, -1], run.velocity.values[:, -1]
    rate = (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) / (x**2).sum(axis=1)
    exact = strings.pirouette_rate(run.unstretched_length.values, M * radius**2 * omega, M, stiffness)
    assert exact[-1] > 8.99
    error = float(np.abs(rate / exact - 1.0).max())
    report("pirouette: angular velocity against r^-2", check_below("rate", error, 2e-5), "2e-5")


def test_rope_running_off_its_drum(report: Report) -> None:
    """An inextensible rope is the limit of a stiff one: the difference is proportional to 1/EA."""
    reeled, deployed, mu, M, kappa, duration = 18.0, 2.0, 0.5, 3.0, 4.0, 1.5
    reel = tl.Reel(0.3, 0.4, kappa, guide_law="none")
    exact = strings.running_off(
        reeled=reeled,
        deployed=deployed,
        density=mu,
        mass=M,
        drum=0.3,
        guide=0.4,
        inertia=kappa,
        gravity=G,
        time=duration,
    )
    # stretched as it is in its fall, so that it does not bounce when it is let go
    fall = G * (M + mu * (deployed + 0.4 + 0.3 * np.sin((reeled - 0.4) / 0.3))) / (kappa + mu * (reeled + deployed) + M)

    def start(pendulum: chains.Chain) -> chains.ChainState:
        return chains.hanging(dataclasses.replace(pendulum, gravity=G - fall), deployed, 4)

    stiffnesses, errors = [2e4, 2e5, 2e6], []
    for EA in stiffnesses:
        pendulum = chains.Chain(tl.String(reeled + deployed, mu, EA, law="linear"), reel, tl.RigidBody.point(M))
        run = chains.simulate(pendulum, start(pendulum), tl.Free(), duration=duration, sample=duration)
        errors.append(abs(float(run.unstretched_length[-1]) - exact))
    order = check_order([1.0 / EA for EA in stiffnesses], errors, 1.0, tolerance=0.1)
    report("rope running off a drum: order in 1/EA", order, "1 +- 0.1")
    report("rope running off a drum, EA = 2 MN: length (m)", check_below("length", errors[-1], 1e-5), "1e-5")


# -- bodies ----------------------------------------------------------------------------------------------------


def spring_pendulum(size: float, up: bool) -> tuple[chains.Chain, chains.ChainState, list[float], list[float]]:
    """The example of Holm and Lynch (SIAM J. Appl. Dyn. Syst. 1, 2002), tuned to 2:1, at `size` times its amplitude."""
    place, velocity = [0.04 * size, 0.0, 1.0 + 0.08 * size * (-1.0 if up else 1.0)], [0.0, 0.03427 * size, 0.0]
    pendulum = point_on_a_string(0.75, 4.0 * np.pi**2 * 0.75, 1.0, np.pi**2)
    return pendulum, one_element(place, velocity), place, velocity


def test_swinging_spring(report: Report) -> None:
    """A mass on a light string is a spring pendulum, against DOP853."""
    pendulum, state, place, velocity = spring_pendulum(1.0, up=True)
    steps, errors = [4e-2, 2e-2, 1e-2], []
    for h in steps:
        run = chains.simulate(pendulum, state, tl.Locked(), duration=10.0, sample=0.2, step=h)
        exact = bodies.swinging_spring(place, velocity, 0.75, 2.0 * np.pi, np.pi**2, run.time.values)
        errors.append(float(np.abs(run.position[:, -1] - exact).max()))
    report("swinging spring: order in h", check_order(steps, errors, 2.0, tolerance=0.1), "2 +- 0.1")


@pytest.mark.parametrize("up", [True, False])
def test_plane_of_a_swinging_spring(up: bool, report: Report) -> None:
    """Swing and stretch exchange their energy, and the plane turns with every exchange: 29.9 degrees at full amplitude
    when it starts from above, and the value of the three-wave equations in the limit of small ones, linearly."""
    limit = np.degrees(abs(bodies.turn_of_swinging_spring((0.04, -0.03427j / np.pi), 0.08)))
    sizes, angles = [1.0, 0.5, 0.25], []
    for size in sizes:
        pendulum, state, _, _ = spring_pendulum(size, up)
        run = chains.simulate(pendulum, state, tl.Locked(), duration=100.0 / size, sample=0.01, step=1e-2, order=4)
        angles.append(pulse_angle(run))
    order = check_order(sizes, [abs(angle - limit) for angle in angles], 1.0, tolerance=0.1)
    name = "from above" if up else "from below"
    report(f"swinging spring, {name}: turn of the plane with each pulse (degrees)", angles[0], "29.9" if up else "33.0")
    report(f"swinging spring, {name}: order in the amplitude, towards {limit:.2f} degrees", order, "1 +- 0.1")
    check_close("turn of the plane", angles[0], 29.9 if up else 33.0, 0.1)


def pulse_angle(run: xr.Dataset) -> float:
    """Mean angle between the directions of the widest swings of neighboring pulses (degrees)."""
    x, y = run.position.values[:, -1, 0], run.position.values[:, -1, 1]
    per_swing = 200
    windows = np.arange(0, len(x) - per_swing, per_swing // 2)
    widest, direction = [], []
    for first in windows:
        part = np.stack([x[first : first + per_swing], y[first : first + per_swing]])
        squares, axes = np.linalg.eigh(part @ part.T)
        widest.append(squares[1])
        direction.append(np.arctan2(axes[1, 1], axes[0, 1]))
    tops = [i for i in range(1, len(widest) - 1) if widest[i - 1] < widest[i] >= widest[i + 1]]
    turned = np.diff(np.unwrap(2.0 * np.array(direction)[tops])) / 2.0
    return float(np.degrees(np.abs(turned).mean()))


@pytest.mark.parametrize("which", [0, 1, 2, 3])
def test_spinning_top_on_a_string(which: int, report: Report) -> None:
    """Hanging from one element and spinning about its axis: two precessions and two nutations."""
    length, mu, EA, spin, side, height, arm, M = 1.0, 0.1, 2e3, 40.0, 0.2, 0.1, 0.15, 0.5
    body = tl.RigidBody.box(M, (side, side, height), (0.0, 0.0, arm))
    pendulum = system(length=length, density=mu, stiffness=EA, body=body)
    inertia = np.array(body.inertia)
    nu, tilt = bodies.top_on_a_string(
        length=length,
        string_mass=mu * length,
        mass=M,
        arm=arm,
        across=inertia[0, 0],
        axial=inertia[2, 2],
        spin=spin,
        gravity=G,
        stiffness=EA,
    )
    omega, small = float(nu[which]), 1e-6 / max(1.0, abs(tilt[which]))
    angle = small * tilt[which]
    stretched = length + (M + 0.5 * mu * length) * G * length / EA
    R = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    # the spin, and the axis on its way round
    turn = spin * R[:, 2] - np.array([omega * angle, 0.0, 0.0])
    state = chains.ChainState(
        90.0,
        0.0,
        np.array([[0.0, 0, 0], [small, 0, stretched]]),
        np.array([[0.0, 0, 0], [0, omega * small, 0]]),
        R,
        R.T @ turn,
    )
    duration = 4.0 * 2.0 * np.pi / abs(omega)
    run = chains.simulate(pendulum, state, tl.Locked(), duration=duration, sample=duration / 400, order=6)
    x, y = run.position.values[:, -1, 0], run.position.values[:, -1, 1]
    measured = frequency(run.time.values, x, abs(omega)) * np.sign(x[0] * y[1] - x[1] * y[0])
    error = abs(measured / omega - 1.0)
    report(f"top on a string, {omega:.5f} rad/s: error of the frequency", check_below("nu", error, 1e-6), "1e-6")
    check_close("circle", np.hypot(x, y), np.full(len(x), small), 1e-3 * small)
