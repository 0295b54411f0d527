"""A small run file."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def written_run(path: Path, **changes: Any) -> Path:
    """Write a run of a constant torque, of 21 samples and three elements."""
    import tautline as tl

    pendulum = tl.pendulum(
        string=tl.String(length=20.0, density=0.1, stiffness=500.0, law="linear"),
        reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
        body=tl.RigidBody.sphere(mass=3.0, radius=0.1, center_of_mass=(0.0, 0.0, 0.1)),
        elements=3,
    )
    options: dict[str, Any] = {"duration": 0.4, "sample": 0.02, "step": 1e-3, "title": "A small run"} | changes
    tl.run_to_file(path, pendulum, tl.Straight(10.0, direction=(0.1, 0.0, 1.0)), tl.Torque(6.0), **options)
    return path
