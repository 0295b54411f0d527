"""A string that moves along itself only: a bar, held at x = 0, with a mass at x = X.

mu u_tt = T_x with T = EA u_x + eta u_xt, u(0) = 0 and M u_tt(X) = -T(X). u and T are what comes on top of rest, so
gravity is in none of the formulas. With the linear law this holds for motions of any size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import brentq

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bar:
    """SI units; `viscosity` is eta (N s)."""

    length: float
    density: float
    stiffness: float
    mass: float
    viscosity: float = 0.0

    @property
    def wave_speed(self) -> float:
        return float(np.sqrt(self.stiffness / self.density))

    @property
    def impedance(self) -> float:
        """Tension behind a wave front over the jump of velocity in it (N s/m)."""
        return float(np.sqrt(self.stiffness * self.density))

    def transit(self) -> float:
        """Time of a wave from one end to the other (s)."""
        return self.length / self.wave_speed


@dataclass(frozen=True)
class Modes:
    """Undamped modes: frequencies (rad/s), displacements at `places`, slopes at x = 0, and the velocity that each
    takes of a bar that moves as a whole with 1 m/s."""

    frequencies: Array
    displacements: Array  # (places, modes)
    slopes_at_guide: Array
    shares: Array


def modes(bar: Bar, count: int, places: Array) -> Modes:
    """u = sin(k x): M omega^2 sin(k X) = EA k cos(k X) gives (k X) tan(k X) = mu X/M, one root in every half wave.

    Modes are orthogonal with the weight mu and the mass M at the end; a uniform velocity is projected with it.
    """
    ratio = bar.density * bar.length / bar.mass
    half = 0.5 * np.pi
    roots = [
        brentq(lambda x: x * np.sin(x) - ratio * np.cos(x), n * np.pi, n * np.pi + half, xtol=1e-15, rtol=1e-15)
        for n in range(count)
    ]
    x = np.array(roots)
    string = bar.density * bar.length
    modal_mass = string * (0.5 - np.sin(2.0 * x) / (4.0 * x)) + bar.mass * np.sin(x) ** 2
    momentum = string * (1.0 - np.cos(x)) / x + bar.mass * np.sin(x)
    k = x / bar.length
    return Modes(k * bar.wave_speed, np.sin(np.outer(places, k)), k, momentum / modal_mass)


def mesh_modes(bar: Bar, elements: int) -> Modes:
    """Modes of linear elements with their consistent mass, (4) and (7) of the theory at constant length.

    Damping is EA's matrix times eta/EA, so it does not couple these modes either. The uniform velocity is given as
    momenta at the nodes, which is what is left when a payout is stopped at once.
    """
    N, l = elements, bar.length / elements
    K = 2.0 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)
    M = 4.0 * np.eye(N) + np.eye(N, k=1) + np.eye(N, k=-1)
    K[-1, -1], M[-1, -1] = 1.0, 2.0
    K *= bar.stiffness / l
    M *= bar.density * l / 6.0
    M[-1, -1] += bar.mass
    momenta = np.full(N, bar.density * l)
    momenta[-1] = 0.5 * bar.density * l + bar.mass
    squares, shapes = eigh(K, M)
    displacements = np.vstack([np.zeros(N), shapes])
    return Modes(np.sqrt(squares), displacements, shapes[0] / l, shapes.T @ momenta)


def decay_and_frequency(frequency: Array, bar: Bar) -> tuple[Array, Array]:
    """delta = eta omega^2/(2 EA) and sqrt(omega^2 - delta^2): stress EA e + eta e' damps each mode on its own,
    q'' + (eta/EA) omega^2 q' + omega^2 q = 0. Modes beyond omega = 2 EA/eta creep, and have no frequency (nan)."""
    delta = 0.5 * bar.viscosity / bar.stiffness * frequency**2
    return delta, np.sqrt(np.where(delta < frequency, frequency**2 - delta**2, np.nan))


def _struck(modes: Modes, bar: Bar, time: Array) -> tuple[Array, Array]:
    """q and q' (modes, time) of every mode from q = 0, q' = 1."""
    delta = 0.5 * bar.viscosity / bar.stiffness * modes.frequencies**2
    root = np.sqrt(np.asarray(delta**2 - modes.frequencies**2, dtype=complex))
    # -delta + root without cancellation, for modes that creep
    slow = np.where(root.real > 0.0, -(modes.frequencies**2) / (delta + root), -delta + root)
    fast = -delta - root
    a, b = np.exp(np.outer(slow, time)), np.exp(np.outer(fast, time))
    gap = (slow - fast)[:, None]
    return ((a - b) / gap).real, ((slow[:, None] * a - fast[:, None] * b) / gap).real


def stopped(modes: Modes, bar: Bar, speed: float, time: Array) -> tuple[Array, Array]:
    """Displacements (time, places) and the tension at the guide (time) above rest, after the guide of a bar that
    moves as a whole with `speed` away from it has stopped at once. Sums over the modes.

    Of a continuous bar the sum for the tension converges with damping only, and then from any t > 0 on.
    """
    q, rate = _struck(modes, bar, time)
    displacements = speed * (modes.displacements * modes.shares) @ q
    tension = speed * (modes.slopes_at_guide * modes.shares) @ (bar.stiffness * q + bar.viscosity * rate)
    return displacements.T, tension


def steady_payout(bar: Bar, speed: float, gravity: float, x: Array, rate: Array) -> tuple[Array, Array, Array]:
    """Places and velocities of points x below the guide, and tensions there, of a bar that hangs and is paid out.

    `bar.length` X is what is deployed now; x is unstretched and moves with `rate` over the material's own speed, so
    rate = x/X times the speed for the nodes of a mesh, and `speed` for points of the material. With the tension
    T = (M + mu (X - x)) f and r' = 1 + T/EA every point of the material has the velocity v (1 + (M + mu X) f/EA):
    it grows by a = mu v^2 f/EA a second, and f = g - a balances string and mass. So f = g/(1 + v^2/c^2), exactly, and
    the strain of the material does not change: viscosity has nothing to damp.
    """
    f = gravity / (1.0 + (speed / bar.wave_speed) ** 2) / bar.stiffness
    load = bar.mass + bar.density * bar.length
    places = x + f * (load * x - 0.5 * bar.density * x**2)
    velocities = rate * (1.0 + f * (load - bar.density * x)) + speed * f * bar.density * x
    return places, velocities, bar.stiffness * f * (load - bar.density * x)


def stopped_tension(bar: Bar, speed: float, time: Array) -> Array:
    """Tension at the guide above rest after the sudden stop, undamped, by characteristics (Boussinesq, St Venant).

    u = f(t + x/c) - f(t - x/c) is zero at the guide, where the tension is 2 Z f'(t), Z = sqrt(EA mu). Write g = f'.
    Before the stop u_t = v and u_x = 0 give g = -v/2 for t < 0, and g = v/2 for 0 < t < X/c. At the mass
        M (g'(t + X/c) - g'(t - X/c)) = -Z (g(t + X/c) + g(t - X/c)),
    and its velocity g(t + X/c) - g(t - X/c) does not jump. In the n-th interval of length 2 X/c, with s the time since
    its beginning and k = Z/M,
        g_{n+1}' + k g_{n+1} = g_n' - k g_n,   g_{n+1}(0) - g_n(2 X/c) = g_n(0) - g_{n-1}(2 X/c),
    which g_n = P_n(s) exp(-k s) + c_n solves with P_{n+1}' = P_n' - 2 k P_n, c_{n+1} = -c_n, c_0 = v/2 and P_0 = 0.
    The first interval is the plateau Z v; each front brings a jump of 2 Z v.
    """
    k, interval = bar.impedance / bar.mass, 2.0 * bar.transit()
    passed = np.floor(time / interval).astype(int)
    g = np.zeros_like(time)
    P, constant, before = Polynomial([0.0]), 0.5 * speed, -0.5 * speed
    for n in range(int(passed.max(initial=0)) + 1):
        here = passed == n
        s = time[here] - n * interval
        g[here] = P(s) * np.exp(-k * s) + constant
        first = float(P(0.0)) + constant
        last = float(P(interval) * np.exp(-k * interval)) + constant
        P = P.deriv() - 2.0 * k * P
        P = P.integ(lbnd=0.0, k=last + first - before + constant)
        constant, before = -constant, last
    return 2.0 * bar.impedance * g


def first_peak_of_stopped_tension(bar: Bar, speed: float) -> float:
    """Largest tension above rest in the first swing of the mass; later swings may bring more, by chance of the phases.

    Within an interval the tension is smooth; it is largest at its beginning or where its derivative vanishes, so a
    fine grid that contains the beginnings finds it.
    """
    interval, per_interval = 2.0 * bar.transit(), 2000
    swing = np.pi * np.sqrt((bar.mass + bar.density * bar.length / 3.0) * bar.length / bar.stiffness)
    count = int(np.ceil(swing / interval))
    steps = np.arange(count * per_interval)
    time = (steps // per_interval) * interval + (steps % per_interval + 1e-9) / per_interval * interval
    return float(stopped_tension(bar, speed, time).max())
