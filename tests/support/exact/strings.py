"""Strings across, at rest, whirling and folded, and pendulums whose length changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import j0, j1, jv, y0, y1, yv

Array = NDArray[np.float64]


def drawn_through_an_eyelet(
    number: int, length: float, rate: float, wave_speed: float, x: Array, time: float
) -> tuple[Array, Array, Array]:
    """u, u_t and u_x of a taut string fixed at x = 0 and drawn through an eyelet at x = X(t) = length + rate t.

    u_tt = c^2 u_xx with u(0) = u(X(t)) = 0 (Balazs, J. Math. Anal. Appl. 3, 1961). Count time from the moment in
    which X would be zero, tau = t + length/rate. u = F(tau - x/c) - F(tau + x/c) is zero at x = 0, and at X = rate tau
    if F(tau (1 - b)) = F(tau (1 + b)) for all tau, b = rate/c: F has the period log((1 + b)/(1 - b)) in log tau.
    Modes are sines of the logarithm. x is the unstretched distance from the fixed end; the string itself is at rest
    along x, and the eyelet moves, or the other way round.
    """
    b = rate / wave_speed
    a = 2.0 * np.pi * number / np.log((1.0 + b) / (1.0 - b))
    beginning = length / rate
    before, after = time + beginning - x / wave_speed, time + beginning + x / wave_speed
    left, right = a * np.log(before / beginning), a * np.log(after / beginning)
    u = 0.5 * (np.sin(left) - np.sin(right))
    u_t = 0.5 * a * (np.cos(left) / before - np.cos(right) / after)
    u_x = -0.5 * a / wave_speed * (np.cos(left) / before + np.cos(right) / after)
    return u, u_t, u_x


def angle_of_lengthening_pendulum(length: float, rate: float, gravity: float, time: Array) -> Array:
    """Small angle over the first one of a mass on l = length + rate t, released at rest.

    (l^2 th')' + g l th = 0 with l as the variable: l th_ll + 2 th_l + (g/rate^2) th = 0, so z th is a solution of
    Bessel's equation of order one in z = 2 sqrt(g l)/rate. From (J_1/z)' = -J_2/z and
    J_2 Y_1 - J_1 Y_2 = 2/(pi z): th = (pi z_0^2/(2 z)) (J_2(z_0) Y_1(z) - Y_2(z_0) J_1(z)).
    """
    z = 2.0 * np.sqrt(gravity * (length + rate * time)) / abs(rate)
    z_0 = 2.0 * np.sqrt(gravity * length) / abs(rate)
    angle: Array = 0.5 * np.pi * z_0**2 / z * (jv(2, z_0) * y1(z) - yv(2, z_0) * j1(z))
    return angle


def angle_of_pumped_pendulum(length: float, part: float, frequency: float, gravity: float, time: Array) -> Array:
    """Small angle over the first one, released at rest, for l = length (1 + part sin(frequency t)).

    (l^2 th')' + g l th = 0 with the momentum p = l^2 th', by DOP853. At twice the natural frequency omega the
    amplitude grows as exp(3/4 part omega t) to first order in `part`.
    """

    def rates(t: float, y: Array) -> list[float]:
        l = length * (1.0 + part * np.sin(frequency * t))
        return [y[1] / l**2, -gravity * l * y[0]]

    found = solve_ivp(rates, (0.0, time[-1]), [1.0, 0.0], "DOP853", t_eval=time, rtol=1e-12, atol=1e-13)
    angle: Array = found.y[0]
    return angle


def running_off(
    *,
    reeled: float,
    deployed: float,
    density: float,
    mass: float,
    drum: float,
    guide: float,
    inertia: float,
    gravity: float,
    time: float,
) -> float:
    """Deployed length after `time` from rest of an inextensible rope that runs off its drum (13).

    All of it moves with X': (kappa + mu L + M) X'' = g (M + mu X + mu (b + d sin((s - b)/d))), what hangs on the rope,
    in the guide and beside the drum's axis.
    """
    total = reeled + deployed

    def rates(_: float, y: Array) -> list[float]:
        pull = mass + density * (y[0] + guide + drum * np.sin((total - y[0] - guide) / drum))
        return [y[1], gravity * pull / (inertia + density * total + mass)]

    found = solve_ivp(rates, (0.0, time), [deployed, 0.0], "DOP853", rtol=1e-12, atol=1e-13)
    return float(found.y[0, -1])


def pirouette_rate(length: Array, momentum: float, mass: float, stiffness: float) -> Array:
    """Angular velocity of a mass that circles on a light string of unstretched `length`.

    M r^2 omega = momentum, and M omega^2 r stretches the string: r = X (1 + momentum^2/(M r^3 EA)). omega ~ X^-2 where
    it is stiff.
    """
    radii = [
        brentq(lambda r, X=X: r - X * (1.0 + momentum**2 / (mass * r**3 * stiffness)), X, 2.0 * X, xtol=1e-14)
        for X in length
    ]
    return momentum / (mass * np.array(radii) ** 2)


def whirling(
    zeta: Array, length: float, density: float, stiffness: float, mass: float, rate: float
) -> tuple[Array, Array]:
    """Radii and tensions of a straight string that whirls without gravity about its fixed end, a mass at its end.

    EA r'' = -mu omega^2 r and EA (r'(X) - 1) = M omega^2 r(X): r = A sin(k zeta) with k = omega sqrt(mu/EA) and
    A = EA/(EA k cos(k X) - M omega^2 sin(k X)).
    """
    k = rate * np.sqrt(density / stiffness)
    A = stiffness / (stiffness * k * np.cos(k * length) - mass * rate**2 * np.sin(k * length))
    return A * np.sin(k * zeta), stiffness * (A * k * np.cos(k * zeta) - 1.0)


def elastic_catenary(zeta: Array, length: float, weight: float, stiffness: float, across: float, down: float) -> Array:
    """Places (x across, z down) of a string that hangs from zeta = 0 and is pulled at its end (Irvine).

    The tension has the constant part H across and V = down + w (X - zeta) down; r' = (1 + T/EA) (H, V)/T.
    """
    V, V_0 = down + weight * (length - zeta), down + weight * length
    x = across * zeta / stiffness + across / weight * (np.arcsinh(V_0 / across) - np.arcsinh(V / across))
    z = zeta * (V_0 - 0.5 * weight * zeta) / stiffness
    z += (np.hypot(across, V_0) - np.hypot(across, V)) / weight
    return np.stack([x, z], axis=-1)


def time_of_folded_chain(part: float) -> float:
    """Time over sqrt(2 L/g) in which the loose end of a chain, folded in the middle, falls by `part` of its length L.

    Nothing is lost at the fold (Calkin and March, Am. J. Phys. 57, 1989): (L - x)/2 moves with x', and gravity has
    done mu g x (2 L - x)/4, so x'^2 = g x (2 L - x)/(L - x). Faster than free fall.
    """
    # x = y^2 takes the root from the beginning
    half, _ = quad(lambda y: 2.0 * np.sqrt((1.0 - y * y) / (2.0 - y * y)), 0.0, np.sqrt(part), epsabs=1e-13)
    return float(half / np.sqrt(2.0))


def hanging_frequencies(
    count: int, length: float, inertia: float, weight: float, end_inertia: float, end_weight: float
) -> Array:
    """Angular frequencies across an inextensible string that hangs, in air or in water, with a mass at its end.

    (T u')' + m omega^2 u = 0 with T = W + w y, y from the lower end, has the solution u = A J_0(z) + B Y_0(z) with
    z = 2 omega sqrt(m T)/|w|. At the guide u = 0. At the body -M omega^2 u = W u', and u' is -omega sqrt(m/T)
    (A J_1 + B Y_1), with the other sign for a string that floats. Inertia m, M and weights w, W are apart: in water
    the first grow by the added mass, and the others fall by the buoyancy.
    """
    sign = np.sign(weight)

    def mismatch(omega: float) -> float:
        top, end = (
            2.0 * omega * np.sqrt(inertia * T) / abs(weight) for T in (end_weight + weight * length, end_weight)
        )
        moment = sign * np.sqrt(inertia * end_weight)
        J, Y = (end_inertia * omega * f0(end) - moment * f1(end) for f0, f1 in ((j0, j1), (y0, y1)))
        return float(J * y0(top) - Y * j0(top))

    taut = np.pi / length * np.sqrt((end_weight + 0.5 * weight * length) / inertia)
    # the slowest is about the pendulum's, far below the others where the mass is large
    slow = 0.5 * np.sqrt(end_weight / ((end_inertia + inertia * length) * length))
    grid = np.concatenate([np.geomspace(slow, taut, 100)[:-1], np.linspace(1.0, count + 1.0, 200 * count) * taut])
    values = [mismatch(omega) for omega in grid]
    changes = [i for i in range(len(grid) - 1) if values[i] * values[i + 1] < 0.0][:count]
    return np.array([brentq(mismatch, grid[i], grid[i + 1], xtol=1e-13, rtol=1e-14) for i in changes])
