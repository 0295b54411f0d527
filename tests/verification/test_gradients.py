"""Every derivative in the kernels, term by term.

Derivatives of energies and of the body's formulas are compared with complex steps, f(x + i 1e-30 dx), through
expressions that share nothing with the kernels: the energies that SymPy integrates in test_discrete_equations, and
rotations as matrices. They carry no truncation error, so the tolerances are roundings. The rest is compared with
central differences of the kernel's own values.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautline.kernels import data, elastic, energy, guide, newton, so3
from tautline.kernels import rotation as body
from tautline.kernels.entrance import Entrance
from tests.conftest import Report
from tests.support.checking import check_below, check_close, check_rotation
from tests.support.discrete import (
    LAWS,
    SCHEMES,
    STEP,
    Case,
    energies,
    guide_force,
    legendre_transforms,
    parameter_values,
    random_motion,
    rotation,
)
from tests.support.matrices import Array, as_matrix, as_vector, hat
from tests.support.systems import random_rotation

N = 3
SEEDS = range(4)
TINY = 1e-30
# Sums of some tens of terms, relative to the largest entry.
ROUNDING = 2e-14


def complex_step(f: Callable[[Any], Any], x: Any, directions: Any) -> Array:
    """Derivatives of f along the directions, one a row."""
    x = np.asarray(x, dtype=complex)
    return np.array([np.imag(f(x + 1j * TINY * np.asarray(dx))) / TINY for dx in directions])


def relative_error(value: Any, expected: Any) -> float:
    a, b = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape
    return float(np.abs(a - b).max() / np.abs(b).max())


class Sample(NamedTuple):
    """A pendulum in motion, as the kernels and as the independent expressions take it."""

    par: data.Parameters
    s: float
    sigma: float
    q: Array  # flat
    v: Array  # flat
    R: so3.Matrix
    omega: so3.Vector

    @property
    def element(self) -> float:
        """l."""
        return (self.par.L - self.s) / N

    @property
    def v_N(self) -> so3.Vector:
        return as_vector(rows(self.v)[N])

    @property
    def configuration(self) -> Array:
        return np.concatenate([[self.s], rows(self.q)[1:].ravel(), np.ravel(self.R)])

    @property
    def rates(self) -> Array:
        return np.concatenate([[self.sigma], rows(self.v)[1:].ravel(), self.omega])


def rows(x: Array) -> Array:
    """A flat node array as one row a node."""
    return data.nodes_of(x, N)


def sample(seed: int, scheme: str = "symmetric", law: str = "none") -> Sample:
    par, motion = random_motion(Case(N, scheme, law), seed, [0.8, -1.7, 0.02, -0.3][seed])
    R = rotation(motion.body[data.ATTITUDE : data.ATTITUDE + 4])
    omega = motion.body[data.OMEGA : data.OMEGA + 3]
    q, v = motion.nodes[data.POSITION], motion.nodes[data.VELOCITY]
    return Sample(par, motion.reel[data.S], motion.reel[data.SIGMA], q, v, as_matrix(R), as_vector(omega))


def by_configuration(f: Callable[[Any], Any], x: Sample) -> Array:
    """Gradient in the order of the momenta: s, q_1 ... q_N, and eta with R exp(hat(eta))."""
    size = 1 + 3 * N
    turns = np.zeros((3, size + 9))
    for turn, e in zip(turns, np.eye(3), strict=True):
        turn[size:] = (np.array(x.R) @ hat(e)).ravel()
    return complex_step(f, x.configuration, [*np.eye(size, size + 9), *turns])


def kinetic(x: Sample) -> Callable[[Any, Any], Any]:
    return lambda g, rates: energies(N)[0](parameter_values(x.par), g, rates)


def potential(x: Sample) -> Callable[[Any], Any]:
    return lambda g: energies(N)[1](parameter_values(x.par), g)


def kernel_kinetic(x: Sample) -> float:
    string = energy.kinetic_string(x.par, x.s, x.sigma, x.q, x.v)
    reel = energy.kinetic_reel(x.par, x.s, x.sigma)
    return string + reel + energy.kinetic_body(x.par, x.v_N, x.R, x.omega)


def kernel_momenta(x: Sample) -> Array:
    p = np.zeros_like(x.q)
    P_s = energy.momenta(x.par, x.s, x.sigma, x.q, x.v, p)
    linear, Pi = energy.body_momenta(x.par, x.v_N, x.R, x.omega)
    nodes = rows(p)
    assert not nodes[0].any()
    nodes[N] += linear
    return np.concatenate([[P_s], nodes[1:].ravel(), Pi])


def kernel_forces(x: Sample) -> Array:
    pull = np.zeros_like(x.q)
    elastic.element_pulls(x.par, x.element, x.q, pull)
    nodes = [energy.node_force(x.par, x.element, pull, x.q, i) for i in range(1, N + 1)]
    reel = energy.reel_force(x.par, x.s, x.q)
    return np.concatenate([[reel], np.ravel(nodes), energy.body_moment(x.par, x.R)])


def kernel_kinetic_gradient(x: Sample) -> Array:
    """dT_s/d(s, q_1 ... q_N), assembled from the elements."""
    q, v = rows(x.q), rows(x.v)
    G = np.zeros((N + 1, 3))
    for e in range(N):
        alpha, beta, gamma = energy.transport_weights(N, e)
        D = as_vector(alpha * v[e] + beta * v[e + 1])
        push = energy.transport_force(gamma, x.element, x.sigma, as_vector(q[e] - q[e + 1]), D)
        G[e] += x.par.mu * np.array(push)
        G[e + 1] -= x.par.mu * np.array(push)
    return np.concatenate([[energy.kinetic_gradient_s(x.par, x.s, x.sigma, x.q, x.v)], G[1:].ravel()])


def energy_error(x: Sample) -> float:
    gravity = energy.gravity_reel(x.par, x.s) + energy.gravity_deployed(x.par, x.s, x.q, x.R)
    V = gravity + energy.elastic(x.par, x.s, x.q)
    T_error = relative_error(kernel_kinetic(x), kinetic(x)(x.configuration, x.rates))
    return max(T_error, relative_error(V, potential(x)(x.configuration)))


def momentum_error(x: Sample) -> float:
    p = complex_step(lambda rates: kinetic(x)(x.configuration, rates), x.rates, np.eye(len(x.rates)))
    return relative_error(kernel_momenta(x), p)


def force_error(x: Sample) -> float:
    return relative_error(kernel_forces(x), -by_configuration(potential(x), x))


def kinetic_gradient_error(x: Sample) -> float:
    G = by_configuration(lambda g: kinetic(x)(g, x.rates), x)
    return relative_error(kernel_kinetic_gradient(x), G[: 1 + 3 * N])


def euler_error(x: Sample) -> float:
    return relative_error(kernel_momenta(x) @ x.rates, 2.0 * kernel_kinetic(x))


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("kinetic and potential energy", energy_error),
        ("momenta = dT/d(sigma, v, Omega)", momentum_error),
        ("forces = -dV/d(s, q, R)", force_error),
        ("G = dT_s/d(s, q)", kinetic_gradient_error),
        ("2 T = p_s sigma + p.v + Pi.Omega", euler_error),
    ],
)
def test_energies_and_their_gradients(what: str, error: Callable[[Sample], float], report: Report) -> None:
    largest = max(error(sample(seed)) for seed in SEEDS)
    report(what, check_below(what, largest, ROUNDING), f"< {ROUNDING:g}")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [0.0, 2e-4, -3e-3, 0.5, -4.0])
def test_carnot_force_and_its_slope(law: str, sigma: float) -> None:
    x = sample(0, law=law)
    strains = np.linalg.norm(np.diff(rows(x.q), axis=0), axis=1) / x.element - 1.0
    strain = energy.strain_at_guide(x.par, x.q, x.element)
    check_close("strain", strain, strains[0], ROUNDING)
    at_guide = energy.strain_at_guide(x.par._replace(extrapolated=True), x.q, x.element)
    check_close("extrapolated strain", at_guide, 1.5 * strains[0] - 0.5 * strains[1], ROUNDING)
    Q, slope = guide.carnot_force(x.par, Entrance(strain, 0.0), sigma)
    expected = complex_step(lambda y: guide_force(x.par, strain, y), sigma, [1.0])[0]
    scale = x.par.EA * strain**2
    check_close("Q", Q, guide_force(x.par, strain, sigma), ROUNDING * scale)
    check_close("dQ/dsigma", slope, expected, ROUNDING * scale / x.par.sigma_0)


def stretched_force(par: data.Parameters, at: Entrance, sigma: Any) -> Any:
    """Equation 63 less -W(spooled)."""
    sign = sigma / np.sqrt(sigma**2 + par.sigma_0**2)
    if np.real(sigma) >= 0.0:
        return -sign * par.EA * (at.strain**2 - at.spooled**2) / 2.0
    return -sign * (par.mu * sigma**2 + par.EA) * (at.strain - at.spooled) ** 2 / 2.0


@pytest.mark.parametrize("spooled", [0.0, 0.03, 0.2, -0.05])
@pytest.mark.parametrize("sigma", [0.0, 2e-4, -3e-3, 0.5, -4.0])
def test_stretched_force_and_its_slope(spooled: float, sigma: float) -> None:
    par, at = sample(0, law="stretched").par, Entrance(0.1, spooled)
    Q, slope = guide.carnot_force(par, at, sigma)
    expected = complex_step(lambda y: stretched_force(par, at, y), sigma, [1.0])[0]
    scale = par.EA * 0.2**2
    check_close("Q", Q, stretched_force(par, at, sigma), ROUNDING * scale)
    check_close("dQ/dsigma", slope, expected, ROUNDING * scale / par.sigma_0)


@pytest.mark.parametrize(("spooled", "h"), [(0.0, 1e-4), (0.0, 1.0), (0.03, 1e-4), (0.03, 1.0), (0.2, 1e-4)])
def test_reel_equation_of_a_drum_that_stores_strain_is_solved(spooled: float, h: float) -> None:
    """Also where the string on the drum is tighter than the one that comes in, and Q helps."""
    par, at = sample(1, law="stretched").par, Entrance(0.1, spooled)
    pivot = 2.5
    for sigma in (0.0, 1e-4, -2e-3, 0.5, -3.0):
        for residual in (0.0, 1e-5, -0.02, 4.0):
            dsigma = guide.solve_with_carnot_force(par, at, sigma, h, pivot, residual)
            Q = guide.carnot_force(par, at, sigma + dsigma)[0]
            scale = abs(residual) + pivot * (abs(sigma) + abs(dsigma)) + h * par.EA * 0.04
            check_close("reel equation", pivot * dsigma, residual + h * Q, ROUNDING * scale)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("h", [1e-4, 1e-2, 1.0])
def test_reel_equation_with_carnot_force_is_solved(law: str, h: float) -> None:
    """pivot x = residual + h Q(sigma + x), from speeds within and far outside the smoothing."""
    x = sample(1, law=law)
    strain = 0.1
    at = Entrance(strain, 0.0)
    for sigma in (0.0, 1e-4, -2e-3, 0.5, -3.0):
        for residual in (0.0, 1e-5, -0.02, 4.0):
            pivot = 2.5
            dsigma = guide.solve_with_carnot_force(x.par, at, sigma, h, pivot, residual)
            Q = guide.carnot_force(x.par, at, sigma + dsigma)[0]
            scale = abs(residual) + pivot * (abs(sigma) + abs(dsigma)) + h * x.par.EA * strain**2
            check_close("reel equation", pivot * dsigma, residual + h * Q, ROUNDING * scale)


def cayley_matrix(c: Any) -> Any:
    """(I + hat(c)) (I - hat(c))^{-1}; the factors commute."""
    return np.linalg.solve(np.eye(3) - hat(c), np.eye(3) + hat(c))


def discrete_spin(A: Array, h: float, omega: Any) -> Any:
    """(F A_d - A_d F^T)^v/h with A_d = tr(A)/2 I - A."""
    F = cayley_matrix(0.5 * h * omega)
    A_d = 0.5 * np.trace(A) * np.eye(3) - A
    S = (F @ A_d - A_d @ F.T) / h
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def turning_error(x: Sample, h: float) -> float:
    """Error of solve_rotation, which inverts the Cayley momentum, of mean swing, and of their derivatives."""
    omega = np.array(x.omega)

    def spin(y: Any) -> Any:
        return discrete_spin(np.array(x.par.J), h, y)

    def swing(y: Any) -> Any:
        return (cayley_matrix(0.5 * h * y) - np.eye(3)) @ x.par.rho / h

    b = as_vector(spin(omega))
    phi = body.mean_swing(h, x.omega, x.par.rho)
    along = [body.mean_swing_along(h, x.omega, x.par.rho, phi, as_vector(e)) for e in np.eye(3)]
    found, _, not_converged = body.solve_rotation(x.par.J, h, b, as_vector(0.9 * omega))
    _, by_b, _ = body.solve_rotation(x.par.J, h, b, x.omega)
    assert not not_converged
    slope = complex_step(spin, omega, np.eye(3)).T
    return max(
        relative_error(found, omega),
        relative_error(np.array(by_b) @ slope, np.eye(3)) / float(np.linalg.cond(slope)),
        relative_error(phi, swing(omega)),
        relative_error(np.transpose(along), complex_step(swing, omega, np.eye(3)).T),
    )


@pytest.mark.parametrize("h", [1e-3, 0.1, 3.0])
def test_cayley_momentum_and_mean_swing(h: float, report: Report) -> None:
    """At large h every term counts."""
    largest = max(turning_error(sample(seed), h) for seed in SEEDS)
    # the matrix formulas divide F - I and F - F^T by h
    bound = ROUNDING + 1e-15 / h
    report(f"h = {h:g}: Cayley momentum and mean swing", check_below("error", largest, bound), f"< {bound:.1g}")


def test_rotation_at_step_zero_is_the_legendre_transform() -> None:
    x = sample(0)
    psi = as_vector(np.array(x.par.J) @ x.omega)
    found, by_b, _ = body.solve_rotation(x.par.J, 0.0, psi, (0.0, 0.0, 0.0))
    phi = body.mean_swing(0.0, x.omega, x.par.rho)
    along = body.mean_swing_along(0.0, x.omega, x.par.rho, phi, (1.0, 2.0, 3.0))
    check_close("omega", found, x.omega, 1e-13)
    check_close("domega/dpsi", np.array(by_b) @ x.par.J, np.eye(3), 1e-13)
    check_close("phi", phi, np.cross(x.omega, x.par.rho), 1e-15)
    check_close("dphi", along, np.cross((1.0, 2.0, 3.0), x.par.rho), 1e-15)


def step_equations(x: Sample, rates: Any) -> Any:
    """Right-hand sides of section 4 for g_k = x: -D1 L_d without the potential."""
    omega = rates[-3:]
    f = np.concatenate([STEP * rates[:-3], cayley_matrix(0.5 * STEP * omega).ravel()])
    minus_D1 = np.array(legendre_transforms(N)(parameter_values(x.par), STEP, x.configuration, f)[0])
    return minus_D1 - 0.5 * STEP * by_configuration(potential(x), x)


def kernel_solution(x: Sample, left_hand_sides: Array, start: Array, iterations: int) -> Array:
    """The rates after so many corrections, from a guess of sigma and Omega."""
    scratch = data.empty_scratch(N)
    p = scratch.nodes[data.TARGET]
    rows(p)[1:] = left_hand_sides[1:-3].reshape(-1, 3)
    target = newton.Target(float(left_hand_sides[0]), as_vector(left_hand_sides[-3:]), Entrance(0.1, 0.0))
    rates = newton.Rates(float(start[0]), as_vector(start[-3:]))
    for _ in range(iterations):
        equations = newton.Equations(STEP, x.s, x.q, p, 0.0, x.R, target)
        found = newton.newton_correction(x.par, equations, rates, scratch)
        rates = found.rates
    v = scratch.nodes[data.AT_SIGMA] + found.along * scratch.nodes[data.BY_SIGMA]
    return np.concatenate([[rates.sigma], rows(v)[1:].ravel(), rates.omega])


def newton_error(x: Sample, off: float, iterations: int) -> float:
    """From left-hand sides of known rates, and a guess of sigma that is off by so much."""
    rates = x.rates + 0.3 * np.cos(np.arange(len(x.rates)))
    start = rates + np.eye(1, len(rates))[0] * off
    return relative_error(kernel_solution(x, step_equations(x, rates), start, iterations), rates)


@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
def test_newton_solves_the_step_equations(scheme: str, report: Report) -> None:
    """From a guess of sigma that is far off; left-hand sides follow from the discrete Lagrangian."""
    largest = max(newton_error(sample(seed, scheme), 0.5, 8) for seed in SEEDS)
    # roundings times the condition of the matrix, some hundreds
    report(f"{scheme}: solution of the step equations", check_below("error", largest, 1e-11), "< 1e-11")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_newton_converges_quadratically(scheme: str, report: Report) -> None:
    """One correction leaves the square of what sigma was off by: all derivatives by sigma are right."""
    for seed in SEEDS:
        coarse, fine = (newton_error(sample(seed, scheme), off, 1) for off in (1e-2, 1e-3))
        order = np.log10(coarse / fine)
        report(f"{scheme}, {seed}: order of one correction", check_close("order", order, 2.0, 0.1), "2 +- 0.1")


unit = st.floats(-1.0, 1.0)
directions = st.tuples(unit, unit, unit).filter(lambda a: max(map(abs, a)) > 1e-3)


def scaled(exponents: st.SearchStrategy[float]) -> st.SearchStrategy[so3.Vector]:
    return st.builds(lambda a, k: as_vector(np.array(a) * 10.0**k), directions, exponents)


# Near the identity, at half turns (very large c), and in between.
any_size = st.one_of(st.just((0.0, 0.0, 0.0)), scaled(st.floats(-300.0, 150.0)), scaled(st.floats(-9.0, 3.0)))
moderate = scaled(st.floats(-9.0, 1.0))
rotations = st.integers(0, 2**32 - 1).map(lambda seed: random_rotation(np.random.default_rng(seed)))
quaternions = st.tuples(unit, unit, unit, unit).filter(lambda Q: np.linalg.norm(Q) > 0.1)
# A few roundings in each of the nine entries.
GROUP_ROUNDING = 4e-15


@given(c=any_size)
def test_cayley_is_a_rotation_about_its_argument(c: so3.Vector) -> None:
    F = so3.cayley(c)
    check_rotation(F, GROUP_ROUNDING)
    check_close("cay(c) c", np.array(F) @ c, c, GROUP_ROUNDING * np.abs(c).max())
    minus_c = as_vector(-np.array(c))
    check_close("cay(-c) = cay(c)^T", so3.cayley(minus_c), so3.transpose(F), 0.0)


@given(c=moderate)
def test_cayley_is_the_quotient_of_matrices(c: so3.Vector) -> None:
    check_close("cay", so3.cayley(c), cayley_matrix(np.array(c)), 1e-13)


@given(a=moderate, b=moderate)
def test_cayley_of_a_composition(a: so3.Vector, b: so3.Vector) -> None:
    """cay(a) cay(b) = cay((a + b + a x b)/(1 - a.b)), and the unit is cay(0)."""
    x, y = np.array(a), np.array(b)
    product = np.array(so3.cayley(a)) @ so3.cayley(b)
    check_close("product", so3.matmul(so3.cayley(a), so3.cayley(b)), product, GROUP_ROUNDING)
    scale = 1.0 - x @ y
    # 1 - a.b cancels where the product is nearly a half turn
    tolerance = GROUP_ROUNDING * (1.0 + (1.0 + np.abs(x @ y)) / abs(scale)) if scale else np.inf
    if tolerance < 1e-12:
        c = as_vector((x + y + np.cross(x, y)) / scale)
        check_close("composition", so3.cayley(c), product, tolerance)
    check_close("unit", so3.cayley((0.0, 0.0, 0.0)), np.eye(3), 0.0)


@given(c=any_size, A=rotations)
def test_cayley_turns_with_its_argument(c: so3.Vector, A: Array) -> None:
    """A cay(c) A^T = cay(A c)."""
    check_close("cay(A c)", so3.cayley(as_vector(A @ c)), A @ so3.cayley(c) @ A.T, GROUP_ROUNDING)


@given(c=any_size, Q=quaternions, size=st.floats(0.5, 2.0))
def test_quaternion_increment_turns_by_cayley(c: so3.Vector, Q: so3.Quaternion, size: float) -> None:
    """rotation_of(Q + dQ) = rotation_of(Q) cay(c) whatever the length of Q, which the turn keeps."""
    P = size * np.array(Q) / np.linalg.norm(Q)
    start: Any = tuple(P.tolist())
    end = P + so3.quaternion_increment(start, c)
    R = np.array(so3.rotation_of(start))
    check_close("rotation_of", R, rotation(P), GROUP_ROUNDING)
    check_close("turned", so3.rotation_of(tuple(end.tolist())), R @ so3.cayley(c), GROUP_ROUNDING)
    check_close("length", np.linalg.norm(end), size, GROUP_ROUNDING)
    check_rotation(R, GROUP_ROUNDING)
    check_close("error", so3.orthogonality_error(as_matrix(R)), np.linalg.norm(R.T @ R - np.eye(3)), GROUP_ROUNDING)


@given(c=scaled(st.floats(-150.0, 150.0)))
def test_quaternion_increment_has_no_cancellation(c: so3.Vector) -> None:
    """From Q = 1 the increment is (1/sqrt(1 + |c|^2) - 1, c/sqrt(1 + |c|^2)), to relative rounding."""
    found = so3.quaternion_increment((1.0, 0.0, 0.0, 0.0), c)
    with localcontext(prec=700):  # 1 + 1e-300 takes 300 digits
        a = 1 / sum((Decimal(x) ** 2 for x in c), Decimal(1)).sqrt()
        expected = [float(a - 1), *(float(a * Decimal(x)) for x in c)]
    for x, y in zip(found, expected, strict=True):
        check_close("increment", x, y, 1e-15 * abs(y) + 5e-324)  # below normal numbers the last bit is all there is


@given(c=scaled(st.floats(-100.0, 100.0)), x=moderate)
def test_cayley_increment_has_no_cancellation(c: so3.Vector, x: so3.Vector) -> None:
    """(F - I) x in exact fractions; rounding relative to the size of its terms."""
    a, y = ([Fraction(z) for z in vector] for vector in (c, x))

    def exact_cross(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
        return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]

    once = exact_cross(a, y)
    twice = exact_cross(a, once)
    f = 2 / (1 + sum(z * z for z in a))
    expected = [float(f * (u + w)) for u, w in zip(once, twice, strict=True)]
    size = np.abs(c).max()
    terms = 2.0 / (1.0 + size * size) * size * (1.0 + size) * np.abs(x).max()
    check_close("increment", so3.cayley_increment(c, x), expected, 4e-15 * terms)


@given(U=rotations, V=rotations, exponents=directions, b=directions)
def test_solve3(U: Array, V: Array, exponents: so3.Vector, b: so3.Vector) -> None:
    """Against LAPACK, for conditions up to 1e4, within the bound of rounding in products of three entries."""
    A = U @ np.diag(100.0 ** np.array(exponents)) @ V
    expected = np.linalg.solve(A, b)
    rounded = np.finfo(float).eps * np.linalg.norm(A) ** 3 / abs(np.linalg.det(A))
    check_close("x", so3.solve3(as_matrix(A), b), expected, rounded * np.abs(expected).max())


def test_solve3_of_a_singular_matrix_is_not_a_number() -> None:
    assert np.isnan(so3.solve3(as_matrix(np.ones((3, 3))), (1.0, 2.0, 3.0))).all()
