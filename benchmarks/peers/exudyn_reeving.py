"""Lines over sheaves in Exudyn: its reeving system, one spring without mass, with one force all along.

Sheaves pass on no torque, so that their inertia is left out, or put on the bodies by hand; loads are given apart from
masses. The spring carries compression too.
"""

from __future__ import annotations

import math
from typing import Any

import exudyn as exu
import numpy as np
from exudyn import itemInterface as eii  # noqa: N813 - as in Exudyn's examples
from exudyn.utilities import RigidBodyInertia

from benchmarks.peers.protocol import Method, Passage, Traced, reeved, serve


class Reeved(Traced):
    """Bodies on a spring that runs over one sheave."""

    def __init__(self, method: Method) -> None:
        self.container = exu.SystemContainer()
        self.mbs: Any = self.container.AddSystem()
        self.ground = self.mbs.AddObject(eii.ObjectGround())
        self.bodies: list[int] = []
        self.step, self.time = method.knob, 0.0

    def fixed(self, x: float, z: float) -> int:
        return int(self.mbs.AddMarker(eii.MarkerBodyRigid(bodyNumber=self.ground, localPosition=[x, 0.0, z])))

    def body(self, x: float, z: float, mass: float, weight: float) -> int:
        inertia = RigidBodyInertia(mass=mass, inertiaTensor=mass * np.eye(3))  # it does not turn
        body = self.mbs.CreateRigidBody(referencePosition=[x, 0.0, z], inertia=inertia)
        marker = self.mbs.AddMarker(eii.MarkerBodyRigid(bodyNumber=body))
        self.mbs.AddLoad(eii.Force(markerNumber=marker, loadVector=[0.0, 0.0, -weight]))
        self.bodies.append(body)
        return int(marker)

    def rope(self, markers: list[int], p: Any, side: int, length: float, damping: float, **more: Any) -> None:
        rope = eii.ReevingSystemSprings(
            markerNumbers=markers,
            stiffnessPerLength=p["stiffness"],
            dampingPerLength=damping,
            referenceLength=length,
            sheavesAxes=exu.Vector3DList([[0.0, side, 0.0]] * 3),
            sheavesRadii=[0.0, p["radius"], 0.0],
            regularizationForce=-1.0,
            **more,
        )
        self.string = self.mbs.AddObject(rope)
        self.mbs.Assemble()
        self.settings = exu.SimulationSettings()
        self.settings.solution.file.write = False
        self.settings.solution.sensors.writePeriod = 1e6
        self.settings.timeIntegration.verboseMode = 0

    def advance(self, seconds: float) -> int:
        steps, times = round(seconds / self.step), self.settings.timeIntegration
        times.startTime, times.endTime, times.numberOfSteps = self.time, self.time + seconds, steps
        self.mbs.SolveDynamic(self.settings, updateInitialValues=True, showHints=False)
        self.time += seconds
        return steps

    def state(self) -> Passage:
        kinds = exu.OutputVariableType
        heights = [float(self.mbs.GetObjectOutputBody(x, kinds.Displacement)[2]) for x in self.bodies]
        force = float(self.mbs.GetObjectOutput(self.string, kinds.ForceLocal))
        return Passage(time=self.time, heights=heights, tensions=[force, force])


class Atwood(Reeved):
    def __init__(self, method: Method) -> None:
        super().__init__(method)
        p, g = method.problem, method.problem["gravity"]
        by_hand = "by hand" in method.name
        rope = p["density"] if by_hand else 0.0
        wheel = 0.5 * (p["wheel"] + rope * math.pi * p["radius"]) if by_hand else 0.0
        light, heavy = (m + rope * p["side"] for m in p["masses"])
        pulls = (light + wheel) * (heavy - light) / (light + heavy + 2.0 * wheel) * g + light * g
        markers = [
            self.body(-p["radius"], -p["side"], light + wheel, light * g),
            self.fixed(0.0, 0.0),
            self.body(p["radius"], -p["side"], heavy + wheel, heavy * g),
        ]
        length = (2.0 * p["side"] + math.pi * p["radius"]) / (1.0 + pulls / p["stiffness"])
        self.rope(markers, p, 1, length, 0.0)


class Hoist(Reeved):
    """The end of the rope is a coordinate that follows the program of the drum: it takes so much rope away."""

    def __init__(self, method: Method) -> None:
        super().__init__(method)
        p = method.problem
        start, ramp, speed = p["program"]

        def hauled(_: Any, t: float, number: int, offset: float) -> float:
            inside = min(max(t - start, 0.0), ramp)
            return float(speed * (0.5 * inside * inside / ramp + max(t - start - ramp, 0.0)))

        r, l, weight = p["radius"], p["fall"], p["load"] * p["gravity"]
        drum = self.mbs.AddNode(eii.Node1D())
        self.mbs.AddObject(eii.Mass1D(mass=1.0, nodeNumber=drum))
        turned = self.mbs.AddMarker(eii.MarkerNodeCoordinate(nodeNumber=drum, coordinate=0))
        still = self.mbs.AddNode(eii.NodePointGround())
        fixed = self.mbs.AddMarker(eii.MarkerNodeCoordinate(nodeNumber=still, coordinate=0))
        self.mbs.AddObject(eii.CoordinateConstraint(markerNumbers=[fixed, turned], offsetUserFunction=hauled))
        markers = [self.fixed(-r, l), self.body(0.0, 0.0, p["load"], weight), self.fixed(r, l), turned, fixed]
        length = (2.0 * l + math.pi * r) / (1.0 + 0.5 * weight / p["stiffness"])
        more = {"hasCoordinateMarkers": True, "coordinateFactors": [-1.0, 0.0]}
        self.rope(markers, p, -1, length, p["damping"], **more)


if __name__ == "__main__":
    serve(lambda method: {"atwood": Atwood, "hoist": Hoist}[method.problem["case"]](method), reeved)
