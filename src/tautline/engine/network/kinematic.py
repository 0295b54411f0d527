"""Kinematic bodies, as the kernels take them: tables of place and angles, and the rotations around these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.engine import loads
from tautline.engine.attitudes import quaternion_of
from tautline.kernels import data
from tautline.kernels.so3 import Quaternion
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, State
from tautline.model.system.system import System
from tautline.model.turning import axes_about

NO_ROTATION: Quaternion = (1.0, 0.0, 0.0, 0.0)
NOTHING = np.zeros((13, 1))


class KinematicMotion(NamedTuple):
    """Motion of a kinematic body (kernels/network/kinematic.py)."""

    moves: bool
    path: data.Array  # (13, pieces): place
    turns: bool
    angles: data.Array  # (13, pieces): roll, pitch and yaw
    base: Quaternion
    mount: Quaternion

    def numbers(self) -> list[Any]:
        """Motion of a single piece as plain numbers, for checkpoints."""
        return [self.moves, self.path[:, 0].tolist(), self.turns, self.angles[:, 0].tolist(), self.base, self.mount]


STILL = KinematicMotion(False, NOTHING, False, NOTHING, NO_ROTATION, NO_ROTATION)


# Form of these numbers.
LEAD = (bool, (float,) * 13, bool, (float,) * 13, (float,) * 4, (float,) * 4)


def motion_from(numbers: Any) -> KinematicMotion:
    """Motion that was kept as numbers."""
    moves, path, turns, angles, base, mount = numbers
    return KinematicMotion(moves, np.array(path)[:, None], turns, np.array(angles)[:, None], tuple(base), tuple(mount))


def motions_of(system: System) -> list[Any]:
    """Paths and rotations of all kinematic bodies."""
    bodies = [body for body in system.bodies.values() if isinstance(body, Kinematic)]
    return [motion for body in bodies for motion in (body.path, body.rotation) if motion is not None]


def kinematic_motions(system: System, state: State, start: float, until: float) -> dict[str, KinematicMotion]:
    """Motions of all bodies with paths and rotations, between two times at least, from their places in a state."""
    found = {}
    for name, body in system.bodies.items():
        if isinstance(body, Kinematic) and (body.path is not None or body.rotation is not None):
            own, motion = state.bodies[name], STILL
            if body.path is not None:
                table = loads.path_table(body.path, start, until).copy()
                table[1::4] += (np.array(own.position) - body.path.at(0.0)[0][0])[:, None]
                motion = motion._replace(moves=True, path=table)
            if body.rotation is not None:
                base = np.array(own.attitude) @ body.rotation.rotation(0.0).T
                angles = loads.path_table(body.rotation, start, until)
                motion = _turned(motion, angles, base, body.rotation.axes)
            found[name] = motion
    return found


def uniform(time: float, now: BodyState) -> KinematicMotion:
    """Motion of a body that moves and turns uniformly from its place, attitude and velocities at a time (s)."""
    path, angles = np.zeros((13, 1)), np.zeros((13, 1))
    path[0], path[1::4, 0], path[2::4, 0] = time, now.position, now.velocity
    angles[0], angles[10, 0] = time, np.linalg.norm(now.angular_velocity)
    motion = STILL._replace(moves=True, path=path)
    if not any(now.angular_velocity):
        return motion
    return _turned(motion, angles, np.array(now.attitude), axes_about(now.angular_velocity))


def _turned(motion: KinematicMotion, angles: data.Array, base: data.Array, axes: data.Array) -> KinematicMotion:
    return motion._replace(turns=True, angles=angles, base=_quaternion(base @ axes), mount=_quaternion(axes.T))


def _quaternion(R: data.Array) -> Quaternion:
    w, x, y, z = quaternion_of(R).tolist()
    return (w, x, y, z)
