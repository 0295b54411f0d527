"""Bodies that fall, spin, swing and hang spinning; a drum with friction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp

Array = NDArray[np.float64]


def fall_with_drag(mass: float, pull: float, drag: float, time: Array) -> tuple[Array, Array]:
    """Way and speed from rest of m v' = W - c v^2: v = v_t tanh(t/T), x = v_t T log cosh(t/T), v_t = sqrt(W/c) and
    T = m/sqrt(W c).

    A body in a fluid has m = M + m_a, W = (M - rho V) g and c = rho A/2. A straight rope that falls across itself has,
    per length, m = mu + C_a rho pi d^2/4, W = (mu - rho pi d^2/4) g and c = rho C_n d/2.
    """
    terminal, T = np.sqrt(pull / drag), mass / np.sqrt(pull * drag)
    # log cosh y = y + log((1 + exp(-2 y))/2), without overflow
    y = time / T
    return terminal * T * (y + np.log1p(np.exp(-2.0 * y)) - np.log(2.0)), terminal * np.tanh(y)


def spin_with_damping(rates: Sequence[float], axial: float, across: float, damping: float, time: Array) -> Array:
    """Angular velocity (time, 3) in its own frame of a body with axis 3, free about its center of mass, under -c Omega.

    C Omega_3' = -c Omega_3, so Omega_3 = Omega_3(0) exp(-c t/C). Across, A Omega_1' = (A - C) Omega_2 Omega_3
    - c Omega_1 and its like give w' = -(c/A + i (A - C)/A Omega_3) w for w = Omega_1 + i Omega_2: it decays with
    exp(-c t/A), and turns by (A - C)/A times the integral of Omega_3.
    """
    decay = np.exp(-damping * time / axial)
    turned = rates[2] * time if damping == 0.0 else rates[2] * axial / damping * (1.0 - decay)
    w = (rates[0] + 1j * rates[1]) * np.exp(-damping * time / across - 1j * (across - axial) / across * turned)
    return np.stack([w.real, w.imag, rates[2] * decay], axis=1)


def drum_with_friction(mass: float, inertia: float, friction: float, force: float, time: Array) -> tuple[Array, Array]:
    """Way and speed of a drum from rest, pulled by `force` through a stiff light string with a mass at its end.

    (M + kappa) v' = F - c v, with c = viscous_friction/d^2: v = F/c (1 - exp(-t/T)), T = (M + kappa)/c.
    """
    T, terminal = (mass + inertia) / friction, force / friction
    gone = -np.expm1(-time / T)
    return terminal * (time - T * gone), terminal * gone


def swinging_spring(
    place: Sequence[float], velocity: Sequence[float], length: float, frequency: float, gravity: float, time: Array
) -> Array:
    """Places (time, 3), z down, of a mass on a light spring: r'' = g e_3 - omega^2 (|r| - l_0) r/|r|, by DOP853."""

    def rates(_: float, y: Array) -> Array:
        r = float(np.linalg.norm(y[:3]))
        return np.concatenate([y[3:], [0.0, 0.0, gravity] - frequency**2 * (1.0 - length / r) * y[:3]])

    start = np.concatenate([place, velocity])
    found = solve_ivp(rates, (0.0, time[-1]), start, "DOP853", t_eval=time, rtol=1e-11, atol=1e-13)
    places: Array = found.y[:3].T
    return places


def turn_of_swinging_spring(swing: tuple[complex, complex], stretch: complex) -> float:
    """Angle by which the plane of a small swing turns with every exchange of energy between swing and stretch, 2:1.

    With x = Re(a exp(i w t)), y alike with b, z = Re(c exp(2 i w t)) and A, B = a +- i b, the averages of the equations
    x'' = -w^2 x + L x z, z'' = -4 w^2 z + L (x^2 + y^2)/2 are those of three waves (Holm and Lynch 2002), K = L/(4 w):
        A' = -i K c B*,  B' = -i K c A*,  c' = -i (K/4) A B.
    W = 4 |c|^2, P = |A|^2 + W, Q = |B|^2 + W and H = Re(c A* B*) give W'^2 = K^2 (W (P - W) (Q - W) - 4 H^2); P, Q and
    H are constant. The axis of the ellipse, (arg B - arg A)/2, turns at (K H/2) (1/|A|^2 - 1/|B|^2). Over one exchange
    W goes from the least root of the cubic to the next and back; K drops out.
    """
    A, B = swing[0] + 1j * swing[1], swing[0] - 1j * swing[1]
    W = 4.0 * abs(stretch) ** 2
    P, Q, H = abs(A) ** 2 + W, abs(B) ** 2 + W, (stretch * np.conj(A * B)).real
    low, high, last = np.sort(np.roots([1.0, -(P + Q), P * Q, -4.0 * H * H]).real)

    def rate(phase: float) -> float:
        w = low + (high - low) * np.sin(phase) ** 2
        return float(2.0 * H * (Q - P) / ((P - w) * (Q - w) * np.sqrt(last - w)))

    return float(quad(rate, 0.0, 0.5 * np.pi, epsabs=1e-12)[0])


def top_on_a_string(
    *,
    length: float,
    string_mass: float,
    mass: float,
    arm: float,
    across: float,
    axial: float,
    spin: float,
    gravity: float,
    stiffness: float,
) -> tuple[Array, Array]:
    """Angular frequencies (signed, 4) of a symmetric body that hangs on one straight element and spins about its axis,
    and the tilt of the axis over the attachment's displacement in each.

    xi = x + i y of the attachment and eta, the tilt of the axis, are small: with lambda the stretched length and
    m/2, m/3 of the string at its end,
        (M + m/3) xi'' + M a eta'' + (M + m/2) (g/lambda) xi = 0,
        M a xi'' + A eta'' - i C spin eta' + M g a eta = 0,
    A about the attachment point. exp(i nu t) gives a polynomial of degree four in nu; without spin its roots are those
    of the double pendulum, with it precession and nutation differ in sign and size.
    """
    lam = length + (mass + 0.5 * string_mass) * gravity * length / stiffness
    m, k = mass + string_mass / 3.0, (mass + 0.5 * string_mass) * gravity / lam
    b = mass * arm
    # (k - m nu^2) (M g a - A nu^2 + C spin nu) - (b nu^2)^2
    polynomial = np.polysub(
        np.polymul([-m, 0.0, k], [-across, axial * spin, mass * gravity * arm]), [b * b, 0.0, 0.0, 0.0, 0.0]
    )
    nu = np.sort(np.roots(polynomial).real)
    return nu, (k - m * nu**2) / (b * nu**2)
