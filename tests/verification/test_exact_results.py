"""Cases with an exact solution (docs/theory.md, "Exact results")."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipj, j0, jn_zeros

import tautline as tl
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.hanging import G, frequency, system
from tests.support.paper import pendulum as paper_pendulum


def hanging(pendulum: chains.Chain, N: int) -> np.ndarray:
    """Nodes of the string at rest: z(x) = x + ((M + mu X) g x - mu g x^2/2)/EA."""
    X = pendulum.string.length - 90.0
    x = np.linspace(0.0, X, N + 1)
    weight = (pendulum.body.mass + pendulum.string.density * X) * pendulum.gravity * x
    weight -= 0.5 * pendulum.string.density * pendulum.gravity * x**2
    return np.outer(x + weight / pendulum.string.stiffness, [0.0, 0.0, 1.0])


def measured_frequency(
    pendulum: chains.Chain, at_rest: np.ndarray, shape: np.ndarray, node: int, expected: float, periods: float = 6.0
) -> float:
    """Start at rest displaced by a small `shape` (N + 1, 3) and watch one node."""
    N = len(at_rest) - 1
    state = chains.ChainState(90.0, 0.0, at_rest + shape, np.zeros((N + 1, 3)))
    duration = periods * 2.0 * np.pi / expected
    run = chains.simulate(pendulum, state, tl.Locked(), duration=duration, sample=duration / 400, order=4)
    axis = int(np.argmax(np.abs(shape[node])))
    signal = run.position.values[:, node, axis] - at_rest[node, axis]
    return frequency(run.time.values, signal, expected)


@pytest.mark.parametrize("N", [1, 2, 7, 20])
def test_hanging_at_rest(N: int, report: Report) -> None:
    """Linear elements are exact here, for any N: nothing moves, and the elongation is the continuous one."""
    body = tl.RigidBody.elliptic_cylinder(0.1, (0.5, 0.4), 0.8, (0.0, 0.0, 0.4))
    pendulum = system(length=10.0, body=body)
    nodes = hanging(pendulum, N)
    assert nodes[-1, 2] - 10.0 == pytest.approx(0.5518, abs=5e-5)
    run = chains.simulate(
        pendulum, chains.ChainState(90.0, 0.0, nodes, np.zeros((N + 1, 3))), tl.Locked(), duration=2.0
    )
    moved = float(np.abs(run.velocity).max())
    # positions are rounded to 2e-15 m, and the highest mode has 280 rad/s at N = 20
    report(f"hanging at rest, N = {N}: speed after 2 s (m/s)", moved, "5e-12")
    check_below("speed", moved, 5e-12)


def test_longitudinal_modes_with_an_end_mass(report: Report) -> None:
    """omega = x c/X with x tan x = mu X/M, approached as N^-2; the paper's string at 10 and 8 m."""
    for X, period in ((10.0, 1.375), (8.0, 1.167)):
        pendulum = system(length=X)
        x = brentq(lambda x, X=X: x * np.tan(x) - 0.025 * X / 0.1, 1e-6, np.pi / 2 - 1e-9)
        exact = x * pendulum.string.wave_speed / X
        assert 2.0 * np.pi / exact == pytest.approx(period, abs=5e-4)
        counts = [4, 8, 16]
        errors = []
        for N in counts:
            shape = np.outer(1e-4 * np.sin(x * np.linspace(0.0, 1.0, N + 1)), [0.0, 0.0, 1.0])
            errors.append(abs(measured_frequency(pendulum, hanging(pendulum, N), shape, N, exact) / exact - 1.0))
        order = check_order([1.0 / N for N in counts], errors, 2.0)
        report(f"longitudinal mode with end mass, X = {X:g} m: order in 1/N", order, "2 +- 0.3")
        report(f"longitudinal mode with end mass, X = {X:g} m: frequency error at N = 16", errors[-1], "1e-3")
        check_below("frequency error", errors[-1], 1e-3)


@pytest.mark.parametrize(("direction", "strain"), [(0, 0.1), (0, 0.4), (2, 0.1)])
def test_wave_speeds_on_a_taut_string(direction: int, strain: float, report: Report) -> None:
    """Transverse sqrt(F/(mu (1 + eps))) in the material coordinate, longitudinal sqrt(EA/mu).

    Half a wave between the guide and a body so heavy that it stands still.
    """
    X = 10.0
    pendulum = system(length=X, mass=1e9, gravity=0.0)
    string = pendulum.string
    tension = string.stiffness * strain
    speed = np.sqrt(tension / (string.density * (1.0 + strain))) if direction == 0 else string.wave_speed
    exact = np.pi * speed / X
    counts, errors = [6, 12, 24], []
    for N in counts:
        along = np.linspace(0.0, 1.0, N + 1)
        taut = np.outer(X * (1.0 + strain) * along, [0.0, 0.0, 1.0])
        shape = np.zeros((N + 1, 3))
        shape[:, direction] = 1e-4 * np.sin(np.pi * along)
        shape[-1] = 0.0
        # a heavy body falls towards the guide by F t^2/(2 M): nothing at this mass
        measured = measured_frequency(pendulum, taut, shape, N // 2, exact)
        errors.append(abs(measured / exact - 1.0))
    order = check_order([1.0 / N for N in counts], errors, 2.0)
    kind = "transverse" if direction == 0 else "longitudinal"
    report(f"{kind} wave, strain {strain:g}: order in 1/N", order, "2 +- 0.3")
    check_below("error of the speed", errors[-1], 2e-3)


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_hanging_chain(mode: int, report: Report) -> None:
    """omega_n = (j_{0,n}/2) sqrt(g/X) without end mass, nearly inextensible: 1.2024, 2.7600, 4.3269 sqrt(g/X)."""
    X = 1.0
    pendulum = system(length=X, density=0.1, stiffness=1e4, mass=1e-7)
    zero = jn_zeros(0, mode)[-1]
    exact = 0.5 * zero * np.sqrt(G / X)
    errors = []
    for N in (8, 16, 32):
        x = np.linspace(0.0, 1.0, N + 1)
        shape = np.outer(1e-5 * j0(zero * np.sqrt(1.0 - x)), [1.0, 0.0, 0.0])
        shape[0] = 0.0
        measured = measured_frequency(pendulum, hanging(pendulum, N), shape, N, exact, periods=3.0)
        errors.append(abs(measured / exact - 1.0))
    report(f"hanging chain, mode {mode}, N = 32: frequency error", errors[-1], "5e-3")
    check_below("frequency error", errors[-1], 5e-3)
    # the end of a chain without load is slack: the order there is a little below 2
    assert errors[0] > 2.5 * errors[1] > 6.25 * errors[2]


def test_one_element_radial_and_swing(report: Report) -> None:
    """N = 1 has closed frequencies; the swing's at X = 10 m is omega^2 = 1.141."""
    X, M, mu, EA = 10.0, 0.1, 0.025, 40.0
    pendulum = system(length=X)
    stretched = X + (M + 0.5 * mu * X) * G * X / EA
    rest = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, stretched]])
    radial = np.sqrt(EA / X / (M + mu * X / 3.0))
    swing = np.sqrt(G * (M + 0.5 * mu * X) / ((M + mu * X / 3.0) * stretched))
    assert swing**2 == pytest.approx(1.141, abs=5e-4)
    for name, axis, exact in (("radial", 2, radial), ("swing", 0, swing)):
        shape = np.zeros((2, 3))
        shape[1, axis] = 1e-5
        error = abs(measured_frequency(pendulum, rest, shape, 1, exact) / exact - 1.0)
        report(f"one element, {name}: frequency error", error, "1e-6")
        check_below(f"{name} frequency error", error, 1e-6)


def test_body_on_its_center_of_mass_is_a_free_rigid_body(report: Report) -> None:
    """rho = 0: R Pi stays constant to rounding, and Omega(t) follows Jacobi's elliptic functions."""
    A, B, C = 0.03, 0.02, 0.011
    body = tl.RigidBody.about_center(0.1, np.diag([A, B, C]), (0.0, 0.0, 0.0))
    pendulum = system(length=10.0, body=body)
    Omega = np.array([1.2, 0.0, 3.0])
    start = chains.straight(pendulum, 10.0, 3, (1, 0, 0), angular_velocity=Omega)
    run = chains.simulate(pendulum, start, tl.Locked(), duration=10.0, step=2e-3, sample=0.05, order=6)
    moments = np.array([A, B, C])
    L = np.einsum("tij,tj->ti", run.attitude.values, moments * run.angular_velocity.values)
    spread = check_close("R Pi", L - L[0], np.zeros_like(L), 1e-14)
    report("rho = 0: change of R Pi over 10 s", spread, "1e-14")

    # Spin near the axis of least inertia: Omega_3 = dn, Omega_2 = sn, Omega_1 = cn with these constants.
    T2 = moments @ Omega**2
    H2 = (moments**2) @ Omega**2
    assert B * T2 > H2, "the motion must be of the kind that the formulas are for"
    rate = np.sqrt((B - C) * (A * T2 - H2) / (A * B * C))
    modulus = (A - B) * (H2 - C * T2) / ((B - C) * (A * T2 - H2))
    sn, cn, dn, _ = ellipj(rate * run.time.values, modulus)
    exact = np.stack(
        [
            np.sqrt((H2 - C * T2) / (A * (A - C))) * cn,
            -np.sqrt((H2 - C * T2) / (B * (B - C))) * sn,
            np.sqrt((A * T2 - H2) / (C * (A - C))) * dn,
        ],
        axis=1,
    )
    signs = np.sign(run.angular_velocity.values[1]) * np.sign(exact[1])
    error = check_close("Omega", run.angular_velocity.values, exact * signs, 1e-9)
    report("rho = 0: Omega against Jacobi's functions over 10 s", error, "1e-9")


def first_reel_acceleration(N: int) -> float:
    """Acceleration of the reel of the paper's string hanging at rest, when it is freed (law `published`)."""
    pendulum = dataclasses.replace(system(length=10.0, law="published"), body=tl.RigidBody.point(0.1))
    state = chains.ChainState(90.0, 0.0, hanging(pendulum, N), np.zeros((N + 1, 3)))
    t = 1e-5
    run = chains.simulate(pendulum, state, tl.Free(), duration=t, step=t / 20, sample=t, order=6)
    return float(run.reel_speed[-1]) / t


def test_freed_reel(report: Report) -> None:
    """s'' = -1.1844 at N = 20, and -1.1875 in the limit: [EL0] of the paper is approached, first order in N."""
    counts = [20, 40, 80]
    values = [first_reel_acceleration(N) for N in counts]
    assert values[0] == pytest.approx(-1.1844, abs=1e-4)
    string, reel = paper_pendulum().string, paper_pendulum().reel
    strain = (0.1 + string.density * 10.0) * G / string.stiffness
    drum = string.density * G * reel.drum_radius * np.sin((90.0 - 0.5) / 0.5)
    guide = string.density * G * reel.guide_length
    limit = -(string.stiffness * strain * (1.0 + strain) + drum + guide) / (string.density * 90.0 + 1.0)
    report("freed reel: s'' at N = 20", values[0], "-1.1844 +- 1e-4")
    report("freed reel: s'' in the limit, from [EL0]", limit, "-1.1875 +- 1e-4")
    assert limit == pytest.approx(-1.1875, abs=1e-4)
    check_order([1.0 / N for N in counts], [abs(v - limit) for v in values], 1.0)
