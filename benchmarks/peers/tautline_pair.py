"""A string between two free bodies in tautline, through its public interface."""

from __future__ import annotations

from typing import Any

import numpy as np

import tautline as tl
from benchmarks.peers.protocol import Method, State, Turning, serve

ORDERS = {"order 2": 2, "order 4": 4, "order 6": 6}


class Bodies:
    def __init__(self, method: Method) -> None:
        p: Any = method.problem
        bodies, states = {}, {}
        for name, x in zip(("first", "last"), p["bodies"], strict=True):
            bodies[name] = tl.RigidBody(mass=x["mass"], center_of_mass=x["center_of_mass"], inertia=x["inertia"])
            arm = np.array(x["center_of_mass"])
            swing = np.cross(x["angular_velocity"], arm)
            states[name] = tl.BodyState(
                tuple(x["position"] + arm), tuple(x["velocity"] + swing), angular_velocity=tuple(x["angular_velocity"])
            )
        string = tl.String(p["length"], p["density"], p["stiffness"], law="linear")
        line = tl.Line(string, start="first", end="last", elements=method.elements)
        system = tl.System(bodies, {"line": line}, gravity=0.0)
        self.simulation = tl.Simulation(system, tl.Placed(states), step=method.knob, order=ORDERS[method.name])

    def advance(self, seconds: float) -> int:
        before = self.simulation.steps
        if self.simulation.advance(seconds, record=False) != "completed":
            raise RuntimeError(self.simulation.message)
        return self.simulation.steps - before

    def state(self) -> State:
        line, bodies = self.simulation.line, self.simulation.bodies.values()
        return State(
            time=self.simulation.time,
            nodes=line.nodes.tolist(),
            velocities=line.node_velocities.tolist(),
            bodies=[
                Turning(rotation=x.attitude.tolist(), angular_velocity=x.angular_velocity.tolist()) for x in bodies
            ],
        )


if __name__ == "__main__":
    serve(Bodies)
