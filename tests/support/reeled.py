"""A pendulum whose reel is commanded, in Python and as a scenario."""

from __future__ import annotations

from typing import Any

import tautline as tl
from tests.support import chains


def pendulum(**reel: Any) -> chains.Chain:
    return chains.Chain(
        string=tl.String(length=10.0, density=0.05, stiffness=300.0, law="linear"),
        reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=0.5, **reel),
        body=tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1)),
    )


TEXT = """
[string]
length = "10 m"
density = "50 g/m"
stiffness = "300 N"
[reel]
drum_radius = "20 cm"
guide_length = "50 cm"
inertia_mass = "500 g"
{reel}
[body]
shape = "point"
mass = "1 kg"
[initial]
kind = "hanging"
deployed = "4 m"
[command]
{command}
[run]
duration = "0.1 s"
elements = 4
at_end = "{at_end}"
"""
