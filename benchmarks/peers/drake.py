"""Example 1 in Drake: bodies, spring-dampers, and a floating body.

Point masses hang on three prismatic joints in a row. A call of AdvanceTo runs all steps inside the library. Discrete: the plant's own steps. The
others integrate the continuous plant, with a fixed step.
"""

from __future__ import annotations

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    LinearSpringDamper,
    PrismaticJoint,
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
        nothing = SpatialInertia(mass=0.0, p_PScm_E=np.zeros(3), G_SP_E=UnitInertia(0.0, 0.0, 0.0))
        chain = [plant.world_body()]
        for i in range(1, N):
            frame = plant.world_frame()
            for axis in range(3):
                body = plant.AddRigidBody(f"n{i}{'xyz'[axis]}", inertia if axis == 2 else nothing)
                joint = PrismaticJoint(f"j{i}{'xyz'[axis]}", frame, body.body_frame(), np.eye(3)[axis])
                plant.AddJoint(joint)
                frame = body.body_frame()
            chain.append(body)
        end = end_body(p, N)
        J = end.inertia
        central = RotationalInertia(J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
        spatial = SpatialInertia.MakeFromCentralInertia(end.mass, np.array(end.center_of_mass), central)
        self.body = plant.AddRigidBody("body", spatial)
        chain.append(self.body)
        for a, b in zip(chain[:-1], chain[1:], strict=True):
            plant.AddForceElement(LinearSpringDamper(a, np.zeros(3), b, np.zeros(3), l, p["stiffness"] / l, 0.0))
        plant.Finalize()
        self.simulator = Simulator(plant)
        self.plant, self.context = plant, self.simulator.get_mutable_context()
        for i in range(1, N):
            plant.GetJointByName(f"j{i}x").set_translation(self.context, i * l)
        plant.SetFreeBodyPose(self.context, self.body, RigidTransform(np.array([p["length"], 0.0, 0.0])))
        start = SpatialVelocity(np.zeros(3), np.array(p["end_velocity"]))
        plant.SetFreeBodySpatialVelocity(self.body, start, self.context)
        if method.name != "discrete":
            integrator = ResetIntegratorFromFlags(self.simulator, SCHEMES[method.name], self.step)
            integrator.set_fixed_step_mode(True)
        self.nodes = [plant.GetJointByName(f"j{i}{a}") for i in range(1, N) for a in "xyz"]
        self.simulator.Initialize()

    def advance(self, seconds: float) -> int:
        self.simulator.AdvanceTo(self.context.get_time() + seconds)
        return round(seconds / self.step)

    # end of model

    def state(self) -> State:
        nodes = np.array([j.get_translation(self.context) for j in self.nodes]).reshape(-1, 3)
        velocities = np.array([j.get_translation_rate(self.context) for j in self.nodes]).reshape(-1, 3)
        pose = self.body.EvalPoseInWorld(self.context)
        velocity = self.body.EvalSpatialVelocityInWorld(self.context)
        R = pose.rotation().matrix()
        return State(
            time=self.context.get_time(),
            nodes=[*nodes.tolist(), pose.translation().tolist()],
            velocities=[*velocities.tolist(), velocity.translational().tolist()],
            rotation=R.tolist(),
            angular_velocity=(R.T @ velocity.rotational()).tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
