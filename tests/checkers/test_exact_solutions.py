"""Closed solutions of tests/support/exact against differences, sums and integrators: tautline has no part in it."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.linalg import eigh, expm

from tests.support.checking import check_close, check_order
from tests.support.exact import bars, bodies, strings

G = 9.81
WINCH = bars.Bar(length=200.0, density=0.3, stiffness=5e6, mass=500.0)
DAMPED = bars.Bar(length=10.0, density=0.3, stiffness=4e3, mass=1.0, viscosity=30.0)


def test_stopped_bar_by_shifting_waves() -> None:
    """T + Z v runs to the guide and T - Z v to the mass, by a cell in a step; midpoint rule at the mass."""
    cells, speed, Z = 400, 2.0, WINCH.impedance
    h = WINCH.transit() / cells
    to_guide, to_mass = deque([Z * speed] * cells), deque([-Z * speed] * cells)
    velocity, tensions = speed, []
    for _ in range(10 * cells):
        tension, arriving = to_guide.popleft(), to_mass.popleft()
        # M v' = -T with T = arriving + Z v, at half of the step
        mean = (velocity - 0.5 * h / WINCH.mass * arriving) / (1.0 + 0.5 * h * Z / WINCH.mass)
        velocity = 2.0 * mean - velocity
        to_guide.append(arriving + 2.0 * Z * mean)
        to_mass.append(tension)  # v = 0 at the guide
        tensions.append(tension)
    exact = bars.stopped_tension(WINCH, speed, np.linspace(0.5 * h, (len(tensions) - 0.5) * h, len(tensions)))
    check_close("tension", tensions, exact, 1e-5 * Z * speed)


def test_peak_of_the_stopped_winch() -> None:
    """200 m of 0.3 kg/m and 5 MN, 500 kg, 2 m/s: plateau 2449 N, and 15650 N with the weight."""
    plateau = bars.stopped_tension(WINCH, 2.0, np.linspace(1e-6, 2.0 * WINCH.transit() - 1e-6, 50))
    check_close("plateau", plateau, np.full(50, 2449.49), 0.01)
    check_close("peak", bars.first_peak_of_stopped_tension(WINCH, 2.0) + 560.0 * G, 15650.4, 0.1)


def test_stopped_bar_by_modes_and_by_characteristics() -> None:
    """The velocity of the mass, whose sum converges: characteristics give g(t + X/c) - g(t - X/c)."""
    time = np.linspace(1e-3, 0.5, 101)
    h, transit, scale = 1e-6, WINCH.transit(), 2.0 * WINCH.impedance
    modes = bars.modes(WINCH, 4000, np.array([WINCH.length]))
    later, earlier = (bars.stopped(modes, WINCH, 2.0, t)[0][:, 0] for t in (time + h, time - h))
    coming = np.full_like(time, -1.0)
    coming[time > transit] = bars.stopped_tension(WINCH, 2.0, time[time > transit] - transit) / scale
    exact = bars.stopped_tension(WINCH, 2.0, time + transit) / scale - coming
    check_close("velocity", (later - earlier) / (2.0 * h), exact, 2e-3)


def test_steady_payout_satisfies_its_equations() -> None:
    """mu r_tt = T' + mu g along the string, M r_tt = M g - T at its end, r = 0 at the guide; by differences."""
    v, h, X = 8.0, 1e-3, 10.0
    material = np.array([0.0, 4.0, X])  # from the guide at t = 0

    def at(t: float, x: np.ndarray, rate: float = v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bar = bars.Bar(X + v * t, 0.025, 40.0, 0.1)
        return bars.steady_payout(bar, v, G, x, np.full_like(x, rate))

    before, now, after = (at(t, material + v * t) for t in (-h, 0.0, h))
    check_close("velocity", now[1], (after[0] - before[0]) / (2.0 * h), 1e-6)
    acceleration = (after[0] - 2.0 * now[0] + before[0]) / h**2
    check_close("strain of the material", after[2], before[2], 1e-12)
    slope = (at(0.0, material + h)[2] - at(0.0, material - h)[2]) / (2.0 * h)
    check_close("string", 0.025 * acceleration, slope + 0.025 * G, 1e-6)
    check_close("mass", 0.1 * acceleration[-1], 0.1 * G - now[2][-1], 1e-6)
    check_close("guide", at(0.3, np.zeros(1), 0.0)[0], np.zeros(1), 1e-15)


def test_damped_mesh_by_its_matrices() -> None:
    """exp(A t) of the first-order system, without modes."""
    N, bar, speed = 6, DAMPED, 2.0
    l = bar.length / N
    K = np.diag(np.append(np.full(N - 1, 2.0), 1.0)) - np.eye(N, k=1) - np.eye(N, k=-1)
    M = bar.density * l / 6.0 * (np.diag(np.append(np.full(N - 1, 4.0), 2.0)) + np.eye(N, k=1) + np.eye(N, k=-1))
    M[-1, -1] += bar.mass
    momenta = np.full(N, bar.density * l)
    momenta[-1] = 0.5 * bar.density * l + bar.mass
    inverse = np.linalg.inv(M)
    pull = -inverse @ K / l
    A = np.block([[np.zeros((N, N)), np.eye(N)], [bar.stiffness * pull, bar.viscosity * pull]])
    start = np.concatenate([np.zeros(N), speed * inverse @ momenta])
    time = np.array([0.01, 0.1, 0.3])
    states = np.array([expm(A * t) @ start for t in time])
    displacements, tension = bars.stopped(bars.mesh_modes(bar, N), bar, speed, time)
    check_close("displacements", displacements[:, 1:], states[:, :N], 1e-12)
    check_close("tension", tension, (bar.stiffness * states[:, 0] + bar.viscosity * states[:, N]) / l, 1e-9)


def test_damped_mesh_approaches_the_damped_bar() -> None:
    time = np.linspace(0.05, 0.6, 30)
    exact = bars.stopped(bars.modes(DAMPED, 400, np.array([DAMPED.length])), DAMPED, 1.0, time)[1]
    counts = [20, 40, 80]
    errors = [
        float(np.abs(bars.stopped(bars.mesh_modes(DAMPED, N), DAMPED, 1.0, time)[1] - exact).max()) for N in counts
    ]
    # at l/2 from the guide the slope is that at the guide to second order
    check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)


def test_decay_by_the_characteristic_equation() -> None:
    """mu x^2 + (EA + eta x) k^2 = 0 along the bar and M x^2 sin kX + (EA + eta x) k cos kX = 0 at its end, with the
    complex rate x of each mode; a mode that is damped too much has no frequency."""
    modes = bars.modes(DAMPED, 3, np.array([DAMPED.length]))
    delta, w = bars.decay_and_frequency(modes.frequencies, DAMPED)
    root = -delta + 1j * w
    modulus = DAMPED.stiffness + DAMPED.viscosity * root
    k = modes.slopes_at_guide
    check_close("string", np.abs(root**2 * DAMPED.density + modulus * k**2), np.zeros(3), 1e-9)
    end = DAMPED.mass * root**2 * np.sin(k * DAMPED.length) + modulus * k * np.cos(k * DAMPED.length)
    check_close("end", np.abs(end), np.zeros(3), 1e-8)
    assert np.isnan(bars.decay_and_frequency(np.array([2.01 * DAMPED.stiffness / DAMPED.viscosity]), DAMPED)[1])


@pytest.mark.parametrize("rate", [2.4, -2.4])
def test_eyelet_satisfies_the_wave_equation(rate: float) -> None:
    length, c, t, h = 10.0, 12.0, 1.3, 1e-3
    x = np.linspace(0.5, length + rate * t - 0.5, 7)

    def u(x: np.ndarray, t: float) -> np.ndarray:
        return strings.drawn_through_an_eyelet(2, length, rate, c, x, t)[0]

    second = (u(x, t + h) - 2.0 * u(x, t) + u(x, t - h)) / h**2
    along = (u(x + h * c, t) - 2.0 * u(x, t) + u(x - h * c, t)) / h**2
    check_close("wave equation", second, along, 1e-7)
    _, u_t, u_x = strings.drawn_through_an_eyelet(2, length, rate, c, x, t)
    check_close("u_t", u_t, (u(x, t + h) - u(x, t - h)) / (2.0 * h), 1e-3)
    check_close("u_x", u_x, (u(x + h, t) - u(x - h, t)) / (2.0 * h), 1e-3)
    ends = [float(u(np.array([0.0, length + rate * t]), t)[i]) for t in (0.0, 1.0, 2.0) for i in (0, 1)]
    check_close("ends", ends, np.zeros(6), 1e-12)


@pytest.mark.parametrize(("length", "rate"), [(2.0, 1.5), (10.0, -1.5)])
def test_pendulum_of_changing_length(length: float, rate: float) -> None:
    time = np.linspace(0.0, 5.0, 11)

    def rates(t: float, y: np.ndarray) -> list[float]:
        l = length + rate * t
        return [y[1], -(2.0 * rate * y[1] + G * y[0]) / l]

    found = solve_ivp(rates, (0.0, 5.0), [1.0, 0.0], "DOP853", t_eval=time, rtol=1e-11, atol=1e-12)
    check_close("angle", strings.angle_of_lengthening_pendulum(length, rate, G, time), found.y[0], 1e-8)


def test_pumped_pendulum_grows_as_predicted() -> None:
    """exp(3/4 part omega t), up to the order of part^2."""
    length, part = 2.0, 0.01
    omega = np.sqrt(G / length)
    time = np.linspace(0.0, 200.0 * np.pi / omega, 10001)
    angle = np.abs(strings.angle_of_pumped_pendulum(length, part, 2.0 * omega, G, time))
    tops = [angle[(time > a * np.pi / omega) & (time < (a + 2.0) * np.pi / omega)].max() for a in (100.0, 190.0)]
    check_close("growth rate", np.log(tops[1] / tops[0]) / (90.0 * np.pi), 0.75 * part, 0.01 * 0.75 * part)


def test_rope_off_its_drum_keeps_its_energy() -> None:
    """Kinetic energy from the way: t = integral dX/X', with X' from the heights in (6)."""
    reeled, deployed, mu, M, d, b, kappa = 18.0, 2.0, 0.5, 3.0, 0.3, 0.4, 4.0
    total, mass = reeled + deployed, kappa + mu * (reeled + deployed) + M
    given = {"density": mu, "mass": M, "drum": d, "guide": b, "inertia": kappa, "gravity": G}
    last = strings.running_off(reeled=reeled, deployed=deployed, **given, time=1.5)

    def height(X: float) -> float:
        s = total - X
        spooled = -(s - b) * b + d**2 * (float(np.cos((s - b) / d)) - 1.0)
        return -mu * G * spooled - 0.5 * mu * G * X**2 - M * G * X

    # X = deployed + y^2 takes the root from the beginning
    def inverse_speed(y: float) -> float:
        return float(2.0 * y / np.sqrt(2.0 * (height(deployed) - height(deployed + y * y)) / mass))

    check_close("time", quad(inverse_speed, 0.0, np.sqrt(last - deployed), epsabs=1e-10)[0], 1.5, 1e-7)


def test_whirling_string_balances() -> None:
    X, mu, EA, M, rate = 10.0, 0.1, 400.0, 0.2, 3.0
    zeta = np.linspace(0.0, X, 2001)
    r, T = strings.whirling(zeta, X, mu, EA, M, rate)
    check_close("strain", T / EA + 1.0, np.gradient(r, zeta, edge_order=2), 1e-5)
    check_close("root", T[0], M * rate**2 * r[-1] + mu * rate**2 * np.trapezoid(r, zeta), 1e-4)


def test_elastic_catenary_by_quadrature() -> None:
    X, w, EA, H, V = 10.0, 4.0, 500.0, 20.0, -15.0

    def slope(zeta: float, which: int) -> float:
        pull = np.array([H, V + w * (X - zeta)])
        T = np.hypot(*pull)
        return float((1.0 + T / EA) * pull[which] / T)

    for zeta in (3.0, X):
        exact = [quad(slope, 0.0, zeta, (which,), epsabs=1e-12)[0] for which in (0, 1)]
        check_close("place", strings.elastic_catenary(np.array([zeta]), X, w, EA, H, V)[0], exact, 1e-10)


def test_folded_chain_by_its_equation_of_motion() -> None:
    """(L - x) x'' = g (L - x) + x'^2/2: the tension mu x'^2/4 at the fold pulls the half that falls."""
    assert strings.time_of_folded_chain(0.9) == pytest.approx(0.8323, abs=5e-5)

    def fallen(_: float, y: np.ndarray) -> float:
        return float(y[0] - 0.5)

    found = solve_ivp(
        lambda _, y: [y[1], 1.0 + 0.5 * y[1] ** 2 / (1.0 - y[0])],
        (0.0, 1.2),
        [0.0, 0.0],
        "DOP853",
        events=fallen,
        rtol=1e-11,
        atol=1e-12,
    )
    check_close("time", found.t_events[0][0] / np.sqrt(2.0), strings.time_of_folded_chain(0.5), 1e-9)


@pytest.mark.parametrize("weight", [0.5, -0.15])
def test_hanging_frequencies_by_elements(weight: float) -> None:
    """Linear elements across a string of given tension; as the weight vanishes and the mass grows, the taut string."""
    X, m, M, W = 10.0, 0.14, 0.3, 10.0
    exact = strings.hanging_frequencies(3, X, m, weight, M, W)
    counts, errors = [20, 40, 80], []
    for N in counts:
        l = X / N
        # node 0 is the body, node N the guide
        T = W + weight * (np.arange(N) + 0.5) * l
        K, I = np.zeros((N + 1, N + 1)), np.zeros((N + 1, N + 1))
        for e in range(N):
            K[e : e + 2, e : e + 2] += T[e] / l * np.array([[1.0, -1.0], [-1.0, 1.0]])
            I[e : e + 2, e : e + 2] += m * l / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
        I[0, 0] += M
        found = np.sqrt(eigh(K[:N, :N], I[:N, :N], eigvals_only=True)[:3])
        errors.append(float(np.abs(found / exact - 1.0).max()))
    check_order([1.0 / N for N in counts], errors, 2.0, tolerance=0.1)
    heavy = strings.hanging_frequencies(4, X, m, 1e-3 * np.sign(weight), 1e7, 2000.0)[1:]
    check_close("taut", heavy, strings.taut_frequencies(3, X, 2000.0, 0.0, m), 1e-3)


def test_rope_in_water() -> None:
    """A 10 mm rope of 63 g/m, 10 m long with 200 kg, has 8.82 Hz in air and 5.85 Hz with its added mass, C_a = 1."""
    water = 1025.0 * 0.25 * np.pi * 0.01**2
    air, wet = (strings.taut_frequencies(1, 10.0, 200.0 * G, 0.0, 0.063 + m)[0] / (2.0 * np.pi) for m in (0.0, water))
    check_close("frequencies", [air, wet], [8.82, 5.85], 0.005)


def test_fall_spin_and_drum() -> None:
    time = np.linspace(0.0, 3.0, 7)
    m, W, c = 2.3, 14.7, 5.0
    found = solve_ivp(
        lambda _, y: [y[1], (W - c * y[1] ** 2) / m], (0.0, 3.0), [0.0, 0.0], "DOP853", time, rtol=1e-11, atol=1e-12
    )
    check_close("fall", bodies.fall_with_drag(m, W, c, time), found.y, 1e-9)
    assert np.isfinite(bodies.fall_with_drag(m, W, c, np.array([1e4]))).all()
    found = solve_ivp(
        lambda _, y: [y[1], (W - c * y[1]) / (m + 1.0)], (0.0, 3.0), [0.0, 0.0], "DOP853", time, rtol=1e-11, atol=1e-12
    )
    check_close("drum", bodies.drum_with_friction(m, 1.0, c, W, time), found.y, 1e-9)
    J, damping, start = np.array([0.02, 0.02, 0.03]), 4e-3, [1.0, 0.5, 6.0]
    found = solve_ivp(
        lambda _, o: (-np.cross(o, J * o) - damping * o) / J, (0.0, 3.0), start, "DOP853", time, rtol=1e-11, atol=1e-12
    )
    check_close("spin", bodies.spin_with_damping(start, J[2], J[0], damping, time), found.y.T, 1e-8)
    free = bodies.spin_with_damping(start, J[2], J[0], 0.0, time)
    check_close("free spin", free, bodies.spin_with_damping(start, J[2], J[0], 1e-12, time), 1e-6)


def test_pirouette() -> None:
    lengths = np.array([3.0, 2.0, 1.0])
    check_close("stiff", strings.pirouette_rate(lengths, 9.0, 1.0, 1e12), 9.0 / lengths**2, 1e-8)
    r = np.sqrt(9.0 / strings.pirouette_rate(lengths, 9.0, 1.0, 1e3))
    check_close("spring force", 1e3 * (r / lengths - 1.0), 81.0 / r**3, 1e-8)


def test_turn_of_the_spring_by_the_three_waves() -> None:
    """The averaged equations integrated over one exchange, between two maxima of the swing."""
    a, b, c = 0.04, -0.03427j / np.pi, 0.08

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        A, B, C = y[:3] + 1j * y[3:]
        change = -1j * np.array([C * np.conj(B), C * np.conj(A), 0.25 * A * B])
        return np.concatenate([change.real, change.imag])

    def swing_is_widest(_: float, y: np.ndarray) -> float:
        A, B, C = y[:3] + 1j * y[3:]
        return float((C * np.conj(A * B)).imag)

    swing_is_widest.direction = -1.0  # type: ignore[attr-defined]
    start = np.array([a + 1j * b, a - 1j * b, c])
    found = solve_ivp(
        rates,
        (0.0, 300.0),
        np.concatenate([start.real, start.imag]),
        "DOP853",
        events=swing_is_widest,
        rtol=1e-11,
        atol=1e-13,
    )
    waves = found.y_events[0][:, :3] + 1j * found.y_events[0][:, 3:]
    axis = 0.5 * np.unwrap(np.angle(waves[:, 1] / waves[:, 0]))
    turns = (np.diff(axis) + 0.5 * np.pi) % np.pi - 0.5 * np.pi
    check_close("turn", turns[1:3], np.full(2, bodies.turn_of_swinging_spring((a, b), c)), 1e-6)


def test_top_on_a_string_by_its_state_matrix() -> None:
    length, m_s, M, a, A, C, spin, EA = 1.0, 0.1, 0.5, 0.15, 0.0141, 0.0033, 40.0, 2e3
    nu, tilt = bodies.top_on_a_string(
        length=length, string_mass=m_s, mass=M, arm=a, across=A, axial=C, spin=spin, gravity=G, stiffness=EA
    )
    lam = length * (1.0 + (M + 0.5 * m_s) * G / EA)
    mass = np.array([[M + m_s / 3.0, M * a], [M * a, A]])
    stiff = np.diag([(M + 0.5 * m_s) * G / lam, M * G * a])
    gyro = np.diag([0.0, -1j * C * spin])
    matrix = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(mass, stiff), -np.linalg.solve(mass, gyro)]])
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(values.imag)
    check_close("frequencies", nu, values.imag[order], 1e-9)
    check_close("tilt", tilt, (vectors[1] / vectors[0]).real[order], 1e-8)
