"""Members of example 1 in JAX: the compiled Runge-Kutta loop of jax.py, mapped over members by `jax.vmap`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.jax import Motion, at, constants, released, rk4_step
from benchmarks.peers.protocol import Method, State, ensembles, serve


@jax.jit  # type: ignore[untyped-decorator]
def together(c: Any, h: Any, steps: Any, x: Motion) -> Any:
    step = jax.vmap(lambda one: rk4_step(c, h, one))
    return jax.lax.fori_loop(0, steps, lambda _, y: step(y), x)


class Members:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        self.c = jax.tree.map(jnp.asarray, constants(p, N, "consistent" in method.name))
        one, velocities = released(p, N), jnp.asarray(p["members"])
        x = Motion(*(jnp.repeat(part[None], len(velocities), axis=0) for part in one))
        self.x = x._replace(v=x.v.at[:, -1].set(velocities))
        self.step, self.time = method.knob, 0.0

    def advance(self, seconds: float) -> int:
        steps = round(seconds / self.step)
        self.x = jax.block_until_ready(together(self.c, self.step, steps, self.x))
        self.time += seconds
        return steps

    def states(self) -> list[State]:
        parts = [np.asarray(part) for part in self.x]
        return [at(self.time, Motion(*one)) for one in zip(*parts, strict=True)]


if __name__ == "__main__":
    serve(Members, ensembles)
