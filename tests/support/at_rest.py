"""A body, a string in a current, and a guide that starts: loads that must balance at rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tautline as tl
from tests.support import chains

Array = NDArray[np.float64]
# Cylinder, off the center of mass: the paper's.
BODY = tl.RigidBody.elliptic_cylinder(0.1, (0.5, 0.4), 0.8, (0.3, 0.2, 0.4))
# A thin string in a fluid: half of density, width and coefficient is 0.3 kg/m^2.
DENSITY, DIAMETER, NORMAL = 500.0, 1e-3, 1.2


def drag_per_length(t: Any, stretch: Any, flow: Array) -> Any:
    """Across the string only, per unstretched length."""
    across = flow - np.sum(t * flow, axis=-1, keepdims=True) * t
    return 0.5 * DENSITY * DIAMETER * NORMAL * stretch * np.linalg.norm(across, axis=-1, keepdims=True) * across


def in_current(pendulum: chains.Chain, flow: Array, body_drag: float, arm: Any = None) -> chains.Chain:
    """The chain in a current with that drag, and `body_drag` |u| u on the body."""
    string = replace(pendulum.string, diameter=DIAMETER, normal_drag=NORMAL, tangential_drag=0.0)
    place = None if arm is None else tuple(arm)
    fluid = tl.Fluid(DENSITY, tuple(flow), drag_area=2.0 * body_drag / DENSITY, drag_center=place)
    return replace(pendulum, string=string, fluid=fluid)


def started(pendulum: chains.Chain, field: Any) -> chains.Chain:
    """The chain on a guide that is accelerated from time 0 on, so that a field acts as a second gravity (m/s^2)."""
    times, a = np.linspace(0.0, 4.0, 5), -np.asarray(field)
    places = tuple(tuple((0.5 * a * t * t).tolist()) for t in times)
    path = tl.motions.GuidePath(tuple(times.tolist()), places, ((0.0, 0.0, 0.0), tuple((4.0 * a).tolist())))
    return replace(pendulum, reel=replace(pendulum.reel, guide_path=path))
