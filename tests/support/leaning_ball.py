"""A ball in the wind that is free to spin about its tether."""

from __future__ import annotations

from typing import Any

import tautline as tl


def leaning_ball(**more: Any) -> tl.Case:
    """A ball on a tether that leans with the wind, and what hangs on the ball where the tether does."""
    ball = tl.RigidBody.sphere(2.0, 0.1)
    string = tl.String(2.0, density=0.01, stiffness=5e3)
    line = tl.Line(string, end="ball", end_point=(0.0, 0.0, -0.1), elements=2)
    tail = tl.Line(string, start="ball", start_point=(0.0, 0.0, -0.1), end="weight", elements=2)
    fluid, wet = tl.Fluid(density=1.2, flow=(9.0, 0.0, 0.0)), tl.BodyInFluid(drag_area=0.3)
    bodies = {"ball": ball, "weight": tl.RigidBody.point(0.1)}
    system = tl.System(bodies, {"rope": line, "tail": tail}, fluid=fluid, body_fluid={"ball": wet}, **more)
    start = tl.Placed({"ball": (0.0, 0.0, 2.1), "weight": (0.0, 0.0, 4.0)}, settle=True)
    return tl.Case(system, start, run=tl.Run(duration=0.01, sample=0.01, step=5e-4))
