"""States at rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.model import checks
from tautline.model.pendulum import Pendulum
from tautline.model.state import ZERO, State, straight


def hanging(
    pendulum: Pendulum, deployed: float, elements: int, *, end_velocity: Any = ZERO, angular_velocity: Any = ZERO
) -> State:
    """The string hangs at rest under its own weight and the body's, the centre of mass below the attachment.

    Linear elements meet the continuous solution at their nodes, for any number of elements.

    Parameters
    ----------
    pendulum : Pendulum
    deployed : float
        Unstretched length outside the guide (m).
    elements : int
        N.
    end_velocity, angular_velocity : three floats
        A push to start with, of the last node (m/s) and of the body (rad/s).
    """
    state = straight(pendulum, deployed, elements, end_velocity=end_velocity, angular_velocity=angular_velocity)
    string, g = pendulum.string, pendulum.gravity
    x = state.nodes[:, 2]
    load = (pendulum.body.mass + string.density * x[-1]) * g * x - 0.5 * string.density * g * x**2
    nodes = np.zeros_like(state.nodes)
    nodes[:, 2] = x + load / string.stiffness
    if not np.isfinite(nodes).all():
        checks.refuse("deployed", "a length at which the elongation is finite", deployed)
    return State(
        state.reeled_length,
        0.0,
        nodes,
        state.node_velocities,
        _rotation_to_vertical(np.array(pendulum.body.center_of_mass)),
        state.angular_velocity,
    )


def _rotation_to_vertical(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least rotation that turns rho downwards."""
    length = math.hypot(*rho)
    if length == 0.0:
        return np.eye(3)
    x, y, z = rho / length
    sine = math.hypot(x, y)
    if sine == 0.0:  # rho points down, or up: then half a turn about any horizontal axis
        return np.eye(3) if z > 0.0 else np.diag([1.0, -1.0, -1.0])
    # Rodrigues about (y, -x, 0)/sine, in the form that stays a rotation when rho points nearly up
    K = np.array([[0.0, 0.0, -x], [0.0, 0.0, -y], [x, y, 0.0]]) / sine
    R: NDArray[np.float64] = np.eye(3) + sine * K + (1.0 - z) * K @ K
    return R
