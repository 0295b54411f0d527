"""Arguments that every public function accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from tautline import simulate
from tests.support import chains

STRING = tl.String(length=2.0, density=0.1, stiffness=50.0)
REEL = tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=1.0)
BODY = tl.RigidBody.box(mass=1.0, sides=(0.3, 0.2, 0.1), center_of_mass=(0.1, 0.0, 0.2))
PENDULUM = chains.Chain(STRING, REEL, BODY)
START = chains.straight(PENDULUM, deployed=1.0, elements=1)
NODES = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
REST = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
# A power of two, so that multiples of it are exact.
STEP = 2.0**-10
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
    "Pendulum": (chains.Chain, {"string": STRING, "reel": REEL, "body": BODY, "gravity": 9.81}),
    "State": (
        chains.ChainState,
        {
            "reeled_length": 1.0,
            "reel_speed": 0.0,
            "nodes": NODES,
            "node_velocities": REST,
            "attitude": np.eye(3),
            "angular_velocity": (0.0, 0.0, 0.0),
        },
    ),
    "straight": (
        chains.straight,
        {
            "pendulum": PENDULUM,
            "deployed": 1.0,
            "elements": 2,
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
            "state": START,
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
