"""Arguments that every public function accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from tautline import simulate

STRING = tl.String(length=2.0, density=0.1, stiffness=50.0, law="linear")
REEL = tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=1.0)
BODY = tl.RigidBody.box(mass=1.0, sides=(0.3, 0.2, 0.1), center_of_mass=(0.1, 0.0, 0.2))
PENDULUM = tl.pendulum(STRING, REEL, BODY, elements=1)
START = tl.Straight(1.0)
NODES = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
REST = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
# A power of two, so that multiples of it are exact.
STEP = 2.0**-10


def placed(line: dict[str, Any] | None = None, body: dict[str, Any] | None = None) -> tl.State:
    """A state of the pendulum, changed in some places."""
    line_state = tl.LineState(**(VALID["LineState"][1] | (line or {})))
    return tl.State({"body": tl.BodyState(**(VALID["BodyState"][1] | (body or {})))}, {"line": line_state})


# Every call with arguments that it accepts; the tests spoil them.
VALID: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "String": (tl.String, {"length": 2.0, "density": 0.1, "stiffness": 50.0}),
    "Reel": (
        tl.Reel,
        {
            "drum_radius": 0.2,
            "guide_length": 0.5,
            "inertia_mass": 1.0,
            "guide_position": (0.0, 0.0, 0.0),
            "guide_law": "stretched",
            "smoothing_speed": 1e-3,
            "guide_strain": "mean",
            "spooled_strain": 0.01,
        },
    ),
    "RigidBody": (tl.RigidBody, {"mass": 1.0, "inertia": np.eye(3), "center_of_mass": (0.1, 0.0, 0.0), "shape": None}),
    "about_center": (
        tl.RigidBody.about_center,
        {"mass": 1.0, "central_inertia": np.eye(3), "center_of_mass": (0.1, 0.0, 0.0), "shape": None},
    ),
    "elliptic_cylinder": (
        tl.RigidBody.elliptic_cylinder,
        {"mass": 1.0, "semi_axes": (0.5, 0.4), "height": 0.8, "center_of_mass": (0.3, 0.2, 0.4)},
    ),
    "box": (tl.RigidBody.box, {"mass": 1.0, "sides": (0.3, 0.2, 0.1), "center_of_mass": (0.1, 0.0, 0.2)}),
    "sphere": (tl.RigidBody.sphere, {"mass": 1.0, "radius": 0.1, "center_of_mass": (0.0, 0.0, 0.1)}),
    "point": (tl.RigidBody.point, {"mass": 1.0}),
    "pendulum": (tl.pendulum, {"string": STRING, "reel": REEL, "body": BODY, "gravity": 9.81, "elements": 2}),
    "Line": (
        tl.Line,
        {
            "string": STRING,
            "start": "anchor",
            "start_point": (0.0, 0.0, 0.0),
            "end": "load",
            "end_point": (0.0, 0.0, 0.1),
            "reel": REEL,
            "drum_axis": (0.0, 1.0, 0.0),
            "elements": 2,
        },
    ),
    "LineState": (
        tl.LineState,
        {"nodes": NODES, "node_velocities": REST, "reeled_length": 1.0, "reel_speed": 0.0},
    ),
    "BodyState": (
        tl.BodyState,
        {
            "position": (0.1, 0.0, 1.2),
            "velocity": (0.0, 0.0, 0.0),
            "attitude": np.eye(3),
            "angular_velocity": (0.0, 0.0, 0.0),
        },
    ),
    "Straight": (
        tl.Straight,
        {
            "deployed": 1.0,
            "direction": (1.0, 0.0, 1.0),
            "end_velocity": (0.0, 0.1, 0.0),
            "reel_speed": 0.0,
            "attitude": np.eye(3),
            "angular_velocity": (0.0, 0.0, 0.0),
        },
    ),
    "Torque": (tl.Torque, {"torque": 1.0}),
    "simulate": (
        simulate,
        {
            "system": PENDULUM,
            "start": START,
            "command": tl.Free(),
            "duration": 4 * STEP,
            "step": STEP,
            "sample": 2 * STEP,
            "order": 2,
            "scheme": "symmetric",
            "compensated": True,
            "minimum_length": 0.01,
            "control": None,
            "period": None,
        },
    ),
}
