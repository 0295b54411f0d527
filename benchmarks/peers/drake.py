"""Example 1 in Drake: free bodies, which do not turn, and spring-dampers between them.

Free bodies took two thirds of the time of bodies on three prismatic joints. A call of AdvanceTo runs all steps inside
the library. "discrete" is the plant with a time step of its own; RK3 and RK5 integrate the continuous plant with a
fixed step.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    LinearSpringDamper,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.peers.protocol import Method, State, end_body, serve

SCHEMES = {"RK3": "runge_kutta3", "RK5": "runge_kutta5"}


# model
class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        l = p["length"] / N
        self.step = method.knob
        plant = MultibodyPlant(time_step=self.step if method.name == "discrete" else 0.0)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, p["gravity"]])
        inertia = SpatialInertia(mass=p["density"] * l, p_PScm_E=np.zeros(3), G_SP_E=UnitInertia(1.0, 1.0, 1.0))
        chain = [plant.world_body(), *(plant.AddRigidBody(f"n{i}", inertia) for i in range(1, N))]
        end = end_body(p, N)
        J = end.inertia
        central = RotationalInertia(J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
        spatial = SpatialInertia.MakeFromCentralInertia(end.mass, np.array(end.center_of_mass), central)
        self.body = plant.AddRigidBody("body", spatial)
        chain.append(self.body)
        for a, b in pairwise(chain):
            plant.AddForceElement(LinearSpringDamper(a, np.zeros(3), b, np.zeros(3), l, p["stiffness"] / l, 0.0))
        plant.Finalize()
        self.simulator = Simulator(plant)
        self.plant, self.context = plant, self.simulator.get_mutable_context()
        for i in range(1, N):
            plant.SetFreeBodyPose(self.context, chain[i], RigidTransform(np.array([i * l, 0.0, 0.0])))
        plant.SetFreeBodyPose(self.context, self.body, RigidTransform(np.array([p["length"], 0.0, 0.0])))
        start = SpatialVelocity(np.zeros(3), np.array(p["end_velocity"]))
        plant.SetFreeBodySpatialVelocity(self.context, self.body, start)
        if method.name != "discrete":
            integrator = ResetIntegratorFromFlags(self.simulator, SCHEMES[method.name], self.step)
            integrator.set_fixed_step_mode(True)
        self.nodes = chain[1:]
        self.simulator.Initialize()

    def advance(self, seconds: float) -> int:
        self.simulator.AdvanceTo(self.context.get_time() + seconds)
        return round(seconds / self.step)

    # end of model

    def state(self) -> State:
        pose = self.body.EvalPoseInWorld(self.context)
        velocity = self.body.EvalSpatialVelocityInWorld(self.context)
        R = pose.rotation().matrix()
        return State(
            time=self.context.get_time(),
            nodes=[x.EvalPoseInWorld(self.context).translation().tolist() for x in self.nodes],
            velocities=[x.EvalSpatialVelocityInWorld(self.context).translational().tolist() for x in self.nodes],
            rotation=R.tolist(),
            angular_velocity=(R.T @ velocity.rotational()).tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
