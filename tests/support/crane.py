"""A small system for the viewer: two reels, one of them on a body; a body that is held; a point in space."""

from __future__ import annotations

from typing import Any

import tautline as tl

ELEMENTS = {"hoist": 5, "sling": 2, "stay": 3}
STIFFNESS = 4e4


def crane() -> tl.Case:
    """A hook below a jib that heaves, a box below a reel on the hook, and a stay from the hook to a point in space."""
    rope: dict[str, Any] = {"density": 0.5, "stiffness": STIFFNESS, "law": "tension_only"}
    reel = tl.Reel(drum_radius=0.2, guide_length=0.1, inertia_mass=2.0)
    sling = tl.Line(
        tl.String(length=9.0, **rope),
        start="hook",
        start_point=(0.2, 0.1, 0.6),
        end="load",
        reel=reel,
        drum_axis=(0.0, 2.0, 0.0),
        elements=ELEMENTS["sling"],
    )
    stay = tl.String(length=5.5, **rope)
    hoist = tl.String(length=15.0, **rope)
    system = tl.System(
        bodies={
            "hook": tl.RigidBody.box(20.0, (0.4, 0.4, 0.6), (0.0, 0.1, 0.3)),
            "load": tl.RigidBody.box(50.0, (1.0, 0.5, 0.5), (0.1, 0.0, 0.25)),
            "jib": tl.Kinematic(path=tl.motions.Sine(amplitude=(0.0, 0.0, 0.2), period=2.0)),
        },
        lines={
            "hoist": tl.Line(hoist, start="jib", end="hook", reel=reel, elements=ELEMENTS["hoist"]),
            "sling": sling,
            "stay": tl.Line(stay, end="hook", start_point=(-5.0, 0.0, 8.0), elements=ELEMENTS["stay"]),
        },
    )
    bodies = {"hook": tl.BodyState((0.5, 0.1, 8.4)), "load": tl.BodyState((0.6, 0.0, 11.5), (0.0, 0.4, 0.0))}
    commands = {"hoist": tl.Torque(150.0), "sling": tl.Torque(101.0)}
    return tl.Case(system, tl.Placed(bodies), commands, tl.Run(duration=1.0, sample=0.01), "crane")
