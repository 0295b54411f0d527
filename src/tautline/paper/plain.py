"""Constant length as plain differential equations, compiled: what a general integrator is given to solve.

The same finite elements as the kernels, but accelerations solved from the mass matrix, and the rotation matrix as nine
numbers that nothing keeps orthogonal. Written so that a general integrator is not slowed by its right-hand side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.extras import needed_by
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.reference import ACCOUNTS

with needed_by("comparison with general integrators"):
    import numba

Array = NDArray[np.float64]


class Constants(NamedTuple):
    l: float  # unstretched length of an element
    EA: float
    g: float
    M: float
    weight: Array  # force of gravity along the vertical on each node
    inverse: Array  # of the mass matrix of the nodes, the body's mass included
    J: Array
    rho: Array


def constants(pendulum: Chain, state: ChainState) -> Constants:
    N = state.elements
    l = (pendulum.string.length - state.reeled_length) / N
    mu, g, M = pendulum.string.density, pendulum.gravity, pendulum.body.mass
    mass = mu * l / 6.0 * (4.0 * np.eye(N) + np.eye(N, k=1) + np.eye(N, k=-1))
    mass[-1, -1] = mu * l / 3.0 + M
    weight = np.full(N, mu * l * g)
    weight[-1] = (0.5 * mu * l + M) * g
    body = pendulum.body
    return Constants(
        l,
        pendulum.string.stiffness,
        g,
        M,
        weight,
        np.array(np.linalg.inv(mass), dtype=np.float64),
        np.array(body.inertia),
        np.array(body.center_of_mass),
    )


def pack(state: ChainState) -> Array:
    """q, R, v, Omega in one row."""
    parts = (state.nodes[1:], state.attitude, state.node_velocities[1:], state.angular_velocity)
    return np.concatenate([np.asarray(x, dtype=np.float64).ravel() for x in parts])


def reference_row(y: Array, reeled_length: float) -> Array:
    """State as a row of `reference.Equations`, which computes its energies."""
    n = (len(y) - 12) // 2
    return np.concatenate([[reeled_length], y[: n + 9], [0.0], y[n + 9 :], np.zeros(len(ACCOUNTS))])


@numba.njit  # type: ignore[untyped-decorator]
def rates(t: float, y: Array, p: Constants) -> Any:
    """y' of the row that `pack` makes."""
    N = len(p.weight)
    q, R = y[: 3 * N].reshape(N, 3), y[3 * N : 3 * N + 9].reshape(3, 3)
    omega = np.ascontiguousarray(y[6 * N + 9 :])
    force = np.zeros((N, 3))
    for a in range(N):
        w = q[a] - q[a - 1] if a > 0 else q[0].copy()
        length = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        pull = p.EA * (length / p.l - 1.0) / length * w
        force[a] -= pull
        if a > 0:
            force[a - 1] += pull
        force[a, 2] += p.weight[a]

    rho, J, M = p.rho, p.J, p.M
    force[N - 1] -= M * (R @ np.cross(omega, np.cross(omega, rho)))
    moment = M * p.g * np.cross(rho, R[2]) - np.cross(omega, J @ omega)
    # v_N' = free_N - tau B Omega' goes into the body's equation B' v_N' + J Omega' = moment
    hat = np.array([[0.0, -rho[2], rho[1]], [rho[2], 0.0, -rho[0]], [-rho[1], rho[0], 0.0]])
    B = -M * (R @ hat)
    free = p.inverse @ force
    tau = p.inverse[N - 1, N - 1]
    omega_rate = np.linalg.solve(J - tau * (B.T @ B), moment - B.T @ free[N - 1])
    push = B @ omega_rate

    out = np.empty(len(y))
    out[: 3 * N] = y[3 * N + 9 : 6 * N + 9]
    spin = np.array([[0.0, -omega[2], omega[1]], [omega[2], 0.0, -omega[0]], [-omega[1], omega[0], 0.0]])
    out[3 * N : 3 * N + 9] = (R @ spin).ravel()
    for a in range(N):
        for k in range(3):
            out[3 * N + 9 + 3 * a + k] = free[a, k] - p.inverse[a, N - 1] * push[k]
    out[6 * N + 9 :] = omega_rate
    return out


@numba.njit  # type: ignore[untyped-decorator]
def runge_kutta(y: Array, p: Constants, h: float, steps: int, samples: int) -> Any:
    """The classical method of order 4: a row for the start and after every `steps` steps."""
    rows = np.empty((samples + 1, len(y)))
    rows[0] = y
    for i in range(samples):
        for _ in range(steps):
            k1 = rates(0.0, y, p)
            k2 = rates(0.0, y + 0.5 * h * k1, p)
            k3 = rates(0.0, y + 0.5 * h * k2, p)
            k4 = rates(0.0, y + h * k3, p)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        rows[i + 1] = y
    return rows
