"""Example 1 in Drake: point masses, spring-dampers between them, and a free body.

At N = 20 and 100 a free body for each point mass takes two thirds of the time of one on three prismatic joints. The
discrete plant solves a dense system, and at N = 400 it is many times faster with the joints, so it has them there. A
call of AdvanceTo runs all steps inside the library. "discrete" is the plant with a time step of its own; RK3 and RK5
integrate the continuous plant with a fixed step.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    LinearSpringDamper,
    PrismaticJoint,
    RigidBody,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.peers.protocol import Method, State, end_body, serve

MANY = 200  # elements
SCHEMES = {"RK3": "runge_kutta3", "RK5": "runge_kutta5"}


# model
def add_point(plant: MultibodyPlant, i: int, inertia: SpatialInertia, slides: bool) -> RigidBody:
    if not slides:
        return plant.AddRigidBody(f"n{i}", inertia)
    nothing = SpatialInertia(mass=0.0, p_PScm_E=np.zeros(3), G_SP_E=UnitInertia(0.0, 0.0, 0.0))
    frame = plant.world_frame()
    for axis in range(3):
        body = plant.AddRigidBody(f"n{i}{axis}", inertia if axis == 2 else nothing)
        plant.AddJoint(PrismaticJoint(f"j{i}{axis}", frame, body.body_frame(), np.eye(3)[axis]))
        frame = body.body_frame()
    return body


class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        l = p["length"] / N
        self.step = method.knob
        plant = MultibodyPlant(time_step=self.step if method.name == "discrete" else 0.0)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, p["gravity"]])
        inertia = SpatialInertia(mass=p["density"] * l, p_PScm_E=np.zeros(3), G_SP_E=UnitInertia(1.0, 1.0, 1.0))
        slides = method.name == "discrete" and N > MANY
        chain = [plant.world_body(), *(add_point(plant, i, inertia, slides) for i in range(1, N))]
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
            if slides:
                plant.GetJointByName(f"j{i}0").set_translation(self.context, i * l)
            else:
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
