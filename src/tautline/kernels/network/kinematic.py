"""Kinematic bodies: place and attitude as functions of time (docs/theory.md, "Kinematic bodies")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import put_triple
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body
from tautline.kernels.network.ends import put_matrix
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    ZERO,
    Quaternion,
    Vector,
    apply_transposed,
    quaternion_product,
    rotation_of,
    scale,
    sub,
)
from tautline.kernels.tables import vector_at


class Turning(NamedTuple):
    """How a kinematic body turns, in its frame."""

    omega: Vector  # angular velocity
    rate: Vector  # angular acceleration


@kernel
def attitude_at(body: Body, t: float) -> Quaternion:
    """Attitude A Rz(yaw) Ry(pitch) Rx(roll) B of a kinematic body, as a quaternion (equation 131)."""
    roll, pitch, yaw = vector_at(body.angles, t)[0]
    x = (math.cos(0.5 * roll), math.sin(0.5 * roll), 0.0, 0.0)
    y = (math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0)
    z = (math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw))
    turned = quaternion_product(quaternion_product(z, y), x)
    return quaternion_product(quaternion_product(body.base, turned), body.mount)


@kernel
def turning_at(body: Body, t: float) -> Turning:
    """Angular velocity and acceleration of a kinematic body (equation 132)."""
    angles, rates, bends = vector_at(body.angles, t)
    c, s, cp, sp = math.cos(angles[0]), math.sin(angles[0]), math.cos(angles[1]), math.sin(angles[1])
    roll, pitch, yaw = rates
    omega = (roll - yaw * sp, pitch * c + yaw * cp * s, yaw * cp * c - pitch * s)
    rate = (
        bends[0] - bends[2] * sp - yaw * pitch * cp,
        bends[1] * c + bends[2] * cp * s - pitch * roll * s + yaw * (cp * c * roll - sp * s * pitch),
        bends[2] * cp * c - bends[1] * s - yaw * (sp * c * pitch + cp * s * roll) - pitch * roll * c,
    )
    B = rotation_of(body.mount)
    return Turning(apply_transposed(B, omega), apply_transposed(B, rate))


@kernel
def mean_velocity(body: Body, start: float, end: float, h: float) -> Vector:
    """Mean velocity of a kinematic body, between two times that are h apart."""
    if not body.moves:
        return ZERO
    return scale(1.0 / h, sub(vector_at(body.path, end)[0], vector_at(body.path, start)[0]))


@kernel
def mean_turning(body: Body, start: float, end: float, h: float) -> Vector:
    """Angular velocity whose Cayley increment over h leads from the attitude at one time to that at another."""
    if not body.rotates:
        return ZERO
    a, b = attitude_at(body, start), attitude_at(body, end)
    w, x, y, z = quaternion_product((a[0], -a[1], -a[2], -a[3]), b)
    return scale(2.0 / (h * w), (x, y, z))


@separate
def set_kinematic_velocities(body: Body, t: float) -> None:
    """Write the velocities of a kinematic body at a time into its work."""
    work = body.work
    velocity, omega = ZERO, ZERO
    if body.moves:
        velocity = vector_at(body.path, t)[1]
    if body.rotates:
        omega = turning_at(body, t).omega
    put_matrix(work, net.TURNED, attitude(body.state))
    put_triple(work, net.V_NOW, velocity)
    put_triple(work, net.OMEGA_NOW, omega)


@separate
def turn_to(body: Body, t: float) -> None:
    """Give a kinematic body its attitude at a time."""
    if body.rotates:
        Q = attitude_at(body, t)
        for i in range(4):
            body.state[data.ATTITUDE + i] = Q[i]
            body.state[data.ATTITUDE_ERR + i] = 0.0
