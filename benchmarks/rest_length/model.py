"""The common way to reel: lumped masses joined by springs whose rest length is L(t)/n.

Every node is a particle of its own. When the string is paid out, all segments get longer and, if the mass follows, all
nodes get heavier; nothing runs through the mesh. The body is the one of tautline, the third axis points down, and the
guide is at the origin.

Three variants of what a node does while it gets heavier:

follows   m(t) dv/dt = F, with m = mu L(t)/n: the usual one
momentum  d(m(t) v)/dt = F: what joins a node has to be brought to its speed by the node
stays     m dv/dt = F, with the mass that was out at the start
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState

Array = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])
compiled: Callable[[F], F] = numba.njit(cache=True)
FOLLOWS, MOMENTUM, STAYS = range(3)
VARIANTS = {"follows": FOLLOWS, "momentum": MOMENTUM, "stays": STAYS}
# Places behind positions, velocities, attitude (3x3) and angular velocity: what is summed along the way.
MOTOR_WORK, IMPULSE = 0, 1
SUMS = 4


class Numbers(NamedTuple):
    """Numbers of a pendulum, as the right-hand side takes them."""

    n: int
    mu: float
    EA: float
    M: float
    J: Array
    rho: Array
    g: float
    start: float  # length out at the start
    whole: float  # of the string
    kappa: float
    variant: int
    slack: bool  # a slack segment does not push


class Run(NamedTuple):
    """At the sampled times."""

    time: Array
    length: Array  # L(t)
    position: Array  # (times, n + 1, 3)
    velocity: Array
    attitude: Array
    angular_velocity: Array
    tension: Array  # (times, n)
    energy: Array  # of deployed string, body, drum and what is spooled
    motor_work: Array
    angular_momentum: Array  # about the vertical through the guide
    momentum: Array  # of deployed string and body
    impulse: Array  # of weight, pull of the guide, and string that came in

    @property
    def unexplained_energy(self) -> Array:
        """Change of the energy less the work of the motor (J)."""
        left: Array = self.energy - self.energy[0] - self.motor_work
        return left

    @property
    def unexplained_momentum(self) -> Array:
        """Change of the momentum less the impulses that act on it (N s), as vectors."""
        left: Array = self.momentum - self.momentum[0] - self.impulse
        return left


@compiled
def _tension(x: Numbers, strain: float) -> float:
    return 0.0 if x.slack and strain < 0.0 else x.EA * strain


@compiled
def _node_mass(x: Numbers, L: float) -> float:
    return x.mu * (x.start if x.variant == STAYS else L) / x.n


@compiled
def _rates(x: Numbers, L: float, dL: float, ddL: float, y: Array, out: Array) -> None:
    """dy/dt for the length and its two derivatives."""
    n = x.n
    q = y[: 3 * n].reshape(n, 3)
    v = y[3 * n : 6 * n].reshape(n, 3)
    R = y[6 * n : 6 * n + 9].reshape(3, 3)
    w = y[6 * n + 9 : 6 * n + 12]
    a = out[3 * n : 6 * n].reshape(n, 3)
    out[: 3 * n] = y[3 * n : 6 * n]
    l = L / n
    m = _node_mass(x, L)
    dm = x.mu * dL / n if x.variant == MOMENTUM else 0.0

    first = np.zeros(3)  # tension at the guide, as a vector
    for i in range(n):
        for k in range(3):
            a[i, k] = (m if i < n - 1 else 0.5 * m + x.M) * x.g if k == 2 else 0.0
            a[i, k] -= (dm if i < n - 1 else 0.5 * dm) * v[i, k]
    for i in range(n):
        d = q[i] - q[i - 1] if i > 0 else q[0].copy()
        length = math.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
        f = _tension(x, length / l - 1.0) / length * d
        a[i] -= f
        if i > 0:
            a[i - 1] += f
        else:
            first[:] = f
    for i in range(n - 1):
        a[i] /= m

    # the last node and the body: six equations
    A = np.zeros((6, 6))
    b = np.zeros(6)
    S = np.zeros((3, 3))
    S[0, 1], S[0, 2], S[1, 2] = -x.rho[2], x.rho[1], -x.rho[0]
    S[1, 0], S[2, 0], S[2, 1] = x.rho[2], -x.rho[1], x.rho[0]
    for k in range(3):
        A[k, k] = 0.5 * m + x.M
    A[:3, 3:] = -x.M * (R @ S)
    A[3:, :3] = x.M * (S @ R.T)
    A[3:, 3:] = x.J
    spin = np.cross(w, np.cross(w, x.rho))
    b[:3] = a[n - 1] - x.M * (R @ spin)
    down = R[2].copy()  # R^T e3
    b[3:] = x.M * x.g * np.cross(x.rho, down) - np.cross(w, x.J @ w)
    z = np.linalg.solve(A, b)
    a[n - 1] = z[:3]
    W = np.zeros((3, 3))
    W[0, 1], W[0, 2], W[1, 2] = -w[2], w[1], -w[0]
    W[1, 0], W[2, 0], W[2, 1] = w[2], -w[1], w[0]
    out[6 * n : 6 * n + 9] = (R @ W).reshape(9)
    out[6 * n + 9 : 6 * n + 12] = z[3:]

    # what the motor has to give: (mu s + kappa) ds'' = u/d - T_0, and its power (u/d) s'
    stretch = math.sqrt(q[0, 0] ** 2 + q[0, 1] ** 2 + q[0, 2] ** 2) / l
    e0 = q[0] / (stretch * l)
    sigma = -dL
    motor = (x.mu * (x.whole - L) + x.kappa) * -ddL + _tension(x, stretch - 1.0)
    sums = out[6 * n + 12 :]
    sums[MOTOR_WORK] = motor * sigma
    mass = n * m - 0.5 * m + x.M
    # string comes out with the speed (1 + strain) dL, or goes in with it
    carried = x.mu * dL * dL * stretch if x.variant != STAYS else 0.0
    for k in range(3):
        sums[IMPULSE + k] = -first[k] + carried * e0[k] + (mass * x.g if k == 2 else 0.0)


@compiled
def _march(x: Numbers, curve: Array, h: float, every: int, y: Array, out: Array) -> None:
    """Classical Runge-Kutta; `curve` holds L and two derivatives at the beginnings and middles of all steps."""
    k1, k2, k3, k4 = np.empty_like(y), np.empty_like(y), np.empty_like(y), np.empty_like(y)
    out[0] = y
    steps = (len(curve) - 1) // 2
    for i in range(steps):
        a, b, c = curve[2 * i], curve[2 * i + 1], curve[2 * i + 2]
        _rates(x, a[0], a[1], a[2], y, k1)
        _rates(x, b[0], b[1], b[2], y + 0.5 * h * k1, k2)
        _rates(x, b[0], b[1], b[2], y + 0.5 * h * k2, k3)
        _rates(x, c[0], c[1], c[2], y + h * k3, k4)
        y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        if (i + 1) % every == 0:
            out[(i + 1) // every] = y


def run(
    pendulum: Chain,
    state: ChainState,
    length: Callable[[Array], tuple[Array, Array, Array]],
    *,
    duration: float,
    step: float,
    sample: float,
    variant: str = "follows",
) -> Run:
    """From a state of tautline, with L(t) and its two derivatives given."""
    n = state.elements
    every = round(sample / step)
    count = round(duration / sample)
    string, body = pendulum.string, pendulum.body
    x = Numbers(
        n,
        string.density,
        string.stiffness,
        body.mass,
        np.ascontiguousarray(body.inertia, dtype=float),
        np.array(body.center_of_mass, dtype=float),
        pendulum.gravity,
        string.length - state.reeled_length,
        string.length,
        pendulum.reel.inertia_mass,
        VARIANTS[variant],
        string.law == "tension_only",
    )
    if body.is_point:  # any inertia will do: nothing turns it
        x = x._replace(J=np.eye(3))
    y = np.concatenate(
        [
            state.nodes[1:].ravel(),
            state.node_velocities[1:].ravel(),
            np.asarray(state.attitude).ravel(),
            state.angular_velocity,
            np.zeros(SUMS),
        ]
    )
    grid: Array = 0.5 * step * np.arange(2.0 * every * count + 1.0)
    curve = np.ascontiguousarray(np.stack(length(grid), axis=1))
    out = np.empty((count + 1, len(y)))
    _march(x, curve, step, every, y, out)
    return _labeled(x, sample * np.arange(count + 1.0), curve[:: 2 * every], out)


def _labeled(x: Numbers, time: Array, curve: Array, out: Array) -> Run:
    n = x.n
    rows = len(time)
    L, dL = curve[:, 0], curve[:, 1]
    q = np.concatenate([np.zeros((rows, 1, 3)), out[:, : 3 * n].reshape(rows, n, 3)], axis=1)
    v = np.concatenate([np.zeros((rows, 1, 3)), out[:, 3 * n : 6 * n].reshape(rows, n, 3)], axis=1)
    R = out[:, 6 * n : 6 * n + 9].reshape(rows, 3, 3)
    w = out[:, 6 * n + 9 : 6 * n + 12]
    sums = out[:, 6 * n + 12 :]
    l = (L / n)[:, None]
    strain = np.linalg.norm(np.diff(q, axis=1), axis=2) / l - 1.0
    taut = np.maximum(strain, 0.0) if x.slack else strain
    m = np.full((rows, n), x.mu / n) * (np.full(rows, x.start) if x.variant == STAYS else L)[:, None]
    m[:, -1] *= 0.5
    swing = np.einsum("tij,tj->ti", R, np.cross(w, x.rho))
    center = q[:, -1] + np.einsum("tij,j->ti", R, x.rho)
    p = m[:, :, None] * v[:, 1:]
    kinetic = 0.5 * np.sum(p * v[:, 1:], axis=(1, 2))
    kinetic += x.M * (0.5 * np.sum(v[:, -1] ** 2, axis=1) + np.sum(v[:, -1] * swing, axis=1))
    kinetic += 0.5 * np.einsum("ti,ij,tj->t", w, x.J, w)
    kinetic += 0.5 * (x.mu * (x.whole - L) + x.kappa) * dL**2
    potential = 0.5 * x.EA * np.sum(l * taut**2, axis=1)
    potential -= x.g * (np.sum(m * q[:, 1:, 2], axis=1) + x.M * center[:, 2])
    momentum = p.sum(axis=1) + x.M * (v[:, -1] + swing)
    spin = np.sum(np.cross(q[:, 1:], p), axis=1)[:, 2]
    spin += x.M * np.cross(q[:, -1], v[:, -1] + swing)[:, 2]
    spin += np.einsum("tij,tj->ti", R, w @ x.J.T + x.M * np.cross(x.rho, np.einsum("tji,tj->ti", R, v[:, -1])))[:, 2]
    return Run(
        time, L, q, v, R, w, x.EA * taut, kinetic + potential, sums[:, MOTOR_WORK], spin, momentum, sums[:, IMPULSE:]
    )


def constant(length: float) -> Callable[[Array], tuple[Array, Array, Array]]:
    """A locked reel."""

    def curve(t: Array) -> tuple[Array, Array, Array]:
        still: Any = np.zeros_like(t)
        return still + length, still, still

    return curve
