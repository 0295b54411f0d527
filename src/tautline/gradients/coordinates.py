"""A state as a row of numbers, each free to change by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.rotations import RotationVectors
from tautline.kernels import data
from tautline.model.state import ChainState

AXES = "xyz"


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

    def __init__(self, start: ChainState, turns: bool, locked: bool) -> None:
        self.elements, self.turns, self.locked = start.elements, turns, locked
        self._start, self._rotations = start, RotationVectors(start.attitude)
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

    def of(self, state: ChainState, near: Array | None = None) -> Array:
        """Coordinates of a state; among equal rotation vectors the one nearest to that of other coordinates."""
        parts = [np.ravel(state.nodes[1:]), np.ravel(state.node_velocities[1:])]
        if self.turns:
            R = np.asarray(state.attitude)
            parts += [self._rotations.of(R, self._rotation(near)), np.asarray(state.angular_velocity)]
        if not self.locked:
            parts.append(np.array([state.reeled_length, state.reel_speed]))
        return np.concatenate(parts)

    def state(self, x: Any, reeled_length: float | None = None) -> ChainState:
        """The state of coordinates; of a locked reel with a reeled length (m) that is the start's by default."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.size,):
            raise InputError(f"x: expected {self.size} coordinates, got an array of shape {x.shape}")
        count = 3 * self.elements
        nodes, velocities = (np.concatenate([np.zeros(3), part]).reshape(-1, 3) for part in np.split(x[: 2 * count], 2))
        attitude, spin = self._start.attitude, np.zeros(3)
        if self.turns:
            attitude, spin = self._rotations.attitude(self._rotation(x)), x[2 * count + 3 : 2 * count + 6]
        reeled, speed = self._start.reeled_length if reeled_length is None else reeled_length, 0.0
        if not self.locked:
            reeled, speed = x[-2:].tolist()
        return ChainState(reeled, speed, nodes, velocities, attitude, spin)

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
            parts += [self._rotations.carried(R, self._rotation(near))]
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
        attitudes = samples.scalars[:rows, data.ROTATION : data.ROTATION + 9]
        place, vector, x = 6 * self.elements, self._rotation(x), x.copy()
        x[place : place + 3] = self._rotations.followed(attitudes, vector)
        return x

    def _rotation(self, x: Array | None) -> Array:
        return np.zeros(3) if x is None else x[6 * self.elements : 6 * self.elements + 3]
