"""
A neural network that hoists any load, with JAX
===============================================

Which torques lift a load by 1.5 m within three seconds, and leave it at rest? They depend on the mass. A small neural
network of JAX turns the mass into a table of torques, and a run of tautline shows where the load comes to rest. The
gradient by the weights of the network goes through both. (JAX is not part of tautline: ``pip install jax``.)
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize

import tautline as tl

jax.config.update("jax_enable_x64", True)  # runs are made in double precision

# %%
# JAX calls functions of NumPy by ``pure_callback`` and gets their derivatives from ``custom_vjp``. One call of
# :func:`tautline.value_and_gradient` gives the number and what the reverse pass needs.


def number_of_keys(case: tl.Case, objective: Callable[..., Any], keys: list[str]) -> Any:
    """A number from a run, as a function of values of keys that JAX differentiates."""

    def run(values: Any) -> tuple[Any, Any]:
        given = dict(zip(keys, np.asarray(values).tolist(), strict=True))
        found = tl.value_and_gradient(case.with_(given), objective, by=keys)
        if found.status != "completed":
            raise ValueError(found.message)
        return np.asarray(found.value), found.gradient.values

    def both(values: Any) -> Any:
        kinds = jax.ShapeDtypeStruct((), np.float64), jax.ShapeDtypeStruct((len(keys),), np.float64)
        return jax.pure_callback(run, kinds, values, vmap_method="sequential")

    number = jax.custom_vjp(lambda values: both(values)[0])
    number.defvjp(both, lambda gradient, bar: (bar * gradient,))
    return number


# %%
# The hoist, and how far the load is from rest at 6.5 m of rope after three seconds:

times = np.linspace(0.0, 3.0, 11)
case = tl.Case(
    tl.pendulum(
        tl.String(length=14.0, density=1e-3, stiffness=2e4),
        tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=20.0),
        tl.RigidBody.point(mass=5.0),
        elements=1,
    ),
    tl.Hanging(deployed=8.0),
    tl.Torque((times, np.full(11, 5.0))),
    tl.Run(duration=3.0, step=5e-3, sample=0.1),
)
keys = [*(f"command.torques[{k}]" for k in range(11)), "body.mass"]
missed = number_of_keys(
    case, (tl.objectives.Final("unstretched_length") - 6.5) ** 2 + tl.objectives.Final("reel_speed") ** 2, keys
)

# %%
# The network has one hidden layer, and adds at most 3 N m to the torque that holds the load. Torques that jump cost
# a little, in a term that only JAX knows of.


def torques(weights: Any, mass: Any) -> Any:
    """Table of torques for a load (N m)."""
    hidden = jnp.tanh(weights["in"] * (mass - 5.0) / 3.0 + weights["shift"])
    return 0.1 * 9.81 * mass + 3.0 * jnp.tanh(hidden @ weights["out"])


def loss(weights: Any, masses: Any) -> Any:
    def of_one(mass: Any) -> Any:
        table = torques(weights, mass)
        return missed(jnp.append(table, mass)) + 1e-4 * jnp.mean(jnp.diff(table) ** 2)

    return jnp.mean(jax.vmap(of_one)(masses))


chance = jax.random.split(jax.random.key(1), 3)
weights = {
    "in": jax.random.normal(chance[0], (4,)),
    "shift": jax.random.normal(chance[1], (4,)),
    "out": 0.1 * jax.random.normal(chance[2], (4, 11)),
}
flat, shaped = ravel_pytree(weights)
masses = jnp.array([3.0, 5.0, 8.0])
value_and_slope = jax.jit(jax.value_and_grad(lambda flat: loss(shaped(flat), masses)))

# %%
# The derivative along some direction agrees with a difference:

along = np.random.default_rng(2).normal(size=flat.size)
h = 1e-6
exact = value_and_slope(flat)[1] @ along
difference = (value_and_slope(flat + h * along)[0] - value_and_slope(flat - h * along)[0]) / (2.0 * h)
print(f"derivative by {flat.size} weights along a direction: {exact:.8f}, by a difference {difference:.8f}")
assert abs(exact - difference) < 1e-7 * abs(exact)

# %%
# The network learns from three masses, with a search of SciPy:

learned = minimize(lambda x: tuple(map(np.asarray, value_and_slope(x))), flat, jac=True, options={"maxiter": 25})
print(f"loss from {value_and_slope(flat)[0]:.2f} to {learned.fun:.1e} in {learned.nfev} runs of each load")
assert learned.fun < 1e-3

# %%
# The test uses other masses, four elements and another step; beside it a hoist that adds to each load's weight what
# is right for 5 kg, and lifts light loads too far and heavy ones too little.

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
fine = {"run.elements": 4, "run.step": "auto"}
right_for_5 = torques(shaped(learned.x), 5.0) - 0.1 * 9.81 * 5.0
for mass in 4.0, 6.5:
    misses = {}
    for name, table in {
        "one table": right_for_5 + 0.1 * 9.81 * mass,
        "network": torques(shaped(learned.x), mass),
    }.items():
        command = tl.Torque((times, np.asarray(table)))
        run = tl.simulate(case.with_({"body.mass": mass, "command": command, **fine}))
        assert run.attrs["status"] == "completed"
        own = run.squeeze(["line", "body"])  # there is only one of each
        misses[name] = abs(float(own.unstretched_length[-1]) - 6.5)
        axes[0].plot(times, table, label=f"{name}, {mass} kg")
        axes[1].plot(run.time, own.unstretched_length)
        print(f"{mass} kg, {name}: {100 * misses[name]:.1f} cm from the goal, left with {own.reel_speed[-1]:+.3f} m/s")
    assert misses["network"] < 0.04 < misses["one table"]
axes[0].set_ylabel("torque (N m)")
axes[0].legend()
axes[1].axhline(6.5, color="gray", linewidth=0.8)
axes[1].set(ylabel="rope out (m)", xlabel="time (s)")
tl.figures.save(figure, "jax-hoist", ["png"])
