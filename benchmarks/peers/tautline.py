"""Example 1 in tautline, through its public interface; compared like every other tool."""

from __future__ import annotations

from typing import Any

import tautline as tl
from benchmarks.peers.protocol import Method, State, serve

ORDERS = {"order 2": 2, "order 4": 4, "order 6": 6}
SPOOLED = 90.0  # m of string on the locked drum, which does not move; the guide is 0.5 m long


# model
class Pendulum:
    def __init__(self, method: Method) -> None:
        p: Any = method.problem
        system = tl.pendulum(
            string=tl.String(
                length=SPOOLED + p["length"], density=p["density"], stiffness=p["stiffness"], law="linear"
            ),
            reel=tl.Reel(drum_radius=0.5, guide_length=0.5, inertia_mass=1.0),
            body=tl.RigidBody(mass=p["mass"], center_of_mass=p["center_of_mass"], inertia=p["inertia"]),
            gravity=p["gravity"],
            elements=method.elements,
        )
        start = tl.Straight(p["length"], direction=(1, 0, 0), end_velocity=tuple(p["end_velocity"]))
        self.step = method.knob
        self.simulation = tl.Simulation(system, start, step=self.step, order=ORDERS[method.name])

    def advance(self, seconds: float) -> int:
        before = self.simulation.steps
        status = self.simulation.advance(seconds, tl.Locked(), record=False)
        if status != "completed":
            raise RuntimeError(self.simulation.message)
        return self.simulation.steps - before

    # end of model

    def state(self) -> State:
        line, body = self.simulation.line, self.simulation.body
        return State(
            time=self.simulation.time,
            nodes=line.nodes[1:].tolist(),
            velocities=line.node_velocities[1:].tolist(),
            rotation=body.attitude.tolist(),
            angular_velocity=body.angular_velocity.tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
