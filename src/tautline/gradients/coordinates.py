"""A state as a row of numbers, each free to change by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.lowering import quaternion_of
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.kernels import data
from tautline.model.state import State

AXES = "xyz"
# Rotation vectors shorter than this are taken by their series (rad).
SMALL = 1e-4


class Coordinates:
    """Coordinates of the states of one pendulum.

    Positions and velocities of the nodes but the first, the rotation vector of the attitude relative to a reference
    attitude and the angular velocity (not of a point mass), the reeled length and its rate (not of a locked reel).
    A rotation vector may be longer than half a turn; at whole turns it does not tell attitudes apart.

    Parameters
    ----------
    start : State
        Its attitude is the reference, and its reeled length that of a locked reel.
    turns : bool
        Whether the body is more than a point.
    locked : bool
        Whether the reel is.
    """

    def __init__(self, start: State, turns: bool, locked: bool) -> None:
        self.elements, self.turns, self.locked = start.elements, turns, locked
        self._start, self._reference = start, np.array(start.attitude, dtype=np.float64)
        nodes = [f"node {i} {axis}" for i in range(1, self.elements + 1) for axis in AXES]
        self.names = [f"{what} of {node}" for what in ("position", "velocity") for node in nodes]
        if turns:
            self.names += [f"{what} {axis}" for what in ("rotation", "angular velocity") for axis in AXES]
        if not locked:
            self.names += ["reeled_length", "reel_speed"]

    @property
    def size(self) -> int:
        """n."""
        return len(self.names)

    def of(self, state: State, near: Array | None = None) -> Array:
        """Coordinates of a state; among equal rotation vectors the one nearest to that of other coordinates."""
        parts = [np.ravel(state.nodes[1:]), np.ravel(state.node_velocities[1:])]
        if self.turns:
            R = np.asarray(state.attitude)
            parts += [self._rotation_vector(R, self._rotation(near)), np.asarray(state.angular_velocity)]
        if not self.locked:
            parts.append(np.array([state.reeled_length, state.reel_speed]))
        return np.concatenate(parts)

    def state(self, x: Any, reeled_length: float | None = None) -> State:
        """The state of coordinates; of a locked reel with a reeled length (m) that is the start's by default."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.size,):
            raise InputError(f"x: expected {self.size} coordinates, got an array of shape {x.shape}")
        count = 3 * self.elements
        nodes, velocities = (np.concatenate([np.zeros(3), part]).reshape(-1, 3) for part in np.split(x[: 2 * count], 2))
        attitude, spin = self._start.attitude, np.zeros(3)
        if self.turns:
            attitude, spin = self._reference @ rotation_by(self._rotation(x)), x[2 * count + 3 : 2 * count + 6]
        reeled, speed = self._start.reeled_length if reeled_length is None else reeled_length, 0.0
        if not self.locked:
            reeled, speed = x[-2:].tolist()
        return State(reeled, speed, nodes, velocities, attitude, spin)

    def sizes(self, x: Array) -> Array:
        """How large a change of each coordinate is small, for differences."""
        count, N = 3 * self.elements, self.elements
        length = float(np.linalg.norm(np.diff(x[:count].reshape(-1, 3), axis=0, prepend=0.0), axis=1).sum()) or 1.0
        speed = max(1.0, float(np.abs(x[count : 2 * count]).max()))
        found = [np.full(count, length / N), np.full(count, speed)]
        if self.turns:
            found += [np.ones(3), np.full(3, max(1.0, float(np.abs(x[2 * count + 3 : 2 * count + 6]).max())))]
        if not self.locked:
            found.append(np.array([length, speed]))
        return np.concatenate(found)

    def of_sample(self, samples: data.Samples, row: int, near: Array) -> Carried:
        """Coordinates of one of the samples, which carry derivatives; `near` as of `of`."""
        scalars: Any = samples.scalars[row]
        nodes: Any = samples.nodes[row]
        parts: list[Any] = [nodes[0, 1:].reshape(-1), nodes[1, 1:].reshape(-1)]
        if self.turns:
            R = scalars[data.ROTATION : data.ROTATION + 9].reshape(3, 3)
            vector = self._rotation_vector(R.value, self._rotation(near))
            turned = np.einsum("ji,jlk->ilk", R.value, R.tangent)
            change = 0.5 * np.stack(
                [turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]
            )
            parts += [Carried(vector, vector_rate(vector) @ change)]
            parts += [scalars[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]]
        if not self.locked:
            parts.append(scalars[[data.REELED_LENGTH, data.REEL_SPEED]])
        found: Any = np.concatenate(parts)
        assert isinstance(found, Carried)
        return found

    def follow(self, samples: data.Samples, rows: int, x: Array) -> Array:
        """Coordinates whose rotation vector is that of the last of so many samples, followed from those at x."""
        if not self.turns:
            return x
        place, vector, x = 6 * self.elements, self._rotation(x), x.copy()
        for row in samples.scalars[:rows, data.ROTATION : data.ROTATION + 9]:
            vector = self._rotation_vector(row.reshape(3, 3), vector)
        x[place : place + 3] = vector
        return x

    def _rotation(self, x: Array | None) -> Array:
        return np.zeros(3) if x is None else x[6 * self.elements : 6 * self.elements + 3]

    def _rotation_vector(self, R: Array, near: Array) -> Array:
        """Of an attitude relative to the reference; that of several which is nearest to another one."""
        q = quaternion_of(self._reference.T @ R)
        sine = float(np.linalg.norm(q[1:]))
        angle = 2.0 * math.atan2(sine, float(q[0]))
        axis = q[1:] / sine if sine > 0.0 else np.array([0.0, 0.0, 1.0])
        if angle < SMALL and np.linalg.norm(near) > math.pi:
            axis = near / np.linalg.norm(near)
        turns = round((float(near @ axis) - angle) / (2.0 * math.pi))
        return np.asarray((angle + 2.0 * math.pi * turns) * axis)


def cross_matrix(x: Array) -> Array:
    """Matrix of the vector product with a vector."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def rotation_by(x: Array) -> Array:
    """Rotation matrix of a rotation vector (Rodrigues' formula)."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    if angle < SMALL:
        return np.asarray(np.eye(3) + (1.0 - angle**2 / 6.0) * K + (0.5 - angle**2 / 24.0) * K @ K)
    return np.asarray(np.eye(3) + math.sin(angle) / angle * K + (1.0 - math.cos(angle)) / angle**2 * K @ K)


def vector_rate(x: Array) -> Array:
    """Rate of a rotation vector by the angular velocity in the rotated frame."""
    angle, K = float(np.linalg.norm(x)), cross_matrix(x)
    if angle < SMALL:
        factor = 1.0 / 12.0 + angle**2 / 720.0
    else:
        factor = 1.0 / angle**2 - 0.5 / (angle * math.tan(0.5 * angle))
    return np.asarray(np.eye(3) + 0.5 * K + factor * K @ K)
