"""Loads on a pendulum at rest: steady wind or current, and a constant push."""

from __future__ import annotations

import math

import numpy as np

from tautline.model import checks
from tautline.model.pendulum import Pendulum
from tautline.model.statics import Array, Load


def steady_load(pendulum: Pendulum, other: Load | None) -> Load | None:
    """Drag at rest and a constant push, with another load added; None if there is nothing of it."""
    fluid, push = pendulum.fluid, pendulum.push
    if pendulum.reel.guide_path is not None:
        checks.refuse("pendulum", "a guide that stands still", "a guide_path")
    if push is not None and (len(push.force[0]) > 1 or len(push.moment[0]) > 1):
        checks.refuse("pendulum", "a push that does not change with time", "one with a table")
    if fluid is None and push is None:
        return other

    def load(q: Array, R: Array) -> tuple[Array, Array]:
        at_nodes, moment = (np.zeros_like(q), np.zeros(3)) if other is None else map(np.array, other(q, R))
        if fluid is not None:
            drag, turning = _drag_at_rest(pendulum, q, R)
            at_nodes, moment = at_nodes + drag, moment + turning
        if push is not None:
            force = np.array(push.force[1][0])
            at_nodes[-1] += force
            moment = moment + np.cross(push.point, R.T @ force) + R.T @ np.array(push.moment[1][0])
        return at_nodes, moment

    return load


def _drag_at_rest(pendulum: Pendulum, q: Array, R: Array) -> tuple[Array, Array]:
    """Equation (73) for a string and a body that do not move."""
    string, fluid = pendulum.string, pendulum.fluid
    assert fluid is not None
    depth = pendulum.reel.guide_position[2]
    depths, velocities = (np.array(part) for part in fluid.flow)

    def flow(z: Array) -> Array:
        return np.stack([np.interp(z, depths, column) for column in velocities.T], axis=-1)

    d = np.diff(q, axis=0)
    length = np.linalg.norm(d, axis=1)
    t = d / np.maximum(length, 1e-290)[:, None]
    u = flow(depth + 0.5 * (q[:-1, 2] + q[1:, 2]))
    along = np.sum(u * t, axis=1, keepdims=True) * t
    across = u - along
    half = 0.5 * fluid.density * string.diameter * length[:, None]
    force = half * string.normal_drag * np.linalg.norm(across, axis=1, keepdims=True) * across
    force += half * math.pi * string.tangential_drag * np.linalg.norm(along, axis=1, keepdims=True) * along
    at_nodes = np.zeros_like(q)
    at_nodes[:-1] += 0.5 * force
    at_nodes[1:] += 0.5 * force
    place = np.array(fluid.drag_center or pendulum.body.center_of_mass)
    wind = flow(np.array(depth + q[-1, 2] + (R @ place)[2]))
    drag = 0.5 * fluid.density * fluid.drag_area * np.linalg.norm(wind) * wind
    at_nodes[-1] += drag
    return at_nodes, np.cross(place, R.T @ drag)
