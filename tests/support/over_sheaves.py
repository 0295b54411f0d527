"""Lines over sheaves with all that is drawn: ropes that slip, a wheel on a point mass, a pin, a drum at the end."""

from __future__ import annotations

import tautline as tl


def over_sheaves() -> tl.Case:
    """A lift whose ropes slip on their wheel, and a load on two falls from a point mass to a drum at the end."""
    groove = tl.Sheave((0, 0, 0), 0.3, (0, 1, 0), inertia=2.0, groove_friction=0.1)
    lift = tl.Line(tl.String(20.0, 0.5, 2e5), "car", end="weight", over={"groove": groove}, elements=2)
    wheel = tl.Sheave((0, 0, 0), 0.2, (0, 1, 0), on="block", inertia=0.1)
    winch = tl.Reel(0.25, 0.4, inertia=1.0)
    falls = tl.Line(
        tl.String(40.0, 0.5, 2e5),
        start_point=(3.0, 0.0, 0.0),
        end_point=(5.0, 0.0, 0.0),
        over={"lower": wheel, "eye": tl.Pin((4.0, 0.0, 0.5), friction=0.1)},
        end_reel=winch,
        elements=2,
    )
    bodies = {name: tl.RigidBody.point(mass) for name, mass in (("car", 30.0), ("weight", 10.0), ("block", 20.0))}
    places = {"car": (-0.3, 0.0, 9.0), "weight": (0.3, 0.0, 9.0), "block": (3.5, 0.0, 6.0)}
    system = tl.System(bodies, {"lift": lift, "falls": falls})
    commands = {"lift.groove": tl.Torque(60.0), "falls.end_reel": tl.Torque(30.0)}
    return tl.Case(system, tl.Placed(places), commands, tl.Run(duration=0.3, sample=0.01))
