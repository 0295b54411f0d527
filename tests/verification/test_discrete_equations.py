"""The step against the discrete Lagrangian it comes from, derived by SymPy (docs/theory.md, sections 2 to 5).

Nothing of the derivation is taken from the kernels: the kinetic energy is the integral of the squared velocity
field, and the two Legendre transforms

    p_k = -D1 L_d - f_minus        p_{k+1} = D2 L_d + f_plus

are derivatives of L_d by the configurations at the two ends, on SO(3) by eta at R exp(hat(eta)), eta = 0.
L_d is written in (g_k, f_k), g_{k+1} = g_k f_k: increments of compensated sums are known to more digits than
differences of positions. What a kernel leaves behind must satisfy both equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from tautline.kernels import data
from tautline.kernels.energy import transport_weights
from tests.conftest import Report
from tests.support.checking import check_below
from tests.support.discrete import (
    EA,
    HAT_BASIS,
    LAW,
    LAWS,
    LOCKED,
    SCHEMES,
    STEP,
    TORQUE,
    Case,
    Configuration,
    J,
    L,
    M,
    along,
    b,
    configured,
    d,
    g,
    growth,
    guide_force,
    h,
    hat,
    increment,
    kappa,
    legendre_transforms,
    matrix,
    momenta,
    mu,
    parameter_values,
    plan_of_step,
    potential,
    r_p,
    random_motion,
    rho,
    squared_speed,
    stepped,
    sums,
    theta,
    turning,
    vector,
)

# Retrieval, deployment, and a reel speed within the smoothing of the dissipative law.
SPEEDS = [0.7, -0.7, 3e-4, -2.5, 1.5]
# Relative to the momenta: some hundreds of roundings. Measured: 1.4e-14 at most, from F - F^T, divided by h.
TOLERANCE = 1e-13


def cayley(c: Any) -> Any:
    C = hat(c)
    return sp.eye(3) + 2 / (1 + c.dot(c)) * (C + C * C)


def test_transport_weights_follow_from_the_velocity_field() -> None:
    """alpha, beta and gamma of section 2 and of the kernels are coefficients of the integrated field."""
    x, y, z = sp.symbols("x y z")
    for N in range(1, 8):
        for e in range(N):
            f = sp.Poly(squared_speed()(x, y, z, e, N), x, y, z)
            alpha, beta, gamma = f.coeff_monomial(x * z) / 2, f.coeff_monomial(y * z) / 2, f.coeff_monomial(z * z)
            k = N - e
            printed = (
                sp.Rational(3 * k - 1, 6 * N),
                sp.Rational(3 * k - 2, 6 * N),
                sp.Rational(k**3 - (k - 1) ** 3, 3 * N**2),
            )
            assert (alpha, beta, gamma) == printed
            np.testing.assert_allclose(transport_weights(N, e), [float(a) for a in printed], rtol=4e-16)


def test_rotation_equations_of_section_4_follow_from_the_discrete_lagrangian() -> None:
    """With F = cay(c): -D1 and D2 of tr[(I - F) J_d]/h are (2/h)/(1 + |c|^2) (J c +- c x J c)."""
    c, F = vector("c"), matrix("F")
    symmetric = {J[j, i]: J[i, j] for i in range(3) for j in range(i + 1, 3)}
    minus = [along(turning(F), F, E * F) for E in HAT_BASIS]
    plus = [along(turning(F), F, F * E) for E in HAT_BASIS]
    turned = dict(zip(F, cayley(c), strict=True))
    J_c = J * c
    for derived, sign in ((minus, 1), (plus, -1)):
        printed = 2 / h / (1 + c.dot(c)) * (J_c + sign * c.cross(J_c))
        difference = (sp.Matrix(derived).subs(turned) - printed).subs(symmetric)
        assert difference.applyfunc(sp.cancel) == sp.zeros(3, 1)


def step_forces(par: data.Parameters, start: data.Motion, end: data.Motion, sigma: float) -> tuple[float, float]:
    """f_minus and f_plus: torque and guide force at the two ends, with the weights of the kinetic quadrature.

    What comes out has the strain at the start of the step too: all cells that were not spooled since are alike.
    """
    cells = start.reel[data.REEL_SIZE :]
    spooled = cells[int(np.ceil(start.reel[data.S] / par.L * len(cells))) - 1] if len(cells) else 0.0

    # within one piece of the table, so the means of equation 80 are those of a straight line; the paper's is plain
    at = [np.interp(motion.clock[data.STEP] * STEP, TORQUE.times, TORQUE.torques) for motion in (start, end)]
    weight = 2.0 / 3.0 if par.theta > 0.0 else 0.5

    def force(motion: data.Motion) -> float:
        near, far = at if motion is start else at[::-1]
        u = weight * near + (1.0 - weight) * far
        x = configured(sums(motion, par.N)[0])
        strain = np.linalg.norm(np.diff(x.q, axis=0), axis=1) * par.N / (par.L - x.s) - 1.0
        strain = (3.0 * strain[0] - strain[1]) / 2.0 if par.extrapolated else strain[0]
        radius = np.sqrt(par.d**2 + par.growth * (x.s - par.b))
        return float(u / radius + guide_force(par, strain, sigma, spooled))

    return STEP * (1.0 - par.theta) * force(start), STEP * par.theta * force(end)


def residual(par: data.Parameters, before: data.Motion, after: data.Motion, locked: bool) -> float:
    """Largest residual of both equations for the reel, the nodes and the body, relative to its own momenta."""
    dx = increment(before, after, par.N)
    start, end = legendre_transforms(par.N)(
        parameter_values(par), STEP, configured(sums(before, par.N)[0]).flat(), dx.flat()
    )
    p0, p1 = momenta(par, before), momenta(par, after)
    f_minus, f_plus = step_forces(par, before, after, dx.s / STEP)
    difference = np.abs([p0 - start, p1 - end])
    difference[:, 0] = 0.0 if locked else (abs(p0[0] + f_minus - start[0]), abs(p1[0] - f_plus - end[0]))
    blocks = (slice(0, 1), slice(1, 3 * par.N + 1), slice(3 * par.N + 1, None))
    sizes = [max(np.abs(p0[k]).max(), np.abs(p1[k]).max()) for k in blocks]
    return max(float(difference[:, k].max()) / (size or 1.0) for k, size in zip(blocks, sizes, strict=True))


def largest_residual(case: Case, command: data.Command, speeds: list[float]) -> float:
    """Over random pendulums, three steps each: extrapolated starts and owed roundings take part."""
    largest = 0.0
    for seed, sigma in enumerate(speeds):
        par, motion = random_motion(case, seed, sigma)
        for _ in range(3):
            before, motion = motion, stepped(par, plan_of_step(STEP), command, motion)
            largest = max(largest, residual(par, before, motion, command.locked))
    return largest


@pytest.mark.parametrize("is_point", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("N", [1, 2, 3])
def test_reeling_step_solves_the_discrete_equations(N: int, scheme: str, is_point: bool, report: Report) -> None:
    laws = (*LAWS, "stretched")
    largest = max(largest_residual(Case(N, scheme, law, is_point), TORQUE, SPEEDS) for law in laws)
    check_below("residual", largest, TOLERANCE)
    what = (
        f"moving reel, {scheme}, N = {N}, {'point' if is_point else 'rigid body'}: residual of the discrete equations"
    )
    report(what, largest, f"< {TOLERANCE:g}")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("N", [1, 2, 3])
def test_reeling_step_with_extrapolated_strain_solves_the_discrete_equations(
    N: int, scheme: str, report: Report
) -> None:
    """A single element has only its own strain."""
    cases = [Case(N, scheme, law, strain="extrapolated") for law in LAWS if law != "none"]
    largest = max(largest_residual(case, TORQUE, SPEEDS) for case in cases)
    check_below("residual", largest, TOLERANCE)
    what = f"moving reel, {scheme}, N = {N}, extrapolated strain: residual of the discrete equations"
    report(what, largest, f"< {TOLERANCE:g}")


@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
def test_step_on_a_growing_drum_solves_the_discrete_equations(scheme: str, report: Report) -> None:
    largest = max(largest_residual(Case(2, scheme, law, growth=0.03), TORQUE, SPEEDS) for law in LAWS)
    check_below("residual", largest, TOLERANCE)
    report(f"growing drum, {scheme}, N = 2: residual of the discrete equations", largest, f"< {TOLERANCE:g}")


def test_the_spooled_string_of_a_growing_drum() -> None:
    """The closed form of its height against the integral along it."""
    values = {d: 0.4, b: 0.3, growth: 0.05, L: 20.0, mu: 0.2, EA: 1.0, kappa: 1.0, M: 0.0, g: 1.0, theta: 0.5}
    s = 9.0
    w = np.linspace(0.0, s - 0.3, 200_001)
    radii = np.sqrt(0.4**2 + 0.05 * w)
    angles = 2.0 / 0.05 * (radii[-1] - radii)
    above = np.trapezoid(radii * np.sin(angles), w)
    expected = -0.2 * ((s - 0.3) * -0.3 - above)
    x = Configuration(sp.Float(s), [sp.zeros(3, 1), sp.zeros(3, 1)], sp.eye(3))
    # one element of no length at the height of the guide: nothing but the spooled string and an elastic constant
    V = potential(x).subs({**values, **dict.fromkeys([*r_p, *rho], 0.0)}) - (20.0 - s) / 2.0
    check_below("difference", abs(float(V) - expected), 1e-8)


@pytest.mark.parametrize("is_point", [False, True])
@pytest.mark.parametrize("N", [1, 2, 3])
def test_constant_length_step_solves_the_discrete_equations(N: int, is_point: bool, report: Report) -> None:
    """The same equations with ds = 0, without the reel's own; theta drops out of them."""
    standing = [0.0] * len(SPEEDS)
    largest = max(largest_residual(Case(N, scheme, "none", is_point), LOCKED, standing) for scheme in SCHEMES)
    check_below("residual", largest, TOLERANCE)
    what = f"locked reel, N = {N}, {'point' if is_point else 'rigid body'}: residual of the discrete equations"
    report(what, largest, f"< {TOLERANCE:g}")


@pytest.mark.parametrize(
    "other",
    [
        {"theta": 0.0},
        {"law": LAW["none"]},
        {"law": LAW["momentum"]},
        {"extrapolated": True},
        {"kappa": 2.0},
        {"b": 0.3},
        {"growth": 1e-3},
    ],
)
def test_residual_sees_a_step_of_other_equations(other: dict[str, Any]) -> None:
    """Control: the equations of a slightly different model are not satisfied."""
    par, motion = random_motion(Case(law="published"), 0, 0.7)
    after = stepped(par, plan_of_step(STEP), TORQUE, motion)
    assert residual(par._replace(**other), motion, after, False) > 1e-6
