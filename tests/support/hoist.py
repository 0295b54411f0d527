"""A small hoist, for tests of derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tautline as tl


def hoist(changes: Mapping[str, Any] | None = None, body: tl.RigidBody | None = None) -> tl.Case:
    """Four elements, a torque that changes, and a point mass or another body; fixed steps."""
    system = tl.pendulum(
        string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8),
        body=body or tl.RigidBody.point(0.5),
        elements=4,
    )
    case = tl.Case(
        system,
        tl.Straight(4.0, direction=(1.0, 0.0, 1.0), end_velocity=(0.1, 1.0, 0.0)),
        {"line": tl.Torque(([0.0, 0.1, 0.2], [1.0, 2.0, 0.5]))},
        tl.Run(duration=0.2, sample=0.02, step=0.002),
    )
    return case.with_(changes) if changes else case
