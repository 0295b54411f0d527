"""Example 1 as an ordinary differential equation in JAX: written by hand, not a simulator.

Compiled, in double precision. RK4 is a loop inside one compiled function; Dopri8 is diffrax's, with its step-size
control. The mass matrix is constant but for the body's rotation, which is eliminated; at N > 200 the consistent matrix
is solved as a band.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.protocol import Method, State, serve

jax.config.update("jax_enable_x64", True)
MOST_STEPS = 20_000  # of Dopri8 in one call that keeps them


# model
class Motion(NamedTuple):
    q: Any
    R: Any
    v: Any
    Omega: Any


class Constants(NamedTuple):
    l: Any
    EA: Any
    g: Any
    M: Any
    J: Any
    rho: Any
    weight: Any
    column: Any
    K_inverse: Any
    mass: Any  # diagonal, inverse, or the three diagonals


def solve(mass: Any, F: Any) -> Any:
    if isinstance(mass, tuple):
        return jax.lax.linalg.tridiagonal_solve(*mass, F)
    return F / mass[:, None] if mass.ndim == 1 else mass @ F


def rate(c: Constants, x: Motion) -> Motion:
    w = jnp.diff(x.q, axis=0, prepend=0.0)
    pull = c.EA * (1.0 / c.l - 1.0 / jnp.sqrt((w * w).sum(axis=1, keepdims=True))) * w
    F = jnp.append(pull[1:], jnp.zeros((1, 3)), axis=0) - pull
    y = solve(c.mass, F.at[:, 2].add(c.weight))
    turning = jnp.cross(x.Omega, jnp.cross(x.Omega, c.rho))
    push = c.M * (c.g * x.R[2] - y[-1] @ x.R) + c.M**2 * c.column[-1] * turning
    alpha = c.K_inverse @ (jnp.cross(c.rho, push) - jnp.cross(x.Omega, c.J @ x.Omega))
    swing = x.R @ (turning + jnp.cross(alpha, c.rho))
    return Motion(x.v, jnp.cross(x.R, x.Omega), y - c.M * c.column[:, None] * swing, alpha)


def rk4_step(c: Constants, h: Any, x: Motion) -> Motion:
    def moved(k: Motion, t: Any) -> Motion:
        return Motion(*(a + t * b for a, b in zip(x, k, strict=True)))

    k1 = rate(c, x)
    k2 = rate(c, moved(k1, 0.5 * h))
    k3 = rate(c, moved(k2, 0.5 * h))
    k4 = rate(c, moved(k3, h))
    mean = Motion(*((a + 2.0 * (b + d) + e) / 6.0 for a, b, d, e in zip(k1, k2, k3, k4, strict=True)))
    return moved(mean, h)


@jax.jit  # type: ignore[untyped-decorator]
def rk4(c: Constants, h: Any, steps: Any, x: Motion) -> Any:
    return jax.lax.fori_loop(0, steps, lambda _, y: rk4_step(c, h, y), x)


@partial(jax.jit, static_argnames="keep")
def dopri8(c: Constants, tolerance: Any, seconds: Any, x: Motion, keep: bool) -> Any:
    return diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: rate(args, y)),
        diffrax.Dopri8(),
        0.0,
        seconds,
        None,
        x,
        args=c,
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
        saveat=diffrax.SaveAt(t1=True, steps=keep),
        max_steps=MOST_STEPS if keep else None,
    )


def constants(p: Any, N: int, consistent: bool) -> Constants:
    l, M = p["length"] / N, p["mass"]
    m = p["density"] * l
    diagonal = jnp.full(N, 2.0 / 3.0 * m if consistent else m).at[-1].mul(0.5).at[-1].add(M)
    weight = jnp.full(N, m * p["gravity"]).at[-1].set((0.5 * m + M) * p["gravity"])
    mass: Any = diagonal
    if consistent:
        off = jnp.full(N, m / 6.0)
        A = jnp.diag(diagonal) + jnp.diag(off[1:], 1) + jnp.diag(off[1:], -1)
        mass = jnp.linalg.inv(A) if N <= 200 else (off.at[0].set(0.0), diagonal, off.at[-1].set(0.0))
    column = solve(mass, jnp.zeros((N, 1)).at[-1].set(1.0))[:, 0]
    J, rho = jnp.array(p["inertia"]), jnp.array(p["center_of_mass"])
    K = J - M**2 * column[-1] * (rho @ rho * jnp.eye(3) - jnp.outer(rho, rho))
    return Constants(l, p["stiffness"], p["gravity"], M, J, rho, weight, column, jnp.linalg.inv(K), mass)


def released(p: Any, N: int) -> Motion:
    q = jnp.outer(p["length"] / N * jnp.arange(1.0, N + 1), jnp.array([1.0, 0.0, 0.0]))
    return Motion(q, jnp.eye(3), jnp.zeros((N, 3)).at[-1].set(jnp.array(p["end_velocity"])), jnp.zeros(3))


class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        self.c = jax.tree.map(jnp.asarray, constants(p, N, "consistent" in method.name))
        self.x = released(p, N)
        self.fixed, self.knob, self.time = method.name.startswith("RK4"), method.knob, 0.0

    def advance(self, seconds: float) -> int:
        self.time += seconds
        if self.fixed:
            steps = round(seconds / self.knob)
            self.x = jax.block_until_ready(rk4(self.c, self.knob, steps, self.x))
            return steps
        solution = dopri8(self.c, self.knob, seconds, self.x, False)
        self.x = jax.block_until_ready(jax.tree.map(lambda a: a[-1], solution.ys))
        return int(solution.stats["num_accepted_steps"])

    # end of model

    def trace(self, until: float) -> list[State]:
        """States at the solver's own steps."""
        solution = dopri8(self.c, self.knob, until - self.time, self.x, True)
        times = np.array(solution.ts)
        count = int(np.isfinite(times).sum())
        found = Motion(*(np.array(a)[:count] for a in solution.ys))
        states = [at(self.time + float(times[i]), Motion(*(a[i] for a in found))) for i in range(count)]
        self.time, self.x = until, Motion(*(jnp.asarray(a[-1]) for a in found))
        return states

    def state(self) -> State:
        return at(self.time, self.x)


def at(time: float, x: Motion) -> State:
    return State(
        time=time,
        nodes=x.q.tolist(),
        velocities=x.v.tolist(),
        rotation=x.R.tolist(),
        angular_velocity=x.Omega.tolist(),
    )


if __name__ == "__main__":
    serve(Pendulum)
