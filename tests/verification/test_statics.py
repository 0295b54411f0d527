"""States of rest and small oscillations about them (docs/theory.md, "Statics and modes")."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import jn_zeros

import tautline as tl
from tautline.analysis.modes import displaced
from tautline.engine.chain import lowering
from tautline.kernels import energy
from tautline.model.rotations import E3
from tests.conftest import Report
from tests.support import chain_statics as statics
from tests.support import chains
from tests.support.at_rest import BODY, DENSITY, Array, drag_per_length, in_current, started
from tests.support.chain_statics import Configuration
from tests.support.checking import check_below, check_close, check_order
from tests.support.hanging import G, frequency, system
from tests.support.matrices import as_matrix
from tests.support.pendulum_modes import linearized
from tests.support.systems import random_system


@pytest.mark.parametrize("stiffness", [40.0, 1e7])
@pytest.mark.parametrize("N", [1, 7, 400])
def test_uniform_load_is_a_turned_gravity(N: int, stiffness: float, report: Report) -> None:
    """Weight and a horizontal load per mass add up: the hanging solution, turned and under the larger gravity."""
    a = np.array([3.0, 4.0, 0.0])
    pendulum = system(length=10.0, stiffness=stiffness, body=BODY)
    found = chains.equilibrium(started(pendulum, a), 10.0, N, acceleration=True)
    total = a + G * E3
    gravity = float(np.linalg.norm(total))
    exact = chains.hanging(dataclasses.replace(pendulum, gravity=gravity), 10.0, N)
    error = check_close("nodes", found.state.nodes, np.outer(exact.nodes[:, 2], total / gravity), 1e-12)
    report(f"uniform load, N = {N}, EA = {stiffness:g} N: nodes against the turned hanging (m)", error, "1e-12")
    hangs = found.state.attitude @ np.array(BODY.center_of_mass)
    error = check_close("body", hangs, total / gravity * np.linalg.norm(BODY.center_of_mass), 1e-12)
    report(f"uniform load, N = {N}, EA = {stiffness:g} N: body (m)", error, "1e-12")
    # a node is rounded to 2e-15 m, and pulled with EA/l
    check_below("residual", found.residual, 1e-14 * stiffness * N + 1e-12)


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_string_in_a_current_approaches_the_continuous_one(speed: float, report: Report) -> None:
    """n' + weight + drag = 0 and r' = (1 + |n|/EA) n/|n|, integrated from the body to the guide."""
    X, M, mu, EA = 10.0, 1.0, 0.1, 200.0
    flow, body_drag = np.array([0.8, 0.6, 0.0]) * speed, 0.2
    pendulum = in_current(system(length=X, density=mu, stiffness=EA, mass=M), flow, body_drag)
    net = mu - DENSITY * pendulum.string.area

    def rates(zeta: float, y: Array) -> Array:
        n = y[:3]
        tension = np.linalg.norm(n)
        stretch = 1.0 + tension / EA
        pull = net * G * E3 + drag_per_length(n / tension, stretch, flow)
        return np.concatenate([-pull, stretch * n / tension])

    end = M * G * E3 + body_drag * np.linalg.norm(flow) * flow
    exact = -solve_ivp(rates, (X, 0.0), np.append(end, np.zeros(3)), "DOP853", rtol=1e-12, atol=1e-13).y[3:, -1]
    counts, errors = [10, 20, 40, 80], []
    for N in counts:
        found = chains.equilibrium(pendulum, X, N)
        errors.append(float(np.linalg.norm(found.state.nodes[-1] - exact)))
    order = check_order([1.0 / N for N in counts], errors, 2.0)
    report(f"current of {speed:g} m/s: order in 1/N", order, "2 +- 0.3")
    report(f"current of {speed:g} m/s, N = 80: place of the body (m)", check_below("error", errors[-1], 1e-3), "1e-3")


def test_a_storm_is_balanced(report: Report) -> None:
    """Drag far above the weight, on the string and beside the body's center of mass: the first guess is far off."""
    pendulum = system(length=10.0, body=BODY, stiffness=1e4)
    found = chains.equilibrium(in_current(pendulum, np.array([20.0, 0.0, 0.0]), 0.01, (-0.4, 0.3, 0.3)), 10.0, 20)
    # moments count as forces at the size of the body
    report("string in a storm: unbalanced force (N)", check_below("residual", found.residual, 1e-8), "1e-8")


def test_tensions_are_those_of_a_run() -> None:
    pendulum = dataclasses.replace(system(length=10.0, body=BODY), applied_force=tl.AppliedForce((0.1, 0.2, 0.0)))
    found = chains.equilibrium(pendulum, 10.0, 5)
    run = chains.simulate(pendulum, found.state, tl.Locked(), duration=1e-3, sample=1e-3)
    x = Configuration(found.state.reeled_length, np.array(found.state.nodes), np.array(found.state.attitude))
    assert statics.potential(pendulum, x) == pytest.approx(float(run.energy[0]), rel=1e-13)
    np.testing.assert_allclose(found.tension, run.tension[0], atol=1e-12)
    np.testing.assert_allclose(found.strain, run.strain[0], atol=1e-13)


def potential_of_kernels(pendulum: chains.Chain, N: int) -> Callable[[Configuration], float]:
    par = lowering.kernel_parameters(pendulum, N, "symmetric", True)

    def V(x: Configuration) -> float:
        q = np.ascontiguousarray(x.q.T).ravel()
        deployed = energy.gravity_deployed(par, x.s, q, as_matrix(x.R)) + energy.elastic(par, x.s, q)
        return float(energy.gravity_reel(par, x.s) + deployed)

    return V


@pytest.mark.parametrize("seed", range(4))
def test_forces_and_stiffness_are_derivatives_of_the_energy(seed: int, report: Report) -> None:
    """Against differences of the energy that the kernels compute, anywhere; of one system with layers on the drum."""
    N = 3
    pendulum, state, _ = random_system(np.random.default_rng(seed), N)
    if seed == 3:
        grown = dataclasses.replace(pendulum.reel, layer_growth=0.3 * pendulum.reel.drum_radius)
        pendulum = dataclasses.replace(pendulum, reel=grown)
    start = Configuration(state.reeled_length, np.array(state.nodes), np.array(state.attitude))
    V = potential_of_kernels(pendulum, N)
    assert statics.potential(pendulum, start) == pytest.approx(V(start), rel=1e-13)

    def moved(y: Array) -> float:
        q = start.q.copy()
        q[1:] += y[1:-3].reshape(N, 3)
        return V(Configuration(start.s + y[0], q, start.R @ Rotation.from_rotvec(y[-3:]).as_matrix()))

    n, h = 3 * N + 4, 1e-3
    unit = h * np.eye(n)
    first = np.array([(8.0 * (moved(e) - moved(-e)) - moved(2 * e) + moved(-2 * e)) / (12.0 * h) for e in unit])
    at_nodes, moment = statics.forces(pendulum, start)
    scale = float(np.abs(first).max())
    forces = np.concatenate([[statics.reel_force(pendulum, start)], at_nodes.ravel(), moment])
    error = check_close("forces", forces, -first, 1e-8 * scale) / scale
    report(f"system {seed}: forces against differences of the energy", error, "1e-8")

    second = np.array([[moved(a + b) - moved(a - b) - moved(b - a) + moved(-a - b) for a in unit] for b in unit]) / (
        4.0 * h * h
    )
    scale = float(np.abs(second).max())
    # truncation h^2, rounding 1e-16/h^2
    error = check_close("stiffness", statics.stiffness(pendulum, start), second, 1e-5 * scale) / scale
    report(f"system {seed}: stiffness against differences of the energy", error, "1e-5")


def of_kind(result: Any, kind: str) -> Array:
    found: Array = result.angular_frequency.values[result.kind.values == kind]
    return found


@pytest.mark.parametrize("number", [1, 2, 3])
def test_longitudinal_modes_with_an_end_mass(number: int, report: Report) -> None:
    """omega = x c/X with x tan x = mu X/M."""
    X = 10.0
    pendulum = system(length=X)
    low = (number - 1) * np.pi
    x = brentq(lambda x: x * np.tan(x) - 0.025 * X / 0.1, low + 1e-9, low + np.pi / 2 - 1e-9)
    exact = x * pendulum.string.wave_speed / X
    counts = [10, 20, 40]
    errors = [
        abs(of_kind(chains.modes(pendulum, deployed=X, elements=N), "longitudinal")[number - 1] / exact - 1.0)
        for N in counts
    ]
    order = check_order([1.0 / N for N in counts], errors, 2.0)
    report(f"longitudinal mode {number} with end mass: order in 1/N", order, "2 +- 0.3")
    bound = 1e-4 * number**2
    report(
        f"longitudinal mode {number} with end mass, N = 40: frequency error",
        check_below("error", errors[-1], bound * 5),
        f"{5 * bound:.0e}",
    )


@pytest.mark.parametrize("number", [1, 2, 3])
def test_hanging_chain(number: int, report: Report) -> None:
    """omega_n = (j_{0,n}/2) sqrt(g/X); each twice, along x first."""
    X = 1.0
    pendulum = system(length=X, density=0.1, stiffness=1e8, mass=1e-7)
    exact = 0.5 * jn_zeros(0, number)[-1] * np.sqrt(G / X)
    counts, errors = [16, 32, 64], []
    for N in counts:
        result = chains.modes(pendulum, deployed=X, elements=N, count=6)
        pair = result.isel(mode=[2 * number - 2, 2 * number - 1])
        np.testing.assert_allclose(pair.frequency[0], pair.frequency[1], rtol=1e-12)
        assert float(np.abs(pair["shape"][0, :, 1:]).max()) < 1e-6
        assert float(np.abs(pair["shape"][1, :, [0, 2]]).max()) < 1e-6
        errors.append(abs(float(pair.angular_frequency[0]) / exact - 1.0))
    order = check_order([1.0 / N for N in counts], errors, 2.0)
    report(f"hanging chain, mode {number}: order in 1/N", order, "2 +- 0.3")
    report(f"hanging chain, mode {number}, N = 64: frequency error", check_below("error", errors[-1], 2e-3), "2e-3")


@pytest.mark.parametrize("strain", [0.1, 0.4])
def test_waves_on_a_taut_string(strain: float, report: Report) -> None:
    """Without gravity, pulled taut by a load on a body that hardly moves: n pi/X times the two wave speeds."""
    X = 10.0
    pendulum = system(length=X, mass=1e9, gravity=0.0)
    string = pendulum.string
    # along x: nothing hangs down here
    pulled = dataclasses.replace(pendulum, applied_force=tl.AppliedForce((string.stiffness * strain, 0.0, 0.0)))
    counts = [12, 24, 48]
    errors: dict[str, list[float]] = {"transverse": [], "longitudinal": []}
    for N in counts:
        rest = chains.equilibrium(pulled, X, N)
        check_close("strain", rest.strain, np.full(N, strain), 1e-12)
        result = chains.modes(pulled, rest)
        across = string.wave_speed * np.sqrt(strain / (1.0 + strain))
        # the body's own motion on the string is the slowest of each kind
        for kind, speed, first in (("transverse", across, 0), ("longitudinal", string.wave_speed, 1)):
            errors[kind].append(abs(of_kind(result, kind)[first] / (np.pi * speed / X) - 1.0))
    for kind, values in errors.items():
        order = check_order([1.0 / N for N in counts], values, 2.0)
        report(f"{kind} wave, strain {strain:g}: order in 1/N", order, "2 +- 0.3")
        report(f"{kind} wave, strain {strain:g}, N = 48: speed", check_below("error", values[-1], 5e-4), "5e-4")


def test_one_element(report: Report) -> None:
    """N = 1 has closed frequencies."""
    X, M, mu, EA = 10.0, 0.1, 0.025, 40.0
    result = chains.modes(system(length=X), deployed=X, elements=1)
    stretched = X + (M + 0.5 * mu * X) * G * X / EA
    radial = np.sqrt(EA / X / (M + mu * X / 3.0))
    swing = np.sqrt(G * (M + 0.5 * mu * X) / ((M + mu * X / 3.0) * stretched))
    assert list(result.kind.values) == ["swing", "swing", "longitudinal"]
    error = check_close("frequencies", result.angular_frequency, [swing, swing, radial], 1e-12)
    report("one element: frequencies (rad/s)", error, "1e-12")


def test_one_element_with_a_body_is_a_double_pendulum(report: Report) -> None:
    """In each plane the place of the attachment and the angle of the body: a quadratic equation for omega^2."""
    X, mu, EA, M, rho = 2.0, 0.3, 5e3, 1.5, 0.4
    body = tl.RigidBody.box(M, (0.3, 0.5, 0.7), (0.0, 0.0, rho))
    result = chains.modes(system(length=X, density=mu, stiffness=EA, body=body), deployed=X, elements=1)
    stretched = X + (M + 0.5 * mu * X) * G * X / EA
    exact = []
    for J in (body.inertia[1][1], body.inertia[0][0]):
        mass = np.array([[M + mu * X / 3.0, M * rho], [M * rho, J]])
        k = np.array([(M + 0.5 * mu * X) * G / stretched, M * G * rho])
        a, b, c = np.linalg.det(mass), -(mass[0, 0] * k[1] + mass[1, 1] * k[0]), k[0] * k[1]
        root = np.sqrt(b * b - 4.0 * a * c)
        exact += [2.0 * c / (-b + root), (-b + root) / (2.0 * a)]
    radial = EA / X / (M + mu * X / 3.0)
    assert result.kind.values[0] == "rigid" and result.frequency.values[0] == 0.0
    error = check_close("squares", result.angular_frequency.values[1:] ** 2, sorted([*exact, radial]), 1e-10)
    report("double pendulum: squared frequencies (1/s^2)", error, "1e-10")
    assert "body" in result.kind.values


def test_short_string_leaves_a_compound_pendulum(report: Report) -> None:
    """omega^2 = M g rho/J about the attachment point, as the string gets short."""
    M, rho = 1.5, 0.4
    body = tl.RigidBody.box(M, (0.3, 0.5, 0.7), (0.0, 0.0, rho))
    pendulum = system(length=1e-6, density=0.01, stiffness=1e5, body=body)
    result = chains.modes(pendulum, deployed=1e-6, elements=2, count=3)
    exact = sorted(np.sqrt(M * G * rho / body.inertia[k][k]) for k in (0, 1))
    error = check_close("frequencies", result.angular_frequency.values[1:], exact, 1e-4)
    report("compound pendulum: frequencies (rad/s)", error, "1e-4")


def test_free_reel_is_a_mass_at_the_other_end(report: Report) -> None:
    """Unstretched and weightless: tan x = (a + b) x/(a b x^2 - 1), a and b the masses of reel and body over mu X."""
    X, M, mu = 10.0, 0.1, 0.025
    pendulum = system(length=X, mass=M, gravity=0.0)
    c = pendulum.string.wave_speed
    a, b = (mu * 90.0 + 1.0) / (mu * X), M / (mu * X)
    # between the zeros of the denominator and of the cosine
    x = brentq(lambda x: np.sin(x) * (a * b * x * x - 1.0) - (a + b) * x * np.cos(x), 0.3, 2.0)
    counts, errors = [10, 20, 40], []
    for N in counts:
        result = chains.modes(pendulum, deployed=X, elements=N, reel="free")
        # across the string nothing pulls back, and string and reel can run off together
        assert list(result.kind.values[: 2 * N + 1]) == ["rigid"] * (2 * N + 1)
        assert (result.frequency.values[2 * N + 1 :] > 0.0).all()
        errors.append(abs(float(result.angular_frequency[2 * N + 1]) / (x * c / X) - 1.0))
    order = check_order([1.0 / N for N in counts], errors, 2.0)
    report("free reel: order in 1/N", order, "2 +- 0.3")
    report("free reel, N = 40: frequency error", check_below("error", errors[-1], 2e-4), "2e-4")


def test_balancing_torque_holds_the_reel() -> None:
    pendulum = system(length=10.0, body=BODY)
    rest = chains.hanging(pendulum, 10.0, 10)
    torque = float(chains.modes(pendulum, rest, count=1, reel="free").balancing_torque[0])
    run = chains.simulate(pendulum, rest, tl.Torque(torque), duration=0.5, sample=0.1)
    check_below("reel speed", float(np.abs(run.reel_speed).max()), 1e-11)


def test_modes_under_a_uniform_load_are_those_of_a_turned_gravity(report: Report) -> None:
    """As an accelerated guide makes it; the load's own dependence on the attitude is part of the stiffness."""
    a = np.array([3.0, 4.0, 0.0])
    pendulum = system(length=10.0, body=BODY)
    rest = chains.equilibrium(started(pendulum, a), 10.0, 8, acceleration=True)
    turned = dataclasses.replace(pendulum, gravity=float(np.hypot(5.0, G)))
    ours, exact = chains.modes(pendulum, rest), chains.modes(turned, deployed=10.0, elements=8)
    error = check_close("frequencies", ours.angular_frequency[1:], exact.angular_frequency[1:], 1e-8)
    report("uniform load: frequencies against the turned gravity (rad/s)", error, "1e-8")
    assert float(ours.angular_frequency[0]) < 1e-4  # the turn about the pull


@pytest.mark.parametrize("mode", [2, 3, 6, 9, 20])
def test_a_run_along_a_mode_keeps_to_it(mode: int, report: Report) -> None:
    """Released in a small shape, it oscillates at the frequency and in the shape of that mode alone."""
    pendulum = system(length=10.0, body=BODY)
    result = chains.modes(pendulum, deployed=10.0, elements=10)
    omega = float(result.angular_frequency[mode - 1])
    amplitude, duration = 1e-5, 6.0 * 2.0 * np.pi / omega
    run = chains.simulate(
        pendulum, displaced(result, mode, amplitude), duration=duration, sample=duration / 400, order=4
    )

    moved = (run.position - result.position).values[:, 1:].reshape(401, -1)
    turns = Rotation.from_matrix(result.attitude.values[0].T @ run.attitude.values).as_rotvec()
    y = np.hstack([np.zeros((401, 1)), moved, turns])
    x = Configuration(float(result.reeled_length[0]), result.position.values, result.attitude.values[0])
    M = linearized(pendulum, x).M
    shape = np.concatenate([[0.0], result["shape"].values[mode - 1, 1:].ravel(), result.rotation.values[mode - 1, 0]])
    mass = shape @ M @ shape
    assert mass == pytest.approx(float(result.modal_mass[mode - 1]))
    coordinate = y @ M @ shape / mass
    measured = frequency(run.time.values, coordinate, omega)
    report(f"mode {mode}: frequency of a run", check_below("frequency", abs(measured / omega - 1.0), 1e-6), "1e-6")
    rest = y - np.outer(coordinate, shape)
    other = np.sqrt(np.einsum("ti,ij,tj->t", rest, M, rest).max() / mass) / amplitude
    report(f"mode {mode}: what leaves the shape", check_below("other", float(other), 1e-3), "1e-3")
