"""Value and gradient of example 1 by diffrax's adjoint methods, with the equations of jax.py.

Time runs from 0 to 1 and the duration is a factor of the equations, so that it has a derivative as all other numbers.
"""

from __future__ import annotations

from typing import Any

import diffrax
import jax
import jax.numpy as jnp

from benchmarks.peers.jax import Motion, constants, rate, released
from benchmarks.peers.protocol import Method, derivatives, serve

ADJOINTS = {"checkpoints": diffrax.RecursiveCheckpointAdjoint, "backsolve": diffrax.BacksolveAdjoint}
SCALARS = ("stiffness", "density", "mass", "gravity")
EXACT = 1e-12  # tolerance of the solution that others are compared with
MOST_STEPS = 100_000  # of that


def final(method: Method, duration: Any, numbers: dict[str, Any], x: Motion) -> Any:
    """Place of the attachment point along the first axis at the end."""
    solver, mass, adjoint = method.name.split()
    c = constants({**method.problem, **numbers}, method.elements, mass == "consistent")
    exact = solver == "Dopri8"
    steps = MOST_STEPS if exact else int(method.knob)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: jax.tree.map(lambda a: args[0] * a, rate(args[1], y))),
        getattr(diffrax, solver)(),
        0.0,
        1.0,
        None if exact else 1.0 / steps,
        x,
        args=(duration, c),
        stepsize_controller=diffrax.PIDController(rtol=EXACT, atol=EXACT) if exact else diffrax.ConstantStepSize(),
        max_steps=steps + 1,
        adjoint=ADJOINTS[adjoint](),
    )
    return solution.ys.q[-1, -1, 0]


class Run:
    def __init__(self, method: Method, duration: float, many: bool) -> None:
        p = method.problem
        x = released(p, method.elements)

        def value(scalars: Any, places: Any, velocities: Any, duration: Any) -> Any:
            start = x._replace(q=places, v=velocities) if many else x._replace(v=x.v.at[-1].set(velocities))
            return final(method, duration, dict(zip(SCALARS, scalars, strict=True)), start)

        scalars = jnp.array([p[name] for name in SCALARS])
        self.at = scalars, x.q, x.v if many else x.v[-1], jnp.asarray(duration)
        self.compiled = jax.jit(value)
        wanted = (0, 1, 2, 3) if many else (0, 2, 3)
        self.differentiated = jax.jit(jax.value_and_grad(value, argnums=wanted))

    def value(self) -> float:
        return float(self.compiled(*self.at))

    def value_and_gradient(self) -> tuple[float, list[float]]:
        value, parts = self.differentiated(*self.at)
        return float(value), jnp.concatenate([jnp.ravel(part) for part in parts]).tolist()


if __name__ == "__main__":
    serve(Run, derivatives)
