"""Example 1 in PyElastica: a Cosserat rod without bending stiffness, and a rigid body on a penalty joint.

PyElastica's rod keeps its volume, so its pull is EA (e - 1)/e at the stretch e. `LinearPull` adds what is missing to
EA (e - 1), by the interface for forces; without it the body is 0.5 m off after 2 s. The directors of the elements
follow the string by its shear stiffness, for which they need some inertia: a radius of a tenth of the element length.
The loop over the steps is one in Python: the library has no other.
"""

from __future__ import annotations

import elastica as ea
import numpy as np
from elastica.experimental.connection_contact_joint.generic_system_type_connection import GenericSystemTypeFreeJoint
from numba import njit

from benchmarks.peers.protocol import Method, State, serve

JOINT_STIFFNESS = 1e4  # N/m: 0.3 mm at the highest pull; ten times more would halve the largest stable step
# Radius over element length. The directors' inertia is the model's error, and its inverse limits the step.
RADII = {"PositionVerlet": 0.1, "PositionVerlet, thin": 0.01}


# model
class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Connections, ea.Forcing):  # type: ignore[misc]
    pass


class LinearPull(ea.NoForces):  # type: ignore[misc]
    def apply_forces(self, system: ea.CosseratRod, time: float = 0.0) -> None:
        add_pull(
            system.director_collection,
            system.internal_stress,
            system.dilatation,
            system.tangents,
            system.rest_lengths,
            system.external_forces,
            system.external_torques,
        )


@njit(cache=True)
def add_pull(Q, stress, e, tangents, lengths, forces, torques):  # type: ignore[no-untyped-def]
    for k in range(e.size):
        for i in range(3):
            force = (1.0 - 1.0 / e[k]) * (
                Q[0, i, k] * stress[0, k] + Q[1, i, k] * stress[1, k] + Q[2, i, k] * stress[2, k]
            )
            forces[i, k] += force
            forces[i, k + 1] -= force
        arm = np.empty(3)
        for i in range(3):
            arm[i] = Q[i, 0, k] * tangents[0, k] + Q[i, 1, k] * tangents[1, k] + Q[i, 2, k] * tangents[2, k]
        torques[:, k] += (e[k] - 1.0) * lengths[k] * np.cross(arm, stress[:, k])


class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        x, y, z = np.eye(3)
        radius = RADII[method.name] * p["length"] / N
        area = np.pi * radius**2
        rod = ea.CosseratRod.straight_rod(
            N,
            np.zeros(3),
            x,
            y,
            p["length"],
            radius,
            p["density"] / area,
            youngs_modulus=p["stiffness"] / area,
            shear_modulus=p["stiffness"] / area,
        )
        rod.shear_matrix[:] = p["stiffness"] * np.eye(3)[:, :, None]
        rod.bend_matrix[:] = 0.0
        rod.velocity_collection[:, -1] = p["end_velocity"]
        rho = np.array(p["center_of_mass"])
        body = ea.Sphere(center=p["length"] * x + rho, base_radius=0.1, density=1.0)
        body.mass = np.float64(p["mass"])
        J = np.array(p["inertia"]) - p["mass"] * (rho @ rho * np.eye(3) - np.outer(rho, rho))
        body.mass_second_moment_of_inertia[..., 0] = J
        body.inv_mass_second_moment_of_inertia[..., 0] = np.linalg.inv(J)
        body.director_collection[..., 0] = np.eye(3)
        body.velocity_collection[:, 0] = p["end_velocity"]
        simulator = Simulator()
        down = p["gravity"] * z
        for system in (rod, body):
            simulator.append(system)
            simulator.add_forcing_to(system).using(ea.GravityForces, acc_gravity=down)
        simulator.add_forcing_to(rod).using(LinearPull)
        simulator.constrain(rod).using(
            ea.GeneralConstraint,
            constrained_position_idx=(0,),
            translational_constraint_selector=np.array([True, True, True]),
        )
        simulator.connect(rod, body, first_connect_idx=-1, second_connect_idx=0).using(
            GenericSystemTypeFreeJoint, k=JOINT_STIFFNESS, nu=0.0, point_system_two=-rho
        )
        simulator.finalize()
        self.rod, self.body, self.simulator, self.down, self.rho = rod, body, simulator, down, rho
        self.stepper, self.step, self.time = ea.PositionVerlet(), np.float64(method.knob), np.float64(0.0)

    def advance(self, seconds: float) -> int:
        steps = round(seconds / self.step)
        for _ in range(steps):
            self.time = self.stepper.step(self.simulator, self.time, self.step)
        return steps

    # end of model

    def state(self) -> State:
        rod, body = self.rod, self.body
        rod.compute_internal_forces_and_torques(self.time)  # strains of this moment
        mass, center, velocity = float(body.mass[0]), body.position_collection[:, 0], body.velocity_collection[:, 0]
        R, Omega = body.director_collection[..., 0].T, body.omega_collection[:, 0]
        gap = rod.position_collection[:, -1] - center + R @ self.rho
        kinetic = rod.compute_translational_energy() + rod.compute_rotational_energy()
        kinetic += np.sum(body.compute_translational_energy()) + np.sum(body.compute_rotational_energy())
        height = rod.position_collection @ rod.mass + mass * center
        potential = rod.compute_shear_energy() + 0.5 * JOINT_STIFFNESS * gap @ gap - self.down @ height
        spins = np.einsum("ijk,jk->ik", rod.mass_second_moment_of_inertia, rod.omega_collection) / rod.dilatation
        momentum = np.cross(rod.position_collection.T, rod.velocity_collection.T).T @ rod.mass
        momentum += np.einsum("jik,jk->i", rod.director_collection, spins)
        momentum += mass * np.cross(center, velocity) + R @ (body.mass_second_moment_of_inertia[..., 0] @ Omega)
        return State(
            time=float(self.time),
            nodes=rod.position_collection.T[1:].tolist(),
            velocities=rod.velocity_collection.T[1:].tolist(),
            rotation=R.tolist(),
            angular_velocity=Omega.tolist(),
            kinetic=float(kinetic),
            energy=float(kinetic + potential),
            momentum=float(momentum[2]),
        )


if __name__ == "__main__":
    serve(Pendulum)
