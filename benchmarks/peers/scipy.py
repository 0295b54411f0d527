"""Example 1 as an ordinary differential equation in NumPy, for SciPy: written by hand, not a simulator.

Unknowns are the nodes, the nine entries of R, and the velocities. The mass matrix is constant but for the body's
rotation, which is eliminated; at N > 200 the consistent matrix is solved as a band. The relative and absolute
tolerances are equal. SciPy calls the right-hand side in Python, and there is no way round that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import cho_solve_banded, cholesky_banded

from benchmarks.peers.protocol import Method, State, serve

Array = NDArray[np.float64]


# model
def hat(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        self.solve: Callable[[Array], Array]
        self.N, self.l, self.EA, self.g, self.M = N, p["length"] / N, p["stiffness"], p["gravity"], p["mass"]
        m = p["density"] * self.l
        consistent = "consistent" in method.name
        diagonal = np.full(N, 2.0 / 3.0 * m if consistent else m)
        diagonal[-1] = 0.5 * diagonal[-1] + self.M
        off = m / 6.0 if consistent else 0.0
        self.weight = np.full(N, m * self.g)
        self.weight[-1] = (0.5 * m + self.M) * self.g
        end = np.zeros((N, 1))
        end[-1] = 1.0
        if not consistent:
            self.solve = lambda F: F / diagonal[:, None]
        elif N <= 200:
            A = np.diag(diagonal) + off * (np.eye(N, k=1) + np.eye(N, k=-1))
            inverse = np.linalg.inv(A)
            self.solve = lambda F: inverse @ F
        else:
            band = cholesky_banded(np.array([np.full(N, off), diagonal]))
            self.solve = lambda F: cho_solve_banded((band, False), F, check_finite=False)
        self.column = self.solve(end)
        self.rho = np.array(p["center_of_mass"])
        self.rho_hat = hat(self.rho)
        self.J = np.array(p["inertia"])
        t = float(self.column[-1, 0])
        self.K_inverse = np.linalg.inv(self.J + t * self.M**2 * self.rho_hat @ self.rho_hat)
        self.lever = t * self.M**2
        q = np.zeros((N, 3))
        q[:, 0] = self.l * np.arange(1, N + 1)
        v = np.zeros((N, 3))
        v[-1] = p["end_velocity"]
        self.y = np.concatenate([q.ravel(), np.eye(3).ravel(), v.ravel(), np.zeros(3)])
        self.time, self.tolerance = 0.0, method.knob

    def parts(self, y: Array) -> tuple[Array, Array, Array, Array]:
        n = 3 * self.N
        return y[:n].reshape(-1, 3), y[n : n + 9].reshape(3, 3), y[n + 9 : -3].reshape(-1, 3), y[-3:]

    def rate(self, t: float, y: Array) -> Array:
        q, R, _, Omega = self.parts(y)
        w = q.copy()
        w[1:] -= q[:-1]
        pull = (self.EA * (1.0 / self.l - 1.0 / np.sqrt((w * w).sum(axis=1))))[:, None] * w
        F = -pull
        F[:-1] += pull[1:]
        F[:, 2] += self.weight
        y_free = self.solve(F)
        W = hat(Omega)
        turning = W @ (W @ self.rho)
        moment = self.rho_hat @ (self.M * (self.g * R[2] - y_free[-1] @ R) + self.lever * turning)
        alpha = self.K_inverse @ (moment - W @ (self.J @ Omega))
        swing = R @ (turning - self.rho_hat @ alpha)
        return np.concatenate(
            [y[3 * self.N + 9 : -3], (R @ W).ravel(), (y_free - self.M * self.column * swing).ravel(), alpha]
        )

    def solution(self, seconds: float) -> Any:
        span = (self.time, self.time + seconds)
        solution = solve_ivp(self.rate, span, self.y, method="DOP853", rtol=self.tolerance, atol=self.tolerance)
        if not solution.success:
            raise RuntimeError(solution.message)
        self.time, self.y = span[1], solution.y[:, -1]
        return solution

    def advance(self, seconds: float) -> int:
        return len(self.solution(seconds).t) - 1

    # end of model

    def trace(self, until: float) -> list[State]:
        """States at the solver's own steps."""
        solution = self.solution(until - self.time)
        return [self.at(float(t), y) for t, y in zip(solution.t[1:], solution.y.T[1:], strict=True)]

    def state(self) -> State:
        return self.at(self.time, self.y)

    def at(self, time: float, y: Array) -> State:
        q, R, v, Omega = self.parts(y)
        return State(
            time=time,
            nodes=q.tolist(),
            velocities=v.tolist(),
            rotation=R.tolist(),
            angular_velocity=Omega.tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
