"""Value and gradient of example 1 in MuJoCo, by forward differences: one run more for each number."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.mujoco import Pendulum
from benchmarks.peers.protocol import Method, derivatives, serve

SCALARS = ("stiffness", "density", "mass", "gravity")
CHANGE = 1e-7  # over the size of a number: rounding and curvature of the motion are about equal


class Run:
    def __init__(self, method: Method, duration: float, many: bool) -> None:
        self.method, self.duration, self.many = method, duration, many
        self.start = self.pendulum(method.problem, duration)

    def pendulum(self, problem: Any, duration: float) -> Pendulum:
        return Pendulum(self.method._replace(problem=problem, knob=duration / self.method.knob))

    def final(self, pendulum: Pendulum, duration: float) -> float:
        pendulum.advance(duration)
        return float(pendulum.data.qpos[-7])

    def value(self) -> float:
        return self.final(self.pendulum(self.method.problem, self.duration), self.duration)

    def moved(self) -> list[tuple[Pendulum, float, float]]:
        """The pendulum with each of the numbers changed: with its duration, and by how much."""
        p, T, N, found = self.method.problem, self.duration, self.method.elements, []
        for name in SCALARS:
            found.append((self.pendulum({**p, name: p[name] * (1.0 + CHANGE)}, T), T, CHANGE * p[name]))
        # sliders of the inner nodes come first, then the free joint of the body; its place begins with a vector
        inner = 3 * (N - 1)
        places = range(inner + 3) if self.many else ()
        velocities = range(inner + 3) if self.many else range(inner, inner + 3)
        for row, numbers in (("qpos", places), ("qvel", velocities)):
            for k in numbers:
                pendulum = self.pendulum(p, T)
                getattr(pendulum.data, row)[k] += CHANGE
                found.append((pendulum, T, CHANGE))
        longer = T * (1.0 + CHANGE)
        return [*found, (self.pendulum(p, longer), longer, CHANGE * T)]

    def value_and_gradient(self) -> tuple[float, list[float]]:
        value = self.value()
        return value, [(self.final(pendulum, T) - value) / change for pendulum, T, change in self.moved()]


if __name__ == "__main__":
    serve(Run, derivatives)
