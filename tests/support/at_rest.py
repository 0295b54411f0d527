"""A body, and drag that must balance at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import tautline as tl
from tautline.model.statics import Load

Array = NDArray[np.float64]
# Cylinder, off the centre of mass: the paper's.
BODY = tl.RigidBody.elliptic_cylinder(0.1, (0.5, 0.4), 0.8, (0.3, 0.2, 0.4))


def drag_per_length(t: Any, stretch: Any, flow: Array) -> Any:
    """Across the string only, per unstretched length; 0.3 kg/m^2 stands for half of density, width and coefficient."""
    across = flow - np.sum(t * flow, axis=-1, keepdims=True) * t
    return 0.3 * stretch * np.linalg.norm(across, axis=-1, keepdims=True) * across


def drag(X: float, flow: Array, body_drag: float, arm: Array | None = None) -> Load:
    def load(nodes: Array, attitude: Array) -> tuple[Array, Array]:
        w = np.diff(nodes, axis=0)
        l = X / len(w)
        length = np.linalg.norm(w, axis=1, keepdims=True)
        elements = l * drag_per_length(w / length, length / l, flow)
        forces = np.zeros_like(nodes)
        forces[:-1] += 0.5 * elements
        forces[1:] += 0.5 * elements
        on_body = body_drag * np.linalg.norm(flow) * flow
        forces[-1] += on_body
        moment = np.zeros(3) if arm is None else np.cross(arm, attitude.T @ on_body)
        return forces, moment

    return load
