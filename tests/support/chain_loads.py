"""Loads on a pendulum at rest: a steady wind or current, an applied force, and the acceleration of the guide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from tautline.model.chain.chain import Chain
from tautline.model.fluid import AppliedForce, Fluid
from tautline.reference import wetting
from tests.support import chain_statics as statics
from tests.support.chain_statics import Array, Load


def own_loads(pendulum: Chain, s: float, time: float = 0.0, acceleration: bool = False) -> dict[str, Load]:
    """Loads that the pendulum has by itself at a time, by name; weight is not among them.

    Nor is buoyancy, but for that below a surface, as far as it is more than above.
    An applied force has its value of that time, and the guide its place and velocity. The inertial force of the guide's
    acceleration is there where it is wanted. s meters are on the reel side of the guide.
    """
    fluid, push, path = pendulum.fluid, pendulum.applied_force, pendulum.reel.guide_path
    place, velocity, rate = np.zeros(3), np.zeros(3), np.zeros(3)
    if path is not None:
        (place,), (velocity,) = path.at(time)
        (rate,) = path.acceleration(time)
    loads: dict[str, Load] = {}
    depth = pendulum.reel.guide_position[2] + float(place[2])
    if fluid is not None:
        loads["drag"] = partial(_drag, pendulum, fluid, depth, velocity)
        if fluid.surface is not None:
            loads["buoyancy"] = partial(_lift, pendulum, fluid, depth, s)
    if push is not None:
        force, moment = (interpolated(table, time) for table in (push.force, push.moment))
        loads["applied_force"] = partial(_push, push, force, moment)
    if acceleration and rate.any():
        loads["acceleration"] = partial(_inertial, pendulum, s, depth, rate)
    return loads


def all_of(loads: Mapping[str, Load]) -> Load | None:
    """One load for several; None for none."""
    return partial(_sum, list(loads.values())) if loads else None


def _sum(loads: list[Load], q: Array, R: Array) -> tuple[Array, Array]:
    at_nodes, moment = np.zeros_like(q), np.zeros(3)
    for load in loads:
        forces, turning = statics.evaluate(load, q, R)
        at_nodes, moment = at_nodes + forces, moment + turning
    return at_nodes, moment


def interpolated(table: tuple[tuple[float, ...], tuple[tuple[float, ...], ...]], time: float) -> Array:
    times, values = table
    return np.array([np.interp(time, times, column) for column in zip(*values, strict=True)])


def _push(push: AppliedForce, force: Array, moment: Array, q: Array, R: Array) -> tuple[Array, Array]:
    at_nodes = np.zeros_like(q)
    at_nodes[-1] = force
    return at_nodes, np.cross(push.point, R.T @ force) + R.T @ moment


def _inertial(pendulum: Chain, s: float, depth: float, acceleration: Array, q: Array, R: Array) -> tuple[Array, Array]:
    """Force -m a on all that is outside the guide and moves with it, fluid too; the guide is at this depth."""
    body, l = pendulum.moving_body(), statics.element_length(pendulum, s, len(q) - 1)
    masses = np.full(len(q), pendulum.string.density * l)
    masses[[0, -1]] *= 0.5
    masses[-1] += body.mass
    moment = -body.mass * np.cross(body.center_of_mass, R.T @ acceleration)
    forces: Array = -masses[:, None] * acceleration
    if pendulum.fluid is not None:
        fluid = pendulum.fluid
        half = 0.5 * wetting.moved_by_string(pendulum, fluid, depth, q) @ acceleration
        forces[:-1] -= half
        forces[1:] -= half
        on_body = -wetting.moved_by_body(pendulum, fluid, depth, q, R) * acceleration
        forces[-1] += on_body
        moment = moment + np.cross(wetting.buoyancy_center(pendulum, fluid), R.T @ on_body)
    return forces, moment


def _lift(pendulum: Chain, fluid: Fluid, depth: float, s: float, q: Array, R: Array) -> tuple[Array, Array]:
    """Buoyancy below the surface, as far as it is more than above."""
    l = statics.element_length(pendulum, s, len(q) - 1)
    found = wetting.buoyancy(pendulum, fluid, depth, l, q, R)
    return found.nodes, found.moment


def _drag(pendulum: Chain, fluid: Fluid, depth: float, velocity: Array, q: Array, R: Array) -> tuple[Array, Array]:
    """Equation (73) for string and body that move with the guide, whose entrance is at this depth."""
    string = pendulum.string
    depths, velocities = (np.array(part) for part in fluid.flow)

    def flow(z: Array) -> Array:
        return np.stack([np.interp(z, depths, column) for column in velocities.T], axis=-1) - velocity

    d = np.diff(q, axis=0)
    length = np.linalg.norm(d, axis=1)
    t = d / np.maximum(length, 1e-290)[:, None]
    u = flow(depth + 0.5 * (q[:-1, 2] + q[1:, 2]))
    along = np.sum(u * t, axis=1, keepdims=True) * t
    across = u - along
    half = 0.5 * (wetting.density_around_string(fluid, depth, q) * string.diameter * length)[:, None]
    force = half * string.normal_drag * np.linalg.norm(across, axis=1, keepdims=True) * across
    force += half * math.pi * string.tangential_drag * np.linalg.norm(along, axis=1, keepdims=True) * along
    at_nodes = np.zeros_like(q)
    at_nodes[:-1] += 0.5 * force
    at_nodes[1:] += 0.5 * force
    place = np.array(fluid.drag_center or pendulum.body.center_of_mass)
    wind = flow(np.array(depth + q[-1, 2] + (R @ place)[2]))
    density = wetting.density_around_body(pendulum, fluid, depth, q, R)
    drag = 0.5 * density * fluid.drag_area * np.linalg.norm(wind) * wind
    at_nodes[-1] += drag
    return at_nodes, np.cross(place, R.T @ drag)
