"""Value and gradient of example 1 in tautline, through its public interface."""

from __future__ import annotations

import tautline as tl
from benchmarks.peers.protocol import Method
from benchmarks.peers.tautline import Pendulum

SAMPLES = 20
SCALARS = ("string.stiffness", "string.density", "body.mass", "gravity")


class Run:
    def __init__(self, method: Method, duration: float, many: bool) -> None:
        steps, N = int(method.knob), method.elements
        self.method, self.duration = method._replace(knob=duration / steps), duration
        simulation = Pendulum(self.method).simulation
        self.case = tl.Case(
            simulation.system,
            simulation.state,
            tl.Locked(),
            tl.Run(
                duration=duration, step=duration / steps, sample=duration / SAMPLES, order=int(method.name.split()[-1])
            ),
        )
        inner = range(1, N) if many else ()
        rows = {"nodes": "position", "node_velocities": "velocity"} if many else {"node_velocities": "velocity"}
        start = []
        for row, of_body in rows.items():  # the last node goes with the body
            places = [*(f"lines.line.{row}[{i}]" for i in inner), f"bodies.body.{of_body}"]
            start += [f"initial.{place}[{k}]" for place in places for k in range(3)]
        self.keys = [*SCALARS, *start, "run.duration"]

    def value(self) -> float:
        pendulum = Pendulum(self.method)
        pendulum.advance(self.duration)
        return float(pendulum.state()["nodes"][-1][0])

    def value_and_gradient(self) -> tuple[float, list[float]]:
        found = tl.value_and_gradient(self.case, tl.objectives.Final("position[-1, 0]"), self.keys)
        return found.value, found.gradient.values.tolist()
