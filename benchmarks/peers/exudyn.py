"""Example 1 in Exudyn: mass points, spring-dampers, and a rigid body on a Lie group node.

One call of the solver runs all steps inside the library. The body's reference point is its center of mass, which the
manual calls faster; the last spring pulls at a marker off it. For samples the solver starts anew from the state that
it left.
"""

from __future__ import annotations

from itertools import pairwise

import exudyn as exu
import numpy as np
from exudyn import itemInterface as eii  # noqa: N813 - as in Exudyn's examples

from benchmarks.peers.protocol import Method, State, end_body, serve

SOLVERS = {
    "VelocityVerlet": exu.DynamicSolverType.VelocityVerlet,
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
    "generalized alpha": exu.DynamicSolverType.GeneralizedAlpha,
}


# model
class Pendulum:
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        l = p["length"] / N
        body = end_body(p, N)
        self.center = np.array(body.center_of_mass)
        J = body.inertia
        down = [0.0, 0.0, p["gravity"]]
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        ground = mbs.AddObject(eii.ObjectGround())
        markers = [mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=ground))]
        self.nodes = []
        for i in range(1, N):
            node = mbs.AddNode(eii.NodePoint(referenceCoordinates=[i * l, 0.0, 0.0]))
            mass = p["density"] * l
            mbs.AddObject(eii.MassPoint(mass=mass, nodeNumber=node))
            markers.append(mbs.AddMarker(eii.MarkerNodePosition(nodeNumber=node)))
            mbs.AddLoad(eii.Force(markerNumber=markers[-1], loadVector=[mass * x for x in down]))
            self.nodes.append(node)
        self.node = mbs.AddNode(
            eii.NodeRigidBodyRotVecLG(
                referenceCoordinates=[p["length"] + self.center[0], self.center[1], self.center[2], 0.0, 0.0, 0.0],
                initialVelocities=[*p["end_velocity"], 0.0, 0.0, 0.0],
            )
        )
        rigid = mbs.AddObject(
            eii.ObjectRigidBody(
                mass=body.mass,
                inertia=[J[0][0], J[1][1], J[2][2], J[1][2], J[0][2], J[0][1]],
                nodeNumber=self.node,
            )
        )
        markers.append(mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=rigid, localPosition=-self.center)))
        middle = mbs.AddMarker(eii.MarkerBodyPosition(bodyNumber=rigid))
        mbs.AddLoad(eii.Force(markerNumber=middle, loadVector=[body.mass * x for x in down]))
        for pair in pairwise(markers):
            mbs.AddObject(
                eii.SpringDamper(markerNumbers=list(pair), referenceLength=l, stiffness=p["stiffness"] / l, damping=0.0)
            )
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = 1e6
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
        settings.timeIntegration.explicit.computeMassMatrixInversePerBody = True
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
        settings.timeIntegration.newton.useModifiedNewton = True
        self.container, self.mbs, self.settings = container, mbs, settings
        self.solver, self.step, self.time = SOLVERS[method.name], method.knob, 0.0

    def advance(self, seconds: float) -> int:
        steps = round(seconds / self.step)
        times = self.settings.timeIntegration
        times.startTime, times.endTime, times.numberOfSteps = self.time, self.time + seconds, steps
        self.mbs.SolveDynamic(self.settings, solverType=self.solver, updateInitialValues=True, showHints=False)
        self.time += seconds
        return steps

    # end of model

    def state(self) -> State:
        def output(node: int, kind: object) -> list[float]:
            return list(
                self.mbs.GetNodeOutput(node, variableType=kind, configuration=exu.ConfigurationType.Initial).tolist()
            )

        kinds = exu.OutputVariableType
        position, velocity = kinds.Position, kinds.Velocity
        R = np.array(output(self.node, kinds.RotationMatrix)).reshape(3, 3)
        Omega = np.array(output(self.node, kinds.AngularVelocityLocal))
        end = np.array(output(self.node, position)) - R @ self.center
        end_velocity = np.array(output(self.node, velocity)) - R @ np.cross(Omega, self.center)
        return State(
            time=self.time,
            nodes=[*(output(n, position) for n in self.nodes), end.tolist()],
            velocities=[*(output(n, velocity) for n in self.nodes), end_velocity.tolist()],
            rotation=R.tolist(),
            angular_velocity=Omega.tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
