"""Lines over sheaves in Newton: routed tendons over rollers, which it calls experimental, on one processor.

A tendon has no mass and works in single precision: what a body moves in a short step is lost beside a coordinate of
20 m, so bodies start near the origin and sheaves are high above it. Bodies slide on vertical guides. The steps are
launched from Python, as in Newton's examples.
"""

from __future__ import annotations

import math
from typing import Any

import newton
import warp as wp
from newton import Axis, TendonGuide, TendonGuideType

from benchmarks.peers.protocol import Method, Passage, Traced, reeved, serve

SOLVERS: dict[str, dict[str, Any]] = {
    "XPBD": {"iterations": 8, "joint_linear_relaxation": 0.8},  # as in Newton's tests
    "VBD": {"iterations": 20},
}
STICKS = 10.0  # friction with which its tests have a rope that does not slip
AXIS = (0.0, 1.0, 0.0)
wp.config.quiet = True


class Guided(Traced):
    """Bodies on vertical guides and a tendon of two spans."""

    def __init__(self, method: Method) -> None:
        self.solver_name = method.name.split(",")[0]
        self.builder = newton.ModelBuilder(up_axis=Axis.Z, gravity=(0.0, 0.0, -method.problem["gravity"]))
        self.step, self.time = method.knob, 0.0

    def slider(self, x: float, mass: float) -> int:
        place = wp.vec3(x, 0.0, 0.0)
        inertia = wp.mat33(mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass)  # it does not turn
        body = self.builder.add_link(xform=wp.transform(p=place), mass=mass, inertia=inertia, lock_inertia=True)
        up = newton.ModelBuilder.JointDofConfig(axis=Axis.Z)
        placed = {"parent_xform": wp.transform(p=place), "child_xform": wp.transform()}
        joint = self.builder.add_joint_d6(parent=-1, child=body, linear_axes=[up], angular_axes=[], **placed)
        self.builder.add_articulation([joint])
        return int(body)

    def finish(self, first: TendonGuide, *others: TendonGuide) -> None:
        self.builder.add_tendon([first, *others])
        self.builder.color()
        self.model = self.builder.finalize(device="cpu")
        self.solver = getattr(newton.solvers, f"Solver{self.solver_name}")(self.model, **SOLVERS[self.solver_name])
        self.now, self.next, self.control = self.model.state(), self.model.state(), self.model.control()

    def advance(self, seconds: float) -> int:
        steps = round(seconds / self.step)
        for _ in range(steps):
            self.now.clear_forces()
            self.move()
            self.solver.step(self.now, self.next, self.control, None, self.step)
            self.now, self.next = self.next, self.now
            self.time += self.step
        return steps

    def move(self) -> None:
        """Move what has a given motion."""

    def passage(self, *bodies: int) -> Passage:
        heights = [float(self.now.body_q.numpy()[body][2]) for body in bodies]
        tensions = self.solver.tendon_segment_material_tension.numpy().tolist()
        return Passage(time=self.time, heights=heights, tensions=tensions)


class Atwood(Guided):
    def __init__(self, method: Method) -> None:
        super().__init__(method)
        p = method.problem
        r, l, EA = p["radius"], p["side"], p["stiffness"]
        # the mass of the rope, where it is not left out, lies on the bodies and on the wheel
        rope = p["density"] if "by hand" in method.name else 0.0
        light, heavy = (m + rope * l for m in p["masses"])
        wheel = p["wheel"] + rope * math.pi * r
        J = wheel * r * r
        inertia = wp.mat33(J, 0.0, 0.0, 0.0, J, 0.0, 0.0, 0.0, J)
        turns = {"xform": wp.transform(p=wp.vec3(0.0, 0.0, l)), "mass": wheel, "inertia": inertia}
        sheave = self.builder.add_link(**turns, lock_inertia=True)
        placed = {"parent_xform": turns["xform"], "child_xform": wp.transform()}
        joint = self.builder.add_joint_revolute(parent=-1, child=sheave, axis=Axis.Y, **placed)
        self.builder.add_articulation([joint])
        self.bodies = self.slider(-r, light), self.slider(r, heavy)
        a = p["gravity"] * (heavy - light) / (light + heavy + wheel)
        pulls = light * (p["gravity"] + a), heavy * (p["gravity"] - a)
        spans = [{"axis": AXIS, "compliance": l / EA, "rest_length": l / (1.0 + T / EA)} for T in pulls]
        kinds = TendonGuideType
        self.finish(
            TendonGuide(body=self.bodies[0], guide_type=kinds.ANCHOR, axis=AXIS),
            TendonGuide(body=sheave, guide_type=kinds.ROLLER, radius=r, orientation=1, mu=STICKS, **spans[0]),
            TendonGuide(body=self.bodies[1], guide_type=kinds.ANCHOR, **spans[1]),
        )

    def state(self) -> Passage:
        return self.passage(*self.bodies)


class Hoist(Guided):
    """The block's wheel does not turn: the rope slips on it, with the friction that makes up for its efficiency.

    The rope ends at a body without mass that is pulled up as a drum would pull. Newton damps the rate of the distance
    between two guides, and so the running of the rope too, so there is no damping but that of the solver.
    """

    def __init__(self, method: Method) -> None:
        super().__init__(method)
        p = method.problem
        r, l = p["radius"], p["fall"]
        self.program = p["program"]
        self.block = self.slider(0.0, p["load"])
        self.end = self.builder.add_body(xform=wp.transform(p=wp.vec3(-r, 0.0, l)), mass=0.0, is_kinematic=True)
        friction = -math.log(p["efficiency"]) / math.pi if "friction" in method.name else 0.0
        stretched = 1.0 + 0.5 * p["load"] * p["gravity"] / p["stiffness"]
        span = {"axis": AXIS, "compliance": l / p["stiffness"], "rest_length": l / stretched}
        kinds = TendonGuideType
        self.finish(
            TendonGuide(body=self.end, guide_type=kinds.ANCHOR, axis=AXIS),
            TendonGuide(body=self.block, guide_type=kinds.ROLLER, radius=r, orientation=-1, mu=friction, **span),
            TendonGuide(body=-1, guide_type=kinds.ANCHOR, offset=(r, 0.0, l), **span),
        )
        self.top = l

    def move(self) -> None:
        before, after = (self.hauled(self.time + k * self.step) for k in (0.0, 1.0))
        for state, hauled in ((self.now, before), (self.next, after)):
            state.body_q.numpy()[self.end][2] = self.top + hauled
            state.body_qd.numpy()[self.end][2] = (after - before) / self.step

    def hauled(self, t: float) -> float:
        start, ramp, speed = self.program
        inside = min(max(t - start, 0.0), ramp)
        return float(speed * (0.5 * inside * inside / ramp + max(t - start - ramp, 0.0)))

    def state(self) -> Passage:
        return self.passage(self.block)


if __name__ == "__main__":
    serve(lambda method: {"atwood": Atwood, "hoist": Hoist}[method.problem["case"]](method), reeved)
