"""
A throw to a moving target, with CasADi
=======================================

A drone circles below a reel. A weight on the string of the reel is to be thrown so that it meets the drone, with the
least speed, at any time. The drone's path is an expression of CasADi, the weight's position comes from a run of
tautline, and IPOPT gets exact derivatives of both.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import casadi
import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.Case(
    tl.pendulum(
        tl.String(length=10.0, density=0.05, stiffness=2e4, viscosity=200.0),
        tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8),
        tl.RigidBody.point(mass=2.0),
        elements=2,
    ),
    tl.Straight(4.0, direction=(1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0)),
    tl.Torque(6.0),
    tl.Run(duration=1.0, step=1e-3),
)
keys = [*(f"initial.end_velocity[{k}]" for k in range(3)), "run.duration"]


def drone(time: Any) -> Any:
    """Where the drone is, for numbers and for expressions."""
    angle = 0.8 + 1.5 * time
    return casadi.vertcat(2.0 * casadi.cos(angle), 2.0 * casadi.sin(angle), 4.0)


# %%
# CasADi calls functions of Python through a ``Callback``, and asks it for another one that returns the Jacobian.
# Both are of the same kind:


class FromPython(casadi.Callback):
    """A function of Python, of the entries of a vector, as a function of CasADi."""

    def __init__(self, name: str, function: Callable[..., Any], sizes: Sequence[tuple[int, int]], slopes: Any = None):
        super().__init__()
        self.function, self.sizes, self.slopes = function, sizes, slopes
        self.construct(name)

    def get_n_in(self) -> int:
        return len(self.sizes) - 1

    def get_sparsity_in(self, k: int) -> Any:
        return casadi.Sparsity.dense(*self.sizes[k])

    def get_sparsity_out(self, k: int) -> Any:
        return casadi.Sparsity.dense(*self.sizes[-1])

    def eval(self, values: Any) -> Any:
        return [self.function(*values[0].full().ravel())]

    def has_jacobian(self) -> bool:
        return self.slopes is not None

    def get_jacobian(self, *names: Any) -> Any:  # a function of the vector and of what came out for it
        return self.slopes


# %%
# :func:`tautline.jacobian` makes one run for the place and for its derivatives. IPOPT asks for them one after the
# other at the same values, so the last answer is kept. The step is a part of the duration, as it varies.


@functools.lru_cache(maxsize=1)
def thrown(*values: float) -> tuple[Any, Any]:
    """Place of the weight at the end of a run, and derivatives of it by the keys."""
    timed = {"run.step": values[-1] / 1000, "run.sample": values[-1]}
    found = tl.jacobian(case.with_({**dict(zip(keys, values, strict=True)), **timed}), "position", by=keys)
    if found.status != "completed":
        raise ValueError(found.message)
    return found.position_value.values[-1, -1], found.position.values[-1, -1]


slopes = FromPython("slopes", lambda *values: thrown(*values)[1], [(4, 1), (3, 1), (3, 4)])
weight = FromPython("weight", lambda *values: thrown(*values)[0], [(4, 1), (3, 1)], slopes)

# %%
# What CasADi finds through both callbacks agrees with differences of runs:

x = casadi.MX.sym("x", 4)
miss = weight(x) - drone(x[3])
start = np.array([0.0, 1.0, 0.0, 1.0])
exact = casadi.Function("exact", [x], [casadi.jacobian(miss, x)])(start).full()
missed = casadi.Function("missed", [x], [miss])
h = 2e-6
differences = [(missed(start + e) - missed(start - e)).full().ravel() / (2.0 * h) for e in h * np.eye(4)]
error = np.abs(exact - np.transpose(differences)).max()
print(f"derivatives of the miss agree with differences of runs to {error:.0e}")
assert error < 1e-7

# %%
# The problem as one writes it in CasADi. IPOPT estimates second derivatives itself.

options: dict[str, Any] = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}
problem = {"x": x, "f": casadi.sumsqr(x[:3]), "g": miss}
solver = casadi.nlpsol("solver", "ipopt", problem, {"ipopt": options, "print_time": False})


def least_throw(earliest: float, latest: float) -> Any:
    """Velocity and duration of the slowest throw that meets the drone within some time."""
    found = solver(x0=start, lbx=[-20.0] * 3 + [earliest], ubx=[20.0] * 3 + [latest], lbg=0.0, ubg=0.0)
    assert solver.stats()["success"], solver.stats()["return_status"]
    return found["x"].full().ravel()


best = least_throw(0.3, 2.0)
print(f"throw with {np.linalg.norm(best[:3]):.3f} m/s, meet after {best[3]:.3f} s")
for time in best[3] - 0.1, best[3] + 0.1:
    speed = np.linalg.norm(least_throw(time, time)[:3])
    print(f"to meet after {time:.3f} s takes {speed:.3f} m/s")
    assert speed > 1.01 * np.linalg.norm(best[:3])

# %%
# The throw in a run with twelve elements instead of two, and with another step:

thrown_so = case.with_(dict(zip(keys, best, strict=True)))
run = tl.simulate(thrown_so.with_({"run.elements": 12, "run.step": "auto", "run.sample": best[3] / 100}))
assert run.attrs["status"] == "completed"
weight_path = run.position.values[:, -1]
drone_path = np.array([drone(t).full().ravel() for t in run.time.values])
left = np.linalg.norm(weight_path[-1] - drone_path[-1])
print(f"with twelve elements it misses by {1e3 * left:.1f} mm")
assert left < 0.02

figure, axes = plt.subplots(2, 1, figsize=(6, 5), sharex=True, layout="constrained")
for side, across, seen in zip(axes, (1, 2), ("y (m), from above", "z (m), from the side"), strict=True):
    for name, path in {"weight": weight_path, "drone": drone_path}.items():
        (line,) = side.plot(path[:, 0], path[:, across], label=name)
        side.plot(*path[-1, [0, across]], "o", color=line.get_color())
    side.set(ylabel=seen, aspect="equal")
    side.invert_yaxis()
axes[0].legend()
axes[1].set_xlabel("x (m)")
tl.figures.save(figure, "casadi-throw", ["png"])
